/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tests each rule on a program with its fault and on the same program without it. */
#include "analysis/figures.h"
#include "analysis/kinds.h"
#include "trace/ops/own_names.h"

#include "script.h"

/* --- locks --- */

/*
 * Four goroutines in turn take a lock, make a call of 100 us under it, and pass it to the next waiter. With
 * `clean` each has its own lock.
 */
static struct analysis *calling(struct script *s, const char *leaf, bool clean)
{
	uint32_t entry = stack(s, "main.save", NULL, 1, NULL);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.save", 7, "main.main");
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.save", 9, "main.main");
	uint32_t where = stack(s, leaf, "main.save", 8, "main.main");

	procs(s, 4);
	for (uint32_t g = 1; g <= 4; g++)
		create(s, g, entry);
	for (uint32_t g = 1; g <= 4; g++) {
		start(s, g, (int32_t)g - 1);
		if (g > 1 && !clean)
			block(s, g, (int32_t)g - 1, "sync", wait);
	}
	for (unsigned i = 0; i < 1000; i++) {
		uint32_t g = 1 + i % 4, next = 1 + (i + 1) % 4;

		call(s, g, (int32_t)g - 1, 100000, where);
		if (clean)
			continue;
		wake(s, g, (int32_t)g - 1, next, release);
		block(s, g, (int32_t)g - 1, "sync", wait);
		start(s, next, (int32_t)next - 1);
	}
	s->end = s->now > s->end ? s->now : s->end;
	return analyse(s, NULL);
}

static void check_call(const char *leaf, const char *id, const char *other, const char *text)
{
	struct script *s = script_new(600 * MS), *clean = script_new(600 * MS);
	struct analysis *a = calling(s, leaf, false);
	const struct finding *finding = found(a, id);

	assert_non_null(finding);
	assert_null(found(a, other));
	assert_true(finding->level >= LEVEL_MEDIUM);
	assert_non_null(strstr(finding->text, "main.save"));
	assert_non_null(strstr(finding->text, text));
	analysis_free(a);
	a = calling(clean, leaf, true);
	assert_null(found(a, id));
	assert_null(found(a, other));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

/* I/O on a fast disk is I/O, too. */
static void test_lock_short_calls(void **state)
{
	(void)state;
	check_call("syscall.write", "lock-io", "lock-syscall", "(write)");
	check_call("internal/poll.(*FD).Fsync", "lock-io", "lock-syscall", "(fsync)");
	check_call("pwrite64(3: /tmp/a.b)", "lock-io", "lock-syscall", "(pwrite64)");
	check_call("syscall.Getrusage", "lock-syscall", "lock-io", "system call");
	check_call("getrandom", "lock-syscall", "lock-io", "system call");
}

/*
 * Goroutine 1 is woken for the lock and does not get a P. Meanwhile 2, which had waited for the network until
 * a moment ago, takes the lock and releases it again: it held it for 0.1 ms, and not across the network wait.
 */
static void test_lock_while_woken(void **state)
{
	struct script *s = script_new(2000 * MS);
	uint32_t entry = stack(s, "main.get", NULL, 1, NULL);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.get", 7, "main.main");
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.get", 9, "main.main");
	uint32_t net = stack(s, "internal/poll.runtime_pollWait", "main.read", 3, "main.main");
	struct analysis *a;

	(void)state;
	procs(s, 2);
	for (uint32_t g = 1; g <= 3; g++)
		create(s, g, entry);
	for (unsigned i = 0; i < 50; i++) {
		start(s, 1, 0);
		block(s, 1, 0, "sync", wait);
		start(s, 3, 1);
		block(s, 3, 1, "sync", wait);
		start(s, 2, 0);
		wake(s, 2, 0, 1, release);
		block(s, 2, 0, "network", net);
		s->now += 20 * MS;
		wake(s, 0, NO_P, 2, 0);
		start(s, 2, 0);
		s->now += MS / 10;
		wake(s, 2, 0, 3, release);
		block(s, 2, 0, "network", net);
		s->now += MS / 10;
		wake(s, 0, NO_P, 2, 0);
	}
	s->end = s->now > s->end ? s->now : s->end;
	a = analyse(s, NULL);
	assert_null(found(a, "lock-io"));
	assert_null(found(a, "lock-long"));
	analysis_free(a);
	script_free(s);
}

/*
 * Goroutine 2 calls write() in `line` and releases the lock, which it takes without a wait: the one that is
 * woken for it does not get a P until another one waits.
 */
static struct analysis *barging(struct script *s, uint32_t line)
{
	uint32_t entry = stack(s, "main.log", NULL, 1, NULL);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.log", 7, "main.main");
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.log", 9, "main.main");
	uint32_t where = stack(s, "syscall.write", "main.log", line, "main.main");

	procs(s, 2);
	for (uint32_t g = 1; g <= 3; g++)
		create(s, g, entry);
	start(s, 2, 0);
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t g = i % 2 ? 1 : 3;

		start(s, g, 1);
		block(s, g, 1, "sync", wait);
		call(s, 2, 0, MS / 10, where);
		wake(s, 2, 0, g, release);
	}
	s->end = s->now > s->end ? s->now : s->end;
	return analyse(s, NULL);
}

/* The call is made under the lock if it is in the lines between those that take and release it. */
static void test_lock_taken_without_wait(void **state)
{
	struct script *s = script_new(600 * MS), *before = script_new(600 * MS);
	struct analysis *a = barging(s, 8);
	const struct finding *finding = found(a, "lock-io");

	(void)state;
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "(write)"));
	analysis_free(a);
	a = barging(before, 6);
	assert_null(found(a, "lock-io"));
	analysis_free(a);
	script_free(s);
	script_free(before);
}

/* A goroutine takes a lock without a wait, and has it while it waits for the network: what it waits for is
 * known by those that want the lock meanwhile. */
static void check_janitor(const char *lock, const char *unlock)
{
	struct script *s = script_new(2000 * MS);
	uint32_t entry = stack(s, "main.get", NULL, 1, NULL);
	uint32_t wait = stack(s, lock, "main.get", 7, "main.main");
	uint32_t release = stack(s, unlock, "main.janitor", 9, "main.main");
	uint32_t net = stack(s, "internal/poll.runtime_pollWait", "main.ask", 3, "main.janitor");
	uint32_t nap = stack(s, "time.Sleep", "main.janitor", 6, "main.main");
	const struct finding *finding;
	struct analysis *a;

	procs(s, 2);
	create(s, 1, entry);
	start(s, 1, 0);
	for (uint32_t i = 0, g = 2; i < 20; i++, g += 2) {
		block(s, 1, 0, "network", net);
		for (uint32_t k = g; k < g + 2; k++) {
			create(s, k, entry);
			start(s, k, 1);
			block(s, k, 1, "sync", wait);
		}
		s->now += 30 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		for (uint32_t k = g; k < g + 2; k++)
			wake(s, 1, 0, k, release);
		block(s, 1, 0, "sleep", nap);
		for (uint32_t k = g; k < g + 2; k++) {
			start(s, k, 1);
			add(s, OP_GO_DESTROY, k, 1);
		}
		s->now += 30 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
	}
	s->end = s->now > s->end ? s->now : s->end;
	a = analyse(s, NULL);
	finding = found(a, "lock-io");
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_HIGH);
	assert_non_null(strstr(finding->text, "main.janitor (:9), which holds the lock across network I/O"));
	analysis_free(a);
	script_free(s);
}

