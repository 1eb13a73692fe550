/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "parquet_reader.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ID = 16 };

/* A value of Thrift's compact protocol. */
struct node {
	int64_t number;
	const char *text;
	size_t len;                  /* of text, or of items */
	struct node *items;          /* of a list */
	struct node *fields[MAX_ID]; /* of a struct; NULL = absent */
};

struct input {
	const uint8_t *at, *end;
	struct parquet_table *table; /* owns what is allocated */
};

static void *owned(struct parquet_table *table, size_t size)
{
	table->owned = realloc(table->owned, (table->nowned + 1) * sizeof(*table->owned));
	assert_non_null(table->owned);
	table->owned[table->nowned] = calloc(1, size ? size : 1);
	assert_non_null(table->owned[table->nowned]);
	return table->owned[table->nowned++];
}

static uint8_t take_byte(struct input *in)
{
	assert_true(in->at < in->end);
	return *in->at++;
}

static uint64_t take_varint(struct input *in)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = take_byte(in);

		assert_true(shift < 64);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
}

static int64_t zigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

static const uint8_t *take(struct input *in, size_t n)
{
	assert_true((size_t)(in->end - in->at) >= n);
	in->at += n;
	return in->at - n;
}

static uint64_t take_number(struct input *in, unsigned n)
{
	const uint8_t *bytes = take(in, n);
	uint64_t value = 0;

	for (unsigned i = 0; i < n; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

static struct node take_node(struct input *in, unsigned type);

static struct node take_struct(struct input *in)
{
	struct node node = {0};
	unsigned id = 0;

	for (;;) {
		uint8_t head = take_byte(in);

		if (!head)
			return node;
		assert_true(head >> 4);
		id += head >> 4;
		assert_true(id < MAX_ID);
		node.fields[id] = owned(in->table, sizeof(node));
		*node.fields[id] = take_node(in, head & 15);
	}
}

static struct node take_list(struct input *in)
{
	uint8_t head = take_byte(in);
	struct node node = {.len = head >> 4 == 15 ? take_varint(in) : head >> 4};

	assert_true(node.len <= (size_t)(in->end - in->at));
	node.items = owned(in->table, node.len * sizeof(node));
	for (size_t i = 0; i < node.len; i++)
		node.items[i] = take_node(in, head & 15);
	return node;
}

static struct node take_node(struct input *in, unsigned type)
{
	struct node node = {0};

	switch (type) {
	case 5:
	case 6:
		node.number = zigzag(take_varint(in));
		return node;
	case 8:
		node.len = take_varint(in);
		node.text = (const char *)take(in, node.len);
		return node;
	case 9:
		return take_list(in);
	case 12:
		return take_struct(in);
	default:
		fail_msg("Thrift type %u", type);
		return node;
	}
}

static int64_t number_of(const struct node *node, unsigned id)
{
	assert_non_null(node->fields[id]);
	return node->fields[id]->number;
}

/* --- encodings --- */

static uint64_t bits_at(const uint8_t *bytes, size_t bit, unsigned width)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < width; i++)
		value |= (uint64_t)(bytes[(bit + i) / 8] >> ((bit + i) % 8) & 1) << i;
	return value;
}

static void take_hybrid(struct input *in, unsigned width, uint32_t *values, size_t n)
{
	for (size_t at = 0; at < n;) {
		uint64_t head = take_varint(in), count = head & 1 ? (head >> 1) * 8 : head >> 1;
		const uint8_t *bytes = head & 1 ? take(in, count / 8 * width) : NULL;
		uint64_t value = head & 1 ? 0 : take_number(in, (width + 7) / 8);

		assert_true(count > 0);
		assert_true(head & 1 ? count < n - at + 8 : count <= n - at);
		for (uint64_t i = 0; i < count && at < n; i++)
			values[at++] = (uint32_t)(bytes ? bits_at(bytes, i * width, width) : value);
	}
}

static void take_deltas(struct input *in, int type, struct parquet_value **values, size_t n)
{
	uint64_t last;
	size_t at = 1;

	assert_int_equal(take_varint(in), 128);
	assert_int_equal(take_varint(in), 4);
	assert_int_equal(take_varint(in), n);
	last = (uint64_t)zigzag(take_varint(in));
	if (n)
		values[0]->number = (int64_t)last;
	while (at < n) {
		uint64_t least = (uint64_t)zigzag(take_varint(in));
		const uint8_t *widths = take(in, 4);

		for (unsigned mini = 0; mini < 4; mini++) {
			const uint8_t *bytes = take(in, widths[mini] * 4u);

			assert_true(widths[mini] <= (type == 1 ? 32 : 64) && (at < n || widths[mini] == 0));
			for (unsigned i = 0; i < 32 && at < n; i++) {
				last += least + bits_at(bytes, (size_t)i * widths[mini], widths[mini]);
				values[at++]->number = type == 1 ? (int32_t)last : (int64_t)last;
			}
		}
	}
}

