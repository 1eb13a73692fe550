/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Values that are refused name those that would do. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"

#include "cli/values.h"

static void test_name_for_pid(void **state)
{
	char pid_text[16], byte = 0;
	struct error err = {""};
	int ready[2];
	pid_t pid, child;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_NAME, "gotrace-named");
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)child);
	assert_true(parse_pid("-p", "gotrace-named", &pid, &err) < 0);
	assert_non_null(strstr(err.text, "processes of that name: "));
	assert_non_null(strstr(err.text, pid_text));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	assert_true(parse_pid("-p", "gotrace-named", &pid, &err) < 0);
	assert_null(strstr(err.text, "processes of that name"));
	assert_true(parse_pid("-p", "", &pid, &err) < 0);
	assert_int_equal(parse_pid("-p", "12", &pid, &err), 0);
	assert_int_equal(pid, 12);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_name_for_pid),
};

UNIT_TESTS(tests, NULL, NULL);
