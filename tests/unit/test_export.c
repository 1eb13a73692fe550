/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Exports of real traces, decoded again: their totals must be those of the trace's ops, and every reference
 * must be defined.
 */
#include "unit.h"
#include <errno.h>
#include <libdeflate.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/profile.pb-c.h"
#include "export_job.h"

static void test_timeline(void **state)
{
	struct bytes trace = export_by_hand();
	struct export_totals totals = export_totals_of(&trace);

	(void)state;
	assert_int_equal(totals.ns[G_RUNNABLE], (31 + 10) * UNIT);
	assert_int_equal(totals.ns[G_SYSCALL], 5 * UNIT);
	assert_int_equal(totals.count[G_SYSCALL], 1);
	/* 7 ran for 2 and 3 us, 2 for 40, and 1 since the start of the trace. */
	assert_true(totals.ns[G_RUNNING] > 45 * UNIT);
	assert_int_equal(totals.open_ns[G_WAITING], (150 + 90) * UNIT);
	assert_int_equal(totals.wakeups, 1);
	assert_int_equal(totals.ranges, 2); /* the inner one, and the outer one, which ends with the trace */
	free(trace.data);
}

/* --- pprof --- */

static Pprof__Profile *unzip_profile(const struct bytes *zipped)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	size_t most = 64 << 20, n = 0;
	uint8_t *bytes = malloc(most);
	Pprof__Profile *profile;

	assert_true(d && bytes);
	assert_int_equal(libdeflate_gzip_decompress(d, zipped->data, zipped->len, bytes, most, &n), 0);
	profile = pprof__profile__unpack(NULL, n, bytes);
	assert_non_null(profile);
	libdeflate_free_decompressor(d);
	free(bytes);
	return profile;
}

static void check_references(const Pprof__Profile *profile)
{
	assert_int_equal(profile->n_sample_type, 2);
	assert_string_equal(profile->string_table[0], "");
	for (size_t i = 0; i < profile->n_function; i++) {
		assert_int_equal(profile->function[i]->id, i + 1);
		assert_true((uint64_t)profile->function[i]->name < profile->n_string_table);
	}
	for (size_t i = 0; i < profile->n_location; i++) {
		assert_int_equal(profile->location[i]->id, i + 1);
		assert_int_equal(profile->location[i]->n_line, 1);
		assert_in_range(profile->location[i]->line[0]->function_id, 1, profile->n_function);
	}
	for (size_t i = 0; i < profile->n_sample; i++) {
		const Pprof__Sample *sample = profile->sample[i];

		assert_int_equal(sample->n_value, 2);
		for (size_t j = 0; j < sample->n_location_id; j++)
			assert_in_range(sample->location_id[j], 1, profile->n_location);
		for (size_t j = 0; j < sample->n_label; j++)
			assert_true((uint64_t)sample->label[j]->str < profile->n_string_table);
	}
}

static uint64_t sum_of(const Pprof__Profile *profile, int value)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->n_sample; i++)
		sum += (uint64_t)profile->sample[i]->value[value];
	return sum;
}

static void check_profile(const struct bytes *trace, enum profile_kind kind, uint64_t ns, bool exact)
{
	struct bytes out = export_of(trace, (struct export_options){.format = EXPORT_PPROF, .profile = kind});
	Pprof__Profile *profile = unzip_profile(&out);

	check_references(profile);
	if (exact)
		assert_int_equal(sum_of(profile, 1), ns);
	else
		assert_true(sum_of(profile, 1) <= ns);
	pprof__profile__free_unpacked(profile, NULL);
	free(out.data);
}

static void test_pprof(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(export_fixtures); i++) {
		struct bytes trace = export_read_fixture(export_fixtures[i]);
		struct export_totals totals = export_totals_of(&trace);
		uint64_t all = 0;

		for (int s = G_RUNNABLE; s < LEDGER_UNWATCHED; s++)
			all += totals.ns[s] + totals.open_ns[s];
		check_profile(&trace, PROFILE_WALL, all, true);
		check_profile(&trace, PROFILE_SCHED, totals.ns[G_RUNNABLE], false);
		check_profile(&trace, PROFILE_SYSCALL, totals.ns[G_SYSCALL], false);
		check_profile(&trace, PROFILE_BLOCK, totals.ns[G_WAITING], false);
		check_profile(&trace, PROFILE_CPU, totals.samples * 10000000, true);
		free(trace.data);
	}
}

