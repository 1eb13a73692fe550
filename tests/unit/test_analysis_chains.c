/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Waits behind waits: what has to wait for others while others wait for it, and what is no lock. */
#include "analysis/figures.h"
#include "analysis/kinds.h"

#include "script.h"

enum { STAGE = 1, NEXT, PRODUCER = 10, PRODUCERS = 4, ROUNDS = 200 };

/* A time slice: g goes on at P 0, has done a little, and waits. */
static void turn(struct script *s, uint32_t g, const char *reason, uint32_t wait)
{
	start(s, g, 0);
	s->now += 5000;
	block(s, g, 0, reason, wait);
}

/*
 * Four goroutines send to a stage that sends to the next one, which runs 5 ms for each item on P 1. If fast
 * is set, the last one waits for items instead.
 */
static struct script *pipeline(bool fast)
{
	struct script *s = script_new(ROUNDS * 5 * MS + 10 * MS);
	uint32_t entry = stack(s, "main.entry", NULL, 1, NULL);
	uint32_t send = stack(s, "runtime.chansend1", "main.ingest", 5, "main.main");
	uint32_t take = stack(s, "runtime.chanrecv1", "main.parse", 7, "main.main");
	uint32_t pass = stack(s, "runtime.chansend1", "main.parse", 8, "main.main");
	uint32_t last = stack(s, "runtime.chanrecv1", "main.score", 9, "main.main");

	procs(s, 2);
	create(s, STAGE, entry);
	create(s, NEXT, entry);
	start(s, NEXT, 1);
	if (fast)
		block(s, NEXT, 1, "chan receive", last);
	turn(s, STAGE, fast ? "chan receive" : "chan send", fast ? take : pass);
	for (uint32_t g = PRODUCER; g < PRODUCER + PRODUCERS; g++) {
		create(s, g, entry);
		turn(s, g, "chan send", send);
	}
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t producer = PRODUCER + i % PRODUCERS;

		at(s, i * 5 * MS + 5 * MS);
		if (fast) {
			wake(s, 0, NO_P, producer, 0);
			start(s, producer, 0);
			wake(s, producer, 0, STAGE, send);
			block(s, producer, 0, "sleep", entry);
			start(s, STAGE, 0);
			wake(s, STAGE, 0, NEXT, pass);
			block(s, STAGE, 0, "chan receive", take);
			turn(s, NEXT, "chan receive", last);
			continue;
		}
		wake(s, NEXT, 1, STAGE, last);
		start(s, STAGE, 0);
		wake(s, STAGE, 0, producer, take);
		block(s, STAGE, 0, "chan send", pass);
		turn(s, producer, "chan send", send);
	}
	return s;
}

/* The last in the chain is the cause, however little time is lost just before it. */
static void test_last_in_chain(void **state)
{
	struct script *s = pipeline(false), *clean = pipeline(true);
	struct analysis *a = analyse(s, NULL);

	(void)state;
	assert_string_equal(a->findings[0].id, "slow-consumer");
	assert_int_equal(a->findings[0].level, LEVEL_HIGH);
	assert_non_null(strstr(a->findings[0].text, "main.parse (:8) waited"));
	assert_non_null(strstr(a->findings[0].text, "in main.score"));
	assert_null(a->findings[0].explained_by);
	assert_non_null(strstr(a->findings[0].evidence[1], "behind it, main.ingest"));
	assert_true(a->nfindings >= 2);
	for (unsigned i = 1; i < a->nfindings; i++) {
		if (strcmp(a->findings[i].id, "slow-consumer") == 0)
			assert_string_equal(a->findings[i].explained_by, "slow-consumer");
	}
	analysis_free(a);
	script_free(s);
	a = analyse(clean, NULL);
	assert_null(found(a, "slow-consumer"));
	analysis_free(a);
	script_free(clean);
}

/*
 * A goroutine takes lock `outer`, waits for lock `inner`, releases both, and the next one of four does the
 * same. One goroutine has `inner` for 4 of 5 ms, for a sleep.
 */
