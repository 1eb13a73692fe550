/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "flight/generation_ring.h"

#define SECOND 1000000000ull

/* The contents of a snapshot as text. */
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

static struct generation_ring *make(uint64_t window_ns, size_t max_bytes)
{
	struct generation_ring_options options = {.window_ns = window_ns, .max_bytes = max_bytes};
	struct generation_ring *ring = generation_ring_new(&options);

	assert_non_null(ring);
	assert_int_equal(generation_ring_write(ring, "H:", 2), 0);
	assert_int_equal(generation_ring_header(ring), 0);
	return ring;
}

/* Puts a generation that begins at this second, in two writes. */
static void put(struct generation_ring *ring, uint64_t second, const char *text)
{
	assert_int_equal(generation_ring_write(ring, text, 1), 0);
	assert_int_equal(generation_ring_write(ring, text + 1, strlen(text) - 1), 0);
	assert_int_equal(generation_ring_generation(ring, second * SECOND), 0);
}

static void expect(struct generation_refs *refs, const char *want)
{
	struct text text = {.n = 0};
	const struct byte_sink sink = {.write = append, .ctx = &text};
	uint8_t *copy;

	assert_non_null(refs);
	assert_int_equal(generation_refs_write(refs, &sink), 0);
	assert_string_equal(text.bytes, want);
	assert_int_equal(generation_refs_bytes(refs), strlen(want));
	copy = generation_refs_copy(refs);
	assert_non_null(copy);
	assert_memory_equal(copy, want, strlen(want));
	free(copy);
	generation_refs_free(refs);
}

static void nothing_is_kept_before_the_first_generation(void **state)
{
	struct generation_ring *ring = make(SECOND, 100);

	(void)state;
	assert_null(generation_ring_take(ring));
	generation_ring_free(ring);
	generation_refs_free(NULL);
	generation_ring_free(NULL);
}

static void window_is_held_and_no_more(void **state)
{
	struct generation_ring *ring = make(3 * SECOND, 1000);

	(void)state;
	put(ring, 10, "aa");
	put(ring, 11, "bb");
	put(ring, 12, "cc");
	put(ring, 13, "dd");
	expect(generation_ring_take(ring), "H:aabbccdd");
	put(ring, 14, "ee"); /* from 11 to 14 is three seconds */
	expect(generation_ring_take(ring), "H:bbccddee");
	put(ring, 30, "ff"); /* ee is the previous generation */
	expect(generation_ring_take(ring), "H:eeff");
	assert_int_equal(generation_ring_stats(ring).dropped_in_window, 0);
	assert_int_equal(generation_ring_stats(ring).start_ns, 14 * SECOND);
	generation_ring_free(ring);
}

static void bytes_are_never_exceeded(void **state)
{
	struct generation_ring *ring = make(100 * SECOND, 12);

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		char text[16] = "xxxxxxxxxxxxxxx";

		text[1 + i * 7 % 11] = '\0';
		put(ring, i, text);
		assert_true(generation_ring_stats(ring).bytes <= 12);
		assert_int_equal(generation_ring_stats(ring).too_large != 0, strlen(text) > 10);
	}
	put(ring, 2000, "12345");
	put(ring, 2001, "67890");
	expect(generation_ring_take(ring), "H:1234567890");
	put(ring, 2002, "x");
	expect(generation_ring_take(ring), "H:67890x");
	assert_true(generation_ring_stats(ring).dropped_in_window > 0);
	generation_ring_free(ring);
}

static void a_generation_that_is_too_large_leaves_nothing(void **state)
{
	struct generation_ring *ring = make(SECOND, 8);

	(void)state;
	put(ring, 1, "abc");
	put(ring, 2, "0123456789");
	assert_null(generation_ring_take(ring));
	assert_int_equal(generation_ring_stats(ring).too_large, 10);
	assert_int_equal(generation_ring_stats(ring).generations, 0);
	put(ring, 3, "de");
	expect(generation_ring_take(ring), "H:de");
	generation_ring_free(ring);
}

static void a_snapshot_stays_whatever_comes(void **state)
{
	struct generation_ring *ring = make(SECOND, 1000);
	struct generation_refs *one, *two;

	(void)state;
	put(ring, 1, "aa");
	put(ring, 2, "bb");
	one = generation_ring_take(ring);
	put(ring, 3, "cc");
	two = generation_ring_take(ring);
	for (unsigned i = 4; i < 100; i++)
		put(ring, i, "zz");
	generation_ring_free(ring);
	expect(one, "H:aabb");
	expect(two, "H:bbcc");
}

static void a_snapshot_is_cut_from_its_old_end(void **state)
{
	struct generation_ring *ring = make(100 * SECOND, 1000);
	struct generation_refs *refs;

	(void)state;
	put(ring, 1, "aaa");
	put(ring, 2, "bbb");
	put(ring, 3, "ccc");
	refs = generation_ring_take(ring);
	assert_true(generation_refs_cut(refs, 8));
	assert_false(generation_refs_cut(refs, 8));
	assert_int_equal(generation_refs_bytes(refs), 8);
	assert_true(generation_refs_cut(refs, 1)); /* the newest stays */
	assert_false(generation_refs_cut(refs, 1));
	expect(refs, "H:ccc");
	expect(generation_ring_take(ring), "H:aaabbbccc");
	generation_ring_free(ring);
}

static void recorders_keep_their_bytes_together(void **state)
{
	const struct generation_ring_options options = {
		.window_ns = 100 * SECOND, .max_bytes = 4 << 20, .share = &(flight_share){1}};
	struct generation_ring *ring = generation_ring_new(&options);
	static char text[1 << 20];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	for (unsigned i = 1; i <= 3; i++)
		put(ring, i, text);
	assert_int_equal(generation_ring_stats(ring).generations, 3);
	atomic_store((flight_share *)options.share, 2);
	put(ring, 4, text);
	assert_int_equal(generation_ring_stats(ring).generations, 2);
	generation_ring_free(ring);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(nothing_is_kept_before_the_first_generation),
	cmocka_unit_test(window_is_held_and_no_more),
	cmocka_unit_test(bytes_are_never_exceeded),
	cmocka_unit_test(a_generation_that_is_too_large_leaves_nothing),
	cmocka_unit_test(a_snapshot_stays_whatever_comes),
	cmocka_unit_test(a_snapshot_is_cut_from_its_old_end),
	cmocka_unit_test(recorders_keep_their_bytes_together),
};

UNIT_TESTS(tests, NULL, NULL);
