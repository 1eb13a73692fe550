/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the encoder of wire v1 and v0: the state of the readers, the events that move them to the state
 * after an op, and the encoders of each kind of op.
 */
#ifndef GOTRACE_TRACE_WIRE_STATE_V1_H
#define GOTRACE_TRACE_WIRE_STATE_V1_H

#include "util/map64.h"
#include "trace/wire/dict_v1.h"
#include "trace/wire/idset.h"
#include "trace/wire/stream_v1.h"

/* A goroutine's state in the readers. */
enum g_reader_state { UNKNOWN, RUNNABLE, RUNNING, WAITING, STOPPED /* blocked forever */, DEAD };

struct g_v1 {
	uint64_t id;
	uint64_t born; /* time of its creation, in file ticks */
	uint32_t seq;  /* of its last ordered event */
	int32_t p;     /* the P that it runs on */
	uint8_t state;
	bool in_call; /* running, but in a system call with its P */
	bool woken;   /* was woken, and has since only been started and preempted */
	bool assists;
};

struct p_v1 {
	uint32_t g; /* the goroutine running on this P, or NO_G */
	bool running, sweeps;
};

/*
 * A goroutine that a C thread uses for calls into Go. In the ops, each call creates and destroys it under the
 * same id; in these formats, it waits between calls.
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
	uint64_t now;         /* time of the op, ns */
	uint64_t first_ticks; /* of the trace */
	struct g_v1 *gs;
	size_t ngs;
	struct p_v1 *ps; /* indexed by P + 1 */
	size_t nps;
	struct parked *parked;
	size_t nparked, parked_capacity;
	struct map64 parked_by_goid;
	struct idset used; /* ids of all goroutines written */
	uint64_t aliases;  /* number of ids assigned to goroutines whose own id was in use */
	uint64_t gc_seq, procs;
	uint32_t procs_gen; /* last generation that stated procs; all do, but the file needs it only once */
	int32_t gc_p;       /* P on which the collection began */
	bool gc, stw;
	bool labels; /* this generation has labels */
	uint32_t last_gen;
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* Appends an event with these arguments to p's stream. */
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

/* From go 1.7 on, sequence numbers order a goroutine's starts and wake-ups. */
static inline bool has_seq_v1(const struct encoder_v1 *wire)
{
	return wire->file.format >= WIRE_GO17;
}

static inline bool is_v0(const struct encoder_v1 *wire)
{
	return wire->file.format == WIRE_V0;
}

/* --- state_v1.c: write one event, or none if the readers are already in that state --- */

void proc_v1_start(struct encoder_v1 *wire, int32_t p, uint32_t m);
void proc_v1_stop(struct encoder_v1 *wire, int32_t p);
/* The goroutine that is in a system call on p loses p. */
void proc_v1_block(struct encoder_v1 *wire, int32_t p);

/* index: of a goroutine. p: the P whose stream is written. stack, label: ids in the file, 0 = none. */
void g_v1_create(struct encoder_v1 *wire, int32_t p, uint32_t index, uint64_t id, const struct op *op);
/* States that a newly created goroutine waits or is in a system call. Advances its sequence number. */
void g_v1_waits(struct encoder_v1 *wire, int32_t p, uint32_t index, bool in_call);
/* The goroutine returns from a system call without a P. The event is self-contained. */
void g_v1_exit_call(struct encoder_v1 *wire, uint32_t index);
void g_v1_unblock(struct encoder_v1 *wire, int32_t p, uint32_t index, uint32_t stack);
void g_v1_start(struct encoder_v1 *wire, int32_t p, uint32_t index, uint32_t label);
/* The goroutine running on p leaves p with this event. */
void g_v1_leave(struct encoder_v1 *wire, int32_t p, enum event_v1_type type, uint32_t stack);

/* --- state_v1.c: differences between the ops and the state in the readers --- */

bool g_v1_is_known(const struct g_v1 *g);
/* Returns the goroutine's id, or a new one if another goroutine had that id: ids are never reused. */
uint64_t g_v1_fresh_id(struct encoder_v1 *wire, uint32_t index);
/* Creates the goroutine if the readers do not know it or consider it blocked forever. */
void g_v1_make_known(struct encoder_v1 *wire, uint32_t index, bool waiting);
void g_v1_start_here(struct encoder_v1 *wire, int32_t p, uint32_t index, uint32_t label);
/*
 * Makes the op's goroutine run on the op's P in the readers, if possible. Returns true if it runs there. It
 * does not yet if it was in a system call when the trace began and returned with its P.
 */
bool g_v1_runs_here(struct encoder_v1 *wire, const struct op *op);

/* --- state_v1.c: properties of an op --- */

uint32_t op_v1_stack(struct encoder_v1 *wire, const struct op *op);
/* Returns the stream for an op about the whole process: its P if that runs, or NO_P. */
int32_t op_v1_stream(struct encoder_v1 *wire, const struct op *op);
/*
 * Readers attribute an event to the goroutine running on the P of its batch. Returns the op's P if the op's
 * goroutine runs there in the readers; otherwise NO_P, where no goroutine runs.
 */
int32_t op_v1_stream_by(struct encoder_v1 *wire, const struct op *op);
/* Compare a string of the generation; id 0 never matches. */
bool op_v1_string_is(const struct encoder_v1 *wire, uint32_t id, const char *name);
bool op_v1_string_begins(const struct encoder_v1 *wire, uint32_t id, const char *begin);

/* --- the ops: scheduler_v1.c --- */

void put_v1_scheduler(struct encoder_v1 *wire, const struct op *op);
void put_v1_syscall(struct encoder_v1 *wire, const struct op *op);
void put_v1_proc(struct encoder_v1 *wire, const struct op *op);

/* --- world_v1.c: an end without a beginning is not written --- */

void put_v1_world(struct encoder_v1 *wire, const struct op *op);
void put_v1_sweep(struct encoder_v1 *wire, const struct op *op);
void put_v1_stw_end(struct encoder_v1 *wire, const struct op *op);
void put_v1_gc_end(struct encoder_v1 *wire, const struct op *op);

/* --- user_v1.c --- */

void put_v1_annotation(struct encoder_v1 *wire, const struct op *op);
void put_v1_sample(struct encoder_v1 *wire, const struct op *op);

#endif
