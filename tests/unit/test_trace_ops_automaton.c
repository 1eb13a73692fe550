/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The automaton of sched: what it accepts, what it rejects and why, and the state after an op. */

#include "unit.h"

#include "trace/ops/automaton.h"

/* One running goroutine on thread 1 and P 0, and a waiting one, with space for more. */
enum { SELF = 1, OTHER, UNBORN };

static struct sched *start(bool exact)
{
	static struct sched sched;

	sched = (struct sched){.exact = exact, .first_generation = true};
	assert_int_equal(sched_fit_gs(&sched, 4), 0);
	assert_int_equal(sched_fit_ps(&sched, 2), 0);
	assert_int_equal(sched_fit_ms(&sched, 3), 0);
	sched.gs[SELF].status = G_RUNNING;
	sched.gs[OTHER].status = G_WAITING;
	sched.ps[0].status = P_RUNNING;
	sched.ps[1].status = P_IDLE;
	sched_bind_g(&sched, 1, SELF);
	sched_bind_p(&sched, 1, 0);
	return &sched;
}

static void take(struct sched *sched, struct op op)
{
	struct violation violation;

	if (!sched_check(sched, &op, &violation))
		fail_msg("%s: violation %d", op_name(op.kind), violation.kind);
	assert_int_equal(sched_apply(sched, &op), 0);
}

static void refuse(struct sched *sched, struct op op, enum violation_kind kind)
{
	struct violation violation;

	if (sched_check(sched, &op, &violation))
		fail_msg("%s is admitted", op_name(op.kind));
	assert_int_equal(violation.kind, kind);
}

#define TAKE(sched, ...)         take(sched, (struct op){__VA_ARGS__})
#define REFUSE(sched, kind, ...) refuse(sched, (struct op){__VA_ARGS__}, kind)

static void a_goroutine_lives(void **state)
{
	struct sched *sched = start(true);

	(void)state;
	TAKE(sched, .kind = OP_GO_CREATE, .m = 1, .g2 = UNBORN);
	assert_int_equal(sched->gs[UNBORN].status, G_RUNNABLE);
	REFUSE(sched, VIOLATION_OTHER_STATUS, .kind = OP_GO_CREATE, .m = 1, .g2 = UNBORN);
	REFUSE(sched, VIOLATION_HAS_G, .kind = OP_GO_START, .m = 1, .g = UNBORN);
	TAKE(sched, .kind = OP_GO_BLOCK, .m = 1);
	assert_int_equal(sched->gs[SELF].status, G_WAITING);
	assert_int_equal(sched->ms[1].g, 0);
	REFUSE(sched, VIOLATION_NO_G, .kind = OP_GO_BLOCK, .m = 1);
	TAKE(sched, .kind = OP_GO_START, .m = 1, .g = UNBORN);
	assert_int_equal(sched->gs[UNBORN].m, 1);
	TAKE(sched, .kind = OP_GO_SWITCH_DESTROY, .m = 1, .g2 = OTHER);
	assert_int_equal(sched->gs[UNBORN].status, G_DEAD);
	assert_int_equal(sched->ms[1].g, OTHER);
	TAKE(sched, .kind = OP_GO_UNBLOCK, .g2 = SELF);
	REFUSE(sched, VIOLATION_OTHER_STATUS, .kind = OP_GO_UNBLOCK, .g2 = SELF);
	sched_free(sched);
}

static void a_p_is_stolen(void **state)
{
	struct sched *sched = start(true);

	(void)state;
	REFUSE(sched, VIOLATION_P_STATUS, .kind = OP_PROC_STEAL, .m = 2, .m2 = 1, .p = 0);
	TAKE(sched, .kind = OP_SYSCALL_BEGIN, .m = 1);
	REFUSE(sched, VIOLATION_NOT_HELD, .kind = OP_PROC_STEAL, .m = 2, .m2 = 2, .p = 0);
	REFUSE(sched, VIOLATION_P_STATUS, .kind = OP_SYSCALL_END_BLOCKED, .m = 1);
	TAKE(sched, .kind = OP_PROC_STEAL, .m = 2, .m2 = 1, .p = 0);
	assert_int_equal(sched->ps[0].status, P_IDLE);
	assert_int_equal(sched->ps[0].holders, 0);
	assert_int_equal(sched->ms[1].p, NO_P);
	REFUSE(sched, VIOLATION_NO_P, .kind = OP_SYSCALL_END, .m = 1);
	TAKE(sched, .kind = OP_PROC_START, .m = 2, .p = 0);
	assert_int_equal(sched->ps[0].m, 2);
	REFUSE(sched, VIOLATION_HAS_P, .kind = OP_PROC_START, .m = 2, .p = 1);
	TAKE(sched, .kind = OP_SYSCALL_END_BLOCKED, .m = 1);
	assert_int_equal(sched->gs[SELF].status, G_RUNNABLE);
	sched_free(sched);
}

