/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The user who invoked sudo. This user owns the output files and runs the started program. */
#ifndef GOTRACE_UTIL_OWNER_H
#define GOTRACE_UTIL_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

struct owner {
	uid_t uid;
	gid_t gid;
};

/* Returns false if gotrace does not run as root, or if SUDO_UID or SUDO_GID is missing or malformed. */
bool owner_behind_sudo(struct owner *owner);

#endif
