# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Traces in the formats of other tools, and pieces of traces, judged by other programs. Sourced by run.sh.
# Needs no privileges except for its targets.

PROFILES="block mutex sched syscall net cpu wall"

# profile_sums FILE: prints count and ns of a pprof file, as Go's own tool reads it.
profile_sums() {
	GOTOOLCHAIN=go$NEWEST timeout 60 go tool pprof -raw "$1" 2>/dev/null | awk '
		/^Samples:/ { inside = 1; next }
		/^Locations/ { inside = 0 }
		inside && $1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+:$/ { count += $1; ns += $2 }
		END { printf "%.0f %.0f\n", count, ns }'
}

case_export_recorded() { # a recorded trace in each format, and a piece of it
	local format python trace=tests/fixtures/rawlog/go1.26.8.trace
	for format in $PROFILES; do
		run_gotrace convert "$trace" -o "$W/x" --format "pprof:$format"
		want 0
		[ -n "$(profile_sums "$W/x")" ] || die "go tool pprof does not read pprof:$format"
	done
	run_gotrace convert "$trace" -o "$W/x.db" --format sqlite
	want 0
	[ "$(sqlite3 "$W/x.db" 'PRAGMA integrity_check')" = ok ] || die "sqlite3 does not find the file good"
	# Under sudo, root's trace belongs to the user, and gotrace has given up most rights when it reads.
	cp "$trace" "$W/theirs"
	chown 1000:1000 "$W/theirs"
	chmod 600 "$W/theirs"
	for format in perfetto pprof:wall folded flame sqlite 1.26; do
		run_gotrace convert -q "$W/theirs" -o "$W/x" --format $format
		want 0
	done
	run_gotrace sql --csv "$W/theirs" "SELECT max(goid, 1), 'a,\"b' FROM goroutine LIMIT 1"
	want 0
	grep -qxF '"max(goid, 1)","'"'a,\"\"b'"'"' "$W/out" || die "names of columns: $(head -n 1 "$W/out")"
	for format in "sql $W/raw SELECT" "flame $W/raw -o $W/x" "cut $W/raw -o $W/x" "convert $W/raw -o $W/x --format perfetto"; do
		cp tests/fixtures/rawlog/go1.26.8.raw "$W/raw"
		# shellcheck disable=SC2086
		run_gotrace $format
		want 1
		grep -q 'is a raw log' "$W/err" || die "$format: $(cat "$W/err")"
	done
	run_gotrace cut -q "$trace" -o "$W/piece" --last 100ms --anonymize
	want 0
	strict "$W/piece"
	python=$(perfetto_reader) || skip "no descriptions of Perfetto's format (PyPI)"
	says_the_same "$trace"
	says_the_same "$W/piece"
}

case_export_pprof() { # profiles are those of go tool trace -pprof, to the nanosecond
	local release pair theirs ours
	for release in ${EXPORT_RELEASES:-$(in_turn 2 1.22.12 1.23.8 1.25.1 $NEWEST)}; do
		native_of "$release"
		for pair in net:net sync:block syscall:syscall sched:sched; do
			GOTOOLCHAIN=go$NEWEST timeout 120 go tool trace -pprof="${pair%:*}" "$W/native-$release" >"$W/theirs" \
				2>"$W/err" || die "go tool trace -pprof=${pair%:*}: $(tail -n 1 "$W/err")"
			run_gotrace convert -q "$W/native-$release" -o "$W/ours" --format "pprof:${pair#*:}"
			want 0
			theirs=$(profile_sums "$W/theirs")
			ours=$(profile_sums "$W/ours")
			[ "$theirs" = "$ours" ] || die "go$release ${pair#*:}: $ours instead of $theirs"
		done
		for pair in mutex cpu wall; do
			run_gotrace convert -q "$W/native-$release" -o "$W/ours" --format "pprof:$pair"
			want 0
			[ -n "$(profile_sums "$W/ours")" ] || die "go tool pprof does not read pprof:$pair"
		done
		printf '%s %s; ' "$release" "$theirs"
	done
}

