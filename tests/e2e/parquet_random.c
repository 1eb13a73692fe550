/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes random tables as DIR/random-N.parquet, and their rows as lines of JSON beside them, for fleet.py:
 *
 *	parquet_random DIR N
 *
 * Doubles are written as their bits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_table.h"

static FILE *open_output(const char *dir, unsigned number, const char *suffix)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/random-%03u.%s", dir, number, suffix);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

static void print_value(FILE *out, unsigned column, const struct parquet_value *value)
{
	if (value->null)
		fprintf(out, "null");
	else if (random_columns[column].type == PQ_TEXT)
		fprintf(out, "\"%.*s\"", (int)value->len, value->text);
	else if (random_columns[column].type == PQ_BOOL)
		fprintf(out, "%s", value->number ? "true" : "false");
	else
		fprintf(out, "%lld", (long long)value->number);
}

static void print_rows(FILE *out, const struct random_table *table)
{
	for (size_t i = 0; i < table->rows * RANDOM_COLUMNS; i++) {
		unsigned column = i % RANDOM_COLUMNS;

		fprintf(out, column ? "," : "[");
		print_value(out, column, &table->values[i]);
		if (column == RANDOM_COLUMNS - 1)
			fprintf(out, "]\n");
	}
}

int main(int argc, char **argv)
{
	static const size_t rows[] = {1, 2, 7, 8, 9, 33, 128, 129, 130, 1000, 5000, 20000};
	unsigned tables = argc == 3 ? (unsigned)atoi(argv[2]) : 0;

	for (unsigned i = 1; i <= tables; i++) {
		/* Every third one has the writer's own limits. */
		const struct pq_limits limits = {.page_rows = i % 3 ? 1 + i * 37 % 700 : 0,
						 .group_rows = i % 3 ? 1 + i * 91 % 9000 : 0};
		struct random_table table = random_table_make(i, rows[i % (sizeof(rows) / sizeof(rows[0]))]);
		FILE *file = open_output(argv[1], i, "parquet"), *lines = open_output(argv[1], i, "jsonl");
		struct pq_bytes bytes = {.oom = false};

		random_table_write(&table, limits, &bytes);
		fwrite(bytes.buf.bytes, 1, bytes.buf.len, file);
		print_rows(lines, &table);
		if (bytes.oom || fclose(file) || fclose(lines))
			return 1;
		buffer_free(&bytes.buf);
		random_table_free(&table);
	}
	return tables ? 0 : 2;
}
