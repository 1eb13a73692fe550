# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A recorder of all processes of a machine (gotrace flight --node). To be sourced after flight.sh.

# record_node ARG...: starts it as $recorder.
record_node() {
	mkdir -p "$W/dir"
	: >"$W/err"
	env --default-signal "$GOTRACE" flight --node -o "$W/dir" "$@" >"$W/out" 2>"$W/err" </dev/null &
	recorder=$!
}

# node_program NAME: makes a program of this name, whose processes are recorded by it.
node_program() {
	cp "$(target_binary $NEWEST default)" "$W/$1"
}

# node_tree: prints the recorder's processes: one for each process, each with three workers.
node_tree() {
	pgrep -f "^$GOTRACE flight --node -o $W/dir"
}

# kill_node: kills the recorder of all; those of the single processes end with it.
kill_node() {
	local i
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	for ((i = 0; i < 100; i++)); do
		[ -n "$(node_tree)" ] || break
		sleep 0.1
	done
	[ -z "$(node_tree)" ] || die "processes are left: $(node_tree)"
}

# node_memory: prints the memory of all of them, in MB.
node_memory() {
	local pid
	for pid in $(node_tree); do
		cat "/proc/$pid/smaps_rollup" 2>/dev/null
	done | awk '/^Pss:/ {sum += $2} END {print int(sum / 1024)}'
}