static struct script *lock_in_lock(void)
{
	struct script *s = script_new(ROUNDS * 5 * MS + 20 * MS);
	uint32_t entry = stack(s, "main.entry", NULL, 1, NULL);
	uint32_t outer = stack(s, "sync.(*Mutex).Lock", "main.reserve", 5, "main.main");
	uint32_t inner = stack(s, "sync.(*Mutex).Lock", "main.reserve", 6, "main.main");
	uint32_t leave = stack(s, "sync.(*Mutex).Unlock", "main.reserve", 8, "main.main");
	uint32_t index = stack(s, "sync.(*Mutex).Unlock", "main.reindex", 3, "main.main");
	uint32_t nap = stack(s, "time.Sleep", "main.reindex", 2, "main.main");

	procs(s, 2);
	create(s, STAGE, entry);
	turn(s, STAGE, "sleep", nap);
	for (uint32_t g = PRODUCER; g < PRODUCER + PRODUCERS; g++) {
		create(s, g, entry);
		turn(s, g, "sync", g == PRODUCER ? inner : outer);
	}
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t g = PRODUCER + i % PRODUCERS, after = PRODUCER + (i + 1) % PRODUCERS;

		at(s, i * 5 * MS + 5 * MS);
		wake(s, 0, NO_P, STAGE, 0);
		start(s, STAGE, 0);
		wake(s, STAGE, 0, g, index);
		block(s, STAGE, 0, "sleep", nap);
		start(s, g, 0);
		s->now += 10000;
		wake(s, g, 0, after, leave);
		/* The next one begins to wait while this one, on the other P, still runs. */
		turn(s, after, "sync", inner);
		block(s, g, 0, "sync", outer);
	}
	return s;
}

/* The goroutine that was woken last has given the lock back when it begins to wait: another one has it. */
static void test_holder_of_the_inner_lock(void **state)
{
	struct script *s = lock_in_lock();
	struct analysis *a = analyse(s, NULL);

	(void)state;
	assert_string_equal(a->findings[0].id, "lock-io");
	assert_int_equal(a->findings[0].level, LEVEL_HIGH);
	assert_non_null(strstr(a->findings[0].text, "main.reserve (:6) waited"));
	assert_non_null(strstr(a->findings[0].text, "for main.reindex"));
	assert_non_null(found(a, "lock-long"));
	assert_string_equal(found(a, "lock-long")->explained_by, "lock-io");
	analysis_free(a);
	script_free(s);
}

/*
 * Six goroutines share one place: each takes it where it waits, waits for something else meanwhile, and gives
 * it back to the next. If signalled is set, one goroutine sends to all of them instead, every 5 ms.
 */
static struct script *one_place(const char *reason, bool threads, bool signalled)
{
	struct script *s = script_new(ROUNDS * 5 * MS + 20 * MS);
	const char *take = threads ? "sem_wait" : "runtime.chansend1";
	uint32_t entry = stack(s, "main.entry", NULL, 1, NULL);
	uint32_t wait = stack(s, take, "geocode", 5, "main.main");
	uint32_t ask = stack(s, threads ? "nanosleep" : "runtime.selectgo", "geocode", 6, "main.main");
	uint32_t give = stack(s, threads ? "sem_post" : "runtime.chanrecv1", "geocode", 8, "main.main");
	uint32_t nap = stack(s, "time.Sleep", "main.serve", 9, "main.main");

	procs(s, 2);
	for (uint32_t g = 1; threads && g < 20; g++)
		s->goids[g] = 5000 + g;
	create(s, STAGE, entry);
	turn(s, STAGE, "sleep", nap);
	for (uint32_t g = PRODUCER; g < PRODUCER + 6; g++) {
		create(s, g, entry);
		turn(s, g, reason, wait);
	}
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t g = PRODUCER + i % 6, before = PRODUCER + (i + 5) % 6;

		at(s, i * 5 * MS + 5 * MS);
		wake(s, 0, NO_P, signalled || !i ? STAGE : before, 0);
		start(s, signalled || !i ? STAGE : before, 0);
		wake(s, signalled || !i ? STAGE : before, 0, g, give);
		if (signalled || !i)
			block(s, STAGE, 0, "sleep", nap);
		else
			block(s, before, 0, reason, wait);
		turn(s, g, signalled ? reason : threads ? "sleep" : "select", signalled ? wait : ask);
	}
	for (size_t i = 0; threads && i < s->n; i++)
		s->ops[i].m = s->ops[i].g ? (uint32_t)s->goids[s->ops[i].g] : s->ops[i].m;
	return s;
}

