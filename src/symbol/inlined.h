/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds functions that the compiler has inlined: a probe on such a function misses calls. Pure. */
#ifndef GOTRACE_SYMBOL_INLINED_H
#define GOTRACE_SYMBOL_INLINED_H

#include "symbol/functab.h"

struct inlined_name {
	const char *name; /* of a function */
	const char *in;   /* a function that contains its code, owned by the table; NULL: none */
	uint32_t offset;  /* private: offset in the table's names; 0: not there */
};

/* Sets `in` of n names, in one pass over all inline trees. Needs gofunc. */
void functab_find_inlined(const struct functab *tab, struct inlined_name *names, unsigned n);
/* True if the table has the name, even if the function is only inlined. */
bool functab_has_name(const struct functab *tab, const char *name);

#endif
