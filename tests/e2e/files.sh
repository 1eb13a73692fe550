# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Trace files of all formats, as gotrace check and gotrace dump read them. To be sourced by bash.

# native_trace RELEASE MODE FILE ARG...: traces a second of that load with Go's own tracer.
native_trace() {
	local release=$1 mode=$2 file=$3 binary n
	shift 3
	binary=$(target_binary "$release" default) || die "no target of $release"
	start_target "$binary" "$mode" -native "$file" -native-delay 100ms -native-seconds 1 -seconds 20 "$@"
	for ((n = 0; n < 150; n++)); do
		grep -q 'native done' "$W/target.out" && break
		sleep 0.1
	done
	stop_target
	[ -s "$file" ] || die "$release: no native trace"
}

# Prints the events according to a release's own parser: time, name and offset, one per line. False if it rejects the
# file, which happens: the tracer of Go 1.5 sometimes loses a transition.
old_parser() {
	local parser=$E2E/oldparse-$1
	[ -x "$parser" ] && [ -z "$(find tests/e2e/oldparse -newer "$parser")" ] ||
		tests/e2e/oldparse/build.sh "$1" "$parser" >&2 || die "no parser of $1"
	timeout 120 "$parser" "$2" >"$W/old" 2>"$W/old.err" || return 1
	# Names that later releases changed.
	sed 's/ GCSTW/ STW/; s/ NextGC / HeapGoal /' "$W/old" | cut -d ' ' -f 1-3 | sort -n -k 3
}

dumped() {
	timeout 120 "$GOTRACE" dump --json "$1" >"$W/dump" 2>"$W/dump.err" || die "gotrace dump: $(tail -n 3 "$W/dump.err")"
	awk -F '[:,]' '$2 + 0 < last {exit 1} {last = $2 + 0}' "$W/dump" || die "gotrace dump: times run backwards"
	sed 's/^{"time":\(-*[0-9]*\),"name":"\([A-Za-z]*\)",.*"offset":\([0-9]*\)}$/\1 \2 \3/' "$W/dump" | sort -n -k 3
}

check_native() {
	local release=$1 size n try profile=
	[ "$(minor "$release")" -lt 19 ] || profile=-native-profile
	for try in 1 2 3 4; do
		native_trace "$release" mixed "$W/native" $profile
		old_parser "$release" "$W/native" >"$W/theirs" && break
		[ "$try" -lt 4 ] || die "Go $release refuses what it writes itself: $(tail -n 2 "$W/old.err")"
		run_gotrace check "$W/native"
		want 1 3
	done
	checked "$W/native"
	dumped "$W/native" >"$W/ours" || die "$(tail -n 1 "$W/ours")"
	cmp -s "$W/ours" "$W/theirs" || die "$release: $(diff "$W/ours" "$W/theirs" | head -n 4)"
	[ -z "$profile" ] || grep -q CPUSample "$W/ours" || die "$release: no CPU samples"
	[ "$(minor "$release")" -lt 11 ] || strict "$W/native"
	size=$(stat -c %s "$W/native")
	# The runtime writes the frequency last, so nothing of a truncated file can be kept.
	for n in 2 5 8; do
		head -c $((size * n / 10)) "$W/native" >"$W/cut"
		run_gotrace check "$W/cut"
		want 1
		run_gotrace dump "$W/cut"
		want 1
		says 'fault at byte [0-9]+'
		[ -s "$W/out" ] || die "$release: nothing is printed of a torn file"
	done
	echo -n "$release $(wc -l <"$W/ours") events, "
}

case_check_v1() { # the checker accepts traces of Go's own tracers, and has the events of the release's own parser
	local release
	for release in $OLD_RELEASES; do
		[ "$(minor "$release")" -ge 5 ] || continue
		case "$ALL $release" in
		*\ 1.[579].* | *\ 1.10.* | *\ 1.11.* | *\ 1.16.* | *\ 1.19.* | *\ 1.21.* | 1\ *) check_native "$release" || return 1 ;;
		esac
	done
}

# dump_counts FILE: compares the number of some events that dump prints with the count of check.
dump_counts() {
	local name
	timeout 60 "$GOTRACE" check --json "$1" >"$W/check.json" || die "gotrace check: $1"
	timeout 60 "$GOTRACE" dump "$1" >"$W/dump" || die "gotrace dump: $1"
	for name in GoCreate GoStart GoBlock GoUnblock GoSyscallBegin ProcStart GoStatus CPUSample; do
		local counted printed
		counted=$(sed -n "s/.*\"$name\":\([0-9]*\).*/\1/p" "$W/check.json")
		printed=$(grep -c "^ *[0-9]* $name " "$W/dump")
		[ "$printed" = "${counted:-0}" ] || die "$name: $printed printed, ${counted:-0} counted"
	done
}