/* Two items go round among six. Each that gets one has a P only 5 ms later, and gives the item back 5 ms
 * after that, each fifth at the end of a context if `left_open`. */
static struct analysis *items_given(struct script *s, int32_t nprocs, bool left_open)
{
	uint32_t entry = stack(s, "main.entry", NULL, 1, NULL);
	uint32_t wait = stack(s, "runtime.chanrecv", "main.take", 5, "main.main");
	uint32_t give = stack(s, "runtime.chansend", "main.give", 8, "main.main");
	uint32_t late = stack(s, "runtime.chansend", "database/sql.(*DB).putConnDBLocked", 9,
			      "database/sql.(*Rows).awaitDone");

	procs(s, (uint32_t)nprocs);
	for (uint32_t g = PRODUCER; g < PRODUCER + 6; g++) {
		create(s, g, entry);
		turn(s, g, "chan receive", wait);
	}
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t g = PRODUCER + i % 6, given = PRODUCER + (i + 5) % 6,
			 holder = PRODUCER + (i + 4) % 6;
		int32_t p = (int32_t)i % nprocs;

		at(s, i * 5 * MS + 5 * MS);
		wake(s, i < 2 ? 0 : holder, i < 2 ? NO_P : p, g,
		     i < 2                     ? 0
		     : left_open && i % 5 == 0 ? late
					       : give);
		if (i >= 2)
			block(s, holder, p, "chan receive", wait);
		if (i >= 1)
			start(s, given, nprocs - 1 - p);
	}
	return analyse(s, NULL);
}

/* Where there is no other P, a third item would not help. */
static void test_items_given(void **state)
{
	(void)state;
	for (int32_t nprocs = 1; nprocs <= 2; nprocs++) {
		struct script *s = script_new(ROUNDS * 5 * MS + 10 * MS);
		struct analysis *a = items_given(s, nprocs, false);
		const struct finding *finding = found(a, "pool-small");

		assert_non_null(finding);
		assert_non_null(strstr(finding->text, "for one of about 2, all in use"));
		assert_int_equal(finding->level == LEVEL_INFO, nprocs == 1);
		assert_true((strstr(finding->evidence[2], "Ps are 9") != NULL ||
			     strstr(finding->evidence[2], "Ps are 100 % busy") != NULL) == (nprocs == 1));
		analysis_free(a);
		script_free(s);
	}
}

static void test_items_left_open(void **state)
{
	struct script *s = script_new(ROUNDS * 5 * MS + 10 * MS);
	struct analysis *a = items_given(s, 2, true);
	const struct finding *finding = found(a, "pool-small");

	(void)state;
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "for an item of a pool, all of which are in use"));
	assert_string_equal(finding->evidence[finding->nevidence - 1],
			    "some are kept until a context ends: Rows or a Tx that were not closed");
	analysis_free(a);
	script_free(s);
}

/* A worker that waits for no result takes 5 ms for one. Who gets it passes its own on at once, up a tree. */
static void test_futures(void **state)
{
	struct script *s = script_new(ROUNDS * 6 * MS + 10 * MS);
	uint32_t entry = stack(s, "main.entry", NULL, 1, NULL);
	uint32_t wait = stack(s, "runtime.chanrecv", "main.result", 5, "main.main");
	uint32_t give = stack(s, "runtime.chansend", "main.done", 8, "main.main");
	struct analysis *a;

	(void)state;
	procs(s, 2);
	for (uint32_t g = PRODUCER; g <= PRODUCER + 2; g++)
		create(s, g, entry);
	start(s, PRODUCER + 2, 1);
	turn(s, PRODUCER, "chan receive", wait);
	turn(s, PRODUCER + 1, "chan receive", wait);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		at(s, i * 6 * MS + 5 * MS);
		wake(s, PRODUCER + 2, 1, PRODUCER, give);
		start(s, PRODUCER, 0);
		at(s, i * 6 * MS + 5 * MS + MS / 5);
		wake(s, PRODUCER, 0, PRODUCER + 1, give);
		block(s, PRODUCER, 0, "chan receive", wait);
		turn(s, PRODUCER + 1, "chan receive", wait);
	}
	a = analyse(s, NULL);
	assert_null(found(a, "pool-small"));
	analysis_free(a);
	script_free(s);
}

