/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What is said of servers: requests, their pools and connections, and loops that serve many. */
#include "analysis/diff.h"
#include "analysis/figures.h"
#include "analysis/finding.h"

#include "script.h"

static const char SERVER[] = "net/http.serverHandler.ServeHTTP";

/* g waits once, for ns, and runs for 0.1 ms. */
static void wait_once(struct script *s, uint32_t g, const char *reason, uint64_t ns, uint32_t where)
{
	block(s, g, 0, reason, where);
	s->now += ns;
	wake(s, 0, NO_P, g, 0);
	start(s, g, 0);
	s->now += MS / 10;
}

/* Where a connection waits for its next request. */
static uint32_t next_request(struct script *s)
{
	return stack(s, "internal/poll.runtime_pollWait", "net/http.(*conn).readRequest", 9,
		     "net/http.(*conn).serve");
}

/* A handler asks `each` times, 2 ms each time, and waits for the next request for 5 ms. */
static struct analysis *asking(unsigned each, unsigned requests)
{
	struct script *s = script_new(1500 * MS);
	uint32_t ask = stack(s, "internal/poll.runtime_pollWait", "main.load", 43, SERVER);
	uint32_t next = next_request(s);
	struct analysis *a;

	procs(s, 1);
	create(s, 1, stack(s, "net/http.(*conn).serve", NULL, 1, NULL));
	start(s, 1, 0);
	for (unsigned i = 0; i < requests; i++) {
		for (unsigned k = 0; k < each; k++)
			wait_once(s, 1, "network", 2 * MS, ask);
		wait_once(s, 1, "network", 5 * MS, next);
	}
	s->end = s->now;
	a = analyse(s, NULL);
	script_free(s);
	return a;
}

/* A request spins for so long before its first wait, of 2 ms, which alone shows that it is one. */
static struct analysis *spinning(uint64_t ns)
{
	struct script *s = script_new(1500 * MS);
	uint32_t ask = stack(s, "time.Sleep", "main.match", 32, SERVER);
	uint32_t next = next_request(s);
	struct analysis *a;

	procs(s, 1);
	create(s, 1, stack(s, "net/http.(*conn).serve", NULL, 1, NULL));
	start(s, 1, 0);
	for (unsigned i = 0; i < 80; i++) {
		s->now += ns;
		wait_once(s, 1, "sleep", 2 * MS, ask);
		wait_once(s, 1, "network", 5 * MS, next);
	}
	s->end = s->now;
	a = analyse(s, NULL);
	script_free(s);
	return a;
}

static void test_before_the_first_wait(void **state)
{
	struct analysis *a = spinning(MS / 10);

	(void)state;
	assert_non_null(strstr(found(a, "request-place")->text, "of their time in main.match"));
	analysis_free(a);
	a = spinning(8 * MS);
	assert_null(found(a, "request-place"));
	analysis_free(a);
}

static bool says(const struct finding *finding, const char *text)
{
	for (unsigned i = 0; finding && i < finding->nevidence; i++) {
		if (strstr(finding->evidence[i], text))
			return true;
	}
	return false;
}

static void test_many_questions_of_a_request(void **state)
{
	struct analysis *a = asking(20, 15);

	(void)state;
	assert_true(says(found(a, "request-place"),
			 "15 requests, each of which does so 20 times (mean), one after the other"));
	analysis_free(a);
	a = asking(2, 100);
	assert_non_null(found(a, "request-place"));
	assert_false(says(found(a, "request-place"), "each of which"));
	analysis_free(a);
}

/* Information that is much of one trace alone is a change; what is alike in both is none. */
static void test_information_that_changes(void **state)
{
	const struct report_style style = {.width = 80};
	struct analysis *few = asking(0, 100), *many = asking(20, 15);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(found(many, "request-place")->level, LEVEL_INFO);
	diff_findings_text(few, many, out, &style);
	fflush(out);
	assert_non_null(strstr(text, "info"));
	assert_non_null(strstr(text, "request-place"));
	rewind(out);
	diff_findings_text(many, many, out, &style);
	fclose(out);
	assert_non_null(strstr(text, "none above info in either"));
	free(text);
	analysis_free(few);
	analysis_free(many);
}

