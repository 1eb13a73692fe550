#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Makes src/target/layouts.inc: builds program/ with a toolchain of each minor release (fetched by Go itself
# if needed) and reads its DWARF. `make.sh --check [RELEASE ...]` makes the rows of these releases (default:
# all) and compares them with those in the table. From 1.22 on it also compares arm64's, which has the same
# table, because its structs are those of amd64. To add a release, add its latest patch here, oldest first,
# run this, and check the diff. An older patch has a row of its own only if its structs are others: 1.23.8, 1.24.0.
set -eu
cd "$(dirname "$0")/../.."
. tools/go.sh
find_go || { echo "make.sh: needs Go 1.22 or later" >&2; exit 1; }
releases="1.4.3 1.5.4 1.6.4 1.7.6 1.8.7 1.9.7 1.10.8 1.11.13 1.12.17 1.13.15 1.14.15 1.15.15 1.16.15
	1.17.13 1.18.10 1.19.13 1.20.14 1.21.13 1.22.12 1.23.8 1.23.12 1.24.0 1.24.6 1.25.1 1.26.8 1.27.4"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # RELEASE ARCH: builds program/ as $work/RELEASE-ARCH
	local experiment=
	case $1 in
	1.[4-9].* | 1.1[0-9].* | 1.2[01].*)
		(cd tools/layout/program && CGO_ENABLED=0 GOOS=linux GOARCH=amd64 old_go "$1" build -o "$work/$1-$2")
		return
		;;
	# Package iter needs the experiment in 1.22, and exists by default since then.
	1.22.*) experiment=rangefunc ;;
	esac
	(cd tools/layout/program &&
		GOTOOLCHAIN=go$1 GOEXPERIMENT=$experiment CGO_ENABLED=0 GOFLAGS= GOOS=linux GOARCH=$2 \
			go build -o "$work/$1-$2" .)
}

check=
if [ "${1:-}" = --check ]; then
	check=--check
	shift
	releases=${*:-$releases}
fi
files=()
for release in $releases; do
	build "$release" amd64
	files+=("$work/$release-amd64")
	case $check$release in
	--check1.2[2-9].*)
		build "$release" arm64
		files+=("$work/$release-arm64")
		;;
	esac
done
# The tool is linked with the table that it makes. It needs the table's fields, not its rows.
test -f src/target/layouts.inc ||
	echo 'static const struct release releases[] = {{.minor = 0}};' > src/target/layouts.inc
${CC:-gcc} -std=c17 -D_GNU_SOURCE -I. -Isrc -O1 -Wall -Wextra -o "$work/layout" tools/layout/layout.c \
	src/target/image.c src/target/load.c src/target/layout.c src/target/buildinfo.c \
	src/target/debuginfo.c src/target/layout_table.c src/util/budget.c src/util/clock.c src/util/safe_elf.c src/util/error.c src/util/utf8.c -ldw -lelf
if [ "$check" ]; then
	"$work/layout" --check "${files[@]}"
else
	"$work/layout" "${files[@]}" > "$work/layouts.inc"
	mv "$work/layouts.inc" src/target/layouts.inc
fi
