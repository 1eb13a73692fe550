# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# --locks: what goroutines and threads wait for, by address, and who held it, compared with what the program reports.
# To be sourced after lib.sh.

# locks_target RELEASE VARIANT: builds locks/main.go, and starts it as $target.
locks_target() {
	local binary=$E2E/locks-$1-$2 flags=()
	[ "$2" = stripped ] && flags=(-ldflags='-s -w')
	(cd tests/e2e/locks && CGO_ENABLED=0 old_go "$1" build "${flags[@]}" -o "$binary" .) >&2 ||
		die "cannot build with Go $1"
	start_target "$binary"
}

# locks_compare [holders]: compares what the program has printed with $W/trace.
locks_compare() {
	local g why=()
	"$GOTRACE" dump --json --absolute "$W/trace" >"$W/dump" || die "dump"
	for g in $([ "$1" = holders ] && sed -nE 's/^held g([0-9]+) .* (mutex|futex) .*/\1/p' "$W/target.out" | sort -u | head -n 6); do
		"$GOTRACE" why "$W/trace" --goroutine "$g" --json >"$W/why.$g" || die "why"
		why+=("$W/why.$g")
	done
	python3 tests/e2e/locks/compare.py "$W/target.out" "$W/dump" "${why[@]}" 2>"$W/differs" ||
		noisy "the trace differs from the program: $(cut -c 1-600 "$W/differs")"
}

# locks_round ARG...: records, and compares with holders.
locks_round() {
	run_gotrace -q -p "$target" -d 2s --locks --format 1.26 -o "$W/trace" "$@"
	want 0
	sleep 0.3 # until it has printed what it waited for
	still_lives
	stop_target
	strict "$W/trace"
	locks_compare holders
}

case_locks_go() {
	local release variant
	for release in 1.19.13 $(in_turn 2 1.11.13 1.17.13) 1.22.12 1.25.1 1.26.8 $NEWEST; do
		for variant in default stripped; do
			[ $variant = default ] || in_turn 2 1.19.13 1.22.12 1.25.1 1.26.8 $NEWEST | grep -q "$release" || continue
			echo "Go $release $variant:"
			locks_target "$release" $variant
			locks_round
		done
	done
}

case_locks_c() {
	gcc -O2 -g -fno-optimize-sibling-calls -pthread -o "$E2E/pthreads" tests/e2e/locks_pthreads.c || die "cannot build"
	start_target "$E2E/pthreads"
	locks_round
}

# Only starts are probed: wakers, and so holders, are not recorded.
case_locks_starts_only() {
	locks_target $NEWEST default
	run_gotrace -q -p "$target" -d 2s --locks --detail=starts -o "$W/trace"
	want 0
	sleep 0.3
	stop_target
	strict "$W/trace"
	# The time at which a goroutine left is inferred; so is the reason, unless the wait extends beyond a
	# generation's end.
	MISSING=0.03 locks_compare
}

# The addresses are in the raw log whether or not they are requested.
case_locks_replay() {
	locks_target $NEWEST default
	run_gotrace -q -p "$target" -d 1s -o "$W/without" --raw "$W/raw"
	want 0
	run_gotrace -q -p "$target" -d 1s -o "$W/with" --raw "$W/raw2" --locks
	want 0
	stop_target
	"$GOTRACE" dump "$W/without" | grep -q 'key="lock"' && die "logs of locks without --locks"
	run_gotrace replay -q "$W/raw" -o "$W/replayed"
	cmp "$W/without" "$W/replayed" || die "the replay differs"
	run_gotrace replay -q --locks "$W/raw2" -o "$W/replayed2"
	cmp "$W/with" "$W/replayed2" || die "the replay with --locks differs"
	run_gotrace replay -q --locks "$W/raw" -o "$W/added"
	"$GOTRACE" dump "$W/added" | grep -q 'key="lock" message="mutex 0x' || die "no logs of locks in the replay"
	strict "$W/added"
}

# In one step, for a live process; and in SQL.
case_locks_report() {
	local address
	locks_target $NEWEST stripped
	run_gotrace report --json -p "$target" -d 1s
	want 0
	cp "$W/out" "$W/report.json"
	run_gotrace ps -p "$target" -i 0 --json
	want 0
	cp "$W/out" "$W/ps.json"
	run_gotrace -q -p "$target" -d 1s --locks -o "$W/trace"
	want 0
	stop_target
	python3 -c 'import json, sys
said = {" ".join(line.split()[4:6]) for line in open(sys.argv[1]) if line.startswith("wait")}
rows = json.load(open(sys.argv[2]))["tables"]["locks_by_address"]["rows"]
found = {row["kind"] + " " + row["address"] for row in rows}
mutexes = [row for row in rows if row["kind"] == "mutex"]
if not said <= found or len(mutexes) < 2:
    sys.exit("%s of %s" % (found, said))
for row in mutexes:
    if not (row["holders"] and row["releases"] and "main.useMutex" in str(row["released"])):
        sys.exit(str(row))
waiting = {row["lock"] for row in json.load(open(sys.argv[3]))["locks"]}
if not waiting or waiting - said - {name for name in waiting if name.startswith("chan")}:
    sys.exit("ps: %s of %s" % (waiting, said))
' "$W/target.out" "$W/report.json" "$W/ps.json" 2>"$W/differs" || die "$(tail -n 1 "$W/differs")"
	address=$(sed -nE 's/^wait .* (mutex 0x[0-9a-f]+)$/\1/p' "$W/target.out" | head -n 1)
	run_gotrace sql "$W/trace" "SELECT count(*) > 20 FROM state WHERE lock = '$address' AND state = 'waiting'" --csv
	grep -qx 1 "$W/out" || die "sql has no waits for $address"
	run_gotrace report "$W/trace"
	grep -q "  $address$" "$W/out" || die "the report does not have $address"
	sed -n '/^LOCKS BY ADDRESS/,/^$/p' "$W/out" >"$W/table"
	awk 'length($0) > 80 {exit 1}' "$W/table" || die "lines of more than 80 columns"
}
