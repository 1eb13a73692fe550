/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Compares frames with those that Go's own runtime computes for the same stacks: see tests/fixtures/symbol/.
 * With files behind "--", compares those files instead.
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "code/symbol/symbol.h"

#define CHECKED_IN "tests/fixtures/symbol/go1.26.8.gz"

static const char **files;
static int nfiles;

struct fixture {
	uint8_t *bytes;
	size_t size, at;
	struct functab_source source;
	char **text; /* the strings, by number */
	uint32_t ntext;
};

static const void *take(struct fixture *fix, size_t size)
{
	const void *data = fix->bytes + fix->at;

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

static void load(struct fixture *fix, const char *path)
{
	gzFile file = gzopen(path, "rb");
	int n;

	assert_non_null(file);
	do {
		fix->bytes = realloc(fix->bytes, fix->size + (1u << 20));
		assert_non_null(fix->bytes);
		n = gzread(file, fix->bytes + fix->size, 1u << 20);
		assert_true(n >= 0);
		fix->size += (size_t)n;
	} while (n > 0);
	gzclose(file);
}

static void read_module(struct fixture *fix)
{
	struct functab_source *source = &fix->source;

	assert_memory_equal(take(fix, 8), "symfix1\n", 8);
	source->go_minor = take_u32(fix);
	source->text = take_u64(fix);
	source->etext = take_u64(fix);
	source->pclntab_size = take_u64(fix);
	source->gofunc_size = take_u64(fix);
	source->pclntab = take(fix, source->pclntab_size);
	source->gofunc = take(fix, source->gofunc_size);
}

/* Reads the strings, which follow the stacks, and returns to the stacks. */
static void read_strings(struct fixture *fix)
{
	size_t stacks_at = fix->at;

	for (uint32_t left = take_u32(fix); left > 0; left--) {
		uint32_t pcs, frames;

		take_u32(fix);
		pcs = take_u32(fix);
		frames = take_u32(fix);
		take(fix, pcs * 8ul + frames * 20ul);
	}
	fix->ntext = take_u32(fix);
	fix->text = calloc(fix->ntext, sizeof(*fix->text));
	for (uint32_t i = 0; i < fix->ntext; i++) {
		uint32_t len = take_u32(fix);

		fix->text[i] = strndup(take(fix, len), len);
	}
	assert_int_equal(fix->at, fix->size);
	fix->at = stacks_at;
}

static void compare_frame(struct fixture *fix, const struct frame *frame, const struct strtab *strings)
{
	assert_int_equal(take_u64(fix), frame->pc);
	assert_int_equal(take_u32(fix), frame->line);
	assert_string_equal(fix->text[take_u32(fix)], strtab_get(strings, frame->func, NULL));
	assert_string_equal(fix->text[take_u32(fix)], strtab_get(strings, frame->file, NULL));
}

static size_t compare_stack(struct fixture *fix, struct symbol *sym, const struct strtab *strings)
{
	struct frame frames[MAX_FRAMES];
	uint32_t skip = take_u32(fix), n = take_u32(fix), want = take_u32(fix);
	uint64_t *pcs = malloc(n * sizeof(*pcs));
	int got;

	memcpy(pcs, take(fix, n * sizeof(*pcs)), n * sizeof(*pcs));
	got = symbol_frames(sym, pcs, n, skip, 0, frames);
	free(pcs);
	/* For a stack without Go code the runtime shows nothing, while we show addresses. */
	if (want == 0 && (got == 0 || frames[0].func == 0))
		return 0;
	assert_int_equal(got, want);
	for (uint32_t i = 0; i < want; i++)
		compare_frame(fix, &frames[i], strings);
	return want;
}

static void compare_all(struct fixture *fix, const struct functab *tab)
{
	struct strtab *strings = strtab_new();
	struct symbol *sym = symbol_new(tab, strings);
	uint32_t stacks = take_u32(fix);
	size_t frames = 0;

	for (uint32_t i = 0; i < stacks; i++)
		frames += compare_stack(fix, sym, strings);
	assert_true(stacks > 300 && frames > stacks);
	print_message("go 1.%u: %u stacks, %zu frames\n", fix->source.go_minor, stacks, frames);
	symbol_free(sym);
	strtab_free(strings);
}

/*
 * Every function is found by its first and last byte, and by its name (or an earlier one with the same name).
 */
static void check_functions(const struct functab *tab, uint64_t etext)
{
	uint64_t entry, end, found, found_end;
	const char *name;
	size_t index;

	for (size_t i = 0; i < functab_count(tab); i++) {
		assert_int_equal(functab_entry(tab, i, &entry, &end, &name), 0);
		assert_true(entry < end && end <= etext);
		assert_int_equal(functab_lookup(tab, entry, &index), 0);
		assert_int_equal(index, i);
		assert_int_equal(functab_lookup(tab, end - 1, &index), 0);
		assert_int_equal(index, i);
		if (i % 64 == 0 && *name) { /* the runtime does not find the first function */
			assert_int_equal(functab_find(tab, name, &found, &found_end), 0);
			assert_true(found <= entry);
		}
	}
	assert_int_equal(functab_find(tab, "runtime.casgstatus", &found, &found_end), 0);
	assert_int_equal(functab_find(tab, "runtime.casgstatu", &found, &found_end), -ENOENT);
}

static struct functab *open_module(struct fixture *fix)
{
	struct error err;
	struct functab *tab = functab_new(&fix->source, &err);

	assert_non_null(tab);
	return tab;
}

static void free_fixture(struct fixture *fix)
{
	for (uint32_t i = 0; i < fix->ntext; i++)
		free(fix->text[i]);
	free(fix->text);
	free(fix->bytes);
}

static void check_file(const char *path)
{
	struct fixture fix = {0};
	struct functab *tab;
	uint8_t *gofunc;
	uint64_t from, to;

	load(&fix, path);
	read_module(&fix);
	tab = open_module(&fix);
	check_functions(tab, fix.source.etext);
	/* The inline trees are within the extent, which is not a byte too large. */
	assert_true(functab_gofunc_range(tab, &from, &to));
	assert_in_range(to - from, 1, fix.source.gofunc_size);
	fix.source.gofunc_size = to - from;
	functab_free(tab);
	gofunc = malloc(fix.source.gofunc_size);
	memcpy(gofunc, fix.source.gofunc, fix.source.gofunc_size);
	fix.source.gofunc = gofunc;
	tab = open_module(&fix);
	read_strings(&fix);
	compare_all(&fix, tab);
	functab_free(tab);
	free(gofunc);
	free_fixture(&fix);
}

static void frames_are_the_runtimes(void **state)
{
	(void)state;
	for (int i = 0; i < nfiles; i++)
		check_file(files[i]);
}

static uint64_t entry_of(const struct functab *tab, const char *name)
{
	uint64_t entry, end;

	assert_int_equal(functab_find(tab, name, &entry, &end), 0);
	return entry;
}

/* The functions of a sample's stack must be these; the list ends with NULL. */
static void expect_sample(struct symbol *sym, const struct strtab *strings, const uint64_t *pcs, size_t n,
			  const char *const *names)
{
	struct frame frames[MAX_FRAMES];
	int count = symbol_frames(sym, pcs, n, 0, SYMBOL_SAMPLE, frames);

	for (int i = 0; i < count; i++) {
		assert_non_null(names[i]);
		assert_string_equal(strtab_get(strings, frames[i].func, NULL), names[i]);
	}
	assert_null(names[count]);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The word at the stack pointer is the caller's only if the function has no frame there. */
static void a_sample_finds_its_caller(void **state)
{
	struct fixture fix = {0};
	struct functab *tab;
	struct strtab *strings = strtab_new();
	struct symbol *sym;
	uint64_t leaf, framed, caller, root;

	(void)state;
	load(&fix, CHECKED_IN);
	read_module(&fix);
	tab = open_module(&fix);
	sym = symbol_new(tab, strings);
	leaf = entry_of(tab, "runtime.memmove");
	framed = entry_of(tab, "runtime.casgstatus");
	caller = entry_of(tab, "runtime.ready") + 1;
	root = entry_of(tab, "runtime.goexit") + 2;

	/* pcs[0] is the instruction plus 1. A function's first instruction belongs to it, before its
	 * frame. */
	expect_sample(sym, strings, (uint64_t[]){leaf + 1, caller, root}, 3,
		      NAMES("runtime.memmove", "runtime.ready", "runtime.goexit"));
	expect_sample(sym, strings, (uint64_t[]){framed + 1, caller, root}, 3,
		      NAMES("runtime.casgstatus", "runtime.ready", "runtime.goexit"));
	/* In the middle of casgstatus its frame is set up, and the word is a local variable. */
	expect_sample(sym, strings, (uint64_t[]){framed + 0x40, caller, root}, 3,
		      NAMES("runtime.casgstatus", "runtime.goexit"));
	expect_sample(sym, strings, (uint64_t[]){leaf + 1, 0, root}, 3,
		      NAMES("runtime.memmove", "runtime.goexit"));
	/* C code has no name, and its caller is not looked up. */
	expect_sample(sym, strings, (uint64_t[]){fix.source.etext + 0x1000, caller, root}, 3,
		      NAMES("runtime.goexit"));
	expect_sample(sym, strings, (uint64_t[]){leaf + 1}, 1, NAMES("runtime.memmove"));
	symbol_free(sym);
	functab_free(tab);
	strtab_free(strings);
	free_fixture(&fix);
}

static int pick_files(void **state)
{
	static const char *checked_in[] = {CHECKED_IN};

	(void)state;
	files = unit_nfiles ? unit_files : checked_in;
	nfiles = unit_nfiles ? unit_nfiles : (int)(sizeof(checked_in) / sizeof(checked_in[0]));
	return 0;
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(frames_are_the_runtimes),
					  cmocka_unit_test(a_sample_finds_its_caller)};

UNIT_TESTS(tests, pick_files, NULL);
