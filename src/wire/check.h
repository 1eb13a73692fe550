/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the checker: a trace's generation as read, and the state that its events must agree with. */
#ifndef GOTRACE_CHECK_H
#define GOTRACE_CHECK_H

#include "wire/event.h"
#include "wire/idmap.h"
#include "wire/read.h"
#include "wire/visit.h"
#include "wire/wire.h"

#define NO_ID WIRE_NO_ID

/* --- batches and tables (check_tables.c) --- */

struct batch {
	const uint8_t *data;
	uint32_t size;
	uint32_t next;   /* of the same thread; IDMAP_NONE = last */
	uint64_t offset; /* of its header in the file */
	uint64_t gen, m, time;
	uint8_t experiment;
	bool end_of_generation;
};

enum batch_result { BATCH_OK, BATCH_EOF, BATCH_BAD };

/* Reads one batch at *pos and moves *pos behind it; at BATCH_BAD the fault is set. */
enum batch_result batch_read(const uint8_t *bytes, size_t n, size_t *pos, struct batch *batch,
			     struct fault *fault);

struct text {
	const uint8_t *bytes; /* in the file */
	uint32_t len;
};

/* What the first stack with a PC says of it. */
struct pc_frame {
	uint64_t func, file, stack;
	uint64_t offset;
};

struct thread_batches {
	uint64_t m;
	uint32_t first, last; /* indices of batches */
};

/* Where a stack's frames are in the file: found good when they were read. */
struct stack_place {
	const uint8_t *frames, *end;
	uint32_t n;
};

struct clock {
	uint64_t dt, mono, sec, nsec, time; /* time: of its batch, units */
};

struct chunk {
	uint64_t number; /* 0 = no batch yet */
	uint64_t min_time;
	uint64_t offset, end; /* in the file */
	double freq;          /* ns per unit; 0 = not seen */
	bool has_clock, has_heap;
	struct clock clock;
	uint64_t heap[4]; /* base, bytes of a page, of an object's alignment, of the least stack */
	struct idmap strings, stacks, pcs, threads;
	struct text *texts;
	size_t ntexts, text_capacity;
	struct pc_frame *frames;
	size_t nframes, frame_capacity;
	struct batch *batches;
	size_t nbatches, batch_capacity;
	struct thread_batches *by_thread;
	size_t nthreads, thread_capacity;
	struct stack_place *places; /* by what `stacks` says of an id */
	size_t nplaces, place_capacity;
	struct wire_sample *samples; /* times in units until chunk_check */
	size_t nsamples, sample_capacity;
	uint64_t events[256];
};

void chunk_reset(struct chunk *chunk);
void chunk_free(struct chunk *chunk);
/* Files one batch. 0, -ENOMEM, or -EBADMSG with the fault set. */
int chunk_add(struct chunk *chunk, const struct batch *batch, unsigned version, struct fault *fault);
/* What must hold once all batches are there. */
int chunk_check(struct chunk *chunk, unsigned version, struct fault *fault);
bool chunk_has_string(const struct chunk *chunk, uint64_t id);
bool chunk_has_stack(const struct chunk *chunk, uint64_t id);
struct text chunk_text(const struct chunk *chunk, uint64_t id); /* empty if there is none */
int64_t chunk_ns(const struct chunk *chunk, uint64_t units);
/* For visitors; after chunk_check. */
struct wire_view chunk_view(const struct chunk *chunk, unsigned version);

/* --- the order of events (check_order.c) --- */

struct event {
	uint8_t type;
	int64_t time;
	uint64_t args[MAX_EVENT_ARGS];
	uint64_t offset; /* of its batch */
};

struct sequence_number {
	uint64_t gen, n;
};

struct range {
	uint8_t type; /* of the Begin event */
	uint64_t kind;
};

enum { MAX_RANGES = 64 }; /* open at once on one resource; the runtime opens three */

struct range_list {
	struct range *open;
	size_t n, capacity;
};

struct region {
	uint64_t task;
	struct text name;
};

struct g_state {
	bool exists;
	uint8_t status;
	struct sequence_number seq;
	struct range_list ranges;
	struct region *regions;
	size_t nregions, region_capacity;
};

struct p_state {
	uint8_t status;
	struct sequence_number seq;
	struct range_list ranges;
	uint64_t holders; /* threads whose P it is */
};

struct m_state {
	uint64_t g, p;
};

enum gc_state { GC_UNDETERMINED, GC_OFF, GC_ON };

struct order {
	struct idmap g_index, p_index, m_index, tasks;
	struct g_state *gs;
	size_t ngs, g_capacity;
	struct p_state *ps;
	size_t nps, p_capacity;
	struct m_state *ms;
	size_t nms, m_capacity;
	uint64_t initial_gen; /* 0 = no event yet */
	enum gc_state gc;
	uint64_t gc_seq;
	uint64_t lives; /* goroutines that came to exist */
};

enum { WAIT = 0, ADVANCE = 1 };

/*
 * Takes the event at the head of thread m if the state allows it: ADVANCE,
 * WAIT (others must go first), -EBADMSG with the fault set, or -ENOMEM.
 */
int order_advance(struct order *order, const struct chunk *chunk, uint64_t m, const struct event *ev,
		  struct fault *fault);
void order_free(struct order *order);
/* What thread m has: NO_ID if nothing. */
void order_holds(const struct order *order, uint64_t m, uint64_t *p, uint64_t *g);

/* --- merging threads (check_merge.c) --- */

struct merge {
	int64_t last_time; /* of the last event; strictly increasing */
	int64_t first_time;
	bool any;
	uint64_t budget; /* steps of waiting that are left; 0 = the file is too disordered */
	const struct wire_visitor *visitor; /* NULL = none */
	int stopped;                        /* what the visitor said */
};

/* Brings all events of the generation into order, and hands them to the visitor. */
int merge_events(struct merge *merge, struct order *order, struct chunk *chunk, unsigned version,
		 struct fault *fault);

#endif
