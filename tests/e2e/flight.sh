# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The flight recorder on live targets. To be sourced after cases.sh.

# record ARG...: starts gotrace flight of $target into $W/dir as $recorder, and waits until it records.
record() {
	local i
	mkdir -p "$W/dir"
	: >"$W/err"
	env --default-signal "$GOTRACE" flight -o "$W/dir" "$@" >"$W/out" 2>"$W/err" </dev/null &
	recorder=$!
	for ((i = 0; i < 200; i++)); do
		grep -q 'recording PID' "$W/err" && return
		kill -0 $recorder 2>/dev/null || die "gotrace flight ended at once: $(tail -n 3 "$W/err")"
		sleep 0.1
	done
	noisy "gotrace flight did not begin within 20 s: $(tail -n 3 "$W/err")"
}

# stop_recorder STATUS: ends it with SIGTERM; only complete traces must be left.
stop_recorder() {
	kill -TERM $recorder
	wait_end $recorder 20 || noisy "gotrace flight did not end within 20 s of SIGTERM"
	want "$1"
	only_traces
}

only_traces() {
	local left
	left=$(find "$W/dir" -mindepth 1 ! -name 'gotrace-*Z*.trace')
	[ -z "$left" ] || die "left behind: $left"
}

# files: prints the number of traces.
files() {
	find "$W/dir" -name '*.trace' | wc -l
}

# snapshot: takes one by the command; its file is in $file.
snapshot() {
	file=$(timeout 30 "$GOTRACE" snapshot -p "${1:-$recorder}" 2>"$W/snapshot.err") ||
		die "gotrace snapshot: $(tail -n 2 "$W/snapshot.err")"
	[ -s "$file" ] || die "gotrace snapshot printed '$file', where no file is"
}

# usr1: takes one by a signal; its file is in $file.
usr1() {
	local before i
	before=$(files)
	kill -USR1 $recorder
	for ((i = 0; i < 300; i++)); do
		[ "$(files)" -gt "$before" ] && break
		sleep 0.1
	done
	[ "$(files)" -gt "$before" ] || noisy "no file within 30 s of SIGUSR1: $(tail -n 2 "$W/err")"
	file=$(find "$W/dir" -name '*.trace' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-)
}

memory() { # prints the memory of the recorder and its two processes, in kB
	local pid
	for pid in $recorder $(pgrep -P $recorder -x gotrace); do
		cat /proc/$pid/smaps_rollup
	done | awk '/^Pss:/ {sum += $2} END {print sum}'
}

# prints PATTERN SECONDS: checks that the recorder prints such a line in time.
prints() {
	local i
	for ((i = 0; i < $2 * 10; i++)); do
		grep -qE -- "$1" "$W/err" && return
		sleep 0.1
	done
	die "the recorder does not say '$1': $(tail -n 3 "$W/err")"
}

case_flight_usage() {
	local args
	while read -r args; do
		run_gotrace flight $args
		[ $status -eq 2 ] || die "gotrace flight $args: exit status $status instead of 2: $(head -n 2 "$W/err")"
		one_line
	done <<-'LIST'

		-p 1 --comm x
		-p 1 --user root
		--user root
		--exe server
		--comm x --user no-such-user
		-p 1 --window 0
		-p 1 --max-bytes 5
		-p 1 --on blocked
		-p 1 --on blocked>5
		-p 1 --on nonsense>5ms
		-p 1 --after 2s
		-p 1 --keep many
		-p 1 --detail=most
		-p 1 stray
	LIST
	run_gotrace snapshot
	want 2
	run_gotrace flight --help
	want 0
	run_gotrace snapshot --help
	want 0
	run_gotrace snapshot -p $$
	want 1
	one_line
	run_gotrace flight -p $$ -o "$W/no/such/dir"
	want 1
	one_line
}

# some_snapshots N: takes N snapshots at random times, under load. Each must be complete, valid, and cover the window.
some_snapshots() {
	local i
	rm -rf "$W/dir"
	load mixed
	record -p "$target" --window 2s --keep 0
	sleep 3
	for ((i = 0; i < $1; i++)); do
		sleep "0.$((RANDOM % 900 + 100))"
		if [ $((i % 2)) -eq 0 ]; then snapshot; else usr1; fi
		strict "$file"
		[ "$(fact milliseconds)" -ge 2000 ] || noisy "snapshot $i holds $(fact milliseconds) ms instead of 2000"
		[ "$(fact 'go Waiting->Runnable')" -gt 100 ] || noisy "snapshot $i has hardly an event"
		checked "$file"
	done
	[ "$(files)" -eq "$1" ] || die "$(files) files instead of $1"
	stop_recorder 0
	still_lives
	stop_target
}

case_flight_snapshots() {
	local round rounds=1 each=8
	[ "$ALL" = 1 ] && rounds=7 each=15 # the load has a limited lifetime
	for ((round = 0; round < rounds; round++)); do
		some_snapshots $each
	done
	echo "$((each * rounds)) snapshots"
}

