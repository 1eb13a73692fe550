/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reads Parquet files as parquet.thrift and Encodings.md of apache/parquet-format describe them, for tests:
 * flat optional columns, pages of version 1, gzip.
 */
#ifndef GOTRACE_TEST_PARQUET_READER_H
#define GOTRACE_TEST_PARQUET_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parquet_value {
	bool null;
	int64_t number; /* also the bits of a double */
	const char *text;
	size_t len;
};

struct parquet_table {
	size_t ncolumns, nrows, ngroups;
	char (*names)[64];
	struct parquet_value **columns; /* [column][row] */
	uint64_t dictionary_pages, plain_pages, delta_pages, index_pages;
	void **owned;
	size_t nowned;
};

/* Asserts that the file is well-formed, and that the ranges in its footer hold. */
struct parquet_table *parquet_read(const uint8_t *bytes, size_t n);
void parquet_free(struct parquet_table *table);

#endif
