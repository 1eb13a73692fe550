/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Triggers of a flight recorder in their textual form: 'blocked>50ms', 'func main.handle>100ms'. */
#ifndef GOTRACE_FLIGHT_TRIGGER_H
#define GOTRACE_FLIGHT_TRIGGER_H

#include <stdint.h>

#include "util/error.h"

enum trigger_kind {
	TRIGGER_BLOCKED,    /* a goroutine waits for another one longer than `limit` ns */
	TRIGGER_RUNNABLE,   /* a goroutine waits for a P */
	TRIGGER_SYSCALL,    /* a goroutine is in a system call */
	TRIGGER_GC_PAUSE,   /* the garbage collector stops the world */
	TRIGGER_GOROUTINES, /* there are more than `limit` goroutines */
	TRIGGER_FUNCTION,   /* a call of a function lasts longer than `limit` ns */
};

/* TRIGGER_TEXT: size of a trigger's text; SHORT_TRIGGER: of one without a function name. */
enum { MAX_TRIGGERS = 16, TRIGGER_TEXT = 256, SHORT_TRIGGER = 64 };

struct trigger {
	enum trigger_kind kind;
	uint64_t limit; /* ns, or number of goroutines */
	/*
	 * TRIGGER_BLOCKED: how the reason begins, "" = any wait for other goroutines; TRIGGER_FUNCTION: the
	 * function's name
	 */
	char name[TRIGGER_TEXT];
	char text[TRIGGER_TEXT]; /* as given by the user */
};

/* Returns 0, or -EINVAL with a line that says what is wrong. */
int trigger_parse(const char *text, struct trigger *trigger, struct error *err);

#endif
