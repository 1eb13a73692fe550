/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions that the compiler has inlined. Their code is in other functions, too, so a probe on the function
 * itself misses calls. Pure. Needs gofunc.
 */
#ifndef GOTRACE_CODE_SYMBOL_INLINED_H
#define GOTRACE_CODE_SYMBOL_INLINED_H

#include "code/symbol/functab.h"

struct inlined_name {
	const char *name; /* of a function */
	const char *in;   /* a function that contains its code, owned by the table; NULL: none */
	uint32_t offset;  /* private: offset in the table's names; 0: not there */
};

/* Sets `in` of n names, in one pass over all inline trees. */
void functab_find_inlined(const struct functab *tab, struct inlined_name *names, unsigned n);
/* True if the table has the name, even if the function is only inlined. */
bool functab_has_name(const struct functab *tab, const char *name);

/* A function whose code contains that of another one. */
struct inlined_copy {
	unsigned name;   /* index in the list of names */
	size_t function; /* index in the table */
};

struct inlined_copies {
	struct inlined_copy *items;
	size_t n, capacity;
};

/*
 * Lists, in the order of the table, each function with each of the names that are inlined in it. The caller
 * frees `items`. Returns 0, -ENOMEM, or -E2BIG if the trees are too long to be those of a compiler.
 */
int functab_list_copies(const struct functab *tab, struct inlined_name *names, unsigned n,
			struct inlined_copies *copies);

/* A function to which the code at an address belongs. */
struct logical_frame {
	const char *name; /* owned by the table */
	uint64_t pc;      /* the address, or an instruction at which this function calls the next inner one */
	uint32_t line;    /* of pc, in this function's file; 0: unknown */
};

/*
 * Lists the functions to which the code at pc belongs: the innermost inlined one first, last the one that
 * the table has at this address. Returns their number, at most max; 0 if there is none, or if the table has
 * trees of Go up to 1.11, which do not say where calls are.
 */
unsigned functab_logical_frames(const struct functab *tab, uint64_t pc, struct logical_frame *frames,
				unsigned max);

#endif
