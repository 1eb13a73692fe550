/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Critical paths of small programs, known by construction, and of random ones. */
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "analysis/order.h"
#include "script.h"

/* A task waits for a worker, which runs, sleeps and runs: 1 + 2 + 30 + 3 + 1 ms. */
static struct script *pipeline(void)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.handle", NULL, 1, NULL),
		 work = stack(s, "main.worker", NULL, 1, NULL);
	uint32_t receive = stack(s, "runtime.chanrecv1", "main.handle", 5, NULL);
	uint32_t send = stack(s, "runtime.chansend1", "main.worker", 6, NULL);
	uint32_t nap = stack(s, "time.Sleep", "main.worker", 4, NULL);
	struct op *op;

	procs(s, 2);
	create(s, 1, entry);
	start(s, 1, 0);
	at(s, 10 * MS - 1);
	op = add(s, OP_TASK_BEGIN, 1, 0);
	op->arg = 1;
	op->string = str(s, "handle");
	at(s, 11 * MS);
	op = add(s, OP_GO_CREATE, 1, 0);
	op->g2 = 2;
	op->stack2 = work;
	block(s, 1, 0, "chan receive", receive);
	start(s, 2, 1);
	at(s, 13 * MS);
	block(s, 2, 1, "sleep", nap);
	at(s, 43 * MS);
	wake(s, 0, NO_P, 2, 0);
	start(s, 2, 1);
	at(s, 46 * MS);
	wake(s, 2, 1, 1, send);
	start(s, 1, 0);
	at(s, 47 * MS - 1);
	add(s, OP_TASK_END, 1, 0)->arg = 1;
	at(s, 60 * MS);
	add(s, OP_GO_DESTROY, 1, 0);
	return s;
}

/* A task runs for 42 ms. Its thread is preempted in 40 of them, in two parts. */
static struct script *preempted(void)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.handle", NULL, 1, NULL), off = str(s, "[off CPU: preempted]");
	struct op *op;

	procs(s, 1);
	create(s, 1, entry);
	start(s, 1, 0);
	at(s, 10 * MS - 1);
	op = add(s, OP_TASK_BEGIN, 1, 0);
	op->arg = 1;
	op->string = str(s, "handle");
	at(s, 11 * MS - 1);
	add(s, OP_REGION_BEGIN, 1, 0)->string = off;
	at(s, 41 * MS - 1);
	add(s, OP_REGION_END, 1, 0)->string = off;
	at(s, 41 * MS + MS / 2);
	add(s, OP_REGION_BEGIN, 1, 0)->string = off;
	at(s, 51 * MS + MS / 2);
	add(s, OP_REGION_END, 1, 0)->string = off;
	at(s, 52 * MS - 1);
	add(s, OP_TASK_END, 1, 0)->arg = 1;
	at(s, 60 * MS);
	add(s, OP_GO_DESTROY, 1, 0);
	return s;
}

static void test_off_cpu(void **state)
{
	const struct why_question question = {
		.kind = WHY_TASK, .name = "handle", .at_ns = UINT64_MAX, .slowest = 1};
	const struct report_style style = {0};
	struct script *s = preempted();
	struct why *why = why_new(&question);
	struct analysis *a = analyse(s, why);
	struct error err = {""};
	uint64_t off_ns = 0, ns = 0;
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	assert_int_equal(why_choose(why, a, &err), 0);
	analysis_free(a);
	a = analyse(s, why);
	assert_int_equal(why_explain(why, a, &err), 0);
	assert_int_equal(why->nsegments, 5);
	for (size_t i = 0; i < why->nsegments; i++) {
		ns += why->segments[i].end - why->segments[i].start;
		if (why->segments[i].off_cpu)
			off_ns += why->segments[i].end - why->segments[i].start;
	}
	assert_int_equal(ns, why->end - why->begin);
	assert_true(off_ns > 40 * MS - 100 && off_ns < 40 * MS + 100);
	out = open_memstream(&text, &size);
	why_text(why, a, out, &style);
	fclose(out);
	assert_non_null(strstr(text, " 40.0 ms  off CPU      g1     preempted x2"));
	assert_non_null(strstr(text, "without off CPU in g1, preempted: saves at most 40.0 ms"));
	free(text);
	out = open_memstream(&text, &size);
	why_json(why, a, out);
	fclose(out);
	assert_non_null(strstr(text, "\"for\":\"off CPU\",\"cause\":\"preempted\""));
	free(text);
	analysis_free(a);
	why_free(why);
	script_free(s);
}

