/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Every wait for a worker is limited, and no worker outlives its parent. */

#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/broker.h"
#include "sandbox/inspection.h"
#include "sandbox/child.h"
#include "sandbox/privilege.h"
#include "target/memory.h"
#include "target/reads.h"

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* --- workers that do not answer --- */

static void loop_for_good(struct channel *channel, void *ctx)
{
	volatile bool always = true;

	(void)channel;
	(void)ctx;
	while (always)
		continue;
}

static void sleep_for_good(struct channel *channel, void *ctx)
{
	(void)channel;
	(void)ctx;
	for (;;)
		poll(NULL, 0, 1000);
}

/* Sends valid records, but never a result. */
static void answer_for_good(struct channel *channel, void *ctx)
{
	const struct message record = {.kind = RPC_RECORD, .code = LOG_SNAPSHOT_END};
	struct message question;

	(void)ctx;
	if (channel_take(channel, &question, NULL))
		return;
	while (channel_put(channel, &record, NULL) == 0)
		continue;
}

static bool always(void *ctx)
{
	(void)ctx;
	return true;
}

static int try_start(struct sandbox *sandbox, sandbox_work work, void *ctx, struct error *err)
{
	const struct sandbox_plan plan = {
		.what = "the worker", .work = work, .ctx = ctx, .bytes = SANDBOX_BYTES};

	return sandbox_start(sandbox, &plan, err);
}

static void start(struct sandbox *sandbox, sandbox_work work, void *ctx)
{
	struct error err;

	if (try_start(sandbox, work, ctx, &err))
		fail_msg("%s", err.text);
}

static void is_given_up(struct sandbox *sandbox, unsigned most_ms, const char *why)
{
	struct inspection inspection = {.rpc = {.kind = 1}};
	uint64_t begin = now_ms();
	pid_t pid = sandbox->pid;
	struct error err;

	assert_true(inspect(sandbox, &inspection, &err) < 0);
	assert_in_range(now_ms() - begin, 0, most_ms);
	assert_non_null(strstr(err.text, why));
	assert_true(kill(pid, 0) != 0 && errno == ESRCH);
	/* No further requests are sent to it. */
	begin = now_ms();
	assert_true(inspect(sandbox, &inspection, &err) < 0);
	assert_in_range(now_ms() - begin, 0, 100);
	sandbox_end(sandbox);
}

static void a_busy_one_is_given_up_at_the_end(void **state)
{
	struct sandbox sandbox;

	(void)state;
	start(&sandbox, loop_for_good, NULL);
	sandbox_until(&sandbox, always, NULL);
	is_given_up(&sandbox, 2000, "was still busy when the trace was to end");
}

static void a_busy_one_is_given_up_in_the_end(void **state)
{
	struct sandbox sandbox;

	(void)state;
	start(&sandbox, loop_for_good, NULL);
	sandbox.answer_s = 1;
	is_given_up(&sandbox, 2500, "takes too long");
}

static void a_stopped_one_is_given_up(void **state)
{
	struct sandbox sandbox;

	(void)state;
	start(&sandbox, sleep_for_good, NULL);
	sandbox.stopped_ms = 500;
	assert_int_equal(kill(sandbox.pid, SIGSTOP), 0);
	poll(NULL, 0, 100);
	assert_true(sandbox_is_stopped(&sandbox));
	/* The same holds for later requests. */
	assert_true(sandbox_is_stopped(&sandbox));
	is_given_up(&sandbox, 2000, "is stopped");
}

static void one_that_goes_on_is_not_stopped(void **state)
{
	struct sandbox sandbox;

	(void)state;
	start(&sandbox, sleep_for_good, NULL);
	kill(sandbox.pid, SIGSTOP);
	poll(NULL, 0, 50);
	kill(sandbox.pid, SIGCONT);
	poll(NULL, 0, 50);
	assert_false(sandbox_is_stopped(&sandbox));
	sandbox_end(&sandbox);
}

static void a_stopped_one_is_ended(void **state)
{
	struct sandbox sandbox;
	uint64_t begin = now_ms();
	pid_t pid;

	(void)state;
	start(&sandbox, sleep_for_good, NULL);
	pid = sandbox.pid;
	kill(pid, SIGSTOP);
	poll(NULL, 0, 50);
	sandbox_end(&sandbox);
	assert_in_range(now_ms() - begin, 0, 1500);
	assert_true(kill(pid, 0) != 0 && errno == ESRCH);
}

/* --- endless answers --- */

static unsigned taken;

static int take_record(void *ctx, const struct log_record *record)
{
	(void)ctx;
	(void)record;
	taken++;
	return 0;
}

static void an_answer_has_an_end(void **state)
{
	struct inspection inspection = {.rpc = {.kind = 1}, .sink = take_record};
	struct sandbox sandbox;
	struct error err;

	(void)state;
	start(&sandbox, answer_for_good, NULL);
	assert_true(inspect(&sandbox, &inspection, &err) < 0);
	assert_non_null(strstr(err.text, "sent an invalid answer"));
	assert_int_equal(taken, MAX_ANSWER_RECORDS);
	sandbox_end(&sandbox);
}

