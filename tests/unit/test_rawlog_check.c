/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "rawlog/rawlog.h"

static _Alignas(8) uint8_t payload[4096];

static int check(uint32_t type, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = payload};
	struct error err = {""};
	int ret = rawlog_check_record(&record, &err);

	assert_true(ret == 0 || err.text[0] != '\0');
	return ret;
}

static int clear(void **state)
{
	(void)state;
	memset(payload, 0, sizeof(payload));
	return 0;
}

static void fixed_sizes_are_minima(void **state)
{
	static const struct {
		uint32_t type;
		size_t size;
	} fixed[] = {
		{LOG_TARGET, sizeof(struct log_target)},
		{LOG_SNAPSHOT, sizeof(struct log_snapshot)},
		{LOG_LOSS, sizeof(struct log_loss)},
		{LOG_END, LOG_END_LEAST},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		assert_int_equal(check(fixed[i].type, fixed[i].size), 0);
		assert_int_equal(check(fixed[i].type, fixed[i].size + 8), 0);
		assert_int_equal(check(fixed[i].type, fixed[i].size - 1), -EBADMSG);
		assert_int_equal(check(fixed[i].type, 0), -EBADMSG);
	}
	assert_int_equal(check(LOG_SNAPSHOT_END, 0), 0);
}

/* Logs of older releases end before the last members. */
static void an_end_without_late_records(void **state)
{
	struct log_record record = {.type = LOG_END, .size = LOG_END_LEAST, .data = payload};
	struct log_end *end = (struct log_end *)payload, copy;

	(void)state;
	*end = (struct log_end){.reason = LOG_END_SIZE, .hits = 7, .probe_hit_ns = 8, .late = 9};
	copy = log_end_of(&record);
	assert_int_equal(copy.probe_hit_ns, 8);
	assert_int_equal(copy.late, 0);
	record.size = sizeof(*end);
	copy = log_end_of(&record);
	assert_int_equal(copy.hits, 7);
	assert_int_equal(copy.late, 9);
	record.size += 8; /* of a newer one */
	assert_int_equal(log_end_of(&record).late, 9);
	clear(NULL);
}

static void arrays_are_whole(void **state)
{
	static const struct {
		uint32_t type;
		size_t each;
	} arrays[] = {
		{LOG_RECORDS, sizeof(struct raw_record)}, {LOG_GS, sizeof(struct log_g)},
		{LOG_PS, sizeof(struct log_p)},           {LOG_MS, sizeof(struct log_m)},
		{LOG_AREAS, sizeof(struct log_area)},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		assert_int_equal(check(arrays[i].type, 0), 0);
		assert_int_equal(check(arrays[i].type, arrays[i].each * 3), 0);
		assert_int_equal(check(arrays[i].type, arrays[i].each * 3 - 8), -EBADMSG);
		assert_int_equal(check(arrays[i].type, arrays[i].each + 1), -EBADMSG);
	}
}

static void target_texts_end(void **state)
{
	struct log_target *target = (struct log_target *)payload;

	(void)state;
	memset(target->go_version, 'x', sizeof(target->go_version));
	assert_int_equal(check(LOG_TARGET, sizeof(*target)), -EBADMSG);
	clear(NULL);
	memset(target->comm, 'x', sizeof(target->comm));
	assert_int_equal(check(LOG_TARGET, sizeof(*target)), -EBADMSG);
	clear(NULL);
	memset(target->exe, 'x', sizeof(target->exe));
	assert_int_equal(check(LOG_TARGET, sizeof(*target)), -EBADMSG);
}

static void stack_count_agrees(void **state)
{
	struct raw_stack *stack = (struct raw_stack *)payload;

	(void)state;
	stack->hash = 1;
	assert_int_equal(check(LOG_STACK, sizeof(*stack)), 0);
	stack->n = STACK_DEPTH;
	assert_int_equal(check(LOG_STACK, sizeof(*stack) + STACK_DEPTH * 8), 0);
	assert_int_equal(check(LOG_STACK, sizeof(*stack) + STACK_DEPTH * 8 - 8), -EBADMSG);
	stack->n = STACK_DEPTH + 1;
	assert_int_equal(check(LOG_STACK, sizeof(*stack) + (STACK_DEPTH + 1) * 8), -EBADMSG);
	stack->n = 1u << 29; /* times 8 is 0 in 32 bits */
	assert_int_equal(check(LOG_STACK, sizeof(*stack)), -EBADMSG);
	stack->n = 0;
	stack->hash = 0;
	assert_int_equal(check(LOG_STACK, sizeof(*stack)), -EBADMSG);
	assert_int_equal(check(LOG_STACK, sizeof(*stack) - 8), -EBADMSG);
}

