/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rounds of gotrace top. One process records without a pause, another one without privileges reads what
 * it writes and analyses it round by round: each round begins where the one before has ended. The process
 * that asks for the tables, and draws them, needs no privileges.
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

struct rounds_shared;

struct rounds {
	pid_t pid;
	int socket;                   /* readable when a round has ended */
	int messages;                 /* a file in memory: the messages of the other processes */
	struct rounds_shared *shared; /* with the process that analyses */
	struct lifeline line;
	bool busy; /* a round has been requested */
};

/* Starts the processes. Call it before there are other threads. */
int rounds_start(struct rounds *rounds, const struct top_options *options, struct error *err);
/* Requests the tables of the next round, with this many columns. Returns 0 or a negative errno. */
int rounds_request(struct rounds *rounds, unsigned width, struct error *err);
/*
 * Waits for the end of the round. *text: all tables, to be freed. Returns 0, or a negative errno with the
 * reason in *err if there are no more rounds.
 */
int rounds_take(struct rounds *rounds, char **text, struct error *err);
/* Ends the recording, and waits for it. An analysis that takes longer than 10 s is killed. */
void rounds_end(struct rounds *rounds);
/* The number of kinds of tables; each is in the text in SORT_KINDS orders. */
unsigned rounds_views(void);

#endif
