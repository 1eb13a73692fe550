/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Running goroutines without a CPU: whose time it is, where the regions are, and that each interval counts
 * once.
 */
#include <string.h>

#include "unit.h"

#include "checked_model.h"

enum { P0 = 0xc000050000, G1 = 0xc000001000, G2 = 0xc000002000, TID = 500, START = 1000000000 };
enum { MS = 1000000 };

struct run {
	struct checked_model checked;
	struct op regions[32];
	unsigned n;
};

static int take_generation(void *ctx, const struct generation *gen)
{
	struct run *run = ctx;

	checked_model_check(&run->checked, gen);
	for (size_t i = 0; i < gen->nops; i++) {
		if (gen->ops[i].kind != OP_REGION_BEGIN && gen->ops[i].kind != OP_REGION_END)
			continue;
		assert_int_not_equal(gen->ops[i].stack, 0); /* old viewers need one */
		run->regions[run->n++] = gen->ops[i];
	}
	return 0;
}

static void feed(struct run *run, uint32_t type, const void *data, size_t size)
{
	checked_model_feed(&run->checked, type, data, size);
}

static void put(struct run *run, uint8_t site, uint64_t ms, uint64_t g)
{
	struct raw_record rec = {.tid = TID,
				 .site = site,
				 .time = START + ms * MS,
				 .g = g,
				 .goid = g ? g >> 12 & 3 : 0,
				 .p = P0};

	feed(run, LOG_RECORDS, &rec, sizeof(rec));
}

static void put_off(struct run *run, enum left left, uint64_t since, uint64_t until, uint64_t throttled)
{
	struct raw_record rec = {.tid = TID,
				 .site = SITE_OFF_CPU,
				 .status = left,
				 .time = START + until * MS,
				 .arg = START + since * MS,
				 .arg2 = throttled * MS};

	if (left == LEFT_RUNNABLE) {
		rec.g = 77;
		memcpy(&rec.goid, "stress\0", 8);
	}
	feed(run, LOG_RECORDS, &rec, sizeof(rec));
}

/* G1 runs from 0 ms on. */
static void begin(struct run *run)
{
	struct model_options options = {.sink = take_generation, .ctx = run};
	struct log_target target = {.flags = LOG_TARGET_GO | LOG_TARGET_SPAWNED, .go_minor = 26};

	*run = (struct run){0};
	checked_model_new(&run->checked, options);
	feed(run, LOG_TARGET, &target, sizeof(target));
	put(run, SITE_ACQUIREP, 0, 0);
	put(run, SITE_NEWPROC, 0, G1);
	put(run, SITE_NEWPROC, 0, G2);
	put(run, SITE_EXECUTE, 0, G1);
}

static struct cpu_figures finish(struct run *run)
{
	struct cpu_figures figures;
	checked_model_finish(&run->checked);
	annotate_cpu_figures(run->checked.model, &figures);
	return figures;
}

static void end(struct run *run)
{
	checked_model_free(&run->checked);
}

static const char *name_of(const struct run *run, uint32_t string)
{
	return strtab_get(run->checked.strings, string, NULL);
}

/* Ops may be some ns later than their records. */
static void assert_ms(uint64_t ns, uint64_t ms)
{
	assert_in_range(ns, ms * MS, ms * MS + 1000);
}

/* What --max-overhead leaves out is not known to have had a CPU. */
static void test_left_out(void **state)
{
	static const char text[] = "stacks are cut short";
	struct {
		struct log_note note;
		char text[sizeof(text)];
	} record = {.note.len = sizeof(text) - 1};
	struct cpu_figures figures;
	struct run run;

	(void)state;
	memcpy(record.text, text, sizeof(text));
	begin(&run);
	put_off(&run, LEFT_RUNNABLE, 10, 30, 0);
	figures = finish(&run);
	assert_false(figures.left_out);
	end(&run);
	begin(&run);
	put_off(&run, LEFT_RUNNABLE, 10, 30, 0);
	feed(&run, LOG_NOTE, &record, sizeof(record.note) + record.note.len);
	figures = finish(&run);
	assert_true(figures.known && figures.left_out);
	end(&run);
}

static void test_parts_have_their_reasons(void **state)
{
	struct cpu_figures figures;
	struct run run;

	(void)state;
	begin(&run);
	put_off(&run, LEFT_RUNNABLE, 10, 30, 15);
	put_off(&run, LEFT_DISK, 40, 45, 0);
	put(&run, SITE_GOSCHED, 50, G1);
	figures = finish(&run);
	assert_true(figures.known);
	assert_int_equal(figures.off_ns[OFF_CPU_THROTTLED], 15 * MS);
	assert_int_equal(figures.off_ns[OFF_CPU_PREEMPTED], 5 * MS);
	assert_int_equal(figures.off_ns[OFF_CPU_PAGE_FAULT], 5 * MS);
	assert_int_equal(figures.ntakers, 1);
	assert_string_equal(name_of(&run, figures.takers[0].name), "stress");
	assert_int_equal(figures.takers[0].ns, 5 * MS);
	assert_int_equal(figures.nthreads, 1);
	assert_int_equal(figures.threads[0].off_ns[OFF_CPU_THROTTLED], 15 * MS);
	assert_int_equal(run.n, 4);
	assert_string_equal(name_of(&run, run.regions[0].string), "[off CPU: throttled]");
	assert_ms(run.regions[0].time - START, 10);
	assert_ms(run.regions[1].time - START, 30);
	assert_string_equal(name_of(&run, run.regions[2].string), "[off CPU: page fault]");
	end(&run);
}

