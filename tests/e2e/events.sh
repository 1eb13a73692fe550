# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Compares the table of events × loads (the file events) with live traces. To be sourced after cases.sh.

EVENTS=tests/e2e/events

# event_rows: prints the table without its comments.
event_rows() {
	grep -v '^#' "$EVENTS"
}

# event_count CELL NAME: prints how often the event is in that cell's trace, as counted by gotrace check.
event_count() {
	local n
	n=$(grep -oE "\"$2\":[0-9]+" "$W/$1.json")
	echo $((${n##*:}))
}

# event_cell RELEASE CELL: makes a live trace of the load, and its counts. The longer ones must include starts of
# generations.
event_cell() {
	local mode=${2%%--*} look= variant=default seconds=1500ms
	[ "$mode" = "$2" ] || look=--${2#*--}
	[ "$mode" = cgo ] && variant=cgo
	[ "$mode" = heap ] && seconds=6s
	start_target "$(target_binary "$1" $variant)" "$mode" -seconds 60
	run_gotrace -p "$target" $look -d $seconds -o "$W/$2.trace"
	want 0 3 # a full ring does not matter here
	stop_target
	strict "$W/$2.trace"
	timeout 60 "$GOTRACE" check --json "$W/$2.trace" >"$W/$2.json" || die "gotrace check: $2"
}

# event_table: checks that every type of the encoder's table has exactly one row, and that there are no other rows.
event_table() {
	sed -nE 's/.*(TABLE|EVENT|BARE)\("(\w+)".*/\2/p' src/trace/wire/event.c | sort >"$W/types"
	event_rows | awk '{print $1}' | sort >"$W/rows"
	[ "$(wc -l <"$W/types")" -ge 60 ] || die "the encoder's types were not found"
	diff "$W/types" "$W/rows" >"$W/diff" || die "types (<) and rows (>) differ: $(grep '^[<>]' "$W/diff" | tr '\n' ' ')"
	! event_rows | awk 'NF < 3 || ($3 == "-" && NF < 4)' | grep . || die "has neither a load nor a reason"
}

# event_row NAME CELL...: prints a line for each load that should have the event and does not, and for each
# that has it although the row rules it out.
event_row() {
	local name=$1 cell json n
	shift
	if [ "$1" = - ]; then
		for json in "$W"/*.json; do
			cell=${json##*/}
			n=$(event_count "${cell%.json}" "$name")
			[ "$n" -eq 0 ] || echo "$name is in ${cell%.json} ($n times) against its row"
		done
		return
	fi
	for cell; do
		has_mode "$release" cgo "${cell%%[:-]*}" || continue
		n=$(event_count "${cell%:*}" "$name")
		[[ $cell = *:* ]] && [ "$n" -ge "${cell#*:}" ] && continue
		[[ $cell != *:* ]] && [ "$n" -ge 1 ] && continue
		echo "$name has $n in $cell"
	done
}

# events_of RELEASE: checks that its traces confirm the table, and have no events that its format does not have.
events_of() {
	local release=$1 cell again
	event_table
	for cell in $(event_rows | awk '$3 != "-" {for (i = 3; i <= NF; i++) {sub(/:.*/, "", $i); print $i}}' | sort -u); do
		[ "$release $cell" = "1.22.12 gc--alloc" ] && continue # the experiment exists since 1.23
		has_mode "$release" cgo "${cell%%--*}" && event_cell "$release" "$cell"
	done
	events_unconfirmed
	# It is random what is open when a generation begins: tries again, at most twice.
	for cell in 1 2; do
		[ -s "$W/unconfirmed" ] || break
		for again in $(awk '{sub(/:.*/, "", $NF); print $NF}' "$W/unconfirmed" | sort -u); do
			[[ $again = heap* ]] && event_cell "$release" "$again"
		done
		events_unconfirmed
	done
	[ ! -s "$W/unconfirmed" ] || die "$(tr '\n' ';' <"$W/unconfirmed")"
	echo "$(event_rows | wc -l) types, $(event_rows | awk '$3 == "-"' | wc -l) of them never"
}

# events_unconfirmed: writes the rows of $release that its traces do not confirm to $W/unconfirmed.
events_unconfirmed() {
	local name since cells format=${release%.*}
	[ "$format" = 1.24 ] && format=1.23
	while read -r name since cells; do
		[[ $since > $format ]] && cells="- later"
		event_row "$name" $cells
	done < <(event_rows) >"$W/unconfirmed"
}

case_events() { events_of $NEWEST; }
case_events_oldest() { events_of 1.22.12; }
