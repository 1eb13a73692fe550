/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <math.h>

#include "unit.h"

#include "analysis/diff.h"

static void medians(void **state)
{
	float odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2};

	(void)state;
	assert_true(fabs(median(odd, 3) - 3) < 1e-9);
	assert_true(fabs(median(even, 4) - 2.5) < 1e-9);
	assert_true(fabs(median(odd, 0)) < 1e-9);
}

/*
 * Computed by hand. Separate: U = 0 of 100, z = 49.5 / sqrt(100 / 12 * 21). With ties: the first has ranks 2,
 * 2, 5, 7, U = 6 of 16, three ones and three twos, z = 1.5 / sqrt(16 / 12 * (9 - 48 / 56)).
 */
static void u_test(void **state)
{
	float low[10], high[10], mixed[] = {1, 1, 2, 3}, other[] = {1, 2, 2, 4};

	(void)state;
	for (int i = 0; i < 10; i++) {
		low[i] = (float)i + 1;
		high[i] = (float)i + 11;
	}
	assert_true(fabs(mann_whitney(low, 10, high, 10) - 0.0001827) < 1e-6);
	assert_true(fabs(mann_whitney(mixed, 4, other, 4) - 0.64894) < 1e-4);
	assert_true(mann_whitney(low, 10, low, 10) >= 1);
	assert_true(mann_whitney(low, 3, high, 10) >= 1);
}

static void interval(void **state)
{
	float a[200], b[200];
	double low, high;

	(void)state;
	for (int i = 0; i < 200; i++) {
		a[i] = 100 + (float)(i % 21);
		b[i] = 2 * a[i];
	}
	ratio_interval(a, 200, b, 200, &low, &high);
	assert_true(low > 1.9 && low < 2 + 1e-6 && high > 2 - 1e-6 && high < 2.1);
}

/*
 * Of ten tests at 5 %, accepts those up to the largest p that is at most k / 10 of 5 %: here the first three.
 */
static void discovery(void **state)
{
	const double p[] = {0.001, 0.012, 0.0149, 0.03, 0.2, 0.3, 0.5, 0.6, 0.8, 0.9, -1};
	unsigned char keep[11];

	(void)state;
	false_discovery(p, 11, 0.05, keep);
	for (unsigned i = 0; i < 11; i++)
		assert_int_equal(keep[i], i < 3);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(medians),
	cmocka_unit_test(u_test),
	cmocka_unit_test(interval),
	cmocka_unit_test(discovery),
};

UNIT_TESTS(tests, NULL, NULL);
