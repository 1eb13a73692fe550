/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Triggers on lists of ops: what fires, for which goroutine, and where. */
#include <errno.h>
#include <string.h>

#include "unit.h"

#include "flight/trigger_eval.h"

#define MS 1000000ull

enum { SYNC = 1, SLEEP, CHAN, NETWORK, GC_MARK, PROFILE, HANDLE, OTHER, NOT_WATCHED, MUTEX, COND, CONDITION };
static const char *const strings[] = {"",
				      "sync",
				      "sleep",
				      "chan receive",
				      "network",
				      "GC mark termination",
				      "goroutine profile",
				      "main.handle",
				      "main.other",
				      "not watched",
				      "sync (mutex)",
				      "sync.(*Cond).Wait",
				      "sync (condition)"};

enum { SYSTEM_G = 99, MAX_FIRED = 128 };

struct world {
	struct trigger triggers[MAX_TRIGGERS];
	unsigned ntriggers;
	struct trigger_eval *eval;
	struct trigger_match fired[MAX_FIRED];
	unsigned n;
};

static bool is_system(void *ctx, uint32_t g)
{
	(void)ctx;
	return g == SYSTEM_G;
}

enum { LOCK_STACK = 7, SLEEP_STACK };

static bool is_sleep(void *ctx, uint32_t stack)
{
	(void)ctx;
	return stack == SLEEP_STACK;
}

static bool is_lock(void *ctx, const char *reason, uint32_t stack)
{
	(void)ctx;
	return strcmp(reason, "sync (mutex)") == 0 || (strcmp(reason, "sync") == 0 && stack == LOCK_STACK);
}

static const char *string_of(void *ctx, uint32_t string)
{
	(void)ctx;
	return string < sizeof(strings) / sizeof(strings[0]) ? strings[string] : "";
}

static void fire(void *ctx, const struct trigger_match *match)
{
	struct world *world = ctx;

	assert_true(world->n < MAX_FIRED);
	world->fired[world->n++] = *match;
}

static void begin(struct world *world, const char *const *texts)
{
	struct trigger_eval_options options = {
		.is_system = is_system,
		.is_lock = is_lock,
		.is_sleep = is_sleep,
		.string = string_of,
		.fire = fire,
		.ctx = world,
	};

	*world = (struct world){.n = 0};
	for (; texts[world->ntriggers]; world->ntriggers++)
		assert_int_equal(
			trigger_parse(texts[world->ntriggers], &world->triggers[world->ntriggers], NULL), 0);
	for (unsigned i = 0; i < world->ntriggers; i++)
		options.regions[i] = world->triggers[i].name;
	options.triggers = world->triggers;
	options.ntriggers = world->ntriggers;
	world->eval = trigger_eval_new(&options);
	assert_non_null(world->eval);
}

#define BEGIN(world, ...) begin(&(world), (const char *const[]){__VA_ARGS__, NULL})
#define GENERATION(world, now, ...)                                                                          \
	do {                                                                                                 \
		const struct op list[] = {__VA_ARGS__};                                                      \
		(world).n = 0;                                                                               \
		assert_int_equal(                                                                            \
			trigger_eval_generation((world).eval, list, sizeof(list) / sizeof(list[0]), (now)),  \
			0);                                                                                  \
	} while (0)

static struct op status(uint64_t ms, uint32_t g, uint8_t is)
{
	return (struct op){.kind = OP_GO_STATUS, .time = ms * MS, .g = g, .status = is, .p = NO_P};
}

static struct op start(uint64_t ms, uint32_t g)
{
	return (struct op){.kind = OP_GO_START, .time = ms * MS, .m = 7, .g = g, .p = 0};
}

static struct op block(uint64_t ms, uint32_t g, uint32_t reason)
{
	return (struct op){.kind = OP_GO_BLOCK,
			   .time = ms * MS,
			   .m = 7,
			   .g = g,
			   .p = 0,
			   .string = reason,
			   .stack = 40 + g};
}

static struct op unblock(uint64_t ms, uint32_t by, uint32_t g)
{
	return (struct op){
		.kind = OP_GO_UNBLOCK, .time = ms * MS, .m = 8, .g = by, .g2 = g, .p = 1, .stack = 70 + by};
}

