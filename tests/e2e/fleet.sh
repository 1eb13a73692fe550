# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Many traces as tables (docs/fleet.md), read by pyarrow, DuckDB, polars and ClickHouse. To be sourced after cases.sh and
# analysis.sh.

# lake_reader: prints the path of a Python with the readers, from PyPI.
lake_reader() {
	local home=$E2E/fleet
	[ -x "$home/bin/python" ] || python3 -m venv "$home" >&2 || return 1
	"$home/bin/python" -c 'import pyarrow, duckdb, polars, chdb' 2>/dev/null ||
		"$home/bin/pip" install -q --no-deps --disable-pip-version-check --require-hashes \
			-r tests/e2e/fleet-requirements.txt >&2 || return 1
	echo "$home/bin/python"
}

# into_lake TRACE OPTION...: adds a trace to the lake.
into_lake() {
	run_gotrace convert -q "$1" --format parquet -o "$W/lake" "${@:2}"
	want 0
}

# reads COMMAND ARG...: runs a check of fleet.py.
reads() {
	timeout 300 "$python" tests/e2e/fleet.py "$@" >"$W/said" 2>"$W/err" || die "$*: $(tail -n 1 "$W/err")"
}

case_fleet_random() { # random tables, equal in each reader
	local python
	python=$(lake_reader) || skip "no readers of Parquet (PyPI)"
	make -s build/e2e/parquet_random >"$W/log" 2>&1 || die "cannot build: $(tail -n 1 "$W/log")"
	build/e2e/parquet_random "$W" 60 || die "cannot write"
	reads random "$W"
}

