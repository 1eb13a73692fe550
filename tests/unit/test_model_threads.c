/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The kernel's records of threads, and the ops made from them: a case for each row of the mapping. */
#include <stdio.h>
#include <string.h>

#include "unit.h"

#include "thread_log.h"
#include "values_record.h"

enum {
	CALL_READ = 1 + 0,
	CALL_YIELD = 1 + 24,
	CALL_SLEEP = 1 + 35,
	CALL_CLONE = 1 + 56,
	CALL_EXIT = 1 + 60,
	CALL_FUTEX = 1 + 202
};
enum { MAIN_PC = 0x1000, WORKER_PC = 0x2000, MUTEX_PC = 0x3000, START_PC = 0x9000 };
enum { STACK_MAIN = 11, STACK_WORKER, STACK_BROKEN, STACK_KERNEL, STACK_KERNEL_ALONE };

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

static void snapshot(struct thread_log *log)
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

	names(log);
	thread_log_snapshot(log, 2, threads, 2);
}

/* Thread 100 runs on CPU 0, thread 101 waits. */
static void begin(struct thread_log *log)
{
	thread_log_begin(log, 0, NULL);
	snapshot(log);
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
				      "GoStatus g101 waiting 'sync (mutex)' {futex|3000|2001|2000|worker "
				      "[app]} entry{|worker [app]}\n"
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

/* The kernel's frames are above the call, and are not part of a call that continues. */
static void test_kernel_frames(void **state)
{
	static const uint64_t pcs[] = {LOG_KERNEL_PC | 1, LOG_KERNEL_PC | 2, MUTEX_PC,
				       WORKER_PC + 1,     WORKER_PC,         START_PC};
	struct thread_log log;

	(void)state;
	begin(&log);
	thread_log_symbol(&log, LOG_KERNEL_PC | 1, "futex_do_wait", 0);
	thread_log_symbol(&log, LOG_KERNEL_PC | 2, "do_futex", 0);
	thread_log_stack(&log, STACK_KERNEL, 0, pcs, 6);
	thread_log_stack(&log, STACK_KERNEL_ALONE, 0, pcs, 2);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .g = 101);
	RECORD(&log, .site = SITE_SYSCALL_DONE, .p = 1, .tid = 101, .arg = CALL_FUTEX);
	RECORD(&log, .site = SITE_SYSCALL, .p = 1, .tid = 101, .arg = CALL_FUTEX, .stack = STACK_WORKER);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .tid = 101, .status = LEFT_ASLEEP, .arg = CALL_FUTEX,
	       .stack = STACK_KERNEL);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .g = 101, .time = log.now + 100000);
	RECORD(&log, .site = SITE_SYSCALL_DONE, .p = 1, .tid = 101, .arg = CALL_FUTEX,
	       .time = log.now + 100000);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .tid = 101, .status = LEFT_DISK,
	       .stack = STACK_KERNEL_ALONE);
	assert_string_equal(
		rest(&log),
		"GoUnblock g2=101 ~\n"
		"ProcStart m101 p1\n"
		"GoStart m101 p1 g101\n"
		"GoSyscallBegin m101 p1 g101 {futex|3000|2001|2000|worker [app]}\n"
		"GoSyscallEnd m101 p1 g101\n"
		"GoBlock m101 p1 g101 'sync (mutex)' "
		"{futex|8000000000000001|8000000000000002|3000|2001|2000|worker [app]}\n"
		"ProcStop m101 p1\n"
		"GoUnblock g2=101 ~\n"
		"ProcStart m101 p1\n"
		"GoStart m101 p1 g101\n"
		"GoSyscallBegin m101 p1 g101 {futex|3000|2001|2000|worker [app]} ~\n"
		"GoSyscallEnd m101 p1 g101\n"
		"GoBlock m101 p1 g101 'page fault' {[page fault]|8000000000000001|8000000000000002|worker "
		"[app]}\n"
		"ProcStop m101 p1\n");
	thread_log_free(&log);
}

static void test_early_waking(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	RECORD(&log, .site = SITE_WAKING, .tid = 0, .p = 1, .g = 100, .status = WAKER_INTERRUPT,
	       .arg = INTERRUPT_TIMER);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_ASLEEP, .arg = CALL_SLEEP);
	RECORD(&log, .site = SITE_SWITCH, .g = 100);
	assert_string_equal(rest(&log), "GoBlock m100 p0 g100 'sleep' {nanosleep|app}\n"
					"ProcStop m100 p0\n"
					"GoUnblock g2=100 {|[interrupt: timer]}\n"
					"ProcStart m100 p0\n"
					"GoStart m100 p0 g100\n");
	thread_log_free(&log);
}

static void test_early_waking_in_vain(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	/* The thread is switched out runnable: the wakeup does not count. */
	RECORD(&log, .site = SITE_WAKING, .p = 1, .g = 100, .status = WAKER_INTERRUPT);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100);
	RECORD(&log, .site = SITE_SWITCH, .g = 100);
	/* The thread does something in between. */
	RECORD(&log, .site = SITE_WAKING, .p = 1, .g = 100, .status = WAKER_INTERRUPT);
	RECORD(&log, .site = SITE_WAKING, .tid = 100, .g = 101, .status = WAKER_THREAD);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_ASLEEP, .arg = CALL_SLEEP);
	RECORD(&log, .site = SITE_WAKING, .p = 1, .g = 100, .status = WAKER_INTERRUPT, .arg = INTERRUPT_DISK);
	RECORD(&log, .site = SITE_SWITCH, .g = 100);
	/* A second wakeup cancels the first. */
	RECORD(&log, .site = SITE_WAKING, .p = 1, .g = 100, .status = WAKER_INTERRUPT,
	       .arg = INTERRUPT_TIMER);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_ASLEEP, .arg = CALL_SLEEP);
	RECORD(&log, .site = SITE_WAKING, .p = 1, .g = 100, .status = WAKER_INTERRUPT, .arg = INTERRUPT_NET);
	assert_string_equal(rest(&log), "GoStop m100 p0 g100 'preempted'\n"
					"ProcStop m100 p0\n"
					"ProcStart m100 p0\n"
					"GoStart m100 p0 g100\n"
					"GoUnblock m100 p0 g100 g2=101 {|app}\n"
					"GoBlock m100 p0 g100 'sleep' {nanosleep|app}\n"
					"ProcStop m100 p0\n"
					"GoUnblock g2=100 {|[interrupt: disk]}\n"
					"ProcStart m100 p0\n"
					"GoStart m100 p0 g100\n"
					"GoBlock m100 p0 g100 'sleep' {nanosleep|app}\n"
					"ProcStop m100 p0\n"
					"GoUnblock g2=100 {|[interrupt: network]}\n");
	thread_log_free(&log);
}

