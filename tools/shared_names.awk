# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A function has one name and a name one function, so that gdb, perf and ctags show one place. Names of several
# functions that are there since before are in the first file, which only gets shorter.
# usage: awk -f shared_names.awk shared_names.txt FILE.c...
function complain(text) {
	print text
	bad = 1
}
FILENAME ~ /shared_names\.txt$/ {
	if ($0 !~ /^#/)
		left[$1] = 1
	next
}
# In kernel style a definition begins in the first column with the type, and its body with a brace there.
/^[A-Za-z_].*[ *][a-z_0-9]+\(/ && !/^(typedef|__attribute__|#)/ {
	match($0, /[a-z_0-9]+\(/)
	name = substr($0, RSTART, RLENGTH - 1)
}
/^\{/ && name {
	if (name in file && file[name] != FILENAME) {
		shared[name] = 1
		if (!(name in left))
			complain(FILENAME ": " name "() is defined in " file[name] ", too: give it its noun")
	}
	file[name] = FILENAME
	name = ""
}
/;$/ { name = "" }
END {
	for (name in left)
		if (!(name in shared))
			complain("tools/shared_names.txt: " name "() is defined once now: remove it from the list")
	if (print_list)
		for (name in shared)
			print name > "/dev/stderr"
	exit bad
}
