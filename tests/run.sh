#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The tests, in two parts:
#   tests/run.sh         what people run (`make test`): each kind once, some ten minutes on two cores
#   tests/run.sh more    what continuous integration runs after it (`make test-more`): the rotating part of the matrix
#                        and of the cases, the documents, longer fuzzing, more kernels, releases, a benchmark
#   ALL=1 tests/run.sh   both, and the whole matrix of releases and variants (`make test-all`, long)
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
cd "$(dirname "$0")/.." || exit 1
part=${1:-quick}
[ "$ALL" = 1 ] && part=all
logs=build/test-logs
passed=0
failed=0
repeated=0
skipped=0
summary=

mkdir -p $logs
: >"$logs/$part.failed"
sh tools/deps.sh tests || exit 1
. tools/go.sh
find_go || { echo "no Go of 1.22 or later" >&2; exit 1; }

# step NAME COMMAND...: runs COMMAND, with its output on the terminal and in a log, and its status in $status.
step() {
	local began=$SECONDS
	echo "== $1"
	log=$logs/$1.log
	name=$1
	shift
	"$@" 2>&1 </dev/null | tee "$log"
	status=${PIPESTATUS[0]}
	took=$((SECONDS - began))
}

# keep_failures: prints the name of the step, and the lines of its log that say what failed.
keep_failures() {
	echo "failed: $name"
	grep -E '^( *--- FAIL|FAIL|\[  FAILED  \]|make(\[[0-9]+\])?: \*\*\*)' "$log" | head -n 20
}

# result GOOD BAD: adds to the totals, and keeps lines for the end.
result() {
	passed=$((passed + $1))
	failed=$((failed + $2))
	[ "$2" -eq 0 ] || keep_failures >>"$logs/$part.failed"
	summary+=$(printf '%-10s %4d passed, %d failed (%d s)' "$name" "$1" "$2" "$took")$'\n'
}

# one: counts the step as a single test.
one() {
	result $((status == 0)) $((status != 0))
}

# counted GOOD BAD: counts the tests that the step's log reports. A step that ended without a count is a failure, too.
counted() {
	local bad=$2
	if [ "$bad" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$1" -eq 0 ]; }; then
		bad=1
	fi
	result "$1" "$bad"
}

# sum PATTERN: prints the sum of the numbers in its parentheses.
sum() {
	sed -nE "s/$1/\1/p" "$log" | awk '{n += $1} END {print n + 0}'
}

# by_lines: the log ends with "N passed, N failed", and perhaps says how many were tried twice or skipped.
by_lines() {
	repeated=$((repeated + $(sum '^([0-9]+) tried twice, [0-9]+ skipped$')))
	skipped=$((skipped + $(sum '^[0-9]+ tried twice, ([0-9]+) skipped$')))
	counted "$(sum '^([0-9]+) passed, [0-9]+ failed$')" "$(sum '^[0-9]+ passed, ([0-9]+) failed$')"
}

# fuzz SECONDS: runs each fuzz target.
fuzz() {
	local began
	step fuzz make -j"$(nproc)" fuzz FUZZ_SECONDS="$1"
	began=$(grep -c '^== ' "$log")
	[ "$status" -eq 0 ] && counted "$began" 0 || counted $((began > 0 ? began - 1 : 0)) 1
}

# Tests that need no live target.
offline() {
	step build make -j"$(nproc)"
	one
	step bpf-arm64 make -j"$(nproc)" ARCH=arm64 bpf
	one
	step lint make lint
	one
	step unit make -j"$(nproc)" -k test-unit
	by_lines
	for module in tests/e2e/judge tests/readers; do
		step "${module##*/}" env GOTOOLCHAIN=go1.26.8 CGO_ENABLED=0 GOFLAGS=-buildvcs=false go -C $module test ./...
		one
	done
	step golden sh tests/golden.sh
	by_lines
}

# The commands of README and docs.
documents() {
	step docs bash tests/docs.sh
	by_lines
}

# e2e ONLY
e2e() {
	step e2e env ONLY="$1" bash tests/e2e/run.sh
	by_lines
}

# emulated NAME COMMAND...: a step in emulated machines, where a second may be a tenth of one: repeated once if it fails.
emulated() {
	step "$@"
	if [ "$status" -ne 0 ]; then
		echo "AGAIN $1"
		repeated=$((repeated + 1))
		step "$@"
	fi
	by_lines
}

# vm KERNELS [CHECKS|turn]
vm() {
	emulated vm env CHECKS="$2" make vmtest KERNELS="$1"
}

# A machine with many CPUs, another number each day. 32 emulated CPUs wait for each other for longer than a recorder that
# is not served goes on, so nothing is compared there with the program's own counts.
many_cpus() {
	local cpus=$((8 << ${CELL_SEED:-$(($(date +%s) / 86400))} % 3)) checks="go_plain go_hotplug c_threads c_children"
	[ $cpus -gt 16 ] || checks="$checks go_exact"
	emulated vm-cpus env VM_CPUS=$cpus CHECKS="$checks" make vmtest KERNELS=6.12
}

# The released files, in other user lands.
release() {
	step release bash tests/release.sh
	by_lines
}

# Twice the ratio in docs/costs.md: machines are noisy, but a lost optimisation must not pass.
bench() {
	step bench sh tools/bench/run.sh -rounds 2 -length 1s -only empty,gotrace -most 2.8 ladder
	one
}

case $part in
quick)
	offline
	fuzz 1
	e2e quick
	vm 6.1 "doctor no_root go_plain c_threads"
	;;
more)
	step build make -j"$(nproc)"
	one
	documents
	fuzz 5
	e2e turn
	vm "6.1 6.12" turn
	many_cpus
	release
	bench
	;;
all)
	offline
	documents
	fuzz 10
	e2e ""
	vm "6.1 6.12"
	many_cpus
	release
	bench
	;;
*)
	echo "tests/run.sh: '$part' is no part: quick, more" >&2
	exit 1
	;;
esac

echo "== $part"
printf '%s' "$summary"
cat "$logs/$part.failed"
echo "$passed passed, $failed failed; $repeated tried twice, $skipped skipped"
[ "$failed" -eq 0 ]
