/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ids in pid namespaces, as shown by /proc. */

#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "target/namespaces.h"

static void lines(void **state)
{
	static const struct {
		const char *status;
		unsigned n;
		uint32_t first, last;
	} cases[] = {
		{"Name:\tx\nNSpid:\t42\nFDSize:\t64\n", 1, 42, 42},
		{"Name:\tx\nNStgid:\t7\t1\nNSpid:\t4711\t12\t1\nNSpgid:\t9\n", 3, 4711, 1},
		/* The kernel writes a newline in a name as \n. */
		{"Name:\tNSpid:\t5\\nNSpid:\t5\nNSpid:\t8\n", 1, 8, 8},
		{"Name:\tx\nNSpid:\t\n", 0, 0, 0},
		{"Name:\tx\nNSpid:\t99999999999\t1\n", 0, 0, 0},
		{"Name:\tx\nNSpid:\t12", 1, 12, 12},
		{"NSpid:\t12\n", 0, 0, 0}, /* never the first line */
		{"Name:\tx\n", 0, 0, 0},
		{"", 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t first, last;

		assert_int_equal(namespace_ids(cases[i].status, &first, &last), cases[i].n);
		assert_int_equal(first, cases[i].first);
		assert_int_equal(last, cases[i].last);
	}
}

static void own_ids(void **state)
{
	uint32_t here = (uint32_t)getpid();
	struct error err;

	(void)state;
	assert_int_equal(namespace_check_proc(&err), 0);
	assert_int_equal(namespace_inner_tid(getpid(), here), here);
	assert_int_equal(namespace_inner_tid(getpid(), 0x3fffffff), 0x3fffffff); /* no such thread */
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(own_ids)};

UNIT_TESTS(tests, NULL, NULL);
