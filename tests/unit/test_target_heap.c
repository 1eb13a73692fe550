/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The heap goal from the bytes of runtime.gcController. */

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "target/heap.h"

#define MIB (1024ull * 1024)

struct controller {
	const struct release *release;
	const struct layout *layout;
	uint8_t bytes[4096];
};

static void put(struct controller *c, uint32_t offset, uint64_t value)
{
	memcpy(c->bytes + offset, &value, sizeof(value));
}

/* GOGC gives 40 MiB, and no other limit applies. */
static struct controller usual(void)
{
	struct controller c = {.release = release_find(26), .layout = &release_find(26)->layout};
	const struct runtime_offsets *at = &c.layout->runtime;

	put(&c, at->gc_percent_goal, 40 * MIB);
	put(&c, at->gc_memory_limit, INT64_MAX);
	put(&c, at->gc_triggered, UINT64_MAX);
	put(&c, at->gc_heap_marked, 20 * MIB);
	put(&c, at->gc_total_alloc, 130 * MIB);
	put(&c, at->gc_total_free, 100 * MIB);
	put(&c, at->gc_heap_free, 2 * MIB);
	put(&c, at->gc_mapped_ready, 50 * MIB);
	/* gcPercent and the minimum heap size share a word. */
	put(&c, c.layout->go.gc_percent, 100);
	return c;
}

static void test_by_percent(void **state)
{
	struct controller c = usual();

	(void)state;
	assert_int_equal(heap_goal(c.release, c.bytes), 40 * MIB);
	put(&c, c.layout->runtime.gc_triggered, 40 * MIB);
	assert_int_equal(heap_goal(c.release, c.bytes), 40 * MIB + 64 * 1024);
	put(&c, c.layout->runtime.gc_min_trigger, 44 * MIB);
	assert_int_equal(heap_goal(c.release, c.bytes), 44 * MIB);
}

/* DWARF of a development version before 1.19 that has neither the goal nor its inputs. */
static void test_absent(void **state)
{
	struct release release = *release_find(18);
	uint8_t *bytes = malloc(512); /* exactly that size, for the sanitizer */

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 0x11, 512);
	release.layout.go.gc_percent = 0;
	release.layout.runtime.gc_heap_goal = LAYOUT_ABSENT;
	assert_int_equal(release.layout.runtime.gc_memory_limit, LAYOUT_ABSENT);
	assert_int_equal(heap_goal(&release, bytes), 0);
	free(bytes);
}

static void test_off(void **state)
{
	struct controller c = usual();

	(void)state;
	put(&c, c.layout->runtime.gc_percent_goal, UINT64_MAX);
	put(&c, c.layout->go.gc_percent, (uint32_t)-1);
	assert_int_equal(heap_goal(c.release, c.bytes), 0);
}

/* 50 MiB mapped, 32 of them for the heap: 18 are for other purposes. */
static void test_by_limit(void **state)
{
	struct controller c = usual();
	uint64_t left = 60 * MIB - 18 * MIB;

	(void)state;
	put(&c, c.layout->runtime.gc_percent_goal, 100 * MIB);
	put(&c, c.layout->runtime.gc_memory_limit, 60 * MIB);
	assert_int_equal(heap_goal(c.release, c.bytes), left - left / 100 * 3);
	/* Over the limit: as low as possible, but not below the live heap. */
	put(&c, c.layout->runtime.gc_memory_limit, 10 * MIB);
	assert_int_equal(heap_goal(c.release, c.bytes), 20 * MIB);
	put(&c, c.layout->runtime.gc_memory_limit, 40 * MIB);
	assert_int_equal(heap_goal(c.release, c.bytes), 20 * MIB);
	/* Counters that were read at different times do not give a senseless goal. */
	put(&c, c.layout->runtime.gc_mapped_ready, 1 * MIB);
	assert_int_equal(heap_goal(c.release, c.bytes), 40 * MIB - 40 * MIB / 100 * 3);
}

/* 1.19 and 1.20 reserve 1 MiB of the limit instead of 3 %; up to 1.18 the goal itself can be read. */
static void test_older(void **state)
{
	struct controller c = {.release = release_find(20), .layout = &release_find(20)->layout};

	(void)state;
	put(&c, c.layout->runtime.gc_percent_goal, 100 * MIB);
	put(&c, c.layout->runtime.gc_triggered, UINT64_MAX);
	put(&c, c.layout->runtime.gc_memory_limit, 60 * MIB);
	put(&c, c.layout->runtime.gc_mapped_ready, 18 * MIB);
	put(&c, c.layout->go.gc_percent, 100);
	assert_int_equal(heap_goal(c.release, c.bytes), 60 * MIB - 18 * MIB - 1 * MIB);
	for (unsigned minor = release_first(); minor <= 18; minor++) {
		memset(c.bytes, 0, sizeof(c.bytes));
		c.release = release_find(minor);
		put(&c, c.release->layout.runtime.gc_heap_goal, 7 * MIB);
		assert_int_equal(heap_goal(c.release, c.bytes), 7 * MIB);
		put(&c, c.release->layout.runtime.gc_heap_goal, UINT64_MAX);
		assert_int_equal(heap_goal(c.release, c.bytes), 0);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_older), cmocka_unit_test(test_by_percent), cmocka_unit_test(test_absent),
	cmocka_unit_test(test_off),   cmocka_unit_test(test_by_limit),
};

UNIT_TESTS(tests, NULL, NULL);