/* What does not fit has a line each, three of them, and says what explains it. */
static void test_headlines(void **state)
{
	const struct report_style style = {.width = 80};
	struct analysis *a = asking(20, 15);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	a->nfindings = 0;
	for (unsigned i = 0; i < 7; i++) {
		struct finding *finding = finding_add(a, "made", 0.5);

		finding_text(finding,
			     "Number %u takes more than a line, for it is as long as most findings are.", i);
		for (unsigned k = 0; k < 3; k++)
			finding_evidence(finding, "evidence");
		finding->explained_by = i == 4 ? "another" : NULL;
	}
	report_text(a, out, &style);
	fclose(out);
	/* Its evidence does not fit. */
	assert_non_null(strstr(text, "\n3 HIGH   made: Number 2 takes more than a line, for it is as long as "
				     "most \n  findings are.\n4 HIGH"));
	assert_non_null(strstr(
		text,
		"\n4 HIGH   made: Number 3 takes more than a line, for it is as long as most fin...\n"));
	assert_non_null(strstr(
		text,
		"\n5 HIGH   made: Number 4 takes more than a line, for it... (explained by another)\n"));
	assert_non_null(strstr(text, "\n... 1 more (--all)\n"));
	free(text);
	analysis_free(a);
}

/* Another goroutine has the only P for 4 of 10 ms of each request: of its time only a half is the wait. */
static void test_share_of_requests(void **state)
{
	struct script *s = script_new(1500 * MS);
	uint32_t ask = stack(s, "internal/poll.runtime_pollWait", "main.load", 43, SERVER);
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	procs(s, 1);
	create(s, 1, stack(s, "net/http.(*conn).serve", NULL, 1, NULL));
	start(s, 1, 0);
	for (unsigned i = 0; i < 60; i++) {
		block(s, 1, 0, "network", ask);
		s->now += 5 * MS;
		wake(s, 0, NO_P, 1, 0);
		s->now += 5 * MS;
		start(s, 1, 0);
	}
	s->end = s->now;
	a = analyse(s, NULL);
	finding = found(a, "request-place");
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "Requests in main.load spend 50 % of their time in "));
	assert_true(says(finding, "50 % of the time of these requests is runnable"));
	analysis_free(a);
	script_free(s);
}

/* Eight share the call that one of them makes; the first one is always the same. */
static struct analysis *sharing(const char *wait_in, const char *done_in)
{
	struct script *s = script_new(1500 * MS);
	const char *const waits[] = {"sync.(*WaitGroup).Wait", wait_in, "main.top", "main.loop"};
	uint32_t wait = stack_of(s, waits, 4, 68),
		 done = stack(s, "sync.(*WaitGroup).Done", done_in, 70, "main.loop");
	struct analysis *a;

	procs(s, 2);
	for (uint32_t g = 1; g <= 9; g++) {
		create(s, g, stack(s, "main.loop", NULL, 1, NULL));
		start(s, g, g == 1 ? 1 : 0);
		if (g > 1)
			block(s, g, 0, "sync", wait);
	}
	for (unsigned i = 0; i < 20; i++) {
		s->now += 50 * MS;
		for (uint32_t g = 2; g <= 9; g++)
			wake(s, 1, 1, g, done);
		for (uint32_t g = 2; g <= 9; g++) {
			start(s, g, 0);
			block(s, g, 0, "sync", wait);
		}
	}
	a = analyse(s, NULL);
	script_free(s);
	return a;
}

static void test_shared_call_has_no_straggler(void **state)
{
	struct analysis *a = sharing("golang.org/x/sync/singleflight.(*Group).Do",
				     "golang.org/x/sync/singleflight.(*Group).doCall");

	(void)state;
	assert_null(found(a, "straggler"));
	analysis_free(a);
	a = sharing("main.barrier", "main.barrier");
	assert_non_null(found(a, "straggler"));
	analysis_free(a);
}

/* The last one of three asks for 20 ms, in a function that they have in common. */
static void test_straggler_is_called_by(void **state)
{
	struct script *s = script_new(1500 * MS);
	const char *const waits[] = {"sync.(*WaitGroup).Wait", "main.show", "main.main"};
	const char *const asks[] = {"internal/poll.runtime_pollWait", "main.ask", "main.reviews",
				    "main.member"};
	uint32_t wait = stack_of(s, waits, 3, 61), ask = stack_of(s, asks, 4, 28);
	uint32_t done = stack(s, "sync.(*WaitGroup).Done", "main.member", 9, NULL);
	uint32_t member = stack(s, "main.member", NULL, 1, NULL);
	struct analysis *a;

	(void)state;
	procs(s, 2);
	create(s, 1, stack(s, "main.main", NULL, 1, NULL));
	start(s, 1, 0);
	for (unsigned i = 0; i < 40; i++) {
		for (uint32_t g = 2; g < 5; g++) {
			struct op *op = add(s, OP_GO_CREATE, 1, 0);

			op->g2 = g;
			op->stack2 = member;
		}
		block(s, 1, 0, "sync", wait);
		for (uint32_t g = 2; g < 5; g++) {
			start(s, g, 1);
			block(s, g, 1, "network", ask);
			s->now += g == 4 ? 20 * MS : MS / 10;
			wake(s, 0, NO_P, g, 0);
			start(s, g, 1);
			if (g == 4)
				wake(s, g, 1, 1, done);
			add(s, OP_GO_DESTROY, g, 1);
			add(s, OP_PROC_STOP, 0, 1);
		}
		start(s, 1, 0);
	}
	s->end = s->now;
	a = analyse(s, NULL);
	assert_true(says(found(a, "straggler"), "called by main.reviews (:28)"));
	analysis_free(a);
	script_free(s);
}

