#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Makes src/target/layouts.inc: builds program/ with a toolchain of each minor
# release (fetched by Go itself if need be) and reads its DWARF.
# To add a release, add its latest patch here, oldest first, run this, and see the diff.
set -eu
cd "$(dirname "$0")/../.."
toolchains=${TOOLCHAINS:-go1.22.12 go1.23.8 go1.24.6 go1.25.1 go1.26.8}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

files=
for toolchain in $toolchains; do
	# Package iter needs the experiment in 1.22 and is there by default since.
	case $toolchain in go1.22.*) experiment=rangefunc ;; *) experiment= ;; esac
	(cd tools/layout/program &&
		GOTOOLCHAIN=$toolchain GOEXPERIMENT=$experiment CGO_ENABLED=0 GOFLAGS= GOOS=linux GOARCH=amd64 \
			go build -o "$work/$toolchain" .)
	files="$files $work/$toolchain"
done
# The tool is linked with the table that it makes; it needs its fields, not its rows.
test -f src/target/layouts.inc ||
	echo 'static const struct release releases[] = {{.minor = 0}};' > src/target/layouts.inc
${CC:-gcc} -std=c17 -D_GNU_SOURCE -I. -Isrc -O1 -Wall -Wextra -o "$work/layout" tools/layout/layout.c \
	src/target/image.c src/target/load.c src/target/layout.c src/target/buildinfo.c \
	src/target/debuginfo.c src/util/error.c -ldw -lelf
# shellcheck disable=SC2086
"$work/layout" $files > "$work/layouts.inc"
mv "$work/layouts.inc" src/target/layouts.inc
