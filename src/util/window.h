/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory that a worker shares with the process that reads on its behalf (sandbox/broker.h). Data requested by
 * the worker arrives only here: the broker writes to no other memory of a worker, so a worker cannot make it
 * write to pages that the worker itself may not change. There is one window per process. It is set before
 * other threads exist, and used by one thread at a time.
 */
#ifndef GOTRACE_UTIL_WINDOW_H
#define GOTRACE_UTIL_WINDOW_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { WINDOW_BYTES = 1 << 20 };

struct window {
	uint8_t *bytes; /* NULL: the process reads by itself */
	size_t size;
};

void window_use(struct window window);
struct window window_of_process(void);

/* readlink(2) and stat(2) of /proc/PID/exe and similar, in workers and elsewhere. */
ssize_t window_readlink(const char *path, char *to, size_t size);
int window_stat(const char *path, struct stat *st);

#endif