/* With GOGC=off, as `goal` 0 says, only a memory limit makes the collector run. */
static const struct finding *assisting(uint64_t goal, struct analysis **made)
{
	struct script *s = script_new(1500 * MS);
	uint32_t where = stack(s, "runtime.mallocgc", "main.touch", 51, "main.main");

	procs(s, 1);
	create(s, 1, stack(s, "main.main", NULL, 1, NULL));
	start(s, 1, 0);
	for (unsigned i = 0; i < 30; i++) {
		add(s, OP_GC_BEGIN, 1, 0);
		add(s, OP_GC_ASSIST_BEGIN, 1, 0)->stack = where;
		s->now += 15 * MS;
		add(s, OP_GC_ASSIST_END, 1, 0);
		add(s, OP_GC_END, 1, 0);
		add(s, OP_HEAP_ALLOC, 1, 0)->arg = 70 << 20;
		add(s, OP_HEAP_GOAL, 1, 0)->arg = goal;
		s->now += 10 * MS;
	}
	s->end = s->now;
	*made = analyse(s, NULL);
	script_free(s);
	return found(*made, "assist");
}

static void test_assists_of_a_memory_limit(void **state)
{
	struct analysis *a;
	const struct finding *finding = assisting(0, &a);

	(void)state;
	assert_true(says(finding, "heap up to 73 MB; GOGC is off"));
	assert_non_null(strstr(finding->next, "raise GOMEMLIMIT if it is set"));
	analysis_free(a);
	finding = assisting(160 << 20, &a);
	assert_true(says(finding, "goal up to 168 MB"));
	analysis_free(a);
}

/* Four workers take jobs from a channel on which ten wait to send, and ask a back end for each, for 20 ms. */
static void test_workers_that_ask(void **state)
{
	struct script *s = script_new(1500 * MS);
	uint32_t send = stack(s, "runtime.chansend1", "main.quote", 67, "main.client");
	uint32_t take = stack(s, "runtime.chanrecv2", "main.worker", 33, "main.worker");
	const char *const asks[] = {"runtime.selectgo", "net/http.(*persistConn).roundTrip", "main.compute",
				    "main.worker"};
	uint32_t ask = stack_of(s, asks, 4, 53);
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	procs(s, 2);
	for (uint32_t g = 1; g <= 14; g++) {
		create(s, g, stack(s, g <= 4 ? "main.worker" : "main.client", NULL, 1, NULL));
		start(s, g, 0);
		block(s, g, 0, g <= 4 ? "select" : "chan send", g <= 4 ? ask : send);
	}
	for (unsigned i = 0; i < 200; i++) {
		uint32_t worker = 1 + i % 4, client = 5 + i % 10;

		s->now += 5 * MS;
		wake(s, 0, NO_P, worker, 0);
		start(s, worker, 0);
		wake(s, worker, 0, client, take);
		block(s, worker, 0, "select", ask);
		start(s, client, 0);
		block(s, client, 0, "chan send", send);
	}
	a = analyse(s, NULL);
	finding = found(a, "pool-small");
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_HIGH);
	assert_non_null(strstr(finding->text, "for 4 workers of main.worker"));
	assert_true(says(finding, "meanwhile mostly network in main.compute (:53)"));
	analysis_free(a);
	script_free(s);
}

/* Requests come `at_once`, ten times, to two workers, which take 10 ms for each and have nothing to do for a
 * while then. */
static struct analysis *queueing(unsigned at_once)
{
	struct script *s = script_new(1500 * MS);
	uint32_t ask = stack(s, "runtime.chanrecv1", "main.handle", 41, SERVER);
	uint32_t next = next_request(s);
	uint32_t take = stack(s, "runtime.chanrecv2", "main.worker", 26, "main.worker");
	uint32_t done = stack(s, "runtime.closechan", "main.worker", 34, "main.worker");
	uint32_t work = stack(s, "time.Sleep", "main.resize", 22, "main.worker");
	struct analysis *a;

