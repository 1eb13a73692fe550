/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arbitrary bytes as a function table and inline trees: parsing, search and expansion must stay in bounds and
 * end.
 * Input: struct head, gofunc, the bytes of a stack, pclntab.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "code/symbol/inlined.h"
#include "code/symbol/symbol.h"

#define TEXT   0x400000ull
#define GOFUNC (1ull << 30)
#define STACK  0xc000000000ull

/* Little-endian. */
struct head {
	/* 0x80: flags of symbol; 0x40: the magic number is from the input; the rest: addresses */
	uint8_t choices;
	uint8_t go_minor; /* modulo 27; 0 = unknown */
	uint8_t gofunc_size[2], stack_size[2];
};

#define OWN_MAGIC 0x40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the magic number of a release's tables. Without it, most inputs would be rejected at once. */
static uint8_t magic_of(uint32_t go_minor)
{
	return go_minor >= 20 ? 0xf1 : go_minor >= 18 ? 0xf0 : go_minor >= 16 ? 0xfa : 0xfb;
}

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

/* Chooses addresses in and around functions. Before 1.18, the function entries are in the table. */
static void choose_addresses(const struct functab *tab, unsigned choices, uint64_t pcs[32])
{
	size_t count = functab_count(tab);
	uint64_t entry, end;
	const char *name;

	for (size_t i = 0; i < 32; i++) {
		pcs[i] = TEXT + i * (1u + (choices & 31));
		if (count && i % 4 && functab_entry(tab, (i / 4) % count, &entry, &end, &name) == 0)
			pcs[i] = entry + i % 4 * (choices & 31);
	}
}

/* Frames must be within the limits, and the same when they come from the cache. */
static void walk_stacks(const struct functab *tab, unsigned choices)
{
	struct strtab *strings = strtab_new();
	struct symbol *sym = symbol_new(tab, strings);
	struct frame first[MAX_FRAMES], again[MAX_FRAMES];
	unsigned flags = choices & 0x80 ? SYMBOL_RUNTIME_FRAMES : 0;
	uint64_t pcs[32];

	choose_addresses(tab, choices, pcs);
	for (unsigned skip = 0; skip < 3; skip++) {
		int n = symbol_frames(sym, pcs, 32, skip, flags, first);

		if (n < 0 || n > MAX_FRAMES || symbol_frames(sym, pcs, 32, skip, flags, again) != n)
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

/* All frames have names, and fit; every copy is that of a name, in a function. */
static void list_inlined(const struct functab *tab, unsigned choices)
{
	struct inlined_name names[] = {{.name = "runtime.gopark"}, {.name = "runtime.casgstatus"}};
	struct inlined_copies copies = {.n = 0};
	struct logical_frame frames[8];
	uint64_t pcs[32];

	choose_addresses(tab, choices, pcs);
	for (size_t i = 0; i < 32; i++) {
		unsigned n = functab_logical_frames(tab, pcs[i], frames, 8);

		if (n > 8)
			abort();
		for (unsigned k = 0; k < n; k++) {
			if (strlen(frames[k].name) == SIZE_MAX)
				abort();
		}
	}
	functab_list_copies(tab, names, 2, &copies);
	for (size_t i = 0; i < copies.n; i++) {
		if (copies.items[i].name > 1 || copies.items[i].function >= functab_count(tab))
			abort();
	}
	free(copies.items);
}

/* The walk must stay in the copy, and be the same once its steps are cached. */
static void unwind(const struct functab *tab, const uint8_t *bytes, size_t size, unsigned choices)
{
	struct stack_bytes stack = {.bytes = bytes, .lo = STACK, .hi = STACK + size};
	struct unwinder *unwinder = unwinder_new(tab);
	uint64_t starts[32], first[64], again[64];
	bool whole, whole_again;

	choose_addresses(tab, choices, starts);
	for (size_t i = 0; i < 32; i++) {
		uint64_t sp = STACK + i * (choices & 31);
		size_t n = unwinder_walk(unwinder, starts[i], sp, &stack, first, 64, &whole);

		if (n > 64 || unwinder_walk(unwinder, starts[i], sp, &stack, again, 64, &whole_again) != n ||
		    whole != whole_again || memcmp(first, again, n * sizeof(*first)))
			abort();
	}
	unwinder_free(unwinder);
}

/* Copies the bytes to a buffer of exact size, so that the sanitizer detects every read past the end. */
static uint8_t *own_copy(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size + !size);

	if (size)
		memcpy(copy, bytes, size);
	return copy;
}

/* Parts of a hostile table may overlap, so the result may be a different table, but it stays in the copy. */
static void relocate(const struct functab *tab, struct functab_source source)
{
	uint8_t *copy = own_copy(source.pclntab, source.pclntab_size);

	functab_relocate(tab, copy);
	source.pclntab = copy;
	source.bias = 0;
	functab_free(functab_new(&source, NULL));
	free(copy);
}

static void try_table(const struct functab_source *source, const struct head *head, const uint8_t *stack,
		      size_t stack_size)
{
	struct functab *tab = functab_new(source, NULL);
	uint64_t from, to;

	if (!tab)
		return;
	if (functab_gofunc_range(tab, &from, &to) && from >= to)
		abort();
	walk_functions(tab);
	list_inlined(tab, head->choices);
	walk_stacks(tab, head->choices);
	unwind(tab, stack, stack_size, head->choices);
	relocate(tab, *source);
	functab_free(tab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct head head;
	size_t gofunc_size, stack_size, rest;
	uint8_t *gofunc, *stack, *pclntab;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	gofunc_size = (size_t)head.gofunc_size[0] | (size_t)head.gofunc_size[1] << 8;
	stack_size = (size_t)head.stack_size[0] | (size_t)head.stack_size[1] << 8;
	rest = size - sizeof(head);
	if (gofunc_size + stack_size > rest)
		return 0;
	data += sizeof(head);
	rest -= gofunc_size + stack_size;
	gofunc = own_copy(data, gofunc_size);
	stack = own_copy(data + gofunc_size, stack_size);
	pclntab = own_copy(data + gofunc_size + stack_size, rest);
	if (rest >= 8 && !(head.choices & OWN_MAGIC))
		memcpy(pclntab, (uint8_t[]){magic_of(head.go_minor % 27), 0xff, 0xff, 0xff, 0, 0, 1, 8}, 8);
	try_table(&(struct functab_source){.pclntab = pclntab,
					   .pclntab_size = rest,
					   .gofunc = gofunc,
					   .gofunc_size = gofunc_size,
					   .gofunc_address = GOFUNC,
					   .text = TEXT,
					   .etext = TEXT + 0x10000,
					   .bias = head.choices & 1 ? 0x1000 : 0,
					   .go_minor = head.go_minor % 27},
		  &head, stack, stack_size);
	free(gofunc);
	free(stack);
	free(pclntab);
	return 0;
}
