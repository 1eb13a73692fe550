# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Whether running goroutines had a CPU, compared with the kernel's counts: schedstat and cpu.stat. To be sourced after
# load.sh.

OS_RELEASES="1.22.12 1.26.8"

# os_target RELEASE MODE ARG...: starts a target. $cpu is the last CPU, which it shares with its neighbours.
os_target() {
	local release=$1
	shift
	cpu=$(($(nproc) - 1))
	binary=$(target_binary "$release" default) || die "cannot build the target with Go $release"
	start_target "$binary" "$@" -seconds 60
}

pinned() {
	taskset -a -p -c $cpu "$target" >/dev/null
}

# figures WHAT...: compares the summary's figures with those of the kernel. They may differ by 3 % of the traced time.
# The kernel counts a group's throttled time until the period ends, the summary until a thread runs again; from Linux
# 6.18 on a thread is throttled only on its way to user mode. So each period adds up to a millisecond of difference.
figures() {
	local verdict=0
	python3 - "$W/summary" "$@" <<-'PYTHON' || verdict=$?
		import json, sys
		summary = json.load(open(sys.argv[1]))
		cpu, span = summary["cpu"], summary["duration_ns"]
		busy = max(cpu["threads"], key=lambda thread: thread["on_cpu_ns"] + sum(v for k, v in thread.items() if k not in ("tid", "on_cpu_ns", "wait_ns")))
		off = busy["preempted_ns"] + busy["throttled_ns"]
		row = max(summary["functions"], key=lambda row: row["running_ns"])
		had = row["running_ns"] - row["off_cpu_ns"]

		def near(what, a, b, scale):
		    share = abs(a - b) / scale
		    print(f"{what} {a / 1e6:.0f} ms ({b / 1e6:.0f} by the kernel)", end="; ")
		    if share > 0.03:
		        print(f"{100 * share:.1f} % apart")
		        sys.exit(75)

		# A thread that never sleeps waits only where it was preempted or throttled. The kernel counts a wait when it
		# ends, with what was before the trace.
		if "wait" in sys.argv[2:]:
		    near("waited", off, busy["wait_ns"], span)
		near("had a CPU", had, busy["on_cpu_ns"], span)
		if "throttled" in sys.argv[2:]:
		    near("throttled", busy["throttled_ns"], cpu["quota"]["throttled_ns"], span)
		    if cpu["throttled_ns"] < 0.3 * span: # where others take the CPU, the quota lasts longer
		        print("not throttled for long")
		        sys.exit(75)
		if "preempted" in sys.argv[2:]:
		    by = cpu["preempted_by"].get("neighbour", 0)
		    print(f"by the neighbour {by / 1e6:.0f} ms", end="; ")
		    if by < 0.1 * span: # others may be there, too
		        sys.exit(75)
		if "faults" in sys.argv[2:]:
		    near("page faults", cpu["page_fault_ns"], cpu["off_cpu_ns"] - cpu["preempted_ns"], span)
		    if cpu["page_fault_ns"] < 0.6 * span:
		        print("hardly a page fault")
		        sys.exit(75)
	PYTHON
	[ $verdict -ne 75 ] || noisy ""
	[ $verdict -eq 0 ] || die "the figures"
}

os_trace() { # DURATION
	run_gotrace -p "$target" -d "$1" -o "$W/trace" --raw "$W/raw" --json
	want 0
	cp "$W/out" "$W/summary"
	strict "$W/trace"
	checked "$W/trace"
	[ "$(fact 'kind RegionBegin')" -gt 10 ] || noisy "only $(fact 'kind RegionBegin') regions"
	run_gotrace replay "$W/raw" -o "$W/again" --json
	want 0
	cmp "$W/trace" "$W/again" || die "a replay is not the same"
	run_gotrace replay "$W/raw" -o "$W/again" --os=summary -q
	want 0
	strict "$W/again"
	[ "$(fact 'kind RegionBegin')" -eq 0 ] || die "regions, though none are wanted"
}

