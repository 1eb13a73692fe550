/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Evaluates triggers on the ops of each generation: how long each goroutine has been in its state. A state
 * that began before the trace, or that may have changed during a gap, does not count, because its duration is
 * unknown.
 */
#ifndef GOTRACE_FLIGHT_TRIGGER_EVAL_H
#define GOTRACE_FLIGHT_TRIGGER_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flight/trigger.h"
#include "sched/op.h"

enum { NO_PLACE = -1 };

struct trigger_match {
	const struct trigger *trigger;
	uint32_t g;           /* index of the goroutine concerned; NO_G: none */
	bool still;           /* the state continues at the end of the ops */
	bool over;            /* it was reported as `still` before, and has ended now; not a new match */
	long place;           /* index of the op after which the goroutine runs and can be notified; NO_PLACE:
			       * none */
	uint64_t value;       /* ns, or number of goroutines */
	uint64_t time;        /* ns */
	uint32_t reason;      /* string id of why it waits or the world was stopped; 0 = none */
	uint32_t stack;       /* with which it entered the state; 0 = none */
	uint32_t waker;       /* of a wait that has ended: the goroutine that ended it; NO_G: none */
	uint32_t waker_stack; /* that one's; 0 = none */
	bool woken;           /* the wait has ended */
};

struct trigger_eval_options {
	const struct trigger *triggers; /* not owned */
	unsigned ntriggers;             /* at most MAX_TRIGGERS */
	/* True for a goroutine of the runtime itself, whose waits are normal. */
	bool (*is_system)(void *ctx, uint32_t g);
	/* Returns the text of a string id. */
	const char *(*string)(void *ctx, uint32_t string);
	/* For a TRIGGER_FUNCTION: the name of the user regions that represent its calls. */
	const char *regions[MAX_TRIGGERS];
	/* Called for each match; at most MAX_MATCHES times per trigger and generation. */
	void (*fire)(void *ctx, const struct trigger_match *match);
	void *ctx;
};

enum { MAX_MATCHES = 64 };

struct trigger_eval;

struct trigger_eval *trigger_eval_new(const struct trigger_eval_options *options); /* NULL if out of memory */
void trigger_eval_free(struct trigger_eval *eval);
/* Evaluates all ops of a generation; now = its end in ns. Returns 0 or -ENOMEM. */
int trigger_eval_generation(struct trigger_eval *eval, const struct op *ops, size_t n, uint64_t now);
/*
 * Call it if events up to now (ns; 0: the end of the last generation) may be missing. Durations of states
 * count from there on.
 */
void trigger_eval_forget(struct trigger_eval *eval, uint64_t now);

#endif
