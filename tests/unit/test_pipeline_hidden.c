/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Temporary names of unpublished files, as on file systems without O_TMPFILE. */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/hidden.h"

static char top[] = "/tmp/gotrace-hidden-XXXXXX";
static int dir;

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(top) || chdir(top))
		return -1;
	dir = open(".", O_PATH | O_DIRECTORY);
	return dir < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	close(dir);
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return chdir("/") || system(command) ? -1 : 0;
}

/* A part as create_part() makes it without O_TMPFILE. */
static int put_part(char part[PART_BYTES], int number)
{
	int fd;

	snprintf(part, PART_BYTES, ".gotrace-%d-%d.part", (int)getpid(), number);
	fd = open(part, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	return fd;
}

static bool is_there(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0;
}

/* Stale files are removed when a file that replaces another is named. */
static void sweep(void)
{
	char part[PART_BYTES];
	int fd = hidden_create(dir, O_WRONLY, part);

	assert_true(fd >= 0);
	assert_int_equal(hidden_replace(fd, dir, part, "replaced"), 0);
	assert_string_equal(part, "");
	close(fd);
}

static void a_part_gets_its_name(void **state)
{
	char part[PART_BYTES];
	int fd = put_part(part, 901);

	(void)state;
	assert_int_equal(hidden_link(fd, dir, part, "linked"), 0);
	assert_string_equal(part, "");
	assert_true(is_there("linked"));
	close(fd);
	fd = put_part(part, 902);
	assert_int_equal(hidden_link(fd, dir, part, "linked"), -EEXIST);
	assert_true(part[0]);
	assert_int_equal(hidden_replace(fd, dir, part, "linked"), 0);
	assert_string_equal(part, "");
	close(fd);
}

static void an_exchanged_part_is_noticed(void **state)
{
	char part[PART_BYTES], name[PART_BYTES];
	int fd = put_part(part, 903), other;

	(void)state;
	strcpy(name, part);
	assert_int_equal(rename(part, "hidden"), 0);
	other = open(part, O_WRONLY | O_CREAT, 0600);
	assert_true(other >= 0);
	assert_int_equal(hidden_link(fd, dir, part, "exchanged"), -ESTALE);
	hidden_remove(fd, dir, "exchanged");
	assert_true(is_there("exchanged")); /* not ours */
	close(fd);
	close(other);
}

static void only_what_nobody_holds_is_swept(void **state)
{
	char held[PART_BYTES], left[PART_BYTES];
	int fd = put_part(held, 904), other = put_part(left, 905);

	(void)state;
	close(other); /* as when gotrace is killed */
	assert_int_equal(symlink("/etc/passwd", ".gotrace-1-1.part"), 0);
	assert_int_equal(mkfifo(".gotrace-1-2.part", 0600), 0);
	assert_int_equal(mkdir(".gotrace-1-3.part", 0700), 0);
	other = open(".gotrace-1-4.partial", O_WRONLY | O_CREAT, 0600);
	close(other);
	sweep();
	assert_true(is_there(held));
	assert_false(is_there(left));
	assert_true(is_there(".gotrace-1-1.part"));
	assert_true(is_there(".gotrace-1-2.part"));
	assert_true(is_there(".gotrace-1-3.part"));
	assert_true(is_there(".gotrace-1-4.partial"));
	close(fd);
	sweep();
	assert_false(is_there(held));
}

static void files_of_other_users_are_not_swept(void **state)
{
	int fd;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can change a file's owner */
	fd = open(".gotrace-2-1.part", O_WRONLY | O_CREAT, 0600);
	assert_int_equal(fchown(fd, 12345, 12345), 0);
	close(fd);
	sweep();
	assert_true(is_there(".gotrace-2-1.part"));
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "12345", 1);
	sweep();
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_false(is_there(".gotrace-2-1.part"));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_part_gets_its_name),
	cmocka_unit_test(an_exchanged_part_is_noticed),
	cmocka_unit_test(only_what_nobody_holds_is_swept),
	cmocka_unit_test(files_of_other_users_are_not_swept),
};

UNIT_TESTS(tests, set_up, tear_down);
