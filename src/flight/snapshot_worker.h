/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes snapshots, one at a time, while recording continues. It is a thread of the writer, which has no
 * privileges. The privileged process provides the file (snapshot_files.h), the recorder pipeline its
 * contents.
 */
#ifndef GOTRACE_FLIGHT_SNAPSHOT_WORKER_H
#define GOTRACE_FLIGHT_SNAPSHOT_WORKER_H

#include "flight/generation_ring.h"
#include "flight/snapshot_bytes.h"
#include "pipeline/output.h"
#include "sandbox/channel.h"
#include "trace/wire/wire.h"

/* --- the thread --- */

struct snapshot_worker;

/*
 * fd: one end of the socket for requests; takes ownership of it. Returns NULL if memory or a thread cannot be
 * allocated.
 */
struct snapshot_worker *snapshot_worker_new(int fd);
/* Waits for the snapshot being written. NULL is allowed. */
void snapshot_worker_free(struct snapshot_worker *worker);
/*
 * Provides the snapshot for the next file, and takes ownership of refs. Replaces a snapshot that has not been
 * written. refs = NULL: there is no snapshot, for the reason `why`.
 */
void snapshot_worker_put(struct snapshot_worker *worker, struct generation_refs *refs,
			 const struct error *why);

/* --- the requesting side --- */

/*
 * Waits until a snapshot has been provided and written to fd or, if fd is -1, discarded. The caller must
 * check the file, because the writer is not trusted. place: the file's directory, for messages. Returns 0, or
 * a negative errno and sets *err.
 */
int snapshot_worker_ask(struct channel *channel, const struct snapshot_form *form, int fd, const char *place,
			struct error *err);

#endif
