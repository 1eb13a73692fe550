/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The pipeline of a flight recorder turns the log of one process into a ring of encoded generations and
 * evaluates the triggers. It runs in the writer, without privileges, and reports to the privileged process
 * through the status page.
 */
#ifndef GOTRACE_FLIGHT_RECORDER_PIPELINE_H
#define GOTRACE_FLIGHT_RECORDER_PIPELINE_H

#include "flight/status_page.h"
#include "flight/flight.h"
#include "flight/generation_ring.h"
#include "flight/snapshot_worker.h"
#include "pipeline/pipeline.h"

struct recorder_pipeline;

struct recorder_pipeline_options {
	const struct flight_plan *flight;   /* not owned */
	struct trace_options trace_options; /* of the files */
	struct snapshot_worker *worker;     /* not owned */
	struct status_page *page;           /* not owned */
};

/* Returns NULL if out of memory. */
struct recorder_pipeline *recorder_pipeline_new(const struct recorder_pipeline_options *options);
void recorder_pipeline_free(struct recorder_pipeline *recorder);
struct pipeline *recorder_pipeline_inner(struct recorder_pipeline *recorder);

/*
 * A log_sink that accepts two more types of records. SNAPSHOT_TAKE follows the generation boundary made for a
 * snapshot, and passes the kept generations to the snapshot worker. SNAPSHOT_TAKE_NOW does so at the end of
 * the log, without a boundary.
 */
enum { SNAPSHOT_TAKE = 0x1000, SNAPSHOT_TAKE_NOW };
int recorder_pipeline_put(void *recorder, const struct log_record *record);
/* Closes the last generation. A pending SNAPSHOT_TAKE is passed to the worker. */
void recorder_pipeline_finish(struct recorder_pipeline *recorder);

#endif
