/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The number of rings, reading a ring, and the order in which several are merged. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include "capture/merge.h"
#include "capture/ring.h"
#include "capture/rings.h"

static void test_eight_cpus_share_a_ring(void **state)
{
	const struct {
		unsigned cpus, wanted, bytes, count, shift;
		uint32_t each;
	} table[] = {
		{1, 0, 0, 1, 3, 16u << 20},
		{8, 0, 0, 1, 3, 16u << 20},
		{8, 0, 100000, 1, 3, 128u << 10},
		{9, 0, 0, 2, 3, 8u << 20},
		{64, 0, 0, 8, 3, 4u << 20},
		{64, 0, 64u << 20, 8, 3, 8u << 20},
		{64, 0, 65536, 8, 3, 64u << 10}, /* never too small for a burst */
		{256, 0, 0, 32, 3, 4u << 20},
		{4096, 0, 0, 64, 6, 4u << 20}, /* no more rings than supported */
		{2, 2, 0, 2, 0, 8u << 20},
		{2, 64, 0, 2, 0, 8u << 20}, /* no more rings than CPUs */
		{64, 1, 0, 1, 6, 16u << 20},
		{6, 4, 0, 3, 1, 8u << 20}, /* CPUs 0 and 1, 2 and 3, 4 and 5 */
		{0, 0, 0, 1, 3, 16u << 20},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct rings_plan plan = rings_plan(table[i].cpus, table[i].wanted, table[i].bytes);

		assert_int_equal(plan.count, table[i].count);
		assert_int_equal(plan.bytes, table[i].each);
		if (plan.count > 1)
			assert_int_equal(plan.shift, table[i].shift);
	}
}

static void test_present_cpus_are_counted(void **state)
{
	const struct {
		const char *list;
		unsigned cpus;
	} table[] = {
		{"0\n", 1},         {"0-1\n", 2},     {"0-511", 512}, {"0,2-3\n", 4},
		{"0-3,8-11\n", 12}, {"65535", 65536}, {"65536\n", 0}, {"", 0},
		{"\n", 0},          {"0-\n", 0},      {"0,\n", 0},    {"-1\n", 0},
		{"all\n", 0},       {"0-1 \n", 0},    {"0-1\nx", 2},  {"18446744073709551616", 0},
		{"0x4\n", 0},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_int_equal(rings_count_cpus(table[i].list), table[i].cpus);
}

/* What a saturated CPU writes (0.45 million records of 72 bytes per second) must fit in meanwhile. */
static void test_an_idle_ring_is_looked_at_in_time(void **state)
{
	const struct {
		unsigned cpus, wanted, bytes;
	} table[] = {{1, 0, 0},        {2, 0, 0},     {2, 1, 1 << 20}, {2, 1, 2 << 20}, {2, 2, 65536},
		     {8, 0, 1u << 20}, {9, 0, 0},     {64, 0, 0},      {64, 1, 0},      {64, 0, 65536},
		     {4096, 0, 0},     {0, 0, 65536}, {256, 4, 0}};

	(void)state;
	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct rings_plan plan = rings_plan(table[i].cpus, table[i].wanted, table[i].bytes);
		unsigned most = plan.count == 1 ? table[i].cpus : 1u << plan.shift;
		double seconds = (double)rings_idle_ns(&plan) / 1e9;

		assert_int_equal(plan.cpus, most ? most : 1);
		assert_true(seconds >= 0.004 && seconds <= 0.250);
		/* The draining thread is woken at a quarter. A tiny ring cannot hold it. */
		if (0.010 * plan.cpus * 0.45e6 * 72 > plan.bytes - rings_wake_at(&plan))
			assert_true(seconds == 0.004 || seconds * plan.cpus * 0.45e6 * 72 < plan.bytes);
	}
	assert_int_equal(rings_idle_ns(&(struct rings_plan){.count = 1, .cpus = 2, .bytes = 16 << 20}),
			 250000000);
	assert_true(rings_idle_ns(&(struct rings_plan){.count = 1, .cpus = 64, .bytes = 16 << 20}) <
		    10000000);
}

/* --- a ring in our own memory, written as the kernel does --- */

enum { SIZE = 4096 };

struct fake {
	uint64_t consumer, producer;
	uint8_t data[2 * SIZE]; /* writes go to both halves, which are mapped to the same memory */
	struct ring ring;
};

static struct fake *fake_new(void)
{
	struct fake *fake = calloc(1, sizeof(*fake));

	assert_non_null(fake);
	fake->ring = (struct ring){.consumer = &fake->consumer,
				   .producer = &fake->producer,
				   .data = fake->data,
				   .mask = SIZE - 1};
	return fake;
}