# Three requests at the same time give one or more files, and each gets an answer.
case_flight_crowd() {
	local i
	load mixed
	record -p "$target" --window 1s
	sleep 1
	for i in 1 2 3 4 5; do
		"$GOTRACE" snapshot -p $recorder >"$W/asked.$i" 2>&1 &
		asked[i]=$!
	done
	for i in 1 2 3 4 5; do
		wait "${asked[i]}" || die "gotrace snapshot: $(cat "$W/asked.$i")"
		strict "$(cat "$W/asked.$i")"
	done
	stop_recorder 0
}

# covers FILE FROM TO: the busy trace has this window, in us since 1970, to a millisecond.
covers() {
	local start_wall start end
	run_gotrace sql "$1" "SELECT (SELECT value FROM info WHERE key = 'start_wall') / 1000,
		((SELECT value FROM info WHERE key = 'end') - (SELECT value FROM info WHERE key = 'start')) / 1000" --csv
	want 0
	IFS=, read -r start end <<<"$(tail -n 1 "$W/out" | tr -d '\r')"
	end=$((start + end))
	[ $((start - $2)) -le 1000 ] && [ $(($2 - start)) -le 1000 ] || die "$1 begins $((start - $2)) us after the window"
	[ $((end - $3)) -le 1000 ] && [ $(($3 - end)) -le 1000 ] || die "$1 ends $((end - $3)) us after the window"
}

