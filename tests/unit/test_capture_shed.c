/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How much is looked at, by what it costs: the decisions alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/shed.h"

enum { HIT_NS = 1000, STRETCH_MS = 100 };

/* A target that uses one CPU, with so many starts a second; each is three hits, two without its own, or it
 * alone. */
static struct shed_figures busy(const struct shed *shed, uint64_t starts, uint64_t syscalls)
{
	uint64_t hits_a_start = shed->level == LEVEL_EXACT ? 3 : shed->level == LEVEL_LIGHT ? 2 : 1;
	struct shed_figures figures = {.ns = STRETCH_MS * 1000000ull, .cpu_ns = STRETCH_MS * 1000000ull};

	if (shed->level == LEVEL_OFF)
		return figures;
	figures.stops = starts * STRETCH_MS / 1000;
	figures.hits = figures.stops * hits_a_start;
	if (shed->level < LEVEL_NO_SYSCALLS)
		figures.syscalls = syscalls * STRETCH_MS / 1000;
	return figures;
}

/* Runs for some seconds; returns the share of time that the target spent on hits, in percent of its own. */
static double run(struct shed *shed, unsigned seconds, uint64_t starts, uint64_t syscalls, unsigned *changes)
{
	double hits = 0, all = 0;

	for (unsigned i = 0; i < seconds * 1000 / STRETCH_MS; i++) {
		struct shed_figures figures = busy(shed, starts, syscalls);

		hits += (double)(figures.hits + figures.syscalls / 5) * HIT_NS;
		all += (double)figures.cpu_ns;
		*changes += shed_update(shed, &figures);
	}
	return 100 * hits / (all - hits);
}

static void test_few_starts_are_probed_and_many_inferred(void **state)
{
	struct shed_options options = {.last = LEVEL_LIGHT};
	struct shed shed;
	unsigned changes = 0;

	(void)state;
	shed_init(&shed, &options, HIT_NS);
	run(&shed, 10, 9000, 0, &changes);
	assert_int_equal(shed.level, LEVEL_EXACT);
	run(&shed, 1, 11000, 0, &changes);
	assert_int_equal(shed.level, LEVEL_LIGHT);
	run(&shed, 10, 5000, 0, &changes);
	assert_int_equal(shed.level, LEVEL_LIGHT);
	run(&shed, 10, 3000, 0, &changes);
	assert_int_equal(shed.level, LEVEL_EXACT);
	assert_int_equal(changes, 2);
}

static void test_exact_and_light_stay(void **state)
{
	struct shed_options exact = {.first = LEVEL_EXACT, .last = LEVEL_EXACT};
	struct shed_options light = {.first = LEVEL_LIGHT, .last = LEVEL_LIGHT};
	struct shed shed;
	unsigned changes = 0;

	(void)state;
	shed_init(&shed, &exact, HIT_NS);
	run(&shed, 20, 300000, 100000, &changes);
	assert_int_equal(shed.level, LEVEL_EXACT);
	shed_init(&shed, &light, HIT_NS);
	run(&shed, 20, 10, 0, &changes);
	assert_int_equal(shed.level, LEVEL_LIGHT);
	assert_int_equal(changes, 0);
}

static void test_the_limit_holds(void **state)
{
	static const unsigned limits[] = {5, 10, 20, 50};

	(void)state;
	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct shed_options options = {.last = LEVEL_OFF, .max_percent = limits[i]};
		struct shed shed;
		unsigned changes = 0;

		shed_init(&shed, &options, HIT_NS);
		run(&shed, 10, 150000, 50000, &changes);
		assert_true(run(&shed, 120, 150000, 50000, &changes) < 1.3 * limits[i]);
		assert_true(changes > 3 || limits[i] >= 20); /* which starts alone fit into */
	}
}

static void test_what_fits_is_kept(void **state)
{
	struct shed_options options = {.last = LEVEL_OFF, .max_percent = 20};
	struct shed shed;
	unsigned changes = 0;

	(void)state;
	shed_init(&shed, &options, HIT_NS);
	run(&shed, 60, 2000, 10000, &changes);
	assert_int_equal(shed.level, LEVEL_EXACT);
	assert_int_equal(changes, 0);
}

