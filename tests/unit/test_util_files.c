/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A hostile directory: links out of it, and files that are not regular. */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/files.h"

static char top[] = "/tmp/gotrace-files-XXXXXX";

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Outside: top/file. Inside: top/root. */
static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	write_file("file", "outside");
	assert_int_equal(mkdir("root", 0700), 0);
	assert_int_equal(mkdir("root/dir", 0700), 0);
	write_file("root/file", "inside");
	write_file("root/new\nline", "newline");
	assert_int_equal(symlink("/file", "root/absolute"), 0);
	assert_int_equal(symlink("../../../../file", "root/dir/up"), 0);
	assert_int_equal(symlink("/../file", "root/dir/over"), 0);
	assert_int_equal(symlink("loop", "root/loop"), 0);
	assert_int_equal(symlink("/dev/null", "root/device"), 0);
	assert_int_equal(symlink("/dev/null", "device"), 0);
	assert_int_equal(mkfifo("root/pipe", 0600), 0);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	assert_int_equal(chdir("/"), 0);
	return system(command);
}

static void says(int fd, const char *text)
{
	char found[32] = "";

	assert_true(fd >= 0);
	assert_true(read(fd, found, sizeof(found) - 1) > 0);
	assert_string_equal(found, text);
	assert_false(fcntl(fd, F_GETFL) & O_PATH);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void stays_inside(void **state)
{
	int root = open("root", O_PATH | O_DIRECTORY);

	(void)state;
	says(file_open_in(root, "/file"), "inside");
	says(file_open_in(root, "file"), "inside");
	says(file_open_in(root, "/../../file"), "inside");
	says(file_open_in(root, "/absolute"), "inside");
	says(file_open_in(root, "/dir/up"), "inside");
	says(file_open_in(root, "/dir/over"), "inside");
	says(file_open_in(root, "/new\nline"), "newline");
	says(file_open_in_plain(root, "/../file"), "inside");
	assert_true(file_is_cached_in(root, "/file"));
	assert_false(file_is_cached_in(root, "/absolute"));
	assert_false(file_is_cached_in(root, "/missing"));
	assert_false(file_is_cached_in(-1, "/file"));
	assert_int_equal(file_open_in_plain(root, "/absolute"), -ELOOP);
	assert_int_equal(file_open_in_plain(root, "/dir/up"), -ELOOP);
	assert_int_equal(file_open_in_plain(root, "/pipe"), -ENOENT);
	close(root);
}

static void only_files(void **state)
{
	int root = open("root", O_PATH | O_DIRECTORY);

	(void)state;
	assert_int_equal(file_open_in(root, "/pipe"), -ENOENT); /* and does not block */
	assert_int_equal(file_open_in(root, "/dir"), -ENOENT);
	assert_int_equal(file_open_in(root, "/device"), -ENOENT);
	assert_int_equal(file_open_in(root, "/loop"), -ELOOP);
	assert_int_equal(file_open_in(root, "/missing"), -ENOENT);
	assert_int_equal(file_open_in(-1, "/file"), -ENOENT);
	assert_int_equal(file_open("root/pipe"), -EINVAL);
	assert_int_equal(file_open("device"), -EINVAL);
	assert_int_equal(file_open("root"), -EINVAL);
	assert_int_equal(file_open("missing"), -ENOENT);
	says(file_open("file"), "outside");
	says(file_open_on_disk("root/dir/../../file"), "outside");
	assert_int_equal(file_open_on_disk("device"), -EINVAL);
	assert_int_equal(file_open_on_disk("//proc/self/exe"), -ELOOP);
	assert_int_equal(file_open_on_disk("/./proc/self/root/bin/true"), -ELOOP);
	assert_int_equal(file_open_on_disk("/usr/../proc/self/maps"), -EACCES);
	assert_int_equal(file_open_on_disk("/sys/kernel/mm/transparent_hugepage/enabled"), -EACCES);
	says(file_open_at(root, "file"), "inside");
	close(root);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(stays_inside), cmocka_unit_test(only_files)};

UNIT_TESTS(tests, set_up, tear_down);