case_export_sql() { # totals are those of x/exp/trace; a query cannot do more than read
	local release theirs ours query
	for release in ${EXPORT_RELEASES:-$(in_turn 2 1.22.12 1.23.8 1.25.1 $NEWEST)}; do
		native_of "$release"
		theirs=$("$JUDGE" totals "$W/native-$release") || die "judge totals"
		run_gotrace sql --csv "$W/native-$release" \
			"SELECT state, count(*), sum(dur) FROM state WHERE begins AND ends GROUP BY 1 ORDER BY 1"
		want 0
		ours=$(tail -n +2 "$W/out" | tr , ' ')
		[ "$theirs" = "$ours" ] || die "go$release: $(echo $ours) instead of $(echo $theirs)"
	done
	for query in "ATTACH '$W/other.db' AS o" "CREATE TABLE t(a)" "DELETE FROM state" "PRAGMA query_only" \
		"SELECT load_extension('x')" "SELECT hex(randomblob(9))" "SELECT sqlite_version()" "SELECT length(zeroblob(9000000))" \
		"SELECT 1; SELECT 2" "VACUUM INTO '$W/other.db'"; do
		run_gotrace sql "$W/native-$release" "$query"
		want 1
		one_line
	done
	[ ! -e "$W/other.db" ] || die "a query wrote a file"
	# What SQLite runs once for each row finds its rows by an index.
	run_gotrace sql "$W/native-$release" "EXPLAIN QUERY PLAN SELECT (SELECT max(ts) FROM wakeup w WHERE w.g = s.g AND w.ts < s.ts) FROM state s"
	want 0
	grep -q 'SEARCH w USING COVERING INDEX' "$W/out" || die "no index: $(tail -n 1 "$W/out")"
	run_gotrace convert "$W/native-$release" -o "$W/x.db" --format sqlite
	want 0
	[ "$(sqlite3 "$W/x.db" 'PRAGMA integrity_check')" = ok ] || die "sqlite3 does not find the file good"
}

# A signal ends a query, whatever it does: many instructions, one that never ends, or output that nobody takes.
case_export_sql_ends() {
	local query signal began took trace=tests/fixtures/rawlog/go1.26.8.trace
	mkfifo "$W/full"
	exec 7<>"$W/full"
	for query in "WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT count(*) FROM x" \
		"SELECT instr(replace(hex(zeroblob(4000000)), '0', 'a'), replace(hex(zeroblob(2000000)), '0', 'a') || 'b')" \
		"SELECT a.ts FROM state a, state b"; do
		for signal in TERM INT; do
			env --default-signal "$GOTRACE" sql $trace "$query" >&7 2>"$W/err" &
			tracer=$!
			sleep 1
			kill -0 $tracer || die "it has ended by itself: $query"
			began=$(now)
			kill -$signal $tracer
			ends 10
			took=$((($(now) - began) / 1000))
			want 1
			says interrupted
			[ $took -le 1500 ] || noisy "SIG$signal took $took ms: $query"
		done
	done
	exec 7>&-
}

# perfetto_reader: prints the path of a Python with Perfetto's descriptions, from PyPI.
perfetto_reader() {
	local home=$E2E/perfetto
	[ -x "$home/bin/python" ] || python3 -m venv "$home" >&2 || return 1
	"$home/bin/python" -c 'import perfetto.protos.perfetto.trace.perfetto_trace_pb2' 2>/dev/null ||
		"$home/bin/pip" install -q --no-deps --disable-pip-version-check --require-hashes \
			-r tests/e2e/perfetto-requirements.txt >&2 || return 1
	echo "$home/bin/python"
}

