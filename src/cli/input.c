/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/directory.h"

/* Copies a pipe to an unnamed file, because the input is read more than once. */
static int copy_of(int pipe, const char *path, struct error *err)
{
	int copy = memfd_create("gotrace input", MFD_CLOEXEC);
	char bytes[1 << 16];
	ssize_t n = 0;

	while (copy >= 0 && (n = read(pipe, bytes, sizeof(bytes))) > 0) {
		if (write(copy, bytes, (size_t)n) != n) {
			n = -1;
			break;
		}
	}
	if (copy >= 0 && n == 0 && lseek(copy, 0, SEEK_SET) == 0)
		return copy;
	error_set(err, errno, "cannot read %s: %s", path, strerror(errno));
	if (copy >= 0)
		close(copy);
	return -EIO;
}

/* Opens "-". */
static int open_standard_input(struct error *err)
{
	struct stat st;
	int fd;

	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode)) {
		fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		/* Without /proc, it is copied. */
	}
	return copy_of(STDIN_FILENO, "standard input", err);
}

/*
 * A path to be written is resolved without following other users' links. The result is an O_PATH descriptor,
 * which is reopened once it is known to be a file: opening a device may have side effects.
 */
static int find(const char *path, bool to_write, struct error *err)
{
	const char *name = path;
	int dir = to_write ? directory_open_parent(path, &name, err) : AT_FDCWD, fd;

	if (to_write && dir < 0)
		return dir;
	fd = openat(dir, name, O_PATH | (to_write ? O_NOFOLLOW : 0) | O_CLOEXEC);
	if (fd < 0)
		fd = error_set(err, errno, "cannot open %s: %s", path, strerror(errno));
	if (to_write)
		close(dir);
	return fd;
}

/* Without /proc, reopens the file by its name, and checks that it is still the same file. */
static int open_by_name(const char *path, const struct stat *checked)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || st.st_dev != checked->st_dev || st.st_ino != checked->st_ino)) {
		close(fd);
		errno = ESTALE;
		return -1;
	}
	return fd;
}

static int open_found(int found, const char *path, bool to_write, struct error *err)
{
	char here[64];
	struct stat st;
	int fd, copy;

	if (fstat(found, &st))
		return error_set(err, errno, "cannot open %s: %s", path, strerror(errno));
	if (S_ISLNK(st.st_mode))
		return error_set(err, ELOOP, "%s is a symbolic link: name the file itself", path);
	if (!S_ISREG(st.st_mode) && (to_write || !S_ISFIFO(st.st_mode)))
		return error_set(err, EINVAL, "%s is not a regular file", path);
	snprintf(here, sizeof(here), "/proc/self/fd/%d", found);
	fd = open(here, (to_write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && S_ISREG(st.st_mode) && !to_write)
		fd = open_by_name(path, &st);
	if (fd < 0 && errno == ENOENT)
		return error_set(err, ENOENT, "cannot open %s: /proc is not mounted", path);
	if (fd < 0)
		return error_set(err, errno, "cannot open %s: %s", path, strerror(errno));
	if (S_ISREG(st.st_mode))
		return fd;
	copy = copy_of(fd, path, err);
	close(fd);
	return copy;
}

static int open_named(const char *path, bool to_write, struct error *err)
{
	int found = find(path, to_write, err), fd;

	if (found < 0)
		return found;
	fd = open_found(found, path, to_write, err);
	close(found);
	return fd;
}

int input_open(const char *path, bool to_write, uint64_t *size, struct error *err)
{
	bool standard = strcmp(path, "-") == 0 && !to_write;
	int fd = standard ? open_standard_input(err) : open_named(path, to_write, err);
	struct stat st;

	if (fd >= 0 && size)
		*size = fstat(fd, &st) ? 0 : (uint64_t)st.st_size;
	return fd;
}

/* The first bytes in rawlog/format.h. In a trace of early 2015, the last of them is a NUL. */
static bool is_raw_log(int fd)
{
	static const char magic[] = "gotrace\x01";
	char bytes[sizeof(magic) - 1];

	return pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
	       memcmp(bytes, magic, sizeof(bytes)) == 0;
}

int input_open_trace(const char *path, bool to_write, uint64_t *size, struct error *err)
{
	int fd = input_open(path, to_write, size, err);

	if (fd < 0 || !is_raw_log(fd))
		return fd;
	close(fd);
	return error_set(err, EINVAL,
			 "%s is a raw log, not a trace: make one with gotrace replay %s -o TRACE", path,
			 path);
}