/* --- death of the parent --- */

/* Returns the pid of a worker whose parent is killed once the worker runs. */
static pid_t orphan(sandbox_work work, int signal_before)
{
	int ends[2], status;
	pid_t parent, worker = 0;

	assert_int_equal(pipe(ends), 0);
	parent = fork();
	if (parent == 0) {
		struct sandbox sandbox;
		struct error err;

		if (try_start(&sandbox, work, NULL, &err) ||
		    write(ends[1], &sandbox.pid, sizeof(sandbox.pid)) < 0)
			_exit(1);
		/* The capabilities of gotrace once everything is attached. */
		privilege_keep(PRIVILEGE_WORKERS, &err);
		pause();
	}
	assert_int_equal(read(ends[0], &worker, sizeof(worker)), sizeof(worker));
	poll(NULL, 0, 100);
	if (signal_before)
		kill(worker, signal_before);
	kill(parent, SIGKILL);
	waitpid(parent, &status, 0);
	close(ends[0]);
	close(ends[1]);
	return worker;
}

static bool ends_within(pid_t pid, int ms)
{
	int status;

	/* It is our child now, so we must reap it. */
	return child_wait(pid, ms, &status);
}

static void none_outlives_its_parent(void **state)
{
	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	assert_true(ends_within(orphan(sleep_for_good, 0), 500));
	assert_true(ends_within(orphan(loop_for_good, 0), 500));
	assert_true(ends_within(orphan(sleep_for_good, SIGSTOP), 500));
	prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

/* --- the broker --- */

static ssize_t read_by(const struct target_reads *reads, uint64_t address, void *to, size_t size)
{
	const struct iovec from = {(void *)(uintptr_t)address, size};

	return reads->memory(reads->ctx, getpid(), &from, 1, to, size);
}

static void reading_goes_by_the_broker(void **state)
{
	static const char here[] = "what is here";
	char bytes[sizeof(here)] = "";
	struct error err;
	struct broker *broker = broker_new(&err);
	const struct target_reads *reads;

	(void)state;
	assert_non_null(broker);
	reads = broker_reads(broker);
	assert_int_equal(read_by(reads, (uintptr_t)here, bytes, sizeof(bytes)), -ESRCH);
	broker_allow(broker, getpid());
	assert_int_equal(read_by(reads, (uintptr_t)here, bytes, sizeof(bytes)), sizeof(here));
	assert_string_equal(bytes, here);
	assert_true(read_by(reads, 8, bytes, sizeof(bytes)) < 0);
	assert_false(broker_has_exited(broker));
	broker_free(broker);
}

/* More pieces than one message has, in memory apart from each other, and one that is not there. */
static void many_pieces_are_read_by_the_broker(void **state)
{
	enum { PIECES = 600, APART = 1024, MISSING = 300 };
	static uint64_t there[PIECES * APART / 8];
	struct memory_piece pieces[PIECES];
	struct memory_batch batch = {.pid = getpid()};
	struct error err;
	struct broker *broker = broker_new(&err);

	(void)state;
	assert_non_null(broker);
	broker_allow(broker, getpid());
	target_reads_set_delegate(broker_reads(broker));
	for (uint32_t i = 0; i < PIECES; i++) {
		there[i * APART / 8] = i;
		pieces[i] =
			(struct memory_piece){.address = i == MISSING ? 8 : (uintptr_t)&there[i * APART / 8],
					      .size = 8,
					      .owner = i};
	}
	assert_int_equal(memory_gather(&batch, pieces, PIECES), 0);
	for (uint32_t i = 0; i < PIECES; i++) {
		uint64_t number;

		if (pieces[i].owner == MISSING) {
			assert_null(pieces[i].bytes);
			continue;
		}
		assert_non_null(pieces[i].bytes);
		memcpy(&number, pieces[i].bytes, sizeof(number));
		assert_int_equal(number, pieces[i].owner);
	}
	memory_batch_free(&batch);
	target_reads_set_delegate(NULL);
	broker_free(broker);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_busy_one_is_given_up_at_the_end),
	cmocka_unit_test(a_busy_one_is_given_up_in_the_end),
	cmocka_unit_test(a_stopped_one_is_given_up),
	cmocka_unit_test(one_that_goes_on_is_not_stopped),
	cmocka_unit_test(a_stopped_one_is_ended),
	cmocka_unit_test(an_answer_has_an_end),
	cmocka_unit_test(none_outlives_its_parent),
	cmocka_unit_test(reading_goes_by_the_broker),
	cmocka_unit_test(many_pieces_are_read_by_the_broker),
};

UNIT_TESTS(tests, NULL, NULL);
