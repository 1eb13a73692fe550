#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Perfetto's own reader of traces, as a check of what gotrace writes.
#   tools/trace_processor.sh check FILE     does Perfetto's trace processor import FILE without an error, and do things end
#   tools/trace_processor.sh query FILE SQL
#   tools/trace_processor.sh build SOURCE   builds it from a copy of google/perfetto (v58 or newer) in the directory SOURCE,
#                                           without a network: an hour on two cores
# The program is $TRACE_PROCESSOR, or build/perfetto/trace_processor_shell, or the one on PATH; status 77: there is none.
set -eu
cd "$(dirname "$0")/.."
ours=build/perfetto/trace_processor_shell

usage() {
	sed -n '4,8s/^# *//p' "$0" >&2
	exit 2
}

find_it() {
	for program in "${TRACE_PROCESSOR:-}" "$ours" "$(command -v trace_processor_shell || :)"; do
		[ -n "$program" ] && [ -x "$program" ] && return
	done
	echo "trace_processor.sh: there is no trace_processor_shell: tools/trace_processor.sh build SOURCE makes one" >&2
	exit 77
}

# Debian 12's SQLite is 3.40.1, which serves but for the places of errors in queries; it has no percentile function, and
# other importers cannot be left out.
build() {
	for tool in gn ninja protoc g++; do
		command -v $tool >/dev/null || {
			echo "trace_processor.sh: no $tool: apt-get install g++ python3 generate-ninja ninja-build protobuf-compiler libprotobuf-dev libprotoc-dev libsqlite3-dev zlib1g-dev" >&2
			exit 1
		}
	done
	to=$PWD/build/perfetto
	mkdir -p "$to"
	cd "$1"
	sed -i 's/< 3041002/< 3040001/' src/trace_processor/sqlite/sql_source.cc
	args=
	for part in zstd re2 grpc ui unittests integration_tests benchmarks heapprofd traced_perf llvm_demangle etm_importer winscope \
		x64_cpu_opt trace_processor_linenoise trace_processor_httpd trace_processor_json trace_processor_mac_instruments \
		trace_processor_percentile; do
		args="$args enable_perfetto_$part=false"
	done
	for library in protobuf sqlite zlib; do
		args="$args perfetto_use_system_$library=true"
	done
	gn gen out/tp --args="$args is_debug=false is_clang=false is_hermetic_clang=false is_system_compiler=true use_custom_libcxx=false skip_buildtools_check=true extra_cflags=\"-O1 -w\""
	nice -n 19 ninja -C out/tp trace_processor_shell
	cp out/tp/trace_processor_shell "$to/"
}

query() {
	"$program" query "$1" "$2"
}

# Rows of these are faults: nothing was dropped on import, all that begins ends, and what is within a slice ends in it.
faults() {
	cat <<'END'
SELECT 'stat ' || name || ' ' || value AS fault FROM stats WHERE value > 0 AND (severity IN ('error', 'data_loss')
  OR name GLOB '*_errors' OR name GLOB '*missing*' OR name GLOB 'flow_*'
  OR (name GLOB '*skipped*' AND name != 'compact_sched_switch_skipped'))
UNION ALL SELECT 'slice without an end: ' || name FROM slice WHERE dur < 0
UNION ALL SELECT 'state without an end: ' || value FROM state WHERE dur < 0
UNION ALL SELECT 'slice beyond its parent: ' || c.name FROM slice c JOIN slice p ON p.id = c.parent_id
  WHERE c.ts + c.dur > p.ts + p.dur
UNION ALL SELECT 'two threads on a CPU at ' || e FROM (SELECT ts + dur e, lead(ts) OVER (PARTITION BY ucpu ORDER BY ts) n
  FROM sched) WHERE e > n
END
}

case ${1:-} in
build)
	[ $# -eq 2 ] && [ -d "$2/src/trace_processor" ] || usage
	build "$2"
	;;
check)
	[ $# -eq 2 ] || usage
	find_it
	found=$(query "$2" "$(faults)") || exit 1
	found=$(printf '%s\n' "$found" | grep -E '^"?(stat|slice|state|two) ' | head -n 5 || :)
	[ -z "$found" ] || {
		printf '%s\n' "$found" >&2
		exit 1
	}
	;;
query)
	[ $# -eq 3 ] || usage
	find_it
	query "$2" "$3"
	;;
*) usage ;;
esac
