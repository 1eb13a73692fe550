# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Releases that are not known: gotrace is built without some rows of its table of layouts (layout_without.c). To be
# sourced after cells.sh.

# without NAME: builds that gotrace, and sets $GOTRACE to it.
without() {
	make "build/e2e/gotrace-$1" >"$W/build.out" 2>&1 || die "cannot build: $(tail -n 3 "$W/build.out")"
	GOTRACE=$E2E/gotrace-$1
}

# The next release has the same structs: it is traced as if it were known, by the twin test, too.
case_nearest_release() {
	without without-26
	cell 1.26.8 stripped mixed no yes
	says "this release \(go1.26.8\) is not verified: the layouts of Go 1.27 fit"
}

# A development version of a release that is known: that release's layout is tried first.
case_nearest_development() {
	sed 's/go1\.26\.8/go1.26-8/g' "$(target_binary 1.26.8 stripped)" >"$W/target"
	chmod +x "$W/target"
	start_target "$W/target" pool
	run_gotrace -p "$target" -d 500ms -o "$W/trace"
	want 0
	says "this release \(go1.26-8\) is not verified: the layouts of Go 1.26 fit"
	strict "$W/trace"
	checked "$W/trace"
	gone_on
}

# refused_for WORDS: checks that the program is not traced, for that reason, and goes on.
refused_for() {
	start_target "$(target_binary 1.26.8 stripped)" mixed
	refused "was built by go1.26.8, which this gotrace does not know, and the layouts of Go $1"
	kill -0 "$target" || die "the target is gone"
	stop_target
}

# Go 1.26 has moved fields since 1.25.
case_nearest_far_release() {
	without without-26-27
	refused_for "1.25 do not fit: [gm]\.[A-Za-z.]+ is not at 0x"
}

# A single field is elsewhere.
case_nearest_moved_field() {
	without moved
	refused_for "1.27 do not fit: g\.goid is not at 0xa0 \(runtime\.newproc1\)"
}

# A program that has not started cannot verify a layout.
case_nearest_command() {
	without without-26
	run_gotrace -d 1s -o "$W/trace" -- "$(target_binary 1.26.8 stripped)" pingpong
	want 1
	one_line
	says "was built by go1.26.8, which this gotrace does not support for CMD: start"
}

# layout_of RELEASE: makes the table of that release from a program that is not stripped, as $W/layout.
layout_of() {
	"$GOTRACE" layout --go "$(target_binary "$1" default)" >"$W/layout" 2>"$W/err" || die "layout: $(cat "$W/err")"
	[ ! -s "$W/err" ] || die "layout: $(cat "$W/err")"
}

# changed_layout NAME VALUE: makes that table with another value, as $W/changed.
changed_layout() {
	/usr/bin/python3 tests/e2e/move_field.py "$W/layout" "$1" "$2" >"$W/changed" || die "no such field: $1"
}

# An unknown release whose nearest layouts do not fit is traced with a table, by the twin test, too.
case_layout_file() {
	local look
	without moved
	layout_of 1.26.8
	look="--layout $W/layout"
	cell 1.26.8 stripped mixed no yes
	says "this release \(go1.26.8\) is not verified: layout from $W/layout, which fits the process"
	says "^  release     not known to this gotrace: layout from $W/layout$"
}

case_layout_commands() {
	local recorder snapshot
	without moved
	layout_of 1.26.8
	start_target "$(target_binary 1.26.8 stripped)" mixed
	run_gotrace -p "$target" -d 500ms --layout "$W/layout" --json -o "$W/trace"
	want 0
	strict "$W/trace"
	grep -qF "\"layout\": \"layout from $W/layout\"" "$W/out" || grep -qF "\"layout\":\"layout from $W/layout\"" "$W/out" ||
		die "--json does not name the table"
	run_gotrace ps -p "$target" -i 0 --layout "$W/layout"
	want 0
	says "layout from $W/layout"
	grep -q 'main\.' "$W/out" || die "ps shows no goroutine of the program"
	run_gotrace sites --layout "$W/layout" "$target"
	want 0
	says "layout from $W/layout"
	grep -q ' park ' "$W/out" || die "sites shows no probe"
	run_gotrace report -p "$target" -d 500ms --layout "$W/layout"
	want 0
	says "layout from $W/layout"
	grep -q 'main\.' "$W/out" || die "report shows nothing of the program"
	run_gotrace doctor -p "$target"
	want 1
	grep -q 'NO .*was built by go1.26.8, which this gotrace does not know' "$W/out" || die "doctor: $(tail -n 3 "$W/out")"
	run_gotrace doctor -p "$target" --layout "$W/layout"
	want 0
	says "layout from $W/layout"
	grep -q "^ok .*process $target: a Go program" "$W/out" || die "doctor: $(tail -n 3 "$W/out")"
	mkdir "$W/flight"
	"$GOTRACE" flight -p "$target" -o "$W/flight" --layout "$W/layout" >"$W/out" 2>"$W/err" </dev/null &
	recorder=$!
	for ((i = 0; i < 200; i++)); do
		grep -q 'write with' "$W/err" && break
		sleep 0.1
	done
	says "layout from $W/layout"
	sleep 1
	snapshot=$(timeout 60 "$GOTRACE" snapshot -p $recorder) || die "no snapshot: $(tail -n 3 "$W/err")"
	strict "$snapshot"
	kill -INT $recorder
	wait_end $recorder 60 || noisy "the recorder did not end"
	stop_target
}

