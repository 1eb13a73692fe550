# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Programs with a planted fault, and the same ones without it: gotrace report must name the fault first, and
# nothing if there is none. Sourced by run.sh.

# MODE:FINDING[|FINDING...]
PLANTED="lock-io:lock-io lock-io-rw:lock-io|rw-writer lock-long:lock-long lock-convoy:lock-convoy
lock-syscall:lock-syscall|lock-io leak:leak leak-select:leak slow-consumer:slow-consumer pool-small:pool-small
pool-workers:pool-small outlier:outlier assist:assist gc-often:gc-often rw-starve:rw-writer cond-herd:herd
fan-in:slow-consumer tickers:timer-storm gogc10:gc-often big-alloc:assist ctx-leak:leak semaphore:pool-small
log-printf:lock-syscall|lock-io sql-pool:pool-small slow-member:straggler timer-late:timer-late|hog
single-flight:single-flight locked-thread:locked-thread dns:dns
busy-owner:busy-owner yield-spin:yield-spin leak-awake:leak-awake
deadlock:stuck finalizers:finalizer busy-loop:busy-owner
one-place:pool-small pipeline:slow-consumer lock-chain:lock-io lock-send:slow-consumer forced-gc:gc-often
memstats:stw-often two-kinds:pool-small stampede:stampede batch-timer:slow-consumer accept-loop:serial-loop"
# Up to Go 1.22 a preemption at a function call has no stack.
PLANTED_NEWEST="spin-select:spin"
# FUNCTION that the first finding must name.
declare -A NAMED=([lock-io]=refreshLocked [lock-io-rw]=refreshLocked [lock-long]=rebuild [lock-convoy]=count
	[lock-syscall]=writeLine [leak]=poll [leak-select]=watch [slow-consumer]=produce [pool-small]=query
	[pool-workers]=submit [outlier]=request [assist]=parse [rw-starve]=export [cond-herd]=consume [fan-in]=store
	[tickers]=tick [big-alloc]=decodeAll [ctx-leak]=follow [semaphore]=upload [log-printf]=serve
	[sql-pool]=get [slow-member]=member [spin-select]=waitFor
	[timer-late]=hold [single-flight]=load [locked-thread]=draw
	[dns]=backend [busy-owner]=appendLog [yield-spin]=acquire [leak-awake]=watchPrice
	[deadlock]=credit [finalizers]=closeHandle [busy-loop]=order
	[one-place]=geocode [pipeline]=score [lock-chain]=reindex [lock-send]=notify [forced-gc]=renderPage
	[memstats]=exportMetrics [two-kinds]=awaitPiece [stampede]=loadPage [batch-timer]=insert [accept-loop]=acceptAll)
# These need data that is not in the file.
PLANTED_LIVE="procs-low:procs-low"

# planted_binary RELEASE: builds the programs with faults, and prints the path.
planted_binary() {
	(cd tests/e2e/planted && GOTOOLCHAIN=go$1 CGO_ENABLED=0 timeout 600 \
		go build -buildvcs=false -o "$E2E/planted-$1" .) >&2 && echo "$E2E/planted-$1"
}

# findings_in JSON: prints ids and levels of the findings above "info", most important first.
findings_in() {
	python3 -c 'import json, sys
for row in json.load(open(sys.argv[1]))["findings"]["rows"]:
    if row["level"] != "info" and not row["explained_by"]:
        print(row["id"], row["level"])' "$1"
}

# report_json ARG...: writes the report to $W/report.json.
report_json() {
	run_gotrace report --json "$@"
	want 0
	cp "$W/out" "$W/report.json"
}

# first_is FINDINGS: checks that the report's first finding is one of these. If other programs used the CPUs, the
# machine is to blame.
first_is() {
	local first
	first=$(findings_in "$W/report.json" | head -n 1)
	[ "${first% *}" != neighbour ] || noisy "other programs used the CPUs instead of $1"
	[[ "|$1|" == *"|${first% *}|"* ]] || die "the first finding is '${first:-none}' instead of $1"
}

# figures_are MODE: checks that the finding names the function, and that its time is within 5 % of what the program
# has measured. The program's clock also runs from a wake-up until it has a P, which is long if all want the CPUs.
figures_are() {
	local first
	first=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["findings"]["rows"][0]["text"])' "$W/report.json")
	[[ "$first" == *"${NAMED[$1]}"* ]] || die "$1: ${NAMED[$1]} is not named: $first"
	python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
found = report["findings"]["rows"][0]["evidence"]["total_ns"]
measured = [int(line.split()[2]) for line in open(sys.argv[2]) if line.startswith("waited")][0]
if measured and not found * 0.95 <= measured <= (found + report["trace"]["states_ns"]["runnable"]) * 1.05:
    sys.exit("%d ns, and the program says %d" % (found, measured))
' "$W/report.json" "$W/target.out" 2>"$W/err" || noisy "$1: $(tail -n 1 "$W/err")"
}

nothing_found() {
	local found
	found=$(findings_in "$W/report.json")
	[ -z "$found" ] || die "$1 without its fault: $found"
}

