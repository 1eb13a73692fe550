/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "trace/ledger/ledger.h"
#include "trace/ops/gap_log.h"
#include "trace/ops/own_logs.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { M1 = 501, M2 = 502, GENERATION_END = 9000, MOST = 64 };

/* What an observer sees. */
struct seen {
	struct ledger ledger;
	struct ledger_change all[MOST];
	struct ledger_interval from[MOST], to[MOST];
	size_t n;
	uint64_t gaps[4]; /* their begins and ends */
	size_t ngaps;
	struct strtab *strings;
	struct tables tables;
};

static const uint64_t goids[] = {0, 10, 20, 30, OWN_GOID};

static int on_change(void *ctx, const struct ledger_change *change)
{
	struct seen *seen = ctx;

	assert_true(seen->n < MOST);
	assert_int_equal(change->hidden ? change->to->state : seen->ledger.gs[change->g].known.state,
			 seen->ledger.gs[change->g].known.state);
	seen->all[seen->n] = *change;
	seen->from[seen->n] = *change->from;
	seen->to[seen->n] = *change->to;
	seen->all[seen->n].from = &seen->from[seen->n];
	seen->all[seen->n].to = &seen->to[seen->n];
	seen->n++;
	return 0;
}

static int on_gap(void *ctx, uint64_t time, bool begins)
{
	struct seen *seen = ctx;

	assert_true(seen->ngaps < COUNT(seen->gaps));
	assert_int_equal(begins, seen->ngaps % 2 == 0);
	seen->gaps[seen->ngaps++] = time;
	return 0;
}

static struct seen *seen_new(void)
{
	struct seen *seen = calloc(1, sizeof(*seen));
	const struct ledger_observer observer = {.ctx = seen, .change = on_change, .gap = on_gap};

	seen->strings = strtab_new();
	seen->tables = (struct tables){.strings = seen->strings, .goids = goids, .ngoroutines = COUNT(goids)};
	ledger_init(&seen->ledger, &observer);
	ledger_begin(&seen->ledger,
		     &(struct generation){.start = 100, .end = GENERATION_END, .tables = &seen->tables});
	return seen;
}

static void seen_free(struct seen *seen)
{
	ledger_free(&seen->ledger);
	strtab_free(seen->strings);
	free(seen);
}

static void follow(struct seen *seen, const struct op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(ledger_step(&seen->ledger, &ops[i]), 0);
}

#define FOLLOW(seen, ...)                                                                                    \
	do {                                                                                                 \
		const struct op ops_[] = {__VA_ARGS__};                                                      \
		follow(seen, ops_, COUNT(ops_));                                                             \
	} while (0)
#define OP_OF(kind_, time_, ...)                                                                             \
	(struct op)                                                                                          \
	{                                                                                                    \
		.kind = OP_##kind_, .time = time_, __VA_ARGS__                                               \
	}
#define OP(kind_, time_, p_, ...) OP_OF(kind_, time_, .p = p_, __VA_ARGS__)
#define ON(kind_, time_, ...)     OP_OF(kind_, time_, .m = M1, .p = 0, .g = __VA_ARGS__)

static struct op gap_op(struct seen *seen, uint64_t time, const char *text)
{
	return ON(LOG, time, 1, .string = strtab_add_str(seen->strings, OWN_LOG_CATEGORY),
		  .string2 = strtab_add_str(seen->strings, text));
}

/* A P that runs goroutine 1 on M1, and goroutine 2, which waits. */
static void begin_world(struct seen *seen)
{
	FOLLOW(seen, OP(PROC_STATUS, 100, 0, .status = P_RUNNING, .m = M1),
	       OP(GO_STATUS, 100, NO_P, .g = 1, .status = G_RUNNING, .m = M1, .stack2 = 5),
	       OP(GO_STATUS, 100, NO_P, .g = 2, .status = G_WAITING, .string = 7, .stack = 8, .arg = 140));
	assert_int_equal(seen->n, 2);
}

static void assert_interval(const struct ledger_interval *interval, unsigned state, uint64_t since)
{
	assert_int_equal(interval->state, state);
	if (state != LEDGER_NONE)
		assert_int_equal(interval->since, since);
}

#define LAST(seen) (&(seen)->all[(seen)->n - 1])

