/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Parquet files: random tables read back, and the tables of traces. Other readers: tests/e2e/fleet.sh. */
#include "unit.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/parquet/encode.h"
#include "export/parquet/file.h"
#include "export_job.h"
#include "parquet_reader.h"
#include "random_table.h"

static void check_table(const struct random_table *table, const struct parquet_table *got)
{
	assert_int_equal(got->nrows, table->rows);
	assert_int_equal(got->ncolumns, RANDOM_COLUMNS);
	for (size_t i = 0; i < table->rows * RANDOM_COLUMNS; i++) {
		const struct parquet_value *want = &table->values[i];
		const struct parquet_value *value = &got->columns[i % RANDOM_COLUMNS][i / RANDOM_COLUMNS];

		assert_int_equal(value->null, want->null);
		if (want->null)
			continue;
		if (random_columns[i % RANDOM_COLUMNS].type != PQ_TEXT) {
			assert_int_equal(value->number, want->number);
			continue;
		}
		assert_int_equal(value->len, want->len);
		assert_memory_equal(value->text, want->text, want->len);
	}
}

static void test_random_tables(void **state)
{
	static const size_t rows[] = {1, 2, 7, 8, 9, 33, 128, 129, 130, 1000, 5000};
	uint64_t dictionaries = 0, indices = 0, plain = 0, deltas = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 66; seed++) {
		const struct pq_limits limits = {.page_rows = 1 + seed * 37 % 700,
						 .group_rows = 1 + seed * 91 % 3000};
		struct random_table table = random_table_make(seed, rows[seed % COUNT(rows)]);
		struct pq_bytes bytes = {.oom = false};
		struct parquet_table *got;

		random_table_write(&table, limits, &bytes);
		got = parquet_read(bytes.buf.bytes, bytes.buf.len);
		check_table(&table, got);
		assert_int_equal(got->ngroups, (table.rows + limits.group_rows - 1) / limits.group_rows);
		dictionaries += got->dictionary_pages;
		indices += got->index_pages;
		plain += got->plain_pages;
		deltas += got->delta_pages;
		parquet_free(got);
		buffer_free(&bytes.buf);
		random_table_free(&table);
	}
	assert_true(dictionaries && indices && plain && deltas);
}

/* A dictionary that has become too large is left for plain values, also within a row group. */
static void test_full_dictionary(void **state)
{
	static const struct pq_column columns[] = {{"text", PQ_TEXT, PQ_DICTIONARY},
						   {"id", PQ_INT64, PQ_DICTIONARY}};
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(1);
	struct pq_bytes bytes = {.oom = false};
	const struct byte_sink sink = {.write = random_table_keep, .ctx = &bytes};
	struct pq_file *file = pq_new(columns, 2, compressor, sink, (struct pq_limits){.page_rows = 10000});
	struct parquet_table *got;
	char text[64];
	enum { ROWS = 100000 };

	(void)state;
	for (int i = 0; i < ROWS; i++) {
		pq_set_text(file, 0, text, (size_t)snprintf(text, sizeof(text), "text number %d", i));
		pq_set_int(file, 1, -i);
		assert_int_equal(pq_row_end(file), 0);
	}
	assert_int_equal(pq_finish(file, "x", "key", "value"), 0);
	got = parquet_read(bytes.buf.bytes, bytes.buf.len);
	assert_true(got->index_pages && got->plain_pages && got->delta_pages);
	for (int i = 0; i < ROWS; i++) {
		assert_int_equal(got->columns[0][i].len, snprintf(text, sizeof(text), "text number %d", i));
		assert_memory_equal(got->columns[0][i].text, text, got->columns[0][i].len);
		assert_int_equal(got->columns[1][i].number, -i);
	}
	parquet_free(got);
	pq_free(file);
	buffer_free(&bytes.buf);
	libdeflate_free_compressor(compressor);
}

