/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The rules about places where goroutines wait, each with a healthy twin. */
#include <string.h>

#include "unit.h"

#include "analysis/diff.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/order.h"
#include "analysis/top.h"
#include "analysis/words.h"
#include "trace/ops/own_names.h"

#include "script.h"

static void task(struct script *s, enum op_kind kind, uint64_t id, const char *name)
{
	struct op *op = add(s, kind, 1, 0);

	op->arg = id;
	op->string = name ? str(s, name) : 0;
}

static const struct row *row_with(const struct analysis *a, unsigned activity)
{
	for (size_t i = 1; i < a->nrows; i++) {
		if (a->rows[i].activity == activity && a->rows[i].hist.n)
			return &a->rows[i];
	}
	return NULL;
}

/* Go's poller waits for what an os.File reads, too: who runs it has not ended the wait. */
static void check_polled(const char *reader, const char *caller, unsigned activity)
{
	struct script *s = script_new(1500 * MS);
	uint32_t wait = stack(s, "internal/poll.runtime_pollWait", reader, 2, caller);
	struct analysis *a;

	procs(s, 2);
	create(s, 1, stack(s, "main.serve", NULL, 1, NULL));
	create(s, 2, stack(s, "main.work", NULL, 1, NULL));
	start(s, 1, 0);
	block(s, 1, 0, "network", wait);
	start(s, 2, 1);
	s->now += 2 * MS;
	wake(s, 2, 1, 1, 0);
	start(s, 1, 0);
	a = analyse(s, NULL);
	assert_non_null(row_with(a, activity));
	assert_int_equal(row_with(a, activity)->no_waker, 1);
	analysis_free(a);
	script_free(s);
}

static void test_polled(void **state)
{
	(void)state;
	check_polled("net.(*netFD).Read", "main.read", ACT_NETWORK);
	check_polled("os.(*File).Read", "main.read", ACT_PIPE);
	check_polled("os.(*File).Read", "github.com/fsnotify/fsnotify.(*inotify).readEvents", ACT_OTHER);
}

/* A request makes that many queries one by one, each of which takes 2 ms. */
static void check_queries(unsigned queries, bool named)
{
	struct script *s = script_new(1500 * MS);
	uint32_t wait = stack(s, "main.query", NULL, 2, NULL);
	const struct finding *finding = NULL;
	struct analysis *a;
	uint64_t id = 1;

	procs(s, 2);
	create(s, 1, stack(s, "main.serve", NULL, 1, NULL));
	start(s, 1, 0);
	for (unsigned i = 0; i < 20; i++) {
		uint64_t request = id++;

		task(s, OP_TASK_BEGIN, request, "GET /orders");
		for (unsigned n = 0; n < queries; n++, id++) {
			task(s, OP_TASK_BEGIN, id, "SELECT row");
			block(s, 1, 0, "network", wait);
			s->now += 2 * MS;
			wake(s, 0, NO_P, 1, 0);
			start(s, 1, 0);
			task(s, OP_TASK_END, id, NULL);
		}
		task(s, OP_TASK_END, request, NULL);
	}
	a = analyse(s, NULL);
	for (unsigned i = 0; i < a->nfindings && !finding; i++) {
		if (strstr(a->findings[i].text, "one after the other"))
			finding = &a->findings[i];
	}
	assert_true((finding != NULL) == named);
	if (named) {
		assert_string_equal(finding->id, "task-place");
		assert_int_equal(finding->level, LEVEL_INFO);
		assert_non_null(strstr(finding->text, "% of its time in 12 tasks SELECT row, one after"));
		assert_non_null(strstr(finding->next, "--task 'GET /orders'"));
	}
	analysis_free(a);
	script_free(s);
}

static void test_queries_one_by_one(void **state)
{
	(void)state;
	check_queries(12, true);
	check_queries(3, false);
}

/* Goroutines that live for 1 ms, but for two, which wait for longer. */
static enum level outlier(uint64_t ns)
{
	enum { LIVES = 200 };
	struct script *s = script_new(1500 * MS);
	uint32_t entry = stack(s, "main.handle", NULL, 1, NULL), wait = stack(s, "main.ask", NULL, 2, NULL);
	const struct finding *finding;
	struct analysis *a;
	enum level level;

