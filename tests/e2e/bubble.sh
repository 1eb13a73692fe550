# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Bubbles of testing/synctest, whose runtime wakes goroutines from places where no goroutine runs. The load "bubble"
# of the matrix has them from 1.25 on.

# bubble_twin BINARY RELEASE: beside Go's own tracer, every wake-up is by the same goroutine, and nothing is invented.
bubble_twin() {
	local made_up look=--detail=exact
	start_target "$1" bubble -native "$W/native" -native-seconds 2 -seconds 100
	trace_cell bubble "$2" no
	made_up=$("$JUDGE" json "$W/out" repaired)
	[ "$made_up" -lt 20 ] || die "; $made_up events are made up"
	twin_cell bubble 1000 "$2"
	stop_target
}

case_bubble() {
	local binary
	binary=$(target_binary $NEWEST default 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	bubble_twin "$binary" $NEWEST
}

case_bubble_experiment() {
	(cd tests/e2e/targets && GOTOOLCHAIN=go1.24.6 GOEXPERIMENT=synctest CGO_ENABLED=0 timeout 900 \
		go build -buildvcs=false -o "$E2E/target-1.24.6-synctest" .) 2>"$W/build.err" ||
		die "cannot build: $(tail -n 3 "$W/build.err")"
	bubble_twin "$E2E/target-1.24.6-synctest" 1.24.6
}
