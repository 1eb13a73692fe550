/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What is said of threads: their words, names of C++ and of stripped libraries, and one sentence for a pool.
 */
#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/kinds.h"
#include "analysis/rules/rules.h"

#include "script.h"

/* Thread 5000 + i runs on CPU i. */
static struct script *two_threads(const char *one, const char *other)
{
	struct script *s = script_new(1000 * MS);

	procs(s, 2);
	for (uint32_t g = 1; g <= 2; g++) {
		s->goids[g] = 4999 + g;
		create(s, g, stack(s, g == 1 ? one : other, NULL, 1, NULL));
		start(s, g, (int32_t)g - 1);
	}
	return s;
}

static char *report_of(struct analysis *a)
{
	const struct report_style style = {.all = true};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	report_text(a, out, &style);
	fclose(out);
	return text;
}

static unsigned times(const char *text, const char *part)
{
	unsigned n = 0;

	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		n++;
	return n;
}

/* A sample stands for no more time than the threads have run. */
static void test_sample_of_an_idle_program(void **state)
{
	struct script *s = two_threads("main [app]", "work [app]");
	uint32_t wait = stack(s, "epoll_wait", "loop", 7, "main [app]");
	struct analysis *a;

	(void)state;
	at(s, 1 * MS);
	add(s, OP_CPU_SAMPLE, 1, 0)->stack = wait;
	block(s, 1, 0, "network", wait);
	block(s, 2, 1, "network", wait);
	a = analyse(s, NULL);
	assert_int_equal(a->samples, 1);
	assert_true(cpu_sample_ns(a) > 1 * MS && cpu_sample_ns(a) < 3 * MS);
	analysis_free(a);
	script_free(s);
}

/* Two threads of a pool look for work every 20 ms. */
static struct script *pool(void)
{
	struct script *s =
		two_threads("pool::work(pool::task*) [pool-1]", "pool::work(pool::task*) [pool-2]");
	uint32_t wait[] = {
		stack(s, "pthread_cond_timedwait", "pool::take(std::unique_lock<std::mutex>&, int) const", 0,
		      "pool::work(pool::task*) [pool-1]"),
		stack(s, "pthread_cond_timedwait", "pool::take(std::unique_lock<std::mutex>&, int) const", 0,
		      "pool::work(pool::task*) [pool-2]")};

	for (unsigned i = 0; i < 45; i++) {
		for (uint32_t g = 1; g <= 2; g++)
			block(s, g, (int32_t)g - 1, "sync (condition)", wait[g - 1]);
		at(s, (i + 1) * 20 * MS);
		for (uint32_t g = 1; g <= 2; g++) {
			wake(s, 0, NO_P, g, 0);
			start(s, g, (int32_t)g - 1);
		}
	}
	return s;
}

/* One sentence says it of both, without the arguments of C++, and nothing is said of Go. */
static void test_pool(void **state)
{
	static const char *const of_go[] = {"oroutine", "GOMAXPROCS", " Ps", " P ",
					    "GC",       "sysmon",     "(g5", "unique_lock"};
	struct script *s = pool();
	struct analysis *a = analyse(s, NULL);
	const struct finding *finding = found(a, "timer-bound");
	char *text = report_of(a);

	(void)state;
	assert_true(is_of_threads(a));
	assert_non_null(finding);
	assert_int_equal(times(text, "timer-bound: "), 1);
	if (!strstr(finding->text, "pool::take waited "))
		fail_msg("%s", finding->text);
	assert_string_equal(finding->evidence[1], "the same in 1 other stack: 900 ms more");
	assert_non_null(strstr(finding->evidence[0], "(thread 500"));
	assert_non_null(strstr(finding->next, "gotrace why t --thread 500"));
	for (size_t i = 0; i < sizeof(of_go) / sizeof(of_go[0]); i++) {
		if (strstr(text, of_go[i]))
			fail_msg("%s: %s", of_go[i], text);
	}
	/* Their waits look the same, and so are one line. */
	assert_int_equal(times(text, "condition  pool::take\n"), 1);
	assert_non_null(strstr(text, "\n     90  1.80 s"));
	/* A name that does not fit has a line of its own. */
	assert_non_null(strstr(text, "pool::work [pool-1]\n"));
	free(text);
	analysis_free(a);
	script_free(s);
}

static void check_name(const char *name, const char *shown)
{
	struct script *s = two_threads(name, "main [app]");
	struct analysis *a = analyse(s, NULL);
	bool seen = false;

	for (size_t i = 0; i < a->ngroups; i++)
		seen = seen || strcmp(label_function(a, a->groups[i].func).text, shown) == 0;
	if (!seen)
		fail_msg("%s is not shown as %s", name, shown);
	analysis_free(a);
	script_free(s);
}

static void test_names(void **state)
{
	(void)state;
	check_name("f(int) [app]", "f [app]");
	check_name("a::b<void (int)>::operator()(int) const [clone .part.0] [app]",
		   "a::b<void (int)>::operator() [app]");
	check_name("(anonymous namespace)::run(void (*)(int)) [app]", "(anonymous namespace)::run [app]");
	check_name("read(3: /tmp/x (deleted))", "read(3: /tmp/x (deleted))");
	check_name("read(3: /tmp/x)", "read(3: /tmp/x)");
	check_name("lib.so.1+0xab0 [app]", "lib.so.1+0xab0 [app]");
	check_name("main.(*T).run [app]", "main.(*T).run [app]");
	check_name("operator() [app]", "operator() [app]");
	check_name("std::operator+<char, std::char_traits<char> >(char const*) [app]",
		   "std::operator+<…> [app]");
	check_name("rocksdb::InlineSkipList<rocksdb::MemTableRep::KeyComparator const&>::Next(int) [app]",
		   "rocksdb::InlineSkipList<…>::Next [app]");
	check_name("a::long_enough_to_be_shortened<b<c, d>, e>::f<int>(b<c, d>) const [app]",
		   "a::long_enough_to_be_shortened<…>::f<int> [app]");
	check_name("std::operator<< <std::char_traits<char> >(std::ostream&, char) [app]",
		   "std::operator<< <std::char_traits<char> > [app]");
	check_name("<alloc::vec::Vec<T, A> as core::ops::drop::Drop>::drop [app]",
		   "<alloc::vec::Vec<T, A> as core::ops::drop::Drop>::drop [app]");
	check_name("a::b<int>::operator-><c>() [app]", "a::b<int>::operator-><c> [app]");
	check_name("shop::operator()(int) [app]", "shop::operator() [app]");
	check_name("[io_uring]", "[io_uring]");
	/* Names are cut after 100 bytes. */
	check_name("Routes::transfer(std::unordered_map<std::__cxx11::basic_string<char, std::al [app]",
		   "Routes::transfer [app]");
	check_name("(anonymous namespace)::run(void (*)(int), std::al [app]",
		   "(anonymous namespace)::run [app]");
	check_name("read(3: /tmp/x (a", "read(3: /tmp/x (a");
}

/* The row of a call at an address without a name shows the call. */
static void test_nameless_callers(void **state)
{
	struct script *s = two_threads("main [app]", "work [app]");
	struct analysis *a;
	char *text;

	(void)state;
	for (unsigned i = 0; i < 9; i++)
		call(s, 1, 0, MS, stack(s, "fdatasync", "libsqlite3.so.0.8.6+0xab050", 0, "main [app]"));
	a = analyse(s, NULL);
	text = report_of(a);
	assert_non_null(strstr(text, " in fdatasync\n"));
	free(text);
	analysis_free(a);
	script_free(s);
}

