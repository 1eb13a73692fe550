/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Has snapshots written, in a thread of its own, one at a time: recording goes on meanwhile. It opens, names
 * and removes the files; the bytes are written by another process (scribe.h).
 */
#ifndef GOTRACE_FLIGHT_SNAPSHOT_WRITER_H
#define GOTRACE_FLIGHT_SNAPSHOT_WRITER_H

#include <stdbool.h>

#include "flight/store.h"
#include "wire/wire.h"

struct snapshot_writer;

/* What became of a snapshot. */
struct snapshot_result {
	int code; /* 0 or a negative errno, with error */
	struct error error;
	struct store_entry entry;
};

/*
 * store: not owned; the writer's alone until it is freed. fd: the end of a socket whose other end a scribe
 * has; taken over. The thread keeps no privilege but for files. NULL: out of memory, or of threads.
 */
struct snapshot_writer *snapshot_writer_new(struct store *store, int fd);
/* Waits for what is being written. NULL is allowed. */
void snapshot_writer_free(struct snapshot_writer *writer);
/*
 * The scribe gets a snapshot, of this process: it is to be written as this format. Not before the result of
 * the one before was taken.
 */
void snapshot_writer_put(struct snapshot_writer *writer, enum wire_format format, pid_t pid);
/* The result of what was put last, once; false if there is none (yet). With `wait`: waits for what was put.
 */
bool snapshot_writer_result(struct snapshot_writer *writer, bool wait, struct snapshot_result *result);

#endif
