# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# Native traces of each release, converted to each format and read by that format's own readers. Sourced by
# run.sh. Needs no privileges except for its targets.

ALL_FORMATS="v0 1.5 1.7 1.8 1.9 1.10 1.11 1.19 1.21 1.22 1.23 1.25 1.26"

# native_of RELEASE [MODE]: makes a trace of a target with that release's own tracer, $W/native-RELEASE. Up to
# Go 1.10 the tracer sometimes writes what its own tool rejects ("g 12 is not waiting before unpark"); then it
# makes another one.
native_of() {
	local binary try
	binary=$(target_binary "$1" default) || die "cannot build for go$1"
	for try in 1 2 3 4; do
		timeout 60 "$binary" "${2:-mixed}" -seconds 3 -native "$W/native-$1" -native-delay 500ms \
			-native-seconds 1 >"$W/target.out" 2>"$W/target.err" || true
		grep -q 'native done' "$W/target.out" || die "no native trace of go$1: $(tail -n 2 "$W/target.err")"
		"$GOTRACE" check "$W/native-$1" >"$W/check.out" 2>&1 && return
		[ "$(minor "$1")" -le 10 ] || break
	done
	die "the native trace of go$1, try $try: $(tail -n 1 "$W/check.out")"
}

# format_of RELEASE: prints the format that it writes.
format_of() {
	case $(minor "$1") in
	5 | 6) echo 1.5 ;;
	12 | 13 | 14 | 15 | 16 | 17 | 18) echo 1.11 ;;
	20) echo 1.19 ;;
	24) echo 1.23 ;;
	*) echo "1.$(minor "$1")" ;;
	esac
}

# converted FROM TO FORMAT ARG...: converts a file, and checks the result.
converted() {
	local from=$1 to=$2 format=$3
	shift 3
	run_gotrace convert "$from" -o "$to" --format "$format" "$@"
	want 0
	checked "$to"
}

# taken_over: in the lines of gotrace dump, counts calls that lost their P to the end of another call, which
# continues with it.
taken_over() {
	awk '{ p = ""; for (i = 3; i <= NF; i++) if ($i ~ /^P=/) p = $i }
		p != "" && p in blocked { n += $2 != "ProcStop"; delete blocked[p] }
		$2 == "GoSysBlock" { blocked[p] = 1 }
		END { print n + 0 }'
}

# read_alike A B: checks that two traces have the same events, as far as both formats can represent them.
read_alike() {
	local taken
	taken=$("$GOTRACE" dump "$1" | taken_over) || die "gotrace dump $1"
	"$GOTRACE" check --json "$1" >"$W/a.json" 2>"$W/err" && "$GOTRACE" check --json "$2" >"$W/b.json" 2>"$W/err" ||
		die "gotrace check: $(tail -n 1 "$W/err")"
	timeout 60 "$JUDGE" counts -taken "$taken" "$W/a.json" "$W/b.json" >"$W/counts" 2>&1 ||
		die "$3: $(tail -n 1 "$W/counts")"
}

# read_as FORMAT FILE: checks the file with the format's strict readers.
read_as() {
	case $1 in
	1.2[2-9]) strict "$2" ;;
	*) flat "$1" "$2" ;;
	esac
}

case_convert_to_all() { # every format to every format
	local release format
	for release in ${CONVERT_RELEASES:-$(in_turn 3 1.5.4 1.7.6 1.8.7 1.9.7 1.10.8 1.11.13 1.16.15 1.19.13 1.21.13 1.22.12 1.23.8 1.25.1 $NEWEST)}; do
		native_of "$release"
		for format in $ALL_FORMATS; do
			converted "$W/native-$release" "$W/trace" $format
			read_as $format "$W/trace"
		done
		rm -f "$W/native-$release" "$W/trace"
		printf '%s ' "$release"
	done
}

case_convert_and_back() { # to the same format, and to another one and back, keep what both can represent
	local release own
	for release in ${CONVERT_RELEASES:-$(in_turn 3 1.5.4 1.7.6 1.9.7 1.10.8 1.11.13 1.16.15 1.17.13 1.19.13 1.21.13 1.22.12 1.23.8 $NEWEST)}; do
		native_of "$release"
		own=$(format_of "$release")
		converted "$W/native-$release" "$W/again" "$own"
		read_alike "$W/native-$release" "$W/again" "go$release to $own"
		if [ "$(minor "$release")" -le 21 ]; then
			converted "$W/native-$release" "$W/there" 1.26
			converted "$W/there" "$W/back" "$own"
			read_alike "$W/native-$release" "$W/back" "go$release to 1.26 and back"
		fi
		printf '%s %s; ' "$release" "$(cat "$W/counts")"
	done
}

