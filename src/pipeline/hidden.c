/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "pipeline/hidden.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/directory.h"
#include "util/owner.h"

#define MAX_TRIES 1000

void hidden_remove(int fd, int dir, const char *name)
{
	if (name[0] && directory_has(dir, name, fd))
		unlinkat(dir, name, 0);
}

/* --- files left by others --- */

static bool is_hidden_part(const char *name)
{
	int pid, number, end = 0;

	return sscanf(name, ".gotrace-%d-%d.part%n", &pid, &number, &end) == 2 && end && !name[end];
}

/* True if the file was made by this user: files of other users with such names are theirs. */
static bool hidden_is_ours(int fd)
{
	struct owner user;
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_uid == geteuid() || (owner_behind_sudo(&user) && st.st_uid == user.uid));
}

static void remove_stale(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (hidden_is_ours(fd) && flock(fd, LOCK_EX | LOCK_NB) == 0)
		hidden_remove(fd, dir, name);
	close(fd);
}

static void hidden_sweep(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		if (is_hidden_part(entry->d_name))
			remove_stale(dir, entry->d_name);
	}
	if (entries)
		closedir(entries);
	else if (fd >= 0)
		close(fd);
}

/* --- temporary names --- */

static void part_name(char part[PART_BYTES], int number)
{
	snprintf(part, PART_BYTES, ".gotrace-%d-%d.part", (int)getpid(), number);
}

/* Between creation and lock another gotrace may have removed the file. In that case, tries the next name. */
static int create_part(int dir, int access, char part[PART_BYTES])
{
	int fd = -EEXIST;

	hidden_sweep(dir);
	for (int try = 1; try <= MAX_TRIES; try++) {
		part_name(part, try);
		fd = directory_create_file(dir, part, access);
		if (fd < 0 && fd != -EEXIST)
			break;
		if (fd < 0)
			continue;
		/* If locks are not supported, as on some network file systems, nothing is removed. */
		flock(fd, LOCK_EX | LOCK_NB);
		if (directory_has(dir, part, fd))
			return fd;
		close(fd);
		fd = -EEXIST;
	}
	part[0] = '\0';
	return fd;
}

static int hidden_create_part(int dir, int mode, char part[PART_BYTES])
{
	int fd;

	/* Without /proc, an unnamed file can never be named (link_nameless()). */
	if (access("/proc/self/fd", X_OK))
		return create_part(dir, mode, part);
	fd = directory_create_file(dir, NULL, mode);
	part[0] = '\0';
	/* EISDIR: the kernel or file system does not support O_TMPFILE. */
	return fd == -EOPNOTSUPP || fd == -EISDIR || fd == -EINVAL ? create_part(dir, mode, part) : fd;
}

int hidden_create(int dir, int access, char part[PART_BYTES])
{
	int fd = hidden_create_part(dir, access, part);
	struct owner user;

	if (fd < 0)
		return fd;
	if (fchmod(fd, 0600) || (owner_behind_sudo(&user) && fchown(fd, user.uid, user.gid))) {
		int code = errno;

		hidden_remove(fd, dir, part);
		close(fd);
		return -code;
	}
	return fd;
}

/* --- names --- */

static int link_nameless(int fd, int dir, const char *name)
{
	char here[64];

	snprintf(here, sizeof(here), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, here, dir, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* In another user's directory, the part may have been replaced. */
static int hidden_check(int fd, int dir, const char *name)
{
	return directory_has(dir, name, fd) ? 0 : -ESTALE;
}

static int rename_new(int fd, int dir, const char *part, const char *name)
{
	if (renameat2(dir, part, dir, name, RENAME_NOREPLACE) == 0)
		return hidden_check(fd, dir, name);
	/* EINVAL: the file system does not support RENAME_NOREPLACE. */
	if (errno != EINVAL || linkat(dir, part, dir, name, 0))
		return -errno;
	hidden_remove(fd, dir, part);
	return hidden_check(fd, dir, name);
}

int hidden_link(int fd, int dir, char part[PART_BYTES], const char *name)
{
	int rc = part[0] ? rename_new(fd, dir, part, name) : link_nameless(fd, dir, name);

	if (rc)
		return rc;
	part[0] = '\0';
	flock(fd, LOCK_UN);
	return 0;
}

/* Only a file with a name can replace another one. It is locked before it gets its name. */
static int hidden_name_part(int fd, int dir, char part[PART_BYTES])
{
	int rc = -EEXIST;

	flock(fd, LOCK_EX | LOCK_NB);
	hidden_sweep(dir);
	for (int try = 1; try <= MAX_TRIES && rc == -EEXIST; try++) {
		part_name(part, try);
		rc = link_nameless(fd, dir, part);
	}
	if (rc)
		part[0] = '\0';
	return rc;
}

int hidden_replace(int fd, int dir, char part[PART_BYTES], const char *name)
{
	int rc = part[0] ? 0 : hidden_name_part(fd, dir, part);

	/* rename replaces a link that was planted meanwhile, and does not follow it. */
	if (rc == 0 && renameat(dir, part, dir, name))
		rc = -errno;
	if (rc)
		return rc;
	part[0] = '\0';
	flock(fd, LOCK_UN);
	return hidden_check(fd, dir, name);
}