static void test_wakers(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	thread_log_comm(&log, 900, "client");
	RECORD(&log, .site = SITE_WAKING, .tid = 900, .p = 1, .g = 101, .status = WAKER_OTHER, .arg = 899);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .g = 101);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .tid = 101, .status = LEFT_ASLEEP, .arg = CALL_FUTEX);
	/* The waker is on a CPU where the model has a traced thread: it gets no P. */
	RECORD(&log, .site = SITE_WAKING, .tid = 901, .p = 0, .g = 101, .status = WAKER_OTHER, .arg = 901);
	assert_string_equal(rest(&log), "ProcStart m900 p1\n"
					"GoUnblock m900 p1 g2=101 {|[outside] client (899)}\n"
					"ProcStop m900 p1\n"
					"ProcStart m101 p1\n"
					"GoStart m101 p1 g101\n"
					"GoBlock m101 p1 g101 'sync (futex)' {futex|worker [app]}\n"
					"ProcStop m101 p1\n"
					"GoUnblock g2=101 {|[outside] ? (901)}\n");
	thread_log_free(&log);
}

/* Each connection has its own name, for days. Stacks and files are resent from time to time. */
static void test_names_for_days(void **state)
{
	enum { CONNECTIONS = 150000, GENERATION = 500, RENEWAL = 16384, MOST = 1 << 17 };
	struct log_note renew = {.flags = LOG_NOTE_RENEW};
	struct thread_log log;
	char name[32], expected[96];

	(void)state;
	thread_log_begin_days(&log);
	snapshot(&log);
	for (unsigned i = 0; i < CONNECTIONS; i++) {
		uint64_t socket = WAIT_MAKE(FILE_SOCKET, 9, i);

		snprintf(name, sizeof(name), "10.0.0.1:%u", i);
		thread_log_file(&log, socket, name);
		RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .arg = CALL_READ, .arg2 = socket,
		       .stack = STACK_MAIN);
		if (i % GENERATION == 0 && i < CONNECTIONS - GENERATION) {
			thread_log_boundary(&log);
			log.len = 0;
		}
		if (i % RENEWAL == 0) {
			thread_log_put(&log, LOG_NOTE, &renew, sizeof(renew));
			names(&log);
		}
		RECORD(&log, .site = SITE_SYSCALL_DONE, .tid = 100, .arg = CALL_READ);
		assert_true(strtab_count(log.strings) < MOST);
	}
	thread_log_end(&log);
	snprintf(expected, sizeof(expected),
		 "GoSyscallBegin m100 p0 g100 {read(9: 10.0.0.1:%u)|1001|1000|main [app]}\n",
		 CONNECTIONS - 1);
	assert_non_null(strstr(log.text, expected));
	thread_log_free(&log);
}

static void test_calls(void **state)
{
	struct thread_log log;
	uint64_t pipe = WAIT_MAKE(FILE_PIPE, 7, 1), socket = WAIT_MAKE(FILE_SOCKET, 9, 1);

	(void)state;
	begin(&log);
	thread_log_file(&log, socket, "10.0.0.1:5432");
	/* A call that does not block. */
	RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .arg = CALL_READ, .arg2 = pipe, .stack = STACK_MAIN);
	RECORD(&log, .site = SITE_SYSCALL_DONE, .tid = 100, .arg = CALL_READ);
	/* A call that blocks, and returns as soon as it is woken. */
	RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .arg = CALL_READ, .arg2 = socket, .stack = STACK_MAIN);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_ASLEEP, .arg = CALL_READ, .arg2 = socket,
	       .stack = STACK_MAIN);
	RECORD(&log, .site = SITE_WAKING, .p = 1, .g = 100, .status = WAKER_INTERRUPT, .arg = INTERRUPT_NET);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .g = 100);
	RECORD(&log, .site = SITE_SYSCALL_DONE, .tid = 100, .p = 1, .arg = CALL_READ);
	/* A call that is preempted, and continues for long. */
	RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .p = 1, .arg = CALL_READ, .arg2 = pipe);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .p = 1, .arg = CALL_READ, .arg2 = pipe);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .g = 100);
	log.now += 50000;
	RECORD(&log, .site = SITE_SYSCALL_DONE, .tid = 100, .p = 1, .arg = CALL_READ);
	RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .p = 1, .arg = CALL_YIELD);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .p = 1, .arg = CALL_YIELD);
	assert_string_equal(rest(&log),
			    "GoSyscallBegin m100 p0 g100 {read(7)|1001|1000|main [app]}\n"
			    "GoSyscallEnd m100 p0 g100\n"
			    "GoSyscallBegin m100 p0 g100 {read(9: 10.0.0.1:5432)|1001|1000|main [app]}\n"
			    "GoSyscallEnd m100 p0 g100\n"
			    "GoBlock m100 p0 g100 'network' {read(9: 10.0.0.1:5432)|1001|1000|main [app]}\n"
			    "ProcStop m100 p0\n"
			    "GoUnblock g2=100 {|[interrupt: network]}\n"
			    "ProcStart m100 p1\n"
			    "GoStart m100 p1 g100\n"
			    "GoSyscallBegin m100 p1 g100 {read(7)|main [app]}\n"
			    "GoSyscallEnd m100 p1 g100\n"
			    "GoStop m100 p1 g100 'preempted'\n"
			    "ProcStop m100 p1\n"
			    "ProcStart m100 p1\n"
			    "GoStart m100 p1 g100\n"
			    "GoSyscallBegin m100 p1 g100 {read(7)|main [app]} ~\n"
			    "GoSyscallEnd m100 p1 g100\n"
			    "GoSyscallBegin m100 p1 g100 {sched_yield|main [app]}\n"
			    "GoSyscallEnd m100 p1 g100\n"
			    "GoStop m100 p1 g100 'yield'\n"
			    "ProcStop m100 p1\n");
	thread_log_free(&log);
}