# Several recorders give the same seconds of wall-clock time, whenever they are asked; one of them is of an idle process,
# in a format without a wall clock.
case_flight_window() {
	local recorders="" to i file
	load mixed
	record -p "$target" --window 20s --max-overhead none # a window that begins in a gap is cut there
	recorders="$recorder"
	sleep 60 &
	record -p $! --window 20s --format 1.21
	recorders="$recorders $recorder"
	binary=$(ctarget default 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	for i in 1 2; do
		"$binary" pipe -seconds 60 >/dev/null 2>&1 </dev/null &
		record -p $! --window 20s --max-overhead none
		recorders="$recorders $recorder"
	done
	sleep 2
	to=$(($(date +%s%6N) + 700000))
	run_gotrace snapshot --all --at "@$((to / 1000000)).$(printf %06d $((to % 1000000)))" --last 2s
	[ "$(date +%s%6N)" -ge "$to" ] || die "it did not wait for the window's end"
	[ "$(grep -c "^$W/dir/" "$W/out")" = 4 ] || die "$(cat "$W/out" "$W/err")"
	grep "^$W/dir/" "$W/out" >"$W/files"
	for recorder in $recorders; do # the same, later, and one after another
		sleep 0.7
		run_gotrace snapshot -p $recorder --at "$(date -u -d "@$((to / 1000000))" +%FT%T).$(printf %06d $((to % 1000000)))Z" --last 2s
		want 0
		cat "$W/out" >>"$W/files"
	done
	# By the PID of what is recorded, too.
	run_gotrace snapshot -p "$target" --at "@$((to / 1000000)).$(printf %06d $((to % 1000000)))" --last 2s
	want 0
	cat "$W/out" >>"$W/files"
	while read -r file; do
		strict "$file"
		head -c 16 "$file" | grep -q 'go 1.21 trace' || covers "$file" $((to - 2000000)) "$to"
	done <"$W/files"
	run_gotrace snapshot -p $recorder --at @1000000000 --last 1s
	want 1
	says 'nothing of that time is kept'
	file=$(tail -n 1 "$W/files")
	run_gotrace cut "$file" --from "@$(((to - 1500000) / 1000000)).$(printf %06d $(((to - 1500000) % 1000000)))" --to 1s -o "$W/piece"
	want 0
	covers "$W/piece" $((to - 1500000)) $((to - 1000000))
	kill -TERM $recorders
	printf '%s files' "$(wc -l <"$W/files")"
}

case_flight_formats() {
	local format
	load mixed
	for format in 1.11 1.21 1.23; do
		record -p "$target" --window 1s --format $format
		sleep 2
		snapshot
		strict "$file"
		head -c 16 "$file" | grep -q "go $format trace" || die "$file is not of the format $format"
		stop_recorder 0
	done
	"$JUDGE" pages -go go$NEWEST "$file" >"$W/pages" 2>&1 || die "go tool trace: $(head -n 5 "$W/pages")"
}

# fires TRIGGER WHO: checks that the next stall is reported for WHO, within a generation and --after.
fires() {
	local before
	before=$(wc -l <"$W/err")
	kill -${PLANT:-USR2} "$target"
	for _ in $(seq 60); do
		tail -n +$((before + 1)) "$W/err" | grep -qE "^gotrace: $1.*$2" && return
		sleep 0.1
	done
	noisy "'$1' did not fire for $2: $(tail -n +$((before + 1)) "$W/err" | tail -n 3)"
}

case_flight_triggers() {
	load stall -procs 1
	record -p "$target" --window 2s --every 1ms --max-overhead 1000 --on 'blocked>300ms' --on 'syscall>400ms' --on 'runnable>300ms' \
		--on 'goroutines>500' --on 'gc-pause>1us' --on 'func main.stallHandle>300ms'
	sleep 3
	! grep -q '>' "$W/err" || die "fired without a stall: $(grep '>' "$W/err" | head -n 1)"
	[ "$(files)" -eq 0 ] || die "wrote a file without a stall"
	# The stall may continue at the end of a second.
	fires 'blocked>300ms' 'goroutine [0-9]+ .main.stallWorker. (was|has been) blocked for [0-9]+ ms: sync at main.stallHandle .stall.go:[0-9]+. in sync.\(\*Mutex\).Lock'
	prints 'func main.stallHandle>300ms: goroutine [0-9]+ .main.stallWorker. (was|has been) in main.stallHandle for [0-9]+ ms' 3
	sleep 1
	snapshot
	fires 'syscall>400ms' 'main.stallSleeper. (was|has been) in a system call for .* at main.stallSleeper .stall.go:[0-9]+.'
	fires 'runnable>300ms' 'main.stallSpinner'
	fires 'goroutines>500' 'there are 501 goroutines; the last one was created by goroutine [0-9]+ .main.stall.func'
	fires 'gc-pause>1us' 'stopped the world for .*GC '
	fires 'blocked>300ms' 'main.stallReader. has been blocked for .*chan receive'
	sleep 1
	stop_recorder 0
	for file in "$W"/dir/*.trace; do
		strict "$file"
		checked "$file"
	done
	# The event is on the goroutine itself, where it runs again.
	for file in "$W"/dir/*.trace; do
		"$GOTRACE" dump --json "$file"
	done | sed -n 's/.*"UserLog".*"g":\([0-9]*\),.*blocked>300ms: goroutine \([0-9]*\) (main.stallWorker.*/\1 \2/p' >"$W/who"
	for file in "$W"/dir/*.trace; do
		"$GOTRACE" dump --json "$file"
	done | sed -n 's/.*"UserLog".*"g":\([0-9]*\),.*func main.stallHandle>300ms: goroutine \([0-9]*\) (main.stallWorker.*/\1 \2/p' >"$W/who.func"
	awk '$1 == $2 {found = 1} END {exit !found}' "$W/who.func" || die "no event of stallHandle's on its goroutine: $(head -n 1 "$W/who.func")"
	awk '$1 == $2 {found = 1} END {exit !found}' "$W/who" || die "no event of stallWorker's on itself: $(head -n 1 "$W/who")"
}

# Triggers on requests, levels, the process, and findings; and none of them fires before its fault.
case_flight_strain() {
	load strain -procs 2
	record -p "$target" --window 2s --every 1ms --max-overhead 1000 --on 'request>300ms:GET /pay' --on 'request>300ms:GET /other' \
		--on 'queue>20' --on 'heap>150M' --on 'rss>150M' --on 'cpu>25%' --on 'finding>=medium'
	sleep 5
	# Other programs on the machine may be a finding.
	! grep -q '^gotrace: [a-z:-]*>' "$W/err" || noisy "fired without a fault: $(grep '^gotrace: [a-z:-]*>' "$W/err" | head -n 1)"
	fires 'request>300ms:GET /pay' 'GET /pay (was|has been) open for [0-9]+ ms; begun by goroutine [0-9]+ .main.strainRequest'
	prints 'finding>=medium: outlier .(medium|high).: 1 of [0-9]+ tasks GET /pay took' 6
	fires 'queue>20' '21 goroutines wait for a P; the last one was made runnable by goroutine [0-9]+ .main.strain.func'
	sleep 2 # the CPU time of this one is over
	fires 'heap>150M' 'the heap may grow to [2-9][0-9][0-9]'
	prints 'rss>150M: the process has [2-9][0-9][0-9]\.?[0-9]* MB of memory' 3
	fires 'cpu>25%' 'the process used [0-9]+% of a CPU'
	! grep -q 'GET /other: ' "$W/err" || die "a request of another name: $(grep /other "$W/err")"
	sleep 1
	stop_recorder 0
	for file in "$W"/dir/*.trace; do
		strict "$file"
		checked "$file"
		"$GOTRACE" dump "$file"
	done >"$W/dump"
	grep -q 'request>300ms:GET /pay: ' "$W/dump" || die "no event of the request"
	grep -q 'rss>150M: ' "$W/dump" || die "no note on the memory"
	still_lives
}

# A finding names the program's functions, as the report on the file does.
case_flight_finding() {
	load held -procs 2
	record -p "$target" --window 2s --every 1ms --max-overhead 1000 --on 'finding>=high'
	prints 'finding>=high: lock-io .high.: main.wantLock .strain.go:[0-9]+. waited .* for main.holdLong .strain.go:[0-9]+.' 8
	sleep 3 # another window
	stop_recorder 0
	for file in "$W"/dir/*.trace; do
		strict "$file"
		"$GOTRACE" report "$file"
	done >"$W/report"
	grep -q 'HIGH *lock-io: main.wantLock' "$W/report" || die "not in the report: $(head -n 8 "$W/report")"
	[ "$(grep -c 'finding>=high: lock-io' "$W/err")" -eq 1 ] || die "it fired again: $(cat "$W/err")"
	still_lives
}

# The cgroup's CPU time and its quota. Before, the process has neither.
case_flight_throttled() {
	local group groups="/sys/fs/cgroup/gotrace-test-$$" quota=cpu.max limit="20000 100000"
	if [ -d /sys/fs/cgroup/cpu ]; then
		groups="/sys/fs/cgroup/cpu/gotrace-test-$$ /sys/fs/cgroup/cpuacct/gotrace-test-$$" quota=cpu.cfs_quota_us limit=20000
	fi
	trap 'kill -KILL $(jobs -p) 2>/dev/null; sleep 0.3; rmdir $groups 2>/dev/null' EXIT
	mkdir -p $groups 2>/dev/null && [ -w "${groups%% *}/$quota" ] || skip "no cgroup with a quota can be made here"
	load strain -procs 2
	record -p "$target" --window 2s --every 1ms --max-overhead 1000 --on 'throttled>100ms' --on 'cgroup-cpu>8%'
	prints 'throttled>100ms does not fire yet: the process.s cgroup has no CPU quota' 2
	for group in $groups; do
		echo "$target" >"$group/cgroup.procs"
	done
	echo "$limit" >"${groups%% *}/$quota"
	sleep 3
	! grep -q ': the cgroup ' "$W/err" || die "fired without a fault: $(grep ': the cgroup ' "$W/err" | head -n 1)"
	kill -USR2 "$target"
	fires 'throttled>100ms' 'the cgroup was throttled for [0-9.]+ m?s in a second'
	prints 'cgroup-cpu>8%: the cgroup used [0-9]+% of a CPU' 3
	stop_recorder 0
	stop_target
	kill -KILL "$target" 2>/dev/null
	wait "$target" 2>/dev/null
	trap - EXIT
	rmdir $groups
}

case_flight_blind() { # what was runnable when a gap began is not runnable through the gap
	load mixed
	record -p "$target" --window 2s --every 1ms --max-overhead 2 --on 'runnable>250ms' --on 'syscall>250ms'
	sleep 12
	stop_recorder 0
	grep -q 'not watched: .* in all' "$W/err" || die "it was not blind: $(cat "$W/err")"
	! grep -q '>250ms: ' "$W/err" || noisy "it fired: $(grep '>250ms: ' "$W/err" | head -n 1)"
	still_lives
}

# The recording options: what is recorded, and how closely.
case_flight_recording() {
	local args
	load stall -procs 1
	record -p "$target" --window 2s --every 1ms --max-overhead 1000 --locks --os=all --buffer 32M --rings 2 \
		--task main.stallHandle --on 'func main.stallHandle>300ms'
	sleep 1
	fires 'func main.stallHandle>300ms' 'main.stallWorker'
	sleep 2
	snapshot
	stop_recorder 0
	for file in "$W"/dir/*.trace; do
		strict "$file"
		checked "$file"
		"$GOTRACE" dump "$file"
	done >"$W/dump"
	grep -q 'key="lock" message="\(mutex\|chan\) 0x' "$W/dump" || die "no lock"
	grep -q 'key="\[CPU\]"' "$W/dump" || die "no CPUs"
	grep -q 'UserTask.*main.stallHandle' "$W/dump" || die "no task of the function"
	# One function, one probe, one match.
	[ "$(grep -c 'func main.stallHandle>300ms: ' "$W/err")" = 1 ] || die "matches: $(grep main.stallHandle "$W/err")"
	rm -r "$W/dir"
	record -p "$target" --window 1s --as c --kernel-stacks
	sleep 1
	snapshot
	strict "$file"
	"$GOTRACE" dump "$file" | grep -q 'key="lock"' && die "a lock without --locks"
	stop_recorder 0
	run_gotrace flight -p "$target" --kernel-stacks
	want 1
	one_line
	run_gotrace flight -p "$target" --requests=sql
	want 1
	one_line
	says 'nothing'
	for args in --alloc --children --raw=x --os=never; do
		run_gotrace flight -p "$target" $args
		want 2
		one_line
		says "${args%%[= ]*}"
	done
	still_lives
}

case_flight_requests() {
	start_requests $NEWEST default
	record -p "$target" --window 5s --max-overhead none --requests=http --region 'net/http.(*conn).serve'
	kill -USR2 "$target"
	for _ in $(seq 200); do
		grep -q '^done' "$W/target.out" && break
		sleep 0.1
	done
	snapshot
	strict "$file"
	"$GOTRACE" dump "$file" >"$W/dump" || die "dump"
	grep -q 'name="GET /items/{id}"' "$W/dump" || die "no requests"
	grep -q 'key="request" message="status=200"' "$W/dump" || die "no status"
	stop_recorder 0
	stop_target
}

# The same for a program in C, traced as threads. $PLANT is the signal that requests a stall.
case_flight_c() {
	start_c stall
	PLANT=HUP
	record -p "$target" --window 2s --every 1ms --on 'blocked:sync>300ms' --on 'runnable>600ms' --on 'goroutines>40' \
		--on 'func stall_handle>300ms'
	sleep 2
	! grep -q '>' "$W/err" || die "fired without a stall: $(grep '>' "$W/err" | head -n 1)"
	[ "$(files)" -eq 0 ] || die "wrote a file without a stall"
	fires 'blocked:sync>300ms' 'thread [0-9]+ .stall_worker.* (was|has been) blocked for [0-9]+ ms: sync .mutex. at stall_handle in pthread_mutex_lock'
	prints 'func stall_handle>300ms: thread [0-9]+ .stall_worker.* (was|has been) in stall_handle for [0-9]+ ms' 3
	# The stall may continue at the end of a second; the event of its end is in the trace in any case.
	grep -q 'has been blocked' "$W/err" || grep -qE 'was blocked for .*; ended by thread [0-9]+ .stall_planter' "$W/err" ||
		die "not by whom: $(grep 'blocked' "$W/err")"
	fires 'runnable>600ms' 'thread [0-9]+ .stall_runner.* (was|has been) runnable for'
	fires 'goroutines>40' 'there are 41 threads; the last one was created by thread [0-9]+ .stall_planter'
	snapshot
	sleep 1
	stop_recorder 0
	unset PLANT
	for file in "$W"/dir/*.trace; do
		strict "$file"
		checked "$file"
		"$GOTRACE" dump --json "$file"
	done | sed -n 's/.*"UserLog".*"g":\([0-9]*\),.*\(blocked:sync\|func stall_handle\)>300ms: thread \([0-9]*\) (stall_worker.*/\2 \1 \3/p' >"$W/who"
	[ "$(awk '$(NF - 1) == $NF {print $1}' "$W/who" | sort -u | wc -l)" -eq 2 ] || die "not on the thread itself: $(head -n 3 "$W/who")"
	run_gotrace flight -p "$target" --on 'gc-pause>1ms'
	want 1
	one_line
	says 'gc-pause is for Go programs'
	run_gotrace flight -p "$target" --on 'request>1ms'
	want 1
	one_line
	says 'traced as threads and has no requests: also give --task FUNC'
	gone_on
}

# What happens after the match is in the file, too.
case_flight_after() {
	local moment
	load stall -procs 1
	record -p "$target" --window 1s --max-overhead 1000 --on 'blocked>300ms' --after 2s
	sleep 1
	kill -USR2 "$target"
	prints 'wrote .*trace' 10
	file=$(find "$W/dir" -name '*.trace')
	strict "$file"
	moment=$("$GOTRACE" dump --json "$file" | sed -n 's/^{"time":\([0-9]*\),.*blocked>300ms.*/\1/p' | head -n 1)
	[ "$moment" ] || die "the event is not in the file"
	[ "$(fact milliseconds)" -ge $((moment / 1000000 + 1900)) ] ||
		noisy "$(fact milliseconds) ms in all, the moment at $((moment / 1000000)) ms: not two seconds after"
	stop_recorder 0
}

case_flight_exit() {
	start_target "$(target_binary $NEWEST default)" mixed -seconds 4
	record -p "$target"
	wait_end $recorder 20 || noisy "gotrace flight did not end with its target"
	want 0
	[ "$(files)" -eq 1 ] || die "$(files) files instead of one"
	strict "$W"/dir/*.trace
	rm -r "$W/dir"
	start_target "$(target_binary $NEWEST default)" mixed -seconds 4 -then crash
	record -p "$target"
	wait_end $recorder 20 || noisy "gotrace flight did not end with its target"
	want 0
	strict "$W"/dir/*.trace
	only_traces
}

byte_at() { # FILE OFFSET
	dd if="$1" bs=1 skip="$2" count=1 2>/dev/null | od -A n -t x1
}

# breakpoints: prints the number of probe points at which $target's code differs from its file (which is linked to
# 0x400000).
breakpoints() {
	local name kind offset n=0 binary
	binary=$(readlink "/proc/$target/exe")
	while read -r name kind offset; do
		[ "$(byte_at "/proc/$target/mem" $((0x400000 + offset)))" = "$(byte_at "$binary" $((offset)))" ] || n=$((n + 1))
	done < <("$GOTRACE" sites -p "$target" | sed 's/ push / /' | awk '$NF ~ /^0x/ {print $1, $2, $NF}')
	echo $n
}

# The recorder is killed while it writes: target and disk must be as if it had never run.
case_flight_killed() {
	local i
	load mixed
	record -p "$target" --window 20s --detail=exact
	sleep 3
	[ "$(breakpoints)" -gt 10 ] || die "only $(breakpoints) probes are to be seen in the target's code"
	kill -USR1 $recorder
	sleep 0.05
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	sleep 1
	[ "$(breakpoints)" -eq 0 ] || die "$(breakpoints) breakpoints are left in the target's code"
	only_traces
	for file in "$W"/dir/*.trace; do
		[ -e "$file" ] && strict "$file"
	done
	still_lives
	record -p "$target" --window 1s
	sleep 1
	snapshot
	strict "$file"
	stop_recorder 0
	still_lives
}

case_flight_full_disk() {
	load mixed
	mkdir "$W/dir"
	mount -t tmpfs -o size=64k none "$W/dir" || die "cannot mount a tmpfs"
	trap 'umount -l "$W/dir"; kill -KILL $(jobs -p) 2>/dev/null' EXIT
	record -p "$target" --window 5s
	sleep 4
	kill -USR1 $recorder
	prints 'No space left on device; free some space, or choose another place; recording continues' 10
	kill -USR1 $recorder
	sleep 1
	run_gotrace snapshot -p $recorder
	want 1
	! ls "$W"/dir/*.trace >/dev/null 2>&1 || die "a torn file is there"
	mount -o remount,size=64m "$W/dir"
	snapshot
	strict "$file"
	mv "$W/out.keep" "$W/out" 2>/dev/null
	kill -TERM $recorder
	wait_end $recorder 20 || noisy "gotrace flight did not end"
	want 3 # a file was lost
	only_traces
}

# Only the oldest files of its own are removed. A directory that was removed is made again.
case_flight_keep() {
	local i
	load idle
	mkdir "$W/dir"
	echo precious >"$W/dir/gotrace-1-20200101T000000Z.trace"
	record -p "$target" --window 1s --keep 2
	for i in 1 2 3 4; do
		sleep 0.3
		snapshot
	done
	[ "$(files)" -eq 3 ] || die "$(files) files instead of 2 and the old one"
	[ -s "$W/dir/gotrace-1-20200101T000000Z.trace" ] || die "removed a file of another"
	strict "$file"
	mv "$W/dir" "$W/rotated"
	snapshot
	strict "$file"
	prints 'created again' 2
	stop_recorder 0
}

case_flight_users() {
	load idle
	record -p "$target" --window 1s
	sleep 1
	public_copy
	as_nobody "$public/gotrace" snapshot -p $recorder >"$W/nobody" 2>&1 && die "nobody may ask for a snapshot"
	grep -q "another user" "$W/nobody" || die "nobody is informed: $(cat "$W/nobody")"
	as_nobody kill -USR1 $recorder 2>/dev/null && die "nobody may send a signal"
	[ "$(files)" -eq 0 ] || die "a file was written all the same"
	snapshot
	[ "$(stat -c %a "$file")" = 600 ] || die "the file's mode is $(stat -c %a "$file")"
	stop_recorder 0
}

# The process ends and another of the same name starts: that is recorded, too.
case_flight_successor() {
	local name=flight$$ first
	cp "$(target_binary $NEWEST default)" "$W/$name"
	mkdir -p "$W/dir"
	env --default-signal "$GOTRACE" flight --comm $name -o "$W/dir" --window 1s >"$W/out" 2>"$W/err" </dev/null &
	recorder=$!
	prints 'waiting for a process' 5
	run_gotrace_aside snapshot -p $recorder
	[ $status -eq 1 ] || die "a snapshot of nothing"
	start_target "$W/$name" mixed -seconds 100
	first=$target
	prints "recording PID $first" 10
	sleep 1
	kill -KILL "$first"
	wait "$first" 2>/dev/null
	prints "PID $first has ended" 10
	start_target "$W/$name" mixed -seconds 100
	prints "recording PID $target" 10
	sleep 1
	snapshot
	stop_recorder 0
	[ "$(files)" -eq 2 ] || die "$(files) files instead of two"
	for file in "$W"/dir/*.trace; do
		strict "$file"
	done
}

# wait_for ARG...: starts gotrace flight as $recorder, which waits for a process.
wait_for() {
	mkdir -p "$W/dir"
	env --default-signal "$GOTRACE" flight -o "$W/dir" "$@" >"$W/out" 2>"$W/err" </dev/null &
	recorder=$!
	prints 'waiting for a process' 5
}

# as_server PROGRAM: starts it as $target for nobody.
as_server() {
	start_target setpriv --reuid=$NOBODY --regid=$NOBODY --clear-groups "$1" mixed -seconds 100
}

# end_server: kills $target, and waits until the recorder waits again.
end_server() {
	kill -KILL "$target"
	wait "$target" 2>/dev/null
	prints "PID $target has ended" 10
}

# Newer processes of the server's name are not recorded in its place: of another user, of another executable, and
# of another one that is mounted at the server's path.
case_flight_filters() {
	local name=flight$$ decoys=() pid exe nobody=(setpriv --reuid=$NOBODY --regid=$NOBODY --clear-groups)
	public_copy
	chmod 755 "$public"
	mkdir "$public/other"
	cp "$(target_binary $NEWEST default)" "$public/$name"
	cp "$(command -v sleep)" "$public/other/$name"
	ln -s "$public/$name" "$public/link"
	wait_for --comm $name --exe "$public/$name" --user nobody --window 1s
	grep -q "the name $name, the executable $public/$name, the user nobody" "$W/err" || die "what it waits for is not said"
	as_server "$public/$name"
	prints "recording PID $target" 10
	sleep 1
	end_server
	"$public/$name" pool -seconds 100 >"$W/decoy" 2>&1 &
	decoys+=($!)
	"${nobody[@]}" "$public/other/$name" 100 &
	decoys+=($!)
	"${nobody[@]}" unshare --user --map-root-user --mount sh -c "mount --bind '$public/other/$name' '$public/$name' && exec '$public/$name' 100" &
	decoys+=($!)
	sleep 1
	[ "$(readlink "/proc/${decoys[2]}/exe")" = "$public/$name" ] || skip "no user namespaces here"
	for pid in "${decoys[@]}"; do
		[ "$(cat "/proc/$pid/comm")" = $name ] || die "a decoy does not run"
	done
	sleep 1
	! grep -E "recording PID ($(IFS='|'; echo "${decoys[*]}"))" "$W/err" || die "a decoy was recorded"
	as_server "$public/$name"
	prints "recording PID $target" 10
	sleep 1
	snapshot
	strict "$file"
	[ "$(files)" -eq 2 ] || die "$(files) files instead of two"
	stop_recorder 0
	# Found by a link, and by its own path after its file has been replaced, as by an upgrade. A number is a user, too.
	for exe in link "$name"; do
		[ $exe = link ] || { cp "$public/$name" "$public/new" && mv "$public/new" "$public/$name"; }
		: >"$W/err" # the line of the recorder before is the same
		env --default-signal "$GOTRACE" flight -o "$W/dir" --exe "$public/$exe" --user $NOBODY >"$W/out" 2>"$W/err" </dev/null &
		recorder=$!
		prints "recording PID $target" 10
		stop_recorder 0
	done
	kill -KILL "${decoys[@]}"
}

# decoys N: as many processes of the server's name end at once, each with a snapshot.
decoys() {
	local i pid
	for ((i = 0; i < $1; i++)); do
		"$W/other/$name" 100 &
		pid=$!
		prints "recording PID $pid" 10
		sleep 0.3
		kill -KILL $pid
		wait $pid 2>/dev/null
		prints "PID $pid has ended" 10
	done
}

# Processes that end at once evict neither what a request wrote nor the end of a process that was recorded for longer.
case_flight_decoys() {
	local name=flight$$ asked end
	mkdir "$W/other"
	cp "$(target_binary $NEWEST default)" "$W/$name"
	cp "$(command -v sleep)" "$W/other/$name"
	wait_for --comm $name --keep 3 --window 1s
	start_target "$W/$name" mixed -seconds 100
	prints "recording PID $target" 10
	sleep 2
	end_server
	end=$(find "$W/dir" -name '*.trace')
	[ -s "$end" ] || die "no snapshot of the server's end"
	decoys 4
	[ -s "$end" ] || die "the snapshot of the server's end is gone"
	[ "$(files)" -eq 3 ] || die "$(files) files instead of 3"
	start_target "$W/$name" mixed -seconds 100
	prints "recording PID $target" 10
	sleep 1
	snapshot
	asked=$file
	snapshot
	end_server
	decoys 4
	[ -s "$asked" ] && [ -s "$file" ] || die "a snapshot that was asked for is gone"
	prints 'no snapshot of the end of PID' 1
	[ "$(files)" -eq 3 ] || die "$(files) files instead of 3"
	stop_recorder 0
}

# Successive processes of a cgroup.
case_flight_cgroup() {
	local root group=""
	for root in /sys/fs/cgroup /sys/fs/cgroup/*; do
		group=$root/gotrace-test-$$
		mkdir "$group" 2>/dev/null && [ -w "$group/cgroup.procs" ] && break
		rmdir "$group" 2>/dev/null
		group=""
	done
	[ -n "$group" ] || skip "no cgroup can be made here"
	trap 'kill -KILL $(jobs -p) 2>/dev/null; sleep 0.3; rmdir "$group"' EXIT
	mkdir -p "$W/dir"
	env --default-signal "$GOTRACE" flight --cgroup "${group#/sys/fs/cgroup/}" -o "$W/dir" --window 1s >"$W/out" 2>"$W/err" </dev/null &
	recorder=$!
	prints 'waiting for a process of the cgroup' 5
	load mixed
	echo "$target" >"$group/cgroup.procs"
	prints "recording PID $target" 10
	kill -KILL "$target"
	wait "$target" 2>/dev/null
	load mixed
	echo "$target" >"$group/cgroup.procs"
	prints "recording PID $target" 10
	sleep 1
	snapshot
	strict "$file"
	stop_recorder 0
	stop_target
	kill -KILL "$target" 2>/dev/null
	trap - EXIT
	rmdir "$group"
}

# The recorder does not run for a while, as on a suspended machine: the loss is reported, and it continues.
case_flight_stopped() {
	load mixed
	record -p "$target" --window 1s --ring-size 256K
	sleep 1
	kill -STOP $recorder
	sleep 2
	kill -CONT $recorder
	sleep 2
	snapshot
	strict "$file"
	checked "$file"
	stop_recorder 0
	says 'not watched: [0-9.]+ s in all'
	still_lives
}

run_gotrace_aside() { # like run_gotrace, without touching $W/err
	timeout -k 5 30 "$GOTRACE" "$@" >"$W/aside" 2>&1 </dev/null
	status=$?
}

# Goroutines come and go, and snapshots are written: memory must not grow.
case_flight_memory() {
	local early late i seconds=10
	[ "$ALL" = 1 ] && seconds=90
	load churn
	record -p "$target" --window 2s --max-bytes 16M --keep 2 --max-overhead 1000
	sleep 6
	for i in 1 2 3; do snapshot; done
	early=$(memory)
	for ((i = 0; i < seconds / 5; i++)); do
		sleep 5
		snapshot
	done
	late=$(memory)
	strict "$file"
	stop_recorder 0
	[ "$late" -le $((early + early / 5 + 4096)) ] || die "memory grew from $early to $late kB in $seconds s"
	echo "$early kB, $late kB after $seconds s"
}

# flight_rights MASK... -- OPTION...: checks the capabilities of the recorder's processes and threads, before and
# after a snapshot.
flight_rights() {
	local masks=()
	while [ "$1" != -- ]; do
		masks+=("$1")
		shift
	done
	shift
	rm -rf "$W/dir"
	record -p "$target" --window 1s "$@"
	tracer=$recorder
	sleep 1.5
	confined 3 # one of them writes snapshots
	kept "${masks[@]}"
	snapshot
	strict "$file"
	confined 3
	kept "${masks[@]}"
	stop_recorder 0
}

case_flight_rights_go() {
	probes_by_links || skip "probes by perf events, which are root's: before Linux 6.10"
	load mixed
	flight_rights $NONE $MAIN $FILE_SERVER --
	flight_rights $NONE $MAIN $FILE_SERVER -- --max-overhead 5 --format 1.11
	still_lives
}

case_flight_rights_c() {
	start_c pingpong
	flight_rights $NONE $THREADS $MAIN_THREADS $FILE_SERVER -- --on 'func main>1h'
	gone_on
}

# A recorder that waits for a successor keeps the needed capabilities in one thread. All others are as usual.
case_flight_rights_successor() {
	local name=flight$$ status full i
	cp "$(target_binary $NEWEST default)" "$W/$name"
	start_target "$W/$name" mixed -seconds 100
	mkdir -p "$W/dir"
	: >"$W/err"
	env --default-signal "$GOTRACE" flight --comm $name -o "$W/dir" --window 1s >"$W/out" 2>"$W/err" </dev/null &
	recorder=$!
	tracer=$recorder
	prints "recording PID $target" 10
	sleep 1.5
	confined 3
	for ((i = 0; i < 20; i++)); do # the threads that close links last as long as that
		full=0
		for status in /proc/$recorder/task/*/status; do
			case $(field "$status" CapEff 2>/dev/null) in
			'' | $NONE | $FILE_SERVER) ;;
			*) full=$((full + 1)) ;;
			esac
		done
		[ $full -ne 1 ] || break
		sleep 0.1
	done
	[ $full -eq 1 ] || die "$full threads with capabilities instead of one"
	kill -KILL "$target"
	wait "$target" 2>/dev/null
	prints "PID $target has ended" 10
	start_target "$W/$name" mixed -seconds 100
	prints "recording PID $target" 10
	sleep 1.5
	confined 3 # new ones
	: >"$W/err"
	kill -KILL "$(workers | tail -n 1)"
	prints "recording of PID $target stopped early: .* was killed by signal 9" 5
	prints "recording PID $target .go" 10 # again
	sleep 1.5
	snapshot
	stop_recorder 0
	for file in "$W"/dir/*.trace; do
		strict "$file"
	done
}

# With only the capabilities of the example unit; and with CAP_SYS_ADMIN for those that were once part of it.
case_flight_unit() {
	local caps all names
	start_c pingpong
	names=$(sed -n 's/^CapabilityBoundingSet=//p' tools/gotrace-flight@.service | tr 'A-Z ' 'a-z,')
	for caps in "$names" cap_sys_admin,cap_sys_ptrace,cap_dac_read_search; do
		all=$(sed 's/cap_/+/g' <<<"$caps")
		rm -rf "$W/dir"
		printf '#!/bin/sh\nexec setpriv --no-new-privs --bounding-set=-all,%s %s "$@"\n' "$all" "$(readlink -f "$GOTRACE")" >"$W/with"
		chmod 755 "$W/with"
		GOTRACE=$W/with record -p "$target" --window 1s --on 'func main>1h'
		sleep 1.5
		tracer=$recorder
		if [ "$caps" = "$names" ]; then
			confined 3
			kept $NONE $THREADS $MAIN_THREADS
		else
			kept $NONE 0000000000280004 # those of $caps
		fi
		snapshot
		strict "$file"
		[ "$(fact 'go Waiting->Runnable')" -gt 10 ] || noisy "hardly an event with $caps"
		stop_recorder 0
	done
	gone_on
}

# One of the processes without privileges is killed: a line says so, the target continues, and no truncated
# file is left.
case_flight_dies() {
	local which words=('' 'the inspector process' 'the writer process')
	load mixed
	for which in 1 2; do
		record -p "$target" --window 1s
		tracer=$recorder
		sleep 1.5
		kill -KILL "$(workers | sed -n "${which}p")"
		wait_end $recorder 20 || noisy "gotrace flight did not end when one of its processes had"
		want 1
		says "${words[which]} was killed by signal 9"
		only_traces
		still_lives
	done
}

# The notes on omissions of a program traced as threads are about threads, not goroutines.
case_flight_screen_c() {
	start_c pingpong
	mkdir "$W/dir"
	TERM=xterm timeout 30 script -qec "timeout -s INT 5 '$GOTRACE' flight -p $target --max-overhead 1 -o '$W/dir'" /dev/null >"$W/screen" 2>&1 </dev/null
	grep -q 'short stacks\|no system calls\|over the limit' "$W/screen" || die "nothing is left out: $(tail -c 300 "$W/screen" | cat -v)"
	! grep -q 'starts only' "$W/screen" || die "starts of goroutines, of a program in C"
	gone_on
}
