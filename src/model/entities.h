/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goroutines, Ps and Ms by their keys: runtime.g pointer, runtime.p pointer,
 * thread id. Of a target seen as threads: a thread's life, a CPU, a thread.
 */
#ifndef GOTRACE_MODEL_ENTITIES_H
#define GOTRACE_MODEL_ENTITIES_H

#include "sched/op.h"
#include "util/map64.h"

/* An open region of the user's. */
struct user_region {
	uint64_t task;
	uint64_t sp;   /* of a call as a region: its caller's, from the end of the stack; 0: no call */
	uint32_t name; /* string id */
	bool own_task; /* the task ends with the region */
	bool request;  /* of a request (requests.h) */
	bool unnamed;  /* of StartRegion while the runtime's tracer was off: its end carries no name */
};

/* Innermost last, as readers keep them. */
struct region_list {
	struct user_region *open;
	unsigned n;
	size_t capacity;
	unsigned beyond; /* regions that are open too, too deep to be recorded */
	uint32_t losses; /* annotations.losses when the list was last checked */
};

/* A goroutine's life. */
struct g {
	uint64_t ptr;         /* runtime.g: the key while it lives */
	struct m *m;          /* the thread that it runs on, or is in a system call on */
	uint64_t last_op;     /* number of the last op that concerns it (op_number) */
	uint64_t last_hit;    /* ns: time of the last record about it */
	uint64_t last_assist; /* ns: time of the last record about one of its mark assists */
	uint64_t startpc;
	uint32_t index;       /* in tables.goids */
	uint32_t stack;       /* the last stack of its own */
	uint32_t wait_reason; /* at the first snapshot: string id, 0 = not known */
	/* It left its thread unseen: 1 + index of the op, in that generation, until the reason is known. */
	size_t left;
	uint32_t left_generation;
	/* The generation at whose start it existed, if no assist of it has been announced since; or 0. */
	uint32_t opened_in;
	uint32_t assist_announced_in; /* the generation that has the open assist */
	uint32_t labels;              /* id in label_sets.sets, 0 = none */
	uint32_t labels_logged_in;    /* the generation in which they were logged last */
	bool labels_due;              /* they have changed, or are new, and are not logged */
	uint8_t status;               /* enum g_status */
	uint8_t worker;   /* the GC work that it will do once it starts (p.gcMarkWorkerMode), 0 = none */
	bool listed;      /* scratch of a resync: the snapshot has it */
	bool assists;     /* a mark assist is open */
	bool assist_over; /* it is open in the ops only: the target has ended it */
	struct region_list regions;
	uint32_t request;           /* the innermost request that is open: 1 + index, 0 = none */
	uint32_t statement;         /* that it has begun to run (requests_prepare): string id, 0 = none */
	uint32_t statement_losses;  /* annotations.losses then */
	uint32_t name;              /* of a thread that has ended: string id */
	struct thread_life *thread; /* owned by threads_front_end; NULL for a target seen as goroutines */
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
	/* Index of the goroutine that was created here last, if its id is not known yet; 0 = none. */
	uint32_t nameless;
	/* The generation at whose start it existed, if no sweep of it has been announced since; or 0. */
	uint32_t opened_in;
};

/*
 * The end of a system call that did not lose its P has no probe point. At
 * sys_exit a place in the list of ops is held; the thread's next record, or the
 * M as it is read at a boundary, shows whether the end belongs there.
 */
struct call_end {
	bool exited;         /* the thread has left the kernel, or C: the call may be over */
	bool explicit_end;   /* it was seen at exitsyscall's call (cgo): the call is over */
	bool held;           /* its P is still there, and a place is held for the end */
	uint32_t tick;       /* m.syscalltick of the call */
	size_t op;           /* index of the OP_NONE that holds the place */
	size_t unseen_begin; /* 1 + index of a begin that was inferred: its record is still to come */
	uint64_t time;
};

struct m {
	struct g *g;
	struct p *p;
	uint64_t last_op;
	uint64_t last_hit;
	uint64_t last_p_hit; /* ns: time of the last record by which it took or lost a P */
	uint32_t tid;        /* NO_M never */
	uint32_t tick;       /* m.syscalltick of its last call */
	struct call_end end;
	uint64_t
		ended_by_switch; /* ptr of a g that a coroutine switch ended: its gdestroy is still to come */
};

/* Most records are about what was found last: so much of it is kept at hand. */
enum { RECENT_BITS = 6, RECENT_MS = 16 };

struct goroutine_table {
	struct g **all;  /* by index; [0] = NULL */
	uint64_t *goids; /* by index */
	uint32_t n, capacity;
	struct map64 by_ptr;                /* runtime.g -> index, of those that live */
	struct g *recent[1 << RECENT_BITS]; /* found last, maybe dead since */
	struct map64 by_goid;               /* the same by id: readers refuse two of one id */
	struct map64 ended_goids;           /* of goroutines that ended in this generation */
	uint32_t *ended;                    /* indices to be used again after this generation */
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
	struct map64 m_by_tid;          /* -> index */
	struct m *recent_ms[RECENT_MS]; /* found last, by tid */
	uint64_t created;               /* goroutines so far, without the synthetic one */
	bool oom;                       /* out of memory: something is missing */
};

/* A spare P id or thread id of our own; no Linux tid is as large. */
#define SYNTHETIC_TID  0x7fffffffu
#define SYNTHETIC_GOID ((uint64_t)1 << 52)

/* False when out of memory. */
bool entities_init(struct entities *all);
void entities_free(struct entities *all);

/* The live goroutine at this address, or NULL. */
struct g *g_find(struct entities *all, uint64_t ptr);
/* A new life; its status is G_DEAD until the caller changes it. ptr and goid may be 0. NULL when out of
 * memory.
 */
struct g *g_new(struct entities *all, uint64_t ptr, uint64_t goid);
/* Its life is over: its address may be another's from now on. */
void g_ended(struct entities *all, struct g *g);
/* Indices of the dead may be used again. */
void g_recycle(struct entities *all);
/* Up to Go 1.23 newproc1 numbers a goroutine after the probe: the next record brings the id. */
void g_set_goid(struct entities *all, struct g *g, uint64_t goid);

/* NULL if it is not known. */
struct p *p_find(const struct entities *all, uint64_t ptr);
struct p *p_by_id(const struct entities *all, int32_t id);
/* A new P, idle. NULL when out of memory, or if no machine has that many. */
struct p *p_add(struct entities *all, int32_t id);
void p_set_ptr(struct entities *all, struct p *p, uint64_t ptr);

/* NULL if it is not known. */
struct m *m_find(const struct entities *all, uint32_t tid);
/* Finds or adds it; NULL if tid is 0, or when out of memory. */
struct m *m_get(struct entities *all, uint32_t tid);
/* If there are many: forgets Ms without goroutine and P that had no record since that time, but for one. */
void m_forget_idle(struct entities *all, uint64_t since, const struct m *but);

#endif
