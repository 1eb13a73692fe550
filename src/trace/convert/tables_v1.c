/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Converts strings and stacks of a v1 or v0 file to the tables of the generations. */
#include <errno.h>
#include <stdio.h>

#include "trace/convert/v1.h"
#include "trace/wire/wire.h"

int v1_no_memory(struct reader_v1 *r)
{
	return error_set(r->b->err, ENOMEM, "out of memory");
}

int v1_take_text(struct reader_v1 *r, struct v1_text text, uint32_t *string)
{
	*string = text.len ? strtab_add(r->b->strings, (const char *)text.bytes, text.len) : 0;
	return text.len && !*string ? v1_no_memory(r) : 0;
}

/*
 * Converts addresses to frames by the program's function table. If the table contains none of the addresses,
 * the stack belongs to another program: returns 0.
 */
static size_t find_names_as(struct reader_v1 *r, const uint64_t *pcs, size_t n, unsigned flags,
			    struct frame *to)
{
	int found = symbol_frames(r->symbol, pcs, n, 0, flags, to);

	for (int i = 0; i < found; i++)
		if (to[i].func)
			return (size_t)found;
	return 0;
}

/* If a stack has only frames that are normally left out (runtime.goexit, wrappers), they are kept. */
static size_t tables_v1_find_names(struct reader_v1 *r, const struct v1_frame *from, size_t n,
				   struct frame *to)
{
	uint64_t pcs[MAX_FRAMES];
	size_t found;

	for (size_t i = 0; i < n; i++)
		pcs[i] = from[i].pc;
	found = find_names_as(r, pcs, n, 0, to);
	return found ? found : find_names_as(r, pcs, n, SYMBOL_RUNTIME_FRAMES | SYMBOL_ENTRY, to);
}

/* Names a frame after its address, because viewers group goroutines by name. */
static int name_address(struct reader_v1 *r, struct frame *frame)
{
	char name[24];

	snprintf(name, sizeof(name), "0x%llx", (unsigned long long)frame->pc);
	frame->func = strtab_add_str(r->b->strings, name);
	return frame->func ? 0 : v1_no_memory(r);
}

static int tables_v1_take_frame(struct reader_v1 *r, const struct v1_frame *from, struct frame *to)
{
	*to = (struct frame){.pc = from->pc, .line = (uint32_t)from->line};
	if (v1_take_text(r, from->func, &to->func) || v1_take_text(r, from->file, &to->file))
		return -ENOMEM;
	if (r->format < WIRE_GO17 && name_address(r, to))
		return -ENOMEM;
	return stacks_distinct(&r->b->stacks, to) ? v1_no_memory(r) : 0;
}

static int tables_v1_add_frames(struct reader_v1 *r, const struct v1_frame *from, size_t n, uint32_t *stack)
{
	struct frame to[MAX_FRAMES];
	size_t found = r->symbol ? tables_v1_find_names(r, from, n, to) : 0;

	if (found)
		return stacks_add(&r->b->stacks, to, found, stack) ? v1_no_memory(r) : 0;
	r->b->result->nameless += r->format < WIRE_GO17;
	for (size_t i = 0; i < n; i++)
		if (tables_v1_take_frame(r, &from[i], &to[i]))
			return -ENOMEM;
	return stacks_add(&r->b->stacks, to, n, stack) ? v1_no_memory(r) : 0;
}

int v1_take_stack(struct reader_v1 *r, uint64_t id, uint32_t *stack)
{
	struct v1_frame from[MAX_FRAMES];
	size_t n;

	*stack = id ? map64_find(&r->stacks, id) : 0;
	if (*stack != MAP64_NONE)
		return 0;
	n = v1_stack(r->trace, id, from, MAX_FRAMES);
	if (tables_v1_add_frames(r, from, n < MAX_FRAMES ? n : MAX_FRAMES, stack))
		return -ENOMEM;
	return map64_set(&r->stacks, id, *stack) ? v1_no_memory(r) : 0;
}

/* Stacks contain return addresses, so a function's entry is stored plus 1. */
int v1_take_entry(struct reader_v1 *r, uint64_t id, uint32_t *stack)
{
	const struct v1_frame frame = {.pc = id + 1};

	if (r->format >= WIRE_GO17)
		return v1_take_stack(r, id, stack);
	*stack = 0;
	return id ? tables_v1_add_frames(r, &frame, 1, stack) : 0;
}