/* A program that takes 1 % of a CPU: what is little of the machine is not too much, and more than that is. */
static void test_a_program_that_sleeps_is_looked_at(void **state)
{
	struct shed_options options = {.last = LEVEL_OFF, .max_percent = 10, .free_share = 0.005};
	struct shed_figures figures = {.ns = STRETCH_MS * 1000000ull, .cpu_ns = STRETCH_MS * 10000ull};
	struct shed shed;

	(void)state;
	shed_init(&shed, &options, HIT_NS);
	figures.hits = 400; /* 4 ms a second */
	for (unsigned i = 0; i < 600; i++)
		assert_false(shed_update(&shed, &figures));
	figures.hits = 1000;
	for (unsigned i = 0; i < 60; i++)
		shed_update(&shed, &figures);
	assert_true(shed.level > LEVEL_EXACT);
	figures.hits = 200;
	for (unsigned i = 0; i < 3000; i++)
		shed_update(&shed, &figures);
	assert_int_equal(shed.level, LEVEL_EXACT);
}

/* Sweeps and the heap's growing: dropped when they are many, tried again ever more seldom, kept in exact. */
static void test_the_heap_is_left_out_when_it_is_busy(void **state)
{
	struct shed_options adaptive = {.last = LEVEL_LIGHT}, exact = {.last = LEVEL_EXACT};
	struct shed_figures calm = {.ns = STRETCH_MS * 1000000ull}, storm = calm;
	struct shed shed;
	unsigned on = 0;

	(void)state;
	calm.heap = 900;
	storm.heap = 30000;
	shed_init(&shed, &adaptive, HIT_NS);
	for (unsigned i = 0; i < 100; i++)
		assert_false(shed_update(&shed, &calm));
	assert_true(shed.heap);
	assert_true(shed_update(&shed, &storm));
	assert_false(shed.heap);
	for (unsigned i = 0; i < 3000; i++) {
		struct shed_figures seen = shed.heap ? storm : calm;

		on += shed.heap;
		seen.heap = shed.heap ? storm.heap : 0;
		shed_update(&shed, &seen);
	}
	assert_true(on > 3 && on < 20);
	for (unsigned i = 0; i < 1000 && !shed.heap; i++) {
		calm.heap = 0;
		shed_update(&shed, &calm);
	}
	assert_true(shed.heap); /* the storm is over */
	shed_init(&shed, &exact, HIT_NS);
	for (unsigned i = 0; i < 100; i++)
		assert_false(shed_update(&shed, &storm));
	assert_true(shed.heap);
}

static void test_it_takes_back_when_the_load_falls(void **state)
{
	struct shed_options options = {.last = LEVEL_OFF, .max_percent = 10};
	struct shed shed;
	unsigned changes = 0;

	(void)state;
	shed_init(&shed, &options, HIT_NS);
	run(&shed, 30, 200000, 100000, &changes);
	assert_true(shed.level > LEVEL_LIGHT);
	run(&shed, 200, 500, 500, &changes);
	assert_int_equal(shed.level, LEVEL_EXACT);
}

static void test_it_does_not_swing(void **state)
{
	/* At LIGHT it fits, at EXACT it would not: levels are tried ever more seldom. */
	struct shed_options options = {.last = LEVEL_OFF, .max_percent = 10};
	struct shed shed;
	unsigned changes = 0;

	(void)state;
	shed_init(&shed, &options, HIT_NS);
	run(&shed, 300, 3900, 300000, &changes);
	assert_true(changes < 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_starts_are_probed_and_many_inferred),
		cmocka_unit_test(test_exact_and_light_stay),
		cmocka_unit_test(test_the_limit_holds),
		cmocka_unit_test(test_what_fits_is_kept),
		cmocka_unit_test(test_a_program_that_sleeps_is_looked_at),
		cmocka_unit_test(test_the_heap_is_left_out_when_it_is_busy),
		cmocka_unit_test(test_it_takes_back_when_the_load_falls),
		cmocka_unit_test(test_it_does_not_swing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
