/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Goroutines from bytes, and walks over stacks that are intact, damaged, deep or circular. */

#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "target/layout.h"
#include "target/stack.h"
#include "target/target.h"

#define BASE 0xc000100000ull

static uint64_t words[512];

static struct g_view stopped(void)
{
	return (struct g_view){
		.status = G_STATUS_WAITING,
		.stack_lo = BASE,
		.stack_hi = BASE + sizeof(words),
		.sp = BASE,
		.pc = 0x401000,
		.bp = BASE + 16,
	};
}

static const struct stack_memory memory = {
	.address = BASE,
	.bytes = (const uint8_t *)words,
	.size = sizeof(words),
};

/* A frame at word i: the saved frame pointer (word `next`, 0 = none) and a return address. */
static void frame(unsigned i, unsigned next, uint64_t pc)
{
	words[i] = next ? BASE + 8ull * next : 0;
	words[i + 1] = pc;
}

static void whole(void **state)
{
	struct g_view view = stopped();
	uint64_t pcs[STACK_DEPTH];
	uint16_t flags;

	(void)state;
	memset(words, 0, sizeof(words));
	frame(2, 6, 0x402000);
	frame(6, 0, 0x403000);
	assert_int_equal(stack_walk(&view, &memory, pcs, &flags), 3);
	assert_int_equal(flags, 0);
	assert_int_equal(pcs[0], 0x401000);
	assert_int_equal(pcs[1], 0x402000);
	assert_int_equal(pcs[2], 0x403000);
	/* Stopped in morestack: the caller's PC is at the stack pointer. */
	view.sync_safe_point = true;
	words[0] = 0x401800;
	assert_int_equal(stack_walk(&view, &memory, pcs, &flags), 4);
	assert_int_equal(pcs[1], 0x401800);
}

static void damaged(void **state)
{
	static const uint64_t bad[] = {
		1,          BASE + 17,     BASE - 8, BASE + sizeof(words) - 8, BASE + sizeof(words),
		UINT64_MAX, UINT64_MAX - 7};
	uint64_t pcs[STACK_DEPTH];
	uint16_t flags;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct g_view view = stopped();

		memset(words, 0, sizeof(words));
		frame(2, 6, 0x402000);
		words[6] = bad[i];
		words[7] = 0x403000;
		assert_in_range(stack_walk(&view, &memory, pcs, &flags), 2, 3);
		assert_int_equal(flags, RAW_STACK_BROKEN);
		view.bp = bad[i];
		assert_int_equal(stack_walk(&view, &memory, pcs, &flags), 1);
		assert_int_equal(flags, RAW_STACK_BROKEN);
	}
}

static void circular(void **state)
{
	struct g_view view = stopped();
	uint64_t pcs[STACK_DEPTH];
	uint16_t flags;

	(void)state;
	memset(words, 0, sizeof(words));
	frame(2, 6, 0x402000);
	frame(6, 2, 0x403000);
	assert_int_equal(stack_walk(&view, &memory, pcs, &flags), 2);
	assert_int_equal(flags, RAW_STACK_BROKEN);
}

static void deep(void **state)
{
	struct g_view view = stopped();
	uint64_t pcs[STACK_DEPTH];
	uint16_t flags;

	(void)state;
	for (unsigned i = 2; i < 500; i += 2)
		frame(i, i + 2, 0x402000 + i);
	assert_int_equal(stack_walk(&view, &memory, pcs, &flags), STACK_DEPTH);
	assert_int_equal(flags, RAW_STACK_CUT);
}

static void put(uint8_t *bytes, uint32_t offset, uint64_t value)
{
	memcpy(bytes + offset, &value, sizeof(value));
}

static void goroutines(void **state)
{
	(void)state;
	for (unsigned minor = release_first(); minor <= release_last(); minor++) {
		const struct go_layout *layout = &release_find(minor)->layout.go;
		uint8_t bytes[1024] = {0};
		struct g_view view;

		assert_in_range(g_view_size(layout), 128, sizeof(bytes));
		put(bytes, layout->g_stack_lo, BASE);
		put(bytes, layout->g_stack_hi, BASE + 2048);
		put(bytes, layout->g_sched_sp, BASE + 1024);
		put(bytes, layout->g_sched_pc, 0x401000);
		put(bytes, layout->g_status, G_STATUS_SCAN | G_STATUS_WAITING);
		g_view_read(layout, bytes, &view);
		assert_int_equal(view.status, G_STATUS_WAITING);
		assert_int_equal(view.pc, 0x401000);
		assert_true(g_view_has_stack(&view));
		/* While its stack is scanned, up to 1.7. */
		put(bytes, layout->g_status, G_STATUS_SCAN | G_STATUS_ENQUEUE);
		g_view_read(layout, bytes, &view);
		assert_int_equal(view.status, G_STATUS_WAITING);
		put(bytes, layout->g_status, G_STATUS_WAITING);
		/* It waits but has its M: it has stopped the world. */
		put(bytes, layout->g_m, BASE + 4096);
		g_view_read(layout, bytes, &view);
		assert_false(g_view_has_stack(&view));
		/* In a system call, other fields are used. */
		put(bytes, layout->g_status, G_STATUS_SYSCALL);
		put(bytes, layout->g_syscallsp, BASE + 512);
		put(bytes, layout->g_syscallpc, 0x402000);
		g_view_read(layout, bytes, &view);
		assert_int_equal(view.pc, 0x402000);
		assert_int_equal(view.sp, BASE + 512);
		assert_true(g_view_has_stack(&view));
	}
}

/* Up to 1.10 the reason is a string. Fields that a release does not have are not read. */
static void older(void **state)
{
	const struct go_layout *layout = &release_find(4)->layout.go;
	uint8_t *bytes = malloc(g_view_size(layout));
	struct g_view view;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 0xff, g_view_size(layout));
	put(bytes, layout->g_waitreason, 0x6bd1d0);
	put(bytes, layout->g_waitreason + 8, 6);
	put(bytes, layout->g_syscallsp, 0);
	g_view_read(layout, bytes, &view);
	assert_int_equal(view.wait_text, 0x6bd1d0);
	assert_int_equal(view.wait_len, 6);
	assert_int_equal(view.bp, 0);
	assert_false(view.assists);
	assert_false(view.sync_safe_point);
	free(bytes);
}

static void hashes(void **state)
{
	const uint64_t one[] = {1, 2, 3}, other[] = {3, 2, 1};

	(void)state;
	assert_true(target_stack_hash(NULL, 0, 0) != 0);
	assert_true(target_stack_hash(one, 3, 0) == target_stack_hash(one, 3, 0));
	assert_true(target_stack_hash(one, 3, 0) != target_stack_hash(one, 3, 1));
	assert_true(target_stack_hash(one, 3, 0) != target_stack_hash(one, 2, 0));
	assert_true(target_stack_hash(one, 3, 0) != target_stack_hash(other, 3, 0));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(older),    cmocka_unit_test(whole), cmocka_unit_test(damaged),
	cmocka_unit_test(circular), cmocka_unit_test(deep),  cmocka_unit_test(goroutines),
	cmocka_unit_test(hashes),
};

UNIT_TESTS(tests, NULL, NULL);
