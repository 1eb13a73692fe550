/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Small programs as lists of ops, whose faults and critical paths are known by construction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

/* --- pprof labels --- */

static void say(struct script *s, uint32_t g, const char *category, const char *text)
{
	struct op *op = add(s, OP_LOG, g, 0);

	op->string = str(s, category);
	op->string2 = str(s, text);
}

/*
 * Goroutine 1 has h=a for 10 ms of three times, the last one open at the end; in each it waits for 4 ms. 2
 * waits, and has had h=b since it was created.
 */
static struct script *labelled(void)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.f", NULL, 1, NULL), wait = stack(s, "main.wait", "main.f", 7, NULL);

	procs(s, 1);
	create(s, 1, entry);
	create(s, 2, entry);
	start(s, 2, 0);
	say(s, 2, "labels held", "{\"h\":\"b\"}");
	block(s, 2, 0, "chan receive", wait);
	for (uint64_t i = 0; i < 3; i++) {
		at(s, (100 * i + 1) * MS);
		if (i)
			wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		say(s, 1, "labels", "{\"h\":\"a\"}");
		say(s, 1, "labels", "{\"h\":\"a\", \"n\":\"1\"}");
		block(s, 1, 0, "sleep", wait);
		at(s, (100 * i + 5) * MS);
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		at(s, (100 * i + 11) * MS);
		if (i < 2)
			say(s, 1, "labels", i ? "{\"x\":\"y\"}" : "{}");
		block(s, 1, 0, "chan receive", wait);
	}
	return s;
}

static const struct instances *label_row(const struct analysis *a, const char *name)
{
	for (size_t i = 1; i < a->ninstances; i++) {
		if (a->instances[i].kind == INSTANCE_LABEL &&
		    strcmp(name_text(a, a->instances[i].name), name) == 0)
			return &a->instances[i];
	}
	return NULL;
}

static void test_labels(void **state)
{
	struct script *s = labelled();
	struct analysis *a = analyse(s, NULL);
	const struct instances *row = label_row(a, "h=a");
	uint64_t all = 0;

	(void)state;
	assert_non_null(row);
	assert_int_equal(row->hist.n, 2);
	assert_int_equal(row->cut, 1);
	assert_true(row->hist.max > 9 * MS && row->hist.max < 11 * MS);
	assert_true(row->spent[ACT_SLEEP] > 11 * MS && row->spent[ACT_SLEEP] < 13 * MS);
	row = label_row(a, "h=b"); /* since it was created, until the end */
	assert_non_null(row);
	assert_int_equal(row->cut, 1);
	for (unsigned i = 0; i < ACT_COUNT; i++)
		all += row->spent[i];
	assert_true(all > 999 * MS && all <= 1000 * MS);
	assert_non_null(label_row(a, "x=y"));
	assert_int_equal(label_row(a, "n=1")->hist.n, 2);
	analysis_free(a);
	script_free(s);
}

static void test_labels_filter(void **state)
{
	const struct analysis_options options = {.name = "t", .file = "t", .label = "h=a"};
	struct script *s = labelled();
	const struct tables tables = {.strings = s->strings,
				      .goids = s->goids,
				      .ngoroutines = MAX_GS,
				      .stacks = s->stacks,
				      .nstacks = s->nstacks};
	const struct generation gen = {.number = 1,
				       .last = true,
				       .start = 1000,
				       .end = s->end,
				       .ops = s->ops,
				       .nops = s->n,
				       .tables = &tables};
	struct analysis *a = analysis_new(&options);

	(void)state;
	assert_non_null(a);
	assert_int_equal(analysis_generation(a, &gen), 0);
	assert_int_equal(analysis_end(a), 0);
	for (size_t i = 1; i < a->nrows; i++) {
		if (a->rows[i].activity == ACT_SLEEP)
			assert_int_equal(a->rows[i].hist.n, 3);
		if (a->rows[i].activity == ACT_RECEIVE) /* its own last one, and none of the others' */
			assert_int_equal(a->rows[i].hist.n + a->rows[i].cut_n, 1);
	}
	assert_null(label_row(a, "h=b"));
	assert_non_null(label_row(a, "n=1"));
	analysis_free(a);
	script_free(s);
}

