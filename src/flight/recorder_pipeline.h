/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The pipeline of a flight recorder: from the log of one process to a ring of encoded generations, evaluating
 * triggers on the way. It runs in the writer, without privileges. The status page has what the privileged
 * process needs to know.
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
	const struct flight_plan *flight; /* not owned */
	enum wire_format format;          /* of the files */
	bool runtime_frames;              /* as in pipeline_options */
	uint64_t off_cpu_ns;              /* the same */
	bool locks;                       /* the same */
	struct snapshot_worker *worker;   /* not owned */
	struct status_page *page;         /* not owned */
};

struct recorder_pipeline *
recorder_pipeline_new(const struct recorder_pipeline_options *options); /* NULL if out of memory */
void recorder_pipeline_free(struct recorder_pipeline *recorder);
struct pipeline *recorder_pipeline_inner(struct recorder_pipeline *recorder);

/*
 * A log_sink that accepts two more types of records. SNAPSHOT_TAKE follows the boundary that was made for a
 * snapshot: it passes the kept generations to the snapshot worker. SNAPSHOT_TAKE_NOW does the same at the end
 * of the log.
 */
enum { SNAPSHOT_TAKE = 0x1000, SNAPSHOT_TAKE_NOW };
int recorder_pipeline_put(void *recorder, const struct log_record *record);
/* Closes the last generation. If a SNAPSHOT_TAKE is pending, its snapshot goes to the worker. */
void recorder_pipeline_finish(struct recorder_pipeline *recorder);

#endif
