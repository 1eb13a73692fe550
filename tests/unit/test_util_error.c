/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "util/error.h"

static void returns_the_code(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(error_set(&err, EINVAL, "bad %s %d", "pid", -1), -EINVAL);
	assert_string_equal(err.text, "bad pid -1");
	assert_int_equal(error_set(NULL, ENOENT, "unheard"), -ENOENT);
}

/* A target's name must not control the terminal. */
static void stays_one_clean_line(void **state)
{
	struct error err;

	(void)state;
	error_set(&err, EINVAL, "no function %s", "a\nb\x1b[31m");
	assert_string_equal(err.text, "no function a?b?[31m");
}

static void long_text_is_cut(void **state)
{
	char text[2000];
	struct error err;

	(void)state;
	memset(text, 'y', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	error_set(&err, EINVAL, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	memcpy(text + sizeof(err.text) - 3, "\xe2\x82\xac", 3);
	error_set(&err, EINVAL, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 3); /* not inside a character */
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(returns_the_code),
	cmocka_unit_test(stays_one_clean_line),
	cmocka_unit_test(long_text_is_cut),
};

UNIT_TESTS(tests, NULL, NULL);
