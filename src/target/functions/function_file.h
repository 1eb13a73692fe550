/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A file with code: its function symbols, and the probe points of a function. */
#ifndef GOTRACE_TARGET_FUNCTIONS_FUNCTION_FILE_H
#define GOTRACE_TARGET_FUNCTIONS_FUNCTION_FILE_H

#include "code/isa/probe_points.h"
#include "code/elf/debug.h"
#include "code/elf/elf.h"
#include "target/functions/function_names.h"
#include "target/names/modules.h"

struct function_file {
	struct native_elf elf;
	struct native_elf symbols_of; /* the file that has its symbols, if separate; else closed */
	struct function_symbol *symbols;
	size_t n, capacity;
	struct module_code code; /* its unwind rows, made when first needed */
	bool has_code;
};

/*
 * Takes ownership of fd, even on failure. Stripped symbols are looked for in the debug file (search may be
 * NULL) and in .gnu_debugdata. Returns 0, -ENOEXEC or -ENOMEM.
 */
int function_file_open(struct function_file *file, int fd, const struct native_search *search);
void function_file_close(struct function_file *file);

/* Finds the probe points of the function at this symbol. Errors are those of probe_points_find(). */
int function_file_probe_points(struct function_file *file, const struct function_symbol *symbol,
			       struct probe_points *points, struct error *err);

#endif
