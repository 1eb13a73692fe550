/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the kernel sees of threads, and what the trace says then: each row of the mapping, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "thread_log.h"

enum {
	CALL_READ = 1 + 0,
	CALL_YIELD = 1 + 24,
	CALL_CLONE = 1 + 56,
	CALL_EXIT = 1 + 60,
	CALL_FUTEX = 1 + 202
};
enum { MAIN_PC = 0x1000, WORKER_PC = 0x2000, MUTEX_PC = 0x3000, START_PC = 0x9000 };
enum { STACK_MAIN = 11, STACK_WORKER, STACK_BROKEN };

static void names(struct thread_log *log)
{
	static const uint64_t main_pcs[] = {MAIN_PC + 1, MAIN_PC, START_PC};
	static const uint64_t worker_pcs[] = {MUTEX_PC, WORKER_PC + 1, WORKER_PC, START_PC};

	thread_log_symbol(log, MAIN_PC, "main", 0);
	thread_log_symbol(log, MAIN_PC + 1, "work", 0);
	thread_log_symbol(log, WORKER_PC, "worker", 0);
	thread_log_symbol(log, WORKER_PC + 1, "job", 0);
	thread_log_symbol(log, MUTEX_PC, "pthread_mutex_lock", HINT_MUTEX);
	thread_log_symbol(log, START_PC, "start_thread", HINT_START);
	thread_log_stack(log, STACK_MAIN, 0, main_pcs, 3);
	thread_log_stack(log, STACK_WORKER, 0, worker_pcs, 4);
	thread_log_stack(log, STACK_BROKEN, RAW_STACK_BROKEN, worker_pcs, 2);
}

/* Thread 100 runs on CPU 0, thread 101 waits. */
static void begin(struct thread_log *log)
{
	struct log_thread threads[] = {
		{.tid = 100, .cpu = 0, .start_ns = 1, .status = LOG_THREAD_RUNNING, .comm = "app"},
		{.tid = 101,
		 .cpu = 1,
		 .start_ns = 2,
		 .status = LOG_THREAD_WAITING,
		 .left = LEFT_ASLEEP,
		 .arg = CALL_FUTEX,
		 .stack = STACK_WORKER,
		 .comm = "app"},
	};

	thread_log_begin(log, 0, NULL);
	names(log);
	thread_log_snapshot(log, 2, threads, 2);
}

/* The ops after the first generation's statuses. */
static const char *rest(struct thread_log *log)
{
	const char *at;

	thread_log_end(log);
	at = strstr(log->text, "ProcsChange");
	assert_non_null(at);
	return strchr(at, '\n') + 1;
}

#define RECORD(log, ...) thread_log_record(log, (struct raw_record){__VA_ARGS__})

static void test_start(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	thread_log_end(&log);
	assert_string_equal(log.text, "-- 1\n"
				      "ProcStatus m100 p0 running\n"
				      "ProcStatus p1 idle\n"
				      "GoStatus m100 g100 running {|app} entry{|app}\n"
				      "GoStatus g101 waiting {futex|3000|2001|2000|worker [app]} "
				      "entry{|worker [app]}\n"
				      "ProcsChange m100 p0 g100 arg=2\n");
	thread_log_free(&log);
}

static void test_block_and_wake(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	RECORD(&log, .site = SITE_WAKING, .tid = 100, .g = 101, .status = WAKER_THREAD, .stack = STACK_MAIN);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .g = 101);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .tid = 101, .status = LEFT_ASLEEP, .arg = CALL_FUTEX,
	       .stack = STACK_WORKER);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100);
	assert_string_equal(rest(&log), "GoUnblock m100 p0 g100 g2=101 {|1001|1000|main [app]}\n"
					"ProcStart m101 p1\n"
					"GoStart m101 p1 g101\n"
					"GoBlock m101 p1 g101 'sync (mutex)' "
					"{futex|3000|2001|2000|worker [app]}\n"
					"ProcStop m101 p1\n"
					"GoStop m100 p0 g100 'preempted'\n"
					"ProcStop m100 p0\n");
	thread_log_free(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_block_and_wake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