	procs(s, 2);
	for (uint32_t g = 1; g <= 2 + at_once; g++) {
		create(s, g, stack(s, g <= 2 ? "main.worker" : "net/http.(*conn).serve", NULL, 1, NULL));
		start(s, g, 0);
		block(s, g, 0, g <= 2 ? "chan receive" : "network", g <= 2 ? take : next);
	}
	for (unsigned i = 0; i < 10; i++) {
		for (uint32_t g = 1; g <= 2 + at_once; g++) {
			wake(s, 0, NO_P, g, 0);
			start(s, g, 0);
			block(s, g, 0, g <= 2 ? "sleep" : "chan receive", g <= 2 ? work : ask);
		}
		for (uint32_t g = 3; g <= 2 + at_once; g++) {
			uint32_t worker = 1 + g % 2;

			s->now += worker == 2 ? 10 * MS : 0;
			wake(s, 0, NO_P, worker, 0);
			start(s, worker, 0);
			wake(s, worker, 0, g, done);
			block(s, worker, 0, g <= at_once ? "sleep" : "chan receive",
			      g <= at_once ? work : take);
			start(s, g, 0);
			block(s, g, 0, "network", next);
		}
		s->now += 80 * MS;
	}
	s->end = s->now;
	a = analyse(s, NULL);
	script_free(s);
	return a;
}

/* At times all of the workers are taken. */
static void test_workers_that_are_taken_at_times(void **state)
{
	struct analysis *a = queueing(6);
	const struct finding *finding = found(a, "pool-small");

	(void)state;
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "main.handle (:41) waited 1.20 s for 2 workers of main.worker: "
					      "for 600 ms of that, none of them was free."));
	assert_true(says(finding, "meanwhile mostly sleep in main.resize (:22)"));
	analysis_free(a);
	a = queueing(2);
	assert_null(found(a, "pool-small"));
	analysis_free(a);
}

/* Ten requests at once load something, three times; they have `others` requests between these times. */
static struct analysis *loading(unsigned others)
{
	struct script *s = script_new(1500 * MS);
	uint32_t load = stack(s, "internal/poll.runtime_pollWait", "main.load", 43, SERVER);
	uint32_t next = next_request(s);
	struct analysis *a;

	procs(s, 1);
	for (uint32_t g = 1; g <= 10; g++) {
		create(s, g, stack(s, "net/http.(*conn).serve", NULL, 1, NULL));
		start(s, g, 0);
		block(s, g, 0, "network", next);
	}
	for (unsigned i = 0; i < 3; i++) {
		for (uint32_t g = 1; g <= 10; g++) {
			wake(s, 0, NO_P, g, 0);
			start(s, g, 0);
			block(s, g, 0, "network", load);
		}
		s->now += 50 * MS;
		for (uint32_t g = 1; g <= 10; g++) {
			wake(s, 0, NO_P, g, 0);
			start(s, g, 0);
			block(s, g, 0, "network", next);
		}
		for (unsigned k = 0; k < others; k++) {
			s->now += MS;
			wake(s, 0, NO_P, 1 + k % 10, 0);
			start(s, 1 + k % 10, 0);
			block(s, 1 + k % 10, 0, "network", next);
		}
		s->now += 300 * MS;
	}
	s->end = s->now;
	a = analyse(s, NULL);
	script_free(s);
	return a;
}

static void test_stampede(void **state)
{
	struct analysis *a = loading(100);
	const struct finding *finding = found(a, "stampede");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_MEDIUM);
	assert_non_null(strstr(finding->text, "3 times some 10 requests at once waited in main.load (:43)"));
	analysis_free(a);
	/* All requests come at these times. */
	a = loading(0);
	assert_null(found(a, "stampede"));
	analysis_free(a);
}

/* A batch is full, and goes out when a timer fires: ten wait to send meanwhile. */
static void test_receiver_that_waits(void **state)
{
	struct script *s = script_new(1500 * MS);
	uint32_t send = stack(s, "runtime.chansend1", "main.insert", 83, "main.client");
	uint32_t loop = stack(s, "runtime.selectgo", "main.batch", 59, "main.batch");
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	procs(s, 2);
	for (uint32_t g = 1; g <= 11; g++) {
		create(s, g, stack(s, g == 1 ? "main.batch" : "main.client", NULL, 1, NULL));
		start(s, g, 0);
		block(s, g, 0, g == 1 ? "select" : "chan send", g == 1 ? loop : send);
	}
	for (unsigned i = 0; i < 20; i++) {
		s->now += 50 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		for (uint32_t g = 2; g <= 11; g++)
			wake(s, 1, 0, g, loop);
		block(s, 1, 0, "select", loop);
		for (uint32_t g = 2; g <= 11; g++) {
			start(s, g, 0);
			block(s, g, 0, "chan send", send);
		}
	}
	a = analyse(s, NULL);
	finding = found(a, "slow-consumer");
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_MEDIUM);
	assert_non_null(strstr(finding->text, "main.insert (:83) waited "));
	assert_non_null(strstr(finding->text, "g1 in main.batch (:59), which waits meanwhile, too: select in "
					      "main.batch (:59)."));
	assert_true(says(finding, "timers end 20 of its 20 waits there"));
	analysis_free(a);
	script_free(s);
}

