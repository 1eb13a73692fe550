# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Targets with corrupt memory, reused PIDs, and storms of forks. To be sourced after cases.sh, children.sh and
# load.sh.

# poked MODE LOOK [--ids]: writes random numbers into the goroutine structs of $target (poke.py) while it is traced
# repeatedly. Every trace must be valid. A process that does not look like one of its release from the beginning is
# traced or refused.
poked() {
	local round rounds=8 poker tracer
	[ "$ALL" = 1 ] && rounds=340
	run_gotrace -p "$target" -d 200ms -q -o "$W/trace" --raw "$W/raw"
	want 0
	/usr/bin/python3 tests/e2e/poke.py "$target" "$W/raw" "$CELL_SEED" "${@:3}" >"$W/poke.out" 2>&1 &
	poker=$!
	for ((round = 0; round < rounds; round++)); do
		rm -f "$W/trace"
		"$GOTRACE" -p "$target" $2 -d 300ms -q -o "$W/trace" >"$W/out" 2>"$W/err" </dev/null &
		tracer=$!
		begun "$W/trace"
		kill -USR1 $poker || die "the poking has ended: $(tail -n 1 "$W/poke.out")"
		wait_end $tracer 60 || noisy "gotrace did not end"
		kill -USR1 $poker
		want 0 3
		checked "$W/trace"
		strict "$W/trace"
	done
	kill -USR1 $poker
	sleep 0.1
	run_gotrace -p "$target" $2 -d 200ms -q -o "$W/trace"
	[ "$status" -ne 1 ] || says 'its memory does not agree with the layout'
	want 0 1 3
	kill $poker
	still_lives
	printf '%s %s: %d traces; ' "$1" "$(head -n 1 "$W/poke.out")" $rounds
}

case_poked_structs() { # any word, of goroutines that never run again; without a collector, which would read it
	GOGC=off LOAD_SECONDS=900 load parked
	poked parked ""
}

case_poked_ids() { # of goroutines that run: the runtime itself does not use them
	LOAD_SECONDS=900 load pool
	poked pool --detail=exact --ids
	stop_target
	LOAD_SECONDS=900 load http
	poked http "" --ids
}

# A process that forks some thousand times a second, with 150 children at a time: gotrace follows as many as
# it can write, ends on time, and reports how many it left out.
case_children_flood() {
	local began took
	cat >"$W/storm.c" <<-'CODE'
		#include <signal.h>
		#include <stdio.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(void)
		{
			int alive = 0;
			puts("ready");
			fflush(stdout);
			alarm(100);
			for (;;) {
				if (alive == 150 && waitpid(-1, NULL, 0) > 0)
					alive--;
				if (fork() == 0) {
					usleep(20000);
					_exit(0);
				}
				alive++;
			}
		}
	CODE
	gcc -O2 -o "$W/storm" "$W/storm.c" || die "cannot build"
	start_target "$W/storm"
	began=$(now)
	run_gotrace --children -p "$target" -d 4s -o "$W/t" --raw "$W/raw" --json
	took=$((($(now) - began) / 1000))
	want 0 3
	[ $took -le 7000 ] || die "-d 4s took $took ms"
	rm -f "$W"/t.*[1-9] # reads only a tenth of some hundreds
	all_strict 5
	says 'were not traced'
	background --children -p "$target" -o "$W/u"
	sleep 3
	began=$(now)
	kill -INT $tracer
	wait_end $tracer 60 || noisy "it did not end after SIGINT"
	took=$((($(now) - began) / 1000))
	want 0 3
	[ $took -le 3000 ] || die "SIGINT took $took ms"
	still_lives
	printf '; SIGINT %d ms' $took
}

# The process ends while gotrace starts, and its PID is reused at once: the new process must not be traced
# under the first one's name.
case_reused_pid() {
	local ms first again=0
	[ -w /proc/sys/kernel/ns_last_pid ] || skip "the kernel has no ns_last_pid"
	cat >"$W/second.c" <<-'CODE'
		#include <unistd.h>
		int main(void)
		{
			for (alarm(5);;)
				getppid();
		}
	CODE
	gcc -O2 -o "$W/second" "$W/second.c" || die "cannot build"
	for ((ms = 10; ms < 1500; ms = ms * 5 / 4 + 1)); do
		sleep 100 &
		first=$!
		background -p "$first" -d 300ms -o "$W/trace" --json
		sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
		kill -KILL $first
		wait $first 2>/dev/null
		echo $((first - 1)) >/proc/sys/kernel/ns_last_pid
		"$W/second" &
		target=$!
		wait_end $tracer 20 || die "gotrace does not end"
		kill -KILL $target
		[ $target = $first ] && again=$((again + 1))
		want 0 1 3
		[ $status -ne 1 ] || says 'no process has PID|is gone|is a zombie|has.* ended'
		[ $status -eq 1 ] || grep -q '"name":"second"' "$W/out" || [ "$(number events)" -lt 1000 ] ||
			die "the next process was traced as the first one after $ms ms"
		[ ! -s "$W/trace" ] || checked "$W/trace"
		rm -f "$W/trace"
	done
	[ $again -ge 5 ] || die "the PID was given again only $again times"
	printf '%d times the same PID' $again
}
