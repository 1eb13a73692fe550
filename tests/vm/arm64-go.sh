#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Go programs for arm64 of each release, traced under qemu-system-aarch64 by gotrace and by the runtime's own
# tracer at the same time. The results are judged here: by the strict reader, and by comparing both traces
# step by step. Prints a table of results; fails if a cell does.
#   tests/vm/arm64-go.sh [RELEASE ...]     MODES="pingpong mixed" by default
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
. tests/e2e/arm64.sh
. tests/vm/arm64.sh
MODES=${MODES:-pingpong mixed}
ARM_LIMIT=${ARM_GO_LIMIT:-600} # seconds; emulation is slow, and the machine may be busy
W=$VM/arm64-go
failed=0

# boot_release RELEASE: boots one machine, which runs all loads of a release.
boot_release() {
	local release=$1 root=$W/root out=$W/$1 binary mode
	binary=$(arm64_target "$release" default 2>"$W/build.err") || { tail -n 3 "$W/build.err" >&2; return 1; }
	arm64_root "$root" || return 1
	cp tests/vm/arm64-go-guest.sh "$root/t/" && cp "$binary" "$root/t/target-$release" || return 1
	{
		echo '. /t/arm64-go-guest.sh'
		for mode in $MODES; do
			echo "trace_cell $release $mode || exit 1"
		done
	} >"$W/script"
	arm64_boot "$root" "$out" "$W/script" || return 1
	[ "$(cat "$out/status")" = 0 ] || { cat "$out/log" >&2; return 1; }
}

# judge_cell RELEASE MODE: prints its line.
judge_cell() {
	local out=$W/$1/$1-$2 status=0
	"$JUDGE" strict "$out/trace" >"$out/facts" 2>"$out/strict.err" || { echo "$1 $2: not valid: $(tail -n 1 "$out/strict.err")"; return 1; }
	./gotrace check "$out/trace" >"$out/check" 2>&1 || { echo "$1 $2: gotrace check: $(tail -n 1 "$out/check")"; return 1; }
	# An additional quiet second in the window is accidental.
	timeout 300 "$JUDGE" twin -v -emulated -min-seq 99 -max-median 100000 -min-compared 50 "$out/native" "$out/trace" >"$out/twin" 2>&1 || status=1
	grep -q 'lost  *ring full 0, stacks 0, unreadable 0, missed by the kernel 0, CPU samples 0' "$out/gotrace.err" || status=1
	printf 'go%s %s: %s events; %s; %s\n' "$1" "$2" "$(sed -nE 's/^ *([0-9]+) events$/\1/p' "$out/facts")" \
		"$(grep -m 1 '^window' "$out/twin" | cut -d ';' -f 2-7)" "$(grep -m 1 -o 'lost .*' "$out/gotrace.err")"
	[ $status -eq 0 ] || tail -n 1 "$out/twin"
	return $status
}

mkdir -p "$W" "$E2E"
make ARCH=arm64 && build_judge || exit 1
for release in ${*:-$RELEASES}; do
	if ! boot_release "$release"; then
		echo "FAIL go$release: the machine"
		failed=1
		continue
	fi
	for mode in $MODES; do
		judge_cell "$release" "$mode" || failed=1
	done
done
[ $failed -eq 0 ] && echo "arm64: Go as it should be"
exit $failed
