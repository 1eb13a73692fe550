/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Small programs as lists of ops, whose faults are known by construction. */
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "analysis/order.h"
#include "script.h"

/* --- histogram --- */

static void test_histogram(void **state)
{
	struct histogram hist = {0}, other = {0};

	(void)state;
	for (uint64_t i = 1; i <= 100000; i++)
		assert_int_equal(histogram_add(i % 2 ? &hist : &other, i * 1000), 0);
	assert_int_equal(histogram_merge(&hist, &other), 0);
	assert_int_equal(hist.n, 100000);
	assert_int_equal(hist.max, 100000000);
	assert_int_equal(hist.sum, 1000ull * 100000 / 2 * 100001);
	for (int percent = 1; percent <= 100; percent++) {
		double want = percent * 1e6, got = (double)histogram_quantile(&hist, percent / 100.0);

		assert_true(got > want * 0.984 && got < want * 1.016);
	}
	histogram_free(&hist);
	histogram_free(&other);
	assert_int_equal(histogram_add(&hist, UINT64_MAX), 0);
	assert_true(histogram_quantile(&hist, 0.5) > UINT64_MAX / 64 * 62);
	histogram_free(&hist);
}

/* --- locks --- */

enum { READER = 1, HOLDER, FIRST_WAITER = 10 };

enum held_for { FOR_NETWORK, FOR_ANSWER, FOR_COMPUTING };

/*
 * One goroutine holds a lock for 20 ms, and meanwhile waits for the network, also by way of the goroutine
 * that reads a connection of net/http, or computes; four others want the lock. This happens 25 times.
 */
static struct script *locked(enum held_for held_for)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.get", NULL, 1, NULL),
		 holder = stack(s, "main.refresh", NULL, 1, NULL);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.get", 7, "main.main");
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.refresh", 9, "main.main");
	uint32_t handed = stack(s, "sync.(*Mutex).Unlock", "main.get", 8, "main.main");
	uint32_t net = stack(s, "internal/poll.runtime_pollWait", "main.refresh", 5, "main.main");
	uint32_t answer = stack(s, "net/http.(*persistConn).roundTrip", "main.refresh", 5, "main.main");
	uint32_t nap = stack(s, "time.Sleep", "main.get", 3, "main.main");

	procs(s, 4);
	create(s, HOLDER, holder);
	for (uint32_t g = FIRST_WAITER; g < FIRST_WAITER + 4; g++)
		create(s, g, entry);
	for (uint64_t i = 0; i < 25; i++) {
		at(s, i * 40 * MS + MS);
		start(s, HOLDER, 0);
		for (uint32_t g = FIRST_WAITER; g < FIRST_WAITER + 4; g++) {
			start(s, g, 1);
			block(s, g, 1, "sync", wait);
		}
		if (held_for != FOR_COMPUTING) {
			if (held_for == FOR_ANSWER)
				block(s, HOLDER, 0, "select", answer);
			else
				block(s, HOLDER, 0, "network", net);
			at(s, i * 40 * MS + 20 * MS);
			wake(s, 0, 1, HOLDER, 0);
			start(s, HOLDER, 0);
		}
		at(s, i * 40 * MS + 21 * MS);
		wake(s, HOLDER, 0, FIRST_WAITER, release);
		block(s, HOLDER, 0, "sleep", nap);
		for (uint32_t g = FIRST_WAITER; g < FIRST_WAITER + 4; g++) {
			start(s, g, 1);
			s->now += 5000;
			if (g < FIRST_WAITER + 3)
				wake(s, g, 1, g + 1, handed);
			block(s, g, 1, "sleep", nap);
		}
		for (uint32_t g = FIRST_WAITER; g < FIRST_WAITER + 4; g++)
			wake(s, 0, NO_P, g, 0);
		wake(s, 0, NO_P, HOLDER, 0);
	}
	return s;
}