static struct op of(enum op_kind kind, uint64_t ms, uint32_t g)
{
	return (struct op){.kind = kind, .time = ms * MS, .m = 7, .g = g, .p = 0};
}

static struct op create(uint64_t ms, uint32_t by, uint32_t g)
{
	return (struct op){.kind = OP_GO_CREATE, .time = ms * MS, .m = 7, .g = by, .g2 = g, .p = 0};
}

static void a_wait_that_was_too_long_fires_where_it_ends(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "blocked>50ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNING), block(100, 1, SYNC),
		   unblock(151, 2, 1), of(OP_GO_STOP, 152, 2), start(153, 1));
	assert_int_equal(world.n, 1);
	assert_int_equal(world.fired[0].g, 1);
	assert_int_equal(world.fired[0].place, 5); /* after its start, when it runs */
	assert_int_equal(world.fired[0].value, 51 * MS);
	assert_int_equal(world.fired[0].reason, SYNC);
	assert_int_equal(world.fired[0].stack, 41);
	assert_false(world.fired[0].still);
	assert_true(world.fired[0].woken);
	assert_int_equal(world.fired[0].waker, 2);
	assert_int_equal(world.fired[0].waker_stack, 72);
	trigger_eval_free(world.eval);
}

static void a_wait_that_goes_on_has_no_waker(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "blocked>50ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), block(100, 1, SYNC));
	assert_int_equal(world.n, 1);
	assert_true(world.fired[0].still);
	assert_false(world.fired[0].woken);
	assert_int_equal(world.fired[0].waker, NO_G);
	GENERATION(world, 2000 * MS, status(1000, 1, G_WAITING), unblock(1200, NO_G, 1));
	assert_int_equal(world.n, 1);
	assert_true(world.fired[0].over);
	assert_true(world.fired[0].woken);
	assert_int_equal(world.fired[0].waker, NO_G);
	trigger_eval_free(world.eval);
}

static void short_waits_and_those_of_another_kind_are_silent(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "blocked>50ms", "syscall>50ms", "runnable>50ms", "gc-pause>50ms", "goroutines>5");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNING), block(100, 1, SYNC),
		   unblock(150, 2, 1), start(200, 1), block(300, 1, SLEEP), unblock(900, 2, 1), start(901, 1),
		   block(902, 1, NETWORK), of(OP_SYSCALL_BEGIN, 905, 2), of(OP_SYSCALL_END, 955, 2));
	assert_int_equal(world.n, 0);
	GENERATION(world, 2000 * MS, status(1000, 1, G_WAITING), status(1000, 2, G_RUNNING));
	assert_int_equal(world.n, 0);
	trigger_eval_free(world.eval);
}

static void one_reason_can_be_asked_for(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "blocked:chan>50ms", "blocked:network>50ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNING),
		   status(0, 3, G_RUNNING), block(1, 1, SYNC), block(2, 2, CHAN), block(3, 3, NETWORK));
	assert_int_equal(world.n, 2);
	assert_int_equal(world.fired[0].g, 2);
	assert_ptr_equal(world.fired[0].trigger, &world.triggers[0]);
	assert_int_equal(world.fired[1].g, 3);
	trigger_eval_free(world.eval);
}

static void a_reason_is_whole_words(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "blocked:sync>50ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNING),
		   status(0, 3, G_RUNNING), status(0, 4, G_RUNNING), block(1, 1, SYNC), block(2, 2, MUTEX),
		   block(3, 3, COND), block(4, 4, CONDITION));
	assert_int_equal(world.n, 2);
	assert_int_equal(world.fired[0].g, 1);
	assert_int_equal(world.fired[1].g, 2);
	trigger_eval_free(world.eval);
}

/* Go's reason is that of groups, too: the stack says what it is. */
static void locks_can_be_asked_for(void **state)
{
	struct world world;
	struct op lock = block(1, 1, SYNC), group = block(2, 2, SYNC);

	(void)state;
	lock.stack = LOCK_STACK;
	BEGIN(world, "blocked:lock>50ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNING),
		   status(0, 3, G_RUNNING), lock, group, block(3, 3, MUTEX));
	assert_int_equal(world.n, 2);
	assert_int_equal(world.fired[0].g, 1);
	assert_int_equal(world.fired[1].g, 3);
	trigger_eval_free(world.eval);
}

