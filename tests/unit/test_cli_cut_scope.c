/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which goroutines a cut keeps, and the times of its request. */
#include "unit.h"

#include <string.h>

#include "cli/cut_scope.h"

/* Goroutine g of a generation has the id 100 + g. */
static const uint64_t goids[] = {0, 101, 102, 103, 104, 105};

static void feed(struct cut_scope *scope, uint64_t start, uint64_t end, const struct op *ops, size_t n)
{
	struct tables tables = {.goids = (uint64_t *)goids};
	struct generation gen = {.start = start, .end = end, .ops = ops, .nops = n, .tables = &tables};

	assert_int_equal(cut_scope_generation(scope, &gen), 0);
}

static void expect_goids(const struct cut_scope *scope, const uint64_t *expected, size_t n)
{
	assert_int_equal(scope->n, n);
	assert_memory_equal(scope->goids, expected, n * sizeof(*expected));
}

static void duration_is_that_of_all_generations(void **state)
{
	struct cut_scope scope = {0};

	(void)state;
	feed(&scope, 50, 100, NULL, 0);
	feed(&scope, 100, 170, NULL, 0);
	assert_int_equal(scope.start, 50);
	assert_int_equal(scope.end, 170);
	assert_int_equal(scope.n, 0);
	cut_scope_free(&scope);
}

static void goroutines_of_the_task_are_wanted(void **state)
{
	struct cut_scope scope = {.task = 7};
	const struct op first[] = {
		{.kind = OP_TASK_BEGIN, .time = 10, .g = 3, .arg = 7},
		{.kind = OP_TASK_BEGIN, .time = 11, .g = 4, .arg = 8},
		{.kind = OP_LOG, .time = 12, .g = 1, .arg = 7},
		{.kind = OP_LOG, .time = 13, .g = 1, .arg = 7},
		{.kind = OP_LOG, .time = 14, .arg = 7},
	};
	const struct op second[] = {
		{.kind = OP_REGION_BEGIN, .time = 21, .g = 2, .arg = 7},
		{.kind = OP_REGION_END, .time = 22, .g = 5, .arg = 7},
		{.kind = OP_TASK_END, .time = 23, .g = 4, .arg = 8},
		{.kind = OP_TASK_END, .time = 24, .g = 3, .arg = 7},
	};

	(void)state;
	feed(&scope, 5, 20, first, sizeof(first) / sizeof(first[0]));
	feed(&scope, 20, 30, second, sizeof(second) / sizeof(second[0]));
	assert_int_equal(cut_scope_finish(&scope), 0);
	expect_goids(&scope, (const uint64_t[]){101, 102, 103}, 3);
	assert_int_equal(scope.task_begin, 10);
	assert_int_equal(scope.task_end, 24);
	cut_scope_free(&scope);
}

static void who_switches_to_another_stays_with_it(void **state)
{
	struct cut_scope scope = {0};
	const struct op ops[] = {
		{.kind = OP_GO_SWITCH, .g = 5, .g2 = 4},
		{.kind = OP_GO_SWITCH, .g = 3, .g2 = 2},
		{.kind = OP_GO_SWITCH, .g = 2, .g2 = 3},
		{.kind = OP_GO_SWITCH_DESTROY, .g = 2, .g2 = 1},
	};

	(void)state;
	assert_int_equal(cut_scope_add(&scope, 103), 0);
	feed(&scope, 0, 10, ops, sizeof(ops) / sizeof(ops[0]));
	assert_int_equal(scope.npairs, 3); /* each once, in whichever direction */
	assert_int_equal(cut_scope_finish(&scope), 0);
	expect_goids(&scope, (const uint64_t[]){101, 102, 103}, 3);
	cut_scope_free(&scope);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(duration_is_that_of_all_generations),
	cmocka_unit_test(goroutines_of_the_task_are_wanted),
	cmocka_unit_test(who_switches_to_another_stays_with_it),
};

UNIT_TESTS(tests, NULL, NULL);
