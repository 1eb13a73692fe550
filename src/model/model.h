/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state machine of goroutines, Ps and Ms. Takes the records of the raw
 * log in their order and turns them into ops, generation by generation. What
 * has no site to probe is inferred, what was lost is repaired; the ops are
 * valid whatever the log holds.
 */
#ifndef GOTRACE_MODEL_H
#define GOTRACE_MODEL_H

#include "op.h"
#include "rawlog/rawlog.h"
#include "util/error.h"

struct model;

/* Takes one closed generation; owned by the model, valid during the call. 0 or a negative errno. */
typedef int (*generation_sink)(void *ctx, const struct generation *gen);

/*
 * Looks at the ops of a generation that is about to be closed, all of them in their places but for CPU
 * samples, which follow. now: ns, of the end. It may call model_log, and keeps nothing of what it is shown.
 */
typedef void (*generation_watch)(void *ctx, const struct op *ops, size_t n, uint64_t now);

struct model_options {
	generation_sink sink;
	void *ctx;
	struct strtab *strings; /* not owned; shared with symbol */
	generation_watch watch; /* may be NULL */
	void *watch_ctx;
	/* Any generation may be the first one of a file, and none is of a format before go 1.22: each tells
	 * of all that is open, and stacks may be forgotten when the log says that they come anew
	 * (LOG_NOTE_RENEW). */
	bool any_first;
	size_t generation_ops; /* a generation is closed early when it has so many besides statuses; 0 =
				  default */
};

struct model *model_new(const struct model_options *options);
void model_free(struct model *model);
/* Feeds one record of the log. 0, or a negative errno: the sink's, -ENOMEM, -EBADMSG. */
int model_feed(struct model *model, const struct log_record *record, struct error *err);
struct goroutine_stats;

enum { LOG_AT_END = -1 };

/*
 * For a generation_watch: a user log event right behind ops[place], of the goroutine that runs there, with
 * this stack (0: none); or, with LOG_AT_END or where no goroutine runs, of the goroutine "gotrace" at the end
 * of the generation.
 */
void model_log(struct model *model, long place, uint32_t stack, const char *text);
/* The text of a string id, of this generation too; "" if there is none. */
const char *model_string(const struct model *model, uint32_t string);
/* What a goroutine, by its index in tables.goroutines, runs, or a thread is called: startpc and name. */
void model_describe(struct model *model, uint32_t g, struct goroutine_stats *row);
/* The goroutine "gotrace", which is none of the target's. */
bool model_is_own(const struct model *model, uint32_t g);
uint64_t model_goid(const struct model *model, uint32_t g); /* 0 = not known yet */
/* Closes the last generation. May be called with a log that ended anywhere. */
int model_finish(struct model *model, struct error *err);

/* Time per state and counts, for the summary. */
enum { STAT_REASONS = 24 };

struct goroutine_stats {  /* one row a start function */
	uint64_t startpc; /* 0 = not known */
	uint32_t name;    /* of threads: string id of start routine and comm; 0 for goroutines */
	uint64_t count;   /* goroutines seen */
	uint64_t running_ns, runnable_ns, syscall_ns, waiting_ns;
	struct {
		uint32_t reason; /* string id, 0 = unused */
		uint64_t ns;
	} waiting[STAT_REASONS]; /* what does not fit goes into waiting_ns only */
};

struct model_stats {
	uint64_t start_ns, end_ns; /* of the trace */
	uint64_t generations;
	uint64_t ops;
	uint64_t inferred; /* ops without an observation of their own that are normal (fast ends of system
			      calls, starts) */
	uint64_t inferred_starts; /* of these: starts of goroutines */
	uint64_t repaired;        /* ops made up to keep the trace valid */
	uint64_t goroutines;      /* lives seen */
	uint64_t unnumbered;      /* goroutines whose id was never seen: they have a made-up one */
	struct log_loss loss;     /* what capture lost */
	uint64_t by_kind[OP_KIND_COUNT];
};

const struct model_stats *model_stats(const struct model *model);
/* Rows sorted by running time, busiest first; owned by the model. */
const struct goroutine_stats *model_goroutine_stats(struct model *model, size_t *count);
unsigned model_threads(const struct model *model); /* that are known now */
const struct tables *model_tables(const struct model *model);
/* What the log said of the target; NULL before LOG_TARGET. */
const struct log_target *model_target(const struct model *model);

#endif
