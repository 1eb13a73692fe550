/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Accesses to fields, in code of Go's compiler and assembler. */

#include "unit.h"

#include <errno.h>

#include "code/isa/field_access.h"

struct expected {
	size_t offset;
	int32_t displacement;
	uint8_t use, size, words;
};

static void want(const uint8_t *bytes, size_t size, bool arm64, const struct expected *list, size_t n)
{
	struct code code = {.bytes = bytes, .size = size, .address = 0x400000, .arm64 = arm64};
	struct field_access access;
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(code_next_field(&code, &at, &access), 1);
		assert_int_equal(access.offset, list[i].offset);
		assert_int_equal(access.displacement, list[i].displacement);
		assert_int_equal(access.use, list[i].use);
		assert_int_equal(access.size, list[i].size);
		assert_int_equal(access.words, list[i].words);
	}
	assert_int_equal(code_next_field(&code, &at, &access), 0);
}

#define WANT(code, arm64, list) want(code, sizeof(code), arm64, list, sizeof(list) / sizeof((list)[0]))

static void test_x86(void **state)
{
	static const uint8_t code[] = {
		0x4c, 0x8b, 0xb2, 0x98, 0x00, 0x00, 0x00, /* 0: mov 0x98(%rdx), %r14 */
		0x49, 0x89, 0x44, 0x24, 0x38,             /* 7: mov %rax, 0x38(%r12) */
		0x48, 0x89, 0x44, 0x24, 0x20,             /* 12: mov %rax, 0x20(%rsp): not a field */
		0xc6, 0x80, 0xb0, 0x00, 0x00, 0x00, 0x05, /* 17: movb $5, 0xb0(%rax) */
		0x66, 0x89, 0x48, 0x02,                   /* 24: mov %cx, 2(%rax) */
		0xf0, 0x44, 0x0f, 0xb1, 0x8a, 0x90, 0x00, 0x00, 0x00, /* 28: lock cmpxchg %r9d, 0x90(%rdx) */
		0x0f, 0xb6, 0x51, 0x04,                               /* 37: movzbl 4(%rcx), %edx */
		0x44, 0x0f, 0x11, 0x7b, 0x40,                         /* 41: movups %xmm15, 0x40(%rbx) */
		0x48, 0x8d, 0x46, 0x68,                               /* 46: lea 0x68(%rsi), %rax */
		0x48, 0x05, 0x90, 0x00, 0x00, 0x00,                   /* 50: add $0x90, %rax */
		0x48, 0x83, 0xc4, 0x18,                               /* 56: add $0x18, %rsp: not a field */
		0x83, 0x79, 0x04, 0x01,                               /* 60: cmpl $1, 4(%rcx) */
		0x48, 0x8b, 0x04, 0xca,                   /* 64: mov (%rdx,%rcx,8), %rax: an array */
		0x48, 0x8b, 0x05, 0x10, 0x00, 0x00, 0x00, /* 68: mov 0x10(%rip), %rax: a variable */
		0x64, 0x48, 0x8b, 0x00,                   /* 75: mov %fs:(%rax), %rax */
		0xc3,
	};
	static const struct expected list[] = {
		{0, 0x98, USE_LOAD, 8, 1},
		{7, 0x38, USE_STORE, 8, 1},
		{17, 0xb0, USE_STORE, 1, 1},
		{24, 2, USE_STORE, 2, 1},
		{28, 0x90, USE_LOAD | USE_STORE, 4, 1},
		{37, 4, USE_LOAD, 1, 1},
		{41, 0x40, USE_STORE, 8, 2},
		{46, 0x68, USE_ADDRESS, 0, 1},
		{50, 0x90, USE_ADDRESS, 0, 1},
		{60, 4, USE_LOAD, 4, 1},
	};

	(void)state;
	WANT(code, false, list);
}

static void test_arm64(void **state)
{
	static const uint8_t code[] = {
		0x81, 0x1b, 0x40, 0xf9, /* 0: ldr x1, [x28, #0x30] */
		0x60, 0x4c, 0x00, 0xf9, /* 4: str x0, [x3, #0x98] */
		0xe0, 0x0b, 0x00, 0xf9, /* 8: str x0, [sp, #16]: not a field */
		0x05, 0xc0, 0x02, 0x39, /* 12: strb w5, [x0, #0xb0] */
		0x41, 0x40, 0x02, 0x91, /* 16: add x1, x2, #0x90 */
		0x7f, 0x7c, 0x04, 0xa9, /* 20: stp xzr, xzr, [x3, #0x40] */
		0x7b, 0x40, 0x40, 0x91, /* 24: add x27, x3, #0x10, lsl #12 */
		0x61, 0xa7, 0x40, 0xf9, /* 28: ldr x1, [x27, #0x148] */
		0xc0, 0x03, 0x5f, 0xd6, /* 32: ret */
	};
	static const struct expected list[] = {
		{0, 0x30, USE_LOAD, 8, 1},     {4, 0x98, USE_STORE, 8, 1},  {12, 0xb0, USE_STORE, 1, 1},
		{16, 0x90, USE_ADDRESS, 0, 1}, {20, 0x40, USE_STORE, 8, 2}, {24, 0x10000, USE_ADDRESS, 0, 1},
		{28, 0x10148, USE_LOAD, 8, 1},
	};

	(void)state;
	WANT(code, true, list);
}

static void test_unknown_instruction(void **state)
{
	static const uint8_t bytes[] = {0x48, 0x8b, 0x48, 0x08, 0x06};
	struct code code = {.bytes = bytes, .size = sizeof(bytes), .address = 0x400000};
	struct field_access access;
	size_t at = 0;

	(void)state;
	assert_int_equal(code_next_field(&code, &at, &access), 1);
	assert_int_equal(code_next_field(&code, &at, &access), -EBADMSG);
}

static void test_matches(void **state)
{
	const struct field_access pair = {.displacement = 0x40, .use = USE_STORE, .size = 8, .words = 2};
	const struct field_access address = {.displacement = 0x90, .use = USE_ADDRESS, .words = 1};

	(void)state;
	assert_true(field_access_is(&pair, 0x40, 8, USE_STORE));
	assert_true(field_access_is(&pair, 0x48, 8, USE_STORE));
	assert_false(field_access_is(&pair, 0x50, 8, USE_STORE));
	assert_false(field_access_is(&pair, 0x38, 8, USE_STORE));
	assert_false(field_access_is(&pair, 0x40, 4, USE_STORE));
	assert_false(field_access_is(&pair, 0x40, 8, USE_LOAD));
	assert_true(field_access_is(&address, 0x90, 4, USE_STORE | USE_ADDRESS));
	assert_false(field_access_is(&address, 0x90, 4, USE_STORE));
	assert_false(field_access_is(&address, 0x98, 4, USE_STORE | USE_ADDRESS));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_x86),
	cmocka_unit_test(test_arm64),
	cmocka_unit_test(test_unknown_instruction),
	cmocka_unit_test(test_matches),
};

UNIT_TESTS(tests, NULL, NULL);
