/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/parquet/rows.h"

#include <errno.h>
#include <libdeflate.h>
#include <string.h>

#include "export/timeline.h"

enum { COMPRESSION = 6 };

#define CREATED_BY "gotrace version " GOTRACE_VERSION " (build " GOTRACE_VERSION ")"

static int rows_write_bytes(void *ctx, const void *bytes, size_t n)
{
	const struct lake_rows_sink *sink = ctx;

	return sink->rows->options->write(sink->rows->options->ctx, sink->table, bytes, n);
}

static int rows_open_table(struct lake_rows *rows, enum lake_table table)
{
	const struct lake_schema *schema = &lake_schemas[table];
	const char *constants[COL_FIRST] = {
		[COL_TRACE_ID] = rows->options->trace_id,
		[COL_SERVICE_NAME] = rows->options->attributes[RESOURCE_SERVICE_NAME],
		[COL_SERVICE_VERSION] = rows->options->attributes[RESOURCE_SERVICE_VERSION],
		[COL_HOST_NAME] = rows->options->attributes[RESOURCE_HOST_NAME],
	};
	const struct byte_sink out = {.write = rows_write_bytes, .ctx = &rows->sinks[table]};

	rows->sinks[table] = (struct lake_rows_sink){rows, table};
	rows->files[table] = pq_new(schema->columns, schema->n, rows->compressor, out, (struct pq_limits){0});
	if (!rows->files[table])
		return -ENOMEM;
	for (unsigned i = 0; i < COL_FIRST; i++) {
		uint32_t ours = 0;
		size_t len;

		if (constants[i] &&
		    stacktab_text(&rows->stacks.st, constants[i], strlen(constants[i]), &ours))
			return -ENOMEM;
		if (ours &&
		    pq_set_constant(rows->files[table], i, strtab_get(rows->stacks.st.strings, ours, &len)))
			return -ENOMEM;
	}
	return 0;
}

int rows_init(struct lake_rows *rows, const struct lake_options *options, const struct census *census)
{
	rows->options = options;
	rows->census = census;
	rows->compressor = libdeflate_alloc_compressor(COMPRESSION);
	if (lake_stacks_init(&rows->stacks) || !rows->compressor)
		return -ENOMEM;
	for (unsigned i = 0; i < (options->raw ? LAKE_TABLES : LAKE_FIRST_RAW); i++) {
		if (rows_open_table(rows, (enum lake_table)i))
			return -ENOMEM;
	}
	return 0;
}

void rows_free(struct lake_rows *rows)
{
	for (unsigned i = 0; i < LAKE_TABLES; i++)
		pq_free(rows->files[i]);
	lake_stacks_free(&rows->stacks);
	if (rows->compressor)
		libdeflate_free_compressor(rows->compressor);
}

int rows_finish(struct lake_rows *rows)
{
	int rc = 0;

	for (unsigned i = 0; i < LAKE_TABLES && !rc; i++) {
		if (rows->files[i])
			rc = pq_finish(rows->files[i], CREATED_BY, "gotrace.schema", LAKE_SCHEMA);
	}
	return rc;
}

int64_t rows_wall(const struct lake_rows *rows, uint64_t time)
{
	return (int64_t)(rows->options->start_wall_ns + (time - rows->census->start));
}

int rows_take_string(struct lake_rows *rows, uint32_t string, uint32_t *ours)
{
	return stacktab_string(&rows->stacks.st, rows->tables, string, ours);
}

int rows_take_stack(struct lake_rows *rows, uint32_t stack, uint32_t *ours)
{
	return lake_stacks_take(&rows->stacks, rows->tables, stack, ours);
}

void rows_put_string(struct lake_rows *rows, enum lake_table table, unsigned column, uint32_t string)
{
	size_t len;
	const char *text = strtab_get(rows->stacks.st.strings, string, &len);

	if (string)
		pq_set_text(rows->files[table], column, text, len);
}

void rows_put_text(struct lake_rows *rows, enum lake_table table, unsigned column, const char *text)
{
	if (text && text[0])
		pq_set_text(rows->files[table], column, text, strlen(text));
}

int rows_put_foreign(struct lake_rows *rows, enum lake_table table, unsigned column, const char *text)
{
	uint32_t ours = 0;

	if (text && stacktab_text(&rows->stacks.st, text, strlen(text), &ours))
		return -ENOMEM;
	rows_put_string(rows, table, column, ours);
	return 0;
}

void rows_put_id(struct lake_rows *rows, enum lake_table table, unsigned column, uint64_t id)
{
	if (id)
		pq_set_int(rows->files[table], column, (int64_t)id);
}

void rows_put_state(struct lake_rows *rows, enum lake_table table, unsigned column, uint8_t state)
{
	static const char *const names[LEDGER_STATE_COUNT] = {
		[G_RUNNABLE] = "runnable",
		[G_RUNNING] = "running",
		[G_SYSCALL] = "syscall",
		[G_WAITING] = "waiting",
		[LEDGER_UNWATCHED] = "not watched",
	};

	rows_put_text(rows, table, column, names[state]);
}

void rows_put_hash(struct lake_rows *rows, enum lake_table table, unsigned column, uint32_t stack)
{
	if (stack)
		pq_set_int(rows->files[table], column, rows->stacks.all[stack].hash);
}

void rows_put_stack(struct lake_rows *rows, enum lake_table table, unsigned column, uint32_t stack)
{
	const struct lake_stack *info = &rows->stacks.all[stack];

	if (!stack)
		return;
	pq_set_int(rows->files[table], column, info->hash);
	pq_set_int(rows->files[table], column + 1, info->names);
	rows_put_string(rows, table, column + 2, info->op);
	rows_put_string(rows, table, column + 3, info->site);
}
