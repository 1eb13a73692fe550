/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Files are not read before the process has given up everything. */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/input.h"
#include "sandbox/lifeline.h"
#include "sandbox/sandbox.h"

static char directory[] = "/tmp/gotrace-input-XXXXXX", file[64], pipe_path[64];
static const char text[] = "bytes of a trace";

static int make_files(void **state)
{
	int fd;

	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(file, sizeof(file), "%s/file", directory);
	snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", directory);
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, sizeof(text)) != sizeof(text) || close(fd))
		return -1;
	return mkfifo(pipe_path, 0600);
}

static int remove_files(void **state)
{
	(void)state;
	unlink(file);
	unlink(pipe_path);
	return rmdir(directory);
}

static void nothing_is_read_with_privileges(void **state)
{
	struct error err = {""};
	struct input input;
	int writer = open(pipe_path, O_RDWR | O_CLOEXEC), waiting = 0;

	(void)state;
	assert_int_equal(write(writer, text, sizeof(text)), sizeof(text));
	assert_int_equal(input_open(&input, pipe_path, false, &err), 0);
	assert_int_equal(input_begin(&input, &err), -EPERM);
	assert_int_equal(ioctl(writer, FIONREAD, &waiting), 0);
	assert_int_equal(waiting, sizeof(text));
	input_close(&input);
	close(writer);
	assert_int_equal(input_open(&input, file, false, &err), 0);
	assert_int_equal(input_begin(&input, &err), -EPERM);
	input_close(&input);
}

/* Returns the number of the first step that fails, 0 = none. */
static int read_confined(const char *path)
{
	struct error err = {""};
	struct input input;

	if (input_open(&input, path, false, &err))
		return 1;
	if (sandbox_confine(&err))
		return 2;
	if (input_begin(&input, &err))
		return 3;
	if (input.size != sizeof(text) || memcmp(input.bytes, text, sizeof(text)) != 0)
		return 4;
	return sandbox_confine(&err) || !sandbox_is_confined() ? 5 : 0;
}

static int status_of(int (*what)(const char *path), const char *path)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(what(path));
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void confined_process_reads(void **state)
{
	int writer = open(pipe_path, O_RDWR | O_CLOEXEC), status;
	pid_t child;

	(void)state;
	assert_int_equal(status_of(read_confined, file), 0);
	assert_int_equal(write(writer, text, sizeof(text)), sizeof(text));
	child = fork();
	if (child == 0) {
		close(writer);
		_exit(read_confined(pipe_path));
	}
	/* The bytes end when nobody can write to it. */
	while (ioctl(writer, FIONREAD, &status) == 0 && status > 0)
		usleep(1000);
	close(writer);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* A parent may end its children, and no other process. */
static int kill_child(const char *others)
{
	struct lifeline line;
	struct error err;
	pid_t child;

	if (lifeline_open(&line))
		return 3;
	child = fork();
	if (child == 0) {
		lifeline_obey(&line, SIGKILL);
		for (;;)
			pause();
	}
	lifeline_hold(&line);
	if (sandbox_confine_parent(&child, 1, &err))
		return 1;
	if (others)
		kill(getppid(), SIGCONT);
	/* A child that keeps root's id cannot be signalled; a forbidden call would be SIGSYS. */
	return kill(child, SIGKILL) && errno != EPERM ? 2 : 0;
}

static void parent_ends_its_children(void **state)
{
	(void)state;
	assert_int_equal(status_of(kill_child, NULL), 0);
	assert_int_equal(status_of(kill_child, "others"), -SIGSYS);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(nothing_is_read_with_privileges),
	cmocka_unit_test(confined_process_reads),
	cmocka_unit_test(parent_ends_its_children),
};

UNIT_TESTS(tests, make_files, remove_files);
