/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The level of detail as a function of cost: only the decisions. */

#include "unit.h"

#include "capture/governor.h"

enum { HIT_NS = 1000, CALL_NS = 200, INTERVAL_MS = 100 };

/* A target that uses one CPU, with this many starts a second. By level, each start costs three hits, two
 * (without its own), or one (only its own). */
static struct governor_figures busy(const struct governor *governor, uint64_t starts, uint64_t syscalls)
{
	uint64_t hits_a_start = governor->level == LEVEL_EXACT ? 3 : governor->level == LEVEL_LIGHT ? 2 : 1;
	struct governor_figures figures = {.ns = INTERVAL_MS * 1000000ull,
					   .cpu_ns = INTERVAL_MS * 1000000ull};

	if (governor->level == LEVEL_OFF)
		return figures;
	figures.stops = starts * INTERVAL_MS / 1000;
	figures.cost_ns = figures.stops * hits_a_start * HIT_NS;
	if (governor->level < LEVEL_NO_SYSCALLS)
		figures.cost_ns += syscalls * INTERVAL_MS / 1000 * CALL_NS;
	return figures;
}

/*
 * Runs for some seconds. Returns the time that the target spent on hits, in percent of its remaining CPU
 * time.
 */
static double run(struct governor *governor, unsigned seconds, uint64_t starts, uint64_t syscalls,
		  unsigned *changes)
{
	double cost = 0, all = 0;

	for (unsigned i = 0; i < seconds * 1000 / INTERVAL_MS; i++) {
		struct governor_figures figures = busy(governor, starts, syscalls);

		cost += (double)figures.cost_ns;
		all += (double)figures.cpu_ns;
		*changes += governor_update(governor, &figures);
	}
	return 100 * cost / (all - cost);
}

static void test_few_starts_are_probed_and_many_inferred(void **state)
{
	struct governor_options options = {.last = LEVEL_LIGHT};
	struct governor governor;
	unsigned changes = 0;

	(void)state;
	governor_init(&governor, &options);
	run(&governor, 10, 9000, 0, &changes);
	assert_int_equal(governor.level, LEVEL_EXACT);
	run(&governor, 1, 11000, 0, &changes);
	assert_int_equal(governor.level, LEVEL_LIGHT);
	run(&governor, 10, 5000, 0, &changes);
	assert_int_equal(governor.level, LEVEL_LIGHT);
	run(&governor, 10, 3000, 0, &changes);
	assert_int_equal(governor.level, LEVEL_EXACT);
	assert_int_equal(changes, 2);
}

/* On a machine without idle CPUs, the target runs in one interval, and its hits are read in the next. */
static void test_hits_of_another_interval(void **state)
{
	struct governor_options options = {
		.first = LEVEL_STARTS_ONLY, .last = LEVEL_OFF, .max_percent = 200, .free_share = 0.01};
	struct governor governor;
	unsigned changes = 0;

	(void)state;
	governor_init(&governor, &options);
	for (unsigned i = 0; i < 100; i++) {
		struct governor_figures figures = {.ns = 100000000, .cpu_ns = 40000000};

		if (i % 2)
			figures = (struct governor_figures){
				.ns = 100000000, .cpu_ns = 1000000, .cost_ns = 10000000};
		changes += governor_update(&governor, &figures);
	}
	assert_int_equal(changes, 0);
}

static void test_exact_and_light_stay(void **state)
{
	struct governor_options exact = {.first = LEVEL_EXACT, .last = LEVEL_EXACT};
	struct governor_options light = {.first = LEVEL_LIGHT, .last = LEVEL_LIGHT};
	struct governor governor;
	unsigned changes = 0;

	(void)state;
	governor_init(&governor, &exact);
	run(&governor, 20, 300000, 100000, &changes);
	assert_int_equal(governor.level, LEVEL_EXACT);
	governor_init(&governor, &light);
	run(&governor, 20, 10, 0, &changes);
	assert_int_equal(governor.level, LEVEL_LIGHT);
	assert_int_equal(changes, 0);
}

static void test_the_limit_holds(void **state)
{
	static const unsigned limits[] = {5, 10, 20, 50};

	(void)state;
	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct governor_options options = {.last = LEVEL_OFF, .max_percent = limits[i]};
		struct governor governor;
		unsigned changes = 0;

		governor_init(&governor, &options);
		run(&governor, 10, 150000, 50000, &changes);
		assert_true(run(&governor, 120, 150000, 50000, &changes) < 1.3 * limits[i]);
		assert_true(changes > 3 || limits[i] >= 20); /* starts alone fit within 20 % */
	}
}

static void test_what_fits_is_kept(void **state)
{
	struct governor_options options = {.last = LEVEL_OFF, .max_percent = 20};
	struct governor governor;
	unsigned changes = 0;

	(void)state;
	governor_init(&governor, &options);
	run(&governor, 60, 2000, 10000, &changes);
	assert_int_equal(governor.level, LEVEL_EXACT);
	assert_int_equal(changes, 0);
}

