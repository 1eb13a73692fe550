# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Least privilege: what the processes of gotrace may do once everything is attached, and what happens when one of
# those without privileges dies. To be sourced after native.sh.

# field FILE NAME: of /proc/PID/status.
field() {
	awk -v name="$2:" '$1 == name { print $2 }' "$1"
}

# workers: the processes that $tracer has started, without the target.
workers() {
	pgrep -P $tracer -x gotrace
}

# confined [THREADS]: both workers have no capability, nobody's ids, a filter and no way back; so many threads in all.
confined() {
	local pid status n=0 threads=0
	for pid in $(workers); do
		status=/proc/$pid/status
		n=$((n + 1))
		[ "$(field $status CapEff)$(field $status CapPrm)" = 00000000000000000000000000000000 ] ||
			die "process $pid has capabilities: $(grep Cap $status | tr '\n' ' ')"
		[ "$(field $status Seccomp)" = 2 ] && [ "$(field $status NoNewPrivs)" = 1 ] ||
			die "process $pid: seccomp $(field $status Seccomp), no_new_privs $(field $status NoNewPrivs)"
		[ "$(field $status Uid)" = 65534 ] || die "process $pid runs as $(field $status Uid)"
		threads=$((threads + $(field $status Threads)))
		confined_threads $pid
		[ -z "$(find /proc/$pid/fd -lname 'anon_inode:bpf*' 2>/dev/null)" ] || die "process $pid has BPF's descriptors"
	done
	[ $n -eq 2 ] || die "$n processes without privileges instead of 2"
	[ $threads -eq ${1:-2} ] || die "they have $threads threads instead of ${1:-2}"
}

# confined_threads PID: the same of each thread: capabilities and filters are a thread's own.
confined_threads() {
	local status
	for status in /proc/$1/task/*/status; do
		[ "$(field "$status" CapEff)" = 0000000000000000 ] && [ "$(field "$status" Seccomp)" = 2 ] ||
			die "a thread of process $1 has CapEff $(field "$status" CapEff), seccomp $(field "$status" Seccomp)"
	done
}

# kept MASK...: each thread of gotrace's own has one of these sets of capabilities, and no way to more.
kept() {
	local status set allowed
	for status in /proc/$tracer/task/*/status; do
		set=$(field "$status" CapEff)
		allowed=no
		for mask; do
			[ "$set" = "$mask" ] && allowed=yes
		done
		[ $allowed = yes ] || die "a thread has the capabilities $set instead of $*"
		[ "$(field "$status" CapPrm)" = "$set" ] || die "a thread may take up $(field "$status" CapPrm)"
		[ "$(field "$status" NoNewPrivs)" = 1 ] || die "a thread may gain privileges"
	done
}

NONE=0000000000000000
THREADS=0000010000080004 # CAP_CHECKPOINT_RESTORE, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH
CLERK=000000000000000b   # CAP_FOWNER, CAP_CHOWN, CAP_DAC_OVERRIDE

# probes_by_links: whether the kernel has links for many places, which take no privilege.
probes_by_links() {
	local major minor
	IFS=.- read -r major minor _ < <(uname -r)
	[ "$major" -gt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -ge 10 ]; }
}

# rights_of MASK... -- OPTION...: of a run with these options on $target.
rights_of() {
	local masks=() i
	while [ "$1" != -- ]; do
		masks+=("$1")
		shift
	done
	shift
	rm -f "$W"/trace*
	background -p "$target" -d 4s -o "$W/trace" "$@"
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
	rights_of $NONE --
	strict "$W/trace"
	rights_of $NONE -- --max-overhead 5
	strict "$W/trace"
	rights_of $NONE -- --exact
	strict "$W/trace"
	still_lives
}

case_sandbox_rights_c() {
	start_c pingpong
	rights_of $NONE $THREADS --
	strict "$W/trace"
	gone_on
}

case_sandbox_rights_children() {
	start_c pingpong
	rights_of $NONE $THREADS $CLERK -- --children
	strict "$W/trace.$target"
	gone_on
}

# dies N WORDS: the Nth process without privileges is killed: what was written is kept, and one line says so.
dies() {
	rm -f "$W/trace"
	background -p "$target" -d 10s -o "$W/trace" -q
	begun "$W/trace"
	sleep 2.5
	kill -KILL "$(workers | sed -n "$1p")"
	ends 20
	want 3
	says "$2 was ended by signal 9"
	strict "$W/trace"
	checked "$W/trace"
	[ "$(fact events)" -gt 0 ] || die "nothing was kept"
}

case_sandbox_killed_go() {
	load mixed
	dies 1 "reads the target's files and memory"
	dies 2 'writes the trace'
	still_lives
}

case_sandbox_killed_c() {
	start_c pingpong
	dies 1 "reads the target's files and memory"
	dies 2 'writes the trace'
	gone_on
}

case_sandbox_damaged() { # programs whose ELF sections, symbols and debug information are rubbish
	local binary seed
	start_c pingpong
	stop_target
	for seed in 1 2 3 4; do
		# Behind the segments that are mapped: the program itself runs.
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

# left_over WORD WHEN: processes whose command line has the word, some seconds after gotrace has ended.
left_over() {
	local i
	for ((i = 0; i < 50; i++)); do
		pgrep -f -- "$1" >"$W/left" || return 0
		sleep 0.1
	done
	die "$2: processes are left: $(tr '\n' ' ' <"$W/left")"
}

case_sandbox_closed() { # without standard input, output, error: nothing waits for ever, nothing goes elsewhere
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
