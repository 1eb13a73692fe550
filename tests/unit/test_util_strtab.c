/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/strtab.h"

static void empty_string_is_zero(void **state)
{
	struct strtab *tab = strtab_new();
	size_t len = 1;

	(void)state;
	assert_int_equal(strtab_add(tab, "", 0), 0);
	assert_int_equal(strtab_add_str(tab, ""), 0);
	assert_int_equal(strtab_count(tab), 1);
	assert_string_equal(strtab_get(tab, 0, &len), "");
	assert_int_equal(len, 0);
	strtab_free(tab);
}

static void equal_strings_share_an_id(void **state)
{
	struct strtab *tab = strtab_new();
	size_t len;

	(void)state;
	assert_int_equal(strtab_add_str(tab, "chan receive"), 1);
	assert_int_equal(strtab_add_str(tab, "chan send"), 2);
	assert_int_equal(strtab_add_str(tab, "chan receive"), 1);
	assert_int_equal(strtab_add(tab, "chan sender", 9), 2);
	assert_int_equal(strtab_count(tab), 3);
	assert_string_equal(strtab_get(tab, 2, &len), "chan send");
	assert_int_equal(len, 9);
	strtab_free(tab);
}

static void bytes_may_be_any(void **state)
{
	struct strtab *tab = strtab_new();
	uint32_t short_id = strtab_add(tab, "a\0", 1), long_id = strtab_add(tab, "a\0", 2);
	size_t len;

	(void)state;
	assert_int_not_equal(short_id, long_id);
	assert_memory_equal(strtab_get(tab, long_id, &len), "a\0", 3);
	assert_int_equal(len, 2);
	strtab_free(tab);
}

/* An id that does not exist reads as the empty string. */
static void unknown_id_is_empty(void **state)
{
	struct strtab *tab = strtab_new();

	(void)state;
	assert_string_equal(strtab_get(tab, 77, NULL), "");
	strtab_free(tab);
}

static void ids_are_dense_and_stay(void **state)
{
	struct strtab *tab = strtab_new();
	char text[64];

	(void)state;
	for (uint32_t i = 1; i <= 100000; i++) {
		snprintf(text, sizeof(text), "runtime.function%u", i * 7919u);
		assert_int_equal(strtab_add_str(tab, text), i);
	}
	for (uint32_t i = 1; i <= 100000; i++) {
		snprintf(text, sizeof(text), "runtime.function%u", i * 7919u);
		assert_string_equal(strtab_get(tab, i, NULL), text);
		assert_int_equal(strtab_add_str(tab, text), i);
	}
	assert_int_equal(strtab_count(tab), 100001);
	strtab_free(tab);
}

static void one_string_larger_than_the_blob(void **state)
{
	struct strtab *tab = strtab_new();
	char *text = malloc(1000000);
	size_t len;

	(void)state;
	memset(text, 'x', 1000000);
	assert_int_equal(strtab_add(tab, text, 1000000), 1);
	assert_memory_equal(strtab_get(tab, 1, &len), text, 1000000);
	assert_int_equal(len, 1000000);
	free(text);
	strtab_free(tab);
}

static void what_is_loose_is_forgotten(void **state)
{
	struct strtab *tab = strtab_new();
	uint32_t kept, held, reused;
	char text[32];

	(void)state;
	strtab_add_str(tab, "for good");
	kept = strtab_add_loose(tab, "kept", 4);
	held = strtab_add_loose(tab, "held", 4);
	assert_int_equal(strtab_add_loose(tab, "for good", 8), 1);
	assert_int_equal(strtab_loose(tab), 2);
	assert_int_equal(strtab_add_str(tab, "held"), held); /* permanent from here on */
	for (int i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		reused = strtab_add_loose(tab, text, strlen(text));
		assert_string_equal(strtab_get(tab, reused, NULL), text);
		if (i % 1000)
			continue;
		strtab_keep(tab, kept);
		strtab_sweep(tab);
		assert_int_equal(strtab_loose(tab), 1);
		assert_int_equal(strtab_find(tab, text, strlen(text)), 0);
		assert_string_equal(strtab_get(tab, kept, NULL), "kept");
		assert_int_equal(strtab_find(tab, "held", 4), held);
		assert_int_equal(strtab_find(tab, "for good", 8), 1);
	}
	assert_true(strtab_count(tab) < 1100);
	strtab_sweep(tab);
	assert_int_equal(strtab_find(tab, "kept", 4), 0);
	strtab_free(tab);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(what_is_loose_is_forgotten),
	cmocka_unit_test(empty_string_is_zero),
	cmocka_unit_test(equal_strings_share_an_id),
	cmocka_unit_test(bytes_may_be_any),
	cmocka_unit_test(unknown_id_is_empty),
	cmocka_unit_test(ids_are_dense_and_stay),
	cmocka_unit_test(one_string_larger_than_the_blob),
};

UNIT_TESTS(tests, NULL, NULL);
