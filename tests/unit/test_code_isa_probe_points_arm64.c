/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Probe points of arm64 functions. */
#include <errno.h>

#include "unit.h"

#include <string.h>

#include "code/isa/probe_points.h"

#define BASE 0x10000u

enum {
	NOP = 0xd503201f,
	RET = 0xd65f03c0,
	PACIASP = 0xd503233f,
	RETAA = 0xd65f0bff,
	MAKE = 0xa9be7bfd, /* stp x29, x30, [sp, #-32]! */
	UNDO = 0xa8c27bfd, /* ldp x29, x30, [sp], #32 */
	CMP = 0x7100001f,  /* cmp w0, #0 */
	BR_X1 = 0xd61f0020,
	BLR_X1 = 0xd63f0020,
	LDR_X1 = 0xf9400001,       /* ldr x1, [x0] */
	LDR_X1_INDEX = 0xf8627821, /* ldr x1, [x1, x2, lsl #3] */
	ADD_SWITCH = 0x8b21c841,   /* add x1, x2, w1, sxtw #2 */
};

#define B(words)         (0x14000000u | ((uint32_t)(words)&0x3ffffffu))
#define B_COND(c, words) (0x54000000u | ((uint32_t)(words)&0x7ffffu) << 5 | (c))
#define CBZ(words)       (0x34000000u | ((uint32_t)(words)&0x7ffffu) << 5)
#define TBNZ(words)      (0x37000000u | ((uint32_t)(words)&0x3fffu) << 5)

struct file {
	const uint32_t *code;
	size_t n;
	unsigned frame, frame_end; /* range of instructions with a frame */
	bool unknown;
	struct code_range part;
};

static const uint8_t *bytes(void *ctx, uint64_t address, size_t size)
{
	const struct file *file = ctx;

	return address - BASE <= 4 * file->n && size <= 4 * file->n - (address - BASE)
		       ? (const uint8_t *)file->code + (address - BASE)
		       : NULL;
}

static int64_t distance(void *ctx, uint64_t address)
{
	const struct file *file = ctx;
	uint64_t at = (address - BASE) / 4;

	if (file->unknown)
		return DISTANCE_UNKNOWN;
	return at >= file->frame && at < file->frame_end ? 32 : 0;
}

static bool part(void *ctx, uint64_t address, struct code_range *range)
{
	const struct file *file = ctx;

	*range = file->part;
	return address >= range->start && address < range->end;
}

static bool range(void *ctx, uint64_t address, struct code_range *to)
{
	(void)ctx;
	(void)address;
	(void)to;
	return false;
}

/* The function is the first n instructions. */
static int find(const struct file *file, size_t n, struct probe_points *points)
{
	struct code_source code = {.arm64 = true,
				   .ctx = (void *)file,
				   .bytes = bytes,
				   .distance = distance,
				   .part = part,
				   .range = range};

	return probe_points_find(&code, (struct code_range){BASE, BASE + 4 * n}, points, NULL);
}

static void expect(const struct file *file, size_t n, unsigned ends, const unsigned *at)
{
	struct probe_points points;

	assert_int_equal(find(file, n, &points), 0);
	assert_int_equal(points.begin.address, BASE);
	assert_int_equal(points.begin.distance, 0);
	assert_int_equal(points.n, ends);
	for (unsigned i = 0; i < ends; i++) {
		assert_int_equal(points.ends[i].address, BASE + 4 * at[i]);
		assert_int_equal(points.ends[i].distance, 0);
	}
}

#define EXPECT(file, ...)                                                                                    \
	do {                                                                                                 \
		const unsigned at[] = {__VA_ARGS__};                                                         \
		expect(file, (file)->n, sizeof(at) / sizeof(at[0]), at);                                     \
	} while (0)
#define REFUSED(file)                                                                                        \
	do {                                                                                                 \
		struct probe_points refused;                                                                 \
		assert_int_equal(find(file, (file)->n, &refused), -ENOTSUP);                                 \
	} while (0)
