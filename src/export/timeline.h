/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns ops into what exports write, in time order: intervals of goroutines' states and wake-ups, as the
 * ledger reports them, ranges (collections, stop-the-worlds, tasks, regions), and single events. Memory is
 * bounded by goroutines and threads.
 */
#ifndef GOTRACE_EXPORT_TIMELINE_H
#define GOTRACE_EXPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/ledger/ledger.h"

/* One life of a goroutine. */
struct tl_goroutine {
	uint32_t serial; /* from 1, in order of appearance: the same in each pass over one file */
	uint64_t goid;
	uint32_t entry;   /* stack id of the function that it began with; 0 = unknown */
	uint32_t parent;  /* serial of its creator; 0 = unknown */
	uint64_t born;    /* ns; 0 = before the trace */
	bool ran;         /* it was seen to run before the interval that ends now */
	bool labels_said; /* the trace has recorded its labels */
	uint32_t labels;  /* its set of pprof labels; 0 = none; equal sets have equal numbers */
	struct ledger_interval now;
	bool resumed; /* `now` began while it was not watched */
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
	uint32_t id;        /* from 1, unique in the trace */
	uint8_t kind;       /* enum tl_range_kind */
	bool before;        /* it began before the trace */
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

/* A goroutine's change from one interval to the next. */
struct tl_change {
	uint64_t time;
	const struct tl_goroutine *g;     /* g->now is what ends here; state LEDGER_NONE: it appears */
	const struct ledger_interval *to; /* state LEDGER_NONE: it is gone */
	const struct tl_goroutine *by;    /* its creator or waker; NULL = unknown */
	bool wakes;                       /* it was woken */
	bool begins, ends;                /* of the interval that ends here: whether that was seen */
	bool final;                       /* the trace ends, the goroutine does not */
	uint32_t m;                       /* where it happened */
	int32_t p;
};

/* The pprof labels of a goroutine from here on, as text (trace/ops/labels.h). */
struct tl_labels {
	uint64_t time;
	const char *text; /* valid during the call */
	size_t len;
	bool held;  /* it had them before, too, unless the trace recorded others */
	bool first; /* the trace records its labels for the first time */
};

/* Callbacks; NULL = not wanted. Each returns 0, or a negative errno that ends the pass. */
struct tl_visitor {
	void *ctx;
	int (*change)(void *ctx, const struct tl_change *change);
	int (*begin)(void *ctx, const struct tl_range *range);
	int (*end)(void *ctx, const struct tl_range *range);
	/* Logs, CPU samples, labels, sizes of the heap, GOMAXPROCS; g may be NULL. */
	int (*event)(void *ctx, const struct op *op, const struct tl_goroutine *g);
	/* The labels of g change; g->now is its current interval. */
	int (*labels)(void *ctx, const struct tl_goroutine *g, const struct tl_labels *labels);
	/* A generation begins, with new tables. gen is NULL at the end, when the tables are gone. */
	int (*tables)(void *ctx, const struct generation *gen);
};

struct op_timeline;

struct census;
/*
 * Copies the visitor. census: of an earlier pass, or NULL; not owned. It has the labels that goroutines have
 * from their beginning, which the trace records only later. Returns NULL when out of memory.
 */
struct op_timeline *timeline_new(const struct tl_visitor *visitor, const struct census *census);
void timeline_free(struct op_timeline *tl);
/* Returns 0, -ENOMEM, or the visitor's error. */
int timeline_generation(struct op_timeline *tl, const struct generation *gen);
/* Ends all that is open at the trace's end. The tables may be gone. Returns as timeline_generation() does. */
int timeline_finish(struct op_timeline *tl);
/* Start and end of the trace, ns. */
const struct ledger *timeline_ledger(const struct op_timeline *tl);
uint64_t timeline_start(const struct op_timeline *tl);
uint64_t timeline_end(const struct op_timeline *tl);

#endif