static void check_lock(enum held_for held_for, const char *id, const char *other)
{
	struct script *s = locked(held_for);
	struct analysis *a = analyse(s, NULL);
	const struct finding *finding = &a->findings[0];

	assert_true(a->nfindings > 0);
	assert_string_equal(finding->id, id);
	assert_null(found(a, other));
	assert_null(found(a, "lock-convoy"));
	assert_int_equal(finding->level, LEVEL_HIGH);
	assert_non_null(strstr(finding->text, "main.get"));
	assert_non_null(strstr(finding->text, "main.refresh"));
	assert_int_equal(finding->n, 100);
	/* 20 ms each, plus the delays of earlier ones. */
	assert_true(finding->total_ns > 1995 * MS && finding->total_ns < 2005 * MS);
	analysis_free(a);
	script_free(s);
}

static uint64_t count_of(const char *text, const char *part)
{
	uint64_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

/* The place of a finding is its longest wait; the strip has the waiters, who held the lock, and the wake-ups.
 */
static void test_place(void **state)
{
	const struct report_style style = {.all = true};
	struct script *s = locked(FOR_NETWORK);
	struct analysis *a = analyse(s, NULL), *again;
	struct strips *strips = strips_new(a);
	struct analysis_place place;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	assert_true(analysis_finding_place(a, 0, &place));
	assert_int_equal(place.end - place.begin, a->findings[0].max_ns);
	assert_int_equal(place.begin, a->findings[0].worst_ns);
	assert_true(place.from <= place.begin && place.end <= place.to);
	assert_true(place.to - place.from <= 200 * MS && place.to - place.from > 100 * MS);
	assert_false(analysis_finding_place(a, ANALYSIS_FINDINGS, &place));
	assert_true(place.from == 0 && place.to == a->end - a->begin);

	again = analyse_with(s, NULL, strips);
	strips_json(strips, again, out);
	fclose(out);
	/* Up to here for the first finding: the waiters handed the lock on, from the one that held it. */
	strstr(text, "\"wakes\":[[")[0] = '\0';
	assert_int_equal(count_of(text, "\"name\":\"main.main\""), 5);
	free(text);
	out = open_memstream(&text, &n);
	report_html(again, strips, out, &style);
	fclose(out);
	assert_non_null(strstr(text, "id=\"strips\">{\"states\":[\"none\",\"run\""));
	free(text);
	analysis_free(again);
	analysis_free(a);
	strips_free(strips);
	script_free(s);
}

static void test_lock_held_across_io(void **state)
{
	(void)state;
	check_lock(FOR_NETWORK, "lock-io", "lock-long");
	check_lock(FOR_ANSWER, "lock-io", "lock-long");
}

static void test_lock_held_long(void **state)
{
	(void)state;
	check_lock(FOR_COMPUTING, "lock-long", "lock-io");
}

/* --- leaks --- */

/* A hundred goroutines are started, one every 20 ms, and wait to send. With `end`, something receives what
 * they send. */
static struct analysis *leaking(struct script *s, bool end, const char *func, const char *reason)
{
	bool sends = strcmp(reason, "chan send") == 0;
	uint32_t entry = stack(s, func, NULL, 1, NULL);
	uint32_t send =
		stack(s, sends ? "runtime.chansend1" : "internal/poll.runtime_pollWait", func, 4, NULL);

	procs(s, 1);
	for (uint32_t g = 1; g <= 200; g++) {
		at(s, g * 20 * MS);
		create(s, g, entry);
		start(s, g, 0);
		block(s, g, 0, reason, send);
		if (end) {
			wake(s, 0, NO_P, g, 0);
			start(s, g, 0);
			add(s, OP_GO_DESTROY, g, 0);
			add(s, OP_PROC_STOP, 0, 0);
		}
	}
	return analyse(s, NULL);
}

static void test_leak(void **state)
{
	struct script *s = script_new(4000 * MS), *clean = script_new(4000 * MS),
		      *clients = script_new(4000 * MS);
	struct analysis *a = leaking(s, false, "main.poll", "chan send");

	(void)state;
	assert_string_equal(a->findings[0].id, "leak");
	assert_non_null(strstr(a->findings[0].text, "main.poll"));
	assert_true(a->findings[0].level >= LEVEL_MEDIUM);
	analysis_free(a);
	a = leaking(clean, true, "main.poll", "chan send");
	assert_null(found(a, "leak"));
	assert_int_equal(a->alive, 0);
	analysis_free(a);
	/* A server has one for each client that keeps its connection. */
	a = leaking(clients, false, "net/http.(*conn).serve", "network");
	assert_non_null(found(a, "leak"));
	assert_int_equal(found(a, "leak")->level, LEVEL_INFO);
	analysis_free(a);
	script_free(s);
	script_free(clean);
	script_free(clients);
}

/*
 * 100 goroutines at the start, of which one ends for each that is created: all live for longer than the
 * trace, but they do not become more. Who created the first is not known; they are counted with the others.
 */
static void test_long_lives(void **state)
{
	struct script *s = script_new(4000 * MS);
	uint32_t entry = stack(s, "main.poll", NULL, 1, NULL),
		 creator = stack(s, "main.serve", NULL, 9, NULL);
	uint32_t send = stack(s, "runtime.chansend1", "main.poll", 4, NULL);
	struct analysis *a;

	(void)state;
	procs(s, 1);
	for (uint32_t g = 1; g <= 100; g++) {
		struct op *op = add(s, OP_GO_STATUS, g, NO_P);

		op->status = G_WAITING;
		op->stack = send;
	}
	for (uint32_t g = 1; g <= 100; g++) {
		at(s, g * 30 * MS);
		create(s, 100 + g, entry);
		s->ops[s->n - 1].stack = creator;
		start(s, 100 + g, 0);
		block(s, 100 + g, 0, "chan send", send);
		wake(s, 0, NO_P, g, 0);
		start(s, g, 0);
		add(s, OP_GO_DESTROY, g, 0);
		add(s, OP_PROC_STOP, 0, 0);
	}
	a = analyse(s, NULL);
	assert_null(found(a, "leak"));
	assert_int_equal(a->ngroups, 2);
	assert_int_equal(a->groups[1].at_start, 100);
	assert_int_equal(a->groups[1].created, 100);
	assert_int_equal(a->groups[1].alive, 100);
	assert_true(a->groups[1].creator != 0);
	analysis_free(a);
	script_free(s);
}

/* --- definitions --- */

/* Delays have one of two causes: an idle P was available, or all Ps were busy. */
static void test_latency(void **state)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.work", NULL, 1, NULL);
	struct analysis *a;

	(void)state;
	procs(s, 1);
	create(s, 1, entry);
	at(s, 10 * MS);
	start(s, 1, 0);
	create(s, 2, entry);
	at(s, 40 * MS);
	add(s, OP_GO_DESTROY, 1, 0);
	add(s, OP_GO_START, 2, 0);
	at(s, 50 * MS);
	add(s, OP_GO_DESTROY, 2, 0);
	a = analyse(s, NULL);
	assert_int_equal(a->latency.n, 2);
	assert_true(a->latency_by[DELAY_WAKEUP] > 9.9 * MS && a->latency_by[DELAY_WAKEUP] < 10.1 * MS);
	assert_true(a->latency_by[DELAY_NO_P] > 29.9 * MS && a->latency_by[DELAY_NO_P] < 30.1 * MS);
	assert_true(a->total_spent[ACT_CODE] > 39 * MS && a->total_spent[ACT_CODE] < 41 * MS);
	analysis_free(a);
	script_free(s);
}

