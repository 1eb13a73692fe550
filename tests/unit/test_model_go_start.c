/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the first records of goroutines, threads and Ps show of the initial state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "op_rules.h"

#define G1 0xc000001000ull
#define G2 0xc000002000ull
#define P0 0xc000050000ull
#define M0 0xc000060000ull
#define M1 0xc000061000ull

enum { FIRST = 100, SECOND = 101 }; /* threads */

struct story {
	struct op_rules *rules;
	struct strtab *strings;
	struct model *model;
	uint64_t now;
	char statuses[256]; /* "G1 running 100; ..." of goroutines */
};

static void print_status(struct story *story, uint64_t goid, uint8_t status, uint32_t m)
{
	static const char *const names[] = {[G_RUNNABLE] = "runnable",
					    [G_RUNNING] = "running",
					    [G_SYSCALL] = "in a call",
					    [G_WAITING] = "waiting"};
	size_t at = strlen(story->statuses);

	snprintf(story->statuses + at, sizeof(story->statuses) - at, "G%llu %s %d; ",
		 (unsigned long long)goid, status < sizeof(names) / sizeof(names[0]) ? names[status] : "?",
		 m == NO_M ? -1 : (int)m);
}

static int take(void *ctx, const struct generation *gen)
{
	struct story *story = ctx;
	struct error err = {""};

	if (op_rules_generation(story->rules, gen, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		assert_false(op->inferred);
		if (op->kind == OP_GO_STATUS)
			print_status(story, gen->tables->goids[op->g], op->status, op->m);
	}
	return 0;
}

static void feed(struct story *story, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	assert_int_equal(rawlog_check_record(&record, NULL), 0);
	assert_int_equal(model_feed(story->model, &record, NULL), 0);
}

static void hit(struct story *story, uint32_t tid, struct raw_record rec)
{
	rec.tid = tid;
	rec.time = story->now += 1000;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
}

/* Go 1.27: most records name no P. */
static void begin(struct story *story)
{
	struct log_target target = {.pid = 7, .flags = LOG_TARGET_GO, .go_minor = 27};

	*story = (struct story){.rules = op_rules_new(), .strings = strtab_new(), .now = 1000};
	story->model =
		model_new(&(struct model_options){.sink = take, .ctx = story, .strings = story->strings});
	feed(story, LOG_TARGET, &target, sizeof(target));
	hit(story, FIRST, (struct raw_record){.site = SITE_MARKER, .arg = 1});
}

/* Both goroutines wait, and the P is idle, when the snapshot reads them. */
static void end(struct story *story, const char *statuses)
{
	struct log_snapshot info = {.marker_before = 1, .marker_after = 2, .gomaxprocs = 1};
	struct log_g gs[] = {{.g = G1, .goid = 1, .status = 4}, {.g = G2, .goid = 2, .status = 4}};
	struct log_p p = {.p = P0};
	struct log_m ms[] = {{.m = M0, .tid = FIRST}, {.m = M1, .tid = SECOND}};

	hit(story, FIRST, (struct raw_record){.site = SITE_MARKER, .arg = 2});
	info.time_before = info.time_after = story->now;
	feed(story, LOG_SNAPSHOT, &info, sizeof(info));
	feed(story, LOG_GS, gs, sizeof(gs));
	feed(story, LOG_PS, &p, sizeof(p));
	feed(story, LOG_MS, ms, sizeof(ms));
	feed(story, LOG_SNAPSHOT_END, NULL, 0);
	assert_int_equal(model_finish(story->model, NULL), 0);
	assert_string_equal(story->statuses, statuses);
	model_free(story->model);
	op_rules_free(story->rules);
	strtab_free(story->strings);
}

static const struct raw_record g1_parks = {.site = SITE_PARK, .g = G1, .goid = 1, .status = 2};
static const struct raw_record p_is_released = {.site = SITE_RELEASEP, .p = P0};

static void test_a_later_record_names_the_p(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	hit(&story, FIRST, g1_parks);
	hit(&story, FIRST, p_is_released);
	end(&story, "G1 running 100; G2 waiting -1; ");
}

static void test_the_record_of_a_thief_names_the_p(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	hit(&story, FIRST, g1_parks);
	hit(&story, FIRST, (struct raw_record){.site = SITE_EXECUTE, .g = G2, .goid = 2, .status = 1});
	hit(&story, FIRST, (struct raw_record){.site = SITE_SYS_ENTER, .g = G2, .goid = 2, .status = 3});
	hit(&story, SECOND, (struct raw_record){.site = SITE_STEALP, .p = P0, .arg = FIRST});
	hit(&story, FIRST, (struct raw_record){.site = SITE_EXIT_NO_P, .g = G2, .goid = 2, .status = 2});
	hit(&story, SECOND, (struct raw_record){.site = SITE_ACQUIREP, .p = P0});
	hit(&story, SECOND, (struct raw_record){.site = SITE_EXECUTE, .g = G2, .goid = 2, .status = 1});
	hit(&story, SECOND, (struct raw_record){.site = SITE_PARK, .g = G2, .goid = 2, .status = 2});
	hit(&story, SECOND, p_is_released);
	end(&story, "G1 running 100; G2 runnable -1; ");
}

static void test_a_victim_was_in_its_system_call(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	hit(&story, SECOND, (struct raw_record){.site = SITE_STEALP, .p = P0, .arg = FIRST});
	hit(&story, FIRST, (struct raw_record){.site = SITE_EXIT_NO_P, .g = G1, .goid = 1, .status = 2});
	hit(&story, SECOND, (struct raw_record){.site = SITE_ACQUIREP, .p = P0});
	hit(&story, SECOND, (struct raw_record){.site = SITE_EXECUTE, .g = G1, .goid = 1, .status = 1});
	hit(&story, SECOND, g1_parks);
	hit(&story, SECOND, p_is_released);
	end(&story, "G1 in a call 100; G2 waiting -1; ");
}

static void test_a_coroutine_waited_for_its_turn(void **state)
{
	struct raw_record to_g2 = {.site = SITE_CORO, .g = G1, .goid = 1, .status = 2, .arg = G2};
	struct raw_record to_g1 = {.site = SITE_CORO, .g = G2, .goid = 2, .status = 2, .arg = G1};
	struct story story;

	(void)state;
	begin(&story);
	hit(&story, FIRST, to_g2);
	hit(&story, FIRST, to_g1);
	hit(&story, FIRST, g1_parks);
	hit(&story, FIRST, p_is_released);
	end(&story, "G1 running 100; G2 waiting -1; ");
}

/* g is the process that took the CPU, not a goroutine. */
static void test_a_thread_without_a_cpu_shows_no_goroutine(void **state)
{
	struct raw_record off = {
		.site = SITE_OFF_CPU, .status = LEFT_RUNNABLE, .g = 1234, .goid = 'x', .arg = 1500};
	struct story story;

	(void)state;
	begin(&story);
	hit(&story, FIRST, off);
	hit(&story, FIRST, g1_parks);
	hit(&story, FIRST, p_is_released);
	end(&story, "G1 running 100; G2 waiting -1; ");
}

static void test_a_running_goroutine_has_a_p(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	hit(&story, FIRST, (struct raw_record){.site = SITE_SYS_ENTER, .g = G1, .goid = 1, .status = 3});
	end(&story, "G1 runnable -1; G2 waiting -1; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_later_record_names_the_p),
		cmocka_unit_test(test_the_record_of_a_thief_names_the_p),
		cmocka_unit_test(test_a_victim_was_in_its_system_call),
		cmocka_unit_test(test_a_coroutine_waited_for_its_turn),
		cmocka_unit_test(test_a_thread_without_a_cpu_shows_no_goroutine),
		cmocka_unit_test(test_a_running_goroutine_has_a_p),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