case_convert_twin() { # to the newest format, step by step; go 1.11 to 1.21 also beside Go's own conversion
	local release stacks
	for release in ${CONVERT_RELEASES:-$(in_turn 2 1.11.13 1.14.15 1.16.15 1.17.13 1.19.13 1.21.13 1.23.8 $NEWEST)}; do
		native_of "$release"
		converted "$W/native-$release" "$W/trace" 1.26
		# Up to Go 1.11 inlined frames share an address, by which Go's reader identifies frames: it
		# shows the wrong ones.
		stacks=100
		[ "$(minor "$release")" -gt 11 ] || stacks=99
		timeout 100 "$JUDGE" twin -v -min-seq 100 -min-stacks $stacks "$W/native-$release" "$W/trace" >"$W/twin" 2>&1 ||
			die "go$release: $(tail -n 1 "$W/twin") [$(grep -m 1 '^window' "$W/twin")]"
		printf '%s: %s; ' "$release" "$(grep -m 1 -o 'transitions.*waker stacks' "$W/twin")"
	done
}

case_convert_viewed() { # new traces in old viewers, old ones in new viewers
	local format release binary
	binary=$(target_binary $NEWEST default) || die "cannot build"
	native_of $NEWEST
	for format in ${CONVERT_FORMATS:-$(in_turn 3 1.5 1.7 1.8 1.9 1.10 1.11 1.19 1.21)}; do
		converted "$W/native-$NEWEST" "$W/trace" "$format"
		served "$format" sched,block "$W/trace" "$binary"
		printf '%s ' "$format"
	done
	for release in 1.5.4 1.9.7; do
		native_of $release
		binary=$(target_binary $release default) || die "cannot build"
		converted "$W/native-$release" "$W/trace" 1.26 --binary "$binary"
		(cd "$W" && timeout 200 "$JUDGE" pages -go "go$NEWEST" -rows sched,block "$W/trace") >"$W/pages" 2>&1 ||
			die "viewer of go$NEWEST, trace of go$release: $(tail -c 600 "$W/pages")"
	done
	# A format that no release has ever read, by way of the format that followed.
	converted "$W/native-1.5.4" "$W/early" v0
	flat v0 "$W/early"
	converted "$W/early" "$W/trace" 1.5
	served 1.5 sched,block "$W/trace" "$(target_binary 1.5.4 default)"
}

case_convert_names() { # addresses get names from the program; otherwise gotrace reports that they have none
	native_of 1.5.4
	converted "$W/native-1.5.4" "$W/trace" 1.26 --binary "$(target_binary 1.5.4 default)"
	strict "$W/trace"
	timeout 60 "$GOTRACE" dump --stacks "$W/trace" >"$W/dump" 2>"$W/dump.err" || die "dump: $(tail -n 1 "$W/dump.err")"
	grep -q ' main\.pool' "$W/dump" || die "no function of the program's"
	! grep -q 'instead of names\|keep their addresses' "$W/err" || die "names that it has are said to be missing: $(cat "$W/err")"
	converted "$W/native-1.5.4" "$W/trace" 1.26
	says 'addresses instead of names'
	run_gotrace convert "$W/native-1.5.4" -o "$W/none" --format 1.26 --binary /bin/true
	want 1
	one_line
	[ ! -e "$W/none" ] || die "a file was written all the same"
}

case_convert_names_of_others() { # a Go program has no names for C addresses; gotrace does not ask for it again
	start_c sleep
	run_gotrace -p "$target" -d 500ms -q --format 1.5 -o "$W/old"
	want 0
	converted "$W/old" "$W/trace" 1.26 --binary "$(target_binary $NEWEST default)"
	says 'stacks are not in .* and keep their addresses'
	! grep -q 'give the program' "$W/err" || die "asks for what it was given: $(cat "$W/err")"
	strict "$W/trace"
	stop_target
}

case_convert_bad_input() {
	local size
	native_of 1.21.13
	run_gotrace convert "$W/native-1.21.13" -o "$W/trace"
	want 2
	run_gotrace convert "$W/native-1.21.13" --format 1.26
	want 2
	run_gotrace convert "$W/absent" -o "$W/trace" --format 1.26
	want 1
	one_line
	head -c 100000 /dev/urandom >"$W/noise"
	run_gotrace convert "$W/noise" -o "$W/trace" --format 1.26
	want 1
	one_line
	says 'byte 0'
	[ ! -e "$W/trace" ] || die "a file was written all the same"
	# A truncated file with generations: the complete ones are converted.
	native_of $NEWEST
	size=$(stat -c %s "$W/native-$NEWEST")
	head -c $((size - 20)) "$W/native-$NEWEST" >"$W/torn"
	echo keep >"$W/trace"
	run_gotrace convert "$W/torn" -o "$W/trace" --format 1.11
	want 1 3
	if [ $status -eq 3 ]; then
		checked "$W/trace"
		says 'everything before it was written'
	else
		[ "$(cat "$W/trace")" = keep ] || die "what was there is gone"
	fi
	[ -z "$(find "$W" -name '.gotrace-*')" ] || die "a draft was left behind"
	run_gotrace convert "$W/native-$NEWEST" -o - --format 1.22
	want 0
	strict "$W/out"
}