static void test_janitor(void **state)
{
	(void)state;
	check_janitor("sync.(*RWMutex).RLock", "sync.(*RWMutex).Unlock");
	check_janitor("sync.(*Mutex).Lock", "sync.(*Mutex).Unlock");
}

/* A goroutine waits under a lock for `reason`, 20 ms each time. Without `wakers`, nobody is seen to release
 * it. */
static struct analysis *waits_under_lock(struct script *s, const char *reason, bool wakers)
{
	uint32_t entry = stack(s, "main.get", NULL, 1, NULL);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.get", 7, "main.main");
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.get", 9, "main.main");
	uint32_t alloc = stack(s, "runtime.mallocgc", "main.get", 8, "main.main");

	procs(s, 2);
	create(s, 1, entry);
	create(s, 2, entry);
	for (unsigned i = 0; i < 50; i++) {
		start(s, 1, 0);
		start(s, 2, 1);
		block(s, 2, 1, "sync", wait);
		block(s, 1, 0, reason, alloc);
		s->now += 20 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		wake(s, wakers || i < 5 ? 1 : 0, 0, 2, release);
		block(s, 1, 0, "sleep", alloc);
		start(s, 2, 1);
		wake(s, 2, 1, 1, 0);
		block(s, 2, 1, "sleep", alloc);
		wake(s, 0, NO_P, 2, 0);
	}
	s->end = s->now > s->end ? s->now : s->end;
	return analyse(s, NULL);
}

/* A wait without a name of its own, as Go 1.19's for the collector, is no I/O. */
static void test_lock_assist_wait(void **state)
{
	struct script *s = script_new(2000 * MS), *named = script_new(2000 * MS);
	struct analysis *a = waits_under_lock(s, "unknown", true);

	(void)state;
	assert_null(found(a, "lock-io"));
	assert_non_null(found(a, "lock-long"));
	assert_int_not_equal(found(a, "lock-long")->held_up, WAITED_FOR_GC);
	analysis_free(a);
	/* The collector is what all wait for. */
	a = waits_under_lock(named, "GC mark assist wait for work", true);
	assert_int_equal(found(a, "lock-long")->held_up, WAITED_FOR_GC);
	analysis_free(a);
	script_free(s);
	script_free(named);
}

/* Where wakers are left out, a wait for a lock looks longer than it is. */
static void test_lock_without_wakers(void **state)
{
	struct script *s = script_new(2000 * MS);
	struct analysis *a = waits_under_lock(s, "unknown", false);

	(void)state;
	assert_non_null(found(a, "lock-long"));
	assert_int_equal(found(a, "lock-long")->n, 5);
	analysis_free(a);
	script_free(s);
}

/* Calls that a thread makes in order to unlock do not count as made under the lock. */
static void test_lock_own_calls(void **state)
{
	struct script *s = script_new(600 * MS);
	struct analysis *a = calling(s, "__GI___pthread_mutex_unlock", false);

	(void)state;
	assert_null(found(a, "lock-io"));
	assert_null(found(a, "lock-syscall"));
	analysis_free(a);
	script_free(s);
}

static void test_io_calls(void **state)
{
	(void)state;
	assert_string_equal(io_call_name(io_call_of("fsync")), "fsync");
	assert_string_equal(io_call_name(io_call_of("syscall.Pread")), "pread");
	assert_int_equal(io_call_of("reader"), 0);
	assert_int_equal(io_call_of("futex(read)"), 0);
	assert_int_equal(io_call_of("main.f(x.read"), 0);
	assert_int_equal(io_call_of(""), 0);
	assert_int_equal(io_call_of("("), 0);
	assert_int_equal(io_call_of("syscall."), 0);
	assert_null(io_call_name(0));
}

/* A parked M of a Go program that is traced as threads waits for work, not for a lock. */
static void test_parked_threads(void **state)
{
	(void)state;
	assert_int_equal(primitive_of("runtime.notesleep"), PRIM_COND);
	assert_int_equal(primitive_of("runtime.notetsleepg"), PRIM_COND);
	assert_int_equal(primitive_of("runtime.lock2"), PRIM_NONE);
	assert_int_equal(primitive_of("runtime.futexsleep"), PRIM_NONE);
}

/* --- one call for many callers --- */

/*
 * Six goroutines want a result. One of them makes the call, which takes 20 ms or 100 us; or a goroutine that
 * it started, or an unrelated one, makes the call instead.
 */
static struct analysis *flying(struct script *s, uint64_t took, bool join, bool started, bool dispatcher)
{
	uint32_t entry = stack(s, "main.serve", NULL, 1, NULL), other = stack(s, "main.load", NULL, 1, NULL);
	uint32_t wait =
		stack(s, join ? "sync.(*WaitGroup).Wait" : "runtime.chanrecv1", "main.do", 7, "main.serve");
	uint32_t done =
		stack(s, join ? "sync.(*WaitGroup).Done" : "runtime.closechan", "main.do", 9, "main.serve");
	uint32_t net = stack(s, "internal/poll.runtime_pollWait", "main.load", 5, "main.serve");
	uint32_t caller = started || dispatcher ? 8 : 1;

	procs(s, 8);
	for (uint32_t g = 1; g <= 6; g++)
		create(s, g, entry);
	create(s, 8, other);
	if (started)
		s->ops[s->n - 1].g = 1;
	for (uint32_t g = 1; g <= 6; g++)
		start(s, g, (int32_t)g - 1);
	start(s, 8, 7);
	for (unsigned i = 0; i < 40; i++) {
		block(s, caller, (int32_t)caller - 1, "network", net);
		for (uint32_t g = 2; g <= 6; g++)
			block(s, g, (int32_t)g - 1, join ? "sync" : "chan receive", wait);
		s->now += took;
		wake(s, 0, NO_P, caller, 0);
		start(s, caller, (int32_t)caller - 1);
		for (uint32_t g = 2; g <= 6; g++)
			wake(s, caller, (int32_t)caller - 1, g, done);
		for (uint32_t g = 2; g <= 6; g++)
			start(s, g, (int32_t)g - 1);
	}
	return analyse(s, NULL);
}

