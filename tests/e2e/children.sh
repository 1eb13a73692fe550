# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A process and its descendants (--children): a trace for each. To be sourced after native.sh.

# all_strict LEAST: every file $W/t.PID is valid, by gotrace and by Go's own reader (if there are many, some
# of them). There must be at least LEAST.
all_strict() {
	local file n=0
	for file in "$W"/t.*; do
		n=$((n + 1))
		checked "$file"
		[ "$n" -gt 20 ] && [ $((n % 20)) -ne 0 ] || strict "$file"
	done
	[ "$n" -ge "$1" ] || die "$n traces instead of $1: $(tail -n 5 "$W/err")"
	printf '%s files' "$n"
}

# summaries: checks that the objects of --json in $W/out are one per line, and one per file.
summaries() {
	local n files
	n=$(grep -c '^{' "$W/out")
	files=$(ls "$W"/t.* | wc -l)
	[ "$n" -eq "$files" ] || die "$n objects of --json for $files files"
	timeout 20 /usr/bin/python3 - "$W/out" "$W" >"$W/json.err" 2>&1 <<-'SCRIPT' || die "--json: $(tail -n 3 "$W/json.err")"
		import json, os, sys
		for line in open(sys.argv[1]):
		    if not line.startswith("{"):
		        continue
		    one = json.loads(line)
		    assert one["trace"].endswith("/t.%d" % one["target"]["pid"]), one["trace"]
		    assert os.path.getsize(one["trace"]) == one["bytes"], one["trace"]
		    assert one["events"] > 0 and one["end"] in ("exited", "stopped"), one
	SCRIPT
}

# named NAME: prints how many objects of --json are of processes with this final name.
named() {
	grep -c "\"name\":\"$1\"" "$W/out"
}

# shows FILE PATTERN: checks that the dump of the trace with stacks has such a line.
shows() {
	"$GOTRACE" dump --stacks "$1" >"$W/dump" 2>&1 || die "gotrace dump $1: $(tail -n 3 "$W/dump")"
	grep -qE -- "$2" "$W/dump" || die "no '$2' in $1"
}

