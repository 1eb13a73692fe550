/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "util/directory.h"

static int cannot_read(const struct input *input, int code, struct error *err)
{
	const char *name = strcmp(input->path, "-") == 0 ? "standard input" : input->path;

	return error_set(err, code, "cannot read %s: %s", name, strerror(code));
}

/* Opens "-". */
static int open_standard_input(struct error *err)
{
	struct stat st;
	int fd = -1;

	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
		fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
	if (fd < 0) /* not a file, or no /proc */
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? error_set(err, errno, "cannot read standard input: %s", strerror(errno)) : fd;
}

/*
 * A path to be written is resolved without following other users' links. The result is an O_PATH descriptor,
 * which is reopened once it is known to be a file: opening a device may have side effects.
 */
static int input_find(const char *path, bool to_write, struct error *err)
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
	int fd;

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
	return fd < 0 ? error_set(err, errno, "cannot open %s: %s", path, strerror(errno)) : fd;
}

static int input_open_named(const char *path, bool to_write, struct error *err)
{
	int found = input_find(path, to_write, err), fd;

	if (found < 0)
		return found;
	fd = open_found(found, path, to_write, err);
	close(found);
	return fd;
}

/* Reads nothing. */
static int map(struct input *input, struct error *err)
{
	struct stat st;
	void *bytes = NULL;

	if (fstat(input->fd, &st))
		return cannot_read(input, errno, err);
	if (st.st_size)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, input->fd, 0);
	if (bytes == MAP_FAILED)
		return cannot_read(input, errno, err);
	input->bytes = bytes ? bytes : (const uint8_t *)"";
	input->size = (size_t)st.st_size;
	return 0;
}

/* Standard input that could not be opened again may be at any position of a file. */
static int map_or_copy(struct input *input, struct error *err)
{
	struct stat st;

	if (fstat(input->fd, &st) == 0 && S_ISREG(st.st_mode) && lseek(input->fd, 0, SEEK_CUR) == 0) {
		input->modified_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
		return map(input, err);
	}
	input->copy = memfd_create("gotrace input", MFD_CLOEXEC);
	return input->copy < 0 ? cannot_read(input, errno, err) : 0;
}

static int open_path(const char *path, bool to_write, struct error *err)
{
	return strcmp(path, "-") == 0 && !to_write ? open_standard_input(err)
						   : input_open_named(path, to_write, err);
}

int input_open(struct input *input, const char *path, bool to_write, struct error *err)
{
	int rc = open_path(path, to_write, err);

	*input = (struct input){.path = path, .fd = rc, .copy = -1};
	if (rc >= 0)
		rc = map_or_copy(input, err);
	if (rc)
		input_close(input);
	return rc;
}

int input_adopt(struct input *input, int fd, const char *path, struct error *err)
{
	int rc;

	*input = (struct input){.path = path, .fd = fd, .copy = -1};
	rc = map(input, err);
	if (rc)
		input_close(input);
	return rc;
}

void input_need_bytes(struct input *input)
{
	if (!input->bytes || input->fd < 0)
		return;
	close(input->fd);
	input->fd = -1;
}

static int copy_pipe(struct input *input, struct error *err)
{
	char bytes[1 << 16];
	ssize_t n;

	while ((n = read(input->fd, bytes, sizeof(bytes))) > 0) {
		if (write(input->copy, bytes, (size_t)n) != n)
			return cannot_read(input, errno, err);
	}
	if (n < 0 || lseek(input->copy, 0, SEEK_SET) < 0)
		return cannot_read(input, errno, err);
	close(input->fd);
	input->fd = input->copy;
	input->copy = -1;
	return map(input, err);
}

int input_begin(struct input *input, struct error *err)
{
	if (!sandbox_is_confined())
		return cannot_read(input, EPERM, err);
	return input->bytes ? 0 : copy_pipe(input, err);
}

/* The first bytes in rawlog/format.h. In a trace of early 2015, the last of them is a NUL. */
static bool is_raw_log(const struct input *input)
{
	static const char magic[] = "gotrace\x01";

	return input->size >= sizeof(magic) - 1 && memcmp(input->bytes, magic, sizeof(magic) - 1) == 0;
}

int input_begin_trace(struct input *input, struct error *err)
{
	int rc = input_begin(input, err);

	if (rc || !is_raw_log(input))
		return rc;
	return error_set(err, EINVAL,
			 "%s is a raw log, not a trace: make one with gotrace replay %s -o TRACE",
			 input->path, input->path);
}

void input_close(struct input *input)
{
	if (input->fd >= 0)
		close(input->fd);
	if (input->copy >= 0)
		close(input->copy);
	if (input->size)
		munmap((void *)(uintptr_t)input->bytes, input->size);
	*input = (struct input){.path = input->path, .fd = -1, .copy = -1};
}