static void check_place(const char *reason, bool threads, bool signalled)
{
	struct script *s = one_place(reason, threads, signalled);
	struct analysis *a = analyse(s, NULL);
	const struct finding *finding = found(a, "pool-small");

	assert_true(is_of_threads(a) == threads);
	assert_null(found(a, "lock-io"));
	assert_null(found(a, "lock-long"));
	if (signalled) {
		assert_null(finding);
	} else {
		assert_non_null(finding);
		assert_non_null(strstr(finding->text, "geocode (:5) waited"));
		assert_non_null(strstr(finding->text, "a pool of one,"));
		assert_in_range(finding->total_ns, 4000 * MS, 6000 * MS);
	}
	analysis_free(a);
	script_free(s);
}

/* A channel of one item is held across a wait for something else. */
static void test_place_is_held_across_waits(void **state)
{
	(void)state;
	check_place("chan send", false, false);
}

/* A semaphore may be a number of places, or a signal; it is no lock that the one who posts has held. */
static void test_semaphores(void **state)
{
	(void)state;
	check_place("sync (semaphore)", true, false);
	check_place("sync (semaphore)", true, true);
	check_place("sync (futex)", true, false);
	check_place("sync (futex)", true, true);
	assert_int_equal(primitive_of("__new_sem_wait_slow64"), PRIM_SEMAPHORE);
	assert_int_equal(primitive_of("std::future<int>::get()"), PRIM_COND);
	assert_int_equal(primitive_of("std::promise<int>::set_value(int&&)"), PRIM_COND);
	assert_int_equal(primitive_of("lock_contended"), PRIM_LOCK);
	assert_int_equal(primitive_of("<std::sys::sync::rwlock::futex::RwLock>::read_contended"),
			 PRIM_READ_LOCK);
	assert_int_equal(primitive_of("thread_contended"), PRIM_NONE);
}

/* 100 collections; each is waited for in a call of runtime.GC, or none is. */
static struct script *collected(bool forced)
{
	struct script *s = script_new(1000 * MS);
	const char *const frames[] = {"runtime.gcWaitOnMark", "runtime.GC", "main.render", "main.main"};
	uint32_t entry = stack(s, "main.entry", NULL, 1, NULL), calls = stack_of(s, frames, 4, 7);
	uint32_t nap = stack(s, "time.Sleep", "main.render", 3, "main.main");

	procs(s, 2);
	create(s, STAGE, entry);
	create(s, NEXT, stack(s, "runtime.gcBgMarkWorker", NULL, 1, NULL));
	turn(s, STAGE, "sleep", nap);
	for (uint32_t i = 0; i < 100; i++) {
		at(s, i * 10 * MS + MS);
		add(s, OP_HEAP_GOAL, 0, 0)->arg = 4 << 20;
		add(s, OP_HEAP_ALLOC, 0, 0)->arg = 3 << 20;
		wake(s, 0, NO_P, STAGE, 0);
		start(s, STAGE, 0);
		add(s, OP_GC_BEGIN, STAGE, 0);
		block(s, STAGE, 0, forced ? "wait until GC ends" : "sleep", forced ? calls : nap);
		start(s, NEXT, 0);
		at(s, i * 10 * MS + 9 * MS);
		add(s, OP_GC_END, NEXT, 0);
		block(s, NEXT, 0, "GC worker (idle)", 0);
	}
	return s;
}

static void test_forced_collections(void **state)
{
	struct script *s = collected(true), *other = collected(false);
	struct analysis *a = analyse(s, NULL);
	const struct finding *finding = found(a, "gc-often");

	(void)state;
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "main.render (:7)"));
	/* The trace ends before the last one. */
	assert_non_null(strstr(finding->text, "calls runtime.GC 99 times a second"));
	assert_null(strstr(finding->text, "GOGC"));
	analysis_free(a);
	a = analyse(other, NULL);
	finding = found(a, "gc-often");
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "raise GOGC"));
	analysis_free(a);
	script_free(s);
	script_free(other);
}

