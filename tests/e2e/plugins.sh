# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Plugins (-buildmode=plugin), whose code has its own copies of the runtime's functions: opened before the trace,
# during it, and one that cannot be probed. What a trace has of their code is compared with what plugins/ does. To be
# sourced after lib.sh and cases.sh.

# plugin_program RELEASE VARIANT: builds the program as $binary, and the plugin as $W/p.so.
plugin_program() {
	local flags=()
	[ "$2" = stripped ] && flags=(-ldflags='-s -w')
	binary=$E2E/plugins-$1-$2
	(
		cd tests/e2e/plugins || exit 1
		export CGO_ENABLED=1 GOTOOLCHAIN=go$1
		timeout 900 go build -buildvcs=false "${flags[@]}" -o "$binary" . || exit 1
		timeout 900 go build -buildvcs=false -buildmode=plugin "${flags[@]}" -o "$binary.so" ./p
	) >&2 || die "cannot build with Go $1 ($2)"
	cp "$binary.so" "$W/p.so"
}

# printed LINE: waits until the target has printed it.
printed() {
	local i
	for ((i = 0; i < 300; i++)); do
		grep -q "^$1" "$W/target.out" && return
		sleep 0.1
	done
	die "the target did not print '$1': $(tail -n 3 "$W/target.err")"
}

# trace_plugin OPTION...: starts gotrace as $tracer, and waits until it records.
trace_plugin() {
	local i
	rm -f "$W/trace" "$W/raw"
	timeout 90 "$GOTRACE" -p "$target" -d 80s -o "$W/trace" --raw "$W/raw" --json --max-overhead none "$@" >"$W/out" 2>"$W/err" </dev/null &
	tracer=$!
	for ((i = 0; i < 300; i++)); do
		[ -s "$W/trace" ] && return
		sleep 0.1
	done
	die "gotrace does not record: $(tail -n 3 "$W/err")"
}

# end_plugin_trace STATUS: ends the trace, which must be valid, and checks gotrace's exit status.
end_plugin_trace() {
	kill -INT "$tracer"
	wait "$tracer"
	status=$?
	want "$1"
	quiet "$W/err"
	still_lives
	stop_target
	checked "$W/trace"
	strict "$W/trace"
}

# number_of SQL: prints what the query returns.
number_of() {
	"$GOTRACE" sql "$W/trace" "$1" 2>"$W/err" | tail -n +2
}

# has_calls: checks that the trace has all that ten calls of Run did, by name.
has_calls() {
	local waits="SELECT count(*) FROM state s WHERE state = 'waiting' AND EXISTS (SELECT 1 FROM frame f
		WHERE f.stack = s.stack AND f.func" n
	for n in "echo 10" "tiny 500"; do
		[ "$(number_of "SELECT count(*) FROM goroutine WHERE name = 'plugins/p.${n% *}' AND created AND ended")" = "${n#* }" ] ||
			die "not ${n#* } goroutines of plugins/p.${n% *}: $(number_of 'SELECT name, count(*) FROM goroutine GROUP BY 1')"
	done
	n=$(number_of "$waits = 'plugins/p.sleeps') AND reason = 'sleep'")
	[ "$n" = 100 ] || die "$n sleeps instead of 100"
	# Of the two goroutines of each transfer, one waits. At the end the echo may wait for the close.
	n=$(number_of "$waits IN ('plugins/p.Run', 'plugins/p.echo')) AND reason LIKE 'chan %'")
	[ "$n" -ge 2000 ] && [ "$n" -le 2010 ] || die "$n waits at channels instead of 2000 to 2010"
}

# json KEY: prints a number of the summary, not of its rows.
json() {
	grep -o "\"$1\":[0-9]*" "$W/out" | head -n 1 | cut -d : -f 2
}

# plugin_early RELEASE VARIANT OPTION...
plugin_early() {
	plugin_program "$1" "$2"
	start_target "$binary" "$W/p.so" early
	run_gotrace sites -p "$target"
	want 0
	grep -q '^# plugin p.so$' "$W/out" && [ "$(grep -c '^runtime.ready+0x[0-9a-f]* ready ' "$W/out")" = 2 ] ||
		die "sites does not list the plugin's probes"
	run_gotrace ps -p "$target" --json
	want 0
	grep -q 'plugins/p\.Wait' "$W/out" || die "ps does not show the plugin's function"
	trace_plugin "${@:3}"
	kill -USR1 "$target"
	printed "done"
	end_plugin_trace 0
	! grep -q 'plugin' "$W/err" || die "a message about the plugin: $(cat "$W/err")"
	[ "$(json repaired)" = 0 ] && [ "$(json incomplete)" = 0 ] || die "$(json repaired) events were repaired"
	has_calls
	run_gotrace replay -q "$W/raw" -o "$W/trace"
	want 0
	has_calls
}

