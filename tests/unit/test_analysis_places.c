/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* CPU samples by function and task, and the rules about places and owners, each with a healthy twin. */
#include <string.h>

#include "unit.h"

#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/names.h"

#include "script.h"

static void sample(struct script *s, uint64_t ns, uint32_t g, uint32_t id)
{
	struct op *op = add(s, OP_CPU_SAMPLE, g, 0);

	op->time = 1000 + ns;
	op->stack = id;
	s->now--;
}

/* What a JIT compiler has made has no names, only addresses: one row. */
static void test_unnamed_code(void **state)
{
	struct script *s = script_new(1000 * MS);
	uint32_t one = stack(s, "0x7f0012345678", NULL, 0, NULL),
		 two = stack(s, "memfd:vmem+0x1bc2fa", NULL, 0, NULL);
	uint32_t named = stack(s, "0xide", NULL, 3, NULL);
	struct analysis *a;
	unsigned rows = 0;

	(void)state;
	procs(s, 1);
	create(s, 1, one);
	at(s, 50 * MS);
	start(s, 1, 0);
	at(s, 700 * MS);
	for (unsigned i = 60; i--;)
		sample(s, (100 + 7 * i) * MS, 1, i % 10 ? (i % 2 ? one : two) : named);
	a = analyse(s, NULL);
	for (size_t i = 1; i < a->cpu.nrows; i++) {
		bool unnamed = strcmp(name_text(a, a->cpu.rows[i].func), "unnamed code") == 0;

		assert_int_equal(a->cpu.rows[i].self, unnamed ? 54 : 6);
		rows++;
	}
	assert_int_equal(rows, 2);
	analysis_free(a);
	script_free(s);
}

/* g1 computes for 600 ms in two functions, and ends; samples come after all other ops, and not in order. */
static void test_cpu(void **state)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.serve", NULL, 1, NULL);
	uint32_t hash = stack(s, "bytes.growSlice", "main.hash", 33, "main.serve");
	uint32_t rest = stack(s, "main.serve", NULL, 5, NULL);
	uint32_t probe = stack(s, "runtime.park_m", "runtime.mcall", 1, NULL);
	uint32_t mark = stack(s, "runtime.scanobject", "runtime.gcBgMarkWorker", 1, "runtime.goexit");
	struct analysis *a;
	const struct finding *finding;
	unsigned marks = 0;
	struct op *op;

	(void)state;
	procs(s, 1);
	create(s, 1, entry);
	at(s, 50 * MS);
	start(s, 1, 0);
	op = add(s, OP_TASK_BEGIN, 1, 0);
	op->arg = 7;
	op->string = str(s, "checkout");
	at(s, 700 * MS);
	op = add(s, OP_TASK_END, 1, 0);
	op->arg = 7;
	add(s, OP_GO_DESTROY, 1, 0);
	for (unsigned i = 80; i--;)
		sample(s, (100 + 7 * i) * MS, 1, i % 8 ? hash : rest);
	for (unsigned i = 0; i < 10; i++)
		sample(s, 200 * MS, 1, probe);
	sample(s, 300 * MS, 2, mark);
	a = analyse(s, NULL);
	assert_int_equal(a->samples, 91);
	assert_int_equal(a->cpu.scheduler, 10);
	assert_int_equal(cpu_counted(a), 81);
	finding = found(a, "cpu-place");
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "main.hash"));
	assert_non_null(strstr(finding->text, "in bytes.growSlice"));
	assert_non_null(strstr(finding->text, "86 %"));
	assert_non_null(strstr(finding->evidence[0], "checkout"));
	for (size_t i = 1; i < a->cpu.nrows; i++) {
		const struct cpu_row *row = &a->cpu.rows[i];
		const char *func = name_text(a, row->func);

		assert_true(row->self <= row->total);
		assert_string_not_equal(func, "runtime.goexit");
		marks += row->self && strcmp(func, "runtime.gcBgMarkWorker") == 0;
		if (strcmp(func, "main.serve") == 0) {
			assert_int_equal(row->self, 10);
			assert_int_equal(row->total, 80);
		}
	}
	assert_int_equal(marks, 1);
	analysis_free(a);
	script_free(s);
}