# says_the_same TRACE: checks that in Perfetto's format the trace has each of its states, runs, wake-ups and flows.
says_the_same() {
	run_gotrace convert "$1" -o "$W/x.pf" --format perfetto
	want 0
	timeout 300 "$python" tests/e2e/read_perfetto.py "$W/x.pf" "$W/list" >"$W/said" 2>"$W/err" ||
		die "$1: $(tail -n 1 "$W/err")"
	run_gotrace sql "$1" "$(cat tests/e2e/perfetto_list.sql)"
	want 0
	tail -n +2 "$W/out" | LC_ALL=C sort >"$W/source"
	cmp -s "$W/list" "$W/source" || die "$1: $(diff "$W/list" "$W/source" | sed -n 2,3p | tr '\n' ';')"
	tools/trace_processor.sh check "$W/x.pf" >"$W/fault" 2>&1 || [ $? -eq 77 ] || die "$1: $(head -n 1 "$W/fault")"
	run_gotrace sql "$1" "SELECT count(*) FROM sample"
	grep -qx "samples $(tail -n 1 "$W/out")" "$W/said" || die "$1: $(grep samples "$W/said") of $(tail -n 1 "$W/out")"
}

case_export_perfetto() { # read with Perfetto's own descriptions, it has what the trace has
	local python release
	python=$(perfetto_reader) || skip "no descriptions of Perfetto's format (PyPI)"
	for release in ${EXPORT_RELEASES:-$(in_turn 3 1.11.13 1.19.13 1.22.12 1.25.1 $NEWEST)}; do
		native_of "$release" user
		says_the_same "$W/native-$release"
		printf '%s %s lines; ' "$release" "$(wc -l <"$W/source")"
	done
}

case_export_os() { # threads of a Go program that have no CPU, because another program takes it
	local python binary
	python=$(perfetto_reader) || skip "no descriptions of Perfetto's format (PyPI)"
	cp "$(command -v yes)" "$W/neighbour"
	GOMAXPROCS=1 os_target $NEWEST busy
	pinned
	taskset -c $cpu nice -n -5 "$W/neighbour" >/dev/null &
	sleep 0.3
	run_gotrace -p "$target" -d 1s -o "$W/trace"
	kill %+
	want 0
	says_the_same "$W/trace"
	[ "$(grep -c '^off' "$W/list")" -gt 10 ] || noisy "$(grep -c '^off' "$W/list") intervals without a CPU"
	grep -q '^on' "$W/list" || die "no threads"
	printf '%s intervals' "$(grep -c '^off' "$W/list")"
	stop_target
}

# kernel_build_id: prints the build id, which follows the note's head, "GNU" included.
kernel_build_id() {
	python3 -c 'import re, sys
sys.stdout.write(re.search(rb"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0(.{20})", open("/sys/kernel/notes", "rb").read(), re.S)[1].hex())'
}

