/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Taking, returning and exhausting a budget. */
#include "unit.h"

#include "util/budget.h"

static void bytes(void **state)
{
	struct budget budget = {.bytes = 10};

	(void)state;
	assert_true(budget_take(&budget, 4));
	assert_false(budget_take(&budget, 7));
	assert_true(budget_take(&budget, 6));
	assert_false(budget_take(&budget, UINT64_MAX));
	budget_give(&budget, 1);
	assert_true(budget_take(&budget, 1));
}

static void time_is_used_up(void **state)
{
	struct budget budget = {.cpu_ns = 20000000};
	uint64_t steps = 0;

	(void)state;
	budget_start(&budget);
	while (budget_step(&budget))
		steps++;
	assert_true(steps > 1000);
	budget_stop(&budget);
	assert_true(budget.spent);
	assert_int_equal(budget.cpu_ns, 0);
	budget_start(&budget);
	assert_false(budget_step(&budget));
}

static void time_is_earned(void **state)
{
	struct budget budget = {.cpu_ns = 5};

	(void)state;
	budget_earn(&budget, 10, 100);
	assert_int_equal(budget.cpu_ns, 15);
	budget_earn(&budget, 1000, 100);
	assert_int_equal(budget.cpu_ns, 100);
	budget.cpu_ns = 300; /* a larger amount from elsewhere is kept */
	budget_earn(&budget, 1000, 100);
	assert_int_equal(budget.cpu_ns, 300);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(bytes),
	cmocka_unit_test(time_is_used_up),
	cmocka_unit_test(time_is_earned),
};

UNIT_TESTS(tests, NULL, NULL);
