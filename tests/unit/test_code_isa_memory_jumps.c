/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Atomic instructions with the jumps behind them, and the origin of a call's argument: code as Go's compiler
 * makes. */

#include "unit.h"

#include <errno.h>
#include <string.h>

#include "code/isa/call_argument.h"
#include "code/isa/memory_jumps.h"

#define AT 0x400000ull

static struct code code_of(const uint8_t *bytes, size_t size)
{
	return (struct code){.bytes = bytes, .size = size, .address = AT};
}

/* The copy of casgstatus(gp, 4, 1) in injectglist (Go 1.26.8, all of its calls hot). */
static const uint8_t copy[] = {
	0xeb, 0x00,                                           /* jmp: the loop begins */
	0xb8, 0x04, 0x00, 0x00, 0x00,                         /* mov $4, %eax */
	0x41, 0xb9, 0x01, 0x00, 0x00, 0x00,                   /* mov $1, %r9d */
	0xf0, 0x44, 0x0f, 0xb1, 0x8a, 0x90, 0x00, 0x00, 0x00, /* lock cmpxchg %r9d, 0x90(%rdx) */
	0x41, 0x0f, 0x94, 0xc2,                               /* sete %r10b */
	0x66, 0x90,                                           /* nop: padding may be anywhere */
	0x45, 0x84, 0xd2,                                     /* test %r10b, %r10b */
	0x0f, 0x85, 0x00, 0x00, 0x00, 0x00,                   /* jne */
	0xc3,
};

static void test_exchange_with_its_jump(void **state)
{
	struct code code = code_of(copy, sizeof(copy));
	struct exchange found[2];

	(void)state;
	assert_int_equal(code_exchanges(&code, 0x90, found, 2), 1);
	assert_int_equal(found[0].offset, 13);
	assert_int_equal(found[0].jump, 31);
	assert_int_equal(found[0].base, 2);
	assert_int_equal(found[0].old, 4);
	assert_int_equal(found[0].new, 1);
	assert_int_equal(code_exchanges(&code, 0x94, found, 2), 0);
	code.arm64 = true;
	assert_int_equal(code_exchanges(&code, 0x90, found, 2), -ENOTSUP);
}

/* Changes one byte: whatever does not look like a test of the outcome has no jump. */
static void test_other_code_has_no_jump(void **state)
{
	static const struct {
		size_t at;
		uint8_t byte;
	} changes[] = {
		{24, 0x95},                    /* setne */
		{25, 0xc1},                    /* sete %r9b: another register than the one tested */
		{25, 0xc3 | 0x40}, {30, 0xd3}, /* test %r11b, %r10b */
		{31, 0x90},                    /* no jump */
	};
	struct exchange found[1];

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		uint8_t bytes[sizeof(copy)];
		struct code code = code_of(bytes, sizeof(bytes));

		memcpy(bytes, copy, sizeof(bytes));
		bytes[changes[i].at] = changes[i].byte;
		assert_int_equal(code_exchanges(&code, 0x90, found, 1), 1);
		assert_int_equal(found[0].jump, 0);
	}
}

/* casgstatus(gp, 0, ...): the compiler makes a zero by xor. */
static void test_old_status_zero(void **state)
{
	static const uint8_t bytes[] = {
		0x31, 0xc0,                                           /* xor %eax, %eax */
		0x41, 0xb9, 0x06, 0x00, 0x00, 0x00,                   /* mov $6, %r9d */
		0xf0, 0x44, 0x0f, 0xb1, 0x8a, 0x90, 0x00, 0x00, 0x00, /* lock cmpxchg %r9d, 0x90(%rdx) */
	};
	struct code code = code_of(bytes, sizeof(bytes));
	struct exchange found[1];

	(void)state;
	assert_int_equal(code_exchanges(&code, 0x90, found, 1), 1);
	assert_int_equal(found[0].old, 0);
	assert_int_equal(found[0].new, 6);
	assert_int_equal(found[0].jump, 0);
}

static void test_addition(void **state)
{
	static const uint8_t bytes[] = {
		0x48, 0x8d, 0x15, 0,    0,    0, 0, /* lea heapLive, %rdx */
		0xf0, 0x48, 0x0f, 0xc1, 0x02,       /* lock xadd %rax, (%rdx) */
		0x48, 0x85, 0xdb,                   /* test %rbx, %rbx */
		0x74, 0x00,                         /* je */
		0xf0, 0x48, 0x0f, 0xc1, 0x02,       /* lock xadd %rax, (%rdx) */
		0xc3, 0x74, 0x00,                   /* ret: the jump behind it is not the next one */
	};
	struct code code = code_of(bytes, sizeof(bytes));
	struct atomic_add found[2];

	(void)state;
	assert_int_equal(code_atomic_adds(&code, found, 2), 2);
	assert_int_equal(found[0].offset, 7);
	assert_int_equal(found[0].jump, 15);
	assert_int_equal(found[1].jump, 0);
}