static void a_sleep_may_be_a_condition(void **state)
{
	struct world world;
	struct op sleep = block(1, 1, CONDITION);

	(void)state;
	sleep.stack = SLEEP_STACK;
	BEGIN(world, "blocked>50ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNING), sleep,
		   block(2, 2, CONDITION));
	assert_int_equal(world.n, 1);
	assert_int_equal(world.fired[0].g, 2);
	trigger_eval_free(world.eval);
}

/* Where wakers are left out, wake-ups are inferred. */
static void who_ends_an_inferred_wait_is_not_known(void **state)
{
	struct world world;
	struct op woken = unblock(200, NO_G, 1);

	(void)state;
	woken.inferred = true;
	BEGIN(world, "blocked>50ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), block(1, 1, CHAN), woken, start(201, 1));
	assert_int_equal(world.n, 1);
	assert_false(world.fired[0].woken);
	trigger_eval_free(world.eval);
}

static void who_never_wakes_fires_once(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "blocked>500ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNING), block(800, 1, CHAN));
	assert_int_equal(world.n, 0);
	GENERATION(world, 2000 * MS, status(1000, 1, G_WAITING));
	assert_int_equal(world.n, 1);
	assert_true(world.fired[0].still);
	assert_int_equal(world.fired[0].place, NO_PLACE);
	assert_int_equal(world.fired[0].value, 1200 * MS);
	GENERATION(world, 3000 * MS, status(2000, 1, G_WAITING));
	assert_int_equal(world.n, 0);
	/* A wake-up after that is reported, but not as a new match. Another wait is a new match. */
	GENERATION(world, 5000 * MS, status(3000, 1, G_WAITING), unblock(3001, 2, 1), start(3002, 1),
		   block(3003, 1, CHAN));
	assert_int_equal(world.n, 2);
	assert_true(world.fired[0].over);
	assert_int_equal(world.fired[0].place, 2);
	assert_int_equal(world.fired[0].value, 2201 * MS);
	assert_false(world.fired[1].over);
	assert_true(world.fired[1].still);
	trigger_eval_free(world.eval);
}

/* Of a loop with a ticker of 600 ms. Another wait of it is one for others again after a goroutine has ended
 * one. */
static void what_a_timer_ends_is_no_wait_for_others(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "blocked>500ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNING), block(100, 1, CHAN),
		   unblock(700, NO_G, 1), start(700, 1), block(701, 1, CHAN));
	assert_int_equal(world.n, 0);
	GENERATION(world, 2000 * MS, unblock(1300, NO_G, 1), start(1301, 1), block(1302, 1, CHAN));
	assert_int_equal(world.n, 0);
	GENERATION(world, 3000 * MS, unblock(2010, 2, 1), start(2011, 1), block(2012, 1, CHAN));
	assert_int_equal(world.n, 1);
	assert_true(world.fired[0].still);
	trigger_eval_free(world.eval);
}

/* A ticker may have ended the last one: who did was left out, or not watched. */
static void who_may_work_by_the_clock_is_silent(void **state)
{
	struct world world;
	struct op woken = unblock(700, NO_G, 1);

	(void)state;
	woken.inferred = true;
	BEGIN(world, "blocked>800ms");
	GENERATION(world, 2000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNING), block(100, 1, CHAN),
		   woken, start(701, 1), block(702, 1, CHAN));
	assert_int_equal(world.n, 0);
	GENERATION(world, 4000 * MS, unblock(2100, 2, 1), start(2101, 1), block(2102, 1, CHAN));
	assert_int_equal(world.n, 1);
	trigger_eval_gap(world.eval, 4000 * MS, true);
	GENERATION(world, 5000 * MS, status(4000, 1, G_WAITING));
	trigger_eval_gap(world.eval, 5000 * MS, false);
	GENERATION(world, 6500 * MS, status(5000, 1, G_WAITING));
	assert_int_equal(world.n, 0);
	trigger_eval_free(world.eval);
}

/* It waited before the recording for a reason that is not recorded. */
static void a_timer_ends_a_wait_from_before(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "blocked>500ms", "blocked:chan>500ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_WAITING), unblock(100, NO_G, 1), start(101, 1),
		   block(102, 1, CHAN));
	assert_int_equal(world.n, 1);
	assert_ptr_equal(world.fired[0].trigger, &world.triggers[1]); /* a reason is taken at its word */
	trigger_eval_free(world.eval);
}

