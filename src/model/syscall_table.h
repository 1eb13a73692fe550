/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* System calls by their numbers, which each architecture has of its own. Private to the model. */
#ifndef GOTRACE_MODEL_SYSCALL_TABLE_H
#define GOTRACE_MODEL_SYSCALL_TABLE_H

/* What may make a thread sleep in a call. */
enum syscall_class {
	SYSCALL_OTHER,
	SYSCALL_FILE,  /* of files: an uninterruptible sleep in it waits for a disk */
	SYSCALL_FUTEX, /* below the locks of C libraries */
	SYSCALL_SLEEP, /* until a time */
	SYSCALL_POLL,  /* for one of several descriptors, or for none until a time */
	SYSCALL_EPOLL,
	SYSCALL_SOCKET,
	SYSCALL_SIGNAL,
	SYSCALL_SEM,  /* of System V */
	SYSCALL_LOCK, /* of a file */
	SYSCALL_YIELD,
};

struct syscall {
	const char *name;
	enum syscall_class class;
};

#define SYSCALLS_KNOWN 470 /* numbers: all tables end with the same one */

extern const struct syscall syscalls_x86[SYSCALLS_KNOWN], syscalls_arm64[SYSCALLS_KNOWN];

#endif
