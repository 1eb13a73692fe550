/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "unit.h"

#include "flight/trigger.h"

#define MS 1000000ull

static void what_people_write(void **state)
{
	static const struct {
		const char *text;
		enum trigger_kind kind;
		uint64_t limit;
		const char *name;
	} good[] = {
		{"blocked>50ms", TRIGGER_BLOCKED, 50 * MS, ""},
		{"blocked > 2s", TRIGGER_BLOCKED, 2000 * MS, ""},
		{"blocked:chan receive>1m", TRIGGER_BLOCKED, 60000 * MS, "chan receive"},
		{"runnable>500us", TRIGGER_RUNNABLE, MS / 2, ""},
		{"syscall>100ms", TRIGGER_SYSCALL, 100 * MS, ""},
		{"gc-pause>5ms", TRIGGER_GC_PAUSE, 5 * MS, ""},
		{"goroutines>10000", TRIGGER_GOROUTINES, 10000, ""},
		{"goroutines>10k", TRIGGER_GOROUTINES, 10000, ""},
		{"func main.handle>100ms", TRIGGER_FUNCTION, 100 * MS, "main.handle"},
		{"func  ns::list<int>::add(int) > 1s", TRIGGER_FUNCTION, 1000 * MS,
		 "ns::list<int>::add(int)"},
		{"func net/http.(*conn).serve>2s", TRIGGER_FUNCTION, 2000 * MS, "net/http.(*conn).serve"},
		{"syscall>1h", TRIGGER_SYSCALL, 3600000 * MS, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct trigger trigger;
		struct error err = {""};

		assert_int_equal(trigger_parse(good[i].text, &trigger, &err), 0);
		assert_int_equal(trigger.kind, good[i].kind);
		assert_int_equal(trigger.limit, good[i].limit);
		assert_string_equal(trigger.name, good[i].name);
		assert_string_equal(trigger.text, good[i].text);
	}
}

static void what_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"blocked",
		"blocked>",
		"blocked>50",
		"blocked>ms",
		"blocked>-5ms",
		"blocked>0ms",
		"blocked>5msx",
		"blocked>5ms ",
		"blocked<5ms",
		"blocked:>5ms",
		">5ms",
		"block>5ms",
		"goroutines>10ms",
		"goroutines>0",
		"goroutines:x>5",
		"syscall:read>5ms",
		"gc-pause>99999999999999999999s",
		"gc-pause>9999999999999h",
		"func>5ms",
		"func >5ms",
		"func main.handle",
		"func main.handle>5",
		"blocked:a reason that is much too long to be the reason of anything at all>5ms",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct trigger trigger;
		struct error err = {""};

		assert_int_equal(trigger_parse(bad[i], &trigger, &err), -EINVAL);
		assert_true(strlen(err.text) > 0);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(what_people_write),
	cmocka_unit_test(what_is_refused),
};

UNIT_TESTS(tests, NULL, NULL);
