/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Jumps after calls, in code that Go 1.26.8 generates for net/http. */
#include <errno.h>

#include "unit.h"

#include "code/isa/jumps.h"

#define AT 0x644640ull

/* (*ServeMux).ServeHTTP: call findHandler; mov; mov; cmpl $0, writeBarrier; je */
static const uint8_t route[] = {0xe8, 0xdb, 0xee, 0xff, 0xff, 0x48, 0x8b, 0x54, 0x24,
				0x68, 0x48, 0x89, 0xba, 0xf0, 0x00, 0x00, 0x00, 0x83,
				0x3d, 0xa8, 0xdf, 0x3f, 0x00, 0x00, 0x74, 0x34, 0xc3};

static struct code code_of(const uint8_t *bytes, size_t size)
{
	return (struct code){.bytes = bytes, .size = size, .address = AT};
}

/* Finds the probe point for a string returned after an interface, as by findHandler. */
static int jump_after(const struct code *code, uint64_t callee, size_t *offset)
{
	const struct call_results results = {.callee = callee, .words = 0xf};

	return code_jump_after_call(code, &results, offset);
}

static void test_after_call(void **state)
{
	struct code code = code_of(route, sizeof(route));
	size_t offset = 0;

	(void)state;
	assert_int_equal(jump_after(&code, 0x643520, &offset), 0);
	assert_int_equal(offset, 24);
	assert_int_not_equal(jump_after(&code, 0x643521, &offset), 0);
	code.size = 5;
	assert_int_not_equal(jump_after(&code, 0x643520, &offset), 0);
}

/* (*Transport).RoundTrip: call roundTrip; add $0x10, %rsp; pop %rbp; ret; and another function's je */
static void test_after_last_call(void **state)
{
	static const uint8_t returns[] = {0xe8, 0x68, 0x15, 0xff, 0xff, 0x48, 0x83,
					  0xc4, 0x10, 0x5d, 0xc3, 0x74, 0x34, 0xc3};
	struct code code = code_of(returns, sizeof(returns));
	size_t offset = 0;

	(void)state;
	assert_int_equal(jump_after(&code, AT + 5 - 0xea98, &offset), 0);
	assert_int_equal(offset, 5);
}

/* (*Engine).handleHTTPRequest of gin 1.10: call getValue; results to memory; mov %rdx; movups; test; je; call
 * again */
static const uint8_t saved[] = {0xe8, 0xa5, 0x4d, 0x00, 0x00, 0x48, 0x89, 0x84, 0x24, 0x90, 0x01, 0x00,
				0x00, 0x4c, 0x89, 0x84, 0x24, 0xb8, 0x01, 0x00, 0x00, 0x48, 0x8b, 0x94,
				0x24, 0x90, 0x01, 0x00, 0x00, 0x0f, 0x10, 0x84, 0x24, 0x98, 0x01, 0x00,
				0x00, 0x48, 0x85, 0xd2, 0x74, 0x05, 0xe8, 0x7b, 0x4d, 0x00, 0x00, 0xc3};

static void test_first_call(void **state)
{
	struct call_results results = {.callee = AT + 5 + 0x4da5, .words = 1 | 3 << 5};
	struct code code = code_of(saved, sizeof(saved));
	size_t offset = 0;

	(void)state;
	assert_int_equal(code_jump_after_call(&code, &results, &offset), -ENOENT); /* which of the two? */
	results.first = true;
	assert_int_equal(code_jump_after_call(&code, &results, &offset), 0);
	assert_int_equal(offset, 40);
}

/* A result that is overwritten before the jump is read immediately after the call. */
static void test_overwritten(void **state)
{
	struct call_results results = {.callee = AT + 5 - 0x1125, .words = 1 << 3};
	struct code code = code_of(route, sizeof(route));
	uint8_t changed[sizeof(route)];
	size_t offset = 0;

	(void)state;
	assert_int_equal(code_jump_after_call(&code, &results, &offset), 0);
	assert_int_equal(offset, 24);
	for (size_t i = 0; i < sizeof(route); i++)
		changed[i] = route[i];
	changed[7] = 0x7c; /* mov 0x68(%rsp), %rdi */
	code = code_of(changed, sizeof(changed));
	assert_int_equal(code_jump_after_call(&code, &results, &offset), 0);
	assert_int_equal(offset, 5);
	results.words = 1 << 2;
	assert_int_equal(code_jump_after_call(&code, &results, &offset), 0);
	assert_int_equal(offset, 24);
}

/* --- arm64 --- */

/* From _process: bl withConn; cbz x0 */
static const uint32_t behind[] = {0x97fffd3d, 0xb4000140, 0xd65f03c0};
/* (*ServeMux).ServeHTTP: bl findHandler; ldr x8; str x3, [x8]; adrp x27; ldr w3; cbz w3. Go 1.22: bl; str x3,
 * [sp]; adrp x27; ldr w4; cbz w4 */
static const uint32_t late[] = {0x97fffc56, 0xf9403be8, 0xf9007903, 0x90008c5b, 0xb9458363, 0x340000e3};
static const uint32_t soon[] = {0x97fffc56, 0xf9003be3, 0xb000547b, 0xb9458364, 0x340000e4};

#define ARM64_CODE(words)                                                                                    \
	(struct code)                                                                                        \
	{                                                                                                    \
		.bytes = (const uint8_t *)(words), .size = sizeof(words), .address = AT, .arm64 = true       \
	}

static uint64_t called(uint32_t bl)
{
	return AT + (uint64_t)((int64_t)((uint64_t)bl << 38) >> 36);
}

static void test_after_call_arm64(void **state)
{
	struct code code = ARM64_CODE(behind);
	size_t offset = 0;

	(void)state;
	assert_int_equal(jump_after(&code, called(behind[0]), &offset), 0);
	assert_int_equal(offset, 4);
	assert_int_not_equal(jump_after(&code, called(behind[0]) + 4, &offset), 0);
	code.size = 4;
	assert_int_not_equal(jump_after(&code, called(behind[0]), &offset), 0);
	code = ARM64_CODE(soon);
	assert_int_equal(jump_after(&code, called(soon[0]), &offset), 0);
	assert_int_equal(offset, 16);
	code = ARM64_CODE(late); /* w3 has changed */
	assert_int_equal(jump_after(&code, called(late[0]), &offset), 0);
	assert_int_equal(offset, 4);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_after_call),       cmocka_unit_test(test_after_last_call),
	cmocka_unit_test(test_first_call),       cmocka_unit_test(test_overwritten),
	cmocka_unit_test(test_after_call_arm64),
};

UNIT_TESTS(tests, NULL, NULL);
