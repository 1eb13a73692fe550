# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Machines without some feature: gotrace doctor and a trace report the same line, or the trace is made in
# another way. To be sourced after native.sh.

# without_feature MODE...: prints the path of the program that runs commands without a feature, and builds it if
# needed.
without_feature() {
	local binary=$E2E/without
	if [ ! -x "$binary" ] || [ tests/vm/without.c -nt "$binary" ]; then
		gcc -std=gnu17 -Wall -Wextra -Werror -O2 -o "$binary" tests/vm/without.c >&2 || return 1
	fi
	echo "$binary"
}

# run_by WRAPPER ARG... -- ARG...: calls run_gotrace through another program.
run_by() {
	local wrapper=()
	while [ "$1" != -- ]; do
		wrapper+=("$1")
		shift
	done
	shift
	timeout -k 5 60 "${wrapper[@]}" "$GOTRACE" "$@" >"$W/out" 2>"$W/err" </dev/null
	status=$?
	[ $status -lt 124 ] || die "gotrace $*: status $status: $(tail -n 3 "$W/err")"
}

# shown MARK PATTERN: checks that doctor has printed such a line.
shown() {
	grep -qE -- "^$1 +$2" "$W/out" || die "doctor does not say '$1 $2': $(grep -v '^ok' "$W/out" | head -c 600)"
}

# refused_alike WRAPPER... -- PATTERN: checks that doctor exits with 1 and such a line, and that a trace fails with
# the same line.
refused_alike() {
	local wrapper=() line
	while [ "$1" != -- ]; do
		wrapper+=("$1")
		shift
	done
	run_by "${wrapper[@]}" -- doctor
	want 1
	shown NO "$2"
	rm -f "$W/trace"
	line=$(sed -nE "s/^NO +//p" "$W/out" | head -n 1)
	run_by "${wrapper[@]}" -- -p "$target" -d 1s -o "$W/trace"
	want 1
	one_line
	[ "$(head -n 1 "$W/err")" = "gotrace: $line" ] || die "the trace says '$(head -n 1 "$W/err")', not '$line'"
	[ ! -e "$W/trace" ] || die "a trace was left"
	printf '%s' "$line"
}

# whole_trace GOOD: checks that run_by has made a trace of $target.
whole_trace() {
	want 0
	strict "$W/trace"
	checked "$W/trace"
	still_lives
}

case_doctor_here() {
	run_gotrace doctor
	want 0
	tail -n 1 "$W/out" | grep -qx 'Go programs can be traced here, and programs in C and C++.' || die "$(tail -n 1 "$W/out")"
	run_gotrace doctor --json
	want 0
	/usr/bin/python3 - "$W/out" >"$W/json.err" 2>&1 <<-'SCRIPT' || die "--json: $(tail -n 2 "$W/json.err")"
		import json, sys
		all = json.load(open(sys.argv[1]))
		assert all["go"] is True and all["c"] is True, all
		names = [one["name"] for one in all["features"]]
		assert len(names) == len(set(names)), names
		for name in ("kernel", "capabilities", "lockdown", "bpf(2)", "BTF", "tracepoints", "uprobes", "attach cookies", "register writes",
		             "CPU samples", "perf_event_paranoid", "tracefs", "ptrace_scope"):
		    assert name in names, name
		for one in all["features"]:
		    assert one["state"] in ("here", "replaced", "missing") and one["found"], one
		    assert one["state"] == "here" or one["cost"], one
	SCRIPT
	start_c pingpong
	run_gotrace doctor -p "$target"
	want 0
	shown ok "process $target: not a Go program: its threads can be traced"
	run_gotrace doctor -p "$target" --layout "$0"
	want 1
	shown NO "process $target: --layout: .*: line 1: not a gotrace layout table"
	stop_target
	start_target "$(target_binary "$NEWEST" default)" pingpong -seconds 30
	run_gotrace doctor -p "$target"
	want 0
	shown ok "process $target: a Go program"
	stop_target
	run_gotrace doctor -p "$target"
	want 1
	shown NO "process $target: "
	run_gotrace doctor here
	want 2
}

case_doctor_bpf() { # a container's filter
	local without
	without=$(without_feature) || die "cannot build"
	start_c pingpong
	refused_alike "$without" bpf -- 'bpf\(2\): refused: Operation not permitted; nothing can be traced; a seccomp filter is active: '
	gone_on
}

case_doctor_perf() { # no CPU samples, but the rest
	local without
	without=$(without_feature) || die "cannot build"
	start_c pingpong
	run_by "$without" perf -- doctor
	if grep -q '^ok.*uprobes: uprobe_multi' "$W/out"; then
		want 0
		shown NO 'CPU samples: perf_event_open\(2\) is refused: Operation not permitted; no CPU samples; trace with --cpu-samples=0; or: a seccomp filter'
		run_by "$without" perf -- -p "$target" -d 1s -o "$W/trace"
		want 1
		says '^gotrace: CPU samples: perf_event_open'
		run_by "$without" perf -- -p "$target" -d 1s --cpu-samples=0 -o "$W/trace"
		whole_trace
	else
		refused_alike "$without" perf -- 'uprobes: refused: Operation not permitted; nothing can be traced; a seccomp filter'
	fi
	gone_on
}