/* net/http waits at one place until a request is sent, and then for its answer: two waits, one answer. */
static void test_request_is_one_wait(void **state)
{
	static const char *const call[] = {"runtime.selectgo", "net/http.(*persistConn).roundTrip",
					   "main.ask", "main.handle", SERVER};
	struct script *s = script_new(1500 * MS);
	uint32_t ask = stack_of(s, call, 5, 57);
	uint32_t sent = stack(s, "runtime.chansend1", "net/http.(*persistConn).writeLoop", 70, NULL);
	uint32_t answered = stack(s, "runtime.chansend1", "net/http.(*persistConn).readLoop", 80, NULL);
	const struct row *row = NULL;
	struct analysis *a;

	(void)state;
	procs(s, 2);
	for (uint32_t g = 1; g <= 3; g++)
		create(s, g, stack(s, g == 1 ? SERVER : "net/http.loop", NULL, 1, NULL));
	start(s, 2, 1);
	start(s, 1, 0);
	for (unsigned i = 0; i < 30; i++) {
		block(s, 1, 0, "select", ask);
		s->now += MS / 10;
		wake(s, 2, 1, 1, sent);
		start(s, 1, 0);
		block(s, 1, 0, "select", ask);
		s->now += 10 * MS;
		wake(s, 2, 1, 1, answered);
		start(s, 1, 0);
		s->now += MS;
	}
	s->end = s->now;
	a = analyse(s, NULL);
	for (size_t i = 1; i < a->nrows; i++)
		row = a->rows[i].activity == ACT_SELECT ? &a->rows[i] : row;
	assert_non_null(row);
	assert_int_equal(row->hist.n, 60);
	assert_int_equal(row->answers.n, 30);
	assert_true(histogram_quantile(&row->answers, 0.5) >= 9 * MS);
	assert_in_range(row->answers.sum, 303 * MS, 310 * MS);
	analysis_free(a);
	script_free(s);
}

/* What takes half of hardly any time is worth little. */
static void test_share_of_little(void **state)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a;
	struct op *op;

	(void)state;
	procs(s, 1);
	create(s, 1, stack(s, "main.handle", NULL, 1, NULL));
	start(s, 1, 0);
	op = add(s, OP_TASK_BEGIN, 1, 0);
	op->arg = 1;
	op->string = str(s, "handle");
	s->now += 10 * MS;
	add(s, OP_TASK_END, 1, 0)->arg = 1;
	a = analyse(s, NULL);
	assert_true(share_of_tasks(a, 5 * MS) > 0.019 && share_of_tasks(a, 5 * MS) < 0.021);
	analysis_free(a);
	script_free(s);
}

/* What is waited for is a setting of the library, unless it asks another machine there. */
static void check_known_wait(const char *leaf, const char *reason, bool known)
{
	struct script *s = script_new(1500 * MS);
	const char *const funcs[] = {leaf,
				     "google.golang.org/grpc/internal/transport.(*http2Client).NewStream",
				     "main.check", SERVER};
	uint32_t wait = stack_of(s, funcs, 4, 35);
	struct analysis *a;

	procs(s, 1);
	create(s, 1, stack(s, "main.serve", NULL, 1, NULL));
	start(s, 1, 0);
	for (unsigned i = 0; i < 60; i++)
		wait_once(s, 1, reason, 20 * MS, wait);
	s->end = s->now;
	a = analyse(s, NULL);
	assert_non_null(found(a, "request-place"));
	assert_true(says(found(a, "request-place"), "the server's MaxConcurrentStreams") == known);
	analysis_free(a);
	script_free(s);
}

static void test_known_wait(void **state)
{
	(void)state;
	check_known_wait("runtime.selectgo", "select", true);
	check_known_wait("internal/poll.runtime_pollWait", "network", false);
}

/* --- threads --- */

static struct script *one_thread(const char *func)
{
	struct script *s = script_new(1500 * MS);

	procs(s, 2);
	s->goids[1] = 5000;
	create(s, 1, stack(s, func, NULL, 1, NULL));
	start(s, 1, 0);
	return s;
}

static uint32_t call_stack(struct script *s, const char *leaf, const char *site)
{
	uint32_t id = stack(s, leaf, site, 5, "main [svc]");

	s->frames[id][0].file = s->frames[id][0].func;
	return id;
}

/* A thread reads from so many connections by turns, and computes this long for each tenth, with a call of its
 * engine in between. The first time it has served one only. */
static struct analysis *turns(const char *by, unsigned connections, uint64_t ns)
{
	struct script *s = one_thread("main [svc]");
	uint32_t poll = call_stack(s, by, "loop"), from[4],
		 hash = stack(s, "hash", "handle", 9, "main [svc]"), own = call_stack(s, "getpid", "engine");
	struct analysis *a;