static void take_plain(struct input *in, int type, struct parquet_value *value)
{
	if (type != 6) {
		value->number = type == 1 ? (int32_t)take_number(in, 4) : (int64_t)take_number(in, 8);
		return;
	}
	value->len = take_number(in, 4);
	value->text = (const char *)take(in, value->len);
}

/* --- pages --- */

struct chunk {
	int type;
	struct parquet_value *rows; /* of this row group */
	size_t n, at;
	struct parquet_value *dictionary;
	size_t ndictionary;
};

static struct input unzip(struct input *in, const struct node *header)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	size_t size = (size_t)number_of(header, 2), packed = (size_t)number_of(header, 3), got;
	uint8_t *raw = owned(in->table, size);

	assert_int_equal(libdeflate_gzip_decompress(d, take(in, packed), packed, raw, size, &got), 0);
	assert_int_equal(got, size);
	libdeflate_free_decompressor(d);
	return (struct input){raw, raw + size, in->table};
}

static void take_data(struct input *in, struct chunk *chunk, const struct node *page)
{
	size_t n = (size_t)number_of(page, 1), defined = 0;
	int encoding = (int)number_of(page, 2);
	uint32_t *levels = owned(in->table, n * sizeof(*levels)),
		 *indices = owned(in->table, n * sizeof(*indices));
	struct parquet_value **values = owned(in->table, n * sizeof(*values));
	struct input level_bytes = {.table = in->table};
	size_t length = take_number(in, 4);

	assert_true(n && n <= chunk->n - chunk->at);
	level_bytes.at = take(in, length);
	level_bytes.end = in->at;
	take_hybrid(&level_bytes, 1, levels, n);
	assert_ptr_equal(level_bytes.at, level_bytes.end);
	for (size_t i = 0; i < n; i++) {
		chunk->rows[chunk->at].null = !levels[i];
		if (levels[i])
			values[defined++] = &chunk->rows[chunk->at];
		chunk->at++;
	}
	if (encoding == 8) {
		in->table->index_pages++;
		assert_non_null(chunk->dictionary);
		take_hybrid(in, take_byte(in), indices, defined);
		for (size_t i = 0; i < defined; i++) {
			assert_true(indices[i] < chunk->ndictionary);
			*values[i] = chunk->dictionary[indices[i]];
		}
	} else if (encoding == 5) {
		in->table->delta_pages++;
		take_deltas(in, chunk->type, values, defined);
	} else if (chunk->type == 0) {
		const uint8_t *bits = take(in, (defined + 7) / 8);

		for (size_t i = 0; i < defined; i++)
			values[i]->number = (int64_t)bits_at(bits, i, 1);
	} else {
		in->table->plain_pages++;
		assert_int_equal(encoding, 0);
		for (size_t i = 0; i < defined; i++)
			take_plain(in, chunk->type, values[i]);
	}
	assert_ptr_equal(in->at, in->end);
}

static void take_page(struct input *in, struct chunk *chunk)
{
	struct node header = take_struct(in);
	struct input raw = unzip(in, &header);

	if (number_of(&header, 1) == 0) {
		take_data(&raw, chunk, header.fields[5]);
		return;
	}
	assert_int_equal(number_of(&header, 1), 2);
	assert_true(chunk->at == 0 && !chunk->dictionary);
	assert_int_equal(number_of(header.fields[7], 2), 0);
	chunk->ndictionary = (size_t)number_of(header.fields[7], 1);
	chunk->dictionary = owned(in->table, chunk->ndictionary * sizeof(*chunk->dictionary));
	in->table->dictionary_pages++;
	for (size_t i = 0; i < chunk->ndictionary; i++)
		take_plain(&raw, chunk->type, &chunk->dictionary[i]);
	assert_ptr_equal(raw.at, raw.end);
}

/* --- columns --- */

/* Integers are compared as such, text as unsigned bytes. */
static int compare(int type, const struct parquet_value *value, const struct node *limit)
{
	struct input in = {(const uint8_t *)limit->text, (const uint8_t *)limit->text + limit->len, NULL};
	size_t least = value->len < limit->len ? value->len : limit->len;
	int64_t number;
	int order;

	if (type != 6) {
		number = type == 1 ? (int32_t)take_number(&in, 4) : (int64_t)take_number(&in, 8);
		return (value->number > number) - (value->number < number);
	}
	order = memcmp(value->text, limit->text, least);
	return order ? order : (value->len > limit->len) - (value->len < limit->len);
}