/* A goroutine that was suspended did not wait for what the function would wait for. */
static void test_suspended(void **state)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.work", NULL, 1, NULL);
	uint32_t lock = stack(s, "sync.(*Mutex).Lock", "main.work", 7, "main.main");
	uint32_t choice = stack(s, "runtime.selectgo", "main.work", 9, "main.main");
	const struct {
		const char *reason;
		uint32_t stack;
		uint64_t ms;
	} waits[] = {{"sync", lock, 10}, {"preempted", lock, 20}, {"", choice, 30}, {"select", choice, 40}};
	struct analysis *a;

	(void)state;
	procs(s, 1);
	create(s, 1, entry);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		start(s, 1, 0);
		block(s, 1, 0, waits[i].reason, waits[i].stack);
		s->now += waits[i].ms * MS;
		wake(s, 0, NO_P, 1, 0);
	}
	start(s, 1, 0);
	add(s, OP_GO_DESTROY, 1, 0);
	a = analyse(s, NULL);
	assert_int_equal(a->total_spent[ACT_LOCK] / MS, 10);
	assert_int_equal(a->total_spent[ACT_SELECT] / MS, 40);
	assert_int_equal(a->total_spent[ACT_OTHER] / MS, 50);
	analysis_free(a);
	script_free(s);
}