/* Returns the mean length of what was recorded between two pauses in five minutes, in ms. */
static unsigned mean_recorded(uint64_t starts, unsigned max_percent)
{
	struct governor_options options = {.last = LEVEL_OFF, .max_percent = max_percent};
	unsigned changes = 0, pauses = 0, recorded = 0;
	struct governor governor;

	governor_init(&governor, &options);
	run(&governor, 30, starts, 0, &changes);
	for (unsigned i = 0; i < 300 * 1000 / INTERVAL_MS; i++) {
		struct governor_figures figures = busy(&governor, starts, 0);
		bool was_off = governor.level == LEVEL_OFF;

		governor_update(&governor, &figures);
		recorded += governor.level == LEVEL_OFF ? 0 : INTERVAL_MS;
		pauses += governor.level == LEVEL_OFF && !was_off;
	}
	return pauses ? recorded / pauses : 0;
}

/* A second in one piece where that needs no long pause, less where it would. */
static void test_what_is_recorded_is_of_use(void **state)
{
	(void)state;
	assert_in_range(mean_recorded(200000, 10), 900, 1200);
	assert_in_range(mean_recorded(700000, 10), 200, 900);
	assert_in_range(mean_recorded(950000, 5), 200, 400);
}

/* How a target of one CPU fares under a limit of 10 % if a hit costs it `true_cost` times what is computed.
 */
struct fared {
	double percent; /* what the hits really took */
	double watched; /* share of the time */
};

static struct fared fare(double true_cost, uint64_t work_a_second)
{
	struct governor_options options = {.last = LEVEL_OFF, .max_percent = 10};
	struct governor_window now = {.cpu_ns = 1, .work = 1};
	double cost = 0, all = 0, watched = 0;
	struct governor governor;

	governor_init(&governor, &options);
	for (unsigned i = 0; i < 600 * 1000 / INTERVAL_MS; i++) {
		struct governor_figures figures = busy(&governor, 400000, 0);
		bool was_watched = governor.level != LEVEL_OFF;
		double took = true_cost * (double)figures.cost_ns;

		now.cpu_ns += figures.cpu_ns;
		now.cost_ns += figures.cost_ns;
		now.work += (uint64_t)(((double)figures.cpu_ns - took) * (double)work_a_second / 1e9);
		governor_update(&governor, &figures);
		if (was_watched != (governor.level != LEVEL_OFF)) {
			now.watched = was_watched;
			governor_learn(&governor, &now);
		}
		if (i < 60 * 1000 / INTERVAL_MS)
			continue;
		cost += took;
		all += (double)figures.cpu_ns;
		watched += was_watched;
	}
	return (struct fared){100 * cost / (all - cost), watched * INTERVAL_MS / (540 * 1000)};
}

static void test_the_cost_is_learned_from_the_work_done(void **state)
{
	struct fared dearer = fare(1.5, 50 << 20), cheaper = fare(0.6, 50 << 20);

	(void)state;
	assert_true(dearer.percent > 8 && dearer.percent < 12);
	assert_true(cheaper.percent > 8 && cheaper.percent < 12);
	assert_true(cheaper.watched > 2 * dearer.watched);
	/* Too little work to compare. */
	assert_true(fare(1.5, 10000).percent > 13);
}

/* A target whose load changed between two windows: what is learned has bounds. */
static void test_what_is_learned_has_bounds(void **state)
{
	struct governor_window window = {.cpu_ns = 1000000000, .work = 1 << 30};
	struct governor governor;

	(void)state;
	governor_init(&governor, &(struct governor_options){.last = LEVEL_OFF, .max_percent = 10});
	for (unsigned i = 0; i < 20; i++) {
		window.watched = i % 2;
		window.cpu_ns += 1000000000;
		window.cost_ns += window.watched ? 100000000 : 0;
		window.work += window.watched ? 1 << 20 : 1 << 28;
		governor_learn(&governor, &window);
	}
	assert_true(governor.true_cost == 2);
	window.work = 0; /* not known any more */
	window.watched = false;
	governor_learn(&governor, &window);
	assert_true(governor.true_cost == 2);
}

/* A program that takes 1 % of a CPU: a cost that is small for the machine is allowed, a larger one is not. */
static void test_a_program_that_sleeps_is_looked_at(void **state)
{
	struct governor_options options = {.last = LEVEL_OFF, .max_percent = 10, .free_share = 0.005};
	struct governor_figures figures = {.ns = INTERVAL_MS * 1000000ull, .cpu_ns = INTERVAL_MS * 10000ull};
	struct governor governor;

	(void)state;
	governor_init(&governor, &options);
	figures.cost_ns = 400 * HIT_NS; /* 4 ms per second */
	for (unsigned i = 0; i < 600; i++)
		assert_false(governor_update(&governor, &figures));
	figures.cost_ns = 1000 * HIT_NS;
	for (unsigned i = 0; i < 60; i++)
		governor_update(&governor, &figures);
	assert_true(governor.level > LEVEL_EXACT);
	figures.cost_ns = 200 * HIT_NS;
	for (unsigned i = 0; i < 3000; i++)
		governor_update(&governor, &figures);
	assert_int_equal(governor.level, LEVEL_EXACT);
}

