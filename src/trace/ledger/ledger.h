/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The ledger follows ops: which goroutine or thread is in which state, since when and why, and which P or CPU
 * is used by which thread. It is the only follower of states. What reads a trace observes it, so that two
 * outputs cannot disagree about one trace.
 *
 * Ops are followed by the automaton's table (trace/ops/transition.h). They need not be valid: an op about a
 * goroutine that does not exist changes nothing. Memory is bounded by goroutines, Ps and threads.
 *
 * "Not watched" is a state of its own: while nothing is recorded (trace/ops/gap_log.h), every goroutine is
 * LEDGER_UNWATCHED. The state that it was in when the gap began, or entered in it, is its known state.
 */
#ifndef GOTRACE_TRACE_LEDGER_LEDGER_H
#define GOTRACE_TRACE_LEDGER_LEDGER_H

#include "trace/ops/own_names.h"
#include "trace/ops/transition.h"
#include "util/map64.h"

/* enum g_status, and: */
enum { LEDGER_NONE = G_DEAD, LEDGER_UNWATCHED = G_STATUS_COUNT, LEDGER_STATE_COUNT };

/* A state of a goroutine, and since when. */
struct ledger_interval {
	uint64_t since;  /* ns */
	uint64_t named;  /* ns: when the trace first records it; later than since only if `before` */
	uint32_t reason; /* string id: why it waits, or why it stopped running; 0 = unknown */
	uint32_t stack;  /* of the op that led here: its own; for a creation or a wake-up, the other's; 0 =
			    none */
	uint32_t m;      /* thread id while it runs or is in a system call; else NO_M */
	int32_t p;       /* while it runs, or when it entered its system call; else NO_P */
	uint8_t state;   /* enum g_status, or LEDGER_UNWATCHED */
	bool before;     /* it began before the trace records it: since when is not known */
	bool others;     /* the stack is its creator's or waker's */
};

/* One life of a goroutine. */
struct ledger_g {
	struct ledger_interval known; /* its state, even while nothing is recorded */
	uint64_t appeared;            /* ns: when the trace first records it */
	uint64_t started;             /* ns: when it last got a P or CPU; 0 = not seen */
	uint64_t created;             /* ns: when it last created another one; 0 = not seen */
	uint64_t goid;
	uint32_t entry;     /* stack id of the function that it began with; 0 = unknown */
	uint32_t own_stack; /* stack id: where it last stopped running; 0 = unknown */
};

/* What uses a P or CPU. */
struct ledger_p {
	uint64_t since;     /* ns: of this status */
	uint64_t unwatched; /* ns: not watched before that */
	uint32_t m;         /* the thread that has it, or had it last; NO_M = none */
	uint8_t status;     /* enum p_status; P_UNKNOWN: it has not appeared */
};

/*
 * A goroutine that starts so soon, ns, was not seen to be woken: the wake-up stands where the start proves
 * it, up to a unit of 64 ns before, which a file rounds, and a reader keeps apart from other ops by 1 ns
 * each. It does not say how long the goroutine waited to run. The fastest start that was seen took 400 ns.
 */
enum { LEDGER_UNSEEN_WAKE_NS = 127 };

/* A goroutine goes from one state to another. */
struct ledger_change {
	uint64_t time;
	const struct op *op; /* NULL: a gap begins or ends, or the trace ends */
	uint32_t g;          /* its index; its entry in the ledger is already in the new state */
	uint32_t by;         /* index of its creator or waker, if that exists; or NO_G */
	bool wakes;          /* it is woken */
	bool final;          /* the trace ends, the goroutine does not */
	/*
	 * Both are known states, and the gap that is open hides them. The state `from` or `to` of a goroutine
	 * that appears or ends in a gap is not hidden: it is LEDGER_UNWATCHED.
	 */
	bool hidden;
	const struct ledger_interval
		*from; /* what ends here, as far as it was watched; LEDGER_NONE: it appears */
	const struct ledger_interval *to; /* LEDGER_NONE: it is gone */
	struct ledger_interval was;       /* its known state before: from, but with the time of gaps */
};

struct ledger;

/* Callbacks; NULL = not wanted. Each returns 0, or a negative errno that ends the pass. */
struct ledger_observer {
	void *ctx;
	int (*change)(void *ctx, const struct ledger_change *change);
	/* A P leaves a status, or the trace ends. The op that led here may change goroutines, too: after
	 * this. */
	int (*proc)(void *ctx, int32_t p, const struct ledger_p *was, uint64_t time);
	/* A gap begins or ends; the changes to or from LEDGER_UNWATCHED are over. */
	int (*gap)(void *ctx, uint64_t time, bool begins);
};

