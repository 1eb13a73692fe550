/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Gives up capabilities and ids for good. */
#ifndef GOTRACE_SANDBOX_PRIVILEGE_H
#define GOTRACE_SANDBOX_PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/capability.h>

#include "util/error.h"
#include "util/rights.h"

#define PRIVILEGE(cap) (1ull << (cap)) /* of linux/capability.h; a set of capabilities is a mask */

/*
 * Needed to end workers, which have other ids. The thread that started them keeps it as long as it lives
 * (PDEATHSIG checks it).
 */
#define PRIVILEGE_WORKERS PRIVILEGE(CAP_KILL)

/*
 * Sets of capabilities that a command may keep. CAP_SYS_ADMIN is in the place of those that were once part of
 * it where they are missing.
 */
#define PRIVILEGE_NONE 0ull
/* Reading the memory and the mapped files of processes. CAP_CHECKPOINT_RESTORE: /proc/PID/map_files. */
#define PRIVILEGE_INSPECT                                                                                    \
	(PRIVILEGE(CAP_SYS_PTRACE) | PRIVILEGE(CAP_DAC_READ_SEARCH) | PRIVILEGE(RIGHT_CHECKPOINT_RESTORE))
/*
 * Attaching to processes. CAP_SYS_NICE: a real-time policy; CAP_SYS_RESOURCE: limits of workers, which have
 * other ids, of open files, and of locked memory before Linux 5.11.
 */
#define PRIVILEGE_ATTACH                                                                                     \
	(PRIVILEGE_INSPECT | PRIVILEGE(RIGHT_BPF) | PRIVILEGE(RIGHT_PERFMON) | PRIVILEGE(CAP_SYS_NICE) |     \
	 PRIVILEGE(CAP_SYS_RESOURCE))
/*
 * The same wherever the kernel wants more: perf events in place of uprobe_multi links, and kernel stacks with
 * their names (CAP_SYSLOG).
 */
#define PRIVILEGE_TRACE (PRIVILEGE_ATTACH | PRIVILEGE(CAP_SYS_ADMIN) | PRIVILEGE(CAP_SYSLOG))
/* Creating and naming files in directories of other users, for the user behind sudo. */
#define PRIVILEGE_FILES (PRIVILEGE(CAP_DAC_OVERRIDE) | PRIVILEGE(CAP_FOWNER) | PRIVILEGE(CAP_CHOWN))
/* Giving up all others: a change of ids, and the bounding set. */
#define PRIVILEGE_CONFINE                                                                                    \
	(PRIVILEGE(CAP_SETUID) | PRIVILEGE(CAP_SETGID) | PRIVILEGE(CAP_SETPCAP) | PRIVILEGE_WORKERS)

/*
 * Reduces the calling thread's capabilities to these, at the start of a command. Root also keeps those for
 * opening the files that it names, and for giving up all others, until the command has opened them. Unlike
 * privilege_keep(), this has no effect on programs that are started later.
 */
int privilege_limit(uint64_t mask, struct error *err);
/*
 * Reduces the calling thread's capabilities to these (as far as it has them, effective or only permitted;
 * CAP_SYS_ADMIN substitutes for those that were once part of it). All others are dropped, from the bounding
 * set too, and an exec cannot gain any.
 */
int privilege_keep(uint64_t mask, struct error *err);
/* Whether the process has only its user's rights, and has never had more. */
bool privilege_has_none(void);
/*
 * Chooses the ids of this process's workers, once: ids that belong to no user, and that no other gotrace uses
 * while this process lives.
 */
void privilege_choose_id(void);
/* For a child: drops all capabilities and, if it is root's, all groups, and changes to the chosen ids. */
int privilege_drop_all(struct error *err);

#endif
