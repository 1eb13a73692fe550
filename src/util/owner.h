/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The user behind sudo: owner of the files, and who a started program runs as. */
#ifndef GOTRACE_UTIL_OWNER_H
#define GOTRACE_UTIL_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

struct owner {
	uid_t uid;
	gid_t gid;
};

/* False when we are not root, or root without a (well-formed) SUDO_UID and SUDO_GID. */
bool owner_behind_sudo(struct owner *owner);

#endif
