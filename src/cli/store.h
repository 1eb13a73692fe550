/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The directory of a flight recorder: snapshots get their names when they are
 * whole, and the oldest of its own files are removed when there are too many.
 */
#ifndef GOTRACE_STORE_H
#define GOTRACE_STORE_H

#include <limits.h>
#include <sys/types.h>
#include <time.h>

#include "flight/keeper.h"
#include "util/error.h"
#include "wire/wire.h"

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
/*
 * Writes a snapshot as DIR/gotrace-PID-UTCTIME.trace; with -2, -3 … if there is one. format: of the file;
 * what is kept has that format, or a newer one from which it is converted; then the oldest
 * generations are left out if the file would have more than max_bytes. After an error nothing is left.
 */
int store_write(struct store *store, struct kept *kept, enum wire_format format, pid_t pid, time_t now,
		struct store_entry *entry, struct error *err);
void store_close(struct store *store);
/* The format in which generations are to be kept for files of this format: only from Go 1.22 on they stand
 * alone. */
enum wire_format store_kept_format(enum wire_format format);

#endif
