/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which findings explain others: a lock here says nothing about a sleep there, and no busy machine makes the
 * disk slow. */
#include "analysis/kinds.h"
#include "trace/ops/own_names.h"

#include "script.h"

#define SERVE "net/http.serverHandler.ServeHTTP"

enum { HOLDER = 1, OTHER, RUNS, WAITER = 10, WAITERS = 4 };

/* What holds the lock while the waiters want it. */
enum held { HELD_FOR_NETWORK, HELD_WITHOUT_CPU };

/* g loses its P, and is ready. */
static void preempt(struct script *s, uint32_t g, int32_t p)
{
	add(s, OP_GO_STOP, g, p)->string = str(s, "preempted");
	add(s, OP_PROC_STOP, 0, p);
}

/*
 * A goroutine holds a lock 25 times for 20 ms, in which it waits for the network or for a CPU. Four requests
 * want the lock meanwhile, and one goroutine runs all the time. If far is set, other requests of another
 * handler sleep meanwhile, and those that want the lock are no requests.
 */
static struct script *held(enum held held, bool far)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.get", NULL, 1, NULL);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.get", 7, far ? "main.main" : SERVE);
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.refresh", 9, "main.main");
	uint32_t handed = stack(s, "sync.(*Mutex).Unlock", "main.get", 8, far ? "main.main" : SERVE);
	uint32_t net = stack(s, "internal/poll.runtime_pollWait", "main.refresh", 5, "main.main");
	uint32_t nap = stack(s, "time.Sleep", "main.loop", 3, "main.main");
	uint32_t backoff = stack(s, "time.Sleep", "main.backoff", 3, SERVE);

	procs(s, 2);
	create(s, HOLDER, entry);
	create(s, OTHER, entry);
	create(s, RUNS, stack(s, "main.compute", NULL, 1, NULL));
	start(s, RUNS, 1);
	for (uint32_t g = WAITER; g < WAITER + WAITERS; g++)
		create(s, g, entry);
	for (uint64_t i = 0; i < 25; i++) {
		at(s, i * 40 * MS + MS);
		start(s, HOLDER, 0);
		if (held == HELD_FOR_NETWORK)
			block(s, HOLDER, 0, "network", net);
		else
			preempt(s, HOLDER, 0);
		if (far) {
			start(s, OTHER, 0);
			block(s, OTHER, 0, "sleep", backoff);
		}
		for (uint32_t g = WAITER; g < WAITER + WAITERS; g++) {
			start(s, g, 0);
			block(s, g, 0, "sync", wait);
		}
		at(s, i * 40 * MS + 20 * MS);
		if (held == HELD_FOR_NETWORK)
			wake(s, 0, NO_P, HOLDER, 0);
		start(s, HOLDER, 0);
		if (far)
			wake(s, 0, NO_P, OTHER, 0);
		wake(s, HOLDER, 0, WAITER, release);
		block(s, HOLDER, 0, "sleep", nap);
		for (uint32_t g = WAITER; g < WAITER + WAITERS; g++) {
			start(s, g, 0);
			s->now += 5000;
			if (g < WAITER + WAITERS - 1)
				wake(s, g, 0, g + 1, handed);
			block(s, g, 0, "sleep", nap);
		}
		for (uint32_t g = WAITER; g < WAITER + WAITERS; g++)
			wake(s, 0, NO_P, g, 0);
		wake(s, 0, NO_P, HOLDER, 0);
	}
	return s;
}

static const struct finding *found_like(const struct analysis *a, const char *id)
{
	const struct finding *finding = found(a, id);

	assert_non_null(finding);
	return finding;
}

static void test_cause_at_the_same_place(void **state)
{
	struct script *s = held(HELD_FOR_NETWORK, false);
	struct analysis *a = analyse(s, NULL);

	(void)state;
	assert_null(found_like(a, "lock-io")->explained_by);
	assert_string_equal(found_like(a, "request-place")->explained_by, "lock-io");
	analysis_free(a);
	script_free(s);
}

static void test_cause_at_another_place(void **state)
{
	struct script *s = held(HELD_FOR_NETWORK, true);
	struct analysis *a = analyse(s, NULL);
	const struct finding *finding;

	(void)state;
	assert_null(found_like(a, "lock-io")->explained_by);
	finding = found_like(a, "request-place");
	assert_non_null(strstr(finding->text, "main.backoff"));
	assert_null(finding->explained_by);
	analysis_free(a);
	script_free(s);
}

/* Another program takes the CPUs, as the goroutine that has a P all the time shows. */
static struct analysis *on_busy_machine(struct script *s, uint64_t used_ns)
{
	const struct host_log log = {2, 0, 0, 0, 0, used_ns, 1000 * MS, 98, 0, 0};
	char text[HOST_LOG_TEXT];

	host_log_print(&log, text);
	add_log(s, 999 * MS, text);
	return analyse(s, NULL);
}

