/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/wire/dict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"
#include "trace/wire/event.h"
#include "trace/wire/varint.h"

enum {
	SIZE_BYTES = 3, /* a padded varint that can hold MAX_BATCH_DATA */
	MAX_HEADER = 1 + 3 * MAX_UV + SIZE_BYTES + 1,
	MAX_FRAME_BYTES = 4 * MAX_UV,
};

/* --- batches --- */

void table_clear(struct out_table *table)
{
	table->out.len = 0;
	table->data_at = 0;
}

void table_close(struct out_table *table)
{
	size_t size = table->out.len - table->data_at;
	uint8_t *p;

	if (!table->data_at)
		return;
	p = table->out.bytes + table->size_at;
	p[0] = (uint8_t)(size | 0x80);
	p[1] = (uint8_t)(size >> 7 | 0x80);
	p[2] = (uint8_t)(size >> 14);
	table->data_at = 0;
}

static void open_batch(struct out_table *table, uint32_t gen, uint64_t time)
{
	uint8_t *p = table->out.bytes + table->out.len;

	*p++ = EV_EVENT_BATCH;
	p = put_uv(p, gen);
	p = put_uv(p, UINT64_MAX);
	p = put_uv(p, time);
	table->size_at = (size_t)(p - table->out.bytes);
	p += SIZE_BYTES;
	table->data_at = (size_t)(p - table->out.bytes);
	*p++ = table->type;
	table->out.len = (size_t)(p - table->out.bytes);
}

uint8_t *table_reserve(struct out_table *table, uint32_t gen, uint64_t time, size_t n)
{
	if (table->data_at && table->out.len - table->data_at + n > MAX_BATCH_DATA)
		table_close(table);
	if (buffer_reserve(&table->out, n + MAX_HEADER))
		return NULL;
	if (!table->data_at)
		open_batch(table, gen, time);
	return table->out.bytes + table->out.len;
}

void table_commit(struct out_table *table, const uint8_t *end)
{
	table->out.len = (size_t)(end - table->out.bytes);
}

/* --- strings --- */

static uint32_t dict_fail(struct dict *dict, int code)
{
	if (!dict->failed)
		dict->failed = code;
	return 0;
}

static uint8_t *dict_put_string(uint8_t *p, uint32_t id, const char *text, size_t len)
{
	*p++ = EV_STRING;
	p = put_uv(p, id);
	p = put_uv(p, len);
	memcpy(p, text, len);
	return p + len;
}

/* Writes a string under the generation's next id. Returns 0 when out of memory. */
static uint32_t dict_write_string(struct dict *dict, const struct strtab *strings, uint32_t id)
{
	size_t len;
	const char *text = strtab_get(strings, id, &len);
	uint8_t *p =
		table_reserve(&dict->string_table, dict->gen, dict->time, 1 + 2 * MAX_UV + MAX_STRING_LEN);

	if (!p)
		return dict_fail(dict, -ENOMEM);
	if (len > MAX_STRING_LEN)
		len = text_whole(text, MAX_STRING_LEN);
	table_commit(&dict->string_table, dict_put_string(p, ++dict->string_count, text, len));
	return dict->string_count;
}

/* Log messages rarely repeat, so their ids are not cached. */
static uint32_t dict_add_text(struct dict *dict, uint32_t id)
{
	const struct strtab *texts = dict->tables->texts;

	return texts && id && id < strtab_count(texts) ? dict_write_string(dict, texts, id) : 0;
}

uint32_t dict_add_string(struct dict *dict, uint32_t id)
{
	uint32_t written;

	if (id & TEXT_ID)
		return dict_add_text(dict, id & ~TEXT_ID);
	if (id == 0 || id >= strtab_count(dict->tables->strings))
		return 0;
	if (array_grow((void **)&dict->strings, &dict->nstrings, (size_t)id + 1, sizeof(*dict->strings)))
		return dict_fail(dict, -ENOMEM);
	written = dict_write_string(dict, dict->tables->strings, id);
	if (written)
		dict->strings[id] = (struct string_slot){dict->gen, written};
	return written;
}

/* --- stacks --- */

static uint8_t *dict_put_frame(struct dict *dict, uint8_t *p, const struct frame *frame)
{
	p = put_uv(p, frame->pc);
	p = put_uv(p, dict_string(dict, frame->func));
	p = put_uv(p, dict_string(dict, frame->file));
	return put_uv(p, frame->line);
}

static uint32_t dict_write_stack(struct dict *dict, const struct frame *frames, uint32_t n)
{
	uint8_t *p = table_reserve(&dict->stack_table, dict->gen, dict->time,
				   1 + 2 * MAX_UV + (size_t)n * MAX_FRAME_BYTES);

	if (!p)
		return dict_fail(dict, -ENOMEM);
	*p++ = EV_STACK;
	p = put_uv(p, ++dict->stack_count);
	p = put_uv(p, n);
	for (uint32_t i = 0; i < n; i++)
		p = dict_put_frame(dict, p, &frames[i]);
	table_commit(&dict->stack_table, p);
	return dict->stack_count;
}

/* Frames are not cached: symbol caches those of each address, and a stack is written once per generation. */
uint32_t dict_add_stack(struct dict *dict, uint32_t id)
{
	struct frame frames[MAX_FRAMES];
	struct stack_slot *slot;
	int n;

	if (id == 0 || id >= dict->tables->nstacks)
		return 0;
	if (array_grow((void **)&dict->stacks, &dict->nstacks, (size_t)id + 1, sizeof(*dict->stacks)))
		return dict_fail(dict, -ENOMEM);
	n = frames_of(&dict->names, &dict->tables->stacks[id], dict->names.flags, frames);
	if (n < 0)
		return dict_fail(dict, n);
	slot = &dict->stacks[id];
	slot->gen = dict->gen;
	slot->id = n ? dict_write_stack(dict, frames, (uint32_t)n) : 0;
	return slot->id;
}

/* --- life --- */

void dict_init(struct dict *dict, const struct wire_options *options)
{
	*dict = (struct dict){
		.names = frames_names(options),
	};
	dict->string_table.type = EV_STRINGS;
	dict->stack_table.type = EV_STACKS;
}

void dict_free(struct dict *dict)
{
	free(dict->strings);
	free(dict->stacks);
	buffer_free(&dict->string_table.out);
	buffer_free(&dict->stack_table.out);
}

void dict_begin(struct dict *dict, const struct generation *gen, uint64_t time)
{
	dict->tables = gen->tables;
	dict->gen = gen->number;
	dict->time = time;
	dict->string_count = 0;
	dict->stack_count = 0;
	dict->failed = 0;
	table_clear(&dict->string_table);
	table_clear(&dict->stack_table);
}

int dict_end(struct dict *dict)
{
	table_close(&dict->string_table);
	table_close(&dict->stack_table);
	return dict->failed;
}
