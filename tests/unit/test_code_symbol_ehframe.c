/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hand-made .eh_frame sections: the rows from each instruction, and damage. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/symbol/ehframe.h"
#include "code/symbol/native_walk.h"

#define CODE    0x401000ull /* link address of the code */
#define SECTION 0x500000ull
#define SP(n)   UNWIND_RULE(UNWIND_SP, 0, n)

struct bytes {
	uint8_t data[4096];
	size_t n;
	size_t begun; /* offset of the open entry's length */
	size_t cie;
};

static void put(struct bytes *bytes, const void *data, size_t size)
{
	assert_true(size <= sizeof(bytes->data) - bytes->n);
	memcpy(bytes->data + bytes->n, data, size);
	bytes->n += size;
}

static void put_u32(struct bytes *bytes, uint32_t value)
{
	put(bytes, &value, sizeof(value));
}

static void begin(struct bytes *bytes)
{
	bytes->begun = bytes->n;
	put_u32(bytes, 0);
}

static void end(struct bytes *bytes)
{
	uint32_t size;

	while ((bytes->n - bytes->begun) % 4)
		put(bytes, "", 1);
	size = (uint32_t)(bytes->n - bytes->begun - 4);
	memcpy(bytes->data + bytes->begun, &size, sizeof(size));
}

/* As gcc's: zR or zRS, code alignment 1, data alignment -8, pcrel sdata4; CFA = rsp + 8, rip at CFA - 8. */
static void put_cie(struct bytes *bytes, const char *letters)
{
	static const uint8_t rest[] = {1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1};

	bytes->cie = bytes->n;
	begin(bytes);
	put_u32(bytes, 0);
	put(bytes, "\1", 1);
	put(bytes, letters, strlen(letters) + 1);
	put(bytes, rest, sizeof(rest));
	end(bytes);
}

/* As for arm64: code alignment 4, return address in x30, CFA = sp. */
static void put_cie_arm64(struct bytes *bytes, const char *letters)
{
	static const uint8_t rest[] = {4, 0x78, 30, 1, 0x1b, 0x0c, 31, 0};

	bytes->cie = bytes->n;
	begin(bytes);
	put_u32(bytes, 0);
	put(bytes, "\1", 1);
	put(bytes, letters, strlen(letters) + 1);
	put(bytes, rest, sizeof(rest));
	end(bytes);
}

static void put_fde(struct bytes *bytes, uint32_t start, uint32_t size, const uint8_t *program, size_t n)
{
	begin(bytes);
	put_u32(bytes, (uint32_t)(bytes->n - bytes->cie));
	put_u32(bytes, (uint32_t)(CODE + start - (SECTION + bytes->n)));
	put_u32(bytes, size);
	put(bytes, "\0", 1); /* no augmentation data */
	put(bytes, program, n);
	end(bytes);
}

static struct ehframe_input input_of(const uint8_t *data, size_t size)
{
	return (struct ehframe_input){.eh_frame = {data, size, SECTION},
				      .base = CODE,
				      .end = CODE + 0x1000,
				      .between = UNWIND_NONE};
}

/* Checks invariants for arbitrary input, and that the lookup by pages equals a linear search. */
static void check_rows(const struct ehframe_rows *rows, uint64_t size)
{
	uint32_t count = ehframe_page_count(size);
	struct unwind_page *pages = calloc(count, sizeof(*pages));
	struct unwind_mapping mapping = {.start = CODE, .end = CODE + size, .base = CODE, .pages = count};
	struct unwind_tables tables = {rows->rows, pages, &mapping, (uint32_t)rows->n, count, 1};
	size_t row = 0;

	assert_non_null(pages);
	assert_true(rows->n > 0 && rows->rows[0].start == 0);
	for (size_t i = 1; i < rows->n; i++) {
		assert_true(rows->rows[i].start > rows->rows[i - 1].start && rows->rows[i].start < size);
		assert_int_not_equal(rows->rows[i].rule, rows->rows[i - 1].rule);
	}
	ehframe_pages(rows->rows, rows->n, 0, pages, count);
	for (uint64_t at = 0; at < size; at++) {
		while (row + 1 < rows->n && rows->rows[row + 1].start <= at)
			row++;
		assert_int_equal(native_rule(&tables, (struct unwind_space){.count = 1}, CODE + at),
				 rows->rows[row].rule);
	}
	free(pages);
}

