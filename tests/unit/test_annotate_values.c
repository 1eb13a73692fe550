/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

#include "annotate/values.h"
#include "values_record.h"

static struct strtab *strings;
static uint32_t labels[VALUES_MAX];

static int set_up(void **state)
{
	static const char *const names[VALUES_MAX] = {"a", "b", "c", "d"};

	(void)state;
	strings = strtab_new();
	for (unsigned i = 0; i < VALUES_MAX; i++)
		labels[i] = strtab_add_str(strings, names[i]);
	return strings ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	strtab_free(strings);
	return 0;
}

static void expect(struct values_record *made, const char *wanted)
{
	struct values_message message;

	values_message(&message, values_text(made), strings, labels);
	assert_int_equal(message.len, strlen(wanted));
	assert_memory_equal(message.text, wanted, message.len);
}

static void expect_number(struct raw_value value, const char *wanted)
{
	struct values_record made;

	values_begin(&made, SITE_FUNCTION_BEGIN);
	values_add(&made, value);
	expect(&made, wanted);
}

static void numbers(void **state)
{
	double number = -0.5;
	uint64_t bits;

	(void)state;
	memcpy(&bits, &number, sizeof(bits));
	expect_number((struct raw_value){.kind = VALUE_SIGNED, .size = 8, .bits = UINT64_MAX}, "a=-1");
	expect_number((struct raw_value){.kind = VALUE_SIGNED, .size = 1, .bits = 0xabcdef80}, "a=-128");
	expect_number((struct raw_value){.kind = VALUE_SIGNED, .size = 4, .bits = 0x17fffffff},
		      "a=2147483647");
	expect_number((struct raw_value){.kind = VALUE_UNSIGNED, .size = 2, .bits = 0x1fffe}, "a=65534");
	expect_number((struct raw_value){.kind = VALUE_UNSIGNED, .size = 8, .bits = UINT64_MAX},
		      "a=18446744073709551615");
	expect_number((struct raw_value){.kind = VALUE_BOOL, .size = 1, .bits = 0xff00}, "a=false");
	expect_number((struct raw_value){.kind = VALUE_BOOL, .size = 1, .bits = 1}, "a=true");
	expect_number((struct raw_value){.kind = VALUE_POINTER, .size = 8, .bits = 0xc000}, "a=0xc000");
	expect_number((struct raw_value){.kind = VALUE_FLOAT, .size = 8, .bits = bits}, "a=-0.5");
	expect_number((struct raw_value){.kind = VALUE_SIGNED, .size = 8, .flags = VALUE_UNREADABLE}, "a=?");
	expect_number(
		(struct raw_value){.kind = VALUE_SIGNED, .size = 8, .flags = VALUE_UNREADABLE | VALUE_NULL},
		"a=nil");
}

static void expect_text(uint8_t kind, uint8_t flags, const char *text, size_t len, const char *wanted)
{
	struct values_record made;

	values_begin(&made, SITE_FUNCTION_BEGIN);
	values_add(&made, (struct raw_value){.kind = kind, .size = 8, .flags = flags, .len = (uint16_t)len});
	values_add_text(&made, text, len);
	expect(&made, wanted);
}

static void texts(void **state)
{
	(void)state;
	expect_text(VALUE_GO_STRING, 0, "", 0, "a=\"\"");
	expect_text(VALUE_GO_STRING, 0, "foo", 3, "a=\"foo\"");
	expect_text(VALUE_C_STRING, VALUE_CUT, "foo", 3, "a=\"foo\xe2\x80\xa6\"");
	expect_text(VALUE_GO_STRING, 0, "q\"\\\n\t\r", 6, "a=\"q\\\"\\\\\\n\\t\\r\"");
	expect_text(VALUE_GO_STRING, 0, "\x1b[2J\0", 5, "a=\"\\x1b[2J\\x00\"");
	expect_text(VALUE_GO_STRING, 0, "\xff\xc3\xa9", 3, "a=\"\\xff\xc3\xa9\"");
	/* A right-to-left override, and a character of which truncation has left a part. */
	expect_text(VALUE_GO_STRING, 0, "\xe2\x80\xae", 3, "a=\"\\u202e\"");
	expect_text(VALUE_GO_STRING, VALUE_CUT, "x\xe2\x82", 3, "a=\"x\xe2\x80\xa6\"");
	expect_text(VALUE_BYTES, 0, "\x01\xab\0", 3, "a=01ab00");
}

/* A message has a limit, and shows that it was reached. */
static void long_texts(void **state)
{
	struct values_message message;
	struct values_record made;
	char bytes[200];

	(void)state;
	memset(bytes, 1, sizeof(bytes));
	values_begin(&made, SITE_FUNCTION_BEGIN);
	for (unsigned i = 0; i < VALUES_MAX; i++)
		values_add(&made,
			   (struct raw_value){.kind = VALUE_GO_STRING, .size = 8, .len = sizeof(bytes)});
	for (unsigned i = 0; i < VALUES_MAX; i++)
		values_add_text(&made, bytes, sizeof(bytes));
	values_message(&message, values_text(&made), strings, labels);
	assert_in_range(message.len, 900, sizeof(message.text));
	assert_non_null(memmem(message.text, message.len, "\xe2\x80\xa6\"", 4));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(numbers),
	cmocka_unit_test(texts),
	cmocka_unit_test(long_texts),
};

UNIT_TESTS(tests, set_up, tear_down);
