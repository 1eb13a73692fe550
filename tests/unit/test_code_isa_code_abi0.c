/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The analysis of function code of Go up to 1.16. */
#include <errno.h>

#include "unit.h"

#include "code/isa/code.h"

#define CODE(bytes_)                                                                                         \
	{                                                                                                    \
		.bytes = bytes_, .size = sizeof(bytes_), .address = 0x1000                                   \
	}

/* mov %fs:-8, %rcx; cmp 0x10(%rcx), %rsp */
#define GUARD 0x64, 0x48, 0x8b, 0x0c, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x3b, 0x61, 0x10

static void test_stack_check(void **state)
{
	static const uint8_t jbe[] = {GUARD, 0x76, 0x10, 0x48, 0x83, 0xec, 0x20};
	static const uint8_t ja[] = {GUARD, 0x77, 0x07, 0xe8, 0, 0, 0, 0};
	/* lea -0x80(%rsp), %rax; cmp 0x10(%rcx), %rax */
	static const uint8_t big[] = {0x64, 0x48, 0x8b, 0x0c, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x8d, 0x44,
				      0x24, 0x80, 0x48, 0x3b, 0x41, 0x10, 0x0f, 0x86, 0,    1,    0,    0};
	/* mov 0x10(%rcx), %rsi; cmp $-1314, %rsi; je; lea 0x3a0(%rsp), %rax; sub %rsi, %rax; cmp $0x3338,
	 * %rax */
	static const uint8_t huge[] = {0x64, 0x48, 0x8b, 0x0c, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48,
				       0x8b, 0x71, 0x10, 0x48, 0x81, 0xfe, 0xde, 0xfa, 0xff, 0xff,
				       0x0f, 0x84, 0x9f, 0x00, 0x00, 0x00, 0x48, 0x8d, 0x84, 0x24,
				       0xa0, 0x03, 0x00, 0x00, 0x48, 0x29, 0xf0, 0x48, 0x3d, 0x38,
				       0x33, 0x00, 0x00, 0x0f, 0x86, 0x88, 0x00, 0x00, 0x00};
	static const uint8_t none[] = {0x48, 0x83, 0xec, 0x20, 0x76, 0x10};
	struct code a = CODE(jbe), b = CODE(ja), c = CODE(big), d = CODE(none),
		    e = {.bytes = jbe, .size = 13}, f = CODE(huge);
	size_t at;

	(void)state;
	assert_int_equal(code_stack_check(&a, &at), 0);
	assert_int_equal(at, 13);
	assert_int_equal(code_stack_check(&b, &at), 0);
	assert_int_equal(at, 13);
	assert_int_equal(code_stack_check(&c, &at), 0);
	assert_int_equal(at, 18);
	assert_int_equal(code_stack_check(&d, &at), -ENOENT);
	assert_int_equal(code_stack_check(&e, &at), -ENOENT);
	assert_int_equal(code_stack_check(&f, &at), 0);
	assert_int_equal(at, 43);
}

static void test_calls(void **state)
{
	/* Both statuses in one store (from 1.7 on); in two (1.5); from elsewhere; after a jump. */
	static const uint8_t bytes[] = {
		0x48, 0xb9, 4,    0,    0, 0, 1, 0, 0,    0, /* movabs $0x100000004, %rcx */
		0x48, 0x89, 0x4c, 0x24, 8,                   /* mov %rcx, 8(%rsp) */
		0xe8, 0xec, 0x0f, 0,    0,                   /* call 0x2000 */
		0xc7, 0x44, 0x24, 8,    3, 0, 0, 0,          /* movl $3, 8(%rsp) */
		0xc7, 0x44, 0x24, 12,   1, 0, 0, 0,          /* movl $1, 12(%rsp) */
		0xe8, 0xd7, 0x0f, 0,    0,                   /* call 0x2000 */
		0x48, 0x89, 0x4c, 0x24, 8,                   /* mov %rcx, 8(%rsp) */
		0xe8, 0xcd, 0x0f, 0,    0,                   /* call 0x2000 */
		0xc7, 0x44, 0x24, 8,    3, 0, 0, 0, 0x74, 0, /* je */
		0xe8, 0xbe, 0x0f, 0,    0,                   /* call 0x2000 */
	};
	struct code code = CODE(bytes);
	struct call_site calls[4];

	(void)state;
	assert_int_equal(code_stack_calls(&code, 0x2000, calls, 4), 4);
	assert_int_equal(calls[0].offset, 15);
	assert_int_equal(calls[0].args[1], 4);
	assert_int_equal(calls[0].args[2], 1);
	assert_int_equal(calls[1].args[1], 3);
	assert_int_equal(calls[1].args[2], 1);
	assert_int_equal(calls[2].args[1], CONSTANT_UNKNOWN);
	assert_int_equal(calls[2].args[2], CONSTANT_UNKNOWN);
	assert_int_equal(calls[3].args[1], CONSTANT_UNKNOWN);
	assert_int_equal(code_stack_calls(&code, 0x3000, calls, 4), 0);
}

static void test_tellings(void **state)
{
	static const uint8_t bytes[] = {
		0x74, 0x05,                      /* 0: je 7: around the next */
		0xe8, 0xf9, 0x0f, 0,    0,       /* 2: call 0x2000 */
		0x75, 0x04,                      /* 7: jne 13 */
		0xc3,                            /* 9: ret */
		0x90, 0x0f, 0x0b,                /* 10: nop; ud2 */
		0xc6, 0x04, 0x24, 0x2c,          /* 13: movb $44, (%rsp) */
		0xe8, 0xea, 0x1f, 0,    0,       /* 17: call 0x3000 */
		0xc6, 0x04, 0x24, 0x2b,          /* 22: movb $43, (%rsp) */
		0xe8, 0xe1, 0x1f, 0,    0, 0xc3, /* 26: call 0x3000 */
	};
	struct code code = CODE(bytes);
	const struct trace_callee own = {.own = 0x2000, .any = 0x3000, .event = 1};
	const struct trace_callee done = {.any = 0x3000, .event = 44}, none = {.any = 0x3000, .event = 1};
	size_t offsets[4], call;

	(void)state;
	assert_int_equal(code_trace_guards(&code, &own, offsets, 4), 1);
	assert_int_equal(offsets[0], 0);
	assert_int_equal(code_trace_guards(&code, &done, offsets, 4), 1);
	assert_int_equal(offsets[0], 7);
	assert_int_equal(code_trace_call(&code, &done, &call), 0);
	assert_int_equal(call, 17);
	assert_int_equal(code_trace_guards(&code, &none, offsets, 4), 0);
	assert_int_equal(code_trace_call(&code, &none, &call), -ENOENT);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_stack_check),
	cmocka_unit_test(test_calls),
	cmocka_unit_test(test_tellings),
};

UNIT_TESTS(tests, NULL, NULL);
