#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Replays recorded raw logs without root: the trace must be valid and equal to the recorded one, byte for byte; the
# summary must match its schema.
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
for raw in tests/fixtures/rawlog/*.raw; do
	name=$(basename "$raw" .raw)
	if ./gotrace replay -q --json "$raw" -o "$work/$name.trace" >"$work/json" &&
		python3 tests/summary.py docs/summary.schema.json <"$work/json" &&
		./gotrace check "$work/$name.trace" >"$work/check" &&
		cmp "$work/$name.trace" "${raw%.raw}.trace"; then
		echo "PASS golden $name"
		passed=$((passed + 1))
	else
		echo "FAIL golden $name"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
