/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Stack pointers in lines of /proc. */

#include "unit.h"

#include "target/go14_tids.h"

static void lines(void **state)
{
	uint64_t sp = 0;

	(void)state;
	assert_true(go14_tids_parse("202 0x81b0d8 0x80 0x0 0x0 0x0 0x0 0x7ffd8a50 0x4420c1\n", &sp));
	assert_int_equal(sp, 0x7ffd8a50);
	/* In the kernel, but not in a system call. */
	assert_true(go14_tids_parse("-1 0xc20802dbe8 0x43f0d6\n", &sp));
	assert_int_equal(sp, 0xc20802dbe8);
	assert_false(go14_tids_parse("running\n", &sp));
	assert_false(go14_tids_parse("202 0x81b0d8 0x80\n", &sp));
	assert_false(go14_tids_parse("", &sp));
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(lines)};

UNIT_TESTS(tests, NULL, NULL);
