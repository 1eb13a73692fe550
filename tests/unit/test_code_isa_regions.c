/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The analysis of the code of StartRegion and of inlined Ends. The bytes are laid out as by Go's compiler. */
#include <string.h>

#include "unit.h"

#include "code/isa/regions.h"

enum { AT = 0x400000, NOOP = 0x500010, KEY = 0x480000, TASK = 0x481000 };

struct buffer {
	uint8_t bytes[256];
	size_t n;
};

static void add(struct buffer *code, const char *bytes, size_t n)
{
	memcpy(code->bytes + code->n, bytes, n);
	code->n += n;
}

#define ADD(code, bytes) add(code, bytes, sizeof(bytes) - 1)

/* Adds an instruction that ends with the distance to a variable. */
static void add_with(struct buffer *code, const char *bytes, size_t n, uint64_t variable)
{
	int32_t distance = (int32_t)(variable - (AT + code->n + n + 4));

	add(code, bytes, n);
	memcpy(code->bytes + code->n, &distance, 4);
	code->n += 4;
}

static struct code as_code(const struct buffer *buffer)
{
	return (struct code){.bytes = buffer->bytes, .size = buffer->n, .address = AT};
}

/* Adds the code up to the check: stack check, frame, stores, `mov tracing.enabled, %edx; test; je`. */
static void add_check(struct buffer *code)
{
	ADD(code, "\x49\x3b\x66\x10\x0f\x86\xc4\x00\x00\x00\x55\x48\x89\xe5\x48\x83\xec\x28");
	ADD(code, "\x48\x89\x44\x24\x38\x48\x89\x5c\x24\x40\x48\x89\x4c\x24\x48\x90");
	add_with(code, "\x8b\x15", 2, 0x500020);
	ADD(code, "\x85\xd2");
}

static void add_rest(struct buffer *code)
{
	add_with(code, "\x48\x8d\x1d", 3, KEY);
	add_with(code, "\x48\x8d\x0d", 3, 0x500100); /* zerobase */
	ADD(code, "\xff\xd2");
	add_with(code, "\x48\x8d\x15", 3, TASK);
	ADD(code, "\x48\x39\xd0\x74\x07");
	add_with(code, "\x48\x8d\x1d", 3, 0x500200); /* bgTask */
	ADD(code, "\x48\x8b\x03\x48\x83\xc4\x28\x5d\xc3");
	add_with(code, "\x48\x8b\x05", 3, NOOP);
	ADD(code, "\x48\x83\xc4\x28\x5d\xc3");
}

static void test_start_region(void **state)
{
	struct buffer buffer = {.n = 0};
	struct start_region start;
	struct code code;
	size_t jump;

	(void)state;
	add_check(&buffer);
	jump = buffer.n;
	ADD(&buffer, "\x0f\x84\x91\x00\x00\x00");
	add_rest(&buffer);
	code = as_code(&buffer);
	assert_int_equal(region_start_code(&code, &start), 0);
	assert_int_equal(start.jump, jump);
	assert_int_equal(start.noop, NOOP);
	assert_int_equal(start.task_key_type, KEY);
	assert_int_equal(start.task_type, TASK);
}

/* Go 1.17 to 1.20: the frame is made without a push, and there may be a nop before a comparison or a
 * return. */
static void add_old_function(struct buffer *code, bool equal_is_on)
{
	ADD(code, "\x49\x3b\x66\x10\x0f\x86\xd7\x00\x00\x00");
	ADD(code, "\x48\x83\xec\x30\x48\x89\x6c\x24\x28\x48\x8d\x6c\x24\x28");
	ADD(code, "\x48\x89\x44\x24\x38\x48\x89\x5c\x24\x40\x48\x89\x4c\x24\x48\x90");
	add_with(code, "\x8b\x15", 2, 0x500020);
	if (equal_is_on)
		ADD(code, "\x83\xfa\x01\x0f\x85\x99\x00\x00\x00"); /* cmp $1, %edx; jne */
	else
		ADD(code, "\x85\xd2\x0f\x84\x99\x00\x00\x00");
	add_with(code, "\x48\x8d\x1d", 3, KEY);
	ADD(code, "\xff\xd2");
	add_with(code, "\x48\x8d\x15", 3, TASK);
	ADD(code, "\x66\x90\x48\x39\xd0\x74\x07");
	ADD(code, "\x48\x8b\x6c\x24\x28\x48\x83\xc4\x30\xc3");
	add_with(code, "\x48\x8b\x05", 3, NOOP);
	ADD(code, "\x48\x8b\x6c\x24\x28\x48\x83\xc4\x30\x90\xc3");
}

