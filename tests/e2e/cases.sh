# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# One function per case: how gotrace behaves when things go right, go wrong, or disappear. To be sourced after
# lib.sh. Every case has its own directory, $W.

NOBODY=65534

load() { # MODE ARG...: starts the newest release's target
	start_target "$(target_binary $NEWEST default)" "$@" -seconds ${LOAD_SECONDS:-100}
}

as_nobody() {
	setpriv --reuid=$NOBODY --regid=$NOBODY --clear-groups --inh-caps=-all --bounding-set=-all "$@"
}

# public_copy: makes a copy of gotrace that nobody may run, wherever the repo is.
public_copy() {
	public=$(mktemp -d /tmp/gotrace-test-XXXXXX)
	trap 'rm -rf "$public"; kill -KILL $(jobs -p) 2>/dev/null' EXIT
	chmod 777 "$public"
	cp "$GOTRACE" "$public/gotrace"
	chmod 755 "$public/gotrace"
}

# background ARG...: starts gotrace in the background, as $tracer.
background() {
	# The shell starts background programs with SIGINT ignored.
	env --default-signal "$GOTRACE" "$@" >"$W/out" 2>"$W/err" </dev/null &
	tracer=$!
}

# begun FILE: waits until $tracer writes to the file, which is when every probe is attached.
begun() {
	local i
	for ((i = 0; i < 200; i++)); do
		[ -e "$1" ] && return
		sleep 0.1
	done
	noisy "gotrace did not begin within 20 s: $(tail -n 3 "$W/err")"
}

# trace_while SIGNAL LINE FILE OPTION...: traces $target from before it gets the signal until it has printed the line.
trace_while() {
	local signal=$1 line=$2 file=$3 tracer i
	shift 3
	rm -f "$file"
	# The shell starts background programs with SIGINT ignored.
	env --default-signal "$GOTRACE" -p "$target" "$@" -o "$file" >"$W/out" 2>"$W/err" </dev/null &
	tracer=$!
	begun "$file"
	kill -"$signal" "$target"
	for ((i = 0; i < 300; i++)); do
		grep -q "$line" "$W/target.out" && break
		sleep 0.1
	done
	sleep 0.2
	kill -INT $tracer 2>/dev/null
	wait_end $tracer 60 || noisy "; gotrace did not end after SIGINT"
	[ "$status" -eq 0 ] || die "; gotrace ended with $status: $(tail -n 3 "$W/err")"
	grep -q "$line" "$W/target.out" || die "; the target did not print '$line'"
	strict "$file"
}

# refused WORDS [OPTION...]: $target is not traced, one line says why, and no file is left.
refused() {
	local words=$1
	shift
	run_gotrace -p "$target" -d 1s -o "$W/trace" "$@"
	want 1
	one_line
	says "$words"
	[ ! -e "$W/trace" ] || die "a file was left behind"
}

# only_threads WORDS: $target is refused, but traced as threads.
only_threads() {
	refused "$1"
	run_gotrace -p "$target" --as c -d 1s -o "$W/trace"
	want 0
	strict "$W/trace"
}

# ends SECONDS: waits for $tracer to end by itself; its status is in $status.
ends() {
	wait_end $tracer "$1" || noisy "gotrace did not end within $1 s"
	[ "$status" -lt 126 ] || die "gotrace crashed with status $status: $(tail -n 3 "$W/err")"
}

still_lives() { # checks that the target goes on undisturbed
	kill -0 "$target" 2>/dev/null || die "the target died: $(tail -n 3 "$W/target.err")"
	[ ! -s "$W/target.err" ] || die "the target complained: $(head -n 3 "$W/target.err")"
}

# --- options and refusals ---

case_usage() {
	local args
	while read -r args; do
		run_gotrace $args
		[ $status -eq 2 ] || die "gotrace $args: exit status $status instead of 2: $(head -n 2 "$W/err")"
		[ -s "$W/err" ] || die "gotrace $args: nothing on standard error"
		[ "$(grep -c . "$W/err")" -le 3 ] || die "gotrace $args: more than a line or two: $(head -n 4 "$W/err")"
	done <<-'LIST'

		-p
		-p abc
		-p 0
		-p -5
		-p 12abc
		-p 99999999999999999999
		-p 1 -d 12abc
		-p 1 -d -5s
		-p 1 -d 0
		-p 1 -d
		-p 1 -d 99999999999999999999h
		-p 1 --max-size 12q
		-p 1 --max-size -1
		-p 1 --ring-size x
		-p 1 --ring-size 1
		-p 1 --rings 0
		-p 1 --rings 65
		-p 1 --rings two
		-p 1 --format 1.99
		-p 1 --format nonsense
		-p 1 --no-such-option
		-p 1 stray
		-p 1 -- true
		-p 1 -o - --json
		-p 1 -o /tmp/same --raw /tmp/same
		--
		replay
		replay -o
		check
	LIST
	run_gotrace --version
	want 0
	grep -q gotrace "$W/out" || die "--version does not name the program"
	run_gotrace --help
	want 0
}

case_help() { # names every command, each of which has a help of its own
	local name
	run_gotrace --help
	want 0
	cp "$W/out" "$W/help"
	for name in $(sed -n 's/^\t{"\([a-z]*\)", command_.*/\1/p' src/cli/commands.c); do
		[ "$name" = record ] || grep -qE "^(Usage:| +) gotrace ([a-z]+ \| )*$name |\| $name( |$)" "$W/help" ||
			die "gotrace --help does not name $name"
		run_gotrace "$name" --help
		want 0
		grep -q '^Usage: gotrace' "$W/out" || die "gotrace $name --help has no usage"
		cp "$W/out" "$W/its"
		run_gotrace help "$name"
		want 0
		cmp -s "$W/out" "$W/its" || die "gotrace help $name is not its --help"
	done
	run_gotrace help
	want 0
	cmp -s "$W/out" "$W/help" || die "gotrace help is not gotrace --help"
	[ -n "$name" ] || die "no commands found in src/cli/commands.c"
	[ "$(wc -l <"$W/help")" -le 60 ] && [ "$(wc -L <"$W/help")" -le 80 ] || die "gotrace --help does not fit a screen"
	grep -q 'gotrace COMMAND --help' "$W/help" || die "gotrace --help does not say that commands have a help"
}

case_sites() { # each site has a name of its own
	local release
	for release in $NEWEST 1.20.14 1.16.15; do
		start_target "$(target_binary $release default)" pool -seconds 100
		run_gotrace sites -p "$target"
		want 0
		! grep ' other 0x' "$W/out" || die "go$release: a site has no name"
		[ $release = $NEWEST ] || grep -q ' assist_end 0x' "$W/out" || die "go$release: no site assist_end"
		stop_target
	done
}

case_no_such_pid() {
	true &
	wait $!
	run_gotrace -p $! -d 1s -o "$W/trace"
	want 1
	one_line
	says "$!"
	[ ! -e "$W/trace" ] || die "left a file"
}

