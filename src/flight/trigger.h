/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a flight recorder waits for, as people write it: 'blocked>50ms', 'func main.handle>100ms'. */
#ifndef GOTRACE_FLIGHT_TRIGGER_H
#define GOTRACE_FLIGHT_TRIGGER_H

#include <stdint.h>

#include "util/error.h"

enum trigger_kind {
	TRIGGER_BLOCKED,    /* a goroutine waits for another one for longer than `limit` ns */
	TRIGGER_RUNNABLE,   /* a goroutine waits for a P */
	TRIGGER_SYSCALL,    /* a goroutine is in a system call */
	TRIGGER_GC_PAUSE,   /* the garbage collector stops the world */
	TRIGGER_GOROUTINES, /* there are more than `limit` */
	TRIGGER_FUNCTION,   /* a call of a function lasts for longer than `limit` ns */
};

/* Of a trigger, and of one that has no function's name in it. */
enum { MAX_TRIGGERS = 16, TRIGGER_TEXT = 256, SHORT_TRIGGER = 64 };

struct trigger {
	enum trigger_kind kind;
	uint64_t limit; /* ns, or a number of goroutines */
	/* of TRIGGER_BLOCKED: how the reason begins, "" = any that is a wait for others; of
	 * TRIGGER_FUNCTION: the function's name */
	char name[TRIGGER_TEXT];
	char text[TRIGGER_TEXT]; /* as it was written */
};

/* 0, or -EINVAL with a line that says what is wrong. */
int trigger_parse(const char *text, struct trigger *trigger, struct error *err);

#endif
