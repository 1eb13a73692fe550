/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The stacks that ops refer to, by id. Id 0 is "no stack". */
#ifndef GOTRACE_MODEL_STACK_TABLE_H
#define GOTRACE_MODEL_STACK_TABLE_H

#include "rawlog/rawlog.h"
#include "trace/ops/op.h"
#include "util/map64.h"

enum { RECENT_STACKS = 256 };

/* After a renewal the log repeats stacks; those that are no longer used are then dropped. */
struct stack_use {
	uint64_t hash;  /* by which records refer to it; 0: kept for ever or named, or its id is free */
	uint32_t epoch; /* of its last use */
	uint32_t base;  /* of a named stack: the stack whose pcs it shares */
	bool named;
};

struct stack_table {
	struct stack *stacks;
	struct stack_use *uses; /* by id */
	uint32_t n, capacity;
	uint32_t epoch; /* counts renewals */
	uint32_t *free; /* ids for reuse */
	uint32_t nfree;
	size_t free_capacity;
	struct map64 by_hash; /* raw_stack.hash -> id */
	struct {
		uint64_t hash;
		uint32_t id;
	} recent[RECENT_STACKS]; /* found recently, by hash */
	struct map64 by_entry;   /* start PC -> id of its one-frame stack */
	bool oom;                /* out of memory: stacks are missing */
};

/* Returns false when out of memory. */
bool stack_table_init(struct stack_table *table);
void stack_table_free(struct stack_table *table);
/* Copies a stack of the log; `cut` is the string id of the frame that ends a cut one. Returns its id; 0 if it
 * is empty, or when out of memory. */
uint32_t stack_table_add(struct stack_table *table, const struct raw_stack *raw, uint32_t cut);
/* Returns the id of the stack with this hash; 0 if the log has not sent it. */
uint32_t stack_table_find(struct stack_table *table, uint64_t hash);
/* Returns the same stack without `skip` frames at its leaf; `id` itself if it already skips some. */
uint32_t stack_table_skip(struct stack_table *table, uint32_t id, uint8_t skip);
/*
 * Returns the stack, if it was cut or is 0, with the start of the goroutine's function; `cut` is the string
 * id of the frame between them. Returns `id` itself if it is whole, startpc is 0, or when out of memory.
 */
uint32_t stack_table_rooted(struct stack_table *table, uint32_t id, uint64_t startpc, uint32_t cut);
/* Returns the one-frame stack that represents a function's entry; 0 if startpc is 0. */
uint32_t stack_table_entry(struct stack_table *table, uint64_t startpc);
/* A stack whose frames are function names: string ids, leaf first. */
uint32_t stack_table_literal(struct stack_table *table, const uint64_t *names, uint32_t n);
/*
 * Returns a new id for stack `base` (0 = none) with names around it (string ids, 0 = none); `base` itself if
 * both are 0.
 */
uint32_t stack_table_named(struct stack_table *table, uint32_t base, uint32_t leaf, uint32_t root);
/* Keeps the stack across the next renewal. */
void stack_table_use(struct stack_table *table, uint32_t id);

/*
 * Renewal: begins a new epoch. The caller then calls stack_table_use() for stacks that it holds, and drops
 * stale ones.
 */
void stack_table_renew(struct stack_table *table);
/* Whether neither this epoch nor the one before has used it. */
bool stack_table_is_stale(const struct stack_table *table, uint32_t id);
/* Drops the stack; its id may be reused. Returns false when out of memory: the stack stays. */
bool stack_table_forget(struct stack_table *table, uint32_t id);

#endif
