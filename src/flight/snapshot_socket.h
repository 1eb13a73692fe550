/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The socket through which gotrace snapshot reaches a recorder. It is in the kernel's abstract namespace, so
 * nothing is left on disk however the recorder ends. Requests are accepted from root and from the recorder's
 * own user; nothing is read from others. The answer is accepted only from the process that was asked.
 */
#ifndef GOTRACE_FLIGHT_SNAPSHOT_SOCKET_H
#define GOTRACE_FLIGHT_SNAPSHOT_SOCKET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"

enum {
	MAX_SNAPSHOT_CLIENTS = 16,
	REQUEST_MS = 1000, /* a client must send its request within this time */
};

struct snapshot_client {
	int fd;               /* -1: none */
	uint64_t accepted_ns; /* time of connection (CLOCK_MONOTONIC) */
	bool asked;           /* has requested a snapshot */
	bool awaited;         /* and that snapshot is being written */
};

struct snapshot_socket {
	int fd; /* -1: no requests are accepted */
	struct snapshot_client clients[MAX_SNAPSHOT_CLIENTS];
};

int snapshot_socket_open(struct snapshot_socket *server, struct error *err);
/*
 * Accepts connections and requests. Never waits, and does a limited amount of work whatever is sent. Returns
 * true if there is a request for which no snapshot has been begun.
 */
bool snapshot_socket_poll(struct snapshot_socket *server, uint64_t now_ns);
/* Assigns the snapshot that is begun now to all requests so far. */
void snapshot_socket_begin(struct snapshot_socket *server);
/* Answers these requests with the file's path, or with the error. */
void snapshot_socket_answer(struct snapshot_socket *server, const char *path, const struct error *err);
void snapshot_socket_close(struct snapshot_socket *server);

/*
 * The client side: sends a request to the recorder and waits for its answer. path holds PATH_MAX bytes. It
 * comes from the recorder, which may belong to any user if the caller is root, and is untrusted.
 */
int snapshot_socket_ask(pid_t recorder, char *path, struct error *err);

#endif