	procs(s, 2);
	for (uint32_t i = 0; i < LIVES; i++) {
		uint32_t g = 2 + i % 2;

		s->goids[g] = 100 + i;
		create(s, g, entry);
		start(s, g, 0);
		block(s, g, 0, "select", wait);
		s->now += i % 100 == 50 ? ns : MS;
		wake(s, 0, NO_P, g, 0);
		start(s, g, 0);
		add(s, OP_GO_DESTROY, g, 0);
	}
	a = analyse(s, NULL);
	finding = found(a, "outlier");
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "2 of 200 goroutines main.handle took up to"));
	level = finding->level;
	analysis_free(a);
	script_free(s);
	return level;
}

static void test_outlier_of_goroutines(void **state)
{
	(void)state;
	assert_int_equal(outlier(30 * MS), LEVEL_INFO);
	assert_int_equal(outlier(60 * MS), LEVEL_LOW);
}

/* Queries that the server answers within 0.3 ms, but for two. */
static enum level slow_queries(unsigned n)
{
	struct script *s = script_new(1500 * MS);
	uint32_t ask = stack(s, "internal/poll.runtime_pollWait", "main.query", 7, "main.load");
	struct analysis *a;
	enum level level;

	procs(s, 1);
	create(s, 1, stack(s, "main.load", NULL, 1, NULL));
	start(s, 1, 0);
	for (unsigned i = 0; i < n; i++) {
		struct op *op = add(s, OP_TASK_BEGIN, 1, 0);

		op->arg = i + 1;
		op->string = str(s, "select row");
		block(s, 1, 0, "network", ask);
		s->now += i == n / 2 || i == n / 4 ? 40 * MS : MS * 3 / 10;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		add(s, OP_TASK_END, 1, 0)->arg = i + 1;
	}
	s->end = s->now;
	a = analyse(s, NULL);
	assert_non_null(found(a, "outlier"));
	level = found(a, "outlier")->level;
	analysis_free(a);
	script_free(s);
	return level;
}

static void test_outlier_of_queries(void **state)
{
	(void)state;
	assert_int_equal(slow_queries(1500), LEVEL_MEDIUM);
	assert_int_equal(slow_queries(3000), LEVEL_INFO);
}

/* An id that the model has made up means nothing to a reader. */
static void test_made_up_id(void **state)
{
	struct script *s = script_new(1500 * MS);
	uint32_t lock = stack(s, "sync.(*Mutex).Lock", "main.debit", 7, "main.serve");
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	procs(s, 2);
	s->goids[1] = OWN_GOID + 7;
	for (uint32_t g = 1; g <= 2; g++) {
		create(s, g, stack(s, "main.serve", NULL, 1, NULL));
		start(s, g, (int32_t)g - 1);
		block(s, g, (int32_t)g - 1, "sync", lock);
	}
	a = analyse(s, NULL);
	assert_string_equal(label_who(a, s->goids[1]).text, "g?");
	assert_string_equal(label_who(a, s->goids[2]).text, "g2");
	finding = found(a, "stuck");
	assert_non_null(finding);
	assert_null(strstr(finding->text, "4503599"));
	analysis_free(a);
	script_free(s);
}

/*
 * What a waker did in a long wait is counted whole, not only the last of it: g1 waits for the network for 80
 * of 100 ms, then makes more calls than are remembered, and answers g2.
 */
