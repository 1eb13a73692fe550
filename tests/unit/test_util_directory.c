/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Paths through other users' directories, and directories made there. */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/directory.h"

enum { ALICE = 12345, MALLORY = 23456 };

static char top[] = "/tmp/gotrace-directory-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return !mkdtemp(top) || chdir(top) || mkdir("dir", 0755) || mkdir("dir/sub", 0755) ? -1 : 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return chdir("/") || system(command) ? -1 : 0;
}

static void behind_sudo(bool on)
{
	if (on) {
		setenv("SUDO_UID", "12345", 1);
		setenv("SUDO_GID", "12345", 1);
	} else {
		unsetenv("SUDO_UID");
		unsetenv("SUDO_GID");
	}
}

static void link_of(uid_t uid, const char *target, const char *name)
{
	assert_int_equal(symlink(target, name), 0);
	assert_int_equal(lchown(name, uid, uid), 0);
}

static void leads_to(const char *path, const char *where)
{
	struct error err;
	struct stat there, wanted;
	int fd = directory_open(path, &err);

	if (fd < 0)
		fail_msg("%s: %s", path, err.text);
	assert_int_equal(fstat(fd, &there), 0);
	assert_int_equal(stat(where, &wanted), 0);
	assert_true(there.st_dev == wanted.st_dev && there.st_ino == wanted.st_ino);
	close(fd);
}

static void leads_nowhere(const char *path, int code)
{
	struct error err;

	assert_int_equal(directory_open(path, &err), code);
	assert_true(err.text[0]);
	assert_null(strchr(err.text, '\n'));
}

static void walks_like_the_kernel(void **state)
{
	char path[PATH_MAX];

	(void)state;
	leads_to(".", ".");
	leads_to("/", "/");
	leads_to("dir/sub", "dir/sub");
	leads_to("dir//sub/", "dir/sub");
	leads_to("./dir/../dir/sub/..", "dir");
	snprintf(path, sizeof(path), "%s/dir/sub", top);
	leads_to(path, "dir/sub");
	leads_nowhere("", -ENOENT);
	leads_nowhere("missing/sub", -ENOENT);
	close(open("file", O_WRONLY | O_CREAT, 0600));
	leads_nowhere("file", -ENOTDIR);
	leads_nowhere("file/sub", -ENOTDIR);
	memset(path, 'x', 300);
	path[300] = '\0';
	leads_nowhere(path, -ENAMETOOLONG);
}

