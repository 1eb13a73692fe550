/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

#include "rawlog/values.h"
#include "rawlog/values_settle.h"
#include "values_record.h"

/* Memory of a target: two pages at PLACE, and nothing else. */
enum { PLACE = 0x10000, SIZE = 8192 };

static char memory[SIZE];

static bool read_memory(void *ctx, uint64_t address, void *to, size_t len)
{
	++*(unsigned *)ctx;
	if (address < PLACE || address > PLACE + SIZE || len > PLACE + SIZE - address)
		return false;
	memcpy(to, memory + (address - PLACE), len);
	return true;
}

static size_t settle(struct values_record *sent, struct values_record *to)
{
	unsigned reads = 0;
	const struct value_source source = {&reads, read_memory};

	memset(to, 0, sizeof(*to));
	to->size = values_settle(values_text(sent), sent->size, values_text(to), &source);
	return to->size;
}

static void what_is_there_stays(void **state)
{
	struct values_record sent, to;

	(void)state;
	values_begin(&sent, SITE_FUNCTION_BEGIN);
	values_add(&sent, (struct raw_value){.kind = VALUE_UNSIGNED, .size = 8, .bits = 5});
	values_add(&sent, (struct raw_value){.kind = VALUE_GO_STRING, .size = 8, .len = 4});
	values_add_text(&sent, "text", 4);
	assert_int_equal(settle(&sent, &to), sent.size);
	assert_memory_equal(to.bytes, sent.bytes, sent.size);
}

/* The missing text is between two that are present. */
static void what_was_away_is_read(void **state)
{
	struct value values[VALUES_MAX];
	struct values_record sent, to;

	(void)state;
	memcpy(memory + 100, "elsewhere", 9);
	values_begin(&sent, SITE_FUNCTION_BEGIN);
	values_add(&sent, (struct raw_value){.kind = VALUE_GO_STRING, .size = 8, .len = 3});
	values_add(&sent, (struct raw_value){.kind = VALUE_GO_STRING,
					     .size = 8,
					     .flags = VALUE_AWAY,
					     .len = 9,
					     .bits = PLACE + 100});
	values_add(&sent, (struct raw_value){.kind = VALUE_GO_STRING, .size = 8, .len = 3});
	values_add_text(&sent, "onetwo", 6);
	assert_true(settle(&sent, &to) > 0);
	assert_int_equal(values_unpack(values_text(&to), values), 3);
	assert_memory_equal(values[0].text, "one", 3);
	assert_int_equal(values[1].len, 9);
	assert_memory_equal(values[1].text, "elsewhere", 9);
	assert_memory_equal(values[2].text, "two", 3);
}

static void numbers_that_were_away(void **state)
{
	struct value values[VALUES_MAX];
	struct values_record sent, to;
	uint32_t number = 0x12345678;

	(void)state;
	memcpy(memory + 40, &number, sizeof(number));
	values_begin(&sent, SITE_FUNCTION_BEGIN);
	values_add(&sent,
		   (struct raw_value){
			   .kind = VALUE_UNSIGNED, .size = 4, .flags = VALUE_AWAY, .bits = PLACE + 40});
	values_add(&sent,
		   (struct raw_value){.kind = VALUE_UNSIGNED, .size = 8, .flags = VALUE_AWAY, .bits = 8});
	assert_true(settle(&sent, &to) > 0);
	assert_int_equal(values_unpack(values_text(&to), values), 2);
	assert_int_equal(values[0].bits, number);
	assert_int_equal(values[0].flags, 0);
	assert_int_equal(values[1].flags, VALUE_UNREADABLE);
}

/* One text ends in the last page of memory, one has no end, and one has a bad address. */
static void texts_that_end_with_nul(void **state)
{
	struct value values[VALUES_MAX];
	struct values_record sent, to;
	struct raw_value text = {.kind = VALUE_C_STRING, .size = 8, .flags = VALUE_AWAY, .len = 200};

	(void)state;
	memset(memory, 'x', sizeof(memory));
	memcpy(memory + SIZE - 4, "end", 4);
	values_begin(&sent, SITE_FUNCTION_BEGIN);
	text.bits = PLACE + SIZE - 4;
	values_add(&sent, text);
	text.bits = PLACE + 4000; /* and across the end of its page */
	values_add(&sent, text);
	text.bits = UINT64_MAX - 3;
	values_add(&sent, text);
	assert_true(settle(&sent, &to) > 0);
	assert_int_equal(values_unpack(values_text(&to), values), 3);
	assert_int_equal(values[0].len, 3);
	assert_memory_equal(values[0].text, "end", 3);
	assert_int_equal(values[1].len, 200);
	assert_int_equal(values[1].flags, VALUE_CUT);
	assert_int_equal(values[2].len, 0);
	assert_int_equal(values[2].flags, VALUE_UNREADABLE);
}

/* Nothing is read or written beyond the record, whatever its lengths say. */
static void malformed_records(void **state)
{
	struct values_record sent, to;

	(void)state;
	values_begin(&sent, SITE_FUNCTION_BEGIN);
	values_add(&sent, (struct raw_value){.kind = VALUE_GO_STRING, .size = 8, .len = 4});
	values_add_text(&sent, "text", 4);
	for (size_t size = 0; size < sent.size; size++) {
		struct values_record cut = sent;

		cut.size = size;
		if (size >= sizeof(struct raw_text))
			assert_int_equal(settle(&cut, &to), 0);
	}
	((struct raw_value *)(sent.bytes + sizeof(struct raw_text)))->len = 5;
	assert_int_equal(settle(&sent, &to), 0);
	values_begin(&sent, SITE_FUNCTION_BEGIN);
	for (unsigned i = 0; i < VALUES_MAX; i++)
		values_add(&sent,
			   (struct raw_value){
				   .kind = VALUE_GO_STRING, .flags = VALUE_AWAY, .len = 400, .bits = PLACE});
	assert_int_equal(settle(&sent, &to), 0);
	values_text(&sent)->len = UINT16_MAX;
	assert_int_equal(settle(&sent, &to), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(what_is_there_stays),    cmocka_unit_test(what_was_away_is_read),
	cmocka_unit_test(numbers_that_were_away), cmocka_unit_test(texts_that_end_with_nul),
	cmocka_unit_test(malformed_records),
};

UNIT_TESTS(tests, NULL, NULL);
