/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the checker: one generation as read from the file, and the state that its events must match. */
#ifndef GOTRACE_CHECK_H
#define GOTRACE_CHECK_H

#include "sched/automaton.h"
#include "wire/event.h"
#include "util/map64.h"
#include "wire/read.h"
#include "wire/visit.h"
#include "wire/wire.h"

#define NO_ID WIRE_NO_ID

/* --- batches and tables (check_tables.c) --- */

struct batch {
	const uint8_t *data;
	uint32_t size;
	uint32_t next;   /* next batch of the same thread; MAP64_NONE = last */
	uint64_t offset; /* of the batch header in the file */
	uint64_t gen, m, time;
	uint8_t experiment;
	bool end_of_generation;
};

enum batch_result { BATCH_OK, BATCH_EOF, BATCH_BAD };

/* Reads one batch at *pos and moves *pos past it. On BATCH_BAD, the fault is set. */
enum batch_result batch_read(const uint8_t *bytes, size_t n, size_t *pos, struct batch *batch,
			     struct fault *fault);

struct file_text {
	const uint8_t *bytes; /* in the file */
	uint32_t len;
};

/* The frame of a PC, from the first stack that contains the PC. */
struct pc_frame {
	uint64_t func, file, stack;
	uint64_t offset;
};

struct thread_batches {
	uint64_t m;
	uint32_t first, last; /* indices of batches */
};

/* Position of a stack's frames in the file. The frames were validated when they were read. */
struct stack_place {
	const uint8_t *frames, *end;
	uint32_t n;
};

struct clock {
	uint64_t dt, mono, sec, nsec, time; /* time: time of the snapshot's batch, in units */
};

struct chunk {
	uint64_t number;             /* 0 = no batch yet */
	uint64_t min_time, max_time; /* of its batches, tables included; units */
	uint64_t offset, end;        /* in the file */
	double freq;                 /* ns per unit; 0 = not seen */
	bool has_clock, has_heap;
	struct clock clock;
	uint64_t heap[4]; /* base address; bytes per page, object alignment, smallest stack */
	struct map64 strings, stacks, pcs, threads;
	struct file_text *texts;
	size_t ntexts, text_capacity;
	struct pc_frame *frames;
	size_t nframes, frame_capacity;
	struct batch *batches;
	size_t nbatches, batch_capacity;
	struct thread_batches *by_thread;
	size_t nthreads, thread_capacity;
	struct stack_place *places; /* indexed by the values of `stacks` */
	size_t nplaces, place_capacity;
	struct wire_sample *samples; /* times in units until chunk_check */
	size_t nsamples, sample_capacity;
	uint64_t events[256];
};

void chunk_reset(struct chunk *chunk);
void chunk_free(struct chunk *chunk);
/* Adds one batch. Returns 0, -ENOMEM, or -EBADMSG with the fault set. */
int chunk_add(struct chunk *chunk, const struct batch *batch, unsigned version, struct fault *fault);
/* Checks a complete generation; converts sample times to ns. Returns 0, or -EBADMSG with the fault set. */
int chunk_check(struct chunk *chunk, unsigned version, struct fault *fault);
bool chunk_has_string(const struct chunk *chunk, uint64_t id);
bool chunk_has_stack(const struct chunk *chunk, uint64_t id);
struct file_text chunk_text(const struct chunk *chunk, uint64_t id); /* empty if there is none */
int64_t chunk_ns(const struct chunk *chunk, uint64_t units);
/* The generation as visitors see it. Valid after chunk_check. */
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

struct open_region {
	uint64_t task;
	struct file_text name;
};

/* Per-goroutine state that the automaton does not have. */
struct g_record {
	uint64_t id;
	struct sequence_number seq;
	struct open_region *regions; /* open regions, innermost last */
	size_t nregions, region_capacity;
};

struct p_record {
	uint64_t id;
	struct sequence_number seq;
};

/* Replay state: the automaton, plus state specific to this format. Indices are the automaton's. */
struct order {
	struct sched sched;
	struct map64 g_index, p_index, m_index, tasks;
	struct g_record *gs;
	size_t ngs, g_capacity; /* ngs counts entry [0], which stands for no goroutine */
	struct p_record *ps;
	size_t nps, p_capacity;
	uint64_t *m_ids;
	size_t nms, m_capacity; /* nms counts entry [0] */
	uint64_t initial_gen;   /* 0 = no event yet */
	uint64_t gc_seq;
	uint64_t lives; /* goroutines that came into existence */
};