/* Calls that were not recorded are not known to be code. Time that was not watched is not counted again. */
static void test_calls_left_out(void **state)
{
	struct script *s = two_threads("main [app]", "work [app]");
	struct analysis *a;
	char *text;

	(void)state;
	add_log(s, 10 * MS, "system calls are left out");
	add_log(s, 100 * MS, "not watched from here on: over --max-overhead");
	add_log(s, 300 * MS, "watched again from here on");
	add_log(s, 910 * MS, "everything is recorded");
	a = analyse(s, NULL);
	text = report_of(a);
	assert_non_null(strstr(text, "syscalls 0 and more)"));
	assert_non_null(strstr(text, "200 ms not watched, 700 ms without system calls"));
	free(text);
	analysis_free(a);
	script_free(s);
}

/*
 * A thread is ready for 10 ms, 60 times, while no CPU runs the program. It may use one CPU only, and has used
 * that for 700 ms of a second; of the machine's time 3 % was stolen, and others used the rest.
 */
static void test_neighbour_on_one_cpu(void **state)
{
	const struct host_log log = {.cpus = 1,
				     .used_ns = 700 * MS,
				     .length_ns = 1000 * MS,
				     .busy_percent = 97,
				     .stolen_percent = 3};
	struct script *s = two_threads("main [app]", "work [app]");
	uint32_t wait = stack(s, "futex", "work", 3, NULL);
	char text[HOST_LOG_TEXT];
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	block(s, 2, 1, "sync (futex)", wait);
	for (unsigned i = 0; i < 60; i++) {
		block(s, 1, 0, "sync (futex)", wait);
		s->now += MS;
		wake(s, 0, NO_P, 1, 0);
		s->now += 10 * MS;
		start(s, 1, 0);
		s->now += MS;
	}
	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	a = analyse(s, NULL);
	finding = found(a, "neighbour");
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "For 300 ms a thread was ready to run while"));
	assert_non_null(strstr(finding->text, "other processes used it"));
	analysis_free(a);
	script_free(s);
}

/* A thread is ready for 10 ms, 40 times, and for 0.4 ms, so many times, beside other processes. */
static void check_ready(unsigned shorts, const char *said)
{
	const struct host_log log = {
		.cpus = 2, .used_ns = 200 * MS, .length_ns = 1000 * MS, .busy_percent = 97};
	struct script *s = two_threads("main [app]", "work [app]");
	uint32_t wait = stack(s, "futex", "work", 3, NULL);
	char text[HOST_LOG_TEXT];
	struct analysis *a;

	block(s, 2, 1, "sync (futex)", wait);
	for (unsigned i = 0; i < 40 + shorts; i++) {
		block(s, 1, 0, "sync (futex)", wait);
		wake(s, 0, NO_P, 1, 0);
		s->now += i < 40 ? 10 * MS : MS * 4 / 10;
		start(s, 1, 0);
	}
	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	a = analyse(s, NULL);
	assert_non_null(strstr(found(a, "neighbour")->text, said));
	analysis_free(a);
	script_free(s);
}

/* Short waits count where most of the time is in long ones. */
static void test_neighbour_and_short_waits(void **state)
{
	(void)state;
	check_ready(100, "For 440 ms a thread was ready to run while");
	check_ready(400, "For 401 ms, in waits of 0.5 ms or more, a thread was ready"); /* by a histogram */
}

/* Thread 5000 starts another one every 10 ms, and waits until that has begun. */
static void check_started(const char *wait_call, const char *post_call, int level)
{
	struct script *s = two_threads("main [app]", "work [app]");
	uint32_t wait = stack(s, wait_call, "acquire", 3, NULL),
		 post = stack(s, post_call, "release", 4, NULL);

	for (unsigned i = 0; i < 50; i++) {
		block(s, 1, 0, "sync (futex)", wait);
		s->now += 10 * MS;
		wake(s, 2, 1, 1, post);
		start(s, 1, 0);
	}
	assert_int_equal(script_level(s, "lock-long"), level);
}

/* Two threads take turns to wait with a lock, 10 ms each time, in the call. */
static int level_of_lock_across(const char *call)
{
	struct script *s = two_threads("work [app]", "work [app]");
	uint32_t take = stack(s, "pthread_mutex_lock", "serve", 3, "work [app]"),
		 wait = stack(s, call, "serve", 4, "work [app]"),
		 give = stack(s, "pthread_mutex_unlock", "serve", 5, "work [app]");

	for (uint32_t i = 0; i < 80; i++) {
		uint32_t has = 1 + i % 2, wants = 3 - has;

		block(s, wants, (int32_t)wants - 1, "sync (mutex)", take);
		block(s, has, (int32_t)has - 1, "network", wait);
		s->now += 10 * MS;
		wake(s, 0, NO_P, has, 0);
		start(s, has, (int32_t)has - 1);
		wake(s, has, (int32_t)has - 1, wants, give);
		start(s, wants, (int32_t)wants - 1);
	}
	return script_level(s, "lock-io");
}

/* Who waits with the lock for the next event has its turn; who waits for an answer delays the other. */
static void test_lock_across_epoll(void **state)
{
	(void)state;
	assert_int_equal(level_of_lock_across("epoll_wait"), LEVEL_INFO);
	assert_int_equal(level_of_lock_across("recv"), LEVEL_HIGH);
}

/* Python's lock is a condition and its mutex. Who waits for the mutex waits for the lock. */
static void test_mutex_of_gil(void **state)
{
	struct script *s = two_threads("main [app]", "work [app]");
	uint32_t wait = stack(s, "pthread_mutex_lock", "PyEval_RestoreThread", 3, "work [app]"),
		 give = stack(s, "pthread_mutex_unlock", "PyEval_RestoreThread", 5, "main [app]");
	struct analysis *a;

	(void)state;
	for (unsigned i = 0; i < 80; i++) {
		block(s, 2, 1, "sync (mutex)", wait);
		s->now += 5 * MS;
		wake(s, 1, 0, 2, give);
		start(s, 2, 1);
		s->now += MS;
	}
	a = analyse(s, NULL);
	assert_in_range(a->total_spent[ACT_GIL], 400 * MS, 401 * MS);
	for (unsigned i = 0; i < a->nfindings; i++)
		assert_null(strstr(a->findings[i].id, "lock-"));
	analysis_free(a);
	script_free(s);
}

/* Two threads take two locks in different orders: the waits of one end because time is up. */
static void test_lock_timeout(void **state)
{
	struct script *s = two_threads("main [app]", "work [app]");
	uint32_t wait = stack(s, "pthread_mutex_clocklock", "transfer", 3, "work [app]"),
		 give = stack(s, "pthread_mutex_unlock", "transfer", 5, "main [app]"),
		 timer = stack(s, "[interrupt: timer]", NULL, 1, NULL);
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		block(s, 2, 1, "sync (mutex)", wait);
		s->now += i < 5 ? 100 * MS : 10 * MS;
		if (i < 5)
			wake(s, 0, NO_P, 2, timer);
		else
			wake(s, 1, 0, 2, give);
		start(s, 2, 1);
		s->now += MS;
	}
	a = analyse(s, NULL);
	finding = found(a, "lock-timeout");
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_HIGH);
	assert_non_null(strstr(finding->text, "5 of 8 waits for a lock in transfer"));
	assert_non_null(strstr(finding->text, "after 100 ms each (mean): 500 ms in all"));
	assert_null(found(a, "lock-long"));
	assert_null(found(a, "lock-convoy"));
	analysis_free(a);
	script_free(s);
}

static void test_semaphores(void **state)
{
	(void)state;
	check_started("__new_sem_wait_slow64", "sem_post", -1);
	check_started("pthread_mutex_lock", "pthread_mutex_unlock", LEVEL_HIGH);
	/* It may be a lock, or a virtual machine that stops its threads. */
	check_started("LinuxWaitBarrier::wait", "LinuxWaitBarrier::disarm", LEVEL_INFO);
	/* The callers are not known, but what ends the wait is. */
	check_started("__futex_abstimed_wait_common", "pthread_cond_signal", -1);
}

/* Two threads share one licence for 6 ms each, by a semaphore. Who posts it takes it again, every other time.
 */
