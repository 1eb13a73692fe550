/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "util/map64.h"

static uint64_t random_state = 88172645463325252ull;

static uint32_t next_random(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % below;
}

static void empty_map_answers(void **state)
{
	struct map64 map = {0};

	(void)state;
	assert_null(map64_get(&map, 1));
	assert_false(map64_del(&map, 1));
	map64_clear(&map);
	map64_free(&map);
}

static void zero_is_no_key(void **state)
{
	struct map64 map = {0};

	(void)state;
	assert_int_equal(map64_set(&map, 7, 1), 0);
	assert_null(map64_get(&map, 0));
	assert_false(map64_del(&map, 0));
	map64_free(&map);
}

static void set_replaces(void **state)
{
	struct map64 map = {0};

	(void)state;
	assert_int_equal(map64_set(&map, UINT64_MAX, 1), 0);
	assert_int_equal(map64_set(&map, UINT64_MAX, 2), 0);
	assert_int_equal(*map64_get(&map, UINT64_MAX), 2);
	assert_int_equal(map.count, 1);
	map64_free(&map);
}

/* Against a plain array, with many deletions, so that gaps are filled across the end of the table. */
static void agrees_with_an_array(void **state)
{
	enum { KEYS = 3000 };
	uint32_t *want = calloc(KEYS, sizeof(*want));
	struct map64 map = {0};
	size_t count = 0;

	(void)state;
	for (unsigned step = 1; step < 300000; step++) {
		uint32_t i = next_random(KEYS);
		uint64_t key = 0xc000000000ull + (uint64_t)(i + 1) * 416; /* like g pointers */

		if (next_random(5) < 2) {
			assert_int_equal(map64_del(&map, key), want[i] != 0);
			count -= want[i] != 0;
			want[i] = 0;
		} else {
			assert_int_equal(map64_set(&map, key, step), 0);
			count += want[i] == 0;
			want[i] = step;
		}
		assert_int_equal(map.count, count);
		if (step % 1000 != 0)
			continue;
		for (uint32_t k = 0; k < KEYS; k++) {
			uint32_t *value = map64_get(&map, 0xc000000000ull + (uint64_t)(k + 1) * 416);

			assert_int_equal(value ? *value : 0, want[k]);
		}
	}
	map64_free(&map);
	free(want);
}

static void clear_keeps_memory(void **state)
{
	struct map64 map = {0};
	size_t capacity;

	(void)state;
	for (uint64_t key = 1; key <= 1000; key++)
		assert_int_equal(map64_set(&map, key, 1), 0);
	capacity = map.capacity;
	map64_clear(&map);
	assert_int_equal(map.count, 0);
	assert_int_equal(map.capacity, capacity);
	for (uint64_t key = 1; key <= 1000; key++)
		assert_null(map64_get(&map, key));
	map64_free(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_map_answers),  cmocka_unit_test(zero_is_no_key),
		cmocka_unit_test(set_replaces),       cmocka_unit_test(agrees_with_an_array),
		cmocka_unit_test(clear_keeps_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