static void check_flights(uint64_t took, bool join, bool started, bool dispatcher, bool wanted)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a = flying(s, took, join, started, dispatcher);
	const struct finding *finding = found(a, "single-flight");

	assert_true(wanted == (finding != NULL));
	if (finding) {
		assert_non_null(strstr(finding->text, "main.do"));
		assert_non_null(strstr(finding->text, "network in main.load"));
		assert_non_null(strstr(finding->text, "Up to 5 "));
		assert_int_equal(finding->level, LEVEL_HIGH);
		assert_true(finding->total_ns >= 4000 * MS && finding->total_ns < 4001 * MS);
	}
	analysis_free(a);
	script_free(s);
}

/* In a program that mostly does something else, one call for all is what was wanted. */
static void test_flights_in_passing(void **state)
{
	struct script *s = script_new(4000 * MS);
	struct analysis *a = flying(s, 20 * MS, true, false, false);

	(void)state;
	assert_non_null(found(a, "single-flight"));
	assert_int_equal(found(a, "single-flight")->level, LEVEL_INFO);
	analysis_free(a);
	script_free(s);
}

static void test_single_flight(void **state)
{
	(void)state;
	check_flights(20 * MS, true, false, false, true);
	check_flights(20 * MS, false, false, false, true);
	check_flights(20 * MS, false, true, false, true);
	check_flights(100000, true, false, false, false);
	/* Workers that wait for a dispatcher are idle; the dispatcher is not one of their peers. */
	check_flights(20 * MS, false, false, true, false);
}

/* --- locked threads --- */

/*
 * A goroutine waits for its work on thread 7000. When it is woken, the thread with the only P hands the P to
 * thread 7000, 20 us before the goroutine starts there; with `late`, the P was given up before. With
 * `others`, another goroutine occasionally runs on the thread.
 */
static struct analysis *handing(struct script *s, bool late, bool others)
{
	uint32_t entry = stack(s, "main.draw", NULL, 1, NULL), asks = stack(s, "main.ask", NULL, 1, NULL);
	uint32_t wait = stack(s, "runtime.chanrecv1", "main.draw", 7, NULL);
	uint32_t nap = stack(s, "time.Sleep", "main.ask", 3, NULL);

	procs(s, 1);
	create(s, 1, entry);
	create(s, 2, asks);
	for (unsigned i = 0; i < 1000; i++) {
		add(s, OP_PROC_START, 0, 0);
		add(s, OP_GO_START, 2, 0);
		if (i && !late)
			wake(s, 2, 0, 1, 0);
		block(s, 2, 0, "sleep", nap);
		if (i && late)
			wake(s, 0, NO_P, 1, 0);
		s->now += 20000;
		add(s, OP_PROC_START, 0, 0)->m = 7000;
		add(s, OP_GO_START, 1, 0)->m = 7000;
		s->now += 5000;
		block(s, 1, 0, "chan receive", wait);
		s->ops[s->n - 1].m = s->ops[s->n - 2].m = 7000;
		wake(s, 0, NO_P, 2, 0);
		if (others && i % 50 == 0) {
			add(s, OP_PROC_START, 0, 0)->m = 7000;
			add(s, OP_GO_START, 2, 0)->m = 7000;
			block(s, 2, 0, "sleep", nap);
			wake(s, 0, NO_P, 2, 0);
		}
	}
	return analyse(s, NULL);
}

static void test_locked_thread(void **state)
{
	struct script *s = script_new(1000 * MS), *late = script_new(1000 * MS),
		      *others = script_new(1000 * MS);
	struct analysis *a = handing(s, false, false);
	const struct finding *finding = found(a, "locked-thread");

	(void)state;
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "main.draw"));
	assert_int_equal(finding->n, 999);
	assert_in_range(finding->total_ns, 999 * 20000, 999 * 20010);
	assert_int_equal(finding->level, LEVEL_LOW);
	analysis_free(a);
	a = handing(late, true, false);
	assert_null(found(a, "locked-thread"));
	analysis_free(a);
	a = handing(others, false, true);
	assert_null(found(a, "locked-thread"));
	analysis_free(a);
	script_free(s);
	script_free(late);
	script_free(others);
}

/* --- host names --- */

/* A request waits for 10 ms, 50 times, at the leaf of this stack; another goroutine does the work. */
static struct analysis *resolving(struct script *s, const char *wait, const char *site, const char *work,
				  bool in_c)
{
	uint32_t entry = stack(s, "main.serve", NULL, 1, NULL);
	uint32_t in_request = stack(s, "runtime.selectgo", wait, 7, site);
	uint32_t in_resolver = stack(s, work, wait, 9, "net.doBlockingWithCtx[...].func1");

	procs(s, 2);
	create(s, 1, entry);
	create(s, 2, stack(s, "net.doBlockingWithCtx[...].func1", NULL, 1, NULL));
	for (unsigned i = 0; i < 50; i++) {
		start(s, 1, 0);
		block(s, 1, 0, "select", in_request);
		start(s, 2, 1);
		if (in_c)
			call(s, 2, 1, 10 * MS, in_resolver);
		else
			s->now += 10 * MS;
		wake(s, 2, 1, 1, 0);
		block(s, 2, 1, "network", in_resolver);
		wake(s, 0, NO_P, 2, 0);
		add(s, OP_PROC_STOP, 0, 0);
	}
	return analyse(s, NULL);
}

static void check_names(const char *wait, const char *site, const char *work, bool in_c, const char *text)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a = resolving(s, wait, site, work, in_c);
	const struct finding *finding = found(a, "dns");

	assert_true((text != NULL) == (finding != NULL));
	if (text) {
		assert_non_null(strstr(finding->text, text));
		assert_non_null(strstr(finding->text, site));
		assert_int_equal(finding->n, 50);
		assert_in_range(finding->total_ns, 500 * MS, 501 * MS);
		assert_int_equal(finding->level, LEVEL_HIGH);
	}
	analysis_free(a);
	script_free(s);
}

static void test_dns(void **state)
{
	static const char lookup[] = "net.(*Resolver).lookupIPAddr";

	(void)state;
	check_names(lookup, "main.serve", "internal/poll.runtime_pollWait", false, "Go's resolver");
	check_names(lookup, "main.serve", "net._C2func_getaddrinfo", true, "(cgo)");
	check_names("net.goLookupIPOrder", "main.serve", "net.runtime_pollWait", false, "Go's resolver");
	/* The resolver's own waits, and other waits. */
	check_names(lookup, "net.(*Resolver).goLookupIPCNAMEOrder.func3.1", "internal/poll.runtime_pollWait",
		    false, NULL);
	check_names("net.(*conn).Read", "main.serve", "internal/poll.runtime_pollWait", false, NULL);
	check_names("main.lookupIPAddr", "main.serve", "internal/poll.runtime_pollWait", false, NULL);
}

