/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From the raw log to the trace: one object for live tracing and replay.
 * Records go to the raw log's file (if one is wanted) and to the model; the
 * model's generations are encoded and written, each whole. Symbols come from
 * the log alone.
 */
#ifndef GOTRACE_PIPELINE_H
#define GOTRACE_PIPELINE_H

#include <stdbool.h>

#include "model/model.h"
#include "pipeline/output.h"
#include "rawlog/rawlog.h"
#include "util/error.h"
#include "util/text.h"
#include "wire/wire.h"

/* Who keeps the trace in memory instead of a file. All are called by whoever feeds the pipeline. */
struct pipeline_keep {
	struct byte_sink out;     /* takes the bytes */
	int (*header)(void *ctx); /* all before is the file's header */
	int (*generation)(void *ctx,
			  const struct generation *gen); /* all since then, or since the last, is this one */
	generation_watch watch;                          /* model.h; may be NULL */
	size_t generation_ops;                           /* model.h */
	void *ctx;
};

struct pipeline_options {
	const struct pipeline_keep *keep; /* copied; NULL = the trace goes into a file */
	struct output *trace; /* not owned; may be opened later than the pipeline, before the first record */
	struct output *raw;   /* not owned; NULL = no raw log is kept */
	enum wire_format format; /* WIRE_NONE: the format of the target's own release */
	bool runtime_frames;     /* keep the runtime's frames in stacks */
};

struct pipeline;

struct pipeline *pipeline_new(const struct pipeline_options *options); /* NULL when out of memory */
void pipeline_free(struct pipeline *pipe);

/*
 * A log_sink: ctx is a struct pipeline. When the trace or the raw log cannot
 * be written, this is returned once; later records still go to the other.
 */
int pipeline_put(void *ctx, const struct log_record *record);
/*
 * Gives the function table: names are needed before its place in the log, from
 * the first generation on. Not copied: its bytes must outlive the pipeline. -EBADMSG if it is no good.
 */
int pipeline_functab(struct pipeline *pipe, const struct log_record *record);
bool pipeline_has_functab(const struct pipeline *pipe);
/* That, or names of native code have come. */
bool pipeline_has_names(const struct pipeline *pipe);
/* Closes the last generation, completes the raw log. Failures are told by the two functions below. */
void pipeline_finish(struct pipeline *pipe);

/* What failed; "" if nothing did. After a failure the file was cut back to its last whole generation. */
const struct error *pipeline_trace_error(const struct pipeline *pipe);
const struct error *pipeline_raw_error(const struct pipeline *pipe);

/* May be asked for from another thread than the one that calls pipeline_put. */
struct progress {
	uint64_t written;  /* bytes of trace that stand */
	uint64_t expected; /* bytes if it ended now */
};
struct progress pipeline_progress(struct pipeline *pipe);

/* Bytes of trace in the end, if it ended now: what is written, and a guess for what the model holds. */
uint64_t pipeline_expected_bytes(const struct pipeline *pipe);
uint64_t pipeline_trace_bytes(const struct pipeline *pipe); /* that stand */
uint64_t pipeline_raw_bytes(const struct pipeline *pipe);
enum wire_format pipeline_format(const struct pipeline *pipe); /* WIRE_NONE before LOG_TARGET */
struct model *pipeline_model(const struct pipeline *pipe);
/* The log's last record; NULL if it did not come. */
const struct log_end *pipeline_end(const struct pipeline *pipe);
/* For people: the function that the goroutines of this row run, or what the threads of it are called. */
struct text pipeline_function(struct pipeline *pipe, const struct goroutine_stats *row, unsigned width);
/* The same in full, for programs; valid until the next call. */
const char *pipeline_function_name(struct pipeline *pipe, const struct goroutine_stats *row, size_t *len);

#endif
