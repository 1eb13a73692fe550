/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The cost of hits: an estimate at first, then the programs' measurements. */

#include "unit.h"

#include "capture/hit_cost.h"

static void test_guessed_then_measured(void **state)
{
	struct hit_cost cost = {.trap_ns = 800, .function_ns = 2000};
	const struct hit_counts probes = {.probes = 10}, calls = {.calls = 10}, functions = {.functions = 10};
	uint64_t counts[COUNTERS] = {0};

	(void)state;
	assert_in_range(hit_cost_of(&cost, &probes), 8001, 20000);
	assert_in_range(hit_cost_of(&cost, &calls), 1001, 10000);
	counts[TIMED_PROBES] = 1000;
	counts[TIMED_PROBES_NS] = 700 * 1000;
	counts[TIMED_CALLS] = 1000;
	counts[TIMED_CALLS_NS] = 300 * 1000;
	hit_cost_update(&cost, counts);
	assert_int_equal(hit_cost_of(&cost, &probes), 10 * 1500);
	assert_int_equal(hit_cost_of(&cost, &calls), 10 * 380);
	assert_int_equal(hit_cost_of(&cost, &functions), 10 * 2700);
}

/* A few hits are ignored. Many that cost more than before change the mean. */
static void test_it_follows(void **state)
{
	struct hit_cost cost = {.trap_ns = 0};
	const struct hit_counts one = {.probes = 1};
	uint64_t counts[COUNTERS] = {[TIMED_PROBES] = 100, [TIMED_PROBES_NS] = 50000};

	(void)state;
	hit_cost_update(&cost, counts);
	assert_int_equal(hit_cost_of(&cost, &one), 500);
	counts[TIMED_PROBES] += 3;
	counts[TIMED_PROBES_NS] += 3000000;
	hit_cost_update(&cost, counts);
	assert_int_equal(hit_cost_of(&cost, &one), 500);
	for (unsigned i = 0; i < 20; i++) {
		counts[TIMED_PROBES] += 1000;
		counts[TIMED_PROBES_NS] += 900000;
		hit_cost_update(&cost, counts);
	}
	assert_in_range(hit_cost_of(&cost, &one), 880, 920);
}

/* Hits that are few find cold caches. They say little of the many. */
static void test_few_count_less(void **state)
{
	struct hit_cost cost = {.trap_ns = 0};
	const struct hit_counts one = {.probes = 1};
	uint64_t counts[COUNTERS] = {0};

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		uint64_t n = i % 2 ? 50 : 5000;

		counts[TIMED_PROBES] += n;
		counts[TIMED_PROBES_NS] += n * (i % 2 ? 2000 : 400);
		hit_cost_update(&cost, counts);
	}
	assert_in_range(hit_cost_of(&cost, &one), 400, 440);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_guessed_then_measured),
	cmocka_unit_test(test_it_follows),
	cmocka_unit_test(test_few_count_less),
};

UNIT_TESTS(tests, NULL, NULL);