/* --- herds and stragglers --- */

/* Twenty goroutines wait for a condition. Every 6 ms one of them, or all, are woken, and all wait again. From
 * round `unseen` on, no waker is recorded: the wake-up stands directly before the start. */
static struct analysis *herding(struct script *s, bool all, uint64_t unseen)
{
	uint32_t entry = stack(s, "main.consume", NULL, 1, NULL),
		 maker = stack(s, "main.produce", NULL, 1, NULL);
	uint32_t wait = stack(s, "sync.(*Cond).Wait", "main.consume", 7, "main.main");
	uint32_t broadcast = stack(s, "sync.(*Cond).Broadcast", "main.produce", 9, "main.main");
	uint32_t nap = stack(s, "time.Sleep", "main.produce", 3, "main.main");

	procs(s, 2);
	create(s, 1, maker);
	for (uint32_t g = 2; g < 22; g++) {
		create(s, g, entry);
		start(s, g, 1);
		block(s, g, 1, "sync", wait);
	}
	for (uint64_t i = 0; i < 150; i++) {
		at(s, (i + 1) * 6 * MS);
		if (i)
			wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		for (uint32_t g = 2; g < (all ? 22 : 3) && i < unseen; g++)
			wake(s, 1, 0, g, broadcast);
		block(s, 1, 0, "sleep", nap);
		for (uint32_t g = 2; g < (all ? 22 : 3); g++) {
			s->now += 1000;
			if (i >= unseen) {
				wake(s, 0, NO_P, g, 0);
				s->now += 65; /* a unit of the file, and what a reader adds */
			}
			start(s, g, 1);
			block(s, g, 1, "sync", wait);
		}
	}
	return analyse(s, NULL);
}

static void test_herd(void **state)
{
	struct script *s = script_new(1000 * MS), *clean = script_new(1000 * MS);
	struct analysis *a = herding(s, true, UINT64_MAX);
	const struct finding *finding = found(a, "herd");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->n, 150 * 13); /* of the twenty, all but the first seven */
	assert_in_range(finding->max_ns, 5 * MS, 6 * MS);
	assert_non_null(strstr(finding->text, "main.produce"));
	assert_non_null(strstr(finding->text, "main.consume"));
	analysis_free(a);
	a = herding(clean, false, UINT64_MAX);
	assert_null(found(a, "herd"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

/* No latency is known of who was not seen to be woken, and what was seen is enough for the herd. */
static void test_herd_partly_seen(void **state)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a = herding(s, true, 100);
	const struct finding *finding = found(a, "herd");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->n, 100 * 13);
	assert_non_null(strstr(finding->text,
			       "main.produce (:9) wakes up to 20 goroutines at once. After 1300 of 2000"));
	assert_true(histogram_quantile(&a->latency, 0.01) >= 900);
	analysis_free(a);
	script_free(s);
}

/* One goroutine starts four and waits for them. The last takes 20 ms, or 100 us, longer than the rest. */
static struct analysis *joining(struct script *s, bool slow)
{
	uint32_t entry = stack(s, "main.member", NULL, 1, NULL), boss = stack(s, "main.batch", NULL, 1, NULL);
	uint32_t wait = stack(s, "sync.(*WaitGroup).Wait", "main.batch", 7, "main.main");
	uint32_t done = stack(s, "sync.(*WaitGroup).Done", "main.member", 9, "main.main");