static void test_meanwhile(void **state)
{
	enum { WAITS = 20, CALLS = 20 };
	struct script *s = script_new(3000 * MS);
	uint32_t entry = stack(s, "main.serve", NULL, 1, NULL), ask = stack(s, "main.ask", NULL, 2, NULL);
	uint32_t read = stack(s, "main.read", NULL, 3, NULL), reply = stack(s, "main.reply", NULL, 4, NULL);
	const uint64_t *did;
	struct analysis *a;

	(void)state;
	procs(s, 2);
	create(s, 1, entry);
	create(s, 2, entry);
	start(s, 1, 0);
	start(s, 2, 1);
	for (unsigned i = 0; i < WAITS; i++) {
		block(s, 2, 1, "chan receive", ask);
		block(s, 1, 0, "network", read);
		s->now += 80 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		for (unsigned n = 0; n < CALLS; n++)
			call(s, 1, 0, MS, read);
		wake(s, 1, 0, 2, reply);
		start(s, 2, 1);
	}
	a = analyse(s, NULL);
	assert_int_equal(a->npairs, 2);
	did = a->pairs[1].meanwhile;
	/* Who would end the first wait was not known: of that, only the last part was. */
	assert_in_range(did[ACT_NETWORK], (WAITS - 1) * 80 * MS, (WAITS * 80 + 1) * MS);
	assert_in_range(did[ACT_SYSCALL], (WAITS - 1) * CALLS * MS, (WAITS * CALLS + 81) * MS);
	analysis_free(a);
	script_free(s);
}

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

/* A client writes a request in `writes` parts, and reads the answer after `ns`. */
static int delayed_ack(unsigned writes, uint64_t ns)
{
	struct script *s = script_new(1500 * MS);
	uint32_t part = stack(s, "syscall.write", "main.ask", 4, "main.main");
	uint32_t poll = stack(s, "internal/poll.runtime_pollWait", "main.ask", 6, "main.main");
	struct analysis *a;
	int level;

	procs(s, 1);
	create(s, 1, stack(s, "main.main", NULL, 1, NULL));
	start(s, 1, 0);
	for (unsigned i = 0; i < 30; i++) {
		for (unsigned n = 0; n < writes; n++)
			call(s, 1, 0, 2000, part);
		block(s, 1, 0, "network", poll);
		s->now += ns;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
	}
	a = analyse(s, NULL);
	level = found(a, "delayed-ack") ? (int)found(a, "delayed-ack")->level : -1;
	if (level >= 0)
		assert_non_null(
			strstr(found(a, "delayed-ack")->text, "in 30 of 30 cases, after two writes."));
	analysis_free(a);
	script_free(s);
	return level;
}

static void test_delayed_ack(void **state)
{
	(void)state;
	assert_int_equal(delayed_ack(2, 41 * MS), LEVEL_INFO);
	assert_int_equal(delayed_ack(1, 41 * MS), -1);
	assert_int_equal(delayed_ack(2, 20 * MS), -1);
}

/* Two ways lead to one line, and the lock's holder waits for the network further down in that function. */
static void test_stuck_behind_one(void **state)
{
	struct script *s = script_new(1500 * MS);
	const struct finding *finding;
	struct analysis *a;

	(void)state;
	procs(s, 3);
	for (uint32_t g = 1; g <= 3; g++) {
		create(s, g, stack(s, "main.serve", NULL, 1, NULL));
		start(s, g, (int32_t)g - 1);
	}
	block(s, 3, 2, "network",
	      stack(s, "internal/poll.runtime_pollWait", "main.broadcast", 12, "main.serve"));
	block(s, 1, 0, "sync", stack(s, "sync.(*Mutex).Lock", "main.broadcast", 7, "main.serve"));
	block(s, 2, 1, "sync", stack(s, "sync.(*Mutex).Lock", "main.broadcast", 7, "main.tick"));
	a = analyse(s, NULL);
	finding = found(a, "stuck");
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "did not get it: main.broadcast (:7)."));
	assert_int_equal(finding->nevidence, 2);
	assert_string_equal(finding->evidence[1], "2 in main.broadcast (:7)");
	assert_string_equal(
		finding->evidence[0],
		"g3 is further down in it, and may hold the lock: network in main.broadcast (:12)");
	analysis_free(a);
	script_free(s);
}

/* Three wait since before the trace. One of them gets the lock: nothing is stuck, only slow. */
static void test_slow_since_before(void **state)
{
	struct script *s = script_new(1500 * MS);
	uint32_t lock = stack(s, "sync.(*Mutex).Lock", "main.debit", 7, "main.serve");
	struct analysis *a;

	(void)state;
	procs(s, 2);
	for (uint32_t g = 1; g <= 3; g++) {
		struct op *op = add(s, OP_GO_STATUS, g, NO_P);

		op->status = G_WAITING;
		op->string = strtab_add_str(s->strings, "sync");
		op->stack = lock;
	}
	at(s, 700 * MS);
	wake(s, 0, NO_P, 1, 0);
	start(s, 1, 0);
	a = analyse(s, NULL);
	assert_null(found(a, "stuck"));
	analysis_free(a);
	script_free(s);
}

