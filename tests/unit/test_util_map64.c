/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

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

static void zero_is_a_key(void **state)
{
	struct map64 map = {0};

	(void)state;
	assert_int_equal(map64_set(&map, 7, 1), 0);
	assert_null(map64_get(&map, 0));
	assert_false(map64_del(&map, 0));
	assert_int_equal(map64_set(&map, 0, 5), 0);
	assert_int_equal(map64_set(&map, 0, 6), 0);
	assert_int_equal(map.count, 2);
	assert_int_equal(map64_find(&map, 0), 6);
	assert_int_equal(map64_find(&map, 7), 1);
	assert_int_equal(map64_find(&map, 8), MAP64_NONE);
	assert_true(map64_del(&map, 0));
	assert_int_equal(map64_find(&map, 0), MAP64_NONE);
	assert_int_equal(map64_set(&map, 0, 5), 0);
	map64_clear(&map);
	assert_null(map64_get(&map, 0));
	map64_free(&map);
}

static void keys_are_sorted(void **state)
{
	struct map64 map = {0};
	uint64_t *keys;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(map64_set(&map, i * 7919 % 1000, 1), 0);
	keys = map64_sorted_keys(&map);
	assert_non_null(keys);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(keys[i], i);
	free(keys);
	map64_free(&map);
}

static void maps_differ_in_their_order(void **state)
{
	struct map64 maps[2] = {{0}, {0}};

	(void)state;
	for (uint64_t key = 1; key <= 1000; key++) {
		assert_int_equal(map64_set(&maps[0], key, 1), 0);
		assert_int_equal(map64_set(&maps[1], key, 1), 0);
	}
	assert_int_equal(maps[0].capacity, maps[1].capacity);
	assert_memory_not_equal(maps[0].keys, maps[1].keys, maps[0].capacity * sizeof(*maps[0].keys));
	map64_free(&maps[0]);
	map64_free(&maps[1]);
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

/* Compared with a plain array, with many deletions, so that gaps are filled across the end of the table. */
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

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(empty_map_answers),  cmocka_unit_test(zero_is_a_key),
	cmocka_unit_test(keys_are_sorted),    cmocka_unit_test(maps_differ_in_their_order),
	cmocka_unit_test(set_replaces),       cmocka_unit_test(agrees_with_an_array),
	cmocka_unit_test(clear_keeps_memory),
};

UNIT_TESTS(tests, NULL, NULL);
