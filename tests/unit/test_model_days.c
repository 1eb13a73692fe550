/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A recorder that runs for days must not accumulate stacks and threads. */
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "annotate/annotate.h"
#include "op_rules.h"
#include "sim.h"
#include "util/strtab.h"

enum { FRAMES = 4, HOT = 5, CREATOR = 0x5000, P_PTR = 0x7000 };

/* A goroutine on one thread that parks and is woken, each time with a numbered stack. */
struct world {
	struct model *model;
	struct strtab *strings;
	struct op_rules *rules;
	uint64_t now, expected[4096];
	size_t nexpected, checked;
	uint32_t nstacks; /* number of ids in the last generation */
	uint32_t thread;
};

static uint64_t hash_of(uint64_t number)
{
	return number * 0x9e3779b97f4a7c15ull | 1;
}

static int take(void *ctx, const struct generation *gen)
{
	struct world *world = ctx;
	struct error err;

	world->nstacks = gen->tables->nstacks;
	if (op_rules_generation(world->rules, gen, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];
		const struct stack *stack = &gen->tables->stacks[op->stack];

		if (op->kind != OP_GO_BLOCK || op->g != 1)
			continue;
		assert_true(op->stack > 0);
		assert_int_equal(stack->n, FRAMES);
		assert_int_equal(stack->pcs[0], world->expected[world->checked++]);
	}
	return 0;
}

static void put(struct world *world, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	assert_int_equal(model_feed(world->model, &record, NULL), 0);
}

static void begin(struct world *world, bool any_first)
{
	struct log_target target = {.pid = 7, .flags = LOG_TARGET_GO, .go_minor = 26};
	struct log_snapshot info = {.marker_before = 1, .marker_after = 2, .gomaxprocs = 1};
	struct raw_record markers[2] = {{.site = SITE_MARKER, .arg = 1, .time = 1},
					{.site = SITE_MARKER, .arg = 2, .time = 2}};
	struct log_g g = {.g = CREATOR, .goid = 1, .m = 0x6000, .status = 2, .tid = 100};
	struct log_p p = {.p = P_PTR, .id = 0, .status = 1, .tid = 100};
	struct log_m m = {.m = 0x6000, .curg = CREATOR, .p = P_PTR, .tid = 100, .status = 2, .p_status = 1};

	*world = (struct world){.now = 1000, .thread = 100};
	world->strings = strtab_new();
	world->rules = op_rules_new();
	world->model = annotate_model_new(
		&(struct model_options){
			.sink = take, .ctx = world, .strings = world->strings, .any_first = any_first},
		NULL);
	assert_non_null(world->model);
	put(world, LOG_TARGET, &target, sizeof(target));
	put(world, LOG_RECORDS, markers, sizeof(markers));
	put(world, LOG_SNAPSHOT, &info, sizeof(info));
	put(world, LOG_GS, &g, sizeof(g));
	put(world, LOG_PS, &p, sizeof(p));
	put(world, LOG_MS, &m, sizeof(m));
	put(world, LOG_SNAPSHOT_END, NULL, 0);
}

static void end(struct world *world)
{
	assert_int_equal(model_finish(world->model, NULL), 0);
	assert_int_equal(world->checked, world->nexpected);
	model_free(world->model);
	op_rules_free(world->rules);
	strtab_free(world->strings);
}

static void send_stack(struct world *world, uint64_t number)
{
	struct {
		struct raw_stack head;
		uint64_t pcs[FRAMES];
	} stack = {.head = {.n = FRAMES, .site = SITE_STACK, .hash = hash_of(number)}};

	for (uint64_t i = 0; i < FRAMES; i++)
		stack.pcs[i] = number * FRAMES + i + 1;
	put(world, LOG_STACK, &stack, sizeof(stack));
}

static struct raw_record record(struct world *world, uint8_t site, uint64_t g, uint64_t goid)
{
	return (struct raw_record){.site = site,
				   .time = world->now += 1000,
				   .tid = world->thread,
				   .g = g,
				   .goid = goid,
				   .p = P_PTR};
}

/* Parks with this stack, is woken and runs again. */
static void park(struct world *world, uint64_t number)
{
	struct raw_record park = record(world, SITE_PARK, CREATOR, 1);
	struct raw_record ready = record(world, SITE_UNBLOCK, CREATOR, 1);
	struct raw_record execute = record(world, SITE_EXECUTE, CREATOR, 1);

	park.stack = hash_of(number);
	put(world, LOG_RECORDS, &park, sizeof(park));
	put(world, LOG_RECORDS, &ready, sizeof(ready));
	put(world, LOG_RECORDS, &execute, sizeof(execute));
	assert_true(world->nexpected < sizeof(world->expected) / sizeof(world->expected[0]));
	world->expected[world->nexpected++] = number * FRAMES + 1;
}