static struct analysis *passing(struct script *s, const char *place)
{
	uint32_t wait = stack(s, "sem_wait", place, 3, "work [app]"),
		 post = stack(s, "sem_post", place, 5, "work [app]");

	for (unsigned i = 0; i < 90; i++) {
		uint32_t holder = 1 + i / 3 % 2, waiter = 3 - holder;

		block(s, waiter, (int32_t)waiter - 1, "sync (semaphore)", wait);
		s->now += 6 * MS;
		wake(s, holder, (int32_t)holder - 1, waiter, post);
		start(s, waiter, (int32_t)waiter - 1);
	}
	return analyse(s, NULL);
}

static void test_pool_of_semaphore(void **state)
{
	struct script *s = two_threads("work [app]", "work [app]"),
		      *python = two_threads("work [app]", "work [app]");
	struct analysis *a = passing(s, "convert");
	const struct finding *finding = found(a, "pool-small");

	(void)state;
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "convert (:3) waited"));
	assert_non_null(strstr(finding->text, "for a pool of one"));
	analysis_free(a);
	/* Each lock of a Python program is one of these, also that of a queue with no work. */
	a = passing(python, "PyThread_acquire_lock_timed");
	assert_null(found(a, "pool-small"));
	analysis_free(a);
	script_free(s);
	script_free(python);
}

/* A thread connects to another address each time: for the report it is one call at one place. */
static void test_calls_of_descriptors(void **state)
{
	struct script *s = two_threads("main [app]", "work [app]");
	const struct finding *finding;
	struct analysis *a;
	char *text;

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		char call_of[32];
		uint32_t id;

		snprintf(call_of, sizeof(call_of), "connect(%u: socket)", i % 6);
		id = i < 6 ? stack(s, call_of, "ask", 3, "main [app]") : i % 6 + 3;
		s->frames[id][0].file = s->frames[id][0].func;
		s->now += 5 * MS;
		call(s, 1, 0, 20000, id);
	}
	a = analyse(s, NULL);
	finding = found(a, "conn-churn");
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "60 of 60 times in ask (:3) in connect"));
	text = report_of(a);
	assert_int_equal(times(text, "ask:3 in connect"), 1);
	free(text);
	analysis_free(a);
	script_free(s);
}

/* What a thread waits for in wait4 has a name, and is a place where time goes. */
static void test_child_process(void **state)
{
	struct script *s = two_threads("main [app]", "work [app]");
	uint32_t wait = stack(s, "wait4", "run_hook", 3, "main [app]");
	struct analysis *a;
	char *text;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		block(s, 1, 0, "wait4", wait);
		s->now += 20 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
	}
	a = analyse(s, NULL);
	text = report_of(a);
	assert_non_null(strstr(text, "  400 ms  child process run_hook (:3)"));
	free(text);
	analysis_free(a);
	script_free(s);
}

/* A thread waits four times 100 ms to write, until another one calls `unlock`: the last of the readers, or
 * not. */
static void check_writer(const char *unlock, bool starved)
{
	struct script *s = two_threads("main [app]", "work [app]");
	uint32_t wait = stack(s, "pthread_rwlock_wrlock", "assign", 3, "main [app]");
	uint32_t release = stack(s, unlock, "look", 8, "work [app]");
	const struct finding *finding;
	struct analysis *a;

	for (unsigned i = 0; i < 4; i++) {
		block(s, 1, 0, "sync (rwlock)", wait);
		s->now += 100 * MS;
		wake(s, 2, 1, 1, release);
		start(s, 1, 0);
	}
	a = analyse(s, NULL);
	finding = found(a, "rw-writer");
	assert_true((finding != NULL) == starved);
	if (starved) {
		assert_non_null(strstr(finding->text, "assign"));
		assert_non_null(strstr(finding->text, "readers come and go, as in look"));
		assert_int_equal(finding->n, 4);
	}
	analysis_free(a);
	script_free(s);
}

static void test_starved_writer(void **state)
{
	(void)state;
	check_writer("__pthread_rwlock_rdunlock", true);
	check_writer("std::shared_lock<std::shared_mutex>::~shared_lock()", true);
	check_writer("pthread_rwlock_unlock", false);
}

/* A loop asks a server in `call` for each event, which takes 9 of 10 ms. It waits for events, or only looks.
 */
static void check_loop(const char *takes_by, bool waits, const char *by, bool serial)
{
	struct script *s = two_threads("main [app]", "work [app]");
	uint32_t take = stack(s, takes_by, "next_event", 3, "main [app]");
	uint32_t ask = stack(s, by, "ask", 5, "main [app]");
	uint32_t answer = stack(s, "sendto", "answer", 6, "main [app]");
	struct analysis *a;

	s->frames[take][0].file = s->frames[take][0].func;
	s->frames[ask][0].file = s->frames[ask][0].func;
	for (unsigned i = 0; i < 80; i++) {
		call(s, 1, 0, 2000, answer);
		call(s, 1, 0, 10000, take);
		if (waits) {
			block(s, 1, 0, "network", take);
			s->now += MS / 2;
			wake(s, 0, NO_P, 1, 0);
			start(s, 1, 0);
		}
		call(s, 1, 0, 10000, ask);
		block(s, 1, 0, "network", ask);
		s->now += 9 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
	}
	a = analyse(s, NULL);
	assert_true((found(a, "serial-loop") != NULL) == serial);
	analysis_free(a);
	script_free(s);
}

/* What a loop of epoll polls for is an answer, not the next event. */
static void test_loop_that_polls(void **state)
{
	(void)state;
	check_loop("epoll_wait", true, "poll", true);
	check_loop("epoll_wait", true, "epoll_wait", false);
	check_loop("select", true, "read", true);
	check_loop("select", false, "read", false);
}

/*
 * Four workers wait for a thread that is busy and gives out work. It waits for them inside
 * pthread_cond_signal only, so it is not known that they have asked it for something.
 */
static void test_signaller_is_no_asker(void **state)
{
	struct script *s = two_threads("main [app]", "work [app]");
	uint32_t wait = stack(s, "pthread_cond_wait", "work", 3, NULL);
	uint32_t signal = stack(s, "pthread_cond_signal", "post", 4, NULL);
	struct analysis *a;

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		block(s, 2, 1, "sync (condition)", wait);
		s->now += 10 * MS;
		wake(s, 1, 0, 2, signal);
		block(s, 1, 0, "sync (condition)", signal);
		start(s, 2, 1);
		s->now += MS;
		wake(s, 2, 1, 1, wait);
		start(s, 1, 0);
	}
	a = analyse(s, NULL);
	for (size_t i = 1; i < a->nrows; i++) {
		if (a->rows[i].activity == ACT_COND)
			assert_int_equal(row_is_for_answers(a, &a->rows[i]), ANSWERS_UNLIKELY);
	}
	analysis_free(a);
	script_free(s);
}

/*
 * Three threads wait for a busy one. It ends their waits in turn, and waits for 10 ms: for the end of the
 * work that it gave to one, while the two others have none; of what it gave to all; or for a question of one,
 * which it then answers first. SOON: it does that, too, but has only waited for 1 ms.
 */
enum waits_for { END_OF_ONE, END_OF_ALL, QUESTION, SOON };

