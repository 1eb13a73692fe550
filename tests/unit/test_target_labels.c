/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sets of pprof labels in the memory of this process, which is read like any other. */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/goroutines/listing.h"
#include "target/labels.h"

struct go_string {
	const char *text;
	uint64_t len;
};

struct go_label {
	struct go_string key, value;
};

struct go_slice {
	const void *data;
	uint64_t len, cap;
};

struct bucket {
	uint8_t hashes[8];
	struct go_string keys[8], values[8];
	const void *overflow;
};

struct head {
	uint64_t count;
	uint8_t flags, b;
	uint16_t noverflow;
	uint32_t hash0;
	const void *buckets, *old;
};

static struct go_string string(const char *text)
{
	return (struct go_string){text, strlen(text)};
}

static int take(void *ctx, const struct log_record *record)
{
	assert_int_equal(rawlog_check_record(record, NULL), 0);
	return listing_put(ctx, record);
}

struct reading {
	struct g_listing listing;
	struct labels *labels;
};

static void begin(unsigned go_minor, struct reading *reading)
{
	*reading = (struct reading){.labels = labels_new(getpid(), go_minor, take, &reading->listing)};
	assert_non_null(reading->labels);
}

static void end(struct reading *reading)
{
	labels_free(reading->labels);
	listing_free(&reading->listing);
}

/* Reads the set at this address. Returns its number. */
static uint32_t read_one(struct reading *reading, const void *at)
{
	uint64_t address = (uint64_t)(uintptr_t)at;
	uint32_t number;

	assert_int_equal(labels_read(reading->labels, &address, 1, &number), 0);
	return number;
}

/* Compares a set with "a=1 b=2", in the order of the labels. */
static void assert_labels(const struct reading *reading, uint32_t number, const char *wanted)
{
	struct listing_label labels[LABELS_MAX];
	char text[LABELS_MAX * 2 * LABEL_TEXT_MAX] = "";
	unsigned n = listing_labels(&reading->listing, number, labels);
	size_t at = 0;

	assert_int_not_equal(number, LABELS_LOST);
	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.*s=%.*s", i ? " " : "",
				       (int)labels[i].key.len, labels[i].key.bytes, (int)labels[i].value.len,
				       labels[i].value.bytes);
	assert_string_equal(text, wanted);
}

static void test_list(void **state)
{
	struct go_label list[] = {{string("a"), string("1")}, {string("bb"), string("")}};
	struct go_label same[2];
	struct go_slice slice = {list, 2, 2}, other = {same, 2, 4}, empty = {NULL, 0, 0};
	struct reading reading;
	uint32_t number;

	(void)state;
	memcpy(same, list, sizeof(same));
	begin(26, &reading);
	number = read_one(&reading, &slice);
	assert_labels(&reading, number, "a=1 bb=");
	/* The same content elsewhere has the same number. */
	assert_int_equal(read_one(&reading, &other), number);
	assert_int_equal(reading.listing.nlabels, 1);
	assert_int_equal(read_one(&reading, &empty), 0);
	assert_int_equal(read_one(&reading, NULL), 0);
	end(&reading);
}

/* A target can store anything in g.labels. */
static void test_bad_lists(void **state)
{
	static char huge[LABEL_TEXT_MAX + 1000];
	struct go_label list[] = {{string("a"), {huge, 1ull << 30}}};
	struct go_label bad[] = {{{(const char *)8, 5}, string("1")}, {string("b"), string("2")}};
	struct go_slice long_text = {list, 1, 1}, long_list = {list, 1ull << 40, 1ull << 40};
	struct go_slice unordered = {list, 5, 2}, nowhere = {(const void *)64, 3, 3}, part = {bad, 2, 2};
	struct reading reading;
	uint32_t number;

	(void)state;
	memset(huge, 'x', sizeof(huge));
	begin(25, &reading);
	number = read_one(&reading, &long_text);
	assert_true(reading.listing.labels[number - 1].cut);
	assert_int_equal(listing_label(&reading.listing, number, "a").len, LABEL_TEXT_MAX);
	assert_int_equal(read_one(&reading, &unordered), LABELS_LOST);
	assert_int_equal(read_one(&reading, &nowhere), LABELS_LOST);
	assert_int_equal(read_one(&reading, (const void *)24), LABELS_LOST);
	number = read_one(&reading, &part);
	assert_labels(&reading, number, "b=2");
	assert_true(reading.listing.labels[number - 1].cut);
	/* 64 rows from the stack: some of them may look like strings, but nothing is read out of bounds. */
	read_one(&reading, &long_list);
	end(&reading);
}

static void put(struct bucket *bucket, unsigned slot, uint8_t hash, const char *key, const char *value)
{
	bucket->hashes[slot] = hash;
	bucket->keys[slot] = string(key);
	bucket->values[slot] = string(value);
}