static void what_was_so_before_does_not_count(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "blocked>50ms", "syscall>50ms", "runnable>50ms");
	GENERATION(world, 9000 * MS, status(0, 1, G_WAITING), status(0, 2, G_SYSCALL),
		   status(0, 3, G_RUNNABLE), status(0, 4, G_RUNNING), unblock(8000, 4, 1), start(8001, 1),
		   start(8002, 3));
	assert_int_equal(world.n, 0);
	trigger_eval_free(world.eval);
}

static void after_a_loss_time_counts_again(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "blocked>500ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), block(900, 1, SYNC));
	trigger_eval_forget(world.eval);
	GENERATION(world, 1450 * MS, status(1000, 1, G_WAITING));
	assert_int_equal(world.n, 0);
	trigger_eval_gap(world.eval, 3000 * MS, false);
	GENERATION(world, 3450 * MS, status(3000, 1, G_WAITING));
	assert_int_equal(world.n, 0);
	GENERATION(world, 3550 * MS, status(3450, 1, G_WAITING));
	assert_int_equal(world.n, 1);
	assert_int_equal(world.fired[0].value, 550 * MS);
	/* A state found at the end of the gap is dated back to its start. How long it lasted is not known. */
	trigger_eval_gap(world.eval, 9000 * MS, false);
	GENERATION(world, 9400 * MS, status(3550, 1, G_WAITING), unblock(3551, 0, 1), start(9100, 1),
		   block(9101, 1, SYNC));
	assert_int_equal(world.n, 0);
	trigger_eval_free(world.eval);
}

/* A gap is a generation of its own, or several, and states seem to last through it. */
static void nothing_fires_while_nothing_is_watched(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "blocked>300ms", "runnable>200ms", "syscall>200ms", "func main.handle>200ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNING),
		   status(0, 3, G_RUNNING), status(0, 4, G_RUNNING), of(OP_GO_STOP, 990, 2),
		   of(OP_SYSCALL_BEGIN, 990, 3), block(990, 4, SYNC), block(1000, 1, NOT_WATCHED));
	assert_int_equal(world.n, 0);
	trigger_eval_gap(world.eval, 1000 * MS, true);
	trigger_eval_forget(world.eval); /* a loss in a gap changes nothing */
	GENERATION(world, 2000 * MS, status(1000, 1, G_WAITING), status(1000, 2, G_RUNNABLE));
	assert_int_equal(world.n, 0);
	GENERATION(world, 3000 * MS, status(2000, 1, G_WAITING), start(2990, 2));
	assert_int_equal(world.n, 0);
	trigger_eval_gap(world.eval, 3000 * MS, false);
	GENERATION(world, 3250 * MS, status(3000, 4, G_WAITING));
	assert_int_equal(world.n, 1); /* in the system call since the gap ended, at least */
	assert_int_equal(world.fired[0].g, 3);
	assert_int_equal(world.fired[0].value, 250 * MS);
	GENERATION(world, 3400 * MS, status(3250, 4, G_WAITING));
	assert_int_equal(world.n, 1); /* not the first, whose reason to wait nobody saw */
	assert_int_equal(world.fired[0].g, 4);
	assert_int_equal(world.fired[0].value, 400 * MS);
	trigger_eval_free(world.eval);
}

static void waiting_for_a_p(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "runnable>10ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), create(100, 1, 2), create(100, 1, SYSTEM_G),
		   of(OP_GO_STOP, 105, 1), start(111, 2), of(OP_GO_DESTROY, 112, 2), start(113, SYSTEM_G),
		   of(OP_GO_STOP, 114, SYSTEM_G), start(114, 1));
	assert_int_equal(world.n, 1);
	assert_int_equal(world.fired[0].g, 2);
	assert_int_equal(world.fired[0].place, 4);
	assert_int_equal(world.fired[0].value, 11 * MS);
	/* Another goroutine has the same index in the same generation: nothing is left of the first. */
	GENERATION(world, 2000 * MS, status(1000, 1, G_RUNNING), create(1001, 1, 2), start(1005, 2));
	assert_int_equal(world.n, 0);
	trigger_eval_free(world.eval);
}