static struct ehframe_rows parse(const struct bytes *bytes)
{
	struct ehframe_input input = input_of(bytes->data, bytes->n);
	struct ehframe_rows rows;

	assert_int_equal(ehframe_parse(&input, &rows), 0);
	check_rows(&rows, input.end - input.base);
	return rows;
}

static void expect(const struct ehframe_rows *rows, const struct unwind_row *expected, size_t n)
{
	assert_int_equal(rows->n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows->rows[i].start, expected[i].start);
		assert_int_equal(rows->rows[i].rule, expected[i].rule);
	}
}

#define EXPECT(rows, expected)           expect(rows, expected, sizeof(expected) / sizeof((expected)[0]))
#define FDE(bytes, start, size, program) put_fde(bytes, start, size, program, sizeof(program))

/* Checks one function of 0x40 bytes at 0x100. */
static void expect_program(const char *letters, const uint8_t *program, size_t n,
			   const struct unwind_row *expected, size_t count)
{
	struct bytes bytes = {.n = 0};
	struct ehframe_rows rows;

	put_cie(&bytes, letters);
	put_fde(&bytes, 0x100, 0x40, program, n);
	rows = parse(&bytes);
	expect(&rows, expected, count);
	ehframe_free(&rows);
}

#define EXPECT_PROGRAM(letters, program, expected)                                                           \
	expect_program(letters, program, sizeof(program), expected, sizeof(expected) / sizeof((expected)[0]))

static void usual_functions(void **state)
{
	/* push rbp; mov rbp, rsp; …; early return by remember and restore */
	static const uint8_t framed[] = {0x41, 0x0e, 16,   0x86, 2, 0x43, 0x0d, 6,
					 0x02, 0x10, 0x0a, 0x0c, 7, 8,    0x41, 0x0b};
	static const struct unwind_row framed_rows[] = {{0, 0},
							{0x100, SP(1)},
							{0x101, UNWIND_RULE(UNWIND_SP, 2, 2)},
							{0x104, UNWIND_RULE(UNWIND_BP, 2, 2)},
							{0x114, UNWIND_RULE(UNWIND_SP, 2, 1)},
							{0x115, UNWIND_RULE(UNWIND_BP, 2, 2)},
							{0x140, 0}};
	/* sub rsp, 0x1000 with advance_loc2 and 4; DW_CFA_restore of rbp; args_size */
	static const uint8_t large[] = {0x03, 4,    0, 0x0e, 0x88, 0x20, 0x86, 3,    0x2e,
					16,   0x04, 8, 0,    0,    0,    0xc6, 0x0e, 8};
	static const struct unwind_row large_rows[] = {{0, 0},
						       {0x100, SP(1)},
						       {0x104, UNWIND_RULE(UNWIND_SP, 3, 0x201)},
						       {0x10c, SP(1)},
						       {0x140, 0}};
	/* rip undefined: the outermost frame */
	static const uint8_t start[] = {0x07, 16};
	static const struct unwind_row start_rows[] = {{0, 0}, {0x100, UNWIND_END}, {0x140, 0}};

	(void)state;
	EXPECT_PROGRAM("zR", framed, framed_rows);
	EXPECT_PROGRAM("zR", large, large_rows);
	EXPECT_PROGRAM("zR", start, start_rows);
}

