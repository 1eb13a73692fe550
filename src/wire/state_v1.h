/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the encoder of wire v1 and v0: what the readers believe at each moment, the events that bring
 * them from there to what an op leaves, and the ops by kinds.
 */
#ifndef GOTRACE_WIRE_STATE_V1_H
#define GOTRACE_WIRE_STATE_V1_H

#include "util/map64.h"
#include "wire/dict_v1.h"
#include "wire/idset.h"
#include "wire/stream_v1.h"

/* What the readers believe of a goroutine. */
enum g_state { UNKNOWN, RUNNABLE, RUNNING, WAITING, STOPPED /* for ever, so they think */, DEAD };

struct g_v1 {
	uint64_t id;
	uint64_t born; /* when it was created, in the file's time */
	uint32_t seq;  /* of its last event that is ordered */
	int32_t p;     /* where it runs */
	uint8_t state;
	bool in_call; /* runs, but is in a system call with its P */
	bool woken;   /* and has done nothing since but to start and be preempted */
	bool assists;
};

struct p_v1 {
	uint32_t g; /* that runs here, or NO_G */
	bool running, sweeps;
};

/*
 * A goroutine that a C thread uses for its calls into Go is born and ends with
 * each in the ops, under the same id; in these formats it waits in between.
 */
struct parked {
	uint64_t goid; /* in the ops */
	uint64_t id;   /* in the file */
	uint32_t seq;
};

struct encoder_v1 {
	struct file_v1 file;
	struct dict_v1 dict;
	const struct generation *gen;
	uint64_t now;         /* of the op, ns */
	uint64_t first_ticks; /* of the trace */
	struct g_v1 *gs;
	size_t ngs;
	struct p_v1 *ps; /* by P + 1 */
	size_t nps;
	struct parked *parked;
	size_t nparked, parked_capacity;
	struct map64 parked_by_goid;
	struct idset used; /* ids of all goroutines that were told of */
	uint64_t aliases;  /* ids given to goroutines whose own was used up */
	uint64_t gc_seq, procs;
	uint32_t procs_gen; /* the last generation that has told procs: each does, but a file only once */
	int32_t gc_p;       /* where the collection began */
	bool gc, stw;
	bool labels; /* this generation has some */
	uint32_t last_gen;
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* Appends an event with these arguments in P's stream. */
#define EVENT(wire, p, type, ...)                                                                            \
	file_v1_event(&(wire)->file, p, (wire)->now, type, (const uint64_t[]){__VA_ARGS__},                  \
		      COUNT(((const uint64_t[]){__VA_ARGS__})))
#define BARE_EVENT(wire, p, type) file_v1_event(&(wire)->file, p, (wire)->now, type, NULL, 0)

static inline struct p_v1 *p_v1_at(struct encoder_v1 *wire, int32_t p)
{
	return &wire->ps[p + 1];
}

static inline struct g_v1 *g_v1_at(struct encoder_v1 *wire, uint32_t g)
{
	return &wire->gs[g];
}

/* go 1.7 and later order a goroutine's starts and wake-ups by numbers of its own. */
static inline bool has_seq_v1(const struct encoder_v1 *wire)
{
	return wire->file.format >= WIRE_GO17;
}

static inline bool is_v0(const struct encoder_v1 *wire)
{
	return wire->file.format == WIRE_V0;
}

/* --- state_v1.c: one event, or none if they believe it already --- */

void proc_v1_start(struct encoder_v1 *wire, int32_t p, uint32_t m);
void proc_v1_stop(struct encoder_v1 *wire, int32_t p);
/* The goroutine in a system call loses its P. */
void proc_v1_block(struct encoder_v1 *wire, int32_t p);

/* A goroutine by its index; p: in whose stream. stack, label: the file's, 0 = none. */
void g_v1_create(struct encoder_v1 *wire, int32_t p, uint32_t index, uint64_t id, const struct op *op);
/* What a goroutine does that was created and does not run: both count for its order. */
void g_v1_waits(struct encoder_v1 *wire, int32_t p, uint32_t index, bool in_call);
/* Returns from a system call without a P: a moment of its own, which stands for itself. */
void g_v1_exit_call(struct encoder_v1 *wire, uint32_t index);
void g_v1_unblock(struct encoder_v1 *wire, int32_t p, uint32_t index, uint32_t stack);
void g_v1_start(struct encoder_v1 *wire, int32_t p, uint32_t index, uint32_t label);
/* Whoever runs on P leaves it by this event. */
void g_v1_leave(struct encoder_v1 *wire, int32_t p, enum event_v1_type type, uint32_t stack);

/* --- state_v1.c: what an op may find otherwise than the readers have it --- */

bool g_v1_is_known(const struct g_v1 *g);
/* Ids are never used again: a life whose id was somebody's gets another. */
uint64_t g_v1_fresh_id(struct encoder_v1 *wire, uint32_t index);
/* A goroutine that the op wakes or starts, but that they do not know, or think to be stopped for ever. */
void g_v1_make_known(struct encoder_v1 *wire, uint32_t index, bool waiting);
void g_v1_start_here(struct encoder_v1 *wire, int32_t p, uint32_t index, uint32_t label);
/*
 * The op's goroutine runs on the op's P: do they think so? They do not if it
 * was in a system call when the trace began, and came back with its P.
 */
bool g_v1_runs_here(struct encoder_v1 *wire, const struct op *op);

/* --- state_v1.c: of an op --- */

uint32_t op_v1_stack(struct encoder_v1 *wire, const struct op *op);
/* Where an op about the world is written: with its P, or with none. */
int32_t op_v1_stream(struct encoder_v1 *wire, const struct op *op);
/*
 * Readers take the doer of an event from the P that it stands on. With its own
 * P if the op's goroutine is what they think runs there, else with none,
 * where nobody runs.
 */
int32_t op_v1_stream_by(struct encoder_v1 *wire, const struct op *op);
/* Of the generation's strings; 0 is none of them. */
bool op_v1_string_is(const struct encoder_v1 *wire, uint32_t id, const char *name);
bool op_v1_string_begins(const struct encoder_v1 *wire, uint32_t id, const char *begin);

/* --- the ops: scheduler_v1.c --- */

void put_v1_scheduler(struct encoder_v1 *wire, const struct op *op);
void put_v1_syscall(struct encoder_v1 *wire, const struct op *op);
void put_v1_proc(struct encoder_v1 *wire, const struct op *op);

/* --- world_v1.c; what is not open is not ended --- */

void put_v1_world(struct encoder_v1 *wire, const struct op *op);
void put_v1_sweep(struct encoder_v1 *wire, const struct op *op);
void put_v1_stw_end(struct encoder_v1 *wire, const struct op *op);
void put_v1_gc_end(struct encoder_v1 *wire, const struct op *op);

/* --- user_v1.c --- */

void put_v1_annotation(struct encoder_v1 *wire, const struct op *op);
void put_v1_sample(struct encoder_v1 *wire, const struct op *op);

#endif
