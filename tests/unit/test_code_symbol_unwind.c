/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Unwinds stacks from their bytes with the function tables of old releases, and compares the result with that
 * of each release's own runtime: see tests/fixtures/symbol/make-old.sh. With files behind "--", compares
 * those files instead.
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "code/symbol/symbol.h"

#define DIRECTORY "tests/fixtures/symbol/old/"
#define MAX_PCS   200

static const char **files;
static int nfiles;

struct fixture {
	uint8_t *bytes;
	size_t size, at;
	struct functab_source source;
	struct functab *tab;
};

/* A stack of the fixture; its frames follow. */
struct recorded {
	uint64_t pc;
	struct stack_bytes stack;
	uint32_t frames;
};

static const uint8_t *take(struct fixture *fix, size_t size)
{
	const uint8_t *data = fix->bytes + fix->at;

	assert_true(size <= fix->size - fix->at);
	fix->at += size;
	return data;
}

static uint32_t take_u32(struct fixture *fix)
{
	uint32_t value;

	memcpy(&value, take(fix, sizeof(value)), sizeof(value));
	return value;
}

static uint64_t take_u64(struct fixture *fix)
{
	uint64_t value;

	memcpy(&value, take(fix, sizeof(value)), sizeof(value));
	return value;
}

static void read_source(struct fixture *fix)
{
	struct functab_source *source = &fix->source;

	assert_memory_equal(take(fix, 8), "symfix2\n", 8);
	source->go_minor = take_u32(fix);
	source->text = take_u64(fix);
	source->etext = take_u64(fix);
	source->gofunc_address = take_u64(fix);
	source->pclntab_size = take_u64(fix);
	source->gofunc_size = take_u64(fix);
	source->pclntab = take(fix, source->pclntab_size);
	source->gofunc = take(fix, source->gofunc_size);
}

static struct fixture load(const char *path)
{
	struct fixture fix = {.bytes = malloc(1u << 22)};
	gzFile file = gzopen(path, "rb");
	struct error err;
	int n;

	assert_non_null(file);
	n = gzread(file, fix.bytes, 1u << 22);
	assert_in_range(n, 1, (1u << 22) - 1);
	gzclose(file);
	fix.size = (size_t)n;
	read_source(&fix);
	fix.tab = functab_new(&fix.source, &err);
	if (!fix.tab)
		print_error("%s: %s\n", path, err.text);
	assert_non_null(fix.tab);
	return fix;
}

static void unload(struct fixture *fix)
{
	functab_free(fix->tab);
	free(fix->bytes);
}

static struct recorded take_stack(struct fixture *fix)
{
	struct recorded recorded = {.pc = take_u64(fix), .stack = {.lo = take_u64(fix)}};
	uint32_t size = take_u32(fix);

	recorded.stack.hi = recorded.stack.lo + size;
	recorded.stack.bytes = take(fix, size);
	recorded.frames = take_u32(fix);
	return recorded;
}

static void expect_text(struct fixture *fix, const struct strtab *strings, uint32_t id)
{
	size_t len;
	const char *text = strtab_get(strings, id, &len);

	assert_int_equal(take_u32(fix), len);
	assert_memory_equal(take(fix, len), text, len);
}

/* The leaf is not compared: its frame is at one call, the runtime's at another. */
static void expect_frames(struct fixture *fix, const struct recorded *recorded, struct unwinder *unwinder,
			  struct symbol *sym, const struct strtab *strings)
{
	struct frame frames[MAX_FRAMES];
	uint64_t pcs[MAX_PCS];
	bool whole;
	size_t n = unwinder_walk(unwinder, recorded->pc, recorded->stack.lo, &recorded->stack, pcs, MAX_PCS,
				 &whole);
	int count = symbol_frames(sym, pcs, n, 0, SYMBOL_RUNTIME_FRAMES, frames);

	assert_true(whole);
	assert_int_equal(count, recorded->frames + 1);
	for (uint32_t i = 1; i <= recorded->frames; i++) {
		assert_int_equal(take_u64(fix), frames[i].pc);
		assert_int_equal(take_u32(fix), frames[i].line);
		expect_text(fix, strings, frames[i].func);
		expect_text(fix, strings, frames[i].file);
	}
}

static void check_file(const char *path)
{
	struct fixture fix = load(path);
	struct strtab *strings = strtab_new();
	struct symbol *sym = symbol_new(fix.tab, strings);
	struct unwinder *unwinder = unwinder_new(fix.tab);
	uint32_t stacks = take_u32(&fix), frames = 0;

	for (uint32_t i = 0; i < stacks; i++) {
		struct recorded recorded = take_stack(&fix);

		expect_frames(&fix, &recorded, unwinder, sym, strings);
		frames += recorded.frames;
	}
	assert_int_equal(fix.at, fix.size);
	assert_true(stacks > 10 && frames > 100);
	print_message("go 1.%u: %u stacks, %u frames\n", fix.source.go_minor, stacks, frames);
	unwinder_free(unwinder);
	symbol_free(sym);
	strtab_free(strings);
	unload(&fix);
}

static void stacks_are_the_runtimes(void **state)
{
	(void)state;
	for (int i = 0; i < nfiles; i++)
		check_file(files[i]);
}