/* --- time over the limit --- */

static void check_unwatched(const char *reason, bool alarm)
{
	const struct analysis_options options = {.name = "t", .file = "t", .host.pid = alarm ? 4711 : 0};
	struct script *s = script_new(1000 * MS);
	struct analysis *a = analysis_new(&options);

	procs(s, 2);
	create(s, 2, stack(s, "main.serve", NULL, 1, NULL));
	start(s, 2, 1);
	add_log(s, 100 * MS, reason);
	add_log(s, 400 * MS, "watched again from here on");
	assert_non_null(a);
	pass_on(a, s, 0, true);
	assert_int_equal(analysis_end(a), 0);
	assert_non_null(found(a, "trust"));
	assert_true((found(a, "trust")->level > LEVEL_INFO) == alarm);
	assert_string_equal(found(a, "trust")->next,
			    alarm ? "gotrace -p 4711 --detail=light" : "gotrace -p PID --detail=light");
	analysis_free(a);
	script_free(s);
}

/* The limit was asked for. */
static void test_unwatched(void **state)
{
	(void)state;
	check_unwatched("not watched from here on: over --max-overhead", false);
	check_unwatched("not watched from here on: records came faster than they could be read", true);
}

/* A trace of 1 s and 1,000 events, some of them repaired, which was not watched for a time. */
static void check_repaired(unsigned repaired, uint64_t unwatched, bool alarm)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a;
	char text[80];

	procs(s, 2);
	create(s, 2, stack(s, "main.serve", NULL, 1, NULL));
	start(s, 2, 1);
	if (unwatched) {
		add_log(s, 100 * MS, "not watched from here on: over --max-overhead");
		add_log(s, 100 * MS + unwatched, "watched again from here on");
	}
	while (s->n < 999)
		add(s, OP_LOG, 2, 1)->string = str(s, "mine");
	snprintf(text, sizeof(text), "repaired %u events: they were not seen, but later ones imply them",
		 repaired);
	add_log(s, 990 * MS, text);
	a = analyse(s, NULL);
	assert_int_equal(a->repaired, repaired);
	for (unsigned i = 0; i < a->nfindings; i++) {
		if (a->findings[i].part && strcmp(a->findings[i].part, "repaired") == 0) {
			assert_int_equal(a->findings[i].level, alarm ? LEVEL_MEDIUM : LEVEL_INFO);
			analysis_free(a);
			script_free(s);
			return;
		}
	}
	fail_msg("no finding for %u repaired events", repaired);
}

static void test_repaired(void **state)
{
	(void)state;
	check_repaired(150, 0, true);
	check_repaired(150, 20 * MS, true);
	check_repaired(150, 300 * MS, false);
	check_repaired(90, 0, false);
}

/* --- who used the CPUs --- */

static void check_kernel_log(void)
{
	const struct kernel_log log = {400000, 700 * MS};
	struct kernel_log parsed;
	char text[HOST_LOG_TEXT];

	kernel_log_print(&log, text);
	assert_true(kernel_log_parse("gotrace", text, &parsed));
	assert_int_equal(parsed.faults, 400000);
	assert_int_equal(parsed.kernel_ns, 700 * MS);
	assert_false(kernel_log_parse("other", text, &parsed));
	strcat(text, "!");
	assert_false(kernel_log_parse("gotrace", text, &parsed));
}

/* The kernel's count: of 0.8 s of CPU time, in a second. */
static const struct finding *faulting(uint64_t faults, struct analysis **a)
{
	const struct host_log host = {2, 0, 0, 0, 0, 800 * MS, 1000 * MS, 60, 0, 0};
	const struct kernel_log kernel = {faults, 700 * MS};
	struct script *s = script_new(1000 * MS);
	char text[HOST_LOG_TEXT];

	procs(s, 2);
	create(s, 2, stack(s, "main.decode", NULL, 1, NULL));
	start(s, 2, 1);
	host_log_print(&host, text);
	add_log(s, 999 * MS, text);
	kernel_log_print(&kernel, text);
	add_log(s, 999 * MS + 500, text);
	*a = analyse(s, NULL);
	script_free(s);
	return found(*a, "page-faults");
}

static void test_page_faults(void **state)
{
	struct analysis *a;
	const struct finding *finding = faulting(400000, &a);

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_MEDIUM);
	assert_non_null(strstr(finding->text, "causes 400000 page faults a second. The kernel takes 88 % of "
					      "its CPU time: 700 ms of 800 ms."));
	analysis_free(a);
	assert_null(faulting(100000, &a));
	analysis_free(a);
}

static void test_host_log(void **state)
{
	const struct host_log log = {2, 150000, 100000, 3, 7000, 1000, 3000000, 98, 1, 0};
	struct beside_log beside = {.name = "a (PID 1) \xff\n", .pid = 42, .used_ns = 5000}, got;
	struct host_log parsed, waited = log;
	char text[HOST_LOG_TEXT], more[HOST_LOG_TEXT];

	(void)state;
	check_kernel_log();
	host_log_print(&log, text);
	assert_true(host_log_parse("gotrace", text, &parsed));
	assert_int_equal(parsed.quota_us, 150000);
	assert_int_equal(parsed.throttled_ns, 7000);
	assert_int_equal(parsed.used_ns, 1000);
	assert_int_equal(parsed.busy_percent, 98);
	assert_int_equal(parsed.stolen_percent, 1);
	assert_int_equal(parsed.waited_ns, 0);
	waited.waited_ns = 70000;
	host_log_print(&waited, more);
	assert_true(host_log_parse("gotrace", more, &parsed));
	assert_int_equal(parsed.stolen_percent, 1);
	assert_int_equal(parsed.waited_ns, 70000);
	strcat(more, "!");
	assert_false(host_log_parse("gotrace", more, &parsed));
	assert_false(host_log_parse("other", text, &parsed));
	strcat(text, "!");
	assert_false(host_log_parse("gotrace", text, &parsed));
	assert_false(host_log_parse("gotrace", "2 CPUs", &parsed));
	beside_log_print(&beside, text);
	assert_true(beside_log_parse("gotrace", text, &got));
	assert_string_equal(got.name, "a (PID 1) ??");
	assert_int_equal(got.pid, 42);
	assert_int_equal(got.used_ns, 5000);
	assert_false(
		beside_log_parse("gotrace", "beside it, longer than a name can be (PID 1) used 3 us", &got));
	assert_false(beside_log_parse("gotrace", "beside it, x", &got));
}

static void test_stopped_log(void **state)
{
	const struct stopped_log logs[] = {{7000, false}, {7000, true}};
	struct stopped_log got;
	char text[HOST_LOG_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		stopped_log_print(&logs[i], text);
		assert_true(stopped_log_parse("gotrace", text, &got));
		assert_int_equal(got.ns, 7000);
		assert_int_equal(got.still, logs[i].still);
	}
	assert_false(stopped_log_parse("other", text, &got));
	assert_false(stopped_log_parse("gotrace", "stopped 7 us, moving", &got));
	assert_false(stopped_log_parse("gotrace", "stopped -7 us", &got));
}

