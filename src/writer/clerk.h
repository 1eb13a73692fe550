/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files of traces for processes to come (--children): the process that writes the traces may open, name and
 * remove none. It asks the clerk, a thread of the privileged process, who knows what they are to be called.
 */
#ifndef GOTRACE_WRITER_CLERK_H
#define GOTRACE_WRITER_CLERK_H

#include <stdint.h>
#include <time.h>

#include "pipeline/output.h"
#include "sandbox/channel.h"

/* --- the clerk --- */

struct clerk_options {
	const char *output; /* files are named OUTPUT.PID; NULL: gotrace-PID-UTCTIME.trace */
	const char *raw;    /* the same for raw logs; NULL: there are none */
	time_t now;
};

struct clerk;

/* *fd is the end that is for the other process; the caller's. NULL: failed. */
struct clerk *clerk_new(const struct clerk_options *options, int *fd, struct error *err);
void clerk_free(struct clerk *clerk); /* NULL is allowed */

/* --- who asks --- */

enum clerk_file { CLERK_TRACE, CLERK_RAW };

/*
 * The file of a process; `times` is how often the number has come, this one included. Publishing and
 * discarding it (pipeline/output.h) ask, too.
 */
int clerk_open(struct channel *clerk, enum clerk_file which, pid_t pid, uint32_t times, struct output *out,
	       struct error *err);

#endif