static void a_p_is_abandoned(void **state)
{
	struct sched *sched = start(true);

	(void)state;
	TAKE(sched, .kind = OP_SYSCALL_BEGIN, .m = 1);
	TAKE(sched, .kind = OP_GO_DESTROY_SYSCALL, .m = 1);
	assert_int_equal(sched->ps[0].status, P_ABANDONED);
	assert_int_equal(sched->ms[1].p, NO_P);
	TAKE(sched, .kind = OP_PROC_STEAL, .m = 2, .m2 = 1, .p = 0);
	sched_free(sched);
}

static void ranges_begin_and_end(void **state)
{
	struct sched *sched = start(true);

	(void)state;
	TAKE(sched, .kind = OP_STW_BEGIN, .m = 1, .string = 5);
	REFUSE(sched, VIOLATION_RANGE_OPEN, .kind = OP_STW_BEGIN, .m = 1, .string = 5);
	TAKE(sched, .kind = OP_STW_BEGIN, .m = 1, .string = 6);
	assert_int_equal(sched_stw_count(sched, SELF), 2);
	TAKE(sched, .kind = OP_STW_END, .m = 1);
	REFUSE(sched, VIOLATION_RANGE_CLOSED, .kind = OP_GC_ASSIST_END, .m = 1);
	TAKE(sched, .kind = OP_GC_ASSIST_ACTIVE, .g = SELF);
	TAKE(sched, .kind = OP_GC_ASSIST_END, .m = 1);
	TAKE(sched, .kind = OP_GC_SWEEP_BEGIN, .m = 1);
	REFUSE(sched, VIOLATION_RANGE_OPEN, .kind = OP_GC_SWEEP_BEGIN, .m = 1);
	/* A goroutine's end also ends what it has begun. */
	TAKE(sched, .kind = OP_GO_DESTROY, .m = 1);
	assert_int_equal(sched->nstw, 0);
	sched->first_generation = false;
	REFUSE(sched, VIOLATION_RANGE_CLOSED, .kind = OP_GC_ASSIST_ACTIVE, .g = OTHER);
	REFUSE(sched, VIOLATION_P_STATUS, .kind = OP_GC_SWEEP_ACTIVE, .p = 7);
	sched_free(sched);
}

static void the_collector_takes_turns(void **state)
{
	struct sched *sched = start(true);

	(void)state;
	REFUSE(sched, VIOLATION_GC_PHASE, .kind = OP_GC_END, .m = 1);
	REFUSE(sched, VIOLATION_NO_THREAD, .kind = OP_GC_BEGIN);
	TAKE(sched, .kind = OP_GC_BEGIN, .m = 1);
	REFUSE(sched, VIOLATION_GC_PHASE, .kind = OP_GC_BEGIN, .m = 1);
	TAKE(sched, .kind = OP_GC_END, .m = 1);
	REFUSE(sched, VIOLATION_GC_PHASE, .kind = OP_GC_ACTIVE);
	sched_free(sched);
}

/* Go's reader checks less than a real scheduler does. */
static void exact_rules_are_more(void **state)
{
	struct sched *sched = start(false);

	(void)state;
	TAKE(sched, .kind = OP_SYSCALL_BEGIN, .m = 1);
	TAKE(sched, .kind = OP_GO_LABEL, .m = 1);
	TAKE(sched, .kind = OP_GC_BEGIN);
	sched_free(sched);
	sched = start(true);
	TAKE(sched, .kind = OP_SYSCALL_BEGIN, .m = 1);
	REFUSE(sched, VIOLATION_G_NOT_RUNNING, .kind = OP_GO_LABEL, .m = 1);
	sched_free(sched);
}

static void observers_see_changes(void **state)
{
	const struct op swap = {.kind = OP_GO_SWITCH, .g = SELF, .g2 = OTHER};
	const struct op birth = {.kind = OP_GO_CREATE, .g = SELF, .g2 = UNBORN};
	const struct op status = {.kind = OP_GO_STATUS, .g = OTHER, .status = G_SYSCALL};
	const struct op label = {.kind = OP_GO_LABEL, .g = SELF};
	struct g_change changes[2];

	(void)state;
	assert_int_equal(op_changes(&swap, changes), 2);
	assert_int_equal(changes[0].g, SELF);
	assert_int_equal(changes[0].status, G_WAITING);
	assert_int_equal(changes[1].g, OTHER);
	assert_int_equal(changes[1].status, G_RUNNING);
	assert_int_equal(op_changes(&birth, changes), 1);
	assert_int_equal(changes[0].g, UNBORN);
	assert_true(changes[0].appears);
	assert_int_equal(op_changes(&status, changes), 1);
	assert_int_equal(changes[0].status, G_SYSCALL);
	assert_int_equal(op_changes(&label, changes), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_goroutine_lives),         cmocka_unit_test(a_p_is_stolen),
	cmocka_unit_test(a_p_is_abandoned),          cmocka_unit_test(ranges_begin_and_end),
	cmocka_unit_test(the_collector_takes_turns), cmocka_unit_test(exact_rules_are_more),
	cmocka_unit_test(observers_see_changes),
};

UNIT_TESTS(tests, NULL, NULL);
