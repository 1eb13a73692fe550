/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: the ops of the open generation, and the scheduler state against which each step is
 * checked. A step that the state does not allow is refused, whatever a file says.
 */
#ifndef GOTRACE_BUILDER_H
#define GOTRACE_BUILDER_H

#include "convert/convert.h"
#include "convert/stacks.h"
#include "sched/automaton.h"
#include "util/map64.h"

/* A goroutine's life, in an array by goroutine index as in ops; index 0 = none. */
struct g_life {
	uint64_t goid;
	uint32_t status_at; /* 1 + position of its status in this generation, 0 = none */
	uint32_t birth_at;  /* 1 + index of the op that creates it, if that is in this generation and nothing
			       has happened to it since */
	bool assisted;      /* the ops contain a mark assist of it */
	bool reborn;        /* an earlier goroutine with the same id ended in this generation */
};

struct built_thread {
	uint32_t tid; /* as in ops */
	/*
	 * Since the first generation began: whether the thread had a goroutine or a P, and whether it did
	 * something that requires having none.
	 */
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
	uint32_t *ended, *unused; /* indices of lives: ended in this generation; free for reuse */
	size_t nended, ended_capacity, nunused, unused_capacity;
	struct map64 life_by_goid;    /* of living goroutines, and of the last dead one with the id */
	struct built_thread *threads; /* [0] = none */
	size_t nthreads, thread_capacity;
	struct map64 thread_by_id;
	uint64_t last_thread_id; /* looked up last: most events are of the same thread as the one before */
	uint32_t last_thread;
	uint32_t made_threads;  /* threads with invented tids */
	struct map64 task_ends; /* task -> generation in which it ended */
	uint64_t last_end;      /* ns: end of the last goroutine or task that ended */

	struct op_array p_statuses, g_statuses, actives, ops;
	uint32_t generation; /* number of the open generation, 0 = none */
	uint64_t hint;       /* ns: where the generation begins in the file */
	uint64_t floor;      /* ns: the earliest possible start */
	uint64_t last;       /* ns: time of the last op */
	uint64_t until;      /* ns: the file's end, if no generation follows; 0 = not known */
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

/* Opens the next generation, which begins at about `start` (ns), with the current state. 0 or -ENOMEM. */
int builder_open(struct builder *b, uint64_t start);
/* Passes the generation to the sink. Returns 0, -ENOMEM, or the sink's error. */
int builder_close(struct builder *b, bool last);

/*
 * Index of the thread with this id in the file, added if it is new; 0 for WIRE_NO_ID. Returns 0 or -ENOMEM.
 */
int builder_thread(struct builder *b, uint64_t id, uint32_t *thread);
/* Adds a thread that the file does not name. Returns 0 or -ENOMEM. */
int builder_new_thread(struct builder *b, uint32_t *thread);
/* The living goroutine with this id; 0 if there is none. */
uint32_t builder_goroutine(const struct builder *b, uint64_t goid);
/* Reserves a life for a goroutine that a step is about to create, or give its first status. */
int builder_new_life(struct builder *b, uint64_t goid, uint32_t *g);
/* The goroutine that has or had this id, for samples. */
int builder_any_goroutine(struct builder *b, uint64_t goid, uint32_t *g);
/* Makes space for the P with this id. Returns 0, or -EBADMSG (id too large) or -ENOMEM with the error set. */
int builder_fit_p(struct builder *b, uint64_t id);

/*
 * Appends one step at `time` (ns) or slightly later. op.m and op.m2 are thread indices; op.g and op.p are
 * filled in from the thread, in the caller's op, if the caller has not set them: a copy costs a twentieth of
 * the reader's time. Returns 0, or -ENOMEM or -EBADMSG with the error set and nothing appended.
 */
int builder_step(struct builder *b, uint64_t time, struct op *op);
/* An event at `time` (ns) that makes no op. What follows is dated as if it made one. */
void builder_no_op(struct builder *b, uint64_t time);
/*
 * Statuses of objects that existed earlier. In the first generation they go to its start, wherever the file
 * states them.
 */
int builder_add_g_status(struct builder *b, const struct op *op);
int builder_add_p_status(struct builder *b, uint64_t time, const struct op *op);
/* Sets the stack of a goroutine that existed when the generation began. */
void builder_g_stack(struct builder *b, uint32_t g, uint32_t stack);
/* Whether the generation began with the goroutine in this status, and it has not changed since. */
bool builder_began_as(const struct builder *b, uint32_t g, unsigned status);
/* Corrects the status of a goroutine that was stated as runnable at the start and has done nothing since. */
int builder_amend_status(struct builder *b, uint32_t g, unsigned status, uint32_t thread);
/*
 * The same for a goroutine created in this generation. Does nothing if other events have followed its
 * creation.
 */
int builder_amend_birth(struct builder *b, uint64_t time, uint32_t g, unsigned status, uint32_t thread);
/* Corrects the thread that stole the P in the step with index `at` in ops. */
void builder_amend_thief(struct builder *b, size_t at, uint32_t thread);
/* States that goroutine g was in a mark assist when the trace began. */
int builder_assisted(struct builder *b, uint32_t g);

/* The time that the next op gets, at `time` or slightly later. m: id of its thread. */
uint64_t builder_date(struct builder *b, uint64_t time, const struct op *op, uint32_t m);

static inline unsigned builder_p_status(const struct builder *b, int64_t p)
{
	return p >= 0 && (uint64_t)p < b->sched.nps ? b->sched.ps[p].status : P_UNKNOWN;
}

struct op *array_push(struct op_array *array); /* zeroed except p; NULL when out of memory */

#endif