static void test_pprof_by_hand(void **state)
{
	struct bytes trace = export_by_hand();
	struct bytes out = export_of(
		&trace, (struct export_options){.format = EXPORT_PPROF, .profile = PROFILE_SYSCALL});
	Pprof__Profile *profile = unzip_profile(&out);
	const Pprof__Sample *sample;

	(void)state;
	check_references(profile);
	assert_int_equal(profile->n_sample, 1);
	sample = profile->sample[0];
	assert_int_equal(sample->value[0], 1);
	assert_int_equal(sample->value[1], 5 * UNIT);
	assert_int_equal(sample->n_location_id, 1);
	assert_string_equal(
		profile->string_table
			[profile->function
				 [profile->location[sample->location_id[0] - 1]->line[0]->function_id - 1]
					 ->name],
		"main.worker");
	assert_int_equal(sample->n_label, 1);
	assert_string_equal(profile->string_table[sample->label[0]->key], "goroutine");
	assert_string_equal(profile->string_table[sample->label[0]->str], "main.worker");
	pprof__profile__free_unpacked(profile, NULL);
	free(out.data);
	free(trace.data);
}

/* --- SQL --- */

static uint64_t ask(sqlite3 *db, const char *query)
{
	sqlite3_stmt *row = NULL;
	uint64_t answer;

	assert_int_equal(sqlite3_prepare_v2(db, query, -1, &row, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(row), SQLITE_ROW);
	answer = (uint64_t)sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	return answer;
}

/* --- pprof labels --- */

/*
 * Goroutine 1 has h=a from 10 us to 60, and step=1 from 30 to 40. It creates 7 at 50, which has its labels
 * and ends at 100. 2 and 3 have had h=b since before the trace; 2 runs for 10 us, 3 does not.
 */
static struct bytes labelled(void)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2),
		 g3 = wire_trace_goroutine(t, 3), g7 = wire_trace_goroutine(t, 7);
	uint32_t here = wire_trace_stack(t, "main.wait", "main.main", NULL),
		 worker = wire_trace_stack(t, "main.worker", NULL);
	uint32_t receive = wire_trace_string(t, "chan receive"), set = wire_trace_string(t, "labels"),
		 held = wire_trace_string(t, "labels held"),
		 others = wire_trace_string(t, "labels of goroutines");
	uint32_t a = wire_trace_string(t, "{\"h\":\"a\"}"), b = wire_trace_string(t, "{\"h\":\"b\"}"),
		 step = wire_trace_string(t, "{\"h\":\"a\", \"step\":\"1\"}"),
		 three = wire_trace_string(t, "{\"h\":\"b\"} 3 99"), none = wire_trace_string(t, "{}"),
		 bad = wire_trace_string(t, "{\"h\":7}");
	const uint64_t t0 = 10000000001000000ull, us = UNIT;
	const struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_WAITING, NO_M),
		G_IS(g3, G_WAITING, NO_M),
		AT(t0 + 10 * us, OP_LOG, g1, .string = set, .string2 = a),
		AT(t0 + 30 * us, OP_LOG, g1, .string = set, .string2 = step),
		AT(t0 + 35 * us, OP_LOG, g1, .string = set, .string2 = bad),
		AT(t0 + 40 * us, OP_LOG, g1, .string = set, .string2 = a),
		AT(t0 + 50 * us, OP_GO_CREATE, g1, .g2 = g7, .stack2 = worker, .stack = here),
		AT(t0 + 60 * us, OP_LOG, g1, .string = set, .string2 = none),
		AT(t0 + 65 * us, OP_LOG, g1, .string = others, .string2 = three),
		AT(t0 + 70 * us, OP_GO_BLOCK, g1, .string = receive, .stack = here),
		AT(t0 + 71 * us, OP_GO_START, g7),
		AT(t0 + 72 * us, OP_LOG, g7, .string = held, .string2 = a),
		AT(t0 + 90 * us, OP_GO_UNBLOCK, g7, .g2 = g2, .stack = worker),
		AT(t0 + 100 * us, OP_GO_DESTROY, g7),
		AT(t0 + 110 * us, OP_GO_START, g2),
		AT(t0 + 111 * us, OP_LOG, g2, .string = held, .string2 = b),
		AT(t0 + 120 * us, OP_GO_BLOCK, g2, .string = receive, .stack = here),
		AT(t0 + 200 * us, OP_PROC_STOP, NO_G),
	};
	struct bytes bytes;

	wire_trace_generation(t, ops, COUNT(ops));
	wire_trace_last(t);
	bytes = wire_trace_encode(t, WIRE_GO126);
	wire_trace_free(t);
	return bytes;
}