static void set_head(struct fake *fake, uint64_t at, uint32_t head)
{
	memcpy(fake->data + at % SIZE, &head, 4);
	memcpy(fake->data + SIZE + at % SIZE, &head, 4);
}

/* Reserves a record. Returns the position of its header, or UINT64_MAX if the ring is full. */
static uint64_t reserve(struct fake *fake, uint32_t size, uint8_t fill, uint32_t flags)
{
	uint64_t at = fake->producer, total = (size + 8 + 7) / 8 * 8;

	if (at + total - fake->consumer > SIZE - 1)
		return UINT64_MAX;
	for (uint64_t i = 8; i < total; i++)
		fake->data[(at + i) % SIZE] = fake->data[SIZE + (at + i) % SIZE] = fill;
	set_head(fake, at, size | flags);
	fake->producer = at + total;
	return at;
}

static void test_records_come_whole_and_in_order(void **state)
{
	struct fake *fake = fake_new();
	unsigned put = 0, got = 0;

	(void)state;
	while (got < 5000) {
		struct ring_record next;
		uint64_t end;

		while (put < got + 40 && reserve(fake, 8 + put % 90, (uint8_t)put, 0) != UINT64_MAX)
			put++;
		end = ring_end(&fake->ring);
		while (ring_peek(&fake->ring, end, &next)) {
			const uint8_t *bytes = next.data;

			assert_int_equal(next.size, 8 + got % 90);
			for (uint32_t i = 0; i < next.size; i++)
				assert_int_equal(bytes[i], (uint8_t)got);
			ring_pass(&fake->ring, &next);
			got++;
		}
		assert_int_equal(got, put);
		ring_commit(&fake->ring);
		assert_int_equal(fake->consumer, fake->producer);
	}
	free(fake);
}

static void test_what_is_being_written_holds_up(void **state)
{
	struct fake *fake = fake_new();
	struct ring_record next;
	uint64_t busy;

	(void)state;
	reserve(fake, 16, 1, 0);
	reserve(fake, 16, 9, BPF_RINGBUF_DISCARD_BIT);
	busy = reserve(fake, 16, 2, BPF_RINGBUF_BUSY_BIT);
	reserve(fake, 24, 3, 0);
	assert_false(ring_is_complete(&fake->ring, ring_end(&fake->ring)));
	assert_true(ring_is_complete(&fake->ring, busy));
	assert_int_equal(fake->ring.complete, busy);
	assert_true(ring_peek(&fake->ring, ring_end(&fake->ring), &next));
	assert_int_equal(*(const uint8_t *)next.data, 1);
	ring_pass(&fake->ring, &next);
	assert_false(ring_peek(&fake->ring, ring_end(&fake->ring), &next));
	set_head(fake, busy, 16);
	assert_true(ring_is_complete(&fake->ring, ring_end(&fake->ring)));
	assert_true(ring_peek(&fake->ring, ring_end(&fake->ring), &next));
	assert_int_equal(*(const uint8_t *)next.data, 2);
	ring_pass(&fake->ring, &next);
	assert_true(ring_peek(&fake->ring, ring_end(&fake->ring), &next));
	assert_int_equal(next.size, 24);
	free(fake);
}

/* --- the merge, on lists --- */

enum { SOURCES = 3, SPACE = 16 };

struct lists {
	uint64_t times[SOURCES][SPACE]; /* 0 = a stack */
	unsigned n[SOURCES], at[SOURCES];
	uint64_t out[SOURCES * SPACE]; /* as AT() */
	unsigned nout;
	int fail;
};

static bool peek(void *ctx, unsigned source, uint64_t *time)
{
	struct lists *lists = ctx;

	if (lists->at[source] == lists->n[source])
		return false;
	*time = lists->times[source][lists->at[source]];
	return true;
}

static int take(void *ctx, unsigned source)
{
	struct lists *lists = ctx;

	lists->out[lists->nout++] = 1000000000ull * (source + 1) + lists->times[source][lists->at[source]++];
	return lists->fail;
}

static void put(struct lists *lists, unsigned source, uint64_t time)
{
	lists->times[source][lists->n[source]++] = time;
}

static void run(struct ring_merge *merge, struct lists *lists, uint64_t until)
{
	struct merge_input input = {.ctx = lists, .peek = peek, .take = take};

	for (unsigned i = 0; i < SOURCES; i++)
		merge_complete_at(merge, i, until + MERGE_GUARD_NS);
	assert_int_equal(merge_run(merge, &input), 0);
}