case_plugin_early() { # opened before the trace
	local release
	for release in 1.22.12 1.26.8 $NEWEST; do
		plugin_early $release default
	done
	plugin_early $NEWEST stripped
	plugin_early $NEWEST default --detail=light
}

# plugin_late RELEASE: the time from opening until all is probed is not watched, and the trace says so.
plugin_late() {
	plugin_program "$1" default
	start_target "$binary" "$W/p.so" late
	trace_plugin
	kill -USR2 "$target"
	printed "open"
	sleep 3
	kill -USR1 "$target"
	printed "done"
	end_plugin_trace 3
	[ "$(json not_watched_ns)" -lt 3000000000 ] || noisy "the plugin was not probed within 3 s"
	[ "$(json not_watched_ns)" -gt 0 ] && [ "$(json incomplete)" = 1 ] || die "the summary does not say that something is missing"
	grep -q 'incomplete  *not watched from here on: a plugin was opened' "$W/err" || die "the summary does not say why"
	[ "$(number_of "SELECT count(*) FROM log WHERE category = 'gotrace' AND message = 'not watched from here on: a plugin was opened'")" = 1 ] ||
		die "the trace does not say from when on"
	has_calls
}

case_plugin_late() { # opened while it is traced
	local release
	for release in 1.22.12 1.26.8 $NEWEST; do
		plugin_late $release
	done
}

case_plugin_command() { # of a program that gotrace starts
	plugin_program $NEWEST default
	timeout 60 "$GOTRACE" -o "$W/trace" --json --max-overhead none -- "$binary" "$W/p.so" late >"$W/target.out" 2>"$W/err" </dev/null &
	tracer=$!
	printed "ready"
	target=$(pgrep -P "$tracer" -f 'p.so late' | head -n 1)
	target=$(pgrep -P "$target" -x "$(basename "$binary" | cut -c 1-15)" || echo "$target")
	kill -USR2 "$target"
	printed "open"
	sleep 3
	kill -USR1 "$target"
	printed "done"
	kill -TERM "$target"
	wait "$tracer"
	status=$?
	want 3
	checked "$W/trace"
	strict "$W/trace"
	grep -q 'a plugin was opened' "$W/err" || die "the summary does not say why"
	has_calls
}

case_plugin_old() { # of a release whose plugins are not probed
	plugin_program 1.21.13 default
	start_target "$binary" "$W/p.so" early
	trace_plugin
	end_plugin_trace 3
	says 'code of a plugin is not traced: .*from Go 1\.22 on'
	start_target "$binary" "$W/p.so" late
	trace_plugin
	kill -USR2 "$target"
	printed "open"
	sleep 1
	end_plugin_trace 3
	says 'incomplete  *not watched from here on: a plugin was opened'
	[ "$(number_of "SELECT count(*) FROM log WHERE category = 'gotrace' AND message LIKE '%plugin%from Go 1.22 on%'")" = 1 ] ||
		die "the trace does not say it"
}

case_plugin_fails() { # one whose file has been damaged since: what is missing is said, and the trace is valid
	plugin_program $NEWEST default
	start_target "$binary" "$W/p.so" early
	printf 'XXXX' | dd of="$W/p.so" conv=notrunc bs=4 count=1 2>/dev/null
	trace_plugin
	kill -USR1 "$target"
	printed "done"
	end_plugin_trace 3
	says 'code of a plugin is not traced: p\.so: '
	says "incomplete  *a plugin's code is not observed: p\.so: "
	[ "$(json incomplete)" = 1 ] || die "the summary does not count it"
	[ "$(number_of "SELECT count(*) FROM log WHERE category = 'gotrace' AND message LIKE 'a plugin''s code is not observed: p.so: %'")" = 1 ] ||
		die "the trace does not say it"
}
