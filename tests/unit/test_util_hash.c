/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

#include "util/hash.h"

static void hashes_depend_on_all_they_are_given(void **state)
{
	char text[64] = "0123456789abcdef0123456789abcdef";

	(void)state;
	for (size_t size = 0; size < 40; size++) {
		uint64_t hash = hash_bytes(1, text, size);

		assert_int_equal(hash_bytes(1, text, size), hash);
		assert_int_not_equal(hash_bytes(2, text, size), hash);
		assert_int_not_equal(hash_bytes(1, text, size + 1), hash);
		for (size_t i = 0; i < size; i++) {
			text[i] ^= 1;
			assert_int_not_equal(hash_bytes(1, text, size), hash);
			text[i] ^= 1;
		}
	}
}

/* With seed 0 both halves of the key are 0. Values from Python 3.11: PYTHONHASHSEED=0, hash(b"..."). */
static void hashes_are_those_of_siphash_1_3(void **state)
{
	uint8_t bytes[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(hash_bytes(0, "a", 1), 0x407448d2b89b1813ull);
	assert_int_equal(hash_bytes(0, "goroutine", 9), 0x3a69e139fdc6e190ull);
	assert_int_equal(hash_bytes(0, bytes, 15), 0xf30eb725bb91c9eaull);
	assert_int_equal(hash_bytes(0, bytes, 64), 0x75e05fd5bbc870c6ull);
}

static void seeds_differ(void **state)
{
	int table = 0;

	(void)state;
	assert_int_not_equal(hash_seed(&table), hash_seed(&table));
	assert_int_not_equal(hash_u64(1, 5), hash_u64(2, 5));
	assert_int_equal(hash_u64(1, 5), hash_u64(1, 5));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(hashes_depend_on_all_they_are_given),
	cmocka_unit_test(hashes_are_those_of_siphash_1_3),
	cmocka_unit_test(seeds_differ),
};

UNIT_TESTS(tests, NULL, NULL);
