/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Delegation of reads that may block: a process's memory and files may be served by a user's own file system,
 * which may never answer. The privileged process delegates such reads to another process (sandbox/broker.h),
 * which can be abandoned. Elsewhere, the functions of memory.h and maps.h read directly.
 */
#ifndef GOTRACE_TARGET_READS_H
#define GOTRACE_TARGET_READS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct proc_mapping;

/* All functions return a negative errno on failure; -EIO if there is no answer in time. */
struct target_reads {
	/*
	 * Reads n pieces one after the other, together at most `size` bytes. Returns the number of bytes
	 * read, less if memory is missing, or if these are more than are read at once.
	 */
	ssize_t (*memory)(void *ctx, pid_t pid, const struct iovec *from, unsigned n, void *to, size_t size);
	int (*maps)(void *ctx, pid_t pid); /* returns a descriptor with the text of /proc/PID/maps */
	/*
	 * Both return O_PATH descriptors: closing any other kind calls into the file system, which may block.
	 * exe also reads up to `size` bytes from the start of the file into header.
	 */
	int (*file)(void *ctx, pid_t pid, const struct proc_mapping *mapping);
	int (*exe)(void *ctx, pid_t pid, uint8_t *header, size_t size, size_t *got);
	/* Whether memory (/proc/PID/mem) belongs to a program that no longer exists. */
	int (*lost)(void *ctx, int memory);
	void *ctx;
};

/* Sets the delegate of this process; NULL: read directly. Must be called before any thread reads. */
void target_reads_set_delegate(const struct target_reads *reads);
const struct target_reads *target_reads(void);

#endif