static void test_map(void **state)
{
	struct bucket more = {.overflow = NULL}, buckets[2] = {{.overflow = &more}, {.overflow = NULL}};
	struct head head = {.count = 4, .b = 1, .buckets = buckets};
	const void *map = &head, *none = NULL;
	struct reading reading;

	(void)state;
	_Static_assert(sizeof(struct bucket) == 272 && sizeof(struct head) == 32, "as the runtime's");
	put(&buckets[0], 1, 200, "c", "3");
	put(&buckets[0], 2, 1, "gone", "0");
	put(&buckets[0], 3, 4, "moved", "0");
	put(&buckets[1], 7, 5, "a", "1");
	put(&more, 0, 77, "b", "2");
	begin(23, &reading);
	assert_labels(&reading, read_one(&reading, &map), "a=1 b=2 c=3");
	assert_int_equal(read_one(&reading, &none), 0);
	end(&reading);
	/* Up to 1.11 a hash may be 4. */
	begin(11, &reading);
	assert_labels(&reading, read_one(&reading, &map), "a=1 b=2 c=3 moved=0");
	end(&reading);
}

/* A map that grew may stay half-moved: nothing writes to it any more. */
static void test_map_that_grew(void **state)
{
	struct bucket old[2] = {{.overflow = NULL}, {.overflow = NULL}}, buckets[4];
	struct head head = {.count = 2, .b = 2, .buckets = buckets, .old = old};
	const void *map = &head;
	struct reading reading;

	(void)state;
	memset(buckets, 0, sizeof(buckets));
	put(&old[0], 0, 99, "a", "1");
	put(&old[1], 0, 2, "b", "old"); /* moved: evacuatedX */
	put(&old[1], 1, 99, "b", "old");
	put(&buckets[1], 0, 99, "b", "2");
	begin(16, &reading);
	assert_labels(&reading, read_one(&reading, &map), "a=1 b=2");
	end(&reading);
}

static void test_bad_maps(void **state)
{
	struct bucket loop = {.overflow = &loop}, chain[40];
	struct head wide = {.count = 1, .b = 200, .buckets = &loop}, circle = {.count = 1, .buckets = &loop};
	struct head nowhere = {.count = 1, .buckets = (const void *)64},
		    longer = {.count = 1, .buckets = chain};
	const void *maps[] = {&wide, &circle, &nowhere, (const void *)40};
	const void *map = &longer;
	struct reading reading;
	uint32_t number;

	(void)state;
	put(&loop, 0, 99, "a", "1");
	memset(chain, 0, sizeof(chain));
	for (unsigned i = 0; i + 1 < 40; i++) {
		put(&chain[i], 0, 99, "a", "1");
		chain[i].overflow = &chain[i + 1];
	}
	begin(19, &reading);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		assert_int_equal(read_one(&reading, &maps[i]), LABELS_LOST);
	number = read_one(&reading, &map);
	assert_int_not_equal(number, LABELS_LOST);
	assert_true(reading.listing.labels[number - 1].cut);
	assert_in_range(reading.listing.labels[number - 1].n, 1, LABELS_MAX);
	end(&reading);
}

/* A batch with the same address twice, and with texts that need several reads. */
static void test_batch(void **state)
{
	enum { SETS = 200, EACH = 40 };
	static struct go_label lists[SETS][EACH];
	static struct go_slice slices[SETS];
	static char texts[SETS][EACH][8];
	uint64_t addresses[SETS + 1];
	uint32_t numbers[SETS + 1];
	struct reading reading;

	(void)state;
	for (unsigned i = 0; i < SETS; i++) {
		for (unsigned k = 0; k < EACH; k++) {
			snprintf(texts[i][k], sizeof(texts[i][k]), "%02u%03u", k, i);
			lists[i][k] = (struct go_label){{texts[i][k], 2}, {texts[i][k] + 2, 3}};
		}
		slices[i] = (struct go_slice){lists[i], EACH, EACH};
		addresses[i] = (uint64_t)(uintptr_t)&slices[i];
	}
	addresses[SETS] = addresses[3];
	begin(27, &reading);
	assert_int_equal(labels_read(reading.labels, addresses, SETS + 1, numbers), 0);
	assert_int_equal(numbers[SETS], numbers[3]);
	assert_int_equal(reading.listing.nlabels, SETS);
	for (unsigned i = 0; i < SETS; i++) {
		struct listing_text value = listing_label(&reading.listing, numbers[i], "39");

		assert_int_equal(value.len, 3);
		assert_memory_equal(value.bytes, texts[i][39] + 2, 3);
	}
	end(&reading);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_list),          cmocka_unit_test(test_bad_lists), cmocka_unit_test(test_map),
	cmocka_unit_test(test_map_that_grew), cmocka_unit_test(test_bad_maps),  cmocka_unit_test(test_batch),
};

UNIT_TESTS(tests, NULL, NULL);
