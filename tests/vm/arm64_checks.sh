# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Checks of C on arm64: run_NAME runs in the guest (by busybox sh, after guest.sh), judge_NAME on the host, as
# in checks.sh.

# traced_as MODE: a trace of ctarget, and its raw log.
traced_as() {
	start ctarget "$1" -seconds 800
	traced -d 2s --raw raw
}

# valid: strict readers accept the trace, and the host's own gotrace makes the same trace from the raw log:
# names of system calls also depend on the machine on which the log was made.
valid() {
	want 0
	strict "$W/trace"
	checked "$W/trace"
	"$GOTRACE" replay "$W/raw" -q -o "$W/replayed" >"$W/replay.out" 2>&1 || die "replay: $(tail -n 1 "$W/replay.out")"
	"$GOTRACE" dump --stacks "$W/replayed" >"$W/there"
	"$GOTRACE" dump --stacks "$W/trace" | cmp -s - "$W/there" || die "the raw log makes another trace here"
	printf '%s events' "$(fact events)"
}

run_arm_pingpong() { # also the kernel's counts of the threads' switches during the trace
	start ctarget pingpong -seconds 800
	tracing --max-overhead none --raw raw
	judge-arm64 window -length 1200ms $target >counts 2>window.err
	sleep 1
	traced_so_far
}
judge_arm_pingpong() {
	valid
	demanded 'starts;root=^(ping|pong)_player;min=2' \
		'blocks;root=^ping_player;reason=^sync \((condition|mutex)\)$;stack=play < ping_player;min=50' \
		'blocks;root=^pong_player;of=wait_turn;reason=^sync \(condition\)$;least=50;min=50' \
		'wakes;root=^ping_player;by=^pong_player;stack= < play < pong_player;min=50' \
		'wakes;root=^pong_player;by=^ping_player;stack= < play < ping_player;min=50'
	counted_truth -threads 3 -wake 200000 # ns: an emulated processor is slow from an interrupt to the queue
}

run_arm_lock() {
	traced_as lock
}
judge_arm_lock() {
	valid
	demanded 'blocks;root=^door_user;of=pthread_mutex_lock;reason=^sync \(mutex\)$;stack=hold_door < door_user;min=30' \
		'blocks;root=^door_user;of=pause_us;reason=^sleep$;stack=pause_us < hold_door < door_user;min=30'
}

run_arm_pipe() {
	traced_as pipe
}
judge_arm_pipe() {
	valid
	demanded 'blocks;root=^consumer;reason=^pipe$;stack=^read.* < consume < consumer;min=50' \
		'wakes;root=^consumer;by=^producer;stack=write < produce < producer;min=50'
}

run_arm_network() { # a server; its clients are other processes
	traced_as epoll
}
judge_arm_network() {
	valid
	demanded 'blocks;root=^server;reason=^network$;stack=^epoll_pwait\([0-9]+: epoll\) < epoll_p?wait < serve_once < server;min=30' \
		'wakes;root=^server;stack=^(\[outside\] client \([0-9]+\)|\[interrupt: network\]|.* < server.*)$;min=30'
}

run_arm_sleep() { # only the clock wakes them
	traced_as sleep
}
judge_arm_sleep() {
	valid
	demanded 'blocks;root=^sleeper;reason=^sleep$;stack=nanosleep < pause_us < sleeper;min=50' \
		'wakes;root=^sleeper;by=^$;stack=^\[interrupt: timer\]$;min=50'
}

run_arm_threads() { # they start and exit
	traced_as threads
}
judge_arm_threads() {
	valid
	demanded 'starts;root=^mayfly;min=30' \
		'blocks;root=^mayfly;of=pause_us;reason=^sleep$;stack=pause_us < mayfly;min=30' \
		'blocks;root=^breeder;of=^futex;reason=^sync \((join|mutex|futex)\)$;min=10'
}

run_arm_signal() { # a sleeping handler, with what it interrupted below it: leaves, PLT entries and the vDSO, too
	traced_as signal
}
judge_arm_signal() {
	valid
	demanded 'blocks;root=^interrupted;reason=^sleep$;stack=pause_us < handle_slowly < on_signal < ([^<]*|.*interrupted_work) < interrupted( |$);least=97;min=10'
}

run_arm_dlopen() { # a library that was not there when the trace began
	start ctarget dlopen -seconds 800
	traced -d 4s --raw raw
}
judge_arm_dlopen() {
	valid
	demanded 'blocks;root=^plugin_user;of=plugin_work;reason=^sleep$;stack=nanosleep < plugin_inner < plugin_work < call_plugin < plugin_user;min=10'
}

