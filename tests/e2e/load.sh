# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A machine without idle CPUs: limits must still hold, and gotrace must reduce its detail before it loses
# anything. To be sourced after cases.sh, native.sh and sandbox.sh. Times are compared within one run: the
# work that the target does in a millisecond of its own CPU time shows whether it is being probed, however
# busy the CPUs are, because probes make a turn of ping-pong some 15 times as expensive.

LATE_MS=200 # probes are gone within 100 ms; the rest allows for other work on the machine
METER=$E2E/meter

# now: prints the wall clock in us, as the meter uses it.
now() {
	echo "${EPOCHREALTIME/[^0-9]/}"
}

# busy N: starts this many programs that want a CPU each, until calm. None outlives its test.
busy() {
	local i
	for ((i = 0; i < $1; i++)); do
		(ulimit -t 100 && exec setpriv --pdeathsig KILL sh -c 'while :; do :; done') &
		loops+=($!)
	done
}

calm() {
	[ ${#loops[@]} -eq 0 ] || kill -KILL "${loops[@]}" 2>/dev/null
	[ ${#loops[@]} -eq 0 ] || wait "${loops[@]}" 2>/dev/null
	loops=()
}

# saturate LOAD [OPTION...]: $target runs the load as fast as it can, counted by a meter. LOAD is a full mode
# of the Go target without "full-", or cpingpong. It has a session of its own, as services have: if the kernel
# divides CPUs by session, it gets half of them, and gotrace what busy loops leave of the other half.
saturate() {
	[ "$METER" -nt tests/e2e/meter.c ] || gcc -std=gnu17 -O2 -Wall -Wextra -Werror -o "$METER" tests/e2e/meter.c ||
		die "cannot build the meter"
	head -c 4096 /dev/zero >"$W/turns"
	case $1 in
	cpingpong) TURNS=$W/turns start_target setsid "$(ctarget default)" full -seconds 100 ;;
	*) TURNS=$W/turns start_target setsid "$(target_binary $NEWEST default)" "full-$1" -seconds 100 "${@:2}" ;;
	esac
	"$METER" "$W/turns" "$target" >"$W/samples" &
}

# pace FROM TO: prints turns per second of the target's CPU time, between two times.
pace() {
	awk -v from="$1" -v to="$2" '
		NF == 3 && $1 >= from && $1 <= to { if (!n++) { turns = $2; cpu = $3 } t = $2 - turns; c = $3 - cpu }
		END { printf "%d\n", (c > 0 ? t / c * 1e9 : 0) }' "$W/samples"
}

# throughput FROM TO: prints turns per second of wall time.
throughput() {
	awk -v from="$1" -v to="$2" '
		NF == 3 && $1 >= from && $1 <= to { if (!n++) { turns = $2; at = $1 } t = $2 - turns; us = $1 - at }
		END { printf "%d\n", (us > 0 ? t / us * 1e6 : 0) }' "$W/samples"
}

# back MOMENT PACE: prints how many ms after that time the target reaches that pace again, for 30 ms of its CPU time.
back() {
	awk -v from="$1" -v pace="$2" '
		BEGIN { n = 0 }
		NF == 3 && $1 >= from { at[n] = $1; turns[n] = $2; cpu[n++] = $3 }
		END {
			for (i = j = 0; i < n; i++) {
				while (j < n && cpu[j] - cpu[i] < 30e6)
					j++
				if (j == n)
					break
				if ((turns[j] - turns[i]) / (cpu[j] - cpu[i]) * 1e9 >= pace) {
					printf "%d\n", (at[i] - from) / 1000
					exit
				}
			}
			print 1000000
		}' "$W/samples"
}

# warm: sets $free and $through to the target's pace and throughput, untraced, with the present load.
warm() {
	sleep 1.2
	local at
	at=$(now)
	free=$(pace $((at - 1000000)) "$at")
	through=$(throughput $((at - 1000000)) "$at")
	[ "$free" -gt 0 ] || die "the target does nothing"
}

# probed: waits until the target is being probed.
probed() {
	local at last=$((SECONDS + 21))
	while [ $SECONDS -lt $last ] && kill -0 $tracer 2>/dev/null; do
		at=$(now)
		[ "$(pace $((at - 150000)) "$at")" -ge $((free / 3)) ] || return 0
		sleep 0.1
	done
	noisy "no probes within 20 s: $(tail -n 3 "$W/err")"
}

# published FILE: like begun, accurate to some ms; $moment is the time.
published() {
	local last=$((SECONDS + 21)) nothing
	exec {nothing}<> <(:) # read pauses without a fork, which beside busy loops takes longer than the pause
	while [ $SECONDS -lt $last ] && kill -0 $tracer 2>/dev/null; do
		moment=${EPOCHREALTIME/[^0-9]/}
		[ ! -e "$1" ] || break
		read -rt 0.005 -u "$nothing"
	done
	exec {nothing}>&-
	[ -e "$1" ] || noisy "gotrace did not begin within 20 s: $(tail -n 3 "$W/err")"
}

# gone WHAT MOMENT: checks that the probes were removed in time, and not attached again. Prints the earlier pace,
# because the governor may have removed them already.
gone() {
	local late before after floor=$((free * 6 / 10))
	before=$(pace $(($2 - 200000)) "$2")
	late=$(back "$2" $floor)
	[ "$late" -lt 1000000 ] || noisy "$1: the probes were never gone (pace $(pace "$2" "$(now)") of $free untraced)"
	[ "$late" -le $LATE_MS ] || noisy "$1: the probes were gone $late ms later, 100 are allowed (judged: $LATE_MS)"
	after=$(pace $(($2 + LATE_MS * 1000)) "$(now)")
	[ "$after" -ge $floor ] || noisy "$1: afterwards the target is at $after of $free turns"
	printf '%s: gone after %d ms (from %d %%); ' "$1" "$late" $((before * 100 / free))
}

# nothing_lost: checks this in the JSON summary.
nothing_lost() {
	[ "$(number lost.ring_full)" -eq 0 ] || noisy "ring full: $(number lost.ring_full)${1:+ ($1)}"
}

# lasted SECONDS: checks that the trace has this length, to 0.3 s.
lasted() {
	local ms=$(($(number duration_ns) / 1000000))
	[ $ms -ge $(($1 * 1000 - 300)) ] && [ $ms -le $(($1 * 1000 + 300)) ] || noisy "the trace spans $ms ms instead of $1 s"
}

# sound FILE: checks that both judges accept it.
sound() {
	strict "$1"
	checked "$1"
}

# --- -d with busy loops ---

# beside LOAD LOOPS [OPTION...]: makes a trace of 3 s, or of $length, beside busy loops.
beside() {
	local length=${length:-3} work=$1 what="$1 beside $2 loops" began took
	saturate "$1"
	busy "$2"
	shift 2
	what="$what${*:+ $*}"
	warm
	rm -f "$W/trace"
	began=$(now)
	background -p "$target" -d "${length}s" -o "$W/trace" --json "$@"
	published "$W/trace"
	wait_end $tracer $((length + 87)) || noisy "$what: gotrace -d ${length}s did not end within $((length + 87)) s"
	took=$((($(now) - began) / 1000))
	while [ "$(now)" -lt $((moment + length * 1000000 + 600000)) ]; do sleep 0.1; done # the time that is judged
	case $work in
	pingpong | iter) gone "$what, -d" $((moment + length * 1000000)) ;;
	esac
	calm
	want 0
	lasted "$length"
	nothing_lost "$what"
	still_lives
	stop_target
	sound "$W/trace"
	printf '%d ms in all, %d events; ' $took "$(fact events)"
}

load_pingpong_2() { beside pingpong 2; }
load_pingpong_4() { beside pingpong 4; }
load_iter_2() { beside iter 2; }
load_iter_4() { beside iter 4; }

# The governor needs some seconds to find the level of detail. From then on the limit holds, whatever else
# wants the CPUs. The limit applies to the counted cost of hits; the real cost is higher: caches, and wake-ups
# that come late.
load_max_overhead() {
	local left
	length=6 beside pingpong 2 --max-overhead 10
	left=$(($(pace $((moment + 3000000)) $((moment + 6000000))) * 100 / free))
	printf 'in the second half the target has %d %% of its turns' $left
	[ $left -ge 50 ] || noisy ", and should have about 90 %"
}

load_table() {
	[ "$ALL" = 1 ] || skip "the whole table with ALL=1 only"
	local work loops
	for work in pingpong iter http syscalls cpingpong; do
		for loops in 0 2 4 8; do
			beside $work $loops
			beside $work $loops --max-overhead 10
		done
	done
}

# --- gotrace itself does not run ---

# bare: sets $bare to the target's pace with empty programs on every site.
bare() {
	local from
	background -p "$target" -d 2s -o "$W/bare" --probe-only
	probed
	sleep 0.4
	from=$(now)
	sleep 0.8
	bare=$(pace "$from" "$(now)")
	ends 20
	[ "$bare" -gt 0 ] && [ "$bare" -lt $((free / 2)) ] || die "empty programs leave $bare of $free: that is not what they cost"
}

# stopped WHICH [OPTION...]: in a trace of 6 s, stops process number WHICH of gotrace for 3 s, 0 being its
# main one. The target's work in that time is compared with $bare, if that is known. $unwatched is the time
# without recording, in ms.
stopped() {
	local which=$1 pids from to during
	shift
	rm -f "$W/trace"
	# With a limit it may already have stopped recording before.
	background -p "$target" -d 6s -o "$W/trace" --max-overhead none --json "$@"
	published "$W/trace"
	sleep 1.5
	pids=($tracer $(workers))
	[ -n "${pids[which]}" ] || die "gotrace has no process number $which: ${pids[*]}"
	from=$(now)
	kill -STOP "${pids[which]}"
	sleep 3
	resident=$(awk '/^VmRSS:/ {print $2}' "/proc/$tracer/status")
	to=$(now)
	kill -CONT "${pids[which]}"
	ends 60
	want 0 3
	during=$(pace $((from + 500000)) "$to")
	printf 'process %d stopped' "$which"
	if [ -n "$bare" ]; then
		printf ': %d %% of what bare probes leave' $((during * 100 / bare))
		[ $((during * 10)) -ge $((bare * 7)) ] || noisy ": $during turns instead of $bare"
	fi
	nothing_lost "process $which stopped"
	unwatched=$(number not_watched_ns) || die "; the JSON summary has no not_watched_ns"
	unwatched=$((unwatched / 1000000))
	printf ', %d ms not watched; ' $unwatched
	sound "$W/trace"
	[ "$(fact milliseconds)" -ge 5700 ] || noisy "the trace spans only $(fact milliseconds) of 6000 ms"
	still_lives
}

load_stopped() { # the kernel side has a lease: without its reader it stops recording
	saturate pingpong -procs 1 # with two, a turn costs twice as much if both Ps take part, which is chance
	warm
	bare
	stopped 0
	[ $unwatched -ge 2000 ] || noisy "but gotrace was stopped for 3 s"
	"$GOTRACE" dump --json "$W/trace" >"$W/dump" || die "gotrace dump failed"
	grep -q 'UserLog.*not watched' "$W/dump" || die "the trace does not say that it was not watched"
	stopped 1
	stopped 2
}

load_buffer() { # data that cannot be encoded yet has a limit, beyond which nothing is watched
	saturate pingpong
	warm
	stopped 2 --buffer 8M
	[ $unwatched -ge 2000 ] || noisy "but nothing was encoded for 3 s"
	printf 'main process: %d MiB' $((resident / 1024))
	[ $resident -le $((100 * 1024)) ] || die ", --buffer was 8M"
}

# stopped_said [OPTION...]: the same, checking the messages.
stopped_said() {
	rm -f "$W/trace"
	background -p "$target" -d 4s -o "$W/trace" "$@"
	begun "$W/trace"
	sleep 0.5
	kill -STOP $tracer
	sleep 2.5
	kill -CONT $tracer
	ends 20
	says 'not watched: [0-9.]+ s of [0-9.]+ s'
	! grep -q 'lost.*[1-9]' "$W/err" || die "a gap is reported as loss: $(grep lost "$W/err")"
	sound "$W/trace"
	still_lives
	grep -o 'not watched: .*' "$W/err"
}

load_stopped_said() {
	load pool
	stopped_said
	want 0
	stopped_said --detail=exact # all or nothing
	want 3
	says 'not watched.*--detail=exact'
}

# --- a cgroup with hardly any CPU time ---

# cpu_group: makes $group, a cgroup that enforces a quota; v2 or v1, whichever has the controller.
cpu_group() {
	local root
	for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct; do
		group=$root/gotrace-load-$BASHPID
		[ ! -e $root/cgroup.controllers ] || echo +cpu 2>/dev/null >$root/cgroup.subtree_control
		mkdir "$group" 2>/dev/null || continue
		trap 'kill -KILL $(jobs -p) 2>/dev/null; sleep 0.3; rmdir "$group"' EXIT
		[ -w "$group/cpu.max" ] || [ -w "$group/cpu.cfs_quota_us" ] && return
		rmdir "$group"
	done
	trap 'kill -KILL $(jobs -p) 2>/dev/null' EXIT
	skip "no cgroup with a limit of CPU time can be made here"
}

# quota US|max: sets the quota per 100 ms.
quota() {
	if [ -w "$group/cpu.max" ]; then
		echo "$1 100000" >"$group/cpu.max"
	else
		echo 100000 >"$group/cpu.cfs_period_us"
		echo "${1/max/-1}" >"$group/cpu.cfs_quota_us"
	fi
}

load_cgroup() {
	cpu_group
	saturate pingpong
	warm
	background -p "$target" -d 3s -o "$W/trace" --json
	echo $tracer >"$group/cgroup.procs"
	published "$W/trace"
	local pid
	for pid in $tracer $(workers); do
		echo "$pid" >"$group/cgroup.procs"
	done
	quota 5000
	sleep 5
	quota max # encoding the rest would take minutes otherwise
	ends 60
	want 0
	lasted 3
	nothing_lost
	printf 'not watched: %d ms; probes: %d ms' $(($(number not_watched_ns) / 1000000)) "$(back "$moment" $((free * 6 / 10)))"
	sound "$W/trace"
	still_lives
}

# --- a reader that does not read ---

# interrupted WHAT: sends SIGINT while nobody reads the trace.
interrupted() {
	sleep 2
	probed # still, or again
	moment=${EPOCHREALTIME/[^0-9]/} # no fork between this and the signal
	kill -INT $tracer
	sleep 1
	gone "$1" "$moment"
}

load_reader_sleeps() {
	saturate pingpong
	warm
	mkfifo "$W/pipe"
	{ head -c 100000; sleep 6; cat; } <"$W/pipe" >"$W/trace" &
	env --default-signal "$GOTRACE" -p "$target" -d 60s --max-overhead none -o - >"$W/pipe" 2>"$W/err" </dev/null &
	tracer=$!
	probed
	interrupted 'a reader that sleeps'
	ends 40
	want 0 3
	sound "$W/trace"
	still_lives
}

load_reader_stopped() {
	local reader
	saturate pingpong
	warm
	mkfifo "$W/pipe"
	cat <"$W/pipe" >"$W/trace" &
	reader=$!
	env --default-signal "$GOTRACE" -p "$target" -d 60s --max-overhead none -o - >"$W/pipe" 2>"$W/err" </dev/null &
	tracer=$!
	probed
	kill -STOP $reader
	interrupted 'a reader that is stopped'
	kill -CONT $reader
	ends 40
	want 0 3
	wait $reader
	sound "$W/trace"
	still_lives
}

# --- the time of the end, with busy loops ---

# ended SIGNAL: makes a trace of about a second, which the signal ends.
ended() {
	local left
	rm -f "$W/trace"
	background -p "$target" -d 60s -o "$W/trace" --max-overhead none
	probed
	sleep 1
	probed # still, or again
	moment=${EPOCHREALTIME/[^0-9]/} # no fork between this and the signal
	kill "-$1" $tracer
	sleep 1
	gone "SIG$1" "$moment"
	# Encoding the rest takes a share of the CPUs, not all of them.
	left=$(throughput $((moment + LATE_MS * 1000)) "$(now)")
	[ $((left * 10)) -ge $((through * 3)) ] || noisy "SIG$1: afterwards $left turns in a second, untraced $through"
	ends 30
	want 0
	sound "$W/trace"
}

load_signals() {
	saturate pingpong
	busy 2
	warm
	ended INT
	ended TERM
	still_lives
}

load_max_size() {
	local most=4000000 size
	saturate pingpong
	busy 2
	warm
	background -p "$target" -d 60s -o "$W/trace" --max-overhead none --max-size $most
	ends 30
	calm
	want 3
	size=$(stat -c %s "$W/trace")
	[ "$size" -le $((most * 2)) ] || die "$size bytes, $most were allowed"
	[ "$size" -ge $((most / 2)) ] || die "only $size bytes of $most"
	sound "$W/trace"
	still_lives
	printf '%d bytes of %d' "$size" $most
}

load_target_ends() {
	local killed
	saturate pingpong
	busy 2
	warm
	background -p "$target" -d 60s -o "$W/trace" --json
	published "$W/trace"
	sleep 2
	killed=${EPOCHREALTIME/[^0-9]/}
	kill -KILL "$target"
	ends 30
	calm
	want 0
	sound "$W/trace"
	local ms=$(($(number duration_ns) / 1000000)) lived=$(((killed - moment) / 1000))
	[ $ms -ge $((lived - 300)) ] && [ $ms -le $((lived + 300)) ] || noisy "the trace spans $ms ms, the target lived for $lived"
	nothing_lost
	printf 'the end after %d ms, the trace %d ms' $lived $ms
}