/* What a function calls is its place only if it is most of what it does. */
static void test_cpu_in_several(void **state)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.store", NULL, 1, NULL);
	uint32_t sync = stack(s, "os.(*File).Sync", "main.store", 33, NULL);
	uint32_t encode = stack(s, "encoding/json.Marshal", "main.store", 30, NULL);
	struct analysis *a;
	const struct finding *finding;
	uint32_t row = 1;

	(void)state;
	procs(s, 1);
	create(s, 1, entry);
	start(s, 1, 0);
	at(s, 700 * MS);
	for (unsigned i = 0; i < 80; i++)
		sample(s, (100 + 7 * i) * MS, 1, i % 8 == 0 ? entry : i % 2 ? sync : encode);
	a = analyse(s, NULL);
	finding = found(a, "cpu-place");
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, " takes 100 %"));
	assert_null(strstr(finding->text, " in "));
	assert_string_equal(finding->evidence[1], "of it, 50 % in os.(*File).Sync, 38 % in json.Marshal");
	while (strcmp(name_text(a, a->cpu.rows[row].func), "main.store"))
		row++;
	assert_int_equal(cpu_leaf(a, row), 0);
	analysis_free(a);
	script_free(s);
}

/* A program of a library alone: what its main calls computes by way of another library. A wrapper of what it
 * calls says no more than that. */
static void test_cpu_far_below(void **state)
{
	static const char *const ways[2][4] = {{"dgemm_", "multiply", "interpret", "main [svc]"},
					       {"__interpret", "again", "interpret", "main [svc]"}};
	struct script *s = script_new(1000 * MS);
	uint32_t stacks[2];
	struct analysis *a;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		stacks[i] = stack_of(s, ways[i], 4, 1);
		for (unsigned k = 0; k < 3; k++)
			s->frames[stacks[i]][k].file = str(s, "libwork.so.1");
	}
	procs(s, 1);
	s->goids[1] = 5000;
	create(s, 1, stack(s, "main [svc]", NULL, 1, NULL));
	start(s, 1, 0);
	at(s, 700 * MS);
	for (unsigned i = 0; i < 80; i++)
		sample(s, (100 + 7 * i) * MS, 1, stacks[i % 4 == 0]);
	a = analyse(s, NULL);
	assert_non_null(strstr(found(a, "cpu-place")->text, "main [svc] (:1) in interpret takes 100 %"));
	assert_string_equal(found(a, "cpu-place")->evidence[1], "of it, 75 % in dgemm_");
	analysis_free(a);
	script_free(s);
}

/* g1 looks and yields in leaf, 50,000 times a second; or works for 1 ms before it does. */
static struct analysis *yielding(struct script *s, uint64_t run, const char *leaf)
{
	uint32_t entry = stack(s, "main.poll", NULL, 1, NULL);
	uint32_t yield = stack(s, leaf, "main.acquire", 12, "main.poll");

	procs(s, 1);
	create(s, 1, entry);
	start(s, 1, 0);
	while (s->now + run + 10 < s->end && s->n + 8 < MAX_OPS) {
		struct op *op;

		s->now += run;
		op = add(s, OP_GO_STOP, 1, 0);
		op->string = str(s, "runtime.Gosched");
		op->stack = yield;
		s->now += 14000; /* others run */
		add(s, OP_GO_START, 1, 0);
	}
	s->end = s->now;
	return analyse(s, NULL);
}

