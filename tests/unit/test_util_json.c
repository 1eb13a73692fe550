/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "unit.h"

#include "util/json.h"

/* The JSON form of a string of n bytes, with its quotes. */
static void expect_written(const char *bytes, size_t n, const char *text)
{
	char *written = NULL;
	size_t size;
	struct json json = {.out = open_memstream(&written, &size)};

	assert_non_null(json.out);
	json_string(&json, NULL, bytes, n);
	fclose(json.out);
	assert_string_equal(written, text);
	free(written);
}

#define EXPECT(bytes, text) expect_written(bytes, sizeof(bytes) - 1, text)

static void plain_text_stays(void **state)
{
	(void)state;
	EXPECT("", "\"\"");
	EXPECT("main.(*server).run", "\"main.(*server).run\"");
	EXPECT("gr\xc3\xbc\xc3\x9f \xe4\xb8\x96 \xf0\x9f\x99\x82",
	       "\"gr\xc3\xbc\xc3\x9f \xe4\xb8\x96 \xf0\x9f\x99\x82\"");
}

static void what_json_forbids_is_escaped(void **state)
{
	(void)state;
	EXPECT("a\"b\\c", "\"a\\\"b\\\\c\"");
	EXPECT("\n\t\x1b[2J\x7f", "\"\\u000a\\u0009\\u001b[2J\\u007f\"");
	EXPECT("a\0b", "\"a\\u0000b\"");
}

static void malformed_utf8_is_replaced(void **state)
{
	(void)state;
	EXPECT("\xff", "\"\\ufffd\"");
	EXPECT("\xc3", "\"\\ufffd\"");
	EXPECT("\xc3(", "\"\\ufffd(\"");
	EXPECT("\xc0\xaf", "\"\\ufffd\\ufffd\"");
	EXPECT("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
	EXPECT("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	EXPECT("\xe0\x80\x80", "\"\\ufffd\\ufffd\\ufffd\"");
	EXPECT("\xef\xbf\xbd", "\"\xef\xbf\xbd\"");
}

static void objects_and_arrays(void **state)
{
	char *written = NULL;
	size_t size;
	struct json json = {.out = open_memstream(&written, &size)};

	(void)state;
	json_open(&json, NULL, '{');
	json_number(&json, "n", UINT64_MAX);
	json_open(&json, "empty", '[');
	json_close(&json, ']');
	json_open(&json, "rows", '[');
	json_open(&json, NULL, '{');
	json_bool(&json, "yes", true);
	json_text(&json, "none", NULL);
	json_close(&json, '}');
	json_number(&json, NULL, 1);
	json_close(&json, ']');
	json_text(&json, "a\"b", "c");
	json_close(&json, '}');
	fclose(json.out);
	assert_string_equal(written, "{\"n\":18446744073709551615,\"empty\":[],\"rows\":[{\"yes\":true,"
				     "\"none\":null},1],\"a\\\"b\":\"c\"}");
	free(written);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(plain_text_stays),
	cmocka_unit_test(what_json_forbids_is_escaped),
	cmocka_unit_test(malformed_utf8_is_replaced),
	cmocka_unit_test(objects_and_arrays),
};

UNIT_TESTS(tests, NULL, NULL);
