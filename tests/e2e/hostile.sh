# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Programs whose files and mappings are made to exhaust a tracer's memory and time. To be sourced after
# sandbox.sh and children.sh. ALL=1: each storm lasts ten minutes.

PRIVILEGED_MB=256
WORKER_MB=1024

storm_binary() {
	local binary=$E2E/storm
	if [ ! -x "$binary" ] || [ -n "$(find tests/e2e/hostile -newer "$binary")" ]; then
		gcc -std=gnu17 -Wall -Wextra -Werror -O2 -ffunction-sections -g -gdwarf-5 -o "$binary" tests/e2e/hostile/storm.c >&2 &&
			gcc -std=gnu17 -Wall -Wextra -Werror -O2 -g -fPIC -shared -o "$binary.so" tests/e2e/hostile/storm.c >&2 || return 1
	fi
	echo "$binary"
}

# start_storm MODE [FILE]: starts it as $target.
start_storm() {
	binary=$(storm_binary 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	start_target "$binary" "$@"
}

# peak PID: prints its peak memory use in MB; 0 if it is gone.
peak() {
	awk '/^VmHWM/ { n = $2 } END { print int(n / 1024) }' "/proc/$1/status" 2>/dev/null || echo 0
}

# watched SECONDS: waits until $tracer ends. Its memory and that of its workers must have been within limits.
watched() {
	local last=$((SECONDS + $1)) pid mb
	privileged=0 worker=0
	while kill -0 $tracer 2>/dev/null && [ $SECONDS -lt $last ]; do
		mb=$(peak $tracer)
		[ "${mb:-0}" -le $privileged ] || privileged=$mb
		for pid in $(workers); do
			mb=$(peak "$pid")
			[ "${mb:-0}" -le $worker ] || worker=$mb
		done
		sleep 0.2
	done
	[ $privileged -gt 0 ] && [ $worker -gt 0 ] || die "its memory could not be read"
	[ $privileged -lt $PRIVILEGED_MB ] || die "the privileged process took $privileged MB"
	[ $worker -lt $WORKER_MB ] || die "a worker took $worker MB"
	ends 1
	printf '%s and %s MB; ' $privileged $worker
}

# stormed SECONDS [OPTION...]: makes a trace of $target of this length, which must finish within 2 s more (and one to
# start), and be valid.
stormed() {
	local seconds=$1
	shift
	rm -f "$W/trace"
	background -p "$target" -d "${seconds}s" -o "$W/trace" "$@"
	watched $((seconds + 4))
	want 0
	strict "$W/trace"
	checked "$W/trace"
	still_lives
}

# bombed KIND [WORDS]: checks that a program with such sections (tests/unit/bomb.h) is traced like any other, and that
# the line about it has the words.
bombed() {
	make -s build/e2e/bombs >"$W/build" 2>&1 || die "cannot build: $(tail -n 3 "$W/build")"
	binary=$(storm_binary 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	cp "$binary" "$W/bomb"
	build/e2e/bombs "$1" "$W/bomb" 2>"$W/bombs.err" || die "cannot change it: $(cat "$W/bombs.err")"
	start_target "$W/bomb" work
	stormed 2
	[ -z "$2" ] || says "$W/bomb.*$2"
	[ "$(fact events)" -gt 100 ] || die "only $(fact events) events"
	stop_target
}

case_hostile_frame() { bombed frame; }
case_hostile_cie() { bombed cie '100000 frame descriptions are invalid'; }
case_hostile_cies() { bombed cies '100000 frame descriptions are invalid'; }
case_hostile_ranges() { bombed ranges 'some functions have no names or lines'; }
case_hostile_tables() { bombed tables 'some functions have no names or lines'; }
case_hostile_debug() { bombed debug 'the memory limit for names is reached'; }
case_hostile_lines() { bombed lines 'some functions have no names or lines'; }
case_hostile_attributes() { bombed attributes 'no line numbers'; }
case_hostile_strings() { bombed strings; }

# storm_seconds: prints the length of a storm.
storm_seconds() {
	[ "$ALL" = 1 ] && echo 600 || echo 20
}

case_hostile_touch() { # a file of 32 MB that is different each time
	cp "$(gcc -print-prog-name=cc1)" "$W/large" || skip "no large program"
	start_storm touch "$W/large"
	stormed "$(storm_seconds)"
	stop_target
}

case_hostile_copies() { # fresh copies of libc, with code that runs
	local PRIVILEGED_MB=100 # in 20 s; it must not grow
	start_storm copies "$W/libc-copy"
	stormed "$(storm_seconds)"
	stop_target
}

case_hostile_dlopen() {
	binary=$(storm_binary 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	cp "$binary.so" "$W/lib.so"
	start_storm dlopen "$W/lib.so"
	stormed "$(storm_seconds)"
	stop_target
}

case_hostile_mappings() { # nearly as many as the kernel allows
	cp "$(storm_binary)" "$W/mapped"
	start_storm mappings "$W/mapped"
	stormed 4
	stop_target
}

# stormed_tree MODE: the same for a process and its descendants, of which there are more than can be written.
stormed_tree() {
	local seconds
	seconds=$(storm_seconds)
	start_storm "$1"
	background --children -p "$target" -d "${seconds}s" -o "$W/t" -q
	watched $((seconds + 6))
	want 0 3
	[ "$(find "$W" -name '*.part' | wc -l)" -eq 0 ] || die "files of gotrace's own are left: $(ls -a "$W" | head -n 5)"
	find "$W" -name 't.*' | sort | awk 'NR > 400 && NR % 50' | xargs -r rm -f
	all_strict 2
	still_lives
	stop_target
}

case_hostile_forks() { stormed_tree forks; }
case_hostile_execs() { stormed_tree execs; }

case_hostile_flight() { # a recorder, which must survive
	start_storm copies "$W/libc-copy"
	mkdir "$W/dir"
	env --default-signal "$GOTRACE" flight -p "$target" -o "$W/dir" >"$W/out" 2>"$W/err" </dev/null &
	tracer=$!
	(sleep "$(storm_seconds)" && kill -INT $tracer) &
	watched $(($(storm_seconds) + 4))
	want 0
	still_lives
	stop_target
}
