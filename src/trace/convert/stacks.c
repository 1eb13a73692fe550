/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/convert/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/wire/buffer.h"

static int stack_set_grow(struct stack_set *stacks)
{
	size_t want = stacks->n + 1;

	if (array_grow((void **)&stacks->all, &stacks->capacity, want, sizeof(*stacks->all)) ||
	    array_grow((void **)&stacks->older, &stacks->older_capacity, want, sizeof(*stacks->older)))
		return -ENOMEM;
	return 0;
}

int stacks_init(struct stack_set *stacks)
{
	*stacks = (struct stack_set){0};
	if (stack_set_grow(stacks))
		return -ENOMEM;
	stacks->n = 1;
	return 0;
}

void stacks_free(struct stack_set *stacks)
{
	for (size_t i = 1; i < stacks->n; i++)
		free((void *)stacks->all[i].frames);
	free(stacks->all);
	free(stacks->older);
	map64_free(&stacks->by_hash);
	map64_free(&stacks->by_pc);
	free(stacks->frames);
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static uint64_t hash_frames(const struct frame *frames, size_t n)
{
	uint64_t hash = n;

	for (size_t i = 0; i < n; i++) {
		hash = mix(hash, frames[i].pc);
		hash = mix(hash, (uint64_t)frames[i].func << 32 | frames[i].line);
		hash = mix(hash, frames[i].file);
	}
	return hash;
}

static bool stack_set_is_same(const struct stack *stack, const struct frame *frames, size_t n)
{
	if (stack->n != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct frame *a = &stack->frames[i], *b = &frames[i];

		if (a->pc != b->pc || a->func != b->func || a->file != b->file || a->line != b->line)
			return false;
	}
	return true;
}

/* Bounds the search in files crafted to collide; more stacks with one hash may be stored twice. */
enum { MAX_PER_HASH = 8 };

static uint32_t stack_set_find(const struct stack_set *stacks, uint32_t first, const struct frame *frames,
			       size_t n)
{
	uint32_t id = first;

	for (unsigned i = 0; id && i < MAX_PER_HASH; i++) {
		if (stack_set_is_same(&stacks->all[id], frames, n))
			return id;
		id = stacks->older[id];
	}
	return 0;
}

int stacks_add(struct stack_set *stacks, const struct frame *frames, size_t n, uint32_t *id)
{
	uint64_t hash = hash_frames(frames, n);
	uint32_t first = map64_find(&stacks->by_hash, hash);
	struct frame *copy;

	*id = 0;
	if (n == 0)
		return 0;
	if (first == MAP64_NONE)
		first = 0;
	*id = stack_set_find(stacks, first, frames, n);
	if (*id)
		return 0;
	copy = malloc(n * sizeof(*copy));
	if (!copy || stack_set_grow(stacks) || map64_set(&stacks->by_hash, hash, (uint32_t)stacks->n)) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, frames, n * sizeof(*copy));
	*id = (uint32_t)stacks->n++;
	stacks->all[*id] = (struct stack){.frames = copy, .n = (uint32_t)n};
	stacks->older[*id] = first;
	return 0;
}

/* --- addresses --- */

/* Above all user addresses, and above the PCs of names without an address (trace/wire/frames.h). */
#define MADE_PC (1ull << 49)

static bool is_frame(const struct frame *a, const struct frame *b)
{
	return a->func == b->func && a->file == b->file && a->line == b->line;
}

static int note_frame(struct stack_set *stacks, uint64_t key, const struct frame *frame)
{
	if (array_grow((void **)&stacks->frames, &stacks->frame_capacity, stacks->nframes + 1,
		       sizeof(*stacks->frames)) ||
	    map64_set(&stacks->by_pc, key, (uint32_t)stacks->nframes))
		return -ENOMEM;
	stacks->frames[stacks->nframes++] = *frame;
	return 0;
}

int stacks_distinct(struct stack_set *stacks, struct frame *frame)
{
	uint32_t at = map64_find(&stacks->by_pc, frame->pc);
	uint64_t key = hash_frames(frame, 1);
	struct frame made = *frame;

	if (at == MAP64_NONE)
		return note_frame(stacks, frame->pc, frame);
	if (is_frame(&stacks->frames[at], frame))
		return 0;
	at = map64_find(&stacks->by_pc, key);
	if (at != MAP64_NONE && is_frame(&stacks->frames[at], frame)) {
		*frame = stacks->frames[at];
		return 0;
	}
	made.pc = MADE_PC + stacks->nframes;
	*frame = made;
	return note_frame(stacks, key, &made);
}