static uint64_t on_path(const struct why *why, unsigned depth, uint64_t goid, unsigned activity)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < why->nsegments; i++) {
		const struct path_segment *segment = &why->segments[i];

		if (segment->depth == depth && segment->goid == goid && segment->activity == activity)
			ns += segment->end - segment->start;
	}
	return ns;
}

static bool about(uint64_t ns, uint64_t want)
{
	return ns + 100 > want && ns < want + 100;
}

/* Five take a lock in turn, and each asks a server for 10 ms while it has it; the task is the last one's. */
static struct script *queue_of_five(void)
{
	struct script *s = script_new(1000 * MS);
	uint32_t lock = stack(s, "sync.(*Mutex).Lock", "main.put", 56, "main.handle");
	uint32_t ask = stack(s, "internal/poll.runtime_pollWait", "main.load", 50, "main.handle");
	uint32_t give = stack(s, "sync.(*Mutex).Unlock", "main.put", 59, "main.handle");
	struct op *op;

	procs(s, 1);
	for (uint32_t g = 1; g <= 5; g++)
		create(s, g, stack(s, "main.handle", NULL, 1, NULL));
	for (uint32_t g = 1; g <= 5; g++) {
		start(s, g, 0);
		if (g == 5) {
			op = add(s, OP_TASK_BEGIN, 5, 0);
			op->arg = 1;
			op->string = str(s, "put");
		}
		block(s, g, 0, g == 1 ? "network" : "sync", g == 1 ? ask : lock);
	}
	for (uint32_t g = 1; g <= 5; g++) {
		at(s, g * 10 * MS);
		wake(s, 0, NO_P, g, 0);
		start(s, g, 0);
		if (g == 5)
			break;
		wake(s, g, 0, g + 1, give);
		add(s, OP_GO_DESTROY, g, 0);
		start(s, g + 1, 0);
		block(s, g + 1, 0, "network", ask);
	}
	add(s, OP_TASK_END, 5, 0)->arg = 1;
	return s;
}

/* What each did with the lock adds up. */
static void test_queue(void **state)
{
	const struct why_question question = {
		.kind = WHY_TASK, .name = "put", .at_ns = UINT64_MAX, .slowest = 1};
	const struct report_style style = {.width = 120};
	struct script *s = queue_of_five();
	struct why *why = why_new(&question);
	struct analysis *a = analyse(s, why);
	struct error err = {""};
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	assert_int_equal(why_choose(why, a, &err), 0);
	analysis_free(a);
	a = analyse(s, why);
	assert_int_equal(why_explain(why, a, &err), 0);
	out = open_memstream(&text, &size);
	why_text(why, a, out, &style);
	fclose(out);
	assert_non_null(
		strstr(text, " 40.0 ms  lock         g5     main.put (:56), behind 3 others there\n"));
	assert_non_null(strstr(text, "\n   40.0 ms  network      (many) main.load (:50) x4\n"));
	assert_non_null(strstr(text, "\n 10.0 ms  network      g5     main.load (:50)\n"));
	assert_non_null(strstr(text, "without network, main.load (:50): saves at most 40.0 ms"));
	free(text);
	analysis_free(a);
	why_free(why);
	script_free(s);
}

