#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Passes the files of the encoder's unit test to Go's own readers: those of go 1.11 and later to
# golang.org/x/exp/trace, those with the header go 1.22 also to the tool of Go 1.22, and the flat ones to the parsers
# of the releases that wrote them. Needs what make needs, Go, and its proxy or module cache.
# usage: tests/readers/wire.sh [DIR]   (DIR keeps the files)
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
dir=${1:-$(mktemp -d)}
mkdir -p "$dir/traces"

cd "$root"
make build/unit/trace_wire_encode
WIRE_TRACE_DIR="$dir/traces" build/unit/trace_wire_encode

(cd tests/readers && go build -o "$dir/tracecheck" .)
for format in 11 19 21 22 23 25 26; do
	"$dir/tracecheck" "$dir"/traces/*.$format.trace
done

for pair in 5:1.5.4 5:1.6.4 7:1.7.6 8:1.8.7 9:1.9.7 10:1.10.8 11:1.11.13 11:1.16.15 19:1.19.13 21:1.21.13; do
	release=${pair#*:}
	sh tests/e2e/oldparse/build.sh "$release" "$dir/oldparse-$release"
	for file in "$dir"/traces/*."${pair%:*}".trace; do
		if ! "$dir/oldparse-$release" "$file" >"$dir/dump" 2>&1; then
			echo "$file: refused by go$release: $(tail -n 1 "$dir/dump")"
			exit 1
		fi
		echo "$file: read by go$release"
	done
done

for file in "$dir"/traces/*.22.trace; do
	if ! GOTOOLCHAIN=go1.22.12 go tool trace -d=1 "$file" >"$dir/dump" 2>&1; then
		echo "$file: refused by go1.22.12:"
		tail -n 1 "$dir/dump"
		exit 1
	fi
	echo "$file: read by go1.22.12, $(wc -l <"$dir/dump") lines"
done
[ $# -gt 0 ] || rm -r "$dir"
