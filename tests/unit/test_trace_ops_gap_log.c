/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Log events that mark gaps in the recording. */
#include <string.h>

#include "unit.h"

#include "trace/ops/gap_log.h"

static void is(enum gap_log kind, const char *category, const char *text)
{
	assert_int_equal(gap_log_kind(category, strlen(category), text, strlen(text)), kind);
}

static void test_begins_and_ends(void **state)
{
	(void)state;
	is(GAP_LOG_BEGINS, "gotrace", "not watched from here on: over --max-overhead");
	is(GAP_LOG_BEGINS, "gotrace", "not watched from here on");
	is(GAP_LOG_ENDS, "gotrace", "watched again from here on");
}

/* Messages of the program, and other messages of gotrace. */
static void test_other_messages(void **state)
{
	(void)state;
	is(GAP_LOG_NONE, "gotrace", "stacks are cut short");
	is(GAP_LOG_NONE, "gotrace", "");
	is(GAP_LOG_NONE, "gotrace", "watched again from here");
	is(GAP_LOG_NONE, "gotraces", "watched again from here on");
	is(GAP_LOG_NONE, "got", "watched again from here on");
	is(GAP_LOG_NONE, "", "not watched from here on");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_begins_and_ends),
	cmocka_unit_test(test_other_messages),
};

UNIT_TESTS(tests, NULL, NULL);
