# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# A function has one name and a name one function, so that gdb, perf and ctags show one place.
# usage: awk -f shared_names.awk FILE.c...

# In kernel style a definition begins in the first column with the type, and its body with a brace there.
/^[A-Za-z_].*[ *][a-z_0-9]+\(/ && !/^(typedef|__attribute__|#)/ {
	match($0, /[a-z_0-9]+\(/)
	name = substr($0, RSTART, RLENGTH - 1)
}
/^\{/ && name {
	if (name in file && file[name] != FILENAME) {
		print FILENAME ": " name "() is defined in " file[name] ", too: give it its noun"
		bad = 1
	}
	file[name] = FILENAME
	name = ""
}
/;$/ { name = "" }
END { exit bad }
