#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Makes src/analysis/page.inc from the page's style and script: C strings, and the policy with their hashes.
# --check compares it with the existing file.
set -eu
cd "$(dirname "$0")"

hash_of() {
	printf "'sha256-%s'" "$(printf %s "$1" | openssl dgst -sha256 -binary | base64)"
}

# Each line becomes a C string.
quoted() {
	printf %s "$1" | sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/\t"&\\n"/; $s/\\n"$/"/'
}

style=$(cat report.css)
script=$(cat report.js)
policy="default-src 'none'; style-src $(hash_of "$style"); script-src $(hash_of "$script")"
out=../../src/analysis/page.inc
if [ "${1-}" = --check ]; then
	out=$(mktemp)
	trap 'rm -f "$out"' EXIT
fi
{
	echo '/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */'
	echo '/* Made by tools/page/make.sh of tools/page/report.css and report.js: change those. */'
	echo 'static const char page_head[] ='
	quoted "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">"
	echo
	quoted "<meta http-equiv=\"Content-Security-Policy\" content=\"$policy\">"
	echo
	quoted "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>gotrace report</title><style>$style</style></head><body><main></main>"
	echo ';'
	echo 'static const char page_script[] ='
	quoted "$script"
	echo ';'
} >"$out"
[ "${1-}" != --check ] || cmp "$out" ../../src/analysis/page.inc || {
	echo "src/analysis/page.inc is not what its sources make: run tools/page/make.sh" >&2
	exit 1
}
