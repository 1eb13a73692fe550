/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a function table and inline trees: parsing, search and
 * expansion must stay in bounds and end.
 * Input: a byte of choices, two bytes of length of gofunc, gofunc, pclntab.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol.h"

#define TEXT 0x400000ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What every table of 1.20 and later begins with; else most inputs would end at the magic number. */
static const uint8_t magic[] = {0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8};

static void walk_functions(const struct functab *tab)
{
	size_t count = functab_count(tab) < 64 ? functab_count(tab) : 64, index;
	uint64_t entry, end;
	const char *name;

	for (size_t i = 0; i < count; i++) {
		if (functab_entry(tab, i, &entry, &end, &name))
			continue;
		if (strlen(name) == SIZE_MAX || entry > end)
			abort();
		if (entry < end && functab_lookup(tab, entry, &index))
			abort();
		functab_start_pc(tab, entry);
	}
	functab_find(tab, "runtime.main", &entry, &end);
}

/* Frames must be within the limits, and the same when they come from the cache. */
static void walk_stacks(const struct functab *tab, unsigned choices)
{
	struct strtab *strings = strtab_new();
	struct symbol *sym = symbol_new(tab, strings);
	struct frame first[MAX_FRAMES], again[MAX_FRAMES];
	uint64_t pcs[32];

	for (size_t i = 0; i < 32; i++)
		pcs[i] = TEXT + i * (1u + (choices & 31));
	for (unsigned skip = 0; skip < 3; skip++) {
		int n = symbol_frames(sym, pcs, 32, skip, choices >> 7, first);

		if (n < 0 || n > MAX_FRAMES || symbol_frames(sym, pcs, 32, skip, choices >> 7, again) != n)
			abort();
		for (int i = 0; i < n; i++) {
			size_t len;

			if (first[i].pc != again[i].pc || first[i].func != again[i].func ||
			    first[i].line != again[i].line || first[i].func >= strtab_count(strings))
				abort();
			strtab_get(strings, first[i].func, &len);
			if (len > 1024)
				abort();
		}
	}
	symbol_free(sym);
	strtab_free(strings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct functab_source source = {.text = TEXT, .etext = TEXT + 0x10000};
	struct functab *tab;
	uint64_t from, to;
	uint8_t *copy;

	if (size < 3)
		return 0;
	source.go_minor = 22 + data[0] % 5;
	source.gofunc_size = (size_t)data[1] | (size_t)data[2] << 8;
	if (source.gofunc_size > size - 3)
		return 0;
	source.pclntab_size = size - 3 - source.gofunc_size;
	copy = malloc(source.pclntab_size + 1);
	memcpy(copy, data + 3 + source.gofunc_size, source.pclntab_size);
	if (source.pclntab_size >= sizeof(magic) && !(data[0] & 0x40))
		memcpy(copy, magic, sizeof(magic));
	source.gofunc = data + 3;
	source.pclntab = copy;
	tab = functab_new(&source, NULL);
	if (tab) {
		functab_gofunc_range(tab, &from, &to);
		walk_functions(tab);
		walk_stacks(tab, data[0]);
	}
	functab_free(tab);
	free(copy);
	return 0;
}
