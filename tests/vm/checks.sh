# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The checks: run_NAME runs in the guest (by busybox sh, after guest.sh), judge_NAME on the host (by bash,
# after tests/e2e's parts) with the results in $W. A check that is refused on a kernel is not judged, but has
# its line in `expected`.

# facts_of NAME: Go's strict reader and our own accept the trace, and it has what facts/NAME demands.
facts_of() {
	want 0
	strict "$W/trace" -expect "$TOP/tests/vm/facts/$1"
	checked "$W/trace"
	printf '%s events, %s goroutines' "$(fact events)" "$(fact goroutines)"
}

# whole: a valid trace without losses, of any program.
whole() {
	want 0
	strict "$W/trace"
	checked "$W/trace"
	printf '%s events' "$(fact events)"
}

run_doctor() { # the machine's features, as text and as JSON
	gotrace doctor >words 2>&1
	got gotrace doctor --json
}
judge_doctor() {
	want 0
	[ "$("$JUDGE" json "$W/out" go)" = true ] && [ "$("$JUDGE" json "$W/out" c)" = true ] || die "$(grep -v '^ok' "$W/words")"
	grep '^\(less\|NO\)' "$W/words" | sed -E 's/^(less|NO) +([^:]*:[^;(]*).*/\2/' | tr '\n' ';'
}

# --- Go ---

run_go_1_16() { # a release with flat traces, and of the old calling convention
	start go1.16 pingpong -seconds 600
	traced -d 700ms
}
judge_go_1_16() {
	facts_of pingpong
}

run_go_1_22() {
	start go1.22 syscalls -seconds 600
	traced -d 1s
}
judge_go_1_22() {
	facts_of syscalls
}

run_go_plain() {
	start newest-go mixed -seconds 600
	traced -d 1s
}
judge_go_plain() {
	facts_of mixed
}

run_go_hotplug() { # a CPU goes and comes back
	local last=/sys/devices/system/cpu/cpu$(($(nproc) - 1))/online state
	start newest-go mixed -seconds 600
	tracing --max-overhead none
	for state in 0 1 0 1; do
		echo $state >$last
		cat $last >>online
		sleep 0.3
	done
	traced_so_far
}
judge_go_hotplug() {
	facts_of mixed
	[ "$(tr -d '\n' <"$W/online")" = 0101 ] || die "the CPU did not go and come: $(cat "$W/online")"
}

run_go_clock() { # the wall clock is set forward and back while a recorder runs
	local i=0 now
	start newest-go mixed -seconds 600
	mkdir flight
	gotrace flight -p "$target" -o flight --max-overhead none >words 2>&1 &
	tracer=$!
	while [ $i -lt 600 ] && ! gotrace snapshot -p "$target" >snapshot 2>/dev/null; do
		kill -0 $tracer || break
		i=$((i + 1))
		sleep 0.1
	done
	for i in 3600 -7200 3600; do
		sleep 0.7
		now=$(date +%s)
		date -s "@$((now + i))" >/dev/null
	done
	sleep 0.7
	got gotrace snapshot -p "$target"
	cp "$(cat out)" trace
	kill -INT $tracer
	wait $tracer
}
judge_go_clock() {
	facts_of mixed
	[ "$(fact milliseconds)" -ge 2800 ] || die "it has $(fact milliseconds) ms of four times 0.7 s: $(cat "$W/words")"
	printf ', %s ms' "$(fact milliseconds)"
}

run_go_exact() { # everything that the program says it did is in the trace
	start newest-go usertruth -seconds 600
	tracing --detail=exact
	kill -USR2 $target
	said 'all printed'
	traced_so_far
}
judge_go_exact() {
	want 0
	strict "$W/trace"
	checked "$W/trace"
	timeout 60 "$JUDGE" usertruth "$W/trace" "$W/target.out" >"$W/truth.txt" 2>&1 || die "truth: $(tail -n 1 "$W/truth.txt")"
	cat "$W/truth.txt"
}

