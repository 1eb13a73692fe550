/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Outside of the sandbox that looks at targets (looker.h): the same functions as in the rooms target and
 * native, done over there. Whatever comes back is checked; an answer that makes no sense ends the trust
 * (sandbox_fail).
 */
#ifndef GOTRACE_SANDBOX_REMOTE_H
#define GOTRACE_SANDBOX_REMOTE_H

#include "native/functions.h"
#include "native/modules.h"
#include "sandbox/sandbox.h"
#include "target/target.h"

/* As target_open and target_open_file; of target.h all other functions work on it. One such target at a time.
 */
int remote_target_open(struct sandbox *sandbox, pid_t pid, struct target **out, struct error *err);
int remote_target_open_file(struct sandbox *sandbox, const char *path, struct target **out,
			    struct error *err);

/* As module_read, of a file; or of these bytes, if fd is -1. */
int remote_module_read(struct sandbox *sandbox, int fd, const char *bytes, size_t size,
		       struct module_code *code);

/* As functions_plan. */
int remote_functions_plan(struct sandbox *sandbox, pid_t pid, const char *exe,
			  const struct function_want *wanted, unsigned n, struct function_plan *plan,
			  struct error *err);

#endif