case_fleet_tables() { # the tables have what gotrace sql says, to the nanosecond; formats without a clock
	local python trace format
	python=$(lake_reader) || skip "no readers of Parquet (PyPI)"
	for trace in tests/fixtures/rawlog/*.trace; do
		into_lake "$trace" --raw --resource service.name=fixture
		reads tables "$GOTRACE" "$W/lake" "$trace"
		for format in 1.22 1.19 1.11; do
			run_gotrace convert -q "$trace" --format $format -o "$W/$format.trace"
			want 0
			touch -d 2026-11-20T12:00:00Z "$W/$format.trace"
			into_lake "$W/$format.trace" --raw --resource service.name=fixture
			reads tables "$GOTRACE" "$W/lake" "$W/$format.trace"
		done
		[ -d "$W/lake/trace/date=2026-11-20" ] || die "no date of the file's modification"
		rm -r "$W/lake"
	done
}

# planted_lake: two hosts with two versions of a service; v2 has the faults that the questions ask for.
planted_lake() {
	local binary host mode version
	binary=$(planted_binary $NEWEST) || die "cannot build"
	for host in h1 h2; do
		for mode in lock-io outlier; do
			for version in v1 v2; do
				timeout 30 "$binary" $mode $([ $version = v1 ] && echo -clean) -seconds 2 \
					-native "$W/$mode.$version.$host.trace" >"$W/target.out" 2>&1 || die "$mode ended"
				into_lake "$W/$mode.$version.$host.trace" --raw --resource service.name=shop \
					--resource service.version=$version --resource host.name=$host
			done
		done
	done
}

case_fleet_questions() { # the questions of docs/fleet.md, on planted faults: the same answers in two engines
	local python
	python=$(lake_reader) || skip "no readers of Parquet (PyPI)"
	planted_lake
	reads questions "$W/lake" docs/fleet.md
}

case_fleet_spark() { # the same answers in Spark: a standalone master and two workers
	local python
	lake_reader >"$W/python" || skip "no readers of Parquet (PyPI)"
	command -v java >/dev/null || die "no java: tools/deps.sh tests"
	python=$E2E/spark/bin/python
	[ -x "$python" ] || python3 -m venv "$E2E/spark" || die "no venv"
	"$python" -c 'import pyspark, duckdb' 2>/dev/null ||
		"$E2E/spark/bin/pip" install -q --disable-pip-version-check pyspark==4.3.0 duckdb==2.0.1 >"$W/pip" 2>&1 ||
		skip "no Spark (PyPI): $(tail -n 1 "$W/pip")"
	planted_lake
	reads spark "$W/lake" docs/fleet.md
}

case_fleet_throttled() { # live: the question about throttled services; threads, too
	local python
	python=$(lake_reader) || skip "no readers of Parquet (PyPI)"
	cpu_group
	GOMAXPROCS=1 os_target $NEWEST busy
	echo "$target" >"$group/cgroup.procs"
	quota 20000
	run_gotrace -q -p "$target" -d 2s --os=1ms -o "$W/trace"
	want 0
	run_gotrace -q -p "$target" --as c -d 1s -o "$W/threads.trace"
	want 0
	quota max
	stop_target
	into_lake "$W/trace" --resource service.name=throttled --raw
	into_lake "$W/threads.trace" --raw
	reads tables "$GOTRACE" "$W/lake" "$W/trace"
	reads tables "$GOTRACE" "$W/lake" "$W/threads.trace"
	[ -d "$W/lake/trace/date=$(date -u +%F)/service=$(basename "$binary")" ] ||
		die "no service by the executable's name: $(ls "$W/lake/trace/"*)"
	reads throttled "$W/lake" docs/fleet.md
}

case_fleet_origin() { # the target's environment says where the trace is from, but not which process it is; nothing else gets in
	local recorder
	export OTEL_SERVICE_NAME=shop SECRET=hush
	export OTEL_RESOURCE_ATTRIBUTES='service.version=v%32,host.name=h9,process.pid=1,process.executable.name=init,password=hush'
	load pingpong
	unset OTEL_SERVICE_NAME OTEL_RESOURCE_ATTRIBUTES SECRET
	run_gotrace -q -p "$target" -d 1s -o "$W/trace"
	want 0
	"$GOTRACE" dump "$W/trace" >"$W/dump"
	grep -q 'message="resource service.name=shop,service.version=v2,host.name=h9,process.pid='"$target," "$W/dump" ||
		die "not in the trace: $(grep 'message="resource' "$W/dump" | head -n 1)"
	! grep -q 'process.pid=1,\|name=init' "$W/dump" || die "an environment says which process it is"
	! grep -q hush "$W/dump" || die "a secret is in the trace"
	into_lake "$W/trace"
	ls "$W"/lake/trace/date=*/service=shop/h9-*.parquet >/dev/null || die "not in the lake: $(find "$W/lake/trace" -type f)"
	run_gotrace cut --anonymize "$W/trace" -o "$W/cut"
	want 0
	! "$GOTRACE" dump "$W/cut" | grep -q 'name=shop\|h9' || die "the anonymized trace says where it is from"
	# A snapshot does not have the beginning of the recording.
	"$GOTRACE" flight -q -p "$target" --window 1s -o "$W/dir" 2>"$W/err" </dev/null &
	recorder=$!
	sleep 5
	"$GOTRACE" snapshot -p $recorder >"$W/out" 2>"$W/err" || die "no snapshot: $(tail -n 1 "$W/err")"
	kill -TERM $recorder
	wait $recorder
	rm -r "$W/lake"
	into_lake "$(cat "$W/out")" --resource host.name=h10
	ls "$W"/lake/trace/date=*/service=shop/h10-*.parquet >/dev/null || die "not in the lake: $(find "$W/lake/trace" -type f)"
	stop_target
}