static void own_links_are_followed(void **state)
{
	char path[PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s/dir/sub/", top);
	assert_int_equal(symlink(path, "absolute"), 0);
	assert_int_equal(symlink("dir", "relative"), 0);
	assert_int_equal(symlink("../relative/sub/../sub", "dir/up"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(symlink("/", "slash"), 0);
	leads_to("absolute", "dir/sub");
	leads_to("absolute/..", "dir");
	leads_to("relative/sub", "dir/sub");
	leads_to("relative/up", "dir/sub");
	leads_to("slash", "/");
	leads_nowhere("loop", -ELOOP);
	leads_nowhere("loop/sub", -ELOOP);
}

static void links_of_others_are_not(void **state)
{
	struct error err;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can change a link's owner */
	link_of(MALLORY, "dir", "planted");
	leads_nowhere("planted", -ELOOP);
	leads_nowhere("planted/sub", -ELOOP);
	assert_int_equal(directory_open("planted", &err), -ELOOP);
	assert_non_null(strstr(err.text, "symbolic link owned by another user"));
	behind_sudo(true);
	leads_nowhere("planted/sub", -ELOOP);
	behind_sudo(false);
}

/* With protected_hardlinks=0 a link owned by root can get a second name anywhere. */
static void links_with_two_names_are_not(void **state)
{
	(void)state;
	assert_int_equal(symlink("dir", "first"), 0);
	assert_int_equal(link("first", "second"), 0);
	leads_nowhere("second", -ELOOP);
}

static void links_of_the_user_behind_sudo(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdir("alice", 0755), 0);
	assert_int_equal(chown("alice", ALICE, ALICE), 0);
	link_of(ALICE, "alice", "to_own");
	link_of(ALICE, "dir", "to_other");
	leads_nowhere("to_own", -ELOOP);
	behind_sudo(true);
	leads_to("to_own", "alice");
	leads_nowhere("to_other", -ELOOP);
	leads_nowhere("to_other/sub", -ELOOP);
	leads_to("dir/sub", "dir/sub");
	behind_sudo(false);
}

static uid_t made(const char *path)
{
	int fd = directory_make(path, NULL);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	close(fd);
	return st.st_uid;
}

static void parent_of(uid_t uid, mode_t mode, const char *name)
{
	assert_int_equal(mkdir(name, 0755), 0);
	assert_int_equal(chmod(name, mode), 0);
	assert_int_equal(chown(name, uid, uid), 0);
}

/* If others could have replaced the directory, its owner is not changed. */
static void new_directory_goes_to_the_user(void **state)
{
	mode_t mask = umask(022);

	(void)state;
	if (geteuid() != 0)
		skip();
	parent_of(0, 0755, "of_root");
	parent_of(ALICE, 0755, "of_alice");
	parent_of(0, 01777, "of_all");
	parent_of(0, 0777, "of_anybody");
	parent_of(0, 0775, "of_group");
	parent_of(MALLORY, 01777, "of_mallory");
	assert_int_equal(made("of_root/0"), 0);
	behind_sudo(true);
	assert_int_equal(made("of_root/1"), ALICE);
	assert_int_equal(made("of_root/2//"), ALICE);
	assert_int_equal(made("of_alice/1"), ALICE);
	assert_int_equal(made("of_all/1"), ALICE);
	assert_int_equal(made("of_anybody/1"), 0);
	assert_int_equal(made("of_group/1"), 0);
	assert_int_equal(made("of_mallory/1"), 0);
	/* An existing directory keeps its owner. */
	assert_int_equal(made("of_root/0"), 0);
	behind_sudo(false);
	assert_int_equal(directory_make("missing/sub", NULL), -ENOENT);
	umask(mask);
}

static int temporary_in(const char *parent)
{
	char path[PATH_MAX];
	struct error err = {""};
	struct stat st, by_path;
	int fd = directory_make_temporary(parent, path, &err);

	if (fd < 0) {
		assert_true(err.text[0] != '\0');
		return fd;
	}
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(lstat(path, &by_path), 0);
	assert_int_equal(st.st_ino, by_path.st_ino);
	assert_null(strstr(path, "link"));
	close(fd);
	return 0;
}

static void temporary_directory_is_where_nobody_replaces_it(void **state)
{
	(void)state;
	assert_int_equal(temporary_in("/tmp"), 0);
	assert_int_equal(temporary_in("dir/sub"), 0);
	assert_int_equal(symlink("dir/sub", "link"), 0);
	assert_int_equal(temporary_in("link"), 0);
	assert_int_equal(temporary_in("dir/missing"), -ENOENT);
	if (geteuid() != 0)
		skip();
	parent_of(0, 01777, "to_all");
	parent_of(0, 0777, "to_anybody");
	parent_of(0, 0775, "to_group");
	parent_of(MALLORY, 0755, "to_mallory");
	parent_of(0, 0755, "to_mallory/sub");
	parent_of(0, 0755, "to_mallory/sub/sub");
	assert_int_equal(temporary_in("to_all"), 0);
	assert_int_equal(temporary_in("to_anybody"), -EPERM);
	assert_int_equal(temporary_in("to_group"), -EPERM);
	assert_int_equal(temporary_in("to_mallory"), -EPERM);
	assert_int_equal(temporary_in("to_mallory/sub"), -EPERM);
	assert_int_equal(temporary_in("to_mallory/sub/sub"), -EPERM);
	/* The user behind sudo is another user, too. */
	behind_sudo(true);
	parent_of(ALICE, 0755, "to_alice");
	assert_int_equal(temporary_in("to_alice"), -EPERM);
	behind_sudo(false);
}

static void files_are_always_new(void **state)
{
	struct stat st;
	mode_t mask = umask(0);
	int fd;

	(void)state;
	fd = directory_create_file(AT_FDCWD, "dir/new", O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	close(fd);
	assert_int_equal(directory_create_file(AT_FDCWD, "dir/new", O_RDWR), -EEXIST);
	assert_int_equal(symlink("nowhere", "dir/planted"), 0);
	assert_int_equal(directory_create_file(AT_FDCWD, "dir/planted", O_WRONLY), -EEXIST);
	assert_int_equal(access("dir/nowhere", F_OK), -1);
	fd = directory_create_file(AT_FDCWD, NULL, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(st.st_nlink, 0);
	close(fd);
	umask(mask);
}

#define TEST(name) cmocka_unit_test(name)

static const struct CMUnitTest tests[] = {
	TEST(walks_like_the_kernel),
	TEST(own_links_are_followed),
	TEST(links_of_others_are_not),
	TEST(links_with_two_names_are_not),
	TEST(links_of_the_user_behind_sudo),
	TEST(new_directory_goes_to_the_user),
	TEST(temporary_directory_is_where_nobody_replaces_it),
	TEST(files_are_always_new),
};

UNIT_TESTS(tests, set_up, tear_down);