case_dump() { # text, JSON, stacks; a truncated file, and a reader that goes away
	native_trace $NEWEST pool "$W/native" -native-profile
	dump_counts "$W/native"
	dumped "$W/native" >"$W/ours" || die "$(tail -n 1 "$W/ours")"
	[ "$(wc -l <"$W/ours")" = "$(wc -l <"$W/dump")" ] || die "text and JSON differ in length"
	run_gotrace dump --stacks "$W/native"
	want 0
	grep -q '^ *0x[0-9a-f]* main\.[a-zA-Z.*()0-9]* /.*\.go:[0-9]*$' "$W/out" || die "no frames with --stacks"
	run_gotrace dump --stacks --json "$W/native"
	want 0
	grep -q '"frames":\[{"func":"' "$W/out" || die "no frames with --stacks --json"
	"$GOTRACE" dump "$W/native" 2>"$W/err" | head -n 1 >"$W/out"
	[ ! -s "$W/err" ] || die "a broken pipe is reported: $(head -n 1 "$W/err")"
	head -c $(($(stat -c %s "$W/native") / 2)) "$W/native" >"$W/cut"
	run_gotrace dump "$W/cut"
	want 1 3
	says 'fault at byte [0-9]+'
	one_line
	run_gotrace dump "$W/target.out"
	want 1
	run_gotrace dump /nonexistent
	want 1
	one_line
	run_gotrace dump
	want 2
	run_gotrace dump --no-such-option "$W/native"
	want 2
	run_gotrace dump --help
	want 0
}

# Input from a pipe is read like a file.
case_input_pipes() {
	load cpu
	run_gotrace -p "$target" -d 1s -o "$W/trace" --raw "$W/raw" -q
	want 0
	"$GOTRACE" check - <"$W/trace" >"$W/check" || die "check of standard input, a file"
	cat "$W/trace" | "$GOTRACE" check - >"$W/check" || die "check of standard input, a pipe"
	"$GOTRACE" check <(cat "$W/trace") >"$W/check" || die "check of a FIFO"
	cat "$W/raw" | "$GOTRACE" replay - -o "$W/again" -q || die "replay of standard input"
	cmp "$W/trace" "$W/again" || die "a replay from a pipe is not the same"
}

# printable ARG...: whatever it does, it prints no control character but newlines and tabs, and no change of direction.
printable() {
	timeout -s KILL 30 "$GOTRACE" "$@" >"$W/out" 2>"$W/err" </dev/null
	status=$?
	[ $status -lt 126 ] || die "gotrace ${*@Q}: status $status"
	! LC_ALL=C grep -aqP '[\x01-\x08\x0b-\x1f\x9b]|\xe2\x80\xae' "$W/out" "$W/err" ||
		die "gotrace ${*@Q}: $(LC_ALL=C grep -ahP '[\x01-\x08\x0b-\x1f\x9b]|\xe2\x80\xae' "$W/out" "$W/err" | head -n 1 | cat -v)"
}

# Names of files and words of the command line have escape sequences: no command prints them as they are.
case_names_printable() {
	local evil=$'\e[31mx\u202e\x9b' trace raw file command word
	trace="$W/t$evil.trace" raw="$W/r$evil.raw"
	cp tests/fixtures/rawlog/go1.26.8.trace "$trace"
	cp tests/fixtures/rawlog/go1.26.8.raw "$raw"
	head -c 3000 "$trace" >"$W/torn$evil"
	mkdir "$W/dir$evil"
	for file in "$trace" "$W/torn$evil" "$W/none$evil" "$W/dir$evil"; do
		for command in check dump report why layout 'check --json' 'dump --json' 'report --json' 'why --json' 'doctor --btf' \
			'layout --go' '-p 1 --layout' '-p 1 --btf' '--'; do
			printable $command "$file"
		done
		printable check --repair -o "$W/o$evil" "$file"
		printable report --html "$W/h$evil.html" "$file"
		printable diff "$file" "$trace"
		printable diff --json "$file" "$trace"
		printable sql "$file" "SELECT *, '$evil' AS '$evil' FROM info"
		printable sql "$file" "SELECT $evil"
		printable flame "$file" -o "$W/f$evil.html"
		for word in '--from 0s' '--split 100k' '--task 99' '--from 100s' '--to 1ns'; do
			printable cut "$file" -o "$W/c$evil" $word
		done
		for word in 1.21 perfetto sqlite folded pprof flame; do
			printable convert "$file" -o "$W/v$evil" --format $word
		done
		printable convert --binary "$file" "$file" -o "$W/z$evil" --format 1.21
		printable replay "$file" -o "$W/p$evil"
		printable -p 1 -o "$file/x"
	done
	printable replay "$raw" -o "$W/p$evil"
	printable replay --json "$raw" -o "$W/p$evil"
	for command in record replay check dump convert sites ps layout doctor flight snapshot report why diff top flame view sql cut; do
		for word in "$evil" "--$evil" "-$evil" "--json=$evil" "--output=$evil"; do
			printable $command "$word"
		done
		printable $command "$evil" "$evil" "$evil"
	done
	for word in -d --format --region --requests --sort --task --raw --max-size --on --comm --cgroup --user --exe --keep --window; do
		printable -p 1 "$word" "$evil"
		printable flight -p 1 "$word" "$evil"
	done
	wait_for --comm "$evil"
	kill $recorder
	! LC_ALL=C grep -aP '[\x01-\x08\x0b-\x1f\x9b]' "$W/err" || die "flight prints a name as it is"
	cp "$(command -v sleep)" "$W/s$evil"
	"$W/s$evil" 100 &
	target=$!
	printable -p $target -d 200ms -o "$W/a$evil" --raw "$W/b$evil"
	printable --json -p $target -d 200ms -o "$W/a$evil"
	printable -o "$W/d$evil" -- "$W/s$evil" 0.2
	for command in report why 'report --json'; do
		printable $command -p $target -d 200ms
	done
	for command in doctor ps; do
		printable $command -p $target
	done
	printable --children -p $target -d 200ms -o "$W/e$evil"
	printable -p $target -d 200ms -o "$W/g$evil.perfetto-trace"
	kill -KILL $target
}

