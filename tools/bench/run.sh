#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The cost of tracing: `make bench` (root). Arguments are passed to the bench program, for example
# tools/bench/run.sh -rounds 5 ladder. BENCH_GO=1.22.12 builds the loads with that release.
set -eu
cd "$(dirname "$0")/../.."
. tools/go.sh
find_go || { echo "bench: no Go of 1.22 or later: run tools/deps.sh tests" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "bench: needs root" >&2; exit 1; }
[ -x ./gotrace ] || { echo "bench: no ./gotrace here: run make first" >&2; exit 1; }
mkdir -p build
(cd tools/bench && GOTOOLCHAIN=go${BENCH_GO:-1.26.8} CGO_ENABLED=0 go build -buildvcs=false -o ../../build/bench-run .)
case " $* " in *" shards "*) make -s build/bench-shards ;; esac
echo "# $(uname -sr), $(nproc) CPUs, $(date -u +%FT%TZ), load$(uptime | sed 's/.*average//')"
exec build/bench-run "$@"