static uint64_t sum_with(const Pprof__Profile *profile, const char *key, const char *value)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->n_sample; i++) {
		const Pprof__Sample *sample = profile->sample[i];

		for (size_t j = 0; j < sample->n_label; j++) {
			if (strcmp(profile->string_table[sample->label[j]->key], key) == 0 &&
			    strcmp(profile->string_table[sample->label[j]->str], value) == 0)
				sum += (uint64_t)sample->value[1];
		}
	}
	return sum;
}

static void test_labels_in_pprof(void **state)
{
	struct bytes trace = labelled();
	struct bytes out =
		export_of(&trace, (struct export_options){.format = EXPORT_PPROF, .profile = PROFILE_WALL});
	Pprof__Profile *profile = unzip_profile(&out);

	(void)state;
	check_references(profile);
	assert_int_equal(sum_with(profile, "h", "a"), (50 + 50) * UNIT);
	assert_int_equal(sum_with(profile, "step", "1"), 10 * UNIT);
	assert_true(sum_with(profile, "h", "b") >= 2 * 200 * UNIT);
	pprof__profile__free_unpacked(profile, NULL);
	free(out.data);
	free(trace.data);
}

static void test_labels_in_sqlite(void **state)
{
	struct bytes trace = labelled();
	sqlite3 *db = NULL;

	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	free(export_of(&trace, (struct export_options){.format = EXPORT_SQLITE, .database = db}).data);
	assert_int_equal(ask(db, "SELECT count(*) FROM label"), 5);
	assert_int_equal(ask(db, "SELECT sum(dur) FROM label WHERE value = 'a' AND begins AND ends"),
			 100 * UNIT);
	assert_int_equal(ask(db, "SELECT dur FROM label WHERE key = 'step' AND value = '1'"), 10 * UNIT);
	assert_int_equal(
		ask(db, "SELECT count(*) FROM label l JOIN goroutine g ON g.id = l.g WHERE goid IN (2, 3) "
			"AND value = 'b' AND NOT begins AND NOT ends AND l.ts = "
			"(SELECT value FROM info WHERE key = 'start')"),
		2);
	assert_int_equal(ask(db, "SELECT l.ts = g.created AND l.ts + l.dur = g.ended FROM label l "
				 "JOIN goroutine g ON g.id = l.g WHERE goid = 7"),
			 1);
	sqlite3_close(db);
	free(trace.data);
}

static void check_database(sqlite3 *db, const struct export_totals *totals)
{
	assert_int_equal(ask(db, "SELECT sum(dur) FROM state WHERE state = 'runnable' AND ends"),
			 totals->ns[G_RUNNABLE]);
	assert_int_equal(ask(db, "SELECT sum(dur) FROM state WHERE state = 'running' AND ends"),
			 totals->ns[G_RUNNING]);
	assert_int_equal(ask(db, "SELECT total(dur) FROM state WHERE state = 'running' AND NOT ends"),
			 totals->open_ns[G_RUNNING]);
	assert_int_equal(ask(db, "SELECT count(*) FROM state WHERE state = 'waiting' AND ends"),
			 totals->count[G_WAITING]);
	assert_int_equal(ask(db, "SELECT count(*) FROM wakeup"), totals->wakeups);
	assert_int_equal(ask(db, "SELECT count(*) FROM sample"), totals->samples);
	assert_int_equal(ask(db, "SELECT count(*) FROM log"), totals->logs);
	assert_int_equal(ask(db, "SELECT (SELECT count(*) FROM gc) + (SELECT count(*) FROM task) + (SELECT "
				 "count(*) FROM region)"),
			 totals->ranges);
	/* Every reference has a row. */
	assert_int_equal(ask(db, "SELECT count(*) FROM state WHERE g NOT IN (SELECT id FROM goroutine)"), 0);
	assert_int_equal(ask(db, "SELECT count(*) FROM state WHERE stack NOT IN (SELECT id FROM stack)"), 0);
	assert_int_equal(ask(db, "SELECT count(*) FROM stack s WHERE depth <> (SELECT count(*) FROM frame f "
				 "WHERE f.stack = s.id)"),
			 0);
	/* Intervals of a goroutine follow each other without gaps. */
	assert_int_equal(ask(db, "SELECT count(*) FROM (SELECT ts + dur e, lead(ts) OVER (PARTITION BY g "
				 "ORDER BY ts, dur) n FROM state) WHERE e <> n"),
			 0);
}

