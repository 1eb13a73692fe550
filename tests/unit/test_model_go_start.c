/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the first records of goroutines, threads and Ps show of the initial state. */
#include <stdio.h>
#include <string.h>

#include "unit.h"

#include "checked_model.h"

#define G1 0xc000001000ull
#define G2 0xc000002000ull
#define P0 0xc000050000ull
#define M0 0xc000060000ull
#define M1 0xc000061000ull

enum { FIRST = 100, SECOND = 101 }; /* threads */

struct story {
	struct checked_model checked;
	uint64_t now;
	char statuses[256]; /* "P idle -1; G1 running 100; ..." with their threads */
};

static void print_status(struct story *story, const char *what, const char *status, uint32_t m)
{
	size_t at = strlen(story->statuses);

	snprintf(story->statuses + at, sizeof(story->statuses) - at, "%s %s %d; ", what, status,
		 m == NO_M ? -1 : (int)m);
}

static const char *g_status(uint8_t status)
{
	static const char *const names[] = {[G_RUNNABLE] = "runnable",
					    [G_RUNNING] = "running",
					    [G_SYSCALL] = "in a call",
					    [G_WAITING] = "waiting"};

	return status < sizeof(names) / sizeof(names[0]) && names[status] ? names[status] : "?";
}

static const char *p_status(uint8_t status)
{
	return status == P_IDLE      ? "idle"
	       : status == P_RUNNING ? "running"
	       : status == P_SYSCALL ? "in a call"
				     : "?";
}

static int take(void *ctx, const struct generation *gen)
{
	struct story *story = ctx;
	char name[24];

	checked_model_check(&story->checked, gen);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		assert_false(op->inferred);
		if (op->kind == OP_PROC_STATUS)
			print_status(story, "P", p_status(op->status), op->m);
		if (op->kind != OP_GO_STATUS)
			continue;
		snprintf(name, sizeof(name), "G%llu", (unsigned long long)gen->tables->goids[op->g]);
		print_status(story, name, g_status(op->status), op->m);
	}
	return 0;
}

static void feed(struct story *story, uint32_t type, const void *data, size_t size)
{
	checked_model_feed(&story->checked, type, data, size);
}

static void hit(struct story *story, struct raw_record rec)
{
	rec.time = story->now += 1000;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
}

/* Go 1.27: most records name no P. */
static void begin(struct story *story)
{
	struct log_target target = {.pid = 7, .flags = LOG_TARGET_GO, .go_minor = 27};

	*story = (struct story){.now = 1000};
	checked_model_new(&story->checked, (struct model_options){.sink = take, .ctx = story});
	feed(story, LOG_TARGET, &target, sizeof(target));
	hit(story, (struct raw_record){.tid = FIRST, .site = SITE_MARKER, .arg = 1});
}

/* Both goroutines wait, and the P is idle, when the snapshot reads them. */
static void snapshot(struct story *story)
{
	struct log_snapshot info = {.marker_before = 1, .marker_after = 2, .gomaxprocs = 1};
	struct log_g gs[] = {{.g = G1, .goid = 1, .status = 4}, {.g = G2, .goid = 2, .status = 4}};
	struct log_p p = {.p = P0};
	struct log_m ms[] = {{.m = M0, .tid = FIRST}, {.m = M1, .tid = SECOND}};

	hit(story, (struct raw_record){.tid = FIRST, .site = SITE_MARKER, .arg = 2});
	info.time_before = info.time_after = story->now;
	feed(story, LOG_SNAPSHOT, &info, sizeof(info));
	feed(story, LOG_GS, gs, sizeof(gs));
	feed(story, LOG_PS, &p, sizeof(p));
	feed(story, LOG_MS, ms, sizeof(ms));
	feed(story, LOG_SNAPSHOT_END, NULL, 0);
}

/* Checks the statuses at the start of a trace with these records between the markers. */
static void check(const struct raw_record *records, size_t n, const char *statuses)
{
	struct story story;

	begin(&story);
	for (size_t i = 0; i < n; i++)
		hit(&story, records[i]);
	snapshot(&story);
	checked_model_finish(&story.checked);
	assert_string_equal(story.statuses, statuses);
	checked_model_free(&story.checked);
}

#define CHECK(records, statuses) check(records, sizeof(records) / sizeof((records)[0]), statuses)

#define OF_G1 .g = G1, .goid = 1
#define OF_G2 .g = G2, .goid = 2

static void test_a_later_record_names_the_p(void **state)
{
	static const struct raw_record records[] = {
		{.tid = FIRST, .site = SITE_PARK, OF_G1, .status = 2},
		{.tid = FIRST, .site = SITE_RELEASEP, .p = P0},
	};

	(void)state;
	CHECK(records, "P running 100; G1 running 100; G2 waiting -1; ");
}

