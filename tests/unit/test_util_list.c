/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "util/list.h"

static void items_stay_what_they_are(void **state)
{
	uint64_t *items = NULL;
	unsigned capacity = 0;

	(void)state;
	for (unsigned n = 0; n < 1000; n++) {
		assert_true(list_grow((void **)&items, n, &capacity, sizeof(*items)));
		assert_true(n < capacity && capacity <= (n < 4 ? 4 : 2 * n));
		items[n] = n;
	}
	for (unsigned n = 0; n < 1000; n++)
		assert_int_equal(items[n], n);
	free(items);
}

static void room_is_used_before_more_is_asked_for(void **state)
{
	uint64_t *items = NULL, *before;
	unsigned capacity = 0;

	(void)state;
	assert_true(list_grow((void **)&items, 0, &capacity, sizeof(*items)));
	before = items;
	/* No machine has so much. */
	assert_true(list_grow((void **)&items, capacity - 1, &capacity, SIZE_MAX / 16));
	assert_ptr_equal(items, before);
	assert_int_equal(capacity, 4);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_stay_what_they_are),
		cmocka_unit_test(room_is_used_before_more_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