	procs(s, 2);
	create(s, 1, boss);
	start(s, 1, 0);
	for (uint32_t i = 0; i < 20; i++) {
		for (uint32_t g = 2; g < 6; g++) {
			struct op *op = add(s, OP_GO_CREATE, 1, 0);

			op->g2 = g;
			op->stack2 = entry;
		}
		block(s, 1, 0, "sync", wait);
		for (uint32_t g = 2; g < 6; g++) {
			start(s, g, 1);
			s->now += g == 5 && slow ? 20 * MS : 100000;
			if (g == 5)
				wake(s, g, 1, 1, done);
			add(s, OP_GO_DESTROY, g, 1);
			add(s, OP_PROC_STOP, 0, 1);
		}
		start(s, 1, 0);
	}
	return analyse(s, NULL);
}

static void test_straggler(void **state)
{
	struct script *s = script_new(1000 * MS), *clean = script_new(1000 * MS);
	struct analysis *a = joining(s, true);
	const struct finding *finding = found(a, "straggler");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->n, 20);
	assert_true(finding->total_ns > 400 * MS && finding->total_ns < 420 * MS);
	assert_non_null(strstr(finding->text, "main.member"));
	analysis_free(a);
	a = joining(clean, false);
	assert_null(found(a, "straggler"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

/* --- what holds a P --- */

/* For 1 s a goroutine is preempted every 10 ms: in a select that does not wait, or in its own code. */
static struct analysis *polling(struct script *s, const char *leaf, bool blocks)
{
	uint32_t entry = stack(s, "main.spin", NULL, 1, NULL);
	uint32_t where = stack(s, "runtime.chanrecv", leaf, 7, "main.spin");
	struct op *op;

	procs(s, 1);
	create(s, 1, entry);
	for (unsigned i = 0; i < 100; i++) {
		start(s, 1, 0);
		s->now += 10 * MS;
		if (blocks && i % 2) {
			block(s, 1, 0, "chan receive", where);
			wake(s, 0, NO_P, 1, 0);
			continue;
		}
		op = add(s, OP_GO_STOP, 1, 0);
		op->string = str(s, "preempted");
		op->stack = where;
	}
	return analyse(s, NULL);
}

static void test_spin(void **state)
{
	struct script *s = script_new(1010 * MS), *clean = script_new(1010 * MS),
		      *other = script_new(1010 * MS);
	struct analysis *a = polling(s, "runtime.selectnbrecv", false);
	const struct finding *finding = found(a, "spin");

	(void)state;
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "main.spin"));
	assert_int_equal(finding->n, 100);
	assert_in_range(finding->total_ns, 1000 * MS, 1001 * MS);
	assert_int_equal(finding->level, LEVEL_HIGH);
	analysis_free(a);
	a = polling(clean, "runtime.selectnbrecv", true);
	assert_null(found(a, "spin"));
	analysis_free(a);
	a = polling(other, "runtime.chanrecv1", false);
	assert_null(found(a, "spin"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
	script_free(other);
}

/* Goroutine 1 runs for `slice` ns at a time; then the timers of the sleepers fire. */
static struct analysis *holding(struct script *s, uint64_t slice, uint32_t sleepers)
{
	uint32_t entry = stack(s, "main.hold", NULL, 1, NULL), tick = stack(s, "main.tick", NULL, 1, NULL);
	uint32_t nap = stack(s, "time.Sleep", "main.tick", 3, NULL);

	procs(s, 1);
	create(s, 1, entry);
	for (uint32_t g = 2; g < 2 + sleepers; g++) {
		create(s, g, tick);
		start(s, g, 0);
		block(s, g, 0, "sleep", nap);
	}
	for (unsigned i = 0; i < 50; i++) {
		start(s, 1, 0);
		s->now += slice;
		add(s, OP_GO_STOP, 1, 0)->string = str(s, "preempted");
		for (uint32_t g = 2; g < 2 + sleepers; g++)
			add(s, OP_GO_UNBLOCK, 0, 0)->g2 = g;
		for (uint32_t g = 2; g < 2 + sleepers; g++) {
			start(s, g, 0);
			block(s, g, 0, "sleep", nap);
		}
	}
	return analyse(s, NULL);
}

static void test_timer_late(void **state)
{
	struct script *s = script_new(1010 * MS), *quick = script_new(1010 * MS),
		      *few = script_new(1010 * MS);
	struct analysis *a = holding(s, 20 * MS, 6);
	const struct finding *finding = found(a, "timer-late");

	(void)state;
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "main.hold"));
	assert_int_equal(finding->n, 300);
	assert_in_range(finding->total_ns, 1000 * MS, 1001 * MS);
	assert_int_equal(finding->worst_goid, 1);
	assert_in_range(finding->max_ns, 20 * MS, 20 * MS + 1000);
	assert_true(finding->worst_ns < MS); /* the first of equal ones */
	assert_non_null(strstr(finding->next, "--at 0.019"));
	analysis_free(a);
	a = holding(quick, 9 * MS, 6);
	assert_null(found(a, "timer-late"));
	analysis_free(a);
	a = holding(few, 20 * MS, 4);
	assert_null(found(a, "timer-late"));
	analysis_free(a);
	script_free(s);
	script_free(quick);
	script_free(few);
}