case_zombie() {
	sh -c 'true & exec sleep 30' &
	local parent=$! zombie=
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		zombie=$(ps -o pid=,stat= --ppid $parent | awk '$2 ~ /^Z/ {print $1}')
		[ -n "$zombie" ] && break
		sleep 0.2
	done
	[ -n "$zombie" ] || die "got no zombie"
	run_gotrace -p "$zombie" -d 1s -o "$W/trace"
	want 1
	one_line
}

case_not_go() {
	sleep 60 &
	run_gotrace -p $! --as go -d 1s -o "$W/trace"
	want 1
	one_line
	says 'Go'
	run_gotrace -p 2 -d 1s -o "$W/trace" # a kernel thread
	want 1
	one_line
	[ ! -e "$W/trace" ] || die "left a file"
}

case_no_privilege() {
	load idle
	public_copy
	(cd "$public" && timeout 30 setpriv --reuid=$NOBODY --regid=$NOBODY --clear-groups --inh-caps=-all \
		--bounding-set=-all ./gotrace -p "$target" -d 1s -o "$public/trace") >"$W/out" 2>"$W/err" </dev/null
	status=$?
	want 1
	one_line
	says 'root|sudo|cap_|capabilit|permi'
	# A process of the same user, without capabilities.
	cp "$(target_binary $NEWEST default)" "$public/target"
	as_nobody "$public/target" idle -seconds 30 >"$W/own.out" 2>&1 &
	local own=$!
	sleep 1
	as_nobody timeout 30 "$public/gotrace" -p $own -d 1s -o "$public/trace" >"$W/out" 2>"$W/err" </dev/null
	status=$?
	want 1
	one_line
	says 'root|sudo|cap_|capabilit'
	[ ! -e "$public/trace" ] || die "left a file"
	still_lives
}

case_no_btf() {
	load idle
	timeout 60 unshare -m sh -c "mount --bind /dev/null /sys/kernel/btf/vmlinux && exec \"$GOTRACE\" -p $target -d 1s -o \"$W/trace\"" \
		>"$W/out" 2>"$W/err" </dev/null
	status=$?
	want 1
	one_line
	says 'BTF'
	still_lives
}

case_unknown_release() {
	cp "$(target_binary $NEWEST stripped)" "$W/future"
	LC_ALL=C sed -i "s/go$NEWEST/go1.99.8/g" "$W/future"
	start_target "$W/future" idle -seconds 60
	run_gotrace -p "$target" -d 1s -o "$W/trace"
	want 0
	says 'this release \(go1\.99\.8\) is not verified: the layouts of Go 1\.27 fit'
	strict "$W/trace"
	still_lives
}

case_bad_executable() { # CMD is not a program, does not exist, or is a broken ELF file
	run_gotrace -o "$W/trace" -- /nonexistent/program
	want 1
	one_line
	run_gotrace -o "$W/trace" -- "$TOP/README.md"
	want 1
	head -c 300000 "$(target_binary $NEWEST default)" >"$W/torn"
	chmod 755 "$W/torn"
	run_gotrace -o "$W/trace" -- "$W/torn"
	want 1
	one_line
	run_gotrace --as go -o "$W/trace" -- /bin/sleep 1
	want 1
	says 'Go'
	[ ! -s "$W/trace" ] || die "left a file"
}

case_output_unwritable() {
	load idle
	run_gotrace -p "$target" -d 1s -o /nonexistent/directory/trace
	want 1
	one_line
	says '/nonexistent/directory'
	run_gotrace -p "$target" -d 1s -o "$W"
	want 1
	run_gotrace -p "$target" -d 1s -o "$W/trace" --raw /nonexistent/directory/raw
	want 1
	one_line
	still_lives
}

# --- the file ---

case_default_name() { # two in the same second must not collide
	load pool
	local a b
	mkdir "$W/dir"
	(cd "$W/dir" && exec timeout 60 "$GOTRACE" -p "$target" -d 1s >"$W/out" 2>"$W/err" </dev/null) &
	a=$!
	(cd "$W/dir" && exec timeout 60 "$GOTRACE" -p "$target" -d 1s >"$W/out2" 2>"$W/err2" </dev/null) &
	b=$!
	wait $a
	status=$?
	want 0
	wait $b || [ "$(find "$W/dir" -type f | wc -l)" -eq 1 ] || die "the second failed and left a file"
	local file files=0
	for file in "$W"/dir/*; do
		case ${file##*/} in
		gotrace-$target-*.trace) ;;
		*) die "a file named ${file##*/}" ;;
		esac
		[ "$(stat -c %a "$file")" = 600 ] || die "mode $(stat -c %a "$file") instead of 600"
		strict "$file"
		files=$((files + 1))
	done
	[ $files -ge 1 ] || die "no file"
	still_lives
}

case_owner() {
	load pool
	mkdir "$W/dir"
	chown $NOBODY:$NOBODY "$W/dir"
	SUDO_UID=$NOBODY SUDO_GID=$NOBODY run_gotrace -p "$target" -d 1s -o "$W/dir/trace" --raw "$W/dir/raw"
	want 0
	local file
	for file in trace raw; do
		[ "$(stat -c %a:%u:%g "$W/dir/$file")" = "600:$NOBODY:$NOBODY" ] ||
			die "$file is $(stat -c %a:%u:%g "$W/dir/$file") instead of 600:$NOBODY:$NOBODY"
	done
	strict "$W/dir/trace"
}

case_replaces() { # -o FILE replaces what was there
	load pool
	head -c 5000000 /dev/zero >"$W/trace"
	run_gotrace -p "$target" -d 1s -o "$W/trace"
	want 0
	strict "$W/trace"
}

case_symlink() {
	load pool
	local option
	for option in -o --raw; do
		echo precious >"$W/victim"
		rm -f "$W/link"
		ln -s "$W/victim" "$W/link"
		if [ $option = -o ]; then
			run_gotrace -p "$target" -d 500ms -o "$W/link"
		else
			run_gotrace -p "$target" -d 500ms -o "$W/trace" --raw "$W/link"
		fi
		[ "$(cat "$W/victim")" = precious ] || die "$option wrote through a symlink"
		if [ $status -eq 0 ]; then
			[ -L "$W/link" ] && die "$option: status 0, but the link is still there"
			[ -s "$W/link" ] || die "$option: status 0, but no file"
		else
			want 1
			one_line
		fi
		# A link to a missing file must not create that file.
		rm -f "$W/link" "$W/nowhere"
		ln -s "$W/nowhere" "$W/link"
		if [ $option = -o ]; then
			run_gotrace -p "$target" -d 500ms -o "$W/link"
		else
			run_gotrace -p "$target" -d 500ms -o "$W/trace" --raw "$W/link"
		fi
		[ ! -e "$W/nowhere" ] || die "$option made a file through a symlink"
	done
	still_lives
}