/* What runs or waits when the trace begins has a state whose beginning was not seen. */
static void test_before_the_trace(void **state)
{
	struct seen *seen = seen_new();
	const struct ledger_change *running = &seen->all[0], *waiting = &seen->all[1];

	(void)state;
	begin_world(seen);
	assert_int_equal(running->from->state, LEDGER_NONE);
	assert_interval(running->to, G_RUNNING, 100);
	assert_true(running->to->before && waiting->to->before);
	assert_int_equal(running->to->m, M1);
	assert_int_equal(running->to->p, 0);
	assert_int_equal(waiting->to->named, 140);
	assert_int_equal(waiting->to->reason, 7);
	assert_int_equal(waiting->to->p, NO_P);
	assert_int_equal(seen->ledger.gs[1].entry, 5);
	assert_int_equal(seen->ledger.gs[2].goid, 20);
	/* Statuses of later generations change nothing. */
	FOLLOW(seen, OP(PROC_STATUS, 200, 0, .status = P_RUNNING, .m = M1),
	       OP(GO_STATUS, 200, NO_P, .g = 1, .status = G_RUNNING, .m = M1));
	assert_int_equal(seen->n, 2);
	assert_int_equal(ledger_p(&seen->ledger, 0).since, 100);
	FOLLOW(seen, ON(GO_BLOCK, 300, 1, .string = 6, .stack = 9));
	assert_interval(LAST(seen)->from, G_RUNNING, 100);
	assert_interval(LAST(seen)->to, G_WAITING, 300);
	assert_false(LAST(seen)->to->before);
	assert_int_equal(LAST(seen)->to->reason, 6);
	assert_int_equal(LAST(seen)->to->stack, 9);
	assert_int_equal(seen->ledger.gs[1].own_stack, 9);
	seen_free(seen);
}

static void test_wakes_and_starts(void **state)
{
	struct seen *seen = seen_new();

	(void)state;
	begin_world(seen);
	FOLLOW(seen, ON(GO_UNBLOCK, 200, 1, .g2 = 2, .stack = 4));
	assert_true(LAST(seen)->wakes);
	assert_int_equal(LAST(seen)->g, 2);
	assert_int_equal(LAST(seen)->by, 1);
	assert_int_equal(LAST(seen)->to->stack, 4);
	assert_int_equal(seen->ledger.gs[2].own_stack, 8); /* the waker's stack is not its own */
	FOLLOW(seen, ON(GO_STOP, 300, 1, .string = 3), ON(GO_START, 400, 2));
	assert_interval(LAST(seen)->from, G_RUNNABLE, 200);
	assert_interval(LAST(seen)->to, G_RUNNING, 400);
	assert_int_equal(LAST(seen)->to->m, M1);
	/* A waker that does not exist is none, and an op about nothing changes nothing. */
	FOLLOW(seen, ON(GO_UNBLOCK, 500, 3, .g2 = 1));
	assert_int_equal(LAST(seen)->by, NO_G);
	FOLLOW(seen, ON(GO_START, 600, 3), ON(GO_BLOCK, 700, 0), ON(GO_UNBLOCK, 700, 1, .g2 = 999));
	assert_int_equal(seen->n, 6);
	seen_free(seen);
}

/* In a coroutine switch, the other one is woken, this one waits, and the other one runs. */
static void test_switch(void **state)
{
	struct seen *seen = seen_new();
	const struct ledger_change *step = &seen->all[2];

	(void)state;
	begin_world(seen);
	FOLLOW(seen, ON(GO_SWITCH, 200, 1, .g2 = 2, .stack = 6));
	assert_int_equal(seen->n, 5);
	assert_int_equal(step[0].g, 2);
	assert_true(step[0].wakes && step[0].by == 1);
	assert_interval(step[0].to, G_RUNNABLE, 200);
	assert_int_equal(step[1].g, 1);
	assert_interval(step[1].to, G_WAITING, 201);
	assert_int_equal(step[2].g, 2);
	assert_interval(step[2].to, G_RUNNING, 202);
	FOLLOW(seen, ON(GO_SWITCH_DESTROY, 300, 2, .g2 = 1));
	assert_null(ledger_alive(&seen->ledger, 2));
	assert_int_equal(ledger_alive(&seen->ledger, 1)->known.state, G_RUNNING);
	seen_free(seen);
}

