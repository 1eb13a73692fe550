/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Random tables of all types and encodings of the Parquet writer: the same ones for the same seed. */
#ifndef GOTRACE_TEST_RANDOM_TABLE_H
#define GOTRACE_TEST_RANDOM_TABLE_H

#include "export/parquet/bytes.h"
#include "export/parquet/file.h"
#include "parquet_reader.h"

enum { RANDOM_COLUMNS = 10 };

extern const struct pq_column random_columns[RANDOM_COLUMNS];

struct random_table {
	size_t rows;
	struct parquet_value *values; /* rows * RANDOM_COLUMNS */
	char (*texts)[32];
};

struct random_table random_table_make(uint64_t seed, size_t rows);
void random_table_free(struct random_table *table);
/* Appends the table as a file. */
void random_table_write(const struct random_table *table, struct pq_limits limits, struct pq_bytes *out);
/* A byte_sink's write, for a struct pq_bytes. */
int random_table_keep(void *ctx, const void *bytes, size_t n);

#endif