static void system_calls(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "syscall>100ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNING),
		   status(0, 3, G_RUNNING), of(OP_SYSCALL_BEGIN, 1, 1), of(OP_SYSCALL_END, 102, 1),
		   of(OP_SYSCALL_BEGIN, 103, 2), of(OP_SYSCALL_END_BLOCKED, 204, 2), start(300, 2),
		   of(OP_SYSCALL_BEGIN, 850, 3));
	assert_int_equal(world.n, 3);
	assert_int_equal(world.fired[0].g, 1);
	assert_int_equal(world.fired[0].place, 4);
	assert_int_equal(world.fired[1].g, 2);
	assert_int_equal(world.fired[1].place, 7);
	assert_int_equal(world.fired[1].value, 101 * MS);
	assert_int_equal(world.fired[2].g, 3);
	assert_true(world.fired[2].still);
	trigger_eval_free(world.eval);
}

static struct op stop_world(uint64_t ms, uint32_t g, uint32_t kind)
{
	return (struct op){.kind = OP_STW_BEGIN, .time = ms * MS, .m = 7, .g = g, .p = 0, .string = kind};
}

static void pauses_of_the_collector(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "gc-pause>5ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), stop_world(1, 1, GC_MARK), of(OP_STW_END, 5, 1),
		   stop_world(10, 1, PROFILE), of(OP_STW_END, 50, 1), stop_world(60, 1, GC_MARK),
		   of(OP_STW_END, 67, 1));
	assert_int_equal(world.n, 1);
	assert_int_equal(world.fired[0].g, 1);
	assert_int_equal(world.fired[0].place, 6);
	assert_int_equal(world.fired[0].value, 7 * MS);
	assert_int_equal(world.fired[0].reason, GC_MARK);
	trigger_eval_free(world.eval);
}

static void how_many_there_are(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "goroutines>3");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNABLE), create(1, 1, 3),
		   create(2, 1, 4), create(3, 1, 5));
	assert_int_equal(world.n, 1);
	assert_int_equal(world.fired[0].g, 1); /* the creator */
	assert_int_equal(world.fired[0].place, 3);
	assert_int_equal(world.fired[0].value, 4);
	GENERATION(world, 2000 * MS, status(1000, 1, G_RUNNING), status(1000, 2, G_RUNNABLE),
		   status(1000, 3, G_RUNNABLE), status(1000, 4, G_RUNNABLE), status(1000, 5, G_RUNNABLE),
		   start(1001, 3), of(OP_GO_DESTROY, 1002, 3), start(1003, 4), of(OP_GO_DESTROY, 1004, 4),
		   start(1005, 5), of(OP_GO_DESTROY, 1006, 5), create(1007, 1, 3), create(1008, 1, 4));
	assert_int_equal(world.n, 1); /* it dropped below the limit, and exceeded it again */
	assert_int_equal(world.fired[0].place, 12);
	trigger_eval_free(world.eval);
}

static void a_crowd_fires_no_more_than_it_may(void **state)
{
	struct op ops[1000];
	struct world world;
	size_t n = 0;

	(void)state;
	BEGIN(world, "blocked>50ms");
	for (uint32_t g = 1; g <= 200; g++)
		ops[n++] = status(0, g, G_RUNNING);
	for (uint32_t g = 1; g <= 200; g++)
		ops[n++] = block(1, g, SYNC);
	for (uint32_t g = 1; g <= 200; g++)
		ops[n++] = unblock(100, 0, g);
	assert_int_equal(trigger_eval_generation(world.eval, ops, n, 1000 * MS), 0);
	assert_int_equal(world.n, MAX_MATCHES);
	/* A goroutine that did not run again has no place. */
	for (unsigned i = 0; i < world.n; i++)
		assert_int_equal(world.fired[i].place, NO_PLACE);
	world.n = 0;
	assert_int_equal(trigger_eval_generation(world.eval, ops, 0, 2000 * MS), 0);
	assert_int_equal(world.n, 0);
	trigger_eval_free(world.eval);
}

static struct op region(enum op_kind kind, uint64_t ms, uint32_t g, uint32_t name)
{
	return (struct op){
		.kind = kind, .time = ms * MS, .m = 7, .g = g, .p = 0, .string = name, .stack = 60 + g};
}

/* A goroutine's index for which there is no memory. */
#define NO_MEMORY UINT32_MAX

