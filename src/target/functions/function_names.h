/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Matches a user's function name against symbols. Pure; symbols are untrusted input. */
#ifndef GOTRACE_TARGET_FUNCTIONS_FUNCTION_NAMES_H
#define GOTRACE_TARGET_FUNCTIONS_FUNCTION_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

#define FUNCTION_NAME_MAX 512 /* length of demangled names: code/elf/text.h */

struct function_spec {
	char where[256];              /* "libm.so", "parse.c"; "" = anywhere */
	char name[FUNCTION_NAME_MAX]; /* "ns::f", "ns::f(int)" */
	char part[FUNCTION_NAME_MAX]; /* substring that the symbol must contain; "" = anything */
	bool parameters;              /* the name includes parameters */
};

/* Parses [FILE:]FUNC, as --region takes it. Returns 0 or -EINVAL. */
int function_spec_parse(const char *text, struct function_spec *spec, struct error *err);

/* FUNC and what follows it in [FILE:]FUNC. */
const char *function_without_file(const char *text);

struct function_symbol {
	uint64_t address, size; /* link-time address */
	const char *name;       /* in the file */
	const char *source;     /* of a local symbol: its source file; NULL = unknown */
	bool local, indirect;   /* indirect: STT_GNU_IFUNC */
};

/*
 * True if the symbol is a part that was split off the function named by the first `len` bytes of `base` ("f"
 * of "f.cold").
 */
bool function_is_part(const struct function_symbol *symbol, const char *base, size_t len);
/*
 * Returns the length of a symbol's name without the suffix that compilers add to copies and parts
 * (".constprop.0", ".cold").
 */
size_t function_base(const char *name);

/*
 * True if the spec's name matches the symbol: its demangled name with or without parameters, with or without
 * template arguments. Split-off parts match only by their full names. On a match, `readable` is set to the
 * full name.
 */
bool function_matches(const struct function_spec *spec, const char *name, char readable[FUNCTION_NAME_MAX]);
/*
 * Gets the demangled name of a symbol without parameters, as --region takes it. Returns its length, or 0 for
 * a part that was split off.
 */
size_t function_name_plain(const char *name, char plain[FUNCTION_NAME_MAX]);
/*
 * True if `where` names the file at the path: by the full path, by its last component, or by that component
 * without ".so" or the version after it.
 */
bool function_is_in(const char *where, const char *path);

/* Names similar to the one that was not found. */
enum { SIMILAR_FUNCTIONS = 5 };

struct similar_functions {
	char names[SIMILAR_FUNCTIONS][128];
	unsigned distances[SIMILAR_FUNCTIONS];
	unsigned n;
};

void similar_functions_offer(struct similar_functions *similar, const struct function_spec *spec,
			     const char *name);

#endif