#define CODE_OF(code_) .code = (code_), .n = sizeof(code_) / sizeof((code_)[0])

static void returns(void **state)
{
	static const uint32_t code[] = {PACIASP, CMP, B_COND(0, 4), MAKE, BLR_X1, UNDO, RET, NOP};
	const struct file file = {CODE_OF(code), .frame = 4, .frame_end = 6};
	static const uint32_t one[] = {RET};
	const struct file only = {CODE_OF(one)};
	struct probe_points points;

	(void)state;
	EXPECT(&file, 6);
	assert_int_equal(find(&only, 1, &points), 0);
	assert_true(points.ends_there);
	assert_int_equal(points.n, 0);
}

static void tail_calls(void **state)
{
	static const uint32_t code[] = {CMP, B_COND(1, 100), MAKE, UNDO, B(200)};
	const struct file file = {CODE_OF(code), .frame = 3, .frame_end = 4};
	static const uint32_t by_register[] = {NOP, CBZ(100), RET}, by_bit[] = {NOP, TBNZ(-100), RET};
	const struct file cbz = {CODE_OF(by_register)}, tbnz = {CODE_OF(by_bit)};
	struct probe_points points;

	(void)state;
	EXPECT(&file, 1, 4);
	assert_int_equal(find(&file, file.n, &points), 0);
	assert_int_equal(points.ends[0].condition, 2); /* ne */
	assert_int_equal(points.ends[1].condition, 0);
	REFUSED(&cbz);
	REFUSED(&tbnz);
}

/* A function that calls itself by a jump. A loop to its first instruction looks the same. */
static void again(void **state)
{
	static const uint32_t code[] = {MAKE, UNDO, B(-2), RET}, loop[] = {NOP, B_COND(0, -1), RET};
	const struct file file = {CODE_OF(code), .frame = 1, .frame_end = 2}, other = {CODE_OF(loop)};

	(void)state;
	EXPECT(&file, 3, 2); /* jumps are resolved last */
	REFUSED(&other);
}

static void indirect(void **state)
{
	static const uint32_t pointer[] = {NOP, LDR_X1, BR_X1, RET}, argument[] = {NOP, BR_X1};
	static const uint32_t table[] = {NOP, ADD_SWITCH, NOP, BR_X1, RET};
	static const uint32_t either[] = {NOP, LDR_X1_INDEX, BR_X1, RET};
	struct file file = {CODE_OF(pointer)}, by_argument = {CODE_OF(argument)}, by_table = {CODE_OF(table)},
		    by_either = {CODE_OF(either)};

	(void)state;
	EXPECT(&file, 2, 3);
	EXPECT(&by_argument, 1);
	EXPECT(&by_table, 4);
	REFUSED(&by_either);
	by_either.frame = 1;
	by_either.frame_end = 3;
	EXPECT(&by_either, 3);
	file.unknown = true;
	REFUSED(&file);
}

static void parts(void **state)
{
	static const uint32_t code[] = {MAKE, CBZ(3), UNDO, RET, BLR_X1, B(-3)};
	const struct file file = {CODE_OF(code), .frame = 1, .frame_end = 6, .part = {BASE + 16, BASE + 24}};
	static const unsigned at[] = {3};

	(void)state;
	expect(&file, 4, 1, at);
}

static void cannot_be_probed(void **state)
{
	static const uint32_t first[] = {0x885f7c20 /* ldxr */, RET}, last[] = {NOP, RETAA};
	const struct file exclusive = {CODE_OF(first)}, signs = {CODE_OF(last)};
	struct probe_points points;

	(void)state;
	REFUSED(&exclusive);
	REFUSED(&signs);
	assert_int_equal(find(&signs, 100, &points), -ENOTSUP); /* more than the file has */
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(returns),  cmocka_unit_test(tail_calls), cmocka_unit_test(again),
	cmocka_unit_test(indirect), cmocka_unit_test(parts),      cmocka_unit_test(cannot_be_probed),
};

UNIT_TESTS(tests, NULL, NULL);