/* They take turns to accept a connection: who has the lock waits for one, and the others have no work. */
static void test_turn_to_accept(void **state)
{
	static const char *const accepts[] = {"internal/poll.runtime_pollWait", "net.(*TCPListener).Accept",
					      "main.serve", "main.main"};
	struct script *s = script_new(1500 * MS);
	struct analysis *a;

	(void)state;
	procs(s, 3);
	for (uint32_t g = 1; g <= 3; g++) {
		create(s, g, stack(s, "main.main", NULL, 1, NULL));
		start(s, g, (int32_t)g - 1);
	}
	block(s, 3, 2, "network", stack_of(s, accepts, 4, 12));
	for (uint32_t g = 1; g <= 2; g++)
		block(s, g, (int32_t)g - 1, "sync",
		      stack(s, "sync.(*Mutex).Lock", "main.serve", 7, "main.main"));
	a = analyse(s, NULL);
	assert_null(found(a, "stuck"));
	analysis_free(a);
	script_free(s);
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

static const struct row *row_of(const struct analysis *a, enum activity activity, uint64_t whole)
{
	for (size_t i = 1; i < a->nrows; i++) {
		if (a->rows[i].activity == activity && a->rows[i].hist.n == whole)
			return &a->rows[i];
	}
	return NULL;
}

/* Two calls of a thread. It is preempted in the first one, and goes on with it where it gets a CPU again. */
static void test_call_resumes(void **state)
{
	struct script *s = script_new(100 * MS);
	uint32_t entry = stack(s, "main", NULL, 1, NULL), call = stack(s, "write", NULL, 1, "main");
	struct analysis *a;
	struct op *op;

	(void)state;
	procs(s, 1);
	s->goids[1] = 5000; /* as its thread */
	create(s, 1, entry);
	start(s, 1, 0);
	at(s, 10 * MS);
	add(s, OP_SYSCALL_BEGIN, 1, 0)->stack = call;
	at(s, 12 * MS);
	add(s, OP_SYSCALL_END, 1, 0);
	op = add(s, OP_GO_STOP, 1, 0);
	op->string = str(s, "preempted");
	at(s, 20 * MS);
	add(s, OP_GO_START, 1, 0);
	add(s, OP_SYSCALL_BEGIN, 1, 0)->stack = call;
	at(s, 23 * MS);
	add(s, OP_SYSCALL_END, 1, 0);
	at(s, 30 * MS);
	add(s, OP_SYSCALL_BEGIN, 1, 0)->stack = call;
	at(s, 31 * MS);
	add(s, OP_SYSCALL_END, 1, 0);
	a = analyse(s, NULL);
	assert_non_null(row_of(a, ACT_SYSCALL, 2));
	assert_true(row_of(a, ACT_SYSCALL, 2)->hist.sum / MS == 5 ||
		    row_of(a, ACT_SYSCALL, 2)->hist.sum / MS == 6);
	assert_in_range(row_of(a, ACT_SYSCALL, 2)->hist.max, 4900000, 5100000);
	analysis_free(a);
	script_free(s);
}

/* A thread that a gap hid is created by gotrace, waiting: its wait has no place, and no known begin. */
static void test_created_waiting(void **state)
{
	struct script *s = script_new(100 * MS);
	uint32_t entry = stack(s, "main.serve", NULL, 1, NULL), lost = stack(s, "[lost]", NULL, 1, "gotrace");
	struct analysis *a;
	struct op *op;
	uint32_t *rows;
	size_t n;

	(void)state;
	procs(s, 1);
	s->goids[7] = OWN_GOID;
	op = add(s, OP_GO_STATUS, 7, NO_P);
	op->status = G_WAITING;
	op = add(s, OP_GO_CREATE_BLOCKED, 7, 0);
	op->g2 = 1;
	op->stack = lost;
	op->stack2 = entry;
	at(s, 50 * MS);
	wake(s, 7, 0, 1, lost);
	start(s, 1, 0);
	a = analyse(s, NULL);
	assert_null(row_of(a, ACT_OTHER, 1));
	rows = order_table(a, TABLE_GOROUTINES, SORT_TOTAL, &n);
	for (size_t i = 0; i < n; i++)
		assert_string_not_equal(name_text(a, a->groups[rows[i]].func), "gotrace");
	free(rows);
	analysis_free(a);
	script_free(s);
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

static struct analysis *unlike(struct script *s, const char *log)
{
	const struct analysis_options options = {.name = "t", .file = "t"};
	struct analysis *a = analysis_new(&options);

	assert_non_null(a);
	procs(s, 2);
	create(s, 2, stack(s, "main.serve", NULL, 1, NULL));
	start(s, 2, 1);
	add_log(s, 100 * MS, log);
	add_log(s, 400 * MS, "watched again from here on");
	pass_on(a, s, 0, true);
	assert_int_equal(analysis_end(a), 0);
	return a;
}

/* That records were lost, and that a time was not watched, are two findings. */
static void test_diff_of_trust(void **state)
{
	const struct report_style style = {0};
	struct script *s = script_new(1000 * MS), *lossy = script_new(1000 * MS);
	struct analysis *before = unlike(s, "not watched from here on: a ring was full"),
			*after = unlike(lossy, "lost 5 records (ring full 0, unreadable 3, missed 2)");
	struct diff *diff = diff_new(before, after);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(diff);
	diff_text(diff, out, &style);
	fclose(out);
	assert_non_null(strstr(text, "new      medium         trust\n  5 records were lost"));
	assert_non_null(strstr(text, "gone     high           trust\n  300 ms"));
	free(text);
	diff_free(diff);
	analysis_free(before);
	analysis_free(after);
	script_free(s);
	script_free(lossy);
}

/* g1 waits here 20 times, for 60 ms in all; 900 ms more if it has grown. */
static struct analysis *grows(struct script *s, bool grown)
{
	uint32_t wait = stack(s, "runtime.chansend1", "main.build", 9, "main.main");

	procs(s, 1);
	create(s, 1, stack(s, "main.main", NULL, 1, NULL));
	start(s, 1, 0);
	for (unsigned i = 0; i < 20; i++) {
		block(s, 1, 0, "chan send", wait);
		s->now += grown ? 48 * MS : 3 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		s->now += MS;
	}
	return analyse(s, NULL);
}

static char *diff_of(struct analysis *before, struct analysis *after)
{
	const struct report_style style = {0};
	struct diff *diff = diff_new(before, after);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(diff);
	diff_text(diff, out, &style);
	fclose(out);
	diff_free(diff);
	return text;
}

/* What has grown most comes before the findings, and nothing does that has become less. */
static void test_diff_of_what_has_grown(void **state)
{
	struct script *small = script_new(1000 * MS), *large = script_new(1000 * MS);
	struct analysis *before = grows(small, false), *after = grows(large, true);
	char *there = diff_of(before, after), *back = diff_of(after, before);
	const char *grew = strstr(there, "GREW MOST, a second\n  60.0 ms >   960 ms  x16");

	(void)state;
	if (!grew)
		fail_msg("%s", there);
	assert_true(grew < strstr(there, "FINDINGS"));
	assert_null(strstr(back, "GREW MOST"));
	free(there);
	free(back);
	analysis_free(before);
	analysis_free(after);
	script_free(small);
	script_free(large);
}

/* Two goroutines wait for a lock from `since` on, in a trace of 3 s. */
static const struct finding *locked_since(struct script *s, uint64_t since, struct analysis **a)
{
	procs(s, 2);
	for (uint32_t g = 1; g <= 2; g++) {
		create(s, g, stack(s, "main.serve", NULL, 1, NULL));
		start(s, g, (int32_t)g - 1);
	}
	at(s, since);
	for (uint32_t g = 1; g <= 2; g++)
		block(s, g, (int32_t)g - 1, "sync",
		      stack(s, "sync.(*Mutex).Lock", "main.transfer", 30 + g, "main.serve"));
	*a = analyse(s, NULL);
	return found(*a, "stuck");
}

static void test_stuck_from_within(void **state)
{
	struct script *early = script_new(3000 * MS), *late = script_new(3000 * MS);
	struct analysis *a;
	const struct finding *finding = locked_since(early, 1000 * MS, &a);

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_HIGH);
	assert_non_null(strstr(finding->text, "2 goroutines waited for a lock until the end of the trace"));
	analysis_free(a);
	assert_null(locked_since(late, 2000 * MS, &a));
	analysis_free(a);
	script_free(early);
	script_free(late);
}

/* A finding that comes when the table is full takes the place of the one that weighs least. */
static void test_full_table(void **state)
{
	struct script *s = script_new(1000 * MS);
	struct analysis *a = grows(s, false);

	(void)state;
	a->nfindings = 0;
	for (unsigned i = 0; i < ANALYSIS_FINDINGS; i++)
		finding_at_most(finding_add(a, "leak", i == 7 ? 0.1 : 0.3), LEVEL_INFO);
	finding_add(a, "stuck", 0.3);
	assert_int_equal(a->nfindings, ANALYSIS_FINDINGS);
	assert_string_equal(a->findings[7].id, "stuck");
	assert_int_equal(a->findings[7].level, LEVEL_HIGH);
	for (unsigned i = 0; i < ANALYSIS_FINDINGS; i++)
		finding_add(a, "outlier", 0.3);
	a->findings[9].level = LEVEL_LOW;
	finding_add(a, "dns", 0.1);
	assert_string_equal(a->findings[9].id, "dns");
	finding_add(a, "burst", 0.02);
	finding_add(a, "burst", 0);
	for (unsigned i = 0; i < ANALYSIS_FINDINGS; i++)
		assert_string_not_equal(a->findings[i].id, "burst");
	finding_at_most(&a->findings[8], LEVEL_INFO);
	/* What has been limited stays so when it explains more. */
	finding_weigh(&a->findings[8], 1);
	assert_int_equal(a->findings[8].level, LEVEL_INFO);
	analysis_free(a);
	script_free(s);
}

/* A key that comes late inherits the weight of another one, which is not its own: not when lists are merged,
 * either. */
static void test_sure_weights(void **state)
{
	struct top tops[TOPS] = {{0}}, merged[TOPS] = {{0}};

	(void)state;
	for (uint64_t key = 1; key <= TOPS; key++)
		top_add(tops, key, 15);
	top_add(tops, 99, 40);
	top_merge(merged, tops);
	for (const struct top *list = tops; list; list = list == tops ? merged : NULL) {
		assert_int_equal(top_first(list)->key, 99);
		assert_int_equal(top_first(list)->weight, 55);
		assert_int_equal(top_sure(top_first(list)), 40);
	}
}

static uint32_t answer_of(struct script *s)
{
	return stack(s, "runtime.chansend1", "main.answer", 5, "main.loop");
}

/* g1 waits here again and again, for 20 ms each time; a timer ends the waits, or g2 with this stack. */
static struct analysis *waiting(struct script *s, uint32_t where, const char *reason, uint32_t by_g2)
{
	uint32_t entry = stack(s, "main.loop", NULL, 1, NULL);
	uint32_t nap = stack(s, "runtime.selectgo", "main.poll", 4, "main.loop");

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
			wake(s, 2, 1, 1, by_g2);
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
	struct analysis *a = waiting(s, inside, "sleep", 0);
	const struct finding *finding = found(a, "request-place");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "of their time in main.backoff (:7): sleep, "));
	assert_int_equal(finding->n, 60);
	analysis_free(a);
	a = waiting(clean, outside, "sleep", 0);
	assert_null(found(a, "request-place"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

/* Requests that fail because their deadline passes are no mere information. */
static void test_requests_that_fail(void **state)
{
	struct script *s = script_new(1500 * MS);
	uint32_t ask = stack(s, "runtime.selectgo", "main.ask", 7, "net/http.serverHandler.ServeHTTP");
	uint32_t late = stack(s, "runtime.closechan", "context.WithDeadlineCause.func2", 1, "time.goFunc");
	struct analysis *a = waiting(s, ask, "select", late);
	const struct finding *finding = found(a, "request-place");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_HIGH);
	assert_string_equal(finding->evidence[1],
			    "60 of them ended at their deadline, after 20.0 ms on average");
	analysis_free(a);
	script_free(s);
}

/* No place has half of the time, but the function of the library that three places call. */
static void test_requests_in_a_library(void **state)
{
	static const char *const places[] = {"main.number", "main.store", "main.index"};
	struct script *s = script_new(1500 * MS);
	const struct finding *finding;
	uint32_t where[3];
	struct analysis *a;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const char *const funcs[] = {"runtime.selectgo", "database/sql.(*DB).conn", places[i],
					     "main.create", "net/http.serverHandler.ServeHTTP"};

		where[i] = stack_of(s, funcs, 5, 7 + i);
	}
	procs(s, 1);
	create(s, 1, where[0]);
	start(s, 1, 0);
	for (unsigned i = 0; i < 60; i++) {
		block(s, 1, 0, "select", where[i % 3]);
		s->now += 20 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		s->now += MS;
	}
	a = analyse(s, NULL);
	finding = found(a, "request-place");
	assert_non_null(finding);
	if (!strstr(finding->text,
		    "Requests in main.create spend 80 % of their time in sql.(*DB).conn, called "
		    "at 3 places: select, 1.20 s in all."))
		fail_msg("%s", finding->text);
	assert_int_equal(finding->n, 60);
	analysis_free(a);
	script_free(s);
}

