# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Programs that nobody here wrote, under load: what is said of them must be so, and of a program that is well nothing
# above "info" is said. One case for each row of real/programs. To be sourced after native.sh.

REAL_LENGTH=2500ms

# real_start NAME: starts the program and its client, as $target. Its full rate is in $full, where its own counts are in
# $metrics, and how SQL finds the tasks of the client's requests in $request; - if there are none.
real_start() {
	local word answers
	[ -x build/bench-run ] && [ -z "$(find tools/bench -newer build/bench-run -name '*.go')" ] ||
		(cd tools/bench && GOTOOLCHAIN=go1.26.8 CGO_ENABLED=0 go build -buildvcs=false -o ../../build/bench-run .) ||
		die "cannot build tools/bench"
	coproc SERVICE { exec build/bench-run serve "$1" 2>"$W/service.err"; }
	read -r -t 100 -u "${SERVICE[0]}" word target only_full metrics request || die "$1 does not start: $(tail -n 3 "$W/service.err")"
	[ "$word" = ready ] || skip "$target is not installed"
	real_load 0 1500ms
	full=$(awk "BEGIN {print $rate}")
}

# real_load RATE LENGTH: loads the program; what it answered is in $answers and $rate.
real_load() {
	echo "$1 $2" >&"${SERVICE[1]}"
	read -r -t 700 -u "${SERVICE[0]}" answers rate || die "the client ended: $(tail -n 3 "$W/service.err")"
}

real_end() {
	kill -0 "$target" || die "the program has ended: $(tail -n 3 "$W/service.err")"
	exec {SERVICE[1]}>&-
	wait "$SERVICE_PID"
}

# real_trace RATE OPTION...: traces the program under load. The report is in $W/report.json.
real_trace() {
	local load=$1
	shift
	rm -f "$W/trace"
	background -p "$target" -o "$W/trace" --json "$@"
	begun "$W/trace"
	real_load "$load" $REAL_LENGTH
	kill -INT $tracer
	ends 40
	want 0
	report_json "$W/trace"
}

# real_findings WHEN KNOWN: checks that only known findings are above "info". If the clients, or other programs, used the
# CPUs, the program was not well.
real_findings() {
	local id level
	while read -r id level; do
		[ "$id" = neighbour ] && continue
		[[ "|$2|" == *"|$id|"* ]] || die "$1: $(python3 -c 'import json, sys
for row in json.load(open(sys.argv[1]))["findings"]["rows"]:
    if row["id"] == sys.argv[2]:
        print(row["level"], row["id"] + ":", row["text"])' "$W/report.json" "$id")"
	done < <(findings_in "$W/report.json")
}

# real_neighbours PID...: checks that a finding on other programs names them, and these loops, unless all that it names
# used more.
real_neighbours() {
	python3 -c 'import json, re, sys
for row in json.load(open(sys.argv[1]))["findings"]["rows"]:
    if row["id"] != "neighbour":
        continue
    lines = " ".join(row["evidence"]["lines"])
    unit = {"us": 1e-6, "ms": 1e-3, "s": 1}
    named = {pid: float(n) * unit[u] for pid, n, u in re.findall(r"\(PID (\d+)\) ([\d.]+) (us|ms|s)", lines)}
    for pid in sys.argv[2:]:
        pid, used = pid.split(":")
        if "among them" not in row["text"] or pid not in named and 0.4 * int(used) / 100 > min(named.values()):
            sys.exit("%s %s: not PID %s, %s" % (row["text"], lines, pid, used))' \
		"$W/report.json" "$@" 2>"$W/named.err" || die "beside two loops: $(tail -n 1 "$W/named.err")"
}

# real_sql TRACE QUERY: prints the row.
real_sql() {
	"$GOTRACE" sql --csv "$1" "$2" 2>>"$W/sql.err" | tail -n 1 | tr -d '"'
}

