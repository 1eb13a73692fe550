/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Log events that say what a goroutine waits for, which CPU a thread runs on, and what was repaired. */
#include <stdio.h>
#include <string.h>

#include "unit.h"

#include "trace/ops/own_logs.h"

static void is_lock(const char *message, enum lock_form form, uint64_t address, bool reads)
{
	struct lock_log log;

	assert_true(lock_log_parse("lock", message, &log));
	assert_int_equal(log.form, form);
	assert_int_equal(log.address, address);
	assert_int_equal(log.reads, reads);
}

static void test_locks(void **state)
{
	(void)state;
	is_lock("mutex 0xc000012345", FORM_MUTEX, 0xc000012345, false);
	is_lock("rwmutex 0xc000012345 (read)", FORM_RWMUTEX, 0xc000012345, true);
	is_lock("rwmutex 0xc000012345 (write)", FORM_RWMUTEX, 0xc000012345, false);
	is_lock("semaphore 0x1", FORM_SEMAPHORE, 1, false);
	is_lock("futex 0x7fffffffffff", FORM_FUTEX, 0x7fffffffffff, false);
	is_lock("waitgroup 0x20", FORM_WAITGROUP, 0x20, false);
	is_lock("cond 0x20", FORM_COND, 0x20, false);
	is_lock("chan 0xffffffffffffffff", FORM_CHAN, UINT64_MAX, false);
}

static void test_forms_have_names(void **state)
{
	(void)state;
	assert_string_equal(lock_form_name(FORM_MUTEX), "mutex");
	assert_string_equal(lock_form_name(FORM_CHAN), "chan");
}

static void test_no_locks(void **state)
{
	static const char *const messages[] = {
		"",
		"mutex",
		"mutex ",
		"mutex 0x",
		"mutex 0x0",
		"mutex 12",
		"mutex  0x12",
		"mutex 0x-12",
		"mutex 0x12 ",
		"mutex 0x12 (read)",
		"rwmutex 0x12 (reads)",
		"rwmutex 0x12(read)",
		"mutexes 0x12",
		"mut 0x12",
		" 0x12",
		"secret mutex 0x12",
		"chan 0x10000000000000000",
	};
	struct lock_log log;

	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		assert_false(lock_log_parse("lock", messages[i], &log));
	assert_false(lock_log_parse("locks", "mutex 0x12", &log));
	assert_false(lock_log_parse("", "mutex 0x12", &log));
}

static void test_cpus(void **state)
{
	static const char *const others[] = {"",   "-1", "+1",   " 1",
					     "1 ", "1x", "8192", "99999999999999999999"};
	uint32_t cpu;

	(void)state;
	assert_true(cpu_log_parse("[CPU]", "0", &cpu));
	assert_int_equal(cpu, 0);
	assert_true(cpu_log_parse("[CPU]", "8191", &cpu));
	assert_int_equal(cpu, 8191);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(cpu_log_parse("[CPU]", others[i], &cpu));
	assert_false(cpu_log_parse("CPU", "0", &cpu));
}

static void test_repairs(void **state)
{
	static const char *const others[] = {
		"",
		"repaired",
		"repaired ",
		"repaired -1 events: they were not seen, but later ones imply them",
		"repaired 1 event",
		"repaired 1 events: they were not seen, but later ones imply them!",
		"repaired 99999999999999999999 events: they were not seen, but later ones imply them",
	};
	uint64_t events = 0;
	char text[128];

	(void)state;
	snprintf(text, sizeof(text), REPAIR_LOG_FORMAT, 12930ull);
	assert_true(repair_log_parse("gotrace", text, &events));
	assert_int_equal(events, 12930);
	assert_false(repair_log_parse("got", text, &events));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(repair_log_parse("gotrace", others[i], &events));
}

static void test_losses(void **state)
{
	uint64_t records = 0;
	char text[160];

	(void)state;
	snprintf(text, sizeof(text), LOSS_LOG_FORMAT, 7ull, 4ull, 2ull, 1ull);
	assert_true(loss_log_parse("gotrace", text, &records));
	assert_int_equal(records, 7);
	assert_false(loss_log_parse("got", text, &records));
	strcat(text, "!");
	assert_false(loss_log_parse("gotrace", text, &records));
	assert_false(loss_log_parse("gotrace", "lost 7 records", &records));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_locks),    cmocka_unit_test(test_forms_have_names),
	cmocka_unit_test(test_no_locks), cmocka_unit_test(test_cpus),
	cmocka_unit_test(test_repairs),  cmocka_unit_test(test_losses),
};

UNIT_TESTS(tests, NULL, NULL);
