/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Titles of processes, from command lines that they set themselves. */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/titles.h"

/* A process with this command line, once its program is running. */
static pid_t start(const char *title)
{
	char cat[] = "/bin/cat", byte = 'x';
	int in[2], out[2];
	pid_t pid;

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char *argv[] = {(char *)title, NULL};

		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[1]);
		execv(cat, argv);
		_exit(127);
	}
	/* It has copied a byte: exec is over. */
	assert_int_equal(write(in[1], &byte, 1), 1);
	assert_int_equal(read(out[0], &byte, 1), 1);
	close(in[0]);
	close(out[0]);
	close(out[1]);
	return pid; /* in[1] stays open, or it would end */
}

static void stop(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void expect_title(const char *command_line, const char *expected)
{
	struct titles titles = {0};
	pid_t pid = start(command_line);

	titles_add(&titles, pid);
	assert_null(titles_find(&titles, pid));
	titles_refresh(&titles, 1);
	if (expected)
		assert_string_equal(titles_find(&titles, pid), expected);
	else
		assert_null(titles_find(&titles, pid));
	titles_free(&titles);
	stop(pid);
}

static void paths_are_shortened(void **state)
{
	(void)state;
	expect_title("/usr/lib/postgresql/bin/postgres", "postgres");
	expect_title("./a/b/server /etc/conf", "server /etc/conf");
	expect_title("postgres: checkpointer /tmp", "postgres: checkpointer /tmp");
	expect_title("nginx: worker process   ", "nginx: worker process");
	expect_title("   ", NULL);
}

static void what_a_terminal_obeys_is_not_shown(void **state)
{
	struct titles titles = {0};
	pid_t pid = start("evil\033[2J\nname");
	const char *shown;

	(void)state;
	titles_add(&titles, pid);
	titles_refresh(&titles, 1);
	shown = titles_find(&titles, pid);
	assert_non_null(shown);
	assert_null(strpbrk(shown, "\033\n"));
	assert_non_null(strstr(shown, "evil"));
	titles_free(&titles);
	stop(pid);
}

static void long_titles_are_cut(void **state)
{
	struct titles titles = {0};
	char line[600];
	pid_t pid;

	(void)state;
	memset(line, 'a', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	pid = start(line);
	titles_add(&titles, pid);
	titles_refresh(&titles, 1);
	assert_in_range(strlen(titles_find(&titles, pid)), 100, TITLE_BYTES - 1);
	titles_free(&titles);
	stop(pid);
}

static void titles_outlive_their_processes(void **state)
{
	struct titles titles = {0}, loaded;
	pid_t pid = start("first");
	int fd = memfd_create("titles", MFD_CLOEXEC);

	(void)state;
	titles_add(&titles, pid);
	titles_refresh(&titles, 1);
	stop(pid);
	titles_refresh(&titles, 3000000000ull);
	assert_string_equal(titles_find(&titles, pid), "first");
	/* The pid comes again: the last one counts, if it is known. */
	titles_add(&titles, pid);
	assert_string_equal(titles_find(&titles, pid), "first");
	strcpy(titles.all[1].text, "second");
	assert_string_equal(titles_find(&titles, pid), "second");

	assert_int_equal(titles_save(&titles, fd), 0);
	assert_int_equal(titles_load(&loaded, fd), 0);
	assert_int_equal(loaded.n, 2);
	assert_string_equal(titles_find(&loaded, pid), "second");
	assert_null(titles_find(&loaded, pid + 1));
	titles_free(&loaded);
	titles_free(&titles);
	close(fd);
}

static void a_saved_file_is_untrusted(void **state)
{
	struct title title = {.pid = 9};
	int fd = memfd_create("titles", MFD_CLOEXEC);
	struct titles loaded;

	(void)state;
	assert_int_equal(titles_load(&loaded, fd), 0);
	assert_int_equal(loaded.n, 0);
	memset(title.text, 'a', sizeof(title.text)); /* without an end */
	assert_int_equal(write(fd, &title, sizeof(title)), sizeof(title));
	assert_int_equal(write(fd, &title, 5), 5);
	assert_int_equal(titles_load(&loaded, fd), 0);
	assert_int_equal(loaded.n, 1);
	assert_int_equal(strlen(titles_find(&loaded, 9)), TITLE_BYTES - 1);
	titles_free(&loaded);
	close(fd);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(paths_are_shortened),       cmocka_unit_test(what_a_terminal_obeys_is_not_shown),
	cmocka_unit_test(long_titles_are_cut),       cmocka_unit_test(titles_outlive_their_processes),
	cmocka_unit_test(a_saved_file_is_untrusted),
};

UNIT_TESTS(tests, NULL, NULL);