static void boundary(struct world *world)
{
	struct log_boundary boundary = {.time_before = world->now += 1000, .time_after = world->now};

	boundary.clock.mono_ns = world->now;
	put(world, LOG_BOUNDARY, &boundary, sizeof(boundary));
}

static void renew(struct world *world)
{
	struct log_note note = {.time = world->now, .flags = LOG_NOTE_RENEW};

	put(world, LOG_NOTE, &note, sizeof(note));
}

/* An epoch with many stacks of its own. Hot stacks are sent once per epoch, at their first use. */
static void epoch(struct world *world, uint64_t number, unsigned stacks)
{
	for (unsigned i = 0; i < stacks; i++) {
		uint64_t own = 1000000 + number * 10000 + i;

		send_stack(world, own);
		park(world, own);
		if (i < HOT)
			send_stack(world, i + 1);
		park(world, i % HOT + 1);
		if (i % 8 == 7)
			boundary(world);
	}
}

static void stacks_are_forgotten_and_stay_right(void **state)
{
	struct world world;

	(void)state;
	begin(&world, true);
	for (uint64_t i = 0; i < 50; i++) {
		epoch(&world, i, 40);
		renew(&world);
		boundary(&world);
	}
	/* At most the stacks of three epochs, plus the permanent ones. */
	assert_true(world.nstacks < 4 * (40 + HOT));
	end(&world);
}

/* A record was in flight when the kernel forgot its stacks: it refers to one that is not sent again. */
static void a_late_record_has_its_stack(void **state)
{
	struct world world;

	(void)state;
	begin(&world, true);
	for (uint64_t i = 0; i < 20; i++) {
		send_stack(&world, 500 + i);
		park(&world, 500 + i);
		renew(&world);
		park(&world, 500 + i);
		boundary(&world);
	}
	end(&world);
}

/* The stack of a waiting goroutine is written at the start of each generation. */
static void the_stack_of_a_long_wait_stays(void **state)
{
	struct world world;
	struct raw_record waits, execute, ready;

	(void)state;
	begin(&world, true);
	waits = record(&world, SITE_PARK, CREATOR, 1);
	send_stack(&world, 1);
	waits.stack = hash_of(1);
	put(&world, LOG_RECORDS, &waits, sizeof(waits));
	world.expected[world.nexpected++] = FRAMES + 1;
	for (unsigned i = 0; i < 10; i++) {
		renew(&world);
		boundary(&world);
	}
	ready = record(&world, SITE_UNBLOCK, CREATOR, 1);
	execute = record(&world, SITE_EXECUTE, CREATOR, 1);
	put(&world, LOG_RECORDS, &ready, sizeof(ready));
	put(&world, LOG_RECORDS, &execute, sizeof(execute));
	assert_true(world.nstacks < 10);
	park(&world, 1); /* it was in use all the time */
	end(&world);
}

static void other_logs_keep_all(void **state)
{
	struct world world;

	(void)state;
	begin(&world, false);
	for (uint64_t i = 0; i < 20; i++) {
		epoch(&world, i, 16);
		renew(&world);
		boundary(&world);
	}
	assert_true(world.nstacks > 20 * 16);
	end(&world);
}

static void threads_that_ended_are_forgotten(void **state)
{
	struct world world;
	size_t most = 0;

	(void)state;
	begin(&world, true);
	for (unsigned i = 0; i < 40; i++) {
		for (unsigned k = 0; k < 500; k++) {
			struct raw_record take, drop;

			world.thread = 1000 + i * 500 + k; /* the other P moves from thread to thread */
			take = record(&world, SITE_ACQUIREP, 0, 0);
			drop = record(&world, SITE_RELEASEP, 0, 0);
			take.p = drop.p = P_PTR + 0x100;
			take.arg2 = drop.arg2 = 1;
			put(&world, LOG_RECORDS, &take, sizeof(take));
			put(&world, LOG_RECORDS, &drop, sizeof(drop));
		}
		world.now += 500000000;
		boundary(&world);
		most = model_threads(world.model) > most ? model_threads(world.model) : most;
	}
	assert_true(most > 10000); /* a small number of threads is not cleaned up */
	assert_true(most < (1 << 14) + 20 * 500 + 500);
	end(&world);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(stacks_are_forgotten_and_stay_right), cmocka_unit_test(a_late_record_has_its_stack),
	cmocka_unit_test(the_stack_of_a_long_wait_stays),      cmocka_unit_test(other_logs_keep_all),
	cmocka_unit_test(threads_that_ended_are_forgotten),
};

UNIT_TESTS(tests, NULL, NULL);
