# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Finds files of a module that call one another in a circle. Give every file twice: the first pass collects the
# functions that other files can call, the second their uses.
function module(path,    part, n) {
	n = split(path, part, "/")
	return n > 3 && part[2] ~ /^(code|trace|target|workers)$/ ? part[2] "/" part[3] : part[2]
}
function code_of(line,    at) {
	while (match(line, /\/\*[^*]*(\*[^*\/][^*]*)*\*\//))
		line = substr(line, 1, RSTART - 1) " " substr(line, RSTART + RLENGTH)
	if (comment) {
		at = index(line, "*/")
		if (!at)
			return ""
		line = substr(line, at + 2)
		comment = 0
	}
	at = index(line, "/*")
	if (at) {
		line = substr(line, 1, at - 1)
		comment = 1
	}
	gsub(/"[^"]*"/, "", line)
	# Tags and members have names of their own.
	gsub(/(struct|enum|union) [a-z_0-9]+|(->|\.)[ ]*[a-z_0-9]+/, " ", line)
	return line
}
FNR == 1 {
	pass = ++seen[FILENAME]
	head = ""
	comment = 0
	if (pass == 1)
		files[++nfiles] = FILENAME
}
pass == 1 {
	if (/^[a-z].*\(/ && !/^(static|typedef|extern) /)
		head = $0
	if (/^\{/ && head != "") {
		sub(/\(.*/, "", head)
		n = split(head, word, /[ *]+/)
		where[module(FILENAME) " " word[n]] = FILENAME
		head = ""
	}
	if (/;$/ && !/^[ \t]/)
		head = ""
	next
}
{
	n = split(code_of($0), word, /[^A-Za-z0-9_]+/)
	for (i = 1; i <= n; i++) {
		key = module(FILENAME) " " word[i]
		if (key in where && where[key] != FILENAME) {
			calls[FILENAME, where[key]] = word[i]
		}
	}
}
# A file that calls no remaining file, or that no remaining file calls, is in no circle.
function is_open(file,    i, out, in_) {
	for (i = 1; i <= nfiles; i++) {
		out = out || (left[files[i]] && (file SUBSEP files[i]) in calls)
		in_ = in_ || (left[files[i]] && (files[i] SUBSEP file) in calls)
	}
	return !out || !in_
}
END {
	for (i = 1; i <= nfiles; i++)
		left[files[i]] = 1
	do {
		changed = 0
		for (i = 1; i <= nfiles; i++) {
			if (left[files[i]] && is_open(files[i])) {
				left[files[i]] = 0
				changed = 1
			}
		}
	} while (changed)
	for (i = 1; i <= nfiles; i++) {
		for (j = 1; j <= nfiles; j++) {
			if (left[files[i]] && left[files[j]] && (files[i] SUBSEP files[j]) in calls) {
				printf "%s: calls %s of %s, in a circle\n", files[i], calls[files[i], files[j]], files[j]
				bad = 1
			}
		}
	}
	exit bad
}
