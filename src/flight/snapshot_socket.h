/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The socket through which gotrace snapshot reaches a recorder. Its name is in the abstract namespace, so the
 * recorder leaves nothing on disk, even if it is killed. Requests are accepted only from root and from the
 * recorder's own user; nothing is read from others. The client accepts an answer only from the process it
 * asked.
 */
#ifndef GOTRACE_FLIGHT_SNAPSHOT_SOCKET_H
#define GOTRACE_FLIGHT_SNAPSHOT_SOCKET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "flight/flight.h"
#include "util/error.h"

enum {
	MAX_SNAPSHOT_CLIENTS = 16,
	REQUEST_MS = 1000, /* timeout for a client's request */
};

#define WINDOW_AHEAD_NS 3600000000000ull /* how far in the future a window may end */

struct snapshot_client {
	int fd;                    /* -1: none */
	uint64_t accepted_ns;      /* time of connection (CLOCK_MONOTONIC) */
	bool asked;                /* has requested a snapshot */
	struct time_window window; /* of it; ns since 1970 */
	bool awaited;              /* the requested snapshot is being written */
};

struct snapshot_socket {
	int fd;       /* -1: no requests are accepted */
	pid_t target; /* the process that is recorded now; 0 = none */
	struct snapshot_client clients[MAX_SNAPSHOT_CLIENTS];
};

int snapshot_socket_open(struct snapshot_socket *server, struct error *err);
/*
 * Accepts connections and requests. Never blocks, and does a bounded amount of work for any input. Returns
 * true if there is a request without a window for which no snapshot has begun.
 */
bool snapshot_socket_poll(struct snapshot_socket *server, uint64_t now_ns);
/* Returns true if a window has been requested for which no snapshot has begun, and which ended by now (ns
 * since 1970). */
bool snapshot_socket_due(const struct snapshot_socket *server, uint64_t now, struct time_window *window);
/* Assigns the snapshot that begins now to all requests of this window so far. NULL: to all requests. */
void snapshot_socket_begin(struct snapshot_socket *server, const struct time_window *window);
/* Answers these requests with the file's path or, if that is NULL, with the error. */
void snapshot_socket_answer(struct snapshot_socket *server, const char *path, const struct error *err);
void snapshot_socket_close(struct snapshot_socket *server);

/* The client side: sends a request to the recorder. window: ns since 1970. Returns a descriptor, or a
 * negative errno and sets *err. */
int snapshot_socket_ask(pid_t recorder, const struct time_window *window, struct error *err);
/*
 * Lists at most `most` processes that listen under the name of a recorder in this network namespace. Any
 * process can take such a name. Returns their number, or a negative errno and sets *err.
 */
int snapshot_socket_list(pid_t *recorders, unsigned most, struct error *err);
/* Asks a recorder of this user or of root which process it records. Returns 0 if it is another's, or does not
 * answer within a second. */
pid_t snapshot_socket_target(pid_t recorder);
/*
 * Waits for the recorder's answer. path has PATH_MAX bytes; its contents come from the recorder and are
 * untrusted, because a recorder that root asks may belong to any user. Returns 0, or a negative errno and
 * sets *err.
 */
int snapshot_socket_take(int fd, pid_t recorder, char *path, struct error *err);

#endif
