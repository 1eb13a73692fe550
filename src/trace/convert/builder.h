/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: the ops of the open generation, and the scheduler state that each step is checked
 * against. The builder refuses a step that the state does not allow.
 */
#ifndef GOTRACE_TRACE_CONVERT_BUILDER_H
#define GOTRACE_TRACE_CONVERT_BUILDER_H

#include "trace/convert/convert.h"
#include "trace/convert/stacks.h"
#include "trace/ops/automaton.h"
#include "util/map64.h"

/* A goroutine's life, in an array by goroutine index as in ops; index 0 = none. */
struct g_life {
	uint64_t goid;
	uint32_t status_at; /* 1 + position of its status in this generation, 0 = none */
	/* 1 + index of the op that creates it, if that is in this generation and no op of it has followed. */
	uint32_t birth_at;
	bool assisted; /* the ops contain a mark assist of it */
	bool reborn;   /* an earlier goroutine with the same id ended in this generation */
};

struct built_thread {
	uint32_t tid; /* as in ops */
	/* Since the first generation began: it had a goroutine or a P; an op required that it has none. */
	bool had_g, had_p, missing_g, missing_p;
};

struct op_array {
	struct op *ops;
	size_t n, capacity;
};

enum { MAX_ACTIVES = 1 << 12 };

struct builder {
	struct convert_sink sink;
	struct strtab *strings, *texts;
	struct stack_set stacks;

	struct sched sched; /* indexed by life and thread; Ps by id */
	struct g_life *lives;
	uint64_t *goids; /* by life */
	size_t nlives, life_capacity, goid_capacity;
	uint32_t *ended, *unused; /* indices of lives that ended in this generation; that are free */
	size_t nended, ended_capacity, nunused, unused_capacity;
	struct map64 life_by_goid;    /* of the living or last dead goroutine with the id */
	struct built_thread *threads; /* [0] = none */
	size_t nthreads, thread_capacity;
	struct map64 thread_by_id;
	uint64_t last_thread_id; /* last one looked up: most events are of the previous event's thread */
	uint32_t last_thread;
	uint32_t made_threads;  /* threads with invented tids */
	struct map64 task_ends; /* task -> generation in which it ended */
	uint64_t last_end;      /* time when the last goroutine or task ended, ns */

	struct op_array p_statuses, g_statuses, actives, ops;
	uint32_t generation; /* number of the open generation, 0 = none */
	uint64_t hint;       /* start of the generation in the file, ns */
	uint64_t floor;      /* earliest possible start, ns */
	uint64_t last;       /* time of the last op, ns */
	uint64_t until;      /* end of the file if no generation follows, ns; 0 = unknown */
	struct op_spacing spacing;
	uint64_t heap_base;
	uint64_t clock_ns, wall_sec; /* both clocks at one moment; wall_sec = wall_nsec = 0: unknown */
	uint32_t wall_nsec;
	bool has_clock;

	struct convert_result *result;
	struct error *err;
};

int builder_init(struct builder *b, const struct convert_sink *sink, struct convert_result *result,
		 struct error *err);
void builder_free(struct builder *b);

/* Opens the next generation at about `start` (ns), with the current state. Returns 0 or -ENOMEM. */
int builder_open(struct builder *b, uint64_t start);
/* Passes the generation to the sink. Returns 0, -ENOMEM, or the sink's error. */
int builder_close(struct builder *b, bool last);

/* Sets *thread to the index of the thread, adding a new id; 0 for WIRE_NO_ID. Returns 0 or -ENOMEM. */
int builder_thread(struct builder *b, uint64_t id, uint32_t *thread);
/* Adds a thread that the file does not name. Returns 0 or -ENOMEM. */
int builder_new_thread(struct builder *b, uint32_t *thread);
/* Returns the living goroutine with this id, or 0 if there is none. */
uint32_t builder_goroutine(const struct builder *b, uint64_t goid);
/* Reserves *g for a goroutine that a step will create or give its first status. Returns 0 or -ENOMEM. */
int builder_new_life(struct builder *b, uint64_t goid, uint32_t *g);
/* Sets *g to the goroutine that has or had this id, for samples; adds one if needed. Returns 0 or -ENOMEM. */
int builder_any_goroutine(struct builder *b, uint64_t goid, uint32_t *g);
/* Makes space for the P with this id. Returns 0, -EBADMSG (id too large) or -ENOMEM, and sets the error. */
int builder_fit_p(struct builder *b, uint64_t id);

/*
 * Appends one step at `time` (ns) or slightly later. op->m and op->m2 are thread indices. Fills in op->g and
 * op->p from the thread if they are unset; it modifies the caller's op because a copy costs a twentieth of
 * the reader's time. Returns 0, or appends nothing, sets the error and returns -ENOMEM or -EBADMSG.
 */
int builder_step(struct builder *b, uint64_t time, struct op *op);
/* Accounts for an event at `time` (ns) without an op: later ops are dated as if it had one. */
void builder_no_op(struct builder *b, uint64_t time);
/* Add statuses of objects that existed earlier. Those of the first generation are moved to its start. */
int builder_add_g_status(struct builder *b, const struct op *op);
int builder_add_p_status(struct builder *b, uint64_t time, const struct op *op);
/* Sets the stack of a goroutine that existed when the generation began. */
void builder_g_stack(struct builder *b, uint32_t g, uint32_t stack);
/* Returns true if the goroutine has had this status since the generation began. */
bool builder_began_as(const struct builder *b, uint32_t g, unsigned status);
/* Corrects the status of a goroutine that was stated as runnable at the start and has no ops since. */
int builder_amend_status(struct builder *b, uint32_t g, unsigned status, uint32_t thread);
/* The same for a goroutine created in this generation. Does nothing if ops have followed its creation. */
int builder_amend_birth(struct builder *b, uint64_t time, uint32_t g, unsigned status, uint32_t thread);
/* Corrects the thread that stole the P in the step with index `at` in ops. */
void builder_amend_thief(struct builder *b, size_t at, uint32_t thread);
/* States that goroutine g was in a mark assist when the trace began. */
int builder_assisted(struct builder *b, uint32_t g);

/* Returns the next op's time: `time` or slightly later. m is the id of its thread. */
uint64_t builder_date(struct builder *b, uint64_t time, const struct op *op, uint32_t m);

static inline unsigned builder_p_status(const struct builder *b, int64_t p)
{
	return p >= 0 && (uint64_t)p < b->sched.nps ? b->sched.ps[p].status : P_UNKNOWN;
}

struct op *array_push(struct op_array *array); /* zeroed except p; NULL when out of memory */

#endif