# uncut ARG...: whatever it does, it cuts no character. Output for readers is in "$W/new", if there is any.
uncut() {
	rm -f "$W/new"
	timeout -s KILL 60 "$GOTRACE" "$@" >"$W/out" 2>"$W/err" </dev/null
	status=$?
	[ $status -lt 126 ] || die "gotrace ${*@Q}: status $status"
	/usr/bin/python3 tests/e2e/cut_text.py "$W/out" "$W/err" $([ ! -e "$W/new" ] || echo "$W/new") >"$W/cut" ||
		die "gotrace $*: $(head -n 2 "$W/cut")"
}

# Names of several bytes a character, which are longer than what shows them.
case_names_whole() {
	local name i command trace query words
	name=$(printf '漢%.0s' {1..90})
	cp "$(planted_binary $NEWEST)" "$W/p漢字漢字漢字漢字" || die "cannot build"
	start_target "$W/p漢字漢字漢字漢字" wide
	for i in '' x xx; do
		words+=(--region "main.wide$i$(printf '漢字%.0s' {1..16})(name)")
	done
	uncut -p "$target" -d 500ms -o "$W/go" --locks "${words[@]}"
	uncut -p "$target" -d 300ms -o "$W/c" --as c
	for command in '' '--as c'; do
		uncut -p "$target" -d 200ms -o "$W/x" --json $command
	done
	for command in 'ps -p' 'ps --json -p' sites 'doctor -p'; do
		uncut $command "$target"
		[ $status -lt 2 ] || die "gotrace $command: exit status $status"
	done
	for trace in "$W/go" "$W/c"; do
		for command in report 'report --all' 'report --json' why 'why --json' dump 'dump --json' 'dump --stacks' check; do
			uncut $command "$trace"
		done
		uncut report --html "$W/new" "$trace"
		uncut diff --all "$trace" "$trace"
		uncut diff --json "$trace" "$trace"
		for query in goroutine log label region task 'state LEFT JOIN stack k ON k.id = stack'; do
			uncut sql "$trace" "SELECT * FROM $query"
		done
		for command in folded flame; do
			uncut convert "$trace" -o "$W/new" --format $command
		done
	done
	for i in '' x xx; do
		for command in report dump check sql why cut convert replay flame layout diff ps sites "--$i$name"; do
			uncut $command "$i$name"
			uncut $command "$i$name$name$name"
		done
		for command in -d --format --requests --sort --task --region --max-size --raw --btf --layout; do
			uncut -p "$target" $command "$i$name$name"
		done
		for command in --on --user --keep --window --every; do
			uncut flight -p "$target" $command "$i$name$name"
		done
		uncut report "$W/go" --label "$i$name"
		uncut report "$W/go" --by-label "$i$name"
		uncut why "$W/go" --task "$i$name"
	done
	record -p "$target" --window 1s --on 'blocked>1ms' --on "func ${words[1]%(name)}>1ms" --every 1s
	prints 'func main.wide.*was in' 5
	stop_recorder 0
	/usr/bin/python3 tests/e2e/cut_text.py "$W/err" || die "flight cuts a character"
	TOP_WITH=--locks on_terminal size=60x40 3 key=2 1 key=6 1 key=$'\t' 1 key=q || die "top ended with status $?"
	/usr/bin/python3 tests/e2e/cut_text.py "$W/screen" || die "top cuts a character"
}

# gotrace exits with the status of the program after --, unless the trace failed.
case_command_status() {
	run_gotrace -q -o "$W/trace" -- sh -c 'sleep 0.3; exit 7'
	want 7
	says 'the trace is complete; .*/sh exited with status 7'
	timeout 30 "$GOTRACE" -q -o "$W/trace" -- sh -c 'sleep 0.3; kill -9 $$' >"$W/out" 2>"$W/err"
	status=$?
	want 137
	run_gotrace -q -o "$W/no/such/trace" -- sh -c 'sleep 0.3; exit 7'
	want 1
}

# If a function does not exist, similar ones are suggested.
case_region_near() {
	load cpu
	run_gotrace -p "$target" -d 1s -o "$W/trace" --region cpuTree
	want 1
	says 'no function cpuTree in the program; similar names: main.cpuThree'
}
