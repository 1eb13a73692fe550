/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading traces of wire v1 (`go 1.5` to `go 1.21`) and v0: the events of all
 * Ps in one order, as the readers of their time have them, and the tables.
 *
 * The whole file is in memory and stays there while the trace lives; events
 * are decoded from it when asked for, so that a trace costs 40 bytes an event.
 */
#ifndef GOTRACE_READ_V1_H
#define GOTRACE_READ_V1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/event_v1.h"
#include "wire/read.h"

struct v1_trace;

enum {
	V1_READ_ARGS = 3, /* of an event, without its stack */
	V1_NO_P = -1,     /* no P: written by a thread without one */
};

struct v1_text {
	const uint8_t *bytes; /* in the file; any bytes */
	uint32_t len;
};

struct v1_event {
	uint64_t offset; /* in the file */
	uint8_t type;    /* enum event_v1_type; the Local forms are given as GoStart, GoUnblock, GoSysExit */
	int64_t time;    /* ns since the first event; of GoSysExit and CPUSample, when it really was */
	int64_t ticks;   /* the same in units of the file */
	int64_t p;       /* P it was written on, V1_NO_P = none; of CPUSample, the P sampled */
	uint32_t proc;   /* which of v1_procs Ps it was written on, counted from 0 */
	/* What ran on the P; of GoStart, GoSysExit, GoWaiting, GoInSyscall, CPUSample whom they are about. 0
	 * = none. */
	uint64_t g;
	unsigned nargs;              /* as in the file: Local forms have no seq */
	uint64_t args[V1_READ_ARGS]; /* without the stack, zero behind nargs */
	uint64_t stack;              /* 0 = none */
	struct v1_text text;         /* label, name of a task or region, key of a log; "" if there is none */
	struct v1_text message;      /* of UserLog */
};

struct v1_frame {
	uint64_t pc;
	struct v1_text func, file; /* "" in formats before go 1.7, which have the PC alone */
	uint64_t line;             /* 0 there */
};

/* Which v1 or v0 format the header names (enum wire_format), or WIRE_NONE. */
unsigned v1_format(const uint8_t *bytes, size_t n);

/*
 * Reads, orders and checks a trace of n bytes, by the rules of the strictest
 * reader of its format. 0; -EBADMSG with the fault set; or -ENOMEM, with the
 * fault set too. *trace has the events before the fault, in order, and is NULL
 * only if there is nothing to be had. bytes must outlive it.
 */
int v1_read(const uint8_t *bytes, size_t n, struct v1_trace **trace, struct fault *fault);
void v1_free(struct v1_trace *trace);

unsigned v1_trace_format(const struct v1_trace *trace);    /* enum wire_format */
uint64_t v1_trace_frequency(const struct v1_trace *trace); /* ticks a second; 0 = unknown (a torn file) */
size_t v1_count(const struct v1_trace *trace);
size_t v1_procs(const struct v1_trace *trace); /* that have batches, "none" too */
/* The event number i of the order, i < v1_count. */
void v1_event_at(const struct v1_trace *trace, size_t i, struct v1_event *event);
/* "" if there is no such string. */
struct v1_text v1_string(const struct v1_trace *trace, uint64_t id);
/* Frames of the stack, leaf first; 0 if there is no such stack. Writes at most `most` of them. */
size_t v1_stack(const struct v1_trace *trace, uint64_t id, struct v1_frame *frames, size_t most);
/* Wake-ups by this goroutine are those of timers (up to Go 1.13). */
bool v1_is_timer(const struct v1_trace *trace, uint64_t g);

/* What is in it, of the events before the fault. */
struct v1_summary {
	uint64_t events[V1_EVENT_COUNT]; /* by type; Batch, String, Stack, ... too */
	uint64_t goroutines, procs, threads;
	uint64_t dropped;  /* events of futile wake-ups, which are not in the order */
	int64_t last_time; /* ns */
};

void v1_summarize(const struct v1_trace *trace, struct v1_summary *summary);

#endif