# A cgroup of version 2 with a quota, and the CPUs on which the threads run.
run_go_quota() {
	mkdir -p /tmp/groups
	mount -t cgroup2 cgroup2 /tmp/groups
	echo +cpu >/tmp/groups/cgroup.subtree_control
	mkdir -p /tmp/groups/limited
	echo "20000 100000" >/tmp/groups/limited/cpu.max
	start newest-go cpu -seconds 600
	echo "$target" >/tmp/groups/limited/cgroup.procs
	traced -d 3s --os=all --max-overhead none --json
	gotrace dump trace | grep -c 'key="\[CPU\]"' >cpus
	cat /tmp/groups/limited/cpu.stat >stat
}
judge_go_quota() {
	whole
	python3 - "$W/out" "$(cat "$W/cpus")" <<-'PYTHON' || die "; $(tr '\n' ' ' <"$W/stat")"
		import json, sys
		cpu = json.load(open(sys.argv[1]))["cpu"]
		quota = cpu["quota"]
		print(f"; throttled {cpu['throttled_ns'] / cpu['running_ns']:.0%} of running, {sys.argv[2]} logs of CPUs")
		assert (quota["version"], quota["quota_us"], quota["period_us"]) == (2, 20000, 100000), quota
		assert quota["cgroup"].endswith("/limited") and quota["throttled_periods"] >= 5, quota
		assert cpu["throttled_ns"] > 0.3 * cpu["running_ns"] and int(sys.argv[2]) > 3
	PYTHON
}

run_go_spans() {
	start newest-go pingpong -seconds 600
	traced -d 2s --detail=starts
}
judge_go_spans() {
	facts_of pingpong
}

# Labels of both kinds: a map, and a list. The programs report which goroutine had which. Here and below, traces that
# are compared with a program's own count have no cost limit, which emulation would reach.
labels_traced() {
	start "$1" profile
	tracing --max-overhead none
	kill -USR1 $target
	said 'done'
	traced_so_far
}
labels_compared() {
	want 0
	checked "$W/trace"
	"$GOTRACE" dump "$W/trace" >"$W/dump"
	python3 tests/e2e/labels/compare.py "$W/dump" "$W/target.out" "$W/profile" "$@" || die "labels differ"
}

run_go_labels() {
	labels_traced newest-labels
}
judge_go_labels() {
	strict "$W/trace"
	labels_compared
}

run_go_map() {
	labels_traced labels1.16
}
judge_go_map() {
	labels_compared --system
}

run_go_samples() {
	start newest-go cpu -seconds 600
	traced -d 1500ms --cpu-samples=200
}
judge_go_samples() {
	facts_of cpu
}

run_go_command() {
	got gotrace -o trace -- newest-go churn -seconds 1
}
judge_go_command() {
	facts_of command
}

# --- C ---

run_c_threads() {
	start ctarget pingpong -seconds 600
	traced -d 700ms
}
# A waker may sleep before the thread that it woke has left its CPU. A trace cannot name it then, but has its stack. With
# more CPUs than the host has, that is one wake-up of a hundred; no other waker is named in its place.
judge_c_threads() {
	local least=99
	[ "${VM_CPUS:-2}" -le 2 ] || least=95
	want 0
	strict "$W/trace"
	checked "$W/trace"
	demanded 'starts;root=^(ping|pong)_player;min=2' \
		'blocks;root=^ping_player;reason=^sync \((condition|mutex)\)$;stack=play < ping_player;min=100' \
		'blocks;root=^pong_player;of=wait_turn;reason=^sync \(condition\)$;least=50;min=100' \
		"wakes;root=^pong_player;by=^ping_player;stack= < play < ping_player;least=$least;min=100" \
		'wakes;root=^pong_player;by=^(ping_player.*)?$;stack= < play < ping_player;min=100'
	printf '%s events' "$(fact events)"
}

run_c_stacks() { # through a signal's frame
	start ctarget signal -seconds 600
	traced -d 1s
}
judge_c_stacks() {
	want 0
	strict "$W/trace"
	checked "$W/trace"
	demanded 'blocks;root=^interrupted;reason=^sleep$;stack=pause_us < handle_slowly < on_signal < .*interrupted_work < interrupted;min=10'
	printf '%s events' "$(fact events)"
}

run_c_kernel() { # --kernel-stacks
	start ctarget pipe -seconds 600
	traced -d 700ms --kernel-stacks
}
judge_c_kernel() {
	want 0
	strict "$W/trace"
	checked "$W/trace"
	demanded 'blocks;root=^consumer;of=consume;reason=^pipe$;stack=pipe_read < .*vfs_read < .*read\(.* < consume < consumer;min=10'
	printf '%s events' "$(fact events)"
}

