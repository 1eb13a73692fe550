/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* arm64 instructions, and the analysis of functions made of them. Runs on any machine. */

#include "unit.h"

#include <errno.h>
#include <string.h>

#include "code/isa/arm64.h"
#include "code/isa/code.h"
#include "code/isa/regions.h"

#define AT 0x64000u

/* Instruction words with the bit numbering of the Arm ARM. Code is little-endian on any machine. */
struct words {
	uint8_t bytes[256];
	size_t n;
};

static void put(struct words *words, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		words->bytes[words->n++] = (uint8_t)(word >> 8 * i);
}

static struct code as_code(const struct words *words)
{
	return (struct code){.bytes = words->bytes, .size = words->n, .address = AT, .arm64 = true};
}

#define CODE(name, ...)                                                                                      \
	const uint32_t name##_list[] = {__VA_ARGS__};                                                        \
	struct words name##_words = {.n = 0};                                                                \
	for (size_t i_ = 0; i_ < sizeof(name##_list) / sizeof(name##_list[0]); i_++)                         \
		put(&name##_words, name##_list[i_]);                                                         \
	struct code name = as_code(&name##_words)

/* --- instruction words; those with offsets are made by functions --- */

#define LOAD_GUARD 0xf9400b90u /* ldr x16, [x28, #16] */
#define CMP_GUARD  0xeb3063ffu /* cmp sp, x16 */
#define PUSH_LR    0xf81d0ffeu /* str x30, [sp, #-48]! */
#define SAVE_FP    0xf81f83fdu /* stur x29, [sp, #-8] */
#define MAKE_FP    0xd10023fdu /* sub x29, sp, #8 */
#define LOAD_FP    0xf85f83fdu /* ldur x29, [sp, #-8] */
#define POP_LR     0xf84307feu /* ldr x30, [sp], #48 */
#define RET        0xd65f03c0u
#define NOP        0xd503201fu
#define LDAR_W4    0x88dffc84u /* ldar w4, [x4] */

static uint32_t b_cond(unsigned condition, int words)
{
	return 0x54000000u | ((uint32_t)words & 0x7ffff) << 5 | condition;
}

static uint32_t bl(int words)
{
	return 0x94000000u | ((uint32_t)words & 0x3ffffff);
}

static uint32_t adrp(unsigned reg, unsigned pages)
{
	return 0x90000000u | (pages & 3) << 29 | pages >> 2 << 5 | reg;
}

/* 8 bytes at [rn + 8 * words] */
static uint32_t ldr(unsigned reg, unsigned from, unsigned words)
{
	return 0xf9400000u | words << 10 | from << 5 | reg;
}

static uint32_t ldr_w(unsigned reg, unsigned from, unsigned words)
{
	return 0xb9400000u | words << 10 | from << 5 | reg;
}

static uint32_t add(unsigned reg, unsigned from, unsigned imm)
{
	return 0x91000000u | imm << 10 | from << 5 | reg;
}

static uint32_t cbz_w(unsigned reg, int words)
{
	return 0x34000000u | ((uint32_t)words & 0x7ffff) << 5 | reg;
}

/* --- the decoder --- */

static const struct {
	uint32_t word;
	struct arm64_insn is;
} known[] = {
	{0xf0002bdb, {.op = ARM64_ADRP, .rd = 27, .wide = true, .imm = 0x57b000}},
	{0x910c8041, {.op = ARM64_ADD, .rd = 1, .rn = 2, .wide = true, .imm = 0x320}},
	{0x91400421, {.op = ARM64_ADD, .rd = 1, .rn = 1, .wide = true, .imm = 0x1000}}, /* lsl #12 */
	{MAKE_FP, {.op = ARM64_SUB, .rd = 29, .rn = 31, .wide = true, .imm = 8}},
	{0x7100043f, {.op = ARM64_CMP, .rd = 31, .rn = 1, .imm = 1}},
	{CMP_GUARD, {.op = ARM64_CMP_REG, .rd = 31, .rn = 31, .rm = 16, .wide = true}},
	{0xeb02001f, {.op = ARM64_CMP_REG, .rd = 31, .rn = 0, .rm = 2, .wide = true}},
	{0xaa1e03e3, {.op = ARM64_MOVE, .rd = 3, .rn = 31, .rm = 30, .wide = true}},
	{0xb24003e1, {.op = ARM64_CONSTANT, .rd = 1, .wide = true, .imm = 1}},     /* orr x1, xzr, #1 */
	{0xb27f07e1, {.op = ARM64_CONSTANT, .rd = 1, .wide = true, .imm = 6}},     /* orr x1, xzr, #6 */
	{0x3200f3e0, {.op = ARM64_CONSTANT, .rd = 0, .imm = 0x55555555}},          /* orr w0, wzr, #... */
	{0x9280a421, {.op = ARM64_CONSTANT, .rd = 1, .wide = true, .imm = -1314}}, /* movn */
	{0xd28000a0, {.op = ARM64_CONSTANT, .rd = 0, .wide = true, .imm = 5}},     /* movz */
	{0x396d4362, {.op = ARM64_LOAD, .rd = 2, .rn = 27, .size = 1, .imm = 2896}},
	{0xb9810841, {.op = ARM64_LOAD, .rd = 1, .rn = 2, .size = 4, .wide = true, .imm = 264}}, /* ldrsw */
	{PUSH_LR,
	 {.op = ARM64_STORE, .rd = 30, .rn = 31, .size = 8, .wide = true, .before = true, .imm = -48}},
	{POP_LR, {.op = ARM64_LOAD, .rd = 30, .rn = 31, .size = 8, .wide = true, .after = true, .imm = 48}},
	{SAVE_FP, {.op = ARM64_STORE, .rd = 29, .rn = 31, .size = 8, .wide = true, .imm = -8}},
	{0xf8607824, {.op = ARM64_LOAD_INDEX, .rd = 4, .rn = 1, .rm = 0, .size = 8, .wide = true}},
	{0xa9400b61, {.op = ARM64_LOAD_PAIR, .rd = 1, .rn = 27, .rm = 2, .size = 8, .wide = true}},
	{LDAR_W4, {.op = ARM64_LOAD_ACQUIRE, .rd = 4, .rn = 4, .size = 4}},
	{0x089ffc3f, {.op = ARM64_STORE_RELEASE, .rd = 31, .rn = 1, .size = 1}},
	{0x14000002, {.op = ARM64_B, .imm = 8}},
	{0x17ffffd3, {.op = ARM64_B, .imm = -180}},
	{0x94008038, {.op = ARM64_BL, .imm = 0x200e0}},
	{0x54000529, {.op = ARM64_B_COND, .condition = ARM64_LS, .imm = 0xa4}},
	{0xb4000301, {.op = ARM64_CBZ, .rd = 1, .wide = true, .imm = 0x60}},
	{0x34000083, {.op = ARM64_CBZ, .rd = 3, .imm = 16}},
	{0x37000082, {.op = ARM64_TBNZ, .rd = 2, .bit = 0, .imm = 16}},
	{RET, {.op = ARM64_RET, .rn = 30}},
	{NOP, {.op = ARM64_NOP}},
	{0x9ac22820, {.op = ARM64_OTHER, .rd = 0}}, /* asr x0, x1, x2 */
	{0xf8e10046, {.op = ARM64_OTHER_ACCESS, .imm = 1 << 6 | 1 << 2 | 1 << 0 | 1 << 1}}, /* ldaddal */
	{0xd4000001, {.op = ARM64_UNKNOWN}},                                                /* svc */
	{0x00000000, {.op = ARM64_UNKNOWN}},                                                /* udf */
};

static void test_decode(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct arm64_insn *is = &known[i].is;
		struct words words = {.n = 0};
		struct arm64_insn insn;

		put(&words, known[i].word);
		assert_false(arm64_decode(words.bytes, 3, &insn));
		assert_true(arm64_decode(words.bytes, 4, &insn));
		if (insn.op != is->op || insn.rd != is->rd || insn.imm != is->imm || insn.wide != is->wide ||
		    insn.size != is->size || insn.before != is->before || insn.after != is->after ||
		    insn.bit != is->bit || insn.condition != is->condition)
			fail_msg("word 0x%08x: operation %u, rd %u, imm %lld", known[i].word, insn.op,
				 insn.rd, (long long)insn.imm);
		if (is->op == ARM64_LOAD || is->op == ARM64_LOAD_PAIR || is->op == ARM64_CMP_REG) {
			assert_int_equal(insn.rn, is->rn);
			assert_int_equal(insn.rm, is->rm);
		}
	}
}

/* --- functions --- */

static void test_prologue(void **state)
{
	CODE(small, LOAD_GUARD, CMP_GUARD, b_cond(ARM64_LS, 41), PUSH_LR, SAVE_FP, MAKE_FP);
	/* sub x17, sp, #0x60; cmp x17, x16 */
	CODE(large, LOAD_GUARD, 0xd10183f1, 0xeb10023f, b_cond(ARM64_LS, 41), 0xd10503f4);
	CODE(nosplit, PUSH_LR, SAVE_FP, MAKE_FP);
	CODE(leaf, ldr(1, 0, 0), RET);
	struct probe_insn probed;
	size_t at;

	(void)state;
	assert_int_equal(code_prologue(&small, &at), 0);
	assert_int_equal(at, 8);
	assert_int_equal(code_probe_insn(&small, at, &probed), 0);
	assert_string_equal(probed.kind, "b.cond");
	assert_int_equal(probed.length, 4);
	assert_int_equal(code_probe_insn(&small, 0, &probed), -ENOENT);
	assert_int_equal(code_probe_insn(&small, 12, &probed), -ENOENT); /* after the check */
	assert_int_equal(code_prologue(&large, &at), 0);
	assert_int_equal(at, 12);
	assert_int_equal(code_prologue(&nosplit, &at), 0);
	assert_int_equal(at, 0);
	assert_int_equal(code_probe_insn(&nosplit, 0, &probed), 0);
	assert_string_equal(probed.kind, "str");
	assert_int_equal(code_prologue(&leaf, &at), -ENOENT);
	assert_int_equal(code_probe_insn(&leaf, 100, &probed), -ENOENT);
	small.size = 8;
	assert_int_equal(code_prologue(&small, &at), -ENOENT);
}

static void test_breakpoint(void **state)
{
	CODE(code, 0xd42000a0, 0xd4200000); /* brk #5: the kernel's; brk #0: not */

	(void)state;
	assert_true(code_is_breakpoint(&code, code.bytes));
	assert_false(code_is_breakpoint(&code, code.bytes + 4));
}

static void test_calls(void **state)
{
	/* casgstatus(x0, 4, 1); the same with a jump in between; another call */
	CODE(code, 0xb27e03e1, 0xb24003e2, bl(0x400 - 2), 0xb27e03e1, cbz_w(5, 2), 0xb24003e2, bl(0x400 - 6),
	     bl(0x500));
	struct call_site calls[4];

	(void)state;
	assert_int_equal(code_calls(&code, AT + 0x1000, calls, 4), 2);
	assert_int_equal(calls[0].offset, 8);
	assert_int_equal(calls[0].args[0], CONSTANT_UNKNOWN);
	assert_int_equal(calls[0].args[1], 4);
	assert_int_equal(calls[0].args[2], 1);
	assert_int_equal(calls[1].offset, 24);
	assert_int_equal(calls[1].args[1], CONSTANT_UNKNOWN);
	assert_int_equal(calls[1].args[2], 1);
	assert_int_equal(code_calls(&code, AT + 0x2000, calls, 4), 0);
}

static void test_flag(void **state)
{
	/* ldrb w2, [x27, #2896]; tbnz w2, #0 */
	CODE(byte, LOAD_GUARD, adrp(27, 0x500), 0x396d4362, NOP, 0x37000082, RET);
	/* Go 1.22: ldar x2, [x2]; cbnz x2 */
	CODE(word, adrp(2, 0x500), add(2, 2, 0x30), 0xc8dffc42, 0xb5000082, RET);
	/* Computed before a loop whose body precedes its condition, and used after it. */
	CODE(loop, adrp(6, 0x500), add(6, 6, 0x30), 0x14000002 /* b +2 */, add(5, 5, 1), ldr(7, 3, 0),
	     0xb5ffffc7 /* cbnz x7, -2 */, 0xc8dffcc6 /* ldar x6, [x6] */, 0xb4000086 /* cbz x6 */, RET);
	/* The register has been overwritten by then. */
	CODE(lost, adrp(6, 0x500), add(6, 6, 0x30), ldr(6, 3, 0), 0xc8dffcc6, 0xb4000086, RET);
	uint64_t flag, first = AT + 0x500000 + 2896, second = AT + 0x500000 + 0x30;
	size_t offsets[2];

	(void)state;
	assert_int_equal(code_flag(&byte, &flag), 0);
	assert_int_equal(flag, first);
	assert_int_equal(code_flag_checks(&byte, first, offsets, 2), 1);
	assert_int_equal(offsets[0], 16);
	assert_int_equal(code_flag_checks(&byte, first + 1, offsets, 2), 0);
	assert_int_equal(code_flag(&word, &flag), 0);
	assert_int_equal(flag, second);
	assert_int_equal(code_flag_checks(&word, second, offsets, 2), 1);
	assert_int_equal(code_flag_checks(&loop, second, offsets, 2), 1);
	assert_int_equal(offsets[0], 28);
	assert_int_equal(code_flag_checks(&lost, second, offsets, 2), 0);
}

static void test_references(void **state)
{
	CODE(code, adrp(27, 1), ldr_w(2, 27, 4), cbz_w(2, 3), /* 32 bits, compared with 0 */
	     adrp(27, 2), add(27, 27, 0x20), 0xa9400b61,      /* a pair: two words */
	     adrp(4, 3), add(4, 4, 0), LDAR_W4,               /* loaded through an address */
	     adrp(0, 4), add(0, 0, 0x30), bl(0x400),          /* an address as an argument */
	     ldr(1, 0, 0));                                   /* unknown after the call */
	struct reference found[8];

	(void)state;
	assert_int_equal(code_references(&code, found, 8), 5);
	assert_int_equal(found[0].address, AT + 0x1010);
	assert_int_equal(found[0].use, USE_LOAD | USE_IS_ZERO);
	assert_int_equal(found[0].size, 4);
	assert_int_equal(found[1].address, AT + 0x2020);
	assert_int_equal(found[2].address, AT + 0x2028);
	assert_int_equal(found[2].use, USE_LOAD);
	assert_int_equal(found[2].size, 8);
	assert_int_equal(found[3].address, AT + 0x3000);
	assert_int_equal(found[3].use, USE_LOAD);
	assert_int_equal(found[4].address, AT + 0x4030);
	assert_int_equal(found[4].use, USE_ADDRESS);
	/* References that do not fit are counted. */
	assert_int_equal(code_references(&code, found, 1), 5);
	assert_int_equal(found[0].address, AT + 0x1010);
}

static void test_receiver(void **state)
{
	CODE(code, adrp(0, 4), add(0, 0, 0x30), bl(0x400 - 2), bl(0x500 - 3));
	uint64_t variable;

	(void)state;
	assert_int_equal(code_receiver(&code, AT + 0x1000, &variable), 0);
	assert_int_equal(variable, AT + 0x4030);
	assert_int_equal(code_receiver(&code, AT + 0x1400, &variable), -ENOENT);
	assert_int_equal(code_receiver(&code, AT + 0x1800, &variable), -ENOENT);
}

static void test_slice_result(void **state)
{
	/* As in stackalloc of Go 1.26: tbnz w6; mov x1, xzr; mov x0, xzr; b; (call); cbz x1; ...; mov x2, x4;
	 * add x1, x5, x2; mov x0, x5; the end. */
	CODE(code, 0x37000086, 0xaa1f03e1, 0xaa1f03e0, 0x14000002, bl(0x400), 0xb4000041, bl(0x400),
	     0xaa0403e2, 0x8b0200a1, 0xaa0503e0, LOAD_FP, POP_LR, RET);
	struct value_place base, added;

	(void)state;
	assert_int_equal(code_slice_result(&code, 0, &base, &added), 0);
	assert_int_equal(base.on_stack, 0);
	assert_int_equal(base.reg, 5);
	assert_int_equal(added.reg, 4);
	code.size -= 4;
	assert_int_equal(code_slice_result(&code, 0, &base, &added), -ENOENT);
	assert_int_equal(code_slice_result(&code, 4, &base, &added), -ENOENT);
}

/* --- regions --- */

enum { NOOP_PAGES = 8 };

static void test_region_start(void **state)
{
	CODE(code, LOAD_GUARD, CMP_GUARD, b_cond(ARM64_LS, 30), PUSH_LR, SAVE_FP, MAKE_FP, adrp(4, 2),
	     add(4, 4, 0x338), LDAR_W4, cbz_w(4, 11),                       /* the check, at 36 */
	     adrp(1, 3), add(1, 1, 0xe00),                                  /* the key's type */
	     0xd63f0060,                                                    /* blr x3 */
	     adrp(3, 4), add(3, 3, 0x940), 0xeb03001f, b_cond(ARM64_EQ, 2), /* cmp x0, x3: the task's */
	     NOP, ldr(0, 1, 0), RET, adrp(27, NOOP_PAGES), ldr(0, 27, 2), LOAD_FP, POP_LR, RET);
	struct start_region start;

	(void)state;
	assert_int_equal(region_start_code(&code, &start), 0);
	assert_int_equal(start.jump, 36);
	assert_int_equal(start.flag_register, 4);
	assert_int_equal(start.noop, AT + NOOP_PAGES * 0x1000 + 16);
	assert_int_equal(start.task_key_type, AT + 0x3e00);
	assert_int_equal(start.task_type, AT + 0x4940);
	code.size -= 4 * 4; /* nothing is returned */
	assert_int_equal(region_start_code(&code, &start), -ENOENT);
}

static void test_region_uses(void **state)
{
	CODE(text, NOP, adrp(27, NOOP_PAGES), ldr(5, 27, 2), NOP, ldr(8, 31, 10), 0xeb05011f /* cmp x8, x5 */,
	     b_cond(ARM64_EQ, 4), NOP, adrp(27, NOOP_PAGES), ldr(5, 27, 3), /* another variable */
	     adrp(27, NOOP_PAGES), ldr(0, 27, 2), RET);                     /* returned */
	uint64_t noop = AT + NOOP_PAGES * 0x1000 + 16;
	size_t at = 0, use, jump = 0;

	(void)state;
	assert_int_equal(region_next_use(&text, noop, &at, &use, &jump), REGION_USE_END);
	assert_int_equal(use, 4);
	assert_int_equal(jump, 24);
	assert_int_equal(region_next_use(&text, noop, &at, &use, &jump), REGION_USE_OTHER);
	assert_int_equal(use, 40);
	assert_int_equal(region_next_use(&text, noop, &at, &use, &jump), REGION_USE_NONE);
}

/* Whatever the bytes are, nothing outside of them is read. */
static void test_noise(void **state)
{
	uint32_t seed = 12345;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct words words = {.n = 0};
		struct reference found[4];
		struct start_region start;
		struct value_place base, added;
		struct call_site calls[4];
		size_t offsets[4], at = 0, use, jump;
		struct code code;
		uint64_t address;

		for (int i = 0; i < 32; i++) {
			seed = seed * 1664525 + 1013904223;
			put(&words, seed ^ seed >> 16);
		}
		code = as_code(&words);
		code.size -= seed % 4;
		code_prologue(&code, &at);
		code_calls(&code, AT, calls, 4);
		code_flag(&code, &address);
		code_flag_checks(&code, AT, offsets, 4);
		code_references(&code, found, 4);
		code_receiver(&code, AT, &address);
		code_slice_result(&code, seed % 128 & ~3u, &base, &added);
		region_start_code(&code, &start);
		at = 0;
		region_next_use(&code, AT, &at, &use, &jump);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_decode),       cmocka_unit_test(test_prologue),
	cmocka_unit_test(test_breakpoint),   cmocka_unit_test(test_calls),
	cmocka_unit_test(test_flag),         cmocka_unit_test(test_references),
	cmocka_unit_test(test_receiver),     cmocka_unit_test(test_slice_result),
	cmocka_unit_test(test_region_start), cmocka_unit_test(test_region_uses),
	cmocka_unit_test(test_noise),
};

UNIT_TESTS(tests, NULL, NULL);
