#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Compares the offsets of the fields that --requests reads, from the type descriptors of Go programs, with their
# DWARF: `check.sh [RELEASE ...]`, by default one patch of every minor release from 1.9 on, and two with the libraries
# that the tests use, in versions of two years (RELEASE-old, -new, -olddb, -newdb, -oldrouters, -newrouters). Each
# program is built with DWARF, stripped, and as a PIE; the last two must have the same offsets as the first.
set -eu
cd "$(dirname "$0")/../.."
. tools/go.sh
find_go || { echo "check.sh: needs Go 1.22 or later" >&2; exit 1; }
releases=${*:-1.9.7 1.10.8 1.11.13 1.12.17 1.13.15 1.14.15 1.15.15 1.16.15 1.17.13 1.18.10 1.19.13 1.20.14 \
	1.21.13 1.22.12 1.23.8 1.24.6 1.25.1 1.26.8 1.27.4 \
	1.22.12-old 1.27.4-new 1.22.12-olddb 1.27.4-newdb 1.22.12-oldrouters 1.27.4-newrouters}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

${CC:-gcc} -std=c17 -D_GNU_SOURCE -I. -Isrc -O1 -Wall -Wextra -o "$work/fields" tools/requests/fields.c \
	src/target/image.c src/target/load.c src/target/layout.c src/target/buildinfo.c src/target/module.c \
	src/target/type_descriptors.c src/target/request_presets.c src/util/array.c src/util/hash.c \
	src/util/map64.c src/util/error.c src/util/utf8.c
(cd tools/requests/dwarf && go build -o "$work/dwarf" .)
"$work/fields" --names >"$work/names"

build() { # RELEASE FILE FLAG...
	local release=$1 file=$2
	shift 2
	case $release in
	1.9.* | 1.1[0-9].* | 1.2[01].*)
		(cd tools/requests/program && CGO_ENABLED=0 old_go "$release" build "$@" -o "$file" .)
		;;
	*)
		(cd tools/requests/program && GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS= \
			"$(go_root "$release")/bin/go" build "$@" -o "$file" .)
		;;
	esac
}

# Builds a program with the libraries of one of two years: of tests/e2e/requests, with drivers of databases, or of
# tests/e2e/routers.
build_libraries() { # RELEASE-VERSION FILE FLAG...
	local release=${1%-*} version=${1#*-} file=$2 program=requests cgo=0 tags=libraries
	shift 2
	case $version in
	*db) tags=databases,libsqlite3 cgo=1 ;;
	*routers) program=routers version=${version%routers} ;;
	esac
	(cd tests/e2e/$program && GOTOOLCHAIN=go$release CGO_ENABLED=$cgo \
		go build -buildvcs=false -tags=$tags -modfile="$version.mod" "$@" -o "$file" .)
}

wrong=0
check() { # NAME BUILD
	$2 "$1" "$work/plain"
	$2 "$1" "$work/stripped" -ldflags='-s -w'
	$2 "$1" "$work/pie" -buildmode=pie || cp "$work/plain" "$work/pie"
	"$work/dwarf" "$work/plain" <"$work/names" >"$work/expected"
	for file in plain stripped pie; do
		"$work/fields" "$work/$file" >"$work/got" || wrong=1
		if ! diff -u --label DWARF "$work/expected" --label "$file" "$work/got"; then
			echo "$1: other offsets ($file)"
			wrong=1
		fi
	done
	echo "$1: $(wc -l <"$work/expected") fields"
}
for release in $releases; do
	case $release in
	*-*) check "$release" build_libraries ;;
	*) check "$release" build ;;
	esac
done
exit $wrong