	for (unsigned i = 0; i < 4; i++) {
		static char names[4][48];

		snprintf(names[i], sizeof(names[i]), "recvfrom(%u: 10.0.0.1:40%02u)", i + 7, i);
		from[i] = call_stack(s, names[i], "receive");
	}
	for (unsigned i = 0; i < 80; i++) {
		call(s, 1, 0, 2000, poll);
		call(s, 1, 0, 2000, from[i % connections]);
		s->now += i % 10 ? 3 * MS : ns / 2;
		if (i % 10 == 0)
			add(s, OP_CPU_SAMPLE, 1, 0)->stack = hash;
		call(s, 1, 0, 2000, own);
		s->now += i % 10 ? 3 * MS : ns / 2;
	}
	s->end = s->now;
	a = analyse(s, NULL);
	script_free(s);
	return a;
}

static void test_long_turn(void **state)
{
	struct analysis *a = turns("epoll_wait(5)", 4, 80 * MS);
	const struct finding *finding = found(a, "long-turn");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_HIGH);
	assert_non_null(
		strstr(finding->text,
		       "It computed 7 times for 10 ms or more, 80.0 ms on average, most of all in hash"));
	assert_non_null(strstr(finding->text, ", and served none meanwhile."));
	analysis_free(a);
	a = turns("epoll_wait(5)", 4, 30 * MS); /* a collector takes as long */
	assert_non_null(found(a, "long-turn"));
	assert_int_equal(found(a, "long-turn")->level, LEVEL_INFO);
	analysis_free(a);
	a = turns("epoll_wait(5)", 1, 80 * MS); /* it makes nobody else wait */
	assert_null(found(a, "long-turn"));
	analysis_free(a);
	a = turns("futex", 4, 80 * MS); /* a worker of a pool: others serve the other connections */
	assert_null(found(a, "long-turn"));
	analysis_free(a);
	a = turns("epoll_wait(5)", 4, 8 * MS);
	assert_null(found(a, "long-turn"));
	analysis_free(a);
}

/* epoll_wait returns at once, 5,000 times a second; after each `every` of these there is something to read.
 */
static bool spins_in_poll(const char *call_name, unsigned every)
{
	struct script *s = one_thread("main [svc]");
	uint32_t poll = call_stack(s, call_name, "loop"),
		 from = call_stack(s, "recvfrom(7: 10.0.0.1:4000)", "receive");
	struct analysis *a;
	bool spins;

	for (unsigned i = 0; i < 4000; i++) {
		call(s, 1, 0, MS / 8, poll);
		if (i % every == 0)
			call(s, 1, 0, MS / 100, from);
		s->now += MS / 20;
	}
	s->end = s->now;
	a = analyse(s, NULL);
	spins = found(a, "poll-spin") && found(a, "poll-spin")->level == LEVEL_HIGH;
	analysis_free(a);
	script_free(s);
	return spins;
}

static void test_poll_spin(void **state)
{
	(void)state;
	assert_true(spins_in_poll("epoll_wait(5)", 50));
	assert_false(spins_in_poll("epoll_wait(5)", 1));
	assert_false(spins_in_poll("accept4(5)", 50)); /* others serve what it accepts */
}

/* A function writes 10,000 times a second. */
static void test_many_small_writes(void **state)
{
	struct script *s = one_thread("main [svc]");
	uint32_t put = call_stack(s, "write(7: /data/x)", "export");
	struct analysis *a;

	(void)state;
	for (unsigned i = 0; i < 6000; i++) {
		call(s, 1, 0, MS / 20, put);
		if (i % 60 == 0)
			add(s, OP_CPU_SAMPLE, 1, 0)->stack = put;
		s->now += MS / 20;
	}
	s->end = s->now;
	a = analyse(s, NULL);
	assert_true(
		says(found(a, "cpu-place"), "system calls a second, all write, which take 300 ms in all"));
	analysis_free(a);
	script_free(s);
}

/* One thread computes all the time, and hands its results to another one, which waits for them. */
static void test_stage_that_sets_the_pace(void **state)
{
	struct script *s = one_thread("encode [svc]");
	uint32_t hash = stack(s, "fnv", "encode [svc]", 59, NULL),
		 get = stack(s, "pthread_cond_wait", "get", 7, "send [svc]");
	uint32_t put = stack(s, "pthread_cond_signal", "put", 8, "encode [svc]");
	struct analysis *a;

	(void)state;
	s->goids[2] = 5001;
	create(s, 2, stack(s, "send [svc]", NULL, 1, NULL));
	start(s, 2, 1);
	for (unsigned i = 0; i < 100; i++) {
		block(s, 2, 1, "sync (condition)", get);
		add(s, OP_CPU_SAMPLE, 1, 0)->stack = hash;
		s->now += 9 * MS;
		wake(s, 1, 0, 2, put);
		start(s, 2, 1);
		s->now += MS / 10;
	}
	s->end = s->now;
	a = analyse(s, NULL);
	assert_true(
		says(found(a, "cpu-place"),
		     "one thread alone runs it, 100 % of the time, and others waited 900 ms for that one"));
	analysis_free(a);
	script_free(s);
}

