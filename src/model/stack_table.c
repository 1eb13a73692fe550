/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/stack_table.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

/* Of a cut stack, beside its start: with functions inlined into them, these are fewer than a format's limit.
 */
enum { ROOTED_FRAMES = 64 };

bool stack_table_init(struct stack_table *st)
{
	st->capacity = 256;
	st->stacks = calloc(st->capacity, sizeof(*st->stacks));
	st->uses = calloc(st->capacity, sizeof(*st->uses));
	st->n = 1; /* id 0 = no stack */
	return st->stacks && st->uses;
}

void stack_table_free(struct stack_table *st)
{
	for (uint32_t i = 0; st->stacks && st->uses && i < st->n; i++) {
		const struct stack *stack = &st->stacks[i];

		if (!stack->leaf && !stack->root) /* else they belong to its base */
			free((void *)stack->pcs);
	}
	free(st->stacks);
	free(st->uses);
	free(st->free);
	map64_free(&st->by_hash);
	map64_free(&st->by_entry);
}

static bool grow(struct stack_table *st)
{
	uint32_t capacity = st->capacity * 2;
	struct stack *stacks;
	struct stack_use *uses;

	if (st->n < st->capacity)
		return true;
	stacks = realloc(st->stacks, capacity * sizeof(*stacks));
	if (!stacks)
		return false;
	st->stacks = stacks;
	uses = realloc(st->uses, capacity * sizeof(*uses));
	if (!uses)
		return false;
	st->uses = uses;
	st->capacity = capacity;
	return true;
}

/* Returns an unused id; 0 when out of memory. */
static uint32_t take_id(struct stack_table *st)
{
	if (st->nfree)
		return st->free[--st->nfree];
	return grow(st) ? st->n++ : 0;
}

/* Copies n addresses into a new stack. Returns its id; 0 when out of memory. */
static uint32_t model_stack_table_add(struct stack_table *st, const uint64_t *pcs, uint32_t n)
{
	uint64_t *copy = malloc((n ? n : 1) * sizeof(*copy));
	uint32_t id = copy ? take_id(st) : 0;

	if (!id) {
		free(copy);
		st->oom = true;
		return 0;
	}
	memcpy(copy, pcs, n * sizeof(*copy));
	st->stacks[id] = (struct stack){.pcs = copy, .n = n};
	st->uses[id] = (struct stack_use){.hash = 0};
	return id;
}

/* Allows the stack to be found by this hash. */
static void stack_table_publish(struct stack_table *st, uint32_t id, uint64_t hash)
{
	st->uses[id] = (struct stack_use){.hash = hash, .epoch = st->epoch};
	if (map64_set(&st->by_hash, hash, id))
		st->oom = true;
}

/*
 * Whether the walk did not reach the first function. A native walk that broke may have: its start code is
 * known by name only (model/threads/names.c).
 */
static bool misses_its_root(const struct raw_stack *raw)
{
	unsigned ends = raw->flags & RAW_STACK_NATIVE ? RAW_STACK_CUT : RAW_STACK_CUT | RAW_STACK_BROKEN;

	return raw->flags & ends && !(raw->flags & (RAW_STACK_SCAN | RAW_STACK_SAMPLE));
}

uint32_t stack_table_add(struct stack_table *st, const struct raw_stack *raw, uint32_t cut)
{
	uint32_t id = stack_table_find(st, raw->hash);

	if (id)
		return id;
	if (!raw->hash || !raw->n)
		return 0;
	id = model_stack_table_add(st, raw->pcs, raw->n);
	if (!id)
		return 0;
	st->stacks[id].skip = raw->skip;
	st->stacks[id].sample = raw->flags & RAW_STACK_SAMPLE;
	st->stacks[id].scan = raw->flags & RAW_STACK_SCAN;
	if (misses_its_root(raw))
		st->stacks[id].cut = cut;
	stack_table_publish(st, id, raw->hash);
	return id;
}

uint32_t stack_table_find(struct stack_table *st, uint64_t hash)
{
	uint32_t *id = &st->recent[hash % RECENT_STACKS].id;

	if (!hash)
		return 0;
	if (st->recent[hash % RECENT_STACKS].hash != hash) {
		id = map64_get(&st->by_hash, hash);
		if (!id)
			return 0;
		st->recent[hash % RECENT_STACKS].hash = hash;
		st->recent[hash % RECENT_STACKS].id = *id;
	}
	st->uses[*id].epoch = st->epoch;
	return *id;
}

