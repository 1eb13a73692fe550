/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The work of the writer process, and the requests to it (writer.c). The log arrives through the queue. */
#ifndef GOTRACE_WORKERS_WRITER_WRITER_WORK_H
#define GOTRACE_WORKERS_WRITER_WRITER_WORK_H

#include <limits.h>
#include <stdint.h>

#include "pipeline/pipeline.h"
#include "flight/status_page.h"
#include "flight/flight.h"
#include "rawlog/queue.h"
#include "workers/summary/style.h"
#include "sandbox/channel.h"

enum writer_kind {
	/*
	 * struct writer_setup -> struct writer_state. Descriptors: the trace and, if there is one, the raw
	 * log; or the channel to the file server; or the channel for the snapshot worker.
	 */
	WRITER_BEGIN = 1,
	WRITER_FUNCTAB,        /* the payload of a LOG_FUNCTAB, ahead of its position in the log; no answer */
	WRITER_PLUGIN_FUNCTAB, /* the payload of a LOG_PLUGIN_FUNCTAB; no answer */
	/* The following are answered with a struct writer_state once the log so far has been processed. */
	WRITER_SYNC,
	WRITER_DISCARD, /* no trace begins: remove the opened files */
	WRITER_END,     /* no more records follow */
	WRITER_REPORT,  /* struct writer_exit */
};

struct writer_setup {
	struct trace_options trace_options;
	uint32_t first;     /* first of several processes; 0: there is only one */
	uint64_t max_bytes; /* of the trace; later records are dropped. 0: no limit */
	uint8_t json, quiet, exact, has_raw;
	struct summary_style style;
	uint8_t regular, borrowed, raw_regular, raw_borrowed; /* as in struct output */
	char trace[PATH_MAX], raw[PATH_MAX];
	char layout[PATH_MAX + 64]; /* as in writer_options */
};

struct writer_exit {
	uint8_t command_ended, has_command, is_cut;
	int32_t command_status;
	char command[PATH_MAX], cut[512];
	char trace[PATH_MAX]; /* final name of a single process's trace, which may have changed */
};

struct writer_state {
	int32_t status; /* enum exit_status of WRITER_REPORT */
	char trace_error[512];
	uint64_t committed; /* committed bytes of the trace */
};

/* Memory shared by both processes. The reader does not trust its contents. */
struct writer_shared {
	_Atomic uint64_t written, expected; /* struct progress */
	_Atomic uint64_t begun;             /* --children: number of forked processes with a trace */
	_Atomic uint32_t failed;            /* a file cannot be written */
	struct status_page page;            /* of a flight recorder */
};

/* Inherited by the writer process at the fork. */
struct writer_inherited {
	struct writer_shared *shared;
	struct queue *queue;
	const struct flight_plan *flight; /* NULL: this is not a flight recorder */
};

/* A sandbox_work; ctx is a struct writer_inherited. */
void writer_work(struct channel *channel, void *ctx);

#endif