case_report_planted() { # traces of Go's own tracer
	local release pair mode binary
	for release in $(in_turn 2 1.22.12 $NEWEST); do
		binary=$(planted_binary "$release") || die "cannot build for go$release"
		for pair in $PLANTED $([ "$release" = "$NEWEST" ] && echo "$PLANTED_NEWEST"); do
			mode=${pair%%:*}
			timeout 30 "$binary" "$mode" -seconds 3 -native "$W/trace" >"$W/target.out" 2>&1 || die "$mode ended"
			report_json "$W/trace"
			first_is "${pair#*:}"
			figures_are "$mode"
			timeout 30 "$binary" "$mode" -clean -seconds 3 -native "$W/trace" >"$W/target.out" 2>&1 || die "$mode ended"
			report_json "$W/trace"
			nothing_found "$mode"
		done
	done
}

case_report_live() { # the same for a live process, in one step
	local pair binary
	binary=$(planted_binary $NEWEST) || die "cannot build"
	for pair in $PLANTED_LIVE lock-io:lock-io leak:leak; do
		start_target "$binary" "${pair%%:*}"
		report_json -p "$target" -d 3s
		stop_target
		first_is "${pair#*:}"
	done
}

# Faults that may be intended, so that they are information, and the function that must be named.
PLANTED_INFO="retries:request-place:backOff polling-loop:timer-bound:awaitJob"