static void expect(const struct lists *lists, const uint64_t *want, unsigned n)
{
	assert_int_equal(lists->nout, n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(lists->out[i], want[i]);
}

#define EXPECT(lists, ...)                                                                                   \
	expect(&(lists), (const uint64_t[]){__VA_ARGS__},                                                    \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* A source (1 to 3) and a time, as one number. */
#define AT(source, time) (1000000000ull * (source) + (time))

static void test_records_leave_by_time(void **state)
{
	struct ring_merge merge;
	struct lists lists = {0};

	(void)state;
	merge_init(&merge, SOURCES, 0);
	put(&lists, 0, 10);
	put(&lists, 0, 40);
	put(&lists, 1, 20);
	put(&lists, 1, 50);
	put(&lists, 2, 30);
	run(&merge, &lists, 40);
	EXPECT(lists, AT(1, 10), AT(2, 20), AT(3, 30), AT(1, 40));
	run(&merge, &lists, 60);
	EXPECT(lists, AT(1, 10), AT(2, 20), AT(3, 30), AT(1, 40), AT(2, 50));
	assert_int_equal(merge.late, 0);
	assert_int_equal(merge.passed, 60);
}

/* A ring's own order is never changed, and a late record does not make its successors late. */
static void test_a_ring_keeps_its_order(void **state)
{
	struct ring_merge merge;
	struct lists lists = {0};

	(void)state;
	merge_init(&merge, SOURCES, 0);
	put(&lists, 0, 30);
	put(&lists, 0, 10); /* read the clock at 10, reserved after 30 */
	put(&lists, 0, 0);  /* a stack */
	put(&lists, 0, 35);
	put(&lists, 1, 20);
	put(&lists, 1, 33);
	run(&merge, &lists, 100);
	EXPECT(lists, AT(2, 20), AT(1, 30), AT(1, 10), AT(1, 0), AT(2, 33), AT(1, 35));
	assert_int_equal(merge.late, 0);
}

static void test_who_comes_late_leaves_at_once(void **state)
{
	struct ring_merge merge;
	struct lists lists = {0};

	(void)state;
	merge_init(&merge, SOURCES, 0);
	put(&lists, 0, 10);
	put(&lists, 1, 50);
	run(&merge, &lists, 50);
	put(&lists, 0, 20);
	put(&lists, 2, 60);
	run(&merge, &lists, 55);
	EXPECT(lists, AT(1, 10), AT(2, 50), AT(1, 20));
	assert_int_equal(merge.late, 1);
}

/* A ring that cannot be read to its end holds up records that may be later than its own. */
static void test_all_wait_for_the_one_that_is_held_up(void **state)
{
	struct ring_merge merge;
	struct lists lists = {0};
	struct merge_input input = {.ctx = &lists, .peek = peek, .take = take};

	(void)state;
	merge_init(&merge, SOURCES, 0);
	run(&merge, &lists, 100);
	put(&lists, 0, 90);
	put(&lists, 0, 110);
	merge_complete_at(&merge, 0, 500 + MERGE_GUARD_NS);
	merge_complete_at(&merge, 1, 500 + MERGE_GUARD_NS);
	assert_int_equal(merge_run(&merge, &input), 0);
	EXPECT(lists, AT(1, 90));
	assert_int_equal(merge.passed, 100);
	put(&lists, 2, 105);
	merge_complete_at(&merge, 2, 500 + MERGE_GUARD_NS);
	assert_int_equal(merge_run(&merge, &input), 0);
	EXPECT(lists, AT(1, 90), AT(3, 105), AT(1, 110));
	assert_int_equal(merge.passed, 500);
}

static void test_a_failure_ends_the_run(void **state)
{
	struct ring_merge merge;
	struct lists lists = {.fail = -28};
	struct merge_input input = {.ctx = &lists, .peek = peek, .take = take};

	(void)state;
	merge_init(&merge, 1, 500 + MERGE_GUARD_NS);
	put(&lists, 0, 90);
	put(&lists, 0, 110);
	assert_int_equal(merge_run(&merge, &input), -28);
	assert_int_equal(lists.nout, 1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_eight_cpus_share_a_ring),
	cmocka_unit_test(test_present_cpus_are_counted),
	cmocka_unit_test(test_an_idle_ring_is_looked_at_in_time),
	cmocka_unit_test(test_records_come_whole_and_in_order),
	cmocka_unit_test(test_what_is_being_written_holds_up),
	cmocka_unit_test(test_records_leave_by_time),
	cmocka_unit_test(test_a_ring_keeps_its_order),
	cmocka_unit_test(test_who_comes_late_leaves_at_once),
	cmocka_unit_test(test_all_wait_for_the_one_that_is_held_up),
	cmocka_unit_test(test_a_failure_ends_the_run),
};

UNIT_TESTS(tests, NULL, NULL);
