/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes snapshots, one at a time, in a thread of the writer, which has no privileges, while recording
 * continues. The privileged process provides the file (snapshot_files.h), the recorder pipeline its contents.
 */
#ifndef GOTRACE_FLIGHT_SNAPSHOT_WORKER_H
#define GOTRACE_FLIGHT_SNAPSHOT_WORKER_H

#include "flight/generation_ring.h"
#include "pipeline/output.h"
#include "sandbox/channel.h"
#include "wire/wire.h"

/* --- the thread --- */

struct snapshot_worker;

/* fd: one end of the socket for requests; ownership is taken. Returns NULL if memory or threads cannot be
 * had. */
struct snapshot_worker *snapshot_worker_new(int fd);
/* Waits for the snapshot that is being written. NULL is allowed. */
void snapshot_worker_free(struct snapshot_worker *worker);
/*
 * Provides the snapshot for the next file. It replaces a snapshot that has not been requested. NULL: there is
 * no snapshot, for the reason given in `why`.
 */
void snapshot_worker_put(struct snapshot_worker *worker, struct generation_refs *refs,
			 const struct error *why);

/* --- the requesting side --- */

/*
 * Waits until a snapshot has been provided and written to fd; fd -1: until it has been discarded. The caller
 * must check the file, because the writer is not trusted. place: the directory of the file, for messages.
 */
int snapshot_worker_ask(struct channel *channel, enum wire_format format, size_t max_bytes, int fd,
			const char *place, struct error *err);

#endif
