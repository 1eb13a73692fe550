/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* System calls by number, which differs between architectures. Private to the model. */
#ifndef GOTRACE_MODEL_THREADS_SYSCALL_TABLE_H
#define GOTRACE_MODEL_THREADS_SYSCALL_TABLE_H

/* What a thread may sleep for in a call. */
enum syscall_class {
	SYSCALL_OTHER,
	SYSCALL_FILE,  /* on files: an uninterruptible sleep in it waits for a disk */
	SYSCALL_FUTEX, /* underlies the locks of C libraries */
	SYSCALL_SLEEP, /* until a time */
	SYSCALL_POLL,  /* for one of several descriptors, or for none until a time */
	SYSCALL_EPOLL,
	SYSCALL_SOCKET,
	SYSCALL_SIGNAL,
	SYSCALL_SEM,  /* System V semaphores */
	SYSCALL_LOCK, /* file locks */
	SYSCALL_YIELD,
};

struct syscall {
	const char *name;
	enum syscall_class class;
};

#define SYSCALLS_KNOWN 470 /* size of each table: all end with the same number */

extern const struct syscall syscalls_x86[SYSCALLS_KNOWN], syscalls_arm64[SYSCALLS_KNOWN];

#endif
