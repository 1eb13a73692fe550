/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state of all goroutines, Ps and Ms while a list of ops is replayed. sched_check() reports whether an op
 * is valid in the current state; sched_apply() changes the state to the one after the op.
 *
 * Here an op names threads by index, not by thread id: op.m and op.m2 are indices of sched.ms, 0 = none. op.g
 * and op.g2 are indices of sched.gs, 0 = none, and op.p is an index of sched.ps. The owner of the automaton
 * assigns the indices, and keeps its own data about an object in parallel arrays. Entry 0 of gs is a dead
 * goroutine; entry 0 of ms is a thread without a goroutine or a P.
 */
#ifndef GOTRACE_TRACE_OPS_AUTOMATON_H
#define GOTRACE_TRACE_OPS_AUTOMATON_H

#include "trace/ops/transition.h"

/* A stop-the-world or mark assist that a goroutine has begun. */
struct open_range {
	uint64_t reason; /* of a stop-the-world: op.arg << 32 | op.string */
	uint8_t kind;    /* enum op_kind of the op that begins it */
};

struct sched_g {
	struct open_range *ranges; /* in the order that Go's reader keeps them */
	size_t range_capacity;
	uint8_t nranges;
	uint8_t status; /* enum g_status */
	uint32_t m;     /* the thread that runs it, or has it in a system call; 0 = none */
};

struct sched_p {
	uint32_t m;       /* the thread that took it last, 0 = none */
	uint32_t holders; /* number of threads that have it; with sched.exact, at most one */
	uint8_t status;   /* enum p_status */
	bool sweeps;
};

struct sched_m {
	uint32_t g; /* 0 = none */
	int32_t p;  /* NO_P = none */
};

struct sched {
	struct sched_g *gs;
	struct sched_p *ps;
	struct sched_m *ms;
	size_t ngs, nps, nms; /* capacities: indices below them are valid */
	enum gc_phase gc;
	unsigned nstw;         /* open stop-the-worlds */
	bool exact;            /* enforce what a real scheduler requires, beyond Go's reader */
	bool first_generation; /* the trace's first generation, which states what began before the trace */
};

/* The rule that an op breaks. */
enum violation_kind {
	VIOLATION_NO_THREAD,     /* NEED_M is not met */
	VIOLATION_NO_P,          /* NEED_P is not met */
	VIOLATION_HAS_P,         /* NEED_NO_P is not met */
	VIOLATION_NO_G,          /* NEED_G is not met */
	VIOLATION_HAS_G,         /* NEED_NO_G is not met */
	VIOLATION_G_NOT_RUNNING, /* NEED_G_RUNS is not met */
	VIOLATION_P_NOT_RUNNING, /* NEED_P_RUNS is not met */
	VIOLATION_SELF_STATUS,   /* status of the thread's goroutine */
	VIOLATION_OTHER_STATUS,  /* status of the goroutine that the op names */
	VIOLATION_P_STATUS,      /* status of the P that the op is about */
	VIOLATION_NOT_HELD,      /* a P is stolen from a thread that does not have it */
	VIOLATION_RANGE_OPEN,    /* a range begins that is already open */
	VIOLATION_RANGE_LIMIT,   /* more than SCHED_MAX_RANGES ranges are open */
	VIOLATION_RANGE_CLOSED,  /* a range that is not open ends, or is stated as open */
	VIOLATION_GC_PHASE,      /* a collection begins, goes on or ends in the wrong phase */
};

enum { SCHED_MAX_RANGES = 64 }; /* open ranges per goroutine; the runtime opens at most three */

/* The kind determines which of the other fields are set. */
struct violation {
	enum violation_kind kind;
	uint8_t status; /* the actual status of the goroutine or P; for GC_PHASE, enum gc_phase */
	uint32_t g, m;
	int32_t p;
};

/*
 * Make indices below n valid. Return 0 or -ENOMEM. New goroutines are dead, new Ps unknown; new threads have
 * no goroutine and no P.
 */
int sched_fit_gs(struct sched *sched, size_t n);
int sched_fit_ps(struct sched *sched, size_t n);
int sched_fit_ms(struct sched *sched, size_t n);
void sched_free(struct sched *sched);

/* Returns true if the op is valid in this state. If not, sets *violation to the first rule that it breaks. */
bool sched_check(const struct sched *sched, const struct op *op, struct violation *violation);
/* The part of sched_check() about the op's thread; needs: enum op_need. */
bool sched_check_needs(const struct sched *sched, uint32_t m, unsigned needs, struct violation *violation);
/* Applies a valid op. Returns 0, or -ENOMEM with the state partly changed. */
int sched_apply(struct sched *sched, const struct op *op);

/*
 * Bind a goroutine or P to a thread without checking any rule: for statuses, and for facts that the owner
 * knows by other means.
 */
void sched_bind_g(struct sched *sched, uint32_t m, uint32_t g); /* g = 0: unbinds */
void sched_bind_p(struct sched *sched, uint32_t m, int32_t p);  /* p = NO_P: unbinds */

bool sched_assists(const struct sched *sched, uint32_t g);       /* whether a mark assist is open */
unsigned sched_stw_count(const struct sched *sched, uint32_t g); /* number of open stop-the-worlds */
/* Opens a mark assist that began earlier. Returns 0 or -ENOMEM. */
int sched_begin_assist(struct sched *sched, uint32_t g);

#endif
