/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Borrowed rights: lowered for files that the user names, raised for files that only their owner may read. */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/rights.h"

enum { USER = 65534 };

static char path[] = "/tmp/gotrace-rights-XXXXXX";

static bool can_read(void)
{
	int fd = open(path, O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* As a file capability sets it: permitted, and effective from the start. */
static bool become_user_with(uint32_t capabilities)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{capabilities, capabilities, 0}};

	return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && setresgid(USER, USER, USER) == 0 &&
	       setresuid(USER, USER, USER) == 0 && syscall(SYS_capset, &head, data) == 0;
}

/* Steps of the child. Returns the number of the first that fails, 0 = none. */
static int borrow(void)
{
	struct rights before, outer;

	if (!become_user_with(1u << CAP_DAC_READ_SEARCH | 1u << CAP_SYS_PTRACE) || !can_read())
		return 1;
	outer = rights_as_user();
	if (can_read() || rights_have(RIGHT_SYS_PTRACE))
		return 2;
	before = rights_to_read();
	if (!can_read() || rights_have(RIGHT_SYS_PTRACE))
		return 3;
	rights_restore(&before);
	if (can_read())
		return 4;
	errno = EXDEV;
	rights_restore(&outer);
	if (errno != EXDEV || !can_read() || !rights_have(RIGHT_SYS_PTRACE))
		return 5;
	if (rights_have(RIGHT_BPF) || rights_have(RIGHT_SYS_ADMIN))
		return 6;
	rights_give_up();
	before = rights_to_read();
	return can_read() || rights_have(RIGHT_SYS_PTRACE) ? 7 : 0;
}

static int admin(void)
{
	if (!become_user_with(1u << CAP_SYS_ADMIN))
		return 1;
	/* CAP_SYS_ADMIN used to include all of these. */
	return rights_have(RIGHT_BPF) && rights_have(RIGHT_PERFMON) &&
			       rights_have(RIGHT_CHECKPOINT_RESTORE) && !rights_have(RIGHT_SYS_PTRACE) &&
			       !rights_have(RIGHT_DAC_READ_SEARCH)
		       ? 0
		       : 2;
}

static void in_child(int (*steps)(void))
{
	int status = -1;
	pid_t child;

	if (geteuid() != 0 || rights_in_user_namespace())
		skip(); /* only root can give it */
	child = fork();
	if (child == 0)
		_exit(steps());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void borrowed(void **state)
{
	(void)state;
	in_child(borrow);
}

static void once_part_of_admin(void **state)
{
	(void)state;
	in_child(admin);
}

static void nothing_is_borrowed(void **state)
{
	struct rights before;
	struct error err;

	(void)state;
	assert_int_equal(rights_begin(&err), 0);
	before = rights_as_user();
	assert_false(before.changed); /* root stays root, and others have no rights */
	rights_restore(&before);
	assert_true(can_read());
}

static int set_up(void **state)
{
	int fd = mkstemp(path); /* readable by its owner only */

	(void)state;
	return fd < 0 || close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(nothing_is_borrowed),
	cmocka_unit_test(borrowed),
	cmocka_unit_test(once_part_of_admin),
};

UNIT_TESTS(tests, set_up, tear_down);
