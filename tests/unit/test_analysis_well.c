/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Programs that are well and look suspicious, beside those that look like them and are not. */
#include "analysis/rules/rules.h"

#include "script.h"

enum { ROUNDS = 100 };

static bool says(const struct finding *finding, const char *text)
{
	for (unsigned i = 0; finding && i < finding->nevidence; i++) {
		if (strstr(finding->evidence[i], text))
			return true;
	}
	return finding && strstr(finding->text, text);
}

/* Eight workers; the first `busy` take 10 ms for each of the jobs that sixteen wait for, and the others have
 * a queue of their own, in which nothing is. */
static struct analysis *serve(struct script *s, uint32_t busy)
{
	uint32_t work = stack(s, "runtime.chanrecv2", "main.worker", 4, "main.worker"),
		 nap = stack(s, "time.Sleep", "main.worker", 6, "main.worker"),
		 answer = stack(s, "runtime.chansend1", "main.worker", 7, "main.worker"),
		 wait = stack(s, "runtime.chanrecv1", "main.request", 21, "net/http.serverHandler.ServeHTTP"),
		 worker = stack(s, "main.worker", NULL, 1, NULL),
		 client = stack(s, "main.main", NULL, 1, NULL);

	procs(s, 1);
	for (uint32_t g = 1; g <= 24; g++) {
		create(s, g, g <= 8 ? worker : client);
		start(s, g, 0);
		if (g <= 8)
			block(s, g, 0, g <= busy ? "sleep" : "chan receive", g <= busy ? nap : work);
		else
			block(s, g, 0, "chan receive", wait);
	}
	for (uint32_t i = 0; i < ROUNDS * busy; i++) {
		uint32_t g = 1 + i % busy, asks = 9 + i % 16;

		s->now += 10 * MS / busy;
		wake(s, 0, NO_P, g, 0);
		start(s, g, 0);
		wake(s, g, 0, asks, answer);
		block(s, g, 0, "sleep", nap);
		start(s, asks, 0);
		block(s, asks, 0, "chan receive", wait);
	}
	s->end = s->now;
	return analyse(s, NULL);
}

static void test_workers_of_another_queue(void **state)
{
	struct script *three = script_new(0), *one = script_new(0);
	struct analysis *a = serve(three, 3);

	(void)state;
	assert_true(says(found(a, "pool-small"), "for 3 workers of main.worker, which are busy 100 %"));
	analysis_free(a);
	a = serve(one, 1);
	assert_null(found(a, "pool-small"));
	assert_non_null(found(a, "busy-owner"));
	analysis_free(a);
	script_free(three);
	script_free(one);
}

/* Twelve share a semaphore of four, made of a channel, and sleep with it: nobody receives what they send. */
static void test_semaphore_is_no_consumer(void **state)
{
	struct script *s = script_new(0);
	uint32_t take = stack(s, "runtime.chansend1", "main.download", 9, "main.download"),
		 give = stack(s, "runtime.chanrecv1", "main.download", 12, "main.download"),
		 nap = stack(s, "time.Sleep", "main.download", 10, "main.download"),
		 entry = stack(s, "main.download", NULL, 1, NULL);
	struct analysis *a;

	(void)state;
	procs(s, 1);
	for (uint32_t g = 1; g <= 12; g++) {
		create(s, g, entry);
		start(s, g, 0);
		block(s, g, 0, g <= 4 ? "sleep" : "chan send", g <= 4 ? nap : take);
	}
	for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
		uint32_t holder = 1 + i % 12, next = 1 + (i + 4) % 12;

		s->now += 5 * MS;
		wake(s, 0, NO_P, holder, 0);
		start(s, holder, 0);
		wake(s, holder, 0, next, give);
		block(s, holder, 0, "chan send", take);
		start(s, next, 0);
		block(s, next, 0, "sleep", nap);
	}
	s->end = s->now;
	a = analyse(s, NULL);
	assert_null(found(a, "slow-consumer"));
	assert_true(says(found(a, "pool-small"), "main.download"));
	analysis_free(a);
	script_free(s);
}

/* Two wait for a lock throughout. One further down in their function has it, and waits for a tick 100 times,
 * or for ever. */
