/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sets of pprof labels as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "trace/ops/labels.h"

static struct pprof_label label(const char *key, const char *value)
{
	return (struct pprof_label){.key = key,
				    .value = value,
				    .key_len = (uint16_t)strlen(key),
				    .value_len = (uint16_t)strlen(value)};
}

static void writes(const char *expected, struct pprof_label *labels, unsigned n, bool cut)
{
	char text[LABELS_TEXT_MAX + 1];
	size_t len = labels_write(labels, n, cut, text);

	assert_int_equal(len, strlen(text));
	assert_string_equal(text, expected);
}

/* As labelMap.String of Go 1.26 runtime/pprof/label.go writes it. */
static void test_a_set_is_sorted_json(void **state)
{
	struct pprof_label two[] = {label("shard", "7"), label("handler", "/users")};
	struct pprof_label odd[] = {label("gr\xc3\xb6\xc3\x9f"
					  "e",
					  "a\"b\\\n"),
				    label("", "")};

	(void)state;
	writes("{}", NULL, 0, false);
	writes("{}...", NULL, 0, true);
	writes("{\"handler\":\"/users\", \"shard\":\"7\"}", two, 2, false);
	writes("{\"\":\"\", \"gr\xc3\xb6\xc3\x9f"
	       "e\":\"a\\\"b\\\\\\u000a\"}",
	       odd, 2, false);
}

static void test_bytes_that_are_no_text(void **state)
{
	struct pprof_label one[] = {label("k\xff", "\xed\xa0\x80")};
	struct pprof_label cut[] = {label("k", "ab\xc3")}; /* cut within a character */

	(void)state;
	writes("{\"k\xef\xbf\xbd\":\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"}", one, 1, false);
	writes("{\"k\":\"ab\"}...", cut, 1, true);
}

static void test_what_does_not_fit_is_left_out(void **state)
{
	char long_text[600], text[LABELS_TEXT_MAX + 1];
	struct pprof_label labels[3];
	struct labels_read set;

	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	labels[0] = label("a", long_text);
	labels[1] = label("b", long_text);
	labels[2] = label("c", "short");
	assert_true(labels_write(labels, 3, false, text) <= LABELS_TEXT_MAX);
	assert_int_equal(labels_parse(text, strlen(text), &set), strlen(text));
	assert_int_equal(set.n, 2);
	assert_true(set.cut);
	assert_memory_equal(set.labels[0].key, "a", 1);
	assert_memory_equal(set.labels[1].key, "c", 1);
	assert_memory_equal(set.labels[1].value, "short", 5);
}

static void test_a_set_is_read_as_written(void **state)
{
	static const char value[] = "a\"b\\\n\0c\x7f\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
	struct pprof_label one = {.key = "k", .key_len = 1, .value = value, .value_len = sizeof(value) - 1};
	char text[LABELS_TEXT_MAX + 1];
	size_t len = labels_write(&one, 1, false, text);
	struct labels_read set;

	(void)state;
	assert_int_equal(labels_parse(text, len, &set), len);
	assert_int_equal(set.n, 1);
	assert_false(set.cut);
	assert_int_equal(set.labels[0].value_len, one.value_len);
	assert_memory_equal(set.labels[0].value, value, one.value_len);
}

static void test_other_texts_are_refused(void **state)
{
	static const char *const bad[] = {"",
					  "{",
					  "}",
					  "{\"a\"}",
					  "{\"a\":1}",
					  "{\"a\":\"b\"",
					  "{\"a\":\"b\",}",
					  "{\"a\":\"b\" \"c\":\"d\"}",
					  "{\"a\":\"b}",
					  "{\"a\":\"\\x41\"}",
					  "{\"a\":\"\\u12\"}",
					  "{\"a\":\"\\",
					  "[]"};
	struct labels_read set;
	char many[3000] = "{";

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(labels_parse(bad[i], strlen(bad[i]), &set) < 0);
	for (unsigned i = 0; i < 100; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "%s\"%u\":\"\"", i ? "," : "", i);
	strcat(many, "}");
	assert_int_equal(labels_parse(many, strlen(many), &set), strlen(many));
	assert_int_equal(set.n, LABELS_TEXT_LABELS);
	assert_true(set.cut);
	memset(many, 'x', sizeof(many));
	memcpy(many, "{\"", 2);
	assert_true(labels_parse(many, sizeof(many), &set) < 0); /* too long, and without an end */
}

static void test_ids_of_others(void **state)
{
	static const char text[] = "{\"a\":\"b\"}... 17 18446744073709551615 99999999999999999999 5";
	struct labels_read set;
	size_t at = (size_t)labels_parse(text, strlen(text), &set);

	(void)state;
	assert_int_equal(at, strlen("{\"a\":\"b\"}..."));
	assert_int_equal(labels_next_goid(text, strlen(text), &at), 17);
	assert_int_equal(labels_next_goid(text, strlen(text), &at), 0); /* no id is so large */
	at = 0;
	assert_int_equal(labels_next_goid("x", 1, &at), 0);
	assert_int_equal(labels_next_goid(" x", 2, &at), 0);
}

static void test_categories(void **state)
{
	(void)state;
	assert_int_equal(labels_log_kind("labels", 6), LABELS_LOG_SET);
	assert_int_equal(labels_log_kind("labels held", 11), LABELS_LOG_HELD);
	assert_int_equal(labels_log_kind("labels of goroutines", 20), LABELS_LOG_OTHERS);
	assert_int_equal(labels_log_kind("labels ", 7), LABELS_LOG_NONE);
	assert_int_equal(labels_log_kind("", 0), LABELS_LOG_NONE);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_set_is_sorted_json),
	cmocka_unit_test(test_bytes_that_are_no_text),
	cmocka_unit_test(test_what_does_not_fit_is_left_out),
	cmocka_unit_test(test_a_set_is_read_as_written),
	cmocka_unit_test(test_other_texts_are_refused),
	cmocka_unit_test(test_ids_of_others),
	cmocka_unit_test(test_categories),
};

UNIT_TESTS(tests, NULL, NULL);
