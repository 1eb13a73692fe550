/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/wire/dict_v1.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

enum { MAX_FRAME_BYTES = 4 * MAX_UV };

/* Flag in dict->starts: a timer goroutine starts here. */
#define TIMER_START 0x80000000u

static const char unknown_name[] = "(not known)";

/* Before go 1.7, frames have only a PC. Readers look names up in the program's executable. */
static bool has_names(const struct dict_v1 *dict)
{
	return dict->file->format >= WIRE_GO17;
}

static uint8_t *dict_v1_reserve(struct dict_v1 *dict, size_t n)
{
	struct buffer *tables = &dict->file->tables;

	if (buffer_reserve(tables, n)) {
		dict->file->failed = -ENOMEM;
		return NULL;
	}
	return tables->bytes + tables->len;
}

static void commit(struct dict_v1 *dict, const uint8_t *end)
{
	dict->file->tables.len = (size_t)(end - dict->file->tables.bytes);
}

static uint32_t *slot(struct dict_v1 *dict, uint32_t **array, size_t *n, uint32_t id)
{
	if (id >= *n && array_grow((void **)array, n, (size_t)id + 1, sizeof(**array))) {
		dict->file->failed = -ENOMEM;
		return NULL;
	}
	return &(*array)[id];
}

/* --- strings --- */

/* Id 0 is the empty string; no string in the file may be empty. */
static uint32_t dict_v1_write_string(struct dict_v1 *dict, const char *text, size_t len)
{
	uint8_t *p;

	if (!has_names(dict) || len == 0)
		return 0;
	if (len > V1_MAX_STRING)
		len = text_whole(text, V1_MAX_STRING);
	p = dict_v1_reserve(dict, 1 + 2 * MAX_UV + len);
	if (!p)
		return 0;
	*p++ = V1_STRING;
	p = put_uv(p, ++dict->string_count);
	p = put_uv(p, len);
	memcpy(p, text, len);
	commit(dict, p + len);
	return dict->string_count;
}

uint32_t dict_v1_string(struct dict_v1 *dict, uint32_t id)
{
	const char *text;
	uint32_t *known;
	size_t len;

	if (id == 0 || id >= strtab_count(dict->tables->strings))
		return 0;
	known = slot(dict, &dict->strings, &dict->nstrings, id);
	if (known && !*known) {
		text = strtab_get(dict->tables->strings, id, &len);
		*known = dict_v1_write_string(dict, text, len);
	}
	return known ? *known : 0;
}

const char *dict_v1_text(const struct dict_v1 *dict, uint32_t id, size_t *len)
{
	const struct strtab *texts = id & TEXT_ID ? dict->tables->texts : dict->tables->strings;
	const char *text;

	id &= ~TEXT_ID;
	if (!texts || id >= strtab_count(texts))
		return NULL;
	text = strtab_get(texts, id, len);
	if (*len > V1_MAX_STRING)
		*len = text_whole(text, V1_MAX_STRING);
	return text;
}

/* --- stacks --- */

static uint8_t *dict_v1_put_frame(struct dict_v1 *dict, uint8_t *p, const struct frame *frame)
{
	p = put_uv(p, frame->pc);
	if (!has_names(dict))
		return p;
	p = put_uv(p, dict_v1_string(dict, frame->func));
	p = put_uv(p, dict_v1_string(dict, frame->file));
	return put_uv(p, frame->line);
}

/*
 * Writes the frames from the leaf on, as many as fit into a record that every reader accepts, and sets *n to
 * their number. Returns the number of bytes.
 */
static size_t dict_v1_put_frames(struct dict_v1 *dict, const struct frame *frames, uint32_t *n,
				 uint8_t bytes[V1_MAX_RECORD])
{
	const size_t limit = V1_MAX_RECORD - 2 * MAX_UV;
	uint8_t frame[MAX_FRAME_BYTES];
	size_t len = 0;

	for (uint32_t i = 0; i < *n; i++) {
		size_t more = (size_t)(dict_v1_put_frame(dict, frame, &frames[i]) - frame);

		if (i == V1_MAX_FRAMES || len + more > limit) {
			*n = i;
			break;
		}
		memcpy(bytes + len, frame, more);
		len += more;
	}
	return len;
}

static uint32_t dict_v1_write_stack(struct dict_v1 *dict, const struct frame *frames, uint32_t n)
{
	uint8_t bytes[V1_MAX_RECORD], head[2 * MAX_UV], *p;
	size_t len, head_len;

	if (n == 0)
		return 0;
	len = dict_v1_put_frames(dict, frames, &n, bytes);
	p = put_uv(head, ++dict->stack_count);
	p = put_uv(p, n);
	head_len = (size_t)(p - head);
	p = dict_v1_reserve(dict, 1 + MAX_UV + head_len + len);
	if (!p)
		return 0;
	*p++ = V1_STACK | V1_COUNT_LONG << V1_COUNT_SHIFT;
	p = put_uv(p, head_len + len);
	memcpy(p, head, head_len);
	memcpy(p + head_len, bytes, len);
	commit(dict, p + head_len + len);
	return dict->stack_count;
}

