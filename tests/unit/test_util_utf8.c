/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Terminal control sequences are removed in every encoding. */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/utf8.h"

static const struct {
	const char *from, *to;
} cases[] = {
	{"", ""},
	{"plain", "plain"},
	{"a\nb\tc\rd\x7f", "a?b?c?d?"},
	{"\x1b[31mred", "?[31mred"},
	{"\x9b"
	 "31m",
	 "?31m"}, /* CSI as one byte */
	{"\xc2\x9b"
	 "31m",
	 "?31m"}, /* and as a character */
	{"gr\xc3\xbc\xc3\x9f \xe6\x97\xa5", "gr\xc3\xbc\xc3\x9f \xe6\x97\xa5"},
	{"\xe2\x80\xae"
	 "exe.txt",
	 "?exe.txt"},                      /* right to left */
	{"\xc0\x9b\xe0\x80\x9b", "?????"}, /* an overlong form */
	{"cut \xe6\x97", "cut ??"},
	{"\xed\xa0\x80", "???"}, /* half of a surrogate pair */
	{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
};

static void made_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[64];
		struct error err;

		strcpy(text, cases[i].from);
		text_make_printable(text);
		assert_string_equal(text, cases[i].to);
		error_set(&err, 1, "%s", cases[i].from);
		assert_string_equal(err.text, cases[i].to);
	}
}

static void put(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		assert_non_null(out);
		text_put(out, cases[i].from);
		fclose(out);
		assert_string_equal(text, cases[i].to);
		free(text);
	}
}

/* "aä€😀": characters of one to four bytes, which end at 1, 3, 6 and 10. */
#define LENGTHS "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"

static void cut_between_characters(void **state)
{
	static const uint8_t ends[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
	static const uint8_t begins[] = {10, 10, 10, 10, 6, 6, 6, 3, 3, 1, 0};

	(void)state;
	for (size_t n = 0; n <= 10; n++) {
		assert_int_equal(text_whole(LENGTHS, n), ends[n]);
		assert_int_equal(text_fit(LENGTHS, n), ends[n]);
		assert_int_equal(text_tail(LENGTHS, 10, n), begins[n]);
	}
	assert_int_equal(text_fit(LENGTHS, 1000), 10);
	assert_int_equal(text_tail(LENGTHS, 10, 1000), 0);
	assert_int_equal(text_fit("", 3), 0);
}

/* Bytes that are no beginning of a character are not cut off. */
static void malformed_text_keeps_its_end(void **state)
{
	(void)state;
	assert_int_equal(text_whole("a\x80\x80\x80\x80", 5), 5);
	assert_int_equal(text_whole("a\xff", 2), 2);
	assert_int_equal(text_whole("\x80", 1), 1);
	assert_int_equal(text_whole("a\xc3\xa4\x80", 4), 4);
	assert_int_equal(text_tail("\x80\x80\x80\x80\x80\x80", 6, 5), 4);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(made_printable),
	cmocka_unit_test(put),
	cmocka_unit_test(cut_between_characters),
	cmocka_unit_test(malformed_text_keeps_its_end),
};

UNIT_TESTS(tests, NULL, NULL);
