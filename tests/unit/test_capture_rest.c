/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How long the draining thread rests. */
#include "unit.h"

#include "capture/rest.h"

#define MS 1000000ull

static uint64_t rest(struct rest_input input)
{
	if (!input.idle_ns)
		input.idle_ns = 40 * MS;
	if (!input.busy_ns)
		input.busy_ns = 50 * MS;
	return rest_ns(&input);
}

static void test_idle_rings_are_left_alone(void **state)
{
	(void)state;
	assert_int_equal(rest((struct rest_input){.busy = false}), 40 * MS);
	/* A small ring is looked at more often than that, busy or not. */
	assert_int_equal(rest((struct rest_input){.busy = false, .idle_ns = 4 * MS}), 4 * MS);
	assert_int_equal(rest((struct rest_input){.busy = true, .idle_ns = 4 * MS}), 4 * MS);
}

static struct rest_input after(uint64_t arrival_ns, uint64_t cpu_ns)
{
	return (struct rest_input){
		.busy = true, .arrival_ns = arrival_ns, .cpu_ns = cpu_ns, .idle_ns = 160 * MS};
}

/* A round should take half a ms: what takes 1 ms in 40 is half of that in 20. */
static void test_a_busy_round_reads_as_much_as_it_should(void **state)
{
	struct rest_input input = after(40 * MS, MS);

	(void)state;
	assert_int_equal(rest(input), 20 * MS);
	assert_int_equal(rest(after(40 * MS, MS / 100)), 50 * MS);
	assert_int_equal(rest(after(40 * MS, 0)), 50 * MS);
	assert_int_equal(rest(after(10 * MS, 5 * MS)), 10 * MS);
	input.is_often = true;
	assert_int_equal(rest(input), 10 * MS);
	input = after(40 * MS, MS / 10);
	input.busy_ns = 160 * MS;
	assert_int_equal(rest(input), 160 * MS);
}

static void test_others_get_as_much_cpu_time(void **state)
{
	(void)state;
	assert_int_equal(rest((struct rest_input){.busy = true, .cpu_ns = 25 * MS}), 25 * MS);
	assert_int_equal(rest((struct rest_input){.busy = true, .cpu_ns = 25 * MS, .rate = 8}), 25 * MS);
	assert_int_equal(rest((struct rest_input){.busy = true, .cpu_ns = 500 * MS}), 40 * MS);
}

static void test_a_ring_that_fills_is_drained(void **state)
{
	/* One ring in 20 ms: a quarter in 5. */
	const struct rest_input fast = {.busy = true, .cpu_ns = 25 * MS, .rate = 50};
	struct rest_input input = fast;

	(void)state;
	assert_int_equal(rest(input), 5 * MS);
	input.fill = 0.125;
	assert_int_equal(rest(input), 5 * MS / 2);
	input.fill = 0.25;
	assert_int_equal(rest(input), 0);
	input.fill = 1;
	assert_int_equal(rest(input), 0);
	/* Even if the round that found it full read nothing. */
	input.busy = false;
	input.cpu_ns = 0;
	input.rate = 0;
	assert_int_equal(rest(input), 0);
	input = fast;
	input.busy = false;
	assert_int_equal(rest(input), 5 * MS);
	input.rate = 1e9;
	assert_in_range(rest(input), 0, 1000);
}

/* While the outlet is full, nothing can be done, however full the rings are. */
static void test_no_spinning_in_front_of_a_full_outlet(void **state)
{
	(void)state;
	assert_int_equal(rest((struct rest_input){.held = true, .fill = 1, .rate = 50}), 1 * MS);
	assert_int_equal(rest((struct rest_input){.held = true, .busy = true}), 40 * MS);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_idle_rings_are_left_alone),
	cmocka_unit_test(test_a_busy_round_reads_as_much_as_it_should),
	cmocka_unit_test(test_others_get_as_much_cpu_time),
	cmocka_unit_test(test_a_ring_that_fills_is_drained),
	cmocka_unit_test(test_no_spinning_in_front_of_a_full_outlet),
};

UNIT_TESTS(tests, NULL, NULL);
