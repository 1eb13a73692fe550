/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A stack whose walk did not reach its start says so, and where it started. */
#include <string.h>

#include "unit.h"

#include "model/stack_table.h"
#include "trace/wire/frames.h"

enum { CUT = 7, NAME = 8, LEAF = 9, HASH = 1234, STARTPC = 0x5000 };

static struct frame frames[MAX_FRAMES];

static int frames_made(const struct stack *stack)
{
	static const struct frame_names none;

	memset(frames, 0, sizeof(frames));
	return frames_of(&none, stack, 0, frames);
}

static void test_thread(void **state)
{
	static const uint64_t pcs[] = {100, 200};
	struct stack stack = {.pcs = pcs, .n = 2, .root = NAME, .leaf = LEAF};

	(void)state;
	assert_int_equal(frames_made(&stack), 3);
	assert_int_equal(frames[2].func, NAME);
	assert_int_equal(frames[2].pc & 0xffff, 200);
	stack.cut = CUT;
	assert_int_equal(frames_made(&stack), 5);
	assert_int_equal(frames[0].func, LEAF);
	assert_int_equal(frames[2].pc, 200);
	assert_int_equal(frames[3].func, CUT);
	assert_int_equal(frames[4].func, NAME);
	stack.root = 0;
	assert_int_equal(frames_made(&stack), 4);
	assert_int_equal(frames[3].func, CUT);
}

/* As many frames as a format can hold: the last two are replaced. */
static void test_deep_thread(void **state)
{
	uint64_t pcs[MAX_FRAMES];
	const struct stack stack = {.pcs = pcs, .n = MAX_FRAMES, .root = NAME, .cut = CUT};

	(void)state;
	for (uint64_t i = 0; i < MAX_FRAMES; i++)
		pcs[i] = 100 + i;
	assert_int_equal(frames_made(&stack), MAX_FRAMES);
	assert_int_equal(frames[MAX_FRAMES - 3].pc, 100 + MAX_FRAMES - 3);
	assert_int_equal(frames[MAX_FRAMES - 2].func, CUT);
	assert_int_equal(frames[MAX_FRAMES - 1].func, NAME);
}

static uint32_t raw_stack_add(struct stack_table *table, uint64_t hash, uint32_t n, uint32_t flags)
{
	static uint64_t buffer[STACK_DEPTH + sizeof(struct raw_stack)];
	struct raw_stack *raw = (struct raw_stack *)buffer;

	*raw = (struct raw_stack){.hash = hash, .n = (uint16_t)n, .flags = (uint8_t)flags};
	for (uint32_t i = 0; i < n; i++)
		raw->pcs[i] = 100 + i;
	return stack_table_add(table, raw, CUT);
}

/* A goroutine deep in its calls is named by the function that it began with. */
static void test_goroutine(void **state)
{
	struct stack_table table = {0};
	uint32_t whole, deep, rooted, broken, native, none;

	(void)state;
	assert_true(stack_table_init(&table));
	whole = raw_stack_add(&table, HASH, 3, 0);
	deep = raw_stack_add(&table, HASH + 1, 130, RAW_STACK_CUT);
	assert_int_equal(stack_table_rooted(&table, whole, STARTPC, CUT), whole);
	assert_int_equal(stack_table_rooted(&table, deep, 0, CUT), deep);
	rooted = stack_table_rooted(&table, deep, STARTPC, CUT);
	assert_int_not_equal(rooted, deep);
	assert_int_equal(stack_table_rooted(&table, deep, STARTPC, CUT), rooted);
	assert_int_not_equal(stack_table_rooted(&table, deep, STARTPC + 1, CUT), rooted);
	assert_int_equal(stack_table_rooted(&table, rooted, STARTPC, CUT), rooted);
	assert_int_equal(frames_made(&table.stacks[deep]), MAX_FRAMES);
	assert_int_equal(frames[MAX_FRAMES - 1].func, CUT);
	assert_int_equal(frames_made(&table.stacks[rooted]), 66);
	assert_int_equal(frames[63].pc, 163);
	assert_int_equal(frames[64].func, CUT);
	assert_int_equal(frames[65].pc, STARTPC + 1);
	/* Its stack was read while it went on: the second frame was gone. */
	broken = raw_stack_add(&table, HASH + 2, 1, RAW_STACK_BROKEN);
	broken = stack_table_rooted(&table, broken, STARTPC, CUT);
	assert_int_equal(frames_made(&table.stacks[broken]), 3);
	assert_int_equal(frames[1].func, CUT);
	assert_int_equal(frames[2].pc, STARTPC + 1);
	/* Start code in C has no frame: the walk may have broken in it. */
	native = raw_stack_add(&table, HASH + 3, 2, RAW_STACK_NATIVE | RAW_STACK_BROKEN);
	assert_int_equal(stack_table_rooted(&table, native, STARTPC, CUT), native);
	/* It runs, and has not stopped since the trace began. */
	none = stack_table_rooted(&table, 0, STARTPC, CUT);
	assert_int_equal(frames_made(&table.stacks[none]), 2);
	assert_int_equal(frames[0].func, CUT);
	assert_int_equal(frames[1].pc, STARTPC + 1);
	stack_table_free(&table);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_thread),
	cmocka_unit_test(test_deep_thread),
	cmocka_unit_test(test_goroutine),
};

UNIT_TESTS(tests, NULL, NULL);
