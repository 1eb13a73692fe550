/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Triggers on figures of the process and its cgroup. */
#include <string.h>

#include "unit.h"

#include "flight/host_eval.h"

#define MS 1000000ull

static struct flight_plan plan;
static struct host_eval eval;
static struct match_notice notices[MAX_TRIGGERS];

static void plan_for(const char *const *texts)
{
	plan = (struct flight_plan){0};
	eval = (struct host_eval){.plan = &plan};
	for (; texts[plan.ntriggers]; plan.ntriggers++)
		assert_int_equal(trigger_parse(texts[plan.ntriggers], &plan.triggers[plan.ntriggers], NULL),
				 0);
}

#define PLAN(...) plan_for((const char *const[]){__VA_ARGS__, NULL})

static unsigned look(uint64_t ms, uint64_t cpu_ms, uint64_t throttled_ms, uint64_t rss)
{
	const struct host_figures now = {.time_ns = ms * MS,
					 .cpu_ns = cpu_ms * MS,
					 .group_cpu_ns = 2 * cpu_ms * MS,
					 .throttled_ns = throttled_ms * MS,
					 .rss_bytes = rss};

	return host_eval_step(&eval, &now, notices);
}

static void only_a_plan_with_such_a_trigger_needs_the_figures(void **state)
{
	(void)state;
	PLAN("blocked>5ms", "heap>1G");
	assert_false(host_eval_needed(&plan));
	PLAN("blocked>5ms", "rss>1G");
	assert_true(host_eval_needed(&plan));
}

static void cpu_is_of_the_time_between_two_looks(void **state)
{
	(void)state;
	PLAN("blocked>5ms", "cpu>90%", "cgroup-cpu>300%");
	assert_int_equal(look(1000, 5000, 0, 0), 0); /* the past does not count */
	assert_int_equal(look(3000, 6800, 0, 0), 0); /* 90 % */
	assert_int_equal(look(4000, 7750, 0, 0), 1); /* 95 % */
	assert_int_equal(notices[0].trigger, 1);
	assert_string_equal(notices[0].text, "cpu>90%: the process used 95% of a CPU in a second");
	assert_int_equal(look(5000, 8700, 0, 0), 0);  /* still */
	assert_int_equal(look(6000, 9550, 0, 0), 0);  /* 85 % is not a tenth below */
	assert_int_equal(look(7000, 10500, 0, 0), 0); /* 95 % */
	assert_int_equal(look(8000, 10600, 0, 0), 0);
	assert_int_equal(look(9000, 12200, 0, 0), 2); /* 160 %, and twice that in the cgroup */
	assert_int_equal(notices[0].trigger, 1);
	assert_int_equal(notices[1].trigger, 2);
}

static void throttling_fires_again_after_a_second_without(void **state)
{
	(void)state;
	PLAN("throttled", "throttled>100ms");
	assert_int_equal(look(1000, 0, 700, 0), 0);
	assert_int_equal(look(2000, 0, 750, 0), 1);
	assert_int_equal(look(3000, 0, 900, 0), 1);
	assert_int_equal(notices[0].trigger, 1);
	assert_int_equal(look(4000, 0, 900, 0), 0);
	assert_int_equal(look(5000, 0, 901, 0), 1);
	assert_int_equal(notices[0].trigger, 0);
}

static void memory_is_as_it_is_now(void **state)
{
	(void)state;
	PLAN("rss>100M");
	assert_int_equal(look(1000, 0, 0, 50 << 20), 0);
	assert_int_equal(look(2000, 0, 0, 101 << 20), 1);
	assert_int_equal(look(3000, 0, 0, 200 << 20), 0);
	assert_int_equal(look(4000, 0, 0, 50 << 20), 0);
	assert_int_equal(look(5000, 0, 0, 101 << 20), 1);
}

static void nothing_fires_for_time_that_was_not_watched(void **state)
{
	const struct host_figures gap = {.time_ns = 2000 * MS, .cpu_ns = 1000 * MS, .unwatched = true},
				  after = {.time_ns = 3000 * MS,
					   .cpu_ns = 2000 * MS,
					   .unwatched_ns = 500 * MS},
				  then = {.time_ns = 4000 * MS,
					  .cpu_ns = 3000 * MS,
					  .unwatched_ns = 500 * MS};

	(void)state;
	PLAN("cpu>50%");
	assert_int_equal(look(1000, 0, 0, 0), 0);
	assert_int_equal(host_eval_step(&eval, &gap, notices), 0);
	assert_int_equal(host_eval_step(&eval, &after, notices), 0);
	assert_int_equal(host_eval_step(&eval, &then, notices), 1);
}

static void another_cgroup_has_figures_of_its_own(void **state)
{
	struct host_figures now = {.time_ns = 1000 * MS, .group_cpu_ns = 50, .group_id = 1, .quota_id = 1};

	(void)state;
	PLAN("cgroup-cpu>50%", "throttled>100ms");
	host_eval_step(&eval, &now, notices);
	now.time_ns += 1000 * MS;
	now.group_cpu_ns = now.throttled_ns = 90000 * MS;
	now.group_id = now.quota_id = 2;
	assert_int_equal(host_eval_step(&eval, &now, notices), 0);
	now.time_ns += 1000 * MS;
	now.group_cpu_ns += 600 * MS;
	now.throttled_ns += 200 * MS;
	assert_int_equal(host_eval_step(&eval, &now, notices), 2);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(only_a_plan_with_such_a_trigger_needs_the_figures),
	cmocka_unit_test(cpu_is_of_the_time_between_two_looks),
	cmocka_unit_test(throttling_fires_again_after_a_second_without),
	cmocka_unit_test(memory_is_as_it_is_now),
	cmocka_unit_test(another_cgroup_has_figures_of_its_own),
	cmocka_unit_test(nothing_fires_for_time_that_was_not_watched),
};

UNIT_TESTS(tests, NULL, NULL);