static void test_comparisons(void **state)
{
	static const uint8_t bytes[] = {
		0x83, 0x7a, 0x04, 0x00, 0x75, 0x00,             /* cmpl $0, 4(%rdx); jne */
		0x8b, 0x41, 0x04, 0x83, 0xf8, 0x01, 0x75, 0x00, /* mov 4(%rcx), %eax; cmp $1, %eax; jne */
		0x8b, 0x41, 0x08, 0x83, 0xf8, 0x01, 0x75, 0x00, /* another displacement */
		0x83, 0x7a, 0x04, 0x00, 0x90, 0x50, 0x75, 0x00, /* the flags are not tested at once */
	};
	struct code code = code_of(bytes, sizeof(bytes));
	struct comparison found[4];

	(void)state;
	assert_int_equal(code_comparisons(&code, 4, found, 4), 2);
	assert_int_equal(found[0].jump, 4);
	assert_int_equal(found[0].base, 2);
	assert_int_equal(found[1].jump, 12);
	assert_int_equal(found[1].base, 1);
}

/*
 * From the check of procresize's copy (Go 1.22.12) to traceLocker.Gomaxprocs: the argument is spilled before
 * the check, and reloaded behind traceAcquireEnabled.
 */
static void test_argument_from_a_slot(void **state)
{
	static const uint8_t bytes[] = {
		0x75, 0x06,                                     /* 00 jne 08 */
		0x31, 0xdb, 0x31, 0xc0,                         /* 02 xor %ebx, %ebx; xor %eax, %eax */
		0xeb, 0x09,                                     /* 06 jmp 11 */
		0xe8, 0x00, 0x01, 0x00, 0x00,                   /* 08 call traceAcquireEnabled */
		0x8b, 0x4c, 0x24, 0x48,                         /* 0d mov 0x48(%rsp), %ecx */
		0x48, 0x85, 0xdb,                               /* 11 test %rbx, %rbx */
		0x74, 0x0d,                                     /* 14 je 23 */
		0x48, 0x89, 0x84, 0x24, 0xe0, 0x00, 0x00, 0x00, /* 16 mov %rax, 0xe0(%rsp) */
		0xe8, 0xdd, 0x01, 0x00, 0x00,                   /* 1e call +0x200 */
		0xc3,                                           /* 23 */
	};
	struct code code = code_of(bytes, sizeof(bytes));
	struct value_origin origin;

	(void)state;
	/* Along the path on which the flag is not set, the register keeps its value. */
	assert_int_equal(code_call_argument(&code, 0, AT + 0x200, 1, &origin), 0);
	assert_int_equal(origin.kind, ORIGIN_REGISTER);
	assert_int_equal(origin.number, 1);
	/* From the call on, only the slot has it. */
	assert_int_equal(code_call_argument(&code, 8, AT + 0x200, 1, &origin), 0);
	assert_int_equal(origin.kind, ORIGIN_SLOT);
	assert_int_equal(origin.number, 0x48);
	assert_int_equal(code_call_argument(&code, 0, AT + 0x201, 1, &origin), -ENOENT);
	/* The argument in rbx is a result of the first call. */
	assert_int_equal(code_call_argument(&code, 8, AT + 0x200, 3, &origin), -ENOENT);
}

/* STWStart(reason): a constant, loaded right before the call. */
static void test_constant_argument(void **state)
{
	static const uint8_t bytes[] = {
		0x75, 0x00,                   /* jne */
		0xb9, 0x01, 0x00, 0x00, 0x00, /* mov $1, %ecx */
		0xe8, 0xf4, 0x01, 0x00, 0x00, /* call +0x200 */
	};
	struct code code = code_of(bytes, sizeof(bytes));
	struct value_origin origin;

	(void)state;
	assert_int_equal(code_call_argument(&code, 0, AT + 0x200, 1, &origin), 0);
	assert_int_equal(origin.kind, ORIGIN_CONSTANT);
	assert_int_equal(origin.constant, 1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_exchange_with_its_jump),
	cmocka_unit_test(test_other_code_has_no_jump),
	cmocka_unit_test(test_old_status_zero),
	cmocka_unit_test(test_addition),
	cmocka_unit_test(test_comparisons),
	cmocka_unit_test(test_argument_from_a_slot),
	cmocka_unit_test(test_constant_argument),
};

UNIT_TESTS(tests, NULL, NULL);
