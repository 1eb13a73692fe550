#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Checks that a recorder's memory does not grow: `bash tools/bench/days.sh MINUTES` (root) prints a line every
# ten seconds, "seconds recorder-kB goroutines ns-they-took", takes a snapshot every minute, and checks the
# last one. The memory is that of the recorder and its workers, with shared memory counted once (Pss).
set -u
cd "$(dirname "$0")/../.." || exit 1
minutes=${1:-60}
GOTRACE=${GOTRACE:-./gotrace} LOAD=${LOAD:-build/bench-run}
dir=$(mktemp -d)
mkfifo "$dir/words"
$LOAD load days <"$dir/words" >"$dir/count" &
load=$!
exec 3>"$dir/words"
trap 'kill $load ${recorder:-} 2>/dev/null; wait; rm -rf "$dir"' EXIT
$GOTRACE flight -p $load --max-overhead 1000 --keep 2 -o "$dir" 2>"$dir/said" &
recorder=$!
echo "# $(uname -sr), $(nproc) CPUs, $(date -u +%FT%TZ), load$(uptime | sed 's/.*average//')"
memory() {
	local pid files=()
	for pid in $recorder $(cat /proc/$recorder/task/*/children); do
		files+=("/proc/$pid/smaps_rollup")
	done
	awk '/^Pss:/ { sum += $2 } END { print sum }' "${files[@]}"
}
from=$SECONDS
while [ $((SECONDS - from)) -le $((minutes * 60)) ]; do
	sleep 10
	echo measure 9s >&3
	[ $(((SECONDS - from) % 60)) -ge 10 ] || $GOTRACE snapshot -p $recorder >"$dir/last" || exit 1
	echo "$((SECONDS - from)) $(memory) $(tail -n 1 "$dir/count")" || exit 1
done
cat "$dir/said"
$GOTRACE check "$(cat "$dir/last")"