static void test_path(void **state)
{
	const struct why_question question = {
		.kind = WHY_TASK, .name = "handle", .at_ns = UINT64_MAX, .slowest = 1};
	struct script *s = pipeline();
	struct why *why = why_new(&question);
	struct analysis *a = analyse(s, why);
	struct error err = {""};
	uint64_t sums[2] = {0};

	(void)state;
	assert_int_equal(why_choose(why, a, &err), 0);
	analysis_free(a);
	a = analyse(s, why);
	assert_int_equal(why_explain(why, a, &err), 0);
	assert_true(about(why->end - why->begin, 37 * MS));
	assert_true(about(on_path(why, 0, 1, ACT_CODE), 2 * MS));
	assert_true(about(on_path(why, 0, 1, ACT_RECEIVE), 35 * MS));
	assert_true(about(on_path(why, 1, 2, ACT_CODE), 5 * MS));
	assert_true(about(on_path(why, 1, 2, ACT_SLEEP), 30 * MS));
	for (size_t i = 0; i < why->nsegments; i++)
		sums[why->segments[i].depth] += why->segments[i].end - why->segments[i].start;
	assert_int_equal(sums[0], why->end - why->begin);
	assert_int_equal(sums[1], on_path(why, 0, 1, ACT_RECEIVE));
	analysis_free(a);
	why_free(why);
	script_free(s);
}

/*
 * A task waits 40 times, each time for another goroutine, which sleeps, and runs for 2 ms, with a sample.
 * Later, outside the task, the same function has more samples at another line.
 */
static struct script *many_helpers(void)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.handle", NULL, 1, NULL), work = stack(s, "main.help", NULL, 1, NULL);
	uint32_t receive = stack(s, "runtime.chanrecv1", "main.handle", 5, NULL);
	uint32_t send = stack(s, "runtime.chansend1", "main.help", 6, NULL);
	uint32_t nap = stack(s, "time.Sleep", "main.help", 4, NULL);
	uint32_t hash = stack(s, "main.hash", "main.help", 8, NULL);
	uint32_t other = stack(s, "main.hash", "main.warm", 9, NULL);
	struct op *op;

	procs(s, 2);
	create(s, 1, entry);
	start(s, 1, 0);
	op = add(s, OP_TASK_BEGIN, 1, 0);
	op->arg = 1;
	op->string = str(s, "handle");
	for (uint32_t g = 2; g < 42; g++) {
		op = add(s, OP_GO_CREATE, 1, 0);
		op->g2 = g;
		op->stack2 = work;
		block(s, 1, 0, "chan receive", receive);
		start(s, g, 1);
		block(s, g, 1, "sleep", nap);
		s->now += 10 * MS;
		wake(s, 0, NO_P, g, 0);
		start(s, g, 1);
		s->now += MS;
		add(s, OP_CPU_SAMPLE, g, 1)->stack = hash;
		s->now += MS;
		wake(s, g, 1, 1, send);
		add(s, OP_GO_DESTROY, g, 1);
		add(s, OP_PROC_STOP, 0, 1);
		start(s, 1, 0);
	}
	add(s, OP_TASK_END, 1, 0)->arg = 1;
	for (unsigned i = 0; i < 100; i++) {
		s->now += MS;
		add(s, OP_CPU_SAMPLE, 1, 0)->stack = other;
	}
	s->end = s->now;
	return s;
}

