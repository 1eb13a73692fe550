/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <string.h>
#include "unit.h"

#include "util/suggest.h"

static const char *const names[] = {"record", "replay", "check", "dump", "flight", "sites"};

static const char *suggest(const char *word)
{
	return suggest_name(word, names, sizeof(names) / sizeof(names[0]));
}

static void test_near_words(void **state)
{
	(void)state;
	assert_string_equal(suggest("relpay"), "replay");
	assert_string_equal(suggest("chek"), "check");
	assert_string_equal(suggest("fligth"), "flight");
	assert_string_equal(suggest("checks"), "check");
	assert_string_equal(suggest("dmup"), "dump");
}

static void test_far_words(void **state)
{
	char huge[200];

	(void)state;
	memset(huge, 'a', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	assert_null(suggest(""));
	assert_null(suggest("x"));
	assert_null(suggest("server"));
	assert_null(suggest("./server"));
	assert_null(suggest(huge));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_near_words),
	cmocka_unit_test(test_far_words),
};

UNIT_TESTS(tests, NULL, NULL);