case_stdout() {
	load pool
	run_gotrace -p "$target" -d 1500ms -o -
	want 0
	strict "$W/out"
	[ -s "$W/err" ] || die "no summary on standard error"
	timeout 30 sh -c "\"$GOTRACE\" -p $target -d 3s -o - 2>\"$W/err\" </dev/null | head -c 1000 >/dev/null" ||
		die "a reader that goes away makes it hang"
	still_lives
}

case_max_size() {
	load pingpong -count 4
	background -p "$target" -d 60s -o "$W/trace" --max-size 2000000
	ends 40
	want 3
	strict "$W/trace"
	[ "$(stat -c %s "$W/trace")" -le 12000000 ] || die "$(stat -c %s "$W/trace") bytes, 2000000 were allowed"
	still_lives
}

case_disk_full() {
	load pingpong -count 2
	mkdir "$W/small"
	mount -t tmpfs -o size=4m tmpfs "$W/small" || die "cannot mount a tmpfs"
	trap 'kill -KILL $(jobs -p) 2>/dev/null; sleep 0.2; umount -l "$W/small"' EXIT
	background -p "$target" -d 40s -o "$W/small/trace"
	ends 60
	want 3
	says 'space'
	strict "$W/small/trace"
	# What is said is said of the file, which ends earlier than the recording.
	"$GOTRACE" report --json "$W/small/trace" >"$W/report.json" || die "cannot report: $(cat "$W/report.json")"
	python3 - "$W/report.json" "$W/err" <<-'END' || die "the summary is not that of the file: $(head -n 8 "$W/err" | tr '\n' ';')"
		import json, re, sys
		trace = json.load(open(sys.argv[1]))["trace"]
		said = open(sys.argv[2]).read()
		value, unit = re.search(r"wrote .*: ([0-9.]+) (m?s),", said).groups()
		end = re.search(r"goroutines .*, ([0-9,]+) at the end", said).group(1)
		length = float(value) * (1e9 if unit == "s" else 1e6)
		sys.exit(abs(length - trace["duration_ns"]) > 0.01 * length or int(end.replace(",", "")) != trace["alive_at_end"])
	END
	still_lives
	# The raw log's disk is full: the trace goes on to its end, and the log is reported as partial.
	rm -f "$W/small/trace"
	background -p "$target" -d 4s -o "$W/trace" --raw "$W/small/raw"
	ends 60
	want 3
	says 'the raw log is not complete: cannot write .*/small/raw: No space left on device'
	says 'raw log .*/small/raw, .*; not complete'
	strict "$W/trace"
	[ "$(fact milliseconds)" -ge 3500 ] || die "the trace ends after $(fact milliseconds) ms"
	run_gotrace replay -q -o "$W/again" "$W/small/raw"
	want 3
	says 'the raw log ends early'
	strict "$W/again"
	still_lives
	"$GOTRACE" --help >/dev/full 2>"$W/err" && die "--help is lost, and the status is 0"
	says 'cannot write to standard output: No space left on device'
}

case_removed() { # a trace that somebody removes is lost, and one that is renamed is not
	load pool
	background -p "$target" -o "$W/trace" -d 40s
	begun "$W/trace"
	rm "$W/trace"
	kill -INT $tracer
	ends 20
	want 1
	says 'trace was removed while gotrace wrote it: what was recorded is lost'
	background -p "$target" -o "$W/trace" -d 40s
	begun "$W/trace"
	mv "$W/trace" "$W/other"
	kill -INT $tracer
	ends 20
	want 0
	strict "$W/other"
	still_lives
}

# --- the end of a run ---

case_signals() {
	load pool
	local signal
	for signal in INT TERM HUP; do
		background -p "$target" -o "$W/trace-$signal"
		begun "$W/trace-$signal"
		sleep 1
		kill -$signal $tracer
		ends 20
		want 0
		strict "$W/trace-$signal"
		[ "$(fact milliseconds)" -ge 500 ] || die "SIG$signal: only $(fact milliseconds) ms in the trace"
		checked "$W/trace-$signal"
	done
	still_lives
}

case_interrupted_twice() {
	load pingpong -count 2
	local pause
	for pause in 0 0.02 0.2; do
		rm -f "$W/trace"
		background -p "$target" -o "$W/trace"
		begun "$W/trace"
		sleep 1
		kill -INT $tracer
		sleep $pause
		kill -INT $tracer 2>/dev/null
		ends 15
		want 0 1 3
		if [ "$status" -ne 1 ]; then
			strict "$W/trace"
		fi
	done
	still_lives
}

case_killed() { # kill -9 of gotrace: whole generations are kept, the target goes on
	load pool
	background -p "$target" -o "$W/trace" --raw "$W/raw"
	sleep 4.5
	kill -KILL $tracer
	wait $tracer 2>/dev/null
	sleep 0.5
	still_lives
	cp "$W/trace" "$W/torn"
	timeout 60 "$GOTRACE" check --repair "$W/torn" >"$W/out" 2>"$W/err" || die "check --repair: $(tail -n 2 "$W/err")"
	strict "$W/torn"
	[ "$(fact milliseconds)" -ge 1500 ] || die "only $(fact milliseconds) ms of 4500 survived"
	run_gotrace replay "$W/raw" -o "$W/replayed"
	want 3
	strict "$W/replayed"
	# A second gotrace finds the target intact.
	run_gotrace -p "$target" -d 1s -o "$W/again"
	want 0
	strict "$W/again"
}

# target_ends HOW PATTERN: the target ends in this way, and the message must match.
target_ends() {
	load pool -then "$1"
	stop_target
	start_target "$(target_binary $NEWEST default)" pool -seconds 3 -then "$1"
	background -p "$target" -d 60s -o "$W/trace"
	ends 25
	want 0 3
	says "$2"
	strict "$W/trace"
	[ "$(fact milliseconds)" -ge 500 ] || die "only $(fact milliseconds) ms in the trace"
	checked "$W/trace"
}

# The process ends at various times while gotrace starts: the message must say so, instead of reporting a failed
# operation.
case_ended_early() {
	local ms
	for ((ms = 40; ms < 3000; ms = ms * 6 / 5)); do
		load idle
		(sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))" && kill -KILL "$target") &
		run_gotrace -p "$target" -d 2s -q -o "$W/trace"
		[ $status -eq 1 ] || break
		grep -q 'No such process' "$W/err" && die "killed after $ms ms: $(tail -n 1 "$W/err")"
		says 'no process has PID|is gone|is a zombie|has ended'
	done
	want 0 3
	strict "$W/trace"
}

case_target_exits() { target_ends exit 'exit|ended'; }
case_target_crashes() { target_ends crash 'exit|ended|killed'; }
case_target_killed() { target_ends kill 'exit|ended|killed'; }
case_target_execs() { target_ends exec 'exec|replaced|another program'; }

