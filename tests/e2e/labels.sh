# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# pprof labels in traces, compared with what the program reports and with its goroutine profile; in all commands that
# read traces; and of programs that store other things in place of labels. To be sourced after lib.sh and cases.sh.

# labels_binary RELEASE VARIANT: prints its path.
labels_binary() {
	local binary=$E2E/labels-$1-$2 flags=()
	[ "$2" = stripped ] && flags=(-ldflags='-s -w')
	(cd tests/e2e/labels && CGO_ENABLED=0 old_go "$1" build "${flags[@]}" -o "$binary" main.go) >&2 || return 1
	echo "$binary"
}

# labels_trace RELEASE VARIANT OPTION...: traces labels/main.go while goroutines change their labels, into $W/trace.
labels_trace() {
	local binary tracer i
	binary=$(labels_binary "$1" "$2") || die "cannot build with Go $1"
	start_target "$binary" "$W/profile"
	timeout 60 "$GOTRACE" -p "$target" -d 60s -o "$W/trace" "${@:3}" >"$W/out" 2>"$W/err" </dev/null &
	tracer=$!
	for ((i = 0; i < 300; i++)); do
		[ -s "$W/trace" ] && break
		sleep 0.1
	done
	kill -USR1 "$target"
	for ((i = 0; i < 300; i++)); do
		grep -q '^done' "$W/target.out" && break
		sleep 0.1
	done
	kill -INT $tracer
	wait $tracer
	status=$?
	want 0
	still_lives
	stop_target
	checked "$W/trace"
	"$GOTRACE" dump "$W/trace" >"$W/dump" || die "dump"
}

case_labels() { # each set of each goroutine, no more and no less, including those from before the trace
	local release variant options
	for release in 1.9.7 1.11.13 1.16.15 1.19.13 1.22.12 1.24.6 1.26.8 $NEWEST; do
		variant=default options=()
		[ "$(minor $release)" -ne 22 ] || variant=stripped
		[ "$(minor $release)" -ge 11 ] || options=(--format 1.20) # its own format has no log events
		echo "Go $release $variant:"
		labels_trace $release $variant "${options[@]}"
		[ "$(minor $release)" -gt 17 ] && options=() || options=(--system)
		python3 tests/e2e/labels/compare.py "$W/dump" "$W/target.out" "$W/profile" "${options[@]}" ||
			die "the trace differs from what the program says"
		rm -f "$W/trace" "$W/profile"
	done
	strict_after
}

# strict_after: traces the newest release's program, and checks the trace with Go's own reader.
strict_after() {
	labels_trace $NEWEST default
	strict "$W/trace"
}

case_labels_none() { # --no-labels: no labels, and no probe for them
	labels_trace $NEWEST default --no-labels
	! grep -q 'key="labels' "$W/dump" || die "labels with --no-labels"
	start_target "$E2E/labels-$NEWEST-default" "$W/profile"
	run_gotrace sites -p "$target"
	grep -q '^runtime/pprof.runtime_setProfLabel+0x[0-9a-f]* labels 0x' "$W/out" || die "sites does not list the probe"
	stop_target
}

# query TEXT SQL: checks that the query returns TEXT as its only value.
query() {
	run_gotrace sql "$W/trace" "$2"
	[ "$(tail -n +2 "$W/out")" = "$1" ] || die "$2: $(tail -n +2 "$W/out" | head -n 3) instead of $1"
}