/* A middleware of the program calls the handler through net/http. */
static void test_requests_behind_middleware(void **state)
{
	static const char *const funcs[] = {"time.Sleep",         "main.backoff",
					    "main.pay",           "net/http.HandlerFunc.ServeHTTP",
					    "main.logging.func1", "net/http.serverHandler.ServeHTTP"};
	struct script *s = script_new(1500 * MS);
	struct analysis *a = waiting(s, stack_of(s, funcs, 6, 7), "sleep", 0);

	(void)state;
	assert_non_null(found(a, "request-place"));
	assert_non_null(strstr(found(a, "request-place")->text,
			       "Requests in main.pay spend 95 % of their time in main.backoff (:7): sleep"));
	analysis_free(a);
	script_free(s);
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
	assert_non_null(strstr(finding->text, "of their time running main.match"));
	assert_non_null(strstr(finding->text, "in regexp.MustCompile"));
	analysis_free(a);
	script_free(s);
}

static void test_timer_bound(void **state)
{
	struct script *s = script_new(1500 * MS), *clean = script_new(1500 * MS);
	uint32_t asks = stack(s, "runtime.chanrecv1", "main.submit", 7, "net/http.serverHandler.ServeHTTP");
	uint32_t idle = stack(clean, "runtime.chanrecv1", "main.work", 7, "main.loop");
	struct analysis *a = waiting(s, asks, "chan receive", answer_of(s));
	const struct finding *finding = found(a, "timer-bound");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "main.submit"));
	assert_non_null(strstr(finding->text, "select in main.poll"));
	analysis_free(a);
	a = waiting(clean, idle, "chan receive", answer_of(clean));
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
	struct analysis *a = waiting(s, inside, "sleep", 0);
	const struct finding *finding = found(a, "finalizer");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_MEDIUM);
	assert_non_null(strstr(finding->text, "main.closeHandle"));
	analysis_free(a);
	a = waiting(clean, idle, "finalizer wait", 0);
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

