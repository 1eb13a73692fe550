#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Checks what the compiler does not: includes follow the direction of the data, functions are short, and no uretprobe
# is used (Go moves its stacks); files are created in one place; tags are unique, lines have at most 120 columns,
# retired words do not return, the files of a module call one another in one direction, a name belongs to one function,
# only the ledger follows states, and the report's page is made of its sources.
set -u
cd "$(dirname "$0")/.."
most=100
columns=120
# Words of a private vocabulary, and the standard terms, in names and in comments.
retired="lend=share lent=shared looker=inspector clerk=file_server scribe=snapshot_worker lookout=trigger_eval keeper=generation_ring \
shelf=cache_generation boxes=workers told=reported tell=report tells=reports telling=reporting teller=trace_callee \
whoever=who lack=have_no lacks=has_no lacked=had_no lacking=missing stranger=untrusted strangers=untrusted \
room=module_or_space rooms=modules stretch=interval anew=again"
status=0

find src bpf -name '*.[ch]' | sort | xargs awk -v most=$most -v columns=$columns '
# A module, and everything that it may include: modules above it in this list, or single headers of such
# modules.
function module_reads(name, list,    n, i, one) {
	n = split(list, one, " ")
	for (i = 1; i <= n; i++) {
		if (!(one[i] in allow) && one[i] !~ /^bpf/ && !(module_of(one[i]) in allow)) {
			printf "tools/lint.sh: %s may read %s, which does not stand above it\n", name, one[i]
			bad = 1
		}
		unread[name " " one[i]] = 1
	}
	allow[name] = " " list " "
}
# The module of a file, by its path under src/: a folder, or a folder in it that has a line of its own.
function module_of(path,    part, n) {
	n = split(path, part, "/")
	return n > 2 && (part[1] "/" part[2]) in allow ? part[1] "/" part[2] : part[1]
}
# Words that are allowed in one file of src only, "" = in none.
function only_in(file, pattern) {
	nways++
	way_file[nways] = file
	way[nways] = "(^|[^A-Za-z0-9_])(" pattern ")"
}
function used(line, pattern) {
	match(line, pattern)
	line = substr(line, RSTART, RLENGTH)
	gsub(/[^A-Za-z0-9_]/, "", line)
	return line
}
BEGIN {
	follows = "^src/(trace/(ops|wire|convert|ledger)|model|annotate)/"
	only_in("src/util/directory.c", "O_CREAT|O_TMPFILE|O_TRUNC|mkdir\\(|mkdirat\\(")
	only_in("src/pipeline/hidden.c", "link\\(|linkat\\(|rename\\(|renameat\\(|renameat2\\(")
	only_in("", "(creat|creat64|freopen|truncate|mknod|mknodat|mkfifo|mkfifoat|symlink|symlinkat)\\(")
	only_in("", "(mktemp|mkstemp|mkostemp|mkstemps|mkostemps|mkdtemp|tmpfile|tmpnam|tempnam)\\(")
	module_reads("util", "")
	module_reads("rawlog", "bpf")
	module_reads("code/isa", "bpf")
	module_reads("code/symbol", "bpf rawlog code/isa")
	module_reads("code/elf", "rawlog")
	module_reads("target", "bpf code/isa rawlog code/symbol")
	module_reads("target/names", "rawlog code/symbol code/elf target")
	module_reads("target/functions", "bpf code/isa rawlog code/elf target target/names")
	module_reads("trace/ops", "")
	module_reads("trace/ledger", "trace/ops")
	module_reads("trace/wire", "code/symbol trace/ops")
	module_reads("trace/convert", "code/symbol trace/ops trace/wire")
	module_reads("trace/cut", "code/symbol trace/ops trace/ledger")
	module_reads("trace/dump", "trace/wire")
	module_reads("model", "bpf/site_list.h rawlog trace/ops trace/ledger")
	module_reads("annotate", "rawlog trace/ops model/annotator.h model/inserts.h model/model.h")
	module_reads("analysis", "code/symbol trace/ops trace/ledger")
	module_reads("analysis/goroutines", "rawlog code/symbol")
	module_reads("export", "code/symbol trace/ops trace/ledger trace/wire")
	module_reads("capture", "bpf rawlog code/symbol trace/ops/gap_log.h trace/ops/own_logs.h target target/functions target/names")
	# From the log to the file. Modules that include pipeline see the model, too.
	module_reads("sandbox", "bpf rawlog target target/names target/functions")
	module_reads("pipeline", "rawlog code/symbol model annotate trace/wire")
	module_reads("flight", "target/functions sandbox trace/ops trace/ledger trace/wire trace/convert trace/cut analysis pipeline")
	module_reads("workers/summary", "pipeline")
	module_reads("workers/writer", "rawlog target/names sandbox pipeline workers/summary flight")
	module_reads("cli", "bpf/site_list.h analysis/goroutines trace/ops target target/functions sandbox capture trace/wire trace/convert trace/dump export trace/cut analysis pipeline workers/summary flight workers/writer")
	module_reads("main.c", "cli")
}
function width(line,    i, n, at) {
	if (index(line, "\t") == 0)
		return length(line)
	n = split(line, at, "\t")
	line = at[1]
	for (i = 2; i <= n; i++)
		line = line sprintf("%*s", 8 - length(line) % 8, "") at[i]
	return length(line)
}
function complain(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}
FNR == 1 {
	split(FILENAME, part, "/")
	module = part[1] == "src" ? module_of(substr(FILENAME, 5)) : ""
	if ($0 !~ /SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause/)
		complain("the first line must name the license")
	if (module != "" && !(module in allow))
		complain("module " module " is not in the plan: tools/lint.sh")
	begin = 0
}
module != "" && /^[ \t]*#[ \t]*include[ \t]+"/ {
	split($0, quoted, "\"")
	n = split(quoted[2], path, "/")
	other = n > 1 ? module_of(quoted[2]) : module
	# Generated from a .proto file of the same module.
	if (quoted[2] ~ /\.pb-c\.h$/)
		next
	# The generated loader of the BPF programs: build/bpf, only for capture.
	if (quoted[2] ~ /\.skel\.h$/) {
		if (module != "capture")
			complain("only capture loads BPF programs")
	} else if (other != module && other != "util") {
		if (index(allow[module], " " other " ") == 0 && index(allow[module], " " quoted[2] " ") == 0)
			complain(module " must not read " quoted[2])
		delete unread[module " " other]
		delete unread[module " " quoted[2]]
	}
}
width($0) > columns {
	complain("a line of " width($0) " columns, at most " columns " allowed")
}
# A definition stands alone or is a member; a forward declaration ends with a semicolon.
/^[ \t]*(typedef )?(struct|enum|union) [a-z_0-9]+ \{/ {
	split($0, word, /[ \t{]+/)
	for (i = 1; word[i] !~ /^(struct|enum|union)$/; i++)
		;
	tag = word[i + 1]
	if (tag in defined)
		complain("the tag " tag " is defined in " defined[tag] ", too")
	defined[tag] = FILENAME
}
# States are followed by the ledger alone; what stands before it has the automaton.
module != "" && FILENAME !~ follows &&
	/(case |\[)OP_(GO_(START|DESTROY|SWITCH|SWITCH_DESTROY)|SYSCALL_(BEGIN|END|END_BLOCKED))(:|\] =)|op_changes\(/ {
	complain("only trace/ledger follows states by ops: observe it")
}
# gotrace runs as root in directories of other users: files are created and named in one way.
module != "" {
	line = $0
	gsub(/"[^"]*"/, "\"\"", line)
	if (line ~ /^[ \t]*(\/\*|\*|\/\/)/)
		line = ""
	for (i = 1; i <= nways; i++)
		if (FILENAME != way_file[i] && line ~ way[i])
			complain((way_file[i] ? "only " way_file[i] : "no file") " may use " used(line, way[i]) \
				": pipeline/output.h writes files")
	# Reading: fopen(name, "re").
	if (line ~ /(^|[^a-z_])fopen\(/ && $0 !~ /fopen\(.*, "re?"\)/)
		complain("fopen() is only for reading, with the mode \"re\": pipeline/output.h writes files")
	if (line ~ /sqlite3_open/ && $0 !~ /vfs=memdb|":memory:"/)
		complain("SQLite may only write to memory: pipeline/output.h writes files")
}
/uretprobe|kretprobe|SEC\("\??uret/ && !/^[ \t]*(\/\*|\*|\/\/)/ {
	complain("no return probes: Go moves its stacks")
}
# In kernel style a function begins and ends with a brace in the first column.
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

{ find src bpf tests -name '*.[ch]'; find tests tools \( -name '*.sh' -o -name '*.go' -o -name '*.py' \) ! -path tools/lint.sh \
	! -path 'tests/e2e/judge/testtrace/*' ! -path 'tests/fixtures/*'
	git ls-files '*.md' '*.man'; } | sort |
	xargs awk -v retired="$retired" -f tools/words.awk || status=1

sources=$(find src -name '*.c' | sort)
# shellcheck disable=SC2086
awk -f tools/circles.awk $sources $sources || status=1
# shellcheck disable=SC2086
awk -f tools/shared_names.awk $sources || status=1

# A file of unit tests that does not name them is linked, and its tests never run.
unnamed=$(grep -L '^UNIT_TESTS(' tests/unit/test_*.c)
if [ -n "$unnamed" ]; then
	echo "$unnamed: ends without UNIT_TESTS(tests, ...): tests/unit/unit.h"
	status=1
fi

# The parts of the end-to-end tests are sourced by one shell, including those for other kernels, so a name
# must be defined in only one of them.
doubles=$(grep -hoE '^[a-z_0-9]+\(\)' tests/e2e/*.sh tests/vm/run.sh tests/vm/checks.sh | sort | uniq -d)
if [ -n "$doubles" ]; then
	echo "tests: defined twice: $doubles"
	status=1
fi
# The policy of the report's page holds the hash of its script: edited by hand, the page stays empty.
sh tools/page/make.sh --check || status=1

# The documents: links, the size of README, spelling.
python3 tools/doclint.py || status=1
if command -v codespell >/dev/null; then
	# Parts of words in patterns, "to and fro", and what tests misspell on purpose.
	git ls-files -z | grep -zEv '^(vmlinux|LICENSES|tests/fuzz/corpus|tests/fixtures)/|\.(inc|png)$' |
		xargs -0 codespell -q 3 --ignore-words-list=bu,chek,fro,iif,nd,wrok || status=1
else
	echo "tools/lint.sh: no codespell here: tools/deps.sh tests"
	status=1
fi
exit $status
