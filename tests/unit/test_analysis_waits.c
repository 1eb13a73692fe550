/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The rules about places where goroutines wait, each with a healthy twin. */
#include <string.h>

#include "unit.h"

#include "analysis/diff.h"

#include "script.h"

/* g1 and g2 wait for locks in two places throughout; the first `ends` get theirs after 1200 ms. */
static struct analysis *deadlock(struct script *s, unsigned ends)
{
	uint32_t entry = stack(s, "main.serve", NULL, 1, NULL);
	uint32_t one = stack(s, "sync.(*Mutex).Lock", "main.debit", 7, "main.serve");
	uint32_t other = stack(s, "sync.(*Mutex).Lock", "main.credit", 9, "main.serve");

	procs(s, 2);
	for (uint32_t g = 1; g <= 2; g++) {
		create(s, g, entry);
		start(s, g, (int32_t)g - 1);
		block(s, g, (int32_t)g - 1, "sync", g == 1 ? one : other);
	}
	at(s, 1200 * MS);
	for (uint32_t g = 1; g <= ends; g++) {
		wake(s, 0, NO_P, g, 0);
		start(s, g, (int32_t)g - 1);
	}
	return analyse(s, NULL);
}

static void test_stuck(void **state)
{
	struct script *s = script_new(1500 * MS), *clean = script_new(1500 * MS);
	struct analysis *a = deadlock(s, 0);
	const struct finding *finding = found(a, "stuck");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_HIGH);
	assert_int_equal(finding->n, 2);
	assert_non_null(strstr(finding->text, "main.debit"));
	assert_non_null(strstr(finding->text, "main.credit"));
	analysis_free(a);
	a = deadlock(clean, 2);
	assert_null(found(a, "stuck"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

/* Somebody got the lock of a place: the other may get it, too. */
static void test_not_stuck(void **state)
{
	struct script *s = script_new(1500 * MS);
	uint32_t entry = stack(s, "main.serve", NULL, 1, NULL);
	uint32_t lock = stack(s, "sync.(*Mutex).Lock", "main.debit", 7, "main.serve");
	struct analysis *a;

	(void)state;
	procs(s, 2);
	for (uint32_t g = 1; g <= 2; g++) {
		create(s, g, entry);
		start(s, g, (int32_t)g - 1);
		block(s, g, (int32_t)g - 1, "sync", lock);
	}
	at(s, 1400 * MS);
	wake(s, 0, NO_P, 1, 0);
	start(s, 1, 0);
	a = analyse(s, NULL);
	assert_null(found(a, "stuck"));
	analysis_free(a);
	script_free(s);
}

/* A finding, and goroutines, are there before a change and not after. */
static void test_diff(void **state)
{
	const struct report_style style = {0};
	struct script *s = script_new(1500 * MS), *clean = script_new(1500 * MS);
	struct analysis *before = deadlock(s, 0), *after = deadlock(clean, 2);
	struct diff *gone = diff_new(before, after), *new = diff_new(after, before);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(gone);
	diff_text(gone, out, &style);
	fclose(out);
	assert_non_null(strstr(text, "gone     high           stuck\n  2 goroutines waited"));
	assert_non_null(strstr(text, "goroutines at the end"));
	free(text);
	out = open_memstream(&text, &size);
	diff_json(new, out);
	fclose(out);
	assert_non_null(strstr(text, "{\"verdict\":\"new\",\"id\":\"stuck\",\"level_after\":\"high\""));
	free(text);
	diff_free(gone);
	diff_free(new);
	analysis_free(before);
	analysis_free(after);
	script_free(s);
	script_free(clean);
}

/* g1 waits here again and again, for 20 ms each time; a timer, or g2, ends the waits. */
static struct analysis *waiting(struct script *s, uint32_t where, const char *reason, bool by_g2)
{
	uint32_t entry = stack(s, "main.loop", NULL, 1, NULL);
	uint32_t nap = stack(s, "runtime.selectgo", "main.poll", 4, "main.loop");
	uint32_t reply = stack(s, "runtime.chansend1", "main.answer", 5, "main.loop");

	procs(s, 2);
	for (uint32_t g = 1; g <= 2; g++)
		create(s, g, entry);
	start(s, 1, 0);
	start(s, 2, 1);
	block(s, 2, 1, "select", nap);
	for (unsigned i = 0; i < 60; i++) {
		block(s, 1, 0, reason, where);
		s->now += 20 * MS;
		if (by_g2) {
			wake(s, 0, NO_P, 2, 0);
			start(s, 2, 1);
			wake(s, 2, 1, 1, reply);
			block(s, 2, 1, "select", nap);
		} else {
			wake(s, 0, NO_P, 1, 0);
		}
		start(s, 1, 0);
		s->now += MS;
	}
	s->end = s->now;
	return analyse(s, NULL);
}

static void test_requests(void **state)
{
	struct script *s = script_new(1500 * MS), *clean = script_new(1500 * MS);
	uint32_t inside = stack(s, "time.Sleep", "main.backoff", 7, "net/http.serverHandler.ServeHTTP");
	uint32_t outside = stack(clean, "time.Sleep", "main.backoff", 7, "main.loop");
	struct analysis *a = waiting(s, inside, "sleep", false);
	const struct finding *finding = found(a, "request-place");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "sleep in main.backoff"));
	assert_int_equal(finding->n, 60);
	analysis_free(a);
	a = waiting(clean, outside, "sleep", false);
	assert_null(found(a, "request-place"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

/* g1 handles requests: 50 samples in a function that it calls, 10 in its own, and short waits. */
static void test_requests_that_run(void **state)
{
	struct script *s = script_new(1000 * MS);
	uint32_t serve = stack(s, "main.(*api).search", NULL, 3, "net/http.serverHandler.ServeHTTP");
	uint32_t compile =
		stack(s, "regexp.MustCompile", "main.match", 7, "net/http.serverHandler.ServeHTTP");
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	procs(s, 1);
	create(s, 1, serve);
	start(s, 1, 0);
	for (unsigned i = 0; i < 60; i++) {
		struct op *op = add(s, OP_CPU_SAMPLE, 1, 0);

		op->time = 1000 + (10 + 10 * i) * MS;
		op->stack = i % 6 ? compile : serve;
		s->now--;
	}
	at(s, 900 * MS);
	add(s, OP_GO_DESTROY, 1, 0);
	a = analyse(s, NULL);
	finding = found(a, "request-place");
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "run in main.match"));
	assert_non_null(strstr(finding->text, "in regexp.MustCompile"));
	analysis_free(a);
	script_free(s);
}

static void test_timer_bound(void **state)
{
	struct script *s = script_new(1500 * MS), *clean = script_new(1500 * MS);
	uint32_t asks = stack(s, "runtime.chanrecv1", "main.submit", 7, "net/http.serverHandler.ServeHTTP");
	uint32_t idle = stack(clean, "runtime.chanrecv1", "main.work", 7, "main.loop");
	struct analysis *a = waiting(s, asks, "chan receive", true);
	const struct finding *finding = found(a, "timer-bound");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "main.submit"));
	assert_non_null(strstr(finding->text, "select in main.poll"));
	analysis_free(a);
	a = waiting(clean, idle, "chan receive", true);
	assert_null(found(a, "timer-bound"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

static void test_finalizer(void **state)
{
	struct script *s = script_new(1500 * MS), *clean = script_new(1500 * MS);
	uint32_t inside = stack(s, "time.Sleep", "main.closeHandle", 7, "runtime.runFinalizers");
	uint32_t idle = stack(clean, "runtime.gopark", "runtime.runFinalizers", 7, "runtime.goexit");
	struct analysis *a = waiting(s, inside, "sleep", false);
	const struct finding *finding = found(a, "finalizer");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_MEDIUM);
	assert_non_null(strstr(finding->text, "main.closeHandle"));
	analysis_free(a);
	a = waiting(clean, idle, "finalizer wait", false);
	assert_null(found(a, "finalizer"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

/* g1 gets an item from g2 every 100 us or every 1 ms, and runs for a moment. */
static struct analysis *handing(struct script *s, uint64_t pause_ns)
{
	uint32_t stage = stack(s, "main.stage", NULL, 1, NULL),
		 source = stack(s, "main.produce", NULL, 1, NULL);
	uint32_t wait = stack(s, "runtime.chanrecv1", "main.stage", 7, NULL);
	uint32_t send = stack(s, "runtime.chansend1", "main.produce", 5, NULL);

	procs(s, 2);
	for (uint32_t g = 1; g <= 2; g++)
		create(s, g, g == 1 ? stage : source);
	start(s, 1, 0);
	start(s, 2, 1);
	for (unsigned i = 0; i < 6000; i++) {
		block(s, 1, 0, "chan receive", wait);
		s->now += pause_ns;
		wake(s, 2, 1, 1, send);
		start(s, 1, 0);
	}
	s->end = s->now;
	return analyse(s, NULL);
}

static void test_hand_off(void **state)
{
	struct script *s = script_new(1500 * MS), *clean = script_new(7000 * MS);
	struct analysis *a = handing(s, 90000);
	const struct finding *finding = found(a, "hand-off");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "main.stage"));
	assert_non_null(strstr(finding->text, "main.produce"));
	analysis_free(a);
	a = handing(clean, MS);
	assert_null(found(a, "hand-off"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

/* g1 is in calls into C for 20 ms each, or in calls of another kind. */
static struct analysis *calling(struct script *s, const char *leaf)
{
	uint32_t entry = stack(s, "main.loop", NULL, 1, NULL);
	uint32_t id = stack(s, leaf, "main.resize", 7, "main.loop");

	procs(s, 1);
	create(s, 1, entry);
	start(s, 1, 0);
	for (unsigned i = 0; i < 60; i++) {
		call(s, 1, 0, 20 * MS, id);
		s->now += MS;
	}
	s->end = s->now;
	return analyse(s, NULL);
}

static void test_calls(void **state)
{
	struct script *s = script_new(1500 * MS), *clean = script_new(1500 * MS);
	struct analysis *a = calling(s, "runtime.cgocall");
	const struct finding *finding = found(a, "call-place");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "main.resize"));
	assert_non_null(strstr(finding->text, "calls into C"));
	analysis_free(a);
	a = calling(clean, "syscall.Wait4");
	assert_null(found(a, "call-place"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_stuck),
	cmocka_unit_test(test_not_stuck),
	cmocka_unit_test(test_diff),
	cmocka_unit_test(test_requests),
	cmocka_unit_test(test_requests_that_run),
	cmocka_unit_test(test_timer_bound),
	cmocka_unit_test(test_finalizer),
	cmocka_unit_test(test_hand_off),
	cmocka_unit_test(test_calls),
};

UNIT_TESTS(tests, NULL, NULL);
