/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the model: the current state of the target. Each part is changed by a file of its own; this
 * header defines what several files use.
 */
#ifndef GOTRACE_MODEL_STATE_H
#define GOTRACE_MODEL_STATE_H

#include <string.h>

#include "model/annotators.h"
#include "model/early.h"
#include "model/emit.h"
#include "model/entities.h"
#include "model/front_end.h"
#include "model/op_list.h"
#include "model/reasons.h"
#include "model/snapshot.h"
#include "model/stack_table.h"
#include "model/types.h"
#include "util/utf8.h"

/* The synthetic goroutine, "gotrace", makes transitions that were not seen, on a thread of its own. */
struct synthetic {
	struct m *m;
	struct g *g;
	struct m *host;      /* the thread that it is on now: its own, or one of the target's; NULL = none */
	struct p *p;         /* its own; NULL while it has always found another one */
	uint32_t stack;      /* of its transitions */
	uint32_t wait_stack; /* of the synthetic goroutine itself, while it waits */
};

/* A log event of gotrace's that waits for its place (own_log.c). category, text: string ids. */
struct own_log {
	uint64_t time; /* ns: of the last op before it */
	uint32_t category, text;
};

struct own_logs {
	struct own_log *all;
	size_t n, capacity;
};

enum model_phase {
	BEFORE_SNAPSHOT, /* records are kept until the first snapshot arrives */
	AFTER_GAP,       /* the same, but a state from before the gap exists */
	RUNNING,
};

/* The garbage collector, and the stopped world. */
struct collector {
	struct g *stw; /* the goroutine that stopped the world, NULL = it runs */
	enum gc_phase phase;
	uint64_t last;                 /* ns: time of the last record about a cycle */
	bool in_file;                  /* any event of a cycle has been written */
	bool goal_due;                 /* the heap's goal is still to be announced */
	bool live_due;                 /* the heap's size is still to be announced */
	uint64_t heap_goal, heap_live; /* bytes */
};

/* Heap spans and stacks: address -> whether it is in use, and the time of its latest record (go/memory.c). */
struct memory {
	struct map64 spans, stacks;
	uint64_t base; /* of the heap, 0 = nothing is known of memory */
};

struct stats;         /* stats.c */
struct threads_state; /* threads/state.h */

/* What the last notes say of all that follows them; "" = nothing. */
struct notes_in_force {
	char gap[128];    /* that nothing is watched, and why */
	char detail[128]; /* what is left out */
};

struct model {
	struct model_options options;
	struct log_target target;
	bool has_target;
	bool starts_only; /* goroutines leave their threads unseen (LOG_NOTE_SPANS) */
	bool oom;
	int sink_error;
	const struct raw_text *text; /* the current record with its texts; NULL: it has none */

	const struct front_end *front;
	struct annotators annotators;
	struct model_view view;
	struct threads_state *threads; /* of threads_front_end; NULL = the target is traced as goroutines */

	/* --- the state, and the ops that led to it --- */
	struct entities entities;
	struct synthetic synthetic;
	struct own_logs own_logs;
	struct op_list ops;
	struct strtab *texts; /* messages of logs, of the open generation */
	struct stack_table stacks;
	struct reason_table reasons;
	struct collector gc;
	uint32_t gomaxprocs;
	struct memory memory;
	struct open_generation generation;

	/* --- before and after gaps --- */
	enum model_phase phase;
	uint64_t gap_since; /* begin of the open gap, ns; 0 = none */
	struct notes_in_force notes_in_force;
	struct early_records early;
	struct model_snapshot snapshot;

	/* --- output --- */
	struct tables tables;
	struct stats *stats;
	struct model_stats totals;
};

/* Returns the id of a string that is valid for the whole trace. */
static inline uint32_t string_id(struct model *md, const char *text)
{
	return strtab_add_str(md->options.strings, text);
}

/* The same for a comm, which the kernel cuts after 15 bytes, even inside a character. */
static inline uint32_t comm_id(struct model *md, const char *comm)
{
	size_t len = text_whole(comm, strlen(comm));
	uint32_t id = strtab_add(md->options.strings, comm, len);

	md->oom = md->oom || (!id && len);
	return id;
}

#endif
