/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/privilege.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "util/rights.h"

#define NOBODY 65534 /* the kernel's overflow uid, Debian's nobody */

static uint64_t have(cap_flag_t set)
{
	cap_t caps = cap_get_proc();
	uint64_t mask = 0;

	for (cap_value_t cap = 0; caps && cap < cap_max_bits() && cap < 64; cap++) {
		cap_flag_value_t value;

		if (cap_get_flag(caps, cap, set, &value) == 0 && value == CAP_SET)
			mask |= PRIVILEGE(cap);
	}
	if (caps)
		cap_free(caps);
	return mask;
}

/* Needs CAP_SETPCAP; without it nobody can exec with more than we have either, for of no_new_privs. */
static void empty_bounding_set(uint64_t mask)
{
	for (cap_value_t cap = 0; cap < cap_max_bits() && cap < 64; cap++) {
		if (!(mask & PRIVILEGE(cap)))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	}
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

static int add_caps(cap_t caps, cap_flag_t set, uint64_t mask)
{
	int rc = 0;

	for (cap_value_t cap = 0; rc == 0 && cap < cap_max_bits() && cap < 64; cap++) {
		if (mask & PRIVILEGE(cap) && cap_set_flag(caps, set, 1, &cap, CAP_SET))
			rc = -errno;
	}
	return rc;
}

/* What is permitted and not effective is taken up where it is needed (util/rights.h). */
static int set_caps(uint64_t effective, uint64_t permitted)
{
	cap_t caps = cap_init();
	int rc = caps ? add_caps(caps, CAP_EFFECTIVE, effective) : -ENOMEM;

	if (rc == 0)
		rc = add_caps(caps, CAP_PERMITTED, permitted);
	if (rc == 0 && cap_set_proc(caps))
		rc = -errno;
	if (caps)
		cap_free(caps);
	return rc;
}

/* These were once part of CAP_SYS_ADMIN, and are with who has that (capable() || capable(CAP_SYS_ADMIN)). */
static uint64_t stand_in(uint64_t mask)
{
	const uint64_t parts =
		PRIVILEGE(RIGHT_PERFMON) | PRIVILEGE(RIGHT_BPF) | PRIVILEGE(RIGHT_CHECKPOINT_RESTORE);

	return mask & parts & ~have(CAP_PERMITTED) ? mask | PRIVILEGE(CAP_SYS_ADMIN) : mask;
}

int privilege_keep(uint64_t mask, struct error *err)
{
	int rc;

	mask = stand_in(mask);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return error_set(err, errno, "cannot give up privileges (no_new_privs): %s", strerror(errno));
	empty_bounding_set(mask);
	rc = set_caps(mask & have(CAP_EFFECTIVE), mask & have(CAP_PERMITTED));
	return rc ? error_set(err, -rc, "cannot give up capabilities: %s", strerror(-rc)) : 0;
}

/* In a user namespace there may be no such user: then the ids stay, without any capability. */
static int drop_ids(void)
{
	const uint64_t needed = PRIVILEGE(CAP_SETUID) | PRIVILEGE(CAP_SETGID);

	if ((have(CAP_EFFECTIVE) & needed) != needed)
		return 0;
	if (setgroups(0, NULL) && errno != EPERM)
		return -errno;
	if (setresgid(NOBODY, NOBODY, NOBODY))
		return errno == EINVAL ? 0 : -errno;
	if (setresuid(NOBODY, NOBODY, NOBODY))
		return errno == EINVAL ? 0 : -errno;
	return 0;
}

int privilege_drop_all(struct error *err)
{
	int rc;

	empty_bounding_set(0);
	rc = drop_ids();
	if (rc)
		return error_set(err, -rc, "cannot change to the user nobody: %s", strerror(-rc));
	return privilege_keep(0, err);
}
