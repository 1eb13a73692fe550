# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# gotrace ps, compared with what the program reports and with its goroutine profile of the same moment. To be sourced
# after lib.sh.

# ps_target RELEASE VARIANT N: starts goroutines/main.go; its profile will be $W/profile.
ps_target() {
	local binary=$E2E/goroutines-$1-$2 flags=()
	[ "$2" = stripped ] && flags=(-ldflags='-s -w')
	(cd tests/e2e/goroutines && CGO_ENABLED=0 old_go "$1" build "${flags[@]}" -o "$binary" main.go) >&2 ||
		die "cannot build with Go $1"
	start_target "$binary" "$W/profile" "$3"
}

# ps_compare FILE: compares the JSON of ps --by labels with $W/target.out and $W/profile.
ps_compare() {
	python3 tests/e2e/goroutines/compare.py "$1" "$W/target.out" "$W/profile" || die "ps differs"
}

# ps_round: makes both, and compares them.
ps_round() {
	local i
	kill -USR1 "$target"
	run_gotrace ps -p "$target" -i 1s --by labels --json
	want 0
	cp "$W/out" "$W/json"
	for ((i = 0; i < 300; i++)); do
		[ -s "$W/profile" ] && break
		sleep 0.1
	done
	ps_compare "$W/json"
	still_lives
}

case_ps_profile() {
	local release variant
	for release in 1.11.13 1.19.13 1.22.12 1.26.8 1.27.4; do
		for variant in default stripped; do
			echo "Go $release $variant:"
			ps_target $release $variant 0
			ps_round
			stop_target
			rm -f "$W/profile"
		done
	done
}

# As text, and by the value of a label.
case_ps_text() {
	ps_target $NEWEST stripped 40
	run_gotrace ps -p "$target" -i 0.5s --by label:handler
	want 0
	grep -q '^handler=/many: 40 goroutines$' "$W/out" || die "no group of the label's value: $(head -n 40 "$W/out")"
	grep -q '^without label handler: ' "$W/out" || die "no group without the label"
	grep -qE '^ +40 +>?[<0-9].* chan receive +main.many ' "$W/out" || die "not among those that did not move"
	awk 'length($0) > 80 {exit 1}' "$W/out" || die "lines of more than 80 columns"
	run_gotrace ps -p "$target" -i 0 --max 10 --json
	want 3
	python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(d["not_read"] < 30 or d["between_ns"] != 0)' \
		"$W/out" || die "--max"
	stop_target
}

# 100,000 more: it takes seconds, and the program is undisturbed.
case_ps_many() {
	local began
	ps_target $NEWEST default 100000
	began=$SECONDS
	ps_round
	echo "$((SECONDS - began)) s with 1 s between the looks"
	[ $((SECONDS - began)) -le 20 ] || noisy "100,000 goroutines took $((SECONDS - began)) s"
	stop_target
}
