/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Jumps behind calls, in code as Go 1.26.8 makes it of net/http. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/jumps_x86.h"

#define AT 0x644640ull

/* (*ServeMux).ServeHTTP: call findHandler; mov; mov; cmpl $0, writeBarrier; je */
static const uint8_t route[] = {0xe8, 0xdb, 0xee, 0xff, 0xff, 0x48, 0x8b, 0x54, 0x24,
				0x68, 0x48, 0x89, 0xba, 0xf0, 0x00, 0x00, 0x00, 0x83,
				0x3d, 0xa8, 0xdf, 0x3f, 0x00, 0x00, 0x74, 0x34, 0xc3};

/* send: call *%rdx; mov %rax, 0x140(%rsp); test %rbx, %rbx; jne rel32 */
static const uint8_t checked[] = {0xff, 0xd2, 0x48, 0x89, 0x84, 0x24, 0x40, 0x01, 0x00, 0x00, 0x48,
				  0x85, 0xdb, 0x0f, 0x85, 0xf2, 0x01, 0x00, 0x00, 0xc3, 0x90};

static struct code code_of(const uint8_t *bytes, size_t size)
{
	return (struct code){.bytes = bytes, .size = size, .address = AT};
}

static void test_behind_call(void **state)
{
	struct code code = code_of(route, sizeof(route));
	size_t offset = 0;

	(void)state;
	assert_int_equal(code_jump_behind_call(&code, 0x643520, &offset), 0);
	assert_int_equal(offset, 24);
	assert_int_not_equal(code_jump_behind_call(&code, 0x643521, &offset), 0);
	code.size = 24;
	assert_int_not_equal(code_jump_behind_call(&code, 0x643520, &offset), 0);
	code.arm64 = true;
	assert_int_not_equal(code_jump_behind_call(&code, 0x643520, &offset), 0);
}

static void test_on_error(void **state)
{
	struct code code = code_of(checked, sizeof(checked));
	uint8_t twice[2 * sizeof(checked)], other[sizeof(checked)];
	size_t offset = 0;

	(void)state;
	assert_int_equal(code_jump_on_error(&code, &offset), 0);
	assert_int_equal(offset, 13);
	for (size_t i = 0; i < sizeof(twice); i++)
		twice[i] = checked[i % sizeof(checked)];
	code = code_of(twice, sizeof(twice));
	assert_int_not_equal(code_jump_on_error(&code, &offset), 0);
	for (size_t i = 0; i < sizeof(other); i++)
		other[i] = checked[i];
	other[12] = 0xc0; /* test %rax, %rax */
	code = code_of(other, sizeof(other));
	assert_int_not_equal(code_jump_on_error(&code, &offset), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_behind_call),
		cmocka_unit_test(test_on_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
