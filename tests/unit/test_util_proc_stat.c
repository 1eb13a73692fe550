/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"
#include <unistd.h>

#include "util/proc_stat.h"

#define NUMBERS                                                                                              \
	"1 70 70 0 -1 4194368 1 2 3 4 5 6 7 8 20 0 3 0 4242 100 200 18446744073709551615 1 2 140736 4 5 6 "  \
	"7 8 9 10 11 0 17 6 0 0\n"

static void fields_are_those_of_proc_5(void **state)
{
	struct proc_stat stat;

	(void)state;
	assert_true(proc_stat_parse("71 (a) R (b) c) S " NUMBERS, &stat));
	assert_int_equal(stat.pid, 71);
	assert_string_equal(stat.comm, "a) R (b) c");
	assert_int_equal(stat.state, 'S');
	assert_int_equal(stat.parent, 1);
	assert_int_equal(stat.flags, 4194368);
	assert_int_equal(stat.threads, 3);
	assert_int_equal(stat.start_ticks, 4242);
	assert_int_equal(stat.stack_start, 140736);
	assert_int_equal(stat.cpu, 6);
}

static void long_names_are_cut(void **state)
{
	struct proc_stat stat;

	(void)state;
	assert_true(proc_stat_parse("71 (kworker/u8:1-events_unbound) I " NUMBERS, &stat));
	assert_string_equal(stat.comm, "kworker/u8:1-ev");
}

static void other_lines_are_refused(void **state)
{
	struct proc_stat stat;

	(void)state;
	assert_false(proc_stat_parse("", &stat));
	assert_false(proc_stat_parse("71 (a S 1 70", &stat));
	assert_false(proc_stat_parse("71 )a( S " NUMBERS, &stat));
	assert_false(proc_stat_parse("71 (a)", &stat));
	assert_false(proc_stat_parse("71 (a) ", &stat));
	assert_false(proc_stat_parse("71 (a) S", &stat));
	assert_false(proc_stat_parse("71 (a) S 1 70", &stat));
	assert_false(proc_stat_parse("(a) S " NUMBERS, &stat));
}

static void own_file(void **state)
{
	struct proc_stat stat;

	(void)state;
	assert_true(proc_stat_read("/proc/self/stat", &stat));
	assert_int_equal(stat.pid, getpid());
	assert_int_equal(stat.parent, getppid());
	assert_int_equal(stat.state, 'R');
	assert_int_equal(stat.threads, 1);
	assert_false(proc_stat_read("/proc/self/no-such-file", &stat));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(fields_are_those_of_proc_5),
	cmocka_unit_test(long_names_are_cut),
	cmocka_unit_test(other_lines_are_refused),
	cmocka_unit_test(own_file),
};

UNIT_TESTS(tests, NULL, NULL);
