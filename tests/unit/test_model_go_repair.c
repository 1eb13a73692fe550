/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Repairs in a program whose Ps are all busy: the ops must not show a P that it does not have. */

#include "unit.h"

#include "checked_model.h"
#include "trace/ops/own_logs.h"

enum { P0 = 0xc000050000, G1 = 0xc000001000, G2 = 0xc000002000, TID = 500, START = 1000000 };

struct run {
	struct checked_model checked;
	uint64_t now;
	int32_t last_p;  /* the greatest id in the ops */
	unsigned blocks; /* GoBlock in the ops, the synthetic goroutine's included */
	unsigned stops;
	unsigned wakers; /* wake-ups by a goroutine */
	uint64_t repaired, goroutines;
	uint64_t noted; /* repaired events, by the trace's own logs */
};

static int take_generation(void *ctx, const struct generation *gen)
{
	struct run *run = ctx;
	uint64_t noted;
	size_t len;

	checked_model_check(&run->checked, gen);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		if (op->p != NO_P && op->p > run->last_p)
			run->last_p = op->p;
		run->blocks += op->kind == OP_GO_BLOCK;
		run->stops += op->kind == OP_GO_STOP;
		run->wakers += op->kind == OP_GO_UNBLOCK && op->g != NO_G;
		if (op->kind == OP_LOG &&
		    repair_log_parse(tables_string(gen->tables, op->string, &len),
				     tables_string(gen->tables, op->string2, &len), &noted))
			run->noted += noted;
	}
	return 0;
}

static void feed(struct run *run, uint32_t type, const void *data, size_t size)
{
	checked_model_feed(&run->checked, type, data, size);
}

static void put(struct run *run, enum site site, uint64_t g, uint64_t arg)
{
	struct raw_record rec = {.site = site, .p = P0, .g = g, .arg = arg, .tid = TID};

	rec.goid = g == G1 ? 1 : g == G2 ? 2 : 0;
	rec.time = run->now += 1000;
	feed(run, LOG_RECORDS, &rec, sizeof(rec));
}

/* One P and one thread, on which G1 runs; G2 can run. */
static void begin(struct run *run)
{
	struct model_options options = {.sink = take_generation, .ctx = run};
	struct log_target target = {.flags = LOG_TARGET_GO | LOG_TARGET_SPAWNED, .go_minor = 26};

	*run = (struct run){.now = START};
	checked_model_new(&run->checked, options);
	feed(run, LOG_TARGET, &target, sizeof(target));
	put(run, SITE_ACQUIREP, 0, 0);
	put(run, SITE_NEWPROC, G1, 0);
	put(run, SITE_EXECUTE, G1, 0);
	put(run, SITE_NEWPROC, G2, G1);
}

static void end(struct run *run)
{
	checked_model_finish(&run->checked);
	run->repaired = model_stats(run->checked.model)->repaired;
	run->goroutines = model_stats(run->checked.model)->goroutines;
	assert_int_equal(run->noted, run->repaired);
	checked_model_free(&run->checked);
}

/* The wake-up of a goroutine that left its thread unseen shows that it had blocked. */
static void test_an_unseen_wait_is_known_by_its_end(void **state)
{
	struct run run;

	(void)state;
	begin(&run);
	put(&run, SITE_EXECUTE, G2, 0);
	put(&run, SITE_UNBLOCK, G1, G2);
	end(&run);
	assert_int_equal(run.last_p, 0);
	assert_int_equal(run.blocks, 1);
	assert_int_equal(run.stops, 0);
}

/* A waiting goroutine makes a hit: its wake-up and start were not seen, and no other P can show them. */
static void test_an_unseen_wake_up_is_shown_on_the_thread_itself(void **state)
{
	struct run run;

	(void)state;
	begin(&run);
	put(&run, SITE_PARK, G1, 0);
	put(&run, SITE_NEWPROC, 0xc000003000, G1);
	end(&run);
	assert_int_equal(run.last_p, 0);
	assert_true(run.repaired > 0);
	assert_int_equal(run.blocks, 2); /* the other one is the synthetic goroutine's */
}

/* As at the end of a bubble's last goroutine: casgstatus() wakes the waiter before m.curg is cleared. */
static void test_a_goroutine_that_has_just_left_wakes_nobody(void **state)
{
	struct run run;

	(void)state;
	begin(&run);
	put(&run, SITE_PARK, G1, 0);
	put(&run, SITE_EXECUTE, G2, 0);
	put(&run, SITE_DESTROY, G2, 0);
	put(&run, SITE_READY, G1, G2);
	put(&run, SITE_EXECUTE, G1, 0);
	put(&run, SITE_NEWPROC, G2, G1);
	put(&run, SITE_PARK, G1, 0);
	put(&run, SITE_READY, G1, G1);
	put(&run, SITE_EXECUTE, G1, 0);
	end(&run);
	assert_int_equal(run.repaired, 0);
	assert_int_equal(run.goroutines, 3);
	assert_int_equal(run.wakers, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_an_unseen_wait_is_known_by_its_end),
	cmocka_unit_test(test_a_goroutine_that_has_just_left_wakes_nobody),
	cmocka_unit_test(test_an_unseen_wake_up_is_shown_on_the_thread_itself),
};

UNIT_TESTS(tests, NULL, NULL);