/* The kernel preempts a thread on its way out of a call: what it runs after that is its own code. */
static void test_preempted_after_call(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .arg = CALL_FUTEX, .stack = STACK_MAIN);
	RECORD(&log, .site = SITE_SYSCALL_DONE, .tid = 100, .arg = CALL_FUTEX);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .arg = CALL_FUTEX);
	RECORD(&log, .site = SITE_SWITCH, .g = 100);
	log.now += 50000;
	RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .arg = CALL_READ);
	assert_string_equal(rest(&log), "GoSyscallBegin m100 p0 g100 {futex|1001|1000|main [app]}\n"
					"GoSyscallEnd m100 p0 g100\n"
					"GoStop m100 p0 g100 'preempted'\n"
					"ProcStop m100 p0\n"
					"ProcStart m100 p0\n"
					"GoStart m100 p0 g100\n"
					"GoSyscallBegin m100 p0 g100 {read|main [app]}\n");
	thread_log_free(&log);
}

/* Calls that were still in the ring when calls were left out have no end: the thread is not in them from then
 * on, however often it waits. */
static void test_calls_left_out(void **state)
{
	struct thread_log log;
	struct log_note note = {.flags = LOG_NOTE_NO_CALLS};

	(void)state;
	begin(&log);
	thread_log_put(&log, LOG_NOTE, &note, sizeof(note));
	RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .arg = CALL_READ, .stack = STACK_MAIN);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_ASLEEP, .arg = CALL_READ,
	       .stack = STACK_MAIN);
	RECORD(&log, .site = SITE_WAKING, .g = 100, .status = WAKER_INTERRUPT, .arg = INTERRUPT_NET);
	RECORD(&log, .site = SITE_SWITCH, .g = 100);
	log.now += 50000;
	RECORD(&log, .site = SITE_SWITCH, .tid = 100);
	note.flags = 0;
	thread_log_put(&log, LOG_NOTE, &note, sizeof(note));
	RECORD(&log, .site = SITE_SWITCH, .g = 100);
	RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .arg = CALL_YIELD);
	assert_null(strstr(rest(&log), "GoSyscallBegin m100 p0 g100 {read"));
	assert_non_null(strstr(log.text, "GoSyscallBegin m100 p0 g100 {sched_yield"));
	thread_log_free(&log);
}

static void test_boundaries(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .arg = CALL_READ, .stack = STACK_MAIN);
	thread_log_boundary(&log);
	RECORD(&log, .site = SITE_SYSCALL_DONE, .tid = 100, .arg = CALL_READ);
	thread_log_boundary(&log);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_ASLEEP, .arg = CALL_READ,
	       .stack = STACK_MAIN);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .g = 100);
	thread_log_boundary(&log);
	RECORD(&log, .site = SITE_SYSCALL_DONE, .p = 1, .tid = 100, .arg = CALL_READ);
	assert_string_equal(rest(&log),
			    "GoSyscallBegin m100 p0 g100 {read|1001|1000|main [app]}\n"
			    "-- 2\n"
			    "ProcStatus m100 p0 syscall\n"
			    "ProcStatus p1 idle\n"
			    "GoStatus m100 g100 syscall {read|1001|1000|main [app]}\n"
			    "GoStatus g101 waiting 'sync (mutex)' {futex|3000|2001|2000|worker [app]}\n"
			    "GoSyscallEnd m100 p0 g100\n"
			    "-- 3\n"
			    "ProcStatus m100 p0 running\n"
			    "ProcStatus p1 idle\n"
			    "GoStatus m100 g100 running {|main [app]}\n"
			    "GoStatus g101 waiting 'sync (mutex)' {futex|3000|2001|2000|worker [app]}\n"
			    "ProcsChange m100 p0 g100 arg=2\n"
			    "GoBlock m100 p0 g100 'read' {read|1001|1000|main [app]}\n"
			    "ProcStop m100 p0\n"
			    "GoUnblock g2=100 ~\n"
			    "ProcStart m100 p1\n"
			    "GoStart m100 p1 g100\n"
			    "GoSyscallBegin m100 p1 g100 {read|1001|1000|main [app]} ~\n"
			    "-- 4\n"
			    "ProcStatus p0 idle\n"
			    "ProcStatus m100 p1 syscall\n"
			    "GoStatus m100 g100 syscall {read|1001|1000|main [app]}\n"
			    "GoStatus g101 waiting 'sync (mutex)' {futex|3000|2001|2000|worker [app]}\n"
			    "GoSyscallEnd m100 p1 g100\n");
	thread_log_free(&log);
}

