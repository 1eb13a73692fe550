/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Logs of the CPU that a thread runs on: their positions, their goroutines, and that each generation has
 * them.
 */
#include <string.h>

#include "unit.h"

#include "checked_model.h"

enum { P0 = 0xc000050000, G1 = 0xc000001000, G2 = 0xc000002000, TID = 500, START = 1000000000 };
enum { MS = 1000000 };

struct found {
	char cpu[16];
	uint64_t time, generation;
	uint32_t g;
};

struct run {
	struct checked_model checked;
	struct found logs[16];
	unsigned n;
	uint64_t ends[4]; /* ns from START, by generation number (from 1) */
};

static int take_generation(void *ctx, const struct generation *gen)
{
	struct run *run = ctx;

	checked_model_check(&run->checked, gen);
	if (gen->number < 4)
		run->ends[gen->number] = gen->end - START;
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];
		struct found *log = &run->logs[run->n];

		if (op->kind != OP_LOG)
			continue;
		assert_string_equal(strtab_get(run->checked.strings, op->string, NULL), "[CPU]");
		assert_int_not_equal(op->stack, 0); /* old viewers need one */
		assert_int_equal(op->m, TID);
		*log = (struct found){.time = op->time - START, .generation = gen->number, .g = op->g};
		strcpy(log->cpu, strtab_get(run->checked.strings, op->string2, NULL));
		run->n++;
	}
	return 0;
}

static void feed(struct run *run, uint32_t type, const void *data, size_t size)
{
	checked_model_feed(&run->checked, type, data, size);
}

static void put(struct run *run, uint8_t site, uint64_t ms, uint64_t g)
{
	struct raw_record rec = {.tid = TID,
				 .site = site,
				 .time = START + ms * MS,
				 .g = g,
				 .goid = g ? g >> 12 & 3 : 0,
				 .p = P0};

	feed(run, LOG_RECORDS, &rec, sizeof(rec));
}

/* The thread is on this CPU from then on; -1: it has ended. */
static void put_cpu(struct run *run, uint64_t ms, int cpu)
{
	struct raw_record rec = {
		.tid = TID, .site = SITE_CPU, .time = START + ms * MS, .arg = (uint64_t)(cpu + 1)};

	feed(run, LOG_RECORDS, &rec, sizeof(rec));
}

static void put_boundary(struct run *run, uint64_t ms)
{
	struct log_boundary boundary = {.time_before = START + ms * MS,
					.time_after = START + ms * MS,
					.clock = {.mono_ns = START + ms * MS}};

	feed(run, LOG_BOUNDARY, &boundary, sizeof(boundary));
}

static void begin(struct run *run)
{
	struct model_options options = {.sink = take_generation, .ctx = run};
	struct log_target target = {.flags = LOG_TARGET_GO | LOG_TARGET_SPAWNED, .go_minor = 26};

	*run = (struct run){0};
	checked_model_new(&run->checked, options);
	feed(run, LOG_TARGET, &target, sizeof(target));
	put(run, SITE_ACQUIREP, 0, 0);
	put(run, SITE_NEWPROC, 0, G1);
	put(run, SITE_NEWPROC, 0, G2);
	put(run, SITE_EXECUTE, 1, G1);
}

static void finish(struct run *run)
{
	checked_model_finish(&run->checked);
	checked_model_free(&run->checked);
}

static void assert_log(const struct run *run, unsigned i, const char *cpu, uint64_t ms)
{
	assert_true(i < run->n);
	assert_string_equal(run->logs[i].cpu, cpu);
	assert_in_range(run->logs[i].time, ms * MS, ms * MS + 1000);
}

static void test_on_who_runs(void **state)
{
	struct run run;

	(void)state;
	begin(&run);
	put_cpu(&run, 5, 3);
	put_cpu(&run, 6, 3); /* nothing new */
	put(&run, SITE_GOSCHED, 10, G1);
	put_cpu(&run, 12, 1); /* no goroutine runs */
	put_cpu(&run, 13, 0);
	put(&run, SITE_EXECUTE, 20, G2);
	put(&run, SITE_GOSCHED, 30, G2);
	finish(&run);
	assert_int_equal(run.n, 2);
	assert_log(&run, 0, "3", 5);
	assert_log(&run, 1, "0", 20);
	assert_int_not_equal(run.logs[0].g, run.logs[1].g);
}

static void test_each_generation_has_it(void **state)
{
	struct run run;

	(void)state;
	begin(&run);
	put_cpu(&run, 5, 3);
	put(&run, SITE_GOSCHED, 6, G1);
	put(&run, SITE_EXECUTE, 7, G2);
	put_boundary(&run, 10);
	put(&run, SITE_GOSCHED, 15, G2);
	put(&run, SITE_EXECUTE, 16, G1);
	put_cpu(&run, 18, 2);
	put(&run, SITE_GOSCHED, 20, G1);
	finish(&run);
	assert_int_equal(run.n, 3);
	assert_log(&run, 0, "3", 5);
	assert_log(&run, 1, "3", 10);
	assert_log(&run, 2, "2", 18);
	assert_true(run.logs[1].generation > run.logs[0].generation);
	/* A generation lasts until the boundary, and the last one as long as something happens. */
	assert_int_equal(run.ends[1], 10 * MS);
	assert_in_range(run.ends[2], 20 * MS, 20 * MS + 1000);
}

static void test_a_thread_that_ended(void **state)
{
	struct raw_record wrong = {.tid = TID, .site = SITE_CPU, .time = START + 30 * MS, .arg = 1ull << 40};
	struct run run;

	(void)state;
	begin(&run);
	put_cpu(&run, 5, 3);
	put(&run, SITE_GOSCHED, 10, G1);
	put_cpu(&run, 11, -1);
	put_boundary(&run, 15);
	put(&run, SITE_EXECUTE, 20, G2); /* another thread with its id */
	feed(&run, LOG_RECORDS, &wrong, sizeof(wrong));
	put(&run, SITE_GOSCHED, 40, G2);
	finish(&run);
	assert_int_equal(run.n, 1);
	assert_log(&run, 0, "3", 5);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_on_who_runs),
	cmocka_unit_test(test_each_generation_has_it),
	cmocka_unit_test(test_a_thread_that_ended),
};

UNIT_TESTS(tests, NULL, NULL);
