/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Quotas of cgroups, in directories that look like theirs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "capture/cpu_limit.h"

static char top[] = "/tmp/gotrace-cgroups-XXXXXX";

static void make(const char *directory, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", top, directory);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s%s/%s", top, directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(top));
	make("/pod", "cpu.max", "200000 100000\n");
	make("/pod", "cpu.stat", "usage_usec 5\nnr_periods 3\nnr_throttled 2\nthrottled_usec 1500");
	make("/pod/app", "cpu.max", "400000 100000\n");
	make("/pod/app", "cpu.stat", "usage_usec 7\nnr_periods 3\nnr_throttled 0\nthrottled_usec 0\n");
	make("/free", "cpu.max", "max 100000\n");
	make("/cpu", "cpu.cfs_quota_us", "-1\n");
	make("/cpu/job", "cpu.cfs_quota_us", "30000\n");
	make("/cpu/job", "cpu.cfs_period_us", "100000\n");
	make("/cpu/job", "cpu.stat",
	     "nr_periods 30\nnr_throttled 29\nthrottled_time 2059390244\nnr_bursts 0\n");
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command);
}

static struct cpu_limit limit_of(const char *line)
{
	struct cpu_limit limit = {.known = true};
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", line);
	cpu_limit_take_cgroup(&limit, top, copy);
	return limit;
}

/* The tightest quota of the cgroup and its ancestors counts, and its own figures. */
static void test_quota_of_an_ancestor(void **state)
{
	struct cpu_limit limit = limit_of("0::/pod/app");

	(void)state;
	assert_int_equal(limit.quota_us, 200000);
	assert_int_equal(limit.period_ns, 100000000);
	assert_int_equal(limit.quota_version, 2);
	assert_string_equal(limit.quota_cgroup, "/pod");
	assert_int_equal(limit.periods, 3);
	assert_int_equal(limit.throttled, 2);
	assert_int_equal(limit.throttled_ns, 1500000);
	assert_int_equal(limit.group_cpu_ns, 7000);
}

static void test_quota_of_version_1(void **state)
{
	struct cpu_limit limit = limit_of("4:cpuset,cpu:/job");

	(void)state;
	assert_int_equal(limit.quota_us, 30000);
	assert_int_equal(limit.quota_version, 1);
	assert_string_equal(limit.quota_cgroup, "/job");
	assert_int_equal(limit.periods, 30);
	assert_int_equal(limit.throttled, 29);
	assert_int_equal(limit.throttled_ns, 2059390244);
}

static void test_no_quota(void **state)
{
	static const char *const lines[] = {
		"0::/free",    "4:cpuset:/job", "9:name=systemd:/job", "0:/pod", "",
		"0::/missing", "4:cpu:/",       "0::/free/../pod"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct cpu_limit limit = limit_of(lines[i]);

		if (limit.quota_cpus > 0)
			fail_msg("a quota: %s", lines[i]);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_quota_of_an_ancestor),
	cmocka_unit_test(test_quota_of_version_1),
	cmocka_unit_test(test_no_quota),
};

UNIT_TESTS(tests, set_up, tear_down);