static void check_work(enum waits_for kind)
{
	enum { MAIN = 4 };
	struct script *s = script_new(1500 * MS);
	uint32_t wait = stack(s, "pthread_cond_wait", "take", 3, NULL);
	uint32_t join = stack(s, "pthread_cond_wait", "join", 4, NULL);
	uint32_t wake_up = stack(s, "pthread_cond_signal", "post", 5, NULL);
	struct analysis *a;

	procs(s, 4);
	for (uint32_t g = 1; g <= MAIN; g++) {
		s->goids[g] = 4999 + g;
		create(s, g, stack(s, g == MAIN ? "main [app]" : "work [app]", NULL, 1, NULL));
		start(s, g, (int32_t)g - 1);
		if (g != MAIN)
			block(s, g, (int32_t)g - 1, "sync (condition)", wait);
	}
	for (unsigned i = 0; i < 60; i++) {
		uint32_t g = kind >= QUESTION ? MAIN - 1 - i % 3 : 1 + i % 3;
		uint32_t first = kind == END_OF_ONE ? g : 1, last = kind == END_OF_ONE ? g : MAIN - 1;

		s->now += 20 * MS;
		wake(s, MAIN, MAIN - 1, g, wake_up);
		start(s, g, (int32_t)g - 1);
		if (kind != END_OF_ONE && i % 3 < 2)
			continue;
		block(s, MAIN, MAIN - 1, "sync (condition)", join);
		s->now += kind == SOON ? MS : 10 * MS;
		wake(s, last, (int32_t)last - 1, MAIN, wake_up);
		start(s, MAIN, MAIN - 1);
		for (uint32_t one = first; one <= last; one++)
			block(s, one, (int32_t)one - 1, "sync (condition)", wait);
	}
	s->end = s->now > s->end ? s->now : s->end;
	a = analyse(s, NULL);
	assert_true((found(a, "busy-owner") != NULL) == (kind == QUESTION));
	analysis_free(a);
	script_free(s);
}

static void test_work_is_no_answer(void **state)
{
	(void)state;
	check_work(END_OF_ONE);
	check_work(END_OF_ALL);
	check_work(QUESTION);
	check_work(SOON);
}

/* Four threads meet at a barrier every 5 ms. The last one is the fourth, or another one each time. */
static void check_barrier(bool lopsided)
{
	enum { THREADS = 4 };
	struct script *s = script_new(1500 * MS);
	uint32_t wait = stack(s, "pthread_barrier_wait", "simulate", 3, NULL);
	const struct finding *finding;
	struct analysis *a;

	procs(s, THREADS);
	for (uint32_t g = 1; g <= THREADS; g++) {
		s->goids[g] = 4999 + g;
		create(s, g, stack(s, "simulate [app]", NULL, 1, NULL));
		start(s, g, (int32_t)g - 1);
	}
	for (uint32_t i = 0; i < 60; i++) {
		uint32_t last = lopsided ? THREADS : 1 + i % THREADS;

		for (uint32_t g = 1; g <= THREADS; g++) {
			if (g != last)
				block(s, g, (int32_t)g - 1, "sync (barrier)", wait);
		}
		s->now += 5 * MS;
		for (uint32_t g = 1; g <= THREADS; g++) {
			if (g == last)
				continue;
			wake(s, last, (int32_t)last - 1, g, wait);
			start(s, g, (int32_t)g - 1);
		}
	}
	a = analyse(s, NULL);
	finding = found(a, "straggler");
	assert_true((finding != NULL) == lopsided);
	assert_true(!finding || strstr(finding->text, "100 % of it for thread 5003: mostly run"));
	analysis_free(a);
	script_free(s);
}

static void test_barrier(void **state)
{
	(void)state;
	check_barrier(true);
	check_barrier(false);
}

/* A quota that is used up is said in words of threads: they have no GOMAXPROCS, however many CPUs there are.
 */
static void test_quota(void **state)
{
	const struct host_log log = {8, 400000, 100000, 9, 800 * MS, 900 * MS, 990 * MS, 50, 0, 0};
	struct script *s = two_threads("main [app]", "work [app]");
	struct analysis *a;
	char text[HOST_LOG_TEXT];

	(void)state;
	add(s, OP_PROCS_CHANGE, 0, NO_P)->arg = 8;
	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	a = analyse(s, NULL);
	assert_non_null(found(a, "throttled"));
	assert_null(found(a, "procs-high"));
	for (unsigned i = 0; i < a->nfindings; i++)
		assert_null(strstr(a->findings[i].text, "GOMAXPROCS"));
	analysis_free(a);
	script_free(s);
}

/* Throttled time is a sum over CPUs: 32 of them lost 10 ms each in a second, and were used for the rest. */
static void test_quota_of_many_cpus(void **state)
{
	const struct host_log log = {32, 3190000, 100000, 9, 320 * MS, 31680 * MS, 990 * MS, 50, 0, 0};
	struct script *s = two_threads("main [app]", "work [app]");
	struct analysis *a;
	char text[HOST_LOG_TEXT];

	(void)state;
	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	a = analyse(s, NULL);
	assert_null(found(a, "throttled"));
	analysis_free(a);
	script_free(s);
}

/* What a live process says of ten seconds is said of the one that was watched. */
static void test_quota_of_live_process(void **state)
{
	const struct host_log log = {.cpus = 2, .length_ns = 10000 * MS};
	const struct analysis_options options = {.name = "t",
						 .host = {.known = true,
							  .cpus = 2,
							  .quota_cpus = 1,
							  .quota_period = 100 * MS,
							  .throttled = 90,
							  .throttled_ns = 5000 * MS,
							  .cpu_ns = 9000 * MS}};
	struct script *s = two_threads("main [app]", "work [app]");
	const struct finding *finding;
	struct analysis *a;
	char text[HOST_LOG_TEXT];

	(void)state;
	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	a = analysis_new(&options);
	assert_non_null(a);
	pass_on(a, s, 0, true);
	assert_int_equal(analysis_end(a), 0);
	finding = found(a, "throttled");
	assert_non_null(finding);
	assert_in_range(finding->total_ns, 499 * MS, 501 * MS);
	analysis_free(a);
	script_free(s);
}

/* Pinned to one of two CPUs, it needs both. On a busy machine, others may need them, too. */
static int level_when_pinned(uint32_t busy_percent)
{
	const struct host_log log = {.cpus = 1,
				     .used_ns = 980 * MS,
				     .length_ns = 1000 * MS,
				     .busy_percent = busy_percent,
				     .waited_ns = 800 * MS};
	struct script *s = two_threads("main [app]", "work [app]");
	const struct finding *finding;
	struct analysis *a;
	char text[HOST_LOG_TEXT];
	int level;

	add(s, OP_PROCS_CHANGE, 0, NO_P)->arg = 2;
	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	a = analyse(s, NULL);
	finding = found(a, "affinity");
	level = finding ? (int)finding->level : -1;
	if (finding)
		assert_non_null(strstr(finding->text, "may use 1 of 2 CPUs, and used them for 98 % of the"));
	analysis_free(a);
	script_free(s);
	return level;
}

static void test_affinity(void **state)
{
	(void)state;
	assert_int_equal(level_when_pinned(50), LEVEL_MEDIUM);
	assert_int_equal(level_when_pinned(96), -1);
}

/* What was looked at says that the process was stopped, and still is. */
static void test_stopped(void **state)
{
	struct script *s = two_threads("main [app]", "work [app]");
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	add_log(s, 999 * MS, "stopped 300000 us, still");
	a = analyse(s, NULL);
	finding = found(a, "stopped");
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_HIGH);
	assert_non_null(strstr(finding->text, "for at least 300 ms, and still is"));
	assert_non_null(strstr(finding->next, "kill -CONT"));
	analysis_free(a);
	script_free(s);
}

/* A team of OpenMP: the thread that has begun it waits or works like the others, whose functions have no
 * names. */
static void test_team(void **state)
{
	struct script *s = two_threads("main [app]", "libgomp.so.1.0.0+0x1cc40 [app]");
	uint32_t wait = stack(s, "futex", "libgomp.so.1.0.0+0x1f780", 0, "libgomp.so.1.0.0+0x1cc40 [app]");
	uint32_t post = stack(s, "futex", "libgomp.so.1.0.0+0x1f780", 0, "main [app]");
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		at(s, i * 20 * MS + MS);
		block(s, 2, 1, "sync (futex)", wait);
		at(s, i * 20 * MS + 18 * MS);
		wake(s, 1, 0, 2, post);
		start(s, 2, 1);
	}
	a = analyse(s, NULL);
	finding = found(a, "straggler");
	assert_non_null(finding);
	if (!strstr(finding->text,
		    "OpenMP's threads waited 680 ms for each other, 100 % of it for thread 5000"))
		fail_msg("%s", finding->text);
	analysis_free(a);
	script_free(s);
}

