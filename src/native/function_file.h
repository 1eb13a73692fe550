/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A file with code: its functions' symbols, and the ways into and out of one of them. */
#ifndef GOTRACE_NATIVE_FUNCTION_FILE_H
#define GOTRACE_NATIVE_FUNCTION_FILE_H

#include "native/function_names.h"
#include "native/modules.h"
#include "native/debug.h"
#include "native/elf.h"
#include "native/ways.h"

struct function_file {
	struct native_elf elf;
	struct native_elf symbols_of; /* its symbols, if they are kept apart from it; else closed */
	struct function_symbol *symbols;
	size_t n, capacity;
	struct module_code code; /* its rows: made when first needed */
	bool has_code;
};

/*
 * Takes over fd, also when it fails. Symbols that were stripped off are looked
 * for in its debug file (search may be NULL) and in .gnu_debugdata. -ENOEXEC, -ENOMEM.
 */
int function_file_open(struct function_file *file, int fd, const struct native_search *search);
void function_file_close(struct function_file *file);

/* The ways of the function at this symbol. As ways_find. */
int function_file_ways(struct function_file *file, const struct function_symbol *symbol, struct ways *ways,
		       struct error *err);

#endif