case_target_stopped() { # SIGSTOP in the middle
	load pool
	background -p "$target" -d 4s -o "$W/trace"
	begun "$W/trace"
	kill -STOP "$target"
	sleep 1
	kill -CONT "$target"
	ends 20
	want 0
	strict "$W/trace"
	still_lives
	kill -STOP "$target"
	run_gotrace -p "$target" -d 500ms -q -o "$W/still"
	want 0
	says "PID $target is stopped, by a signal or a debugger"
	kill -CONT "$target"
}

# --- odd targets ---

case_deleted_executable() {
	cp "$(target_binary $NEWEST default)" "$W/gone"
	start_target "$W/gone" pool -seconds 60
	rm "$W/gone"
	run_gotrace -p "$target" -d 1s -o "$W/trace"
	want 0
	strict "$W/trace"
	still_lives
}

case_replaced_executable() {
	cp "$(target_binary $NEWEST default)" "$W/program"
	start_target "$W/program" pool -seconds 60
	cp "$(target_binary 1.24.6 default)" "$W/new"
	mv "$W/new" "$W/program"
	run_gotrace -p "$target" -d 1s -o "$W/trace"
	want 0
	strict "$W/trace"
	[ "$(fact 'func main.pool.func1')" -ge 1 ] || die "functions are not those of the running program"
	still_lives
}

case_odd_path() { # blanks, a quote, letters beyond ASCII
	mkdir "$W/a 'b\" ü"
	cp "$(target_binary $NEWEST default)" "$W/a 'b\" ü/prog ram"
	start_target "$W/a 'b\" ü/prog ram" pool -seconds 60
	run_gotrace -p "$target" -d 1s -o "$W/trace" --json
	want 0
	"$JUDGE" json "$W/out" >/dev/null 2>"$W/json.err" || die "--json: $(cat "$W/json.err")"
	strict "$W/trace"
}

case_two_at_once() {
	load pool
	background -p "$target" -d 3s -o "$W/a"
	sleep 0.7
	timeout 60 "$GOTRACE" -p "$target" -d 1s -o "$W/b" >"$W/out2" 2>"$W/err2" </dev/null || die "the second: $(tail -n 2 "$W/err2")"
	ends 20
	want 0
	strict "$W/a"
	strict "$W/b"
	still_lives
}

case_two_processes() { # two processes of one program: the other one must not be traced
	load churn
	local other=$target
	load pool
	run_gotrace -p "$target" -d 1500ms -o "$W/trace"
	want 0
	strict "$W/trace"
	[ "$(fact 'func main.churn.func1.1')" -eq 0 ] || die "goroutines of another process are in the trace"
	kill $other
}

case_short() {
	load pool
	run_gotrace -p "$target" -d 300ms -o "$W/trace"
	want 0
	strict "$W/trace"
	checked "$W/trace"
}

# --- working options ---

case_tiny_ring() { # a full ring: reported and counted as not watched, not as a loss; with --detail=exact the status is 3
	load pingpong -count 8 -procs 8
	run_gotrace -p "$target" -d 3s -o "$W/trace" --ring-size 65536 --max-overhead none --json
	want 0
	[ "$(number lost.ring_full)" -eq 0 ] || noisy "ring full: $(number lost.ring_full)"
	[ "$(number not_watched_ns)" -gt 0 ] || die "nothing that was not watched with such a ring"
	says 'not watched: '
	strict "$W/trace"
	checked "$W/trace"
	run_gotrace -p "$target" -d 2s -o "$W/trace" --ring-size 65536 --detail=exact
	want 3
	says 'not watched: .* --detail=exact was given'
	strict "$W/trace"
	checked "$W/trace"
	still_lives
	# The file's name has the PID, and so have the commands that the report suggests.
	cp "$W/trace" "$W/gotrace-$target-1.trace"
	"$GOTRACE" report --all "$W/gotrace-$target-1.trace" >"$W/report" 2>"$W/err" || die "no report"
	grep -q "> gotrace -p $target " "$W/report" || die "a command without the PID: $(grep '> gotrace -p' "$W/report")"
}

case_ring_recovers() { # a small ring beside a saturated program: what it cannot hold is a part, not nearly all of the time
	start_target "$(target_binary $NEWEST default)" full-pingpong -count 32 -seconds 100
	run_gotrace -p "$target" -d 6s -o "$W/trace" --rings 1 --ring-size 1M --max-overhead none --json
	want 0
	local watched
	watched=$((100 - 100 * $(number not_watched_ns) / $(number duration_ns)))
	[ $watched -ge 50 ] || noisy "only $watched % of the time was watched"
	strict "$W/trace"
	checked "$W/trace"
	still_lives
	printf '%d %% watched, %d hits' $watched "$(number hits)"
}

case_repaired() { # events that were made up are counted on the terminal, in JSON, in the trace and in its report
	local n
	load pingpong -count 8 -procs 8
	run_gotrace -p "$target" -d 2s -o "$W/live" --raw "$W/raw" --ring-size 65536 --max-overhead none
	want 0 3
	run_gotrace replay "$W/raw" -o "$W/trace" --json
	n=$(number repaired)
	[ "$n" -gt 0 ] || die "nothing was repaired with such a ring"
	run_gotrace replay "$W/raw" -o "$W/trace"
	tr -d , <"$W/err" | grep -q "^  repaired    $n of [0-9]* events: they were not seen" ||
		die "the summary does not say that $n events were repaired: $(grep repaired "$W/err")"
	! grep -q 'nothing lost' "$W/err" || die "$n events were repaired, and nothing lost"
	run_gotrace report "$W/trace" --json
	[ "$(number trace.repaired)" -eq "$n" ] || die "$n events were repaired, $(number trace.repaired) by the report"
	strict "$W/trace"
	checked "$W/trace"
	still_lives
}

case_rings() { # several rings are merged into what one would have contained
	local look="--rings 2"
	start_target "$(target_binary $NEWEST default)" mixed -native "$W/native" -native-seconds 2 -seconds 100
	trace_cell mixed $NEWEST no
	twin_cell mixed 1000
	# Too small for the load: the losses of each kind are counted.
	run_gotrace -p "$target" $look --ring-size 128k -d 2s -o "$W/tiny"
	want 0 3
	strict "$W/tiny"
	stop_target
	load pingpong -count 4
	run_gotrace -p "$target" $look --detail=exact --ring-size 64k -d 2s -o "$W/tiny" --raw "$W/raw" --json
	want 3
	[ "$(number not_watched_ns)" -gt 0 ] || die "status 3, but not_watched_ns is 0"
	strict "$W/tiny"
	local late
	late=$(number late) || die "the JSON summary has no number of late records"
	run_gotrace replay "$W/raw" -o "$W/again" --json
	[ "$(number late)" = "$late" ] || die "$late late records live, and $(number late) in the raw log"
	printf ', %d late' "$late"
	still_lives
}