static void check_primitive(const char *leaf, const char *own, enum primitive primitive)
{
	struct script *s = two_threads("main [app]", "work [app]");
	uint32_t wait = stack(s, "futex", leaf, 3, own);
	struct analysis *a;

	block(s, 1, 0, "sync (futex)", wait);
	a = analyse(s, NULL);
	if (a->stacks[wait].primitive != primitive)
		fail_msg("%s in %s: %d", leaf, own, a->stacks[wait].primitive);
	analysis_free(a);
	script_free(s);
}

static void test_primitives(void **state)
{
	(void)state;
	check_primitive("libgomp.so.1.0.0+0x1f780", "GOMP_parallel", PRIM_TEAM);
	check_primitive("libgomp.so.1.0.0+0x1ef10", "main._omp_fn.0",
			PRIM_NONE); /* perhaps a critical section */
	check_primitive("libgomp.so.1.0.0+0x1ef10", "GOMP_critical_start", PRIM_LOCK);
	check_primitive("libgomp.so.1.0.0+0x1f070", "omp_unset_lock", PRIM_UNLOCK);
	check_primitive("pthread_cond_timedwait", "PyEval_RestoreThread", PRIM_GIL);
	check_primitive("pthread_cond_timedwait", "take_gil", PRIM_GIL);
	check_primitive("pthread_cond_wait", "rb_threadptr_execute_interrupts", PRIM_GIL);
	check_primitive("pthread_cond_wait", "rb_native_cond_wait", PRIM_COND);
	check_primitive("pthread_cond_timedwait", "PyThread_acquire_lock_timed", PRIM_COND);
	check_primitive("pthread_cond_timedwait", "libfast.so.1+0x4f92c0", PRIM_COND);
	check_primitive("gomp_team_barrier_wait_end", "work", PRIM_TEAM);
	check_primitive("std::barrier<std::__empty_completion>::arrive_and_wait()", "operator()",
			PRIM_BARRIER);
}

/* Locks that libraries make of conditions, and those with an inline namespace. */
static void test_library_locks(void **state)
{
	(void)state;
	check_primitive("g_mutex_lock", "work", PRIM_LOCK);
	check_primitive("g_cond_wait", "work", PRIM_COND);
	check_primitive("QBasicMutex::lockInternal()", "work", PRIM_LOCK);
	check_primitive("absl::lts_20220623::Mutex::LockSlow(absl::MuHow)", "work", PRIM_LOCK);
	check_primitive("absl::debian3::Mutex::UnlockSlow(absl::SynchWaitParams*)", "work", PRIM_UNLOCK);
	check_primitive("pthread_cond_wait", "boost::shared_mutex::lock_shared()", PRIM_READ_LOCK);
	check_primitive("pthread_cond_broadcast", "boost::shared_mutex::unlock()", PRIM_UNLOCK);
	check_primitive("pthread_cond_wait", "QReadWriteLock::lockForWrite()", PRIM_LOCK);
	check_primitive("pthread_cond_wait", "libomp.so.5+0x7bdb0", PRIM_TEAM);
	check_primitive("pthread_cond_wait", "serve", PRIM_COND);
}

/* A reader of boost::shared_mutex waits for a condition by its reason, and for a lock by its functions. */
static void test_lock_of_conditions(void **state)
{
	struct script *s = two_threads("main [app]", "work [app]");
	uint32_t wait = stack(s, "pthread_cond_wait", "boost::shared_mutex::lock()", 3, "work [app]");
	uint32_t other = stack(s, "pthread_cond_wait", "take", 3, "main [app]");
	struct analysis *a;

	(void)state;
	block(s, 1, 0, "sync (condition)", other);
	block(s, 2, 1, "sync (condition)", wait);
	a = analyse(s, NULL);
	assert_int_equal(a->gs[1].activity, ACT_COND);
	assert_int_equal(a->gs[2].activity, ACT_LOCK);
	analysis_free(a);
	script_free(s);
}

/* Two threads hand on a futex that no function names here. Each nth wait has this reason. */
static struct analysis *handed_on_by_value(unsigned nth, const char *reason)
{
	struct script *s = two_threads("work [app]", "work [app]");
	uint32_t wait = stack(s, "futex", "libx.so.1+0x10", 0, "work [app]");
	uint32_t pause = stack(s, "clock_nanosleep", "work [app]", 3, NULL);
	struct analysis *a;

	for (uint32_t i = 0; i < 40; i++) {
		at(s, i * 20 * MS + MS);
		block(s, 2, 1, i % nth ? "sync (futex)" : reason, wait);
		block(s, 1, 0, "sleep", pause);
		at(s, i * 20 * MS + 18 * MS);
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		wake(s, 1, 0, 2, wait);
		start(s, 2, 1);
	}
	a = analyse(s, NULL);
	script_free(s);
	return a;
}

/* A condition that counts has the value of a lock now and then. */
static void test_futex_values(void **state)
{
	static const struct {
		unsigned nth;
		const char *reason; /* that of parking_lot's is by functions further down (code/elf/rust.c) */
		bool lock;
	} cases[] = {{1, "sync (mutex)", true},
		     {1, "sync (rwlock)", true},
		     {2, "sync (mutex)", false},
		     {41, "sync (mutex)", false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analysis *a = handed_on_by_value(cases[i].nth, cases[i].reason);
		const struct finding *finding = found(a, "lock-io");

		assert_non_null(finding);
		assert_int_equal(finding->level > LEVEL_INFO, cases[i].lock);
		analysis_free(a);
	}
}

/* Threads of LLVM's OpenMP yield until the last one is done, which is no loop of the program's. */
static void test_team_yields(void **state)
{
	struct script *s = two_threads("main [app]", "libomp.so.5+0xaf6e0 [app]");
	uint32_t yield = stack(s, "sched_yield", "libomp.so.5+0x7bdb0", 0, "libomp.so.5+0xaf6e0 [app]");
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	for (uint32_t i = 0; i < 8000; i++) {
		s->now += 1500;
		call(s, 2, 1, 1000, yield);
	}
	block(s, 2, 1, "sync (futex)", yield);
	a = analyse(s, NULL);
	finding = found(a, "yield-spin");
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "Threads of OpenMP yield"));
	assert_non_null(strstr(finding->next, "schedule(dynamic)"));
	analysis_free(a);
	script_free(s);
}

/* Loops of one place that is reached in two ways are one finding, whose threads have that time once. */
static void test_collector_yields(void **state)
{
	static const char *const ways[2][4] = {
		{"sched_yield", "scavenge_until_all_done", "gcWorkerThread", "worker [app]"},
		{"sched_yield", "scavenge_until_all_done", "GarbageCollect", "worker [app]"}};
	struct script *s = two_threads("main [app]", "worker [app]");
	uint32_t yields[] = {stack_of(s, ways[0], 4, 0), stack_of(s, ways[1], 4, 0)};
	const struct finding *finding;
	struct analysis *a;
	unsigned n = 0;

	(void)state;
	for (uint32_t i = 0; i < 16000; i++) {
		s->now += 1500;
		call(s, 2, 1, 1000, yields[i % 2]);
	}
	block(s, 2, 1, "sync (futex)", yields[0]);
	a = analyse(s, NULL);
	finding = found(a, "yield-spin");
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "Threads of GHC's collector yield"));
	assert_in_range(finding->total_ns, 30 * MS, 50 * MS);
	for (unsigned i = 0; i < a->nfindings; i++)
		n += strcmp(a->findings[i].id, "yield-spin") == 0;
	assert_int_equal(n, 1);
	analysis_free(a);
	script_free(s);
}

