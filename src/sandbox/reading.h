/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A process that sandboxes may look at: held so that its number cannot come to mean another, and its memory.
 */
#ifndef GOTRACE_SANDBOX_READING_H
#define GOTRACE_SANDBOX_READING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct looked_at {
	pid_t pid;
	int dir;    /* /proc/PID, for look-ups; stays empty once the process has ended */
	int memory; /* its mem file; -1: not opened yet, or it cannot be */
};

void looked_at_open(struct looked_at *process, pid_t pid);
void looked_at_close(struct looked_at *process);
/*
 * As process_vm_readv, into one buffer of `size` bytes. By the mem file, which takes no privilege once it is
 * open; where that may not be opened, by the system call, which takes CAP_SYS_PTRACE each time.
 */
ssize_t looked_at_read(struct looked_at *process, uint8_t *to, size_t size, const struct iovec *from,
		       size_t n);

#endif