static void test_lives(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .arg = CALL_CLONE, .stack = STACK_MAIN);
	RECORD(&log, .site = SITE_FORK, .tid = 100, .g = 102, .arg = LOG_PID, .stack = STACK_MAIN);
	RECORD(&log, .site = SITE_FORK, .tid = 100, .g = 103, .arg = 103); /* a process of its own */
	RECORD(&log, .site = SITE_SYSCALL_DONE, .tid = 100, .arg = CALL_CLONE);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .g = 102);
	thread_log_comm(&log, 102, "pool");
	RECORD(&log, .site = SITE_SYSCALL, .p = 1, .tid = 102, .arg = CALL_READ, .stack = STACK_WORKER);
	RECORD(&log, .site = SITE_SYSCALL_DONE, .p = 1, .tid = 102, .arg = CALL_READ);
	RECORD(&log, .site = SITE_SYSCALL, .p = 1, .tid = 102, .arg = CALL_EXIT);
	RECORD(&log, .site = SITE_THREAD_EXIT, .p = 1, .tid = 102);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .tid = 102, .status = LEFT_DEAD, .arg = CALL_EXIT);
	/* The tid is reused. */
	RECORD(&log, .site = SITE_FORK, .tid = 100, .g = 102, .arg = LOG_PID);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .g = 102);
	/* The thread's end is recorded, but not that it leaves its CPU. */
	RECORD(&log, .site = SITE_THREAD_EXIT, .p = 1, .tid = 102);
	assert_string_equal(
		rest(&log),
		"GoSyscallBegin m100 p0 g100 {clone|1001|1000|main [app]}\n"
		"GoSyscallEnd m100 p0 g100\n"
		"GoCreate m100 p0 g100 g2=102 {clone|1001|1000|main [app]} entry{|worker [pool]}\n"
		"ProcStart m102 p1\n"
		"GoStart m102 p1 g102\n"
		"GoSyscallBegin m102 p1 g102 {read|3000|2001|2000|worker [pool]}\n"
		"GoSyscallEnd m102 p1 g102\n"
		"GoSyscallBegin m102 p1 g102 {exit|worker [pool]}\n"
		"GoSyscallEnd m102 p1 g102\n"
		"GoDestroy m102 p1 g102\n"
		"ProcStop m102 p1\n"
		"GoCreate m100 p0 g100 g2=10000102 {|main [app]} entry{|app}\n"
		"ProcStart m102 p1\n"
		"GoStart m102 p1 g10000102\n"
		"GoDestroy m102 p1 g10000102 ~\n"
		"ProcStop m102 p1 ~\n");
	thread_log_free(&log);
}

static void test_exec(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .g = 101);
	RECORD(&log, .site = SITE_THREAD_EXIT, .tid = 100);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_DEAD);
	RECORD(&log, .site = SITE_EXEC, .p = 1, .tid = 100, .g = 101);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .tid = 100, .status = LEFT_ASLEEP, .arg = CALL_READ);
	assert_string_equal(rest(&log), "GoUnblock g2=101 ~\n"
					"ProcStart m101 p1\n"
					"GoStart m101 p1 g101\n"
					"GoDestroy m100 p0 g100\n"
					"ProcStop m100 p0\n"
					"GoCreate m101 p1 g101 g2=10000100 entry{|app} ~\n"
					"GoDestroy m101 p1 g101 ~\n"
					"ProcStop m101 p1 ~\n"
					"ProcStart m100 p1 ~\n"
					"GoStart m100 p1 g10000100 ~\n"
					"GoBlock m100 p1 g10000100 'read' {read|app}\n"
					"ProcStop m100 p1\n");
	thread_log_free(&log);
}

static void test_reasons(void **state)
{
	static const struct {
		uint32_t number, left;
		uint8_t kind;
		uint64_t stack;
		uint32_t fd;
		const char *reason;
	} cases[] = {
		{202, LEFT_ASLEEP, FILE_NONE, 0, 0, "sync (futex)"},
		{202, LEFT_ASLEEP, FILE_NONE, STACK_WORKER, 0, "sync (mutex)"},
		{0, LEFT_ASLEEP, FILE_SOCKET, 0, 0, "network"},
		{0, LEFT_ASLEEP, FILE_PIPE, 0, 0, "pipe"},
		{0, LEFT_DISK, FILE_REGULAR, 0, 0, "disk"},
		{0, LEFT_ASLEEP, FILE_TTY, 0, 0, "tty"},
		{0, LEFT_ASLEEP, FILE_EVENT, 0, 0, "event"},
		{0, LEFT_STOPPED, FILE_TTY, 0, 0, "stopped"},
		{74, LEFT_DISK, FILE_NONE, 0, 0, "disk"},
		{232, LEFT_ASLEEP, FILE_EPOLL, 0, 0, "network"},
		{281, LEFT_ASLEEP, FILE_NONE, 0, 0, "network"},
		{288, LEFT_ASLEEP, FILE_NONE, 0, 0, "network"},
		{7, LEFT_ASLEEP, FILE_SOCKET, 0, 0, "network"},
		{7, LEFT_ASLEEP, FILE_NONE, 0, 0, "sleep"},
		{7, LEFT_ASLEEP, FILE_NONE, 0, 2, "poll"},
		{23, LEFT_ASLEEP, FILE_NONE, 0, 0, "sleep"},
		{23, LEFT_ASLEEP, FILE_NONE, 0, 5, "select"},
		{35, LEFT_ASLEEP, FILE_NONE, 0, 0, "sleep"},
		{230, LEFT_ASLEEP, FILE_NONE, STACK_WORKER, 0, "sleep"},
		{61, LEFT_ASLEEP, FILE_NONE, 0, 0, "wait4"},
		{34, LEFT_ASLEEP, FILE_NONE, 0, 0, "signal"},
		{73, LEFT_ASLEEP, FILE_REGULAR, 0, 0, "sync (file lock)"},
		{9999, LEFT_ASLEEP, FILE_NONE, 0, 0, "system call 9999"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct thread_log log;
		char wanted[80];

		begin(&log);
		RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = (uint8_t)cases[i].left,
		       .arg = 1 + cases[i].number, .arg2 = WAIT_MAKE(cases[i].kind, cases[i].fd, 0),
		       .stack = cases[i].stack);
		snprintf(wanted, sizeof(wanted), "GoBlock m100 p0 g100 '%s'", cases[i].reason);
		assert_memory_equal(rest(&log), wanted, strlen(wanted));
		thread_log_free(&log);
	}
}

