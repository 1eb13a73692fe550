/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads of a live process (process_vm_readv: it is not stopped and does not
 * notice). All sizes are ours, none the process's.
 */
#ifndef GOTRACE_TARGET_MEMORY_H
#define GOTRACE_TARGET_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads all or nothing. -EFAULT: not mapped; -ESRCH: the process is gone; -EPERM. */
int memory_read(pid_t pid, uint64_t address, void *to, size_t size);

struct memory_piece {
	uint64_t address;
	uint32_t size;        /* > 0 */
	uint32_t owner;       /* the caller's */
	const uint8_t *bytes; /* the result, in the batch's buffer; NULL if it cannot be read */
};

struct memory_batch {
	pid_t pid;
	uint8_t *buffer; /* reused by each gather */
	size_t capacity;
};

/*
 * Reads many small pieces with few system calls: sorts them by address and
 * joins neighbours. Returns 0 (some pieces may be unreadable), -ESRCH, -EPERM or -ENOMEM.
 */
int memory_gather(struct memory_batch *batch, struct memory_piece *pieces, size_t n);
void memory_batch_free(struct memory_batch *batch);

/* What a user can do about -EPERM: for the end of an error's line. */
const char *memory_how_to_be_allowed(void);

#endif