/* Sweeps and heap growth: dropped if frequent, tried again at growing intervals, kept in exact mode. */
static void test_the_heap_is_left_out_when_it_is_busy(void **state)
{
	struct governor_options adaptive = {.last = LEVEL_LIGHT}, exact = {.last = LEVEL_EXACT};
	struct governor_figures calm = {.ns = INTERVAL_MS * 1000000ull}, storm = calm;
	struct governor governor;
	unsigned on = 0;

	(void)state;
	calm.heap = 900;
	storm.heap = 30000;
	governor_init(&governor, &adaptive);
	for (unsigned i = 0; i < 100; i++)
		assert_false(governor_update(&governor, &calm));
	assert_true(governor.heap);
	assert_true(governor_update(&governor, &storm));
	assert_false(governor.heap);
	for (unsigned i = 0; i < 3000; i++) {
		struct governor_figures seen = governor.heap ? storm : calm;

		on += governor.heap;
		seen.heap = governor.heap ? storm.heap : 0;
		governor_update(&governor, &seen);
	}
	assert_true(on > 3 && on < 20);
	for (unsigned i = 0; i < 1000 && !governor.heap; i++) {
		calm.heap = 0;
		governor_update(&governor, &calm);
	}
	assert_true(governor.heap); /* the storm is over */
	governor_init(&governor, &exact);
	for (unsigned i = 0; i < 100; i++)
		assert_false(governor_update(&governor, &storm));
	assert_true(governor.heap);
}

static void test_it_takes_back_when_the_load_falls(void **state)
{
	struct governor_options options = {.last = LEVEL_OFF, .max_percent = 10};
	struct governor governor;
	unsigned changes = 0;

	(void)state;
	governor_init(&governor, &options);
	run(&governor, 30, 200000, 100000, &changes);
	assert_true(governor.level > LEVEL_LIGHT);
	run(&governor, 200, 500, 500, &changes);
	assert_int_equal(governor.level, LEVEL_EXACT);
}

static void test_it_does_not_swing(void **state)
{
	/* LIGHT is within the limit, EXACT would not be: levels are tried at growing intervals. */
	struct governor_options options = {.last = LEVEL_OFF, .max_percent = 10};
	struct governor governor;
	unsigned changes = 0;

	(void)state;
	governor_init(&governor, &options);
	run(&governor, 300, 3900, 300000, &changes);
	assert_true(changes < 40);
}

/* Records come faster than they are read: detail is lowered step by step, but never to nothing, and raised
 * afterwards. */
static void test_less_is_looked_at_when_records_pile_up(void **state)
{
	struct governor_options options = {.last = LEVEL_OFF}, exact = {.last = LEVEL_EXACT};
	struct governor_figures full = {
		.ns = INTERVAL_MS * 1000000ull, .cpu_ns = INTERVAL_MS * 1000000ull, .fill = 0.6};
	struct governor_figures half = full, none = full;
	struct governor governor;

	(void)state;
	half.fill = 0.3;
	none.fill = 0;
	governor_init(&governor, &options);
	for (unsigned i = 0; i < 3; i++)
		governor_update(&governor, &full);
	assert_int_equal(governor.level, LEVEL_LIGHT);
	for (unsigned i = 0; i < 100; i++)
		governor_update(&governor, &full);
	assert_int_equal(governor.level, LEVEL_NO_SYSCALLS);
	for (unsigned i = 0; i < 100; i++)
		governor_update(&governor, &half);
	assert_int_equal(governor.level, LEVEL_NO_SYSCALLS);
	for (unsigned i = 0; i < 500; i++)
		governor_update(&governor, &none);
	assert_int_equal(governor.level, LEVEL_EXACT);
	assert_true(governor_lower(&governor));
	assert_int_equal(governor.level, LEVEL_LIGHT);
	governor_init(&governor, &exact);
	assert_false(governor_update(&governor, &full));
	assert_false(governor_lower(&governor));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_few_starts_are_probed_and_many_inferred),
	cmocka_unit_test(test_exact_and_light_stay),
	cmocka_unit_test(test_the_limit_holds),
	cmocka_unit_test(test_what_fits_is_kept),
	cmocka_unit_test(test_what_is_recorded_is_of_use),
	cmocka_unit_test(test_the_cost_is_learned_from_the_work_done),
	cmocka_unit_test(test_what_is_learned_has_bounds),
	cmocka_unit_test(test_a_program_that_sleeps_is_looked_at),
	cmocka_unit_test(test_the_heap_is_left_out_when_it_is_busy),
	cmocka_unit_test(test_it_takes_back_when_the_load_falls),
	cmocka_unit_test(test_it_does_not_swing),
	cmocka_unit_test(test_hits_of_another_interval),
	cmocka_unit_test(test_less_is_looked_at_when_records_pile_up),
};

UNIT_TESTS(tests, NULL, NULL);
