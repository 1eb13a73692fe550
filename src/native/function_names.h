/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a user calls a function, and which symbol that is. Pure; a stranger
 * has written the symbols.
 */
#ifndef GOTRACE_NATIVE_FUNCTION_NAMES_H
#define GOTRACE_NATIVE_FUNCTION_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

#define FUNCTION_NAME_MAX 512 /* as names are made readable: native/text.h */

struct function_spec {
	char where[256];              /* "libm.so", "parse.c"; "" = wherever it is */
	char name[FUNCTION_NAME_MAX]; /* "ns::f", "ns::f(int)" */
	char part[FUNCTION_NAME_MAX]; /* of the name: what the symbol must hold, too; "" = anything */
	bool parameters;              /* the name has them */
};

/* [FILE:]FUNC, as --region takes it. -EINVAL. */
int function_spec_parse(const char *text, struct function_spec *spec, struct error *err);

struct function_symbol {
	uint64_t address, size; /* as it is linked */
	const char *name;       /* in the file */
	const char *source;     /* of a local symbol: its source file; NULL = not told */
	bool local, indirect;   /* indirect: STT_GNU_IFUNC */
};

/* Whether it is a part that was split off the function whose base name has `len` bytes ("f" of "f.cold"). */
bool function_is_part(const struct function_symbol *symbol, const char *base, size_t len);
/* Bytes of a symbol's name before what compilers add to copies and parts (".constprop.0", ".cold"). */
size_t function_base(const char *name);

/*
 * Whether the spec's name means the symbol: its readable name with parameters
 * or without, with a template's arguments or without. Parts are meant only by
 * their full names. `readable` gets the full name then.
 */
bool function_matches(const struct function_spec *spec, const char *name, char readable[FUNCTION_NAME_MAX]);
/* Whether `where` names the file at the path: the path, its last part, or that without what follows ".so". */
bool function_is_in(const char *where, const char *path);

/* Names that are like the one which was not found. */
enum { FUNCTION_NEAR = 5 };

struct function_near {
	char names[FUNCTION_NEAR][128];
	unsigned distances[FUNCTION_NEAR];
	unsigned n;
};

void function_near_offer(struct function_near *near, const struct function_spec *spec, const char *name);

#endif
