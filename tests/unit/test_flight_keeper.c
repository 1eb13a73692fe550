/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flight/keeper.h"

#define SECOND 1000000000ull

/* What a snapshot has in it, as text. */
struct text {
	char bytes[4096];
	size_t n;
};

static int append(void *ctx, const void *bytes, size_t n)
{
	struct text *text = ctx;

	assert_true(text->n + n < sizeof(text->bytes));
	memcpy(text->bytes + text->n, bytes, n);
	text->n += n;
	text->bytes[text->n] = '\0';
	return 0;
}

static struct keeper *make(uint64_t window_ns, size_t max_bytes)
{
	struct keeper_options options = {.window_ns = window_ns, .max_bytes = max_bytes};
	struct keeper *keeper = keeper_new(&options);

	assert_non_null(keeper);
	assert_int_equal(keeper_write(keeper, "H:", 2), 0);
	assert_int_equal(keeper_header(keeper), 0);
	return keeper;
}

/* A generation that begins at this second, written in two pieces. */
static void put(struct keeper *keeper, uint64_t second, const char *text)
{
	assert_int_equal(keeper_write(keeper, text, 1), 0);
	assert_int_equal(keeper_write(keeper, text + 1, strlen(text) - 1), 0);
	assert_int_equal(keeper_generation(keeper, second * SECOND), 0);
}

static void expect(struct kept *kept, const char *want)
{
	struct text text = {.n = 0};
	const struct byte_sink sink = {.write = append, .ctx = &text};

	assert_non_null(kept);
	assert_int_equal(kept_write(kept, &sink), 0);
	assert_string_equal(text.bytes, want);
	assert_int_equal(kept_bytes(kept), strlen(want));
	kept_free(kept);
}

static void nothing_is_kept_before_the_first_generation(void **state)
{
	struct keeper *keeper = make(SECOND, 100);

	(void)state;
	assert_null(keeper_take(keeper));
	keeper_free(keeper);
	kept_free(NULL);
	keeper_free(NULL);
}

static void window_is_held_and_no_more(void **state)
{
	struct keeper *keeper = make(3 * SECOND, 1000);

	(void)state;
	put(keeper, 10, "aa");
	put(keeper, 11, "bb");
	put(keeper, 12, "cc");
	put(keeper, 13, "dd");
	expect(keeper_take(keeper), "H:aabbccdd");
	put(keeper, 14, "ee"); /* from 11 to 14 are three seconds */
	expect(keeper_take(keeper), "H:bbccddee");
	put(keeper, 30, "ff"); /* ee is what was before */
	expect(keeper_take(keeper), "H:eeff");
	assert_int_equal(keeper_stats(keeper).dropped_soon, 0);
	assert_int_equal(keeper_stats(keeper).start_ns, 14 * SECOND);
	keeper_free(keeper);
}

static void bytes_are_never_exceeded(void **state)
{
	struct keeper *keeper = make(100 * SECOND, 12);

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		char text[16] = "xxxxxxxxxxxxxxx";

		text[1 + i * 7 % 11] = '\0';
		put(keeper, i, text);
		assert_true(keeper_stats(keeper).bytes <= 12);
		assert_int_equal(keeper_stats(keeper).too_large != 0, strlen(text) > 10);
	}
	put(keeper, 2000, "12345");
	put(keeper, 2001, "67890");
	expect(keeper_take(keeper), "H:1234567890");
	put(keeper, 2002, "x");
	expect(keeper_take(keeper), "H:67890x");
	assert_true(keeper_stats(keeper).dropped_soon > 0);
	keeper_free(keeper);
}

static void a_generation_that_is_too_large_leaves_nothing(void **state)
{
	struct keeper *keeper = make(SECOND, 8);

	(void)state;
	put(keeper, 1, "abc");
	put(keeper, 2, "0123456789");
	assert_null(keeper_take(keeper));
	assert_int_equal(keeper_stats(keeper).too_large, 10);
	assert_int_equal(keeper_stats(keeper).generations, 0);
	put(keeper, 3, "de");
	expect(keeper_take(keeper), "H:de");
	keeper_free(keeper);
}

static void a_snapshot_stays_whatever_comes(void **state)
{
	struct keeper *keeper = make(SECOND, 1000);
	struct kept *one, *two;

	(void)state;
	put(keeper, 1, "aa");
	put(keeper, 2, "bb");
	one = keeper_take(keeper);
	put(keeper, 3, "cc");
	two = keeper_take(keeper);
	for (unsigned i = 4; i < 100; i++)
		put(keeper, i, "zz");
	keeper_free(keeper);
	expect(one, "H:aabb");
	expect(two, "H:bbcc");
}

static void a_snapshot_is_cut_from_its_old_end(void **state)
{
	struct keeper *keeper = make(100 * SECOND, 1000);
	struct kept *kept;

	(void)state;
	put(keeper, 1, "aaa");
	put(keeper, 2, "bbb");
	put(keeper, 3, "ccc");
	kept = keeper_take(keeper);
	assert_true(kept_cut(kept, 8));
	assert_false(kept_cut(kept, 8));
	assert_int_equal(kept_bytes(kept), 8);
	assert_true(kept_cut(kept, 1)); /* the newest stays */
	assert_false(kept_cut(kept, 1));
	expect(kept, "H:ccc");
	expect(keeper_take(keeper), "H:aaabbbccc");
	keeper_free(keeper);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_kept_before_the_first_generation),
		cmocka_unit_test(window_is_held_and_no_more),
		cmocka_unit_test(bytes_are_never_exceeded),
		cmocka_unit_test(a_generation_that_is_too_large_leaves_nothing),
		cmocka_unit_test(a_snapshot_stays_whatever_comes),
		cmocka_unit_test(a_snapshot_is_cut_from_its_old_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
