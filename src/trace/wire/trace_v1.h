/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the readers of v1 and v0: a trace while it is being read, ordered and checked. */
#ifndef GOTRACE_TRACE_WIRE_TRACE_V1_H
#define GOTRACE_TRACE_WIRE_TRACE_V1_H

#include "util/map64.h"
#include "trace/wire/read_v1.h"
#include "trace/wire/wire.h"

enum {
	V1_STRING_LIMIT = 1000000, /* limits of the readers */
	V1_FRAME_LIMIT = 1000,
	V1_MAX_VALUES = 8,   /* of a record other than a stack; more values are an error */
	V1_MOST_PS = 0xffff, /* gotrace's own limit: the index of a P has two bytes */
};

enum v1_status { V1_DEAD, V1_RUNNABLE, V1_RUNNING, V1_WAITING }; /* of goroutines */

/* One record of the file, decoded. */
struct v1_raw {
	uint8_t type;
	uint32_t nvalues; /* of the record; `values` holds only the first V1_MAX_VALUES */
	uint64_t values[V1_MAX_VALUES];
	struct v1_text text; /* bytes of a String, message of a UserLog */
	uint64_t end;        /* offset of the next record */
};

/* Position of a timed event, with its batch's P and its time. */
struct v1_record {
	uint64_t offset;
	int64_t time; /* ticks */
	uint64_t g;
	uint32_t p;   /* index of v1_trace.ps */
	uint8_t type; /* in the walk, a Local form is replaced by the full form */
};

/* An event whose place in the order differs from its place in its P's batches. */
struct v1_placed {
	struct v1_record record;
	int64_t seq;     /* go 1.5 */
	uint64_t before; /* number of events in v1_trace.order that precede it, unless they are later */
};

/* Consecutive records of one P: a batch. */
struct v1_piece {
	uint64_t offset, end; /* of the first record, and after the last one */
	int64_t time;         /* before the first record, ticks */
	uint32_t next;        /* next piece of the same P; MAP64_NONE = none */
};

struct v1_proc {
	int64_t id;
	uint32_t first, last; /* of its pieces; MAP64_NONE = none */
};

/* Position in one P's batches. */
struct v1_stream {
	uint32_t p, piece; /* MAP64_NONE: before the first piece */
	uint64_t at;       /* offset of the next record */
	int64_t time;      /* of the last record, ticks */
	uint64_t g;        /* goroutine running after the last record */
};

struct v1_stack_record {
	uint64_t id, offset;
};

/* Position in the order. */
struct v1_walk {
	struct v1_stream *streams; /* by P */
	uint64_t events;           /* events passed, without dropped ones */
	uint64_t all;              /* events passed, with dropped ones */
	uint64_t plain, placed, sample;
	bool has_next; /* `next` and `raw` hold the next event of v1_trace.order */
	struct v1_record next;
	struct v1_raw raw, placed_raw;
};

/*
 * The order usually costs one byte per event, which names the P of the next event. The events themselves are
 * decoded from each P's batches in the file.
 */
struct v1_trace {
	const uint8_t *bytes;
	size_t n;
	unsigned format;
	uint64_t frequency; /* 0 = not seen */
	uint64_t nrecords;  /* timed records read */
	bool has_futile;    /* a FutileWakeup was read */
	struct v1_piece *pieces;
	size_t npieces, piece_capacity;
	struct v1_proc *ps;
	size_t nps, p_capacity;
	struct v1_placed *samples; /* CPUSamples, by time; they belong to no P */
	size_t nsamples, sample_capacity;
	struct v1_placed *placed;
	size_t nplaced, placed_capacity;
	uint8_t *order;       /* by event: index of its P; nps = the next sample */
	unsigned order_width; /* bytes per entry of `order`: 1 or 2 */
	uint64_t nplain;      /* entries of `order` */
	uint64_t norder;      /* events in order, including those in `placed` */
	bool *drop;           /* by event: it belongs to a futile wake-up; NULL = none does */
	uint64_t dropped;
	int64_t start; /* of the first event, ticks */
	struct v1_walk walk;
	bool torn; /* reading stopped before the end of the file: tables may be missing */
	struct v1_text *strings;
	size_t nstrings, string_capacity;
	struct v1_stack_record *stacks;
	size_t nstacks, stack_capacity;
	struct map64 p_index, string_index, stack_index, timers;
	uint64_t goroutines, threads;
	int64_t last;                    /* of the last valid event, ticks */
	uint64_t counts[V1_EVENT_COUNT]; /* valid events and untimed records */
};

/* Returns the number of values of a frame in the file. Before go 1.7, frames have only a PC. */
static inline unsigned v1_frame_values(const struct v1_trace *trace)
{
	return trace->format < WIRE_GO17 ? 1 : 4;
}

/* Decodes the record at offset, which must be below trace->n. Returns 0, or -EBADMSG with the fault set. */
int v1_decode(const struct v1_trace *trace, uint64_t offset, struct v1_raw *raw, struct fault *fault);
/* Returns the number of values before a timed event's arguments. */
unsigned v1_lead(unsigned format);
/* Decodes a record that was decoded before. Cannot fail. */
void v1_decode_again(const struct v1_trace *trace, uint64_t offset, struct v1_raw *raw);
/* Returns argument i of a decoded event, or 0 if the event does not have it. */
uint64_t v1_arg(const struct v1_trace *trace, const struct v1_raw *raw, unsigned i);
bool v1_has_string(const struct v1_trace *trace, uint64_t id);
bool v1_has_stack(const struct v1_trace *trace, uint64_t id); /* and is not empty */

/* --- streams_v1.c --- */

/* Returns the event's goroutine. *g is the goroutine running on the P; the event may change it. */
uint64_t v1_whose(const struct v1_trace *trace, const struct v1_raw *raw, uint64_t *g);
struct v1_stream v1_stream_of(const struct v1_trace *trace, uint32_t p);
/* Reads the P's next event, skipping CPU samples. Returns false if there is none. */
bool v1_stream_next(const struct v1_trace *trace, struct v1_stream *stream, struct v1_record *record,
		    struct v1_raw *raw);
/* If the event ends a system call and states its real time, sets *real to it and returns true. */
bool v1_real_time(const struct v1_trace *trace, const struct v1_raw *raw, int64_t *real);
/* Returns the full form of a Local event type. The Local form matters only for ordering. */
uint8_t v1_full_form(uint8_t type);
/* Reads the next event in order, after v1_rewind. *raw is valid until the next call. False: there is none. */
bool v1_walk_next(struct v1_trace *trace, struct v1_record *record, const struct v1_raw **raw);

/* wire_check for a file whose v1_format is known (report_v1.c). */
int wire_check_v1(const uint8_t *bytes, size_t n, struct wire_report *report);

/* Orders the events as far as possible (order_v1.c). Returns 0, -EBADMSG with the fault set, or -ENOMEM. */
int v1_order(struct v1_trace *trace, struct fault *fault);
/* Removes futile wake-ups from the order (futile_v1.c). Returns 0 or -ENOMEM. */
int v1_drop_futile(struct v1_trace *trace);
/*
 * Checks the states in event order and truncates the order at the first fault (check_v1.c). Returns 0,
 * -EBADMSG with the fault set, or -ENOMEM.
 */
int v1_check(struct v1_trace *trace, struct fault *fault);

#endif