static void test_descendants_log(void **state)
{
	struct descendants_log log = {.used_ns = 5000}, got;
	char text[HOST_LOG_TEXT];

	(void)state;
	descendants_log_print(&log, text);
	assert_true(descendants_log_parse("gotrace", text, &got));
	assert_int_equal(got.used_ns, 5000);
	assert_int_equal(got.live, 0);
	assert_int_equal(got.pid, 0);
	log = (struct descendants_log){.used_ns = 7000, .live = 3, .pid = 42, .name = "a: (PID 1) \xff"};
	descendants_log_print(&log, text);
	assert_true(descendants_log_parse("gotrace", text, &got));
	assert_int_equal(got.live, 3);
	assert_int_equal(got.pid, 42);
	assert_string_equal(got.name, "a: (PID 1) ?");
	assert_false(descendants_log_parse("other", text, &got));
	strcat(text, "!");
	assert_false(descendants_log_parse("gotrace", text, &got));
	assert_false(descendants_log_parse("gotrace", "descendants used 1 us, 1 live: x", &got));
	assert_false(descendants_log_parse(
		"gotrace", "descendants used 1 us, 1 live: longer than a name (PID 1)", &got));
	assert_false(descendants_log_parse("gotrace", "descendants used", &got));
}

/* A process waits while those that it has started use CPUs. */
static struct analysis *analyse_parent(struct script *s, uint64_t own_ns, uint64_t used_ns)
{
	const struct host_log host = {2, 0, 0, 0, 0, own_ns, 1000 * MS, 50, 0, 0};
	const struct descendants_log log = {.used_ns = used_ns, .live = 2, .pid = 42, .name = "worker"};
	char text[HOST_LOG_TEXT];

	procs(s, 2);
	create(s, 2, stack(s, "main.main", NULL, 1, NULL));
	start(s, 2, 1);
	at(s, 10 * MS);
	block(s, 2, 1, "network", stack(s, "internal/poll.runtime_pollWait", "main.main", 3, NULL));
	host_log_print(&host, text);
	add_log(s, 999 * MS, text);
	descendants_log_print(&log, text);
	add_log(s, 999 * MS + 1000, text);
	return analyse(s, NULL);
}

static void test_descendants(void **state)
{
	static const struct {
		uint64_t own_ns, used_ns;
		bool named;
	} cases[] = {{10 * MS, 900 * MS, true}, {10 * MS, 90 * MS, false}, {300 * MS, 200 * MS, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct script *s = script_new(1000 * MS);
		struct analysis *a = analyse_parent(s, cases[i].own_ns, cases[i].used_ns);
		const struct finding *finding = found(a, "descendants");

		assert_int_equal(finding != NULL, cases[i].named);
		if (finding) {
			assert_int_equal(finding->level, LEVEL_INFO);
			assert_non_null(strstr(
				finding->text,
				"used CPUs for 10.0 ms, and processes that it has started for 900 ms."));
			assert_non_null(
				strstr(finding->evidence[0], "2 of them live; worker (PID 42) used most"));
		}
		analysis_free(a);
		script_free(s);
	}
}

/* A goroutine has a P for a second, in which its thread may sleep in the kernel for 0.74 s, and the trace
 * says that the program used CPUs for 0.2 s. beside: how many others are named; two are of its own kind. */
static struct analysis *analyse_starved(struct script *s, uint32_t busy_percent, unsigned beside,
					const char *region)
{
	const struct host_log log = {2, 0, 0, 0, 0, 200 * MS, 1000 * MS, busy_percent, 0, 0};
	struct beside_log loop = {.name = "loop", .pid = 7, .used_ns = 800 * MS};
	char text[HOST_LOG_TEXT];

	procs(s, 2);
	create(s, 2, stack(s, "main.serve", NULL, 1, NULL));
	start(s, 2, 1);
	if (region) {
		at(s, 10 * MS);
		add(s, OP_REGION_BEGIN, 2, 1)->string = str(s, region);
		at(s, 750 * MS);
		add(s, OP_REGION_END, 2, 1)->string = str(s, region);
	}
	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	if (beside > 1)
		add_log(s, 999 * MS + 500, "resource process.executable.name=loop");
	for (unsigned i = 1; i <= beside; i++, loop.pid++, loop.used_ns = 100 * MS) {
		beside_log_print(&loop, text);
		add_log(s, 999 * MS + 1000 * i, text);
	}
	return analyse(s, NULL);
}

/* A goroutine that hardly runs, of a program whose threads had no CPU for 0.9 s by the kernel's count. */
static void check_ready_threads(uint32_t busy_percent, bool named)
{
	const struct host_log log = {2, 0, 0, 0, 0, 200 * MS, 1000 * MS, busy_percent, 0, 900 * MS};
	struct script *s = script_new(1000 * MS);
	uint32_t wait = stack(s, "internal/poll.runtime_pollWait", "main.read", 3, "main.main");
	char text[HOST_LOG_TEXT];
	struct analysis *a;

	procs(s, 2);
	create(s, 2, stack(s, "main.serve", NULL, 1, NULL));
	start(s, 2, 1);
	at(s, 100 * MS);
	block(s, 2, 1, "network", wait);
	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	a = analyse(s, NULL);
	assert_true((found(a, "neighbour") != NULL) == named);
	if (named)
		assert_non_null(strstr(found(a, "neighbour")->text, "ready without one for 900 ms"));
	analysis_free(a);
	script_free(s);
}

static void check_few_cpus(uint32_t ps, bool named)
{
	const struct host_log log = {2, 0, 0, 0, 0, 900 * MS, 1000 * MS, 60, 0, 500 * MS};
	struct script *s = script_new(1000 * MS);
	char text[HOST_LOG_TEXT];
	struct analysis *a;

	procs(s, ps);
	create(s, 2, stack(s, "main.serve", NULL, 1, NULL));
	start(s, 2, 1);
	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	a = analyse(s, NULL);
	assert_true((found(a, "procs-high") != NULL) == named);
	if (named) {
		assert_int_equal(found(a, "procs-high")->level, LEVEL_INFO);
		assert_non_null(strstr(found(a, "procs-high")->text, "GOMAXPROCS is 16 on 2 CPUs"));
	}
	analysis_free(a);
	script_free(s);
}

/* Many Ps on few CPUs: their threads wait for each other, with nobody else to blame. */
static void test_more_procs_than_cpus(void **state)
{
	(void)state;
	check_few_cpus(16, true);
	check_few_cpus(2, false);
}

static void test_neighbour_of_waiting(void **state)
{
	(void)state;
	check_ready_threads(98, true);
	/* Nobody else used CPUs: the threads waited for each other. */
	check_ready_threads(12, false);
}

static void test_neighbour_named(void **state)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a = analyse_starved(s, 98, 1, NULL);
	const struct finding *finding = found(a, "neighbour");

	(void)state;
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "among them loop (PID 7, 800 ms)"));
	assert_non_null(strstr(finding->evidence[1], "loop (PID 7) 800 ms"));
	assert_string_equal(finding->next, "top");
	analysis_free(a);
	script_free(s);
}