# many_goroutines COUNT: takes snapshots of that many goroutines, one after each of several gaps. All of them are in
# each snapshot, none is lost in the trace or ended, and every hit arrives.
many_goroutines() {
	local i
	LOAD_SECONDS=300 load parked -count "$1"
	rm -f "$W/trace"
	background -p "$target" -d 15s -o "$W/trace" --raw "$W/raw" --json
	begun "$W/trace"
	for i in 1 2 3 4; do
		sleep 1.5
		kill -STOP $tracer
		sleep 1.6 # longer than the lease: the buffers need not be full
		kill -CONT $tracer
	done
	ends 90
	want 0
	python3 tests/e2e/log_whole.py "$W/raw" "$1" >"$W/whole" 2>&1 || die "$1 goroutines: $(tail -n 1 "$W/whole")"
	strict "$W/trace"
	[ "$(fact goroutines)" -ge "$1" ] || die "$(fact goroutines) of $1 goroutines"
	[ "$(fact 'go Waiting->NotExist')" -eq 0 ] || die "$(fact 'go Waiting->NotExist') goroutines ended"
	[ "$(number goroutines_at_end)" -ge "$1" ] || die "$(number goroutines_at_end) of $1 goroutines at the end"
	[ "$(number not_watched_ns)" -gt 0 ] || noisy "no gap"
	printf '%s goroutines: %s; ' "$1" "$(cat "$W/whole")"
	still_lives
	stop_target
}

case_many_goroutines() { # more snapshots of them than the log's queue keeps memory for
	many_goroutines 300000
	many_goroutines 262000 # the last record with goroutines crosses the limit of that memory
}

case_formats() {
	load mixed
	local format
	for format in 1.22 1.23 1.25 1.26; do
		run_gotrace -p "$target" -d 1200ms -o "$W/trace" --format $format
		want 0
		[ "$(head -c 13 "$W/trace")" = "go $format trace" ] || die "--format $format: header $(head -c 16 "$W/trace")"
		strict "$W/trace"
		checked "$W/trace"
	done
	for format in v0 1.5 1.7 1.8 1.9 1.10 1.11 1.19 1.21; do
		run_gotrace -p "$target" -d 1200ms -o "$W/trace" --format $format
		want 0
		[ "$(head -c 7 "$W/trace")" = gotrace ] || [ "$(head -c $((9 + ${#format})) "$W/trace")" = "go $format trace" ] ||
			die "--format $format: header $(head -c 16 "$W/trace")"
		case $format in # how to open it
		v0) says 'No release of Go can open this format' ;;
		1.5) says "Go 1.5 to 1.22:  go tool trace BINARY $W/trace" ;;
		1.7 | 1.8 | 1.9 | 1.10) says "Go $format to 1.22:  go tool trace $W/trace" ;;
		*) says "Go $format or newer:  go tool trace $W/trace" ;;
		esac
		checked "$W/trace"
		flat "$format" "$W/trace"
	done
	still_lives
}

# flat FORMAT FILE: checks that that format's own readers accept the file.
flat() {
	case $1 in
	v0) timeout 60 "$JUDGE" v0 "$2" >"$W/flat" 2>&1 || die "$(tail -n 1 "$W/flat")" ;;
	1.11 | 1.19 | 1.21) strict "$2" ;;
	esac
}

# old_viewers FORMAT: prints the releases whose viewers must serve it.
old_viewers() {
	case $1 in
	1.5) echo 1.5.4 1.6.4 ;;
	1.7) echo 1.7.6 ;;
	1.8) echo 1.8.7 ;;
	1.9) echo 1.9.7 ;;
	1.10) echo 1.10.8 ;;
	1.11) echo 1.11.13 1.16.15 ;;
	1.19) echo 1.19.13 ;;
	1.21) echo 1.21.13 ;;
	esac
}

# served FORMAT ROWS FILE BINARY: checks that the viewers of that format's own releases serve the file, and the newest
# viewer if it can.
served() {
	local release also=()
	for release in $(old_viewers "$1"); do
		[ "$1" = 1.5 ] && also=(-binary "$4")
		timeout 200 "$JUDGE" pages -goroot "$(go_root "$release")" -rows "$2" "${also[@]}" "$3" >"$W/pages" 2>&1 ||
			die "viewer of go$release, format $1: $(tail -c 600 "$W/pages")"
	done
	case $1 in
	1.11 | 1.19 | 1.21)
		(cd "$W" && timeout 200 "$JUDGE" pages -go "go$NEWEST" -threads=false -rows "$2" "$3") >"$W/pages" 2>&1 ||
			die "viewer of go$NEWEST, format $1: $(tail -c 600 "$W/pages")"
		;;
	esac
}

# formats_of MODE ROWS: writes one log of that load in every v1 format. Each must contain the same, as far as the
# format can, and the viewers must show it (some each day).
formats_of() {
	local format rows binary viewed
	viewed=" $(in_turn 3 v0 1.5 1.7 1.8 1.9 1.10 1.11 1.19 1.21)"
	binary=$(target_binary $NEWEST default) || die "cannot build"
	start_target "$binary" "$1" -seconds 100
	run_gotrace -p "$target" -d 1500ms -o "$W/trace" --raw "$W/raw"
	want 0
	stop_target
	"$GOTRACE" check --json "$W/trace" >"$W/whole.json" 2>"$W/err" || die "gotrace check: $(tail -n 1 "$W/err")"
	for format in v0 1.5 1.7 1.8 1.9 1.10 1.11 1.19 1.21; do
		run_gotrace replay "$W/raw" -o "$W/$format.trace" --format $format
		want 0
		"$GOTRACE" check --json "$W/$format.trace" >"$W/flat.json" 2>"$W/err" || die "$format: $(cat "$W/flat.json")"
		timeout 60 "$JUDGE" counts "$W/flat.json" "$W/whole.json" >"$W/counts" 2>&1 ||
			die "format $format: $(tail -n 1 "$W/counts")"
		flat "$format" "$W/$format.trace"
		rows=$2
		[ "$format" = v0 ] || [ "$(minor "$format")" -ge 11 ] || rows=${rows%,user*}
		[[ $viewed != *" $format "* ]] || served "$format" "$rows" "$W/$format.trace" "$binary"
	done
	printf '%s, viewed:%s; ' "$(cat "$W/counts")" "$viewed"
}

case_formats_viewed() {
	formats_of user sched,block,usertasks,userregions
	formats_of syscalls io,syscall
	formats_of coro ""
}

case_formats_killed() { # kill -9 of gotrace: a flat file is whole up to its last flush
	load pool
	local format
	for format in v0 1.5 1.11; do
		background -p "$target" -o "$W/$format.trace" --format $format
		begun "$W/$format.trace"
		sleep 3.5
		kill -KILL $tracer
		wait $tracer 2>/dev/null
		# It may have been killed in the middle of a write.
		timeout 60 "$GOTRACE" check "$W/$format.trace" >"$W/out" 2>"$W/err" ||
			timeout 60 "$GOTRACE" check --repair "$W/$format.trace" >"$W/out" 2>"$W/err"
		checked "$W/$format.trace"
		flat "$format" "$W/$format.trace"
		[ "$format" != 1.11 ] || [ "$(fact milliseconds)" -ge 1500 ] ||
			die "only $(fact milliseconds) ms of 3500 survived"
	done
	still_lives
}

