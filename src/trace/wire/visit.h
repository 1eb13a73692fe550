/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Visits the events of a v2 file one by one, in the order of Go's reader, for printing or converting. Each
 * event passed to the visitor has been checked by the rules of wire_check.
 */
#ifndef GOTRACE_TRACE_WIRE_VISIT_H
#define GOTRACE_TRACE_WIRE_VISIT_H

#include "trace/wire/event.h"
#include "trace/wire/wire.h"

#define WIRE_NO_ID UINT64_MAX /* no thread, no P, no goroutine */

struct wire_event {
	uint8_t type;         /* enum event_type */
	int64_t time;         /* ns; strictly increasing over the whole file */
	uint64_t m, p, g;     /* its thread, and the thread's P and goroutine before it; or WIRE_NO_ID */
	const uint64_t *args; /* event_spec(type)->nargs values, as in the file */
	uint64_t offset;      /* of its batch in the file */
};

struct wire_sample {
	int64_t time; /* ns */
	uint64_t m, p, g;
	uint64_t stack, offset;
};

/* A frame as in the file: func and file are string ids of the generation. */
struct wire_frame {
	uint64_t pc, func, file, line;
};

/* A generation's numbers and tables. The tables live until wire_visitor.end returns. */
struct wire_view {
	unsigned version;
	uint64_t number;
	uint64_t offset;    /* in the file */
	bool last;          /* no valid generation follows */
	int64_t start;      /* of its Sync event, before all other events, ns */
	int64_t until;      /* of its latest batch, ns; Go's tracer writes the tables when it ends */
	bool has_clock;     /* go 1.25 and later: both clocks at one moment */
	int64_t clock_time; /* ns, in the time base used here */
	uint64_t mono_ns, wall_sec, wall_nsec;
	/* Ids of the experiment AllocFree count units of these sizes (bytes) from heap_base. */
	bool has_heap;
	uint64_t heap_base, page_bytes, stack_bytes;
	const struct wire_sample *samples; /* in the order of the file */
	size_t nsamples;
	const struct chunk *chunk; /* for the functions below */
};

/* Returns the bytes of a string; empty for 0 and unknown ids. Valid as long as the file's bytes. */
const char *wire_view_string(const struct wire_view *view, uint64_t id, size_t *len);
/* Writes the frames of a stack, leaf first. Returns their number, 0 for no stack. */
size_t wire_view_stack(const struct wire_view *view, uint64_t id, struct wire_frame frames[MAX_FRAMES]);

/*
 * For each generation, calls begin, then event for each event, then end if the whole generation is valid.
 * Each callback returns 0, or a negative errno that ends the visit. NULL callbacks are skipped.
 */
struct wire_visitor {
	void *ctx;
	int (*begin)(void *ctx, const struct wire_view *view);
	int (*event)(void *ctx, const struct wire_event *event);
	int (*end)(void *ctx);
};

/* wire_check of a v2 file, with a visitor or NULL. A visitor's error is returned; report->error is empty. */
int wire_visit(const uint8_t *bytes, size_t n, const struct wire_visitor *visitor,
	       struct wire_report *report);

#endif
