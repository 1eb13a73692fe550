/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the room: the list of ops of the open generation, and the state
 * that makes it valid by construction. A step that the state does not allow
 * is refused, whatever a file says.
 */
#ifndef GOTRACE_BUILDER_H
#define GOTRACE_BUILDER_H

#include "convert/convert.h"
#include "convert/stacks.h"
#include "wire/idmap.h"

/* A goroutine's life. Indices are those of ops; 0 = none. */
struct life {
	uint64_t goid;
	uint32_t thread;    /* index of who holds it, 0 = nobody */
	uint32_t status_at; /* 1 + place of its status in this generation, 0 = it has none */
	uint32_t birth_at;  /* 1 + index of the op of its birth, if in this generation, and nothing since */
	uint8_t status;     /* enum g_status; 0 = dead */
	uint8_t nstw;
	bool assists;
	bool assisted;   /* it was told of some assist before */
	bool reborn;     /* another one of its id ended in this generation */
	uint32_t stw[4]; /* string ids of open stop-the-worlds */
};

struct place { /* a P */
	bool known;
	uint8_t status; /* enum p_status */
	bool sweeps;
	uint32_t thread; /* index of who holds it, 0 = nobody */
};

struct thread {
	uint32_t tid; /* as ops name it */
	uint32_t g;   /* index of its goroutine's life, 0 = none */
	int32_t p;
	/* Since the first generation began: had a goroutine or a P; did what it could do for the lack of one.
	 */
	bool had_g, had_p, lacked_g, lacked_p;
};

struct op_array {
	struct op *ops;
	size_t n, capacity;
};

enum gc_phase { GC_UNKNOWN, GC_OFF, GC_ON };

enum { MOST_ACTIVES = 1 << 12 };

struct builder {
	struct convert_sink sink;
	struct strtab *strings, *texts;
	struct stacks stacks;

	struct life *lives;
	uint64_t *goids; /* by index of life */
	size_t nlives, life_capacity, goid_capacity;
	uint32_t *ended, *unused; /* indices: of this generation's dead; to be used again */
	size_t nended, ended_capacity, nunused, unused_capacity;
	struct idmap life_by_goid; /* of the living, and the last one of the dead */
	struct place *places;      /* by id of P */
	size_t nplaces, place_capacity;
	struct thread *threads; /* [0] = none */
	size_t nthreads, thread_capacity;
	struct idmap thread_by_id;
	uint32_t made_threads; /* whose tids are made up */
	enum gc_phase gc;
	uint64_t nstw;          /* open stop-the-worlds */
	struct idmap task_ends; /* task -> generation of its end */
	uint64_t last_end;      /* ns: of the last goroutine or task that ended */

	struct op_array p_statuses, g_statuses, actives, ops;
	uint32_t generation; /* number of the open one, 0 = none */
	uint64_t hint;       /* ns: where it began in the file */
	uint64_t floor;      /* ns: it cannot begin before */
	uint64_t last;       /* ns: time of the last op */
	struct op_spacing spacing;
	uint64_t heap_base;
	uint64_t clock_ns, wall_sec; /* one moment on both clocks; wall_sec = wall_nsec = 0: not known */
	uint32_t wall_nsec;
	bool has_clock;

	struct convert_result *result;
	struct error *err;
};

int builder_init(struct builder *b, const struct convert_sink *sink, struct convert_result *result,
		 struct error *err);
void builder_free(struct builder *b);

/* Opens the next generation, which begins about at `start` (ns), with the state as it is. 0 or -ENOMEM. */
int builder_open(struct builder *b, uint64_t start);
/* Hands the generation to the sink. 0, -ENOMEM, or what the sink says. */
int builder_close(struct builder *b, bool last);

/* Index of the thread with that id of the file, 0 for WIRE_NO_ID. -ENOMEM. */
int builder_thread(struct builder *b, uint64_t id, uint32_t *thread);
/* A thread that the file does not name. */
int builder_new_thread(struct builder *b, uint32_t *thread);
/* The living goroutine of that id; 0 if there is none. */
uint32_t builder_goroutine(const struct builder *b, uint64_t goid);
/* A life to come, not yet born: for the steps that bear a goroutine or give the first status. */
int builder_new_life(struct builder *b, uint64_t goid, uint32_t *g);
/* Whoever has or had that id: for samples. */
int builder_any_goroutine(struct builder *b, uint64_t goid, uint32_t *g);
struct place *builder_place(struct builder *b, uint64_t id); /* NULL: too large an id, or no memory */

/*
 * One step at `time` (ns) or a little later. op.m and op.m2 are indices of
 * threads here; op.g and op.p are filled in where the thread has them.
 * 0, -ENOMEM, or -EBADMSG with the error set, and nothing changed.
 */
int builder_step(struct builder *b, uint64_t time, const struct op *op);
/* Statuses of what was there before: in the first generation at its start, wherever they are found. */
int builder_g_status(struct builder *b, const struct op *op);
int builder_p_status(struct builder *b, uint64_t time, const struct op *op);
/* The stack of a goroutine that was there when the generation began. */
void builder_g_stack(struct builder *b, uint32_t g, uint32_t stack);
/* Whether the generation began with the goroutine in this status, and it still is in it. */
bool builder_began_as(const struct builder *b, uint32_t g, unsigned status);
/* Of a goroutine that was said to be runnable at the start, and nothing since: it did something else. */
int builder_amend_status(struct builder *b, uint32_t g, unsigned status, uint32_t thread);
/* The same of one that was born since; nothing is done if much has happened meanwhile. */
int builder_amend_birth(struct builder *b, uint64_t time, uint32_t g, unsigned status, uint32_t thread);
/* It was this thread that stole the P, in the step with that index in ops. */
void builder_amend_thief(struct builder *b, size_t at, uint32_t thread);
/* Says that goroutine g helped the collector already when the trace began. */
int builder_assisted(struct builder *b, uint32_t g);

struct op *array_push(struct op_array *array); /* zeroed but for p; NULL when out of memory */

#endif