run_arm_names() { # with CPU samples: every address in the program has addr2line's function
	start ctarget-debug lock -seconds 800
	traced -d 2s --raw raw
}
judge_arm_names() {
	valid
	"$GOTRACE" dump --stacks "$W/trace" | awk '$1 ~ /^0x4[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]$/ {print $1, $2}' | sort -u >"$W/named"
	cut -d ' ' -f 1 "$W/named" | aarch64-linux-gnu-addr2line -f -e "$VM/arm64/ctarget-debug" | sed -n 'p;n' >"$W/functions"
	# A sample may be in a PLT entry, which has no name.
	cut -d ' ' -f 2 "$W/named" | sed 's/^ctarget-debug+0x[0-9a-f]*$/??/' | diff - "$W/functions" >"$W/diff" || die "addr2line: $(head -n 3 "$W/diff" | tr '\n' ' ')"
	[ "$(wc -l <"$W/named")" -ge 5 ] || die "only $(wc -l <"$W/named") addresses"
	printf ', %s addresses' "$(wc -l <"$W/named")"
}

run_arm_samples() {
	calls -burn >target.out 2>target.err &
	target=$!
	said ready
	traced -d 2s --cpu-samples=500 --raw raw
}
judge_arm_samples() {
	local all heavy light
	valid
	sampled_leaves "$W/trace" >"$W/leaves"
	all=$(awk '$1 == "all" {print $2}' "$W/leaves")
	heavy=$(awk '$1 == "heavy" {print $2}' "$W/leaves")
	light=$(awk '$1 == "light" {print $2}' "$W/leaves")
	[ "$all" -ge 50 ] || die "only $all samples"
	[ $(((heavy + light) * 100)) -ge $((all * 90)) ] && [ "$heavy" -gt "$light" ] ||
		die "of $all samples $heavy in heavy, $light in light (three quarters and one it should be)"
	printf ', %s samples' "$all"
}

GO_CALLED="All Sleeps Recurses Catches Panics Chooses Grows Begins Exits"
run_arm_go_region() { # on stacks that grow, where a function starts again, and through panics
	local name options=
	for name in $GO_CALLED; do
		options="$options --region main.call$name"
	done
	start go functions -seconds 800
	tracing --max-overhead none --format 1.26 $options
	kill -USR2 $target
	said 'done'
	traced_so_far
}
judge_arm_go_region() {
	want 0
	strict "$W/trace"
	checked "$W/trace"
	grep -E '^[^ ]+ [0-9]+ -?[0-9]+$' "$W/target.out" >"$W/counts"
	"$GOTRACE" dump "$W/trace" >"$W/dump" 2>"$W/dump.err" || die "dump: $(tail -n 1 "$W/dump.err")"
	regions_of "$W/dump" >"$W/regions"
	all_called $(printf 'main.call%s ' $GO_CALLED)
}

# requests_as RELEASE: traces a round of requests of a program with libraries.
requests_as() {
	start "requests-$1" few
	tracing --requests=auto --max-overhead none
	kill -USR2 $target
	said 'done'
	traced_so_far
}

run_arm_requests() { # Go 1.22 and the newest: jumps behind calls are compiled differently
	requests_as newest
}
judge_arm_requests() {
	missed_some_samples
	requests_as_counted
}
# missed_some_samples: the emulated machine may be too slow for the samples.
missed_some_samples() {
	[ "$status" -ne 3 ] || ! grep -qE 'ring full 0, stacks 0, unreadable 0, missed by the kernel 0, CPU samples [0-9]+$' "$W/err" || status=0
}
run_arm_requests_old() {
	requests_as old
}
judge_arm_requests_old() {
	missed_some_samples
	requests_as_counted
}

# routers_as VERSION: traces a round of requests of a program with routers.
routers_as() {
	start "routers-$1" few
	tracing --requests=http --max-overhead none
	kill -USR2 $target
	said 'done'
	traced_so_far
}
judge_routers() {
	missed_some_samples
	want 0
	find_tasks
	sed -i '/^client /d' "$W/tasks"
	if grep -q 'not watched from here on' "$W/dump"; then
		within_counts
		return
	fi
	as_counted
}
run_arm_routers() {
	routers_as new
}
judge_arm_routers() {
	judge_routers
}
run_arm_routers_old() {
	routers_as old
}
judge_arm_routers_old() {
	judge_routers
}

ARM_CALLED="leaf inner nested recurse first second by_pointer maybe hop deep catcher switcher rare worker tick"
run_arm_region() { # --region: exactly as many regions as the program counts calls
	local name options=
	for name in $ARM_CALLED; do
		options="$options --region $name"
	done
	mkfifo in
	calls <in >target.out 2>target.err &
	target=$!
	exec 9>in
	said ready
	tracing --raw raw $options
	echo >&9
	said 'done'
	traced_so_far
	still_there
	exec 9>&- # ends the target
	target=
	rm in
}
judge_arm_region() {
	valid
	grep -E '^[^ ]+ [0-9]+ -?[0-9]+$' "$W/target.out" >"$W/counts"
	"$GOTRACE" dump "$W/trace" >"$W/dump" 2>"$W/dump.err" || die "dump: $(tail -n 1 "$W/dump.err")"
	regions_of "$W/dump" >"$W/regions"
	printf ', '
	all_called $ARM_CALLED
}
