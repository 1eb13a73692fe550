# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Least privilege: what the processes of gotrace may do once everything is attached, and what happens if one
# of those without privileges dies. To be sourced after native.sh.

# field FILE NAME: prints a field of /proc/PID/status.
field() {
	awk -v name="$2:" '$1 == name { print $2 }' "$1"
}

# fields FILE NAME...: prints several fields, as they were at one time.
fields() {
	local file=$1
	shift
	awk -v names="$*" '{ value[$1] = $2 }
		END { n = split(names, name, " "); for (i = 1; i <= n; i++) printf "%s ", value[name[i] ":"]; print "" }' "$file"
}

# workers: prints the processes that $tracer has started, except the target.
workers() {
	pgrep -P $tracer -x gotrace
}

# confined [THREADS]: checks that both workers have no capabilities, unprivileged ids, a filter, and no way to regain
# privileges; and THREADS threads in all.
confined() {
	local pid status id n=0 threads=0
	for pid in $(workers); do
		status=/proc/$pid/status
		n=$((n + 1))
		[ "$(field $status CapEff)$(field $status CapPrm)" = 00000000000000000000000000000000 ] ||
			die "process $pid has capabilities: $(grep Cap $status | tr '\n' ' ')"
		[ "$(field $status Seccomp)" = 2 ] && [ "$(field $status NoNewPrivs)" = 1 ] ||
			die "process $pid: seccomp $(field $status Seccomp), no_new_privs $(field $status NoNewPrivs)"
		id=$(field $status Uid)
		[ "$id" -ge 60578 ] && [ "$id" -le 61183 ] || die "process $pid runs as $id"
		threads=$((threads + $(field $status Threads)))
		confined_threads $pid
		[ -z "$(find /proc/$pid/fd -lname 'anon_inode:bpf*' 2>/dev/null)" ] || die "process $pid has BPF's descriptors"
	done
	[ $n -eq 2 ] || die "$n processes without privileges instead of 2"
	[ $threads -eq ${1:-2} ] || die "they have $threads threads instead of ${1:-2}"
}