/* A thread does nothing between leaving a CPU and returning, but late records may place its ops there. */
static void test_off_cpu_time_belongs_to_the_runner(void **state)
{
	struct cpu_figures figures;
	const struct goroutine_stats *rows;
	size_t n;
	struct run run;

	(void)state;
	begin(&run);
	put(&run, SITE_GOSCHED, 20, G1);
	put(&run, SITE_EXECUTE, 30, G2);
	put_off(&run, LEFT_RUNNABLE, 10, 40, 0);
	put(&run, SITE_GOSCHED, 50, G2);
	figures = finish(&run);
	assert_in_range(figures.off_ns[OFF_CPU_PREEMPTED], 20 * MS - 1000, 20 * MS + 1000);
	rows = model_goroutine_stats(run.checked.model, BY_RUNNING, &n);
	assert_int_equal(n, 1); /* one start function */
	assert_int_equal(rows[0].off_cpu_ns, figures.off_ns[OFF_CPU_PREEMPTED]);
	assert_int_equal(figures.threads[0].off_ns[OFF_CPU_PREEMPTED], 30 * MS);
	assert_int_equal(run.n, 4);
	assert_true(run.regions[0].g != run.regions[2].g);
	end(&run);
}

static void test_nobody_ran(void **state)
{
	struct run run;

	(void)state;
	begin(&run);
	put(&run, SITE_GOSCHED, 5, G1);
	put_off(&run, LEFT_RUNNABLE, 10, 40, 0);
	assert_int_equal(finish(&run).off_ns[OFF_CPU_PREEMPTED], 0);
	assert_int_equal(run.n, 0);
	end(&run);
}

/* At a boundary the log reports an interval that is not over. */
static void test_an_interval_counts_once(void **state)
{
	struct log_boundary boundary = {.time_before = START + 30 * MS,
					.time_after = START + 30 * MS,
					.clock = {.mono_ns = START + 30 * MS}};
	struct cpu_figures figures;
	struct run run;

	(void)state;
	begin(&run);
	put_off(&run, LEFT_RUNNABLE, 10, 30, 20);
	feed(&run, LOG_BOUNDARY, &boundary, sizeof(boundary));
	put_off(&run, LEFT_RUNNABLE, 10, 60, 35);
	put(&run, SITE_GOSCHED, 70, G1);
	figures = finish(&run);
	assert_in_range(figures.off_ns[OFF_CPU_THROTTLED] + figures.off_ns[OFF_CPU_PREEMPTED], 50 * MS - 1000,
			50 * MS);
	assert_in_range(figures.off_ns[OFF_CPU_THROTTLED], 35 * MS - 1000, 35 * MS);
	assert_int_equal(run.n, 4);
	end(&run);
}

static void test_short_ones_are_no_regions(void **state)
{
	struct run run;

	(void)state;
	begin(&run);
	for (unsigned i = 0; i < 10; i++) {
		struct raw_record rec = {.tid = TID,
					 .site = SITE_OFF_CPU,
					 .arg = START + i * MS,
					 .time = START + i * MS + OFF_CPU_REGION_NS - 1};

		feed(&run, LOG_RECORDS, &rec, sizeof(rec));
	}
	assert_in_range(finish(&run).off_ns[OFF_CPU_PREEMPTED], 10 * OFF_CPU_REGION_NS - 1000,
			10 * OFF_CPU_REGION_NS);
	assert_int_equal(run.n, 0);
	end(&run);
}

static void put_times(struct run *run, uint64_t cpu_ms, uint64_t wait_ms)
{
	struct {
		struct log_thread_times head;
		struct log_thread_time one;
	} times = {.head = {.time = START, .n = 1},
		   .one = {.tid = TID, .cpu_ns = cpu_ms * MS, .wait_ns = wait_ms * MS}};

	feed(run, LOG_THREAD_TIMES, &times, sizeof(times));
}

static void test_times_of_lives(void **state)
{
	struct raw_record death = {
		.tid = TID, .site = SITE_OFF_CPU, .status = LEFT_DEAD, .time = START + 5 * MS};
	struct cpu_figures figures;
	struct run run;

	(void)state;
	begin(&run);
	put_times(&run, 10, 1);
	put_times(&run, 30, 3);
	death.arg = 35ull * MS;
	death.arg2 = 4ull * MS;
	feed(&run, LOG_RECORDS, &death, sizeof(death));
	put_times(&run, 7, 1); /* another one with its id */
	figures = finish(&run);
	assert_int_equal(figures.on_cpu_ns, 42 * MS);
	assert_int_equal(figures.wait_ns, 5 * MS);
	end(&run);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_left_out),
	cmocka_unit_test(test_parts_have_their_reasons),
	cmocka_unit_test(test_off_cpu_time_belongs_to_the_runner),
	cmocka_unit_test(test_nobody_ran),
	cmocka_unit_test(test_an_interval_counts_once),
	cmocka_unit_test(test_short_ones_are_no_regions),
	cmocka_unit_test(test_times_of_lives),
};

UNIT_TESTS(tests, NULL, NULL);