case_fleet_origin_of_command() { # a command's trace is from the command, not from gotrace before the exec; a tree's from nowhere
	OTEL_SERVICE_NAME=nap run_gotrace -q -o "$W/trace" -- sleep 1
	want 0
	"$GOTRACE" dump "$W/trace" >"$W/dump"
	[ "$(grep -c 'message="resource' "$W/dump")" -eq 1 ] || die "not noted once: $(grep 'message="resource' "$W/dump")"
	grep -q 'message="resource service.name=nap,.*process.executable.name=sleep[,"]' "$W/dump" ||
		die "another origin: $(grep 'message="resource' "$W/dump")"
	OTEL_SERVICE_NAME=nap run_gotrace -q --children -o "$W/tree" -- sh -c 'sleep 1; true'
	want 0
	for trace in "$W"/tree.*; do
		! "$GOTRACE" dump "$trace" | grep -q 'message="resource' || die "$trace says where it is from"
	done
}

case_fleet_upload() { # a trace and what only looks like one; a store that cannot be reached; the tables are complete
	local store=$W/store dir=$W/snapshots status
	local upload=(env "PATH=$(dirname "$GOTRACE"):$PATH" NODE=n1 tools/fleet/upload.sh)
	mkdir "$dir"
	cp tests/fixtures/rawlog/go1.26.8.trace "$dir/a.trace"
	cp -p "$dir/a.trace" "$W/a.trace"
	echo "no trace" >"$dir/b.trace"
	echo "not ours" >"$dir/c.txt"
	: >"$W/file"
	"${upload[@]}" -1 "$dir" "$W/file/x" >"$W/out" 2>"$W/err" </dev/null && die "uploaded to a file"
	[ -f "$dir/a.trace" ] || die "the trace is gone, and nowhere else"
	mkdir "$W/full"
	mount -t tmpfs -o size=4k none "$W/full" || die "no tmpfs"
	TMPDIR=$W/full "${upload[@]}" -1 "$dir" "$W/other" >"$W/out" 2>"$W/err" && status=0 || status=$?
	umount "$W/full"
	[ $status -eq 1 ] && [ -f "$dir/a.trace" ] || die "without space for the tables: status $status, $(ls "$dir")"
	"${upload[@]}" -1 "$dir" "$store" service.name=shop host.name=n1 >"$W/out" 2>"$W/err" || die "$(tail -n 1 "$W/err")"
	cmp "$W/a.trace" "$store/raw/n1/a.trace" || die "the trace is another one"
	[ -f "$store/raw/n1/b.trace" ] || [ -f "$W/other/raw/n1/b.trace" ] || die "the bad file stays in the way"
	[ "$(ls "$dir")" = c.txt ] || die "left: $(ls "$dir")"
	into_lake "$W/a.trace" --resource service.name=shop --resource host.name=n1
	diff -r "$W/lake" "$store/lake" >"$W/diff" || die "tables differ: $(head -n 1 "$W/diff")"
}

case_fleet_ask() { # nodes that answer, one that does not; Alertmanager's webhook by Debian's webhook(1)
	local port server
	cat >"$W/shell" <<-EOF
		#!/bin/sh
		[ "\$1" != bad ] || { echo "no route to host" >&2; exit 255; }
		echo "\$@" >>"$W/asked"
		echo "/out/\$1.trace"
	EOF
	chmod +x "$W/shell"
	tools/fleet/ask.sh -t @1795727100 -l 3s -x "$W/shell" n1 'n 2' >"$W/out" 2>"$W/err" || die "$(cat "$W/err")"
	[ "$(sort "$W/out" | tr '\n' ';')" = "n 2: /out/n 2.trace;n1: /out/n1.trace;" ] || die "said: $(cat "$W/out")"
	[ "$(sort "$W/asked" | tail -n 1)" = "n1 gotrace snapshot --all --at @1795727100 --last 3s" ] || die "asked: $(cat "$W/asked")"
	tools/fleet/ask.sh -x "$W/shell" n1 bad >"$W/out" 2>"$W/err" && die "a node did not answer, without a word"
	grep -q "^ask: bad: exit status 255" "$W/err" || die "$(cat "$W/err")"
	grep -qx "n1: /out/n1.trace" "$W/out" || die "the other one is lost"
	command -v webhook curl >/dev/null || die "no webhook or curl: tools/deps.sh tests"
	sed "s|/usr/local/share/gotrace/fleet/ask.sh|$W/alert|" tools/fleet/alert.json >"$W/alert.json"
	printf '#!/bin/sh\necho "$@" >>"%s"\n' "$W/alerts" >"$W/alert"
	chmod +x "$W/alert"
	port=$(free_port)
	webhook -hooks "$W/alert.json" -ip 127.0.0.1 -port "$port" >"$W/webhook.out" 2>&1 &
	server=$!
	timeout 10 sh -c "until curl -s -o /dev/null http://127.0.0.1:$port/; do sleep 0.1; done" ||
		die "webhook does not start: $(tail -n 1 "$W/webhook.out")"
	post() { curl -s -H 'Content-Type: application/json' -H "Authorization: Bearer $1" -d "{\"status\":\"$2\",\"alerts\":[]}" "http://127.0.0.1:$port/hooks/gotrace" >"$W/x"; }
	post wrong firing
	post CHANGE-THIS resolved
	post CHANGE-THIS firing
	timeout 10 sh -c "until [ -s '$W/alerts' ]; do sleep 0.1; done" ||
		die "an alert asks nobody: $(tail -n 1 "$W/webhook.out")"
	kill $server
	[ "$(cat "$W/alerts")" = "-l 10s" ] || die "asked with: $(cat "$W/alerts")"
}

case_fleet_demo() { # two recorders in namespaces, one window, S3, the six questions
	local letter
	lake_reader >"$W/x" || skip "no Python packages (PyPI)"
	timeout 500 tools/fleet/demo.sh >"$W/out" 2>"$W/err" || die "$(tail -n 2 "$W/err")"
	[ "$(grep -c '^h[12]: .*\.trace$' "$W/out")" = 4 ] || die "not four snapshots: $(grep '^h' "$W/out" | tail -n 4)"
	[ "$(grep -c '^upload: s3:' "$W/out")" = 4 ] || die "not four uploads"
	# answer LETTER: what follows the question.
	answer() { sed -n "/^-- $1:/,/^-- [^$1]:/p" "$W/out" | grep '^ '; }
	for letter in a c; do
		answer $letter | grep -q 'main.(\*cache).getLocked  *sync.(\*Mutex).Lock' || die "$letter: $(answer $letter)"
	done
	[ "$(answer b | grep -c 'v[12]  *h[12]')" = 2 ] || die "b: $(answer b)"
	answer d | grep -q 'h2  *request' || die "d: $(answer d)"
	answer f | grep -q 'h2  *v2  *1 ' || die "f: $(answer f)"
	if pgrep -f "$PWD/build/fleet-demo/" >"$W/left"; then die "left: $(ps -o args= -p "$(head -n 1 "$W/left")")"; fi
}

case_fleet_bad_input() { # bad files among good ones; a lake that cannot be written; names that are no names
	head -c 3000 tests/fixtures/rawlog/go1.26.8.trace >"$W/cut.trace"
	echo nothing >"$W/bad.trace"
	run_gotrace convert -q tests/fixtures/rawlog/go1.25.1.trace "$W/none.trace" "$W/bad.trace" "$W/cut.trace" \
		tests/fixtures/rawlog/go1.26.8.trace --format parquet -o "$W/lake" --resource service.name='../../x y'
	want 1
	[ "$(wc -l <"$W/err")" -eq 3 ] || die "not a line for each: $(cat "$W/err")"
	[ "$(find "$W/lake/trace" -name '*.parquet' | wc -l)" -eq 2 ] || die "$(find "$W/lake" -name '*.parquet')"
	[ "$(find "$W" -path '*x y*' | wc -l)" -eq 0 ] || die "a service's name is a path"
	find "$W/lake" -type f | sort | xargs sha256sum >"$W/first"
	run_gotrace convert -q tests/fixtures/rawlog/go1.2[56]*.trace --format parquet -o "$W/lake" --resource service.name='../../x y'
	want 0
	find "$W/lake" -type f | sort | xargs sha256sum | cmp -s - "$W/first" || die "not the same files again"
	echo x >"$W/file"
	run_gotrace convert -q tests/fixtures/rawlog/go1.26.8.trace --format parquet -o "$W/file"
	want 1
	[ "$(cat "$W/file")" = x ] || die "a file was replaced by a directory"
	run_gotrace convert -q tests/fixtures/rawlog/go1.26.8.trace --format parquet -o -
	want 2
	run_gotrace convert -q tests/fixtures/rawlog/go1.26.8.trace --format parquet -o "$W/lake" --resource color=red
	want 2
}
