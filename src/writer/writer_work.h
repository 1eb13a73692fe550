/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the process that makes the trace does, and what it is told (writer.c). */
#ifndef GOTRACE_WRITER_WRITER_WORK_H
#define GOTRACE_WRITER_WRITER_WORK_H

#include <limits.h>
#include <stdint.h>

#include "flight/board.h"
#include "flight/flight.h"
#include "sandbox/channel.h"

enum writer_kind {
	WRITER_BEGIN = 1, /* struct writer_setup; the trace's descriptor, or the channel to the clerk or of
			   * the scribe -> struct writer_state */
	WRITER_RAW,       /* the raw log's descriptor: before WRITER_BEGIN */
	WRITER_RECORD,    /* code: enum log_type; the payload */
	WRITER_FUNCTAB,   /* the payload of a LOG_FUNCTAB: before its place in the log */
	WRITER_SYNC,      /* -> struct writer_state */
	WRITER_DISCARD,   /* nothing has come of it -> struct writer_state */
	WRITER_END,       /* there are no more records -> struct writer_state */
	WRITER_REPORT,    /* struct writer_last -> struct writer_state */
};

struct writer_setup {
	uint32_t format; /* enum wire_format */
	uint32_t first;  /* of several processes; 0: there is one */
	uint8_t runtime_frames, json, quiet, has_raw;
	uint8_t regular, borrowed, raw_regular, raw_borrowed; /* as in struct output */
	char trace[PATH_MAX], raw[PATH_MAX];
};

struct writer_last {
	uint8_t command_ended, has_command, is_cut;
	int32_t command_status;
	char command[PATH_MAX], cut[512];
};

struct writer_state {
	int32_t status; /* enum exit_status, at the end */
	char trace_error[512], raw_error[512];
	uint64_t committed; /* bytes of the trace that stand */
};

/* Memory that both have: nothing that comes out of it is trusted. */
struct writer_shared {
	_Atomic uint64_t written, expected; /* struct progress */
	_Atomic uint32_t failed;            /* a file cannot be written */
	struct board board;                 /* of a flight recorder */
};

/* What the process has from its beginning on. */
struct writer_inherited {
	struct writer_shared *shared;
	const struct flight_plan *flight; /* NULL: it is no flight recorder */
};

/* A sandbox_work; ctx is a struct writer_inherited. */
void writer_work(struct channel *channel, void *ctx);

#endif
