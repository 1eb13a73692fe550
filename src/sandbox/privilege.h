/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Capabilities and ids: giving them up, for good. */
#ifndef GOTRACE_SANDBOX_PRIVILEGE_H
#define GOTRACE_SANDBOX_PRIVILEGE_H

#include <stdint.h>

#include "util/error.h"

#define PRIVILEGE(cap) (1ull << (cap)) /* of linux/capability.h: a set of them is a mask */

/*
 * The calling thread keeps these capabilities (of those that it has, effective or only permitted;
 * CAP_SYS_ADMIN stands for those that were once part of it); all others are gone, from the bounding set too,
 * and none can be gained by an exec.
 */
int privilege_keep(uint64_t mask, struct error *err);
/* For a process of its own: no capability, and if it was root's, nobody's ids and no groups. */
int privilege_drop_all(struct error *err);

#endif