# node_cpu_ms: prints the CPU time of all of them, in ms. Times in /proc/PID/stat are sampled by ticks, which often hit
# what a timer wakes.
node_cpu_ms() {
	local pid
	for pid in $(node_tree); do
		cat "/proc/$pid/task"/*/schedstat 2>/dev/null
	done | awk '{sum += $1} END {print int(sum / 1000000)}'
}

# Programs that run, one that starts later, one that starts again; a C program and gotrace itself are left out.
case_node() {
	local name=node$$ targets=() pid
	node_program $name
	for i in 1 2; do
		start_target "$W/$name" mixed -seconds 100
		targets+=("$target")
	done
	sleep 100 &
	record_node --window 2s --user "$(id -un)" --as go --exe "$W/$name"
	for pid in "${targets[@]}"; do
		prints "$name $pid: recording PID $pid .go$NEWEST" 20
	done
	start_target "$W/$name" mixed -seconds 100
	targets+=("$target")
	prints "$name $target: recording PID $target" 10
	[ "$(grep -c 'recording PID' "$W/err")" -eq 3 ] || die "$(grep -c 'recording PID' "$W/err") are recorded instead of 3"
	sleep 1
	run_gotrace_aside snapshot --all --last 500ms
	[ $status -eq 0 ] || die "snapshot --all: status $status"
	[ "$(files)" -eq 3 ] || die "$(files) files instead of three"
	kill -KILL "${targets[0]}"
	wait "${targets[0]}" 2>/dev/null
	prints "$name ${targets[0]}: PID ${targets[0]} has ended" 10
	start_target "$W/$name" mixed -seconds 100
	prints "$name $target: recording PID $target" 10
	kill -USR1 $recorder
	prints "$name $target: wrote " 10
	stop_recorder 0
	for file in "$W"/dir/*.trace; do
		strict "$file"
	done
	[ -z "$(node_tree)" ] || die "processes are left: $(node_tree)"
	for pid in "${targets[@]:1}"; do
		kill -0 "$pid" || die "a target has ended"
	done
}

# Without a filter: every Go program, and no other.
case_node_go() {
	local name=node$$
	node_program $name
	start_target "$W/$name" mixed -seconds 100
	cp "$(command -v sleep)" "$W/other$$"
	"$W/other$$" 100 &
	sleep 2.5
	record_node --window 1s
	prints "$name $target: recording PID $target" 60
	sleep 5
	! grep -q "other$$" "$W/err" || die "a C program is recorded: $(grep "other$$" "$W/err")"
	kill -TERM $recorder
	wait_end $recorder 30 || noisy "did not end"
	[ -z "$(node_tree)" ] || die "processes are left: $(node_tree)"
}

# A fault in one of them writes its snapshot; together they keep what --keep says; none is left when it is killed.
case_node_fault() {
	local name=node$$ quiet_target i
	node_program $name
	start_target "$W/$name" idle -seconds 100
	quiet_target=$target
	start_target "$W/$name" strain -seconds 100
	record_node --window 1s --exe "$W/$name" --on 'request>300ms:GET /pay' --keep 3 --max-overhead 1000
	prints "$name $quiet_target: recording" 20
	prints "$name $target: recording" 20
	sleep 2
	kill -USR2 $target
	prints "$name $target: request>300ms:GET /pay: GET /pay (was|has been) open" 6
	prints "$name $target: wrote $W/dir/gotrace-$target-" 10
	! grep -q "$name $quiet_target: wrote" "$W/err" || die "the quiet program has a snapshot"
	for i in 1 2 3; do
		run_gotrace_aside snapshot --all
		[ $status -eq 0 ] || die "snapshot --all: status $status"
	done
	[ "$(files)" -eq 3 ] || die "$(files) files are kept instead of three"
	[ -e "$W/dir/gotrace-$quiet_target-"*.trace ] || die "no file of the quiet program is kept"
	for file in "$W"/dir/*.trace; do
		strict "$file"
	done
	kill_node
	[ "$(breakpoints)" -eq 0 ] || die "$(breakpoints) breakpoints are left in the target's code"
	only_traces
	still_lives
}

# calls_cpu_ms: prints the CPU time of a million system calls of a process that is not recorded, in ms.
calls_cpu_ms() {
	python3 -c 'import resource, subprocess
subprocess.run(["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=500000"], stderr=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(1000 * (used.ru_utime + used.ru_stime)))'
}

# Twenty idle programs: what the recorders take of this machine's CPUs, their memory, and what they cost others.
case_node_twenty() {
	local name=node$$ i before after began took share alone beside
	node_program $name
	alone=$(calls_cpu_ms)
	for ((i = 0; i < 20; i++)); do
		"$W/$name" idle -seconds 100 >"$W/target.out" 2>&1 &
	done
	record_node --window 5s --exe "$W/$name"
	for ((i = 0; i < 900; i++)); do
		[ "$(grep -c 'recording PID' "$W/err")" -lt 20 ] || break
		sleep 0.1
	done
	[ "$(grep -c 'recording PID' "$W/err")" -eq 20 ] || die "$(grep -c 'recording PID' "$W/err") are recorded instead of 20"
	sleep 2
	before=$(node_cpu_ms)
	began=$(date +%s%N)
	sleep 10
	after=$(node_cpu_ms)
	took=$((($(date +%s%N) - began) / 1000000))
	share=$(((after - before) * 1000 / (took * $(nproc))))
	beside=$(calls_cpu_ms)
	echo "$((share / 10)).$((share % 10)) % of the machine's CPU time, $(node_memory) MB; a call of others takes $beside / $alone"
	[ $share -le 40 ] || noisy "20 recorders of idle programs take too much"
	# Twelve times as long if each recorder's programs ran at every call.
	[ "$beside" -le $((alone * 5)) ] || noisy "20 recorders slow the calls of other programs"
	stop_recorder 0
}

# start_churn NAME: starts one more program of those that end all the time.
start_churn() {
	"$W/$1" strain -seconds 600 >"$W/target.out" 2>&1 </dev/null &
	churning+=($!)
}

# What a node sees in many hours, in minutes: twenty programs, of which one after the other ends, and another begins. Each is
# recorded, the memory of the recorder does not grow, nothing fires, and one question gives the same second of all.
case_node_churn() {
	local name=node$$ churning=() i memory to file settled
	node_program $name
	for ((i = 0; i < 20; i++)); do
		start_churn $name
	done
	record_node --window 5s --exe "$W/$name" --on 'blocked:lock>500ms' --on 'finding>=high'
	for i in {0..19}; do
		prints "$name ${churning[i]}: recording PID ${churning[i]}" 90
	done
	for ((i = 0; i < 40; i++)); do
		kill -KILL "${churning[i]}"
		wait "${churning[i]}" 2>/dev/null
		start_churn $name
		prints "$name ${churning[i + 20]}: recording PID ${churning[i + 20]}" 90
		[ $i -ne 19 ] || settled=$(node_memory)
	done
	memory=$(node_memory)
	echo "40 programs ended and began; $settled MB after half of them, $memory at last"
	[ "$memory" -le $((settled * 5 / 4)) ] || die "the recorder's memory grows"
	! grep -E 'blocked:lock>|finding>=high:' "$W/err" || die "a trigger has fired"
	sleep 3
	rm -f "$W"/dir/*
	to=$(date +%s%6N)
	run_gotrace_aside snapshot --all --at "@$((to / 1000000)).$(printf %06d $((to % 1000000)))" --last 1s
	[ $status -eq 0 ] || die "snapshot --all: status $status"
	[ "$(files)" -eq 20 ] || die "$(files) files instead of 20"
	for file in "$W"/dir/*.trace; do
		strict "$file"
		covers "$file" $((to - 1000000)) "$to"
	done
	kill_node
}