# refused_table FILE WORDS: checks that there is no trace with that table, for that reason, in one line.
refused_table() {
	rm -f "$W/trace"
	run_gotrace -p "$target" -d 500ms --layout "$1" -o "$W/trace"
	want 1
	one_line
	says "$2"
	[ ! -e "$W/trace" ] || die "there is a trace"
	kill -0 "$target" || die "the target is gone"
}

# One field is elsewhere: the process shows which things do not fit then.
case_layout_moved_field() {
	local fits="was built by go1.26.8, which this gotrace does not know, and the given layout does not fit"
	without moved
	layout_of 1.26.8
	start_target "$(target_binary 1.26.8 stripped)" mixed
	while read -r field value why; do
		changed_layout "$field" "$value"
		refused_table "$W/changed" "$fits: $why"
	done <<-'FIELDS'
		go.g_goid 0xa0 g.goid is not at 0xa0 .runtime.newproc1.
		go.g_status 0x98 g.atomicstatus is not at 0x98 .runtime.casgstatus.
		go.g_sched_pc 0x48 g.sched.pc is not at 0x48 .runtime.mcall.
		go.g_sched_bp 0x68 g.sched.bp is not at 0x68 .runtime.mcall.
		go.g_waitreason 0xb8 g.waitreason is not at 0xb8 .runtime.gopark.
		go.g_startpc 0x138 g.startpc is not at 0x138 .runtime.newproc1.
		go.g_gopc 0x128 goroutines were not created by functions
		go.m_procid 0x48 m.procid is not at 0x48 .runtime.minit.
		go.m_oldp 0xe8 m.oldp is not at 0xe8 .runtime.reentersyscall.
		go.m_syscalltick 0x318 m.syscalltick is not at 0x318 .runtime.reentersyscall.
		go.p_id 0x8 p.id is not at 0x8 .runtime.[(][*]p[)].init.
		go.p_m 0x38 p.m is not at 0x38 .runtime.wirep.
	FIELDS
	# Changed by hand, without the checksum.
	sed 's/^go.g_goid .*/go.g_goid 0xa0/' "$W/layout" >"$W/changed"
	refused_table "$W/changed" "--layout: $W/changed: line [0-9]+: checksum mismatch"
	refused_table "$W/nothing" "cannot open $W/nothing"
	refused_table /etc/passwd "--layout: /etc/passwd: line 1: not a gotrace layout table"
	refused_table /dev/zero "cannot open /dev/zero"
	head -c 400000 /dev/zero >"$W/large"
	refused_table "$W/large" "is too large for a gotrace layout table"
	changed_layout arch arm64
	refused_table "$W/changed" "is a program for amd64, and the given layout is for arm64"
	changed_layout release go1.28.1
	refused_table "$W/changed" "which this gotrace does not know, and the given layout is for go1.28.1"
	stop_target
}

# A release that is known needs no table, and a program in C cannot use one.
case_layout_not_needed() {
	layout_of 1.26.8
	start_target "$(target_binary 1.26.8 stripped)" pingpong
	run_gotrace -p "$target" -d 500ms --layout "$W/layout" -o "$W/trace"
	want 0
	says "--layout is ignored: the layout of this program \(go1.26.8\) is known"
	strict "$W/trace"
	rm "$W/trace"
	run_gotrace -p "$target" -d 500ms --as c --layout "$W/layout" -o "$W/trace"
	want 1
	says "--layout is for Go programs"
	stop_target
	without moved
	run_gotrace -d 1s --layout "$W/layout" -o "$W/trace" -- "$(target_binary 1.26.8 stripped)" pingpong
	want 1
	one_line
	says "was built by go1.26.8, which this gotrace does not support for CMD: start"
}

# The root of a toolchain gives the same table as a program that it has built.
case_layout_toolchain() {
	local root temporary
	root=$(cd / && GOTOOLCHAIN=go1.26.8 go env GOROOT) || die "no go1.26.8"
	layout_of 1.26.8
	temporary=$(mktemp -d) || die "no temporary directory"
	trap 'kill -KILL $(jobs -p) 2>/dev/null; rm -rf "$temporary"' EXIT
	GOCACHE=$(go env GOCACHE) TMPDIR=$temporary LIMIT=600 run_gotrace layout --go "$root"
	want 0
	cmp "$W/out" "$W/layout" || die "the toolchain's table differs from the program's"
	[ -z "$(ls -A "$temporary")" ] || die "the build's directory is still there"
	run_gotrace layout --go "$root/bin"
	want 1
	one_line
	says "$root/bin has no bin/go"
	run_gotrace layout --go "$(target_binary 1.26.8 stripped)"
	want 1
	one_line
	says "cannot be used to make a layout table: it has no debug information"
	run_gotrace layout --go /bin/sh
	want 1
	one_line
	says "/bin/sh is not a Go program"
	mkdir -p "$W/root/bin"
	printf '#!/bin/sh\nprintf "no such\\033[2J luck\\n" >&2\nexit 3\n' >"$W/root/bin/go"
	chmod 755 "$W/root/bin/go"
	run_gotrace layout --go "$W/root"
	want 1
	one_line
	says "$W/root/bin/go cannot build a program: no such"
	printf '#!/bin/sh\nexec sleep 1000\n' >"$W/root/bin/go"
	TMPDIR=$temporary timeout -s INT 2 "$GOTRACE" layout --go "$W/root" >"$W/out" 2>"$W/err" </dev/null
	says "interrupted: no table was made"
	[ -z "$(ls -A "$temporary")" ] || die "the build's directory is still there"
	chown $NOBODY "$temporary"
	TMPDIR=$temporary run_gotrace layout --go "$W/root"
	want 1
	one_line
	says 'another user could replace files below .*TMPDIR'
	[ -z "$(ls -A "$temporary")" ] || die "made $(ls "$temporary")"
}