static void expressions(void **state)
{
	/* gcc's realigned stack: rbp at *rbp, CFA = *(rbp - 8) */
	static const uint8_t realigned[] = {0x44, 0x0c, 10,   0,    0x46, 0x10, 6,    2,
					    0x76, 0,    0x45, 0x0f, 3,    0x76, 0x78, 6};
	static const struct unwind_row realigned_rows[] = {
		{0, 0},
		{0x100, SP(1)},
		{0x104, 0},
		{0x10f, UNWIND_RULE(UNWIND_BP_DEREF, UNWIND_RBP_AT_RBP, -1)},
		{0x140, 0}};
	/* CFA = *(rsp + 16) + 8 */
	static const uint8_t assembly[] = {0x0f, 5, 0x77, 16, 6, 0x23, 8};
	static const struct unwind_row assembly_rows[] = {
		{0, 0}, {0x100, UNWIND_RULE(UNWIND_SP_DEREF, 0, 2)}, {0x140, 0}};
	static const uint8_t plt[] = {0x0e, 16, 0x46, 0x0e, 24,   0x4a, 0x0f, 11,   0x77, 8,
				      0x80, 0,  0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
	static const struct unwind_row plt_rows[] = {
		{0, 0}, {0x100, SP(2)}, {0x106, SP(3)}, {0x110, UNWIND_RULE(UNWIND_PLT, 0, 11)}, {0x140, 0}};
	/* the expressions of __restore_rt for rsp and rip; valid only with an S augmentation */
	static const uint8_t signal[] = {0x0f, 4, 0x77, 0xa0, 1, 6, 0x10, 16, 3, 0x77, 0xa8, 1};
	static const struct unwind_row signal_rows[] = {{0, 0}, {0x100, UNWIND_SIGNAL}, {0x140, 0}};
	static const struct unwind_row no_rows[] = {{0, 0}};
	/* vfork: pop rdi, which holds the return address */
	static const uint8_t popped[] = {0x41, 0x0e, 0, 0x09, 16, 5};
	static const struct unwind_row popped_rows[] = {
		{0, 0}, {0x100, SP(1)}, {0x101, UNWIND_RULE(UNWIND_SP_LINK, 0, 0)}, {0x140, 0}};

	(void)state;
	EXPECT_PROGRAM("zR", popped, popped_rows);
	EXPECT_PROGRAM("zR", realigned, realigned_rows);
	EXPECT_PROGRAM("zR", assembly, assembly_rows);
	EXPECT_PROGRAM("zR", plt, plt_rows);
	EXPECT_PROGRAM("zRS", signal, signal_rows);
	EXPECT_PROGRAM("zR", signal, no_rows);
}

/* Rules that cannot be represented, or are damaged, become unknown, never almost right. */
static void unknown(void **state)
{
	static const uint8_t odd[] = {0x0e, 12,   0x41, 0x0e, 16,   0x86, 0x80, 0x40, 0x41, 0x86,
				      2,    0x09, 6,    3,    0x41, 0x08, 6,    0x14, 16,   1};
	static const uint8_t bad[] = {0x41, 0x0e, 16, 0x41, 0x3f, 0x0e, 8};
	static const uint8_t restores[] = {0x41, 0x0b};
	static const struct unwind_row none[] = {{0, 0}};
	static const struct unwind_row bad_rows[] = {{0, 0}, {0x100, SP(1)}, {0x101, SP(2)}, {0x102, 0}};
	static const struct unwind_row restored[] = {{0, 0}, {0x100, SP(1)}, {0x101, 0}};
	uint8_t deep[40];

	(void)state;
	EXPECT_PROGRAM("zR", odd, none);
	EXPECT_PROGRAM("zR", bad, bad_rows);
	EXPECT_PROGRAM("zR", restores, restored);
	memset(deep, 0x0a, sizeof(deep));
	EXPECT_PROGRAM("zR", deep, none);
	/* an augmentation of unknown size */
	EXPECT_PROGRAM("q", restores, none);
}

/* Unordered, overlapping, outside of the code, empty. */
static void several_functions(void **state)
{
	static const uint8_t nothing[] = {0}, pushed[] = {0x0e, 16};
	static const struct unwind_row expected[] = {{0, 0},         {0x80, SP(2)},  {0xa0, 0},
						     {0x200, SP(1)}, {0x220, SP(2)}, {0x230, 0}};
	struct bytes bytes = {.n = 0};
	struct ehframe_rows rows;

	(void)state;
	put_cie(&bytes, "zR");
	FDE(&bytes, 0x220, 0x10, pushed);
	FDE(&bytes, 0x200, 0x40, nothing);
	FDE(&bytes, 0x80, 0x20, pushed);
	FDE(&bytes, 0xff0, 0x20, pushed);
	FDE(&bytes, 0x300, 0, pushed);
	put_fde(&bytes, (uint32_t)-CODE, 0x20, pushed, sizeof(pushed));
	put_u32(&bytes, 0);
	FDE(&bytes, 0x400, 0x20, pushed); /* past the end */
	rows = parse(&bytes);
	EXPECT(&rows, expected);
	assert_int_equal(rows.functions, 3);
	assert_int_equal(rows.damaged, 0);
	ehframe_free(&rows);
}

/* Rules known by other means apply where there is no description: before, between and after them. */
static void spans_in_gaps(void **state)
{
	static const uint8_t nothing[] = {0};
	static const struct ehframe_span spans[] = {
		{CODE - 0x10, CODE + 0x10, SP(3)}, {CODE + 0x10, CODE + 0x20, SP(4)},
		{CODE + 0x30, CODE + 0x90, SP(5)}, {CODE + 0x98, CODE + 0x9c, SP(6)},
		{CODE + 0xb0, CODE + 0xb0, SP(7)}, {CODE + 0xff0, CODE + 0x2000, SP(8)}};
	static const struct unwind_row expected[] = {
		{0, SP(3)},    {0x10, SP(4)}, {0x20, UNWIND_CHAIN}, {0x30, SP(5)}, {0x40, SP(1)},
		{0x50, SP(5)}, {0x80, SP(1)}, {0xa0, UNWIND_CHAIN}, {0xff0, SP(8)}};
	struct bytes bytes = {.n = 0};
	struct ehframe_input input;
	struct ehframe_rows rows;

	(void)state;
	put_cie(&bytes, "zR");
	FDE(&bytes, 0x40, 0x10, nothing);
	FDE(&bytes, 0x80, 0x20, nothing);
	put_u32(&bytes, 0);
	input = input_of(bytes.data, bytes.n);
	input.between = UNWIND_CHAIN;
	input.spans = spans;
	input.nspans = sizeof(spans) / sizeof(spans[0]);
	assert_int_equal(ehframe_parse(&input, &rows), 0);
	check_rows(&rows, input.end - input.base);
	EXPECT(&rows, expected);
	ehframe_free(&rows);
}

/* As in clone: code between its start and that of its child has the rule of the former. */
static void clone_in_two(void **state)
{
	static const uint8_t pushed[] = {0x0e, 16}, undefined[] = {0x07, 16};
	static const struct unwind_row expected[] = {
		{0, 0},        {0x80, SP(2)}, {0x9a, UNWIND_END}, {0xa0, 0},
		{0xc0, SP(2)}, {0xd0, 0},     {0xe1, UNWIND_END}, {0xf0, 0}};
	struct bytes bytes = {.n = 0};
	struct ehframe_rows rows;

	(void)state;
	put_cie(&bytes, "zR");
	FDE(&bytes, 0x80, 0x10, pushed);
	FDE(&bytes, 0x9a, 0x06, undefined);
	FDE(&bytes, 0xc0, 0x10, pushed);
	FDE(&bytes, 0xe1, 0x0f, undefined); /* too far from it */
	rows = parse(&bytes);
	EXPECT(&rows, expected);
	ehframe_free(&rows);
}

/* .debug_frame: its own ids, absolute addresses. Used only where .eh_frame has nothing. */
static void debug_frame(void **state)
{
	static const uint8_t cie[] = {16, 0, 0, 0,    0xff, 0xff, 0xff, 0xff, 4,    0,
				      8,  0, 1, 0x78, 16,   0x0c, 7,    16,   0x90, 1};
	static const uint8_t pushed[] = {0x0e, 24};
	static const struct unwind_row expected[] = {
		{0, UNWIND_CHAIN},     {0x80, SP(2)},  {0x90, UNWIND_CHAIN}, {0x100, SP(3)},
		{0x120, UNWIND_CHAIN}, {0x200, SP(2)}, {0x210, UNWIND_CHAIN}};
	struct bytes eh = {.n = 0}, debug = {.n = 0};
	struct ehframe_input input;
	struct ehframe_rows rows;
	static const uint64_t functions[][2] = {
		{CODE + 0x80, 0x10}, {CODE + 0x110, 0x10}, {CODE + 0x100, 0x10}, {CODE + 0x200, 0x10}};

	(void)state;
	put_cie(&eh, "zR");
	FDE(&eh, 0x100, 0x20, pushed);
	put(&debug, cie, sizeof(cie));
	for (size_t i = 0; i < 4; i++) {
		begin(&debug);
		put_u32(&debug, 0);
		put(&debug, functions[i], sizeof(functions[i]));
		end(&debug);
	}
	input = input_of(eh.data, eh.n);
	input.debug_frame = (struct ehframe_section){debug.data, debug.n, 0};
	input.between = UNWIND_CHAIN;
	assert_int_equal(ehframe_parse(&input, &rows), 0);
	check_rows(&rows, input.end - input.base);
	EXPECT(&rows, expected);
	ehframe_free(&rows);
}

/* Any prefix of a section, and any changed byte, is parsed or rejected. */
static void damage(void **state)
{
	static const uint8_t framed[] = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x10, 3, 2, 0x76, 0, 0x0b};
	struct bytes bytes = {.n = 0};

	(void)state;
	put_cie(&bytes, "zRS");
	put_cie(&bytes, "zR");
	FDE(&bytes, 0x10, 0x40, framed);
	FDE(&bytes, 0x50, 0x40, framed);
	for (size_t i = 0; i < bytes.n; i++) {
		uint8_t *copy = malloc(i + 1);
		struct ehframe_input input = input_of(copy, i);
		struct ehframe_rows rows;
		uint8_t kept = bytes.data[i];

		assert_non_null(copy);
		memcpy(copy, bytes.data, i);
		assert_int_equal(ehframe_parse(&input, &rows), 0);
		ehframe_free(&rows);
		free(copy);
		for (unsigned change = 1; change < 256; change += 7) {
			bytes.data[i] = (uint8_t)(kept ^ change);
			rows = parse(&bytes);
			ehframe_free(&rows);
		}
		bytes.data[i] = kept;
	}
}