/* A timer wakes a thread 14,000 times a second, which runs for this long, and calls nanosleep() then. */
static bool storms(uint64_t ran)
{
	struct script *s = one_thread("main [svc]");
	uint32_t nap = call_stack(s, "nanosleep", "back_off");
	struct analysis *a;
	bool found_it;

	for (unsigned i = 0; i < 8000; i++) {
		call(s, 1, 0, 1000, nap);
		block(s, 1, 0, "sleep", nap);
		s->now += MS / 14 - ran;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		s->now += ran;
	}
	s->end = s->now;
	a = analyse(s, NULL);
	found_it = found(a, "timer-storm") != NULL;
	analysis_free(a);
	script_free(s);
	return found_it;
}

/* How long it has run before the call counts. */
static void test_timer_storm_of_calls(void **state)
{
	(void)state;
	assert_true(storms(4000));
	assert_false(storms(15000));
}

/* A thread of Java waits to allocate, and the collector's thread takes this share of the CPU time. */
static struct analysis *java(unsigned share)
{
	struct script *s = one_thread("JavaMain [java]");
	const char *const funcs[] = {"pthread_cond_wait", "MemAllocator::allocate() const", "_new_array_Java",
				     "Svc.request", "JavaMain [java]"};
	uint32_t wait = stack_of(s, funcs, 5, 1);
	struct analysis *a;

	s->frames[wait][1].file = str(s, "libjvm.so");
	s->goids[2] = 5001;
	create(s, 2, stack(s, "thread_native_entry(Thread*) [GC Thread#0]", NULL, 1, NULL));
	for (unsigned i = 0; i < 20; i++) {
		s->now += (100 - share) * MS / 2;
		block(s, 1, 0, "sync (condition)", wait);
		start(s, 2, 1);
		s->now += share * MS / 2;
		wake(s, 2, 1, 1, 0);
		block(s, 2, 1, "sync (condition)", 0);
		start(s, 1, 0);
	}
	s->end = s->now;
	a = analyse(s, NULL);
	script_free(s);
	return a;
}

static void test_collector_of_java(void **state)
{
	struct analysis *a = java(60);

	(void)state;
	assert_non_null(found(a, "vm-gc"));
	assert_true(found(a, "vm-gc")->level >= LEVEL_MEDIUM);
	assert_non_null(strstr(found(a, "vm-gc")->text, "Svc.request (:1) in _new_array_Java"));
	assert_null(found(a, "lock-long"));
	analysis_free(a);
	a = java(10);
	assert_non_null(found(a, "vm-gc"));
	assert_int_equal(found(a, "vm-gc")->level, LEVEL_INFO);
	analysis_free(a);
}

/* The place of waits that are for a lock, as functions further out say. */
static void check_outer_lock(const char *const funcs[6], uint32_t library, const char *reason,
			     const char *place)
{
	struct script *s = one_thread(funcs[5]);
	uint32_t wait = stack_of(s, funcs, 6, 1);
	struct analysis *a;
	bool lock = false;

	s->frames[wait][0].file = s->frames[wait][0].func;
	for (uint32_t i = 1; i <= library; i++)
		s->frames[wait][i].file = str(s, "libsqlite3.so.0");
	for (unsigned i = 0; i < 30; i++)
		wait_once(s, 1, reason, 20 * MS, wait);
	a = analyse(s, NULL);
	for (size_t i = 1; i < a->nrows; i++) {
		if (a->rows[i].activity != ACT_LOCK)
			continue;
		lock = true;
		assert_string_equal(label_stack(a, a->rows[i].stack).text, place);
	}
	assert_true(lock);
	assert_non_null(found(a, "database-lock"));
	assert_int_equal(found(a, "database-lock")->level, LEVEL_INFO);
	assert_non_null(strstr(found(a, "database-lock")->text, place));
	analysis_free(a);
	script_free(s);
}

/* A back end of PostgreSQL waits for a row's lock by its latch, as it does for its client. SQLite sleeps. */
static void test_locks_of_databases(void **state)
{
	static const char *const postgres[] = {"epoll_wait(8)",       "WaitEventSetWait",  "ProcSleep",
					       "LockAcquireExtended", "XactLockTableWait", "main [postgres]"};
	static const char *const sqlite[] = {"clock_nanosleep", "usleep", "sqlite3InvokeBusyHandler",
					     "sqlite3_step",    "insert", "main [app]"};

	(void)state;
	check_outer_lock(postgres, 0, "network", "XactLockTableWait (:1) in LockAcquireExtended");
	check_outer_lock(sqlite, 3, "sleep", "insert (:1) in sqlite3InvokeBusyHandler");
}

