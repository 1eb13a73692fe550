/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int input_open(const char *path, bool to_write, uint64_t *size, struct error *err)
{
	/* O_NONBLOCK: a pipe without a writer must not hang us before it is refused. */
	int fd = open(path, (to_write ? O_RDWR | O_NOFOLLOW : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && errno == ELOOP)
		return error_set(err, ELOOP, "%s is a symbolic link: name the file itself", path);
	if (fd < 0)
		return error_set(err, errno, "cannot open %s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return error_set(err, EINVAL, "%s is not a regular file", path);
	}
	if (size)
		*size = (uint64_t)st.st_size;
	return fd;
}