static void no_range(void **state)
{
	struct ehframe_input input = {.base = 5, .end = 5};
	struct ehframe_rows rows;

	(void)state;
	assert_int_equal(ehframe_parse(&input, &rows), -EINVAL);
	input.end = input.base + UINT32_MAX + 1ull;
	assert_int_equal(ehframe_parse(&input, &rows), -EINVAL);
}

#define ARM64(kind, n, words) UNWIND_RULE(kind, n, words)

static void expect_arm64(const char *letters, const uint8_t *program, size_t n,
			 const struct unwind_row *expected, size_t nrows)
{
	struct bytes bytes = {.n = 0};
	struct ehframe_input input;
	struct ehframe_rows rows;

	put_cie_arm64(&bytes, letters);
	put_fde(&bytes, 0x100, 0x40, program, n);
	input = input_of(bytes.data, bytes.n);
	input.arm64 = true;
	assert_int_equal(ehframe_parse(&input, &rows), 0);
	check_rows(&rows, input.end - input.base);
	expect(&rows, expected, nrows);
	ehframe_free(&rows);
}

#define EXPECT_ARM64(letters, program, rows)                                                                 \
	expect_arm64(letters, program, sizeof(program), rows, sizeof(rows) / sizeof((rows)[0]))

static void arm64_rules(void **state)
{
	/* stp x29, x30, [sp, -32]! ... ldp; with paciasp before */
	static const uint8_t pair[] = {0x41, 0x2d, 0x41, 0x0e, 32,   0x9d, 4,
				       0x9e, 3,    0x44, 0xdd, 0xde, 0x0e, 0};
	static const struct unwind_row pair_rows[] = {{0, 0},
						      {0x100, ARM64(UNWIND_SP_LINK, 0, 0)},
						      {0x108, ARM64(UNWIND_SP_PAIR, 4, 4)},
						      {0x118, ARM64(UNWIND_SP_LINK, 0, 0)},
						      {0x140, 0}};
	/* a frame of 16 KiB with the pair at its lower end; then CFA by x29 */
	static const uint8_t big[] = {0x41, 0x0e, 0x80, 0x80, 1,    0x9d, 0x80,
				      0x10, 0x9e, 0xff, 0x0f, 0x41, 0x0d, 29};
	static const struct unwind_row big_rows[] = {{0, 0},
						     {0x100, ARM64(UNWIND_SP_LINK, 0, 0)},
						     {0x104, ARM64(UNWIND_SP_FRAME, 0, 2048)},
						     {0x108, ARM64(UNWIND_FP_FRAME, 0, 2048)},
						     {0x140, 0}};
	/* str x30, [sp, 32] without x29; then x29 elsewhere; then further away than a rule can represent */
	static const uint8_t alone[] = {0x41, 0x0e, 80, 0x9e, 6, 0x41, 0x9d, 1, 0x41, 0x9d, 40};
	static const struct unwind_row alone_rows[] = {
		{0, 0},
		{0x100, ARM64(UNWIND_SP_LINK, 0, 0)},
		{0x104, ARM64(UNWIND_SP_ALONE, 6, 10)},
		{0x108, ARM64(UNWIND_SP_APART, UNWIND_APART(6, 1), 10)},
		{0x10c, 0}};
	static const uint8_t outermost[] = {0x07, 30};
	static const struct unwind_row outermost_rows[] = {{0, 0}, {0x100, UNWIND_END}, {0x140, 0}};
	static const uint8_t signal[] = {0x0c, 29, 0, 0x9d, 0, 0x11, 30, 0x7f};
	static const struct unwind_row signal_rows[] = {{0, 0}, {0x100, UNWIND_SIGNAL}, {0x140, 0}};
	static const struct unwind_row no_rows[] = {{0, 0}};

	(void)state;
	EXPECT_ARM64("zR", pair, pair_rows);
	EXPECT_ARM64("zRB", pair, pair_rows);
	EXPECT_ARM64("zR", big, big_rows);
	EXPECT_ARM64("zR", alone, alone_rows);
	EXPECT_ARM64("zR", outermost, outermost_rows);
	EXPECT_ARM64("zRS", signal, signal_rows);
	EXPECT_ARM64("zR", signal, no_rows);
}

