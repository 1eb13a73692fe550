# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Releases that are not known: gotrace is built without some rows of its table of layouts (layout_without.c). To be
# sourced after cells.sh.

# without NAME: that gotrace, as $GOTRACE.
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

# refused_for WORDS: the program is not traced, for that reason, and lives on.
refused_for() {
	start_target "$(target_binary 1.26.8 stripped)" mixed
	run_gotrace -p "$target" -d 1s -o "$W/trace"
	want 1
	one_line
	says "was built by go1.26.8, which this gotrace does not know, and the layouts of Go $1"
	[ ! -e "$W/trace" ] || die "there is a trace"
	kill -0 "$target" || die "the target is gone"
	stop_target
}

# Go 1.26 has moved fields since 1.25.
case_nearest_far_release() {
	without without-26-27
	refused_for "1.25 do not fit: "
}

# One field alone is elsewhere.
case_nearest_moved_field() {
	without moved
	refused_for "1.27 do not fit: ids of goroutines are not unique"
}

# A program that has not begun proves nothing.
case_nearest_command() {
	without without-26
	run_gotrace -d 1s -o "$W/trace" -- "$(target_binary 1.26.8 stripped)" pingpong
	want 1
	one_line
	says "was built by go1.26.8, which this gotrace does not know: start it"
}
