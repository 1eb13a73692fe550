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
	V1_MAX_VALUES = 8,   /* of a record other than a stack; more is an error */
	V1_MOST_PS = 0xffff, /* gotrace's own limit: an index of a P has two bytes */
};

enum v1_status { V1_DEAD, V1_RUNNABLE, V1_RUNNING, V1_WAITING }; /* of goroutines */

/* One record of the file, decoded. */
struct v1_raw {
	uint8_t type;
	uint32_t nvalues; /* of the record; values holds the first V1_MAX_VALUES of them */
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
	uint8_t type; /* in the walk, the full forms stand for the Local ones */
};

/* An event whose place is not that in its P's batches. */
struct v1_placed {
	struct v1_record record;
	int64_t seq;     /* go 1.5 */
	uint64_t before; /* number of events in v1_trace.order that precede it, if their time is not later */
};

/* Consecutive records of one P: a batch. */
struct v1_piece {
	uint64_t offset, end; /* of the first record, and after the last one */
	int64_t time;         /* ticks: before the first record */
	uint32_t next;        /* of the same P; MAP64_NONE = none */
};

struct v1_proc {
	int64_t id;
	uint32_t first, last; /* of its pieces; MAP64_NONE = none */
};

/* Position in one P's batches. */
struct v1_stream {
	uint32_t p, piece; /* MAP64_NONE: before the first piece */
	uint64_t at;       /* the next record */
	int64_t time;      /* ticks: of the last one */
	uint64_t g;        /* running after it */
};

struct v1_stack_record {
	uint64_t id, offset;
};

/* Position in the order. */
struct v1_walk {
	struct v1_stream *streams; /* by P */
	uint64_t events;           /* passed, without the dropped ones */
	uint64_t all;              /* passed, with them */
	uint64_t plain, placed, sample;
	bool has_next; /* the next event of v1_trace.order has been read: */
	struct v1_record next;
	struct v1_raw raw, placed_raw;
};

/*
 * The order costs one byte per event as a rule: it says which P has the next event. Events are decoded from
 * the file along each P's batches.
 */
struct v1_trace {
	const uint8_t *bytes;
	size_t n;
	unsigned format;
	uint64_t frequency; /* 0 = not seen */
	uint64_t nrecords;  /* timed records that were read */
	bool has_futile;    /* one of them is a FutileWakeup */
	struct v1_piece *pieces;
	size_t npieces, piece_capacity;
	struct v1_proc *ps;
	size_t nps, p_capacity;
	struct v1_placed *samples; /* CPUSamples, which belong to no P, by time */
	size_t nsamples, sample_capacity;
	struct v1_placed *placed;
	size_t nplaced, placed_capacity;
	uint8_t *order;       /* by event: index of the P that has it; nps = the next sample */
	unsigned order_width; /* bytes of such an index: 1 or 2 */
	uint64_t nplain;      /* of them */
	uint64_t norder;      /* events in order, with those in `placed` */
	bool *drop;           /* by event: it belongs to a futile wake-up; NULL = none does */
	uint64_t dropped;
	int64_t start; /* ticks: of the first event */
	struct v1_walk walk;
	bool torn; /* reading stopped before the end of the file: tables may be missing */
	struct v1_text *strings;
	size_t nstrings, string_capacity;
	struct v1_stack_record *stacks;
	size_t nstacks, stack_capacity;
	struct map64 p_index, string_index, stack_index, timers;
	uint64_t goroutines, threads;
	int64_t last;                    /* ticks: of the last valid event */
	uint64_t counts[V1_EVENT_COUNT]; /* valid events and untimed records */
};

/* Number of values of a frame in the file. Before go 1.7 frames have only an address. */
static inline unsigned v1_frame_values(const struct v1_trace *trace)
{
	return trace->format < WIRE_GO17 ? 1 : 4;
}

/*
 * Decodes the record at offset, which is below trace->n. Returns 0, or -EBADMSG with the fault set at that
 * offset.
 */
int v1_decode(const struct v1_trace *trace, uint64_t offset, struct v1_raw *raw, struct fault *fault);
/* Number of values before a timed event's arguments. */
unsigned v1_lead(unsigned format);
/* Decodes a record that has been decoded before, so it cannot fail. */
void v1_decode_again(const struct v1_trace *trace, uint64_t offset, struct v1_raw *raw);
/* An argument of a decoded event; 0 if the event does not have it. */
uint64_t v1_arg(const struct v1_trace *trace, const struct v1_raw *raw, unsigned i);
bool v1_has_string(const struct v1_trace *trace, uint64_t id);
bool v1_has_stack(const struct v1_trace *trace, uint64_t id); /* and is not empty */

/* --- streams_v1.c --- */

/* The event's goroutine. *g: the goroutine running on the P, which the event may change. */
uint64_t v1_whose(const struct v1_trace *trace, const struct v1_raw *raw, uint64_t *g);
struct v1_stream v1_stream_of(const struct v1_trace *trace, uint32_t p);
/* The P's next event, CPU samples left out. False: there is none. */
bool v1_stream_next(const struct v1_trace *trace, struct v1_stream *stream, struct v1_record *record,
		    struct v1_raw *raw);
/* True if the event is an end of a system call that names its real time, which is then in *real. */
bool v1_real_time(const struct v1_trace *trace, const struct v1_raw *raw, int64_t *real);
/* The full form of a Local one, which matters for ordering only. */
uint8_t v1_full_form(uint8_t type);
/* The next event of the order, after v1_rewind; *raw is valid until the next call. False: there is none. */
bool v1_walk_next(struct v1_trace *trace, struct v1_record *record, const struct v1_raw **raw);

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