case_report_info() { # named first all the same; and not without the fault
	local row id mode binary
	binary=$(planted_binary $NEWEST) || die "cannot build"
	for row in $PLANTED_INFO; do
		mode=${row%%:*}
		id=${row#*:}
		NAMED[$mode]=${id#*:}
		id=${id%:*}
		timeout 30 "$binary" "$mode" -seconds 3 -native "$W/trace" >"$W/target.out" 2>&1 || die "$mode ended"
		report_json "$W/trace"
		python3 -c 'import json, sys
rows = json.load(open(sys.argv[1]))["findings"]["rows"]
sys.exit(not rows or rows[0]["id"] != sys.argv[2])' "$W/report.json" "$id" || noisy "$mode: $id is not first"
		figures_are "$mode"
		timeout 30 "$binary" "$mode" -clean -seconds 3 -native "$W/trace" >"$W/target.out" 2>&1 || die "$mode ended"
		report_json "$W/trace"
		nothing_found "$mode"
		! grep -q "\"$id\"" "$W/report.json" || die "$mode without its fault: $id"
	done
}

case_report_descendants() { # a process that waits for those that work: said, with the CPU time that they took
	local before after
	setsid bash -c 'for i in 1 2; do timeout --foreground 20 sh -c "while :; do :; done" & done; wait' &
	target=$!
	sleep 0.5
	before=$(cat /proc/[0-9]*/stat 2>/dev/null | awk -v s="$target" '$6 == s { n += $14 + $15 } END { print n + 0 }')
	report_json -p "$target" -d 2s
	after=$(cat /proc/[0-9]*/stat 2>/dev/null | awk -v s="$target" '$6 == s { n += $14 + $15 } END { print n + 0 }')
	kill -TERM -- -"$target"
	wait "$target" 2>/dev/null
	# The trace is a part of the time between the two.
	python3 -c 'import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["findings"]["rows"] if r["id"] == "descendants"]
if not rows or rows[0]["level"] != "info":
    sys.exit("not said")
most = (int(sys.argv[3]) - int(sys.argv[2])) * 1e7
if not 0.3 * most <= rows[0]["evidence"]["total_ns"] <= most + 3e7:
    sys.exit("%d ns, of %d" % (rows[0]["evidence"]["total_ns"], most))' "$W/report.json" "$before" "$after" 2>"$W/err" ||
		die "$(tail -n 1 "$W/err")"
}

case_report_fail_on() { # a status for CI, and a first screen with finding, evidence and next command
	local binary
	binary=$(planted_binary $NEWEST) || die "cannot build"
	timeout 30 "$binary" lock-io -seconds 2 -native "$W/trace" >"$W/target.out" 2>&1 || die "the target ended"
	run_gotrace report "$W/trace" --fail-on medium
	want 4
	head -n 24 "$W/out" | grep -q 'lock-io: .*' || die "no finding on the first screen"
	head -n 24 "$W/out" | grep -q '^  > gotrace why' || die "no command on the first screen"
	[ "$(awk '/^(TASKS|CPU|LOCKS|WAITS)$/ { print NR; exit }' "$W/out")" -le 26 ] || die "findings fill more than a screen"
	timeout 30 "$binary" lock-io -clean -seconds 2 -native "$W/trace" >"$W/target.out" 2>&1 || die "the target ended"
	run_gotrace report "$W/trace" --fail-on low
	want 0
	grep -q '^Most time goes to:' "$W/out" || die "not said where time goes"
	usage_error 'worst is not info, low, medium or high' report --fail-on worst "$W/trace"
}

# leads_to MODE TASK KIND FUNCTION: checks that most of the slowest task is one kind of wait in FUNCTION, at the end
# of the path.
leads_to() {
	timeout 30 "$binary" "$1" -seconds 2 -native "$W/trace" >"$W/target.out" 2>&1 || die "the target ended"
	run_gotrace why "$W/trace" --task "$2" --json
	want 0
	python3 -c 'import json, sys
why = json.load(open(sys.argv[1]))
explained = {part.get("explains") for part in why["path"]}
there = 0
for i, part in enumerate(why["path"]):
    if i not in explained and part["for"] == sys.argv[2] and sys.argv[3] in part["where"]:
        there += part["duration_ns"]
if there * 2 < why["duration_ns"]:
    sys.exit("%d of %d ns" % (there, why["duration_ns"]))' "$W/out" "$3" "$4" 2>"$W/err" ||
		noisy "$1: the path of $2 does not lead to $3 in $4: $(tail -n 1 "$W/err")"
}

case_why_leads() { # fan-out and join; a pool whose members are handed on, and locks that are
	local binary
	binary=$(planted_binary $NEWEST) || die "cannot build"
	leads_to slow-member batch sleep main.member
	leads_to sql-pool page sleep main.sqlPool
	leads_to pool-small query sleep main.query
}

case_why_sums() { # the parts of each level tile the window above
	local binary
	binary=$(planted_binary $NEWEST) || die "cannot build"
	timeout 30 "$binary" outlier -seconds 3 -native "$W/trace" >"$W/target.out" 2>&1 || die "the target ended"
	run_gotrace why "$W/trace" --task request --json
	want 0
	python3 -c 'import json, sys
why = json.load(open(sys.argv[1]))
windows = {None: why["duration_ns"]}
sums = {}
for i, part in enumerate(why["path"]):
    above = part.get("explains")
    windows[i] = part["duration_ns"]
    sums[above] = sums.get(above, 0) + part["duration_ns"]
for above, total in sums.items():
    assert total == windows[above], (above, total, windows[above])
sleep = sum(p["duration_ns"] for p in why["path"] if p["for"] == "sleep" and "main.request" in p["where"])
assert sleep > 90e6, sleep' "$W/out" 2>"$W/err" || die "the path: $(tail -n 1 "$W/err")"
	run_gotrace why "$W/trace" --task nothing
	want 1
	one_line
	says "available: request"
}

case_report_formats() { # each format gives a report; a truncated file gives one up to its fault
	local release
	for release in $(in_turn 3 1.5.4 1.7.6 1.8.7 1.10.8 1.11.13 1.16.15 1.19.13 1.21.13 1.22.12 1.23.8 1.25.1 $NEWEST); do
		native_of "$release"
		run_gotrace report "$W/native-$release"
		want 0
		grep -q '^GOROUTINES' "$W/out" || die "go$release: no goroutines"
		[ "$(awk 'length > 90' "$W/out" | grep -vc '^  >')" -lt 8 ] || die "go$release: lines are too long"
	done
	head -c 3000 "$W/native-$release" >"$W/torn"
	run_gotrace report "$W/torn"
	want 1 3
	one_line
}

# waits_profile RELEASE KIND: makes the profile of $W/native-RELEASE with go tool trace of the newest release that
# defines it as gotrace does: 1.21 for formats up to its own, 1.26 for later ones (up to 1.25 it leaves out
# transitions without a stack).
waits_profile() {
	local tool=1.26.8
	[ "$(minor "$1")" -gt 21 ] || tool=1.21.13
	GOTOOLCHAIN=go$tool go tool trace -pprof="$2" "$W/native-$1" >"$W/profile" 2>"$W/err" &&
		GOTOOLCHAIN=go1.26.8 go tool pprof -raw "$W/profile" >"$W/samples" 2>"$W/err" ||
		die "go tool trace -pprof=$2 of go$1: $(tail -n 1 "$W/err")"
}

case_report_sums() { # waits and calls, stack by stack, to the nanosecond as go tool trace has them
	local release kind slack
	for release in 1.11.13 1.19.13 1.22.12 1.26.8; do
		native_of "$release"
		run_gotrace report --json --max-size=64M "$W/native-$release"
		want 0
		# Formats up to 1.21 count in ticks, which the two tools convert to nanoseconds differently.
		slack=0
		[ "$(minor "$release")" -gt 21 ] || slack=1
		for kind in sync:waits net:waits syscall:syscalls; do
			# Formats up to 1.21 do not say when a short call ends: no time is counted.
			[ "$(minor "$release")" -gt 21 ] || [ "${kind%%:*}" != syscall ] || continue
			waits_profile "$release" "${kind%%:*}"
			python3 tests/e2e/same_sums.py "$W/out" "$W/samples" "${kind#*:}" $slack >"$W/sums" 2>&1 ||
				die "go$release, ${kind%%:*}: $(head -n 3 "$W/sums" | tr '\n' ';')"
		done
	done
}

# c_planted MODE ARG...: makes a report on the C program, live.
c_planted() {
	start_target "$E2E/planted-c" "$1" "$W/data" "${@:2}"
	report_json -p "$target" -d 2s
	stop_target
}

case_report_c() { # a thread holds a lock while it writes to disk, or computes
	gcc -O2 -g -pthread -o "$E2E/planted-c" tests/e2e/planted/locks.c || die "cannot build the C program"
	c_planted disk
	first_is lock-io
	grep -q '"text":"[^"]*holder' "$W/report.json" || die "the holder is not named: $(head -c 600 "$W/report.json")"
	c_planted long
	first_is lock-long
	c_planted disk clean
	findings_in "$W/report.json" | grep '^lock' && die "a lock without the fault"
	c_planted long clean
	findings_in "$W/report.json" | grep '^lock' && die "a lock without the fault"
	return 0
}

case_report_c_queues() { # threads that queue for a lock, or are woken for nothing
	gcc -O2 -g -pthread -o "$E2E/planted-c" tests/e2e/planted/locks.c || die "cannot build the C program"
	c_planted convoy
	first_is lock-convoy
	grep -q '"text":"[^"]*counter' "$W/report.json" || die "the lock is not named: $(head -c 600 "$W/report.json")"
	c_planted herd
	# Little time is lost, so other programs that use the CPUs may come first.
	findings_in "$W/report.json" | grep -q '^herd ' || die "no herd: $(findings_in "$W/report.json" | tr '\n' ' ')"
	grep -q '"text":"[^"]*producer[^"]*consumer' "$W/report.json" ||
		die "the threads are not named: $(head -c 600 "$W/report.json")"
	c_planted convoy clean
	findings_in "$W/report.json" | grep '^lock\|^herd' && die "a queue without the fault"
	c_planted herd clean
	findings_in "$W/report.json" | grep '^lock\|^herd' && die "a queue without the fault"
	return 0
}

case_report_c_own() { # a lock that the program makes of a futex, known by its value
	gcc -O2 -g -pthread -fopenmp -o "$E2E/planted-c" tests/e2e/planted/locks.c || die "cannot build the C program"
	c_planted own
	grep -q '"id":"lock-io","level":"high",[^}]*"text":"take_turn[^"]* waited [^"]* for pass_turn' "$W/report.json" ||
		die "no lock in take_turn: $(findings_in "$W/report.json" | tr '\n' ' ')"
	c_planted own clean
	! findings_in "$W/report.json" | grep '^lock' || die "a lock without the fault"
}

case_report_c_waits() { # threads that wait for a place, for a slow reader, for a loop that sleeps, for each other, and for their memory map
	local row mode
	gcc -O2 -g -pthread -fopenmp -o "$E2E/planted-c" tests/e2e/planted/locks.c || die "cannot build the C program"
	for row in places:pool-small:process pipe:slow-consumer:drain loop:serial-loop:event_loop stall:serial-loop:stalling_loop barrier:straggler:simulate \
		churn:thread-churn:serve_jobs map:mmap-lock:fill_buffers team:straggler:OpenMP; do
		mode=${row%%:*}
		row=${row#*:}
		c_planted "$mode"
		# Other programs that use the CPUs may come first.
		grep -q "\"id\":\"${row%:*}\",[^}]*\"text\":\"[^\"]*${row#*:}" "$W/report.json" ||
			die "$mode: no ${row%:*} in ${row#*:}: $(findings_in "$W/report.json" | tr '\n' ' ')"
		findings_in "$W/report.json" | grep '^lock' && die "$mode: a lock that there is not"
		c_planted "$mode" clean
		! grep -q "\"id\":\"${row%:*}\"" "$W/report.json" || die "$mode without its fault: ${row%:*}"
		findings_in "$W/report.json" | grep '^lock' && die "$mode: a lock that there is not"
	done
	return 0
}

case_report_gil() { # threads of Debian's python3, which has no symbol of its lock, compute at the same time, or one alone does
	local threads
	for threads in 4 1; do
		start_target /usr/bin/python3 -c 'import os, sys, threading, time
def compute():
    while True:
        sum(i * i for i in range(1000))
for _ in range(int(sys.argv[1])):
    threading.Thread(target=compute, daemon=True).start()
print("ready", os.getpid(), flush=True)
while True:
    time.sleep(1)' $threads
		report_json -p "$target" -d 2s
		stop_target
		[ $threads = 1 ] || first_is gil
	done
	! findings_in "$W/report.json" | grep '^gil' || die "one thread waits for itself"
}

case_report_rust() { # workers that wait for work with a lock are well; one that sleeps with a lock is named, and its library is not
	local found
	rustc -O -g -o "$E2E/planted-rust" tests/e2e/planted/pool.rs 2>"$W/rustc.err" || die "cannot build the Rust program: $(head -n 3 "$W/rustc.err")"
	start_target "$E2E/planted-rust" table
	report_json -p "$target" -d 2s
	stop_target
	grep -q '"id":"lock-io",[^}]*"text":"[^"]*put_in_table (pool.rs:[0-9]*)[^"]*RwLock[^"]*waited[^"]*across a sleep' "$W/report.json" ||
		die "not named: $(findings_in "$W/report.json" | tr '\n' ' ')"
	start_target "$E2E/planted-rust" table "$W/data" clean
	report_json -p "$target" -d 2s
	stop_target
	found=$(findings_in "$W/report.json" | grep -v '^neighbour')
	[ -z "$found" ] || die "without its fault: $found"
	grep -q '"pool::work' "$W/report.json" || die "the workers have another name"
}

case_report_deep() { # goroutines that run, or are deeper in calls than a stack has frames, when the trace begins
	mkdir "$W/deep"
	cat >"$W/deep/main.go" <<-'PROGRAM'
		package main

		import (
			"os"
			"time"
		)

		//go:noinline
		func down(n int, end func()) int {
			if n == 0 {
				end()
			}
			return 1 + down(n-1, end)
		}

		//go:noinline
		func leaf(d time.Duration) {
			for t := time.Now(); time.Since(t) < d; {
			}
		}

		// With an argument it begins in a wrapper, sleeper's caller.
		//go:noinline
		func sleeper(n int) { down(n, func() { for { time.Sleep(5 * time.Millisecond); leaf(100 * time.Microsecond) } }) }
		func spinner() { down(200, func() { for { leaf(time.Millisecond) } }) }

		func main() {
			go sleeper(200)
			go sleeper(200)
			go spinner()
			time.Sleep(100 * time.Millisecond)
			os.Stdout.WriteString("ready\n")
			time.Sleep(time.Minute)
		}
	PROGRAM
	(cd "$W/deep" && go build -o ../deep-program main.go) 2>"$W/build.err" || die "cannot build: $(head -n 2 "$W/build.err")"
	start_target "$W/deep-program"
	run_gotrace -p "$target" -q -d 1s -o "$W/trace"
	want 0
	stop_target
	strict "$W/trace"
	"$GOTRACE" report --all "$W/trace" >"$W/report" || die "no report"
	sed -n '/^GOROUTINES/,/^$/p' "$W/report" >"$W/table"
	grep -qE '^ +2 +2 +2 +0 .* main\.sleeper$' "$W/table" && grep -qE '^ +1 +1 +1 +0 .* main\.spinner$' "$W/table" ||
		die "not named by what began them: $(tr '\n' ';' <"$W/table")"
	grep -q 'main\.down' "$W/table" && die "named by a frame in the middle"
	"$GOTRACE" dump --stacks "$W/trace" >"$W/dump" && grep -q '…' "$W/dump" || die "no stack says that it was cut"
}

# lasts FILE SECONDS: checks that Go's strict reader accepts the trace, and that the report shows at least this
# duration.
lasts() {
	strict "$1"
	report_json "$1"
	python3 -c 'import json, sys
duration = json.load(open(sys.argv[1]))["trace"]["duration_ns"]
sys.exit(0 if duration >= float(sys.argv[2]) * 1e9 else "%.3f s" % (duration / 1e9))' \
		"$W/report.json" "$2" 2>"$W/err" || die "$1 shows $(tail -n 1 "$W/err") of $2 s"
}

case_report_idle_end() { # nothing happens up to the end of a trace, and of a snapshot
	local binary format
	binary=$(planted_binary $NEWEST) || die "cannot build"
	start_target "$binary" idle
	for format in 1.26 1.19; do
		run_gotrace -p "$target" -d 2500ms --format $format -o "$W/trace"
		want 0
		lasts "$W/trace" 2.4
	done
	record -p "$target"
	sleep 3.2
	snapshot
	lasts "$file" 2.9
	stop_recorder 0
	stop_target
}

# limited PID QUOTA_US: puts the process into a cgroup of its own, $cgroup, with this quota per 100 ms.
limited() {
	local task
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		cgroup=/sys/fs/cgroup/gotrace-planted
		mkdir -p $cgroup 2>/dev/null && echo "$2 100000" 2>/dev/null >$cgroup/cpu.max &&
			echo "$1" 2>/dev/null >$cgroup/cgroup.procs
	else
		cgroup=/sys/fs/cgroup/cpu/gotrace-planted
		mkdir -p $cgroup 2>/dev/null && echo "$2" 2>/dev/null >$cgroup/cpu.cfs_quota_us || return 1
		for task in /proc/"$1"/task/*; do
			echo "${task##*/}" >$cgroup/tasks || return 1
		done
	fi
}

case_report_stopped() { # a process that a signal stops for a part of the trace, and until its end
	start_c pipe
	(
		sleep 0.8
		kill -STOP "$target"
		sleep 1.2
		kill -CONT "$target"
	) &
	report_json -p "$target" -d 3s
	first_is stopped
	! grep -q 'kill -CONT' "$W/report.json" || die "it goes on already"
	kill -STOP "$target"
	report_json -p "$target" -d 1s
	first_is stopped
	grep -q "kill -CONT $target" "$W/report.json" || die "no next command"
	kill -CONT "$target"
	stop_target
}

case_report_throttled() { # a process whose quota is used up
	local binary cgroup
	binary=$(planted_binary $NEWEST) || die "cannot build"
	start_target "$binary" busy
	limited "$target" 10000 || {
		stop_target
		skip "no cgroup with a CPU quota can be made here"
	}
	report_json -p "$target" -d 3s
	stop_target
	rmdir "$cgroup"
	first_is "throttled|procs-high"
}

# has_row TABLE NAME: checks that the report in $W/report.json has such a row.
has_row() {
	python3 -c 'import json, sys
rows = json.load(open(sys.argv[1]))["tables"][sys.argv[2]]["rows"]
sys.exit(not any(row.get("name") == sys.argv[3] and row["n"] for row in rows))' "$W/report.json" "$1" "$2"
}

# addresses: prints the number of addresses of locks and channels in $W/report.json.
addresses() {
	python3 -c 'import json, sys
print(len(json.load(open(sys.argv[1]))["tables"].get("locks_by_address", {}).get("rows", [])))' "$W/report.json"
}

# usage_error WORDS ARG...: checks that this is a usage error, reported in one line that says WORDS.
usage_error() {
	local words=$1
	shift
	run_gotrace "$@"
	want 2
	one_line
	says "$words"
}

# one_figure OPTION...: traces $target; the summary and the report of the trace have the same figures.
one_figure() {
	run_gotrace -p "$target" -d 2s -o "$W/trace" --json "$@"
	want 0
	cp "$W/out" "$W/summary.json"
	report_json "$W/trace"
	python3 - "$W/summary.json" "$W/report.json" "$@" 2>"$W/figures.err" <<-'PYTHON' || die "$*: $(tail -n 1 "$W/figures.err")"
		import json, sys
		summary, report = (json.load(open(name)) for name in sys.argv[1:3])
		trace, latency = report["trace"], report["latency"]
		own = [row for row in summary["functions"] if not row["system"]]
		running = sum(row["running_ns"] - (row["syscall_ns"] if trace["of"] == "threads" else 0) for row in own)
		states = trace["states_ns"]
		pairs = {
		    "at the start": (summary["goroutines_at_start"], trace["alive_at_start"]),
		    "at the end": (summary["goroutines_at_end"], trace["alive_at_end"]),
		    "latencies": (summary["scheduling_latency"]["count"], latency["n"]),
		    "running": (running, states.get("run", 0) + states.get("GC assist", 0)),
		    "runnable": (sum(row["runnable_ns"] for row in own), states.get("runnable", 0)),
		    "system calls": (sum(row["syscall_ns"] for row in own), states.get("syscall", 0)),
		    "without system calls": (summary["no_syscalls_ns"], trace["no_syscalls_ns"]),
		}
		for name in "p50_ns", "p99_ns", "max_ns":
		    pairs[name] = summary["scheduling_latency"][name], latency[name]
		if "procs" in summary:
		    ps, gc = summary["procs"], summary["gc"]
		    for name in "all_ns", "syscall_ns":
		        pairs[name] = ps[name], report["procs"][name]
		    pairs["busy"] = ps["code_ns"] + gc["workers_ns"], report["procs"]["code_ns"] + report["procs"]["gc_ns"]
		    for one, other in ("cycles", "cycles"), ("cycles_ns", "cycles_ns"), ("assists_ns", "assist_ns"):
		        pairs[one] = gc[one], report["gc"][other]
		# Times in a file are in units of 64 ns, so a latency is up to 128 ns off, and a reader puts ops of one time 1 ns
		# apart. It learns from the stacks that follow which goroutines are the runtime's.
		def near(name, one, other):
		    count = name in ("at the start", "at the end", "cycles")
		    part = 0.001 if name == "latencies" else 0.02
		    return abs(one - other) <= (0 if count else part * one + (0 if name == "latencies" else 150))
		wrong = ["%s %d and %d" % (name, one, other) for name, (one, other) in pairs.items()
		         if not near(name, one, other)]
		if wrong or not latency["n"]:
		    sys.exit(", ".join(wrong) or "nothing waited for a CPU")
		# Of threads, it may be enough to leave out system calls.
		left_out = trace["not_watched_ns"] or (trace["of"] == "threads" and trace["no_syscalls_ns"])
		if "--max-overhead" in sys.argv and not left_out:
		    sys.exit("the limit left nothing out")
	PYTHON
}

case_one_figure() { # summary and report of one trace agree: whole, with gaps, as goroutines and as threads
	start_target "$(target_binary $NEWEST default)" mixed -native "$W/native" -native-delay 100s -seconds 100
	one_figure
	one_figure --max-overhead 1
	one_figure --as c
	stop_target
	start_c pipe
	one_figure
	one_figure --max-overhead 1
}

case_report_recording() { # the recording options are accepted with -p, and refused with a file
	local binary
	binary=$(planted_binary $NEWEST) || die "cannot build"
	start_target "$binary" outlier
	report_json -p "$target" -d 1s --task main.request --region 'main.spin(d)'
	has_row tasks main.request || die "no task main.request"
	has_row tasks request || die "the program's own task is missing"
	has_row regions main.spin || die "no region main.spin"
	[ "$(addresses)" -gt 0 ] || die "no addresses of locks and channels"
	report_json -p "$target" -d 1s --no-locks --os=off --cpu-samples=0 --detail=light
	[ "$(addresses)" -eq 0 ] || die "addresses of locks and channels with --no-locks"
	! has_row tasks main.request || die "a task main.request that nobody asked for"
	python3 -c 'import json, sys
sys.exit(json.load(open(sys.argv[1]))["trace"]["cpu_samples"] != 0)' "$W/report.json" || die "CPU samples with --cpu-samples=0"
	report_json -p "$target" -d 1s --as c
	grep -q '"of": *"threads"' "$W/report.json" || die "not of threads: $(head -c 300 "$W/report.json")"
	run_gotrace report -p "$target" -d 1s --region main.nothing
	want 1
	one_line
	says 'no function main.nothing'
	run_gotrace report -p "$target" -d 1s --kernel-stacks
	want 1
	one_line
	says 'kernel-stacks is for threads'
	usage_error '--detail=exact excludes --max-overhead' report -p "$target" --detail=exact --max-overhead 9
	usage_error '--region says how a process is recorded: it needs -p PID' report --region f "$binary"
	usage_error '--no-locks says' why --no-locks --goroutine 1 "$binary"
	stop_target
	run_gotrace report -p "$target" -d 1s
	want 1
	[ "$(wc -l <"$W/err")" = 1 ] || die "not one line: $(cat "$W/err")"
	says "^gotrace: .*$target"
	run_gotrace why -p "$target" -d 1s --goroutine 1
	want 1
	[ "$(wc -l <"$W/err")" = 1 ] || die "not one line: $(cat "$W/err")"
}

case_report_requests() { # requests of a live process, as tasks
	local tracer i
	start_requests $NEWEST default
	timeout 60 "$GOTRACE" report -p "$target" -d 4s --requests=http --max-overhead none --json --max-size 1M >"$W/report.json" 2>"$W/err" </dev/null &
	tracer=$!
	for ((i = 0; i < 6; i++)); do # one of them is recorded from its beginning
		sleep 0.7
		kill -USR2 "$target"
	done
	wait $tracer
	status=$?
	want 0
	has_row tasks 'GET /items/{id}' || die "no requests among the tasks"
	! grep -q 'SELECT n FROM' "$W/report.json" || die "statements, too, with --requests=http"
	gone_on
}

case_report_hosts() { # of three hosts that are asked for the same, the slow one is named
	local binary clean
	binary=$(planted_binary $NEWEST) || die "cannot build"
	for clean in '' -clean; do
		start_target "$binary" replicas $clean
		report_json -p "$target" -d 3s --requests=auto
		stop_target
		if [ "$clean" ]; then
			! findings_in "$W/report.json" | grep -q '^slow-host ' || die "a slow host of none: $(findings_in "$W/report.json" | tr '\n' ',')"
		else
			findings_in "$W/report.json" | grep -q '^slow-host ' || die "no slow host: $(findings_in "$W/report.json" | tr '\n' ',')"
			grep -q 'client GET 127.0.0.1:[0-9]*/price takes [0-9.]* ms (mean), and the same of 2 other hosts' \
				"$W/report.json" || die "not this host: $(grep -o 'client GET [^"]*' "$W/report.json" | head -n 2)"
		fi
	done
}

case_why_recording() { # calls of a function, recorded for the question; and the program's own tasks as before
	local binary
	binary=$(planted_binary $NEWEST) || die "cannot build"
	start_target "$binary" outlier
	run_gotrace why -p "$target" -d 1s --region main.request
	want 0
	grep -q '^region main.request, slowest of [0-9,]\+' "$W/out" || die "no answer: $(head -n 2 "$W/out")"
	run_gotrace why -p "$target" -d 1s --task 'main.request(slow)' --slowest 2
	want 0
	grep -q '^task main.request' "$W/out" || grep -q '^task .*, 2' "$W/out" || die "no answer: $(head -n 2 "$W/out")"
	run_gotrace why -p "$target" -d 1s --task request
	want 0
	[ ! -s "$W/err" ] || die "says: $(cat "$W/err")"
	grep -q '^task request, slowest of' "$W/out" || die "no answer: $(head -n 2 "$W/out")"
	run_gotrace why -p "$target" -d 1s --region main.nothing
	want 1
	says 'calls of main.nothing are not recorded: no function main.nothing'
	stop_target
	gcc -O2 -g -pthread -o "$E2E/planted-c" tests/e2e/planted/locks.c || die "cannot build the C program"
	start_target "$E2E/planted-c" long "$W/data"
	run_gotrace why -p "$target" -d 1s --region locks.c:work
	want 0
	grep -q '^region .*work, slowest of' "$W/out" || die "no answer: $(head -n 2 "$W/out")"
	stop_target
}

case_report_killed() { # no file is left, nor a process
	local binary reporter i
	binary=$(planted_binary $NEWEST) || die "cannot build"
	start_target "$binary" outlier
	mkdir "$W/tmp"
	TMPDIR=$W/tmp "$GOTRACE" report -p "$target" -d 50s >"$W/out" 2>"$W/err" </dev/null &
	reporter=$!
	sleep 2
	[ -n "$(pgrep -P $reporter)" ] || die "nothing records"
	ls -l /proc/"$(pgrep -P $reporter | head -n 1)"/fd 2>/dev/null | grep -qF "$W/tmp/" || die "the trace is elsewhere"
	kill -KILL $reporter
	wait $reporter 2>/dev/null
	[ -z "$(ls -A "$W/tmp")" ] || die "left: $(ls -A "$W/tmp")"
	for ((i = 0; i < 100; i++)); do
		pgrep -f "gotrace report -p $target -d 50s" >/dev/null || break
		sleep 0.1
	done
	! pgrep -f "gotrace report -p $target -d 50s" >/dev/null || die "a process goes on recording"
	still_lives
	stop_target
}

case_report_ended() { # a report of less than was asked for says why
	local binary
	binary=$(ctarget) || die "cannot build"
	start_target "$binary" sleep -seconds 3
	run_gotrace report -p "$target" -d 50s
	want 0
	grep -q "PID $target has ended" "$W/err" || die "not said: $(head -n 2 "$W/err")"
	grep -q "^-p $target: " "$W/out" || die "no report: $(head -n 2 "$W/out")"
	wait "$target" 2>/dev/null
	start_target "$binary" sleep -seconds 30
	run_gotrace report -p "$target" -d 500ms
	want 0
	! grep -q "has ended" "$W/err" || die "said of one that lives"
	stop_target
}

# on_terminal ACTION...: runs gotrace top $TOP_WITH on the target, with its screen in $W/screen. Returns its status.
on_terminal() {
	TMPDIR=$W timeout 60 python3 tests/e2e/terminal.py "$@" -- "$GOTRACE" top $TOP_WITH -p "$target" >"$W/screen" 2>&1
}

# nothing_left WHAT: checks that WHAT has left no file of a round, and no process.
nothing_left() {
	[ -z "$(find "$W" -name 'gotrace-*')" ] || die "files are left after $1"
	pgrep -f "gotrace top .*-p $target\$" >/dev/null && die "a process is left after $1"
	return 0
}

# on_screen TEXT: checks that it has been on the screen.
on_screen() {
	grep -aq "$1" "$W/screen" || die "'$1' was not shown"
}

case_top_go() { # on a terminal: a picture of the process within seconds, keys, sizes; q ends it and leaves nothing
	local binary i
	binary=$(planted_binary $NEWEST) || die "cannot build"
	start_target "$binary" lock-io
	on_terminal 4 key=4 1 key=m 1 size=40x10 1 size=1x1 0.2 size=120x40 3 key=0 1 key=q || die "top ended with status $?"
	nothing_left q
	on_screen lock-io
	on_screen refreshLocked
	on_screen 'LOCKS by max'
	TOP_WITH="--no-locks --region main.nothing" on_terminal 4 && die "top recorded a function that there is not"
	on_screen 'no function main.nothing'
	for i in 0.4 2.1 2.4; do
		on_terminal $i key=$'\003' || die "Ctrl-C after $i s: status $?"
		nothing_left "Ctrl-C after $i s"
		on_terminal $i signal=15 || die "SIGTERM after $i s: status $?"
		nothing_left "SIGTERM after $i s"
	done
	(sleep 3; kill -KILL "$(pgrep -P "$(pgrep -of "^$GOTRACE top .*-p $target\$")")") &
	on_terminal 5 && die "top did not fail when the process that analyses was killed"
	on_screen 'the process that analyses was killed by signal 9'
	nothing_left "the end of the process that analyses"
	(sleep 3; kill "$target") &
	on_terminal 4 && die "top did not fail when its target ended"
	on_screen "no process has PID $target\|the process has ended"
	stop_target
	run_gotrace top -p 1
	want 2
	one_line
}

case_top_crowd() { # tables of more rows and columns than are passed on: each is cut, and all are there
	local binary
	binary=$(planted_binary $NEWEST) || die "cannot build"
	start_target "$binary" crowd
	TOP_WITH="--locks --detail=exact" on_terminal size=300x40 8 key=5 1 key=$'\t\t\t\t\t\t' 1 key=q || die "top ended with status $?: $(tail -c 300 "$W/screen")"
	stop_target
	nothing_left q
	on_screen 'LOCKS BY ADDRESS by total'
	on_screen 'released in'
	on_screen 'worker='
}

case_top_whole() { # all that happens between the first round shown and the last one is in one of them
	local binary i sizes=
	binary=$(planted_binary $NEWEST) || die "cannot build"
	start_target "$binary" logged
	for i in 0 1 2 3 4 5 6 7 8 9; do # each size makes it draw the whole screen
		sizes="$sizes size=100x50 0.4 size=99x50 0.4"
	done
	TOP_WITH="-i 3s --detail=exact" on_terminal size=100x50 4 key=2 $sizes key=q || die "top ended with status $?"
	stop_target
	nothing_left q
	python3 - "$W/target.out" "$W/screen" <<-'SCRIPT' >"$W/compared" || die "a round is missing: $(cat "$W/compared")"
		import re, sys
		logged = re.findall(r"slow-[a-z]{3}", open(sys.argv[1]).read())
		shown = set(re.findall(r"slow-[a-z]{3}", open(sys.argv[2], errors="replace").read()))
		first, last = logged.index(min(shown)), logged.index(max(shown))
		lost = [name for name in logged[first:last] if name not in shown]
		print(len(logged), "logged,", len(shown), "shown, lost:", lost)
		sys.exit(bool(lost) or last - first < 30)
	SCRIPT
}

case_top_c() { # the same for threads
	gcc -O2 -g -pthread -o "$E2E/planted-c" tests/e2e/planted/locks.c || die "cannot build the C program"
	start_target "$E2E/planted-c" long "$W/data"
	on_terminal 4 key=7 1 key=q || die "top ended with status $?"
	stop_target
	nothing_left q
	on_screen 'lock-long'
	on_screen 'SYSTEM CALLS'
}
