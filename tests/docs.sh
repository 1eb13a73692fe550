#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Runs the commands that README and docs show, on the demo server and on a program in C. Needs root and ./gotrace.
#   tests/docs.sh [FILE...]
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
cd "$(dirname "$0")/.." || exit 1
. tests/e2e/lib.sh
. tests/e2e/native.sh
[ "$(id -u)" -eq 0 ] || { echo "docs: needs root" >&2; exit 1; }
[ $# -gt 0 ] || set -- README.md docs/*.md
mkdir -p "$E2E"
W=$(mktemp -d "$E2E/docs-XXXXXX") || exit 1
mkdir -p "$E2E" "$W/bin"
trap 'kill $demo $target 2>/dev/null; rm -rf "$W"' EXIT
printf '#!/bin/sh\nexec "$@"\n' >"$W/bin/sudo"
chmod 755 "$W/bin/sudo"
ln -s "$GOTRACE" "$W/bin/gotrace"
ln -s "$TOP/README.md" "$W/README.md"
(cd tools/demo && GOTOOLCHAIN=go1.26.8 CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$W/demo-server" .) || exit 1
"$W/demo-server" >"$W/demo.out" 2>&1 </dev/null &
demo=$!
C_SECONDS=280 start_c pingpong
for ((i = 0; i < 100; i++)); do
	grep -q ^ready "$W/demo.out" && break
	sleep 0.1
done
# Pages are independent: each may read this trace.
./gotrace -p $demo -d 2s -q -o "$W/slow.trace" || exit 1
python3 tests/docs.py "$demo" "$target" "$W" "$@"