/* A channel of Rust yields four times before it waits; a loop yields until there is something. */
static void check_yields(uint32_t before_wait, bool spins)
{
	struct script *s = two_threads("main [app]", "worker [app]");
	uint32_t yield = stack(s, "sched_yield", "next", 4, "worker [app]");
	struct analysis *a;

	for (uint32_t i = 1; i <= 8000; i++) {
		s->now += 1500;
		call(s, 2, 1, 1000, yield);
		if (i % before_wait)
			continue;
		block(s, 2, 1, "sync (futex)", yield);
		wake(s, 1, 0, 2, yield);
		start(s, 2, 1);
	}
	block(s, 2, 1, "sync (futex)", yield);
	a = analyse(s, NULL);
	assert_true((found(a, "yield-spin") != NULL) == spins);
	analysis_free(a);
	script_free(s);
}

static void test_yields_before_wait(void **state)
{
	(void)state;
	check_yields(4, false);
	check_yields(100, true);
}

/* A stack of code that was made at run time, which has neither name nor file, through libjvm.so. */
static uint32_t java_stack(struct script *s, const char *wait, const char *inner, const char *outer,
			   const char *made)
{
	const char *const frames[] = {wait, inner, outer, made};
	uint32_t id = stack_of(s, frames, 4, 0);

	for (uint32_t i = 0; i + 1 < s->stacks[id].n; i++)
		s->frames[id][i].file = str(s, i ? "libjvm.so" : "libc.so.6");
	return id;
}

/*
 * Two Java threads take turns to hold a monitor across a sleep. The trace does not say which monitor.
 */
static void test_java(void **state)
{
	struct script *s = two_threads("worker-1", "worker-2");
	uint32_t enter = java_stack(s, "pthread_cond_wait", "os::PlatformEvent::park()",
				    "ObjectMonitor::EnterI(JavaThread*)", "0x7f281ca2f4e5");
	uint32_t leave =
		java_stack(s, "pthread_cond_signal", "ObjectMonitor::ExitEpilog(JavaThread*, ObjectWaiter*)",
			   NULL, "0x7f281ca2f4e6");
	uint32_t nap = java_stack(s, "pthread_cond_timedwait", "os::PlatformEvent::park(long)",
				  "JavaThread::sleep(long)", "0x7f281ca2f4e7");
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		uint32_t holder = 1 + i % 2, waiter = 3 - holder;

		block(s, holder, (int32_t)holder - 1, "sync (condition)", nap);
		block(s, waiter, (int32_t)waiter - 1, "sync (condition)", enter);
		s->now += 20 * MS;
		wake(s, 0, NO_P, holder, 0);
		start(s, holder, (int32_t)holder - 1);
		wake(s, holder, (int32_t)holder - 1, waiter, leave);
		start(s, waiter, (int32_t)waiter - 1);
	}
	a = analyse(s, NULL);
	finding = found(a, "lock-io");
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "unnamed code"));
	assert_non_null(strstr(finding->text, "which seems to hold the lock across a sleep"));
	assert_null(found(a, "timer-bound"));
	analysis_free(a);
	script_free(s);
}

/* A thread waits for a condition that another one signals 200 times within 1 ms, and 25 times does not. */
static const struct finding *lost_signals(uint64_t timeout, const char *ends, const char *by,
					  struct analysis **made)
{
	struct script *s = two_threads("take [svc]", by);
	uint32_t wait = stack(s, "pthread_cond_timedwait", "queue_take", 3, "take [svc]");
	uint32_t signal = stack(s, "pthread_cond_signal", "queue_put", 4, "put [svc]");
	uint32_t other = stack(s, ends, NULL, 0, NULL);

	for (unsigned i = 0; i < 225; i++) {
		block(s, 1, 0, "sync (condition)", wait);
		s->now += i % 9 ? MS : timeout;
		wake(s, i % 9 ? 2 : 0, i % 9 ? 1 : NO_P, 1, i % 9 ? signal : other);
		start(s, 1, 0);
	}
	*made = analyse(s, NULL);
	script_free(s);
	return found(*made, "timer-bound");
}

static void test_lost_signals(void **state)
{
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	finding = lost_signals(50 * MS, "[interrupt: timer]", "put [svc]", &a);
	assert_non_null(finding);
	if (!strstr(finding->text,
		    "A timer, and nothing in the program, ended 25 of 225 waits, after 50.0 ms each"))
		fail_msg("%s", finding->text);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_int_equal(finding->nevidence, 1);
	analysis_free(a);
	finding = lost_signals(50 * MS, "[interrupt: timer]", "take [svc]", &a);
	assert_non_null(finding);
	assert_string_equal(finding->evidence[1],
			    "the other waits were ended by threads of the same function, take [svc]");
	analysis_free(a);
	assert_null(lost_signals(5 * MS, "[interrupt: timer]", "put [svc]", &a));
	analysis_free(a);
	assert_null(lost_signals(50 * MS, "[outside] client (77)", "put [svc]", &a));
	analysis_free(a);
}

/*
 * A thread serves 20 connections. Each third answer is written in two parts; then the next request comes this
 * much later than the 8 ms that it takes otherwise.
 */
static const struct finding *answers_in_two(uint64_t later, bool by_tcp, struct analysis **made)
{
	struct script *s = two_threads("serve [svc]", "work [svc]");
	uint32_t poll = stack(s, "epoll_wait(5)", "loop", 3, "serve [svc]"), from[20], to[20], more[20];

	s->frames[poll][0].file = s->frames[poll][0].func;
	for (unsigned i = 0; i < 20; i++) {
		static char names[20][2][48];
		const char *peer = by_tcp ? "10.0.0.1:40" : "/run/svc.sock ";

		snprintf(names[i][0], sizeof(names[i][0]), "recvfrom(%u: %s%02u)", i + 7, peer, i);
		snprintf(names[i][1], sizeof(names[i][1]), "sendto(%u: %s%02u)", i + 7, peer, i);
		from[i] = stack(s, names[i][0], "receive", 4, "serve [svc]");
		to[i] = stack(s, names[i][1], "reply", 5, "serve [svc]");
		more[i] = stack(s, names[i][1], "reply", 6, "serve [svc]");
		s->frames[from[i]][0].file = s->frames[from[i]][0].func;
		s->frames[to[i]][0].file = s->frames[to[i]][0].func;
		s->frames[more[i]][0].file = s->frames[more[i]][0].func;
	}
	for (unsigned turn = 0; turn < 60; turn++) {
		for (unsigned i = 0; i < 20; i++) {
			call(s, 1, 0, 2000, from[i]);
			call(s, 1, 0, 2000, to[i]);
			if (turn % 3 == 2)
				call(s, 1, 0, 2000, more[i]);
			call(s, 1, 0, 2000, from[i]); /* nothing more */
			call(s, 1, 0, 2000, poll);
		}
		s->now += 8 * MS + (turn % 3 == 2 ? later : 0);
	}
	*made = analyse(s, NULL);
	script_free(s);
	return found(*made, "delayed-ack");
}

static void test_answers_in_two(void **state)
{
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	finding = answers_in_two(42 * MS, true, &a);
	assert_non_null(finding);
	if (!strstr(finding->text, "After 380 of 380 the next request of the connection comes 42.0 ms"))
		fail_msg("%s", finding->text);
	assert_memory_equal(finding->text, "reply", 5);
	assert_int_equal(finding->level, LEVEL_INFO);
	analysis_free(a);
	assert_null(answers_in_two(20 * MS, true, &a));
	analysis_free(a);
	assert_null(answers_in_two(80 * MS, true, &a));
	analysis_free(a);
	assert_null(answers_in_two(42 * MS, false, &a));
	analysis_free(a);
}

