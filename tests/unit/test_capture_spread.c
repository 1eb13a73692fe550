/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Recorded logs, played as if large machines had made them: the trace stays the same. */
#include "unit.h"

#include "spread.h"

static const char *const logs[] = {"tests/fixtures/rawlog/go1.22.12.raw",
				   "tests/fixtures/rawlog/go1.25.1.raw",
				   "tests/fixtures/rawlog/go1.26.8.raw"};

enum { LOGS = 3, SEEDS = 4 };

static void play(const char *path, const struct spread_options *options, struct spread_result *result)
{
	struct error err = {""};
	int rc = spread_play(path, options, result, &err);

	if (rc)
		print_error("%s: %s\n", path, err.text);
	assert_int_equal(rc, 0);
}

/* Compares the states of every goroutine, step by step. */
static void assert_same(const struct spread_result *got, const struct spread_result *plain)
{
	uint64_t all, same = spread_same(got, plain, &all);

	assert_true(all > 10);
	assert_int_equal(same, all);
	assert_int_equal(got->records, plain->records);
	assert_int_equal(got->stacks, plain->stacks);
	assert_int_equal(got->goroutines, plain->goroutines);
	assert_int_equal(got->ops, plain->ops);
	assert_int_equal(got->inferred, plain->inferred);
	assert_int_equal(got->repaired, plain->repaired);
	assert_int_equal(got->swapped, 0);
	assert_int_equal(got->without_stack, 0);
}

static void spread(unsigned cpus, unsigned rings, unsigned clock_ns, bool hotplug)
{
	uint64_t late = 0, stuck = 0;

	for (unsigned i = 0; i < LOGS; i++) {
		struct spread_options straight = {0};
		struct spread_result plain;

		play(logs[i], &straight, &plain);
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct spread_options options = {.cpus = cpus,
							 .clock_ns = clock_ns,
							 .put_off_pm = 500000,
							 .hotplug = hotplug,
							 .seed = seed};
			struct spread_result got;

			play(logs[i], &options, &got);
			assert_int_equal(got.rings, rings);
			assert_same(&got, &plain);
			late += got.late;
			stuck += got.stuck;
			spread_free(&got);
		}
		spread_free(&plain);
	}
	/* The difficult cases did occur. */
	assert_true(late > 10);
	assert_true(stuck > 10);
}

static void test_64_cpus(void **state)
{
	(void)state;
	spread(64, 8, 0, false);
	spread(64, 8, 100, false);
	spread(64, 8, 100, true);
}

static void test_256_cpus(void **state)
{
	(void)state;
	spread(256, 32, 0, false);
	spread(256, 32, 100, false);
	spread(256, 32, 100, true);
}

/* Clocks that differ by more than the time from cause to effect do harm, and the figures show it. */
static void test_wrong_clocks_are_reported_apart(void **state)
{
	struct spread_options straight = {0}, wrong = {.cpus = 64, .clock_ns = 5000, .seed = 1};
	struct spread_result plain, got;
	uint64_t all;

	(void)state;
	play(logs[0], &straight, &plain);
	play(logs[0], &wrong, &got);
	assert_true(got.swapped > 10);
	assert_true(got.repaired > plain.repaired);
	assert_true(spread_same(&got, &plain, &all) < all);
	spread_free(&got);
	spread_free(&plain);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_64_cpus),
	cmocka_unit_test(test_256_cpus),
	cmocka_unit_test(test_wrong_clocks_are_reported_apart),
};

UNIT_TESTS(tests, NULL, NULL);