/* restart_syscall is the rest of the call before: of a sleep here, then of a read. */
static void test_restarted_call(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_ASLEEP, .arg = 1 + 230);
	RECORD(&log, .site = SITE_SWITCH, .g = 100);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_ASLEEP, .arg = 1 + 219);
	RECORD(&log, .site = SITE_SWITCH, .g = 100);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_ASLEEP, .arg = CALL_READ,
	       .arg2 = WAIT_MAKE(FILE_SOCKET, 5, 0));
	RECORD(&log, .site = SITE_SWITCH, .g = 100);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_ASLEEP, .arg = 1 + 219);
	assert_string_equal(rest(&log), "GoBlock m100 p0 g100 'sleep' {clock_nanosleep|app}\n"
					"ProcStop m100 p0\n"
					"GoUnblock g2=100 ~\n"
					"ProcStart m100 p0\n"
					"GoStart m100 p0 g100\n"
					"GoBlock m100 p0 g100 'sleep' {clock_nanosleep|app}\n"
					"ProcStop m100 p0\n"
					"GoUnblock g2=100 ~\n"
					"ProcStart m100 p0\n"
					"GoStart m100 p0 g100\n"
					"GoBlock m100 p0 g100 'network' {read(5)|app}\n"
					"ProcStop m100 p0\n"
					"GoUnblock g2=100 ~\n"
					"ProcStart m100 p0\n"
					"GoStart m100 p0 g100\n"
					"GoBlock m100 p0 g100 'network' {read(5)|app}\n"
					"ProcStop m100 p0\n");
	thread_log_free(&log);
}

static void test_page_fault(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_DISK, .stack = STACK_MAIN);
	assert_string_equal(rest(&log),
			    "GoBlock m100 p0 g100 'page fault' {[page fault]|1001|1000|main [app]}\n"
			    "ProcStop m100 p0\n");
	thread_log_free(&log);
}

/* A worker of io_uring never leaves the kernel: it sleeps there outside system calls, and nothing faults. */
static void test_io_uring_worker(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	thread_log_comm(&log, 100, "iou-wrk-100");
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_ASLEEP);
	assert_string_equal(rest(&log), "GoBlock m100 p0 g100 'io_uring' {[io_uring]|iou-wrk-100}\n"
					"ProcStop m100 p0\n");
	thread_log_free(&log);
}

static void test_names(void **state)
{
	struct thread_log log;
	uint64_t file = WAIT_MAKE(FILE_REGULAR, 3, 1);

	(void)state;
	begin(&log);
	RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .arg = CALL_READ, .arg2 = file, .stack = STACK_BROKEN);
	thread_log_file(&log, file, "/data/x");
	RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .arg = CALL_READ, .arg2 = file, .stack = 77);
	thread_log_comm(&log, 100, "renamed");
	RECORD(&log, .site = SITE_SYSCALL, .tid = 100, .arg = CALL_READ, .arg2 = file, .stack = STACK_MAIN);
	assert_string_equal(rest(&log),
			    "GoSyscallBegin m100 p0 g100 {read(3)|3000|2001|…app}\n"
			    "GoSyscallEnd m100 p0 g100\n"
			    "GoSyscallBegin m100 p0 g100 {read(3: /data/x)|app}\n"
			    "GoSyscallEnd m100 p0 g100\n"
			    "GoSyscallBegin m100 p0 g100 {read(3: /data/x)|1001|1000|main [renamed]}\n");
	thread_log_free(&log);
}

