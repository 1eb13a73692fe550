/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the readers of v1 and v0: a trace while it is read, ordered and checked. */
#ifndef GOTRACE_TRACE_V1_H
#define GOTRACE_TRACE_V1_H

#include "wire/idmap.h"
#include "wire/read_v1.h"
#include "wire/wire.h"

enum {
	V1_STRING_LIMIT = 1000000, /* what readers take */
	V1_FRAME_LIMIT = 1000,
	V1_MAX_VALUES = 8, /* of a record, but of stacks; what is more is a wrong number */
};

enum v1_status { V1_DEAD, V1_RUNNABLE, V1_RUNNING, V1_WAITING }; /* of goroutines */

/* One record of the file, decoded. */
struct v1_raw {
	uint8_t type;
	uint32_t nvalues; /* all; at most V1_MAX_VALUES of them are in values */
	uint64_t values[V1_MAX_VALUES];
	struct v1_text text; /* of String its bytes, of UserLog the message */
	uint64_t end;        /* offset of what follows */
};

/* Where a timed event is, and what its P's batch says of it. */
struct v1_record {
	uint64_t offset;
	int64_t time; /* ticks */
	uint64_t g;
	uint32_t p;   /* index of v1_trace.ps */
	uint8_t type; /* the Local forms have become the full ones once they are ordered */
};

struct v1_proc {
	int64_t id;
	uint64_t g;           /* that runs at the end of what was read */
	uint32_t first, last; /* of its records; IDMAP_NONE = none */
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
	uint32_t *next; /* by record: the next one of its P */
	size_t next_capacity;
	int64_t *seqs; /* by record: go 1.5 alone */
	size_t seq_capacity;
	struct v1_proc *ps;
	size_t nps, p_capacity;
	uint32_t samples, last_sample; /* chain of CPUSamples: no P's own */
	uint32_t *order;               /* records in order */
	size_t norder;
	uint64_t dropped;
	bool torn; /* records end before the file does: tables may be in what is not read */
	struct v1_text *strings;
	size_t nstrings, string_capacity;
	struct v1_stack_record *stacks;
	size_t nstacks, stack_capacity;
	struct idmap p_index, string_index, stack_index, timers;
	uint64_t goroutines, threads;
	uint64_t tables[V1_EVENT_COUNT]; /* records that are no events */
};

/* Decodes the record at offset, below trace->n. 0, or -EBADMSG with the fault set at its offset. */
int v1_decode(const struct v1_trace *trace, uint64_t offset, struct v1_raw *raw, struct fault *fault);
/* How many values stand before a timed event's arguments. */
unsigned v1_lead(unsigned format);
/* Decodes a record that was decoded before. */
void v1_decode_again(const struct v1_trace *trace, uint32_t record, struct v1_raw *raw);
/* The value of an argument, of a decoded event; 0 if the event has it not. */
uint64_t v1_arg(const struct v1_trace *trace, const struct v1_raw *raw, unsigned i);
struct v1_record *v1_ordered(const struct v1_trace *trace, size_t i);
bool v1_has_string(const struct v1_trace *trace, uint64_t id);
bool v1_has_stack(const struct v1_trace *trace, uint64_t id); /* that is not empty */

/* As wire_check, of a file whose v1_format is known (report_v1.c). */
int wire_check_v1(const uint8_t *bytes, size_t n, struct wire_report *report);

/* Fills order, as far as that is possible (order_v1.c). 0, -EBADMSG with the fault set, or -ENOMEM. */
int v1_order(struct v1_trace *trace, struct fault *fault);
/* Takes futile wake-ups out of the order (futile_v1.c). 0 or -ENOMEM. */
int v1_drop_futile(struct v1_trace *trace);
/* Checks states along the order, and cuts it at the fault (check_v1.c). 0, -EBADMSG with the fault set, or
 * -ENOMEM. */
int v1_check(struct v1_trace *trace, struct fault *fault);

#endif