case_export_live() { # -o FILE.perfetto-trace: a Go program, and a tree of processes by their titles
	local python binary fact
	python=$(perfetto_reader) || skip "no descriptions of Perfetto's format (PyPI)"
	binary=$(target_binary "$NEWEST" default) || die "cannot build for go$NEWEST"
	start_target "$binary" mixed -seconds 60
	run_gotrace -p "$target" -d 1s -o "$W/x.perfetto-trace"
	want 0
	timeout 300 "$python" tests/e2e/read_perfetto.py "$W/x.perfetto-trace" >"$W/said" 2>"$W/err" || die "$(tail -n 1 "$W/err")"
	[ "$(sed -n 's/^run \([0-9]*\) .*/\1/p' "$W/said")" -gt 1000 ] || die "$(cat "$W/said")"
	grep -q "^process $target target-$NEWEST-default$" "$W/said" || die "$(grep process "$W/said")"
	for fact in "attribute gotrace.host $(uname -n)" "kernel $(uname -r)" "attribute gotrace.pid $target" \
		"attribute gotrace.kernel_build_id $(kernel_build_id)"; do
		grep -qxF "$fact" "$W/said" || die "$fact: $(grep -E '^(attribute|kernel)' "$W/said" | tr '\n' ';')"
	done
	grep -q '^uuid -*[1-9]' "$W/said" || die "no id"
	# shellcheck disable=SC2016
	run_gotrace --children -o "$W/t.perfetto-trace" -- /bin/bash -c 'bash -c "exec -a \"task: one of them\" sleep 1.5"; sleep 0.5'
	want 0
	timeout 300 "$python" tests/e2e/read_perfetto.py "$W/t.perfetto-trace" >"$W/said" 2>"$W/err" || die "$(tail -n 1 "$W/err")"
	grep -q '^process [0-9]* task: one of them$' "$W/said" && grep -q '^process [0-9]* sleep$' "$W/said" ||
		die "titles: $(grep process "$W/said" | tr '\n' ';')"
	run_gotrace -p "$target" -d 500ms -o "$W/x.perfetto-trace" --json
	want 0
	grep -q "\"trace\":\"$W/x.perfetto-trace\"" "$W/out" || die "--json: $(head -c 200 "$W/out")"
	python3 tests/summary.py docs/summary.schema.json <"$W/out" || die "--json is not as its schema says"
	run_gotrace -o "$W/x.perfetto-trace" -- /bin/sh -c 'sleep 0.2; exit 7'
	want 7
	timeout 300 "$python" tests/e2e/read_perfetto.py "$W/x.perfetto-trace" >"$W/said" 2>"$W/err" || die "$(tail -n 1 "$W/err")"
	stop_target
}

# listed: prints what is in the output's directory.
listed() {
	find "$W/out.d" -mindepth 1 -printf '%P\n' | sort | tr '\n' ' '
}

# nameless: prints the sizes of the unnamed files that gotrace has there.
nameless() {
	find "/proc/$tracer/fd" -lname "$W/out.d/*(deleted)" -exec stat -L -c %s {} +
}

# child_of_tracer yes|no: prints the child of $tracer that traces, which has children, or the one that exports.
child_of_tracer() {
	local pid traces
	for pid in $(pgrep -P "$tracer"); do
		traces=no
		pgrep -P "$pid" >/dev/null && traces=yes
		[ $traces = "$1" ] && echo "$pid"
	done
}

case_export_killed() { # a live export that is killed leaves nothing, and what was written survives the tracing process
	local binary option
	binary=$(target_binary "$NEWEST" default) || die "cannot build for go$NEWEST"
	start_target "$binary" mixed -seconds 60
	mkdir "$W/out.d"
	for option in "" --children; do
		# shellcheck disable=SC2086
		background $option -p "$target" -o "$W/out.d/x.perfetto-trace"
		sleep 3.5
		nameless | grep -qv '^0$' || noisy "nothing is written yet: $(tail -n 1 "$W/err")"
		[ -z "$(listed)" ] || die "while tracing $option there is $(listed)"
		kill -KILL "$tracer"
		wait "$tracer" 2>/dev/null
		sleep 1
		[ -z "$(listed)" ] || die "killed $option, it left $(listed)"
		still_lives
	done
	background -p "$target" -o "$W/out.d/x.perfetto-trace"
	sleep 3.5
	kill -KILL "$(child_of_tracer yes)"
	ends 30
	want 3
	[ "$(listed)" = "x.perfetto-trace " ] || die "the tracing process killed: $(listed)"
	rm "$W/out.d/x.perfetto-trace"
	background -p "$target" -o "$W/out.d/x.perfetto-trace"
	sleep 3.5
	kill -KILL "$(child_of_tracer no)"
	sleep 0.5
	kill -INT "$tracer"
	ends 30
	want 1
	says 'the process that exports'
	says 'kept the unexported trace'
	[ "$(listed)" = "x.perfetto-trace.trace " ] || die "the exporting process killed: $(listed)"
	strict "$W/out.d/x.perfetto-trace.trace"
	stop_target
}