case_no_syscalls() {
	load syscalls
	run_gotrace -p "$target" -d 1500ms -o "$W/trace" --no-syscalls
	want 0
	strict "$W/trace"
	# Calls that lost their P are still there, because otherwise readers could not know whose P it is.
	[ "$(fact 'go Syscall->Running')" -eq 0 ] || die "$(fact 'go Syscall->Running') fast system calls"
	[ "$(fact 'go Running->Syscall')" -le 6000 ] || die "$(fact 'go Running->Syscall') system calls"
	[ "$(fact 'go Waiting->Runnable')" -ge 50 ] || die "and little else"
}

case_two_runtimes() { # a library with Go in it, loaded into a Go program
	(cd tests/e2e/library && GOTOOLCHAIN=go$NEWEST CGO_ENABLED=1 go build -buildvcs=false -buildmode=c-shared -o "$W/lib.so" .) >&2 ||
		die "cannot build the library"
	LD_PRELOAD=$W/lib.so start_target "$(target_binary $NEWEST cgo)" pingpong -seconds 60
	grep -q lib.so "/proc/$target/maps" || die "the library is not loaded"
	run_gotrace -p "$target" -d 1s -o "$W/trace"
	want 0
	says "$W/lib.so also contains Go code"
	strict "$W/trace"
	[ "$(fact 'func main.pingpong.func1')" -ge 1 ] || die "the program's own goroutines are not there"
	still_lives
	stop_target
	load pingpong
	run_gotrace -p "$target" -d 500ms -o "$W/trace"
	want 0
	grep -q 'also contains Go code' "$W/err" && die "a library where there is none"
	return 0
}

# --- memory ---

# alloc_twin BINARY: traces $target with gotrace --alloc and with Go's own experiment in the same second. The
# experiment's own tracer frees a trace buffer twice when it stops: without gotrace, 4 of 70 programs crashed, and 3
# left a file that Go's own reader rejects (Go 1.26.8, traces of one second). Such a try does not count.
alloc_twin() {
	local look=--alloc try text good=
	for try in 1 2 3 4; do
		rm -f "$W/native" "$W/ours"
		GODEBUG=traceallocfree=1 start_target "$1" gc -native "$W/native" -native-seconds 1 -seconds 100
		text=$(twin_cell gc 100) && good=yes && break
		grep -q '^runtime.traceAdvance' "$W/target.err" || ! timeout 100 "$JUDGE" strict "$W/native" >/dev/null 2>&1 || die "$text"
		stop_target
	done
	[ -n "$good" ] || die "Go's own tracer failed four times: $text"
	printf '%s' "$text"
}

case_alloc() { # spans and stacks, as Go's own experiment has them
	local release binary least
	for release in 1.23.8 1.24.6 1.25.1 $NEWEST; do
		binary=$(target_binary $release default)
		alloc_twin "$binary"
		checked "$W/ours"
		# Go 1.23 omits what happens while its tracer switches generations.
		least=99.9
		[ $release = 1.23.8 ] && least=90
		timeout 100 "$JUDGE" alloc -min-native $least "$W/native" "$W/ours" >"$W/alloc" 2>&1 ||
			die "; go$release: $(tail -n 2 "$W/alloc")"
		printf '; go%s: %s' $release "$(cat "$W/alloc")"
		stop_target
		(cd "$W" && GOTOOLCHAIN=go$NEWEST go tool trace -d=parsed ours) >"$W/parsed" 2>&1 || die "go tool trace: $(tail -n 1 "$W/parsed")"
		grep -q 'Name=SpanAlloc' "$W/parsed" || die "go tool trace prints no SpanAlloc"
	done
	load gc
	run_gotrace -p "$target" -d 1s --alloc -o "$W/trace"
	want 0
	grep -q '^  memory .* of one core' "$W/err" "$W/out" || die "the summary does not report what --alloc costs"
	run_gotrace -p "$target" -d 1s -o "$W/trace"
	want 0
	strict "$W/trace"
	grep -q Experimental "$W/facts" && die "memory is recorded without --alloc"
	run_gotrace -o "$W/trace" --alloc -d 1s -- "$binary" gc -seconds 2
	want 0
	strict "$W/trace"
	still_lives
	stop_target
	start_target "$(target_binary 1.22.12 default)" idle -seconds 100
	run_gotrace -p "$target" -d 1s --alloc -o "$W/none"
	want 1
	one_line
	says 'Go 1.23 or later'
	[ ! -e "$W/none" ] || die "a file was left behind"
}

# --- level of detail ---

number() { # NAME: prints a number of the JSON summary
	"$JUDGE" json "$W/out" "$1"
}

traced() { # ARG...: makes and judges a trace of $target, with a JSON summary
	run_gotrace -p "$target" "$@" -o "$W/trace" --json
	want 0
	strict "$W/trace"
}

# notes: prints how many notes the trace has about its detail, besides those about the machine.
notes() {
	"$GOTRACE" dump "$W/trace" | grep 'key="gotrace"' | grep -vc 'message="\([0-9]* CPUs, quota\|beside it, \|resource \)'
}

case_adaptive() { # starts are probed while they are few, inferred while they are many; the trace says which
	load pingpong
	traced -d 2s --max-overhead none
	[ "$(number inferred_starts)" -ge 5000 ] || die "$(number inferred_starts) starts inferred under load"
	[ "$(notes)" -eq 1 ] || die "$(notes) notes in the trace instead of one"
	stop_target
	load idle
	traced -d 2s
	[ "$(number inferred_starts)" -eq 0 ] || die "$(number inferred_starts) starts inferred in an idle program"
	[ "$(notes)" -eq 0 ] || die "a note in the trace of an idle program"
}

case_detail() {
	load pingpong
	traced -d 1s --detail=exact
	[ "$(number inferred_starts)" -le 20 ] || die "--detail=exact: $(number inferred_starts) starts inferred"
	traced -d 1s --detail=light --max-overhead none
	[ "$(number inferred_starts)" -ge 5000 ] || die "--detail=light: $(number inferred_starts) starts inferred"
	[ $(($(number inferred_starts) * 100)) -ge $(($(number events_by_kind.GoStart) * 99)) ] ||
		die "--detail=light: $(number inferred_starts) of $(number events_by_kind.GoStart) starts inferred"
	traced -d 1s --detail=starts --max-overhead none
	[ "$(number events_by_kind.GoStart)" -ge 5000 ] || die "--detail=starts: $(number events_by_kind.GoStart) starts"
	[ $(($(number hits) * 10)) -le $(($(number events_by_kind.GoStart) * 11)) ] ||
		die "--detail=starts: $(number hits) hits for $(number events_by_kind.GoStart) starts"
	[ "$(number repaired)" -eq 0 ] || die "--detail=starts: $(number repaired) repairs"
	run_gotrace -p "$target" --detail=most -o "$W/none"
	want 2
	run_gotrace -p "$target" --detail=exact --max-overhead 5 -o "$W/none"
	want 2
	run_gotrace -p "$target" --max-overhead 0 -o "$W/none"
	want 2
	[ ! -e "$W/none" ] || die "a file all the same"
}

