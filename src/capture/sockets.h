/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: the peers of sockets, from the kernel's tables of all sockets in the process's
 * network namespace (/proc/PID/net). The tables can be long, so reading them again is limited to a small
 * share of the time.
 */
#ifndef GOTRACE_CAPTURE_SOCKETS_H
#define GOTRACE_CAPTURE_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/map64.h"

struct sockets {
	struct map64 known; /* inode -> offset in text */
	char *text;         /* NUL-terminated strings */
	size_t size, capacity;
	uint64_t next_ns; /* time before which the tables are not read again */
};

/* Writes "10.0.0.1:5432", "listening on 0.0.0.0:80", "unix /run/x", or "socket" if nothing else is known. */
void sockets_describe(struct sockets *sockets, pid_t pid, uint64_t inode, char *text, size_t size);
void sockets_free(struct sockets *sockets);

/* Pure: parse one line of /proc/net/tcp, udp (also tcp6, udp6) or unix. False if it is malformed. */
bool sockets_parse_inet(const char *line, uint64_t *inode, char *text, size_t size);
bool sockets_parse_unix(const char *line, uint64_t *inode, char *text, size_t size);

#endif
