/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A small function table made by hand, intact and damaged. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/symbol/inlined.h"
#include "code/symbol/symbol.h"

#define TEXT   0x400000ull
#define HEADER 0x48u
#define FUNC   0x2cu
/* Parts of the table, in the order in which the header has their offsets. */
enum part { NAMES, CUTAB, FILES, PCTAB, FUNCS, PARTS };

struct bytes {
	uint8_t data[8192];
	size_t size;
};

struct table {
	struct bytes all, gofunc;
	struct functab_source source;
};

static uint32_t put(struct bytes *bytes, const void *data, size_t size)
{
	uint32_t at = (uint32_t)bytes->size;

	assert_true(size <= sizeof(bytes->data) - bytes->size);
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
	return at;
}

static uint32_t put_u32(struct bytes *bytes, uint32_t value)
{
	return put(bytes, &value, sizeof(value));
}

static uint32_t put_text(struct bytes *bytes, const char *text)
{
	return put(bytes, text, strlen(text) + 1);
}

/* Four functions of 64 bytes: an outer one with two nested inlined calls, a wrapper, panic, goexit. */
enum { OUTER, WRAPPER, GOPANIC, GOEXIT, COUNT };

struct function_row {
	uint32_t name;
	uint8_t id;
	uint32_t line, tree_index, tree, wrapped;
};

static void put_function(struct bytes *funcs, uint32_t index, const struct function_row *row, uint32_t file)
{
	const uint8_t tail[4] = {row->id, 0, 0, 8};

	put_u32(funcs, index * 64);
	put_u32(funcs, row->name);
	for (int i = 0; i < 3; i++) /* args, deferreturn, pcsp */
		put_u32(funcs, 0);
	put_u32(funcs, file);
	put_u32(funcs, row->line);
	put_u32(funcs, 3); /* npcdata */
	put_u32(funcs, 0); /* cuOffset */
	put_u32(funcs, 1); /* startLine */
	put(funcs, tail, sizeof(tail));
	put_u32(funcs, 0);
	put_u32(funcs, 0);
	put_u32(funcs, row->tree_index);
	for (uint32_t i = 0; i < 8; i++)
		put_u32(funcs, i == 3 ? row->tree : i == 7 ? row->wrapped : UINT32_MAX);
}

static void put_functions(struct bytes *funcs, const struct function_row rows[COUNT], uint32_t file)
{
	const uint32_t each = FUNC + 3 * 4 + 8 * 4;

	for (uint32_t i = 0; i < COUNT; i++) {
		put_u32(funcs, i * 64);
		put_u32(funcs, COUNT * 8 + 4 + i * each);
	}
	put_u32(funcs, COUNT * 64);
	for (uint32_t i = 0; i < COUNT; i++)
		put_function(funcs, i, &rows[i], file);
}

static void put_inlined(struct bytes *gofunc, uint8_t id, uint32_t name, uint32_t parent)
{
	put_u32(gofunc, id);
	put_u32(gofunc, name);
	put_u32(gofunc, parent);
	put_u32(gofunc, 1);
}

static void join(struct table *table, struct bytes parts[PARTS])
{
	const uint8_t magic[8] = {0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8};
	uint64_t header[8] = {COUNT, 1, 0}, at = HEADER;

	for (int i = 0; i < PARTS; i++) {
		header[3 + i] = at;
		at += parts[i].size;
	}
	put(&table->all, magic, sizeof(magic));
	put(&table->all, header, sizeof(header));
	for (int i = 0; i < PARTS; i++)
		put(&table->all, parts[i].data, parts[i].size);
}

static struct table *make_table(uint32_t go_minor)
{
	/* (zig-zag value delta, PC delta), up to a value delta of 0 */
	static const uint8_t file_table[] = {2, 64, 0};
	static const uint8_t line_table[] = {22, 16, 20, 16, 20, 32, 0};
	static const uint8_t tree_table[] = {0, 8, 4, 8, 1, 16, 1, 32, 0}; /* -1, 1, 0, -1 */
	struct bytes parts[PARTS] = {0};
	struct table *table = calloc(1, sizeof(*table));
	struct function_row rows[COUNT] = {0};
	uint32_t mid, inner, file, lines, tree;

