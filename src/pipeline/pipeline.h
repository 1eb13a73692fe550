/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns the raw log into the trace, both for live tracing and for replay. Records go to the raw log's file
 * (if requested) and to the model. The model's generations are encoded and written one at a time. Symbols
 * come only from the log.
 */
#ifndef GOTRACE_PIPELINE_PIPELINE_H
#define GOTRACE_PIPELINE_PIPELINE_H

#include <stdbool.h>

#include "annotate/annotate.h"
#include "model/model.h"
#include "pipeline/output.h"
#include "pipeline/place.h"
#include "rawlog/rawlog.h"
#include "util/error.h"
#include "util/text.h"
#include "trace/wire/wire.h"

/* Keeps the trace in memory instead of a file. The thread that feeds the pipeline calls all functions. */
struct pipeline_keep {
	struct byte_sink out;     /* takes the bytes */
	int (*header)(void *ctx); /* all bytes before this call are the file's header */
	/* All bytes since then, or since the last call, are this generation. */
	int (*generation)(void *ctx, const struct generation *gen);
	generation_watch watch; /* annotate.h; may be NULL */
	size_t generation_ops;  /* model.h */
	void *ctx;
};

/* What a trace is to be. The same for every way in which a raw log becomes one. */
struct trace_options {
	enum wire_format format; /* WIRE_NONE: the format of the target's own release */
	uint64_t off_cpu_ns;     /* annotate.h */
	bool locks;              /* annotate.h */
	bool runtime_frames;     /* keep the runtime's frames in stacks */
	bool any_first;          /* model.h: a reader may begin with any generation */
};

struct pipeline_options {
	const struct pipeline_keep *keep; /* copied; NULL = the trace goes into a file */
	struct output *trace; /* not owned; may be opened later than the pipeline, before the first record */
	struct output *raw;   /* not owned; NULL = no raw log is written */
	struct trace_options trace_options;
};

struct pipeline;

struct pipeline *pipeline_new(const struct pipeline_options *options); /* NULL if out of memory */
void pipeline_free(struct pipeline *pipe);

/*
 * A log_sink: ctx is a struct pipeline. If the trace cannot be written, the error is returned once; later
 * records still go to the raw log. If the raw log cannot be written, the trace goes on; -EPIPE is returned if
 * its reader is gone.
 */
int pipeline_put(void *ctx, const struct log_record *record);
/*
 * Provides the function table in advance: the first generation needs names before the table's place in the
 * log. The bytes are not copied and must outlive the pipeline. Returns 0, or -EBADMSG if the table is
 * invalid.
 */
int pipeline_functab(struct pipeline *pipe, const struct log_record *record);
bool pipeline_has_functab(const struct pipeline *pipe);
/* True if there is a function table, or names of native code. */
bool pipeline_has_names(const struct pipeline *pipe);
/* Closes the last generation, and completes the raw log. The two functions below report errors. */
void pipeline_finish(struct pipeline *pipe);

/* The errors; "" = none. After an error the file has been truncated to its last complete generation. */
const struct error *pipeline_trace_error(const struct pipeline *pipe);
const struct error *pipeline_raw_error(const struct pipeline *pipe);

/* May be called by another thread than the one that calls pipeline_put(). */
struct progress {
	uint64_t written;  /* committed bytes of trace */
	uint64_t expected; /* total bytes if the trace ended now */
};
struct progress pipeline_progress(struct pipeline *pipe);

/* Size of the trace if it ended now: what is written, plus an estimate for what the model holds. */
uint64_t pipeline_expected_bytes(const struct pipeline *pipe);
uint64_t pipeline_trace_bytes(const struct pipeline *pipe); /* committed bytes */
uint64_t pipeline_raw_bytes(const struct pipeline *pipe);
enum wire_format pipeline_format(const struct pipeline *pipe); /* WIRE_NONE before LOG_TARGET */
struct model *pipeline_model(const struct pipeline *pipe);
/* The log's last record; NULL if it has not arrived. */
const struct log_end *pipeline_end(const struct pipeline *pipe);
/* For messages: the function that the goroutines of this row run, or the name of its threads. */
struct text pipeline_function(struct pipeline *pipe, const struct goroutine_stats *row, unsigned width);
/* Returns the full name. Valid until the next call. */
const char *pipeline_function_name(struct pipeline *pipe, const struct goroutine_stats *row, size_t *len);
/* Whether a goroutine with this stack, an id in the model's tables, waits for a sync.Mutex or sync.RWMutex.
 */
bool pipeline_waits_for_mutex(struct pipeline *pipe, uint32_t stack);
/* Describes where a stack is. stack: its id in the model's tables; 0 = none. */
struct place_text pipeline_place(struct pipeline *pipe, uint32_t stack);

#endif
