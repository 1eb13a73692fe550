# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Programs of changed toolchains: the structs of their runtime differ from those of the release whose name they have.
# To be sourced after unknown.sh.

# patched STRUCT FIELD FLAG...: builds the targets with three words put before that field. Prints the program's path.
patched() {
	local place=$1.$2 root overlay
	shift 2
	root=$(cd / && GOTOOLCHAIN=go1.26.8 go env GOROOT) || return 1
	overlay=$(/usr/bin/python3 tests/e2e/patch_runtime.py "$root" "${place%%.*}" "${place#*.}" "$W") || return 1
	(cd tests/e2e/targets && GOTOOLCHAIN=go1.26.8 CGO_ENABLED=0 timeout 900 \
		go build -buildvcs=false -overlay="$overlay" "$@" -o "$W/patched" .) 2>"$W/build.err" >&2 || return 1
	echo "$W/patched"
}

# traced_right BINARY: its trace has the program's own counts, and ps shows its goroutines.
traced_right() {
	start_target "$1" pool
	run_gotrace -p "$target" --max-overhead none -d 1s -o "$W/trace"
	want 0
	strict "$W/trace" -expect tests/e2e/facts/pool
	run_gotrace ps -p "$target"
	want 0
	grep -q 'main\.pool' "$W/out" || die "ps shows no goroutine of the program: $(head -n 3 "$W/out")"
	run_gotrace doctor -p "$target"
	grep -q "^ok .*process $target: a Go program" "$W/out" || die "doctor: $(tail -n 3 "$W/out")"
	gone_on
	rm -f "$W/trace"
}

# refused_right BINARY WORDS: neither a trace nor ps, and the line names the field.
refused_right() {
	start_target "$1" pool
	refused "$2"
	run_gotrace ps -p "$target"
	want 1
	one_line
	says "$2"
	[ ! -s "$W/out" ] || die "ps printed goroutines: $(head -n 3 "$W/out")"
	run_gotrace doctor -p "$target"
	grep -q 'NO .*whose structs are other ones' "$W/out" || die "doctor: $(tail -n 3 "$W/out")"
	gone_on
}

# patched_cell STRUCT FIELD WORDS: with DWARF such a program is traced right. Without, it is refused if a field that
# gotrace reads has moved: if WORDS are not empty. A version text of its own makes no difference.
patched_cell() {
	local binary
	printf '%s before %s: ' "$1" "$2"
	binary=$(patched "$1" "$2") || die "cannot build: $(tail -n 3 "$W/build.err")"
	traced_right "$binary"
	/usr/bin/python3 tests/e2e/rename_version.py "$binary" go1.26.8 go1.26.8-acme1 || die "cannot rename"
	traced_right "$binary"
	binary=$(patched "$1" "$2" -ldflags='-s -w') || die "cannot build: $(tail -n 3 "$W/build.err")"
	for version in go1.26.8 go1.26.8-acme1; do
		[ $version = go1.26.8 ] ||
			/usr/bin/python3 tests/e2e/rename_version.py "$binary" go1.26.8 $version || die "cannot rename"
		if [ -n "$3" ]; then
			refused_right "$binary" "was built by $version, whose structs are other ones: $3"
		else
			traced_right "$binary"
		fi
	done
	echo "right"
}

case_patched_before_goid() { patched_cell g goid 'g\.goid is not at 0x98'; }
case_patched_end_of_g() { patched_cell g end ''; }
case_patched_in_m() { patched_cell m procid 'm\.gsignal is not at 0x48'; }
case_patched_end_of_m() { patched_cell m end ''; }
case_patched_in_p() { patched_cell p status 'p\.status is not at 0x4'; }
case_patched_late_in_p() { patched_cell p gcMarkWorkerMode 'p\.gcMarkWorkerMode is not at'; }

# A program that gotrace starts itself: the code decides before it runs.
case_patched_command() {
	local binary
	binary=$(patched g goid) || die "cannot build: $(tail -n 3 "$W/build.err")"
	run_gotrace --max-overhead none -d 2s -o "$W/trace" -- "$binary" pool -seconds 4
	want 0
	strict "$W/trace" -expect tests/e2e/facts/pool
	rm "$W/trace"
	binary=$(patched g goid -ldflags='-s -w') || die "cannot build: $(tail -n 3 "$W/build.err")"
	run_gotrace -d 1s -o "$W/trace" -- "$binary" pool
	want 1
	one_line
	says 'was built by go1.26.8, whose structs are other ones: g\.goid is not at 0x98'
	[ ! -e "$W/trace" ] || die "there is a trace"
}

# One more reason before all others: the numbers of all others are other ones.
case_patched_wait_reasons() {
	local binary reason
	binary=$(patched waitReason waitReasonGCAssistMarking) || die "cannot build: $(tail -n 3 "$W/build.err")"
	start_target "$binary" parked
	run_gotrace ps -p "$target"
	want 0
	for reason in 'chan receive' select 'sync\.Mutex\.Lock'; do
		grep -qE "^ +[0-9]+,[0-9]+ .* $reason +main\.parked" "$W/out" || die "ps shows no goroutines in $reason: $(head -n 7 "$W/out")"
	done
	stop_target
	binary=$(patched waitReason waitReasonGCAssistMarking -ldflags='-s -w') || die "cannot build: $(tail -n 3 "$W/build.err")"
	refused_right "$binary" 'was built by go1.26.8, whose structs are other ones: wait reason 1 is not .GC assist marking.'
}

# Go has changed m itself, between two patches of 1.23 and of 1.24.
case_patched_by_go() {
	cell 1.23.12 stripped mixed no yes
	printf '; '
	cell 1.24.0 stripped mixed no yes
}

# The table of the changed toolchain, made from a program with DWARF, fits the stripped one.
case_patched_layout() {
	local binary
	binary=$(patched g goid) || die "cannot build: $(tail -n 3 "$W/build.err")"
	"$GOTRACE" layout --go "$binary" >"$W/layout" 2>"$W/err" || die "layout: $(cat "$W/err")"
	binary=$(patched g goid -ldflags='-s -w') || die "cannot build: $(tail -n 3 "$W/build.err")"
	start_target "$binary" pool
	run_gotrace -p "$target" --max-overhead none -d 1s --layout "$W/layout" -o "$W/trace"
	want 0
	says "layout from $W/layout"
	strict "$W/trace" -expect tests/e2e/facts/pool
	layout_of 1.26.8
	run_gotrace -p "$target" -d 1s --layout "$W/layout" -o "$W/other"
	want 1
	one_line
	says 'whose structs are other ones: .*, and the given layout does not fit: g\.goid is not at 0x98'
	stop_target
}

# A build whose locks have ranks: they are larger, and so is what contains them.
case_patched_lock_ranks() {
	local flags
	for flags in '' '-s -w'; do
		(cd tests/e2e/targets && GOEXPERIMENT=staticlockranking GOTOOLCHAIN=go1.26.8 CGO_ENABLED=0 timeout 900 \
			go build -buildvcs=false -ldflags="$flags" -o "$W/patched" .) 2>"$W/build.err" ||
			die "cannot build: $(tail -n 3 "$W/build.err")"
		traced_right "$W/patched"
		start_target "$W/patched" pool
		run_gotrace -p "$target" --alloc -d 1s -o "$W/trace"
		want 1
		one_line
		says '--alloc: its heap is not as in go1\.26\.8-X:staticlockranking: mheap\.allspans is not at'
		stop_target
	done
}
