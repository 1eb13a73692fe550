/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the thread ids of Go 1.4's Ms. That release leaves m.procid 0 for the first thread and for threads
 * made by the C library.
 */
#ifndef GOTRACE_TARGET_GO14_TIDS_H
#define GOTRACE_TARGET_GO14_TIDS_H

#include "target/memory.h"
#include "target/target.h"

struct m_list {
	struct log_m *all; /* not owned */
	size_t n;
};

/*
 * Fills in missing (0) tids where possible, by matching sleeping threads' stack pointers to the Ms' stacks.
 * Returns 0, -ENOMEM, -ESRCH or -EPERM.
 */
int go14_tids_find(const struct target *target, struct memory_batch *batch, struct m_list *ms);

/* Parses the stack pointer from /proc/PID/task/TID/syscall. Returns false if there is none ("running"). */
bool go14_tids_parse(const char *line, uint64_t *sp);

#endif
