/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Triggers of a flight recorder, parsed from text such as 'blocked>50ms' or 'func main.handle>100ms'. */
#ifndef GOTRACE_FLIGHT_TRIGGER_H
#define GOTRACE_FLIGHT_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

enum trigger_kind {
	/* of the trace */
	TRIGGER_BLOCKED,    /* a goroutine waits for another one longer than `limit` ns */
	TRIGGER_RUNNABLE,   /* a goroutine waits for a P longer than `limit` ns */
	TRIGGER_SYSCALL,    /* a goroutine is in a system call longer than `limit` ns */
	TRIGGER_GC_PAUSE,   /* the garbage collector stops the world longer than `limit` ns */
	TRIGGER_GOROUTINES, /* there are more than `limit` goroutines */
	TRIGGER_QUEUE,      /* more than `limit` goroutines wait for a P at once */
	TRIGGER_HEAP,       /* the goal of the garbage collector is more than `limit` bytes */
	TRIGGER_FUNCTION,   /* a call of a function lasts longer than `limit` ns */
	TRIGGER_REQUEST,    /* a task, such as a request, lasts longer than `limit` ns */
	TRIGGER_FINDING,    /* a report on the last seconds has a finding of rank `limit` or above */
	/* of the process and its cgroup, second by second (host_eval.h) */
	TRIGGER_CPU,        /* the process uses more than `limit` percent of one CPU */
	TRIGGER_CGROUP_CPU, /* the same for all processes of its cgroup */
	TRIGGER_THROTTLED,  /* its cgroup is throttled for more than `limit` ns in a second */
	TRIGGER_RSS,        /* it has more than `limit` bytes of physical memory */
};

/* The kinds that are evaluated on figures of the process and its cgroup, one bit each. */
#define HOST_TRIGGERS                                                                                        \
	(1u << TRIGGER_CPU | 1u << TRIGGER_CGROUP_CPU | 1u << TRIGGER_THROTTLED | 1u << TRIGGER_RSS)

/* TRIGGER_TEXT: size of a trigger's text, bytes; SHORT_TRIGGER: the same without a function name. */
enum { MAX_TRIGGERS = 16, TRIGGER_TEXT = 256, SHORT_TRIGGER = 64 };

#define TRIGGER_LOCK "lock" /* in place of a reason: Go has one reason for locks and groups */

struct trigger {
	enum trigger_kind kind;
	uint64_t limit; /* ns, bytes, percent, rank of a level, or number of goroutines */
	/*
	 * TRIGGER_BLOCKED: TRIGGER_LOCK, or the prefix of the reason; "" = any wait for other goroutines.
	 * TRIGGER_FUNCTION: the function's name. TRIGGER_REQUEST: the task's name, or its beginning and a
	 * '*'; "" = any task.
	 */
	char name[TRIGGER_TEXT];
	char text[TRIGGER_TEXT]; /* as given by the user */
};

/* Parses text into *trigger. Returns 0, or -EINVAL and sets *err. */
int trigger_parse(const char *text, struct trigger *trigger, struct error *err);
/* Whether it is evaluated on figures of the process and its cgroup (host_eval.h), not on the trace. */
bool trigger_is_of_host(const struct trigger *trigger);
/* Whether one of n triggers is of these kinds: one bit each, 1u << kind. */
bool triggers_have(const struct trigger *triggers, unsigned n, uint32_t kinds);
/*
 * Whether a trigger on a value fires now that it has this value. It fires when the value exceeds the limit,
 * and again only after the value has been more than a tenth below the limit, or 0. *above has one bit per
 * trigger, number `which` for this one: it has fired, and the value has not been that low since.
 */
bool trigger_rises(const struct trigger *trigger, unsigned which, uint64_t value, uint16_t *above);
/* Returns the name of a trigger that only Go programs have, or NULL. */
const char *trigger_go_only(const struct trigger *trigger);
/* Whether a task of this name is meant, for TRIGGER_REQUEST. */
bool trigger_takes_name(const struct trigger *trigger, const char *name);

#endif