	put(&parts[NAMES], "", 1);
	mid = put_text(&parts[NAMES], "main.mid[go.shape.int,[]go.shape.string].func1");
	inner = put_text(&parts[NAMES], "main.inner");
	put_u32(&parts[CUTAB], put_text(&parts[FILES], "/src/main.go"));
	put(&parts[PCTAB], "", 1);
	file = put(&parts[PCTAB], file_table, sizeof(file_table));
	lines = put(&parts[PCTAB], line_table, sizeof(line_table));
	tree = put(&parts[PCTAB], tree_table, sizeof(tree_table));
	for (int i = 0; i < COUNT; i++)
		rows[i] = (struct function_row){.line = lines, .tree = UINT32_MAX, .wrapped = UINT32_MAX};
	rows[OUTER].name = put_text(&parts[NAMES], "main.outer");
	rows[OUTER].tree_index = tree;
	rows[OUTER].tree = 0;
	rows[WRAPPER].name = put_text(&parts[NAMES], "main.(*T).Method");
	rows[WRAPPER].id = go_minor < 25 ? 22 : 23;
	rows[WRAPPER].wrapped = 32;
	rows[GOPANIC].name = put_text(&parts[NAMES], "runtime.gopanic");
	rows[GOPANIC].id = 10;
	rows[GOEXIT].name = put_text(&parts[NAMES], "runtime.goexit");
	put_functions(&parts[FUNCS], rows, file);
	put_inlined(&table->gofunc, 0, mid, 40);
	put_inlined(&table->gofunc, 0, inner, 20);
	put_u32(&table->gofunc, 128);
	join(table, parts);
	table->source = (struct functab_source){.pclntab = table->all.data,
						.pclntab_size = table->all.size,
						.gofunc = table->gofunc.data,
						.gofunc_size = table->gofunc.size,
						.text = TEXT,
						.etext = TEXT + COUNT * 64,
						.go_minor = go_minor};
	return table;
}

static struct functab *open_table(const struct table *table)
{
	struct error err;
	struct functab *tab = functab_new(&table->source, &err);

	assert_non_null(tab);
	return tab;
}

static void functions_by_index_name_and_address(void **state)
{
	struct table *table = make_table(26);
	struct functab *tab = open_table(table);
	uint64_t entry, end;
	const char *name;
	size_t index;

	(void)state;
	assert_int_equal(functab_count(tab), COUNT);
	assert_int_equal(functab_entry(tab, GOPANIC, &entry, &end, &name), 0);
	assert_string_equal(name, "runtime.gopanic");
	assert_int_equal(entry, TEXT + 128);
	assert_int_equal(end, TEXT + 192);
	assert_int_equal(functab_entry(tab, COUNT, &entry, &end, &name), -ERANGE);
	assert_int_equal(functab_find(tab, "runtime.goexit", &entry, &end), 0);
	assert_int_equal(entry, TEXT + 192);
	assert_int_equal(functab_find(tab, "runtime.goexi", &entry, &end), -ENOENT);
	assert_int_equal(functab_find(tab, "runtime.goexit1", &entry, &end), -ENOENT);
	assert_int_equal(functab_lookup(tab, TEXT + 127, &index), 0);
	assert_int_equal(index, WRAPPER);
	assert_int_equal(functab_lookup(tab, TEXT - 1, &index), -ENOENT);
	assert_int_equal(functab_lookup(tab, TEXT + COUNT * 64, &index), -ENOENT);
	functab_free(tab);
	free(table);
}

static void extent_and_wrapped_function(void **state)
{
	struct table *table = make_table(26);
	struct functab *tab = open_table(table);
	uint64_t from, to;

	(void)state;
	assert_true(functab_gofunc_range(tab, &from, &to));
	assert_int_equal(from, 0);
	assert_int_equal(to, table->gofunc.size);
	assert_int_equal(functab_start_pc(tab, TEXT + 64), TEXT + 128);
	assert_int_equal(functab_start_pc(tab, TEXT), TEXT);
	assert_int_equal(functab_start_pc(tab, 5), 5);
	functab_free(tab);
	free(table);
}

/* "function:line" of each frame, joined. */
static const char *expand(const struct table *table, const uint64_t *pcs, size_t n, unsigned skip,
			  unsigned flags)
{
	static char text[4096];
	struct functab *tab = open_table(table);
	struct strtab *strings = strtab_new();
	struct symbol *sym = symbol_new(tab, strings);
	struct frame frames[MAX_FRAMES];
	int count = symbol_frames(sym, pcs, n, skip, flags, frames);

	text[0] = '\0';
	for (int i = 0; i < count; i++) {
		size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, "%s%s:%u", i ? " " : "",
			 strtab_get(strings, frames[i].func, NULL), frames[i].line);
	}
	symbol_free(sym);
	strtab_free(strings);
	functab_free(tab);
	return text;
}

