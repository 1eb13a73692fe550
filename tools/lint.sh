#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What the compiler does not check: includes point down the stream of the data
# only, functions stay short, and no uretprobe is used (Go moves its stacks).
set -u
cd "$(dirname "$0")/.."
most=100
status=0

find src bpf -name '*.[ch]' | sort | xargs awk -v most=$most '
# A room, and all that it may read: rooms that stand above it in this list, or one header of such a room.
function room_reads(name, list,    n, i, one, path) {
	n = split(list, one, " ")
	for (i = 1; i <= n; i++) {
		split(one[i], path, "/")
		if (!(path[1] in allow) && path[1] != "bpf") {
			printf "tools/lint.sh: %s may read %s, which does not stand above it\n", name, one[i]
			bad = 1
		}
		unread[name " " one[i]] = 1
	}
	allow[name] = " " list " "
}
BEGIN {
	room_reads("util", "")
	room_reads("rawlog", "bpf")
	room_reads("symbol", "bpf rawlog")
	room_reads("target", "bpf rawlog symbol")
	room_reads("native", "bpf rawlog symbol target")
	room_reads("sandbox", "bpf rawlog target native")
	room_reads("capture", "bpf rawlog symbol target native")
	room_reads("model", "rawlog")
	room_reads("wire", "symbol model/op.h")
	room_reads("convert", "symbol model/op.h wire")
	room_reads("dump", "wire")
	# From the log to the file. Who reads pipeline sees the model, too.
	room_reads("pipeline", "rawlog symbol model wire")
	room_reads("report", "pipeline")
	room_reads("flight", "native sandbox model/op.h wire convert pipeline")
	room_reads("writer", "rawlog native sandbox pipeline report flight")
	room_reads("cli", "rawlog target native sandbox capture wire convert dump pipeline report flight writer")
	room_reads("main.c", "cli")
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
	} else if (other != room && other != "util") {
		if (index(allow[room], " " other " ") == 0 && index(allow[room], " " quoted[2] " ") == 0)
			complain(room " must not read " quoted[2])
		delete unread[room " " other]
		delete unread[room " " quoted[2]]
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
END {
	for (pair in unread) {
		split(pair, part, " ")
		printf "tools/lint.sh: %s reads nothing of %s\n", part[1], part[2]
		bad = 1
	}
	exit bad
}' || status=1

# The parts of the end-to-end tests are sourced by one shell, those on other kernels, too: a name belongs to one of them.
twice=$(grep -hoE '^[a-z_0-9]+\(\)' tests/e2e/*.sh tests/vm/run.sh tests/vm/checks.sh | sort | uniq -d)
if [ -n "$twice" ]; then
	echo "tests: defined twice: $twice"
	status=1
fi
exit $status