static void test_losses(void **state)
{
	struct log_snapshot head = {.marker_before = 3, .marker_after = 4, .gomaxprocs = 2};
	struct log_thread threads[] = {
		{.tid = 100, .cpu = 0, .start_ns = 1, .status = LOG_THREAD_WAITING, .comm = "app"},
		{.tid = 101, .cpu = 1, .start_ns = 99, .status = LOG_THREAD_RUNNING, .comm = "new"},
	};
	struct thread_log log;

	(void)state;
	begin(&log);
	thread_log_loss(&log);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .tid = 104, .g = 105);
	thread_log_marker(&log, 3);
	thread_log_marker(&log, 4);
	head.time_before = log.now - 500;
	thread_log_put(&log, LOG_SNAPSHOT, &head, sizeof(head));
	thread_log_put(&log, LOG_THREADS, threads, sizeof(threads));
	thread_log_put(&log, LOG_SNAPSHOT_END, NULL, 0);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .tid = 101, .status = LEFT_ASLEEP);
	thread_log_end(&log);
	assert_string_equal(
		strstr(log.text, "-- 2"),
		"-- 2\n"
		"ProcStatus m100 p0 running\n"
		"ProcStatus p1 idle\n"
		"GoStatus m100 g100 running {|app}\n"
		"GoStatus g101 waiting 'sync (mutex)' {futex|3000|2001|2000|worker [app]}\n"
		"GoStatus g4503599627370496 waiting {|gotrace|}\n"
		"ProcsChange m100 p0 g100 arg=2\n"
		"ProcStart m2147483647 p1 ~\n"
		"GoUnblock m2147483647 p1 g2=4503599627370496 ~\n"
		"GoStart m2147483647 p1 g4503599627370496 ~\n"
		"GoCreate m2147483647 p1 g4503599627370496 g2=104 {|[lost]|gotrace|} entry{|app} ~\n"
		"GoBlock m2147483647 p1 g4503599627370496 'unspecified' {|gotrace|} ~\n"
		"ProcStop m2147483647 p1 ~\n"
		"ProcStart m104 p1 ~\n"
		"GoStart m104 p1 g104 ~\n"
		"GoStop m104 p1 g104 'preempted'\n"
		"ProcStop m104 p1\n"
		"ProcStart m2147483647 p1 ~\n"
		"GoUnblock m2147483647 p1 g2=4503599627370496 ~\n"
		"GoStart m2147483647 p1 g4503599627370496 ~\n"
		"GoCreate m2147483647 p1 g4503599627370496 g2=105 {|[lost]|gotrace|} entry{|app} ~\n"
		"GoBlock m2147483647 p1 g4503599627370496 'unspecified' {|gotrace|} ~\n"
		"ProcStop m2147483647 p1 ~\n"
		"ProcStart m105 p1\n"
		"GoStart m105 p1 g105\n"
		"GoBlock m100 p0 g100 'unspecified' ~\n"
		"ProcStop m100 p0 ~\n"
		"ProcStart m2147483647 p0 ~\n"
		"GoUnblock m2147483647 p0 g2=4503599627370496 ~\n"
		"GoStart m2147483647 p0 g4503599627370496 ~\n"
		"GoUnblock m2147483647 p0 g4503599627370496 g2=101 {|[lost]|gotrace|} ~\n"
		"GoBlock m2147483647 p0 g4503599627370496 'unspecified' {|gotrace|} ~\n"
		"ProcStop m2147483647 p0 ~\n"
		"ProcStart m2147483647 p0 ~\n"
		"GoStart m2147483647 p0 g101 ~\n"
		"GoDestroy m2147483647 p0 g101 ~\n"
		"ProcStop m2147483647 p0 ~\n"
		"ProcStart m2147483647 p0 ~\n"
		"GoUnblock m2147483647 p0 g2=4503599627370496 ~\n"
		"GoStart m2147483647 p0 g4503599627370496 ~\n"
		"GoCreate m2147483647 p0 g4503599627370496 g2=10000101 {|[lost]|gotrace|} entry{|new} ~\n"
		"GoBlock m2147483647 p0 g4503599627370496 'unspecified' {|gotrace|} ~\n"
		"ProcStop m2147483647 p0 ~\n"
		"GoStop m105 p1 g105 'unspecified' ~\n"
		"ProcStop m105 p1 ~\n"
		"ProcStart m101 p1 ~\n"
		"GoStart m101 p1 g10000101 ~\n"
		"ProcStart m2147483647 p0 ~\n"
		"GoStart m2147483647 p0 g104 ~\n"
		"GoDestroy m2147483647 p0 g104 ~\n"
		"ProcStop m2147483647 p0 ~\n"
		"ProcStart m2147483647 p0 ~\n"
		"GoStart m2147483647 p0 g105 ~\n"
		"GoDestroy m2147483647 p0 g105 ~\n"
		"ProcStop m2147483647 p0 ~\n"
		"GoBlock m101 p1 g10000101 'page fault' {[page fault]|new}\n"
		"ProcStop m101 p1\n"
		"ProcStart m2147483647 p0 ~\n"
		"GoUnblock m2147483647 p0 g2=4503599627370496 ~\n"
		"GoStart m2147483647 p0 g4503599627370496 ~\n"
		"UserLog m2147483647 p0 g4503599627370496 'gotrace' {|gotrace|} ~\n"
		"GoBlock m2147483647 p0 g4503599627370496 'unspecified' {|gotrace|} ~\n"
		"ProcStop m2147483647 p0 ~\n");
	thread_log_free(&log);
}

static void test_leaving_for_good(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .g = 104);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .tid = 104, .g = 105, .status = LEFT_DEAD);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .tid = 105, .status = LEFT_DEAD);
	assert_string_equal(rest(&log), "");
	assert_int_equal(model_stats(log.model)->repaired, 0);
	thread_log_free(&log);
}

static void test_unlisted_cpu(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	RECORD(&log, .site = SITE_WAKING, .tid = 100, .g = 101, .status = WAKER_THREAD);
	RECORD(&log, .site = SITE_SWITCH, .p = 5, .g = 101);
	RECORD(&log, .site = SITE_SWITCH, .p = 1u << 20, .g = 101);
	assert_string_equal(rest(&log), "GoUnblock m100 p0 g100 g2=101 {|app}\n"
					"ProcStatus p5 idle\n"
					"ProcStart m101 p5\n"
					"GoStart m101 p5 g101\n"
					"ProcsChange m101 p5 g101 arg=6\n");
	thread_log_free(&log);
}

static void test_spawned(void **state)
{
	struct thread_log log;

	(void)state;
	thread_log_begin(&log, LOG_TARGET_SPAWNED, NULL);
	RECORD(&log, .site = SITE_EXEC, .tid = LOG_PID, .g = LOG_PID);
	RECORD(&log, .site = SITE_SWITCH, .tid = LOG_PID, .status = LEFT_ASLEEP, .arg = CALL_READ);
	thread_log_end(&log);
	assert_string_equal(log.text, "-- 1\n"
				      "ProcStatus m100 p0 running\n"
				      "GoStatus m100 g100 running {|app} entry{|app}\n"
				      "ProcsChange m100 p0 g100 arg=1\n"
				      "GoBlock m100 p0 g100 'read' {read|app}\n"
				      "ProcStop m100 p0\n");
	thread_log_free(&log);
}

