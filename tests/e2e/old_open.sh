# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What gotrace reads from live processes of old releases, compared with their own dumps. To be sourced by
# run.sh.

# dump_goroutines: converts a SIGQUIT dump on standard input to "ID REASON | LEAF ... ROOT" for each parked
# goroutine. Inlined functions have no frame of their own there: "name(...)".
dump_goroutines() {
	awk '
		function flush() { if (id != "" && id != 0) print id, reason, "|" stack; id = "" }
		/^goroutine [0-9]+ .*\[.*\]:$/ {
			flush(); id = $2; stack = ""
			reason = $0; sub(/^[^[]*\[/, "", reason); sub(/[],].*$/, "", reason)
			if (reason ~ /^(running|runnable|syscall|idle)/) id = ""
			next
		}
		/^$/ { flush() }
		/^created by / || /^\t/ { next }
		/\(\.\.\.\)$/ { next }
		/\)$/ && id != "" { name = $0; sub(/\([^()]*\)$/, "", name); stack = stack " " name }
		END { flush() }' | sort
}

# seen_goroutines: converts the output of the test program snapshot to the same.
seen_goroutines() {
	awk '$1 == "g" && $3 == 4 { sub(/^g [0-9]+ 4 /, $2 " "); print }' | sort
}

# look_at BINARY FILE: writes a process's snapshot to FILE, its own dump to FILE.dump, its threads to FILE.tids.
look_at() {
	local pid
	GOTRACEBACK=2 "$1" parked -count 60 -seconds 60 > "$2.out" 2> "$2.dump" &
	pid=$!
	if wait_for_ready "$2.out"; then
		sleep 0.3
		"$E2E/snapshot" $pid > "$2"
		ls /proc/$pid/task > "$2.tids"
	fi
	kill -QUIT $pid
	wait $pid 2>/dev/null
	# Goroutines that sleep do other things occasionally.
	seen_goroutines < "$2" | grep -v "^[0-9]* sleep" > "$2.gs"
	dump_goroutines < "$2.dump" | grep -v "^[0-9]* sleep" > "$2.own"
}

# check_open RELEASE VARIANT: compares the two for one program.
check_open() {
	local binary seen tid i
	binary=$(target_binary "$1" "$2") || die "cannot build the target"
	seen=$(mktemp "${W:-$E2E}/seen.XXXXXX")
	# The program continued between the two: repeat if a goroutine moved.
	for i in 1 2 3; do
		look_at "$binary" "$seen"
		diff "$seen.own" "$seen.gs" > "$seen.diff" && break
	done
	head -1 "$seen" | grep -q "^go$1 .*stripped=$([ "$2" = stripped ] && echo 1 || echo 0)$" ||
		die "$1 $2: wrong release or kind: $(head -1 "$seen")"
	[ -s "$seen.diff" ] && die "$1 $2: goroutines differ: $(head -4 "$seen.diff")"
	[ "$(wc -l < "$seen.own")" -ge 40 ] || die "$1 $2: the program shows $(wc -l < "$seen.own") goroutines"
	# Every M except the spare one of cgo is a thread, and every P is there.
	[ "$(awk '$1 == "m" && !$2' "$seen" | wc -l)" -le "$([ "$2" = default ] && echo 0 || echo 1)" ] ||
		die "$1 $2: Ms without a thread"
	for tid in $(awk '$1 == "m" && $2 { print $2 }' "$seen"); do
		grep -qx "$tid" "$seen.tids" || die "$1 $2: M of thread $tid, which the process does not have"
	done
	[ "$(grep -c '^p ' "$seen")" = "$(awk '$1 == "gomaxprocs" { print $2 }' "$seen")" ] ||
		die "$1 $2: $(grep -c '^p ' "$seen") Ps"
	echo "  $1 $2: $(wc -l < "$seen.gs") parked goroutines, $(grep -c '^m ' "$seen") Ms"
	rm -f "$seen" "$seen".*
}

wait_for_ready() {
	local i
	for i in $(seq 100); do
		grep -q ^ready "$1" && return
		sleep 0.1
	done
	return 1
}

case_old_open() { # live processes of old releases: the release, goroutines, their reasons and stacks, Ps, Ms
	local release variant n=0
	make -s "${E2E#"$TOP"/}/snapshot" || die "cannot build the test program"
	for release in $OLD_RELEASES; do
		for variant in $VARIANTS; do
			has_mode "$release" "$variant" parked || continue
			n=$((n + 1))
			[ "$ALL" = 1 ] || [ $(((n + CELL_SEED) % 9)) = 0 ] || continue
			check_open "$release" "$variant"
		done
	done
}

case_layouts() { # the table of struct layouts, compared with the toolchains; a rotating few releases
	local releases=() release n=0
	for release in $OLD_RELEASES $RELEASES; do
		n=$((n + 1))
		[ "$ALL" = 1 ] || [ $(((n + CELL_SEED) % 6)) = 0 ] || continue
		releases+=("$release")
	done
	bash tools/layout/make.sh --check "${releases[@]}" || die "the table is not what the toolchains say"
}