cpu_ms() { # prints the CPU time of $target so far
	awk '{print ($14 + $15) * 10}' "/proc/$target/stat"
}

case_max_overhead() { # the cost stays within the limit, and the trace marks the gaps
	load mixed
	local before cost
	before=$(cpu_ms)
	run_gotrace -p "$target" -d 8s --max-overhead 5 -o "$W/trace" --json
	want 0
	before=$(($(cpu_ms) - before))
	strict "$W/trace"
	checked "$W/trace"
	cost=$(($(number hits) * $(number hit_ns) / 1000000))
	[ $((cost * 100)) -le $((before * 10)) ] || noisy "hits took $cost of $before ms of CPU, 5 % were allowed"
	[ "$(notes)" -ge 3 ] || die "$(notes) notes: it never looked away"
	[ $(($(number repaired) * 20)) -le "$(fact events)" ] || die "$(number repaired) repairs" # at the edges of the gaps
	[ "$(fact events)" -ge 10000 ] || noisy "only $(fact events) events: it hardly looked"
	still_lives
	echo "$cost of $before ms"
}

case_replay() { # the same log gives the same bytes, without root
	load mixed
	run_gotrace -p "$target" -d 3s -o "$W/live" --raw "$W/raw"
	want 0
	strict "$W/live"
	public_copy
	cp "$W/raw" "$public/raw"
	chown $NOBODY "$public/raw"
	local n
	for n in 1 2; do
		as_nobody timeout 60 "$public/gotrace" replay "$public/raw" -o "$public/replayed$n" >"$W/out" 2>"$W/err" </dev/null
		status=$?
		want 0
		cmp "$W/live" "$public/replayed$n" >"$W/cmp" 2>&1 || die "replay $n differs from live: $(cat "$W/cmp")"
	done
	run_gotrace replay "$W/raw" -o "$W/other" --format 1.22
	want 0
	strict "$W/other"
}

case_bad_raw_log() {
	load pool
	run_gotrace -p "$target" -d 3s -o "$W/trace" --raw "$W/raw"
	want 0
	local size
	size=$(stat -c %s "$W/raw")
	run_gotrace replay /nonexistent/raw -o "$W/out.trace"
	want 1
	one_line
	: >"$W/empty"
	run_gotrace replay "$W/empty" -o "$W/out.trace"
	want 1
	one_line
	head -c 100000 /dev/urandom >"$W/noise"
	run_gotrace replay "$W/noise" -o "$W/out.trace"
	want 1
	one_line
	run_gotrace replay "$W/trace" -o "$W/out.trace"
	want 1
	one_line
	# Truncated near its end: the complete part is kept, and a message says so.
	head -c $((size - 100)) "$W/raw" >"$W/cut"
	run_gotrace replay "$W/cut" -o "$W/cut.trace"
	want 3
	strict "$W/cut.trace"
	# Truncated and corrupted anywhere: a valid trace, or none.
	local n where
	for n in 1 2 3 4 5 6 7 8; do
		where=$((size * n / 9))
		head -c $where "$W/raw" >"$W/cut"
		rm -f "$W/cut.trace"
		run_gotrace replay "$W/cut" -o "$W/cut.trace"
		want 1 3
		[ "$status" -eq 1 ] || strict "$W/cut.trace"
		cp "$W/raw" "$W/flipped"
		printf '\377\001\377' | dd of="$W/flipped" bs=1 seek=$where conv=notrunc 2>/dev/null
		cmp -s "$W/raw" "$W/flipped" && continue
		rm -f "$W/flipped.trace"
		run_gotrace replay "$W/flipped" -o "$W/flipped.trace"
		want 1 3
		[ "$status" -eq 1 ] || strict "$W/flipped.trace"
	done
}

case_check() { # the checker agrees with Go's reader, also on traces that Go wrote
	local release size n
	for release in $RELEASES; do
		start_target "$(target_binary "$release" default)" mixed -native "$W/native" -native-delay 100ms -native-seconds 1.5 -seconds 20
		for ((n = 0; n < 100; n++)); do
			grep -q 'native done' "$W/target.out" && break
			sleep 0.1
		done
		stop_target
		strict "$W/native"
		checked "$W/native"
	done
	size=$(stat -c %s "$W/native")
	for n in 2 3 4; do
		head -c $((size * n / 5)) "$W/native" >"$W/cut"
		run_gotrace check "$W/cut"
		[ "$status" -ne 0 ] || "$JUDGE" strict "$W/cut" >/dev/null 2>&1 || die "finds a trace whole that Go's reader refuses"
	done
	printf 'go 1.26 trace\0\0\0' >"$W/header"
	head -c 5000 /dev/urandom >>"$W/header"
	local file
	: >"$W/empty"
	for file in "$W/header" "$W/empty" /nonexistent "$W/target.out"; do
		run_gotrace check "$file"
		want 1
		run_gotrace check --repair "$file"
		want 1
	done
}

case_repair() { # wherever a trace is torn, --repair leaves what Go reads
	load pool
	run_gotrace -p "$target" -d 4500ms -o "$W/trace"
	want 0
	local size n
	size=$(stat -c %s "$W/trace")
	for n in 5 6 7 8 9; do
		head -c $((size * n / 10)) "$W/trace" >"$W/torn"
		run_gotrace check --repair "$W/torn"
		want 0 3
		strict "$W/torn"
		[ "$(fact milliseconds)" -ge 500 ] || die "cut at $n tenths: only $(fact milliseconds) ms left"
	done
	cp "$W/trace" "$W/whole"
	run_gotrace check --repair "$W/whole"
	want 0
	cmp "$W/trace" "$W/whole" || die "--repair changed a whole trace"
}

# --- a command started by gotrace ---

case_command() {
	local binary
	binary=$(target_binary $NEWEST default)
	run_gotrace -o "$W/trace" -- "$binary" churn -seconds 2
	want 0
	grep -q '^ready' "$W/out" || die "the command's output is gone"
	strict "$W/trace" -expect tests/e2e/facts/churn
	checked "$W/trace"
	[ "$(fact 'func runtime.main')" -ge 1 ] || [ "$(fact 'func main.main')" -ge 1 ] || die "main is not in the trace"
	# -d ends the trace; SIGINT does, too.
	run_gotrace -d 1s -o "$W/trace" -- "$binary" pool -seconds 3
	want 0
	strict "$W/trace"
}

case_command_variants() {
	local release variant
	for release in 1.22.12 $NEWEST; do
		for variant in pie cgo; do
			run_gotrace -o "$W/trace" -- "$(target_binary "$release" $variant)" mixed -seconds 1.5
			want 0
			strict "$W/trace"
			[ "$(fact events)" -ge 1000 ] || die "go$release $variant: only $(fact events) events"
		done
	done
}

