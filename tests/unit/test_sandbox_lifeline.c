/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A child with other ids ends with its parent, and when the parent wants it to. */

#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/lifeline.h"

enum { PARENT_USER = 60000, CHILD_USER = 60001 };

/* As root, to other ids: then neither of the two may signal the other. */
static bool become(uid_t user)
{
	return geteuid() != 0 || (setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0);
}

/* Obeys the lifeline, says so, and waits for a signal. */
static void obey(struct lifeline *line, int signal, int ready)
{
	const char yes = 'y';

	if (lifeline_obey(line, signal) || !become(CHILD_USER) || write(ready, &yes, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void await(int ready)
{
	char answer;

	assert_int_equal(read(ready, &answer, 1), 1);
}

/* --- a parent that lives --- */

static void cut_sends_the_signal(void **state)
{
	static const int signals[] = {SIGTERM, SIGKILL};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct lifeline line;
		int ready[2], status;
		pid_t child;

		assert_int_equal(pipe(ready), 0);
		assert_int_equal(lifeline_open(&line), 0);
		child = fork();
		if (child == 0)
			obey(&line, signals[i], ready[1]);
		lifeline_hold(&line);
		await(ready[0]);
		assert_int_equal(waitpid(child, &status, WNOHANG), 0);
		lifeline_cut(&line);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), signals[i]);
		close(ready[0]);
		close(ready[1]);
	}
}

static void late_child_knows(void **state)
{
	struct lifeline line;

	(void)state;
	assert_int_equal(lifeline_open(&line), 0);
	assert_int_equal(lifeline_obey(&line, SIGTERM), -ESRCH);
	close(line.child);
}

/* --- a parent that is killed --- */

/* Starts a child that keeps `alive` open, and waits to be killed. */
static void be_parent(int ready, int alive)
{
	struct lifeline line;

	(void)alive;
	if (lifeline_open(&line))
		_exit(1);
	if (fork() == 0)
		obey(&line, SIGTERM, ready);
	lifeline_hold(&line);
	if (!become(PARENT_USER))
		_exit(1);
	close(alive);
	for (;;)
		pause();
}

static void ends_with_its_parent(void **state)
{
	int ready[2], alive[2], status;
	pid_t parent;
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(alive), 0);
	parent = fork();
	if (parent == 0) {
		close(alive[0]);
		be_parent(ready[1], alive[1]);
	}
	close(alive[1]);
	await(ready[0]);
	kill(parent, SIGKILL);
	assert_int_equal(waitpid(parent, &status, 0), parent);
	/* The end of the file: the last process that had it open, the child, is gone. */
	assert_int_equal(read(alive[0], &byte, 1), 0);
	close(alive[0]);
	close(ready[0]);
	close(ready[1]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(cut_sends_the_signal),
	cmocka_unit_test(late_child_knows),
	cmocka_unit_test(ends_with_its_parent),
};

UNIT_TESTS(tests, NULL, NULL);
