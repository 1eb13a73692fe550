/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Parameter types that no compiler describes like this. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/functions/functions.h"

#define PROGRAM "/tmp/gotrace-test-type-layout"

/*
 * By its debug information, the enumeration has 0xff00 bytes: the two one-byte attributes that gcc writes,
 * encoding and size, become a size of two bytes (DW_FORM_data2).
 */
static int build(void **state)
{
	(void)state;
	return system(
		"printf 'enum e {A, B}; int f(enum e e, int n) { return e + n; } "
		"int main(void) { return f(A, 1); }' | gcc -O0 -gdwarf-5 -dA -x c -S -o - - | "
		"sed -e '/DIE.*enumeration_type/,/DW_AT_byte_size/{s/0x7.*encoding/0x0/;s/0x4.*size/0xff/}' "
		"-e '/TAG: DW_TAG_enumeration_type/,/DW_AT_byte_size/{/DW_AT_encoding/{N;d};"
		"/DW_AT_byte_size/{n;s/0xb/0x5/}}' | gcc -x assembler -o " PROGRAM " -");
}

static int clean(void **state)
{
	(void)state;
	unlink(PROGRAM);
	return 0;
}

/* Such a value would fill more registers than a value's layout has space for. */
static void a_number_that_is_too_large(void **state)
{
	const struct function_want want = {.text = "f(n)", .kind = FUNCTION_REGION};
	struct function_plan plan;
	struct error err = {""};

	(void)state;
	assert_int_not_equal(functions_plan(0, PROGRAM, &want, 1, &plan, &err), 0);
	if (!strstr(err.text, "the place of parameter e is not known, because of its type"))
		fail_msg("%s", err.text);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_number_that_is_too_large),
};

UNIT_TESTS(tests, build, clean);
