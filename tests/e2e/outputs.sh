# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Every command that writes a file: where it writes, with which mode, and what it leaves if it cannot. To be sourced
# after attackers.sh.

# Commands and options: the output is OUT, the input RAW or TRACE, another output OTHER.
WRITERS="replay -q RAW -o OUT
convert -q TRACE --format 1.22 -o OUT
convert -q TRACE --format perfetto -o OUT
convert -q TRACE --format sqlite -o OUT
convert -q TRACE --format pprof:wall -o OUT
convert -q TRACE --format folded:wall -o OUT
convert -q TRACE --format flame -o OUT
flame TRACE -o OUT
cut -q TRACE -o OUT
report TRACE --html OUT"
LIVE_WRITERS="-q -p PID -d 300ms -o OUT
-q -p PID -d 300ms -o OTHER --raw OUT
-q -p PID -d 300ms -o OUT.perfetto-trace
report -q -p PID -d 300ms --html OUT"

# write_with LINE OUT [INPUT]: runs gotrace as that line of WRITERS says.
write_with() {
	local word words=() input=${3:-tests/fixtures/rawlog/go1.26.8}
	for word in $1; do
		word=${word/#OUT/$2}
		word=${word/#PID/$target}
		word=${word/#OTHER/$W\/other}
		[ "$word" != RAW ] || word=$input.raw
		[ "$word" != TRACE ] || word=$input.trace
		words+=("$word")
	done
	LIMIT=20 run_gotrace "${words[@]}"
}

# each_writer FUNCTION LINES: calls the function with each of the lines.
each_writer() {
	local line
	while read -r line; do
		"$1" "$line"
	done <<<"$2"
}

# name_of LINE OUT: the name of the file that is written.
name_of() {
	case $1 in
	*OUT.perfetto-trace) echo "$2.perfetto-trace" ;;
	*) echo "$2" ;;
	esac
}

# nothing_written LINE OUT WORDS: checks that nothing is written, and that one line says why.
nothing_written() {
	write_with "$1" "$2"
	[ $status -eq 1 ] || die "gotrace $1: status $status instead of 1"
	one_line
	says "$3"
	unharmed "gotrace $1"
}

into_a_link() {
	local name
	name=$(name_of "$1" "$public/sticky/out")
	as_nobody ln -s "$W/victim/file" "$name"
	nothing_written "$1" "$public/sticky/out" 'symbolic link'
	rm "$name"
	as_nobody ln -s "$W/victim/new" "$name"
	nothing_written "$1" "$public/sticky/out" 'symbolic link'
	rm "$name"
}

into_others() {
	local name
	name=$(name_of "$1" "$W/out.file")
	mkfifo "$name"
	nothing_written "$1" "$W/out.file" 'not a regular file'
	rm "$name"
	mkdir "$name"
	nothing_written "$1" "$W/out.file" 'is a directory'
	rmdir "$name"
}

into_a_new_file() {
	local name mask
	mkdir "$W/new"
	name=$(name_of "$1" "$W/new/out")
	echo old >"$name"
	ln "$name" "$W/new/hard"
	chmod 666 "$name"
	mask=$(umask)
	umask 0
	SUDO_UID=12345 SUDO_GID=12345 write_with "$1" "$W/new/out"
	umask "$mask"
	[ $status -eq 0 ] || die "gotrace $1: status $status: $(tail -n 1 "$W/err")"
	[ "$(stat -c '%F %a %u %h' "$name")" = "regular file 600 12345 1" ] ||
		die "gotrace $1: made $(stat -c '%F, mode %a, uid %u, %h names' "$name")"
	[ "$(cat "$W/new/hard")" = old ] || die "gotrace $1: wrote into the file that was there"
	rm -f "$W/other" # of --raw
	[ "$(ls -A "$W/new" | wc -l)" -eq 2 ] || die "gotrace $1: left $(ls -A "$W/new" | tr '\n' ' ')"
	rm -r "$W/new"
}

# No writer follows another user's link, waits for the reader of a FIFO, or opens a file that exists.
case_output_places() {
	attacker_copy
	load pool
	mkdir -m 1777 "$public/sticky"
	each_writer into_a_link "$WRITERS
$LIVE_WRITERS"
	each_writer into_others "$WRITERS
$LIVE_WRITERS"
	each_writer into_a_new_file "$WRITERS
$LIVE_WRITERS"
	still_lives
}

# unchanged LINE STATUS: checks that the old file is still there, and nothing else.
unchanged() {
	[ $status -eq 1 ] || die "gotrace $1: status $status instead of 1"
	[ "$(cat "$W/small/old")" = old ] || die "gotrace $1: the old file has gone: $(ls -la "$W/small")"
	[ "$(ls -A "$W/small")" = old ] || die "gotrace $1: left $(ls -A "$W/small" | tr '\n' ' ')"
}

onto_a_full_disk() {
	write_with "$1" "$W/small/old"
	unchanged "$1"
	says 'no space left|disk or device full'
	one_line
}

from_bad_input() {
	write_with "$1" "$W/small/old" "$W/bad"
	unchanged "$1"
	one_line
	write_with "$1" "$W/small/old" "$W/missing"
	unchanged "$1"
	one_line
}

# What cannot be written whole leaves the file that is there as it was.
case_output_kept() {
	mkdir "$W/small"
	mount -t tmpfs -o size=4k,nr_inodes=0 tmpfs "$W/small" || die "cannot mount a tmpfs"
	trap 'umount -l "$W/small"' EXIT
	echo old >"$W/small/old"
	head -c 5000 /dev/urandom >"$W/bad.raw"
	cp "$W/bad.raw" "$W/bad.trace"
	each_writer onto_a_full_disk "$WRITERS"
	each_writer from_bad_input "$WRITERS"
}

into_a_pipe() {
	local kind
	write_with "$1" "$W/out.file"
	[ $status -eq 0 ] || die "gotrace $1: status $status"
	write_with "$1" -
	[ $status -eq 0 ] || die "gotrace $1: status $status with standard output"
	cmp -s "$W/out" "$W/out.file" || die "gotrace $1: - is not the same as a file"
	write_with "$1" /dev/null
	[ $status -eq 0 ] || die "gotrace $1: status $status with /dev/null"
	[ -c /dev/null ] || die "gotrace $1: /dev/null is gone"
	rm "$W/out.file"
}

# Standard output and /dev/null are written to, not replaced.
case_output_pipes() {
	each_writer into_a_pipe "$WRITERS"
}
