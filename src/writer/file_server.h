/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Trace files for future processes (--children). The process that writes the traces may not open, name or
 * remove files. It asks the server, a thread of the privileged process, which also determines their names.
 */
#ifndef GOTRACE_WRITER_FILE_SERVER_H
#define GOTRACE_WRITER_FILE_SERVER_H

#include <stdint.h>
#include <time.h>

#include "pipeline/output.h"
#include "sandbox/channel.h"

/* --- the server side --- */

struct file_server_options {
	const char *output; /* files are named OUTPUT.PID; NULL: gotrace-PID-UTCTIME.trace */
	const char *raw;    /* the same for raw logs; NULL: none are written */
	time_t now;         /* for UTCTIME */
	/* If not NULL, traces get no names: they are created in its directory and sent to handed_to. */
	const struct output *beside;
	int handed_to; /* socket that receives the pid (pid_t) and the file of each process when it begins */
};

struct file_server;

/*
 * Starts the server. *fd is the other process's end of the socket; the caller owns it. On error, returns NULL
 * and sets *err.
 */
struct file_server *file_server_new(const struct file_server_options *options, int *fd, struct error *err);
void file_server_free(struct file_server *server); /* NULL is allowed */

/* --- the client side --- */

enum file_role { FILE_ROLE_TRACE, FILE_ROLE_RAW };

/*
 * Opens a file for a process; `times` counts how often this pid has occurred, including now. Publishing and
 * discarding the file (pipeline/output.h) also go through the server. Returns 0, or a negative errno.
 */
int file_server_open(struct channel *server, enum file_role which, pid_t pid, uint32_t times,
		     struct output *out, struct error *err);

#endif
