/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goroutines, Ps and Ms by their keys: runtime.g address, runtime.p address, thread id. For a target traced
 * as threads, these are a thread's life, a CPU and a thread.
 */
#ifndef GOTRACE_MODEL_ENTITIES_H
#define GOTRACE_MODEL_ENTITIES_H

#include "trace/ops/op.h"
#include "util/map64.h"
#include "trace/ops/own_names.h"

/* A goroutine's life. */
struct g {
	uint64_t life;        /* a number that no other goroutine has */
	uint64_t ptr;         /* address of its runtime.g: the key while it is alive */
	struct m *m;          /* its thread while it is running or in a system call */
	uint64_t last_op;     /* number of the last op that concerns it (op_number) */
	uint64_t last_hit;    /* ns: time of the last record about it */
	uint64_t last_assist; /* ns: time of the last record about one of its mark assists */
	uint64_t startpc;
	uint32_t index;       /* in tables.goids */
	uint32_t stack;       /* id of its latest stack */
	uint32_t wait_reason; /* at the first snapshot: string id, 0 = not known */
	/* It left its thread unseen: 1 + index of that op in left_generation, until the reason is known. */
	size_t left;
	uint32_t left_generation;
	/* The latest generation at whose start it existed; 0 = none, or an assist was announced since. */
	uint32_t opened_in;
	uint32_t assist_announced_in; /* the last generation that announced the open assist */
	uint8_t status;               /* enum g_status */
	uint8_t worker;   /* the GC work that it will do once it starts (p.gcMarkWorkerMode), 0 = none */
	bool listed;      /* scratch for a resync: the snapshot contains it */
	bool assists;     /* a mark assist is open */
	bool assist_over; /* the target has ended it, but the ops have not */
	uint32_t name;    /* of a thread that has ended: string id */
	struct thread_life *thread; /* owned by threads_front_end; NULL for a target traced as goroutines */
};

struct p {
	uint64_t ptr;
	struct m *m; /* the thread that holds it, running or in a system call */
	uint64_t last_op;
	uint64_t last_hit;
	int32_t id;
	uint32_t abandoned_by; /* tid of the thread that left it behind, P_ABANDONED only */
	uint8_t status;        /* enum p_status */
	bool sweeps;           /* a sweep is open */
	/* Index of the last goroutine created on this P, if its id is not known yet; 0 = none. */
	uint32_t unnumbered;
	/* The latest generation at whose start it existed; 0 = none, or a sweep was announced since. */
	uint32_t opened_in;
};

/*
 * A system call that keeps its P ends without a probe point. At sys_exit a place in the op list is reserved
 * for the end; the thread's next record, or the M as read at a boundary, shows whether the end belongs there.
 */
struct call_end {
	bool exited;         /* the thread has left the kernel, or C: the call may be over */
	bool explicit_end;   /* exitsyscall was called (cgo): the call is over */
	bool reserved;       /* the thread still has its P, and a place is reserved for the end */
	uint32_t tick;       /* m.syscalltick of the call */
	size_t op;           /* index of the OP_NONE that reserves the place */
	size_t unseen_begin; /* 1 + index of an inferred begin whose record is still to come */
	uint64_t time;
};

struct m {
	struct g *g;
	struct p *p;
	uint64_t last_op;
	uint64_t last_hit;
	uint64_t last_p_hit; /* ns: time of the last record at which it took or dropped a P */
	uint32_t tid;        /* never NO_M */
	uint32_t tick;       /* m.syscalltick of its last system call */
	struct call_end end;
	/* Address of a runtime.g that a coroutine switch ended: its gdestroy is still to come. */
	uint64_t ended_by_switch;
	/* Address of the runtime.g that left it last, by blocking, ending or otherwise; 0 = none yet. */
	uint64_t left_by;
};

/* Sizes of the lookup caches: most records concern recently found objects. */
enum { RECENT_BITS = 6, RECENT_MS = 16 };

struct goroutine_table {
	struct g **all;  /* by index; [0] = NULL */
	uint64_t *goids; /* by index */
	uint32_t n, capacity;
	struct map64 by_ptr;                /* runtime.g -> index, live goroutines only */
	struct g *recent[1 << RECENT_BITS]; /* found recently, may have ended since */
	struct map64 by_goid;               /* the same by goid: readers reject duplicate ids */
	struct map64 ended_goids;           /* of goroutines that ended in this generation */
	uint32_t *ended;                    /* indices that are free after this generation */
	uint32_t nended;
	size_t ended_capacity;
	uint32_t *free;
	uint32_t nfree;
	size_t free_capacity;
};

struct entities {
	struct goroutine_table gs;
	struct p **ps;
	unsigned nps;
	struct map64 p_by_ptr; /* runtime.p -> index */
	struct m **ms;
	unsigned nms;
	struct map64 m_by_tid;          /* tid -> index */
	struct m *recent_ms[RECENT_MS]; /* found recently, by tid */
	uint64_t created;               /* goroutines so far, excluding the synthetic one */
	uint64_t lives;                 /* goroutines so far */
	bool oom;                       /* out of memory: something is missing */
};

/* The synthetic goroutine's thread. No Linux tid is as large. */
#define SYNTHETIC_TID 0x7fffffffu

/* Returns false when out of memory. */
bool entities_init(struct entities *all);
void entities_free(struct entities *all);

/* Returns the live goroutine at this address, or NULL. */
struct g *g_find(struct entities *all, uint64_t ptr);
/*
 * Adds a goroutine, with status G_DEAD until the caller changes it. ptr and goid may be 0. Returns NULL when
 * out of memory.
 */
struct g *g_new(struct entities *all, uint64_t ptr, uint64_t goid);
/* Ends the goroutine: its address may be reused from now on. */
void g_end(struct entities *all, struct g *g);
/* Allows indices of ended goroutines to be reused. */
void g_recycle(struct entities *all);
/* Sets a missing goid: up to Go 1.23 newproc1 assigns it after the probe, and the next record has it. */
void g_set_goid(struct entities *all, struct g *g, uint64_t goid);

/* Return NULL if unknown. */
struct p *p_find(const struct entities *all, uint64_t ptr);
struct p *p_by_id(const struct entities *all, int32_t id);
/* Adds an idle P. Returns NULL when out of memory, or if id is out of range. */
struct p *p_add(struct entities *all, int32_t id);
void p_set_ptr(struct entities *all, struct p *p, uint64_t ptr);

/* Return NULL if unknown. */
struct m *m_find(const struct entities *all, uint32_t tid);
/* Finds or adds the M. Returns NULL if tid is 0, or when out of memory. */
struct m *m_get(struct entities *all, uint32_t tid);
/*
 * If there are many Ms, drops those without goroutine and P that had no record since `since` (ns), except
 * `but`.
 */
void m_forget_idle(struct entities *all, uint64_t since, const struct m *but);

#endif
