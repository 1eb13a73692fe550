/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rounds of gotrace top. A process that has the privileges for tracing starts a child for each round,
 * when it is asked to, and does nothing else. The child traces for a second, confines itself, and writes the
 * text of all tables in all orders. The process that asks, and draws, needs no privileges.
 */
#ifndef GOTRACE_CLI_TOP_ROUNDS_H
#define GOTRACE_CLI_TOP_ROUNDS_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/options_analysis.h"
#include "sandbox/lifeline.h"
#include "util/error.h"

/* Ends a table. Names cannot contain it, because they are made printable. */
#define TABLE_END '\f'

struct rounds {
	pid_t pid;
	int socket; /* readable when a round has ended */
	struct lifeline line;
	bool busy; /* a round runs */
};

/* Starts the process. Call it before there are other threads. */
int rounds_start(struct rounds *rounds, const struct top_options *options, struct error *err);
/* Starts a round whose tables have this many columns. Returns 0 or a negative errno. */
int rounds_request(struct rounds *rounds, unsigned width, struct error *err);
/*
 * Waits for the end of the round. *text: all tables, to be freed. Returns 0, or a negative errno with the
 * first message of the round in *err.
 */
int rounds_take(struct rounds *rounds, char **text, struct error *err);
void rounds_end(struct rounds *rounds);
/* The number of kinds of tables; each is in the text in SORT_KINDS orders. */
unsigned rounds_views(void);

#endif
