/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the reader of v1 and v0 files. */
#ifndef GOTRACE_TRACE_CONVERT_V1_H
#define GOTRACE_TRACE_CONVERT_V1_H

#include "trace/convert/builder.h"
#include "trace/wire/read_v1.h"

struct p_history {
	uint32_t thread;     /* thread that it last ran on, 0 = none */
	uint32_t steal;      /* 1 + index of the op that has just taken it from a system call, 0 = none */
	uint32_t generation; /* generation of that op */
};

struct reader_v1 {
	struct builder *b;
	struct v1_trace *trace;
	unsigned format;       /* enum wire_format */
	struct symbol *symbol; /* names of addresses; NULL = unknown */
	struct map64 stacks;   /* ids of the file -> ids of the builder */
	struct p_history *ps;
	size_t nps;
	uint8_t *blocks; /* one bit per event: this system call will lose its P */
	uint64_t base;   /* time of the first event, ns */
	uint64_t procs;  /* GOMAXPROCS */
	bool procs_due;  /* the open generation has not stated procs yet */
	bool starting;   /* before the first Gomaxprocs: GoCreate names a goroutine that already existed */
	struct v1_event ev;
	const struct event_v1_spec *spec; /* of ev */
	uint64_t time;                    /* of ev, ns */
};

/*
 * Converts the current event, which has index i in the order. Returns 0, or -ENOMEM or -EBADMSG with the
 * builder's error set.
 */
int v1_act(struct reader_v1 *r, size_t i);

/* States GOMAXPROCS once per generation, at the first event of a running goroutine. Returns as v1_act. */
int v1_emit_procs(struct reader_v1 *r);

/* --- tables_v1.c --- */
int v1_take_stack(struct reader_v1 *r, uint64_t id, uint32_t *stack);
/* Sets *stack to the one-frame stack of a goroutine's entry. id: a stack id or, before go 1.7, an address. */
int v1_take_entry(struct reader_v1 *r, uint64_t id, uint32_t *stack);
int v1_take_text(struct reader_v1 *r, struct v1_text text, uint32_t *string);
int v1_no_memory(struct reader_v1 *r);

#endif