static void boundary_count_agrees(void **state)
{
	struct log_boundary *boundary = (struct log_boundary *)payload;

	(void)state;
	boundary->nm = 2;
	assert_int_equal(check(LOG_BOUNDARY, sizeof(*boundary) + 2 * sizeof(struct log_m)), 0);
	assert_int_equal(check(LOG_BOUNDARY, sizeof(*boundary) + 3 * sizeof(struct log_m)), -EBADMSG);
	boundary->nm = 1u << 28; /* times 48 is 0 in 32 bits */
	assert_int_equal(check(LOG_BOUNDARY, sizeof(*boundary)), -EBADMSG);
}

static void functab_sizes_agree(void **state)
{
	struct log_functab *functab = (struct log_functab *)payload;

	(void)state;
	functab->pclntab_size = 100;
	functab->gofunc_size = 11;
	assert_int_equal(check(LOG_FUNCTAB, sizeof(*functab) + 111), 0);
	assert_int_equal(check(LOG_FUNCTAB, sizeof(*functab) + 110), -EBADMSG);
	assert_int_equal(check(LOG_PLUGIN_FUNCTAB, sizeof(*functab) + 111), 0);
	assert_int_equal(check(LOG_PLUGIN_FUNCTAB, sizeof(*functab) + 110), -EBADMSG);
	assert_int_equal(check(LOG_FUNCTAB, sizeof(*functab) - 1), -EBADMSG);
	functab->pclntab_size = UINT32_MAX;
	functab->gofunc_size = 112; /* the sum is 111 in 32 bits */
	assert_int_equal(check(LOG_FUNCTAB, sizeof(*functab) + 111), -EBADMSG);
}

static void text_lengths_agree(void **state)
{
	struct log_reason *reason = (struct log_reason *)payload;
	struct log_mapping *mapping = (struct log_mapping *)payload;

	(void)state;
	reason->len = 12;
	assert_int_equal(check(LOG_REASON, sizeof(*reason) + 12), 0);
	assert_int_equal(check(LOG_REASON, sizeof(*reason) + 11), -EBADMSG);
	clear(NULL);
	mapping->len = UINT32_MAX;
	assert_int_equal(check(LOG_MAPPING, sizeof(*mapping) - 1), -EBADMSG);
	assert_int_equal(check(LOG_MAPPING, sizeof(*mapping)), -EBADMSG);
	clear(NULL);
	((struct log_note *)payload)->len = 3;
	assert_int_equal(check(LOG_NOTE, sizeof(struct log_note) + 3), 0);
	assert_int_equal(check(LOG_NOTE, sizeof(struct log_note) + 2), -EBADMSG);
}

static void lengths_of_two_texts_agree(void **state)
{
	struct raw_text *text = (struct raw_text *)payload;

	(void)state;
	text->len = 5;
	text->len2 = TEXT_MAX;
	assert_int_equal(check(LOG_TEXT, sizeof(*text) + 5 + TEXT_MAX), 0);
	assert_int_equal(check(LOG_TEXT, sizeof(*text) + 4 + TEXT_MAX), -EBADMSG);
	assert_int_equal(check(LOG_TEXT, sizeof(*text) + 6 + TEXT_MAX), -EBADMSG);
	text->len2 = TEXT_MAX + 1;
	assert_int_equal(check(LOG_TEXT, sizeof(*text) + 6 + TEXT_MAX), -EBADMSG);
	text->len = TEXT_MAX + 1;
	text->len2 = 0;
	assert_int_equal(check(LOG_TEXT, sizeof(*text) + TEXT_MAX + 1), -EBADMSG);
	clear(NULL);
	assert_int_equal(check(LOG_TEXT, sizeof(*text)), 0);
	assert_int_equal(check(LOG_TEXT, sizeof(*text) - 1), -EBADMSG);
	text->away_len2 = 1; /* in the ring only */
	assert_int_equal(check(LOG_TEXT, sizeof(*text)), -EBADMSG);
}