run_c_network() { # a server; its clients are other processes
	start ctarget epoll -seconds 600
	traced -d 700ms
}
judge_c_network() {
	want 0
	strict "$W/trace"
	checked "$W/trace"
	demanded 'blocks;root=^server;reason=^network$;stack=^epoll_wait.* < serve_once < server;min=10' \
		'wakes;root=^server;stack=^(\[outside\] client \([0-9]+\)|\[interrupt(: network)?\]|.* < server.*)$;min=10'
	printf '%s events' "$(fact events)"
}

run_c_samples() {
	calls -burn >target.out 2>target.err &
	target=$!
	said ready
	traced -d 1500ms --cpu-samples=500
}
judge_c_samples() {
	local all heavy light
	want 0
	strict "$W/trace"
	checked "$W/trace"
	sampled_leaves "$W/trace" >"$W/leaves"
	all=$(awk '$1 == "all" {print $2}' "$W/leaves")
	heavy=$(awk '$1 == "heavy" {print $2}' "$W/leaves")
	light=$(awk '$1 == "light" {print $2}' "$W/leaves")
	[ "$all" -ge 100 ] || die "only $all samples"
	[ $(((heavy + light) * 100)) -ge $((all * 95)) ] && [ "$heavy" -gt "$light" ] ||
		die "of $all samples $heavy in heavy, $light in light (three quarters and one it should be)"
	printf '%s samples' "$all"
}

GO_CALLED="All Sleeps Recurses Catches Panics Chooses Grows Begins Exits" # all begin with a push, which is not stepped
CALLED="leaf inner nested recurse first second by_pointer maybe hop deep catcher switcher rare worker tick"
run_c_region() { # every call is a region
	local name options=
	for name in $CALLED; do
		options="$options --region $name"
	done
	mkfifo in
	calls <in >target.out 2>target.err &
	target=$!
	exec 9>in # stays open: the target ends when it closes
	said ready
	tracing --max-overhead none $options
	echo >&9
	said 'done'
	traced_so_far
	rm in
}
judge_c_region() {
	want 0
	strict "$W/trace"
	checked "$W/trace"
	grep -E '^[^ ]+ [0-9]+ -?[0-9]+$' "$W/target.out" >"$W/counts"
	"$GOTRACE" dump "$W/trace" >"$W/dump" 2>"$W/dump.err" || die "dump: $(tail -n 1 "$W/dump.err")"
	regions_of "$W/dump" >"$W/regions"
	all_called $CALLED
}

# other_ended STATUS: prints what is wrong with the second trace. It may be refused like the first one, and the kernel
# may have missed hits (missed_some).
other_ended() {
	if [ "$1" -eq 3 ]; then
		grep -q '^gotrace: lost: ring full 0, stacks 0, unreadable 0, missed [0-9]*, CPU samples 0$' other.err && return
	else
		[ "$1" -eq "$(cat status)" ] && cmp -s err other.err && return
	fi
	cat other.err
}

run_c_returns() { # 20,800 calls, in two traces; the kernel maps [uprobes] for instructions that it steps
	local other
	mkfifo in
	calls -rounds 2500 <in >target.out 2>target.err &
	target=$!
	exec 9>in
	said ready
	gotrace -q -p $target -o other --max-overhead none --task nested --task recurse >other.err 2>&1 &
	other=$!
	tracing --max-overhead none --region nested --region recurse --region catcher
	while kill -0 $other 2>/dev/null && [ ! -e other ]; do sleep 0.1; done
	echo >&9
	said 'done'
	cp /proc/$target/maps maps
	kill -INT $other
	traced_so_far
	wait $other || other_ended $? >>harness.err
	gotrace doctor >words
	rm in
}
judge_c_returns() {
	want 0
	strict "$W/trace"
	checked "$W/trace"
	grep -E '^[^ ]+ [0-9]+ -?[0-9]+$' "$W/target.out" >"$W/counts"
	"$GOTRACE" dump "$W/trace" >"$W/dump" 2>"$W/dump.err" || die "dump: $(tail -n 1 "$W/dump.err")"
	regions_of "$W/dump" >"$W/regions"
	all_called nested recurse catcher
	binary=$(calltarget default)
	same_sum -rounds 2500
	stepped_as_reported "$W/words" "$W/maps"
}

