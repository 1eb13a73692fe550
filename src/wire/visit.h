/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The events of a v2 file, one by one in the order that Go's reader brings
 * them into, for whoever prints or converts them. The rules are those of
 * wire_check: what is handed out was found good.
 */
#ifndef GOTRACE_VISIT_H
#define GOTRACE_VISIT_H

#include "wire/event.h"
#include "wire/wire.h"

#define WIRE_NO_ID UINT64_MAX /* no thread, no P, no goroutine */

struct wire_event {
	uint8_t type;         /* enum event_type */
	int64_t time;         /* ns; strictly increasing over the whole file */
	uint64_t m, p, g;     /* its thread, and what the thread had before it; or WIRE_NO_ID */
	const uint64_t *args; /* as many as event_spec(type)->nargs, as they are in the file */
	uint64_t offset;      /* of its batch in the file */
};

struct wire_sample {
	int64_t time; /* ns */
	uint64_t m, p, g;
	uint64_t stack, offset;
};

/* A frame as the file has it: string ids of the generation. */
struct wire_frame {
	uint64_t pc, func, file, line;
};

/* One generation: its numbers, and its tables, which live until wire_visitor.end. */
struct wire_view {
	unsigned version;
	uint64_t number;
	uint64_t offset;    /* in the file */
	bool last;          /* nothing good follows it */
	int64_t start;      /* ns: its Sync event, before all that happens in it */
	bool has_clock;     /* go 1.25 and newer: one moment on both clocks */
	int64_t clock_time; /* ns, as all times here */
	uint64_t mono_ns, wall_sec, wall_nsec;
	bool has_heap; /* ids of the experiment AllocFree count from heap_base, in bytes */
	uint64_t heap_base, page_bytes, object_bytes, stack_bytes;
	const struct wire_sample *samples; /* in the order of the file */
	size_t nsamples;
	const struct chunk *chunk; /* for the functions below */
};

/* The bytes of a string; empty for 0 and what is not there. They live as long as the file. */
const char *wire_view_string(const struct wire_view *view, uint64_t id, size_t *len);
/* The frames of a stack, leaf first; their number, 0 for no stack. */
size_t wire_view_stack(const struct wire_view *view, uint64_t id, struct wire_frame frames[MAX_FRAMES]);

/*
 * Called in this order: begin, event for each, end once the whole generation
 * is good. A generation with a fault has no end. Each returns 0, or a negative
 * errno that ends the visit. NULL: not wanted.
 */
struct wire_visitor {
	void *ctx;
	int (*begin)(void *ctx, const struct wire_view *view);
	int (*event)(void *ctx, const struct wire_event *event);
	int (*end)(void *ctx);
};

/* As wire_check, which is this without a visitor (NULL). A visitor's own error is returned as it is, with
 * report->error empty. */
int wire_visit(const uint8_t *bytes, size_t n, const struct wire_visitor *visitor,
	       struct wire_report *report);

#endif
