/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The files of snapshots. A thread of the privileged process opens, names and removes them, one at a time,
 * while recording continues. Another process writes their contents (snapshot_worker.h).
 */
#ifndef GOTRACE_FLIGHT_SNAPSHOT_FILES_H
#define GOTRACE_FLIGHT_SNAPSHOT_FILES_H

#include <stdbool.h>

#include "flight/snapshot_store.h"
#include "wire/wire.h"

struct snapshot_files;

/* The result of one snapshot. */
struct snapshot_result {
	int code; /* 0 or a negative errno, with error */
	struct error error;
	struct snapshot_entry entry;
};

/*
 * store: not owned; only the thread uses it until this is freed. fd: one end of a socket, the other of which
 * belongs to a snapshot worker; ownership is taken. The thread keeps only the privileges needed for files.
 * Returns NULL if memory or threads cannot be had.
 */
struct snapshot_files *snapshot_files_new(struct snapshot_store *store, int fd);
/* Waits for the snapshot that is being written. NULL is allowed. */
void snapshot_files_free(struct snapshot_files *files);
/* Called if the writing process was given up: makes the current snapshot fail now. */
void snapshot_files_give_up(struct snapshot_files *files);
/*
 * Requests a snapshot of this process, to be written in this format. The previous result must have been
 * taken.
 */
void snapshot_files_put(struct snapshot_files *files, enum wire_format format, pid_t pid);
/*
 * Takes the result of the last request, once. Returns false if there is none (yet). `wait`: waits for a
 * pending request.
 */
bool snapshot_files_result(struct snapshot_files *files, bool wait, struct snapshot_result *result);

#endif
