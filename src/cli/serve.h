/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Serves one file by HTTP, on the loopback interface, until one page of one other origin has fetched it. */
#ifndef GOTRACE_CLI_SERVE_H
#define GOTRACE_CLI_SERVE_H

#include <stdint.h>

#include "util/error.h"

struct http_file {
	int fd;             /* regular; not owned */
	const char *target; /* "/NAME": its path in the address; nothing else is answered */
	const char *origin; /* of the page that may fetch it */
	uint16_t port;
};

/* Listens at 127.0.0.1. Returns a descriptor, or a negative errno and sets *err: -EADDRINUSE. */
int serve_listen(uint16_t port, struct error *err);
/*
 * Serves until the file was fetched whole, or a signal (cli/signals.h). A process without privileges reads
 * each request; this one reads none. Returns 0, or a negative errno and sets *err: -EINTR, without a text.
 */
int serve_file(int listener, const struct http_file *file, struct error *err);

#endif
