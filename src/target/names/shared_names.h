/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names for several processes (target/names/names.h is for one). Processes that were forked without an exec
 * have the same code, so they share the names found, as long as none of them maps other code. Each has a log
 * of its own.
 */
#ifndef GOTRACE_TARGET_NAMES_SHARED_NAMES_H
#define GOTRACE_TARGET_NAMES_SHARED_NAMES_H

#include <sys/types.h>

#include "target/names/names.h"
#include "rawlog/rawlog.h"

struct shared_names;

/*
 * Creates names for a process that runs the same program as `like`, or its own program if `like` is NULL. A
 * process that cannot be inspected, for example because it has exited, has no names; this is not an error.
 * limits: see names_set_limits(); may be NULL. Returns NULL if out of memory.
 */
struct shared_names *shared_names_new(pid_t pid, log_sink sink, void *ctx, const struct shared_names *like,
				      struct names_limits *limits);
/* A log_sink: passes everything on, with LOG_SYMBOLs before the stacks that need them. All instances must be
 * used in one thread. */
int shared_names_put(void *names, const struct log_record *record);
void shared_names_free(struct shared_names *names); /* NULL is allowed */

#endif