static void inlined_calls_become_frames(void **state)
{
	const uint64_t stack[] = {TEXT + 13, TEXT + 193};
	struct table *table = make_table(26);

	(void)state;
	assert_string_equal(expand(table, stack, 2, 0, 0),
			    "main.inner:10 main.mid[...].func1:20 main.outer:30");
	assert_string_equal(expand(table, stack, 2, 2, 0), "main.outer:30");
	assert_string_equal(expand(table, stack, 2, 2, SYMBOL_RUNTIME_FRAMES),
			    "main.inner:10 main.mid[...].func1:20 main.outer:30 runtime.goexit:10");
	/* Without the inline trees, only real functions are known. */
	table->source.gofunc = NULL;
	assert_string_equal(expand(table, stack, 2, 0, 0), "main.outer:10");
	free(table);
}

/* A second table with other names, at other addresses: of a plugin. */
static void names_of_two_modules(void **state)
{
	enum { APART = 0x10000000 };
	const uint64_t stack[] = {TEXT + APART + 13, TEXT + 13, TEXT + 193}, between = TEXT + APART / 2;
	struct table *table = make_table(26), *other = make_table(26);
	struct functab *tab = open_table(table), *added;
	struct strtab *strings = strtab_new();
	struct symbol *sym = symbol_new(tab, strings);
	struct frame frames[MAX_FRAMES];
	char *name = (char *)other->all.data + HEADER + 1;

	(void)state;
	/* "main." of its first names */
	for (size_t i = 0; i + 5 < other->all.size - HEADER; i++) {
		if (memcmp(name + i, "main.", 5) == 0)
			memcpy(name + i, "plug.", 5);
	}
	other->source.text += APART;
	other->source.etext += APART;
	added = open_table(other);
	assert_int_equal(symbol_frames(sym, stack, 3, 0, 0, frames), 3); /* of the second address */
	functab_add(tab, added);
	symbol_forget(sym);
	assert_ptr_equal(functab_with(tab, TEXT + APART), added);
	assert_ptr_equal(functab_with(tab, TEXT), tab);
	assert_ptr_equal(functab_with(tab, between), tab);
	assert_int_equal(functab_start_pc(tab, TEXT + APART + 64), TEXT + APART + 128);
	assert_int_equal(functab_start_pc(tab, TEXT + 64), TEXT + 128);
	assert_int_equal(symbol_frames(sym, stack, 3, 0, 0, frames), 6);
	assert_string_equal(strtab_get(strings, frames[0].func, NULL), "plug.inner");
	assert_string_equal(strtab_get(strings, frames[2].func, NULL), "plug.outer");
	assert_string_equal(strtab_get(strings, frames[3].func, NULL), "main.inner");
	assert_string_equal(strtab_get(strings, frames[5].func, NULL), "main.outer");
	assert_int_equal(symbol_frames(sym, &between, 1, 0, 0, frames), 1);
	assert_int_equal(frames[0].func, 0);
	symbol_free(sym);
	strtab_free(strings);
	functab_free(tab);
	free(table);
	free(other);
}

/* The functions that code belongs to, and which functions contain copies of others. */
static void copies_and_their_places(void **state)
{
	struct inlined_name names[] = {
		{.name = "runtime.gopanic"}, {.name = "main.inner"}, {.name = "main.outer"}};
	struct inlined_copies copies = {.n = 0};
	struct logical_frame frames[4];
	struct table *table = make_table(26);
	struct functab *tab = open_table(table);

	(void)state;
	assert_int_equal(functab_list_copies(tab, names, 3, &copies), 0);
	assert_int_equal(copies.n, 1);
	assert_int_equal(copies.items[0].name, 1);
	assert_int_equal(copies.items[0].function, OUTER);
	assert_string_equal(names[1].in, "main.outer");
	assert_null(names[0].in);

	assert_int_equal(functab_logical_frames(tab, TEXT + 12, frames, 4), 3);
	assert_string_equal(frames[0].name, "main.inner");
	assert_int_equal(frames[0].line, 10);
	assert_int_equal(frames[0].pc, TEXT + 12);
	assert_int_equal(frames[1].pc, TEXT + 20);
	assert_int_equal(frames[1].line, 20);
	assert_string_equal(frames[2].name, "main.outer");
	assert_int_equal(frames[2].pc, TEXT + 40);
	assert_int_equal(frames[2].line, 30);
	assert_int_equal(functab_logical_frames(tab, TEXT + 50, frames, 4), 1);
	assert_string_equal(frames[0].name, "main.outer");
	/* A chain that does not fit is no answer, and neither is an address outside of the table. */
	assert_int_equal(functab_logical_frames(tab, TEXT + 12, frames, 2), 0);
	assert_int_equal(functab_logical_frames(tab, TEXT - 1, frames, 4), 0);
	free(copies.items);
	functab_free(tab);
	free(table);
}

