/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Writes snapshots in a thread of its own, one at a time: recording goes on meanwhile. */
#ifndef GOTRACE_SNAPSHOT_WRITER_H
#define GOTRACE_SNAPSHOT_WRITER_H

#include <stdbool.h>

#include "cli/store.h"

struct snapshot_writer;

/* What became of a snapshot. */
struct snapshot_result {
	int code; /* 0 or a negative errno, with error */
	struct error error;
	struct store_entry entry;
};

/* store: not owned; the writer's alone until it is freed. NULL: out of memory, or of threads. */
struct snapshot_writer *snapshot_writer_new(struct store *store);
/* Waits for what is being written. NULL is allowed. */
void snapshot_writer_free(struct snapshot_writer *writer);
/*
 * Hands over a snapshot (NULL: there was none, and why says so); not before the result of the one before was
 * taken. May be called by any thread.
 */
void snapshot_writer_put(struct snapshot_writer *writer, struct kept *kept, enum wire_format format,
			 pid_t pid, const struct error *why);
/* The result of what was put last, once; false if there is none (yet). With `wait`: waits for what was put.
 */
bool snapshot_writer_result(struct snapshot_writer *writer, bool wait, struct snapshot_result *result);

#endif
