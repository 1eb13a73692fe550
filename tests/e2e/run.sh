#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Live targets, judged by Go's own readers. Needs root and ./gotrace.
#   ALL=1          every cell of the matrix, every case (long)
#   CELL_SEED=N    chooses the rotating cells and cases; default: the day
#   ONLY=quick     a cell of each kind and the main cases: what `make test` runs
#   ONLY=turn      a part of the cells and cases, others each day
#   ONLY=cells|newest|cases|NAME   one part, or the cases whose name contains NAME
#   CELL="RELEASE VARIANT MODE"    one cell
#   LOOK=--detail=light   the same option for every cell (else they take turns: auto, exact, light, starts)
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
. tests/e2e/cells.sh
. tests/e2e/cases.sh
. tests/e2e/events.sh
. tests/e2e/files.sh
. tests/e2e/convert.sh
. tests/e2e/export.sh
. tests/e2e/analysis.sh
. tests/e2e/fleet.sh
. tests/e2e/old_open.sh
. tests/e2e/flight.sh
. tests/e2e/node.sh
. tests/e2e/attackers.sh
. tests/e2e/outputs.sh
. tests/e2e/native.sh
. tests/e2e/children.sh
. tests/e2e/functions.sh
. tests/e2e/values.sh
. tests/e2e/requests.sh
. tests/e2e/sandbox.sh
. tests/e2e/spaces.sh
. tests/e2e/rights.sh
. tests/e2e/doctor.sh
. tests/e2e/arm64.sh
. tests/e2e/load.sh
. tests/e2e/os.sh
. tests/e2e/ps.sh
. tests/e2e/locks.sh
. tests/e2e/labels.sh
. tests/e2e/plugins.sh
. tests/e2e/interrupted.sh
. tests/e2e/callers.sh
. tests/e2e/profiles.sh
. tests/e2e/hostile.sh
. tests/e2e/poked.sh
. tests/e2e/unknown.sh
. tests/e2e/patched.sh
. tests/e2e/builds.sh
. tests/e2e/hosts.sh
. tests/e2e/bubble.sh
. tests/e2e/real.sh

[ "$(id -u)" -eq 0 ] || { echo "e2e: needs root" >&2; exit 1; }
[ -x "$GOTRACE" ] || { echo "e2e: no ./gotrace here: run make first" >&2; exit 1; }
build_judge || { echo "e2e: cannot build the judge" >&2; exit 1; }

if [ -n "$CELL" ]; then
	run_cell $CELL yes yes
	finish
	exit
fi
case ${ONLY:-everything} in
quick)
	cells_quick
	run_named $QUICK_CASES
	;;
turn)
	cells_newest
	cells_rotating
	run_turn
	;;
cells | newest | everything)
	if [ "$ALL" = 1 ]; then
		cells_all
	else
		cells_newest
		[ "$ONLY" = newest ] || cells_rotating
	fi
	[ "${ONLY:-everything}" != everything ] || run_cases ""
	;;
cases) run_cases "" ;;
*) run_cases "$ONLY" ;;
esac
finish
