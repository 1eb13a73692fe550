/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The directory of a flight recorder: snapshots get their names when they are
 * whole, and the oldest of its own files are removed when there are too many.
 */
#ifndef GOTRACE_FLIGHT_STORE_H
#define GOTRACE_FLIGHT_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "util/error.h"

struct store_file;

struct store {
	const char *dir;
	unsigned keep;            /* files; 0 = all */
	size_t max_bytes;         /* of a file */
	struct store_file *files; /* of its own, oldest first: at most keep + 1 */
	unsigned n;
};

struct store_entry {
	char path[PATH_MAX];
	size_t bytes;
	bool made_dir; /* the directory was gone, and was made anew */
};

/* Makes the directory if it is not there, and checks that files can be made in it. */
int store_open(struct store *store, const char *dir, unsigned keep, size_t max_bytes, struct error *err);
/* Where a snapshot's bytes come from. fd: an empty file that is open for writing; -1: there is none, and what
 * there would be is to be forgotten. */
struct store_source {
	int (*write)(void *ctx, int fd, size_t max_bytes, struct error *err);
	void *ctx;
};

/*
 * Writes a snapshot as DIR/gotrace-PID-UTCTIME.trace; with -2, -3 … if there is one. After an error nothing
 * is left.
 */
int store_write(struct store *store, const struct store_source *source, pid_t pid, time_t now,
		struct store_entry *entry, struct error *err);
void store_close(struct store *store);

#endif
