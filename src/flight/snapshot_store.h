/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The directory of a flight recorder. Snapshots get their names when they are complete. If there are too
 * many, the oldest files made by this recorder are removed.
 */
#ifndef GOTRACE_FLIGHT_SNAPSHOT_STORE_H
#define GOTRACE_FLIGHT_SNAPSHOT_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "util/error.h"

struct snapshot_store_file;

struct snapshot_store {
	const char *dir;
	unsigned keep;                     /* number of files; 0 = all */
	size_t max_bytes;                  /* of a file */
	struct snapshot_store_file *files; /* made by this recorder, oldest first: at most keep + 1 */
	unsigned n;
};

struct snapshot_entry {
	char path[PATH_MAX];
	size_t bytes;
	bool made_dir; /* the directory was missing and has been made again */
};

/* Makes the directory if it does not exist, and checks that files can be created in it. */
int snapshot_store_open(struct snapshot_store *store, const char *dir, unsigned keep, size_t max_bytes,
			struct error *err);
/*
 * Provides a snapshot's contents. fd: an empty file open for writing; -1: there is no file, and the snapshot
 * must be discarded.
 */
struct snapshot_source {
	int (*write)(void *ctx, int fd, size_t max_bytes, struct error *err);
	void *ctx;
};

/*
 * Writes a snapshot as DIR/gotrace-PID-UTCTIME.trace, with -2, -3 … appended if that exists. On error no file
 * is left.
 */
int snapshot_store_write(struct snapshot_store *store, const struct snapshot_source *source, pid_t pid,
			 time_t now, struct snapshot_entry *entry, struct error *err);
void snapshot_store_close(struct snapshot_store *store);

#endif
