/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/clock_skew.h"

#include <sched.h>

#include "unit.h"
#include "util/clock.h"

enum { FIRST_CPU_OFF_BY = 50000 };

static unsigned behind; /* the CPU whose clock is behind the others */

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
	assert_true(CPU_ISSET(skew.first, &before));
	for (behind = 0; !CPU_ISSET(behind, &before); behind++) {
	}
	skew = clock_skew_measure(one_is_behind, NS_PER_S);
	if (CPU_COUNT(&before) > 1) {
		assert_in_range(skew.ns, FIRST_CPU_OFF_BY / 2, FIRST_CPU_OFF_BY);
		assert_true(skew.within >= FIRST_CPU_OFF_BY);
		assert_true(skew.cpu == behind || skew.first == behind);
	}
	assert_int_equal(clock_skew_measure(one_is_behind, 0).cpus, 0);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_clocks),
};

UNIT_TESTS(tests, NULL, NULL);
