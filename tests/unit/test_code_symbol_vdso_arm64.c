/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Unwind rows of arm64's vDSO, which has no unwind tables, with instructions as in Linux 6.12. */

#include "unit.h"

#include "code/symbol/vdso_arm64.h"

#define LEAF  UNWIND_RULE(UNWIND_SP_LINK, 0, 0)
#define FRAME UNWIND_RULE(UNWIND_SP_FRAME, 0, 16) /* of 128 bytes */

enum {
	NOP = 0xd503201f,
	RET = 0xd65f03c0,
	SVC = 0xd4000001,
	PACIASP = 0xd503233f,
	MAKE = 0xa9b87bfd,
	END = 0xa8c87bfd
};

static void test_functions(void **state)
{
	static const uint32_t code[] = {
		RET,                                   /* 0: a leaf */
		0xd2800e28, SVC,        RET,           /* 1: a system call without a frame */
		NOP,        0xd2801168, SVC,           /* 4: the return address of signal handlers */
		PACIASP,    MAKE,       NOP, END, RET, /* 7: with a frame */
		NOP,        SVC,        END, RET,      /* 12: its rest, reached by a jump */
	};
	static const struct unwind_row expected[] = {
		{0, UNWIND_NONE},    {0x340, LEAF},      {0x340 + 16, UNWIND_SIGNAL}, {0x340 + 28, LEAF},
		{0x340 + 36, FRAME}, {0x340 + 44, LEAF}, {0x340 + 48, FRAME},         {0x340 + 60, LEAF},
	};
	struct ehframe_rows rows;

	(void)state;
	assert_int_equal(vdso_arm64_rows((const uint8_t *)code, sizeof(code), 0x340, 0, &rows), 0);
	assert_int_equal(rows.n, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < rows.n; i++) {
		assert_int_equal(rows.rows[i].start, expected[i].start);
		assert_int_equal(rows.rows[i].rule, expected[i].rule);
	}
	ehframe_free(&rows);
}

static void test_edges(void **state)
{
	static const uint32_t cut[] = {RET, 0xd2801168};
	struct ehframe_rows rows;

	(void)state;
	assert_int_equal(vdso_arm64_rows((const uint8_t *)cut, 0, 0, 0, &rows), 0);
	assert_int_equal(rows.n, 1);
	assert_int_equal(rows.rows[0].rule, UNWIND_NONE);
	ehframe_free(&rows);
	/* The first row always begins at the base. Half an instruction is ignored. */
	assert_int_equal(vdso_arm64_rows((const uint8_t *)cut, 7, 0x100, 0x100, &rows), 0);
	assert_int_equal(rows.n, 1);
	assert_int_equal(rows.rows[0].start, 0);
	assert_int_equal(rows.rows[0].rule, LEAF);
	ehframe_free(&rows);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_functions),
	cmocka_unit_test(test_edges),
};

UNIT_TESTS(tests, NULL, NULL);
