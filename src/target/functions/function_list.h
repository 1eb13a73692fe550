/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The names of functions that begin with a prefix, as --region takes them. */
#ifndef GOTRACE_TARGET_FUNCTIONS_FUNCTION_LIST_H
#define GOTRACE_TARGET_FUNCTIONS_FUNCTION_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/error.h"

struct target;

/* Large binaries have 5 MB of names. */
#define FUNCTION_LIST_MAX ((size_t)16 << 20)

/* Names are untrusted, in no order, and may repeat. */
struct function_list {
	const char *prefix; /* not owned */
	char *text;         /* one name a line; owned */
	size_t len, capacity;
	bool cut; /* there are more than fit into FUNCTION_LIST_MAX */
};

/* Adds the name of len bytes if it begins with the prefix. Returns 0 or -ENOMEM. */
int function_list_add(struct function_list *list, const char *name, size_t len);
void function_list_free(struct function_list *list);

/* Adds the functions of a Go program's own table. Returns 0 or -ENOMEM. */
int go_functions_list(const struct target *target, struct function_list *list);
/*
 * Adds the functions of a process's executable or, if none of them begins with the prefix, those of its
 * libraries. Returns 0 or a negative errno.
 */
int functions_list(pid_t pid, struct function_list *list, struct error *err);

#endif
