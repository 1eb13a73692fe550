/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/value_debug.h"

#include "util/safe_elf.h"

/* Limits: bytes of the sections and of what libdw makes of them, and CPU time. */
#define MOST_BYTES (1ull << 30)
#define MOST_NS    8000000000ull

static bool has_entries(const struct native_elf *file)
{
	GElf_Shdr header;

	return file && file->elf &&
	       (native_elf_section(file, ".debug_info", &header) ||
		native_elf_section(file, ".zdebug_info", &header));
}

static bool open_alt(struct value_debug *debug, const struct native_elf *file,
		     const struct native_search *search)
{
	GElf_Shdr header;

	return !native_elf_section(file, ".gnu_debugaltlink", &header) ||
	       (search && native_debug_find_alt(search, file, &debug->alt) == 0);
}

static bool is_affordable(struct value_debug *debug, const struct native_elf *file)
{
	uint64_t size = safe_elf_debug_size(file->elf);
	uint64_t alt = debug->alt.elf ? safe_elf_debug_size(debug->alt.elf) : 0;

	return size <= MOST_BYTES && alt <= MOST_BYTES && native_cost_take(&debug->cost, size + alt);
}

struct native_dwarf *value_debug_open(struct value_debug *debug, const struct native_elf *file,
				      const struct native_elf *separate, const struct native_search *search)
{
	if (debug->opened)
		return debug->dwarf;
	*debug = (struct value_debug){
		.opened = true,
		.alt.fd = -1,
		.budget = {.bytes = MOST_BYTES, .cpu_ns = MOST_NS},
	};
	debug->cost = (struct native_cost){.all = &debug->budget, .own = {.cpu_ns = MOST_NS}};
	if (!has_entries(file))
		file = separate;
	if (!has_entries(file) || !open_alt(debug, file, search) || !is_affordable(debug, file))
		return NULL;
	budget_start(&debug->cost.own);
	debug->dwarf = native_dwarf_new(file, debug->alt.elf ? &debug->alt : NULL, &debug->cost);
	return debug->dwarf;
}

void value_debug_close(struct value_debug *debug)
{
	if (!debug->opened)
		return;
	native_dwarf_free(debug->dwarf);
	native_elf_close(&debug->alt);
	*debug = (struct value_debug){.opened = false};
}