static void test_start_region_without_a_push(void **state)
{
	(void)state;
	for (int on = 0; on <= 1; on++) {
		struct buffer buffer = {.n = 0};
		struct start_region start;
		struct code code;

		add_old_function(&buffer, on);
		code = as_code(&buffer);
		assert_int_equal(region_start_code(&code, &start), 0);
		assert_int_equal(start.jump, on ? 49 : 48);
		assert_int_equal(start.equal_is_on, on);
		assert_int_equal(start.noop, NOOP);
		assert_int_equal(start.task_key_type, KEY);
		assert_int_equal(start.task_type, TASK);
	}
}

/* A comparison with a number other than 1 is not a check of the flag. */
static void test_a_check_for_two(void **state)
{
	struct buffer buffer = {.n = 0};
	struct start_region start;
	struct code code;

	(void)state;
	add_old_function(&buffer, true);
	code = as_code(&buffer);
	assert_int_equal(buffer.bytes[48], 1);
	buffer.bytes[48] = 2;
	assert_int_not_equal(region_start_code(&code, &start), 0);
}

/* Without optimization IsEnabled is called, and the arguments are not in registers after it. */
static void test_a_call_before_the_check(void **state)
{
	struct buffer buffer = {.n = 0};
	struct start_region start;
	struct code code;

	(void)state;
	ADD(&buffer, "\x55\x48\x89\xe5\x48\x83\xec\x48\xe8\x00\x00\x00\x00\x84\xc0\x75\x09");
	add_rest(&buffer);
	code = as_code(&buffer);
	assert_int_not_equal(region_start_code(&code, &start), 0);
}

static void test_an_argument_lost_before_the_check(void **state)
{
	struct buffer buffer = {.n = 0};
	struct start_region start;
	struct code code;

	(void)state;
	ADD(&buffer, "\x55\x48\x89\xe5\x48\x83\xec\x48");
	add_with(&buffer, "\x8b\x0d", 2, 0x500020); /* into CX, which holds the name */
	ADD(&buffer, "\x85\xc9\x74\x09");
	add_rest(&buffer);
	code = as_code(&buffer);
	assert_int_not_equal(region_start_code(&code, &start), 0);
}

static void test_cut_anywhere(void **state)
{
	struct buffer buffer = {.n = 0};
	struct start_region start;

	(void)state;
	add_check(&buffer);
	ADD(&buffer, "\x0f\x84\x91\x00\x00\x00");
	add_rest(&buffer);
	while (buffer.n--) {
		struct code code = as_code(&buffer);

		assert_int_not_equal(region_start_code(&code, &start), 0);
	}
}

static void test_uses(void **state)
{
	struct buffer buffer = {.n = 0};
	size_t at = 0, use, jump, first, second, third, fourth;
	struct code code;

	(void)state;
	ADD(&buffer, "\x90\x48\x8b\x54\x24\x20");
	first = buffer.n;
	add_with(&buffer, "\x48\x39\x15", 3, NOOP); /* cmp %rdx, noop; je */
	ADD(&buffer, "\x74\x15\x90");
	second = buffer.n;
	add_with(&buffer, "\x4c\x3b\x05", 3, NOOP); /* cmp noop, %r8; mov; jne, far */
	ADD(&buffer, "\x48\x8b\x44\x24\x08\x0f\x85\x10\x00\x00\x00");
	add_with(&buffer, "\x48\x39\x15", 3, NOOP + 8); /* another variable */
	ADD(&buffer, "\x74\x15");
	third = buffer.n;
	add_with(&buffer, "\x48\x39\x15", 3, NOOP); /* a comparison for another purpose: setl */
	ADD(&buffer, "\x0f\x9c\xc0");
	fourth = buffer.n;
	add_with(&buffer, "\x48\x8b\x05", 3, NOOP); /* a load */
	code = as_code(&buffer);
	assert_int_equal(region_next_use(&code, NOOP, &at, &use, &jump), REGION_USE_END);
	assert_int_equal(use, first);
	assert_int_equal(jump, first + 7);
	assert_int_equal(region_next_use(&code, NOOP, &at, &use, &jump), REGION_USE_END);
	assert_int_equal(use, second);
	assert_int_equal(jump, second + 12);
	assert_int_equal(region_next_use(&code, NOOP, &at, &use, &jump), REGION_USE_OTHER);
	assert_int_equal(use, third);
	assert_int_equal(region_next_use(&code, NOOP, &at, &use, &jump), REGION_USE_OTHER);
	assert_int_equal(use, fourth);
	assert_int_equal(region_next_use(&code, NOOP, &at, &use, &jump), REGION_USE_NONE);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_start_region),
	cmocka_unit_test(test_start_region_without_a_push),
	cmocka_unit_test(test_a_check_for_two),
	cmocka_unit_test(test_a_call_before_the_check),
	cmocka_unit_test(test_an_argument_lost_before_the_check),
	cmocka_unit_test(test_cut_anywhere),
	cmocka_unit_test(test_uses),
};

UNIT_TESTS(tests, NULL, NULL);