static int stuck_behind(bool leads)
{
	struct script *s = script_new(2000 * MS);
	const char *const further[] = {"runtime.chanrecv1", "main.lead", "main.main"};
	uint32_t lock = stack(s, "sync.(*Mutex).Lock", "main.lead", 5, "main.main"),
		 tick = stack_of(s, further, 3, 9);

	procs(s, 1);
	for (uint32_t g = 1; g <= 3; g++) {
		create(s, g, stack(s, "main.main", NULL, 1, NULL));
		start(s, g, 0);
		block(s, g, 0, g < 3 ? "sync" : "chan receive", g < 3 ? lock : tick);
	}
	for (uint32_t i = 0; leads && i < ROUNDS; i++) {
		s->now += 19 * MS;
		wake(s, 0, NO_P, 3, 0);
		start(s, 3, 0);
		block(s, 3, 0, "chan receive", tick);
	}
	return script_level(s, "stuck");
}

static void test_standby(void **state)
{
	(void)state;
	assert_int_equal(stuck_behind(true), LEVEL_INFO);
	assert_int_equal(stuck_behind(false), LEVEL_HIGH);
}

/* A flusher gets 30 entries, and writes them one by one when its timer fires: what it does just before it
 * answers is not what it does all the time. */
static void test_batch(void **state)
{
	struct script *s = script_new(0);
	uint32_t pick = stack(s, "runtime.selectgo", "main.flusher", 5, "main.flusher"),
		 put = stack(s, "syscall.write", "main.flusher", 8, "main.flusher"),
		 done = stack(s, "runtime.chansend1", "main.flusher", 9, "main.flusher"),
		 wait = stack(s, "runtime.chanrecv1", "main.commit", 21, "net/http.serverHandler.ServeHTTP");
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	procs(s, 1);
	for (uint32_t g = 1; g <= 31; g++) {
		create(s, g, stack(s, g == 1 ? "main.flusher" : "main.main", NULL, 1, NULL));
		start(s, g, 0);
		block(s, g, 0, g == 1 ? "select" : "chan receive", g == 1 ? pick : wait);
	}
	for (uint32_t i = 0; i < 10; i++) {
		s->now += 100 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		for (uint32_t g = 2; g <= 31; g++)
			call(s, 1, 0, 3000, put);
		for (uint32_t g = 2; g <= 31; g++)
			wake(s, 1, 0, g, done);
		block(s, 1, 0, "select", pick);
		for (uint32_t g = 2; g <= 31; g++) {
			start(s, g, 0);
			block(s, g, 0, "chan receive", wait);
		}
	}
	s->end = s->now;
	a = analyse(s, NULL);
	finding = found(a, "timer-bound");
	assert_true(says(finding, "mostly select in main.flusher (:5)"));
	assert_int_equal(finding->level, LEVEL_INFO);
	analysis_free(a);
	script_free(s);
}

/* A loop accepts 20 connections a second; each has a goroutine that reads, or that waits for ever. */
static int level_of_clients(bool read)
{
	struct script *s = script_new(0);
	const char *const accepts[] = {"syscall.accept4", "net.(*TCPListener).Accept", "main.main"};
	uint32_t accept = stack_of(s, accepts, 3, 3), go = stack(s, "main.main", NULL, 4, NULL),
		 wait = read ? stack(s, "internal/poll.runtime_pollWait", "main.serve", 8, "main.serve")
			     : stack(s, "runtime.chansend1", "main.serve", 8, "main.serve");
	uint32_t entry = stack(s, "main.serve", NULL, 1, NULL);

	procs(s, 2);
	create(s, 1, stack(s, "main.main", NULL, 1, NULL));
	start(s, 1, 0);
	for (uint32_t g = 2; g < 82; g++) {
		struct op *op;

		s->now += 50 * MS;
		call(s, 1, 0, 10000, accept);
		op = add(s, OP_GO_CREATE, 1, 0);
		op->g2 = g;
		op->stack = go;
		op->stack2 = entry;
		start(s, g, 1);
		block(s, g, 1, read ? "network" : "chan send", wait);
	}
	s->now += 1200 * MS;
	s->end = s->now;
	return script_level(s, "leak");
}

static void test_clients_that_stay(void **state)
{
	(void)state;
	assert_int_equal(level_of_clients(true), LEVEL_INFO);
	assert_true(level_of_clients(false) > LEVEL_INFO);
}

