# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Programs whose runtime the compiler has changed: with a profile of their own (the variant "pgo" of the matrix has a
# profile in which all calls of probed functions are hot), and without optimisation.

# own_profile_build RELEASE MODE: builds the target with a CPU profile of this load. Prints its path.
own_profile_build() {
	local plain binary=$E2E/target-$1-own-$2
	plain=$(target_binary "$1" default) || return 1
	"$plain" "$2" -profile "$W/own.pgo" -seconds 6 >&2 || return 1
	(cd tests/e2e/targets && GOTOOLCHAIN=go$1 CGO_ENABLED=0 timeout 900 \
		go build -buildvcs=false -pgo="$W/own.pgo" -o "$binary" .) >&2 || return 1
	echo "$binary"
}

# case_build_own_profile: another release and another load each day.
case_build_own_profile() {
	local releases=($RELEASES) modes=(http mixed gc pool pingpong churn) look=--exact binary release mode
	release=${releases[CELL_SEED % ${#releases[@]}]}
	mode=${modes[(CELL_SEED / ${#releases[@]} + CELL_SEED) % ${#modes[@]}]}
	binary=$(own_profile_build "$release" "$mode" 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	GODEBUG=gcshrinkstackoff=1 start_target "$binary" "$mode" -native "$W/native" -native-seconds 2 -seconds 100
	printf 'go%s %s: ' "$release" "$mode"
	trace_cell "$mode" "$release" no
	twin_cell "$mode" 100 "$release"
	stop_target
}

# The copies are listed with their function, and the program that reads each is loaded.
case_build_copies() {
	local binary
	binary=$(target_binary $NEWEST pgo 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	start_target "$binary" mixed
	run_gotrace sites "$target"
	want 0
	grep -q '^runtime.goexit0+.* destroy ' "$W/out" || die "no probe in the copy of gdestroy: $(cat "$W/out")"
	[ "$(grep -c ' unblock ' "$W/out")" -ge 9 ] || die "too few wake-ups: $(cat "$W/out")"
	stop_target
}

# Up to 1.21 the calls of the tracer have another form without inlining: refused, with the reason.
case_build_unoptimised_old() {
	local binary=$E2E/target-1.21.13-unoptimised
	old_binary "$binary" 1.21.13 0 -gcflags='all=-N -l' 2>"$W/build.err" || die "cannot build: $(tail -n 3 "$W/build.err")"
	start_target "$binary" pool
	run_gotrace -p "$target" -d 1s -o "$W/trace"
	want 1
	one_line
	says 'built without optimi[sz]ation.*--as c'
	[ ! -e "$W/trace" ] || die "a file was left behind"
	run_gotrace -p "$target" --as c -d 1s -o "$W/trace"
	want 0
	strict "$W/trace"
	stop_target
}

# Builds that change the program's code: with counters in every function, the runtime's too, and with the race detector.
case_build_instrumented() {
	local flags binary=$E2E/target-instrumented
	for flags in "-cover -coverpkg=all" -race; do
		(cd tests/e2e/targets && GOTOOLCHAIN=go1.26.8 CGO_ENABLED=1 timeout 900 \
			go build -buildvcs=false $flags -o "$binary" .) 2>"$W/build.err" || die "cannot build: $(tail -n 3 "$W/build.err")"
		GOCOVERDIR=$W start_target "$binary" pool
		run_gotrace -p "$target" --max-overhead none -d 1s -o "$W/trace" --json
		want 0
		strict "$W/trace" -expect tests/e2e/facts/pool
		stop_target
	done
}
