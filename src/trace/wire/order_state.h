/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the checker: the order of a generation's events. check_order.c applies one event after the other
 * to the state; check_ids.c, check_status.c, check_annotations.c and check_words.c are its parts.
 */
#ifndef GOTRACE_TRACE_WIRE_ORDER_STATE_H
#define GOTRACE_TRACE_WIRE_ORDER_STATE_H

#include "trace/ops/automaton.h"
#include "trace/wire/check_tables.h"
#include "trace/wire/event.h"

#define NO_ID WIRE_NO_ID

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

/* --- one step --- */

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

#endif