/* A profiler that is on for the first tenth of the trace, or for all of it, and finds a third of what ran. */
static bool neighbour_by_samples(bool all)
{
	struct script *s = script_new(3000 * MS);

	procs(s, 1);
	create(s, 1, stack(s, "main.main", NULL, 1, NULL));
	start(s, 1, 0);
	for (uint32_t i = 0; i < 100; i++) {
		at(s, (i + 1) * (all ? 29 : 3) * MS);
		add(s, OP_CPU_SAMPLE, 1, 0)->stack = stack(s, "main.spin", NULL, 1, NULL);
		s->nstacks--;
	}
	return script_level(s, "neighbour") >= 0;
}

static void test_samples_of_a_part(void **state)
{
	(void)state;
	assert_true(neighbour_by_samples(true));
	assert_false(neighbour_by_samples(false));
}

/* A producer's broadcasts wake 40, each of which runs for 2 us, or for 8, and waits again. */
static bool is_herd(uint64_t runs_ns)
{
	struct script *s = script_new(0);
	uint32_t wait = stack(s, "sync.(*Cond).Wait", "main.consume", 7, "main.main"),
		 all = stack(s, "sync.(*Cond).Broadcast", "main.produce", 9, "main.main"),
		 nap = stack(s, "time.Sleep", "main.produce", 3, "main.main");

	procs(s, 2);
	for (uint32_t g = 1; g <= 41; g++) {
		create(s, g, stack(s, "main.main", NULL, 1, NULL));
		s->nstacks--;
		start(s, g, 1);
		block(s, g, 1, g == 1 ? "sleep" : "sync", g == 1 ? nap : wait);
	}
	for (uint32_t i = 0; i < ROUNDS; i++) {
		s->now += 10 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		for (uint32_t g = 2; g <= 41; g++)
			wake(s, 1, 0, g, all);
		block(s, 1, 0, "sleep", nap);
		for (uint32_t g = 2; g <= 41; g++) {
			start(s, g, 1);
			s->now += runs_ns;
			block(s, g, 1, "sync", wait);
		}
	}
	s->end = s->now;
	return script_level(s, "herd") >= 0;
}

static void test_generations(void **state)
{
	(void)state;
	assert_true(is_herd(2000));
	assert_false(is_herd(8000));
}

/* Eight threads with names of their own send to one by Rust's channel, and it sleeps for each. */
static void test_channel_of_rust(void **state)
{
	static const char *const sends[] = {"futex", "std::thread::park",
					    "std::sync::mpmc::array::Channel<T>::send", "app::append"};
	static const char *const takes[] = {"futex", "std::sync::mpmc::array::Channel<T>::recv",
					    "app::writer"};
	struct script *s = script_new(0);
	uint32_t send[9], take = stack_of(s, takes, 3, 4),
			  nap = stack(s, "clock_nanosleep", "app::writer", 5, NULL);
	const struct finding *finding;
	struct analysis *a;
	char name[20];

	(void)state;
	procs(s, 2);
	for (uint32_t g = 1; g <= 9; g++) {
		const char *frames[] = {sends[0], sends[1], sends[2], sends[3], name};

		s->goids[g] = 4999 + (g == 1 ? 1 : 2);
		snprintf(name, sizeof(name), g == 1 ? "wal [app]" : "req-%u [app]", g);
		create(s, g, stack(s, name, NULL, 1, NULL));
		if (g > 1)
			send[g - 1] = stack_of(s, frames, 5, 9);
		s->goids[g] = 4999 + g;
	}
	for (uint32_t g = 1; g <= 9; g++) {
		start(s, g, 0);
		s->ops[s->n - 1].m = 4999 + g;
		s->ops[s->n - 2].m = 4999 + g;
		block(s, g, 0, g == 1 ? "sleep" : "sync (condition)", g == 1 ? nap : send[g - 1]);
		s->ops[s->n - 1].m = 4999 + g;
		s->ops[s->n - 2].m = 4999 + g;
	}
	for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
		uint32_t g = 2 + i % 8, ms[8] = {1, 1, 1, 1, 1, g, g, g}, from = (uint32_t)s->n + 1;

		s->now += 5 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		wake(s, 1, 0, g, take);
		block(s, 1, 0, "sleep", nap);
		start(s, g, 0);
		block(s, g, 0, "sync (condition)", send[g - 1]);
		for (uint32_t j = from; j < s->n; j++)
			s->ops[j].m = 4999 + ms[j - from < 8 ? j - from : 7];
	}
	s->end = s->now;
	a = analyse(s, NULL);
	finding = found(a, "slow-consumer");
	assert_true(says(finding, "app::append"));
	assert_true(says(finding, "meanwhile mostly sleep in app::writer (:5)"));
	assert_true(says(finding, "the same in 7 other stacks"));
	assert_int_equal(finding->level, LEVEL_HIGH);
	analysis_free(a);
	script_free(s);
}

