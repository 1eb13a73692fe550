/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: the reader of v1 and v0 files. */
#ifndef GOTRACE_CONVERT_V1_H
#define GOTRACE_CONVERT_V1_H

#include "convert/builder.h"
#include "wire/read_v1.h"

struct p_v1 {
	uint32_t thread;     /* that it was started on last, 0 = none */
	uint32_t steal;      /* 1 + index of the op that has just taken it from a call, 0 = none */
	uint32_t generation; /* of that op */
};

struct reader_v1 {
	struct builder *b;
	struct v1_trace *trace;
	unsigned format;       /* enum wire_format */
	struct symbol *symbol; /* names of addresses; NULL = not known */
	struct idmap stacks;   /* the file's ids -> ours */
	struct p_v1 *ps;
	size_t nps;
	uint8_t *blocks; /* a bit an event: this system call will lose its P */
	uint64_t base;   /* ns: time of the first event */
	uint64_t procs;  /* GOMAXPROCS */
	bool procs_due;  /* to be told in the open generation */
	bool starting;   /* before the first Gomaxprocs: what is created was there already */
	struct v1_event ev;
	uint64_t time; /* ns: of ev */
};

/* What becomes of the event in hand, number i of the order. 0, -ENOMEM or -EBADMSG with the builder's error.
 */
int v1_act(struct reader_v1 *r, size_t i);

/* Each generation says how many Ps there are, as soon as the event in hand is somebody's: 0, or as above. */
int v1_tell_procs(struct reader_v1 *r);

/* --- tables: from_v1.c --- */
int v1_take_stack(struct reader_v1 *r, uint64_t id, uint32_t *stack);
/* The stack of one frame that says where a goroutine begins: the id of one, or before go 1.7 the address. */
int v1_take_entry(struct reader_v1 *r, uint64_t id, uint32_t *stack);
int v1_take_text(struct reader_v1 *r, struct v1_text text, uint32_t *string);
int v1_no_memory(struct reader_v1 *r);

#endif