/* Two processes of its own kind used them. */
static void test_neighbour_of_its_kind(void **state)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a = analyse_starved(s, 98, 2, NULL);

	(void)state;
	assert_non_null(found(a, "neighbour"));
	assert_non_null(strstr(found(a, "neighbour")->text,
			       "among them 2 other processes named loop (900 ms in all)"));
	analysis_free(a);
	script_free(s);
}

/* Others used CPUs for longer than threads waited, but there were CPUs for all. */
static void test_no_neighbour_beside_idle_cpus(void **state)
{
	const struct host_log log = {2, 0, 0, 0, 0, 150 * MS, 1000 * MS, 9, 0, 0};
	const struct beside_log client = {.name = "hey", .pid = 7, .used_ns = 270 * MS};
	struct script *s = script_new(1000 * MS);
	char text[HOST_LOG_TEXT];
	struct analysis *a;

	(void)state;
	procs(s, 2);
	create(s, 2, stack(s, "main.serve", NULL, 1, NULL));
	start(s, 2, 1);
	at(s, 300 * MS);
	block(s, 2, 1, "network", stack(s, "internal/poll.runtime_pollWait", "main.read", 3, "main.main"));
	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	beside_log_print(&client, text);
	add_log(s, 999 * MS + 1000, text);
	a = analyse(s, NULL);
	assert_null(found(a, "neighbour"));
	analysis_free(a);
	script_free(s);
}

/* Nobody else used the CPUs: the program's own threads took them from each other. */
static void test_no_neighbour_on_idle_machine(void **state)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a = analyse_starved(s, 20, 0, NULL);

	(void)state;
	assert_null(found(a, "neighbour"));
	analysis_free(a);
	script_free(s);
}

/* Its thread slept in the kernel, so nobody else took the CPU from it. */
static void test_kernel_sleep(void **state)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a = analyse_starved(s, 98, 1, "[off CPU: asleep in the kernel]");
	const struct finding *finding = found(a, "kernel-sleep");

	(void)state;
	assert_null(found(a, "neighbour"));
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "kept a P for at least 740 ms"));
	assert_non_null(strstr(finding->text, "100 % of it in main.serve"));
	analysis_free(a);
	script_free(s);
}

static void test_stopped(void **state)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a = analyse_starved(s, 98, 1, "[off CPU: stopped]");
	const struct finding *finding = found(a, "kernel-sleep");

	(void)state;
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "at least 740 ms while their threads were stopped"));
	analysis_free(a);
	script_free(s);
}

/* A program that was ready without a CPU for 0.9 s, on a busy machine of which the trace names one process.
 */
static struct analysis *beside_one(struct script *s, const char *name, uint64_t used_ns)
{
	const struct host_log log = {2, 0, 0, 0, 0, 200 * MS, 1000 * MS, 98, 0, 900 * MS};
	struct beside_log one = {.pid = 7, .used_ns = used_ns};
	char text[HOST_LOG_TEXT];

	snprintf(one.name, sizeof(one.name), "%s", name);
	procs(s, 2);
	create(s, 2, stack(s, "main.serve", NULL, 1, NULL));
	start(s, 2, 1);
	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	beside_log_print(&one, text);
	add_log(s, 999 * MS + 1000, text);
	return analyse(s, NULL);
}

/* Its only P has a goroutine all the time, and a CPU for 200 ms of a second: more Ps would have none, either.
 */
static void test_few_procs_without_cpu(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct script *s = script_new(1000 * MS);
		const struct host_log log = {4, 0, 0, 0, 0, (i ? 900 : 200) * MS, 1000 * MS, 98, 0, 900 * MS};
		struct analysis *a;
		char text[HOST_LOG_TEXT];

		procs(s, 1);
		create(s, 1, stack(s, "main.serve", NULL, 1, NULL));
		create(s, 2, stack(s, "main.serve", NULL, 1, NULL));
		host_log_print(&log, text);
		for (unsigned k = 0; k < 19; k++) {
			start(s, 1 + k % 2, 0);
			s->now += 50 * MS;
			add(s, OP_GO_STOP, 1 + k % 2, 0)->string = str(s, "preempted");
		}
		start(s, 1, 0);
		add_log(s, 999 * MS, text);
		a = analyse(s, NULL);
		assert_non_null(found(a, "procs-low"));
		assert_non_null(found(a, "neighbour"));
		assert_string_equal(found(a, "procs-low")->explained_by, i ? "hog" : "neighbour");
		assert_true((found(a, "procs-low")->level == LEVEL_INFO) == !i);
		analysis_free(a);
		script_free(s);
	}
}

/* One that used little is not named for what many, or ones that have ended, used. */
static void test_neighbour_unnamed(void **state)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a = beside_one(s, "ssh", 50 * MS);

	(void)state;
	assert_non_null(found(a, "neighbour"));
	assert_null(strstr(found(a, "neighbour")->text, "ssh"));
	assert_non_null(strstr(found(a, "neighbour")->text, "many small ones or ones that have ended"));
	analysis_free(a);
	script_free(s);
}

/* What children used until they ended is counted for the program. */
static void test_neighbour_of_children(void **state)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a = beside_one(s, ENDED_CHILDREN, 1500 * MS);

	(void)state;
	assert_non_null(found(a, "neighbour"));
	assert_string_equal(found(a, "neighbour")->evidence[1], "its ended children 1.50 s");
	analysis_free(a);
	script_free(s);
}

/* --- goroutines that no idle P takes --- */

/* `together` goroutines at a time become runnable, `times` times, and wait 10 ms for an idle P. */
static struct analysis *delayed(struct script *s, unsigned together, unsigned times)
{
	const struct host_log log = {2, 0, 0, 0, 0, 200 * MS, 1000 * MS, 20, 0, 0};
	uint32_t entry = stack(s, "main.serve", NULL, 1, NULL), g = 1;
	char text[HOST_LOG_TEXT];

	procs(s, 2);
	for (unsigned i = 0; i < times; i++) {
		at(s, i * 20 * MS + MS);
		for (unsigned j = 0; j < together; j++)
			create(s, g + j, entry);
		at(s, i * 20 * MS + 10 * MS);
		for (unsigned j = 0; j < together; j++) {
			start(s, g, 0);
			add(s, OP_GO_DESTROY, g++, 0);
			add(s, OP_PROC_STOP, 0, 0);
		}
	}
	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	return analyse(s, NULL);
}