/* A thread waits for events, and sleeps now and then in a function that no event loop is on the stack of. */
static const struct finding *loop_of_interpreter(uint64_t ns, uint64_t each, struct analysis **made)
{
	struct script *s = two_threads("Py_BytesMain [python3]", "work [python3]");
	uint32_t poll = stack(s, "epoll_wait(5)", "select_epoll_poll_impl", 3, "Py_BytesMain [python3]");
	uint32_t nap = stack(s, "clock_nanosleep", "pysleep", 4, "Py_BytesMain [python3]");
	uint32_t answer = stack(s, "sendto(7)", "sock_send_impl", 5, "Py_BytesMain [python3]");

	s->frames[poll][0].file = s->frames[poll][0].func;
	for (unsigned i = 0; i < 100; i++) {
		call(s, 1, 0, each, answer);
		call(s, 1, 0, 2000, poll);
		block(s, 1, 0, i % 10 ? "network" : "sleep", i % 10 ? poll : nap);
		s->now += i % 10 ? 4 * MS : ns;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
	}
	*made = analyse(s, NULL);
	script_free(s);
	return found(*made, "serial-loop");
}

static void test_loop_of_interpreter(void **state)
{
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	finding = loop_of_interpreter(30 * MS, 2000, &a);
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "10 times 30.0 ms (p50), sleep in pysleep"));
	analysis_free(a);
	assert_null(loop_of_interpreter(MS, 2000, &a));
	analysis_free(a);
	/* What it does for each event takes longer in all, but not at a time. */
	finding = loop_of_interpreter(10 * MS, MS, &a);
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "10 times 10.0 ms (p50), sleep in pysleep"));
	analysis_free(a);
}

/* libuv's two threads never wait for work, or wait in every second round, or one of them always waits. */
static const struct finding *uv_pool(bool often_free, bool one_is_free, struct analysis **made)
{
	struct script *s = two_threads("worker [node]", "worker [node]");
	uint32_t loop = stack(s, "epoll_wait(5)", "uv__io_poll", 3, "main [node]");
	uint32_t lookup = stack(s, "poll(7)", "getaddrinfo", 3, "worker [node]");
	uint32_t work = stack(s, "pthread_cond_wait", "uv_cond_wait", 3, "worker [node]");

	s->goids[3] = 5002;
	create(s, 3, stack(s, "main [node]", NULL, 1, NULL));
	for (uint32_t i = 0; i < 50; i++) {
		at(s, i * 20 * MS + MS);
		for (uint32_t g = 1; g <= 2; g++) {
			bool free = (often_free && i % 2) || (one_is_free && g == 2);

			block(s, g, (int32_t)g - 1, free ? "sync (condition)" : "network",
			      free ? work : lookup);
		}
		start(s, 3, 0);
		block(s, 3, 0, "network", loop);
		at(s, i * 20 * MS + 20 * MS);
		wake(s, 0, NO_P, 3, 0);
		for (uint32_t g = 1; g <= 2; g++) {
			wake(s, 0, NO_P, g, 0);
			start(s, g, (int32_t)g - 1);
		}
	}
	*made = analyse(s, NULL);
	script_free(s);
	return found(*made, "pool-small");
}

static void test_uv_pool(void **state)
{
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	finding = uv_pool(false, false, &a);
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "All 2 threads of libuv's pool"));
	assert_string_equal(finding->next, "UV_THREADPOOL_SIZE=8");
	analysis_free(a);
	assert_null(uv_pool(true, false, &a));
	analysis_free(a);
	/* The other one may be in a call that never returns: nothing is queued for it. */
	assert_null(uv_pool(false, true, &a));
	analysis_free(a);
}

/* A thread that waits when the trace begins has no reason, but a call. */
static void test_no_reason(void **state)
{
	struct script *s = script_new(1000 * MS);
	uint32_t wait[] = {stack(s, "epoll_wait(5)", "serve", 3, "main [app]"),
			   stack(s, "pause", "main", 4, "main [app]")};
	struct analysis *a;
	char *text;

	(void)state;
	procs(s, 2);
	for (uint32_t g = 1; g <= 2; g++) {
		struct op *op = add(s, OP_GO_STATUS, g, NO_P);

		s->goids[g] = 4999 + g;
		op->status = G_WAITING;
		op->stack = wait[g - 1];
	}
	a = analyse(s, NULL);
	text = report_of(a);
	assert_non_null(strstr(text, "network    serve:3 in epoll_wait(5)"));
	assert_non_null(strstr(text, "other     "));
	free(text);
	analysis_free(a);
	script_free(s);
}

/* A thread of Python waits for the interpreter's lock, 5 ms each time, until the other one gives it up. */
static struct analysis *waits_for_gil(struct script *s, uint32_t times)
{
	uint32_t take =
		stack(s, "pthread_cond_timedwait", "python3.11+0x4f92c0", 0, "_PyEval_EvalFrameDefault");
	uint32_t drop = stack(s, "pthread_cond_signal", "python3.11+0x634310", 0, "_PyEval_EvalFrameDefault");

	for (uint32_t i = 0; i < times; i++) {
		at(s, i * 9 * MS + MS);
		block(s, 2, 1, "sync (condition)", take);
		s->now += 5 * MS;
		wake(s, i % 2 ? 1 : 0, i % 2 ? 0 : NO_P, 2, i % 2 ? drop : 0);
		start(s, 2, 1);
	}
	return analyse(s, NULL);
}

static void test_gil(void **state)
{
	struct script *s = two_threads("main [python3]", "work [python3]");
	struct script *rare = two_threads("main [python3]", "work [python3]");
	struct analysis *a = waits_for_gil(s, 100);
	const struct finding *finding = found(a, "gil");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_HIGH);
	assert_int_equal(finding->n, 100);
	assert_non_null(strstr(finding->text, "waited 500 ms for the lock of their interpreter"));
	assert_string_equal(finding->evidence[3],
			    "thread 5000 had it for 100 % of that time: main [python3]");
	assert_null(found(a, "timer-bound"));
	analysis_free(a);
	/* 90 ms of a second. */
	a = waits_for_gil(rare, 18);
	finding = found(a, "gil");
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	analysis_free(a);
	script_free(s);
	script_free(rare);
}

/*
 * Four threads of one function wait for a condition, 10 ms each time, until one of two others of that
 * function, which read from a socket meanwhile, ends it. With `idle`, these wait for work half of the time.
 */
static const struct finding *waits_for_two(bool idle, struct analysis **made)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "run [python3]", NULL, 1, NULL);
	uint32_t wait = stack(s, "pthread_cond_wait", "future_result", 3, "run [python3]");
	uint32_t work = stack(s, "pthread_cond_wait", "queue_get", 5, "run [python3]");
	uint32_t post = stack(s, "pthread_cond_signal", "set_result", 4, "run [python3]");
	uint32_t net = stack(s, "recv", "sock_recv", 7, "run [python3]");

	procs(s, 6);
	for (uint32_t g = 1; g <= 6; g++) {
		s->goids[g] = 4999 + g;
		create(s, g, entry);
	}
	for (uint32_t g = 3; g <= 6; g++) {
		start(s, g, (int32_t)g - 1);
		block(s, g, (int32_t)g - 1, "sync (condition)", wait);
	}
	for (uint32_t i = 0; i < 80; i++) {
		uint32_t worker = 1 + i % 2, waiter = 3 + i % 4;
		int32_t on = (int32_t)worker - 1, by = (int32_t)waiter - 1;

		start(s, worker, on);
		wake(s, worker, on, waiter, post);
		start(s, waiter, by);
		block(s, waiter, by, "sync (condition)", wait);
		block(s, worker, on, idle ? "sync (condition)" : "network", idle ? work : net);
		s->now += 10 * MS;
		wake(s, 0, NO_P, worker, 0);
	}
	*made = analyse(s, NULL);
	script_free(s);
	return found(*made, "pool-small");
}

static void test_few_threads(void **state)
{
	struct analysis *a;
	const struct finding *finding = waits_for_two(false, &a);

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "for 2 threads, which are busy more than 85 %"));
	analysis_free(a);
	assert_null(waits_for_two(true, &a));
	analysis_free(a);
}