/* Any number of values: bounded, and the rest is one row. */
static void test_labels_are_bounded(void **state)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.f", NULL, 1, NULL);
	char text[64];
	struct analysis *a;

	(void)state;
	procs(s, 1);
	create(s, 1, entry);
	start(s, 1, 0);
	for (unsigned i = 0; i < 6000; i++) {
		snprintf(text, sizeof(text), i < 5000 ? "{\"id\":\"%u\"}" : "{\"id%u\":\"\"}", i);
		say(s, 1, "labels", text);
	}
	a = analyse(s, NULL);
	assert_int_equal(label_row(a, "id=1000")->hist.n, 1);
	assert_int_equal(label_row(a, "id=(other values)")->hist.n, 5000 - 1024);
	assert_int_equal(label_row(a, "=(other labels)")->hist.n + label_row(a, "=(other labels)")->cut,
			 1000 - 255);
	analysis_free(a);
	script_free(s);
}

/* --- locks --- */

enum { READER = 1, HOLDER, FIRST_WAITER = 10 };

/*
 * One goroutine holds a lock for 20 ms and meanwhile waits for the network, or computes; four others want the
 * lock. Twenty-five times.
 */
static struct script *locked(bool io)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.get", NULL, 1, NULL),
		 holder = stack(s, "main.refresh", NULL, 1, NULL);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.get", 7, "main.main");
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.refresh", 9, "main.main");
	uint32_t handed = stack(s, "sync.(*Mutex).Unlock", "main.get", 8, "main.main");
	uint32_t net = stack(s, "internal/poll.runtime_pollWait", "main.refresh", 5, "main.main");
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
		if (io) {
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

/* The goroutine logs which lock it is about to wait for. */
static void log_lock(struct script *s, uint32_t g, int32_t p, const char *text)
{
	struct op *op = add(s, OP_LOG, g, p);

	op->string = str(s, "lock");
	op->string2 = strtab_add_str(s->texts, text) | TEXT_ID;
}

static const struct lock *lock_at(const struct analysis *a, uint64_t address)
{
	for (size_t i = 1; i < a->nlocks; i++) {
		if (a->locks[i].address == address)
			return &a->locks[i];
	}
	return NULL;
}

/* Goroutine 1 holds a mutex; 2 waits for it 10 ms, and then holds it 5 ms while 3 waits for it. */
static struct script *handed_on(const char *message)
{
	struct script *s = script_new(100 * MS);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.take", 7, "main.main");
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.give", 9, "main.main");
	uint32_t nap = stack(s, "time.Sleep", "main.take", 3, "main.main");

	procs(s, 3);
	for (uint32_t g = 1; g <= 3; g++)
		create(s, g, nap);
	start(s, 1, 0);
	at(s, 10 * MS);
	start(s, 2, 1);
	log_lock(s, 2, 1, message);
	block(s, 2, 1, "sync", wait);
	at(s, 20 * MS);
	wake(s, 1, 0, 2, release);
	start(s, 2, 1);
	start(s, 3, 2);
	log_lock(s, 3, 2, message);
	block(s, 3, 2, "sync", wait);
	at(s, 25 * MS);
	wake(s, 2, 1, 3, release);
	start(s, 3, 2);
	block(s, 3, 2, "sleep", nap); /* no lock */
	return s;
}

static void test_locks_by_address(void **state)
{
	struct script *s = handed_on("mutex 0xc000012340");
	struct analysis *a = analyse(s, NULL);
	const struct lock *lock = lock_at(a, 0xc000012340);

	(void)state;
	assert_int_equal(a->nlocks, 2);
	assert_non_null(lock);
	assert_string_equal(label_lock(lock).text, "mutex 0xc000012340");
	assert_int_equal(lock->waits.n, 2);
	assert_true(lock->waits.sum > 14 * MS && lock->waits.sum < 16 * MS);
	assert_int_equal(lock->waiting, 0);
	assert_int_equal(lock->most_waiting, 1);
	assert_int_equal(lock->releases, 2);
	/* Goroutine 1 had taken it before anybody waited; goroutine 2 where it had waited. */
	assert_int_equal(lock->known, 1);
	assert_true(lock->known_ns > 4 * MS && lock->known_ns < 6 * MS);
	assert_int_equal(top_first(lock->holders)->key, 1);
	assert_string_equal(name_text(a, stack_site(a, (uint32_t)top_first(lock->taken)->key)->func),
			    "main.take");
	assert_string_equal(name_text(a, stack_site(a, (uint32_t)top_first(lock->released)->key)->func),
			    "main.give");
	analysis_free(a);
	script_free(s);
}

/*
 * Goroutine 2 ends with the lock in hand, as far as is known. Its index becomes that of goroutine 77, which
 * has never waited for the lock.
 */
static void test_a_holder_ends(void **state)
{
	const struct analysis_options options = {.name = "t", .file = "t"};
	struct script *s = script_new(100 * MS);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.take", 7, "main.main");
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.give", 9, "main.main");
	struct analysis *a = analysis_new(&options);
	size_t first;

	(void)state;
	procs(s, 3);
	for (uint32_t g = 1; g <= 3; g++)
		create(s, g, wait);
	start(s, 1, 0);
	start(s, 2, 1);
	log_lock(s, 2, 1, "mutex 0xc000012340");
	block(s, 2, 1, "sync", wait);
	wake(s, 1, 0, 2, release);
	start(s, 2, 1);
	add(s, OP_GO_DESTROY, 2, 1);
	pass_on(a, s, 0, false);
	first = s->n;
	s->goids[2] = 77;
	create(s, 2, wait);
	add(s, OP_GO_START, 2, 1);
	start(s, 3, 2);
	log_lock(s, 3, 2, "mutex 0xc000012340");
	block(s, 3, 2, "sync", wait);
	wake(s, 2, 1, 3, release);
	pass_on(a, s, first, true);
	assert_int_equal(analysis_end(a), 0);
	assert_int_equal(lock_at(a, 0xc000012340)->releases, 2);
	assert_int_equal(lock_at(a, 0xc000012340)->known, 0);
	analysis_free(a);
	script_free(s);
}

/* Who ends a wait for a channel does not hold it; what is no message of gotrace's is no lock. */
static void test_logs_of_no_lock(void **state)
{
	static const char *const texts[] = {"",
					    " ",
					    "mutex",
					    "mutex ",
					    "mutex c000012340",
					    "mutex 0x",
					    "mutex 0x0",
					    "mutex 0xc0 ",
					    "mutex 0xc0 (read) x",
					    "mutexes 0xc0",
					    "MUTEX 0xc0",
					    "futex 0xc0(read)",
					    "0xc000012340"};
	struct script *s = handed_on("chan 0xc000012340");
	struct analysis *a = analyse(s, NULL);

	(void)state;
	assert_int_equal(lock_at(a, 0xc000012340)->waits.n, 2);
	assert_int_equal(lock_at(a, 0xc000012340)->releases, 0);
	analysis_free(a);
	script_free(s);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		s = handed_on(texts[i]);
		a = analyse(s, NULL);
		assert_int_equal(a->nlocks, 1);
		analysis_free(a);
		script_free(s);
	}
}