/* A forked process: its first thread's life begins there. Then it executes another program. */
static void test_forked(void **state)
{
	struct thread_log log;

	(void)state;
	thread_log_begin(&log, LOG_TARGET_SPAWNED, NULL);
	RECORD(&log, .site = SITE_FORK, .tid = 77, .goid = 77, .g = LOG_PID, .arg = LOG_PID,
	       .status = FORK_FOLLOWED);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .g = LOG_PID);
	thread_log_comm(&log, LOG_PID, "ls");
	RECORD(&log, .site = SITE_EXEC, .p = 1, .tid = LOG_PID, .g = LOG_PID);
	RECORD(&log, .site = SITE_THREAD_EXIT, .p = 1, .tid = LOG_PID, .status = EXIT_OF_LAST);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .tid = LOG_PID, .status = LEFT_DEAD);
	thread_log_end(&log);
	assert_string_equal(log.text, "-- 1\n"
				      "GoStatus g100 runnable {|ls} entry{|ls}\n"
				      "ProcStatus p0 idle\n"
				      "ProcStatus p1 idle\n"
				      "ProcStart m100 p1\n"
				      "GoStart m100 p1 g100\n"
				      "ProcsChange m100 p1 g100 arg=2\n"
				      "GoDestroy m100 p1 g100\n"
				      "ProcStop m100 p1\n");
	thread_log_free(&log);
}

/* The first records are older than the snapshot. */
static void test_start_between_markers(void **state)
{
	struct log_snapshot head = {.marker_before = 1, .marker_after = 2, .gomaxprocs = 2};
	struct log_thread threads[] = {
		{.tid = 100, .cpu = 0, .status = LOG_THREAD_WAITING, .comm = "app"},
		{.tid = 101, .cpu = 1, .status = LOG_THREAD_RUNNING, .comm = "app"},
		{.tid = 102, .cpu = 1, .status = LOG_THREAD_RUNNABLE, .comm = "app"},
		{.tid = 103, .cpu = 0, .status = LOG_THREAD_RUNNING, .comm = "app"},
	};
	struct thread_log log;

	(void)state;
	thread_log_begin(&log, 0, NULL);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100); /* before */
	thread_log_marker(&log, 1);
	RECORD(&log, .site = SITE_WAKING, .tid = 100, .g = 101, .status = WAKER_THREAD);
	RECORD(&log, .site = SITE_FORK, .tid = 100, .g = 102, .arg = LOG_PID);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .g = 103, .status = LEFT_ASLEEP, .arg = CALL_READ);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .tid = 104, .g = 101, .status = LEFT_DEAD);
	thread_log_marker(&log, 2);
	head.time_before = log.now - 4500;
	thread_log_put(&log, LOG_SNAPSHOT, &head, sizeof(head));
	thread_log_put(&log, LOG_THREADS, threads, sizeof(threads));
	thread_log_put(&log, LOG_SNAPSHOT_END, NULL, 0);
	thread_log_end(&log);
	assert_string_equal(log.text, "-- 1\n"
				      "ProcStatus m100 p0 running\n"
				      "ProcStatus m104 p1 running\n"
				      "GoStatus m100 g100 running {|app} entry{|app}\n"
				      "GoStatus g101 waiting {|app} entry{|app}\n"
				      "GoStatus g103 runnable {|app} entry{|app}\n"
				      "GoStatus m104 g104 running {|app} entry{|app}\n"
				      "ProcsChange m100 p0 g100 arg=2\n"
				      "GoUnblock m100 p0 g100 g2=101 {|app}\n"
				      "GoCreate m100 p0 g100 g2=102 {|app} entry{|app}\n"
				      "GoBlock m100 p0 g100 'read' {read|app}\n"
				      "ProcStop m100 p0\n"
				      "ProcStart m103 p0\n"
				      "GoStart m103 p0 g103\n"
				      "GoDestroy m104 p1 g104\n"
				      "ProcStop m104 p1\n"
				      "ProcStart m101 p1\n"
				      "GoStart m101 p1 g101\n");
	thread_log_free(&log);
}

/* The log follows the region's begin, on the same thread. */
static void test_calls_with_values(void **state)
{
	_Alignas(8) char names[sizeof(struct log_values) + 3];
	struct log_values head = {.number = 0, .n = 1, .site = SITE_FUNCTION_BEGIN};
	struct values_record made;
	struct thread_log log;

	(void)state;
	begin(&log);
	thread_log_function(&log, 0, FUNCTION_REGION, "parse");
	memcpy(names, &head, sizeof(head));
	memcpy(names + sizeof(head), "\2id", 3);
	thread_log_put(&log, LOG_VALUES, names, sizeof(names));
	values_begin(&made, SITE_FUNCTION_BEGIN);
	values_add(&made, (struct raw_value){.kind = VALUE_C_STRING, .size = 8, .len = 2});
	values_add_text(&made, "ok", 2);
	values_text(&made)->record = (struct raw_record){.site = SITE_FUNCTION_BEGIN,
							 .flags = RAW_VALUES,
							 .tid = 100,
							 .goid = 100,
							 .time = log.now += 10,
							 .arg2 = 0x7000};
	thread_log_put(&log, LOG_TEXT, made.bytes, made.size);
	RECORD(&log, .site = SITE_FUNCTION_END, .tid = 100, .arg = 0, .arg2 = 0x7000);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_DEAD);
	assert_string_equal(rest(&log), "UserRegionBegin m100 p0 g100 'parse' {|app}\n"
					"UserLog m100 p0 g100 'parse' {|app}\n"
					"UserRegionEnd m100 p0 g100 'parse'\n"
					"GoDestroy m100 p0 g100\n"
					"ProcStop m100 p0\n");
	thread_log_free(&log);
}