# cut_at FROM-MS TO-MS OPTION...: makes a piece of $W/whole, and reads it as $format.
cut_at() {
	local from=$1 to=$2
	shift 2
	run_gotrace cut -q "$W/whole" -o "$W/piece" --from "${from}ms" --to "${to}ms" "$@"
	[ "$status" -eq 1 ] && grep -q 'no event of' "$W/err" && return
	want 0
	checked "$W/piece"
	read_as "$format" "$W/piece"
}

# random_cuts: makes $CUTS pieces (default 2).
random_cuts() {
	local from
	for _ in $(seq "${CUTS:-2}"); do
		from=$((RANDOM % 1000))
		cut_at $from $((from + RANDOM % 400))
		number=$((number + 1))
	done
}

case_cut_readers() { # pieces of native traces and of ours in every format, read by the format's own readers
	local format from number=0 # number of random cuts
	RANDOM=$CELL_SEED
	native_of $NEWEST
	native_of 1.19.13
	for format in ${EXPORT_FORMATS:-$(in_turn 3 $ALL_FORMATS)}; do
		for from in "$W/native-1.19.13" tests/fixtures/rawlog/go1.26.8.trace "$W/native-$NEWEST"; do
			converted "$from" "$W/whole" "$format"
			random_cuts
		done
		cut_at 200 700 --goroutine 1
		cut_at 100 300 --anonymize
		! strings -a "$W/piece" | grep -qE 'main\.|/src/' || die "names in an anonymized trace"
		rm -f "$W"/part.*
		run_gotrace cut "$W/whole" -o "$W/part" --split 200k
		want 0
		for from in "$W"/part.*; do
			read_as "$format" "$from"
			[ "$(stat -c %s "$from")" -le 260000 ] || die "a piece of $(stat -c %s "$from") bytes with --split 200k"
		done
		printf '%s ' "$format"
	done
}

# Each piece has the states of all goroutines, so small pieces of a trace with many take much more than the trace.
case_cut_amplified() {
	LOAD_SECONDS=60 load parked
	run_gotrace -q -p "$target" -d 1s -o "$W/whole"
	stop_target
	mkdir "$W/parts"
	LIMIT=120 run_gotrace cut "$W/whole" -o "$W/parts/x" --split 20k
	want 1
	one_line
	says '--split 20.5 kB would take about [0-9,]+ files, [0-9.]+ [MG]B in all'
	[ -z "$(ls "$W/parts")" ] || die "files are left: $(ls "$W/parts" | wc -l)"
	run_gotrace cut "$W/whole" -o "$W/parts/x" --split 4M --max-files 1
	want 1
	run_gotrace cut "$W/whole" -o "$W/parts/x" --split 4M --max-total 1M
	want 1
	[ -z "$(ls "$W/parts")" ] || die "files are left: $(ls "$W/parts")"
	LIMIT=120 run_gotrace cut "$W/whole" -o "$W/parts/x" --split 500k --max-files 5000 --max-total 4G
	want 0
	says "in $(ls "$W/parts" | wc -l) files, $(du -cb "$W"/parts/* | tail -n 1 | awk '{printf "%d", $1 / 1e6}')"
	for file in "$W"/parts/x.1 "$W"/parts/x.2; do
		strict "$file"
	done
	cat "$W/err"
}

# states_inside FILE FROM-NS TO-NS WHERE: prints what happens there, in order, without the time: events of one moment
# are written a tick apart.
states_inside() {
	run_gotrace sql "$1" "SELECT goid, state, reason, s.thread, p, k.leaf, k.root, k.depth FROM state s
		JOIN goroutine g ON g.id = s.g LEFT JOIN stack k ON k.id = s.stack
		WHERE begins AND ends AND ts >= $2 AND ts + dur <= $3 AND $4 ORDER BY goid, ts"
	want 0
	cat "$W/out"
}

