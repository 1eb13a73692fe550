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
	if (!st->stacks)
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
	map64_free(&md->stacks.by_hash);
	map64_free(&md->stacks.by_entry);
}

static bool grow(struct stack_table *st)
{
	uint32_t capacity = st->capacity * 2;
	struct stack *stacks;

	if (st->n < st->capacity)
		return true;
	stacks = realloc(st->stacks, capacity * sizeof(*stacks));
	if (!stacks)
		return false;
	st->stacks = stacks;
	st->capacity = capacity;
	return true;
}

/* Copies n addresses into a new stack; returns its id, 0 when out of memory. */
static uint32_t add(struct model *md, const uint64_t *pcs, uint32_t n)
{
	struct stack_table *st = &md->stacks;
	uint64_t *copy = malloc((n ? n : 1) * sizeof(*copy));

	if (!copy || !grow(st)) {
		free(copy);
		md->oom = true;
		return 0;
	}
	memcpy(copy, pcs, n * sizeof(*copy));
	st->stacks[st->n] = (struct stack){.pcs = copy, .n = n};
	return st->n++;
}

uint32_t tables_add_stack(struct model *md, const struct raw_stack *raw)
{
	uint32_t *known = map64_get(&md->stacks.by_hash, raw->hash);
	uint32_t id;

	if (known)
		return *known;
	if (!raw->hash || !raw->n)
		return 0;
	id = add(md, raw->pcs, raw->n);
	if (!id)
		return 0;
	md->stacks.stacks[id].skip = raw->skip;
	md->stacks.stacks[id].sample = raw->flags & RAW_STACK_SAMPLE;
	md->stacks.stacks[id].scan = raw->flags & RAW_STACK_SCAN;
	if (map64_set(&md->stacks.by_hash, raw->hash, id))
		md->oom = true;
	return id;
}

uint32_t tables_stack(const struct model *md, uint64_t hash)
{
	uint32_t *id = hash ? map64_get(&md->stacks.by_hash, hash) : NULL;

	return id ? *id : 0;
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

	if (!leaf && !root)
		return base;
	if (!grow(st)) {
		md->oom = true;
		return 0;
	}
	st->stacks[st->n] = base ? st->stacks[base] : (struct stack){0};
	st->stacks[st->n].leaf = leaf;
	st->stacks[st->n].root = root;
	return st->n++;
}

uint32_t tables_string(struct model *md, const char *text)
{
	return strtab_add_str(md->options.strings, text);
}

uint32_t tables_reason(const struct model *md, unsigned table, uint64_t index)
{
	return index < MAX_REASONS ? md->reasons[table][index] : 0;
}