static void generations_without_memory_leave_nothing_behind(void **state)
{
	enum { ROUNDS = MAX_TRIGGERS + 1 };
	struct op ops[3 * MAX_MATCHES + 1];
	struct world world;

	(void)state;
	BEGIN(world, "blocked>50ms");
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t ms = 1000ull * round;
		size_t n = 0;

		for (uint32_t g = 1; g <= MAX_MATCHES; g++) {
			ops[n++] = status(ms, g, G_RUNNING);
			ops[n++] = block(ms + 1, g, SYNC);
			ops[n++] = unblock(ms + 100, NO_G, g);
		}
		ops[n++] = status(ms + 101, NO_MEMORY, G_RUNNING);
		assert_int_equal(trigger_eval_generation(world.eval, ops, n, (ms + 999) * MS), -ENOMEM);
	}
	/* What was pending or open is forgotten. */
	GENERATION(world, 1000 * ROUNDS * MS, status(1000 * ROUNDS - 1, 1, G_RUNNING));
	assert_int_equal(world.n, 0);
	GENERATION(world, 1000 * (ROUNDS + 1) * MS, block(1000 * ROUNDS + 1, 1, SYNC),
		   unblock(1000 * ROUNDS + 100, NO_G, 1));
	assert_int_equal(world.n, 1);
	trigger_eval_free(world.eval);
}

static void calls_of_functions(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "func main.handle>50ms", "func main.handle>80ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNING),
		   region(OP_REGION_END, 1, 1, HANDLE), /* it began at an unknown time */
		   region(OP_REGION_BEGIN, 100, 1, HANDLE), region(OP_REGION_BEGIN, 105, 1, OTHER),
		   region(OP_REGION_BEGIN, 110, 2, HANDLE), region(OP_REGION_END, 150, 2, HANDLE),
		   region(OP_REGION_BEGIN, 160, 1, HANDLE), region(OP_REGION_END, 165, 1, HANDLE),
		   region(OP_REGION_END, 166, 1, OTHER), region(OP_REGION_END, 170, 1, HANDLE));
	assert_int_equal(world.n, 1);
	assert_ptr_equal(world.fired[0].trigger, &world.triggers[0]);
	assert_int_equal(world.fired[0].g, 1);
	assert_int_equal(world.fired[0].place, 10);
	assert_int_equal(world.fired[0].value, 70 * MS);
	assert_int_equal(world.fired[0].stack, 61);
	assert_int_equal(world.fired[0].reason, HANDLE);
	trigger_eval_free(world.eval);
}

static void calls_that_go_on_and_that_end_with_their_goroutine(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "func main.handle>50ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNING),
		   region(OP_REGION_BEGIN, 900, 1, HANDLE), region(OP_REGION_BEGIN, 980, 2, HANDLE));
	assert_int_equal(world.n, 1);
	assert_true(world.fired[0].still);
	assert_int_equal(world.fired[0].place, NO_PLACE);
	GENERATION(world, 2000 * MS, region(OP_REGION_END, 1100, 1, HANDLE), of(OP_GO_DESTROY, 1200, 2));
	assert_int_equal(world.n, 2);
	assert_true(world.fired[0].over);
	assert_int_equal(world.fired[0].place, 0);
	assert_int_equal(world.fired[1].g, 2);
	assert_false(world.fired[1].over);
	assert_int_equal(world.fired[1].value, 220 * MS);
	GENERATION(world, 3000 * MS, status(2000, 1, G_RUNNING));
	assert_int_equal(world.n, 0);
	trigger_eval_free(world.eval);
}

/* The end may have been among the lost records. */
static void calls_from_before_a_loss_are_silent(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "func main.handle>50ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), region(OP_REGION_BEGIN, 990, 1, HANDLE));
	trigger_eval_forget(world.eval);
	GENERATION(world, 2000 * MS, region(OP_REGION_END, 1500, 1, HANDLE),
		   region(OP_REGION_BEGIN, 1600, 1, HANDLE), region(OP_REGION_END, 1700, 1, HANDLE));
	assert_int_equal(world.n, 1);
	assert_int_equal(world.fired[0].value, 100 * MS);
	trigger_eval_free(world.eval);
}

