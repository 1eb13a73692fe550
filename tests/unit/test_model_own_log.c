/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where gotrace's own log events are: never on a P that the target does not have. */
#include <string.h>

#include "unit.h"

#include "checked_model.h"
#include "model/annotator.h"

enum { P0 = 0xc000050000, G1 = 0xc000001000, TID = 500, START = 1000000, GRUNNING = 2, GSYSCALL = 3 };

struct run {
	struct checked_model checked;
	uint64_t now;
	int32_t most_p;
	char order[64]; /* of the one P: a letter each for starts, calls, their ends, and logs */
};

static int take_generation(void *ctx, const struct generation *gen)
{
	struct run *run = ctx;
	size_t len = strlen(run->order);

	checked_model_check(&run->checked, gen);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		if (op->p != NO_P && op->p > run->most_p)
			run->most_p = op->p;
		assert_true(len + 1 < sizeof(run->order));
		if (op->kind == OP_GO_START)
			run->order[len++] = 's';
		else if (op->kind == OP_SYSCALL_BEGIN)
			run->order[len++] = 'c';
		else if (op->kind == OP_SYSCALL_END)
			run->order[len++] = 'e';
		else if (op->kind == OP_LOG)
			run->order[len++] = 'L';
	}
	return 0;
}

static void put(struct run *run, struct raw_record rec)
{
	rec.tid = TID;
	rec.time = run->now += 1000;
	rec.g = rec.site == SITE_ACQUIREP ? 0 : G1;
	rec.goid = rec.g ? 1 : 0;
	checked_model_feed(&run->checked, LOG_RECORDS, &rec, sizeof(rec));
}

static void write_log(struct run *run)
{
	struct model *md = run->checked.model;

	model_write_log(md, "gotrace", model_text_id(md, "note", 4));
}

static void begin(struct run *run)
{
	struct model_options options = {.sink = take_generation, .ctx = run};
	struct log_target target = {.flags = LOG_TARGET_GO | LOG_TARGET_SPAWNED, .go_minor = 22};

	*run = (struct run){.now = START};
	checked_model_new(&run->checked, options);
	checked_model_feed(&run->checked, LOG_TARGET, &target, sizeof(target));
	put(run, (struct raw_record){.site = SITE_ACQUIREP, .p = P0});
	put(run, (struct raw_record){.site = SITE_NEWPROC, .p = P0});
	put(run, (struct raw_record){.site = SITE_EXECUTE, .p = P0});
}

static void enter_c(struct run *run)
{
	put(run, (struct raw_record){.site = SITE_CGO_ENTER, .status = GRUNNING, .p = P0});
}

static void leave_c(struct run *run)
{
	put(run, (struct raw_record){.site = SITE_CGO_EXIT, .status = GSYSCALL, .p = P0});
}

static void end(struct run *run, const char *order)
{
	checked_model_finish(&run->checked);
	checked_model_free(&run->checked);
	assert_string_equal(run->order, order);
	assert_int_equal(run->most_p, 0);
}

static void test_on_the_goroutine_that_runs(void **state)
{
	struct run run;

	(void)state;
	begin(&run);
	write_log(&run);
	enter_c(&run);
	leave_c(&run);
	end(&run, "sLc");
}

/* The only P is in a system call: the log is where its goroutine last ran. */
static void test_before_the_call(void **state)
{
	struct run run;

	(void)state;
	begin(&run);
	enter_c(&run);
	leave_c(&run);
	enter_c(&run);
	write_log(&run);
	write_log(&run);
	leave_c(&run);
	end(&run, "sceLLc");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_on_the_goroutine_that_runs),
	cmocka_unit_test(test_before_the_call),
};

UNIT_TESTS(tests, NULL, NULL);
