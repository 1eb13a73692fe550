/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What gotrace may do that its user may not: as root, or by file capabilities
 * (`make install-caps`). Rights of the second kind are borrowed: files that the
 * user names are opened without them. Capabilities are a thread's own, so
 * nothing here is shared.
 */
#ifndef GOTRACE_UTIL_RIGHTS_H
#define GOTRACE_UTIL_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

/* linux/capability.h */
enum {
	RIGHT_DAC_READ_SEARCH = 2,
	RIGHT_SYS_PTRACE = 19,
	RIGHT_SYS_ADMIN = 21,
	RIGHT_PERFMON = 38, /* Linux 5.8; before, and always: CAP_SYS_ADMIN */
	RIGHT_BPF = 39,
	RIGHT_CHECKPOINT_RESTORE = 40, /* Linux 5.9 */
};

/* Whether this thread has the capability now. CAP_SYS_ADMIN counts for those that were once part of it. */
bool rights_have(unsigned capability);

/* Whether they are those of a user namespace, as in a rootless container: these are none to the kernel as a
 * whole.
 */
bool rights_are_inner(void);

/*
 * To be called first of all. If rights are borrowed: gives back all but those
 * above, and forgets the environment that a library would obey. -EPERM if
 * gotrace is set-user-ID or set-group-ID, which it is not made for.
 */
int rights_begin(struct error *err);

/* For good, in this thread: what is borrowed is given back. Root stays root. */
void rights_give_up(void);

/* Effective capabilities as they were, to be restored. */
struct rights {
	uint64_t effective;
	bool changed;
};

/* From here on this thread may do no more than its user; root stays root. */
struct rights rights_as_user(void);
/* From here on this thread may read any file, if it was given that right: for files that a process has
 * mapped, or open. */
struct rights rights_to_read(void);
void rights_restore(const struct rights *before);

#endif
