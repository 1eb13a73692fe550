/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads memory of a live process (process_vm_readv, so the process is not stopped). All sizes are chosen by
 * gotrace, never taken from the process.
 */
#ifndef GOTRACE_TARGET_MEMORY_H
#define GOTRACE_TARGET_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads all bytes. Returns 0, -EFAULT if some are not mapped, -ESRCH if the process is gone, or -EPERM. */
int memory_read(pid_t pid, uint64_t address, void *to, size_t size);
/* Reads up to the first unreadable byte. Returns the number of bytes, or a negative errno. */
ssize_t memory_read_some(pid_t pid, uint64_t address, void *to, size_t size);

struct memory_piece {
	uint64_t address;
	uint32_t size;        /* > 0 */
	uint32_t owner;       /* for the caller's use */
	const uint8_t *bytes; /* result, in the batch's buffer; NULL if it cannot be read */
};

struct memory_batch {
	pid_t pid;
	uint8_t *buffer; /* reused by each memory_gather */
	size_t capacity;
};

/*
 * Reads many small pieces with few system calls: sorts them by address and joins neighbours. Returns 0, even
 * if some pieces cannot be read, or -ESRCH, -EPERM or -ENOMEM.
 */
int memory_gather(struct memory_batch *batch, struct memory_piece *pieces, size_t n);
void memory_batch_free(struct memory_batch *batch);

/*
 * Advice to the user about -EPERM, to append to an error message. It is about the privileges at the first
 * call: later there may be fewer.
 */
const char *memory_how_to_be_allowed(void);

#endif
