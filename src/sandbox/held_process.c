/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/held_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "util/rights.h"

void held_process_close(struct held_process *process)
{
	if (process->dir >= 0)
		close(process->dir);
	if (process->memory >= 0)
		close(process->memory);
	process->dir = process->memory = -1;
}

/* Reads one piece. Returns the number of bytes, which may be short, or a negative errno. */
static ssize_t read_piece(int memory, uint8_t *to, const struct iovec *from)
{
	size_t done = 0;

	while (done < from->iov_len) {
		ssize_t n = pread(memory, to + done, from->iov_len - done,
				  (off_t)((uintptr_t)from->iov_base + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return done ? (ssize_t)done : (errno == EIO ? -EFAULT : -errno);
		if (n == 0)
			/* Its memory is gone: it has exited, or has executed another program. */
			return done ? (ssize_t)done : -ESRCH;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static ssize_t read_pieces(int memory, uint8_t *to, size_t size, const struct iovec *from, size_t n)
{
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		struct iovec piece = from[i];
		ssize_t got;

		if (piece.iov_len > size - done)
			piece.iov_len = size - done;
		got = read_piece(memory, to + done, &piece);
		if (got < 0)
			return done ? (ssize_t)done : got;
		done += (size_t)got;
		if ((size_t)got < from[i].iov_len)
			break;
	}
	return (ssize_t)done;
}

/* Returns 0 or a negative errno. */
static int open_memory(struct held_process *process)
{
	struct rights before;
	int rc;

	if (process->memory >= 0)
		close(process->memory);
	before = rights_to_read(); /* only the owner may open the file */
	process->memory = openat(process->dir, "mem", O_RDONLY | O_CLOEXEC);
	rc = process->memory < 0 ? -errno : 0;
	rights_restore(&before);
	return rc;
}

void held_process_open_memory(struct held_process *process)
{
	if (process->memory < 0)
		open_memory(process);
}

ssize_t held_process_read(struct held_process *process, uint8_t *to, size_t size, const struct iovec *from,
			  size_t n)
{
	struct iovec here = {.iov_base = to, .iov_len = size};
	ssize_t got = -ESRCH;
	int rc = 0;

	if (process->memory >= 0)
		got = read_pieces(process->memory, to, size, from, n);
	/* After an exec, the file still refers to the old memory. */
	if (got == -ESRCH)
		rc = open_memory(process);
	if (got == -ESRCH && rc == 0)
		got = read_pieces(process->memory, to, size, from, n);
	/* Without the right to open the file. If the process has ended, its PID may be another process's. */
	if (rc != -EACCES && rc != -EPERM)
		return got;
	got = process_vm_readv(process->pid, &here, 1, from, n, 0);
	return got < 0 ? -errno : got;
}