static void wrappers_are_elided_unless_they_panic(void **state)
{
	const uint64_t called[] = {TEXT + 50, TEXT + 70, TEXT + 50};
	const uint64_t panicked[] = {TEXT + 130, TEXT + 70, TEXT + 50};

	(void)state;
	for (uint32_t minor = 22; minor <= 26; minor++) {
		struct table *table = make_table(minor);

		assert_string_equal(expand(table, called, 3, 0, 0), "main.outer:30 main.outer:30");
		assert_string_equal(expand(table, panicked, 3, 0, 0),
				    "runtime.gopanic:10 main.(*T).Method:10 main.outer:30");
		assert_string_equal(expand(table, called + 1, 1, 0, 0), "");
		assert_string_equal(expand(table, called + 1, 1, 0, SYMBOL_ENTRY), "main.(*T).Method:10");
		free(table);
	}
}

static void foreign_addresses(void **state)
{
	const uint64_t mixed[] = {0x7fff00001000, TEXT + 50, 0}, foreign[] = {0x7fff00001000, 0, 9};
	struct table *table = make_table(26);

	(void)state;
	assert_string_equal(expand(table, mixed, 3, 0, 0), "main.outer:30");
	assert_string_equal(expand(table, mixed, 3, 1, 0), "main.outer:30");
	assert_string_equal(expand(table, foreign, 3, 1, 0), ":0 :0");
	free(table);
}

static void no_table_gives_addresses(void **state)
{
	const uint64_t pcs[] = {0x1001, 0x2002, 0};
	struct strtab *strings = strtab_new();
	struct symbol *sym = symbol_new(NULL, strings);
	struct frame frames[MAX_FRAMES];

	(void)state;
	assert_int_equal(symbol_frames(sym, pcs, 3, 1, 0, frames), 2);
	assert_int_equal(frames[0].pc, 0x2001);
	assert_int_equal(frames[0].func, 0);
	assert_int_equal(frames[1].pc, 0);
	assert_int_equal(symbol_frames(sym, pcs, 0, 0, 0, frames), 0);
	symbol_free(sym);
	strtab_free(strings);
}

static void deep_stacks_are_cut(void **state)
{
	struct table *table = make_table(26);
	struct functab *tab = open_table(table);
	struct strtab *strings = strtab_new();
	struct symbol *sym = symbol_new(tab, strings);
	struct frame frames[MAX_FRAMES];
	uint64_t pcs[200];

	(void)state;
	for (size_t i = 0; i < 200; i++)
		pcs[i] = TEXT + 13;
	assert_int_equal(symbol_frames(sym, pcs, 200, 0, 0, frames), MAX_FRAMES);
	symbol_free(sym);
	strtab_free(strings);
	functab_free(tab);
	free(table);
}

/* More addresses than the cache holds: the results stay correct. */
static void cache_is_renewed(void **state)
{
	struct table *table = make_table(26);
	struct functab *tab = open_table(table);
	struct strtab *strings = strtab_new();
	struct symbol *sym = symbol_new(tab, strings);
	struct frame frames[MAX_FRAMES];
	uint64_t pcs[2] = {TEXT + 13, 0};

	(void)state;
	for (uint64_t i = 0; i < 1200000; i++) {
		pcs[1] = 0x7f0000000000 + i;
		assert_int_equal(symbol_frames(sym, pcs, 2, 0, 0, frames), 3);
	}
	assert_string_equal(strtab_get(strings, frames[0].func, NULL), "main.inner");
	symbol_free(sym);
	strtab_free(strings);
	functab_free(tab);
	free(table);
}

