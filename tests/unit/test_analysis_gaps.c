/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Nothing is recorded from 30 to 60 ms: no wait, call, hold, pause or cycle counts across that time. */
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "script.h"

static bool about(uint64_t ns, uint64_t want)
{
	return ns + 1000 > want && ns < want + 1000;
}

static void gap_begins(struct script *s)
{
	add_log(s, 30 * MS, "not watched from here on: over --max-overhead");
}

static void gap_ends(struct script *s)
{
	add_log(s, 60 * MS, "watched again from here on");
}

static const struct row *row_of(const struct analysis *a, unsigned activity)
{
	const struct row *found = NULL;

	for (size_t i = 1; i < a->nrows; i++) {
		if (a->rows[i].activity == activity) {
			assert_null(found);
			found = &a->rows[i];
		}
	}
	assert_non_null(found);
	return found;
}

/* Goroutines 1 to n run main.waiter. */
static struct script *waiters(uint32_t n)
{
	struct script *s = script_new(100 * MS);
	uint32_t entry = stack(s, "main.waiter", NULL, 1, NULL);

	procs(s, n);
	for (uint32_t g = 1; g <= n; g++)
		create(s, g, entry);
	for (uint32_t g = 1; g <= n; g++)
		start(s, g, (int32_t)g - 1);
	return s;
}

/* Goroutine 1 waits from 10 to 90 ms; 3 is in a system call from 20 to 80 ms. */
static void test_waits(void **state)
{
	struct script *s = waiters(3);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.waiter", 5, NULL);
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.waiter", 6, NULL);
	uint32_t call = stack(s, "syscall.Syscall", "main.waiter", 7, NULL);
	const struct row *row;
	struct analysis *a;

	(void)state;
	at(s, 10 * MS);
	block(s, 1, 0, "sync", wait);
	at(s, 20 * MS);
	add(s, OP_SYSCALL_BEGIN, 3, 2)->stack = call;
	gap_begins(s);
	gap_ends(s);
	at(s, 80 * MS);
	add(s, OP_SYSCALL_END, 3, 2);
	at(s, 90 * MS);
	wake(s, 2, 1, 1, release);
	start(s, 1, 0);
	a = analyse(s, NULL);
	row = row_of(a, ACT_LOCK);
	assert_int_equal(row->hist.n, 0);
	assert_int_equal(row->cut_n, 2);
	assert_true(about(row->cut_ns, 50 * MS) && about(row->cut_max, 30 * MS));
	row = row_of(a, ACT_SYSCALL);
	assert_int_equal(row->hist.n, 0);
	assert_true(about(row->cut_ns, 30 * MS) && about(row->cut_max, 20 * MS));
	assert_int_equal(a->nresources, 3);
	for (size_t i = 1; i < a->nresources; i++) {
		assert_int_equal(a->resources[i].waiting, 0);
		assert_int_equal(a->resources[i].waits.n, 0);
		assert_true(a->resources[i].charged_ns < 21 * MS && a->resources[i].min_holds.max < 31 * MS);
	}
	assert_true(about(a->total_spent[ACT_UNWATCHED], 90 * MS));
	analysis_free(a);
	script_free(s);
}

/* In the gap, goroutine 1 begins to wait, and 3 is woken and runs. */
static void test_hidden_changes(void **state)
{
	struct script *s = waiters(3);
	uint32_t receive = stack(s, "runtime.chanrecv1", "main.waiter", 5, NULL);
	uint32_t nap = stack(s, "time.Sleep", "main.waiter", 6, NULL);
	struct analysis *a;

	(void)state;
	at(s, 10 * MS);
	block(s, 3, 2, "sleep", nap);
	gap_begins(s);
	at(s, 40 * MS);
	block(s, 1, 0, "chan receive", receive);
	wake(s, 0, NO_P, 3, 0);
	at(s, 50 * MS);
	start(s, 3, 2);
	gap_ends(s);
	at(s, 90 * MS);
	wake(s, 2, 1, 1, 0);
	add(s, OP_GO_DESTROY, 3, 2);
	a = analyse(s, NULL);
	assert_true(about(a->total_spent[ACT_RECEIVE], 30 * MS));
	assert_true(about(a->total_spent[ACT_SLEEP], 20 * MS));
	assert_true(about(a->total_spent[ACT_UNWATCHED], 90 * MS));
	/* 1: 30 ms, 2: all but the gap, 3: 10 and 30 ms. */
	assert_true(about(a->total_spent[ACT_CODE], 140 * MS));
	assert_true(a->latency.max < MS);
	assert_int_equal(a->runnable, 0);
	assert_int_equal(row_of(a, ACT_RECEIVE)->hist.n, 0);
	assert_int_equal(a->timer_wakes, 0);
	analysis_free(a);
	script_free(s);
}

