/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <string.h>
#include <errno.h>
#include "unit.h"

#include "cli/values.h"

static void durations_with_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} cases[] = {
		{"500ms", 500000000ull},        {"5s", 5000000000ull},    {"5", 5000000000ull},
		{"2m", 120000000000ull},        {"1h", 3600000000000ull}, {"1ms", 1000000ull},
		{"1000h", 3600000000000000ull}, {"1.5s", 1500000000ull},  {"0.25", 250000000ull},
		{"2.000001ms", 2000001ull},
	};
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse_duration("-d", cases[i].text, &ns, NULL), 0);
		assert_int_equal(ns, cases[i].ns);
	}
}

static void moments(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
		bool is_wall;
	} cases[] = {
		{"1.5s", 1500000000, false},
		{"20us", 20000, false},
		{"@1795727100", 1795727100000000000ull, true},
		{"@1795727100.25", 1795727100250000000ull, true},
		{"@1795727100.1234567891", 1795727100123456789ull, true},
		{"2026-11-26T21:05:00Z", 1795727100000000000ull, true},
		{"2026-11-26t21:05:00.25z", 1795727100250000000ull, true},
		{"2026-11-26T22:35:00.25+01:30", 1795727100250000000ull, true},
		{"2026-11-26 20:05:00-01:00", 1795727100000000000ull, true},
		{"1970-01-01T00:00:00Z", 0, true},
		{"2024-02-29T00:00:00Z", 1709164800000000000ull, true},
	};
	static const char *const refused[] = {"",
					      "@",
					      "@1e9",
					      "@-5",
					      "@99999999999",
					      "@1.5s",
					      "2026-11-26",
					      "2026-11-26T21:05:00",
					      "2026-11-26T21:05Z",
					      "2026-13-26T21:05:00Z",
					      "2026-11-26T25:05:00Z",
					      "2026-11-26T21:05:00Z ",
					      "2026-11-26T21:05:00+1:00",
					      "1970-01-01T00:00:00+01:00",
					      "+2026-11-26T21:05:00Z",
					      "2026-1-26T21:05:00.123Z",
					      "-5s"};
	struct moment moment;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse_moment("--from", cases[i].text, &moment, NULL), 0);
		assert_int_equal(moment.ns, cases[i].ns);
		assert_int_equal(moment.is_wall, cases[i].is_wall);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(parse_moment("--from", refused[i], &moment, &err), -EINVAL);
		assert_non_null(strstr(err.text, "--from: "));
	}
}

static void durations_refused(void **state)
{
	static const char *const cases[] = {"12abc",
					    "",
					    "s",
					    "-5s",
					    "+5s",
					    " 5s",
					    "5s ",
					    "5 s",
					    "0",
					    "0ms",
					    "1001h",
					    "1e3s",
					    "0x5s",
					    "5ss",
					    "99999999999999999999s",
					    "18446744073709551615s",
					    "5124096h",
					    "5.s",
					    ".5s",
					    "1.0000000001s",
					    "1.5.5s"};
	struct error err;
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		err.text[0] = '\0';
		assert_int_equal(parse_duration("-d", cases[i], &ns, &err), -EINVAL);
		assert_non_null(strstr(err.text, "-d "));
	}
}

static void sizes(void **state)
{
	uint64_t bytes;

	(void)state;
	assert_int_equal(parse_size("--max-size", "1", 1, UINT64_MAX, &bytes, NULL), 0);
	assert_int_equal(bytes, 1);
	assert_int_equal(parse_size("--max-size", "512k", 1, UINT64_MAX, &bytes, NULL), 0);
	assert_int_equal(bytes, 512 << 10);
	assert_int_equal(parse_size("--max-size", "10M", 1, UINT64_MAX, &bytes, NULL), 0);
	assert_int_equal(bytes, 10 << 20);
	assert_int_equal(parse_size("--max-size", "2g", 1, UINT64_MAX, &bytes, NULL), 0);
	assert_int_equal(bytes, 2ull << 30);
	assert_int_equal(parse_size("--max-size", "17179869183G", 1, UINT64_MAX, &bytes, NULL), 0);
	assert_int_equal(parse_size("--max-size", "17179869184G", 1, UINT64_MAX, &bytes, NULL), -EINVAL);
	assert_int_equal(parse_size("--max-size", "10MB", 1, UINT64_MAX, &bytes, NULL), -EINVAL);
	assert_int_equal(parse_size("--max-size", "-1", 1, UINT64_MAX, &bytes, NULL), -EINVAL);
	assert_int_equal(parse_size("--max-size", "0", 1, UINT64_MAX, &bytes, NULL), -EINVAL);
	assert_int_equal(parse_size("--ring-size", "101", 1, 100, &bytes, NULL), -EINVAL);
	assert_int_equal(parse_size("--ring-size", "100", 1, 100, &bytes, NULL), 0);
}