enum { WAIT = 0, ADVANCE = 1 };

int order_init(struct order *order);
/*
 * Applies the next event of thread m if the state allows it. *thread is the index of m, or 0: the function
 * then sets it. Returns ADVANCE, WAIT (events of other threads must come first), -EBADMSG with the fault set,
 * or -ENOMEM.
 */
int order_advance(struct order *order, const struct chunk *chunk, uint64_t m, uint32_t *thread,
		  const struct event *ev, struct fault *fault);
void order_free(struct order *order);
/* Sets *p and *g to the ids of the thread's P and goroutine; NO_ID for none. thread is an index. */
void order_holds(const struct order *order, uint32_t thread, uint64_t *p, uint64_t *g);
size_t order_threads(const struct order *order); /* number of threads seen */

/* --- one step of the order, private to check_order.c and the files it is split into --- */

/* The current event, and the op it decodes to. */
struct order_step {
	struct order *order;
	const struct chunk *chunk;
	const struct event *ev;
	const struct event_spec *spec;
	struct fault *fault;
	uint64_t m; /* id of the event's thread */
	struct op op;
	uint64_t seq;    /* sequence number, if the event has one */
	uint64_t status; /* raw value from the file, if the event states a status */
};

/* Status 0 in a file: the goroutine or P exists, but no rule accepts this status. */
enum { STATUS_BAD = G_STATUS_COUNT };

#define BROKEN(step, ...) fault_set((step)->fault, (step)->ev->offset, __VA_ARGS__)

/* Maps an index to the id in the file; NO_ID for none. */
static inline uint64_t order_g_id(const struct order *order, uint32_t g)
{
	return g ? order->gs[g].id : NO_ID;
}
static inline uint64_t order_p_id(const struct order *order, int32_t p)
{
	return p == NO_P ? NO_ID : order->ps[p].id;
}

/* Map ids in the file to indices (check_ids.c). Return NO_G, NO_P or NO_M if the id was not named yet. */
uint32_t order_find_g(const struct order *order, uint64_t id);
int32_t order_find_p(const struct order *order, uint64_t id);
uint32_t order_find_m(const struct order *order, uint64_t id);
/* The same, but add the id if it is new. Return 0 or -ENOMEM. */
int order_make_g(struct order *order, uint64_t id, uint32_t *index);
int order_make_p(struct order *order, uint64_t id, int32_t *index);
/* Sets *index to the index of thread m, adding m if it is new; 0 for NO_ID. Returns 0 or -ENOMEM. */
int order_thread(struct order *order, uint64_t m, uint32_t *index);

/* Introduces goroutine g: discards the state of an earlier goroutine with the same id. */
void order_g_appears(struct order_step *step, uint32_t g);

/* Handle status events (check_status.c). Return ADVANCE, -EBADMSG or -ENOMEM. */
int order_g_status(struct order_step *step);
int order_p_status(struct order_step *step);
/* Handles tasks and regions (check_annotations.c). Returns as above. */
int order_annotation(struct order_step *step);
/*
 * Returns WAIT if an event of another thread may still make the op valid, else -EBADMSG with the message of
 * Go's reader.
 */
int order_violation(const struct order_step *step, const struct violation *violation);
/* Names as Go's reader prints them. status: enum g_status or p_status, or STATUS_BAD, named like status 0. */
const char *order_g_status_name(unsigned status);
const char *order_p_status_name(unsigned status);

/* --- merging threads (check_merge.c) --- */

struct event_merge {
	int64_t last_time; /* of the last event; strictly increasing */
	int64_t first_time;
	bool any;
	uint64_t budget; /* remaining wait steps; at 0 the file is rejected as too disordered */
	const struct wire_visitor *visitor; /* NULL = none */
	int stopped;                        /* what the visitor returned */
};

/* Orders all events of the generation and passes them to the visitor. */
int merge_events(struct event_merge *merge, struct order *order, struct chunk *chunk, unsigned version,
		 struct fault *fault);

#endif
