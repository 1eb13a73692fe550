#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Feeds damaged copies of real executables (Go, C and C++; x86-64 and arm64) to the fuzz targets that read files.
#   tests/fuzz/mutated.sh [COUNT [SEED]]     COUNT copies in total, by default 2,000
# Needs the end-to-end tests' programs (they are built if missing) and clang.
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
. tests/e2e/native.sh
. tests/e2e/functions.sh
count=${1:-2000}
seed=${2:-1}
batch=25
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

make -s build/fuzz/fuzz_elf build/fuzz/fuzz_names build/fuzz/fuzz_ehframe || exit 1

# go_arm64 RELEASE: builds a program for arm64.
go_arm64() {
	(cd tests/e2e/targets && GOTOOLCHAIN=go$1 GOARCH=arm64 CGO_ENABLED=0 go build -o "$work/go-arm64-$1" .) >&2 || return 1
	echo "$work/go-arm64-$1"
}

c_arm64() {
	aarch64-linux-gnu-gcc -O2 -g -x c -o "$work/c-arm64" - >&2 <<-'SOURCE' || return 1
		#include <stdio.h>
		static int sum(int n) { return n > 1 ? sum(n - 1) + n : n; }
		int main(int n, char **text) { return printf("%d %s\n", sum(n), text[0]) < 0; }
	SOURCE
	echo "$work/c-arm64"
}

# through TARGET CHOICES FILE SEED: runs TARGET on a batch of damaged copies.
through() {
	local log=$work/log
	rm -rf "$work/copies"
	mkdir "$work/copies"
	[ -f "$3" ] && /usr/bin/python3 tests/fuzz/mutate.py "$3" $batch "$4" "$work/copies" "$2" || exit 1
	done=$((done + batch))
	if timeout 900 "build/fuzz/$1" -rss_limit_mb=1024 -timeout=${FUZZ_TIMEOUT:-20} "$work"/copies/* >"$log" 2>&1; then
		passed=$((passed + 1))
		return
	fi
	failed=$((failed + 1))
	echo "FAIL $1 on a copy of $3, seed $4:"
	grep -E '^Running|ERROR|SUMMARY|runtime error' "$log" | tail -n 4
}

go=("$(target_binary 1.26.8 default)" "$(target_binary 1.22.12 pie)" "$(target_binary 1.16.15 stripped)"
	"$(target_binary 1.4.3 default)" "$(go_arm64 1.24.6)")
native=("$(ctarget default)" "$(ctarget debug)" "$(calltarget cxx)" "$TOP/gotrace")
arm64=$(c_arm64)
done=0
failed=0
for ((round = 0; done < count; round++)); do
	echo "round $round: $done copies so far, $failed batches failed"
	for file in "${go[@]}"; do
		through fuzz_elf "" "$file" "$seed-$round"
	done
	for file in "${native[@]}" "$arm64"; do
		choices=01 # a whole file, for x86-64 (tests/fuzz/fuzz_ehframe.c)
		[ "$file" != "$arm64" ] || choices=05
		through fuzz_ehframe $choices "$file" "$seed-$round"
		through fuzz_names 10ff "$file" "$seed-$round"
	done
done
echo "$done copies"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
