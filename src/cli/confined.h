/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Commands that read files and write others. A child without privileges reads. The process that the user has
 * started reads nothing: it opens, names and removes the output for the child.
 */
#ifndef GOTRACE_CLI_CONFINED_H
#define GOTRACE_CLI_CONFINED_H

#include <stdbool.h>

#include "pipeline/output.h"
#include "sandbox/channel.h"

struct confined_job {
	const char *output; /* "-" = standard output; NULL = none, and `files` of work is NULL */
	bool numbered;      /* there are several files: OUTPUT.1, OUTPUT.2, ... */
	bool tree;          /* there are several files below the directory OUTPUT */
	/*
	 * Runs in the child: opens its inputs and, with confined_open(), its output; calls sandbox_confine()
	 * before it reads anything. Returns the exit status, or a negative errno and sets *err, which may be
	 * "" if the error has already been printed.
	 */
	int (*work)(void *ctx, struct channel *files, struct error *err);
	void *ctx;
};

/*
 * Returns the exit status of the child. Files that it has not published are removed. If a signal has killed
 * the child, it also kills this process.
 */
int confined_run(const struct confined_job *job);
/* In the child: opens the output, or its number-th file (from 1 on). As output_open(). */
int confined_open(struct channel *files, unsigned number, struct output *out, struct error *err);
/* The same for a file of a tree; see file_server_open_below(). */
int confined_open_below(struct channel *files, const char *path, struct output *out, struct error *err);

#endif
