/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Triggers of a flight recorder, parsed from text such as 'blocked>50ms' or 'func main.handle>100ms'. */
#ifndef GOTRACE_FLIGHT_TRIGGER_H
#define GOTRACE_FLIGHT_TRIGGER_H

#include <stdint.h>

#include "util/error.h"

enum trigger_kind {
	TRIGGER_BLOCKED,    /* a goroutine waits for another one longer than `limit` ns */
	TRIGGER_RUNNABLE,   /* a goroutine waits for a P longer than `limit` ns */
	TRIGGER_SYSCALL,    /* a goroutine is in a system call longer than `limit` ns */
	TRIGGER_GC_PAUSE,   /* the garbage collector stops the world longer than `limit` ns */
	TRIGGER_GOROUTINES, /* there are more than `limit` goroutines */
	TRIGGER_FUNCTION,   /* a call of a function lasts longer than `limit` ns */
};

/* TRIGGER_TEXT: size of a trigger's text, bytes; SHORT_TRIGGER: the same without a function name. */
enum { MAX_TRIGGERS = 16, TRIGGER_TEXT = 256, SHORT_TRIGGER = 64 };

struct trigger {
	enum trigger_kind kind;
	uint64_t limit; /* ns, or number of goroutines */
	/*
	 * TRIGGER_BLOCKED: prefix of the reason, "" = any wait for other goroutines. TRIGGER_FUNCTION: the
	 * function's name.
	 */
	char name[TRIGGER_TEXT];
	char text[TRIGGER_TEXT]; /* as given by the user */
};

/* Parses text into *trigger. Returns 0, or -EINVAL and sets *err. */
int trigger_parse(const char *text, struct trigger *trigger, struct error *err);

#endif
