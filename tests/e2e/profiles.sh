# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The viewer's profiles of our trace, compared with those of the runtime's own trace of the same period. To be sourced
# after cells.sh.

# profile FILE TYPE: prints the rows as "SHARE FUNCTION", of delay, the greatest first.
profile() {
	(GOTOOLCHAIN=go$NEWEST timeout 200 go tool trace -pprof="$2" "$1" >"$W/profile" 2>"$W/profile.err") ||
		die "go tool trace -pprof=$2: $(tail -n 2 "$W/profile.err")"
	(GOTOOLCHAIN=go$NEWEST timeout 60 go tool pprof -sample_index=delay -top "$W/profile" 2>/dev/null) |
		awk 'rows { sub("%", "", $2); print $2 + 0, $6 } $1 == "flat" { rows = 1 }'
}

# same_rows TYPE: checks that functions with a tenth of one profile have about as much of the other, and that no row
# is of gotrace. Our trace is longer than the native one by a second: shares differ by that.
same_rows() {
	profile "$W/native" "$1" >"$W/theirs"
	profile "$W/ours" "$1" >"$W/mine"
	! grep -E ' (gotrace|\[)' "$W/mine" || die "-pprof=$1 has rows of gotrace's: $(grep -E ' (gotrace|\[)' "$W/mine" | head -n 1)"
	awk -v type="$1" '
	NR == FNR { theirs[$2] = $1; next }
	{ mine[$2] = $1 }
	function differ(a, b, name) {
		far = a > b ? a - b : b - a
		if ((a >= 10 || b >= 10) && far > 15) {
			printf "-pprof=%s: %s has %.1f %% of ours and %.1f %% of the native one\n", type, name, a, b
			bad = 1
		}
		most = far > most ? far : most
	}
	END {
		for (name in theirs)
			differ(mine[name], theirs[name], name)
		for (name in mine)
			differ(mine[name], theirs[name], name)
		if (!bad)
			printf "%s %d rows (native %d), %.1f points apart; ", type, length(mine), length(theirs), most
		exit bad
	}' "$W/theirs" "$W/mine" || noisy ""
}

# profiles_of MODE TYPE...
profiles_of() {
	local mode=$1 type look=--detail=exact
	shift
	[ "$mode" = http ] && export GODEBUG=gcshrinkstackoff=1 # as in cell()
	load "$mode" -native "$W/native" -native-seconds 3
	twin_cell "$mode" 100
	strict "$W/ours"
	[ "$(fact procs)" -eq "$(nproc)" ] || die "$(fact procs) Ps, where GOMAXPROCS is $(nproc)"
	for type; do
		same_rows "$type"
	done
	still_lives
}

case_profiles_mixed() { profiles_of mixed sched sync syscall net; }
case_profiles_http() { profiles_of http sched sync syscall net; }
case_profiles_pingpong() { profiles_of pingpong sched sync; }