static void test_functions(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	thread_log_function(&log, 0, FUNCTION_REGION, "parse");
	thread_log_function(&log, 1, FUNCTION_TASK, "request");
	RECORD(&log, .site = SITE_FUNCTION_END, .tid = 100, .arg = 0, .arg2 = 0x7000); /* began before */
	RECORD(&log, .site = SITE_FUNCTION_BEGIN, .tid = 100, .arg = 1, .arg2 = 0x7000, .stack = STACK_MAIN);
	RECORD(&log, .site = SITE_FUNCTION_BEGIN, .tid = 100, .arg = 0, .arg2 = 0x6000);
	RECORD(&log, .site = SITE_FUNCTION_BEGIN, .tid = 100, .arg = 0, .arg2 = 0x5000);
	RECORD(&log, .site = SITE_FUNCTION_END, .tid = 100, .arg = 0, .arg2 = 0x5000);
	RECORD(&log, .site = SITE_FUNCTION_BEGIN, .tid = 100, .arg = 0, .arg2 = 0x5000);
	/* An exception leaves both at once. */
	RECORD(&log, .site = SITE_FUNCTION_END, .tid = 100, .arg = 1, .arg2 = 0x7000);
	/* A tail call. */
	RECORD(&log, .site = SITE_FUNCTION_BEGIN, .tid = 100, .arg = 0, .arg2 = 0x7000);
	RECORD(&log, .site = SITE_FUNCTION_BEGIN, .tid = 100, .arg = 1, .arg2 = 0x7000);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_DEAD);
	assert_string_equal(rest(&log),
			    "UserTaskBegin m100 p0 g100 task1 'request' {|1001|1000|main [app]}\n"
			    "UserRegionBegin m100 p0 g100 task1 'request' {|1001|1000|main [app]}\n"
			    "UserRegionBegin m100 p0 g100 'parse' {|main [app]}\n"
			    "UserRegionBegin m100 p0 g100 'parse' {|main [app]}\n"
			    "UserRegionEnd m100 p0 g100 'parse'\n"
			    "UserRegionBegin m100 p0 g100 'parse' {|main [app]}\n"
			    "UserRegionEnd m100 p0 g100 'parse' ~\n"
			    "UserRegionEnd m100 p0 g100 'parse' ~\n"
			    "UserRegionEnd m100 p0 g100 task1 'request'\n"
			    "UserTaskEnd m100 p0 g100 task1\n"
			    "UserRegionBegin m100 p0 g100 'parse' {|main [app]}\n"
			    "UserRegionEnd m100 p0 g100 'parse' ~\n"
			    "UserTaskBegin m100 p0 g100 task2 'request' {|main [app]}\n"
			    "UserRegionBegin m100 p0 g100 task2 'request' {|main [app]}\n"
			    "UserRegionEnd m100 p0 g100 task2 'request' ~\n"
			    "UserTaskEnd m100 p0 g100 task2 ~\n"
			    "GoDestroy m100 p0 g100\n"
			    "ProcStop m100 p0\n");
	thread_log_free(&log);
}

static void test_samples(void **state)
{
	struct thread_log log;

	(void)state;
	begin(&log);
	RECORD(&log, .site = SITE_CPU_SAMPLE, .tid = 100, .stack = STACK_MAIN);
	RECORD(&log, .site = SITE_CPU_SAMPLE, .tid = 104, .p = 1);
	assert_string_equal(rest(&log), "CPUSample m100 p0 g100 {|1001|1000|main [app]}\n"
					"CPUSample m104 p1\n");
	thread_log_free(&log);
}

static void test_rows(void **state)
{
	struct thread_log log;
	const struct goroutine_stats *rows;
	size_t n, len;

	(void)state;
	begin(&log);
	RECORD(&log, .site = SITE_SWITCH, .tid = 100, .status = LEFT_ASLEEP, .arg = CALL_FUTEX,
	       .stack = STACK_MAIN);
	RECORD(&log, .site = SITE_SWITCH, .p = 1, .g = 101);
	thread_log_end(&log);
	rows = model_goroutine_stats(log.model, BY_RUNNING, &n);
	assert_int_equal(n, 2);
	assert_string_equal(strtab_get(log.strings, rows[0].name, &len), "main [app]");
	assert_string_equal(strtab_get(log.strings, rows[1].name, &len), "worker [app]");
	assert_string_equal(strtab_get(log.strings, rows[0].waiting[0].reason, &len), "sync (futex)");
	assert_string_equal(strtab_get(log.strings, rows[1].waiting[0].reason, &len), "sync (mutex)");
	thread_log_free(&log);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_names_for_days),
	cmocka_unit_test(test_start),
	cmocka_unit_test(test_block_and_wake),
	cmocka_unit_test(test_kernel_frames),
	cmocka_unit_test(test_early_waking),
	cmocka_unit_test(test_early_waking_in_vain),
	cmocka_unit_test(test_wakers),
	cmocka_unit_test(test_calls),
	cmocka_unit_test(test_preempted_after_call),
	cmocka_unit_test(test_calls_left_out),
	cmocka_unit_test(test_boundaries),
	cmocka_unit_test(test_lives),
	cmocka_unit_test(test_exec),
	cmocka_unit_test(test_reasons),
	cmocka_unit_test(test_restarted_call),
	cmocka_unit_test(test_page_fault),
	cmocka_unit_test(test_io_uring_worker),
	cmocka_unit_test(test_names),
	cmocka_unit_test(test_losses),
	cmocka_unit_test(test_leaving_for_good),
	cmocka_unit_test(test_unlisted_cpu),
	cmocka_unit_test(test_spawned),
	cmocka_unit_test(test_forked),
	cmocka_unit_test(test_start_between_markers),
	cmocka_unit_test(test_calls_with_values),
	cmocka_unit_test(test_functions),
	cmocka_unit_test(test_samples),
	cmocka_unit_test(test_rows),
};

UNIT_TESTS(tests, NULL, NULL);
