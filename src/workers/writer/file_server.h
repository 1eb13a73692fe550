/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files for a process that may not open, name or remove any: for the writer, the traces of future processes
 * (--children); for a process that reads a file, its output. It asks the server, which also determines their
 * names (in a tree: which checks them): a thread of the privileged process, or the process that waits for the
 * reader.
 */
#ifndef GOTRACE_WORKERS_WRITER_FILE_SERVER_H
#define GOTRACE_WORKERS_WRITER_FILE_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "pipeline/output.h"
#include "sandbox/channel.h"

/* --- the server side --- */

struct file_server_options {
	const char *output; /* files are named OUTPUT.PID; NULL: gotrace-PID-UTCTIME.trace */
	bool alone;         /* there is only one file, OUTPUT */
	bool tree;          /* files are below the directory OUTPUT, where the client says */
	const char *raw;    /* the same for raw logs; NULL: none are written */
	time_t now;         /* for UTCTIME */
	/* If not NULL, traces get no names: they are created in its directory and sent to handed_to. */
	const struct output *beside;
	int handed_to; /* socket that receives the pid (pid_t) and the file of each process when it begins */
};

struct file_server;

enum { FILE_SERVER_PATH_BYTES = 512 }; /* of a file below OUTPUT, without a NUL */

/* *fd is the other process's end of the socket; the caller owns it. On error, returns NULL and sets *err. */
struct file_server *file_server_new(const struct file_server_options *options, int *fd, struct error *err);
/* Serves in a thread from now on, with the capabilities that it needs and no others. */
int file_server_start(struct file_server *server, struct error *err);
/*
 * Serves without a thread: answers one request, waiting for it. Returns a negative errno if the other process
 * is gone or has sent something invalid.
 */
int file_server_serve(struct file_server *server);
int file_server_fd(const struct file_server *server); /* readable when there is a request */
/* The capabilities (1 << CAP_...) that the server still needs. */
uint64_t file_server_capabilities(const struct file_server *server);
void file_server_free(struct file_server *server); /* NULL is allowed */

/* --- the client side --- */

enum file_role { FILE_ROLE_TRACE, FILE_ROLE_RAW };

/*
 * Opens a file for a process; `times` counts how often this pid has occurred, including now. Instead of a
 * pid, any positive number may be given. Publishing and discarding the file (pipeline/output.h) also go
 * through the server. Returns 0, or a negative errno.
 */
int file_server_open(struct channel *server, enum file_role which, pid_t pid, uint32_t times,
		     struct output *out, struct error *err);
/*
 * The same for a file of a tree; directories on its path are created. Names on the path may have letters,
 * digits and -._=, and begin with a letter or digit.
 */
int file_server_open_below(struct channel *server, const char *path, struct output *out, struct error *err);

#endif
