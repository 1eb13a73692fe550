#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Traces a Go server under load, live: `sudo make demo`.
set -eu
cd "$(dirname "$0")/.."
. tools/go.sh
seconds=${DEMO_SECONDS:-5}
trace=gotrace-demo.trace
page=gotrace-demo.html
server=

stop() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

[ "$(id -u)" -eq 0 ] || { echo "demo: tracing needs root: sudo make demo" >&2; exit 1; }
sh tools/deps.sh demo
find_any_go || { echo "demo: no Go" >&2; exit 1; }
make
mkdir -p build
# Uses the local Go, unless it is newer than the releases that gotrace knows.
case "$(go env GOVERSION)" in
go1.2[89]* | go1.[3-9][0-9]*) toolchain=go1.27.4 ;;
*) toolchain=local ;;
esac
(cd tools/demo && GOTOOLCHAIN=$toolchain CGO_ENABLED=0 go build -trimpath -buildvcs=false -o ../../build/demo-server .)

build/demo-server >build/demo-server.out 2>&1 </dev/null &
server=$!
tries=0
until grep -q '^ready' build/demo-server.out; do
	tries=$((tries + 1))
	if [ $tries -gt 100 ] || ! kill -0 $server 2>/dev/null; then
		echo "demo: the server did not start: $(tail -n 1 build/demo-server.out)" >&2
		exit 1
	fi
	sleep 0.1
done

echo
echo "A Go server under load runs as process $server. It was built as any program is."
echo "\$ ./gotrace -p $server -d ${seconds}s -o $trace"
status=0
./gotrace -p $server -d "${seconds}s" -o $trace || status=$?
kill -0 $server 2>/dev/null || { echo "demo: the server died" >&2; exit 1; }
[ $status -eq 0 ] || [ $status -eq 3 ] || exit $status
tail -n 1 build/demo-server.out
echo
echo "The server has a fault. What the trace says:"
echo "\$ ./gotrace report $trace"
./gotrace report $trace
# Removes whatever has that name, instead of writing through it.
rm -f $page
./gotrace report $trace -q --html $page
echo
echo "The same as a page: open $page in a browser."
echo "Every goroutine on a time line: go tool trace $trace"
exit $status