static void the_queue_is_of_those_runnable_at_once(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "queue>2");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_RUNNABLE), create(1, 1, 3),
		   start(2, 2), block(3, 2, SYNC), create(4, 1, 4), unblock(5, 1, 2), create(6, 1, 5));
	assert_int_equal(world.n, 1); /* 3, 4 and 2; then still more */
	assert_int_equal(world.fired[0].place, 6);
	assert_int_equal(world.fired[0].g, 1);
	assert_int_equal(world.fired[0].value, 3);
	GENERATION(world, 2000 * MS, start(1001, 2), block(1002, 2, SYNC), start(1003, 3),
		   block(1004, 3, SYNC), start(1005, 4), block(1006, 4, SYNC), unblock(1007, 1, 2),
		   unblock(1008, 1, 3));
	assert_int_equal(world.n, 1); /* it was 1, and is 3 again */
	trigger_eval_free(world.eval);
}

static void what_is_runnable_before_a_gap_is_not_queued_in_it(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "queue>2", "goroutines>4");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), create(1, 1, 2), create(2, 1, 3));
	assert_int_equal(world.n, 0);
	trigger_eval_gap(world.eval, 1000 * MS, true);
	GENERATION(world, 2000 * MS, create(1500, 1, 4), create(1501, 1, 5));
	assert_int_equal(world.n, 0);
	trigger_eval_free(world.eval);
}

/* They may have run in the gap. */
static void what_was_runnable_before_a_gap_is_not_queued_after_it(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "queue>2");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), create(1, 1, 2), create(2, 1, 3));
	trigger_eval_gap(world.eval, 1000 * MS, true);
	trigger_eval_gap(world.eval, 2000 * MS, false);
	GENERATION(world, 3000 * MS, create(2500, 1, 4), start(2501, 2));
	assert_int_equal(world.n, 0);
	GENERATION(world, 4000 * MS, create(3500, 1, 5), create(3501, 1, 6));
	assert_int_equal(world.n, 1); /* 4, 5 and 6 */
	assert_int_equal(world.fired[0].value, 3);
	trigger_eval_free(world.eval);
}

static void a_switch_of_coroutines_queues_nobody(void **state)
{
	struct op to = of(OP_GO_SWITCH, 3, 1);
	struct world world;

	(void)state;
	BEGIN(world, "queue>2");
	to.g2 = 2;
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), status(0, 2, G_WAITING), create(1, 1, 3),
		   create(2, 1, 4), to);
	assert_int_equal(world.n, 0);
	trigger_eval_free(world.eval);
}

static struct op heap_goal_of(uint64_t ms, uint64_t bytes)
{
	return (struct op){.kind = OP_HEAP_GOAL, .time = ms * MS, .arg = bytes};
}

static void the_goal_of_the_heap_fires_when_it_rises(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "heap>100M");
	GENERATION(world, 1000 * MS, heap_goal_of(1, UINT64_MAX), heap_goal_of(2, 100 << 20),
		   heap_goal_of(3, 101 << 20), heap_goal_of(4, 95 << 20), heap_goal_of(5, 120 << 20),
		   heap_goal_of(6, 80 << 20));
	assert_int_equal(world.n, 1); /* no goal is not a large one; 95 is not a tenth below */
	assert_int_equal(world.fired[0].value, 101 << 20);
	GENERATION(world, 2000 * MS, heap_goal_of(1001, 200 << 20));
	assert_int_equal(world.n, 1);
	trigger_eval_gap(world.eval, 2000 * MS, true);
	GENERATION(world, 3000 * MS, heap_goal_of(2001, 1 << 20), heap_goal_of(2002, 200 << 20));
	assert_int_equal(world.n, 0);
	trigger_eval_free(world.eval);
}

static struct op task_op(enum op_kind kind, uint64_t ms, uint32_t g, uint64_t id, uint32_t name)
{
	return (struct op){.kind = kind,
			   .time = ms * MS,
			   .m = 7,
			   .g = g,
			   .p = 0,
			   .arg = id,
			   .string = name,
			   .stack = 60 + g};
}

