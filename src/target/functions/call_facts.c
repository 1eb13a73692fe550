/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/call_facts.h"

#include <string.h>

/* True if the last component of a name is compiler-generated: main.f.func1, main.f.gowrap2. */
static bool is_closure_name(const char *last)
{
	size_t word = strncmp(last, "func", 4) == 0 ? 4 : strncmp(last, "gowrap", 6) == 0 ? 6 : 0;
	size_t digits = strspn(last + word, "0123456789");

	return word && digits && (!last[word + digits] || last[word + digits] == '-');
}

enum { NAME_MAX_BYTES = 512 };

/* Copies the name without text in square brackets, a generic function's types. Cuts a longer name. */
static void without_brackets(const char *name, char plain[NAME_MAX_BYTES])
{
	size_t n = 0;
	int depth = 0;

	for (const char *at = name; *at && n + 1 < NAME_MAX_BYTES; at++) {
		depth += *at == '[';
		if (depth == 0)
			plain[n++] = *at;
		depth -= *at == ']' && depth > 0;
	}
	plain[n] = '\0';
}

/*
 * Parses main.f, main.(*T).f, main.T.f, main.f[...], main.(*T).f.func1. A name with one more dot than main.f
 * belongs to a method, or to a closure in a package's variables (main.glob..func1).
 */
void call_facts_of_go(struct call_facts *facts, const char *name)
{
	const char *slash, *part, *last;
	char plain[NAME_MAX_BYTES];

	without_brackets(name, plain);
	slash = strrchr(plain, '/');
	part = strchr(slash ? slash : plain, '.');
	/* Code shared by several types. Since Go 1.20, the function table has the shape that they share. */
	facts->is_generic = strstr(name, "[...]") || strstr(name, "[go.shape.");
	if (!part)
		return;
	last = strrchr(part, '.');
	/* The name of a closure or a method value does not show what it takes. */
	if (is_closure_name(last + 1) || strstr(name, "-fm") || last == part)
		return;
	facts->has_receiver = true;
	facts->receiver_is_pointer = part[1] == '(' && part[2] == '*';
}
