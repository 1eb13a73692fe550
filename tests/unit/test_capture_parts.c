/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The parts of capture that need no kernel probes: watching a process, figures of its cgroup. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#include "capture/cpu_limit.h"
#include "capture/probe_set.h"
#include "capture/watch.h"
#include "target/process.h"

/* A child that waits for a byte, then does as requested. */
static pid_t child(int *go, const char *program)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char byte;

		close(ends[1]);
		if (read(ends[0], &byte, 1) == 1 && program)
			execl(program, program, "30", (char *)NULL);
		_exit(0);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void open_watch(struct watch *watch, pid_t pid)
{
	int pidfd = process_open_pidfd(pid, NULL);

	assert_true(pidfd >= 0);
	assert_int_equal(watch_open(watch, pid, pidfd, NULL), 0);
	close(pidfd);
}

static void test_the_end_of_a_process_is_seen(void **state)
{
	struct watch watch;
	int go;
	pid_t pid = child(&go, NULL);

	(void)state;
	open_watch(&watch, pid);
	watch_program(&watch);
	assert_false(watch_wait(&watch, 0));
	assert_false(watch_has_execed(&watch));
	assert_int_equal(write(go, "x", 1), 1);
	assert_true(watch_wait(&watch, 10000));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	watch_close(&watch);
	close(go);
}

static void test_a_new_program_is_seen(void **state)
{
	struct watch watch;
	bool execed = false;
	int go;
	pid_t pid = child(&go, "/bin/sleep");

	(void)state;
	open_watch(&watch, pid);
	watch_program(&watch);
	assert_int_equal(write(go, "x", 1), 1);
	for (int tries = 0; tries < 1000 && !execed; tries++) {
		watch_wait(&watch, 10);
		execed = watch_has_execed(&watch);
	}
	assert_true(execed);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	watch_close(&watch);
	close(go);
}

static void test_no_process_cannot_be_held(void **state)
{
	struct error err = {""};

	(void)state;
	assert_int_equal(process_open_pidfd(0x7ffffffe, &err), -ESRCH);
	assert_non_null(strstr(err.text, "2147483646"));
}

static void test_figures_of_another_cgroup_have_not_grown(void **state)
{
	(void)state;
	assert_int_equal(cpu_figure_grown(3, 10, true), 7);
	assert_int_equal(cpu_figure_grown(3, 10, false), 0);
	assert_int_equal(cpu_figure_grown(10, 3, true), 0);
	assert_int_equal(cpu_figure_grown(3, 3, true), 0);
}

/* The kernel must be able to emulate their first instruction, otherwise a hit costs ten times as much. */
static void test_own_sites_begin_with_what_is_emulated(void **state)
{
#if defined(__aarch64__)
	const unsigned char first = 0xc0; /* ret */
#else
	const unsigned char first = 0x55; /* push %rbp */
#endif

	(void)state;
	assert_int_equal(*(const unsigned char *)(uintptr_t)own_marker, first);
	assert_int_equal(*(const unsigned char *)(uintptr_t)own_calibration, first);
	own_marker(1);
	assert_true(own_calibration_ns() < 1000000);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_the_end_of_a_process_is_seen),
	cmocka_unit_test(test_a_new_program_is_seen),
	cmocka_unit_test(test_no_process_cannot_be_held),
	cmocka_unit_test(test_figures_of_another_cgroup_have_not_grown),
	cmocka_unit_test(test_own_sites_begin_with_what_is_emulated),
};

UNIT_TESTS(tests, NULL, NULL);