static void check_busy(enum held how, uint64_t used_ns, const char *id, const char *explained_by)
{
	struct script *s = held(how, true);
	struct analysis *a = on_busy_machine(s, used_ns);
	const struct finding *finding = found_like(a, id);

	found_like(a, "neighbour");
	if (explained_by)
		assert_true(finding->explained_by && strcmp(finding->explained_by, explained_by) == 0);
	else
		assert_null(finding->explained_by);
	assert_true((strstr(finding->text, ", mostly without a CPU;") != NULL) == (how == HELD_WITHOUT_CPU));
	analysis_free(a);
	script_free(s);
}

static void test_busy_machine(void **state)
{
	(void)state;
	check_busy(HELD_FOR_NETWORK, 200 * MS, "lock-io", NULL);
	check_busy(HELD_WITHOUT_CPU, 200 * MS, "lock-long", "neighbour");
	check_busy(HELD_WITHOUT_CPU, 790 * MS, "lock-long", NULL); /* little was lost */
}

/* In each of 25 rounds, `requests` wait 30 ms for an answer, and then the first one 10 ms for a lock, which
 * is held across a read. */
static const struct finding *lock_beside(struct script *s, uint32_t requests, struct analysis **a)
{
	uint32_t entry = stack(s, "main.get", NULL, 1, NULL);
	const char *const frames[] = {"internal/poll.runtime_pollWait", "main.ask", "main.get", SERVE};
	uint32_t answer = stack_of(s, frames, 4, 3);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.get", 7, SERVE);
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.refresh", 9, "main.main");
	uint32_t net = stack(s, "internal/poll.runtime_pollWait", "main.refresh", 5, "main.main");

	procs(s, 2);
	create(s, HOLDER, entry);
	for (uint32_t g = WAITER; g < WAITER + requests; g++)
		create(s, g, entry);
	for (uint64_t i = 0; i < 25; i++) {
		at(s, i * 40 * MS + MS);
		start(s, HOLDER, 0);
		block(s, HOLDER, 0, "network", net);
		for (uint32_t g = WAITER; g < WAITER + requests; g++) {
			start(s, g, 0);
			block(s, g, 0, "network", answer);
		}
		at(s, i * 40 * MS + 26 * MS);
		wake(s, 0, NO_P, WAITER, 0);
		start(s, WAITER, 0);
		block(s, WAITER, 0, "sync", wait);
		at(s, i * 40 * MS + 36 * MS);
		wake(s, 0, NO_P, HOLDER, 0);
		start(s, HOLDER, 0);
		wake(s, HOLDER, 0, WAITER, release);
		block(s, HOLDER, 0, "network", net);
		for (uint32_t g = WAITER + 1; g < WAITER + requests; g++)
			wake(s, 0, NO_P, g, 0);
		wake(s, 0, NO_P, HOLDER, 0);
	}
	*a = analyse(s, NULL);
	return found_like(*a, "lock-io");
}

/* A wait of 10 ms is much of one request, and little of 40. */
static void test_lock_in_requests(void **state)
{
	struct script *few = script_new(1000 * MS), *many = script_new(1000 * MS);
	struct analysis *a;

	(void)state;
	assert_int_equal(lock_beside(few, 1, &a)->level, LEVEL_MEDIUM);
	analysis_free(a);
	assert_int_equal(lock_beside(many, 40, &a)->level, LEVEL_INFO);
	analysis_free(a);
	script_free(few);
	script_free(many);
}

static char *first_report_of(struct analysis *a, bool all)
{
	const struct report_style style = {.width = 80, .all = all};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	report_text(a, out, &style);
	fclose(out);
	return text;
}

/* Twelve lines are enough for the other programs and for what holds this one up; the rest is for --all. */
static void test_first_lines(void **state)
{
	struct script *s = held(HELD_WITHOUT_CPU, true);
	struct analysis *a = on_busy_machine(s, 200 * MS);
	char *text = first_report_of(a, false), *all = first_report_of(a, true), *line = text;
	const char *lock = strstr(text, " lock-long: main.refresh (:9) ");

	(void)state;
	for (unsigned i = 0; i < 12; i++)
		line = strchr(line, '\n') + 1;
	assert_non_null(lock);
	assert_true(strstr(text, " neighbour: ") < lock && lock < line);
	assert_null(strstr(text, "the machine's CPUs were"));
	assert_non_null(strstr(all, "the machine's CPUs were 98 % busy"));
	free(text);
	free(all);
	analysis_free(a);
	script_free(s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_cause_at_the_same_place),
	cmocka_unit_test(test_cause_at_another_place),
	cmocka_unit_test(test_busy_machine),
	cmocka_unit_test(test_lock_in_requests),
	cmocka_unit_test(test_first_lines),
};

UNIT_TESTS(tests, NULL, NULL);