static void test_text(void **state)
{
	const struct why_question question = {
		.kind = WHY_TASK, .name = "handle", .at_ns = UINT64_MAX, .slowest = 1};
	const struct report_style style = {0};
	struct script *s = many_helpers();
	struct why *why = why_new(&question);
	struct analysis *a = analyse(s, why);
	struct error err = {""};
	char *text = NULL, *last = NULL;
	size_t size = 0, lines = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(why_choose(why, a, &err), 0);
	analysis_free(a);
	a = analyse(s, why);
	assert_int_equal(why_explain(why, a, &err), 0);
	why_text(why, a, out, &style);
	fclose(out);
	for (size_t i = 0; i < size; i++) {
		lines += text[i] == '\n';
		if (text[i] == '\n' && i + 1 < size)
			last = text + i + 1;
	}
	assert_true(lines > 4 && lines <= 20);
	assert_non_null(strstr(last, "without sleep, main.help (:4): saves at most 400 ms"));
	assert_non_null(strstr(text, "main.hash (:8), 40 of 40 samples x"));
	assert_non_null(strstr(text, "(many)"));
	free(text);
	analysis_free(a);
	why_free(why);
	script_free(s);
}

/*
 * Nothing is recorded from 30 to 60 ms. Goroutine 1 waits from 10 to 90 ms, and 3 is ready for a P from 20 to
 * 70 ms: their states within the gap are unknown.
 */
static void test_path_across_gap(void **state)
{
	const struct why_question question = {.kind = WHY_GOROUTINE, .goroutine = 1, .at_ns = UINT64_MAX};
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.waiter", NULL, 1, NULL);
	uint32_t receive = stack(s, "runtime.chanrecv1", "main.waiter", 5, NULL);
	struct why *why = why_new(&question);
	struct error err = {""};
	struct analysis *a;

	(void)state;
	procs(s, 2);
	for (uint32_t g = 1; g <= 3; g++)
		create(s, g, entry);
	start(s, 1, 0);
	start(s, 2, 1);
	start(s, 3, 0);
	at(s, 10 * MS);
	block(s, 1, 0, "chan receive", receive);
	block(s, 3, 0, "chan receive", receive);
	at(s, 20 * MS);
	wake(s, 2, 1, 3, 0);
	add_log(s, 30 * MS, "not watched from here on: over --max-overhead");
	add_log(s, 60 * MS, "watched again from here on");
	at(s, 70 * MS);
	start(s, 3, 0);
	at(s, 90 * MS);
	wake(s, 2, 1, 1, 0);
	start(s, 1, 0);
	at(s, 100 * MS);
	add(s, OP_GO_DESTROY, 1, 0);
	a = analyse(s, why);
	assert_true(a->latency.max < MS);
	assert_int_equal(why_choose(why, a, &err), 0);
	analysis_free(a);
	a = analyse(s, why);
	assert_int_equal(why_explain(why, a, &err), 0);
	assert_true(about(on_path(why, 0, 1, ACT_UNWATCHED), 30 * MS));
	assert_true(about(on_path(why, 0, 1, ACT_RECEIVE), 50 * MS));
	analysis_free(a);
	why_free(why);
	script_free(s);
}

/* Nothing is recorded from 30 ms to the end. Goroutine 1 has waited since 10 ms, and 3 has been in a system
 * call since 20 ms. */
static void test_gap_to_the_end(void **state)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.waiter", NULL, 1, NULL);
	uint32_t receive = stack(s, "runtime.chanrecv1", "main.waiter", 5, NULL);
	uint32_t call = stack(s, "syscall.Syscall", "main.caller", 6, NULL);
	struct analysis *a;

	(void)state;
	procs(s, 2);
	for (uint32_t g = 1; g <= 3; g++)
		create(s, g, entry);
	start(s, 1, 0);
	start(s, 2, 1);
	at(s, 10 * MS);
	block(s, 1, 0, "chan receive", receive);
	start(s, 3, 0);
	at(s, 20 * MS);
	add(s, OP_SYSCALL_BEGIN, 3, 0)->stack = call;
	add_log(s, 30 * MS, "not watched from here on: over --max-overhead");
	add_log(s, 1030 * MS, "not watched until here, the end of the trace");
	a = analyse(s, NULL);
	assert_true(about(a->unwatched_ns, 1000 * MS));
	for (size_t i = 0; i < a->nrows; i++)
		assert_true(a->rows[i].cut_max < 31 * MS);
	assert_true(about(a->total_spent[ACT_RECEIVE], 20 * MS));
	assert_true(about(a->total_spent[ACT_SYSCALL], 10 * MS));
	analysis_free(a);
	script_free(s);
}