/* The frames of a symbol follow each other, each with its two strings. */
static void symbol_frames_fill_the_record(void **state)
{
	struct log_symbol *symbol = (struct log_symbol *)payload;
	struct log_symbol_frame first = {.function_len = 4, .file_len = 3}, second = {.function_len = 1};
	const uint32_t whole = sizeof(*symbol) + 2 * sizeof(first) + 4 + 3 + 1;

	(void)state;
	assert_int_equal(check(LOG_SYMBOL, sizeof(*symbol)), -EBADMSG); /* address 0 is invalid */
	symbol->pc = 0x1000;
	assert_int_equal(check(LOG_SYMBOL, sizeof(*symbol)), 0);
	assert_int_equal(check(LOG_SYMBOL, sizeof(*symbol) + 1), -EBADMSG);
	assert_int_equal(check(LOG_SYMBOL, sizeof(*symbol) - 1), -EBADMSG);
	symbol->nframes = 2;
	memcpy(symbol + 1, &first, sizeof(first));
	memcpy((char *)(symbol + 1) + sizeof(first) + 4 + 3, &second, sizeof(second));
	assert_int_equal(check(LOG_SYMBOL, whole), 0);
	for (uint32_t size = sizeof(*symbol); size < whole; size++)
		assert_int_equal(check(LOG_SYMBOL, size), -EBADMSG);
	assert_int_equal(check(LOG_SYMBOL, whole + 1), -EBADMSG);
	symbol->nframes = SYMBOL_DEPTH + 1;
	assert_int_equal(check(LOG_SYMBOL, sizeof(*symbol) + (SYMBOL_DEPTH + 1) * sizeof(first)), -EBADMSG);
}

/* Sets each time of a record to the least value that is out of range. */
static void times_are_some_that_clocks_show(void **state)
{
	static const struct {
		uint32_t type, size, at;
	} times[] = {
		{LOG_RECORDS, 2 * sizeof(struct raw_record), offsetof(struct raw_record, time)},
		{LOG_RECORDS, 2 * sizeof(struct raw_record),
		 sizeof(struct raw_record) + offsetof(struct raw_record, time)},
		{LOG_TEXT, sizeof(struct raw_text), offsetof(struct raw_text, record.time)},
		{LOG_TARGET, sizeof(struct log_target), offsetof(struct log_target, clock.mono_ns)},
		{LOG_TARGET, sizeof(struct log_target), offsetof(struct log_target, clock.wall_sec)},
		{LOG_SNAPSHOT, sizeof(struct log_snapshot), offsetof(struct log_snapshot, time_before)},
		{LOG_SNAPSHOT, sizeof(struct log_snapshot), offsetof(struct log_snapshot, time_after)},
		{LOG_BOUNDARY, sizeof(struct log_boundary), offsetof(struct log_boundary, time_before)},
		{LOG_BOUNDARY, sizeof(struct log_boundary), offsetof(struct log_boundary, clock.mono_ns)},
		{LOG_NOTE, sizeof(struct log_note), offsetof(struct log_note, time)},
		{LOG_END, sizeof(struct log_end), offsetof(struct log_end, clock.mono_ns)},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		uint64_t late = (uint64_t)1 << 60, last = ((uint64_t)1 << 34) - 1;

		clear(NULL);
		memcpy((char *)payload + times[i].at, &last, sizeof(last));
		assert_int_equal(check(times[i].type, times[i].size), 0);
		memcpy((char *)payload + times[i].at, &late, sizeof(late));
		assert_int_equal(check(times[i].type, times[i].size), -EBADMSG);
	}
}

static void later_types_are_not_judged(void **state)
{
	(void)state;
	assert_int_equal(check(LOG_LAST + 1, 3), 0);
}

/* What was lost from memory or from a file reads as zeros. */
static void no_type_is_zero(void **state)
{
	(void)state;
	assert_int_equal(check(0, 0), -EBADMSG);
	assert_int_equal(check(0, 8), -EBADMSG);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup(fixed_sizes_are_minima, clear),
	cmocka_unit_test_setup(an_end_without_late_records, clear),
	cmocka_unit_test_setup(arrays_are_whole, clear),
	cmocka_unit_test_setup(target_texts_end, clear),
	cmocka_unit_test_setup(stack_count_agrees, clear),
	cmocka_unit_test_setup(boundary_count_agrees, clear),
	cmocka_unit_test_setup(functab_sizes_agree, clear),
	cmocka_unit_test_setup(text_lengths_agree, clear),
	cmocka_unit_test_setup(lengths_of_two_texts_agree, clear),
	cmocka_unit_test_setup(symbol_frames_fill_the_record, clear),
	cmocka_unit_test_setup(times_are_some_that_clocks_show, clear),
	cmocka_unit_test_setup(later_types_are_not_judged, clear),
	cmocka_unit_test_setup(no_type_is_zero, clear),
};

UNIT_TESTS(tests, NULL, NULL);