case_export_postgres() { # every process of a server in one file, by its title
	local bin python title
	python=$(perfetto_reader) || skip "no descriptions of Perfetto's format (PyPI)"
	start_postgres 1
	target=$(head -n 1 "$public/data/postmaster.pid")
	cd "$TOP" || exit 1
	background --children -p "$target" -d 4s -o "$W/t.perfetto-trace"
	sleep 1.5
	"$bin/pgbench" -h "$public" -U postgres -c 2 -T 2 postgres >"$W/load.out" 2>&1 </dev/null || die "pgbench: $(tail -n 3 "$W/load.out")"
	ends 60
	want 0
	kill -INT "$target"
	timeout 300 "$python" tests/e2e/read_perfetto.py "$W/t.perfetto-trace" >"$W/said" 2>"$W/err" || die "$(tail -n 1 "$W/err")"
	for title in 'postgres: checkpointer' 'postgres: walwriter' 'postgres: postgres postgres \[local\]'; do
		grep -q "^process [0-9]* $title" "$W/said" || die "no $title: $(grep ^process "$W/said" | tr '\n' ';')"
	done
	printf '%s processes' "$(grep -c ^process "$W/said")"
	waits_for test ! -e "$public/data/postmaster.pid"
}

case_cut_inside() { # a piece has what the trace has there; at each edge one event may be a tick too late
	local start from to differ only busy
	RANDOM=$CELL_SEED
	native_of $NEWEST
	run_gotrace sql "$W/native-$NEWEST" "SELECT value FROM info WHERE key = 'start'"
	start=$(tail -n 1 "$W/out")
	run_gotrace sql "$W/native-$NEWEST" "SELECT goid FROM state s JOIN goroutine g ON g.id = s.g WHERE created IS NULL
		GROUP BY g ORDER BY count(*) DESC LIMIT 1"
	busy=$(tail -n 1 "$W/out")
	for only in 1 1 1 "goid = $busy"; do
		from=$((RANDOM % 600))
		to=$((from + 50 + RANDOM % 200))
		run_gotrace cut -q "$W/native-$NEWEST" -o "$W/piece" --from ${from}ms --to ${to}ms \
			$([ "$only" = 1 ] || echo --goroutine "$busy")
		want 0
		from=$((start + from * 1000000))
		to=$((start + to * 1000000))
		states_inside "$W/native-$NEWEST" $from $to "$only" >"$W/whole.list"
		states_inside "$W/piece" $from $to "$only" >"$W/piece.list"
		differ=$(diff "$W/whole.list" "$W/piece.list" | grep -c '^[<>]')
		[ "$differ" -le 4 ] || die "$(diff "$W/whole.list" "$W/piece.list" | sed -n 1,3p | tr '\n' ';')"
		[ "$(wc -l <"$W/piece.list")" -gt 10 ] || die "nothing is in the piece"
		printf '%s ' "$(wc -l <"$W/piece.list")"
	done
}

case_flame() { # one page, which a browser draws without a network
	native_of $NEWEST
	run_gotrace flame "$W/native-$NEWEST" -o "$W/x.html"
	want 0
	timeout 120 chromium-headless-shell --no-sandbox --dump-dom "file://$W/x.html" >"$W/dom" 2>/dev/null ||
		skip "no browser"
	[ "$(grep -o 'class="f"' "$W/dom" | wc -l)" -ge 20 ] || die "the page has no flame graph"
}

# view_until PATTERN OPTION...: starts gotrace view in the background, its output in $W/view.out, and waits for the line.
view_until() {
	local pattern=$1 tries=0
	shift
	"$GOTRACE" view "$@" >"$W/view.out" 2>"$W/view.err" &
	VIEW=$!
	until grep -q "$pattern" "$W/view.out"; do
		tries=$((tries + 1))
		kill -0 $VIEW 2>/dev/null && [ $tries -le 600 ] || die "view $*: $(tail -n 2 "$W/view.err")"
		sleep 0.1
	done
}

# view_ends STATUS: waits for it.
view_ends() {
	local status=0
	wait $VIEW || status=$?
	[ $status -eq "$1" ] || die "view ended with status $status, not $1: $(tail -n 2 "$W/view.err")"
}