/* The collector works from 10 to 90 ms; it stops the world from 25 to 65 ms, and for 1 ms at 89 ms. */
static void test_collector(void **state)
{
	struct script *s = waiters(2);
	struct analysis *a;

	(void)state;
	at(s, 10 * MS);
	add(s, OP_GC_BEGIN, 1, 0);
	at(s, 25 * MS);
	add(s, OP_STW_BEGIN, 1, 0)->string = str(s, "GC mark termination");
	gap_begins(s);
	gap_ends(s);
	at(s, 65 * MS);
	add(s, OP_STW_END, 1, 0);
	at(s, 89 * MS);
	add(s, OP_STW_BEGIN, 1, 0)->string = str(s, "GC mark termination");
	at(s, 90 * MS);
	add(s, OP_STW_END, 1, 0);
	add(s, OP_GC_END, 1, 0);
	a = analyse(s, NULL);
	assert_true(about(a->gc.cycles_ns, 50 * MS));
	assert_int_equal(a->gc.pauses.n, 1);
	assert_true(about(a->gc.pauses.max, MS));
	assert_int_equal(a->gc.stops.n, 1);
	analysis_free(a);
	script_free(s);
}

/*
 * Two workers get all requests by a channel: each works for 5 ms of 10, and one request waits. What nobody
 * saw them do in the gap is not work.
 */
static void test_workers_across_gap(void **state)
{
	struct script *s = waiters(4);
	uint32_t work = stack(s, "runtime.chanrecv1", "main.worker", 5, NULL);
	uint32_t entry = stack(s, "main.worker", NULL, 1, NULL);
	uint32_t answer = stack(s, "runtime.chansend1", "main.worker", 6, NULL);
	uint32_t send = stack(s, "runtime.chansend1", "main.ask", 7, NULL);
	uint64_t from = 0;
	struct analysis *a;

	(void)state;
	s->end = 8000 * MS;
	create(s, 5, entry);
	create(s, 6, entry);
	start(s, 5, 2);
	start(s, 6, 3);
	block(s, 5, 2, "chan receive", work);
	block(s, 6, 3, "chan receive", work);
	for (unsigned i = 0; i < 60; i++, from += 10 * MS) {
		uint32_t worker = 5 + i % 2;

		s->now = 1000 + from + MS;
		block(s, 1, 0, "chan send", send);
		wake(s, 3, 2, worker, send);
		start(s, worker, 3);
		s->now += 5 * MS;
		wake(s, worker, 3, 1, answer);
		block(s, worker, 3, "chan receive", work);
		start(s, 1, 0);
	}
	add_log(s, from + 10 * MS, "not watched from here on: over --max-overhead");
	add_log(s, from + 7300 * MS, "watched again from here on");
	a = analyse(s, NULL);
	for (unsigned i = 0; i < a->nfindings; i++)
		assert_string_not_equal(a->findings[i].id, "pool-small");
	analysis_free(a);
	script_free(s);
}

/* Formats up to Go 1.21 do not record the end of a call that did not lose its P: such calls are no rows. */
static void test_calls_without_end(void **state)
{
	const struct analysis_options options = {.name = "t", .file = "t", .short_calls = true};
	const struct report_style style = {.all = true};
	struct script *s = waiters(2);
	uint32_t brief = stack(s, "syscall.read", "main.brief", 5, NULL);
	uint32_t slow = stack(s, "syscall.read", "main.slow", 6, NULL);
	struct analysis *a = analysis_new(&options);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	for (unsigned i = 0; i < 1234; i++)
		call(s, 1, 0, 1, brief);
	add(s, OP_SYSCALL_BEGIN, 2, 1)->stack = slow;
	s->now += 3 * MS;
	add(s, OP_SYSCALL_END_BLOCKED, 2, 1);
	start(s, 2, 1);
	pass_on(a, s, 0, true);
	assert_int_equal(analysis_end(a), 0);
	report_text(a, out, &style);
	fclose(out);
	assert_non_null(strstr(text, "1,234 calls without a time: "));
	assert_non_null(strstr(text, "main.slow:6"));
	assert_null(strstr(text, "main.brief"));
	free(text);
	analysis_free(a);
	script_free(s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_waits),
	cmocka_unit_test(test_hidden_changes),
	cmocka_unit_test(test_collector),
	cmocka_unit_test(test_workers_across_gap),
	cmocka_unit_test(test_calls_without_end),
};
UNIT_TESTS(tests, NULL, NULL);
