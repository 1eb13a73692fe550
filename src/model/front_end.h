/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What differs between targets seen as goroutines and as threads. The sequence is the same (model.c,
 * generation.c). Every member is set; one that has nothing to do in a front end is a function that does
 * nothing.
 */
#ifndef GOTRACE_MODEL_FRONT_END_H
#define GOTRACE_MODEL_FRONT_END_H

#include "rawlog/rawlog.h"
#include "sched/op.h"

struct model;
struct g;

struct front_end {
	/* Records with texts are the user's annotations; else a LOG_TEXT is a thread's name. */
	bool annotates;
	/* Makes what it keeps of its own. False when out of memory. */
	bool (*open)(struct model *md);
	void (*close)(struct model *md);

	/* --- records --- */
	/* One record of a probe. */
	void (*observe)(struct model *md, const struct raw_record *rec);
	/* What stacks, addresses, files and threads are called: LOG_STACK, LOG_SYMBOL, LOG_FILE, LOG_TEXT. */
	void (*learn_name)(struct model *md, const struct log_record *record);
	/* System calls are not seen from here on. */
	void (*lose_calls)(struct model *md);
	/* Ms were read at a boundary: settles what their records left open. */
	void (*settle)(struct model *md, const struct log_boundary *boundary, const struct log_m *ms);
	/* Nothing is recorded from here on: g, which has a thread, is in no system call. */
	void (*end_call)(struct model *md, struct g *g);

	/* --- the first state, and the state after a loss --- */
	/* From md->snapshot and the early records [from, to) between its markers. */
	void (*start)(struct model *md, size_t from, size_t to);
	/* Of a program that gotrace started: there was nothing before its first record. */
	void (*start_spawned)(struct model *md, const struct raw_record *first);
	/* Writes the differences from md->snapshot as ops. */
	void (*resync)(struct model *md);

	/* --- generations --- */
	/* Writes what a file's first generation has beside statuses. */
	void (*write_first)(struct model *md);
	/* Completes the status of g at a generation's start. */
	void (*describe_status)(struct model *md, struct g *g, struct op *op);
	/* The ops are complete but for what this settles. */
	void (*end_generation)(struct model *md, bool last);

	/* --- names and stacks --- */
	uint32_t (*entry_stack)(struct model *md, const struct g *g); /* stack id, 0 = not known */
	/* What a row of the statistics is called: string id, 0 = by its start function. */
	uint32_t (*row_name)(struct model *md, const struct g *g);
	/* The life is over; the goroutine is in the list of the ended. */
	void (*end_life)(struct model *md, struct g *g);
	void (*use_stacks)(struct model *md, const struct g *g); /* stack_table_use of what it holds for g */
	void (*forget_stack)(struct model *md, uint32_t id);     /* the id may become another's */
	void (*stacks_renewed)(struct model *md);                /* stale stacks have been forgotten */
	void (*files_renewed)(struct model *md);                 /* the log names files again */
	void (*keep_names)(struct model *md);                    /* strtab_keep of what it holds */
};

extern const struct front_end go_front_end;      /* go.c */
extern const struct front_end threads_front_end; /* threads.c */

#endif
