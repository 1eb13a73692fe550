/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the readers of v1 and v0: a trace while it is being read, ordered and checked. */
#ifndef GOTRACE_TRACE_V1_H
#define GOTRACE_TRACE_V1_H

#include "util/map64.h"
#include "wire/read_v1.h"
#include "wire/wire.h"

enum {
	V1_STRING_LIMIT = 1000000, /* limits of the readers */
	V1_FRAME_LIMIT = 1000,
	V1_MAX_VALUES = 8, /* of a record other than a stack; more is an error */
};

enum v1_status { V1_DEAD, V1_RUNNABLE, V1_RUNNING, V1_WAITING }; /* of goroutines */

/* One record of the file, decoded. */
struct v1_raw {
	uint8_t type;
	uint32_t nvalues; /* of the record; values holds the first V1_MAX_VALUES */
	uint64_t values[V1_MAX_VALUES];
	struct v1_text text; /* of String its bytes, of UserLog the message */
	uint64_t end;        /* offset of the next record */
};

/* Position of a timed event, with its batch's P and its time. */
struct v1_record {
	uint64_t offset;
	int64_t time; /* ticks */
	uint64_t g;
	uint32_t p;   /* index of v1_trace.ps */
	uint8_t type; /* ordering replaces the Local forms by the full ones */
};

struct v1_proc {
	int64_t id;
	uint64_t g;           /* running at the end of what was read */
	uint32_t first, last; /* of its records; MAP64_NONE = none */
};

struct v1_stack_record {
	uint64_t id, offset;
};

struct v1_trace {
	const uint8_t *bytes;
	size_t n;
	unsigned format;
	uint64_t frequency; /* 0 = not seen */
	struct v1_record *records;
	size_t nrecords, record_capacity;
	uint32_t *next; /* by record: next record of the same P */
	size_t next_capacity;
	int64_t *seqs; /* by record: go 1.5 only */
	size_t seq_capacity;
	struct v1_proc *ps;
	size_t nps, p_capacity;
	uint32_t samples, last_sample; /* chain of CPUSamples, which belong to no P */
	uint32_t *order;               /* records in order */
	size_t norder;
	uint64_t dropped;
	bool torn; /* reading stopped before the end of the file: tables may be missing */
	struct v1_text *strings;
	size_t nstrings, string_capacity;
	struct v1_stack_record *stacks;
	size_t nstacks, stack_capacity;
	struct map64 p_index, string_index, stack_index, timers;
	uint64_t goroutines, threads;
	uint64_t tables[V1_EVENT_COUNT]; /* untimed records */
};

/* Number of values of a frame in the file. Before go 1.7 frames have only an address. */
static inline unsigned v1_frame_values(const struct v1_trace *trace)
{
	return trace->format < WIRE_GO17 ? 1 : 4;
}

/* The record of event i of the order. */
static inline struct v1_record *v1_ordered(const struct v1_trace *trace, size_t i)
{
	return &trace->records[trace->order[i]];
}

/*
 * Decodes the record at offset, which is below trace->n. Returns 0, or -EBADMSG with the fault set at that
 * offset.
 */
int v1_decode(const struct v1_trace *trace, uint64_t offset, struct v1_raw *raw, struct fault *fault);
/* Number of values before a timed event's arguments. */
unsigned v1_lead(unsigned format);
/* Decodes a record that has been decoded before, so it cannot fail. */
void v1_decode_again(const struct v1_trace *trace, uint32_t record, struct v1_raw *raw);
/* An argument of a decoded event; 0 if the event does not have it. */
uint64_t v1_arg(const struct v1_trace *trace, const struct v1_raw *raw, unsigned i);
bool v1_has_string(const struct v1_trace *trace, uint64_t id);
bool v1_has_stack(const struct v1_trace *trace, uint64_t id); /* and is not empty */

/* wire_check for a file whose v1_format is known (report_v1.c). */
int wire_check_v1(const uint8_t *bytes, size_t n, struct wire_report *report);

/* Fills order as far as possible (order_v1.c). 0, -EBADMSG with the fault set, or -ENOMEM. */
int v1_order(struct v1_trace *trace, struct fault *fault);
/* Removes futile wake-ups from the order (futile_v1.c). 0 or -ENOMEM. */
int v1_drop_futile(struct v1_trace *trace);
/*
 * Checks states along the order and truncates it at the fault (check_v1.c). 0, -EBADMSG with the fault set,
 * or -ENOMEM.
 */
int v1_check(struct v1_trace *trace, struct fault *fault);

#endif
