/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/clock_skew.h"

#include <sched.h>

#include "unit.h"
#include "util/clock.h"

enum { FIRST_CPU_OFF_BY = 50000 };

/* The first CPU that this process may use, whose clock is behind the others in one test. */
static unsigned first_cpu(void)
{
	cpu_set_t set;
	unsigned cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	return cpu;
}

static unsigned behind;

static uint64_t one_is_behind(unsigned cpu)
{
	return now_ns() - (cpu == behind ? FIRST_CPU_OFF_BY : 0);
}

static void test_clocks(void **state)
{
	cpu_set_t before, after;
	struct clock_skew skew;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	skew = clock_skew_measure(clock_of_cpu, NS_PER_S);
	assert_true(skew.ns < LEAST_SKEW_NS);
	assert_int_equal(skew.first, first_cpu());
	behind = skew.first;
	skew = clock_skew_measure(one_is_behind, NS_PER_S);
	if (CPU_COUNT(&before) > 1) {
		assert_in_range(skew.ns, FIRST_CPU_OFF_BY / 2, FIRST_CPU_OFF_BY);
		assert_true(skew.within >= FIRST_CPU_OFF_BY);
		assert_int_not_equal(skew.cpu, behind);
	}
	assert_int_equal(clock_skew_measure(one_is_behind, 0).cpus, 0);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_clocks),
};

UNIT_TESTS(tests, NULL, NULL);
