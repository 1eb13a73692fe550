#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The cost of a call of a function that --region traces, compared with empty probes: `bash tools/bench/functions.sh`
# (root). CPU time of the caller, ns per call, median of tenths of a second; all in one run, alternating.
set -u
cd "$(dirname "$0")/../.." || exit 1
binary=build/bench-functions
rounds=${ROUNDS:-3}
mkdir -p build
gcc -O2 -g0 -fno-pie -no-pie -o $binary tools/bench/functions.c || exit 1
out=$(mktemp)
$binary >"$out" &
target=$!
trap 'kill $target 2>/dev/null; rm -f "$out" "$out.err" "$out.trace"' EXIT

median() {
	sort -n | awk '{a[NR] = $1} END {print a[int((NR + 1) / 2)]}'
}

measure() { # NAME COMMAND...
	local name=$1 from
	shift
	timeout -k 5 -s INT 20 "$@" >/dev/null 2>"$out.err" &
	local tool=$!
	sleep 1.7 # until its probes are attached
	from=$(wc -l <"$out")
	sleep 1.5
	printf '%-34s %8s\n' "$name" "$(tail -n "+$((from + 2))" "$out" | median)"
	kill -INT $tool 2>/dev/null # a tool that was not ready for it is ended by timeout
	wait $tool 2>/dev/null
}

echo "# $(uname -sr), $(nproc) CPUs, load$(uptime | sed 's/.*average//')"
for ((i = 0; i < rounds; i++)); do
	measure 'no probe' sleep 4
	measure 'empty probe at the entry' bpftrace -e "uprobe:./$binary:callee {}"
	measure 'empty probes at entry and return' bpftrace -e "uprobe:./$binary:callee {} uprobe:./$binary:callee_return {}"
	measure 'empty return probe' bpftrace -e "uretprobe:./$binary:callee {}"
	measure 'gotrace, no region' ./gotrace -q -p $target -o "$out.trace"
	measure 'gotrace --region callee' ./gotrace -q -p $target -o "$out.trace" --region callee
done
