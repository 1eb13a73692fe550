# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What gotrace finds in Go programs for arm64, without running them, on any machine. To be sourced by bash.
# tests/vm/arm64-go.sh runs and traces them.

# arm64_target RELEASE VARIANT: prints its path, and builds it if needed.
arm64_target() {
	local binary=$E2E/target-arm64-$1-$2 flags=()
	case $2 in
	stripped) flags=(-ldflags='-s -w') ;;
	pie) flags=(-buildmode=pie) ;;
	esac
	(cd tests/e2e/targets && GOARCH=arm64 GOTOOLCHAIN=go$1 CGO_ENABLED=0 timeout 900 \
		go build -buildvcs=false "${flags[@]}" -o "$binary" .) >&2 || return 1
	echo "$binary"
}

# arm64_symbols BINARY: prints the addresses of the relevant variables in its symbol table, in the format of `places`.
arm64_symbols() {
	nm "$1" | sed -nE 's/^0*([0-9a-f]+) . (runtime\.(allgs|allp|allm|gomaxprocs|sched|gcphase|gcController|mheap_))$/variable \2 0x\1/p' | sort
}

check_arm64() {
	local release=$1 variant binary alloc=-alloc
	[ "$(minor "$release")" -ge 23 ] || alloc=
	for variant in default stripped pie; do
		binary=$(arm64_target "$release" $variant 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
		"$E2E/places" $alloc "$binary" >"$W/$variant" 2>"$W/err" || die "$release $variant: $(tail -n 1 "$W/err")"
		grep -q '^left out' "$W/$variant" && die "$release $variant: $(grep '^left out' "$W/$variant")"
		grep -qx 'trace_calls 1 1 1' "$W/$variant" || die "$release $variant: $(grep '^trace_calls' "$W/$variant")"
		# Only instructions that the kernel simulates, and the starts of two functions without a stack check.
		[ "$(grep '^probe' "$W/$variant" | grep -vcE ' (b\.cond|bl|cbz|tbz) ')" -le 2 ] ||
			die "$release $variant: $(grep '^probe' "$W/$variant" | grep -vE ' (b\.cond|bl|cbz|tbz) ' | tr '\n' ' ')"
		[ $variant = stripped ] && continue
		arm64_symbols "$binary" >"$W/symbols"
		[ "$(minor "$release")" -ge 23 ] || sed -i /mheap_/d "$W/symbols"
		[ "$(wc -l <"$W/symbols")" -ge 7 ] || die "$release $variant: few symbols"
		grep '^variable' "$W/$variant" | sort | diff - "$W/symbols" >"$W/diff" || die "$release $variant: $(tr '\n' ' ' <"$W/diff")"
	done
	# A stripped program must have the same probe points.
	for variant in default stripped; do
		grep '^probe' "$W/$variant" >"$W/probes-$variant"
	done
	diff "$W/probes-default" "$W/probes-stripped" >"$W/diff" || die "$release stripped: $(head -n 3 "$W/diff")"
	grep '^probe' "$W/default" | awk '{print $NF}' | sort >"$W/numbers"
	grep '^probe' "$W/pie" | awk '{print $NF}' | sort | cmp -s - "$W/numbers" || die "$release: a PIE has other places"
	printf '%s%s: %s places' "$comma" "$release" "$(grep -c '^probe' "$W/default")"
	comma='; '
}

case_arm64_places() { # programs for arm64: every place to probe, the runtime's variables; stripped and PIE, too
	local release
	make -s build/e2e/places >"$W/build" 2>&1 || die "cannot build: $(tail -n 3 "$W/build")"
	for release in $(in_turn 3 $RELEASES); do
		check_arm64 "$release" || return 1
	done
}

case_arm64_decoded() { # their instructions, compared with objdump
	local release binary
	make -s build/e2e/decode_arm64 >"$W/build" 2>&1 || die "cannot build: $(tail -n 3 "$W/build")"
	for release in $(in_turn 5 $RELEASES); do
		binary=$(arm64_target "$release" default 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
		aarch64-linux-gnu-objdump -d -M no-aliases "$binary" | timeout 300 "$E2E/decode_arm64" >"$W/decoded" ||
			die "$release: $(tail -n 3 "$W/decoded")"
		printf '%s: %s' "$release" "$(tail -n 1 "$W/decoded")"
	done
}

case_arm64_refused() { # a release before 1.22, cgo's entry points, and a process here that is not of this machine
	local binary=$W/old
	printf 'package main\n\nfunc main() { println("x") }\n' >"$W/main.go"
	make -s build/e2e/places >"$W/build" 2>&1 || die "cannot build: $(tail -n 3 "$W/build")"
	(cd "$W" && GOARCH=arm64 CGO_ENABLED=0 old_go 1.21.13 build -o "$binary" main.go) 2>"$W/build.err" ||
		die "cannot build: $(tail -n 3 "$W/build.err")"
	"$E2E/places" "$binary" >"$W/out" 2>"$W/err" && die "taken: $(head -n 1 "$W/out")"
	says 'was built by go1.21.13 for arm64: there gotrace supports releases from 1.22 on'
	run_gotrace -o "$W/trace" -- "$binary"
	want 1
	says 'an architecture other than'
}