static void test_path_of_none(void **state)
{
	const struct why_question question = {
		.kind = WHY_TASK, .name = "nothing", .at_ns = UINT64_MAX, .slowest = 1};
	struct script *s = pipeline();
	struct why *why = why_new(&question);
	struct analysis *a = analyse(s, why);
	struct error err = {""};

	(void)state;
	assert_int_equal(why_choose(why, a, &err), -2);
	assert_non_null(strstr(err.text, "handle"));
	analysis_free(a);
	why_free(why);
	script_free(s);
}

/* --- paths of random traces --- */

enum { RANDOM_GS = 40, RANDOM_PS = 3, RANDOM_STEPS = 3000 };

struct random_run {
	struct script *s;
	uint64_t seed, tasks;
	enum { GONE, READY, RUNS, WAITS, CALLS } state[RANDOM_GS + 1];
	int32_t p[RANDOM_GS + 1];
	uint64_t task[RANDOM_GS + 1];
	bool taken[RANDOM_PS];
	uint32_t stacks[6];
};

static uint32_t dice(struct random_run *r, uint32_t n)
{
	r->seed = r->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(r->seed >> 33) % n;
}

static void leave_p(struct random_run *r, uint32_t g)
{
	r->taken[r->p[g]] = false;
}

static void random_block(struct random_run *r, uint32_t g)
{
	static const char *const reasons[] = {"chan receive", "chan send", "select",
					      "sync",         "sleep",     "network"};
	uint32_t i = dice(r, 6);

	block(r->s, g, r->p[g], reasons[i], r->stacks[i]);
	r->state[g] = WAITS;
	leave_p(r, g);
}

static void random_create(struct random_run *r, uint32_t creator, uint32_t g)
{
	struct op *op;

	if (r->state[g] != GONE || g == creator)
		return;
	op = add(r->s, OP_GO_CREATE, creator, r->p[creator]);
	op->g2 = g;
	op->stack2 = r->stacks[0];
	r->state[g] = READY;
	r->task[g] = 0;
}

static void random_task(struct random_run *r, uint32_t g)
{
	struct op *op = add(r->s, r->task[g] ? OP_TASK_END : OP_TASK_BEGIN, g, r->p[g]);

	if (!r->task[g]) {
		r->task[g] = ++r->tasks;
		op->string = str(r->s, "job");
		op->arg = r->task[g];
		return;
	}
	op->arg = r->task[g];
	r->task[g] = 0;
}

static void random_act(struct random_run *r, uint32_t g, uint32_t other)
{
	switch (dice(r, 8)) {
	case 0 ... 1:
		random_block(r, g);
		break;
	case 2 ... 3:
		if (r->state[other] != WAITS)
			break;
		wake(r->s, g, r->p[g], other, r->stacks[dice(r, 6)]);
		r->state[other] = READY;
		break;
	case 4:
		random_create(r, g, other);
		break;
	case 5:
		random_task(r, g);
		break;
	case 6:
		add(r->s, OP_SYSCALL_BEGIN, g, r->p[g])->stack = r->stacks[1];
		r->state[g] = CALLS;
		break;
	default:
		add(r->s, dice(r, 3) ? OP_GO_STOP : OP_GO_DESTROY, g, r->p[g])->string =
			str(r->s, "preempted");
		r->state[g] = r->s->ops[r->s->n - 1].kind == OP_GO_STOP ? READY : GONE;
		add(r->s, OP_PROC_STOP, 0, r->p[g]);
		leave_p(r, g);
	}
}