static void check_statistics(const struct chunk *chunk, const struct node *statistics)
{
	int64_t nulls = 0;

	for (size_t i = 0; i < chunk->n; i++) {
		nulls += chunk->rows[i].null;
		if (chunk->rows[i].null || !statistics->fields[5])
			continue;
		assert_true(compare(chunk->type, &chunk->rows[i], statistics->fields[5]) <= 0);
		assert_true(compare(chunk->type, &chunk->rows[i], statistics->fields[6]) >= 0);
	}
	assert_int_equal(nulls, number_of(statistics, 3));
	assert_true(!statistics->fields[5] == !statistics->fields[6]);
}

static void take_chunk(struct parquet_table *table, const uint8_t *bytes, size_t n, const struct node *meta,
		       struct parquet_value *rows, size_t nrows, int type)
{
	struct chunk chunk = {.type = type, .rows = rows, .n = nrows};
	int64_t begin = meta->fields[11] ? number_of(meta, 11) : number_of(meta, 9),
		size = number_of(meta, 7);
	struct input in = {.table = table};

	assert_int_equal(number_of(meta, 1), type);
	assert_int_equal(number_of(meta, 4), 2);
	assert_int_equal(number_of(meta, 5), nrows);
	assert_true(begin >= 4 && size > 0 && (uint64_t)(begin + size) <= n);
	in.at = bytes + begin;
	in.end = in.at + size;
	while (chunk.at < nrows) {
		assert_true(meta->fields[11] || chunk.at || in.at == bytes + number_of(meta, 9));
		take_page(&in, &chunk);
	}
	assert_ptr_equal(in.at, in.end);
	assert_non_null(meta->fields[12]);
	check_statistics(&chunk, meta->fields[12]);
}

static void take_groups(struct parquet_table *table, const uint8_t *bytes, size_t n,
			const struct node *footer)
{
	const struct node *groups = footer->fields[4], *schema = footer->fields[2];
	size_t done = 0;

	table->ngroups = groups->len;
	for (size_t i = 0; i < groups->len; i++) {
		const struct node *group = &groups->items[i], *chunks = group->fields[1];
		size_t rows = (size_t)number_of(group, 3);

		assert_int_equal(chunks->len, table->ncolumns);
		assert_true(rows && rows <= table->nrows - done);
		for (size_t j = 0; j < chunks->len; j++)
			take_chunk(table, bytes, n, chunks->items[j].fields[3], table->columns[j] + done,
				   rows, (int)number_of(&schema->items[j + 1], 1));
		done += rows;
	}
	assert_int_equal(done, table->nrows);
}

struct parquet_table *parquet_read(const uint8_t *bytes, size_t n)
{
	struct parquet_table *table = calloc(1, sizeof(*table));
	struct input in = {.table = table};
	struct node footer;
	size_t length;

	assert_non_null(table);
	assert_true(n >= 12 && !memcmp(bytes, "PAR1", 4) && !memcmp(bytes + n - 4, "PAR1", 4));
	in.at = bytes + n - 8;
	in.end = bytes + n - 4;
	length = take_number(&in, 4);
	assert_true(length <= n - 12);
	in.end = bytes + n - 8;
	in.at = in.end - length;
	footer = take_struct(&in);
	assert_ptr_equal(in.at, in.end);
	table->ncolumns = (size_t)number_of(&footer.fields[2]->items[0], 5);
	table->nrows = (size_t)number_of(&footer, 3);
	assert_int_equal(footer.fields[2]->len, table->ncolumns + 1);
	assert_int_equal(footer.fields[7]->len, table->ncolumns);
	table->names = owned(table, table->ncolumns * sizeof(*table->names));
	table->columns = owned(table, table->ncolumns * sizeof(*table->columns));
	for (size_t i = 0; i < table->ncolumns; i++) {
		const struct node *name = footer.fields[2]->items[i + 1].fields[4];

		assert_true(name->len < sizeof(table->names[i]));
		memcpy(table->names[i], name->text, name->len);
		table->columns[i] = owned(table, table->nrows * sizeof(**table->columns));
	}
	take_groups(table, bytes, n, &footer);
	return table;
}

void parquet_free(struct parquet_table *table)
{
	for (size_t i = 0; i < table->nowned; i++)
		free(table->owned[i]);
	free(table->owned);
	free(table);
}