/* One Unlock of an RWMutex wakes two readers, both of which it had kept waiting; the last reader lets a
 * writer in. */
static void test_rwmutex_holders(void **state)
{
	struct script *s = script_new(100 * MS);
	uint32_t read = stack(s, "sync.(*RWMutex).RLock", "main.read", 7, "main.main");
	uint32_t write = stack(s, "sync.(*RWMutex).Lock", "main.write", 8, "main.main");
	uint32_t unlock = stack(s, "sync.(*RWMutex).Unlock", "main.write", 9, "main.main");
	uint32_t runlock = stack(s, "sync.(*RWMutex).RUnlock", "main.read", 10, "main.main");
	struct analysis *a;
	const struct lock *lock;

	(void)state;
	procs(s, 4);
	for (uint32_t g = 1; g <= 4; g++) {
		create(s, g, read);
		start(s, g, (int32_t)g - 1);
	}
	for (uint32_t g = 2; g <= 3; g++) {
		log_lock(s, g, (int32_t)g - 1, "rwmutex 0xc000012340 (read)");
		block(s, g, (int32_t)g - 1, "sync", read);
	}
	at(s, 10 * MS);
	wake(s, 1, 0, 2, unlock);
	wake(s, 1, 0, 3, unlock);
	start(s, 2, 1);
	start(s, 3, 2);
	log_lock(s, 4, 3, "rwmutex 0xc000012340 (write)");
	block(s, 4, 3, "sync", write);
	at(s, 20 * MS);
	wake(s, 2, 1, 4, runlock);
	start(s, 4, 3);
	a = analyse(s, NULL);
	lock = lock_at(a, 0xc000012340);
	assert_non_null(lock);
	assert_int_equal(lock->waits.n, 3);
	assert_int_equal(lock->readers, 2);
	assert_int_equal(lock->releases, 3);
	assert_int_equal(lock->known, 1);
	assert_true(lock->readers_ns > 19 * MS && lock->readers_ns < 21 * MS);
	assert_string_equal(name_text(a, stack_site(a, (uint32_t)top_first(lock->taken)->key)->func),
			    "main.read");
	analysis_free(a);
	script_free(s);
}

