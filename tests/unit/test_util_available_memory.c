/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory left by the machine and the cgroups, read from files made here. */

#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/available_memory.h"

static char root[] = "/tmp/gotrace-memory-XXXXXX";

static void put(const char *path, const char *text)
{
	char full[PATH_MAX], command[2 * PATH_MAX];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\"", full);
	assert_int_equal(system(command), 0);
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int begin(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/gotrace-memory-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static void test_nothing_known(void **state)
{
	(void)state;
	assert_int_equal(available_memory(root), 0);
}

static void test_the_machine_alone(void **state)
{
	(void)state;
	put("/proc/meminfo", "MemTotal: 8000 kB\nMemFree: 1000 kB\nMemAvailable:    4096 kB\n");
	put("/proc/self/cgroup", "0::/\n");
	assert_int_equal(available_memory(root), 4096 << 10);
}

/* The strictest limit of a cgroup and its ancestors; its cache can be dropped. */
static void test_version_2(void **state)
{
	(void)state;
	put("/proc/meminfo", "MemAvailable: 1048576 kB\n");
	put("/proc/self/cgroup", "0::/user.slice/app\n");
	put("/sys/fs/cgroup/user.slice/app/memory.max", "max\n");
	put("/sys/fs/cgroup/user.slice/app/memory.current", "1000\n");
	assert_int_equal(available_memory(root), 1 << 30);
	put("/sys/fs/cgroup/user.slice/memory.max", "10000000\n");
	put("/sys/fs/cgroup/user.slice/memory.current", "9000000\n");
	assert_int_equal(available_memory(root), 1000000);
	put("/sys/fs/cgroup/user.slice/memory.stat", "anon 5\ninactive_file 2000000\n");
	assert_int_equal(available_memory(root), 3000000);
	put("/sys/fs/cgroup/user.slice/memory.current", "99000000\n");
	assert_int_equal(available_memory(root), 0);
}

static void test_version_1(void **state)
{
	(void)state;
	put("/proc/meminfo", "MemAvailable: 1048576 kB\n");
	put("/proc/self/cgroup", "12:cpu,cpuacct:/a\n7:memory:/a/b\n0::/c\n");
	put("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
	put("/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "5000\n");
	put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "70000\n");
	put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "20000\n");
	assert_int_equal(available_memory(root), 50000);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_nothing_known, begin, end),
	cmocka_unit_test_setup_teardown(test_the_machine_alone, begin, end),
	cmocka_unit_test_setup_teardown(test_version_2, begin, end),
	cmocka_unit_test_setup_teardown(test_version_1, begin, end),
};

UNIT_TESTS(tests, NULL, NULL);
