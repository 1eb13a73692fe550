/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The directory of a flight recorder. A snapshot gets its name when it is complete. If there are too many
 * snapshots, files made by this recorder, or by the others of its node, are removed. Who takes part in that
 * may be anyone: a process that ends at once leaves a snapshot, too. So each user, each process and each
 * trigger has a share of the files, and what a trigger or a request wrote does not give way to what only the
 * end of a process wrote.
 */
#ifndef GOTRACE_FLIGHT_SNAPSHOT_STORE_H
#define GOTRACE_FLIGHT_SNAPSHOT_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "flight/flight.h"
#include "util/error.h"

struct snapshot_list;

struct snapshot_store {
	const char *dir;
	unsigned keep;    /* number of files; 0 = all */
	size_t max_bytes; /* of a file */
	/* What has been written; shared with the processes that are forked while the store is open. NULL with
	 * `keep` 0. */
	struct snapshot_list *list;
};

/* What a snapshot is of, and why it is written. */
struct snapshot_origin {
	pid_t pid;
	uint64_t start;            /* of the process, in clock ticks since boot, because PIDs are reused */
	uid_t uid;                 /* whose process it is */
	bool of_end;               /* only because the process has ended */
	unsigned trigger;          /* the first that asked for it, from 1; 0 = a request */
	bool brief;                /* the process was recorded for less than the window */
	struct time_window window; /* what is wanted of it; the log's clock */
};

struct snapshot_entry {
	char path[PATH_MAX]; /* "": not written, because it has no place */
	size_t bytes;
	bool made_dir; /* the directory was missing and has been created again */
};

/*
 * Creates the directory if needed, and checks that files can be created in it. Returns 0, or a negative errno
 * and sets *err.
 */
int snapshot_store_open(struct snapshot_store *store, const char *dir, unsigned keep, size_t max_bytes,
			struct error *err);
/* The processes that are forked from now on do not have the list of files. */
void snapshot_store_own(const struct snapshot_store *store);
/*
 * Provides a snapshot's contents. fd is an empty file open for writing, or -1 if there is no file and the
 * snapshot must be discarded; err may then be NULL.
 */
struct snapshot_source {
	int (*write)(void *ctx, int fd, size_t max_bytes, struct error *err);
	void *ctx;
};

/*
 * Writes a snapshot as DIR/gotrace-PID-UTCTIME.trace, with -2, -3 … appended if that exists. If there are
 * then more files than `keep`, one goes: the oldest of the user with most files, of these of the process with
 * most, and of these of the trigger with most, but
 * - snapshots that are brief and of an end go first, regardless of shares;
 * - one of an end only takes the place of such a one. If there is none, it is not written.
 * Returns 0, or a negative errno and sets *err. An error before the file has its name leaves no file.
 */
int snapshot_store_write(struct snapshot_store *store, const struct snapshot_source *source,
			 const struct snapshot_origin *origin, time_t now, struct snapshot_entry *entry,
			 struct error *err);
void snapshot_store_close(struct snapshot_store *store);

#endif