static void random_step(struct random_run *r)
{
	uint32_t g = 1 + dice(r, RANDOM_GS), p = dice(r, RANDOM_PS);

	r->s->now += dice(r, 4) ? dice(r, 1000) : dice(r, 200000);
	if (r->state[g] == READY && !r->taken[p]) {
		start(r->s, g, (int32_t)p);
		r->state[g] = RUNS;
		r->p[g] = (int32_t)p;
		r->taken[p] = true;
	} else if (r->state[g] == RUNS) {
		random_act(r, g, 1 + dice(r, RANDOM_GS));
	} else if (r->state[g] == CALLS) {
		add(r->s, OP_SYSCALL_END, g, r->p[g]);
		r->state[g] = RUNS;
	} else if (r->state[g] == WAITS && !dice(r, 8)) {
		wake(r->s, 0, NO_P, g, 0);
		r->state[g] = READY;
	}
}

static struct script *random_script(uint64_t seed)
{
	static const char *const leaves[] = {"runtime.chanrecv1", "runtime.chansend1",
					     "runtime.selectgo",  "sync.(*Mutex).Lock",
					     "time.Sleep",        "internal/poll.runtime_pollWait"};
	struct random_run r = {.s = script_new(10000 * MS), .seed = seed};

	for (unsigned i = 0; i < 6; i++)
		r.stacks[i] = stack(r.s, leaves[i], "main.work", i + 1, "main.main");
	procs(r.s, RANDOM_PS);
	for (uint32_t g = 1; g <= RANDOM_GS / 2; g++) {
		create(r.s, g, r.stacks[0]);
		r.state[g] = READY;
	}
	for (unsigned i = 0; i < RANDOM_STEPS; i++)
		random_step(&r);
	r.s->end = r.s->now + 1000;
	return r.s;
}

/* Each level tiles the window above it, without gaps or overlaps. */
static void check_tiles(const struct why *why, uint32_t parent, uint64_t begin, uint64_t end)
{
	uint64_t at_ns = begin;

	for (size_t i = 0; i < why->nsegments; i++) {
		const struct path_segment *segment = &why->segments[i];

		if (segment->parent != parent)
			continue;
		assert_int_equal(segment->start, at_ns);
		assert_true(segment->end > segment->start);
		at_ns = segment->end;
	}
	if (!parent || at_ns != begin)
		assert_int_equal(at_ns, end);
}

static size_t check_instance(struct script *s, const struct why_question *question)
{
	struct why *why = why_new(question);
	struct error err = {""};
	struct analysis *a = analyse(s, why);
	int ret = why_choose(why, a, &err);
	size_t n;

	analysis_free(a);
	if (!ret) {
		a = analyse(s, why);
		assert_int_equal(why_explain(why, a, &err), 0);
		analysis_free(a);
		check_tiles(why, 0, why->begin, why->end);
		for (size_t i = 0; i < why->nsegments; i++)
			check_tiles(why, (uint32_t)i + 1, why->segments[i].start, why->segments[i].end);
	}
	n = ret ? 0 : why->nsegments;
	why_free(why);
	return n;
}

static void test_random_paths(void **state)
{
	size_t parts = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct script *s = random_script(seed);
		struct why_question question = {.kind = WHY_TASK, .name = "job", .at_ns = UINT64_MAX};

		for (question.slowest = 1; question.slowest <= 3; question.slowest++)
			parts += check_instance(s, &question);
		question.kind = WHY_GOROUTINE;
		question.goroutine = 1 + seed % RANDOM_GS;
		parts += check_instance(s, &question);
		script_free(s);
	}
	assert_true(parts > 1000);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_queue),
	cmocka_unit_test(test_path),
	cmocka_unit_test(test_text),
	cmocka_unit_test(test_off_cpu),
	cmocka_unit_test(test_path_across_gap),
	cmocka_unit_test(test_gap_to_the_end),
	cmocka_unit_test(test_path_of_none),
	cmocka_unit_test(test_random_paths),
};

UNIT_TESTS(tests, NULL, NULL);