uint32_t stack_table_skip(struct stack_table *st, uint32_t id, uint8_t skip)
{
	uint64_t hash = hash_u64(skip, st->uses[id].hash);
	uint32_t known, copy;

	if (!skip || !st->uses[id].hash || st->stacks[id].skip)
		return id;
	known = stack_table_find(st, hash);
	if (known)
		return known;
	copy = model_stack_table_add(st, st->stacks[id].pcs, st->stacks[id].n);
	if (!copy)
		return id;
	st->stacks[copy].skip = skip;
	st->stacks[copy].scan = st->stacks[id].scan;
	st->stacks[copy].cut = st->stacks[id].cut;
	stack_table_publish(st, copy, hash);
	return copy;
}

uint32_t stack_table_rooted(struct stack_table *st, uint32_t id, uint64_t startpc, uint32_t cut)
{
	uint64_t hash = hash_u64(startpc, id ? st->uses[id].hash : 0), pcs[ROOTED_FRAMES + 1];
	uint32_t known, copy, n = id ? st->stacks[id].n : 0;

	if (!startpc || (id && (!st->stacks[id].cut || st->stacks[id].starts || !st->uses[id].hash)))
		return id;
	known = stack_table_find(st, hash);
	if (known)
		return known;
	n = n < ROOTED_FRAMES ? n : ROOTED_FRAMES;
	if (n)
		memcpy(pcs, st->stacks[id].pcs, n * sizeof(*pcs));
	pcs[n] = startpc + 1; /* as a return address */
	copy = model_stack_table_add(st, pcs, n + 1);
	if (!copy)
		return id;
	st->stacks[copy].skip = id ? st->stacks[id].skip : 0;
	st->stacks[copy].cut = cut;
	st->stacks[copy].starts = true;
	stack_table_publish(st, copy, hash);
	return copy;
}

void stack_table_use(struct stack_table *st, uint32_t id)
{
	st->uses[st->uses[id].base].epoch = st->epoch;
	st->uses[id].epoch = st->epoch;
}

static bool push_free(struct stack_table *st, uint32_t id)
{
	if (array_grow(&st->free, &st->free_capacity, st->nfree + 1, sizeof(*st->free)))
		return false;
	st->free[st->nfree++] = id;
	return true;
}

bool stack_table_forget(struct stack_table *st, uint32_t id)
{
	if (!push_free(st, id))
		return false;
	if (st->uses[id].hash)
		map64_del(&st->by_hash, st->uses[id].hash);
	if (!st->uses[id].named) /* else they belong to its base */
		free((void *)st->stacks[id].pcs);
	st->stacks[id] = (struct stack){.pcs = NULL};
	st->uses[id] = (struct stack_use){.hash = 0};
	return true;
}

void stack_table_renew(struct stack_table *st)
{
	memset(st->recent, 0, sizeof(st->recent));
	st->epoch++;
}

bool stack_table_is_stale(const struct stack_table *st, uint32_t id)
{
	const struct stack_use *use = &st->uses[id];

	/* A named stack is used together with its base, so it never outlives it. */
	return (use->hash || use->named) && use->epoch + 1 < st->epoch;
}

uint32_t stack_table_entry(struct stack_table *st, uint64_t startpc)
{
	uint32_t *known = startpc ? map64_get(&st->by_entry, startpc) : NULL;
	uint64_t pc = startpc + 1; /* as a return address, so that the look-up of pc-1 finds the entry */
	uint32_t id;

	if (known || !startpc)
		return known ? *known : 0;
	id = model_stack_table_add(st, &pc, 1);
	if (!id)
		return 0;
	st->stacks[id].entry = true;
	if (map64_set(&st->by_entry, startpc, id))
		st->oom = true;
	return id;
}

uint32_t stack_table_literal(struct stack_table *st, const uint64_t *names, uint32_t n)
{
	uint32_t id = model_stack_table_add(st, names, n);

	if (id)
		st->stacks[id].literal = true;
	return id;
}

uint32_t stack_table_named(struct stack_table *st, uint32_t base, uint32_t leaf, uint32_t root)
{
	uint32_t id;

	if (!leaf && !root)
		return base;
	id = take_id(st);
	if (!id) {
		st->oom = true;
		return 0;
	}
	st->stacks[id] = base ? st->stacks[base] : (struct stack){0};
	st->stacks[id].leaf = leaf;
	st->stacks[id].root = root;
	st->uses[id] = (struct stack_use){.epoch = st->epoch, .base = base, .named = true};
	return id;
}