run_go_region() { # on stacks that grow, through panics
	local name options=
	for name in $GO_CALLED; do
		options="$options --region main.call$name"
	done
	start newest-go functions -seconds 600
	tracing --max-overhead none --format 1.26 $options
	kill -USR2 $target
	said 'done'
	cp /proc/$target/maps maps
	traced_so_far
	gotrace doctor >words
}
judge_go_region() {
	local name names=
	want 0
	strict "$W/trace"
	checked "$W/trace"
	grep -E '^[^ ]+ [0-9]+ -?[0-9]+$' "$W/target.out" >"$W/counts"
	"$GOTRACE" dump "$W/trace" >"$W/dump" 2>"$W/dump.err" || die "dump: $(tail -n 1 "$W/dump.err")"
	regions_of "$W/dump" >"$W/regions"
	for name in $GO_CALLED; do
		names="$names main.call$name"
	done
	all_called $names
	stepped_as_reported "$W/words" "$W/maps"
}

# Requests of net/http, gRPC, OpenTelemetry and database/sql; there is no server for Redis.
run_go_requests() {
	start newest-requests few
	tracing --requests=auto --max-overhead none
	kill -USR2 $target
	said 'done'
	traced_so_far
}
judge_go_requests() {
	requests_as_counted
}

run_c_children() {
	got gotrace --children -o t --json -- sh -c 'for i in 1 2; do ls / | wc; done'
}
judge_c_children() {
	want 0
	all_strict 5
	[ "$(grep -c '^{' "$W/out")" -eq "$(ls "$W"/t.* | wc -l)" ] || die "; $(grep -c '^{' "$W/out") objects of --json"
	[ "$(named sh)" = 1 ] && [ "$(named ls)" = 2 ] && [ "$(named wc)" = 2 ] ||
		die "; names: $(grep -o '"name":"[^"]*"' "$W/out" | sort | uniq -c | tr '\n' ' ')"
}

# --- missing features ---

run_no_tracefs() { # neither of the two is mounted: nothing is missing
	umount /sys/kernel/tracing
	umount /sys/kernel/debug/tracing 2>/dev/null
	umount /sys/kernel/debug
	start newest-go pool -seconds 600
	traced -d 500ms
	mount -t tracefs tracefs /sys/kernel/tracing
}
judge_no_tracefs() {
	facts_of pool
}

run_paranoid() { # perf_event_paranoid=3 does not restrict root
	local was
	was=$(cat /proc/sys/kernel/perf_event_paranoid)
	echo 3 >/proc/sys/kernel/perf_event_paranoid
	start newest-go pool -seconds 600
	traced -d 500ms
	echo "$was" >/proc/sys/kernel/perf_event_paranoid
}
judge_paranoid() {
	facts_of pool
}

run_no_process() {
	got gotrace -p 99999 -o trace
}

run_no_root() {
	got without root gotrace -p 1 -o trace
}

run_no_sys_admin() { # Debian's perf_event_paranoid is 3: CPU samples then need that capability
	start newest-go idle -seconds 600
	got without cap 21 gotrace -p $target -d 500ms --cpu-samples=0 -o trace
}

judge_no_sys_admin() { # multi-uprobe links (Linux 6.10) need CAP_BPF and CAP_PERFMON only
	whole
}

run_no_memlock() { # up to Linux 5.10 maps count as locked memory
	start newest-go idle -seconds 600
	got without memlock gotrace -p $target -d 500ms -o trace
}
judge_no_memlock() {
	whole
}

run_no_bpf() {
	start newest-go idle -seconds 600
	got without bpf gotrace -p $target -d 500ms -o trace
}

run_no_btf() {
	start newest-go idle -seconds 600
	mount --bind /dev/null /sys/kernel/btf/vmlinux
	traced -d 500ms
	umount /sys/kernel/btf/vmlinux
}

run_btf_file() { # the kernel's types from a file
	start ctarget pingpong -seconds 600
	cat /sys/kernel/btf/vmlinux >/tmp/btf
	mount --bind /dev/null /sys/kernel/btf/vmlinux
	traced -d 700ms --btf /tmp/btf
	umount /sys/kernel/btf/vmlinux
	rm /tmp/btf
}
judge_btf_file() {
	judge_c_threads
}

run_lockdown() { # must be the last check: lockdown cannot be undone
	start newest-go idle -seconds 600
	echo confidentiality >/sys/kernel/security/lockdown
	traced -d 500ms
}
