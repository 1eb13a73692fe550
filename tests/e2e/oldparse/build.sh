#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# build.sh RELEASE OUT: builds the program of this folder, with the parser and the toolchain of that release
# (1.5 to 1.21).
set -eu
out=$(realpath "$2")
cd "$(dirname "$0")"
. ../../../tools/go.sh
find_go
root=$(go_root "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src/oldtrace" "$work/src/oldparse"
case "$1" in
1.[56].*) load=load_1.5.go ;;
1.[789].*) load=load_1.7.go ;;
*) load=load_1.10.go ;;
esac
cp main.go "$load" "$work/src/oldparse/"
# Copies only the parser: package trace, under a name that can be imported.
for file in parser.go order.go; do
	[ ! -f "$root/src/internal/trace/$file" ] || sed 's/^package trace$/package oldtrace/' "$root/src/internal/trace/$file" >"$work/src/oldtrace/$file"
done
cd "$work/src/oldparse"
env -u GOBIN -u GOEXPERIMENT GOENV=off GOFLAGS= GO111MODULE=off GOTOOLCHAIN=local GOROOT="$root" GOPATH="$work" CGO_ENABLED=0 \
	PATH="$root/bin:$PATH" "$root/bin/go" build -o "$out" .