/* g1 sleeps in a task of tokio, or in one that spawn_blocking runs. */
static struct analysis *sleeping(struct script *s, const char *task)
{
	uint32_t entry = stack(s, "std::thread::start", NULL, 1, NULL);
	const char *const frames[] = {"std::thread::sleep", "app::handle", task,
				      "tokio::runtime::scheduler::multi_thread::worker::Context::run_task"};
	uint32_t sleeps = stack_of(s, frames, 4, 7);

	procs(s, 1);
	create(s, 1, entry);
	start(s, 1, 0);
	for (unsigned i = 0; i < 60; i++) {
		block(s, 1, 0, "sleep", sleeps);
		s->now += 20 * MS;
		wake(s, 0, 0, 1, 0);
		start(s, 1, 0);
		s->now += MS;
	}
	s->end = s->now;
	return analyse(s, NULL);
}

static void test_sleeps_in_tasks(void **state)
{
	struct script *s = script_new(1500 * MS), *clean = script_new(1500 * MS);
	struct analysis *a = sleeping(s, "tokio::runtime::task::core::Core<T,S>::poll");
	const struct finding *finding = found(a, "call-place");

	(void)state;
	assert_non_null(finding);
	assert_int_equal(finding->level, LEVEL_INFO);
	assert_non_null(strstr(finding->text, "app::handle"));
	assert_non_null(strstr(finding->text, "in sleeps: 60 times"));
	analysis_free(a);
	a = sleeping(clean,
		     "<tokio::runtime::blocking::task::BlockingTask<T> as core::future::Future>::poll");
	assert_null(found(a, "call-place"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
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
	assert_string_equal(finding->evidence[finding->nevidence - 1],
			    "what C waits for there: gotrace report -p PID --as c");
	analysis_free(a);
	a = calling(clean, "syscall.Wait4");
	assert_null(found(a, "call-place"));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

/* A callback asks a server for one message after the other, 4 ms each, and runs for `other` between. */
static void check_deliver(uint64_t other, bool always)
{
	struct script *s = script_new(1500 * MS);
	uint32_t wait = stack(s, "net/http.(*persistConn).roundTrip", "main.deliver", 7, "main.listen");
	struct analysis *a;

	procs(s, 2);
	create(s, 1, stack(s, "main.listen", NULL, 1, NULL));
	start(s, 1, 0);
	while (s->now < 1480 * MS) {
		block(s, 1, 0, "select", wait);
		s->now += 4 * MS;
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		s->now += other;
	}
	a = analyse(s, NULL);
	assert_true((found(a, "call-place") != NULL) == always);
	if (always)
		assert_non_null(strstr(found(a, "call-place")->text, "main.deliver"));
	analysis_free(a);
	script_free(s);
}

static void test_one_answer_at_a_time(void **state)
{
	(void)state;
	check_deliver(MS / 10, true);
	check_deliver(4 * MS, false);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_queries_one_by_one),
	cmocka_unit_test(test_outlier_of_goroutines),
	cmocka_unit_test(test_outlier_of_queries),
	cmocka_unit_test(test_made_up_id),
	cmocka_unit_test(test_meanwhile),
	cmocka_unit_test(test_stuck),
	cmocka_unit_test(test_stuck_behind_one),
	cmocka_unit_test(test_slow_since_before),
	cmocka_unit_test(test_turn_to_accept),
	cmocka_unit_test(test_delayed_ack),
	cmocka_unit_test(test_not_stuck),
	cmocka_unit_test(test_call_resumes),
	cmocka_unit_test(test_created_waiting),
	cmocka_unit_test(test_diff),
	cmocka_unit_test(test_diff_of_trust),
	cmocka_unit_test(test_diff_of_what_has_grown),
	cmocka_unit_test(test_stuck_from_within),
	cmocka_unit_test(test_full_table),
	cmocka_unit_test(test_sure_weights),
	cmocka_unit_test(test_requests),
	cmocka_unit_test(test_requests_that_fail),
	cmocka_unit_test(test_requests_in_a_library),
	cmocka_unit_test(test_requests_behind_middleware),
	cmocka_unit_test(test_requests_that_run),
	cmocka_unit_test(test_timer_bound),
	cmocka_unit_test(test_finalizer),
	cmocka_unit_test(test_hand_off),
	cmocka_unit_test(test_polled),
	cmocka_unit_test(test_one_answer_at_a_time),
	cmocka_unit_test(test_calls),
	cmocka_unit_test(test_sleeps_in_tasks),
};

UNIT_TESTS(tests, NULL, NULL);
