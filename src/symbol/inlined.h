/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Whether the compiler has inlined functions somewhere: a probe on such a function misses calls. Pure. */
#ifndef GOTRACE_SYMBOL_INLINED_H
#define GOTRACE_SYMBOL_INLINED_H

#include "symbol/functab.h"

struct inlined_name {
	const char *name; /* of a function */
	const char *in;   /* a function that has its code, owned by the table; NULL: none */
	uint32_t offset;  /* private: in the table's names, 0: it is not there */
};

/* Searches every inline tree once. Needs gofunc. */
void functab_find_inlined(const struct functab *tab, struct inlined_name *names, unsigned n);
/* Whether the table has the name, of a function or of one that is only inlined. */
bool functab_has_name(const struct functab *tab, const char *name);

#endif
