/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

#include <errno.h>

#include "rawlog/values.h"
#include "values_record.h"

static int unpack(struct values_record *made, struct value values[VALUES_MAX])
{
	struct log_record record = {.type = LOG_TEXT, .size = (uint32_t)made->size, .data = made->bytes};
	int rc = values_unpack(values_text(made), values);

	/* The log's check refuses what cannot be unpacked. */
	assert_int_equal(rawlog_check_record(&record, NULL), rc < 0 ? -EBADMSG : 0);
	return rc;
}

static void two_values(struct values_record *made)
{
	values_begin(made, SITE_FUNCTION_BEGIN);
	values_add(made, (struct raw_value){.kind = VALUE_SIGNED, .size = 4, .bits = 17});
	values_add(made, (struct raw_value){.kind = VALUE_GO_STRING, .size = 8, .len = 3, .bits = 9});
	values_add_text(made, "foo", 3);
}

static void numbers_and_texts(void **state)
{
	struct value values[VALUES_MAX];
	struct values_record made;

	(void)state;
	two_values(&made);
	assert_int_equal(unpack(&made, values), 2);
	assert_int_equal(values[0].kind, VALUE_SIGNED);
	assert_int_equal(values[0].size, 4);
	assert_int_equal(values[0].bits, 17);
	assert_int_equal(values[1].kind, VALUE_GO_STRING);
	assert_int_equal(values[1].len, 3);
	assert_memory_equal(values[1].text, "foo", 3);
}

/* Changes one byte of the first (0) or second (1) value, and expects the record to be rejected. */
static void refuse(size_t value, size_t offset, uint8_t byte)
{
	struct value values[VALUES_MAX];
	struct values_record made;

	two_values(&made);
	made.bytes[sizeof(struct raw_text) + value * sizeof(struct raw_value) + offset] = (char)byte;
	assert_int_equal(unpack(&made, values), -EBADMSG);
}

static void impossible_values(void **state)
{
	(void)state;
	refuse(0, offsetof(struct raw_value, kind), 0);
	refuse(0, offsetof(struct raw_value, kind), VALUE_CHARS + 1);
	refuse(0, offsetof(struct raw_value, size), 3);
	refuse(0, offsetof(struct raw_value, size), 16);
	refuse(0, offsetof(struct raw_value, len), 1);
	refuse(0, offsetof(struct raw_value, flags), VALUE_AWAY);
	refuse(1, offsetof(struct raw_value, flags), VALUE_UNREADABLE); /* although it has bytes */
	refuse(1, offsetof(struct raw_value, len), 2);
	refuse(1, offsetof(struct raw_value, len), 4);
	refuse(1, offsetof(struct raw_value, len) + 1, 0xff);
}

static void lengths(void **state)
{
	struct value values[VALUES_MAX];
	struct values_record made;

	(void)state;
	values_begin(&made, SITE_FUNCTION_BEGIN);
	assert_int_equal(unpack(&made, values), 0);
	for (unsigned i = 0; i <= VALUES_MAX; i++)
		values_add(&made, (struct raw_value){.kind = VALUE_BOOL, .size = 1});
	assert_int_equal(unpack(&made, values), -EBADMSG);
	values_begin(&made, SITE_FUNCTION_BEGIN);
	values_add(&made, (struct raw_value){.kind = VALUE_BOOL, .size = 1});
	values_text(&made)->len--;
	made.size--;
	assert_int_equal(unpack(&made, values), -EBADMSG);
}

static void names(void **state)
{
	_Alignas(8) char bytes[sizeof(struct log_values) + 16] = {0};
	struct log_values head = {.number = 1, .n = 2, .site = SITE_FUNCTION_BEGIN};
	struct log_record record = {.type = LOG_VALUES, .size = sizeof(head) + 6, .data = bytes};

	(void)state;
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), "\2id\2ok", 6);
	assert_int_equal(rawlog_check_record(&record, NULL), 0);
	for (uint32_t size = 0; size < sizeof(head) + 9; size++) {
		record.size = size;
		assert_int_equal(rawlog_check_record(&record, NULL), size == sizeof(head) + 6 ? 0 : -EBADMSG);
	}
	record.size = sizeof(head) + 6;
	bytes[sizeof(head)] = VALUE_LABEL_MAX;
	assert_int_equal(rawlog_check_record(&record, NULL), -EBADMSG);
	bytes[sizeof(head)] = 2;
	((struct log_values *)bytes)->n = VALUES_MAX + 1;
	assert_int_equal(rawlog_check_record(&record, NULL), -EBADMSG);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(numbers_and_texts),
	cmocka_unit_test(impossible_values),
	cmocka_unit_test(lengths),
	cmocka_unit_test(names),
};

UNIT_TESTS(tests, NULL, NULL);
