# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Reports retired words, in names and in comments: awk -v retired="old=standard ..." -f tools/words.awk FILE...
BEGIN {
	n = split(retired, list, " ")
	for (i = 1; i <= n; i++) {
		split(list[i], word, "=")
		better[word[1]] = word[2]
	}
}
{
	n = split(tolower($0), word, /[^a-z]+/)
	for (i = 1; i <= n; i++) {
		if (word[i] in better) {
			printf "%s:%d: the word \"%s\" is retired: %s\n", FILENAME, FNR, word[i], better[word[i]]
			bad = 1
		}
	}
}
END { exit bad }