static void check_lock(bool io, const char *id, const char *other)
{
	struct script *s = locked(io);
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

static void test_lock_held_across_io(void **state)
{
	(void)state;
	check_lock(true, "lock-io", "lock-long");
}

static void test_lock_held_long(void **state)
{
	(void)state;
	check_lock(false, "lock-long", "lock-io");
}

/* --- leaks --- */

/* A hundred goroutines are started, one every 20 ms, and wait to send. With `end`, something receives what
 * they send. */
static struct analysis *leaking(struct script *s, bool end)
{
	uint32_t entry = stack(s, "main.poll", NULL, 1, NULL);
	uint32_t send = stack(s, "runtime.chansend1", "main.poll", 4, NULL);

	procs(s, 1);
	for (uint32_t g = 1; g <= 200; g++) {
		at(s, g * 20 * MS);
		create(s, g, entry);
		start(s, g, 0);
		block(s, g, 0, "chan send", send);
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
	struct script *s = script_new(4000 * MS), *clean = script_new(4000 * MS);
	struct analysis *a = leaking(s, false);

	(void)state;
	assert_string_equal(a->findings[0].id, "leak");
	assert_non_null(strstr(a->findings[0].text, "main.poll"));
	assert_true(a->findings[0].level >= LEVEL_MEDIUM);
	analysis_free(a);
	a = leaking(clean, true);
	assert_null(found(a, "leak"));
	assert_int_equal(a->alive, 0);
	analysis_free(a);
	script_free(s);
	script_free(clean);
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

/* --- paths --- */

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

static void add_log(struct script *s, uint64_t ns, const char *text)
{
	struct op *op;

	at(s, ns);
	op = add(s, OP_LOG, 2, 1);
	op->string = str(s, "gotrace");
	op->string2 = str(s, text);
}

/*
 * Nothing is watched from 30 to 60 ms. Goroutine 1 waits from 10 to 90 ms, and 3 is ready for a P from 20 to
 * 70 ms: what they did meanwhile is not known.
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

/* Each level tiles the window above it: from its begin to its end, without a gap and without an overlap. */
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

/* --- herds and stragglers --- */

/* Twenty wait for a condition; each 6 ms one of them, or all, are woken, and all wait again. */
static struct analysis *herding(struct script *s, bool all)
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
		for (uint32_t g = 2; g < (all ? 22 : 3); g++)
			wake(s, 1, 0, g, broadcast);
		block(s, 1, 0, "sleep", nap);
		for (uint32_t g = 2; g < (all ? 22 : 3); g++) {
			start(s, g, 1);
			block(s, g, 1, "sync", wait);
		}
	}
	return analyse(s, NULL);
}

static void test_herd(void **state)
{
	struct script *s = script_new(1000 * MS), *clean = script_new(1000 * MS);
	struct analysis *a = herding(s, true);
	const struct finding *finding = found(a, "herd");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->n, 150 * 13); /* of twenty, those from the eighth on */
	assert_non_null(strstr(finding->text, "main.produce"));
	assert_non_null(strstr(finding->text, "main.consume"));
	analysis_free(a);
	a = herding(clean, false);
	assert_null(found(a, "herd"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

/* One starts four and waits for them; the last takes 20 ms longer than the rest, or 100 us. */
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

/* --- what keeps a P --- */

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

/* Goroutine 1 runs for so long at a time, and then the timers of those fire that sleep. */
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
	struct script *s = locked(true);
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
	report_html(a, out, &style);
	fclose(out);
	assert_null(strstr(text, "</script><b>"));
	assert_non_null(strstr(text, "\\u003c/script\\u003e\\u003cb\\u003e"));
	free(text);
	analysis_free(a);
	script_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_lock_held_across_io),
		cmocka_unit_test(test_lock_held_long),
		cmocka_unit_test(test_leak),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_path_across_gap),
		cmocka_unit_test(test_path_of_none),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_random_paths),
		cmocka_unit_test(test_herd),
		cmocka_unit_test(test_straggler),
		cmocka_unit_test(test_spin),
		cmocka_unit_test(test_timer_late),
		cmocka_unit_test(test_locks_by_address),
		cmocka_unit_test(test_a_holder_ends),
		cmocka_unit_test(test_logs_of_no_lock),
		cmocka_unit_test(test_rwmutex_holders),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_labels_filter),
		cmocka_unit_test(test_labels_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
