/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which instructions the programs emulate, and the contents of their attach cookies. */
#include "unit.h"

#include "bpf/record.h"
#include "capture/functions.h"

static uint64_t of(uint8_t first, uint8_t second)
{
	return functions_return((const uint8_t[]){first, second}, 0x12345);
}

static void returns(void **state)
{
	(void)state;
	assert_int_equal(of(0xc3, 0x90), FUNCTION_RETURN_AT(0x345));
	assert_int_equal(of(0xf3, 0xc3), FUNCTION_RETURN_AT(0x345)); /* rep ret */
	assert_int_equal(of(0xf2, 0xc3), FUNCTION_RETURN_AT(0x345)); /* bnd ret */
	assert_int_equal(of(0x66, 0xc3), 0);                         /* pops 16 bits, on AMD */
	assert_int_equal(of(0xc2, 0x08), 0);                         /* pops arguments */
	assert_int_equal(of(0xcb, 0x00), 0);                         /* far */
	assert_int_equal(of(0xeb, 0xc3), 0);
	assert_int_equal(of(0xf3, 0x0f), 0);
}

/* The rest of the cookie is unchanged. */
static void cookies(void **state)
{
	uint64_t cookie = FUNCTION_COOKIE(0xffff, 0xffff, 0x1f) | FUNCTION_ENDS_THERE;
	uint64_t with = cookie | FUNCTION_RETURN_AT(0xfffffffffff);

	(void)state;
	assert_int_equal(FUNCTION_PLACE(with), 0xfff);
	assert_true(with & FUNCTION_RETURNS);
	assert_false(cookie & FUNCTION_RETURNS);
	assert_int_equal(FUNCTION_NUMBER(with), 0xffff);
	assert_int_equal(FUNCTION_DISTANCE(with), 0xffff);
	assert_int_equal(FUNCTION_CONDITION(with), 0x1f);
	assert_int_equal(with & ~FUNCTION_RETURN_AT(0xfff), cookie);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(returns),
	cmocka_unit_test(cookies),
};

UNIT_TESTS(tests, NULL, NULL);
