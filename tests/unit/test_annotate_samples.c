/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* CPU samples in a program that gotrace started: goroutine, P, time, and that they change nothing else. */
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "checked_model.h"

enum { P0 = 0xc000050000, G1 = 0xc000001000, G2 = 0xc000002000, TID = 500, START = 1000000 };

struct seen {
	struct checked_model checked;
	struct op samples[16]; /* of the last generation */
	uint64_t goids[16];
	size_t n;
	uint64_t ops, gen_end;
	bool behind;  /* no op follows a sample */
	bool special; /* the last sample's stack is marked as a sample's */
};

static int take_generation(void *ctx, const struct generation *gen)
{
	struct seen *seen = ctx;

	checked_model_check(&seen->checked, gen);
	seen->n = 0;
	seen->behind = true;
	seen->gen_end = gen->end;
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		if (op->kind != OP_CPU_SAMPLE) {
			seen->behind = seen->behind && seen->n == 0;
			seen->ops++;
			continue;
		}
		assert_true(seen->n < 16);
		seen->goids[seen->n] = gen->tables->goids[op->g];
		if (op->stack)
			seen->special = gen->tables->stacks[op->stack].sample;
		seen->samples[seen->n++] = *op;
	}
	return 0;
}

static void feed(struct seen *seen, uint32_t type, const void *data, size_t size)
{
	checked_model_feed(&seen->checked, type, data, size);
}

static void put(struct seen *seen, struct raw_record rec)
{
	rec.tid = rec.tid ? rec.tid : TID;
	feed(seen, LOG_RECORDS, &rec, sizeof(rec));
}

static void put_sample(struct seen *seen, uint64_t time, uint64_t g, uint64_t goid, uint64_t p)
{
	put(seen, (struct raw_record){.site = SITE_CPU_SAMPLE, .time = time, .g = g, .goid = goid, .p = p});
}

/* A thread with a P, on which G1 (number 1) runs. */
static void begin(struct seen *seen)
{
	struct model_options options = {.sink = take_generation, .ctx = seen};
	struct log_target target = {.flags = LOG_TARGET_GO | LOG_TARGET_SPAWNED, .go_minor = 26};

	*seen = (struct seen){0};
	checked_model_new(&seen->checked, options);
	feed(seen, LOG_TARGET, &target, sizeof(target));
	put(seen, (struct raw_record){.site = SITE_ACQUIREP, .time = START, .p = P0, .arg2 = 3});
	put(seen, (struct raw_record){.site = SITE_NEWPROC, .time = START + 10, .p = P0, .g = G1, .goid = 1});
	put(seen, (struct raw_record){.site = SITE_EXECUTE, .time = START + 20, .p = P0, .g = G1, .goid = 1});
}

static void end(struct seen *seen)
{
	checked_model_finish(&seen->checked);
	assert_true(seen->behind);
	checked_model_free(&seen->checked);
}

static void a_sample_names_who_ran(void **state)
{
	struct seen seen;

	(void)state;
	begin(&seen);
	put_sample(&seen, START + 5000, G1, 1, P0);
	end(&seen);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.goids[0], 1);
	assert_int_equal(seen.samples[0].m, TID);
	assert_int_equal(seen.samples[0].p, 3);
	assert_int_equal(seen.samples[0].time, START + 5000);
	assert_true(seen.gen_end >= START + 5000);
}

static void unknown_goroutines_are_omitted(void **state)
{
	struct seen seen;

	(void)state;
	begin(&seen);
	put_sample(&seen, START + 1000, 0, 0, P0);  /* scheduler code */
	put_sample(&seen, START + 2000, G2, 2, P0); /* unknown */
	/* Another goroutine in the struct of the known one. */
	put_sample(&seen, START + 3000, G1, 7, P0);
	put_sample(&seen, START + 4000, G1, 1, P0 + 512); /* an unknown P */
	put_sample(&seen, START + 5000, G1, 1, 0);
	end(&seen);
	assert_int_equal(seen.n, 5);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(seen.samples[i].g, NO_G);
		assert_int_equal(seen.samples[i].p, 3);
	}
	for (int i = 3; i < 5; i++) {
		assert_int_equal(seen.goids[i], 1);
		assert_int_equal(seen.samples[i].p, NO_P);
	}
}

/* A sample does not affect states: the ops are the same with and without samples. */
static void samples_change_nothing(void **state)
{
	uint64_t ops[2];

	(void)state;
	for (int with = 0; with < 2; with++) {
		struct seen seen;

		begin(&seen);
		for (unsigned i = 0; with && i < 8; i++) /* of threads and goroutines that do not exist */
			put(&seen, (struct raw_record){.site = SITE_CPU_SAMPLE,
						       .tid = 900 + i,
						       .time = START + 100,
						       .g = G2,
						       .goid = 9,
						       .p = P0});
		put(&seen,
		    (struct raw_record){.site = SITE_PARK, .time = START + 200, .p = P0, .g = G1, .goid = 1});
		end(&seen);
		ops[with] = seen.ops;
	}
	assert_int_equal(ops[0], ops[1]);
}

/* A sample's record can be older than its generation, and newer than all other events in it. */
static void times_stay_in_the_generation(void **state)
{
	struct log_boundary boundary = {.time_before = START + 50000, .time_after = START + 50000};
	struct seen seen;
	uint64_t first_end;

	(void)state;
	begin(&seen);
	put_sample(&seen, START + 40000, G1, 1, P0);
	feed(&seen, LOG_BOUNDARY, &boundary, sizeof(boundary));
	assert_int_equal(seen.n, 1);
	first_end = seen.gen_end;
	assert_true(first_end >= START + 40000);
	put_sample(&seen, START + 45000, G1, 1, P0);
	end(&seen);
	assert_int_equal(seen.n, 1);
	assert_true(seen.samples[0].time > first_end);
}

static void its_stack_is_reported_apart(void **state)
{
	uint64_t words[2 + 3] = {0};
	struct raw_stack *stack = (struct raw_stack *)words;
	struct seen seen;

	(void)state;
	stack->n = 3;
	stack->site = SITE_STACK;
	stack->flags = RAW_STACK_SAMPLE;
	stack->hash = 77;
	stack->pcs[0] = 0x401001;
	stack->pcs[2] = 0x402000;
	begin(&seen);
	feed(&seen, LOG_STACK, stack, sizeof(words));
	put(&seen, (struct raw_record){.site = SITE_CPU_SAMPLE, .time = START + 900, .g = G1, .stack = 77});
	end(&seen);
	assert_int_equal(seen.n, 1);
	assert_true(seen.samples[0].stack != 0 && seen.special);
}

static void threads_of_ours_have_none(void **state)
{
	struct seen seen;

	(void)state;
	begin(&seen);
	put(&seen, (struct raw_record){.site = SITE_CPU_SAMPLE, .tid = 0x7fffffff, .time = START + 900});
	end(&seen);
	assert_int_equal(seen.n, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_sample_names_who_ran),      cmocka_unit_test(unknown_goroutines_are_omitted),
	cmocka_unit_test(samples_change_nothing),      cmocka_unit_test(times_stay_in_the_generation),
	cmocka_unit_test(its_stack_is_reported_apart), cmocka_unit_test(threads_of_ours_have_none),
};

UNIT_TESTS(tests, NULL, NULL);
