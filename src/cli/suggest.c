/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/suggest.h"

#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "util/edits.h"
#include "util/text.h"

enum { MAX_EDITS = 2 };

const char *suggest_name(const char *word, const char *const *names, size_t n)
{
	const char *best = NULL;
	unsigned edits = MAX_EDITS + 1;

	for (size_t i = 0; i < n; i++) {
		unsigned d = edits_between(word, names[i]);

		/* Two letters are most of a short word. */
		if (d >= edits || d >= strlen(names[i]) / 2 + 1)
			continue;
		edits = d;
		best = names[i];
	}
	return best;
}

int suggest_command(const char *word, const char *const *names, size_t n)
{
	const char *name = suggest_name(word, names, n);
	struct text shown = text_name(word, strlen(word), 60);
	struct error err;

	if (word[0] && strspn(word, "0123456789") == strlen(word))
		error_set(&err, EINVAL, "'%s' is not a command: did you mean 'gotrace -p %s'?", shown.bytes,
			  shown.bytes);
	else if (name)
		error_set(&err, EINVAL, "'%s' is not a command: did you mean 'gotrace %s'?", shown.bytes,
			  name);
	else
		error_set(&err, EINVAL,
			  "'%s' is not a command or an option (a program to start goes after --)",
			  shown.bytes);
	return options_end(-EINVAL, "gotrace", &err);
}
