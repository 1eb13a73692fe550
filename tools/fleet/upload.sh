#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Moves the snapshots of a flight recorder to an object store, with their tables (docs/fleet.md):
#   upload.sh [-1] DIR REMOTE [KEY=VALUE...]
# REMOTE is a path of rclone, such as s3:traces; rclone takes its settings from its own file or from RCLONE_CONFIG_*.
# A trace goes to REMOTE/raw/NODE/, its tables to REMOTE/lake/. NODE is the host's name, if the environment does not
# say it. Each KEY=VALUE is a --resource of gotrace convert. What could not be moved is tried again, every ten
# seconds; with -1 everything is tried once, and the exit status is 1 if something is left.
set -u

usage() {
	echo "usage: upload.sh [-1] DIR REMOTE [KEY=VALUE...]" >&2
	exit 2
}

once=
[ "${1:-}" = -1 ] && { once=1; shift; }
[ $# -ge 2 ] || usage
dir=$1 remote=$2
shift 2
[ -d "$dir" ] || { echo "upload: $dir is no directory" >&2; exit 2; }
for tool in gotrace rclone; do
	command -v "$tool" >/dev/null || { echo "upload: no $tool in PATH" >&2; exit 2; }
done
node=${NODE:-$(uname -n)}
for pair; do
	set -- "$@" --resource "$pair"
	shift
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 0' INT TERM

# tables TRACE [--resource KEY=VALUE]...: uploads the tables. Table "trace" goes last: who reads it finds the others.
tables() {
	rm -rf "$work/lake"
	if ! gotrace convert -q "$@" --format parquet -o "$work/lake"; then
		# Of a file that is no trace there are no tables; a full disk is another matter.
		! gotrace check "$1" >/dev/null 2>&1
		return
	fi
	rclone copy -q --exclude '/trace/**' "$work/lake" "$remote/lake" &&
		rclone copy -q "$work/lake/trace" "$remote/lake/trace"
}

while :; do
	status=0
	# A snapshot has no name before it is complete.
	for trace in "$dir"/*.trace; do
		[ -f "$trace" ] || continue
		if tables "$trace" "$@" && rclone moveto -q "$trace" "$remote/raw/$node/${trace##*/}"; then
			echo "upload: $remote/raw/$node/${trace##*/}"
		else
			echo "upload: $trace stays here" >&2
			status=1
		fi
	done
	[ -z "$once" ] || exit $status
	# wait: a signal ends a shell at once, and no sleep.
	sleep 10 &
	wait $!
done