# http_status WORD...: asks with curl, the answer in $W/answer.
http_status() {
	rm -f "$W/answer"
	curl -s -m 20 -o "$W/answer" -w '%{http_code}' "$@"
}

# fault_trace: makes $W/fault.trace, a native trace with a finding that has a worst instance.
fault_trace() {
	local binary
	binary=$(planted_binary $NEWEST) || die "cannot build"
	timeout 30 "$binary" lock-io -seconds 3 -native "$W/fault.trace" >"$W/target.out" 2>&1 || die "the program ended"
}

# axe_core: prints the path of the script of axe-core, which checks pages for accessibility, from npm.
axe_core() {
	local home=$E2E/axe
	command -v npm >/dev/null || return 1
	if [ ! -e "$home/node_modules/axe-core/axe.min.js" ]; then
		mkdir -p "$home" && cp tests/e2e/page/package*.json "$home" && npm ci --silent --prefix "$home" >&2 || return 1
	fi
	echo "$home/node_modules/axe-core/axe.min.js"
}

case_pages() { # report --html and flame in a browser: three widths, two colour schemes, the keyboard, accessibility
	local axe page line
	command -v chromium-headless-shell >/dev/null || skip "no browser"
	axe=$(axe_core) || skip "no axe-core, which npm (Debian's package npm) fetches from registry.npmjs.org on first use"
	fault_trace
	run_gotrace report -q --html "$W/report.html" "$W/fault.trace"
	want 0
	run_gotrace flame "$W/fault.trace" -o "$W/flame.html"
	want 0
	for page in report flame; do
		timeout 400 python3 tests/e2e/page/check.py "$W/$page.html" "$axe" "$W" >"$W/$page.faults" 2>"$W/err" ||
			die "$page: $(tail -n 1 "$W/err")"
		[ ! -s "$W/$page.faults" ] || die "$page: $(wc -l <"$W/$page.faults") faults: $(head -n 5 "$W/$page.faults")"
	done
	timeout 120 chromium-headless-shell --no-sandbox --dump-dom "file://$W/report.html" >"$W/dom" 2>/dev/null || die "no page"
	for line in 1 2 3; do
		"$GOTRACE" report "$W/fault.trace" | sed -n "${line}p" >"$W/line"
		python3 -c 'import html, sys
sys.exit(open(sys.argv[1]).read().strip() not in html.unescape(open(sys.argv[2]).read()))' "$W/line" "$W/dom" ||
			die "the page does not say: $(cat "$W/line")"
	done
	grep -q 'class="strip"' "$W/dom" || die "no finding has a time line"
	grep -q 'class="here"' "$W/dom" || die "no time line shows the instance"
	grep -q 'class="wake"' "$W/dom" || die "no time line shows a wake-up"
	grep -q 'aria-label="g[0-9]* main\.[^"]*mostly' "$W/dom" || die "a time line has no text"
}