case_command_fails() { # its exit status is passed on, and the trace is complete
	local binary
	binary=$(target_binary $NEWEST default)
	run_gotrace -o "$W/trace" -- "$binary" pool -seconds 1 -then crash
	want 2 # the status of a Go program that panics
	strict "$W/trace"
	run_gotrace -o "$W/trace" -- "$binary" no-such-mode
	want 2
	strict "$W/trace"
}

case_command_user() { # under sudo the command runs as the user
	public_copy
	cp "$(target_binary $NEWEST default)" "$public/target"
	SUDO_UID=$NOBODY SUDO_GID=$NOBODY SUDO_USER=nobody background -o "$public/trace" -- "$public/target" idle -seconds 3
	sleep 1.5
	local child
	child=$(pgrep -P $tracer -x target)
	[ -n "$child" ] || die "the command does not run: $(tail -n 3 "$W/err")"
	[ "$(stat -c %u "/proc/${child// /}")" = $NOBODY ] || die "the command runs as $(stat -c %u "/proc/${child// /}")"
	ends 20
	want 0
	strict "$public/trace"
}

# --- on a terminal ---

case_terminal() {
	load pool
	TERM=xterm timeout 30 script -qec "'$GOTRACE' -p $target -d 2s -o '$W/trace'" /dev/null >"$W/screen" 2>&1 </dev/null ||
		die "ended with $?: $(tail -n 3 "$W/screen")"
	strict "$W/trace"
	LC_ALL=C grep -q "$(printf '\r')." "$W/screen" || die "no live line"
	grep -qi 'lost' "$W/screen" || die "losses (none) are not reported"
	grep -q 'go tool trace' "$W/screen" || die "does not say how to open the file"
	grep -q 'main.pool.func1' "$W/screen" || die "the busiest functions are not there"
}

# in_terminal COLUMNS COMMAND: runs it in a terminal of that width, which stays until terminal_ends.
in_terminal() {
	command -v tmux >/dev/null || skip "no tmux: tools/deps.sh tests"
	socket=gotrace-$BASHPID-$1
	trap 'tmux -L "$socket" kill-server 2>/dev/null; kill -KILL $(jobs -p) 2>/dev/null' EXIT
	tmux -L "$socket" -f /dev/null new-session -d -x "$1" -y 60 "$2; echo the end; sleep 60" || die "tmux does not start"
}

terminal_shows() { # PATTERN: waits for it; then the terminal's text is in $W/screen
	local i
	for ((i = 0; i < 150; i++)); do
		tmux -L "$socket" capture-pane -p >"$W/screen"
		! grep -qE "$1" "$W/screen" || return 0
		sleep 0.1
	done
	die "the terminal does not show '$1': $(cat "$W/screen")"
}

terminal_ends() {
	terminal_shows '^the end$'
	# Wrapped lines are joined, and so longer than the terminal is wide. Only a path may be that long.
	tmux -L "$socket" capture-pane -p -J >"$W/screen"
	! sed 's/ *$//' "$W/screen" | grep -v "$W" | grep -E ".{$(($1 + 1))}" || die "a line is longer than $1 columns"
	! grep 'events/s' "$W/screen" || die "the live line is still there"
	tmux -L "$socket" kill-server
}

case_terminal_width() { # figures are not cut, and nothing wraps
	local columns
	load pool
	for columns in 40 80 120; do
		in_terminal $columns "'$GOTRACE' -p $target -d 2s -o '$W/trace'"
		terminal_shows 'events/s'
		grep 'events/s' "$W/screen" | grep -qE '( events/s| lost| [kMG]?B| of a core|  [a-z, ]+)$' ||
			die "$columns columns: the live line is cut within a figure: $(grep 'events/s' "$W/screen")"
		[ $columns -lt 80 ] || terminal_ends $columns
		[ $columns -ge 80 ] || terminal_shows '^the end$'
	done
	grep -q 'main.pool.func1.*  ' "$W/screen" || die "the busiest functions are not there"
}

case_terminal_messages() { # a message replaces the live line
	load pool
	in_terminal 80 "'$GOTRACE' flight -p $target -o '$W/f'"
	terminal_shows 'events/s'
	tmux -L "$socket" capture-pane -p -J >"$W/screen"
	run_gotrace snapshot -p "$(sed -n 's/.*write with: gotrace snapshot -p \([0-9]*\).*/\1/p' "$W/screen")"
	want 0
	terminal_shows '^gotrace: wrote '
	! grep -E 'gotrace: wrote.*events/s|events/s.*gotrace:' "$W/screen" || die "the message stands in the live line"
	terminal_shows 'events/s'
}

# --- the viewer ---

case_browser() { # the viewer's page shows the tracks, in both views
	load mixed
	run_gotrace -p "$target" -d 1s -o "$W/trace"
	want 0
	stop_target
	local view tracks
	for view in proc thread; do
		tracks="PROCS*,Proc 0,Proc 1,Network,Syscalls"
		[ $view = thread ] && tracks="OS THREADS*,Thread *"
		timeout 150 "$JUDGE" browser -go go$NEWEST -view $view -timeout 60s \
			-titles "$tracks,STATS*,Goroutines:,Heap:,Threads:,GC" "$W/trace" >"$W/titles" 2>&1 ||
			die "view=$view: $(head -c 600 "$W/titles")"
		printf 'by %s %s; ' $view "$(cut -d: -f1 "$W/titles")"
	done
}

# The main features, in about three minutes: cases of every part.
QUICK_CASES="case_real_redis case_real_gRPC case_command case_bad_raw_log case_check case_disk_full case_doctor_here case_dump
case_export_recorded case_flight_after case_flight_c case_interrupted_twice case_removed case_max_size case_native_lock
case_native_brief case_native_pipe case_native_threads case_replay case_report_live case_report_recording
case_sandbox_closed case_sandbox_killed_go
case_signals case_target_crashes case_target_exits case_functions_c case_functions_ends case_hostile_frame case_poked_ids
case_attacker_directory load_pingpong_2"

# all_cases: prints the names of all cases; those with busy loops come last.
all_cases() {
	compgen -A function case_ | sort
	compgen -A function load_ | sort
}

# run_named FUNCTION...: runs these cases.
run_named() {
	local name
	for name; do
		run_one "${name#case_}" "$name"
	done
}

# run_cases PART: runs every case whose name contains PART.
run_cases() {
	run_named $(all_cases | grep -F -- "$1")
}

# run_turn: runs a fifth of the cases, the others on the next four days; and a third of those with busy loops.
run_turn() {
	echo "# a fifth of the cases, CELL_SEED=$CELL_SEED"
	run_named $(in_turn 5 $(compgen -A function case_ | sort)) $(in_turn 3 $(compgen -A function load_ | sort))
}