# confined_threads PID: checks the same for each thread, because capabilities and filters are per thread.
confined_threads() {
	local status
	for status in /proc/$1/task/*/status; do
		[ "$(field "$status" CapEff)" = 0000000000000000 ] && [ "$(field "$status" Seccomp)" = 2 ] ||
			die "a thread of process $1 has CapEff $(field "$status" CapEff), seccomp $(field "$status" Seccomp)"
	done
}

# kept MASK...: checks that each thread of gotrace itself and of its broker has one of these sets of capabilities, and
# no way to gain more.
kept() {
	local status set prm privs allowed broker
	broker=$(pgrep -P $tracer -x gotrace-broker) || die "there is no broker"
	for status in /proc/$tracer/task/*/status /proc/$broker/task/*/status; do
		read -r set prm privs < <(fields "$status" CapEff CapPrm NoNewPrivs 2>/dev/null)
		[ -n "$set" ] || [ -e "$status" ] || continue # a thread that has ended
		allowed=no
		for mask; do
			[ "$set" = "$mask" ] && allowed=yes
		done
		[ $allowed = yes ] || die "a thread has the capabilities $set instead of $*"
		[ "$prm" = "$set" ] || die "a thread may take up $prm"
		[ "$privs" = 1 ] || die "a thread may gain privileges"
	done
}

NONE=0000000000000000
MAIN=0000000000000020    # CAP_KILL
THREADS=0000010000080004 # CAP_CHECKPOINT_RESTORE, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH
MAIN_THREADS=0000010000080024
FILE_SERVER=000000000000000b   # CAP_FOWNER, CAP_CHOWN, CAP_DAC_OVERRIDE

# probes_by_links: true if the kernel has uprobe_multi links, which need no privilege.
probes_by_links() {
	local major minor
	IFS=.- read -r major minor _ < <(uname -r)
	[ "$major" -gt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -ge 10 ]; }
}

# rights_of MASK... -- OPTION...: checks a run with these options on $target.
rights_of() {
	local masks=() i
	while [ "$1" != -- ]; do
		masks+=("$1")
		shift
	done
	shift
	rm -f "$W"/trace*
	background -p "$target" -d 8s -o "$W/trace" "$@"
	for ((i = 0; i < 200 && $(ls "$W"/trace* 2>/dev/null | wc -l) == 0; i++)); do sleep 0.1; done
	sleep 1.5
	confined
	kept "${masks[@]}"
	ends 20
	want 0
}

case_sandbox_rights_go() { # with probes that come and go, too
	probes_by_links || skip "probes by perf events, which are root's: before Linux 6.10"
	load mixed
	rights_of $NONE $MAIN --
	strict "$W/trace"
	rights_of $NONE $MAIN -- --max-overhead 5
	strict "$W/trace"
	rights_of $NONE $MAIN -- --detail=exact
	strict "$W/trace"
	still_lives
}

case_sandbox_rights_c() {
	start_c pingpong
	rights_of $NONE $THREADS $MAIN_THREADS --
	strict "$W/trace"
	gone_on
}

case_sandbox_rights_children() {
	start_c pingpong
	rights_of $NONE $THREADS $MAIN_THREADS $FILE_SERVER -- --children
	strict "$W/trace.$target"
	gone_on
}

# dies N WORDS: kills the Nth process without privileges: what was written must be kept, and one line must say so.
dies() {
	rm -f "$W/trace"
	background -p "$target" -d 10s -o "$W/trace" -q
	begun "$W/trace"
	sleep 2.5
	kill -KILL "$(workers | sed -n "$1p")"
	ends 20
	want 3
	says "$2 was killed by signal 9"
	strict "$W/trace"
	checked "$W/trace"
	[ "$(fact events)" -gt 0 ] || die "nothing was kept"
}

case_sandbox_killed_go() {
	load mixed
	dies 1 'the inspector process'
	dies 2 'the writer process'
	still_lives
}

case_sandbox_killed_c() {
	start_c pingpong
	dies 1 'the inspector process'
	dies 2 'the writer process'
	gone_on
}

case_sandbox_damaged() { # programs with damaged ELF sections, symbols and debug information
	local binary seed
	start_c pingpong
	stop_target
	for seed in 1 2 3 4; do
		# Damages only bytes after the mapped segments, so that the program itself runs.
		/usr/bin/python3 - "$binary" "$W/damaged" $seed <<-'SCRIPT' || die "cannot damage $binary"
			import random, struct, sys
			data = bytearray(open(sys.argv[1], "rb").read())
			rng = random.Random(int(sys.argv[3]))
			off, = struct.unpack_from("<Q", data, 32)
			n, = struct.unpack_from("<H", data, 56)
			end = 0
			for i in range(n):
			    kind, _, at, _, _, size = struct.unpack_from("<IIQQQQ", data, off + 56 * i)
			    if kind == 1:
			        end = max(end, at + size)
			assert len(data) - end > 1000
			for _ in range(2000):
			    data[rng.randrange(end, len(data))] = rng.randrange(256)
			open(sys.argv[2], "wb").write(data)
		SCRIPT
		chmod 755 "$W/damaged"
		start_target "$W/damaged" pingpong
		run_gotrace -p "$target" -d 1s -o "$W/trace"
		want 0
		strict "$W/trace"
		still_lives
		stop_target
	done
}

# Code inside a worker holds no more memory than it may, whatever way it tries.
case_sandbox_memory() {
	make -s build/e2e/hoard >"$W/build" 2>&1 || die "cannot build: $(tail -n 3 "$W/build")"
	"$E2E/hoard" >"$W/hoard" 2>&1 || die "a worker holds: $(sort -t : -k 2 -n "$W/hoard" | tail -n 1)"
}

# left_over WORD WHEN: checks that some seconds after gotrace has ended no process has the word in its command line.
left_over() {
	local i
	for ((i = 0; i < 50; i++)); do
		pgrep -f -- "$1" >"$W/left" || return 0
		sleep 0.1
	done
	die "$2: processes are left: $(tr '\n' ' ' <"$W/left")"
}

case_sandbox_closed() { # without standard input, output, error: nothing hangs, and nothing is written elsewhere
	local how
	load mixed
	for how in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
		timeout 30 bash -c "exec \"\$0\" -p $target -d 300ms -o '$W/trace' $how" "$GOTRACE" >"$W/out" 2>"$W/err" || die "with $how: status $?"
		strict "$W/trace"
		left_over "$W/trace" "with $how"
	done
	timeout 30 bash -c "exec \"\$0\" -p $target -d 300ms -q -o - >&-" "$GOTRACE" >"$W/out" 2>"$W/err"
	status=$?
	want 1
	says 'standard output'
	mkdir "$W/dir"
	bash -c "exec \"\$0\" flight -p $target -o '$W/dir' <&- >&- 2>&-" "$GOTRACE" &
	recorder=$!
	sleep 2
	kill -KILL $recorder
	left_over "$W/dir" "a recorder without them that was killed"
	still_lives
}

# --- hostile targets and neighbours ---

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

# ends_soon MS: $tracer ends by itself within this many ms; on a busy machine $SLACK more.
ends_soon() {
	local begin limit
	begin=$(now_ms)
	limit=$(($1 + ${SLACK:-1000}))
	while kill -0 $tracer 2>/dev/null && [ $(($(now_ms) - begin)) -lt $limit ]; do sleep 0.05; done
	kill -0 $tracer 2>/dev/null && {
		kill -KILL $tracer
		noisy "gotrace did not end within $1 ms: $(tail -n 3 "$W/err")"
	}
	wait $tracer
	status=$?
	[ $status -lt 126 ] || die "gotrace crashed with status $status: $(tail -n 3 "$W/err")"
}

# own_processes: prints $tracer and the processes that it has started for itself.
own_processes() {
	echo $tracer $(workers) $(pgrep -P $tracer -x gotrace-broker)
}

# none_lives PID...: checks that within a second none is alive. Zombies do not count as alive.
none_lives() {
	local i pid left
	for ((i = 0; i < 20; i++)); do
		left=
		for pid; do
			case $(sed -n 's/^State:\t//p' /proc/$pid/status 2>/dev/null) in
			'' | Z* | X*) ;;
			*) left="$left $pid ($(tr '\n' ' ' </proc/$pid/comm), $(field /proc/$pid/status State))" ;;
			esac
		done
		[ -z "$left" ] && return
		sleep 0.05
	done
	die "left behind:$left"
}

# whole_or_repaired FILE: checks that it is valid, perhaps after --repair; or that it does not exist.
whole_or_repaired() {
	[ -s "$1" ] || return 0
	timeout 60 "$GOTRACE" check "$1" >"$W/check.out" 2>&1 && return
	cp "$1" "$W/torn"
	timeout 60 "$GOTRACE" check --repair "$W/torn" >"$W/check.out" 2>&1
	timeout 60 "$GOTRACE" check "$W/torn" >"$W/check.out" 2>&1 || grep -qi 'no whole' "$W/check.out" ||
		[ ! -s "$W/torn" ] || die "gotrace check --repair: $(tail -n 3 "$W/check.out")"
}

# start_unserved: starts a target whose stacks cannot be read because its file system does not respond. The file
# system ends with it.
start_unserved() {
	[ -w /dev/fuse ] || skip "no /dev/fuse here"
	gcc -O1 -Wall -Wextra -Werror -o "$W/unserved" tests/e2e/unserved.c -pthread 2>"$W/build.err" || die "cannot build: $(tail -n 3 "$W/build.err")"
	mkdir "$W/mount"
	trap 'stop_unserved; kill -KILL $(jobs -p) 2>/dev/null' EXIT
	start_target "$W/unserved" "$W/mount"
}

stop_unserved() {
	pkill -KILL -P $target
	kill -KILL $target
	umount -l "$W/mount"
} 2>/dev/null

case_sandbox_unserved_stack() { # -d and Ctrl-C end it in time, and what could not be read is reported
	local begin
	start_unserved
	begin=$(now_ms)
	background -p "$target" -d 1s -o "$W/trace"
	ends_soon 5000
	want 0
	says 'reads .* were abandoned'
	checked "$W/trace"
	printf '%s ms for -d 1s' $(($(now_ms) - begin))
	background -p "$target" -o "$W/trace2"
	sleep 0.7
	kill -INT $tracer
	begin=$(now_ms)
	ends_soon 2000
	printf '; %s ms after SIGINT' $(($(now_ms) - begin))
	whole_or_repaired "$W/trace2"
	kill -0 $target || die "the target has ended"
}

# worker_stopped N WHEN: stops the Nth worker for good; gotrace still ends in time.
worker_stopped() {
	local pids i
	rm -f "$W/trace"
	background -p "$target" -o "$W/trace" -q
	if [ $2 = start ]; then
		for ((i = 0; i < 400 && $(workers | wc -l) < $1; i++)); do sleep 0.005; done
	else
		begun "$W/trace"
		sleep 2.2
	fi
	pids=$(own_processes)
	[ $2 = end ] && kill -INT $tracer
	kill -STOP "$(workers | sed -n "$1p")" 2>/dev/null
	[ $2 = middle ] && sleep 2
	[ $2 = end ] || kill -INT $tracer
	ends_soon 2000
	want 0 1 3
	[ $2 = start ] || [ $1 -eq 1 ] || { [ $2 = end ] && [ $status -eq 0 ]; } || says 'is stopped and was abandoned'
	none_lives $pids
	[ $2 = start ] || [ -s "$W/trace" ] || die "nothing was kept"
	[ ! -e "$W/trace" ] || checked "$W/trace"
}

case_sandbox_stopped() { # a worker is stopped by a privileged user: at the beginning, in the middle, at the end
	local n when
	load mixed
	for n in 1 2; do
		for when in start middle end; do worker_stopped $n $when; done
	done
	still_lives
	stop_target
	start_c pingpong
	for n in 1 2; do
		for when in start middle end; do worker_stopped $n $when; done
	done
	gone_on
}

case_sandbox_stopped_flight() { # the wait for a snapshot is limited, too
	local pids
	load mixed
	record -p "$target"
	tracer=$recorder
	sleep 1.5
	pids=$(own_processes)
	kill -STOP "$(workers | sed -n 2p)"
	kill -USR1 $recorder
	sleep 0.5
	kill -TERM $recorder
	ends_soon 2000
	want 1 3
	none_lives $pids
	only_traces
	still_lives
}

# one_killed WHICH AFTER: kill -9 of gotrace (0), or of the first, second or third process that it started.
one_killed() {
	local which=$1 pids victim
	rm -f "$W/trace" "$W"/.gotrace* "$W"/gotrace-*
	background -p "$target" -o "$W/trace" -q
	sleep $2
	pids=$(own_processes)
	victim=$(set -- $pids && shift $which && echo $1)
	[ -n "$victim" ] || victim=$tracer
	[ $which -ne 0 ] || kill -STOP $(workers | sed -n 2p) 2>/dev/null
	kill -KILL $victim 2>/dev/null
	if [ $victim = $tracer ]; then
		wait $tracer 2>/dev/null
	else
		sleep 0.3
		kill -INT $tracer 2>/dev/null
		ends_soon 3000
	fi
	none_lives $pids
	whole_or_repaired "$W/trace"
	bpftool link list 2>/dev/null | grep -F "($tracer)" && die "links of PID $tracer are left"
	return 0
}

case_sandbox_killed_often() { # it leaves no process, no probe, and no invalid file
	local i n=30
	[ "$ALL" = 1 ] && n=300
	for ((i = 0; i < n; i++)); do
		[ $((i % 20)) -ne 0 ] || load mixed
		one_killed $((i % 4)) 0.$((RANDOM % 10))$((RANDOM % 10))
		[ $((i % 20)) -ne 19 ] || stop_target
	done
	echo "$n times"
}

case_sandbox_neighbours() { # no other user's program, not even nobody's, can signal a worker; no two have one id
	local first second pid
	load mixed
	background -p "$target" -o "$W/trace" -q
	begun "$W/trace"
	first=$tracer
	pid=$(workers | head -n 1)
	as_nobody kill -STOP $pid 2>/dev/null && die "nobody may stop a worker"
	[ "$(field /proc/$pid/status State)" != T ] || die "it is stopped"
	background -p "$target" -o "$W/trace2" -q
	begun "$W/trace2"
	second=$(field /proc/$(workers | head -n 1)/status Uid)
	[ "$(field /proc/$pid/status Uid)" != "$second" ] || die "workers of two runs have the same id"
	setpriv --reuid=$second --regid=$second --clear-groups --inh-caps=-all --bounding-set=-all kill -STOP $pid 2>/dev/null &&
		die "a worker's id may stop another's worker"
	kill -INT $tracer $first
	ends_soon 3000
	want 0
	tracer=$first
	ends_soon 3000
	want 0
	checked "$W/trace"
	checked "$W/trace2"
	still_lives
}
