# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Stacks of C programs that differ in nothing but a return address. To be sourced after plugins.sh.

# callers FLAG...: builds the program with these flags. Each call must be in the trace with its own stack.
callers() {
	local function n counts
	binary=$W/callers
	gcc -std=gnu17 -Wall -Wextra -Werror -O2 "$@" -o "$binary" tests/e2e/callers/callers.c >&2 || die "cannot build"
	start_target "$binary"
	trace_plugin
	kill -USR1 "$target"
	printed "done"
	end_plugin_trace 0
	counts=($(sed -n 's/^done //p' "$W/target.out"))
	while [ ${#counts[@]} -gt 0 ]; do
		function=${counts[0]}
		n=$(number_of "SELECT count(*) FROM state s WHERE state = 'syscall' AND EXISTS (SELECT 1 FROM frame f WHERE f.stack = s.stack AND f.func = '$function')")
		[ "$n" = "${counts[1]}" ] || die "$*: $n calls by $function instead of ${counts[1]}"
		counts=("${counts[@]:2}")
	done
}

case_callers() {
	callers -fomit-frame-pointer
	callers -fno-omit-frame-pointer
}
