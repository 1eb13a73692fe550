/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From ops to what exports write: intervals of goroutines' states, wake-ups,
 * ranges (collections, stop-the-worlds, tasks, regions), and single events, in
 * the order of time. Memory is bounded by goroutines and threads.
 */
#ifndef GOTRACE_EXPORT_TIMELINE_H
#define GOTRACE_EXPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/op.h"

enum tl_state {
	TL_NONE = 0, /* not born, or dead */
	TL_RUNNABLE = G_RUNNABLE,
	TL_RUNNING = G_RUNNING,
	TL_SYSCALL = G_SYSCALL,
	TL_WAITING = G_WAITING,
	TL_UNWATCHED, /* not known: nothing was recorded */
	TL_STATE_COUNT,
};

/* Where a goroutine is, and since when. */
struct tl_interval {
	uint8_t state;   /* enum tl_state */
	bool before;     /* it was so already when the trace began */
	uint64_t since;  /* ns */
	uint64_t named;  /* ns: when the file first says so; later than since only if before */
	uint32_t reason; /* string id: why it waits, or why it stopped running; 0 = not said */
	uint32_t stack;  /* of the event that led here: its own, of an unblock the waker's; 0 = none */
	uint32_t m;      /* thread id while it runs or is in a system call */
	int32_t p;       /* while it runs, or entered its system call */
};

/* One life of a goroutine. */
struct tl_goroutine {
	uint32_t serial; /* from 1, in the order of appearance: the same for each pass over one file */
	uint64_t goid;
	uint32_t entry;           /* stack id of the function that it began with, 0 = not known */
	uint32_t parent;          /* serial of who created it, 0 = not known */
	uint64_t born;            /* ns, 0 = before the trace */
	bool ran;                 /* it was seen to run before what ends now */
	bool labels_said;         /* the trace has said which labels it has */
	uint32_t labels;          /* its set of pprof labels, 0 = none: equal sets have equal numbers */
	struct tl_interval now;   /* what exports show */
	struct tl_interval known; /* the same while nothing is recorded */
};

enum tl_range_kind {
	TL_GC,
	TL_STW,
	TL_SWEEP,
	TL_ASSIST,
	TL_TASK,
	TL_REGION,
	TL_GAP, /* nothing was recorded */
	TL_RANGE_KINDS
};

struct tl_range {
	uint32_t id;        /* from 1, no two of one trace have the same */
	uint8_t kind;       /* enum tl_range_kind */
	bool before;        /* it had begun when the trace began */
	uint64_t since;     /* ns */
	uint64_t until;     /* ns, once it ended */
	bool open;          /* it did not end in the trace: until is the trace's end */
	uint32_t g;         /* serial, 0 = none */
	int32_t p;          /* of a sweep */
	uint32_t name;      /* string id: kind of stop-the-world, name of a task or region */
	uint32_t stack;     /* where it began */
	uint64_t task;      /* id of a task, or of a region's task; 0 = none */
	uint64_t parent;    /* of a task */
	uint64_t arg, arg2; /* of a sweep, at its end: bytes swept, bytes reclaimed */
};

/* A goroutine goes from one interval to the next. */
struct tl_change {
	uint64_t time;
	const struct tl_goroutine *g;  /* g->now is what ends here; state TL_NONE: it appears */
	const struct tl_interval *to;  /* state TL_NONE: it is gone */
	const struct tl_goroutine *by; /* who made it or woke it; NULL = nobody that is known */
	bool wakes;                    /* it was woken */
	bool final;                    /* the trace is over, the goroutine is not */
	uint32_t m;                    /* where that happened */
	int32_t p;
};

/* The pprof labels of a goroutine from here on, as text (util/labels.h). */
struct tl_labels {
	uint64_t time;
	const char *text; /* valid during the call */
	size_t len;
	bool held;  /* it has had them before, too, as far as that was not said */
	bool first; /* the trace says it for the first time */
};

/* Each returns 0, or a negative errno that ends the pass. NULL: not wanted. */
struct tl_visitor {
	void *ctx;
	int (*change)(void *ctx, const struct tl_change *change);
	int (*begin)(void *ctx, const struct tl_range *range);
	int (*end)(void *ctx, const struct tl_range *range);
	/* Logs, CPU samples, labels, sizes of the heap, GOMAXPROCS; g may be NULL. */
	int (*event)(void *ctx, const struct op *op, const struct tl_goroutine *g);
	/* g has other labels; g->now is what it does meanwhile. */
	int (*labels)(void *ctx, const struct tl_goroutine *g, const struct tl_labels *labels);
	/* A generation begins: from here on these are the tables. gen is NULL at the end, when they are gone.
	 */
	int (*tables)(void *ctx, const struct generation *gen);
};

struct op_timeline;

/* Whether a string of these tables begins so. */
bool tl_begins_with(const struct tables *tables, uint32_t string, const char *text);

struct census;
/*
 * NULL when out of memory. The visitor is copied. census: of an earlier pass, not owned; it knows the labels
 * that goroutines have from their beginning, which the trace says later. NULL: none.
 */
struct op_timeline *timeline_new(const struct tl_visitor *visitor, const struct census *census);
void timeline_free(struct op_timeline *tl);
/* 0, -ENOMEM, or what the visitor says. */
int timeline_generation(struct op_timeline *tl, const struct generation *gen);
/* The trace is over: what is open ends at its last moment. The tables of the last generation may be gone. */
int timeline_finish(struct op_timeline *tl);
/* First and last moment, ns. */
uint64_t timeline_start(const struct op_timeline *tl);
uint64_t timeline_end(const struct op_timeline *tl);

#endif