static void test_no_rows(void **state)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(1);
	struct pq_bytes bytes = {.oom = false};
	const struct byte_sink sink = {.write = random_table_keep, .ctx = &bytes};
	struct pq_file *file =
		pq_new(random_columns, RANDOM_COLUMNS, compressor, sink, (struct pq_limits){0});

	(void)state;
	assert_int_equal(pq_set_constant(file, 8, "x"), 0);
	assert_int_equal(pq_finish(file, "x", "key", "value"), 0);
	assert_int_equal(bytes.buf.len, 0);
	pq_free(file);
	libdeflate_free_compressor(compressor);
}

static int full_disk(void *ctx, const void *bytes, size_t n)
{
	(void)ctx, (void)bytes, (void)n;
	return -28;
}

static void test_full_disk(void **state)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(1);
	const struct byte_sink sink = {.write = full_disk};
	struct pq_file *file =
		pq_new(random_columns, RANDOM_COLUMNS, compressor, sink, (struct pq_limits){.group_rows = 2});

	(void)state;
	assert_int_equal(pq_row_end(file), 0);
	assert_int_equal(pq_row_end(file), -28);
	assert_int_equal(pq_row_end(file), -28);
	assert_int_equal(pq_finish(file, "x", "key", "value"), -28);
	pq_free(file);
	libdeflate_free_compressor(compressor);
}

/* --- tables of traces --- */

struct tables_out {
	struct pq_bytes tables[LAKE_TABLES];
};

static int keep_table(void *ctx, enum lake_table table, const void *bytes, size_t n)
{
	struct tables_out *out = ctx;

	return random_table_keep(&out->tables[table], bytes, n);
}

/* Exports a trace, and reads the tables that it has. The caller frees them. */
static void tables_of(const struct bytes *trace, bool raw, struct parquet_table *tables[LAKE_TABLES])
{
	static const struct lake_frame frames[] = {{"main.wait", "/x/main.go", 7},
						   {"main.main", "/x/main.go", 1}};
	static const struct lake_finding finding = {.rule = "lock-io",
						    .level = "high",
						    .text = "text\xff",
						    .impact = 0.5,
						    .n = 3,
						    .stack = frames,
						    .nstack = 2,
						    .most_frames = 48};
	struct tables_out out = {0};
	struct lake_options lake = {
		.write = keep_table,
		.ctx = &out,
		.raw = raw,
		.attributes = {[RESOURCE_SERVICE_NAME] = "shop", [RESOURCE_PID] = "17"},
		.trace_id = "0123456789abcdef0123456789abcdef",
		.start_wall_ns = 1700000000000000000,
		.wall_recorded = true,
		.findings = &finding,
		.nfindings = 1,
	};

	export_of(trace, (struct export_options){.format = EXPORT_PARQUET, .lake = &lake});
	for (unsigned i = 0; i < LAKE_TABLES; i++) {
		struct pq_bytes *bytes = &out.tables[i];

		tables[i] = bytes->buf.len ? parquet_read(bytes->buf.bytes, bytes->buf.len) : NULL;
		buffer_free(&bytes->buf);
	}
}

static const struct parquet_value *column_of(const struct parquet_table *table, const char *name)
{
	for (size_t i = 0; i < table->ncolumns; i++) {
		if (strcmp(table->names[i], name) == 0)
			return table->columns[i];
	}
	fail_msg("no column %s", name);
	return NULL;
}

static void free_tables(struct parquet_table *tables[LAKE_TABLES])
{
	for (unsigned i = 0; i < LAKE_TABLES; i++) {
		if (tables[i])
			parquet_free(tables[i]);
	}
}

static bool is_text(const struct parquet_value *value, const char *text)
{
	return !value->null && value->len == strlen(text) && memcmp(value->text, text, value->len) == 0;
}

/* Sums a column over the rows of a state. */
static uint64_t sum_of(const struct parquet_table *table, const char *column, const char *state)
{
	const struct parquet_value *values = column_of(table, column), *states = column_of(table, "state");
	uint64_t sum = 0;

	for (size_t i = 0; i < table->nrows; i++)
		sum += is_text(&states[i], state) && !values[i].null ? (uint64_t)values[i].number : 0;
	return sum;
}