/* An index is used again by another goroutine, of which nothing of the first one is known. */
static void test_reuse(void **state)
{
	struct seen *seen = seen_new();

	(void)state;
	begin_world(seen);
	FOLLOW(seen, ON(GO_CREATE, 200, 1, .g2 = 3, .stack = 2, .stack2 = 11));
	assert_int_equal(LAST(seen)->from->state, LEDGER_NONE);
	assert_int_equal(LAST(seen)->by, 1);
	FOLLOW(seen, ON(GO_STOP, 300, 1), ON(GO_START, 400, 3), ON(GO_STOP, 410, 3, .stack = 17),
	       ON(GO_START, 420, 3), ON(GO_DESTROY, 500, 3));
	assert_int_equal(LAST(seen)->to->state, LEDGER_NONE);
	assert_interval(LAST(seen)->from, G_RUNNING, 420);
	assert_null(ledger_alive(&seen->ledger, 3));
	FOLLOW(seen, ON(GO_START, 600, 1), ON(GO_CREATE_BLOCKED, 700, 1, .g2 = 3, .stack2 = 12));
	assert_int_equal(LAST(seen)->from->state, LEDGER_NONE);
	assert_interval(LAST(seen)->to, G_WAITING, 700);
	assert_int_equal(seen->ledger.gs[3].entry, 12);
	assert_int_equal(seen->ledger.gs[3].own_stack, 0);
	assert_int_equal(seen->ledger.gs[3].appeared, 700);
	assert_false(seen->ledger.gs[3].known.before);
	seen_free(seen);
}

/* gotrace's own goroutine creates one whose creation was not seen: since when it waits is not known. */
static void test_unseen_creation(void **state)
{
	struct seen *seen = seen_new();

	(void)state;
	FOLLOW(seen, OP(PROC_STATUS, 100, 0, .status = P_RUNNING, .m = M1),
	       OP(GO_STATUS, 100, NO_P, .g = 4, .status = G_RUNNING, .m = M1),
	       ON(GO_CREATE, 200, 4, .g2 = 3, .stack = 2));
	assert_interval(LAST(seen)->to, G_RUNNABLE, 200);
	assert_true(LAST(seen)->to->before);
	FOLLOW(seen, ON(GO_STOP, 300, 4), ON(GO_START, 400, 3));
	assert_true(LAST(seen)->from->before);
	FOLLOW(seen, ON(GO_CREATE, 500, 3, .g2 = 2, .stack = 2));
	assert_false(LAST(seen)->to->before);
	seen_free(seen);
}

/* What is left out is counted while it is watched, up to the trace's end. */
static void test_left_out(void **state)
{
	struct seen *seen = seen_new();
	const struct ledger *ledger = &seen->ledger;

	(void)state;
	begin_world(seen);
	FOLLOW(seen, gap_op(seen, 200, FEW_FRAMES_LOG), gap_op(seen, 300, CALLS_LEFT_OUT_LOG),
	       gap_op(seen, 400, GAP_LOG_BEGIN), gap_op(seen, 450, GAP_LOG_END));
	assert_int_equal(ledger->few_frames_ns, 100);
	FOLLOW(seen, gap_op(seen, 500, EVERYTHING_LOG));
	assert_int_equal(ledger->no_calls_ns, 150);
	assert_int_equal(ledger->few_frames_ns, 250);
	assert_int_equal(ledger->missing, 0);
	FOLLOW(seen, gap_op(seen, GENERATION_END - 10, CALLS_LEFT_OUT_LOG));
	assert_int_equal(ledger_finish(&seen->ledger), 0);
	assert_int_equal(ledger->no_calls_ns, 160);
	assert_true(ledger->ever_missing & DETAIL_CALLS);
	seen_free(seen);
}

