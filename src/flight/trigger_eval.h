/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Evaluates triggers on the ledger of each generation: how long each goroutine has been in its state. A state
 * that began before the trace does not count, because its duration is unknown. A gap restarts all durations.
 */
#ifndef GOTRACE_FLIGHT_TRIGGER_EVAL_H
#define GOTRACE_FLIGHT_TRIGGER_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flight/trigger.h"
#include "trace/ops/op.h"

enum { NO_PLACE = -1 };

struct trigger_match {
	const struct trigger *trigger;
	uint32_t g;           /* index of the goroutine concerned; NO_G: none */
	bool still;           /* the state continues at the end of the ops */
	bool over;            /* the end of a state that was reported as `still`; not a new match */
	long place;           /* index of the op after which the goroutine runs, for a log; or NO_PLACE */
	uint64_t value;       /* ns, bytes, or number of goroutines */
	uint64_t time;        /* ns */
	uint32_t reason;      /* string id: reason of the wait or stop, name of the function; 0 = none */
	uint32_t stack;       /* on entry to the state; 0 = none */
	uint32_t waker;       /* if woken: the goroutine that ended the wait; NO_G: none */
	uint32_t waker_stack; /* stack of the waker; 0 = none */
	const char *name;     /* of the task, for TRIGGER_REQUEST; valid during the call. Else NULL */
	bool woken;           /* the wait has ended */
};

struct trigger_eval_options {
	const struct trigger *triggers; /* not owned */
	unsigned ntriggers;             /* at most MAX_TRIGGERS */
	/* Returns true for a goroutine of the runtime or of gotrace, whose waits are normal. */
	bool (*is_system)(void *ctx, uint32_t g);
	/* Returns true if what waits for this reason, with this stack, waits for a lock, and not for a group.
	 */
	bool (*is_lock)(void *ctx, const char *reason, uint32_t stack);
	/* Returns true if this stack is that of a sleep, whatever the reason says. NULL: there are none. */
	bool (*is_sleep)(void *ctx, uint32_t stack);
	/* Returns the text of a string id. */
	const char *(*string)(void *ctx, uint32_t string);
	/* By trigger, for TRIGGER_FUNCTION: the name of the user regions that represent its calls. */
	const char *regions[MAX_TRIGGERS];
	/* Called for each match; at most MAX_MATCHES times per trigger and generation. */
	void (*fire)(void *ctx, const struct trigger_match *match);
	void *ctx;
};

enum { MAX_MATCHES = 64 };

struct trigger_eval;

struct trigger_eval *trigger_eval_new(const struct trigger_eval_options *options); /* NULL if out of memory */
void trigger_eval_free(struct trigger_eval *eval);
/*
 * Evaluates all ops of a generation that ends at now (ns). Returns 0 or -ENOMEM; then all states are
 * forgotten, and matches that were pending are dropped.
 */
int trigger_eval_generation(struct trigger_eval *eval, const struct op *ops, size_t n, uint64_t now);
/*
 * Nothing is watched from this time (ns) on, or from this time on again, or from the end of the last
 * generation if that is later. In a gap nothing fires, and all durations restart at its end.
 */
void trigger_eval_gap(struct trigger_eval *eval, uint64_t now, bool begins);
/* Restarts all durations at the end of the last generation: events before may be missing. */
void trigger_eval_forget(struct trigger_eval *eval);

#endif
