/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which threads Go 1.4's Ms are, for it leaves m.procid 0 in threads that C's library made, and in the first.
 */
#ifndef GOTRACE_TARGET_OLD_TIDS_H
#define GOTRACE_TARGET_OLD_TIDS_H

#include "target/threads.h"

/* Fills in those that it finds: of threads that sleep, by the stack they are on. 0, -ENOMEM, -ESRCH or
 * -EPERM. */
int old_tids_find(const struct target *target, struct memory_batch *batch, struct threads *threads);

/* The stack pointer in a line of /proc/PID/task/TID/syscall; false if it has none ("running"). */
bool old_tids_parse(const char *line, uint64_t *sp);

#endif