case_view_perfetto() { # one file, at one address, for one origin, once; the piece is that of the finding
	local url from to row python
	command -v curl >/dev/null || skip "no curl"
	python=$(perfetto_reader) || skip "no Perfetto for Python"
	fault_trace
	view_until '^The page fetches' --in=perfetto --finding 1 "$W/fault.trace"
	grep -qE '^https://ui.perfetto.dev/#!/\?url=http://127.0.0.1:9001/[0-9a-f]{32}/fault.trace.perfetto-trace&visStart=[0-9]+&visEnd=[0-9]+$' \
		"$W/view.out" || die "the address: $(grep https "$W/view.out")"
	url=$(grep -o 'http://127[^&]*' "$W/view.out")
	from=$(grep -o 'visStart=[0-9]*' "$W/view.out")
	to=$(grep -o 'visEnd=[0-9]*' "$W/view.out")
	run_gotrace view --in=perfetto "$W/fault.trace"
	want 1
	says 'port 9001 of 127.0.0.1 is in use'
	ss -Hltn | grep ':9001 ' | grep -v '127.0.0.1:9001' && die "listens at other addresses"
	for row in "404 http://127.0.0.1:9001/" "404 ${url}x" "403 http://localhost:9001/${url#*9001/}" \
		"403 -HOrigin:https://example.org $url" "405 -XPOST $url" "200 -XOPTIONS $url"; do
		[ "$(http_status ${row#* })" = "${row%% *}" ] || die "not status $row"
		[ ! -s "$W/answer" ] || die "an answer to $row"
		kill -0 $VIEW 2>/dev/null || die "has ended after $row"
	done
	[ "$(http_status -D "$W/head" -HOrigin:https://ui.perfetto.dev "$url")" = 200 ] || die "cannot fetch it"
	grep -qi '^Access-Control-Allow-Origin: https://ui.perfetto.dev' "$W/head" || die "the page may not read it"
	view_ends 0
	grep -q '^The page has fetched it' "$W/view.out" || die "does not say that it was fetched"
	timeout 300 "$python" tests/e2e/read_perfetto.py "$W/answer" "$W/list" >"$W/said" 2>"$W/err" || die "$(tail -n 1 "$W/err")"
	awk -v from="${from#*=}" -v to="${to#*=}" '$1 == "run" { n++; if ($2 < from - 1000 || $2 + $3 > to + 1000) bad++ }
		END { exit n < 10 || bad > 0 }' "$W/list" || die "the piece is not from $from to $to: $(grep -m 3 '^run' "$W/list")"
}

# view_in_go TRACE: checks what Go's viewer shows of the first finding, and that it ends with gotrace.
view_in_go() {
	local url
	view_until "^Go's viewer" --in=go --finding 1 "$1"
	grep -q '^http://127.0.0.1:[0-9]*/trace?view=proc#[0-9.]*:[0-9.]*$' "$W/view.out" || die "the address: $(cat "$W/view.out")"
	url=$(grep -o 'http://127[^#]*' "$W/view.out")
	[ "$(http_status "$url")" = 200 ] || die "no answer"
	[ "$(http_status "${url%/trace*}/jsontrace?view=proc")" = 200 ] || die "the viewer cannot read the piece"
	[ "$(grep -c '"ph"' "$W/answer")" -ge 100 ] || die "the piece is empty"
	python3 -c 'import re, sys
said = open(sys.argv[1]).read()
begin, end = map(float, re.search("#([0-9.]+):([0-9.]+)$", said, re.M).groups())
first, last = map(float, re.search("shown: ([0-9.]+) s to ([0-9.]+) s$", said, re.M).groups())
if not begin <= end <= 1000 * (last - first) + 1:
    sys.exit("%s to %s ms of %s s to %s s" % (begin, end, first, last))' "$W/view.out" 2>"$W/python.err" ||
		die "the address: $(tail -n 1 "$W/python.err")"
	kill -INT $VIEW
	view_ends 0
	[ ! -s "$W/view.err" ] || die "$(cat "$W/view.err")"
	! curl -s -m 2 "$url" >/dev/null || die "the viewer is still there"
}

case_view_go() { # Go's viewer shows the piece at the place: of its own format, and of one that is too old for it
	command -v curl >/dev/null || skip "no curl"
	timeout 300 go tool trace -h >/dev/null 2>&1 # go builds its viewer on first use
	fault_trace
	view_in_go "$W/fault.trace"
	run_gotrace convert -q --format 1.10 -o "$W/old.trace" "$W/fault.trace"
	want 0
	view_in_go "$W/old.trace"
}

case_view_refused() { # what it cannot show
	local trace=tests/fixtures/rawlog/go1.26.8.trace
	run_gotrace view --in=perfetto --finding 999 $trace
	want 1
	one_line
	says 'has no findings'
	run_gotrace view --in=perfetto "$W/none"
	want 1
	one_line
	says 'cannot open .*/none: No such file'
	run_gotrace view --in=chrome $trace
	want 2
	says 'chrome is not go or perfetto'
}
