/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The log of one process to what a flight recorder keeps of it: the pipeline
 * with a keeper at its end, and a lookout beside it. Lives in the thread behind the relay;
 * what is asked for from another thread says so.
 */
#ifndef GOTRACE_TAPE_H
#define GOTRACE_TAPE_H

#include "cli/options_flight.h"
#include "cli/pipeline.h"
#include "cli/snapshot_writer.h"
#include "flight/keeper.h"

struct tape;

struct tape_options {
	const struct flight_options *flight; /* not owned */
	enum wire_format format;             /* of the files */
	pid_t pid;                           /* for their names */
	struct snapshot_writer *writer;      /* not owned */
	const char *regions[MAX_TRIGGERS];   /* as in struct lookout_options; not owned */
};

struct tape *tape_new(const struct tape_options *options); /* NULL when out of memory */
void tape_free(struct tape *tape);
struct pipeline *tape_pipeline(struct tape *tape);

/*
 * A log_sink. A record of the type TAPE_TAKE, which is no log's, stands behind
 * the boundary that was made for a snapshot: what is kept goes to the writer.
 */
enum { TAPE_TAKE = 0x1000 };
int tape_put(void *tape, const struct log_record *record);
/* Closes the last generation. Behind a TAPE_TAKE that is still due the writer has its snapshot. */
void tape_finish(struct tape *tape);
/* What is kept goes to the writer. */
void tape_take(struct tape *tape);

/* For any thread: what the keeper has. */
struct keeper_stats tape_stats(struct tape *tape);

struct news {
	char text[1000]; /* what fired, for people */
	uint64_t time;   /* its moment, ns */
};

/* For any thread: the oldest of what has fired, once; false if there is nothing. */
bool tape_news(struct tape *tape, struct news *news);

#endif