/* Five wait for a load of 20 ms that a sixth makes, five times a second, or one load after the other. */
static int level_of_flights(uint64_t pause)
{
	struct script *s = script_new(0);
	uint32_t wait = stack(s, "sync.(*WaitGroup).Wait", "main.do", 7, "net/http.serverHandler.ServeHTTP"),
		 done = stack(s, "sync.(*WaitGroup).Done", "main.do", 9, "net/http.serverHandler.ServeHTTP"),
		 load = stack(s, "internal/poll.runtime_pollWait", "main.load", 5,
			      "net/http.serverHandler.ServeHTTP"),
		 entry = stack(s, "net/http.(*conn).serve", NULL, 1, NULL);

	procs(s, 6);
	for (uint32_t g = 1; g <= 6; g++) {
		create(s, g, entry);
		start(s, g, (int32_t)g - 1);
	}
	for (uint32_t i = 0; i < 40; i++) {
		for (uint32_t g = 1; g <= 6; g++)
			block(s, g, (int32_t)g - 1, g == 1 ? "network" : "sync", g == 1 ? load : wait);
		s->now += 20 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		for (uint32_t g = 2; g <= 6; g++)
			wake(s, 1, 0, g, done);
		for (uint32_t g = 2; g <= 6; g++)
			start(s, g, (int32_t)g - 1);
		s->now += pause;
	}
	s->end = s->now;
	return script_level(s, "single-flight");
}

static void test_shared_loads(void **state)
{
	(void)state;
	assert_int_equal(level_of_flights(0), LEVEL_HIGH);
	assert_int_equal(level_of_flights(180 * MS), LEVEL_INFO);
}

/* Of two workers each gives jobs to the other, waits for the answer, and takes every fifth job at once when
 * it has that: nothing goes round among them. */
static void test_workers_that_ask_each_other(void **state)
{
	struct script *s = script_new(0);
	uint32_t idle = stack(s, "runtime.chanrecv2", "main.worker", 3, "main.worker"),
		 wait = stack(s, "runtime.chanrecv1", "main.report", 41, "main.worker"),
		 job = stack(s, "runtime.chansend1", "main.report", 38, "main.worker"),
		 nap = stack(s, "time.Sleep", "main.inner", 33, "main.worker"),
		 answer = stack(s, "runtime.chansend1", "main.inner", 35, "main.worker");
	struct analysis *a;

	(void)state;
	procs(s, 2);
	for (uint32_t g = 1; g <= 2; g++) {
		create(s, g, stack(s, "main.worker", NULL, 1, NULL));
		start(s, g, (int32_t)g - 1);
		block(s, g, (int32_t)g - 1, "chan receive", idle);
	}
	for (uint32_t i = 1; i < 2 * ROUNDS; i++) {
		uint32_t asks = 1 + i % 2, does = 2 - i % 2;

		wake(s, 0, NO_P, asks, 0);
		start(s, asks, (int32_t)asks - 1);
		if (i % 5) {
			wake(s, asks, (int32_t)asks - 1, does, job);
			start(s, does, (int32_t)does - 1);
		}
		block(s, asks, (int32_t)asks - 1, "chan receive", wait);
		block(s, does, (int32_t)does - 1, "sleep", nap);
		s->now += i % 10 ? 3 * MS : 5 * MS;
		wake(s, 0, NO_P, does, 0);
		start(s, does, (int32_t)does - 1);
		wake(s, does, (int32_t)does - 1, asks, answer);
		block(s, does, (int32_t)does - 1, "chan receive", idle);
		start(s, asks, (int32_t)asks - 1);
		if ((i + 1) % 5)
			block(s, asks, (int32_t)asks - 1, "chan receive", idle);
	}
	s->end = s->now;
	a = analyse(s, NULL);
	assert_null(found(a, "pool-small"));
	analysis_free(a);
	script_free(s);
}

