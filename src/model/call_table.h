/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* System calls by their numbers, which each architecture has of its own. Private to the model. */
#ifndef GOTRACE_CALL_TABLE_H
#define GOTRACE_CALL_TABLE_H

/* What may make a thread sleep in a call. */
enum call_class {
	CALL_OTHER,
	CALL_FILE,  /* of files: whoever sleeps in it without being interruptible waits for a disk */
	CALL_FUTEX, /* what every lock of a C library ends in */
	CALL_SLEEP, /* until a time */
	CALL_POLL,  /* for one of several descriptors, or for none until a time */
	CALL_EPOLL,
	CALL_SOCKET,
	CALL_SIGNAL,
	CALL_SEM,  /* of System V */
	CALL_LOCK, /* of a file */
	CALL_YIELD,
};

struct call {
	const char *name;
	enum call_class class;
};

#define CALLS_KNOWN 470 /* numbers: all tables end with the same one */

extern const struct call calls_x86[CALLS_KNOWN], calls_arm64[CALLS_KNOWN];

#endif
