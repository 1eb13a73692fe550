/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"

#include "cli/spawn.h"

static void programs_are_found(void **state)
{
	char path[PATH_MAX];
	struct error err;

	(void)state;
	setenv("PATH", "/nowhere:/usr/bin:/bin", 1);
	assert_int_equal(spawn_find("env", path, &err), 0);
	assert_string_equal(path, "/usr/bin/env");
	assert_int_equal(spawn_find("/usr/bin/env", path, &err), 0);
	assert_int_equal(spawn_find("no-such-program", path, &err), -ENOENT);
	assert_int_equal(spawn_find("/no/such/program", path, &err), -ENOENT);
	assert_int_equal(spawn_find("/etc/passwd", path, &err), -EACCES);
	assert_int_equal(spawn_find("/tmp", path, &err), -EACCES);
	assert_int_equal(spawn_find("", path, &err), -ENOENT);
}

static void scripts_are_refused(void **state)
{
	char name[] = "/tmp/test-script-XXXXXX", path[PATH_MAX];
	struct error err;
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
	assert_int_equal(fchmod(fd, 0755), 0);
	close(fd);
	assert_int_equal(spawn_find(name, path, &err), -ENOEXEC);
	assert_non_null(strstr(err.text, "is a script"));
	unlink(name);
}

static void child_waits_until_released(void **state)
{
	char sh[] = "sh", flag[] = "-c", script[] = "exit 7";
	char *argv[] = {sh, flag, script, NULL};
	struct child child = {.release_fd = -1, .report_fd = -1};

	(void)state;
	assert_int_equal(spawn_fork("/bin/sh", argv, &child, NULL), 0);
	assert_false(spawn_wait(&child, 100));
	assert_false(spawn_has_ended(&child));
	assert_int_equal(spawn_release(&child, NULL), 0);
	assert_true(spawn_wait(&child, 5000));
	assert_true(spawn_has_ended(&child));
	assert_int_equal(WEXITSTATUS(child.status), 7);
	spawn_close(&child);
}

static void failed_exec_is_reported(void **state)
{
	char name[] = "x";
	char *argv[] = {name, NULL};
	struct child child = {.release_fd = -1, .report_fd = -1};
	struct error err;

	(void)state;
	assert_int_equal(spawn_fork("/no/such/program", argv, &child, &err), 0);
	assert_int_equal(spawn_release(&child, &err), -ENOENT);
	assert_true(spawn_wait(&child, 5000));
	spawn_close(&child);
}

static void child_that_is_given_up_ends(void **state)
{
	char name[] = "env";
	char *argv[] = {name, NULL};
	struct child child = {.release_fd = -1, .report_fd = -1};

	(void)state;
	assert_int_equal(spawn_fork("/usr/bin/env", argv, &child, NULL), 0);
	spawn_close(&child);
	assert_true(child.reaped);
	assert_int_equal(WEXITSTATUS(child.status), 127);
}

static void child_runs_as_the_user_behind_sudo(void **state)
{
	char sh[] = "sh", flag[] = "-c",
	     script[] = "test $(id -u):$(id -g) = 12345:23456 && test \"$KEPT\" = yes";
	char *argv[] = {sh, flag, script, NULL};
	struct child child = {.release_fd = -1, .report_fd = -1};

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can become another user */
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "23456", 1);
	setenv("KEPT", "yes", 1);
	assert_int_equal(spawn_fork("/bin/sh", argv, &child, NULL), 0);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_int_equal(spawn_release(&child, NULL), 0);
	assert_true(spawn_wait(&child, 5000));
	assert_int_equal(child.status, 0);
	spawn_close(&child);
}

static void last_lines_are_found(void **state)
{
	static const struct {
		const char *text, *last;
	} outputs[] = {
		{"", ""},
		{"\n\n", ""},
		{"one", "one"},
		{"one\ntwo\n\n", "two"},
		{"a line that is too long", "o long"},
	};
	char name[] = "/tmp/test-output-XXXXXX", buffer[7];
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	unlink(name);
	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		ssize_t n = (ssize_t)strlen(outputs[i].text);

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, outputs[i].text, (size_t)n, 0), n);
		assert_string_equal(last_line(fd, buffer, sizeof(buffer)), outputs[i].last);
	}
	close(fd);
	assert_string_equal(last_line(-1, buffer, sizeof(buffer)), "");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(last_lines_are_found),
	cmocka_unit_test(programs_are_found),
	cmocka_unit_test(scripts_are_refused),
	cmocka_unit_test(child_waits_until_released),
	cmocka_unit_test(failed_exec_is_reported),
	cmocka_unit_test(child_that_is_given_up_ends),
	cmocka_unit_test(child_runs_as_the_user_behind_sudo),
};

UNIT_TESTS(tests, NULL, NULL);
