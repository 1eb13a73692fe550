/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What ops refer to by id: stacks, strings, reasons. */
#include <stdlib.h>
#include <string.h>

#include "state.h"

int tables_init(struct model *md)
{
	struct stack_table *st = &md->stacks;

	st->capacity = 256;
	st->stacks = calloc(st->capacity, sizeof(*st->stacks));
	st->uses = calloc(st->capacity, sizeof(*st->uses));
	if (!st->stacks || !st->uses)
		return -1;
	st->n = 1; /* id 0 = no stack */
	return 0;
}

void tables_free(struct model *md)
{
	for (uint32_t i = 0; i < md->stacks.n; i++) {
		const struct stack *stack = &md->stacks.stacks[i];

		if (!stack->leaf && !stack->root) /* else they are another one's */
			free((void *)stack->pcs);
	}
	free(md->stacks.stacks);
	free(md->stacks.uses);
	free(md->stacks.free);
	map64_free(&md->stacks.by_hash);
	map64_free(&md->stacks.by_entry);
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

/* An id that nobody has; 0 when out of memory. */
static uint32_t take_id(struct stack_table *st)
{
	if (st->nfree)
		return st->free[--st->nfree];
	return grow(st) ? st->n++ : 0;
}

/* Copies n addresses into a new stack; returns its id, 0 when out of memory. */
static uint32_t add(struct model *md, const uint64_t *pcs, uint32_t n)
{
	struct stack_table *st = &md->stacks;
	uint64_t *copy = malloc((n ? n : 1) * sizeof(*copy));
	uint32_t id = copy ? take_id(st) : 0;

	if (!id) {
		free(copy);
		md->oom = true;
		return 0;
	}
	memcpy(copy, pcs, n * sizeof(*copy));
	st->stacks[id] = (struct stack){.pcs = copy, .n = n};
	st->uses[id] = (struct stack_use){.hash = 0};
	return id;
}

uint32_t tables_add_stack(struct model *md, const struct raw_stack *raw)
{
	uint32_t id = tables_stack(md, raw->hash);

	if (id)
		return id;
	if (!raw->hash || !raw->n)
		return 0;
	id = add(md, raw->pcs, raw->n);
	if (!id)
		return 0;
	md->stacks.stacks[id].skip = raw->skip;
	md->stacks.stacks[id].sample = raw->flags & RAW_STACK_SAMPLE;
	md->stacks.stacks[id].scan = raw->flags & RAW_STACK_SCAN;
	md->stacks.uses[id] = (struct stack_use){.hash = raw->hash, .epoch = md->stacks.epoch};
	if (map64_set(&md->stacks.by_hash, raw->hash, id))
		md->oom = true;
	return id;
}

uint32_t tables_stack(const struct model *md, uint64_t hash)
{
	uint32_t *id = hash ? map64_get(&md->stacks.by_hash, hash) : NULL;

	if (id)
		md->stacks.uses[*id].epoch = md->stacks.epoch;
	return id ? *id : 0;
}

void tables_use_stack(struct model *md, uint32_t id)
{
	struct stack_table *st = &md->stacks;

	st->uses[st->uses[id].base].epoch = st->epoch;
	st->uses[id].epoch = st->epoch;
}

/* What goroutines were last seen with is told at the start of each generation. */
static void use_held(struct model *md)
{
	for (uint32_t i = 1; i < md->gs.n; i++) {
		const struct g *g = md->gs.all[i];

		if (g->status != G_DEAD)
			tables_use_stack(md, g->stack);
		if (g->status != G_DEAD && g->thread)
			threads_use_stacks(md, g->thread);
	}
}

static bool push_free(struct stack_table *st, uint32_t id)
{
	if (st->nfree == st->free_capacity) {
		uint32_t more = st->free_capacity ? st->free_capacity * 2 : 1024;
		uint32_t *bigger = realloc(st->free, more * sizeof(*bigger));

		if (!bigger)
			return false;
		st->free = bigger;
		st->free_capacity = more;
	}
	st->free[st->nfree++] = id;
	return true;
}

static void forget_stack(struct model *md, uint32_t id)
{
	struct stack_table *st = &md->stacks;

	if (!push_free(st, id))
		return; /* it stays */
	if (st->uses[id].hash)
		map64_del(&st->by_hash, st->uses[id].hash);
	if (!st->uses[id].named) /* else they are another one's */
		free((void *)st->stacks[id].pcs);
	if (md->threads)
		threads_forget_stack(md, id);
	st->stacks[id] = (struct stack){.pcs = NULL};
	st->uses[id] = (struct stack_use){.hash = 0};
}

/*
 * The kernel sends a stack's frames once, until it is told to forget what it
 * has sent: right after the record that brings us here (capture_renew). So what
 * it takes to be known was told of, or used, in this epoch or in the one before.
 */
void tables_renew(struct model *md)
{
	struct stack_table *st = &md->stacks;

	/* What is kept for a snapshot to come names its stacks by their hashes. */
	if (!md->renew_due || md->phase != RUNNING)
		return;
	md->renew_due = false;
	st->epoch++;
	use_held(md);
	for (uint32_t id = 1; id < st->n; id++) {
		const struct stack_use *use = &st->uses[id];

		/* One with a name is used with its base: it never outlives it. */
		if ((use->hash || use->named) && use->epoch + 1 < st->epoch)
			forget_stack(md, id);
	}
	if (md->threads)
		threads_forget_named(md); /* what is still used is made again, under another number */
}

/* Half of how many there may be. */
enum { MANY_NAMES = 1 << 15 };

void tables_sweep_names(struct model *md)
{
	struct strtab *strings = md->options.strings;

	/* What is kept for a snapshot to come has its names here. */
	if (!md->options.any_first || md->phase != RUNNING || strtab_loose(strings) < MANY_NAMES)
		return;
	for (uint32_t id = 1; id < md->stacks.n; id++) {
		strtab_keep(strings, md->stacks.stacks[id].leaf);
		strtab_keep(strings, md->stacks.stacks[id].root);
	}
	for (uint32_t i = 1; i < md->gs.n; i++) {
		const struct region_list *regions = &md->gs.all[i]->regions;

		for (unsigned k = 0; k < regions->n; k++)
			strtab_keep(strings, regions->open[k].name);
	}
	if (md->threads)
		threads_keep_names(md);
	strtab_sweep(strings);
}

uint32_t tables_entry_stack(struct model *md, uint64_t startpc)
{
	uint32_t *known = startpc ? map64_get(&md->stacks.by_entry, startpc) : NULL;
	uint64_t pc = startpc + 1; /* as a return address, so that the look-up of pc-1 finds the entry */
	uint32_t id;

	if (known || !startpc)
		return known ? *known : 0;
	id = add(md, &pc, 1);
	if (!id)
		return 0;
	md->stacks.stacks[id].entry = true;
	if (map64_set(&md->stacks.by_entry, startpc, id))
		md->oom = true;
	return id;
}

uint32_t tables_literal_stack(struct model *md, const char *const *names, unsigned n)
{
	uint64_t ids[8];
	uint32_t id;

	for (unsigned i = 0; i < n && i < 8; i++)
		ids[i] = tables_string(md, names[i]);
	id = add(md, ids, n < 8 ? n : 8);
	if (id)
		md->stacks.stacks[id].literal = true;
	return id;
}

uint32_t tables_named_stack(struct model *md, uint32_t base, uint32_t leaf, uint32_t root)
{
	struct stack_table *st = &md->stacks;
	uint32_t id;

	if (!leaf && !root)
		return base;
	id = take_id(st);
	if (!id) {
		md->oom = true;
		return 0;
	}
	st->stacks[id] = base ? st->stacks[base] : (struct stack){0};
	st->stacks[id].leaf = leaf;
	st->stacks[id].root = root;
	st->uses[id] = (struct stack_use){.epoch = st->epoch, .base = base, .named = true};
	return id;
}

uint32_t tables_string(struct model *md, const char *text)
{
	return strtab_add_str(md->options.strings, text);
}

uint32_t tables_reason(const struct model *md, unsigned table, uint64_t index)
{
	return index < MAX_REASONS ? md->reasons[table][index] : 0;
}
