/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the room: whom a socket is connected to, by the kernel's tables
 * of all sockets in the process's network (/proc/PID/net). These can be long:
 * they are read again only when reading them takes little of the time.
 */
#ifndef GOTRACE_CAPTURE_SOCKETS_H
#define GOTRACE_CAPTURE_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/map64.h"

struct sockets {
	struct map64 known; /* inode -> place in text */
	char *text;         /* each ended by NUL */
	size_t size, room;
	uint64_t next_ns; /* not read again before that */
};

/* "10.0.0.1:5432", "listening on 0.0.0.0:80", "unix /run/x", or "socket" if that is all that is known. */
void sockets_describe(struct sockets *sockets, pid_t pid, uint64_t inode, char *text, size_t size);
void sockets_free(struct sockets *sockets);

/* Pure: one line of /proc/net/tcp, udp (and 6) or unix. False: it tells of no socket, or of no peer. */
bool sockets_parse_inet(const char *line, uint64_t *inode, char *text, size_t size);
bool sockets_parse_unix(const char *line, uint64_t *inode, char *text, size_t size);

#endif
