/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * What O_PATH has found is opened if it is a regular file. A pipe would make us
 * wait, a terminal become ours, and a device do what it does when it is opened.
 */
static int open_found(int found)
{
	char path[64];
	struct stat st;
	int fd = -EINVAL;

	if (fstat(found, &st) == 0 && S_ISREG(st.st_mode)) {
		/* The broker of a sandbox does all this for us, and hands over what may be read. */
		if (!(fcntl(found, F_GETFL) & O_PATH))
			return found;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			fd = -errno;
	}
	close(found);
	return fd;
}

int file_open_in(int root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	if (root < 0)
		return -ENOENT;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0)
		return -errno;
	fd = open_found(fd);
	return fd == -EINVAL ? -ENOENT : fd;
}

int file_open_at(int dir, const char *path)
{
	int fd = openat(dir, path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : open_found(fd);
}

int file_open(const char *path)
{
	return file_open_at(AT_FDCWD, path);
}
