/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Stacks recorded as words instead of addresses: unwinding them with a function table made here. */
#include <string.h>

#include "unit.h"

#include "bpf/record.h"
#include "code/symbol/scan.h"

_Static_assert(SCANNED_SHIFT == SCAN_SHIFT && SCANNED_FRAME == SCAN_FRAME, "one format on both sides");

enum { TEXT = 0x400000, ENTRIES = 3 };

/*
 * A table of Go 1.15: three functions of 0x100 bytes. The first has no frame, the others one of 0x20
 * and of 0x30 bytes from their byte 4 on.
 */
struct table {
	uint8_t bytes[1024];
	size_t size;
};

static void put(struct table *table, size_t at, uint64_t value, unsigned n)
{
	memcpy(table->bytes + at, &value, n);
	if (table->size < at + n)
		table->size = at + n;
}

/* Varints: deltas of the value (zigzag) and of the PC, starting from -1 and the entry; terminated by 0. */
static void put_depths(struct table *table, size_t at, uint8_t depth)
{
	const uint8_t framed[] = {2, 4, (uint8_t)(depth * 2), 0xfc, 1, 0}, bare[] = {2, 0x80, 2, 0};

	if (depth)
		memcpy(table->bytes + at, framed, sizeof(framed));
	else
		memcpy(table->bytes + at, bare, sizeof(bare));
}

static struct functab *make(struct table *table)
{
	const uint8_t depths[ENTRIES] = {0, 0x20, 0x30};
	struct functab_source source = {
		.pclntab = table->bytes, .text = TEXT, .etext = TEXT + ENTRIES * 0x100, .go_minor = 15};

	put(table, 0, 0xfffffffb, 4);
	put(table, 6, 1, 1); /* smallest instruction */
	put(table, 7, 8, 1); /* bytes of a pointer */
	put(table, 8, ENTRIES, 8);
	for (unsigned i = 0; i < ENTRIES; i++) {
		size_t func = 0x100 + i * 0x40u, pcsp = 0x300 + i * 16u;

		put(table, 16 + i * 16u, TEXT + i * 0x100u, 8);
		put(table, 24 + i * 16u, func, 8);
		put(table, func, TEXT + i * 0x100u, 8);
		put(table, func + 8, 0x280, 4); /* name: "f" */
		put(table, func + 16, pcsp, 4); /* after args and deferreturn */
		put(table, func + 20, pcsp, 4); /* pcfile */
		put(table, func + 24, pcsp, 4); /* pcln */
		put_depths(table, pcsp, depths[i]);
	}
	put(table, 16 + ENTRIES * 16, TEXT + ENTRIES * 0x100, 8);
	put(table, 24 + ENTRIES * 16, 0x2c0, 4); /* files: */
	put(table, 0x2c0, 1, 4);
	table->bytes[0x280] = 'f';
	table->size = sizeof(table->bytes);
	source.pclntab_size = table->size;
	return functab_new(&source, NULL);
}

static uint64_t word(uint64_t place, uint64_t pc)
{
	return place << SCAN_SHIFT | pc;
}

static void test_walk(void **state)
{
	struct table table = {.size = 0};
	struct functab *tab = make(&table);
	/* 0x20 + 8 bytes to the first caller; 0x30 + 8 more to the next. The words in between are stale. */
	const uint64_t words[] = {TEXT + 0x150, word(1, TEXT + 0x10), word(4, TEXT + 0x250),
				  word(9, TEXT + 0x111), word(11, TEXT + 0x80)};
	uint64_t pcs[8];

	(void)state;
	assert_non_null(tab);
	assert_int_equal(scan_frames(tab, words, 5, pcs, 8), 3);
	assert_int_equal(pcs[0], TEXT + 0x150);
	assert_int_equal(pcs[1], TEXT + 0x250);
	assert_int_equal(pcs[2], TEXT + 0x80);
	assert_int_equal(scan_frames(tab, words, 5, pcs, 2), 2);
	assert_int_equal(scan_frames(tab, words, 1, pcs, 8), 1);
	assert_int_equal(scan_frames(tab, words, 0, pcs, 8), 0);
	functab_free(tab);
}

/* systemstack leaves a goroutine at the entry of a function; the byte before belongs to another. */
static void test_entry(void **state)
{
	struct table table = {.size = 0};
	struct functab *tab = make(&table);
	const uint64_t words[] = {TEXT + 0x200, word(0, TEXT + 0x150), word(5, TEXT + 0x80)};
	uint64_t pcs[8];

	(void)state;
	assert_int_equal(scan_frames(tab, words, 3, pcs, 8), 3);
	assert_int_equal(pcs[0], TEXT + 0x201);
	assert_int_equal(pcs[1], TEXT + 0x150);
	assert_int_equal(pcs[2], TEXT + 0x80);
	functab_free(tab);
}

/* Frames that replace the leaf's. */
static void test_named(void **state)
{
	struct table table = {.size = 0};
	struct functab *tab = make(&table);
	const uint64_t words[] = {TEXT + 0x150, SCAN_FRAME | (TEXT + 0x40), SCAN_FRAME | (TEXT + 0x160),
				  word(4, TEXT + 0x250)};
	uint64_t pcs[8];

	(void)state;
	assert_int_equal(scan_frames(tab, words, 4, pcs, 8), 3);
	assert_int_equal(pcs[0], TEXT + 0x40);
	assert_int_equal(pcs[1], TEXT + 0x160);
	assert_int_equal(pcs[2], TEXT + 0x250);
	assert_int_equal(scan_frames(tab, words, 4, pcs, 1), 1);
	functab_free(tab);
}

/* The target's data may be anything: outside of all functions the walk ends. */
static void test_strange(void **state)
{
	struct table table = {.size = 0};
	struct functab *tab = make(&table);
	const uint64_t words[] = {UINT64_MAX, word(0, TEXT + 0x80)}, low[] = {1, word(0, TEXT + 0x80)};
	uint64_t pcs[8];

	(void)state;
	assert_int_equal(scan_frames(tab, words, 2, pcs, 8), 1);
	assert_int_equal(scan_frames(tab, low, 2, pcs, 8), 1);
	functab_free(tab);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_walk),
	cmocka_unit_test(test_entry),
	cmocka_unit_test(test_named),
	cmocka_unit_test(test_strange),
};

UNIT_TESTS(tests, NULL, NULL);
