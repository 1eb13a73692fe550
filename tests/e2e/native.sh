# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Programs in C and C++, traced as threads on CPUs: our own, whose every wait is known, and real ones from
# Debian packages under load. To be sourced after cases.sh. Each case makes one trace, and reads the kernel's
# own counts of the threads in the middle of it.

CTARGETS=tests/e2e/ctargets
# v1 formats and older ones with generations, in turn, from the same raw log.
NATIVE_FORMATS=(1.21 1.22 1.19 1.23 1.11 1.25)

# ctarget VARIANT: prints its path, and builds it if needed. VARIANT is default, debug, stripped, nopie or
# static.
ctarget() {
	local binary=$E2E/ctarget-$1 flags=(-O2 -fomit-frame-pointer)
	case $1 in
	debug) flags=(-O0 -g) ;;
	stripped) flags+=(-s) ;;
	nopie) flags+=(-fno-pie -no-pie -g) ;;
	static) flags+=(-static) ;;
	esac
	if [ ! -x "$binary" ] || [ -n "$(find $CTARGETS -newer "$binary")" ]; then
		gcc -O2 -fomit-frame-pointer -fPIC -shared -o "$binary.so" $CTARGETS/plugin.c >&2 &&
			gcc -std=gnu17 -Wall -Wextra -Werror "${flags[@]}" -o "$binary" \
				$(find $CTARGETS -name '*.c' ! -name plugin.c) >&2 || return 1
	fi
	echo "$binary"
}

# cxxtarget VARIANT: the same for the program in C++; default, debug or stripped.
cxxtarget() {
	local binary=$E2E/cxxtarget-$1 flags=(-O2 -fomit-frame-pointer)
	case $1 in
	debug) flags+=(-g) ;;
	stripped) flags+=(-s) ;;
	esac
	if [ ! -x "$binary" ] || [ -n "$(find $CTARGETS -newer "$binary")" ]; then
		g++ -std=gnu++17 -Wall -Wextra -Werror "${flags[@]}" -o "$binary" $CTARGETS/cxx.cc -pthread >&2 || return 1
	fi
	echo "$binary"
}

