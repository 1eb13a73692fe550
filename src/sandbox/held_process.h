/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A process that workers may read, and its memory. It is held by its /proc/PID directory, so that a reused
 * PID cannot be mistaken for it.
 */
#ifndef GOTRACE_SANDBOX_HELD_PROCESS_H
#define GOTRACE_SANDBOX_HELD_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct held_process {
	pid_t pid;
	int dir;    /* /proc/PID, for lookups; empty once the process has exited */
	int memory; /* its mem file; -1: not opened yet, or it cannot be */
};

void held_process_close(struct held_process *process);
/* Opens its memory if permitted. Reads nothing. */
void held_process_open_memory(struct held_process *process);
/*
 * As process_vm_readv(), into one buffer of `size` bytes. Uses the mem file, which needs no privilege once it
 * is open. If that may not be opened, uses the system call, which needs CAP_SYS_PTRACE each time.
 */
ssize_t held_process_read(struct held_process *process, uint8_t *to, size_t size, const struct iovec *from,
			  size_t n);

#endif