static void pids(void **state)
{
	pid_t pid;

	(void)state;
	assert_int_equal(parse_pid("-p", "1", &pid, NULL), 0);
	assert_int_equal(pid, 1);
	assert_int_equal(parse_pid("-p", "2147483647", &pid, NULL), 0);
	assert_int_equal(parse_pid("-p", "2147483648", &pid, NULL), -EINVAL);
	assert_int_equal(parse_pid("-p", "4294967297", &pid, NULL), -EINVAL);
	assert_int_equal(parse_pid("-p", "0", &pid, NULL), -EINVAL);
	assert_int_equal(parse_pid("-p", "-1", &pid, NULL), -EINVAL);
	assert_int_equal(parse_pid("-p", "12x", &pid, NULL), -EINVAL);
	assert_int_equal(parse_pid("-p", "", &pid, NULL), -EINVAL);
}

static void users(void **state)
{
	struct error err;
	uid_t uid = 7;

	(void)state;
	assert_int_equal(parse_user("--user", "root", &uid, NULL), 0);
	assert_int_equal(uid, 0);
	assert_int_equal(parse_user("--user", "65532", &uid, NULL), 0);
	assert_int_equal(uid, 65532);
	assert_int_equal(parse_user("--user", "4294967294", &uid, NULL), 0);
	assert_int_equal(parse_user("--user", "4294967295", &uid, NULL), -EINVAL);
	assert_int_equal(parse_user("--user", "-1", &uid, NULL), -EINVAL);
	assert_int_equal(parse_user("--user", "", &uid, NULL), -EINVAL);
	assert_int_equal(parse_user("--user", "no\033such", &uid, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no user 'no?such'"));
}

static void formats(void **state)
{
	enum wire_format format;
	struct error err;

	(void)state;
	assert_int_equal(parse_format("--format", "1.26", &format, NULL), 0);
	assert_int_equal(format, WIRE_GO126);
	assert_int_equal(parse_format("--format", "1.22", &format, NULL), 0);
	assert_int_equal(format, WIRE_GO122);
	assert_int_equal(parse_format("--format", "1.28", &format, &err), -EINVAL);
	assert_non_null(strstr(err.text, "1.22, 1.23, 1.25, 1.26"));
	assert_int_equal(parse_format("--format", "1.260", &format, NULL), -EINVAL);
	assert_int_equal(parse_format("--format", "", &format, NULL), -EINVAL);
}

static void rates(void **state)
{
	struct error err;
	unsigned hz;

	(void)state;
	assert_int_equal(parse_rate("--cpu-samples", "0", 1000, &hz, NULL), 0);
	assert_int_equal(hz, 0);
	assert_int_equal(parse_rate("--cpu-samples", "1000hz", 1000, &hz, NULL), 0);
	assert_int_equal(hz, 1000);
	assert_int_equal(parse_rate("--cpu-samples", "1001", 1000, &hz, &err), -EINVAL);
	assert_non_null(strstr(err.text, "0 to 1000"));
	assert_int_equal(parse_rate("--cpu-samples", "4294967396", 1000, &hz, NULL), -EINVAL);
	assert_int_equal(parse_rate("--cpu-samples", "1k", 1000, &hz, NULL), -EINVAL);
	assert_int_equal(parse_rate("--cpu-samples", "", 1000, &hz, NULL), -EINVAL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(durations_with_units),
	cmocka_unit_test(durations_refused),
	cmocka_unit_test(moments),
	cmocka_unit_test(sizes),
	cmocka_unit_test(pids),
	cmocka_unit_test(users),
	cmocka_unit_test(formats),
	cmocka_unit_test(rates),
};

UNIT_TESTS(tests, NULL, NULL);