static uint32_t frames_or_fail(struct dict_v1 *dict, uint32_t id, unsigned flags,
			       struct frame frames[MAX_FRAMES])
{
	int n = frames_of(&dict->names, &dict->tables->stacks[id], flags, frames);

	if (n < 0)
		dict->file->failed = n;
	return n < 0 ? 0 : (uint32_t)n;
}

uint32_t dict_v1_stack(struct dict_v1 *dict, uint32_t id)
{
	struct frame frames[MAX_FRAMES];
	uint32_t *known;

	if (id == 0 || id >= dict->tables->nstacks)
		return 0;
	known = slot(dict, &dict->stacks, &dict->nstacks, id);
	if (known && !*known)
		*known = dict_v1_write_stack(dict, frames,
					     frames_or_fail(dict, id, dict->names.flags, frames)) +
			 1;
	return known ? *known - 1 : 0;
}

/* --- goroutine starts --- */

static bool dict_v1_is_function(const struct dict_v1 *dict, const struct frame *frame, const char *name)
{
	size_t len;
	const char *text = strtab_get(dict->tables->strings, frame->func, &len);

	return len == strlen(name) && memcmp(text, name, len) == 0;
}

/* Readers group goroutines by start PC, so a PC inside the function is replaced by that of its entry. */
static void move_to_entry(struct dict_v1 *dict, struct frame *root)
{
	struct frame frames[MAX_FRAMES];
	uint64_t entry, end;
	const char *name;
	size_t index;
	int n;

	if (!dict->names.functab || functab_lookup(dict->names.functab, root->pc - 1, &index) ||
	    functab_entry(dict->names.functab, index, &entry, &end, &name))
		return;
	entry++; /* stored as a return address */
	n = symbol_frames(dict->names.symbol, &entry, 1, 0, SYMBOL_RUNTIME_FRAMES | SYMBOL_ENTRY, frames);
	if (n > 0)
		*root = frames[n - 1];
}

/* Finds the root function of a stack, without runtime.goexit. Returns false if there is none. */
static bool dict_v1_root_of(struct dict_v1 *dict, uint32_t id, struct frame *root)
{
	const struct stack *stack = &dict->tables->stacks[id];
	struct frame frames[MAX_FRAMES];
	uint32_t n = frames_or_fail(dict, id, SYMBOL_RUNTIME_FRAMES, frames);

	if (n > 1 && dict_v1_is_function(dict, &frames[n - 1], "runtime.goexit"))
		n--;
	if (n == 0)
		return false;
	*root = frames[n - 1];
	if (!stack->frames && !stack->literal && !stack->entry && dict->names.symbol)
		move_to_entry(dict, root);
	return true;
}

static uint32_t unknown_start(struct dict_v1 *dict)
{
	uint32_t func = strtab_add_str(dict->tables->strings, unknown_name);
	struct frame frame = {.pc = LITERAL_PC + func, .func = func};

	if (!dict->unknown_start)
		dict->unknown_start = dict_v1_write_stack(dict, &frame, 1);
	return dict->unknown_start;
}

static uint64_t bare_start(const struct frame *root)
{
	return root->pc < LITERAL_PC && root->pc ? root->pc - 1 : 0;
}

uint64_t dict_v1_start(struct dict_v1 *dict, uint32_t entry, uint32_t own, bool *timer)
{
	uint32_t id = entry && entry < dict->tables->nstacks ? entry : own, none = 0, *known = &none;
	struct frame root;

	*timer = false;
	if (id && id < dict->tables->nstacks && has_names(dict))
		known = slot(dict, &dict->starts, &dict->nstarts, id);
	if (known && *known) {
		*timer = *known & TIMER_START;
		return (*known & ~TIMER_START) - 1;
	}
	if (!known || id == 0 || id >= dict->tables->nstacks || !dict_v1_root_of(dict, id, &root))
		return has_names(dict) ? unknown_start(dict) : 0;
	*timer = dict_v1_is_function(dict, &root, "runtime.timerproc");
	if (!has_names(dict))
		return bare_start(&root);
	*known = (dict_v1_write_stack(dict, &root, 1) + 1) | (*timer ? TIMER_START : 0);
	return (*known & ~TIMER_START) - 1;
}

/* --- life --- */

void dict_v1_init(struct dict_v1 *dict, struct file_v1 *file, const struct wire_options *options)
{
	*dict = (struct dict_v1){.file = file, .names = frames_names(options)};
}

void dict_v1_free(struct dict_v1 *dict)
{
	free(dict->strings);
	free(dict->stacks);
	free(dict->starts);
}