/* 64 KiB of invalid CIEs, one or many, and a hundred thousand functions that refer to them. */
static uint8_t *bad_section(unsigned cies, size_t *size)
{
	enum { CIES = 64 << 10, FDES = 100000 };
	uint32_t each = CIES / cies, fde[5] = {16};
	uint8_t *data = calloc(1, CIES + FDES * sizeof(fde));

	assert_non_null(data);
	for (unsigned i = 0; i < cies; i++) {
		uint32_t head[2] = {each - 4, 0};

		memset(data + i * each, 'x', each);
		memcpy(data + i * each, head, sizeof(head));
		data[i * each + sizeof(head)] = 1;
	}
	for (unsigned i = 0; i < FDES; i++) {
		size_t at = CIES + i * sizeof(fde);

		fde[1] = (uint32_t)(at + 4 - i % cies * each);
		memcpy(data + at, fde, sizeof(fde));
	}
	*size = CIES + FDES * sizeof(fde);
	return data;
}

static void parse_bad(unsigned cies, uint64_t limit_ns)
{
	struct budget budget = {.cpu_ns = limit_ns};
	struct ehframe_input input = {.base = CODE, .end = CODE + 0x1000, .budget = &budget};
	struct ehframe_rows rows;
	size_t size;
	uint8_t *data = bad_section(cies, &size);

	input.eh_frame = (struct ehframe_section){data, size, SECTION};
	budget_start(&budget);
	assert_int_equal(ehframe_parse(&input, &rows), limit_ns ? 0 : -ETIME);
	if (limit_ns)
		assert_int_equal(rows.damaged, 100000);
	ehframe_free(&rows);
	free(data);
}

