/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where the code of a function is. The compiler inlines hot calls of almost any function of the runtime if it
 * has a profile (Go 1.21 and later, cmd/compile/internal/inline), so a function's code may be in other
 * functions, and only there. The function table names every inlined call.
 */
#ifndef GOTRACE_TARGET_COPIES_H
#define GOTRACE_TARGET_COPIES_H

#include "code/isa/code.h"
#include "code/symbol/inlined.h"
#include "target/target.h"

/* Profiles decide what is inlined from Go 1.20 on, where they were a preview. */
#define FIRST_PGO 20

/* The functions that gotrace has to find, and which functions contain copies of them. */
struct copies {
	struct inlined_name *names; /* each once */
	unsigned nnames;
	struct inlined_copies list; /* empty up to Go 1.19 */
};

/*
 * Lists the copies of all functions that site rules, extra[] or code_rules.h name.
 * Call it once, before the functions below. Returns 0 or a negative errno.
 */
int target_find_copies(struct target *target, struct error *err);
void copies_free(struct copies *copies);

/* A search for the functions that contain copies of one function. */
struct copy_search {
	unsigned name;
	size_t at;
};

struct copy_search copies_begin(const struct target *target, const char *function);
/* Gets the next function, by its addresses in the process. Returns false at the end. */
bool copies_next(const struct target *target, struct copy_search *search, uint64_t *entry, uint64_t *end,
		 const char **name);
bool copies_exist(const struct target *target, const char *function);

/*
 * Finds the function's code by its addresses in the process: its own, or if it has none, that of the first
 * function that contains a copy and is not `but` (which may be NULL). Returns 0 or -ENOENT.
 */
int copies_find_code(const struct target *target, const char *function, const char *but, uint64_t *entry,
		     uint64_t *end);

/* Inlined calls are nested at most this deep in code that gotrace probes. */
#define MAX_LOGICAL 32

/* The functions to which the code at an address belongs, the innermost first. */
struct logical_place {
	struct logical_frame frames[MAX_LOGICAL];
	unsigned n;
};

/* Gets the functions of a link-time address. n is 0 if it is in no function. */
void target_logical_place(const struct target *target, uint64_t address, struct logical_place *place);
/* Index of the function in the frames, or -1. */
int logical_index(const struct logical_place *place, const char *function);

#endif