/* System calls, and who has which P. */
static void test_procs(void **state)
{
	struct seen *seen = seen_new();
	struct ledger *ledger = &seen->ledger;

	(void)state;
	begin_world(seen);
	assert_int_equal(ledger_p_of(ledger, M1), 0);
	FOLLOW(seen, ON(SYSCALL_BEGIN, 200, 1, .stack = 3));
	assert_int_equal(ledger_p(ledger, 0).status, P_SYSCALL);
	assert_int_equal(ledger_p(ledger, 0).since, 200);
	assert_int_equal(ledger->gs[1].known.p, 0);
	FOLLOW(seen, ON(SYSCALL_END, 250, 1));
	assert_int_equal(ledger_p(ledger, 0).status, P_RUNNING);
	assert_interval(LAST(seen)->to, G_RUNNING, 250);
	FOLLOW(seen, ON(SYSCALL_BEGIN, 300, 1), OP(PROC_STEAL, 400, 0, .m = M2, .m2 = M1),
	       OP(PROC_START, 500, 0, .m = M2));
	assert_int_equal(ledger_p_of(ledger, M1), NO_P);
	assert_int_equal(ledger_p_of(ledger, M2), 0);
	assert_int_equal(ledger_p(ledger, 0).m, M2);
	FOLLOW(seen, OP(SYSCALL_END_BLOCKED, 600, NO_P, .m = M1, .g = 1));
	assert_interval(LAST(seen)->to, G_RUNNABLE, 600);
	assert_int_equal(ledger->gs[1].known.m, NO_M);
	FOLLOW(seen, OP(GO_START, 700, 0, .m = M2, .g = 1), OP(SYSCALL_BEGIN, 800, 0, .m = M2, .g = 1),
	       OP(GO_DESTROY_SYSCALL, 900, 0, .m = M2, .g = 1));
	assert_int_equal(ledger_p(ledger, 0).status, P_ABANDONED);
	assert_int_equal(ledger_p_of(ledger, M2), NO_P);
	/* A thread's goroutine that appears in a call has no creator, and no P. */
	FOLLOW(seen, OP(GO_CREATE_SYSCALL, 1000, NO_P, .m = M2, .g = 3));
	assert_int_equal(LAST(seen)->by, NO_G);
	assert_interval(LAST(seen)->to, G_SYSCALL, 1000);
	assert_int_equal(LAST(seen)->to->p, NO_P);
	assert_int_equal(ledger_p(ledger, 7).status, P_UNKNOWN);
	/* Numbers of a hostile file need no memory. */
	FOLLOW(seen, OP(PROC_START, 1100, INT32_MAX, .m = M2));
	assert_int_equal(ledger_p(ledger, INT32_MAX).status, P_UNKNOWN);
	seen_free(seen);
}

/* Threads are goroutines, and CPUs are Ps: gotrace's own goroutine is no thread. */
static void test_threads(void **state)
{
	struct seen *seen = seen_new();

	(void)state;
	FOLLOW(seen, OP(GO_STATUS, 100, NO_P, .g = 1, .status = G_SYSCALL, .m = 10),
	       OP(GO_STATUS, 100, NO_P, .g = 4, .status = G_WAITING));
	assert_interval(seen->all[0].to, G_SYSCALL, 100);
	assert_int_equal(seen->all[0].to->p, NO_P);
	assert_false(ledger_is_own(&seen->ledger.gs[1]));
	assert_true(ledger_is_own(&seen->ledger.gs[4]));
	FOLLOW(seen, OP(SYSCALL_END_BLOCKED, 200, NO_P, .m = 10, .g = 1), OP(PROC_START, 250, 3, .m = 10),
	       OP(GO_START, 300, 3, .m = 10, .g = 1));
	assert_interval(LAST(seen)->to, G_RUNNING, 300);
	assert_int_equal(LAST(seen)->to->p, 3);
	FOLLOW(seen, OP(GO_STOP, 400, 3, .m = 10, .g = 1, .string = 2), OP(PROC_STOP, 410, 3, .m = 10));
	assert_int_equal(LAST(seen)->to->reason, 2);
	assert_int_equal(ledger_p(&seen->ledger, 3).status, P_IDLE);
	seen_free(seen);
}