/* Three clients of a library send a frame by two of its loops each, in turn, every 10 ms: the loops wait for
 * work. */
static void test_loops_of_a_library(void **state)
{
	static const char *const gets[] = {"runtime.selectgo", "net/http.(*frames).get",
					   "net/http.(*writer).run", "net/http.newClient.func6"};
	struct script *s = script_new(0);
	uint32_t get = stack_of(s, gets, 4, 412),
		 nap = stack(s, "time.Sleep", "main.poller", 4, "main.poller"),
		 put = stack(s, "runtime.selectnbsend", "main.poller", 3, "main.poller"),
		 loop = stack(s, gets[3], NULL, 1, NULL), entry = stack(s, "main.poller", NULL, 1, NULL);
	struct analysis *a;

	(void)state;
	procs(s, 1);
	for (uint32_t g = 1; g <= 9; g++) {
		create(s, g, g <= 3 ? entry : loop);
		start(s, g, 0);
		block(s, g, 0, g <= 3 ? "sleep" : "select", g <= 3 ? nap : get);
	}
	for (uint32_t i = 0; i < 3 * ROUNDS; i++) {
		uint32_t g = 1 + i % 3, of = g + (i / 3 % 2 ? 3 : 6);

		s->now += 10 * MS / 3;
		wake(s, 0, NO_P, g, 0);
		start(s, g, 0);
		wake(s, g, 0, of, put);
		block(s, g, 0, "sleep", nap);
		start(s, of, 0);
		block(s, of, 0, "select", get);
	}
	s->end = s->now;
	a = analyse(s, NULL);
	assert_null(found(a, "pool-small"));
	analysis_free(a);
	script_free(s);
}

/* What a library waits for is named where nothing else is said of it. */
static void test_limit_place(void **state)
{
	struct script *s = script_new(0);
	const char *const frames[] = {"sync.(*Cond).Wait",
				      "github.com/panjf2000/ants/v2.(*Pool).retrieveWorker", "main.resize",
				      "main.main"};
	uint32_t wait = stack_of(s, frames, 4, 27),
		 give = stack(s, "sync.(*Cond).Signal", "main.job", 4, "main.job");
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	procs(s, 1);
	for (uint32_t g = 1; g <= 5; g++) {
		create(s, g, stack(s, g == 1 ? "main.job" : "main.main", NULL, 1, NULL));
		start(s, g, 0);
		block(s, g, 0, g == 1 ? "sleep" : "sync",
		      g == 1 ? stack(s, "time.Sleep", "main.job", 2, NULL) : wait);
	}
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t g = 2 + i % 4;

		s->now += 10 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		wake(s, 1, 0, g, give);
		block(s, 1, 0, "sleep", s->ops[s->n - 4].stack);
		start(s, g, 0);
		block(s, g, 0, "sync", wait);
	}
	s->end = s->now;
	a = analyse(s, NULL);
	finding = found(a, "limit-place");
	assert_true(says(finding, "for a worker of the pool: the size given to ants.NewPool"));
	assert_int_equal(finding->level, LEVEL_INFO);
	analysis_free(a);
	script_free(s);
}

/* Less than half a second is too short for all rules but one: that is one entry. */
static void test_not_applicable(void **state)
{
	struct script *s = script_new(100 * MS);
	struct analysis *a;

	(void)state;
	procs(s, 1);
	create(s, 1, stack(s, "main.main", NULL, 1, NULL));
	start(s, 1, 0);
	a = analyse(s, NULL);
	assert_int_equal(a->nnot_applicable, 1);
	assert_string_equal(a->not_applicable[0].id, "all others");
	analysis_free(a);
	script_free(s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_workers_of_another_queue),
	cmocka_unit_test(test_semaphore_is_no_consumer),
	cmocka_unit_test(test_standby),
	cmocka_unit_test(test_batch),
	cmocka_unit_test(test_clients_that_stay),
	cmocka_unit_test(test_samples_of_a_part),
	cmocka_unit_test(test_generations),
	cmocka_unit_test(test_channel_of_rust),
	cmocka_unit_test(test_shared_loads),
	cmocka_unit_test(test_workers_that_ask_each_other),
	cmocka_unit_test(test_loops_of_a_library),
	cmocka_unit_test(test_limit_place),
	cmocka_unit_test(test_not_applicable),
};

UNIT_TESTS(tests, NULL, NULL);