/* Redis parks a thread by a lock, Erlang makes locks of events, Python of semaphores, which are signals, too,
 * but for RLock; a file lock is none of the program's. Locks of these are none of a database. */
static void test_kinds_of_waits(void **state)
{
	static const struct {
		const char *reason, *funcs[4];
		enum activity activity;
	} waits[] = {
		{"sync (file lock)", {"flock(3)", "append", "main [app]"}, ACT_FILE},
		{"stopped", {"compute", "main [app]"}, ACT_STOPPED},
		{"sync (mutex)", {"futex", "IOThreadMain", "IOThreadMain [io_thd_1]"}, ACT_COND},
		{"sync (mutex)", {"futex", "pthread_mutex_lock", "work", "work [app]"}, ACT_LOCK},
		{"sync (futex)", {"futex", "ethr_event_twait", "scheduler_wait", "sched [beam]"}, ACT_COND},
		{"sync (futex)",
		 {"futex", "ethr_event_wait", "ethr_mutex_lock_wait__", "x [beam]"},
		 ACT_LOCK},
		{"sync (futex)",
		 {"futex", "__new_sem_wait_slow64", "rlock_acquire", "x [python3]"},
		 ACT_LOCK},
		{"sync (futex)",
		 {"futex", "__new_sem_wait_slow64", "lock_PyThread_acquire_lock", "x [python3]"},
		 ACT_SEMAPHORE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct script *s = one_thread("main [app]");
		uint32_t wait = stack_of(s, waits[i].funcs, 4, 1);
		struct analysis *a;

		s->frames[wait][0].file = s->frames[wait][0].func;
		for (unsigned k = 0; k < 10; k++)
			wait_once(s, 1, waits[i].reason, 20 * MS, wait);
		a = analyse(s, NULL);
		assert_null(found(a, "database-lock"));
		assert_true(a->nrows >= 2);
		assert_int_equal(a->rows[a->nrows - 1].activity, waits[i].activity);
		analysis_free(a);
		script_free(s);
	}
}

/* Two requests wait since before the trace; one of them is woken, if `gets_on`. */
static struct analysis *hanging(const char *leaf, bool gets_on)
{
	struct script *s = script_new(1500 * MS);
	uint32_t wait = stack(s, leaf, "main.put", 21, SERVER);
	struct analysis *a;

	procs(s, 1);
	for (uint32_t g = 1; g <= 2; g++) {
		struct op *op = add(s, OP_GO_STATUS, g, NO_P);

		op->status = G_WAITING;
		op->stack = wait;
	}
	at(s, 700 * MS);
	if (gets_on) {
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
	}
	a = analyse(s, NULL);
	script_free(s);
	return a;
}

static void test_requests_that_hang(void **state)
{
	struct analysis *a = hanging("sync.(*Cond).Wait", false);
	const struct finding *finding = found(a, "hung");

	(void)state;
	assert_non_null(finding);
	assert_string_equal(finding->text, "2 requests waited throughout the trace (for at least 1.50 s) in "
					   "main.put (:21), and none was woken.");
	assert_true(says(finding, "condition"));
	assert_int_equal(finding->level, LEVEL_INFO);
	analysis_free(a);
	a = hanging("sync.(*Cond).Wait", true);
	assert_null(found(a, "hung"));
	analysis_free(a);
	/* A stream, or a client that waits for news. */
	a = hanging("runtime.selectgo", false);
	assert_null(found(a, "hung"));
	analysis_free(a);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_requests_that_hang),
	cmocka_unit_test(test_kinds_of_waits),
	cmocka_unit_test(test_many_questions_of_a_request),
	cmocka_unit_test(test_before_the_first_wait),
	cmocka_unit_test(test_share_of_requests),
	cmocka_unit_test(test_information_that_changes),
	cmocka_unit_test(test_headlines),
	cmocka_unit_test(test_shared_call_has_no_straggler),
	cmocka_unit_test(test_straggler_is_called_by),
	cmocka_unit_test(test_assists_of_a_memory_limit),
	cmocka_unit_test(test_workers_that_ask),
	cmocka_unit_test(test_workers_that_are_taken_at_times),
	cmocka_unit_test(test_stampede),
	cmocka_unit_test(test_receiver_that_waits),
	cmocka_unit_test(test_request_is_one_wait),
	cmocka_unit_test(test_share_of_little),
	cmocka_unit_test(test_known_wait),
	cmocka_unit_test(test_long_turn),
	cmocka_unit_test(test_poll_spin),
	cmocka_unit_test(test_many_small_writes),
	cmocka_unit_test(test_stage_that_sets_the_pace),
	cmocka_unit_test(test_timer_storm_of_calls),
	cmocka_unit_test(test_collector_of_java),
	cmocka_unit_test(test_locks_of_databases),
};

UNIT_TESTS(tests, NULL, NULL);
