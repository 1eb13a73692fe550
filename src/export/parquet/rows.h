/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: the files of the tables, and the values that several of them have. */
#ifndef GOTRACE_EXPORT_PARQUET_ROWS_H
#define GOTRACE_EXPORT_PARQUET_ROWS_H

#include "export/census.h"
#include "export/parquet/schema.h"
#include "export/parquet/stacks.h"

struct lake_rows;

struct lake_rows_sink { /* where a file's bytes go */
	const struct lake_rows *rows;
	enum lake_table table;
};

struct lake_rows {
	const struct lake_options *options;
	const struct census *census;
	const struct tables *tables; /* of the open generation; NULL at the end */
	struct lake_stacks stacks;
	struct pq_file *files[LAKE_TABLES];
	struct lake_rows_sink sinks[LAKE_TABLES];
	struct libdeflate_compressor *compressor;
};

int rows_init(struct lake_rows *rows, const struct lake_options *options, const struct census *census);
void rows_free(struct lake_rows *rows);
int rows_finish(struct lake_rows *rows);

/* Wall-clock time of a time of the trace, ns. */
int64_t rows_wall(const struct lake_rows *rows, uint64_t time);
/* Sets *ours to the lake's string or stack for one of the trace. Each returns 0 or -ENOMEM. */
int rows_take_string(struct lake_rows *rows, uint32_t string, uint32_t *ours);
int rows_take_stack(struct lake_rows *rows, uint32_t stack, uint32_t *ours);

/* Set values of the current row; 0 is NULL. Numbers and durations may not be above INT64_MAX. */
void rows_put_string(struct lake_rows *rows, enum lake_table table, unsigned column, uint32_t string);
void rows_put_text(struct lake_rows *rows, enum lake_table table, unsigned column, const char *text);
/* The same for text that may not be UTF-8. Returns 0 or -ENOMEM. */
int rows_put_foreign(struct lake_rows *rows, enum lake_table table, unsigned column, const char *text);
void rows_put_id(struct lake_rows *rows, enum lake_table table, unsigned column, uint64_t id);
void rows_put_state(struct lake_rows *rows, enum lake_table table, unsigned column, uint8_t state);
void rows_put_hash(struct lake_rows *rows, enum lake_table table, unsigned column, uint32_t stack);
/* hash, names, op and site, in the columns from here on. */
void rows_put_stack(struct lake_rows *rows, enum lake_table table, unsigned column, uint32_t stack);

#endif