/* A loop accepts a connection every 5 ms. A function that it calls sleeps for it, or it waits for the next.
 */
static struct analysis *accepts(struct script *s, bool serial, const char *sleeper)
{
	const char *const taken[] = {"syscall.accept4", "net.(*TCPListener).Accept", "main.acceptLoop",
				     "main.main"};
	uint32_t entry = stack(s, "main.entry", NULL, 1, NULL), accept = stack_of(s, taken, 4, 5);
	uint32_t net =
		stack(s, "internal/poll.runtime_pollWait", "net.(*TCPListener).Accept", 5, "main.acceptLoop");
	const char *const frames[] = {"time.Sleep", sleeper, "main.acceptLoop", "main.main"};
	uint32_t nap = stack_of(s, frames, 4, 7);

	procs(s, 1);
	create(s, STAGE, entry);
	start(s, STAGE, 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		call(s, STAGE, 0, 10000, accept);
		block(s, STAGE, 0, serial ? "sleep" : "network", serial ? nap : net);
		at(s, i * 5 * MS + 5 * MS);
		wake(s, 0, NO_P, STAGE, 0);
		start(s, STAGE, 0);
	}
	return analyse(s, NULL);
}

/* The loop takes an event every 5 ms, and is blocked for `ns` after one in `every`. */
static struct analysis *loops(struct script *s, uint64_t ns, uint32_t every)
{
	const char *const taken[] = {"syscall.accept4", "net.(*TCPListener).Accept", "main.acceptLoop",
				     "main.main"};
	uint32_t take = stack_of(s, taken, 4, 5);
	uint32_t net =
		stack(s, "internal/poll.runtime_pollWait", "net.(*TCPListener).Accept", 5, "main.acceptLoop");
	const char *const frames[] = {"time.Sleep", "main.compact", "main.acceptLoop", "main.main"};
	uint32_t nap = stack_of(s, frames, 4, 7);

	procs(s, 1);
	create(s, STAGE, stack(s, "main.entry", NULL, 1, NULL));
	start(s, STAGE, 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		bool blocked = i % every == every - 1;

		call(s, STAGE, 0, 10000, take);
		block(s, STAGE, 0, blocked ? "sleep" : "network", blocked ? nap : net);
		s->now += blocked ? ns : 5 * MS;
		wake(s, 0, NO_P, STAGE, 0);
		start(s, STAGE, 0);
	}
	return analyse(s, NULL);
}