/* In a gap everything is not watched, and no interval before or after it contains it. */
static void test_gap(void **state)
{
	struct seen *seen = seen_new();
	struct ledger *ledger = &seen->ledger;

	(void)state;
	begin_world(seen);
	FOLLOW(seen, ON(GO_STOP, 900, 1), gap_op(seen, 1000, GAP_LOG_BEGIN ": too dear"));
	assert_int_equal(seen->n, 5);
	assert_true(ledger->unwatched);
	assert_interval(seen->all[3].from, G_RUNNABLE, 900);
	assert_interval(seen->all[3].to, LEDGER_UNWATCHED, 1000);
	assert_interval(seen->all[4].from, G_WAITING, 100);
	assert_int_equal(ledger_unwatched_before(ledger, 1600), 600);
	/* A second begin is none; a known state may change unseen; births and ends are reported. */
	FOLLOW(seen, gap_op(seen, 1100, GAP_LOG_BEGIN), ON(GO_UNBLOCK, 1200, 1, .g2 = 2));
	assert_int_equal(seen->n, 6);
	assert_true(LAST(seen)->hidden);
	FOLLOW(seen, ON(GO_CREATE, 1300, 0, .g2 = 3));
	assert_false(LAST(seen)->hidden);
	assert_int_equal(LAST(seen)->from->state, LEDGER_NONE);
	assert_interval(LAST(seen)->to, LEDGER_UNWATCHED, 1300);
	assert_interval(&ledger->gs[3].known, G_RUNNABLE, 1300);
	FOLLOW(seen, gap_op(seen, 2000, GAP_LOG_END));
	assert_int_equal(seen->n, 10);
	assert_interval(seen->all[7].from, LEDGER_UNWATCHED, 1000);
	assert_interval(seen->all[7].to, G_RUNNABLE, 2000);
	assert_interval(seen->all[8].to, G_RUNNABLE, 2000);
	assert_interval(seen->all[9].from, LEDGER_UNWATCHED, 1300);
	assert_int_equal(seen->ngaps, 2);
	assert_int_equal(seen->gaps[0], 1000);
	assert_int_equal(seen->gaps[1], 2000);
	assert_int_equal(ledger_unwatched_before(ledger, 3000), 1000);
	/* What ends after the gap is watched from its end on; its known state is older. */
	FOLLOW(seen, ON(GO_START, 2500, 1));
	assert_interval(LAST(seen)->from, G_RUNNABLE, 2000);
	assert_interval(&LAST(seen)->was, G_RUNNABLE, 900);
	seen_free(seen);
}

/* A gap that no op states, and the end of the trace within it. */
static void test_end_in_gap(void **state)
{
	struct seen *seen = seen_new();

	(void)state;
	begin_world(seen);
	assert_int_equal(ledger_gap(&seen->ledger, 1000, false), 0);
	assert_int_equal(ledger_gap(&seen->ledger, 1000, true), 0);
	assert_int_equal(seen->n, 4);
	assert_int_equal(ledger_finish(&seen->ledger), 0);
	assert_int_equal(seen->n, 6);
	for (size_t i = 4; i < 6; i++) {
		assert_true(seen->all[i].final);
		assert_interval(seen->all[i].from, LEDGER_UNWATCHED, 1000);
		assert_int_equal(seen->all[i].to->state, LEDGER_NONE);
		assert_int_equal(seen->all[i].time, GENERATION_END);
	}
	seen_free(seen);
}

static int refuse(void *ctx, const struct ledger_change *change)
{
	(void)ctx;
	(void)change;
	return -42;
}

/* An observer's error ends the pass; without an observer, states are followed, too. */
static void test_observers(void **state)
{
	const struct op op = OP(GO_STATUS, 100, NO_P, .g = 1, .status = G_RUNNABLE);
	struct ledger ledger;

	(void)state;
	ledger_init(&ledger, &(struct ledger_observer){.change = refuse});
	assert_int_equal(ledger_step(&ledger, &op), -42);
	assert_int_equal(ledger_finish(&ledger), -42);
	ledger_free(&ledger);
	ledger_init(&ledger, &(struct ledger_observer){0});
	assert_int_equal(ledger_step(&ledger, &op), 0);
	assert_int_equal(ledger_alive(&ledger, 1)->known.state, G_RUNNABLE);
	assert_int_equal(ledger_gap(&ledger, 200, true), 0);
	assert_int_equal(ledger_finish(&ledger), 0);
	assert_null(ledger_alive(&ledger, 1));
	ledger_free(&ledger);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_before_the_trace),
	cmocka_unit_test(test_wakes_and_starts),
	cmocka_unit_test(test_switch),
	cmocka_unit_test(test_reuse),
	cmocka_unit_test(test_unseen_creation),
	cmocka_unit_test(test_left_out),
	cmocka_unit_test(test_procs),
	cmocka_unit_test(test_threads),
	cmocka_unit_test(test_gap),
	cmocka_unit_test(test_end_in_gap),
	cmocka_unit_test(test_observers),
};

UNIT_TESTS(tests, NULL, NULL);