case_doctor_capability() { # some capabilities are enough; with one less nothing can be done
	local without
	without=$(without_feature) || die "cannot build"
	start_c pingpong
	run_by "$without" cap 21 -- doctor
	if [ $status -eq 0 ]; then # by uprobe_multi links
		run_by "$without" cap 21 -- -p "$target" -d 1s -o "$W/trace"
		whole_trace
	else
		refused_alike "$without" cap 21 -- 'uprobes: refused: Permission denied; nothing can be traced; use sudo, or grant CAP_SYS_ADMIN'
	fi
	refused_alike "$without" cap 21 "$without" cap 38 -- 'capabilities: CAP_BPF CAP_SYS_PTRACE; nothing can be traced; use sudo, or grant'
	refused_alike "$without" cap 19 -- 'capabilities: CAP_SYS_ADMIN CAP_BPF CAP_PERFMON; the memory of a process cannot be read'
	gone_on
}

case_doctor_memlock() { # from Linux 5.11 on it is not needed
	local without
	without=$(without_feature) || die "cannot build"
	start_c pingpong
	run_by "$without" memlock -- doctor
	if [ $status -eq 0 ]; then
		shown ok 'locked memory: not needed'
		run_by "$without" memlock -- -p "$target" -d 1s -o "$W/trace"
		whole_trace
	else
		refused_alike "$without" memlock -- 'locked memory: at most 64 KiB \(ulimit -l\), and no CAP_SYS_RESOURCE'
	fi
	gone_on
}

case_doctor_tracefs() {
	start_c pingpong
	timeout 60 unshare -m sh -c 'umount -l /sys/kernel/tracing 2>/dev/null; umount -l /sys/kernel/debug 2>/dev/null
		"$0" doctor | grep -q "^ok *tracefs: not mounted, and not needed" || exit 9
		"$0" -p "$1" -d 1s -o "$2"' "$GOTRACE" "$target" "$W/trace" >"$W/out" 2>"$W/err"
	status=$?
	whole_trace
	gone_on
}

# hidden_btf ARG...: runs gotrace on a kernel without BTF.
hidden_btf() {
	run_by unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$0" "$@"' -- "$@"
}

case_doctor_btf() { # none in the kernel; then a file with the kernel's, and one with no kernel's
	local btf=$W/kernel.btf
	cp /sys/kernel/btf/vmlinux "$btf" || die "no BTF here to begin with"
	start_c pingpong
	refused_alike unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$0" "$@"' -- \
		'BTF: the kernel has none \(/sys/kernel/btf/vmlinux\): .*; nothing can be traced; give --btf FILE'
	hidden_btf doctor --btf "$btf"
	want 0
	shown less 'tracepoints: raw tracepoints'
	shown less 'list of threads: from /proc'
	hidden_btf -p "$target" -d 1500ms -o "$W/trace" --btf "$btf"
	whole_trace
	demanded 'blocks;root=^ping_player;reason=^sync \((condition|mutex)\)$;stack=play < ping_player;min=100' \
		'wakes;root=^pong_player;by=^ping_player;stack= < play < ping_player;min=100'
	run_gotrace -p "$target" -d 1s -o "$W/none" --btf "$0"
	want 1
	says '^gotrace: BTF: .*cannot be read: .*; nothing can be traced; --btf takes'
	gone_on
	start_target "$(target_binary "$NEWEST" default)" syscalls -seconds 30
	hidden_btf -p "$target" -d 1500ms -o "$W/trace" --btf "$btf"
	whole_trace
	[ "$(fact "event Syscall")" -gt 100 ] || [ "$("$GOTRACE" dump "$W/trace" | grep -c GoSyscallBegin)" -gt 100 ] ||
		die "no system calls: $(head -n 5 "$W/facts")"
	gone_on
}

case_doctor_clock() { # gotrace's own time namespace is refused; that of the process does not matter
	unshare -T true 2>/dev/null || skip "no time namespaces here"
	start_c pingpong
	refused_alike unshare -T --monotonic 100000 -- "clock: 100000 s from the kernel's"
	gone_on
	stop_target
	start_target unshare -T --monotonic 100000 "$(ctarget default)" pingpong
	run_gotrace -p "$target" -d 1s -o "$W/trace"
	whole_trace
	gone_on
}

case_doctor_proc() { # without it, capabilities cannot be read: it is reported first
	start_c pingpong
	refused_alike unshare -m sh -c 'umount -l /proc && exec "$0" "$@"' -- '/proc: not mounted; nothing can be traced; mount -t proc'
	gone_on
}
