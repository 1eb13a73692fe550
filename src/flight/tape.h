/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The log of one process to what a flight recorder keeps of it: the pipeline
 * with a keeper at its end, and a lookout beside it. Lives in the process without privileges;
 * what others are to know stands on the board.
 */
#ifndef GOTRACE_FLIGHT_TAPE_H
#define GOTRACE_FLIGHT_TAPE_H

#include "flight/board.h"
#include "flight/flight.h"
#include "flight/keeper.h"
#include "flight/scribe.h"
#include "pipeline/pipeline.h"

struct tape;

struct tape_options {
	const struct flight_plan *flight; /* not owned */
	enum wire_format format;          /* of the files */
	bool runtime_frames;              /* as in pipeline_options */
	struct scribe *scribe;            /* not owned */
	struct board *board;              /* not owned */
};

struct tape *tape_new(const struct tape_options *options); /* NULL when out of memory */
void tape_free(struct tape *tape);
struct pipeline *tape_pipeline(struct tape *tape);

/*
 * A log_sink. A record of the type TAPE_TAKE, which is no log's, stands behind
 * the boundary that was made for a snapshot: what is kept goes to the scribe. TAPE_TAKE_NOW: when there is no
 * more.
 */
enum { TAPE_TAKE = 0x1000, TAPE_TAKE_NOW };
int tape_put(void *tape, const struct log_record *record);
/* Closes the last generation. Behind a TAPE_TAKE that is still due the scribe has its snapshot. */
void tape_finish(struct tape *tape);

#endif
