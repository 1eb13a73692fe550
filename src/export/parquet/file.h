/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: writes one Parquet file. It knows nothing of traces. Memory is bounded by the
 * dictionaries, and by the compressed pages of one row group.
 *
 * Columns are flat and optional: what a row does not set is NULL. Pages are of version 1, with gzip, which
 * all readers have (docs/fleet.md).
 */
#ifndef GOTRACE_EXPORT_PARQUET_FILE_H
#define GOTRACE_EXPORT_PARQUET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/wire/wire.h"

enum pq_type { PQ_BOOL, PQ_INT32, PQ_INT64, PQ_DOUBLE, PQ_TEXT };

enum pq_encoding {
	PQ_PLAIN,      /* any type */
	PQ_DICTIONARY, /* integers and text with few different values; with many, as below */
	PQ_DELTA,      /* integers whose neighbours are near */
};

struct pq_column {
	const char *name;
	uint8_t type, encoding; /* enum pq_type, pq_encoding */
};

struct pq_limits {
	size_t page_rows, group_rows; /* 0 = the defaults */
};

struct pq_file;
struct libdeflate_compressor;

/* columns are not copied; the compressor is not owned. Returns NULL when out of memory. */
struct pq_file *pq_new(const struct pq_column *columns, size_t n, struct libdeflate_compressor *compressor,
		       struct byte_sink out, struct pq_limits limits);
void pq_free(struct pq_file *file);
/* Values of the current row; the first one that is set counts. An integer is also a BOOL or INT32. Text must
 * be UTF-8 and below 16 MiB. */
void pq_set_int(struct pq_file *file, unsigned column, int64_t value);
void pq_set_double(struct pq_file *file, unsigned column, double value);
void pq_set_text(struct pq_file *file, unsigned column, const char *text, size_t len);
/* The value of all rows from the next one on that do not set this column. Text is copied. */
int pq_set_constant(struct pq_file *file, unsigned column, const char *text);
/* Ends the row. Returns 0, -ENOMEM, or the sink's error. */
int pq_row_end(struct pq_file *file);
/*
 * Writes the rest. created_by: "PROGRAM version X.Y.Z (build B)", which readers parse. key and value: one
 * property of the file. Without rows nothing is written at all. Returns as pq_row_end() does.
 */
int pq_finish(struct pq_file *file, const char *created_by, const char *key, const char *value);

#endif