static void test_loop_blocked_now_and_then(void **state)
{
	struct script *s = script_new(ROUNDS * 8 * MS), *clean = script_new(ROUNDS * 8 * MS),
		      *brief = script_new(ROUNDS * 8 * MS), *often = script_new(ROUNDS * 8 * MS);
	struct analysis *a = loops(s, 40 * MS, 20);
	const struct finding *finding = found(a, "serial-loop");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "10 times 40.0 ms (p50), sleep in main.compact (:7)"));
	assert_string_equal(finding->evidence[1], "called by main.acceptLoop (:7), by main.main (:7)");
	analysis_free(a);
	a = loops(brief, 4 * MS, 20);
	assert_null(found(a, "serial-loop"));
	analysis_free(a);
	a = loops(often, 4 * MS, 4);
	assert_non_null(found(a, "serial-loop"));
	analysis_free(a);
	a = loops(clean, 2 * MS, 20);
	assert_null(found(a, "serial-loop"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
	script_free(brief);
	script_free(often);
}

static void test_serial_loop(void **state)
{
	struct script *s = script_new(ROUNDS * 5 * MS + 10 * MS),
		      *clean = script_new(ROUNDS * 5 * MS + 10 * MS);
	struct script *paced = script_new(ROUNDS * 5 * MS + 10 * MS);
	struct analysis *a = accepts(s, true, "main.handshake");
	const struct finding *finding = found(a, "serial-loop");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_HIGH);
	assert_non_null(strstr(finding->text, "main.acceptLoop (:5) in net.(*TCPListener).Accept takes one "
					      "connection at a time"));
	assert_string_equal(finding->evidence[0],
			    "200 of 200 connections had been waiting when it accepted them");
	assert_non_null(strstr(finding->text, "sleep in main.handshake (:7)"));
	assert_in_range(finding->total_ns, 950 * MS, 1010 * MS);
	analysis_free(a);
	a = accepts(clean, false, "main.handshake");
	assert_null(found(a, "serial-loop"));
	analysis_free(a);
	/* The loop sleeps itself. */
	a = accepts(paced, true, NULL);
	assert_null(found(a, "serial-loop"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
	script_free(paced);
}

/*
 * Requests of six goroutines wait in a select, which one of two workers ends that waits for the network until
 * then, or for somebody that receives. They are workers of the program, or readers of net/http.
 */
static struct analysis *answered(struct script *s, const char *worker, bool sends)
{
	uint32_t work = stack(s, worker, NULL, 1, NULL), entry = stack(s, "main.entry", NULL, 1, NULL);
	uint32_t wait = stack(s, "runtime.selectgo", "main.fetch", 5, "main.main");
	uint32_t give = stack(s, "runtime.selectgo", worker, 8, NULL);
	uint32_t net =
		stack(s, sends ? "runtime.chansend1" : "internal/poll.runtime_pollWait", worker, 7, NULL);
	const char *why = sends ? "chan send" : "network";

	procs(s, 2);
	for (uint32_t g = STAGE; g <= NEXT; g++) {
		create(s, g, work);
		turn(s, g, why, net);
	}
	for (uint32_t g = PRODUCER; g < PRODUCER + 6; g++) {
		create(s, g, entry);
		turn(s, g, "select", wait);
	}
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t g = PRODUCER + i % 6, by = STAGE + i % 2;

		at(s, i * 5 * MS + 5 * MS);
		wake(s, 0, NO_P, by, 0);
		start(s, by, 0);
		wake(s, by, 0, g, give);
		block(s, by, 0, why, net);
		turn(s, g, "select", wait);
	}
	return analyse(s, NULL);
}

/* In a method of a pool, which the function calls. */
static uint32_t in_pool(struct script *s, const char *leaf, const char *method, const char *func,
			uint32_t line, const char *root)
{
	const char *const funcs[] = {leaf, method, func, root};
	uint32_t id = stack_of(s, funcs, 4, line);

	s->frames[id][0].line = s->frames[id][1].line = 100;
	return id;
}

/*
 * A job gets an item at once, keeps it for 20 ms, and gives it to the first of five requests that wait, each
 * of which gives it on after 0.2 ms. Only in the first round the job has to wait, too.
 */
static void test_item_of_a_job(void **state)
{
	static const char server[] = "net/http.serverHandler.ServeHTTP";
	struct script *s = script_new(ROUNDS * 25 * MS + 10 * MS);
	uint32_t entry = stack(s, "main.entry", NULL, 1, NULL);
	static const char acquire[] = "database/sql.(*DB).conn", release[] = "database/sql.(*DB).putConn";
	uint32_t get = in_pool(s, "runtime.selectgo", acquire, "main.order", 24, server);
	uint32_t give = in_pool(s, "runtime.closechan", release, "main.order", 37, server);
	uint32_t job_gets = in_pool(s, "runtime.selectgo", acquire, "main.nightly", 46, "main.main");
	uint32_t job_uses = stack(s, "internal/poll.runtime_pollWait", "main.nightly", 53, "main.main");
	uint32_t job_gives = in_pool(s, "runtime.closechan", release, "main.nightly", 58, "main.main");
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	procs(s, 2);
	create(s, STAGE, entry);
	turn(s, STAGE, "select", job_gets);
	for (uint32_t g = PRODUCER; g < PRODUCER + 5; g++) {
		create(s, g, entry);
		turn(s, g, "select", get);
	}
	for (uint32_t i = 0; i < ROUNDS; i++) {
		at(s, i * 25 * MS + 20 * MS);
		wake(s, 0, NO_P, STAGE, 0);
		start(s, STAGE, 1);
		wake(s, STAGE, 1, PRODUCER, job_gives);
		block(s, STAGE, 1, "network", job_uses);
		for (uint32_t g = PRODUCER; g < PRODUCER + 5; g++) {
			start(s, g, 0);
			s->now += MS / 5;
			if (g + 1 < PRODUCER + 5)
				wake(s, g, 0, g + 1, give);
			block(s, g, 0, "select", get);
		}
	}
	a = analyse(s, NULL);
	finding = found(a, "pool-small");
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "main.order (:24) in sql.(*DB).conn waited"));
	assert_non_null(strstr(finding->text, "for an item of a pool, all of which are in use."));
	assert_string_equal(finding->evidence[1], "given back at main.nightly (:58) in sql.(*DB).putConn");
	assert_non_null(strstr(finding->evidence[2], "is network in main.nightly (:53)"));
	finding = found(a, "request-place");
	assert_non_null(finding);
	assert_non_null(strstr(finding->evidence[1], "until main.nightly (:58)"));
	analysis_free(a);
	script_free(s);
}

