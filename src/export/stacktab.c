/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/stacktab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/symbol/symbol.h"
#include "util/utf8.h"
#include "util/array.h"
#include "trace/wire/buffer.h"

int stacktab_init(struct stacktab *st)
{
	*st = (struct stacktab){.nfunctions = 1, .nframes = 1, .nstacks = 1, .strings = strtab_new()};
	if (!st->strings || array_grow(&st->functions, &st->function_capacity, 1, sizeof(*st->functions)) ||
	    array_grow(&st->frames, &st->frame_capacity, 1, sizeof(*st->frames)) ||
	    array_grow(&st->stacks, &st->stack_capacity, 1, sizeof(*st->stacks)))
		return -ENOMEM;
	return 0;
}

void stacktab_free(struct stacktab *st)
{
	if (st->strings)
		strtab_free(st->strings);
	free(st->functions);
	free(st->frames);
	free(st->stacks);
	free(st->frame_ids);
	map64_free(&st->by_function);
	map64_free(&st->by_frame);
	free(st->copied_stacks);
	free(st->copied_strings);
	*st = (struct stacktab){0};
}

static bool is_clean(const char *text, size_t len)
{
	for (size_t at = 0, step; at < len; at += step) {
		uint32_t point = text_next(text + at, len - at, &step);

		if (!point || (point == 0xfffd && step == 1))
			return false;
	}
	return true;
}

/* Replaces invalid UTF-8 and NUL by question marks: readers of the formats reject or cut such text. */
static int add_cleaned(struct stacktab *st, const char *text, size_t len, uint32_t *ours)
{
	char *copy = malloc(len);

	if (!copy)
		return -ENOMEM;
	for (size_t at = 0, step; at < len; at += step) {
		uint32_t point = text_next(text + at, len - at, &step);

		memcpy(copy + at, text + at, step);
		if (!point || (point == 0xfffd && step == 1))
			copy[at] = '?';
	}
	*ours = strtab_add(st->strings, copy, len);
	free(copy);
	return *ours ? 0 : -ENOMEM;
}

int stacktab_text(struct stacktab *st, const char *text, size_t len, uint32_t *ours)
{
	*ours = strtab_find(st->strings, text, len);
	if (*ours || !len)
		return 0;
	if (!is_clean(text, len))
		return add_cleaned(st, text, len, ours);
	*ours = strtab_add(st->strings, text, len);
	return *ours ? 0 : -ENOMEM;
}

static int take_string(struct stacktab *st, const struct strtab *from, uint32_t id, uint32_t *ours)
{
	const char *text;
	size_t len;

	*ours = 0;
	if (!from || id >= strtab_count(from))
		return 0;
	text = strtab_get(from, id, &len);
	return stacktab_text(st, text, len, ours);
}

int stacktab_string(struct stacktab *st, const struct tables *tables, uint32_t string, uint32_t *ours)
{
	*ours = 0;
	if (string & TEXT_ID)
		return tables ? take_string(st, tables->texts, string & ~TEXT_ID, ours) : 0;
	*ours = string < st->copied_string_capacity ? st->copied_strings[string] : 0;
	if (*ours || !string || !tables || string >= strtab_count(tables->strings))
		return 0;
	if (array_grow(&st->copied_strings, &st->copied_string_capacity, (size_t)string + 1,
		       sizeof(*st->copied_strings)))
		return -ENOMEM;
	if (take_string(st, tables->strings, string, ours))
		return -ENOMEM;
	st->copied_strings[string] = *ours;
	return 0;
}

static int take_function(struct stacktab *st, const struct tables *tables, const struct frame *frame,
			 uint32_t *ours)
{
	struct st_function function;
	uint64_t key;

	if (stacktab_string(st, tables, frame->func, &function.name) ||
	    stacktab_string(st, tables, frame->file, &function.file))
		return -ENOMEM;
	key = (uint64_t)function.name << 32 | function.file;
	*ours = map64_find(&st->by_function, key);
	if (*ours != MAP64_NONE)
		return 0;
	*ours = (uint32_t)st->nfunctions;
	if (array_grow(&st->functions, &st->function_capacity, st->nfunctions + 1, sizeof(*st->functions)) ||
	    map64_set(&st->by_function, key, *ours))
		return -ENOMEM;
	st->functions[st->nfunctions++] = function;
	return 0;
}

/* A PC nearly always has one frame. If not, the same frame may get several ids, which does no harm. */
static int take_frame(struct stacktab *st, const struct tables *tables, const struct frame *frame,
		      uint32_t *ours)
{
	struct st_frame new = {.pc = frame->pc, .line = frame->line};

	if (take_function(st, tables, frame, &new.function))
		return -ENOMEM;
	*ours = map64_find(&st->by_frame, frame->pc);
	if (*ours != MAP64_NONE && st->frames[*ours].function == new.function &&
	    st->frames[*ours].line == new.line)
		return 0;
	*ours = (uint32_t)st->nframes;
	if (array_grow(&st->frames, &st->frame_capacity, st->nframes + 1, sizeof(*st->frames)) ||
	    map64_set(&st->by_frame, frame->pc, *ours))
		return -ENOMEM;
	st->frames[st->nframes++] = new;
	return 0;
}

static int stacktab_take_stack(struct stacktab *st, const struct tables *tables, const struct stack *stack,
			       uint32_t *ours)
{
	struct st_stack new = {.first = (uint32_t)st->nframe_ids, .n = stack->n};

	if (array_grow(&st->stacks, &st->stack_capacity, st->nstacks + 1, sizeof(*st->stacks)) ||
	    array_grow(&st->frame_ids, &st->frame_id_capacity, st->nframe_ids + stack->n,
		       sizeof(*st->frame_ids)))
		return -ENOMEM;
	for (uint32_t i = 0; i < stack->n; i++) {
		if (take_frame(st, tables, &stack->frames[i], &st->frame_ids[st->nframe_ids + i]))
			return -ENOMEM;
	}
	st->nframe_ids += stack->n;
	*ours = (uint32_t)st->nstacks;
	st->stacks[st->nstacks++] = new;
	return 0;
}

int stacktab_stack(struct stacktab *st, const struct tables *tables, uint32_t stack, uint32_t *ours)
{
	*ours = stack < st->copied_stack_capacity ? st->copied_stacks[stack] : 0;
	if (*ours || !stack || !tables || stack >= tables->nstacks || !tables->stacks[stack].frames ||
	    !tables->stacks[stack].n)
		return 0;
	if (array_grow(&st->copied_stacks, &st->copied_stack_capacity, (size_t)stack + 1,
		       sizeof(*st->copied_stacks)))
		return -ENOMEM;
	if (stacktab_take_stack(st, tables, &tables->stacks[stack], ours))
		return -ENOMEM;
	st->copied_stacks[stack] = *ours;
	return 0;
}

void stacktab_forget(struct stacktab *st)
{
	free(st->copied_stacks);
	free(st->copied_strings);
	st->copied_stacks = st->copied_strings = NULL;
	st->copied_stack_capacity = st->copied_string_capacity = 0;
}
