/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Visits the events of a v2 file one by one, in the order of Go's reader, for printing or converting. The
 * rules are those of wire_check: every event passed to the visitor has been checked.
 */
#ifndef GOTRACE_VISIT_H
#define GOTRACE_VISIT_H

#include "wire/event.h"
#include "wire/wire.h"

#define WIRE_NO_ID UINT64_MAX /* no thread, no P, no goroutine */

struct wire_event {
	uint8_t type;         /* enum event_type */
	int64_t time;         /* ns; strictly increasing over the whole file */
	uint64_t m, p, g;     /* its thread, and what the thread had before the event; or WIRE_NO_ID */
	const uint64_t *args; /* event_spec(type)->nargs values, as in the file */
	uint64_t offset;      /* of its batch in the file */
};

struct wire_sample {
	int64_t time; /* ns */
	uint64_t m, p, g;
	uint64_t stack, offset;
};

/* A frame in the file's terms: string ids of the generation. */
struct wire_frame {
	uint64_t pc, func, file, line;
};

/* A generation's numbers and tables. The tables live until wire_visitor.end returns. */
struct wire_view {
	unsigned version;
	uint64_t number;
	uint64_t offset;    /* in the file */
	bool last;          /* no valid generation follows */
	int64_t start;      /* ns: its Sync event, before all other events */
	int64_t until;      /* ns: of its latest batch; the tables' are written when it ends (Go's tracer) */
	bool has_clock;     /* go 1.25 and later: both clocks at one moment */
	int64_t clock_time; /* ns, in the time base used here */
	uint64_t mono_ns, wall_sec, wall_nsec;
	bool has_heap; /* ids of the experiment AllocFree count units of these sizes from heap_base; all in
			  bytes */
	uint64_t heap_base, page_bytes, object_bytes, stack_bytes;
	const struct wire_sample *samples; /* in the order of the file */
	size_t nsamples;
	const struct chunk *chunk; /* for the functions below */
};

/* The bytes of a string; empty for 0 and unknown ids. Valid as long as the file. */
const char *wire_view_string(const struct wire_view *view, uint64_t id, size_t *len);
/* The frames of a stack, leaf first. Returns their number; 0 for no stack. */
size_t wire_view_stack(const struct wire_view *view, uint64_t id, struct wire_frame frames[MAX_FRAMES]);

/*
 * Called in this order: begin; event for each event; end, once the whole generation is valid. A generation
 * with a fault has no end. Each returns 0, or a negative errno that ends the visit. NULL callbacks are
 * skipped.
 */
struct wire_visitor {
	void *ctx;
	int (*begin)(void *ctx, const struct wire_view *view);
	int (*event)(void *ctx, const struct wire_event *event);
	int (*end)(void *ctx);
};

/*
 * wire_check is this function with visitor = NULL. A visitor's error is returned unchanged, with
 * report->error empty.
 */
int wire_visit(const uint8_t *bytes, size_t n, const struct wire_visitor *visitor,
	       struct wire_report *report);

#endif