static void test_the_record_of_a_thief_names_the_p(void **state)
{
	static const struct raw_record records[] = {
		{.tid = FIRST, .site = SITE_PARK, OF_G1, .status = 2},
		{.tid = FIRST, .site = SITE_EXECUTE, OF_G2, .status = 1},
		{.tid = FIRST, .site = SITE_SYS_ENTER, OF_G2, .status = 3},
		{.tid = SECOND, .site = SITE_STEALP, .p = P0, .arg = FIRST},
		{.tid = FIRST, .site = SITE_EXIT_NO_P, OF_G2, .status = 2},
		{.tid = SECOND, .site = SITE_ACQUIREP, .p = P0},
		{.tid = SECOND, .site = SITE_EXECUTE, OF_G2, .status = 1},
		{.tid = SECOND, .site = SITE_PARK, OF_G2, .status = 2},
		{.tid = SECOND, .site = SITE_RELEASEP, .p = P0},
	};

	(void)state;
	CHECK(records, "P running 100; G1 running 100; G2 runnable -1; ");
}

static void test_a_victim_was_in_its_system_call(void **state)
{
	static const struct raw_record records[] = {
		{.tid = SECOND, .site = SITE_STEALP, .p = P0, .arg = FIRST},
		{.tid = FIRST, .site = SITE_EXIT_NO_P, OF_G1, .status = 2},
		{.tid = SECOND, .site = SITE_ACQUIREP, .p = P0},
		{.tid = SECOND, .site = SITE_EXECUTE, OF_G1, .status = 1},
		{.tid = SECOND, .site = SITE_PARK, OF_G1, .status = 2},
		{.tid = SECOND, .site = SITE_RELEASEP, .p = P0},
	};

	(void)state;
	CHECK(records, "P in a call 100; G1 in a call 100; G2 waiting -1; ");
}

static void test_a_victim_that_no_thread_can_be_has_no_p(void **state)
{
	static const struct raw_record records[] = {
		{.tid = SECOND, .site = SITE_STEALP, .p = P0, .arg = 0x7fffffff},
		{.tid = SECOND, .site = SITE_ACQUIREP, .p = P0},
		{.tid = SECOND, .site = SITE_RELEASEP, .p = P0},
	};

	(void)state;
	CHECK(records, "P idle -1; G1 waiting -1; G2 waiting -1; ");
}

static void test_a_coroutine_waited_for_its_turn(void **state)
{
	static const struct raw_record records[] = {
		{.tid = FIRST, .site = SITE_CORO, OF_G1, .status = 2, .arg = G2},
		{.tid = FIRST, .site = SITE_CORO, OF_G2, .status = 2, .arg = G1},
		{.tid = FIRST, .site = SITE_PARK, OF_G1, .status = 2},
		{.tid = FIRST, .site = SITE_RELEASEP, .p = P0},
	};

	(void)state;
	CHECK(records, "P running 100; G1 running 100; G2 waiting -1; ");
}

/* g is the process that took the CPU, not a goroutine. */
/* In a bubble of testing/synctest, the end of a goroutine wakes another before m.curg is cleared. */
static void test_a_goroutine_that_has_ended_is_not_shown(void **state)
{
	static const struct raw_record records[] = {
		{.tid = FIRST, .site = SITE_READY, .g = G1, .arg = G2, .status = 6, .p = P0},
	};

	(void)state;
	CHECK(records, "P running 100; G1 waiting -1; G2 waiting -1; ");
}

static void test_a_thread_without_a_cpu_shows_no_goroutine(void **state)
{
	static const struct raw_record records[] = {
		{.tid = FIRST,
		 .site = SITE_OFF_CPU,
		 .status = LEFT_RUNNABLE,
		 .g = 1234,
		 .goid = 'x',
		 .arg = 1500},
		{.tid = FIRST, .site = SITE_PARK, OF_G1, .status = 2},
		{.tid = FIRST, .site = SITE_RELEASEP, .p = P0},
	};

	(void)state;
	CHECK(records, "P running 100; G1 running 100; G2 waiting -1; ");
}

static void test_a_running_goroutine_has_a_p(void **state)
{
	static const struct raw_record records[] = {
		{.tid = FIRST, .site = SITE_SYS_ENTER, OF_G1, .status = 3},
	};

	(void)state;
	CHECK(records, "P idle -1; G1 runnable -1; G2 waiting -1; ");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_later_record_names_the_p),
	cmocka_unit_test(test_the_record_of_a_thief_names_the_p),
	cmocka_unit_test(test_a_victim_was_in_its_system_call),
	cmocka_unit_test(test_a_victim_that_no_thread_can_be_has_no_p),
	cmocka_unit_test(test_a_coroutine_waited_for_its_turn),
	cmocka_unit_test(test_a_goroutine_that_has_ended_is_not_shown),
	cmocka_unit_test(test_a_thread_without_a_cpu_shows_no_goroutine),
	cmocka_unit_test(test_a_running_goroutine_has_a_p),
};

UNIT_TESTS(tests, NULL, NULL);
