/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names for several processes (native/names.h is for one): those that were
 * forked without an exec have the same code, so they share what was found out
 * about it, for as long as none of them maps other code. Each has its own log.
 */
#ifndef GOTRACE_NATIVE_SHARED_NAMES_H
#define GOTRACE_NATIVE_SHARED_NAMES_H

#include <sys/types.h>

#include "rawlog/rawlog.h"
#include "util/map64.h"

struct shared_names;

/*
 * Of a process that runs the program of `like`, or one of its own if that is NULL. A process whose code
 * cannot be looked at (it has ended by now) has no names, which is no error. told: see names_tell_once; may
 * be NULL. NULL: out of memory.
 */
struct shared_names *shared_names_new(pid_t pid, log_sink sink, void *ctx, const struct shared_names *like,
				      struct map64 *told);
/* A log_sink: hands everything on, LOG_SYMBOLs before the stacks that need them. All of them in one thread.
 */
int shared_names_put(void *names, const struct log_record *record);
void shared_names_free(struct shared_names *names); /* NULL is allowed */

#endif
