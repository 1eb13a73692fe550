/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"

#include "pipeline/output.h"

/* Each test runs in an empty directory of its own. */
static int enter(void **state)
{
	char *dir = strdup("/tmp/test-output-XXXXXX");

	*state = dir;
	return !dir || !mkdtemp(dir) || chdir(dir) ? -1 : 0;
}

static int leave(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
	free(*state);
	return chdir("/") || system(command) ? -1 : 0;
}

static void put_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void expect_file(const char *path, const char *text)
{
	char bytes[256] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	bytes[fread(bytes, 1, sizeof(bytes) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(bytes, text);
}

static void write_text(struct output *out, const char *text)
{
	assert_int_equal(output_write(out, text, strlen(text)), 0);
}

static void new_file_is_for_its_owner(void **state)
{
	mode_t mask = umask(0);
	struct output out;
	struct stat st;

	(void)state;
	assert_int_equal(output_open(&out, "new", NULL), 0);
	write_text(&out, "abc");
	assert_int_equal(output_publish(&out, NULL), 0);
	assert_int_equal(output_commit(&out), 0);
	assert_int_equal(output_close(&out), 0);
	assert_int_equal(stat("new", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	expect_file("new", "abc");
	umask(mask);
}

static void old_file_stays_until_published(void **state)
{
	struct output out;

	(void)state;
	put_file("file", "old");
	assert_int_equal(link("file", "other name"), 0);
	assert_int_equal(output_open(&out, "file", NULL), 0);
	write_text(&out, "new");
	assert_int_equal(output_commit(&out), 0);
	expect_file("file", "old");
	assert_int_equal(output_publish(&out, NULL), 0);
	expect_file("file", "new");
	expect_file("other name", "old");
	assert_int_equal(output_close(&out), 0);
}

static void discarded_draft_leaves_no_trace(void **state)
{
	struct output out;

	put_file("file", "old");
	assert_int_equal(output_open(&out, "file", NULL), 0);
	write_text(&out, "new");
	output_discard(&out);
	expect_file("file", "old");
	assert_int_equal(unlink("file"), 0);
	assert_int_equal(chdir("/"), 0);
	/* Nothing else is left in the directory. */
	assert_int_equal(rmdir(*state), 0);
	assert_int_equal(mkdir(*state, 0700), 0);
}

static void links_are_refused(void **state)
{
	struct output out;
	struct error err;

	(void)state;
	put_file("victim", "precious");
	assert_int_equal(symlink("victim", "planted"), 0);
	assert_int_equal(output_open(&out, "planted", &err), -ELOOP);
	assert_non_null(strstr(err.text, "symbolic link"));
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_equal(output_open(&out, "dangling", &err), -ELOOP);
	expect_file("victim", "precious");
	assert_int_equal(access("nowhere", F_OK), -1);
}

/* The name was free when it was checked; then another user made a link there. */
static void late_link_is_replaced_not_followed(void **state)
{
	struct output out;
	struct stat st;

	(void)state;
	put_file("victim", "precious");
	assert_int_equal(output_open(&out, "file", NULL), 0);
	assert_int_equal(symlink("victim", "file"), 0);
	assert_int_equal(output_publish(&out, NULL), 0);
	write_text(&out, "trace");
	assert_int_equal(output_commit(&out), 0);
	assert_int_equal(output_close(&out), 0);
	expect_file("victim", "precious");
	assert_int_equal(lstat("file", &st), 0);
	assert_true(S_ISREG(st.st_mode));
	expect_file("file", "trace");
}

static const time_t when = 1795235400; /* 2026-11-21 04:30:00 UTC */

static void default_name_never_overwrites(void **state)
{
	struct output first, second;

	(void)state;
	assert_int_equal(output_open_new(&first, NULL, 77, when, NULL), 0);
	write_text(&first, "one");
	assert_int_equal(output_commit(&first), 0);
	assert_int_equal(access("gotrace-77-20261121T043000Z.trace", F_OK), -1);
	/* Both have chosen the same name: the second one published gets another. */
	assert_int_equal(output_open_new(&second, NULL, 77, when, NULL), 0);
	assert_int_equal(output_publish(&first, NULL), 0);
	assert_int_equal(output_publish(&second, NULL), 0);
	assert_string_equal(first.path, "gotrace-77-20261121T043000Z.trace");
	assert_string_equal(second.path, "gotrace-77-20261121T043000Z-2.trace");
	output_discard(&second);
	assert_int_equal(access("gotrace-77-20261121T043000Z-2.trace", F_OK), -1);
	assert_int_equal(output_close(&first), 0);
	expect_file("gotrace-77-20261121T043000Z.trace", "one");
}

static void planted_default_name_is_passed_over(void **state)
{
	struct output out;

	(void)state;
	assert_int_equal(symlink("victim", "gotrace-77-20261121T043000Z.trace"), 0);
	assert_int_equal(output_open_new(&out, NULL, 77, when, NULL), 0);
	assert_int_equal(output_publish(&out, NULL), 0);
	assert_string_equal(out.path, "gotrace-77-20261121T043000Z-2.trace");
	assert_int_equal(access("victim", F_OK), -1);
	output_discard(&out);
}

static void new_file_in_a_directory(void **state)
{
	struct output out;

	(void)state;
	assert_int_equal(output_open_new(&out, "missing", 77, when, NULL), -ENOENT);
	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(output_open_new(&out, "dir", 77, when, NULL), 0);
	/* It stays in its original directory, even if that is moved. */
	assert_int_equal(rename("dir", "moved"), 0);
	assert_int_equal(mkdir("dir", 0700), 0);
	write_text(&out, "trace");
	assert_int_equal(output_commit(&out), 0);
	assert_int_equal(output_publish(&out, NULL), 0);
	assert_int_equal(output_close(&out), 0);
	expect_file("moved/gotrace-77-20261121T043000Z.trace", "trace");
	assert_int_equal(rmdir("dir"), 0);
}

/* SIGKILL at any time before publishing leaves nothing in the directory. */
static void killed_before_publishing_leaves_nothing(void **state)
{
	struct output out;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (output_open(&out, "file", NULL) == 0 && output_open_new(&out, NULL, 77, when, NULL) == 0)
			raise(SIGKILL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(*state), 0);
	assert_int_equal(mkdir(*state, 0700), 0);
}

static void file_of_the_name_that_appears_meanwhile_is_replaced(void **state)
{
	struct output out;

	(void)state;
	put_file(".gotrace-1-1.part", "left by one that was killed");
	assert_int_equal(output_open(&out, "file", NULL), 0);
	write_text(&out, "trace");
	assert_int_equal(output_commit(&out), 0);
	put_file("file", "another's");
	assert_int_equal(output_publish(&out, NULL), 0);
	expect_file("file", "trace");
	assert_int_equal(access(".gotrace-1-1.part", F_OK), -1);
	/* A file that was put there since must not be removed. */
	assert_int_equal(unlink("file"), 0);
	put_file("file", "another's");
	output_discard(&out);
	expect_file("file", "another's");
}

static void other_kinds_of_files(void **state)
{
	struct output out;
	struct error err;

	(void)state;
	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(output_open(&out, "dir", &err), -EISDIR);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(output_open(&out, "pipe", &err), -EINVAL);
	assert_int_equal(output_open(&out, "/dev/zero", &err), -EINVAL);
	assert_int_equal(output_open(&out, "", &err), -EINVAL);
	assert_int_equal(output_open(&out, "missing/file", &err), -ENOENT);
	assert_int_equal(output_open(&out, "/dev/null", &err), 0);
	write_text(&out, "gone");
	assert_int_equal(output_commit(&out), 0);
	assert_int_equal(out.committed, 4);
	output_discard(&out);
	assert_int_equal(access("/dev/null", F_OK), 0);
}

/* A file size limit makes writes fail as a full disk does. */
static void failure_cuts_back_to_the_last_commit(void **state)
{
	struct rlimit old, low;
	struct output out;
	char *chunk = calloc(1, 300000);
	struct stat st;

	(void)state;
	assert_non_null(chunk);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(output_open(&out, "file", NULL), 0);
	assert_int_equal(output_publish(&out, NULL), 0);
	assert_int_equal(output_write(&out, chunk, 300000), 0);
	write_text(&out, "tail");
	assert_int_equal(output_commit(&out), 0);
	assert_int_equal(out.committed, 300004);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	low = (struct rlimit){.rlim_cur = 400000, .rlim_max = old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	assert_int_equal(output_write(&out, chunk, 300000), -EFBIG);
	assert_int_equal(out.error, EFBIG);
	assert_int_equal(stat("file", &st), 0);
	assert_int_equal(st.st_size, 400000);
	assert_int_equal(output_cut(&out), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(output_close(&out), 0);
	assert_int_equal(stat("file", &st), 0);
	assert_int_equal(st.st_size, 300004);
	free(chunk);
}

static void file_belongs_to_the_user_behind_sudo(void **state)
{
	struct output out;
	struct stat st;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can change a file's owner */
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "23456", 1);
	assert_int_equal(output_open(&out, "file", NULL), 0);
	assert_int_equal(output_publish(&out, NULL), 0);
	assert_int_equal(output_close(&out), 0);
	assert_int_equal(stat("file", &st), 0);
	assert_int_equal(st.st_uid, 12345);
	assert_int_equal(st.st_gid, 23456);
	setenv("SUDO_UID", "12345x", 1);
	assert_int_equal(output_open(&out, "file2", NULL), 0);
	assert_int_equal(output_publish(&out, NULL), 0);
	assert_int_equal(output_close(&out), 0);
	assert_int_equal(stat("file2", &st), 0);
	assert_int_equal(st.st_uid, 0);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

static const struct CMUnitTest tests[] = {
	TEST(new_file_is_for_its_owner),
	TEST(old_file_stays_until_published),
	TEST(discarded_draft_leaves_no_trace),
	TEST(links_are_refused),
	TEST(late_link_is_replaced_not_followed),
	TEST(default_name_never_overwrites),
	TEST(planted_default_name_is_passed_over),
	TEST(new_file_in_a_directory),
	TEST(killed_before_publishing_leaves_nothing),
	TEST(file_of_the_name_that_appears_meanwhile_is_replaced),
	TEST(other_kinds_of_files),
	TEST(failure_cuts_back_to_the_last_commit),
	TEST(file_belongs_to_the_user_behind_sudo),
};

UNIT_TESTS(tests, NULL, NULL);
