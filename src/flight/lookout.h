/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Looks for what triggers wait for in the ops of one generation after the
 * other: how long each goroutine has been what it is. What was so already when
 * the trace began, or may have changed unseen, does not count: nobody knows for how long.
 */
#ifndef GOTRACE_FLIGHT_LOOKOUT_H
#define GOTRACE_FLIGHT_LOOKOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flight/trigger.h"
#include "model/op.h"

enum { NO_PLACE = -1 };

struct firing {
	const struct trigger *trigger;
	uint32_t g;     /* index of the goroutine concerned; NO_G: nobody */
	bool still;     /* it is so at the end of the ops */
	bool over;      /* it was told as `still` before, and is over now: no news */
	long place;     /* index of the op behind which the goroutine runs and knows; NO_PLACE: it does not */
	uint64_t value; /* ns, or how many goroutines */
	uint64_t time;  /* ns */
	uint32_t reason; /* string id: why it waits, or the world was stopped; 0 = none */
	uint32_t stack;  /* with which it went there; 0 = none */
};

struct lookout_options {
	const struct trigger *triggers; /* not owned */
	unsigned ntriggers;             /* at most MAX_TRIGGERS */
	/* A goroutine of the runtime's own, which waits and yields as it should. */
	bool (*is_system)(void *ctx, uint32_t g);
	/* The text of a string id. */
	const char *(*string)(void *ctx, uint32_t string);
	/* Of a TRIGGER_FUNCTION: what the user regions are called that stand for its calls. */
	const char *regions[MAX_TRIGGERS];
	/* In a generation a trigger fires at most MAX_FIRINGS times. */
	void (*fire)(void *ctx, const struct firing *firing);
	void *ctx;
};

enum { MAX_FIRINGS = 64 };

struct lookout;

struct lookout *lookout_new(const struct lookout_options *options); /* NULL when out of memory */
void lookout_free(struct lookout *lookout);
/* All ops of a generation, now = its end in ns. 0 or -ENOMEM. */
int lookout_generation(struct lookout *lookout, const struct op *ops, size_t n, uint64_t now);
/* Until now (ns; 0: the end of the last generation) something may have happened unseen: what goroutines are
 * in counts from here on. */
void lookout_forget(struct lookout *lookout, uint64_t now);

#endif
