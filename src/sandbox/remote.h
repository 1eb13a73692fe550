/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions of the modules target and native, executed by the inspector (inspector.h). Every answer is
 * checked. After a malformed one the inspector is given up (sandbox_fail()).
 */
#ifndef GOTRACE_SANDBOX_REMOTE_H
#define GOTRACE_SANDBOX_REMOTE_H

#include "target/functions/function_list.h"
#include "target/functions/functions.h"
#include "target/names/modules.h"
#include "sandbox/sandbox.h"
#include "target/target.h"

/*
 * Uses this layout, a text as in layout_text.h, for programs of unknown releases that are opened from now on.
 * Returns 0 or a negative errno: -EBADMSG with "line 12: ..." if the text is invalid.
 */
int remote_target_layout(struct sandbox *sandbox, const char *text, size_t size, struct error *err);

/*
 * As target_open() and target_open_file(). All other functions of target.h work on the result. There can be
 * only one such target at a time.
 */
int remote_target_open(struct sandbox *sandbox, pid_t pid, struct target **out, struct error *err);
int remote_target_open_file(struct sandbox *sandbox, const char *path, struct target **out,
			    struct error *err);

/* As module_read() for a file, or for these bytes if fd is -1. */
int remote_module_read(struct sandbox *sandbox, int fd, const char *bytes, size_t size,
		       struct module_code *code);

/* As functions_plan(). */
int remote_functions_plan(struct sandbox *sandbox, pid_t pid, const char *exe,
			  const struct function_want *wanted, unsigned n, struct function_plan *plan,
			  struct error *err);
/*
 * As functions_list(), or with pid 0 go_functions_list() of the program that is open. The caller frees the
 * list, even on failure.
 */
int remote_functions_list(struct sandbox *sandbox, pid_t pid, struct function_list *list, struct error *err);

#endif