/* Takes time linear in the section's size. Otherwise each function would scan 64 KiB. */
static void bad_cies(void **state)
{
	(void)state;
	parse_bad(1, 2000000000);
	parse_bad(64, 2000000000);
	parse_bad(1024, 2000000000); /* more than are cached */
	parse_bad(1, 0);
}

/* A row at every byte, more than any file may have: advance_loc 1, def_cfa_offset 8 or 16. */
static void too_many_rows(void **state)
{
	enum { STEPS = EHFRAME_ROWS_MAX + 16, STEP = 3 };
	struct ehframe_input input = {.base = CODE, .end = CODE + STEPS + 1};
	struct bytes head = {.n = 0};
	struct ehframe_rows rows;
	uint32_t fde[4] = {13 + STEP * STEPS, 0, 0, STEPS + 1};
	uint8_t *data = calloc(1, sizeof(head.data) + STEP * STEPS), *at;

	(void)state;
	assert_non_null(data);
	put_cie(&head, "zR");
	memcpy(data, head.data, head.n);
	fde[1] = (uint32_t)head.n + 4;
	fde[2] = (uint32_t)(CODE - (SECTION + head.n + 8));
	memcpy(data + head.n, fde, sizeof(fde));
	at = data + head.n + sizeof(fde) + 1;
	for (unsigned i = 0; i < STEPS; i++, at += STEP) {
		at[0] = 0x41;
		at[1] = 0x0e;
		at[2] = i % 2 ? 8 : 16;
	}
	input.eh_frame = (struct ehframe_section){data, (size_t)(at - data), SECTION};
	assert_int_equal(ehframe_parse(&input, &rows), -EFBIG);
	assert_null(rows.rows);
	free(data);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(usual_functions),   cmocka_unit_test(expressions),  cmocka_unit_test(unknown),
	cmocka_unit_test(several_functions), cmocka_unit_test(debug_frame),  cmocka_unit_test(damage),
	cmocka_unit_test(no_range),          cmocka_unit_test(clone_in_two), cmocka_unit_test(arm64_rules),
	cmocka_unit_test(spans_in_gaps),     cmocka_unit_test(bad_cies),     cmocka_unit_test(too_many_rows),
};

UNIT_TESTS(tests, NULL, NULL);
