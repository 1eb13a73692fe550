/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/*
 * Opens the file behind an O_PATH descriptor if it is a regular file. Opening a pipe could block, a terminal
 * could become the controlling terminal, and opening a device may have side effects.
 */
int file_open_found(int found)
{
	char path[64];
	struct stat st;
	int fd = -EINVAL;

	if (fstat(found, &st) == 0 && S_ISREG(st.st_mode)) {
		/* In a sandbox, the broker has already done this, and returned a readable descriptor. */
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

static int open_resolved(int root, const char *path, uint64_t resolve)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | resolve,
	};
	int fd;

	if (root < 0)
		return -ENOENT;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0)
		return -errno;
	fd = file_open_found(fd);
	return fd == -EINVAL ? -ENOENT : fd;
}

int file_open_in(int root, const char *path)
{
	return open_resolved(root, path, RESOLVE_NO_MAGICLINKS);
}

int file_open_in_plain(int root, const char *path)
{
	return open_resolved(root, path, RESOLVE_NO_SYMLINKS);
}

bool file_is_cached_in(int root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_CACHED,
	};
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int file_open_at(int dir, const char *path)
{
	int fd = openat(dir, path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : file_open_found(fd);
}

int file_open(const char *path)
{
	return file_open_at(AT_FDCWD, path);
}

static bool is_of_kernel_fs(int fd)
{
	static const unsigned long types[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,        DEBUGFS_MAGIC,
					      TRACEFS_MAGIC,    CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
					      BPF_FS_MAGIC,     SECURITYFS_MAGIC};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if ((unsigned long)fs.f_type == types[i])
			return true;
	}
	return false;
}

int file_open_on_disk(const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd < 0)
		return -errno;
	if (!is_of_kernel_fs(fd))
		return file_open_found(fd);
	close(fd);
	return -EACCES;
}

static struct timespec time_of(struct statx_timestamp at)
{
	return (struct timespec){.tv_sec = at.tv_sec, .tv_nsec = at.tv_nsec};
}

int file_stat_at(int dir, const char *path, int flags, struct stat *st)
{
	struct statx known;

	if (statx(dir, path, flags | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &known))
		return -errno;
	*st = (struct stat){
		.st_dev = makedev(known.stx_dev_major, known.stx_dev_minor),
		.st_ino = known.stx_ino,
		.st_mode = known.stx_mode,
		.st_nlink = known.stx_nlink,
		.st_uid = known.stx_uid,
		.st_gid = known.stx_gid,
		.st_size = (off_t)known.stx_size,
		.st_mtim = time_of(known.stx_mtime),
		.st_ctim = time_of(known.stx_ctime),
	};
	return 0;
}

int file_stat(int fd, struct stat *st)
{
	int rc = file_stat_at(fd, "", AT_EMPTY_PATH, st);

	/* A worker's filter forbids statx, but a worker may block. */
	if (rc == -EPERM && fstat(fd, st) == 0)
		rc = 0;
	return rc;
}