struct ledger {
	struct ledger_observer observer;
	const struct tables *tables; /* of the open generation; NULL: ops have no goids and no gap logs */
	struct ledger_g *gs;         /* by index as in ops */
	struct ledger_p *ps;         /* by number */
	size_t ngs, nps;             /* capacities: indices below them are valid */
	struct map64 p_of_thread;    /* thread id -> P + 1; 0 = it has none */
	uint64_t start, now;         /* ns: of the trace; of the last generation's end */
	/* Goroutines that began to run, but gotrace's own; of these, those whose id is that of their thread.
	 */
	uint64_t runs, runs_as_thread;
	bool began;
	bool unwatched;         /* a gap is open */
	uint64_t gap_since;     /* ns: begin of the open or last gap */
	uint64_t watched_since; /* ns: end of the last gap; 0 = none has ended */
	uint64_t unwatched_ns;  /* in gaps that have ended */
	/* What the limit on overhead leaves out (trace/ops/own_logs.h), of the time that is watched: now, and
	 * at any time. */
	unsigned missing, ever_missing;
	uint64_t missing_since;              /* ns of watched time: when that changed */
	uint64_t no_calls_ns, few_frames_ns; /* until then, without system calls; with stacks cut short */
};

/* Copies the observer. */
void ledger_init(struct ledger *ledger, const struct ledger_observer *observer);
void ledger_free(struct ledger *ledger);
/* Begins a generation: the ops that follow are from it, and use its tables. */
void ledger_begin(struct ledger *ledger, const struct generation *gen);
/* Follows one op, in order. Returns 0, -ENOMEM, or the observer's error. */
int ledger_step(struct ledger *ledger, const struct op *op);
/* Ends all that is open at the end of the last generation. Returns as ledger_step() does. */
int ledger_finish(struct ledger *ledger);
/* Nothing is recorded from this time on, or from this time on again. For gaps that no op states. */
int ledger_gap(struct ledger *ledger, uint64_t time, bool begins);

/* Counts what was missing until this time, at the end of a trace; from here on nothing is. */
void ledger_end_missing(struct ledger *ledger, uint64_t time);

/* The goroutine with this index; NULL if it does not exist. */
static inline const struct ledger_g *ledger_alive(const struct ledger *ledger, uint32_t g)
{
	return g < ledger->ngs && ledger->gs[g].known.state != LEDGER_NONE ? &ledger->gs[g] : NULL;
}

/* The state of a goroutine that exists, as far as it is watched. */
struct ledger_interval ledger_watched(const struct ledger *ledger, const struct ledger_g *g);

/* A P; status P_UNKNOWN if it has not appeared. */
static inline struct ledger_p ledger_p(const struct ledger *ledger, int32_t p)
{
	return p >= 0 && (size_t)p < ledger->nps ? ledger->ps[p] : (struct ledger_p){.status = P_UNKNOWN};
}

/* The P that a thread has; NO_P if none. */
static inline int32_t ledger_p_of(const struct ledger *ledger, uint32_t m)
{
	const uint32_t *p = map64_get(&ledger->p_of_thread, m);

	return p ? (int32_t)*p - 1 : NO_P;
}

/* How much of the time before `time` was not watched, ns. */
static inline uint64_t ledger_unwatched_before(const struct ledger *ledger, uint64_t time)
{
	return ledger->unwatched_ns +
	       (ledger->unwatched && time > ledger->gap_since ? time - ledger->gap_since : 0);
}

/* The trace is of threads: each is a goroutine that has its id. Not known before one has run. */
static inline bool ledger_is_of_threads(const struct ledger *ledger)
{
	return ledger->runs_as_thread * 2 > ledger->runs;
}

/*
 * True if the thread goes on with a system call in which it has waited, was preempted, or has created a
 * thread: its trace has an interval of the call for each time that it has a CPU (model/threads/step.c), the
 * second and later ones from when it got that CPU, or created that thread. No call begins so early: the way
 * back to the program takes longer than the clock's unit of Go's format.
 */
static inline bool ledger_call_resumes(const struct ledger *ledger, const struct ledger_g *g)
{
	uint64_t last = g->started > g->created ? g->started : g->created;

	return g->known.state == G_SYSCALL && last && g->known.since - last <= OP_UNIT_NS &&
	       ledger_is_of_threads(ledger);
}

/* gotrace's own goroutine, which makes transitions that were not seen, and logs. */
static inline bool ledger_is_own(const struct ledger_g *g)
{
	return goid_is_own(g->goid);
}

#endif