static void test_sqlite(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(export_fixtures); i++) {
		struct bytes trace = export_read_fixture(export_fixtures[i]), out;
		struct export_totals totals = export_totals_of(&trace);
		sqlite3 *db = NULL;

		assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
		export_of(&trace, (struct export_options){.format = EXPORT_SQLITE, .database = db});
		check_database(db, &totals);
		sqlite3_close(db);
		/* The same database, written as a file. */
		out = export_of(&trace, (struct export_options){.format = EXPORT_SQLITE});
		assert_memory_equal(out.data, "SQLite format 3", 16);
		assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
		assert_int_equal(sqlite3_deserialize(db, "main", out.data, (sqlite3_int64)out.len,
						     (sqlite3_int64)out.len, SQLITE_DESERIALIZE_READONLY),
				 SQLITE_OK);
		check_database(db, &totals);
		sqlite3_close(db);
		free(out.data);
		free(trace.data);
	}
}

static unsigned files_opened;

static int count_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out)
{
	sqlite3_vfs *base = vfs->pAppData;

	files_opened++;
	return base->xOpen(base, name, file, flags, out);
}

/* SQLite itself creates no files, however large a sort is: gotrace writes all that it writes in one way. */
static void test_sqlite_in_memory(void **state)
{
	struct bytes trace = export_read_fixture(export_fixtures[0]);
	sqlite3_vfs *base = sqlite3_vfs_find(NULL), counting = *base;
	sqlite3 *db = NULL;

	(void)state;
	counting.zName = "counting";
	counting.pAppData = base;
	counting.xOpen = count_open;
	assert_int_equal(sqlite3_vfs_register(&counting, 1), SQLITE_OK);
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	export_of(&trace, (struct export_options){.format = EXPORT_SQLITE, .database = db});
	assert_int_equal(ask(db,
			     "SELECT count(*) FROM (WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 "
			     "FROM n LIMIT 100000) SELECT i, zeroblob(100) FROM n ORDER BY i * 7919 % 100003 "
			     "LIMIT -1 OFFSET 0)"),
			 100000);
	assert_int_equal(files_opened, 0);
	sqlite3_close(db);
	assert_int_equal(sqlite3_vfs_unregister(&counting), SQLITE_OK);
	assert_int_equal(sqlite3_vfs_register(base, 1), SQLITE_OK);
	free(trace.data);
}

/* --- text --- */

static void test_folded(void **state)
{
	struct bytes trace = export_by_hand();
	struct bytes out =
		export_of(&trace, (struct export_options){.format = EXPORT_FOLDED, .profile = PROFILE_WALL});

	(void)state;
	assert_int_equal(bytes_write(&out, "", 1), 0);
	assert_non_null(strstr((char *)out.data, "main.worker;[system call] 5\n"));
	assert_non_null(strstr((char *)out.data, "main.main;main.wait;[chan receive] "));
	free(out.data);
	free(trace.data);
}

static void test_flame(void **state)
{
	struct bytes trace = export_by_hand();
	struct bytes out = export_of(&trace, (struct export_options){.format = EXPORT_FLAME});

	(void)state;
	assert_int_equal(bytes_write(&out, "", 1), 0);
	assert_non_null(strstr((char *)out.data, "main.worker;[system call] 5\\u000a"));
	assert_non_null(strstr((char *)out.data, "</html>"));
	assert_non_null(strstr((char *)out.data, "const loops = [\n\"net.(*TCPListener).Accept\",\n"));
	assert_non_null(strstr((char *)out.data, "const handler = \"net/http.serverHandler.ServeHTTP\";\n"));
	assert_null(strstr((char *)out.data, "http://")); /* no external resources */
	free(out.data);
	free(trace.data);
}

static void test_parse(void **state)
{
	enum export_format format;
	enum profile_kind profile;
	struct error err = {""};

	(void)state;
	assert_true(export_parse("perfetto", &format, &profile, &err));
	assert_int_equal(format, EXPORT_PERFETTO);
	assert_true(export_parse("pprof:sched", &format, &profile, &err));
	assert_int_equal(format, EXPORT_PPROF);
	assert_int_equal(profile, PROFILE_SCHED);
	assert_string_equal(err.text, "");
	assert_false(export_parse("pprof:nothing", &format, &profile, &err));
	assert_non_null(strstr(err.text, "nothing"));
	err.text[0] = '\0';
	assert_false(export_parse("1.26", &format, &profile, &err));
	assert_string_equal(err.text, "");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_timeline),
	cmocka_unit_test(test_pprof),
	cmocka_unit_test(test_pprof_by_hand),
	cmocka_unit_test(test_sqlite),
	cmocka_unit_test(test_sqlite_in_memory),
	cmocka_unit_test(test_labels_in_pprof),
	cmocka_unit_test(test_labels_in_sqlite),
	cmocka_unit_test(test_folded),
	cmocka_unit_test(test_flame),
	cmocka_unit_test(test_parse),
};

UNIT_TESTS(tests, NULL, NULL);