# near WHAT COUNT TRUTH [MOST]: checks that a count is within 1 %, and MOST (10) for what happens between two readings.
near() {
	[[ "$2" =~ ^[0-9]+$ && "$3" =~ ^[0-9]+$ ]] || die "$1: no number: '$2' in the trace, '$3' in truth"
	awk -v count="$2" -v truth="$3" -v most="${4-10}" 'BEGIN {d = count - truth; exit (d < 0 ? -d : d) > most + truth / 100}' ||
		die "$1: $2 in the trace, $3 in truth"
}

# near_between WHAT LEAST MOST TRUTH: checks that a truth that took time to read lies between two counts, as near() does:
# of the time between two readings, and of that with both.
near_between() {
	local nearest=$4
	[[ "$2" =~ ^[0-9]+$ && "$3" =~ ^[0-9]+$ ]] || die "$1: no number: '$2' or '$3' in the trace"
	((nearest >= $2)) || nearest=$2
	((nearest <= $3)) || nearest=$3
	near "$1" "$nearest" "$4"
}

# own_switches: the target's context switches by /proc are in $own, and when they were read, in us, in $before and $after.
own_switches() {
	before=${EPOCHREALTIME/./}
	own=$(cat /proc/$target/task/*/status | awk '/ctxt/ {n += $2} END {print n}')
	after=${EPOCHREALTIME/./}
}

# perf_command WORD: lets perf count, or stop, at once.
perf_command() {
	local answer
	echo "$1" >&7
	read -r -t 20 -u 8 answer || die "perf does not answer: $(tail -n 2 "$W/perf.err")"
}

# switches_between FROM TO: prints the trace's context switches of the target's threads between two times of day, in us.
switches_between() {
	real_sql "$W/trace" "SELECT count(*) FROM state JOIN goroutine ON goroutine.id = g WHERE begins AND name <> 'gotrace'
		AND ts BETWEEN $1 * 1000 + $start AND $2 * 1000 + $start AND (state = 'waiting' OR state = 'runnable' AND reason > '')"
}

# real_switches RATE: checks the counts of context switches and system calls of all threads by those of perf, and of
# /proc for a program whose children perf counts, too: reading it can take 20 ms of a busy machine, in which go build can
# switch 80 times. A call in which a thread waits twice is one row of SQL more, which
# does not begin.
real_switches() {
	local start calls switches counts before after own first_before first_after first_own
	[ -e /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing 2>/dev/null
	timeout -k 5 30 perf stat -e raw_syscalls:sys_enter,context-switches true >"$W/perf.out" 2>&1 ||
		skip "perf cannot count here: $(tail -n 1 "$W/perf.out")"
	rm -f "$W/trace" "$W/control" "$W/answer"
	mkfifo "$W/control" "$W/answer"
	background -p "$target" -o "$W/trace" --as c --max-overhead none
	begun "$W/trace"
	perf stat -D -1 --control "fifo:$W/control,$W/answer" -x, -e raw_syscalls:sys_enter,context-switches -p "$target" \
		-o "$W/perf" 2>"$W/perf.err" &
	perf=$!
	exec 7<>"$W/control" 8<>"$W/answer" # neither waits for a perf that does not start
	perf_command enable
	own_switches
	first_before=$before first_after=$after first_own=$own
	real_load "$1" $REAL_LENGTH
	own_switches
	perf_command disable
	kill -INT $perf
	wait $perf
	exec 7>&- 8<&-
	kill -INT $tracer
	ends 40
	want 0
	start=$(real_sql "$W/trace" "SELECT group_concat(value, '-') FROM (SELECT value FROM info WHERE key IN ('start', 'start_wall') ORDER BY key)")
	calls=$(real_sql "$W/trace" "SELECT count(*) FROM syscall WHERE begins
		AND ts BETWEEN $first_before * 1000 + $start AND $after * 1000 + $start")
	switches=$(switches_between $first_before $after)
	counts=$(awk -F, '/sys_enter|switches/ {printf "%s ", $1}' "$W/perf")
	if [ -e "/proc/$target/task/$target/children" ] && grep -q . /proc/$target/task/*/children; then
		near_between switches "$(switches_between $first_after $before)" "$switches" $((own - first_own))
		printf '%s switches; ' "$switches"
		return
	fi
	near "system calls" "$calls" "${counts% * }"
	counts=${counts#* }
	near switches "$switches" "${counts% }"
	printf '%s switches, %s calls; ' "$switches" "$calls"
}

# real_gcs: prints the number of collections that the program knows of.
real_gcs() {
	local n
	n=$(curl -s "$metrics" | awk '/^go_gc_duration_seconds_count/ {print $2}')
	[ -n "$n" ] || die "$metrics has no number of collections"
	echo "$n"
}

# real_requests RATE: checks that each answer that the client got is a task, and the number of collections.
real_requests() {
	local gcs=0 after tasks
	[ "$request" != - ] || return
	rm -f "$W/trace"
	background -p "$target" -o "$W/trace" --detail=exact --requests=auto
	begun "$W/trace"
	[ "$metrics" = - ] || gcs=$(real_gcs) || die "$gcs"
	real_load "$1" $REAL_LENGTH
	if [ "$metrics" != - ]; then
		after=$(real_gcs) || die "$after"
		gcs=$((after - gcs))
	fi
	kill -INT $tracer
	ends 40
	want 0
	tasks=$(real_sql "$W/trace" "SELECT count(*) FROM task WHERE name LIKE '$request' AND name NOT LIKE 'client %'
		AND NOT EXISTS (SELECT * FROM task AS outer WHERE outer.id = task.parent AND outer.name LIKE '$request')")
	near requests "$tasks" "${answers%.*}"
	[ "$metrics" = - ] || near collections "$(real_sql "$W/trace" "SELECT count(*) FROM gc WHERE kind = 'gc'")" "$gcs" 2
	printf '%s requests, %s collections; ' "$tasks" "$gcs"
}

# real_program NAME KNOWN
real_program() {
	local name=${1/_/ } known=$2 loops used loop half=0
	real_start "$name"
	trap 'kill $loops 2>/dev/null; kill -KILL $(jobs -p) 2>/dev/null' EXIT
	real_trace 0
	real_findings "full load" "$known"
	if [ "$only_full" = false ]; then
		half=$(awk "BEGIN {print $full / 2}")
		real_trace "$half"
		real_findings "half load" "$known"
		real_trace "$(awk "BEGIN {print $full / 20}")"
		real_findings "light load" ""
	fi
	real_requests "$half"
	real_trace 0 --max-overhead 10
	real_findings "with a limit" "$known"
	while :; do :; done &
	loops=$!
	while :; do :; done &
	loops="$loops $!"
	real_trace 0
	used=$(for loop in $loops; do awk -v pid=$loop '{sub(/.*\) /, ""); print pid ":" $12 + $13}' /proc/$loop/stat; done)
	kill $loops
	real_findings "beside two loops" "$known"
	real_neighbours $used
	real_switches "$half" # the last one: without perf it ends the case as skipped
	real_end
	printf '%s answers a second' "$full"
}

# One of the servers each day under the README's trigger for locks: a healthy one gives no snapshot.
case_real_flight() {
	local servers=(nats etcd caddy prometheus redis) name limit
	name=${servers[CELL_SEED % ${#servers[@]}]}
	real_start "$name"
	for limit in 10 none; do
		mkdir "$W/flight-$limit"
		background flight -p "$target" --on 'blocked:lock>500ms' --on 'blocked:sync>500ms' \
			--max-overhead $limit -o "$W/flight-$limit"
		real_load 0 "${FLIGHT_LENGTH:-20s}"
		kill -INT $tracer
		ends 40
		want 0
		[ -z "$(ls "$W/flight-$limit")" ] || die "$name, limit $limit: $(grep -m 1 'blocked:' "$W/err")"
	done
	real_end
	printf '%s' "$name"
}

while read -r name known; do
	[[ -z "$name" || "$name" == \#* ]] || eval "case_real_$name() { real_program $name '$known'; }"
done <tests/e2e/real/programs
