/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Processes by name, executable and user. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/find_process.h"

#define NAME "test-find-procs" /* 15 characters, as many as a name may have */

/* A copy of this process with that name. */
static pid_t start(const char *name)
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void stop(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void newest_comes_first(void **state)
{
	struct process_filter filter = {.comm = NAME};
	struct found_process found[MAX_FOUND];
	struct error err;
	pid_t first = start(NAME), second;

	(void)state;
	usleep(30000); /* start times are in hundredths of a second */
	second = start(NAME);
	assert_int_equal(find_processes(&filter, found, &err), 2);
	assert_int_equal(found[0].pid, second);
	assert_int_equal(found[1].pid, first);
	assert_true(found[0].start > found[1].start);
	assert_true(found[0].start == process_start(second));
	stop(second);
	assert_int_equal(find_processes(&filter, found, &err), 1);
	assert_int_equal(found[0].pid, first);
	stop(first);
	assert_int_equal(find_processes(&filter, found, &err), 0);
	assert_int_equal(process_start(first), 0);
}

static void gotrace_itself_is_not_found(void **state)
{
	struct process_filter filter = {.comm = NAME};
	struct found_process found[MAX_FOUND];
	struct error err;

	(void)state;
	prctl(PR_SET_NAME, NAME);
	assert_true(process_matches(&filter, getpid()));
	assert_int_equal(find_processes(&filter, found, &err), 0);
}

static void only_so_many_are_kept(void **state)
{
	struct process_filter filter = {.comm = NAME};
	struct found_process found[MAX_FOUND];
	pid_t pids[MAX_FOUND + 2];
	struct error err;

	(void)state;
	pids[0] = start(NAME);
	usleep(30000);
	for (int i = 1; i < MAX_FOUND + 2; i++)
		pids[i] = start(NAME);
	assert_int_equal(find_processes(&filter, found, &err), MAX_FOUND);
	for (int i = 0; i < MAX_FOUND; i++)
		assert_int_not_equal(found[i].pid, pids[0]); /* the oldest */
	for (int i = 0; i < MAX_FOUND + 2; i++)
		stop(pids[i]);
}

static void all_conditions_hold(void **state)
{
	pid_t pid = start(NAME);
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	assert_true(n > 0);
	self[n] = '\0';
	assert_true(process_matches(&(struct process_filter){.comm = NAME}, pid));
	/* A longer name is compared as far as the kernel keeps it, a shorter one is another. */
	assert_true(process_matches(&(struct process_filter){.comm = NAME "-more"}, pid));
	assert_false(process_matches(&(struct process_filter){.comm = "test-find"}, pid));
	assert_true(process_matches(&(struct process_filter){.comm = NAME, .exe = self}, pid));
	assert_false(process_matches(&(struct process_filter){.comm = NAME, .exe = "/bin/cat"}, pid));
	assert_true(
		process_matches(&(struct process_filter){.exe = self, .user = "me", .uid = geteuid()}, pid));
	assert_false(
		process_matches(&(struct process_filter){.exe = self, .user = "other", .uid = 12345}, pid));
	stop(pid);
	assert_false(process_matches(&(struct process_filter){.comm = NAME}, pid));
}

static void a_cgroup_must_exist(void **state)
{
	struct process_filter filter = {.cgroup = "/sys/fs/cgroup/no/such\033group"};
	struct found_process found[MAX_FOUND];
	struct error err;
	char path[5000];

	(void)state;
	assert_int_equal(find_processes(&filter, found, &err), -ENOENT);
	assert_non_null(strstr(err.text, "cannot read /sys/fs/cgroup/no/such"));
	assert_null(strchr(err.text, '\033'));
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	filter.cgroup = path;
	assert_int_equal(find_processes(&filter, found, &err), -ENAMETOOLONG);
}

static void filters_have_words(void **state)
{
	struct process_filter filter = {.comm = "server", .user = "www"};

	(void)state;
	assert_string_equal(process_filter_text(&filter).bytes, "the name server, the user www");
	filter = (struct process_filter){.cgroup = "a/b", .exe = "/bin/x"};
	assert_string_equal(process_filter_text(&filter).bytes, "the cgroup a/b, the executable /bin/x");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(newest_comes_first),  cmocka_unit_test(only_so_many_are_kept),
	cmocka_unit_test(all_conditions_hold), cmocka_unit_test(a_cgroup_must_exist),
	cmocka_unit_test(filters_have_words),  cmocka_unit_test(gotrace_itself_is_not_found),
};

UNIT_TESTS(tests, NULL, NULL);