/* --- output --- */

/* The output is as large as permitted, and no larger. Names cannot escape from their block in the page. */
static void test_output(void **state)
{
	const struct report_style style = {.max_bytes = 8192};
	struct script *s = locked(FOR_NETWORK);
	struct analysis *a = analyse(s, NULL);
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	report_json(a, out, &style);
	fclose(out);
	assert_true(n > 2000 && n <= 8192);
	assert_non_null(strstr(text, "\"findings\":{\"rows\":[{\"id\":\"lock-io\""));
	free(text);
	out = open_memstream(&text, &n);
	a->options.name = "</script><b>";
	report_html(a, NULL, out, &style);
	fclose(out);
	assert_null(strstr(text, "</script><b>"));
	assert_non_null(strstr(text, "\\u003c/script\\u003e\\u003cb\\u003e"));
	free(text);
	analysis_free(a);
	script_free(s);
}

/* At the end of a piece, a task and a region are open: they count with what they have taken so far. */
static void test_goes_on(void **state)
{
	/* The third piece has no task. */
	for (int piece = 0; piece < 3; piece++) {
		bool goes_on = piece > 0, has_task = piece < 2;
		struct script *s = script_new(100 * MS);
		const struct analysis_options options = {.name = "test", .goes_on = goes_on};
		struct analysis *a = analysis_new(&options);
		struct op *op;
		unsigned n = 0;

		(void)state;
		procs(s, 1);
		create(s, 1, stack(s, "main.get", NULL, 1, NULL));
		start(s, 1, 0);
		at(s, 60 * MS);
		if (has_task) {
			op = add(s, OP_TASK_BEGIN, 1, 0);
			op->arg = 1;
			op->string = str(s, "task");
		}
		at(s, 70 * MS);
		add(s, OP_REGION_BEGIN, 1, 0)->string = str(s, "region");
		pass_on(a, s, 0, true);
		assert_int_equal(analysis_end(a), 0);
		for (size_t i = 0; i < a->ninstances; i++) {
			const struct instances *all = &a->instances[i];

			if (all->hist.n == 0 || all->kind == INSTANCE_LIFE)
				continue;
			n++;
			assert_int_equal(all->hist.n, 1);
			assert_int_equal(all->hist.sum / MS, all->kind == INSTANCE_TASK ? 39 : 29);
		}
		assert_int_equal(n, goes_on ? 1 + has_task : 0);
		analysis_free(a);
		script_free(s);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_place),
	cmocka_unit_test(test_histogram),
	cmocka_unit_test(test_lock_held_across_io),
	cmocka_unit_test(test_lock_held_long),
	cmocka_unit_test(test_leak),
	cmocka_unit_test(test_long_lives),
	cmocka_unit_test(test_latency),
	cmocka_unit_test(test_suspended),
	cmocka_unit_test(test_herd),
	cmocka_unit_test(test_herd_partly_seen),
	cmocka_unit_test(test_straggler),
	cmocka_unit_test(test_spin),
	cmocka_unit_test(test_timer_late),
	cmocka_unit_test(test_output),
	cmocka_unit_test(test_goes_on),
};

UNIT_TESTS(tests, NULL, NULL);
