/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Annotators add to a trace what rides along with its records, such as CPU samples, labels and requests. The
 * model gets a table of them when it is made, and calls them in the order of the table; it knows nothing else
 * of them. They know the model by this header. Without annotators, a trace has the states of goroutines, Ps
 * and threads, the collector, and memory.
 */
#ifndef GOTRACE_MODEL_ANNOTATOR_H
#define GOTRACE_MODEL_ANNOTATOR_H

#include "model/emit.h"
#include "model/entities.h"
#include "model/op_list.h"
#include "model/stack_table.h"

struct model;
struct annotations; /* the annotators' own state */

struct open_generation {
	uint32_t number;                /* from 1; 0 = none is open */
	uint64_t start;                 /* ns */
	uint64_t until;                 /* ns: of the boundary that closes it; 0 = not known */
	struct log_clock clock;         /* the newest */
	uint64_t last_start, last_wall; /* ns: of the generation before: when it began, by both clocks */
	bool boundary_due;              /* waits for the end of a stop-the-world */
	bool renew_due;                 /* stacks are to be forgotten at its end */
	bool procs_announced;           /* ProcsChange was written */
	bool gc_announced;              /* it has an event of a cycle, or announces that one runs */
};

/* A record of a probe, with its pointers looked up. */
struct probe_hit {
	const struct raw_record *rec;
	struct m *m; /* the thread that was hit */
	struct p *p; /* its P, or the P concerned; NULL if none, or unknown */
	uint32_t stack;
	const struct raw_text *text; /* the record with its texts; NULL: it has none */
	union {
		struct g *sampled; /* SITE_CPU_SAMPLE; NULL: unknown */
		struct g *created; /* SITE_NEWPROC */
	};
};

/* What annotators see of the model. The pointers are valid as long as the model. */
struct model_view {
	struct model *model;
	struct op_list *ops; /* of the open generation */
	struct entities *entities;
	struct stack_table *stacks;
	struct strtab *strings;
	const struct open_generation *generation;
	const struct log_target *target;
	bool any_first;  /* model_options.any_first */
	uint32_t losses; /* number of losses and gaps so far */
	/* Number of ops that annotators will add when the generation closes: counts towards its limit. */
	size_t pending;
	bool oom; /* to be set by annotators: out of memory, something is missing */
};

enum { ANNOTATOR_LISTENS = 16 };

/* Members that are NULL or empty do nothing. Lists end with 0. */
struct annotator {
	/* Allocates its state. Returns false when out of memory; free() follows. */
	bool (*open)(struct annotations *all);
	void (*free)(struct annotations *all);

	/*
	 * Takes a record of a probe, before the step that it leads to. The goroutine of hit->m acts, and
	 * runs; with SITE_NEWPROC it may have none; with SITE_CPU_SAMPLE, SITE_OFF_CPU and SITE_CPU there is
	 * no hit->m.
	 */
	uint8_t sites[ANNOTATOR_LISTENS]; /* enum site */
	void (*observe)(struct annotations *all, const struct probe_hit *hit);

	/*
	 * Takes any other record of the log. LOG_NOTE (but those with LOG_NOTE_RENEW) and LOG_LOSS come only
	 * while a generation is open, LOG_END only if the trace ends in a gap.
	 */
	uint8_t records[ANNOTATOR_LISTENS]; /* LOG_* */
	void (*learn)(struct annotations *all, const struct log_record *record);

	/*
	 * An op of m's goroutine. OP_GO_START: it has just started, or runs when a generation begins.
	 * OP_GO_BLOCK: it is about to leave unseen. OP_GO_DESTROY: it is about to end, or its program ends
	 * (exec).
	 */
	uint64_t ops; /* bits: 1 << OP_* */
	void (*op)(struct annotations *all, enum op_kind kind, struct m *m);

	/* ops[block] was written for a goroutine that left unseen: it waits for this (AWAITED_*). */
	void (*awaits)(struct annotations *all, size_t block, uint64_t awaited, uint32_t stack);
	/* A snapshot has been taken. records: those between its markers, which are newer. */
	void (*snapshot)(struct annotations *all, const struct raw_record *records, size_t n);

	/* A generation is about to close: writes the last ops. */
	void (*settle)(struct annotations *all);
	/* Every op is in its place: completes ops, and inserts others. */
	void (*close)(struct annotations *all);
	/* The generation has closed: drops what is no longer needed. */
	void (*prune)(struct annotations *all);
	/* Calls strtab_keep() for the names that it holds. */
	void (*keep_names)(struct annotations *all);
};

/*
 * Opens the annotators of a table that ends with NULL. state: from malloc(); the model frees it. To be called
 * once, before the first record. Returns false when out of memory: only model_free() may follow.
 */
bool model_annotate(struct model *model, const struct annotator *const *table, struct annotations *state);
struct annotations *model_annotations(const struct model *model); /* that state */
struct model_view *model_view(struct model *model);

/* Returns a text's id that is valid in this generation. */
uint32_t model_text_id(struct model *model, const char *text, size_t len);
/*
 * Writes a log event about now, of a running goroutine or else of "gotrace". text: a string id, with or
 * without TEXT_ID.
 */
void model_write_log(struct model *model, const char *category, uint32_t text);
/*
 * Whether a log event may follow ops[place]: it is after the statuses, and a target goroutine then runs on
 * its P. Readers require all three.
 */
bool own_log_may_follow(const struct op_list *ops, size_t place);
/* Returns the log event after such an op. category, text: string ids. */
struct op own_log_after(const struct op *op, uint32_t category, uint32_t text, uint32_t stack);
/* Ends the system call, if any, of g, which has a thread. */
void model_end_call(struct model *model, struct g *g);
/* Counts ns for which goroutine g was running but its thread had no CPU. Call in close(). */
void model_count_off_cpu(struct model *model, uint32_t g, uint64_t ns);

#endif