static void a_slow_task_fires_by_its_name(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "request>50ms:main.handle");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), task_op(OP_TASK_BEGIN, 10, 1, 5, HANDLE),
		   task_op(OP_TASK_BEGIN, 10, 1, 6, OTHER), task_op(OP_TASK_BEGIN, 10, 1, 7, HANDLE),
		   task_op(OP_TASK_END, 50, 1, 7, 0), task_op(OP_TASK_END, 71, 1, 5, 0),
		   task_op(OP_TASK_END, 80, 1, 6, 0), task_op(OP_TASK_END, 90, 1, 5, 0));
	assert_int_equal(world.n, 1);
	assert_int_equal(world.fired[0].g, 1);
	assert_int_equal(world.fired[0].place, 5);
	assert_int_equal(world.fired[0].value, 61 * MS);
	assert_false(world.fired[0].still);
	trigger_eval_free(world.eval);
}

static void an_open_task_fires_once_and_where_it_ends(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "request>50ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), task_op(OP_TASK_BEGIN, 900, 1, 5, HANDLE));
	assert_int_equal(world.n, 1);
	assert_true(world.fired[0].still);
	GENERATION(world, 2000 * MS, status(1000, 1, G_RUNNING));
	assert_int_equal(world.n, 0);
	GENERATION(world, 3000 * MS, task_op(OP_TASK_END, 2500, 2, 5, 0));
	assert_int_equal(world.n, 1);
	assert_true(world.fired[0].over);
	assert_int_equal(world.fired[0].place, NO_PLACE); /* another goroutine ended it */
	assert_int_equal(world.fired[0].value, 1600 * MS);
	trigger_eval_free(world.eval);
}

static void a_task_across_a_gap_does_not_fire(void **state)
{
	struct world world;

	(void)state;
	BEGIN(world, "request>50ms");
	GENERATION(world, 1000 * MS, status(0, 1, G_RUNNING), task_op(OP_TASK_BEGIN, 990, 1, 5, HANDLE));
	trigger_eval_gap(world.eval, 1000 * MS, true);
	trigger_eval_gap(world.eval, 1500 * MS, false);
	GENERATION(world, 3000 * MS, task_op(OP_TASK_END, 2500, 1, 5, 0));
	assert_int_equal(world.n, 0);
	trigger_eval_free(world.eval);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_queue_is_of_those_runnable_at_once),
	cmocka_unit_test(what_is_runnable_before_a_gap_is_not_queued_in_it),
	cmocka_unit_test(what_was_runnable_before_a_gap_is_not_queued_after_it),
	cmocka_unit_test(a_switch_of_coroutines_queues_nobody),
	cmocka_unit_test(the_goal_of_the_heap_fires_when_it_rises),
	cmocka_unit_test(a_slow_task_fires_by_its_name),
	cmocka_unit_test(an_open_task_fires_once_and_where_it_ends),
	cmocka_unit_test(a_task_across_a_gap_does_not_fire),
	cmocka_unit_test(a_wait_that_was_too_long_fires_where_it_ends),
	cmocka_unit_test(a_wait_that_goes_on_has_no_waker),
	cmocka_unit_test(short_waits_and_those_of_another_kind_are_silent),
	cmocka_unit_test(one_reason_can_be_asked_for),
	cmocka_unit_test(a_reason_is_whole_words),
	cmocka_unit_test(locks_can_be_asked_for),
	cmocka_unit_test(a_sleep_may_be_a_condition),
	cmocka_unit_test(who_ends_an_inferred_wait_is_not_known),
	cmocka_unit_test(what_a_timer_ends_is_no_wait_for_others),
	cmocka_unit_test(who_may_work_by_the_clock_is_silent),
	cmocka_unit_test(a_timer_ends_a_wait_from_before),
	cmocka_unit_test(who_never_wakes_fires_once),
	cmocka_unit_test(what_was_so_before_does_not_count),
	cmocka_unit_test(after_a_loss_time_counts_again),
	cmocka_unit_test(nothing_fires_while_nothing_is_watched),
	cmocka_unit_test(waiting_for_a_p),
	cmocka_unit_test(system_calls),
	cmocka_unit_test(pauses_of_the_collector),
	cmocka_unit_test(how_many_there_are),
	cmocka_unit_test(calls_of_functions),
	cmocka_unit_test(calls_that_go_on_and_that_end_with_their_goroutine),
	cmocka_unit_test(calls_from_before_a_loss_are_silent),
	cmocka_unit_test(a_crowd_fires_no_more_than_it_may),
	cmocka_unit_test(generations_without_memory_leave_nothing_behind),
};

UNIT_TESTS(tests, NULL, NULL);