# start_c MODE [VARIANT], start_cxx MODE [VARIANT]: starts the program in $W, as $target.
start_c() {
	binary=$(ctarget "${2:-default}" 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	cd "$W" || exit 1
	start_target "$binary" "$1" -seconds ${C_SECONDS:-60}
	cd "$TOP" || exit 1
}

start_cxx() {
	binary=$(cxxtarget "${2:-default}" 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	start_target "$binary" "$1" -seconds ${C_SECONDS:-60}
}

# thread_trace [OPTION...]: makes a trace of $target, $W/trace, and its raw log. The kernel's counts for a
# second in the middle are in $W/counts.
thread_trace() {
	rm -f "$W/trace"
	background -p "$target" -o "$W/trace" --raw "$W/raw" --json "$@"
	begun "$W/trace"
	sleep 0.4
	"$JUDGE" window -length 1200ms "$target" >"$W/counts" 2>"$W/window.err" || die "the counts: $(cat "$W/window.err")"
	sleep "${more_time:-0.4}"
	kill -INT $tracer
	ends 40
	want 0
	timeout 10 "$JUDGE" json "$W/out" >/dev/null 2>"$W/json.err" || die "--json: $(cat "$W/json.err")"
	strict "$W/trace"
	checked "$W/trace"
	printf '%s events, %s threads, %s KiB' "$(fact events)" "$(fact goroutines)" $(($(stat -c %s "$W/trace") / 1024))
}

# demanded DEMAND...: see judge/native.go.
demanded() {
	timeout 100 "$JUDGE" native "$W/trace" "$@" >"$W/demanded" 2>&1 || die "; $(grep -v '^judge' "$W/demanded" | head -c 900)"
}

# counted_truth [OPTION...]: checks that the threads' times and switches equal the kernel's counts.
counted_truth() {
	timeout 100 "$JUDGE" schedtruth -moved 2 "$@" "$W/trace" "$W/counts" >"$W/truth" 2>&1 ||
		noisy "; schedtruth: $(tail -n 3 "$W/truth" | head -c 900)"
	printf '; %s' "$(tail -n 1 "$W/truth")"
}

# debugged: writes gdb's stacks of $target's threads to $W/gdb.
debugged() {
	timeout 60 gdb -nx -q -batch -ex 'set debuginfod enabled off' -p "$target" -x tests/e2e/stacks.py \
		>"$W/gdb" 2>"$W/gdb.err" </dev/null || die "gdb: $(tail -n 3 "$W/gdb.err")"
}

# same_stacks LEAST: checks that the trace has the debugger's stacks.
same_stacks() {
	timeout 60 "$JUDGE" stacktruth -threads "$1" "$W/trace" "$W/gdb" >"$W/stacks" 2>&1 ||
		die "; stacks: $(tail -n 5 "$W/stacks" | head -c 1500)"
	printf '; gdb: %s' "$(tail -n 1 "$W/stacks")"
}

# thread_pages ROWS: checks the viewer's pages, and the same raw log in another format.
thread_pages() {
	local format
	(cd "$W" && timeout 200 "$JUDGE" pages -go go$NEWEST -rows "$1" trace) >"$W/pages" 2>&1 ||
		die "; viewer: $(tail -c 600 "$W/pages")"
	format=${NATIVE_FORMATS[(CELL_SEED + passed + failed) % ${#NATIVE_FORMATS[@]}]}
	run_gotrace replay "$W/raw" -q --format "$format" -o "$W/old"
	want 0
	strict "$W/old"
	checked "$W/old"
	printf '; %s ok' "$format"
}

# gone_on: checks that the target was not disturbed.
gone_on() {
	still_lives
	stop_target
}

# perf_truth: checks that perf sees the same switches of $target's threads at the same time.
perf_truth() {
	local data="$W/perf.data" unseen
	[ -e /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing 2>/dev/null
	rm -f "$W/trace"
	background -p "$target" -o "$W/trace"
	begun "$W/trace"
	if ! timeout -k 5 30 perf sched record -k mono -B -N -o "$data" sleep 0.8 >"$W/perf.out" 2>&1; then
		kill -INT $tracer
		ends 40
		skip "perf cannot record here: $(tail -n 1 "$W/perf.out")"
	fi
	sleep 0.3
	kill -INT $tracer
	ends 40
	want 0
	perf script -i "$data" --ns -F cpu,time,event,trace >"$W/switches" 2>"$W/perf.err" || die "perf script: $(tail -n 2 "$W/perf.err")"
	# The threads of some virtual machines' own agents, and the threads that they switch to, are hidden
	# from tracepoints.
	unseen=$(sed -nE 's/.*repaired ([0-9,]+).*/\1/p' "$W/err" | tr -d ,)
	timeout 100 "$JUDGE" perftruth -unseen "${unseen:-0}" "$W/trace" "$W/switches" >"$W/truth" 2>&1 || noisy "$(tail -n 3 "$W/truth" | head -c 900)"
	printf '%s; ' "$(tail -n 1 "$W/truth")"
}

# --- programs whose waits are known ---

case_native_perf() {
	local mode
	for mode in sleep pingpong burn; do
		start_c $mode
		perf_truth
		gone_on
	done
}

case_native_pingpong() { # two threads, one condition: each wakes the other
	start_c pingpong
	thread_trace
	demanded 'starts;root=^(ping|pong)_player;min=2' \
		'blocks;root=^ping_player;reason=^sync \((condition|mutex)\)$;stack=play < ping_player;min=1000' \
		'blocks;root=^pong_player;of=wait_turn;reason=^sync \(condition\)$;least=50;min=1000' \
		'wakes;root=^ping_player;by=^pong_player;stack= < play < pong_player;min=1000' \
		'wakes;root=^pong_player;by=^ping_player;stack= < play < ping_player;min=1000'
	counted_truth -threads 3
	thread_pages sched,block
	gone_on
}

case_native_lock() { # a mutex that is held for long
	start_c lock
	thread_trace
	demanded 'blocks;root=^door_user;of=pthread_mutex_lock;reason=^sync \(mutex\)$;stack=hold_door < door_user;min=100' \
		'blocks;root=^door_user;of=pause_us;reason=^sleep$;stack=pause_us < hold_door < door_user;min=100'
	counted_truth -threads 4
	thread_pages sched,block
	gone_on
}

case_native_epoll() { # a server; its clients are other processes
	start_c epoll
	thread_trace
	demanded 'blocks;root=^server;reason=^network$;stack=^epoll_wait.* < serve_once < server;min=500' \
		'wakes;root=^server;stack=^(\[outside\] client \([0-9]+\)|\[interrupt: network\]|.* < server.*)$;min=500'
	counted_truth -threads 3
	thread_pages io
	gone_on
}

case_native_pipe() { # two threads and a pipe
	start_c pipe
	thread_trace
	demanded 'blocks;root=^consumer;reason=^pipe$;stack=^read.* < consume < consumer;min=1000' \
		'wakes;root=^consumer;by=^producer;stack=write < produce < producer;min=1000'
	counted_truth -threads 3
	thread_pages sched
	gone_on
}

case_native_processes() { # a pipe from another process, which is named as the waker
	start_c pipe2
	thread_trace
	demanded 'blocks;root=^consumer;reason=^pipe$;min=500' \
		'wakes;root=^consumer;by=^$;stack=^\[outside\] feeder \([0-9]+\)$;min=500'
	counted_truth -threads 2
	thread_pages sched
	gone_on
}

case_native_sleep() { # only the clock wakes them
	start_c sleep
	thread_trace
	demanded 'blocks;root=^sleeper;reason=^sleep$;stack=nanosleep < pause_us < sleeper;min=500' \
		'wakes;root=^sleeper;by=^$;stack=^\[interrupt: timer\]$;min=500'
	counted_truth -threads 5
	thread_pages ""
	gone_on
}

case_native_burn() { # more threads than CPUs
	start_c burn
	thread_trace
	counted_truth -threads 5 -wake 0
	demanded 'starts;root=^burner;min=4' 'blocks;root=^burner;reason=^nothing$;least=0;min=0'
	thread_pages ""
	gone_on
}

case_native_jit() { # code that is generated at run time, and named for perf
	start_c jit
	thread_trace
	rm -f "/tmp/perf-$target.map"
	demanded 'blocks;root=^runner;of=pause_us;reason=^sleep$;stack=pause_us < rest < count < runner;min=50'
	"$GOTRACE" report "$W/trace" >"$W/report" || die "no report"
	grep -qE 'cpu-place: count \(app.js:12\) takes (9[0-9]|100) %' "$W/report" || die "; $(sed -n 5,9p "$W/report")"
	gone_on
}

case_native_threads() { # they start and exit, hundreds a second
	start_c threads
	thread_trace
	demanded 'starts;root=^mayfly;min=300' \
		'blocks;root=^mayfly;of=pause_us;reason=^sleep$;stack=pause_us < mayfly;min=300' \
		'blocks;root=^breeder;of=^futex;reason=^sync \((join|mutex|futex)\)$;min=100'
	counted_truth -threads 2
	thread_pages sched
	gone_on
}

case_native_forks() { # processes that start and exit
	start_c forks
	thread_trace
	demanded 'blocks;root=^forker;of=wait;reason=^wait4$;stack=bear_child < forker;min=300' \
		'wakes;root=^forker;stack=^\[outside\] forker \([0-9]+\)$;least=90;min=300'
	counted_truth -threads 2
	thread_pages ""
	gone_on
}

case_native_fault() { # pages of a file that are not in memory
	start_c fault
	thread_trace
	demanded 'blocks;root=^page_reader;of=touch;reason=^page fault$;stack=touch < read_pages < page_reader;min=500'
	counted_truth -threads 2
	thread_pages ""
	gone_on
}

case_native_disk() {
	start_c disk
	thread_trace
	demanded 'blocks;root=^disk_writer;reason=^disk$;stack=^fsync.* < keep < disk_writer;min=100' \
		'blocks;root=^disk_reader;reason=^disk$;stack=^pread.* < fetch < disk_reader;min=100'
	counted_truth -threads 3
	thread_pages ""
	gone_on
}

case_native_kernel() { # --kernel-stacks: where in the kernel each wait is; and no kernel frames without the option
	start_c pipe
	thread_trace --kernel-stacks
	demanded 'blocks;root=^consumer;of=consume;reason=^pipe$;stack=^[a-z_]*pipe_read < .*vfs_read < .*read\(.* < consume < consumer;min=500'
	grep -qE 'pipe_read.*\[kernel\]' <(timeout 60 "$GOTRACE" dump --stacks "$W/trace") || die "; no frame of the kernel"
	run_gotrace replay "$W/raw" -q -o "$W/again"
	want 0
	cmp -s "$W/trace" "$W/again" || die "; the raw log gives another trace"
	thread_pages sched
	run_gotrace -p "$target" -d 500ms -q -o "$W/plain"
	want 0
	timeout 60 "$GOTRACE" dump --stacks "$W/plain" | grep -q 'pipe_read' && die "; frames of the kernel without the option"
	gone_on
	start_c fault
	thread_trace --kernel-stacks
	demanded 'blocks;root=^page_reader;of=touch;reason=^page fault$;stack=handle_mm_fault < .*\[page fault\] < touch < read_pages;min=100'
	gone_on
	start_c parked # from the kernel's list, because they wait all the time
	thread_trace --kernel-stacks
	grep -qE 'futex.*\[kernel\]' <(timeout 60 "$GOTRACE" dump --stacks "$W/trace") || die "; no frame of those who wait all the time"
	gone_on
}

case_native_kernel_hidden() { # kernel.kptr_restrict: the trace is made, and a line reports what is missing
	local before
	before=$(cat /proc/sys/kernel/kptr_restrict)
	echo 2 >/proc/sys/kernel/kptr_restrict 2>/dev/null || skip "kernel.kptr_restrict cannot be set here"
	start_c sleep
	run_gotrace -p "$target" -d 500ms --kernel-stacks -o "$W/trace"
	echo "$before" >/proc/sys/kernel/kptr_restrict
	want 0
	grep -q 'kernel-stacks: the kernel hides its addresses' "$W/err" || die "no line: $(cat "$W/err")"
	strict "$W/trace"
	gone_on
	load pool
	run_gotrace -p "$target" -d 500ms --kernel-stacks -o "$W/go"
	want 1
	grep -q 'give --as c' "$W/err" || die "of a Go program: $(cat "$W/err")"
	stop_target
}

case_native_signal() { # a handler that sleeps: the interrupted function is below it
	start_c signal
	thread_trace
	demanded 'blocks;root=^interrupted;reason=^sleep$;stack=pause_us < handle_slowly < on_signal < .*interrupted_work < interrupted;min=100'
	counted_truth -threads 3
	thread_pages ""
	gone_on
}

case_native_dlopen() { # a library that was not there when the trace began
	start_c dlopen
	# Code is read up to 160 ms after it was mapped (src/capture/rest.c): a fifth of the sleeps in the first second.
	more_time=2 thread_trace
	demanded 'blocks;root=^plugin_user;of=plugin_work;reason=^sleep$;stack=nanosleep < plugin_inner < plugin_work < call_plugin < plugin_user;min=100' \
		'blocks;root=^plugin_user;of=nanosleep;stack=(plugin_work|pause_us);least=75;min=100'
	thread_pages ""
	gone_on
}

case_native_cxx() {
	start_cxx queue
	thread_trace
	demanded 'starts;root=shop::|_M_run;min=4' \
		'blocks;root=^shop::cook;reason=^sync \((condition|mutex|futex)\)$;stack=shop::Queue<shop::Order, 4>::take\(\) < shop::cook;min=500' \
		'blocks;of=shop::waiter;reason=^(sleep|sync \((condition|mutex|futex)\))$;min=500'
	counted_truth -threads 5
	thread_pages sched,block
	gone_on
}

# --- known stacks ---

# parked_stacks VARIANT: checks that the debugger's stacks of parked threads are in the trace.
parked_stacks() {
	start_c parked "$1"
	debugged
	thread_trace
	same_stacks 8
	gone_on
	printf ' (%s); ' "$1"
}

case_native_parked() {
	local variants=(debug stripped nopie static)
	parked_stacks default
	parked_stacks "${variants[CELL_SEED % 4]}"
	parked_stacks "${variants[(CELL_SEED + 1) % 4]}"
}

case_native_parked_cxx() {
	start_cxx parked
	debugged
	thread_trace
	same_stacks 5
	gone_on
}

# --- real programs ---

# free_port: prints an unused port of 127.0.0.1.
free_port() {
	/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# waits_for COMMAND...: repeats it until it succeeds, for 20 s.
waits_for() {
	local i
	for ((i = 0; i < 200; i++)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	die "in vain: $*"
}

# program_trace ROOTS NAMED: traces $target. ROOTS are the functions in which its threads start. At least
# NAMED per cent of the frames have names: in Debian's stripped programs only exported functions do.
program_trace() {
	thread_trace
	demanded "roots;root=$1;min=100" "names;stack=^[^+]*[a-zA-Z_][^+]*\$;least=$2;min=20"
	counted_truth
	still_lives
}

case_native_redis() {
	local port
	port=$(free_port)
	redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$W" >"$W/target.out" 2>"$W/target.err" </dev/null &
	target=$!
	waits_for redis-cli -p "$port" ping
	debugged
	redis-benchmark -q -p "$port" -t set,get -c 8 -n 100000000 >"$W/load.out" 2>&1 </dev/null &
	sleep 0.5
	program_trace '^(main|bioProcessBackgroundJobs|.*background_thread|libjemalloc.*)' 70
	demanded 'blocks;root=^main;reason=^network$;stack=^epoll_wait.* < aeMain < main;min=100'
	thread_pages io
}

case_native_redis_idle() { # stacks of blocks, and of threads that wait all the time
	local port
	port=$(free_port)
	redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$W" >"$W/target.out" 2>"$W/target.err" </dev/null &
	target=$!
	waits_for redis-cli -p "$port" ping
	debugged
	thread_trace
	same_stacks 4
	still_lives
}

case_native_nginx() {
	local port master
	port=$(free_port)
	mkdir "$W/html" && head -c 5000 /dev/zero >"$W/html/index.html"
	cat >"$W/nginx.conf" <<-CONF
		daemon off; worker_processes 1; pid $W/nginx.pid; error_log $W/target.err crit; user root;
		events { worker_connections 64; }
		http { access_log off; server { listen 127.0.0.1:$port; root $W/html; } }
	CONF
	nginx -c "$W/nginx.conf" -e "$W/target.err" >"$W/target.out" 2>&1 </dev/null &
	master=$!
	waits_for pgrep -P $master
	target=$(pgrep -P $master | head -n 1)
	waits_for /usr/bin/python3 -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/')"
	wrk -t 1 -c 8 -d 30 "http://127.0.0.1:$port/" >"$W/load.out" 2>&1 </dev/null &
	sleep 0.5
	program_trace '^main' 50 # it exports nothing
	demanded 'blocks;root=^main;reason=^network$;least=90;min=10'
	thread_pages ""
	kill -TERM $master
	wait_end $master 10 || die "; nginx does not end"
}

# start_postgres SCALE: starts a server of our own with pgbench's tables. The programs are in $bin, data and
# socket in $public.
start_postgres() {
	public_copy
	bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
	chown postgres "$public"
	cd "$public" || exit 1
	runuser -u postgres -- "$bin/initdb" -D "$public/data" -A trust --no-sync >"$W/initdb.out" 2>&1 ||
		die "initdb: $(tail -n 3 "$W/initdb.out")"
	runuser -u postgres -- env PGDATA="$public/data" "$bin/postgres" -c listen_addresses= -k "$public" \
		>"$W/target.out" 2>"$W/server.err" </dev/null &
	waits_for "$bin/psql" -h "$public" -U postgres -c 'select 1'
	"$bin/pgbench" -h "$public" -U postgres -i -q -s "$1" >"$W/load.out" 2>&1 postgres || die "pgbench -i: $(tail -n 3 "$W/load.out")"
}

case_native_postgres() { # a backend, and the process that starts them
	local bin clients
	start_postgres 2
	"$bin/pgbench" -h "$public" -U postgres -c 2 -T 60 postgres >"$W/load.out" 2>&1 </dev/null &
	clients=$!
	sleep 1
	target=$(pgrep -P "$(head -n 1 "$public/data/postmaster.pid")" -f 'postgres: postgres postgres \[local\]' | head -n 1)
	cd "$TOP" || exit 1
	: >"$W/target.err"
	[ -n "$target" ] || die "no backend: $(tail -n 3 "$W/load.out")"
	program_trace '^main' 50
	demanded 'blocks;root=^main;reason=^(network|disk|sync \(.*\))$;stack=PostgresMain;min=100'
	thread_pages io
	kill $clients
	wait $clients 2>/dev/null
	"$bin/pgbench" -h "$public" -U postgres -C -S -c 2 -T 60 postgres >"$W/load.out" 2>&1 </dev/null &
	target=$(head -n 1 "$public/data/postmaster.pid")
	program_trace '^main' 50
	kill -KILL $!
	kill -INT "$target"
	waits_for test ! -e "$public/data/postmaster.pid"
}

case_native_python() {
	cat >"$W/threads.py" <<-'SCRIPT'
		import queue, threading, time
		jobs = queue.Queue(4)
		def work():
		    while True:
		        sum(range(jobs.get()))
		def feed():
		    while True:
		        jobs.put(2000)
		        time.sleep(0.0005)
		for f in (work, work, feed, feed):
		    threading.Thread(target=f, daemon=True).start()
		print("ready", flush=True)
		time.sleep(60)
	SCRIPT
	start_target /usr/bin/python3 "$W/threads.py"
	debugged
	# In Debian's build, its threads' own function has no name. Stacks that end in libraries do not match.
	program_trace '^(python3[.0-9]*\+0x[0-9a-f]+|Py_BytesMain|main|pythread_wrapper|thread_run) \[' 40
	demanded 'blocks;reason=^(sync \(.*\)|sleep)$;min=500'
	thread_pages sched
	gone_on
}

# --- events during a trace ---

case_native_exit() { # the target ends while it is traced
	start_c pingpong
	background -p "$target" -d 20s -o "$W/trace"
	begun "$W/trace"
	sleep 0.5
	kill -USR1 "$target"
	ends 10
	want 0
	strict "$W/trace"
	checked "$W/trace"
	start_c threads
	background -p "$target" -d 20s -o "$W/trace2"
	begun "$W/trace2"
	sleep 0.5
	kill -KILL "$target"
	ends 10
	want 0
	strict "$W/trace2"
	checked "$W/trace2"
}

case_native_cgo() { # a Go program, as threads: from C through runtime.asmcgocall onto the goroutine's stack
	start_target "$(target_binary $NEWEST cgo)" cgo -seconds ${C_SECONDS:-60}
	thread_trace --as c
	# c_block calls usleep by a jump, and is called by one.
	demanded 'blocks;of=usleep < runtime\.asmcgocall;reason=^sleep$;stack=usleep < runtime\.asmcgocall.* < runtime\.cgocall < .*cpart\._Cfunc_c_block < .*cpart\.Block.* < main\.cgo\.func1;min=50'
	gone_on
}

case_native_exec() { # the program executes another one
	start_c sleep
	background -p "$target" -d 20s -o "$W/trace"
	begun "$W/trace"
	sleep 0.7
	kill -USR2 "$target"
	ends 20
	want 0
	strict "$W/trace"
	checked "$W/trace"
	kill -0 "$target" 2>/dev/null || die "the target died"
	# Nothing is said of the program that it becomes, which sleeps for the rest of 3 seconds.
	run_gotrace -d 20s --json -o "$W/env" -- /usr/bin/env sleep 3
	want 0
	[ "$(json repaired)" = 0 ] && [ "$(json duration_ns)" -lt 2500000000 ] ||
		die "env: $(json repaired) repaired, $(json duration_ns) ns"
}

case_native_killed() { # gotrace is killed: the target is undisturbed
	start_c pingpong
	background -p "$target" -d 20s -o "$W/trace"
	begun "$W/trace"
	sleep 2.2
	kill -KILL $tracer
	wait $tracer 2>/dev/null
	sleep 0.3
	still_lives
	"$GOTRACE" check --repair "$W/trace" >"$W/check.out" 2>&1
	status=$?
	want 0 3
	strict "$W/trace"
	# It can be traced again.
	run_gotrace -p "$target" -d 500ms -o "$W/again"
	want 0
	strict "$W/again"
	gone_on
}

# --- bad input ---

# turned_away PATTERN ARG...: checks that gotrace reports this in one line, and leaves no file.
turned_away() {
	run_gotrace -d 1s -o "$W/trace" "${@:2}"
	want 1
	one_line
	says "$1"
	[ ! -e "$W/trace" ] || die "${*:2}: left a file"
}

case_native_no_process() { # numbers that are not those of a process that can be traced
	local tid zombie
	start_c parked
	tid=$(ls "/proc/$target/task" | grep -vx "$target" | head -n 1)
	turned_away "^gotrace: $tid is a thread of process $target \(" -p "$tid"
	turned_away 'PID 2 \(kthreadd\) is a kernel thread' -p 2
	sh -c 'true & exec sleep 30' &
	sleep 0.5
	zombie=$(ps -o pid=,stat= --ppid $! | awk '$2 ~ /^Z/ {print $1}')
	turned_away "PID $zombie \(.*\) is a zombie" -p "$zombie"
	true &
	wait $!
	turned_away "no process has PID $!" -p $!
	gone_on
}

case_native_32bit() {
	printf '.globl _start\n_start: mov $29, %%eax\nint $0x80\njmp _start\n' >"$W/pause.s"
	gcc -m32 -nostdlib -static -o "$W/pause" "$W/pause.s" 2>"$W/build.err" || die "gcc: $(tail -n 2 "$W/build.err")"
	turned_away 'is a 32-bit program' -- "$W/pause"
	"$W/pause" 2>/dev/null &
	sleep 0.3
	# Kernels can be built without support for such programs.
	if kill -0 $! 2>/dev/null; then
		turned_away "PID $! \(pause\) is a 32-bit program" -p $!
	else
		printf 'this kernel runs none; '
	fi
}

case_native_ends_at_once() { # a process that ends while gotrace starts: a short trace, or one clear line
	local delay
	for delay in 0 0.1 0.2 0.3 0.4 0.6 0.8; do
		sleep $delay &
		run_gotrace -p $! -d 1s -o "$W/trace"
		want 0 1
		[ $status = 0 ] || one_line
		[ $status = 1 ] || checked "$W/trace"
		rm -f "$W/trace"
	done
	run_gotrace -o "$W/trace" -- /bin/true
	want 0
	strict "$W/trace"
	checked "$W/trace"
}

case_native_as() { # --as: which programs it accepts
	start_c sleep
	turned_away 'is not a Go program' -p "$target" --as go
	turned_away '\-\-detail is for Go programs: PID [0-9]+ \(.*\) is traced as threads' -p "$target" --detail=starts
	turned_away '\-\-alloc is for Go programs' -p "$target" --alloc
	run_gotrace -p "$target" --as rust -o "$W/trace"
	want 2
	gone_on
	start_target "$(target_binary $NEWEST stripped)" http -seconds 100 # names by Go's own table
	run_gotrace -p "$target" --as c -d 1s -o "$W/trace" --json
	want 0
	strict "$W/trace"
	checked "$W/trace"
	grep -q '"threads":true' "$W/out" || die "a Go program is not seen as threads"
	"$GOTRACE" dump --stacks "$W/trace" >"$W/stacks"
	grep -q ' runtime\.futex ' "$W/stacks" || die "Go's functions have no names"
	! grep -m 1 " target-$NEWEST-stripped+0x" "$W/stacks" || die "some of Go's functions have no names"
	still_lives
}

case_native_no_permission() {
	local own
	start_c sleep
	public_copy
	as_nobody timeout 30 "$public/gotrace" -p "$target" -d 1s -o "$public/trace" >"$W/out" 2>"$W/err" </dev/null
	status=$?
	want 1
	one_line
	says 'root|sudo|cap_|capabilit|permi'
	as_nobody sleep 30 &
	own=$!
	sleep 0.3
	as_nobody timeout 30 "$public/gotrace" -p $own -d 1s -o "$public/trace" >"$W/out" 2>"$W/err" </dev/null
	status=$?
	want 1
	one_line
	says 'root|sudo|cap_|capabilit'
	gone_on
}

case_native_no_syscalls() { # states alone
	start_c pingpong
	run_gotrace -p "$target" --no-syscalls -d 1s -o "$W/trace" --json
	want 0
	strict "$W/trace"
	checked "$W/trace"
	demanded 'blocks;root=^ping_player;reason=^sync;min=100' 'wakes;root=^ping_player;by=^pong_player;min=100'
	grep -q '"GoSyscallBegin"' "$W/out" && die "system calls are recorded"
	gone_on
}

case_native_brief() { # -d is kept also if it is short: the length stands in the summary
	local ns
	start_c sleep
	run_gotrace -p "$target" -d 20ms -o "$W/trace" --json
	want 0
	strict "$W/trace"
	ns=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["duration_ns"])' "$W/out")
	[ "$ns" -ge 20000000 ] || die "$ns ns, of 20 ms"
	[ "$ns" -lt 150000000 ] || noisy "$ns ns, of 20 ms"
	still_lives
}

case_native_command() { # a program that gotrace starts is seen from its first instruction on
	local binary
	binary=$(ctarget default 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	run_gotrace -o "$W/trace" --json -- "$binary" pingpong -seconds 1
	want 0
	strict "$W/trace"
	checked "$W/trace"
	demanded 'starts;root=^(ping|pong)_player;min=2' 'starts;root=^main;min=1'
}

case_native_max_overhead() { # the cost stays within the limit, and the trace marks the gaps
	local before cost
	start_c pipe
	before=$(cpu_ms)
	run_gotrace -p "$target" -d 6s --max-overhead 1 -o "$W/trace" --json
	want 0
	before=$(($(cpu_ms) - before))
	strict "$W/trace"
	checked "$W/trace"
	cost=$(($(number hits) * $(number hit_ns) / 1000000))
	[ $((cost * 100)) -le $((before * 2)) ] || noisy "hits took $cost of $before ms of CPU, 1 % were allowed"
	"$GOTRACE" dump "$W/trace" >"$W/dump"
	grep -q 'system calls are left out' "$W/dump" || die "system calls were not left out"
	grep -q 'not watched from here on: over --max-overhead' "$W/dump" || die "it never looked away"
	[ $(($(number repaired) * 20)) -le "$(fact events)" ] || die "$(number repaired) repairs" # at the edges of the gaps
	[ "$(fact events)" -ge 5000 ] || noisy "only $(fact events) events: it hardly looked"
	gone_on
	echo "$cost of $before ms"
}