static void long_names_keep_their_end(void **state)
{
	struct table *table = make_table(26);
	struct bytes *all = &table->all;
	uint32_t names = HEADER, offset;
	uint64_t funcs;
	const uint64_t pc = TEXT + 50;
	const char *text;

	(void)state;
	offset = (uint32_t)all->size - names;
	for (int i = 0; i < 1500; i++)
		put(all, i < 1400 ? "a" : "b", 1);
	put_text(all, ".end");
	memcpy(&funcs, all->data + 0x40, sizeof(funcs));
	memcpy(all->data + funcs + COUNT * 8 + 4 + 4, &offset, sizeof(offset));
	table->source.pclntab_size = all->size;
	text = expand(table, &pc, 1, 0, 0);
	assert_int_equal(strlen(text), 1024 + strlen(":30"));
	assert_string_equal(text + 1024 - 5, "b.end:30");
	assert_int_equal(text[0], 'a');
	free(table);
}

static void expect_refusal(const struct table *table, const char *why)
{
	struct error err;

	assert_null(functab_new(&table->source, &err));
	assert_non_null(strstr(err.text, why));
}

static void damaged_headers_are_refused(void **state)
{
	struct table *table = make_table(26);
	uint8_t *data = table->all.data;

	(void)state;
	data[0] = 0xf0;
	expect_refusal(table, "0xfffffff0 is that of Go 1.18 and later");
	data[0] = 0xf9;
	expect_refusal(table, "unknown format 0xfffffff9");
	data[0] = 0xf1;
	data[7] = 4;
	expect_refusal(table, "64-bit");
	data[7] = 8;
	data[8 + 7] = 1; /* nfunc */
	expect_refusal(table, "functions");
	data[8 + 7] = 0;
	data[0x40 + 7] = 0x80;
	expect_refusal(table, "offset");
	data[0x40 + 7] = 0;
	table->source.go_minor = 19;
	expect_refusal(table, "1.19");
	table->source.go_minor = 26;
	table->source.pclntab_size = HEADER - 1;
	expect_refusal(table, "header");
	table->source.pclntab_size = 3;
	expect_refusal(table, "bytes");
	table->source.pclntab = NULL;
	expect_refusal(table, "bytes");
	free(table);
}

static void rows_must_ascend(void **state)
{
	struct table *table = make_table(26);
	uint64_t funcs;
	uint32_t far = 5000;

	(void)state;
	memcpy(&funcs, table->all.data + 0x40, sizeof(funcs));
	memcpy(table->all.data + funcs + 8, &far, sizeof(far));
	expect_refusal(table, "order");
	free(table);
}

/* Every truncation and every changed byte gives a result or an error, within bounds (the sanitizers
 * check). */
static void any_damage_is_survived(void **state)
{
	const uint64_t stack[] = {TEXT + 13, TEXT + 70, TEXT + 130, TEXT + 193};
	struct table *whole = make_table(26), *table = malloc(sizeof(*table));

	(void)state;
	for (size_t i = 0; i < 2 * whole->all.size; i++) {
		struct functab *tab;
		uint64_t from, to;
		uint8_t *exact;

		*table = *whole;
		if (i < whole->all.size)
			table->source.pclntab_size = i;
		else
			table->all.data[i - whole->all.size] ^= 0xff;
		exact = malloc(table->source.pclntab_size + 1);
		memcpy(exact, table->all.data, table->source.pclntab_size);
		table->source.pclntab = exact;
		table->source.gofunc = table->gofunc.data;
		tab = functab_new(&table->source, NULL);
		if (tab) {
			functab_gofunc_range(tab, &from, &to);
			functab_free(tab);
			assert_true(strlen(expand(table, stack, 4, 0, 0)) < 4096);
		}
		free(exact);
	}
	free(table);
	free(whole);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(functions_by_index_name_and_address),
	cmocka_unit_test(extent_and_wrapped_function),
	cmocka_unit_test(inlined_calls_become_frames),
	cmocka_unit_test(names_of_two_modules),
	cmocka_unit_test(copies_and_their_places),
	cmocka_unit_test(wrappers_are_elided_unless_they_panic),
	cmocka_unit_test(foreign_addresses),
	cmocka_unit_test(no_table_gives_addresses),
	cmocka_unit_test(deep_stacks_are_cut),
	cmocka_unit_test(cache_is_renewed),
	cmocka_unit_test(long_names_keep_their_end),
	cmocka_unit_test(damaged_headers_are_refused),
	cmocka_unit_test(rows_must_ascend),
	cmocka_unit_test(any_damage_is_survived),
};

UNIT_TESTS(tests, NULL, NULL);