/* A table that was moved gives the same result, whether by an offset or by relocation. */
static void tables_with_addresses_move(void **state)
{
	struct fixture fix = load(files[0]);
	struct functab_source moved = fix.source;
	uint8_t *copy = malloc(moved.pclntab_size);
	struct functab *biased, *relocated;
	uint64_t entry, end, other, other_end;
	const char *name, *other_name;

	(void)state;
	memcpy(copy, moved.pclntab, moved.pclntab_size);
	moved.bias = 0x555500000000;
	moved.text += moved.bias;
	biased = functab_new(&moved, NULL);
	functab_relocate(biased, copy);
	moved.bias = 0;
	moved.pclntab = copy;
	relocated = functab_new(&moved, NULL);
	for (size_t i = 0; i < functab_count(fix.tab); i++) {
		assert_int_equal(functab_entry(fix.tab, i, &entry, &end, &name), 0);
		assert_int_equal(functab_entry(biased, i, &other, &other_end, &other_name), 0);
		assert_int_equal(entry + 0x555500000000, other);
		assert_int_equal(end + 0x555500000000, other_end);
		assert_string_equal(name, other_name);
		assert_int_equal(functab_entry(relocated, i, &entry, &end, &name), 0);
		assert_int_equal(entry, other);
		assert_int_equal(end, other_end);
	}
	functab_free(biased);
	functab_free(relocated);
	free(copy);
	unload(&fix);
}

/* A truncated stack gives a prefix of the whole one, marked as incomplete. */
static void cut_stacks_begin_like_whole_ones(void **state)
{
	struct fixture fix = load(files[0]);
	struct unwinder *unwinder = unwinder_new(fix.tab);
	uint64_t all[MAX_PCS], pcs[MAX_PCS];
	struct recorded recorded;
	bool whole;
	size_t n;

	(void)state;
	assert_true(take_u32(&fix) > 0);
	recorded = take_stack(&fix);
	n = unwinder_walk(unwinder, recorded.pc, recorded.stack.lo, &recorded.stack, all, MAX_PCS, &whole);
	assert_true(n > 3 && whole);
	for (uint64_t lo = recorded.stack.lo, hi = lo; hi < recorded.stack.hi; hi++) {
		struct stack_bytes part = {.bytes = malloc(hi - lo + 1), .lo = lo, .hi = hi};
		size_t got;

		memcpy((uint8_t *)part.bytes, recorded.stack.bytes, hi - lo);
		got = unwinder_walk(unwinder, recorded.pc, lo, &part, pcs, MAX_PCS, &whole);
		assert_true(got >= 1 && got <= n && whole == (got == n));
		assert_memory_equal(pcs, all, got * sizeof(*pcs));
		free((uint8_t *)part.bytes);
	}
	assert_int_equal(
		unwinder_walk(unwinder, recorded.pc, recorded.stack.lo, &recorded.stack, pcs, 2, &whole), 2);
	assert_false(whole);
	assert_int_equal(unwinder_walk(unwinder, 5, recorded.stack.lo, &recorded.stack, pcs, 2, &whole), 0);
	unwinder_free(unwinder);
	unload(&fix);
}

/* The release decides how a table is read. A table that cannot belong to it is rejected with one line. */
static void tables_of_another_release_are_refused(void **state)
{
	(void)state;
	for (int i = 0; i < nfiles; i++) {
		struct fixture fix = load(files[i]);
		uint32_t own = fix.source.go_minor;
		struct error err;
		uint64_t entry, end;
		struct functab *tab;

		fix.source.go_minor = own >= 18 ? 15 : 26;
		assert_null(functab_new(&fix.source, &err));
		assert_non_null(strstr(err.text, "damaged or not that of the program"));
		assert_null(strchr(err.text, '\n'));
		fix.source.go_minor = 3;
		assert_null(functab_new(&fix.source, &err));
		fix.source.go_minor = 0;
		tab = functab_new(&fix.source, &err);
		assert_non_null(tab);
		assert_int_equal(functab_find(tab, "runtime.goexit", &entry, &end), 0);
		functab_free(tab);
		unload(&fix);
	}
}

/* Any changed byte gives a result or an error, within bounds (the sanitizers check). */
static void any_damage_is_survived(void **state)
{
	(void)state;
	for (int i = 0; i < nfiles; i++) {
		struct fixture fix = load(files[i]);
		struct recorded recorded;
		uint64_t pcs[MAX_PCS], from, to;
		bool whole;

		take_u32(&fix);
		recorded = take_stack(&fix);
		for (size_t at = 0; at < fix.source.pclntab_size; at += 1 + at / 64) {
			uint8_t *byte = (uint8_t *)fix.source.pclntab + at;
			struct functab *tab;
			struct unwinder *unwinder;

			*byte ^= 0xff;
			tab = functab_new(&fix.source, NULL);
			if (tab) {
				functab_gofunc_range(tab, &from, &to);
				unwinder = unwinder_new(tab);
				assert_true(unwinder_walk(unwinder, recorded.pc, recorded.stack.lo,
							  &recorded.stack, pcs, MAX_PCS, &whole) <= MAX_PCS);
				unwinder_free(unwinder);
			}
			functab_free(tab);
			*byte ^= 0xff;
		}
		unload(&fix);
	}
}

static int pick_files(void **state)
{
	static const char *checked_in[] = {
		DIRECTORY "go1.4.3.gz",   DIRECTORY "go1.7.6.gz",   DIRECTORY "go1.9.7.gz",
		DIRECTORY "go1.11.13.gz", DIRECTORY "go1.13.15.gz", DIRECTORY "go1.16.15.gz",
		DIRECTORY "go1.18.10.gz", DIRECTORY "go1.20.14.gz",
	};

	(void)state;
	files = unit_nfiles ? unit_files : checked_in;
	nfiles = unit_nfiles ? unit_nfiles : (int)(sizeof(checked_in) / sizeof(checked_in[0]));
	return 0;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(stacks_are_the_runtimes),
	cmocka_unit_test(tables_with_addresses_move),
	cmocka_unit_test(cut_stacks_begin_like_whole_ones),
	cmocka_unit_test(tables_of_another_release_are_refused),
	cmocka_unit_test(any_damage_is_survived),
};

UNIT_TESTS(tests, pick_files, NULL);
