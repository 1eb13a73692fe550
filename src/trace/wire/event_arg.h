/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Arguments of events: their names in dumps, and the fields of an op that they correspond to. */
#ifndef GOTRACE_TRACE_WIRE_EVENT_ARG_H
#define GOTRACE_TRACE_WIRE_EVENT_ARG_H

#include <stdbool.h>
#include <stdint.h>

enum arg_role {
	ARG_OTHER,  /* no field of an op */
	ARG_VALUE,  /* op.arg */
	ARG_VALUE2, /* op.arg2 */
	ARG_G,      /* id of an existing goroutine: op_other() */
	ARG_NEW_G,  /* id of a new goroutine: op_other() */
	ARG_P,      /* id of a P: op.p */
	ARG_M,      /* id of a thread: op.m2 */
	ARG_SEQ,    /* sequence number */
	ARG_STATUS, /* status of the object that the event names */
	ARG_STRING, /* id of a string: op.string */
	ARG_TEXT,   /* id of a string that rarely repeats: op.string2 */
	ARG_STACK,  /* id of a stack: op.stack */
	ARG_ENTRY,  /* id of the one-frame stack at which a goroutine starts: op.stack2 */
};

struct event_arg {
	const char *name;
	uint8_t role; /* enum arg_role */
};

static inline bool arg_is_string(const struct event_arg *arg)
{
	return arg->role == ARG_STRING || arg->role == ARG_TEXT;
}

static inline bool arg_is_stack(const struct event_arg *arg)
{
	return arg->role == ARG_STACK || arg->role == ARG_ENTRY;
}

#endif
