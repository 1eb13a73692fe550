/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The directory of a flight recorder. A snapshot gets its name when it is complete. If there are too many
 * snapshots, the oldest files made by this recorder are removed.
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
	bool made_dir; /* the directory was missing and has been created again */
};

/*
 * Creates the directory if needed, and checks that files can be created in it. Returns 0, or a negative errno
 * and sets *err.
 */
int snapshot_store_open(struct snapshot_store *store, const char *dir, unsigned keep, size_t max_bytes,
			struct error *err);
/*
 * Provides a snapshot's contents. fd is an empty file open for writing, or -1 if there is no file and the
 * snapshot must be discarded; err may then be NULL.
 */
struct snapshot_source {
	int (*write)(void *ctx, int fd, size_t max_bytes, struct error *err);
	void *ctx;
};

/*
 * Writes a snapshot as DIR/gotrace-PID-UTCTIME.trace, with -2, -3 … appended if that exists. Returns 0, or a
 * negative errno and sets *err. An error before the file has its name leaves no file.
 */
int snapshot_store_write(struct snapshot_store *store, const struct snapshot_source *source, pid_t pid,
			 time_t now, struct snapshot_entry *entry, struct error *err);
void snapshot_store_close(struct snapshot_store *store);

#endif
