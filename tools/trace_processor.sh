#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Perfetto's own reader of traces, as a check of what gotrace writes.
#   tools/trace_processor.sh check FILE     checks that Perfetto's trace processor imports FILE without an error, and
#                                           that everything ends
#   tools/trace_processor.sh query FILE SQL
# The program is $TRACE_PROCESSOR, or build/perfetto/trace_processor_shell, or the one on PATH; status 77: there is
# none. Perfetto (v58 or newer) has it among its releases, and documents how to build it.
set -eu
cd "$(dirname "$0")/.."
ours=build/perfetto/trace_processor_shell

usage() {
	sed -n '4,7s/^# *//p' "$0" >&2
	exit 2
}

find_it() {
	for program in "${TRACE_PROCESSOR:-}" "$ours" "$(command -v trace_processor_shell || :)"; do
		[ -n "$program" ] && [ -x "$program" ] && return
	done
	echo "trace_processor.sh: there is no trace_processor_shell: set TRACE_PROCESSOR to one of Perfetto's releases" >&2
	exit 77
}

query() {
	"$program" query "$1" "$2"
}

# Rows of these queries are faults: something was dropped on import, has no end, or ends after its parent; or a CPU
# has two threads.
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
