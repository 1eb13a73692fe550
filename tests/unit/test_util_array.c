/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <stdlib.h>
#include "unit.h"
#include <errno.h>

#include "util/array.h"

static void items_keep_their_values(void **state)
{
	uint64_t *items = NULL;
	size_t capacity = 0;

	(void)state;
	for (size_t n = 0; n < 100000; n++) {
		assert_int_equal(array_grow(&items, &capacity, n + 1, sizeof(*items)), 0);
		assert_true(n < capacity && capacity <= (n < 4 ? 4 : 2 * n));
		assert_int_equal(items[capacity - 1], 0);
		items[n] = n;
	}
	for (size_t n = 0; n < 100000; n++)
		assert_int_equal(items[n], n);
	free(items);
}

static void large_arrays_grow_by_a_quarter(void **state)
{
	char *items = NULL;
	size_t capacity = 0;

	(void)state;
	assert_int_equal(array_grow(&items, &capacity, 1 << 16, 1), 0);
	assert_int_equal(capacity, 1 << 16);
	assert_int_equal(array_grow(&items, &capacity, (1 << 16) + 1, 1), 0);
	assert_int_equal(capacity, (1 << 16) + (1 << 14));
	free(items);
}

static void what_cannot_be_had_changes_nothing(void **state)
{
	uint64_t *items = NULL, *before;
	size_t capacity = 0;

	(void)state;
	assert_int_equal(array_grow(&items, &capacity, 1, sizeof(*items)), 0);
	before = items;
	/* There is space for four. */
	assert_int_equal(array_grow(&items, &capacity, capacity, SIZE_MAX / 16), 0);
	assert_int_equal(array_grow(&items, &capacity, SIZE_MAX / 16, sizeof(*items)), -ENOMEM);
	assert_ptr_equal(items, before);
	assert_int_equal(capacity, 4);
	free(items);
}

static void finds_by_key(void **state)
{
	static const struct item {
		uint64_t key;
		char more;
	} items[] = {{2, 0}, {4, 0}, {4, 0}, {UINT64_MAX, 0}};

	(void)state;
	assert_int_equal(array_upto(NULL, 0, sizeof(*items), 5), 0);
	assert_int_equal(array_upto(items, 4, sizeof(*items), 1), 0);
	assert_int_equal(array_upto(items, 4, sizeof(*items), 2), 1);
	assert_int_equal(array_upto(items, 4, sizeof(*items), 4), 3);
	assert_int_equal(array_upto(items, 4, sizeof(*items), UINT64_MAX - 1), 3);
	assert_int_equal(array_upto(items, 4, sizeof(*items), UINT64_MAX), 4);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(finds_by_key),
	cmocka_unit_test(items_keep_their_values),
	cmocka_unit_test(large_arrays_grow_by_a_quarter),
	cmocka_unit_test(what_cannot_be_had_changes_nothing),
};

UNIT_TESTS(tests, NULL, NULL);
