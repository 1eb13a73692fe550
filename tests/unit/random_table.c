/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "random_table.h"

#include <assert.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int random_table_keep(void *ctx, const void *bytes, size_t n)
{
	struct pq_bytes *out = ctx;

	pq_put(out, bytes, n);
	return out->oom ? -1 : 0;
}

/* xorshift64 */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

const struct pq_column random_columns[RANDOM_COLUMNS] = {
	{"bool", PQ_BOOL, PQ_PLAIN},
	{"int32", PQ_INT32, PQ_PLAIN},
	{"int32_ids", PQ_INT32, PQ_DICTIONARY},
	{"int32_deltas", PQ_INT32, PQ_DELTA},
	{"int64", PQ_INT64, PQ_PLAIN},
	{"int64_ids", PQ_INT64, PQ_DICTIONARY},
	{"int64_deltas", PQ_INT64, PQ_DELTA},
	{"double", PQ_DOUBLE, PQ_PLAIN},
	{"text", PQ_TEXT, PQ_DICTIONARY},
	{"notes", PQ_TEXT, PQ_PLAIN},
};

/* What a column's values look like: few or many, small or extreme, runs, and how many are NULL. */
struct shape {
	uint64_t span;
	unsigned nulls; /* of 100 */
	unsigned run;   /* values repeat so often, on average */
};

static struct parquet_value random_value(uint64_t *state, const struct pq_column *column,
					 const struct shape *shape, char text[32])
{
	uint64_t random = shape->span ? next_random(state) % shape->span : next_random(state);
	struct parquet_value value = {.number = (int64_t)random};

	if (shape->span == 0 && random % 5 == 0)
		value.number = random % 2 ? INT64_MAX : INT64_MIN;
	if (next_random(state) % 100 < shape->nulls)
		value.null = true;
	if (column->type == PQ_BOOL)
		value.number = value.number & 1;
	if (column->type == PQ_INT32)
		value.number = (int32_t)value.number;
	value.len = random % 7 ? (size_t)snprintf(text, 32, "é%llx", (unsigned long long)random) : 0;
	return value;
}

static void set_value(struct pq_file *file, unsigned column, const struct parquet_value *value)
{
	double real;

	memcpy(&real, &value->number, sizeof(real));
	if (value->null)
		return;
	if (random_columns[column].type == PQ_TEXT)
		pq_set_text(file, column, value->text, value->len);
	else if (random_columns[column].type == PQ_DOUBLE)
		pq_set_double(file, column, real);
	else
		pq_set_int(file, column, value->number);
}

struct random_table random_table_make(uint64_t seed, size_t rows)
{
	static const uint64_t spans[] = {0, 1, 2, 3, 17, 300, 70000, 1ull << 33};
	struct random_table table = {.rows = rows};
	uint64_t state = seed * 0x9e3779b97f4a7c15ull | 1;
	struct shape shapes[RANDOM_COLUMNS];

	table.values = calloc(rows * RANDOM_COLUMNS + 1, sizeof(*table.values));
	table.texts = calloc(rows * RANDOM_COLUMNS + 1, sizeof(*table.texts));
	assert(table.values && table.texts);
	for (unsigned i = 0; i < RANDOM_COLUMNS; i++)
		shapes[i] = (struct shape){
			.span = spans[next_random(&state) % (sizeof(spans) / sizeof(spans[0]))],
			.nulls = next_random(&state) % 4 ? (unsigned)(next_random(&state) % 101) : 0,
			.run = (unsigned)(next_random(&state) % 30),
		};
	for (size_t i = 0; i < rows * RANDOM_COLUMNS; i++) {
		unsigned column = i % RANDOM_COLUMNS;
		struct parquet_value *value = &table.values[i];

		*value = random_value(&state, &random_columns[column], &shapes[column], table.texts[i]);
		value->text = table.texts[i];
		if (i >= RANDOM_COLUMNS && shapes[column].run && next_random(&state) % shapes[column].run)
			*value = table.values[i - RANDOM_COLUMNS];
	}
	return table;
}

void random_table_write(const struct random_table *table, struct pq_limits limits, struct pq_bytes *out)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(1);
	const struct byte_sink sink = {.write = random_table_keep, .ctx = out};
	struct pq_file *file = pq_new(random_columns, RANDOM_COLUMNS, compressor, sink, limits);
	int rc = 0;

	assert(file);
	for (size_t row = 0; row < table->rows; row++) {
		for (unsigned i = 0; i < RANDOM_COLUMNS; i++)
			set_value(file, i, &table->values[row * RANDOM_COLUMNS + i]);
		rc |= pq_row_end(file);
	}
	rc |= pq_finish(file, "gotrace version 1.2.3 (build x)", "key", "value");
	assert(!rc);
	pq_free(file);
	libdeflate_free_compressor(compressor);
}

void random_table_free(struct random_table *table)
{
	free(table->values);
	free(table->texts);
}
