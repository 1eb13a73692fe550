/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "capture/quota.h"

static void assert_path(const char *lines, bool v1, const char *path)
{
	char found[QUOTA_PATH] = "";
	FILE *file = fmemopen((void *)(uintptr_t)lines, strlen(lines), "r");

	assert_non_null(file);
	assert_int_equal(quota_path_of(file, v1, found), path != NULL);
	if (path)
		assert_string_equal(found, path);
	fclose(file);
}

static void paths(void **state)
{
	const char mixed[] = "9:name=systemd:/init\n2:cpuacct:/other\n1:cpu,cpuset:/a:b\n0::/unified\n";
	char longest[QUOTA_PATH + 32];

	(void)state;
	assert_path(mixed, true, "/a:b");
	assert_path(mixed, false, "/unified");
	assert_path("3:cpuset:/x\n", true, NULL);
	assert_path("3:cpuset:/x\n", false, NULL);
	assert_path("", false, NULL);
	assert_path("0:/x\n", false, NULL);
	snprintf(longest, sizeof(longest), "0::/%0*d\n", QUOTA_PATH, 0);
	assert_path(longest, false, NULL);
}

static void figures(void **state)
{
	struct log_quota quota = {.time = 0};

	(void)state;
	quota_parse_stat("nr_periods 30\nnr_throttled 29\nthrottled_time 2059390244\nnr_bursts 0\n", &quota);
	assert_int_equal(quota.periods, 30);
	assert_int_equal(quota.throttled_periods, 29);
	assert_int_equal(quota.throttled_ns, 2059390244);
	quota_parse_stat("usage_usec 5\nnr_periods 3\nnr_throttled 2\nthrottled_usec 1500", &quota);
	assert_int_equal(quota.periods, 3);
	assert_int_equal(quota.throttled_ns, 1500000);
	quota_parse_stat("", &quota);
	assert_int_equal(quota.throttled_ns, 0);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(paths), cmocka_unit_test(figures)};

UNIT_TESTS(tests, NULL, NULL);
