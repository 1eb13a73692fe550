/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The broker: a process that opens files and reads memory for the workers and for the privileged process. A
 * worker's seccomp filter holds such system calls. The broker checks them (request.h), performs those that
 * are allowed, and returns the result. If a call blocks in the kernel, on a page or file of a file system
 * that does not respond, the broker gives it up after a while: the caller gets -EIO, and gotrace can end
 * without it.
 */
#ifndef GOTRACE_SANDBOX_BROKER_H
#define GOTRACE_SANDBOX_BROKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/reads.h"
#include "util/error.h"
#include "util/window.h"

struct broker;

/* Starts the process. Call it before there are other threads. Returns NULL on failure. */
struct broker *broker_new(struct error *err);
/* What the broker needs to serve a worker. broker_add() takes ownership of all descriptors. */
struct broker_client {
	int listener;         /* its seccomp listener */
	int memory;           /* /proc/PID/mem, to read the calls' arguments */
	int window;           /* the file of its window */
	struct window theirs; /* the window's address in the worker */
};
/* Also serves this worker from now on. Returns 0 or a negative errno. */
int broker_add(struct broker *broker, const struct broker_client *client);
/* Lets workers read this process from now on, as long as it is the same process. */
void broker_allow(struct broker *broker, pid_t pid);
/* Makes the broker's threads give up all but these capabilities before this returns. */
int broker_keep(struct broker *broker, uint64_t capabilities, struct error *err);
/* Functions with which the privileged process reads allowed processes. Valid as long as the broker. */
const struct target_reads *broker_reads(struct broker *broker);
/*
 * Lets a worker open the file behind a descriptor of broker_reads(), by the path that is stored here. Returns
 * 0 or a negative errno.
 */
int broker_share(struct broker *broker, int fd, char path[64]);
pid_t broker_pid(const struct broker *broker);
/* The number of calls given up so far because the kernel did not respond. */
unsigned broker_stalls(const struct broker *broker);
/* True if it has ended unexpectedly. */
bool broker_has_exited(const struct broker *broker);
/* Ends the broker: later calls of workers fail. NULL is allowed. */
void broker_free(struct broker *broker);

#endif
