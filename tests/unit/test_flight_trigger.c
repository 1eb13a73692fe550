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
		{"blocked:sync (mutex)>1s", TRIGGER_BLOCKED, 1000 * MS, "sync (mutex)"},
		{"blocked:wait4>1s", TRIGGER_BLOCKED, 1000 * MS, "wait4"},
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
		{"queue>100", TRIGGER_QUEUE, 100, ""},
		{"heap>2G", TRIGGER_HEAP, 2ull << 30, ""},
		{"rss>500M", TRIGGER_RSS, 500ull << 20, ""},
		{"cpu>150%", TRIGGER_CPU, 150, ""},
		{"cgroup-cpu > 80%", TRIGGER_CGROUP_CPU, 80, ""},
		{"throttled", TRIGGER_THROTTLED, 0, ""},
		{"throttled>10ms", TRIGGER_THROTTLED, 10 * MS, ""},
		{"request>200ms", TRIGGER_REQUEST, 200 * MS, ""},
		{"request>200ms:GET /pay", TRIGGER_REQUEST, 200 * MS, "GET /pay"},
		{"request > 2s:GET /a>b:c", TRIGGER_REQUEST, 2000 * MS, "GET /a>b:c"},
		{"finding>=medium", TRIGGER_FINDING, 2, ""},
		{"finding>=low", TRIGGER_FINDING, 1, ""},
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
		"queue>5ms",
		"heap>2T",
		"rss>2ms",
		"cpu>80",
		"cpu>0%",
		"throttled>5%",
		"throttled:x>5ms",
		"request",
		"request>200ms:",
		"request>:GET /pay",
		"request:GET /pay>200ms",
		"finding>medium",
		"finding>=info",
		"finding>=huge",
		"func >5ms",
		"func main.handle",
		"func main.handle>5",
		"blocked:mutex>100ms",
		"blocked:xyz>5ms",
		"blocked:chans>5ms",
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

static void a_misspelled_word_gets_a_suggestion(void **state)
{
	struct trigger trigger;
	struct error err = {""};

	(void)state;
	assert_int_equal(trigger_parse("goroutine>5", &trigger, &err), -EINVAL);
	assert_non_null(strstr(err.text, "did you mean 'goroutines'"));
	assert_int_equal(trigger_parse("nonsense>5ms", &trigger, &err), -EINVAL);
	assert_non_null(strstr(err.text, "cgroup-cpu"));
}

static void which_names_a_request_has(void **state)
{
	struct trigger trigger;

	(void)state;
	assert_int_equal(trigger_parse("request>1ms:GET /pay", &trigger, NULL), 0);
	assert_true(trigger_takes_name(&trigger, "GET /pay"));
	assert_false(trigger_takes_name(&trigger, "GET /payments"));
	assert_int_equal(trigger_parse("request>1ms:GET *", &trigger, NULL), 0);
	assert_true(trigger_takes_name(&trigger, "GET /pay"));
	assert_false(trigger_takes_name(&trigger, "PUT /pay"));
	assert_int_equal(trigger_parse("request>1ms", &trigger, NULL), 0);
	assert_true(trigger_takes_name(&trigger, ""));
}

static void a_value_fires_again_once_it_was_a_tenth_below(void **state)
{
	const struct trigger of_100 = {.kind = TRIGGER_QUEUE, .limit = 100};
	const struct trigger of_any = {.kind = TRIGGER_THROTTLED};
	uint16_t above = 1; /* another trigger's bit stays */

	(void)state;
	assert_false(trigger_rises(&of_100, 3, 100, &above));
	assert_true(trigger_rises(&of_100, 3, 101, &above));
	assert_int_equal(above, 1 | 1 << 3);
	assert_false(trigger_rises(&of_100, 3, 102, &above));
	assert_false(trigger_rises(&of_100, 3, 90, &above));
	assert_false(trigger_rises(&of_100, 3, 101, &above));
	assert_false(trigger_rises(&of_100, 3, 89, &above));
	assert_true(trigger_rises(&of_100, 3, 101, &above));
	assert_true(trigger_rises(&of_any, 15, 1, &above));
	assert_false(trigger_rises(&of_any, 15, 5, &above));
	assert_false(trigger_rises(&of_any, 15, 0, &above));
	assert_true(trigger_rises(&of_any, 15, 5, &above));
	assert_int_equal(above & 1, 1);
}

static void which_kinds_there_are(void **state)
{
	const struct trigger triggers[] = {{.kind = TRIGGER_BLOCKED}, {.kind = TRIGGER_RSS}};

	(void)state;
	assert_true(triggers_have(triggers, 2, HOST_TRIGGERS));
	assert_false(triggers_have(triggers, 1, HOST_TRIGGERS));
	assert_true(triggers_have(triggers, 2, 1u << TRIGGER_BLOCKED));
	assert_false(triggers_have(triggers, 2, 1u << TRIGGER_FINDING | 1u << TRIGGER_CPU));
	assert_true(trigger_is_of_host(&triggers[1]));
	assert_false(trigger_is_of_host(&triggers[0]));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_value_fires_again_once_it_was_a_tenth_below),
	cmocka_unit_test(which_kinds_there_are),
	cmocka_unit_test(a_misspelled_word_gets_a_suggestion),
	cmocka_unit_test(which_names_a_request_has),
	cmocka_unit_test(what_people_write),
	cmocka_unit_test(what_is_refused),
};

UNIT_TESTS(tests, NULL, NULL);