/* A thread of Tokio reads from a socket, 20 times for 10 ms, in a task that `by` runs. */
static const struct finding *reads_in_task(struct script *s, const char *by, struct analysis **a)
{
	const char *const frames[] = {"recv", "svc::render", "tokio::runtime::task::core::Core<T,S>::poll",
				      by, "main [tokio-rt-worker]"};
	uint32_t wait = stack_of(s, frames, 5, 8);

	for (uint32_t i = 0; i < 20; i++) {
		at(s, i * 40 * MS + MS);
		block(s, 2, 1, "network", wait);
		s->now += 10 * MS;
		wake(s, 0, NO_P, 2, 0);
		start(s, 2, 1);
	}
	*a = analyse(s, NULL);
	return found(*a, "executor-blocked");
}

static void test_executor(void **state)
{
	struct script *s = two_threads("main [svc]", "main [tokio-rt-worker]");
	struct script *apart = two_threads("main [svc]", "main [tokio-rt-worker]");
	struct analysis *a;
	const struct finding *finding =
		reads_in_task(s, "tokio::runtime::scheduler::multi_thread::worker::Context::run_task", &a);

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_HIGH);
	assert_non_null(strstr(finding->text, "for 200 ms, most of all network in svc::render (:8)"));
	analysis_free(a);
	/* A thread of its own pool may block. */
	assert_null(reads_in_task(
		apart, "<tokio::runtime::blocking::task::BlockingTask<T> as core::future::Future>::poll",
		&a));
	analysis_free(a);
	script_free(s);
	script_free(apart);
}

/* Threads that wait for the memory map, in a call or for a page, wait for one lock, which is not the
 * program's.
 */
static void test_mmap_lock(void **state)
{
	struct script *s = two_threads("fill [app]", "drop [app]");
	uint32_t fault = stack(s, "[page fault]", "fill", 4, "fill [app]");
	uint32_t map = stack(s, "mmap", "fill", 3, "fill [app]");
	uint32_t unmap = stack(s, "munmap", "drop", 9, "drop [app]");
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		at(s, i * 20 * MS + MS);
		block(s, 1, 0, "sync (mmap_lock)", i % 2 ? map : fault);
		at(s, i * 20 * MS + 9 * MS);
		wake(s, 2, 1, 1, unmap);
		start(s, 1, 0);
	}
	a = analyse(s, NULL);
	finding = found(a, "mmap-lock");
	assert_non_null(finding);
	assert_int_equal(finding->n, 40);
	if (!strstr(finding->text, "waited 320 ms in fill (") || !strstr(finding->text, "which drop ("))
		fail_msg("%s", finding->text);
	for (unsigned i = 0; i < a->nfindings; i++)
		assert_int_not_equal(strncmp(a->findings[i].id, "lock-", 5), 0);
	analysis_free(a);
	script_free(s);
}

/* Two threads have CPUs for a second each, the program used 1.5 s, and the hypervisor took a part of the
 * CPUs. */
static const struct finding *stolen(struct script *s, struct analysis **a, uint32_t percent)
{
	const struct host_log log = {2, 0, 0, 0, 0, 1500 * MS, 1000 * MS, 30, percent, 0};
	char text[HOST_LOG_TEXT];

	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	*a = analyse(s, NULL);
	return found(*a, "neighbour");
}

static void test_stolen(void **state)
{
	(void)state;
	for (unsigned percent = 0; percent <= 20; percent += 20) {
		struct script *s = two_threads("main [app]", "work [app]");
		const struct finding *finding;
		struct analysis *a;

		finding = stolen(s, &a, percent);
		assert_int_equal(finding != NULL, percent != 0);
		if (finding) {
			assert_non_null(
				strstr(finding->text, "and used them for 1.50 s of it: the hypervisor gave"));
			assert_non_null(strstr(finding->evidence[0], "20 % of their time was stolen"));
		}
		analysis_free(a);
		script_free(s);
	}
}

/* `why` of a thread that waits for one that does not get a CPU. */
static void test_why(void **state)
{
	const struct why_question question = {
		.kind = WHY_GOROUTINE, .goroutine = 5000, .at_ns = UINT64_MAX, .slowest = 1};
	const struct report_style style = {0};
	struct script *s = two_threads("main [app]", "work [app]");
	uint32_t wait = stack(s, "pthread_cond_wait", "main", 3, NULL);
	uint32_t signal = stack(s, "pthread_cond_signal", "work", 4, NULL);
	struct why *why = why_new(&question);
	struct analysis *a;
	struct error err = {""};
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	block(s, 2, 1, "sleep", wait);
	block(s, 1, 0, "sync (condition)", wait);
	wake(s, 0, NO_P, 2, 0);
	at(s, 900 * MS);
	start(s, 2, 1);
	wake(s, 2, 1, 1, signal);
	start(s, 1, 0);
	a = analyse(s, why);
	assert_int_equal(why_choose(why, a, &err), 0);
	analysis_free(a);
	a = analyse(s, why);
	assert_int_equal(why_explain(why, a, &err), 0);
	out = open_memstream(&text, &size);
	why_text(why, a, out, &style);
	fclose(out);
	assert_memory_equal(text, "thread 5000: ", strlen("thread 5000: "));
	assert_non_null(strstr(text, "5001   CPU had to wake, or others used it"));
	assert_non_null(strstr(text, "without runnable in thread 5001"));
	assert_null(strstr(text, "oroutine"));
	assert_null(strstr(text, "P had"));
	assert_null(strstr(text, "g5"));
	free(text);
	analysis_free(a);
	why_free(why);
	script_free(s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_sample_of_an_idle_program),
	cmocka_unit_test(test_pool),
	cmocka_unit_test(test_names),
	cmocka_unit_test(test_nameless_callers),
	cmocka_unit_test(test_calls_left_out),
	cmocka_unit_test(test_neighbour_on_one_cpu),
	cmocka_unit_test(test_neighbour_and_short_waits),
	cmocka_unit_test(test_why),
	cmocka_unit_test(test_barrier),
	cmocka_unit_test(test_quota),
	cmocka_unit_test(test_affinity),
	cmocka_unit_test(test_stopped),
	cmocka_unit_test(test_quota_of_many_cpus),
	cmocka_unit_test(test_quota_of_live_process),
	cmocka_unit_test(test_stolen),
	cmocka_unit_test(test_mmap_lock),
	cmocka_unit_test(test_no_reason),
	cmocka_unit_test(test_gil),
	cmocka_unit_test(test_executor),
	cmocka_unit_test(test_few_threads),
	cmocka_unit_test(test_team),
	cmocka_unit_test(test_primitives),
	cmocka_unit_test(test_library_locks),
	cmocka_unit_test(test_lock_of_conditions),
	cmocka_unit_test(test_futex_values),
	cmocka_unit_test(test_team_yields),
	cmocka_unit_test(test_collector_yields),
	cmocka_unit_test(test_lock_across_epoll),
	cmocka_unit_test(test_yields_before_wait),
	cmocka_unit_test(test_uv_pool),
	cmocka_unit_test(test_java),
	cmocka_unit_test(test_loop_of_interpreter),
	cmocka_unit_test(test_lost_signals),
	cmocka_unit_test(test_answers_in_two),
	cmocka_unit_test(test_work_is_no_answer),
	cmocka_unit_test(test_semaphores),
	cmocka_unit_test(test_lock_timeout),
	cmocka_unit_test(test_mutex_of_gil),
	cmocka_unit_test(test_pool_of_semaphore),
	cmocka_unit_test(test_calls_of_descriptors),
	cmocka_unit_test(test_child_process),
	cmocka_unit_test(test_starved_writer),
	cmocka_unit_test(test_loop_that_polls),
	cmocka_unit_test(test_signaller_is_no_asker),
};

UNIT_TESTS(tests, NULL, NULL);
