/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The files of snapshots. A thread of the privileged process opens, names and removes them, one at a time,
 * while recording continues. Another process writes their contents (snapshot_worker.h).
 */
#ifndef GOTRACE_FLIGHT_SNAPSHOT_FILES_H
#define GOTRACE_FLIGHT_SNAPSHOT_FILES_H

#include <stdbool.h>

#include "flight/snapshot_store.h"
#include "trace/wire/wire.h"

struct snapshot_files;

struct snapshot_result {
	int code; /* 0, or a negative errno with `error` set */
	struct error error;
	struct snapshot_entry entry;
};

/*
 * Starts the thread, which keeps only the privileges needed for files. store is not owned, but used only by
 * the thread until snapshot_files_free(). fd is one end of a socket; a snapshot worker has the other end.
 * Takes ownership of fd. Returns NULL if memory or a thread cannot be allocated.
 */
struct snapshot_files *snapshot_files_new(struct snapshot_store *store, int fd);
/* Waits for the snapshot being written. NULL is allowed. */
void snapshot_files_free(struct snapshot_files *files);
/* Makes the current snapshot fail immediately. Call it if the writing process has been abandoned. */
void snapshot_files_give_up(struct snapshot_files *files);
/* Requests a snapshot in this format. The previous result must have been taken. */
void snapshot_files_put(struct snapshot_files *files, enum wire_format format,
			const struct snapshot_origin *origin);
/* Takes the result of the last request, once. If `wait`, waits for it. Returns false if there is none. */
bool snapshot_files_result(struct snapshot_files *files, bool wait, struct snapshot_result *result);

#endif
