/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * C calls in Go up to 1.21: which system calls are the goroutine's, and which are the runtime's. And what a
 * thread does with a P that it has given up in a call.
 */
#include <string.h>

#include "unit.h"

#include "checked_model.h"

enum { P0 = 0xc000050000, G1 = 0xc000001000, TID = 500, START = 1000000, GSYSCALL = 3 };
enum { NR_WRITE = 1, NR_SCHED_YIELD = 24, NR_FUTEX = 202 }; /* amd64's */

struct run {
	struct checked_model checked;
	uint64_t now;
	unsigned calls, ends, heap; /* ops: calls, their ends, sizes of the heap */
};

static int take_generation(void *ctx, const struct generation *gen)
{
	struct run *run = ctx;

	checked_model_check(&run->checked, gen);
	for (size_t i = 0; i < gen->nops; i++) {
		unsigned kind = gen->ops[i].kind;

		run->calls += kind == OP_SYSCALL_BEGIN;
		run->ends += kind == OP_SYSCALL_END || kind == OP_SYSCALL_END_BLOCKED;
		run->heap += kind == OP_HEAP_ALLOC;
	}
	return 0;
}

static void feed(struct run *run, uint32_t type, const void *data, size_t size)
{
	checked_model_feed(&run->checked, type, data, size);
}

static void put(struct run *run, struct raw_record rec)
{
	rec.tid = TID;
	rec.time = run->now += 1000;
	rec.g = rec.site == SITE_ACQUIREP ? 0 : G1;
	rec.goid = rec.g ? 1 : 0;
	feed(run, LOG_RECORDS, &rec, sizeof(rec));
}

/* A thread with a P, on which G1 runs, of a program that gotrace started. */
static void begin(struct run *run, unsigned go_minor)
{
	struct model_options options = {.sink = take_generation, .ctx = run};
	struct log_target target = {.flags = LOG_TARGET_GO | LOG_TARGET_SPAWNED, .go_minor = go_minor};

	*run = (struct run){.now = START};
	checked_model_new(&run->checked, options);
	feed(run, LOG_TARGET, &target, sizeof(target));
	put(run, (struct raw_record){.site = SITE_ACQUIREP, .p = P0, .arg2 = 3});
	put(run, (struct raw_record){.site = SITE_NEWPROC, .p = P0});
	put(run, (struct raw_record){.site = SITE_EXECUTE, .p = P0});
}

static unsigned end(struct run *run)
{
	checked_model_finish(&run->checked);
	checked_model_free(&run->checked);
	return run->calls;
}

static void kernel_call(struct run *run, uint64_t number, uint64_t tick)
{
	put(run, (struct raw_record){
			 .site = SITE_SYS_ENTER, .status = GSYSCALL, .p = P0, .arg = tick, .arg2 = number});
	put(run, (struct raw_record){.site = SITE_SYS_EXIT, .status = GSYSCALL, .arg2 = number});
}

static void call_c(struct run *run)
{
	put(run, (struct raw_record){.site = SITE_CGO_ENTER, .status = 2, .p = P0});
	put(run, (struct raw_record){.site = SITE_CGO_EXIT, .status = GSYSCALL, .p = P0});
}

static void test_what_the_end_of_a_call_asks_is_no_call(void **state)
{
	struct run run;

	(void)state;
	begin(&run, 19);
	call_c(&run);
	kernel_call(&run, NR_FUTEX, 1);
	kernel_call(&run, NR_SCHED_YIELD, 1);
	call_c(&run);
	assert_int_equal(end(&run), 2);
}

static void test_what_comes_behind_it_is_one(void **state)
{
	struct run run;

	(void)state;
	begin(&run, 19);
	call_c(&run);
	kernel_call(&run, NR_WRITE, 2);
	assert_int_equal(end(&run), 2);
}

/* From Go 1.22 on, system call numbers may be arm64's, and no call waits for the tracer. */
static void test_later_releases_have_no_such_calls(void **state)
{
	struct run run;

	(void)state;
	begin(&run, 22);
	call_c(&run);
	kernel_call(&run, NR_SCHED_YIELD, 2);
	assert_int_equal(end(&run), 2);
}

/* entersyscallblock gives its P up and starts a thread for it: allocm borrows it to allocate. */
static void test_a_borrowed_p_ends_no_call(void **state)
{
	struct run run;

	(void)state;
	for (unsigned borrowed = 0; borrowed < 2; borrowed++) {
		begin(&run, 26);
		put(&run, (struct raw_record){.site = SITE_SYSCALL_BLOCK, .status = 2, .p = P0});
		put(&run, (struct raw_record){.site = SITE_RELEASEP, .p = P0, .arg2 = 3});
		put(&run, (struct raw_record){.site = SITE_HANDOFFP, .p = P0, .arg2 = 3});
		put(&run, (struct raw_record){.site = SITE_ACQUIREP, .p = P0, .arg = borrowed, .arg2 = 3});
		put(&run, (struct raw_record){.site = SITE_HEAP_ALLOC, .status = 2, .p = P0, .arg = 4096});
		put(&run, (struct raw_record){.site = SITE_RELEASEP, .p = P0, .arg2 = 3});
		assert_int_equal(end(&run), 1);
		assert_int_equal(run.ends, !borrowed);
		assert_int_equal(run.heap, 1);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_borrowed_p_ends_no_call),
	cmocka_unit_test(test_what_the_end_of_a_call_asks_is_no_call),
	cmocka_unit_test(test_what_comes_behind_it_is_one),
	cmocka_unit_test(test_later_releases_have_no_such_calls),
};

UNIT_TESTS(tests, NULL, NULL);