case_labels_readers() { # report, why, diff, sql, pprof, Perfetto
	local python
	labels_trace $NEWEST default
	query "3 0" "SELECT count(*) || ' ' || max(begins) FROM label WHERE key = 'handler' AND value = '/before'"
	query "105 1" "SELECT count(*) || ' ' || min(begins) FROM label WHERE key = 'worker' AND ends"
	query 5 "SELECT count(*) FROM label WHERE key = 'child' AND NOT ends"
	query 0 "SELECT count(*) FROM label a JOIN label b ON a.g = b.g AND a.key = b.key AND a.rowid < b.rowid AND a.ts < b.ts + b.dur AND b.ts < a.ts + a.dur"
	query 0 "SELECT count(*) FROM label l JOIN goroutine g ON g.id = l.g WHERE l.ts < coalesce(g.created, 0) OR l.ts + l.dur > coalesce(g.ended, 9e18)"
	run_gotrace report "$W/trace" --by-label worker
	grep -qE '^ +22 .* 3$' "$W/out" || die "no row of worker 3: $(cat "$W/out")"
	grep -q '(without it)$' "$W/out" || die "no row without the label"
	run_gotrace report "$W/trace" --label worker=3
	grep -qE ' +20 .* sleep +main.change.func1' "$W/out" || die "not its sleeps: $(cat "$W/out")"
	run_gotrace report "$W/trace" --json
	python3 -c 'import json, sys
rows = {r["name"]: r for r in json.load(open(sys.argv[1]))["tables"]["labels"]["rows"]}
sys.exit(rows["handler=/before"]["cut"] != 3 or rows["child=yes"]["cut"] != 5)' "$W/out" || die "report --json"
	run_gotrace why "$W/trace" --label worker=3
	want 0
	grep -qE 'sleep +g[0-9]+ +main.change.func1' "$W/out" || die "why: $(cat "$W/out")"
	run_gotrace why "$W/trace" --label worker=77
	want 1
	says "no label 'worker=77'"
	run_gotrace diff "$W/trace" "$W/trace" --json
	grep -q '"kind":"label","name":"worker=3"' "$W/out" || die "diff has no labels"
	run_gotrace convert "$W/trace" -o "$W/wall.pb.gz" --format pprof:wall
	GOTOOLCHAIN=go$NEWEST go tool pprof -tags "$W/wall.pb.gz" >"$W/tags" 2>/dev/null || die "pprof cannot read it"
	grep -qE '^ handler: Total' "$W/tags" && grep -qE ': /before$' "$W/tags" || die "pprof has no labels"
	python=$(perfetto_reader) || skip "no descriptions of Perfetto's format (PyPI)"
	run_gotrace convert "$W/trace" -o "$W/x.pf" --format perfetto
	timeout 300 "$python" tests/e2e/read_perfetto.py "$W/x.pf" "$W/list" >"$W/said" 2>"$W/err" || die "$(tail -n 1 "$W/err")"
	[ "$(grep -c '^labels .* Running.*"handler": "/before"' "$W/list")" -eq 0 ] || die "they never ran"
	[ "$(grep -c '^labels .* Waiting.*"handler": "/before"' "$W/list")" -le 3 ] || die "too many"
	[ "$(grep -c '^labels .* Running.*"worker": "3"' "$W/list")" -ge 40 ] || die "slices have no labels: $(grep -c '^labels' "$W/list")"
}

case_labels_samples() { # a CPU sample belongs to the labels of its time
	(cd tests/e2e/labels && CGO_ENABLED=0 old_go $NEWEST build -o "$E2E/labels-cpu" cpu/main.go) >&2 || die "cannot build"
	start_target "$E2E/labels-cpu"
	run_gotrace -p "$target" -d 3s --cpu-samples=500 -o "$W/trace"
	want 0
	stop_target
	run_gotrace sql "$W/trace" "SELECT l.value, k.leaf LIKE '%' || l.value || '%' AS same, count(*) n
		FROM sample s JOIN stack k ON k.id = s.stack JOIN label l ON l.g = s.g AND s.ts >= l.ts AND s.ts < l.ts + l.dur
		WHERE k.leaf LIKE 'main.%' GROUP BY 1, 2"
	awk -F'\t' 'NR > 1 {all += $3; same += $2 * $3; seen[$1]} END {exit !(all > 200 && same >= all * 0.97 && length(seen) == 3)}' \
		"$W/out" || noisy "samples by label: $(cat "$W/out")"
}

case_labels_flight() { # a snapshot of a flight recorder has the labels of goroutines that never ran in it
	local file
	start_target "$(labels_binary $NEWEST default)" "$W/profile"
	mkdir "$W/dir"
	"$GOTRACE" flight -p "$target" -o "$W/dir" --window 1s -q >"$W/out" 2>"$W/err" </dev/null &
	flight=$!
	sleep 5
	run_gotrace snapshot -p "$flight"
	want 0
	kill -INT $flight
	wait $flight
	stop_target
	file=$(ls "$W"/dir/*.trace | head -n 1)
	checked "$file"
	run_gotrace sql "$file" "SELECT count(*) FROM label WHERE value = '/before' AND NOT begins AND NOT ends"
	[ "$(tail -n 1 "$W/out")" = 3 ] || die "the snapshot has $(tail -n 1 "$W/out") of 3"
}

case_labels_hostile() { # bad addresses, 1 GB, invalid lists and maps: a valid trace, and the program goes on
	local release kind
	for release in 1.16.15 1.22.12 1.24.6 $NEWEST; do
		kind=list
		[ "$(minor $release)" -ge 24 ] || kind=map
		(cd tests/e2e/labels/hostile && CGO_ENABLED=0 old_go $release build -o "$E2E/labels-hostile-$release" .) >&2 ||
			die "cannot build with Go $release"
		GOGC=off start_target "$E2E/labels-hostile-$release" $kind
		run_gotrace -p "$target" -d 1s -o "$W/trace"
		want 0
		still_lives
		run_gotrace ps -p "$target" -i 0 --by labels
		want 0 3
		still_lives
		stop_target
		checked "$W/trace"
		[ "$(minor $release)" -lt 22 ] || strict "$W/trace"
		"$GOTRACE" dump "$W/trace" >"$W/dump"
		[ "$(grep -cF 'message="{}..."' "$W/dump")" -ge 100 ] || die "sets that cannot be read are not reported"
		grep -qF 'message="{\"key\":\"value\", \"key\":\"value\"}"' "$W/dump" || die "a good set is missing"
		run_gotrace report "$W/trace" --by-label key
		want 0
		run_gotrace convert "$W/trace" -o "$W/x.pf" --format perfetto
		want 0
		rm -f "$W/trace" "$W/x.pf"
	done
}
