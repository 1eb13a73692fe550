/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the encoder of v2: its state, and the step from an op to events. */
#ifndef GOTRACE_TRACE_WIRE_ENCODER_V2_H
#define GOTRACE_TRACE_WIRE_ENCODER_V2_H

#include "util/map64.h"
#include "trace/wire/dict.h"
#include "trace/wire/encode.h"
#include "trace/wire/event.h"
#include "trace/wire/varint.h"
#include "trace/wire/wire.h"

enum {
	MAX_OP_BYTES = 3 * (1 + 5 * MAX_UV), /* a coroutine switch in go 1.22 is three events */
	RECENT_STREAMS = 16,
};

/*
 * Time unit of the file, as in the runtime's own tracer on amd64 (traceTimeDiv, Go 1.26
 * runtime/tracetime.go): the typical time between two events fits into one byte. Events in the same unit are
 * still ordered: on one thread by their batch, across threads by sequence numbers. Readers convert a batch's
 * time with float64: multiples of 64 ns are exact for 18 years of uptime.
 */
#define FREQUENCY (1000000000ull / OP_UNIT_NS) /* units per second */

static inline uint64_t to_units(uint64_t ns)
{
	return ns / OP_UNIT_NS;
}

/* The id of a thread in events. */
static inline uint64_t thread(uint32_t m)
{
	return m == NO_M ? UINT64_MAX : m;
}

/* The open batch of one thread. Slots are reused for other threads in each generation. */
struct stream {
	struct buffer data;
	uint64_t m;
	uint64_t base, last; /* time of the batch, and of its last event; units */
};

/* Sequence numbers restart from 0 in each generation. */
struct sequence {
	uint32_t gen, n;
};

struct encoder_v2 {
	struct wire_options options;
	struct dict dict;
	struct out_table samples;
	struct buffer head, body;
	struct stream *streams;
	size_t nstreams, stream_capacity;
	struct map64 stream_by_m;
	uint32_t recent[RECENT_STREAMS]; /* index of the last stream used, by thread id */
	struct sequence *gs, *ps;        /* by goroutine index, by P */
	size_t ngs, nps;
	/* go 1.22: by goroutine index, 1 = waiting in the ops but runnable in the file */
	uint8_t *created_blocked;
	size_t nborn_blocked;
	uint64_t gc_seq;
	uint32_t gen;                  /* the open or last generation */
	uint64_t time;                 /* start of the open generation, units */
	uint32_t coroutine_reason;     /* string id of GoBlock's reason for a coroutine switch in go 1.22 */
	bool has_memory, named_memory; /* memory ops were seen; the units of their ids were written */
	int failed;                    /* sticky error: no further generation can be written */
};

/* Output position for the events of one op. */
struct event_cursor {
	uint8_t *p;
	uint64_t dt; /* time delta of the next event; 0 after the first event */
};

/* Appends the op's events, at most MAX_OP_BYTES. Its goroutines and P must be within the encoder's arrays. */
void events_v2_put(struct encoder_v2 *wire, const struct op *op, struct event_cursor *at);
/* Appends a CPU sample to the sample table. Returns 0 or -ENOMEM. */
int events_v2_put_sample(struct encoder_v2 *wire, const struct op *op);
/* Writes the units of memory ids once, in the first generation with memory ops. Returns 0 or -ENOMEM. */
int events_v2_put_alloc_info(struct encoder_v2 *wire);

#endif
