/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The string and stack tables of the open generation. File-wide ids are mapped to dense ids of the generation
 * when they are first used. Each slot is stamped with the generation's number, so stale slots need no
 * clearing.
 */
#ifndef GOTRACE_TRACE_WIRE_DICT_H
#define GOTRACE_TRACE_WIRE_DICT_H

#include "trace/wire/buffer.h"
#include "trace/wire/frames.h"
#include "trace/wire/wire.h"

/* Batches of one kind of table, complete except for the size field of the open batch. */
struct out_table {
	struct buffer out;
	uint8_t type;   /* enum event_type: the first byte of each batch */
	size_t size_at; /* where to write the open batch's size */
	size_t data_at; /* where the open batch's data begins; 0 = no batch is open */
};

struct string_slot {
	uint32_t gen, id;
};

struct stack_slot {
	uint32_t gen, id;
};

struct dict {
	struct frame_names names;
	const struct tables *tables;
	uint32_t gen;
	uint64_t time; /* of the batches */
	struct string_slot *strings;
	size_t nstrings;
	uint32_t string_count; /* ids assigned in this generation */
	struct stack_slot *stacks;
	size_t nstacks;
	uint32_t stack_count;
	struct out_table string_table, stack_table;
	int failed; /* the first error, sticky */
};

void dict_init(struct dict *dict, const struct wire_options *options);
void dict_free(struct dict *dict);
/* Opens a generation with both tables empty. */
void dict_begin(struct dict *dict, const struct generation *gen, uint64_t time);
/* Closes the tables; string_table.out and stack_table.out can then be written. Returns dict->failed. */
int dict_end(struct dict *dict);

/* Slow paths of the two functions below. */
uint32_t dict_add_string(struct dict *dict, uint32_t id);
uint32_t dict_add_stack(struct dict *dict, uint32_t id);

static inline uint32_t dict_string(struct dict *dict, uint32_t id)
{
	if (id < dict->nstrings && dict->strings[id].gen == dict->gen)
		return dict->strings[id].id;
	return dict_add_string(dict, id);
}

static inline uint32_t dict_stack(struct dict *dict, uint32_t id)
{
	if (id < dict->nstacks && dict->stacks[id].gen == dict->gen)
		return dict->stacks[id].id;
	return dict_add_stack(dict, id);
}

/* Reserves n bytes for one entry in a batch of the table. Returns NULL when out of memory. */
uint8_t *table_reserve(struct out_table *table, uint32_t gen, uint64_t time, size_t n);
void table_commit(struct out_table *table, const uint8_t *end);
void table_close(struct out_table *table);
void table_clear(struct out_table *table);

#endif
