/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a goroutine waits for: packed into records, and as text. */

#include "unit.h"

#include "rawlog/awaited.h"
#include "rawlog/rawlog.h"

#define LARGEST ((1ull << AWAITED_BITS) - 1)

static void test_fields(void **state)
{
	uint64_t arg2 = 25 | AWAITED(AWAITED_NOTIFY_LIST, LARGEST);

	(void)state;
	assert_int_equal(AWAITED_REASON(arg2), 25);
	assert_int_equal(AWAITED_ADDRESS(arg2), LARGEST);
	assert_int_equal(AWAITED_KIND(arg2), AWAITED_NOTIFY_LIST);
	/* Logs from before addresses were recorded. */
	assert_int_equal(AWAITED_KIND(25), AWAITED_NONE);
	assert_int_equal(AWAITED_ADDRESS(25), 0);
}

static void test_futex(void **state)
{
	uint64_t wait = WAIT_FUTEX(FILE_FUTEX, 0x7f12345678acull);

	(void)state;
	assert_int_equal(WAIT_KIND(wait), FILE_FUTEX);
	assert_true(WAIT_FUTEX_ADDRESS(wait) == 0x7f12345678acull);
	assert_true(WAIT_FUTEX_ADDRESS(WAIT_FUTEX(FILE_FUTEX, (1ull << 56) - 4)) == (1ull << 56) - 4);
}

static void test_listed(void **state)
{
	struct log_g g = {0};

	(void)state;
	assert_int_equal(log_g_awaited(&g), 0);
	log_g_set_awaited(&g, AWAITED(AWAITED_SEMAPHORE, LARGEST - 3));
	assert_true(log_g_awaited(&g) == AWAITED(AWAITED_SEMAPHORE, LARGEST - 3));
	log_g_set_awaited(&g,
			  AWAITED(AWAITED_CHANNEL, 0xc000012341)); /* a channel cannot have this address */
	assert_int_equal(log_g_awaited(&g), 0);
	log_g_set_awaited(&g, 0);
	assert_int_equal(log_g_awaited(&g), 0);
	for (unsigned i = 0; i < sizeof(g.awaited); i++)
		g.awaited[i] = 0xff;
	assert_true(AWAITED_ADDRESS(log_g_awaited(&g)) <= LARGEST);
}

static void test_words(void **state)
{
	static const struct {
		uint8_t awaited, kind;
		unsigned go_minor;
		uint64_t address;
		const char *text;
	} table[] = {
		{AWAITED_CHANNEL, LOCK_SEMAPHORE, 26, 0xc000012340, "chan 0xc000012340"},
		{AWAITED_NOTIFY_LIST, LOCK_SEMAPHORE, 26, 0xc000012350, "cond 0xc000012340"},
		{AWAITED_SEMAPHORE, LOCK_SEMAPHORE, 26, 0xc000012344, "semaphore 0xc000012344"},
		{AWAITED_SEMAPHORE, LOCK_MUTEX, 26, 0xc000012344, "mutex 0xc000012340"},
		{AWAITED_SEMAPHORE, LOCK_WRITER_QUEUE, 26, 0xc000012344, "rwmutex 0xc000012340 (write)"},
		{AWAITED_SEMAPHORE, LOCK_WRITER, 26, 0xc000012348, "rwmutex 0xc000012340 (write)"},
		{AWAITED_SEMAPHORE, LOCK_READER, 26, 0xc00001234c, "rwmutex 0xc000012340 (read)"},
		{AWAITED_SEMAPHORE, LOCK_WAIT_GROUP, 26, 0xc000012348, "waitgroup 0xc000012340"},
		{AWAITED_SEMAPHORE, LOCK_WAIT_GROUP, 18, 0xc000012348, "waitgroup 0xc000012340"},
		/* Aligned to eight bytes, and not. */
		{AWAITED_SEMAPHORE, LOCK_WAIT_GROUP, 17, 0xc000012348, "waitgroup 0xc000012340"},
		{AWAITED_SEMAPHORE, LOCK_WAIT_GROUP, 17, 0xc000012344, "waitgroup 0xc000012344"},
		{AWAITED_SEMAPHORE, LOCK_WAIT_GROUP, 9, 0xc00001234c, "waitgroup 0xc000012340"},
		/* The longest. */
		{AWAITED_SEMAPHORE, LOCK_WRITER, 26, 4, "rwmutex 0xfffffffffffffffc (write)"},
	};
	char text[AWAITED_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		awaited_text(AWAITED(table[i].awaited, table[i].address), table[i].go_minor,
			     (enum lock_kind)table[i].kind, text);
		assert_string_equal(text, table[i].text);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_fields),
	cmocka_unit_test(test_futex),
	cmocka_unit_test(test_listed),
	cmocka_unit_test(test_words),
};

UNIT_TESTS(tests, NULL, NULL);
