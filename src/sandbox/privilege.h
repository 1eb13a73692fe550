/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Gives up capabilities and ids for good. */
#ifndef GOTRACE_SANDBOX_PRIVILEGE_H
#define GOTRACE_SANDBOX_PRIVILEGE_H

#include <stdint.h>

#include <linux/capability.h>

#include "util/error.h"

#define PRIVILEGE(cap) (1ull << (cap)) /* of linux/capability.h; a set of capabilities is a mask */

/*
 * Needed to end workers, which have other ids. The thread that started them keeps it as long as it lives
 * (PDEATHSIG checks it).
 */
#define PRIVILEGE_WORKERS PRIVILEGE(CAP_KILL)

/*
 * Reduces the calling thread's capabilities to these (as far as it has them, effective or only permitted;
 * CAP_SYS_ADMIN substitutes for those that were once part of it). All others are dropped, from the bounding
 * set too, and an exec cannot gain any.
 */
int privilege_keep(uint64_t mask, struct error *err);
/*
 * Chooses the ids of this process's workers, once: ids that belong to no user, and that no other gotrace uses
 * while this process lives.
 */
void privilege_choose_id(void);
/* For a child: drops all capabilities and, if it is root's, all groups, and changes to the chosen ids. */
int privilege_drop_all(struct error *err);

#endif
