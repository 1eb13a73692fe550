#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What the compiler does not check: includes point down the stream of the data
# only, functions stay short, and no uretprobe is used (Go moves its stacks).
set -u
cd "$(dirname "$0")/.."
most=100
status=0

find src bpf -name '*.[ch]' | sort | xargs awk -v most=$most '
BEGIN {
	# A room, and the rooms whose headers it may read. Of the model, wire, convert and flight see the ops only.
	allow["util"] = ""
	allow["rawlog"] = "bpf"
	allow["symbol"] = "bpf rawlog"
	allow["target"] = "bpf rawlog symbol"
	allow["native"] = "bpf rawlog symbol target"
	allow["sandbox"] = "bpf rawlog symbol target native"
	allow["capture"] = "bpf rawlog symbol target native"
	allow["model"] = "bpf rawlog"
	allow["wire"] = "symbol"
	allow["convert"] = "symbol wire"
	allow["flight"] = "wire"
	allow["cli"] = "bpf rawlog symbol target native sandbox capture model wire convert flight"
	allow["main.c"] = "cli wire"
	bad = 0
}
function complain(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}
FNR == 1 {
	split(FILENAME, part, "/")
	room = part[1] == "src" ? part[2] : ""
	if ($0 !~ /SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause/)
		complain("the first line must name the license")
	if (room != "" && !(room in allow))
		complain("room " room " is not in the plan: tools/lint.sh")
	begin = 0
}
room != "" && /^[ \t]*#[ \t]*include[ \t]+"/ {
	split($0, quoted, "\"")
	n = split(quoted[2], path, "/")
	other = n > 1 ? path[1] : room
	# The generated loader of the BPF programs: build/bpf, for capture alone.
	if (quoted[2] ~ /\.skel\.h$/) {
		if (room != "capture")
			complain("only capture loads BPF programs")
	} else if (other != room && other != "util" && index(" " allow[room] " ", " " other " ") == 0 &&
		   !((room == "wire" || room == "convert" || room == "flight") && quoted[2] == "model/op.h")) {
		complain(room " must not read " quoted[2])
	}
}
/uretprobe|kretprobe|SEC\("\??uret/ && !/^[ \t]*(\/\*|\*|\/\/)/ {
	complain("no return probes: Go moves its stacks")
}
# In the kernel style a function begins and ends with a brace in the first column.
/^\{/ { begin = FNR }
/^\}/ && begin {
	if (FNR - begin - 1 > most)
		complain("a function of " (FNR - begin - 1) " lines, at most " most " allowed")
	begin = 0
}
END { exit bad }' || status=1

# The parts of the end-to-end tests are sourced by one shell, those on other kernels, too: a name belongs to one of them.
twice=$(grep -hoE '^[a-z_0-9]+\(\)' tests/e2e/*.sh tests/vm/run.sh tests/vm/checks.sh | sort | uniq -d)
if [ -n "$twice" ]; then
	echo "tests: defined twice: $twice"
	status=1
fi
exit $status