static void test_idle_p(void **state)
{
	struct script *s = script_new(1000 * MS), *once = script_new(1000 * MS);
	struct analysis *a = delayed(s, 1, 50);
	const struct finding *finding = found(a, "idle-p");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_MEDIUM);
	analysis_free(a);
	script_free(s);
	a = delayed(once, 200, 1); /* 2 s in all, but the program lost 10 ms */
	finding = found(a, "idle-p");
	assert_non_null(finding);
	assert_int_equal(finding->n, 200);
	assert_int_equal(finding->level, LEVEL_INFO);
	analysis_free(a);
	script_free(once);
}

/* --- network waits that no P ends --- */

/* One goroutine, or thread, that waits for the network 200 times, and one that is busy or not. */
static struct analysis *polled(struct script *s, bool busy, bool threads)
{
	uint32_t entry = stack(s, "main.serve", NULL, 1, NULL), net = stack(s, "read", "main.serve", 5, NULL);

	s->goids[1] = threads ? 5000 : 1;
	s->goids[2] = threads ? 5001 : 2;
	procs(s, 2);
	create(s, 1, entry);
	create(s, 2, entry);
	if (busy)
		start(s, 2, 1);
	for (unsigned i = 0; i < 200; i++) {
		start(s, 1, 0);
		at(s, i * 5 * MS + 4 * MS);
		block(s, 1, 0, "network", net);
		at(s, i * 5 * MS + 4 * MS + MS / 2);
		wake(s, 0, NO_P, 1, 0);
	}
	return analyse(s, NULL);
}

static void check_polled(bool busy, bool threads, bool no_calls, bool wanted)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a;

	if (no_calls)
		add_log(s, 0, "system calls are left out");
	a = polled(s, busy, threads);
	assert_true((found(a, "netpoll") != NULL) == wanted);
	assert_true(is_of_threads(a) == threads);
	for (unsigned i = 0; i < a->nfindings; i++)
		assert_null(strstr(a->findings[i].text, threads ? "goroutine" : "thread"));
	analysis_free(a);
	script_free(s);
}

static void test_netpoll(void **state)
{
	(void)state;
	check_polled(true, false, false, true);
	check_polled(false, false, false, false);
	check_polled(true, true, false, false);
	check_polled(true, false, true, false);
}

/* --- threads that wait for a CPU --- */

/* A thread runs for 2 ms, sleeps for 1 ms, and waits for a CPU; with `full`, others of its program have both
 * CPUs then. */
static void check_waiting(uint64_t wait_ns, bool full, bool wanted)
{
	struct script *s = script_new(901 * MS);
	uint32_t entry = stack(s, "main", NULL, 1, NULL), sleep = stack(s, "nanosleep", "main", 5, NULL);
	struct analysis *a;

	procs(s, 2);
	for (uint32_t g = 1; g <= 3; g++) {
		s->goids[g] = 5000 + (g == 2);
		create(s, g, entry);
	}
	start(s, 3, 0);
	block(s, 3, 0, "sleep", sleep);
	start(s, 2, 1);
	if (!full)
		block(s, 2, 1, "sleep", sleep);
	for (unsigned i = 0; i < 150; i++) {
		uint64_t begin = MS / 10 + i * 6 * MS;

		at(s, begin);
		start(s, 1, 0);
		at(s, begin + 2 * MS);
		block(s, 1, 0, "sleep", sleep);
		at(s, begin + 3 * MS);
		if (full) {
			wake(s, 0, NO_P, 3, 0);
			start(s, 3, 0);
		}
		at(s, begin + 6 * MS - wait_ns - 100);
		wake(s, 0, NO_P, 1, 0);
		at(s, begin + 6 * MS - 50);
		if (full)
			block(s, 3, 0, "sleep", sleep);
	}
	a = analyse(s, NULL);
	assert_true(is_of_threads(a));
	assert_true((found(a, "neighbour") != NULL) == wanted);
	analysis_free(a);
	script_free(s);
}

static void test_neighbour_of_threads(void **state)
{
	(void)state;
	check_waiting(2 * MS, false, true);
	check_waiting(MS / 10, false, false); /* a CPU wakes up */
	check_waiting(2 * MS, true, false);   /* they wait for each other */
}

/* A thread gets a CPU at once, but the last `n` of 150 times, for which it waits. */
static struct analysis *waiting_at_last(struct script *s, unsigned n, uint64_t wait_ns, uint32_t busy_percent,
					uint32_t stolen_percent)
{
	const struct host_log log = {2, 0, 0, 0, 0, 300 * MS, 750 * MS, busy_percent, stolen_percent, 0};
	uint32_t entry = stack(s, "main", NULL, 1, NULL), sleep = stack(s, "nanosleep", "main", 5, NULL);
	char text[HOST_LOG_TEXT];

	procs(s, 2);
	s->goids[1] = 5000;
	create(s, 1, entry);
	start(s, 1, 0);
	for (unsigned i = 0; i < 150; i++) {
		s->now += 2 * MS;
		block(s, 1, 0, "sleep", sleep);
		s->now += 3 * MS;
		wake(s, 0, NO_P, 1, 0);
		s->now += i >= 150 - n ? wait_ns : MS / 100;
		start(s, 1, 0);
	}
	host_log_print(&log, text);
	add_log(s, s->now - 1000, text);
	s->end = s->now + MS;
	return analyse(s, NULL);
}

static void test_neighbour_of_rare_waits(void **state)
{
	struct script *s = script_new(2000 * MS), *idle = script_new(2000 * MS);
	struct analysis *a = waiting_at_last(s, 1, 300 * MS, 90, 0);

	(void)state;
	assert_true(histogram_quantile(&a->latency, 0.99) < 500000);
	/* As exact as a bucket. */
	assert_in_range(histogram_sum_from(&a->latency, 500000), 297 * MS, 303 * MS);
	assert_non_null(found(a, "neighbour"));
	analysis_free(a);
	a = waiting_at_last(idle, 1, 300 * MS, 20, 0);
	assert_null(found(a, "neighbour"));
	analysis_free(a);
	script_free(s);
	script_free(idle);
}

/* What each virtual machine loses is no alarm. */
static void test_little_stolen(void **state)
{
	(void)state;
	for (unsigned n = 3; n <= 30; n *= 10) {
		struct script *s = script_new(2000 * MS);
		struct analysis *a = waiting_at_last(s, n, 12 * MS, 20, 20);
		const struct finding *finding = found(a, "neighbour");

		assert_non_null(finding);
		assert_non_null(strstr(finding->text, "the hypervisor gave it to other"));
		assert_int_equal(finding->level == LEVEL_INFO, n == 3);
		analysis_free(a);
		script_free(s);
	}
}

