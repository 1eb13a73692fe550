/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "util/directory.h"
#include "util/rights.h"

/*
 * A range between the ids of systemd-homed and of systemd's DynamicUser= that is not assigned to anything
 * (systemd's UIDS-GIDS.md). With a shared id (nobody's), other programs could signal a worker.
 */
enum { FIRST_ID = 60578, IDS = 606 };
#define LOCK_FILE "/run/gotrace.lock"

static uid_t worker_id;
static int id_lock = -1; /* kept open: the lock ends with the process */

static bool is_users(uid_t id)
{
	FILE *users = fopen("/etc/passwd", "re");
	const struct passwd *user;
	bool found = false;

	while (users && !found && (user = fgetpwent(users)))
		found = user->pw_uid == id;
	if (users)
		fclose(users);
	return found;
}

/* Each id is one byte of the file. Without the file, other instances of gotrace cannot be detected. */
static bool lock_id(uid_t id)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)(id - FIRST_ID), .l_len = 1};

	if (is_users(id))
		return false;
	return id_lock < 0 || fcntl(id_lock, F_OFD_SETLK, &lock) == 0;
}

static int open_lock(void)
{
	const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	int fd = open(LOCK_FILE, flags);

	if (fd < 0 && errno == ENOENT)
		fd = directory_create_file(AT_FDCWD, LOCK_FILE, O_RDWR);
	/* Another gotrace may have created it meanwhile. */
	return fd == -EEXIST ? open(LOCK_FILE, flags) : fd;
}

void privilege_choose_id(void)
{
	uid_t first = (uid_t)getpid() % IDS;

	if (worker_id || geteuid() != 0)
		return;
	id_lock = open_lock();
	worker_id = FIRST_ID + first;
	for (uid_t i = 0; i < IDS; i++) {
		uid_t id = FIRST_ID + (first + i) % IDS;

		if (!lock_id(id))
			continue;
		worker_id = id;
		return;
	}
}

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

bool privilege_has_none(void)
{
	return geteuid() != 0 && !rights_are_from_file() && !have(CAP_PERMITTED);
}

/* Needs CAP_SETPCAP. Without it, no_new_privs still prevents an exec from gaining capabilities. */
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

/* Capabilities that are permitted but not effective are raised where needed (util/rights.h). */
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

/*
 * These were once part of CAP_SYS_ADMIN, which still includes them (capable() || capable(CAP_SYS_ADMIN)).
 */
static uint64_t with_sys_admin(uint64_t mask)
{
	const uint64_t parts =
		PRIVILEGE(RIGHT_PERFMON) | PRIVILEGE(RIGHT_BPF) | PRIVILEGE(RIGHT_CHECKPOINT_RESTORE);

	return mask & parts & ~have(CAP_PERMITTED) ? mask | PRIVILEGE(CAP_SYS_ADMIN) : mask;
}

int privilege_limit(uint64_t mask, struct error *err)
{
	int rc;

	mask = with_sys_admin(mask);
	if (geteuid() == 0)
		mask |= PRIVILEGE(CAP_DAC_READ_SEARCH) | PRIVILEGE_FILES | PRIVILEGE_CONFINE;
	rc = set_caps(mask & have(CAP_EFFECTIVE), mask & have(CAP_PERMITTED));
	return rc ? error_set(err, -rc, "cannot give up capabilities: %s", strerror(-rc)) : 0;
}

int privilege_keep(uint64_t mask, struct error *err)
{
	int rc;

	mask = with_sys_admin(mask);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return error_set(err, errno, "cannot give up privileges (no_new_privs): %s", strerror(errno));
	empty_bounding_set(mask);
	rc = set_caps(mask & have(CAP_EFFECTIVE), mask & have(CAP_PERMITTED));
	return rc ? error_set(err, -rc, "cannot give up capabilities: %s", strerror(-rc)) : 0;
}

/*
 * A user namespace may not have such a user; then the ids stay, without capabilities. They also stay if
 * gotrace could not signal a process with other ids, because that process would outlive it.
 */
static int drop_ids(void)
{
	const uint64_t needed = PRIVILEGE(CAP_SETUID) | PRIVILEGE(CAP_SETGID) | PRIVILEGE(CAP_KILL);

	if (!worker_id || (have(CAP_EFFECTIVE) & needed) != needed)
		return 0;
	if (setgroups(0, NULL) && errno != EPERM)
		return -errno;
	if (setresgid(worker_id, worker_id, worker_id))
		return errno == EINVAL ? 0 : -errno;
	if (setresuid(worker_id, worker_id, worker_id))
		return errno == EINVAL ? 0 : -errno;
	return 0;
}

int privilege_drop_all(struct error *err)
{
	int rc;

	empty_bounding_set(0);
	rc = drop_ids();
	if (rc)
		return error_set(err, -rc, "cannot change to the user ID of the workers: %s", strerror(-rc));
	return privilege_keep(0, err);
}
