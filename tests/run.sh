#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Every test: `make test`. ALL=1 runs the whole matrix of releases and variants.
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
cd "$(dirname "$0")/.." || exit 1
export FUZZ_SECONDS=${FUZZ_SECONDS:-10}
logs=build/test-logs
passed=0
failed=0

sh tools/deps.sh || exit 1
. tools/go.sh
find_go || { echo "no Go of 1.22 or later" >&2; exit 1; }
mkdir -p $logs

# step NAME COMMAND...: its output on the terminal and in a log; its status in $status.
step() {
	echo "== $1"
	log=$logs/$1.log
	shift
	"$@" 2>&1 </dev/null | tee "$log"
	status=${PIPESTATUS[0]}
}

# one: the step was one test by itself.
one() {
	if [ "$status" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
}

# counted GOOD BAD: the step's log counts its tests; a step that broke off without a count is a failure too.
counted() {
	passed=$((passed + $1))
	failed=$((failed + $2))
	[ "$status" -eq 0 ] || [ "$2" -gt 0 ] || failed=$((failed + 1))
	[ "$1" -gt 0 ] || [ "$2" -gt 0 ] || [ "$status" -ne 0 ] || failed=$((failed + 1))
}

# The numbers in front of or behind a pattern, summed up.
sum() {
	sed -nE "s/$1/\\1/p" "$log" | awk '{n += $1} END {print n + 0}'
}

step build make -j"$(nproc)"
one
step unit make -j"$(nproc)" test-unit
counted "$(sum '^\[  PASSED  \] ([0-9]+) test.*')" "$(sum '^\[  FAILED  \] ([0-9]+) test.*')"
step fuzz make fuzz
began=$(grep -c '^== ' "$log")
[ "$status" -eq 0 ] && counted "$began" 0 || counted $((began > 0 ? began - 1 : 0)) 1
step lint make lint
one
for module in tests/e2e/judge tests/readers; do
	[ -f $module/go.mod ] || continue
	step "${module##*/}" env GOTOOLCHAIN=go1.26.8 CGO_ENABLED=0 GOFLAGS=-buildvcs=false go -C $module test ./...
	one
done
step golden sh tests/golden.sh
counted "$(sum '^([0-9]+) passed, [0-9]+ failed$')" "$(sum '^[0-9]+ passed, ([0-9]+) failed$')"
step e2e bash tests/e2e/run.sh
counted "$(sum '^([0-9]+) passed, [0-9]+ failed$')" "$(sum '^[0-9]+ passed, ([0-9]+) failed$')"
step vm make vmtest
counted "$(sum '^([0-9]+) passed, [0-9]+ failed$')" "$(sum '^[0-9]+ passed, ([0-9]+) failed$')"
# Twice the ratio in README: machines are noisy, but a lost optimisation must not pass.
step bench sh tools/bench/run.sh -rounds 2 -length 1s -only empty,gotrace -most 2.8 ladder
one

echo "== all"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