static void test_yield(void **state)
{
	struct script *s = script_new(800 * MS), *clean = script_new(800 * MS), *waits = script_new(800 * MS);
	struct analysis *a = yielding(s, 4000, "runtime.Gosched");
	const struct finding *finding = found(a, "yield-spin");

	(void)state;
	assert_non_null(finding);
	assert_true(finding->level >= LEVEL_MEDIUM);
	assert_non_null(strstr(finding->text, "main.acquire"));
	analysis_free(a);
	a = yielding(clean, MS, "runtime.Gosched");
	assert_null(found(a, "yield-spin"));
	analysis_free(a);
	/* The runtime's own loop, in a trace of Go's tracer. */
	a = yielding(waits, 4000, "runtime.GC");
	assert_null(found(a, "yield-spin"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
	script_free(waits);
}

/*
 * g1 answers g2 to g7 in turn, each after 2 ms in which it waits for this reason, and they ask again at once,
 * in a task if `tasks`. Without tasks they might be workers that wait for work. g8 and g9 run g1's function,
 * too, and nobody wakes them.
 */
static struct analysis *answering(struct script *s, bool tasks, const char *reason)
{
	uint32_t owner = stack(s, "main.audit", NULL, 1, NULL),
		 client = stack(s, "main.order", NULL, 1, NULL);
	uint32_t wait = stack(s, "runtime.chanrecv1", "main.ask", 7, "main.order");
	uint32_t nap = stack(s, strcmp(reason, "network") ? "time.Sleep" : "net.(*conn).Read", "main.store",
			     8, "main.audit");
	uint32_t reply = stack(s, "runtime.chansend1", "main.audit", 9, NULL);
	uint32_t idle = stack(s, "sync.(*Cond).Wait", "main.next", 10, "main.audit");

	procs(s, 8);
	create(s, 1, owner);
	for (uint32_t g = 2; g <= 7; g++)
		create(s, g, client);
	for (uint32_t g = 8; g <= 9; g++) {
		create(s, g, owner);
		start(s, g, 7);
		block(s, g, 7, "sync", idle);
	}
	start(s, 1, 0);
	for (uint32_t g = 2; g <= 7; g++) {
		start(s, g, (int32_t)g - 1);
		if (tasks) {
			struct op *op = add(s, OP_TASK_BEGIN, g, (int32_t)g - 1);

			op->arg = g;
			op->string = str(s, "order");
		}
		block(s, g, (int32_t)g - 1, "chan receive", wait);
	}
	for (unsigned i = 0; i < 400; i++) {
		uint32_t g = 2 + i % 6;

		if (strcmp(reason, "preempted") == 0)
			add(s, OP_GO_STOP, 1, 0)->string = str(s, reason);
		else
			block(s, 1, 0, reason, nap);
		s->now += 2 * MS;
		if (strcmp(reason, "preempted"))
			wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		wake(s, 1, 0, g, reply);
		start(s, g, (int32_t)g - 1);
		block(s, g, (int32_t)g - 1, "chan receive", wait);
	}
	s->end = s->now;
	return analyse(s, NULL);
}

static void test_owner(void **state)
{
	struct script *s = script_new(900 * MS), *clean = script_new(900 * MS),
		      *passed_on = script_new(900 * MS);
	struct analysis *a = answering(s, true, "sleep");
	const struct finding *finding = found(a, "busy-owner");

	(void)state;
	assert_non_null(finding);
	assert_true(finding->level >= LEVEL_MEDIUM);
	assert_non_null(strstr(finding->text, "main.ask"));
	assert_non_null(strstr(finding->text, "sleep in main.store"));
	assert_string_equal(
		finding->evidence[2],
		"2 more of that function are idle in main.next (:10): they are not woken, or serve others");
	analysis_free(a);
	a = answering(clean, false, "sleep");
	assert_null(found(a, "busy-owner"));
	analysis_free(a);
	/* The answers are another machine's, which g1 reads. */
	a = answering(passed_on, true, "network");
	assert_int_equal(found(a, "busy-owner")->level, LEVEL_INFO);
	analysis_free(a);
	script_free(passed_on);
	script_free(s);
	script_free(clean);
	/* It wants a CPU itself. */
	s = script_new(1000 * MS);
	a = answering(s, true, "preempted");
	assert_int_equal(found(a, "busy-owner")->level, LEVEL_INFO);
	analysis_free(a);
	script_free(s);
}

/* A goroutine is started every 20 ms; each sleeps for 40 ms, again and again, and ends after one time if
 * `ends`. */
static struct analysis *leaking(struct script *s, bool ends)
{
	uint32_t entry = stack(s, "main.watch", NULL, 1, NULL);
	uint32_t nap = stack(s, "time.Sleep", "main.watch", 8, NULL);
	uint32_t n = 0;

	procs(s, 1);
	for (unsigned i = 0; i < 150; i++) {
		at(s, 20 * MS * i + 1000);
		for (uint32_t g = 1; g <= n; g++) {
			if ((g + i) % 2 || (ends && g + 4 < n))
				continue;
			wake(s, 0, NO_P, g, 0);
			start(s, g, 0);
			if (ends && g + 4 == n) {
				add(s, OP_GO_DESTROY, g, 0);
				add(s, OP_PROC_STOP, 0, 0);
			} else {
				block(s, g, 0, "sleep", nap);
			}
		}
		create(s, ++n, entry);
		start(s, n, 0);
		block(s, n, 0, "sleep", nap);
	}
	return analyse(s, NULL);
}

static void test_awake(void **state)
{
	struct script *s = script_new(3010 * MS), *clean = script_new(3010 * MS);
	struct analysis *a = leaking(s, false);
	const struct finding *finding = found(a, "leak-awake");

	(void)state;
	assert_non_null(finding);
	assert_true(finding->level >= LEVEL_MEDIUM);
	assert_non_null(strstr(finding->text, "main.watch"));
	analysis_free(a);
	a = leaking(clean, true);
	assert_null(found(a, "leak-awake"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

/* Tasks that only run, in a trace without samples: where they ran is not known. */
static void test_running_tasks_without_samples(void **state)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.serve", NULL, 1, NULL);
	struct analysis *a;

	(void)state;
	procs(s, 1);
	create(s, 1, entry);
	start(s, 1, 0);
	for (unsigned i = 0; i < 20; i++) {
		struct op *op = add(s, OP_TASK_BEGIN, 1, 0);

		op->arg = i + 1;
		op->string = str(s, "order");
		s->now += 10 * MS;
		op = add(s, OP_TASK_END, 1, 0);
		op->arg = i + 1;
	}
	s->end = s->now;
	a = analyse(s, NULL);
	assert_null(found(a, "task-place"));
	assert_int_equal(cpu_place(a, 0).text[0] != '\0', true);
	analysis_free(a);
	script_free(s);
}

/* Requests to three hosts, one after the other, of which the first takes this long, the others 4 ms. */
static struct analysis *requests_to_hosts(struct script *s, uint64_t ns)
{
	static const char *const names[] = {"client GET a:80/price", "client GET b:80/price",
					    "client GET b:80/item", "client GET c:80/price"};

	procs(s, 1);
	create(s, 1, stack(s, "main.serve", NULL, 1, NULL));
	start(s, 1, 0);
	for (unsigned i = 0; i < 60; i++) {
		struct op *op = add(s, OP_TASK_BEGIN, 1, 0);

		op->arg = i + 1;
		op->string = str(s, names[i % 4]);
		s->now += i % 4 ? 4 * MS : ns;
		op = add(s, OP_TASK_END, 1, 0);
		op->arg = i + 1;
	}
	s->end = s->now;
	return analyse(s, NULL);
}

static void test_slow_host(void **state)
{
	struct script *s = script_new(1000 * MS), *even = script_new(1000 * MS);
	struct analysis *a = requests_to_hosts(s, 40 * MS);
	const struct finding *finding = found(a, "slow-host");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_HIGH);
	assert_string_equal(finding->text,
			    "client GET a:80/price takes 40.0 ms (mean), and the same of 2 other hosts "
			    "4.00 ms: 600 ms in all.");
	analysis_free(a);
	a = requests_to_hosts(even, 9 * MS);
	assert_null(found(a, "slow-host"));
	analysis_free(a);
	script_free(s);
	script_free(even);
}

static void test_figures_in_words(void **state)
{
	(void)state;
	assert_string_equal(label_number(2).text, "2");
	assert_string_equal(label_number(2.25).text, "2.25");
	assert_string_equal(label_number(99.97).text, "100");
	assert_string_equal(label_number(123456.7).text, "123457");
	assert_string_equal(how_much(3, 3), "all");
	assert_string_equal(how_much(2, 3), "mostly");
	assert_string_equal(how_much(2, 5), "most often");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_unnamed_code),
	cmocka_unit_test(test_cpu),
	cmocka_unit_test(test_cpu_in_several),
	cmocka_unit_test(test_cpu_far_below),
	cmocka_unit_test(test_running_tasks_without_samples),
	cmocka_unit_test(test_yield),
	cmocka_unit_test(test_owner),
	cmocka_unit_test(test_awake),
	cmocka_unit_test(test_figures_in_words),
	cmocka_unit_test(test_slow_host),
};

UNIT_TESTS(tests, NULL, NULL);
