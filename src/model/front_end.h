/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The differences between targets traced as goroutines and as threads. The sequence is the same (model.c,
 * generation.c). Every member is set; where a front end has nothing to do, the function is empty.
 */
#ifndef GOTRACE_MODEL_FRONT_END_H
#define GOTRACE_MODEL_FRONT_END_H

#include "rawlog/rawlog.h"
#include "trace/ops/op.h"

struct model;
struct g;

struct front_end {
	/* Records with texts are user annotations; otherwise a LOG_TEXT is a thread's name. */
	bool annotates;
	/* Allocates the front end's own state. Returns false when out of memory. */
	bool (*open)(struct model *md);
	void (*close)(struct model *md);

	/* --- records --- */
	/* Handles one record of a probe. */
	void (*observe)(struct model *md, const struct raw_record *rec);
	/* Learns names of stacks, addresses, files and threads: LOG_STACK, LOG_SYMBOL, LOG_FILE, LOG_TEXT. */
	void (*learn_name)(struct model *md, const struct log_record *record);
	/* Whether system calls are recorded from here on. Records from before may still follow. */
	void (*set_calls)(struct model *md, bool recorded);
	/* Settles what records left open, from the Ms read at a boundary. */
	void (*settle)(struct model *md, const struct log_boundary *boundary, const struct log_m *ms);
	/* Recording stops here: ends the system call, if any, of g, which has a thread. */
	void (*end_call)(struct model *md, struct g *g);

	/* --- the initial state, and the state after a loss --- */
	/* Sets the state from md->snapshot and the early records [from, to) between its markers. */
	void (*start)(struct model *md, size_t from, size_t to);
	/* Sets the state of a program that gotrace started: nothing precedes its first record. */
	void (*start_spawned)(struct model *md, const struct raw_record *first);
	/* Writes the differences from md->snapshot as ops. */
	void (*resync)(struct model *md);

	/* --- generations --- */
	/* Writes what a file's first generation has besides statuses. */
	void (*write_first)(struct model *md);
	/* Completes the status of g at a generation's start. */
	void (*describe_status)(struct model *md, struct g *g, struct op *op);
	/* Settles what is still open; the ops are otherwise complete. */
	void (*end_generation)(struct model *md, bool last);

	/* --- names and stacks --- */
	uint32_t (*entry_stack)(struct model *md, const struct g *g); /* stack id, 0 = not known */
	/* Returns the name of g's row in the statistics: string id, 0 = its start function. */
	uint32_t (*row_name)(struct model *md, const struct g *g);
	/* g has ended and is in the list of ended goroutines. */
	void (*end_life)(struct model *md, struct g *g);
	void (*use_stacks)(struct model *md, const struct g *g); /* marks its stacks of g as used */
	void (*forget_stack)(struct model *md, uint32_t id);     /* the id may be reused */
	void (*stacks_renewed)(struct model *md);                /* stale stacks have been forgotten */
	void (*files_renewed)(struct model *md);                 /* the log names files again */
	void (*keep_names)(struct model *md);                    /* calls strtab_keep() on its names */
};

extern const struct front_end go_front_end;      /* go/go.c */
extern const struct front_end threads_front_end; /* threads/threads.c */

#endif