/* --- threads without a stack --- */

/* Two threads spin all the time, and are not seen to start or to wait; the third one sleeps. */
static void test_threads_that_burn_are_counted(void **state)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a;

	(void)state;
	procs(s, 2);
	for (uint32_t g = 1; g <= 3; g++) {
		struct op *op = add(s, OP_GO_STATUS, g, g < 3 ? (int32_t)g - 1 : NO_P);

		s->goids[g] = 4999 + g;
		op->status = g < 3 ? G_RUNNING : G_WAITING;
	}
	a = analyse(s, NULL);
	assert_true(is_of_threads(a));
	assert_int_equal(a->alive_start, 3);
	assert_int_equal(a->alive, 3);
	assert_int_equal(a->created, 0);
	analysis_free(a);
	script_free(s);
}

/* Nothing changes in such a trace, the number of CPUs neither. */
static void test_threads_that_sleep_are_threads(void **state)
{
	struct script *s = script_new(1000 * MS);
	struct op *op;
	struct analysis *a;

	(void)state;
	for (int32_t p = 0; p < 2; p++)
		add(s, OP_PROC_STATUS, 0, p)->status = P_IDLE;
	op = add(s, OP_GO_STATUS, 1, NO_P);
	op->status = G_WAITING;
	op->stack = stack(s, "clock_nanosleep", "main [sleep]", 1, NULL);
	a = analyse(s, NULL);
	assert_true(is_of_threads(a));
	assert_int_equal(a->most_procs, 2);
	analysis_free(a);
	script_free(s);
}

/* What gotrace's own events are on is no goroutine or thread of the program. */
static void test_own_goroutine(void **state)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a;

	(void)state;
	procs(s, 2);
	s->goids[2] = OWN_GOID;
	create(s, 1, stack(s, "main.run", NULL, 1, NULL));
	start(s, 1, 0);
	create(s, 2, stack(s, "gotrace", NULL, 1, NULL));
	start(s, 2, 1);
	block(s, 2, 1, "unspecified", stack(s, "gotrace", NULL, 1, NULL));
	a = analyse(s, NULL);
	assert_int_equal(a->alive, 1);
	assert_int_equal(a->created, 1);
	for (size_t i = 0; i < a->nrows; i++)
		assert_true(a->rows[i].activity == ACT_RUNNABLE || !a->rows[i].cut_n);
	analysis_free(a);
	script_free(s);
}

/* 35 goroutines are 35, however often each is woken within a millisecond. */
static void test_a_burst_is_of_goroutines(void **state)
{
	enum { WORKERS = 35, ROUNDS = 4, WAKER = WORKERS + 1 };
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.work", NULL, 1, NULL), wait = stack(s, "main.work", NULL, 2, NULL);
	struct analysis *a;

	(void)state;
	procs(s, 2);
	for (uint32_t g = 1; g <= WAKER; g++)
		create(s, g, entry);
	at(s, 10 * MS);
	start(s, WAKER, 0);
	for (unsigned i = 0; i <= ROUNDS; i++) {
		for (uint32_t g = 1; g <= WORKERS; g++) {
			if (i)
				wake(s, WAKER, 0, g, wait);
			start(s, g, 1);
			block(s, g, 1, "chan receive", wait);
		}
	}
	a = analyse(s, NULL);
	assert_int_equal(a->burst_most, WORKERS);
	assert_int_equal(a->bursts, 0);
	analysis_free(a);
	script_free(s);
}

/* Functions of time.AfterFunc have no creator. Those that a goroutine starts are its own affair. */
static void test_a_burst_of_timers(void **state)
{
	enum { STARTED = 60 };

	(void)state;
	for (unsigned by = 0; by < 2; by++) {
		struct script *s = script_new(1000 * MS);
		uint32_t entry = stack(s, "main.expire", NULL, 1, NULL);
		struct analysis *a;

		procs(s, 2);
		create(s, STARTED + 1, stack(s, "main.main", NULL, 1, NULL));
		at(s, 10 * MS);
		start(s, STARTED + 1, 0);
		for (uint32_t g = 1; g <= STARTED; g++) {
			struct op *op = add(s, OP_GO_CREATE, by ? STARTED + 1 : 0, 0);

			op->g2 = g;
			op->stack2 = entry;
		}
		a = analyse(s, NULL);
		assert_int_equal(a->bursts, by ? 0 : 1);
		assert_int_equal(a->burst_most, by ? 0 : STARTED);
		analysis_free(a);
		script_free(s);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_burst_of_timers),
	cmocka_unit_test(test_lock_short_calls),
	cmocka_unit_test(test_io_calls),
	cmocka_unit_test(test_lock_own_calls),
	cmocka_unit_test(test_lock_while_woken),
	cmocka_unit_test(test_lock_taken_without_wait),
	cmocka_unit_test(test_janitor),
	cmocka_unit_test(test_single_flight),
	cmocka_unit_test(test_flights_in_passing),
	cmocka_unit_test(test_locked_thread),
	cmocka_unit_test(test_dns),
	cmocka_unit_test(test_parked_threads),
	cmocka_unit_test(test_unwatched),
	cmocka_unit_test(test_repaired),
	cmocka_unit_test(test_descendants),
	cmocka_unit_test(test_stopped_log),
	cmocka_unit_test(test_descendants_log),
	cmocka_unit_test(test_host_log),
	cmocka_unit_test(test_page_faults),
	cmocka_unit_test(test_neighbour_named),
	cmocka_unit_test(test_neighbour_of_its_kind),
	cmocka_unit_test(test_no_neighbour_beside_idle_cpus),
	cmocka_unit_test(test_neighbour_of_waiting),
	cmocka_unit_test(test_more_procs_than_cpus),
	cmocka_unit_test(test_kernel_sleep),
	cmocka_unit_test(test_stopped),
	cmocka_unit_test(test_neighbour_of_children),
	cmocka_unit_test(test_few_procs_without_cpu),
	cmocka_unit_test(test_neighbour_unnamed),
	cmocka_unit_test(test_no_neighbour_on_idle_machine),
	cmocka_unit_test(test_idle_p),
	cmocka_unit_test(test_lock_assist_wait),
	cmocka_unit_test(test_lock_without_wakers),
	cmocka_unit_test(test_netpoll),
	cmocka_unit_test(test_threads_that_burn_are_counted),
	cmocka_unit_test(test_threads_that_sleep_are_threads),
	cmocka_unit_test(test_neighbour_of_threads),
	cmocka_unit_test(test_neighbour_of_rare_waits),
	cmocka_unit_test(test_little_stolen),
	cmocka_unit_test(test_own_goroutine),
	cmocka_unit_test(test_a_burst_is_of_goroutines),
};

UNIT_TESTS(tests, NULL, NULL);
