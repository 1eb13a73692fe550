/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Privileges beyond those of the user, either as root or from file capabilities (`make install-caps`). File
 * capabilities are not used to open files that the user names. Capabilities are per thread, so nothing here
 * is shared.
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
	RIGHT_SYS_NICE = 23,
	RIGHT_PERFMON = 38, /* Linux 5.8; before, and always sufficient: CAP_SYS_ADMIN */
	RIGHT_BPF = 39,
	RIGHT_CHECKPOINT_RESTORE = 40, /* Linux 5.9 */
};

/*
 * Whether this thread has the capability in its effective set. CAP_SYS_ADMIN implies those that were split
 * off from it.
 */
bool rights_have(unsigned capability);

/*
 * Whether the capabilities are those of a user namespace, as in a rootless container. The kernel does not
 * accept these for system-wide operations.
 */
bool rights_in_user_namespace(void);

/*
 * Must be called before anything else. With file capabilities, drops all except those above, and unsets
 * environment variables that libraries obey. -EPERM if gotrace is set-user-ID or set-group-ID, which is not
 * supported.
 */
int rights_begin(struct error *err);

/* Whether gotrace has more privileges than the user who started it, or may have had. */
bool rights_are_from_file(void);

/* Permanently drops this thread's file capabilities. Root stays root. */
void rights_give_up(void);

/* Saved effective capabilities, for rights_restore(). */
struct rights {
	uint64_t effective;
	bool changed;
};

/* Limits this thread to what its user may do; root stays root. */
struct rights rights_as_user(void);
/*
 * Allows this thread to read any file, if gotrace has the capability: for files that a process has mapped or
 * open.
 */
struct rights rights_to_read(void);
void rights_restore(const struct rights *before);

#endif