case_children_script() { # a shell's pipelines: fork, exec, exit
	run_gotrace --children -o "$W/t" --json -- /bin/sh -c 'for i in 1 2 3; do ls / | wc; done'
	want 0
	all_strict 7
	summaries
	[ "$(named ls)" = 3 ] && [ "$(named wc)" = 3 ] && [ "$(named sh)" = 1 ] || die "names: $(grep -o '"name":"[^"]*"' "$W/out" | sort | uniq -c)"
}

case_children_names() { # the default names have the pids; without --json there is a line for each process
	cd "$W" || exit 1
	run_gotrace --children -- /bin/sh -c 'sleep 0.2; sleep 0.3'
	cd "$TOP" || exit 1
	want 0
	[ "$(ls "$W"/gotrace-*.trace | wc -l)" = 3 ] || die "files: $(ls "$W")"
	says 'wrote 3 traces'
	says 'sleep +1 '
	says 'program +/.*sh: exited with status 0'
	strict "$(ls "$W"/gotrace-*.trace | head -n 1)"
}

# Short-lived processes without an exec: complete lives, with the names of their parent's code.
case_children_storm() {
	local file
	cat >"$W/storm.c" <<-'CODE'
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		__attribute__((noinline)) static void short_life(int i)
		{
			for (volatile int k = 0; k < 1000 * i; k++)
				;
			usleep(500);
			close(-1);
		}
		int main(int argc, char **argv)
		{
			sleep(1);
			for (int i = 0; i < atoi(argv[argc - 1]); i++) {
				if (fork() == 0) {
					short_life(i % 7);
					_exit(0);
				}
			}
			while (wait(NULL) > 0)
				;
			return 0;
		}
	CODE
	gcc -O2 -o "$W/storm" "$W/storm.c" || die "cannot build"
	run_gotrace --children -o "$W/t" --json -- "$W/storm" 200
	want 0
	all_strict 201
	summaries
	grep -q '"end":"exited"' "$W/out" || die "nobody has exited"
	for file in $(ls -S "$W"/t.* | sed -n '2p;100p;200p'); do
		shows "$file" '(usleep|nanosleep) '
		grep -q 'short_life$' "$W/dump" || die "no short_life in $file"
		grep -q 'reason="sleep"' "$W/dump" || die "nobody sleeps in $file"
		grep -q 'GoDestroy' "$W/dump" || die "no end in $file"
	done
}

case_children_attach() { # existing processes, and new ones; one executes another program
	local file
	/bin/sh -c 'sh -c "while :; do /bin/sleep 0.3; done" & sh -c "sleep 1.5; exec /bin/sleep 30" & echo ready; wait' \
		>"$W/target.out" 2>"$W/target.err" </dev/null &
	target=$!
	sleep 0.5
	run_gotrace --children -p "$target" -d 2500ms -o "$W/t" --raw "$W/raw" --json
	want 0
	all_strict 8
	summaries
	[ -s "$W/t.$target" ] || die "no trace of the process itself"
	[ "$(named sleep)" -ge 5 ] || die "names: $(grep -o '"name":"[^"]*"' "$W/out" | sort | uniq -c)"
	for file in $(pgrep -P "$target"); do
		[ -s "$W/t.$file" ] || die "no trace of $file"
	done
	shows "$W/t.$target" 'sigsuspend|wait4'
	for file in "$W"/raw.*; do
		"$GOTRACE" replay -q "$file" -o "$W/again" || die "replay of $file"
		cmp -s "$W/again" "$W/t.${file##*.}" || die "the raw log $file does not give its trace again"
	done
	kill $(pgrep -P "$target") "$target" 2>/dev/null
}

# Processes that end while the probes are being attached: a raw log exists only with its trace, and reproduces it.
case_children_ended_early() {
	local file round busy=""
	/bin/sh -c 'while :; do /bin/sleep 0.02; done' </dev/null >/dev/null 2>&1 &
	target=$!
	for round in 1 2 3; do
		sh -c 'while :; do :; done' &
		busy="$busy $!"
	done
	for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
		run_gotrace --children -p "$target" -d 300ms -o "$W/t" --raw "$W/raw" --json
		want 0
		summaries
		for file in "$W"/raw.*; do
			[ -e "$W/t.${file##*.}" ] || die "round $round: $file has no trace"
			"$GOTRACE" replay -q "$file" -o "$W/again" || die "replay of $file"
			cmp -s "$W/again" "$W/t.${file##*.}" || die "the raw log $file does not give its trace again"
		done
		rm -f "$W"/raw.* "$W"/t.*
	done
	kill $busy "$target"
}

case_children_killed() { # gotrace is killed: the files are there, and the target is undisturbed
	/bin/sh -c 'while :; do /bin/sleep 0.1; done' </dev/null >/dev/null 2>&1 &
	target=$!
	background --children -p "$target" -d 20s -o "$W/t"
	sleep 3.5
	kill -KILL $tracer
	wait $tracer 2>/dev/null
	kill -0 "$target" || die "the target died"
	[ "$(ls "$W"/t.* | wc -l)" -gt 10 ] || die "only $(ls "$W"/t.* | wc -l) files"
	"$GOTRACE" check --repair "$W/t.$target" >"$W/check.out" 2>&1
	status=$?
	want 0 3
	strict "$W/t.$target"
	kill "$target"
}

# tree_ms: prints the CPU time of the process tree of $target so far, with that of children that were reaped.
tree_ms() {
	cat "/proc/$target/stat" $(pgrep -P "$target" | sed 's,.*,/proc/&/stat,') 2>/dev/null |
		awk '{sub(/.*\) /, ""); ms += ($12 + $13 + $14 + $15) * 10} END {print ms}'
}

case_children_max_overhead() { # one limit for all processes; the traces mark the gaps
	local before cost binary file
	binary=$(ctarget default 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	/bin/sh -c "'$binary' pipe -seconds 60 & '$binary' pipe -seconds 60 & while :; do /bin/sleep 0.05; done" \
		>"$W/target.out" 2>"$W/target.err" </dev/null &
	target=$!
	sleep 0.5
	before=$(tree_ms)
	run_gotrace --children -p "$target" -d 8s --max-overhead 1 -o "$W/t" --json
	before=$(($(tree_ms) - before))
	want 0
	all_strict 10
	summaries
	cost=$(/usr/bin/python3 -c 'import json, sys
print(sum(one["hits"] * one["hit_ns"] for one in map(json.loads, open(sys.argv[1]))) // 1000000)' "$W/out")
	[ $((cost * 100)) -le $((before * 2)) ] || noisy "hits took $cost of $before ms of CPU, 1 % was allowed"
	for file in $(pgrep -P "$target" -f "$binary"); do
		shows "$W/t.$file" 'not watched from here on: over --max-overhead'
	done
	kill $(pgrep -P "$target" -f "$binary") "$target"
	printf '; %s of %s ms' "$cost" "$before"
}

case_children_refused() { # impossible combinations
	run_gotrace --children -o - -- /bin/true
	want 2
	one_line
	run_gotrace --children --as go -- /bin/true
	want 2
	one_line
	run_gotrace --children -o "$W/no/where" -- /bin/true
	want 1
	one_line
}

case_children_postgres() { # the server and all its processes, including those that it starts for pgbench
	local bin file n backends=0
	start_postgres 1
	target=$(head -n 1 "$public/data/postmaster.pid")
	cd "$TOP" || exit 1
	background --children -p "$target" -d 4s -o "$W/t" --json
	sleep 1.5
	"$bin/pgbench" -h "$public" -U postgres -c 4 -T 1 postgres >"$W/load.out" 2>&1 </dev/null || die "pgbench: $(tail -n 3 "$W/load.out")"
	ends 30
	want 0
	kill -INT "$target"
	all_strict 9
	summaries
	for file in "$W"/t.*; do
		"$GOTRACE" dump --stacks "$file" >"$W/dump" 2>&1 || die "gotrace dump $file"
		grep -q PostgresMain "$W/dump" && backends=$((backends + 1))
	done
	[ $backends -ge 5 ] || die "$backends backends instead of 5"
	printf '; %s backends' "$backends"
	waits_for test ! -e "$public/data/postmaster.pid"
}
