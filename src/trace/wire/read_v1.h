/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads traces of wire v1 (`go 1.5` to `go 1.21`) and v0: the tables, and the events of all Ps in the order
 * that contemporary readers give them.
 *
 * The file must stay in memory while the trace exists. Events are decoded from it on demand. A trace costs
 * some bytes per batch and, from go 1.7 on, one or two bytes per event; but 48 bytes for a sample, the end of
 * a blocking system call, and any event of an older format.
 */
#ifndef GOTRACE_TRACE_WIRE_READ_V1_H
#define GOTRACE_TRACE_WIRE_READ_V1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/wire/event_v1.h"
#include "trace/wire/read.h"

struct v1_trace;

enum {
	V1_READ_ARGS = 3, /* arguments of an event, without its stack */
	V1_NO_P = -1,     /* the event was written by a thread without a P */
};

struct v1_text {
	const uint8_t *bytes; /* in the file; not validated */
	uint32_t len;
};

struct v1_event {
	uint64_t offset; /* in the file */
	uint8_t type;    /* enum event_v1_type; Local forms appear as GoStart, GoUnblock, GoSysExit */
	int64_t time;    /* ns since the first event; for GoSysExit and CPUSample, the real time */
	int64_t ticks;   /* the absolute time in the file's units */
	int64_t p;       /* P of the event's batch, V1_NO_P = none; for CPUSample, the sampled P */
	uint32_t proc;   /* index of the batch's P, below v1_procs() */
	/*
	 * Goroutine running on the P; for GoStart, GoSysExit, GoWaiting, GoInSyscall and CPUSample, the
	 * goroutine that the event names. 0 = none.
	 */
	uint64_t g;
	unsigned nargs;              /* as in the file, but Local forms have no seq */
	uint64_t args[V1_READ_ARGS]; /* without the stack; zero from nargs on */
	uint64_t stack;              /* 0 = none */
	struct v1_text text;         /* label, name of a task or region, or key of a log; "" = none */
	struct v1_text message;      /* of UserLog */
};

struct v1_frame {
	uint64_t pc;
	struct v1_text func, file; /* "" before go 1.7, where frames have only a PC */
	uint64_t line;             /* 0 before go 1.7 */
};

/* Returns the v1 or v0 format (enum wire_format) that the header names, or WIRE_NONE. */
unsigned v1_format(const uint8_t *bytes, size_t n);

/*
 * Reads, orders and checks a trace of n bytes by the rules of the strictest reader of its format. Returns 0,
 * or -EBADMSG or -ENOMEM with the fault set. *trace holds the events before the fault, in order; it is NULL
 * if nothing could be read. bytes must outlive *trace.
 */
int v1_read(const uint8_t *bytes, size_t n, struct v1_trace **trace, struct fault *fault);
void v1_free(struct v1_trace *trace);

unsigned v1_trace_format(const struct v1_trace *trace); /* enum wire_format */
/* Returns ticks per second, or 0 if unknown (truncated file). */
uint64_t v1_trace_frequency(const struct v1_trace *trace);
uint64_t v1_count(const struct v1_trace *trace); /* events in order */
size_t v1_procs(const struct v1_trace *trace);   /* Ps with batches; "no P" counts as one */
/* Moves to before the first event. A trace has one position. */
void v1_rewind(struct v1_trace *trace);
/* Reads the next event in order. Returns false if there is none. */
bool v1_next(struct v1_trace *trace, struct v1_event *event);
/* Returns an empty text if there is no such string. */
struct v1_text v1_string(const struct v1_trace *trace, uint64_t id);
/* Writes at most `most` frames of a stack, leaf first. Returns their number, 0 if there is no such stack. */
size_t v1_stack(const struct v1_trace *trace, uint64_t id, struct v1_frame *frames, size_t most);
/* Returns true if wake-ups by this goroutine are timer wake-ups (up to Go 1.13). */
bool v1_is_timer(const struct v1_trace *trace, uint64_t g);

/* Totals over the events before the fault. */
struct v1_summary {
	uint64_t events[V1_EVENT_COUNT]; /* by type, including Batch, String, Stack, ... */
	uint64_t goroutines, procs, threads;
	uint64_t dropped;  /* events of futile wake-ups, which are not in the order */
	int64_t last_time; /* ns */
};

void v1_summarize(const struct v1_trace *trace, struct v1_summary *summary);

#endif