case_os_quota() {
	local release
	cpu_group
	for release in $OS_RELEASES; do
		GOMAXPROCS=1 os_target "$release" busy
		pinned
		echo "$target" >"$group/cgroup.procs"
		quota 10000
		sleep 0.5
		os_trace 6s # long compared with one period and one wait, which the kernel counts when they end
		figures wait throttled
		run_gotrace replay "$W/raw" -o "$W/again"
		grep -qE "had a CPU for [0-9.]+ m?s of it" "$W/err" || die "the summary does not say it: $(cat "$W/err")"
		grep -qE 'throttled [0-9.]+ m?s \(cgroup cpu.(max 10000 100000|cfs_quota_us 10000 of 100000)\)' "$W/err" ||
			die "the summary does not name the quota: $(grep throttled "$W/err")"
		still_lives
		quota max
		stop_target
	done
}

case_os_neighbour() {
	local release
	cp "$(command -v yes)" "$W/neighbour"
	for release in $OS_RELEASES; do
		GOMAXPROCS=1 os_target "$release" busy
		pinned
		taskset -c $cpu nice -n -5 "$W/neighbour" >/dev/null &
		sleep 0.3
		os_trace 6s
		kill %+
		figures wait preempted
		still_lives
		stop_target
	done
}

case_os_faults() {
	[ -e /proc/sys/vm/unprivileged_userfaultfd ] || skip "the kernel has no userfaultfd"
	os_target $NEWEST faults
	os_trace 3s
	figures faults
	still_lives
}

# With --os=off there are no figures of CPUs.
case_os_off() {
	load cpu
	run_gotrace -p "$target" -d 1s -o "$W/trace" --os=off --json
	want 0
	! grep -q '"cpu":' "$W/out" || die "figures of CPUs, though --os=off was given"
	run_gotrace -p "$target" -d 1s -o "$W/trace" --json
	grep -q '"cpu":' "$W/out" || die "no figures of CPUs"
}

# The process is moved from one CPU to the other: the logs show it, and the tracks of the CPUs have the time that
# goroutines had one. There are no garbage collections: a goroutine that stops the others sleeps in a futex of the
# runtime, counts as running (docs/limits.md), and its CPU's track has the thread that runs there. Beside three busy
# loops that is up to 2.3 % of the time.
case_os_cpus() {
	local python
	GOGC=off os_target $NEWEST http
	taskset -a -p -c 0 "$target" >/dev/null
	(sleep 1.5 && taskset -a -p -c $cpu "$target") >/dev/null &
	run_gotrace -p "$target" -d 3s --os=all -o "$W/trace" --json
	want 0
	cp "$W/out" "$W/summary"
	strict "$W/trace"
	checked "$W/trace"
	run_gotrace dump "$W/trace"
	sed -nE 's/^ *([0-9]+) .* M=([0-9]+) .*key="\[CPU\]" message="([0-9]+)".*/\1 \2 \3/p' "$W/out" >"$W/cpus"
	awk -v to=$cpu '
		{ on[$3]++ }
		$3 != 0 && $3 != to { print "thread " $2 " on CPU " $3; exit 1 }
		moved[$2] && $3 == 0 { print "thread " $2 " back on CPU 0"; exit 1 }
		$1 > 2500000000 && $3 == 0 { print "thread " $2 " still on CPU 0"; exit 1 }
		$3 == to { moved[$2] = 1 }
		END { exit on[0] < 2 || on[to] < 2 }' "$W/cpus" >"$W/wrong" ||
		die "$(cat "$W/wrong") ($(wc -l <"$W/cpus") logs of CPUs)"
	run_gotrace convert "$W/trace" -o "$W/trace.perfetto-trace"
	want 0
	python=$(perfetto_reader) || skip "no descriptions of Perfetto's format (PyPI)"
	timeout 300 "$python" tests/e2e/read_perfetto.py "$W/trace.perfetto-trace" >"$W/read" 2>"$W/err" ||
		die "$(tail -n 1 "$W/err")"
	python3 - "$W/summary" "$W/read" <<-'PYTHON' || die "the tracks of CPUs"
		import json, sys
		cpu = json.load(open(sys.argv[1]))["cpu"]
		had = cpu["running_ns"] - cpu["off_cpu_ns"]
		tracks = [int(line.split()[2]) for line in open(sys.argv[2]) if line.startswith("CPU ")]
		print(f"{had / 1e6:.0f} ms on CPUs, tracks {[ns // 1000000 for ns in tracks]} ms", end="; ")
		sys.exit(len(tracks) != 2 or min(tracks) < 0.1 * had or abs(sum(tracks) - had) > 0.03 * had)
	PYTHON
	[ "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["cpu"]["interrupts_ns"])' "$W/summary")" -gt 0 ] ||
		die "no interrupts, though the network was busy"
	still_lives
}