/* Raw intervals, sums and histograms agree with one another and with the trace's ops. */
static void test_trace_tables(void **state)
{
	static const char *const names[] = {
		[G_RUNNABLE] = "runnable", [G_SYSCALL] = "syscall", [G_WAITING] = "waiting"};

	(void)state;
	for (size_t i = 0; i < COUNT(export_fixtures); i++) {
		struct bytes trace = export_read_fixture(export_fixtures[i]);
		struct export_totals totals = export_totals_of(&trace);
		struct parquet_table *tables[LAKE_TABLES];

		tables_of(&trace, true, tables);
		for (unsigned s = 0; s < COUNT(names); s++) {
			uint64_t whole;

			if (!names[s])
				continue;
			assert_int_equal(sum_of(tables[LAKE_STATE], "dur", names[s]),
					 totals.ns[s] + totals.open_ns[s]);
			whole = sum_of(tables[LAKE_WAIT], "sum_ns", names[s]);
			assert_int_equal(whole + sum_of(tables[LAKE_WAIT], "cut_ns", names[s]),
					 totals.ns[s] + totals.open_ns[s]);
			assert_int_equal(sum_of(tables[LAKE_LATENCY], "sum_ns", names[s]), whole);
			assert_int_equal(sum_of(tables[LAKE_LATENCY], "n", names[s]),
					 sum_of(tables[LAKE_WAIT], "n", names[s]));
		}
		assert_int_equal(tables[LAKE_WAKEUP]->nrows, totals.wakeups);
		free_tables(tables);
		free(trace.data);
	}
}

/* FNV-1a of the lines, leaf first: lakes hold these, so they never change. */
static int64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3ull;
	return (int64_t)hash;
}

static void test_values(void **state)
{
	struct bytes trace = export_by_hand();
	struct parquet_table *tables[LAKE_TABLES];
	const struct parquet_value *start, *stacks;
	bool found = false;

	(void)state;
	tables_of(&trace, false, tables);
	assert_null(tables[LAKE_STATE]);
	assert_null(tables[LAKE_LABEL]);
	assert_int_equal(tables[LAKE_TRACE]->nrows, 1);
	start = column_of(tables[LAKE_TRACE], "start_ts");
	assert_int_equal(start->number, 1700000000000000000);
	assert_true(is_text(column_of(tables[LAKE_TRACE], "service_name"), "shop"));
	assert_true(column_of(tables[LAKE_TRACE], "host_name")->null);
	assert_int_equal(column_of(tables[LAKE_TRACE], "process_pid")->number, 17);
	assert_true(is_text(column_of(tables[LAKE_TRACE], "file"), "test"));
	assert_int_equal(tables[LAKE_FINDING]->nrows, 1);
	assert_true(is_text(column_of(tables[LAKE_FINDING], "text"), "text?"));
	assert_true(is_text(column_of(tables[LAKE_FINDING], "site"), "main.wait"));
	assert_int_equal(column_of(tables[LAKE_FINDING], "stack")->number,
			 hash_of("main.wait:7\nmain.main:1"));
	stacks = column_of(tables[LAKE_WAIT], "stack_names");
	for (size_t i = 0; i < tables[LAKE_WAIT]->nrows; i++)
		found |= stacks[i].number == hash_of("main.wait\nmain.main");
	assert_true(found);
	free_tables(tables);
	free(trace.data);
}

static void test_paths(void **state)
{
	struct lake_options lake = {
		.attributes = {[RESOURCE_SERVICE_NAME] = "../a b", [RESOURCE_HOST_NAME] = ".h/x"},
		.trace_id = "0123456789abcdef0123456789abcdef",
		.start_wall_ns = 1700000000000000000,
	};
	char path[LAKE_PATH_BYTES];

	(void)state;
	assert_int_equal(lake_path(&lake, LAKE_REQUEST_WAIT, path), 0);
	assert_string_equal(path, "request_wait/date=2023-11-14/service=-.-a-b/-h-x-0123456789ab.parquet");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_random_tables), cmocka_unit_test(test_full_dictionary),
	cmocka_unit_test(test_no_rows),       cmocka_unit_test(test_full_disk),
	cmocka_unit_test(test_trace_tables),  cmocka_unit_test(test_values),
	cmocka_unit_test(test_paths),
};

UNIT_TESTS(tests, NULL, NULL);
