#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Live targets, judged by Go's own readers. Needs root and ./gotrace.
#   ALL=1          every cell of the matrix (long)
#   CELL_SEED=N    which of the rotating cells; the day if not given
#   ONLY=cells|newest|cases|NAME   one part, or the cases whose name holds NAME
#   CELL="RELEASE VARIANT MODE"    one cell
#   LOOK=--light   every cell so (else they take turns: adaptive, --exact, --light, --spans)
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
. tests/e2e/cells.sh
. tests/e2e/cases.sh
. tests/e2e/events.sh
. tests/e2e/files.sh
. tests/e2e/convert.sh
. tests/e2e/old_open.sh
. tests/e2e/flight.sh
. tests/e2e/native.sh
. tests/e2e/children.sh
. tests/e2e/functions.sh
. tests/e2e/sandbox.sh
. tests/e2e/spaces.sh
. tests/e2e/doctor.sh
. tests/e2e/arm64.sh
CELL_SEED=${CELL_SEED:-$(($(date +%s) / 86400))}

[ "$(id -u)" -eq 0 ] || { echo "e2e: needs root" >&2; exit 1; }
[ -x "$GOTRACE" ] || { echo "e2e: no ./gotrace here: run make first" >&2; exit 1; }
build_judge || { echo "e2e: cannot build the judge" >&2; exit 1; }

if [ -n "$CELL" ]; then
	run_cell $CELL yes yes
	finish
	exit
fi
case ${ONLY:-everything} in
everything | cells | newest)
	if [ "$ALL" = 1 ]; then
		cells_all
	else
		cells_newest
		[ "$ONLY" = newest ] || cells_rotating
	fi
	;;
esac
case ${ONLY:-everything} in
cells | newest) ;;
everything | cases) run_cases "" ;;
*) run_cases "$ONLY" ;;
esac
finish