/*
 * Three consumers, each with a channel of its own, sleep for 40 ms after an error; a producer of each waits
 * to send to it meanwhile.
 */
static void test_consumers_that_sleep(void **state)
{
	struct script *s = script_new(ROUNDS * 5 * MS + 10 * MS);
	uint32_t entry = stack(s, "main.entry", NULL, 1, NULL),
		 work = stack(s, "main.consume", NULL, 1, NULL);
	uint32_t send = stack(s, "runtime.chansend1", "main.produce", 5, "main.entry");
	uint32_t take = stack(s, "runtime.chanrecv1", "main.work", 8, "main.consume");
	uint32_t pause = stack(s, "time.Sleep", "main.supervise", 3, "main.consume");
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	procs(s, 2);
	for (uint32_t i = 0; i < 3; i++) {
		create(s, STAGE + i, work);
		turn(s, STAGE + i, "sleep", pause);
		create(s, PRODUCER + i, entry);
		turn(s, PRODUCER + i, "chan send", send);
	}
	for (uint32_t i = 0; i < ROUNDS / 3; i++) {
		uint32_t consumer = STAGE + i % 3, producer = PRODUCER + i % 3;

		at(s, i * 15 * MS + 15 * MS);
		wake(s, 0, NO_P, consumer, 0);
		start(s, consumer, 0);
		wake(s, consumer, 0, producer, take);
		block(s, consumer, 0, "sleep", pause);
		turn(s, producer, "chan send", send);
	}
	a = analyse(s, NULL);
	finding = found(a, "slow-consumer");
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "main.produce (:5) waited"));
	assert_non_null(strstr(finding->text, "3 goroutines in main.work (:8)"));
	assert_non_null(strstr(finding->text, "sleep in main.supervise (:3)"));
	analysis_free(a);
	script_free(s);
}

static void test_readers_are_no_workers(void **state)
{
	struct script *s = script_new(ROUNDS * 5 * MS + 10 * MS),
		      *other = script_new(ROUNDS * 5 * MS + 10 * MS),
		      *held_up = script_new(ROUNDS * 5 * MS + 10 * MS);
	struct analysis *a = answered(s, "main.worker", false);
	const struct finding *finding = found(a, "pool-small");

	(void)state;
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "2 workers of main.worker"));
	analysis_free(a);
	a = answered(other, "net/http.(*persistConn).readLoop", false);
	assert_null(found(a, "pool-small"));
	analysis_free(a);
	/* More of them would wait for the same receiver. */
	a = answered(held_up, "main.worker", true);
	assert_null(found(a, "pool-small"));
	analysis_free(a);
	script_free(s);
	script_free(other);
	script_free(held_up);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_last_in_chain),
	cmocka_unit_test(test_holder_of_the_inner_lock),
	cmocka_unit_test(test_place_is_held_across_waits),
	cmocka_unit_test(test_semaphores),
	cmocka_unit_test(test_forced_collections),
	cmocka_unit_test(test_serial_loop),
	cmocka_unit_test(test_loop_blocked_now_and_then),
	cmocka_unit_test(test_readers_are_no_workers),
	cmocka_unit_test(test_consumers_that_sleep),
	cmocka_unit_test(test_item_of_a_job),
	cmocka_unit_test(test_items_given),
	cmocka_unit_test(test_items_left_open),
	cmocka_unit_test(test_futures),
};

UNIT_TESTS(tests, NULL, NULL);
