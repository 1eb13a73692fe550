/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How a file of unit tests reports its tests to the runner (runner.c):
 *
 *	static const struct CMUnitTest tests[] = {
 *		cmocka_unit_test(empty),
 *	};
 *	UNIT_TESTS(tests, NULL, NULL);
 *
 * A pointer to the group goes into a section of its own, whose begin and end the linker names. So a new file
 *is listed nowhere, and any set of files makes a program. Include it instead of cmocka.h. */
#ifndef GOTRACE_UNIT_UNIT_H
#define GOTRACE_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct unit_group {
	const char *file; /* tests/unit/test_MODULE_FILE.c */
	const struct CMUnitTest *tests;
	size_t ntests;
	CMFixtureFunction set_up, tear_down; /* once for all tests; may be NULL */
};

#define UNIT_TESTS(tests, set_up, tear_down)                                                                 \
	static const struct unit_group unit_group_here = {                                                   \
		__FILE__, tests, sizeof(tests) / sizeof((tests)[0]), set_up, tear_down};                     \
	static const struct unit_group *const unit_group_pointer                                             \
		__attribute__((used, section("unit_groups"))) = &unit_group_here

/* What follows "--" on the command line: files that some tests read instead of those checked in. */
extern const char **unit_files;
extern int unit_nfiles;

#endif
