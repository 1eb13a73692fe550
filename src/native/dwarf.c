/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "native/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entries of debug information that are looked at: a reference to what comes before would never end. */
#define MAX_UNIT_ENTRIES   (8u << 20)  /* when a unit is first needed */
#define MAX_FILE_ENTRIES   (64u << 20) /* of all its units */
#define MAX_LOOKUP_ENTRIES (1u << 18)  /* of one function, for one address */
#define MAX_NESTING        64
#define MAX_RANGES         (1u << 20) /* of one entry */
/* A byte of a line program may take forty in memory. */
#define MAX_LINE_PROGRAM (32u << 20)
#define MAX_LINES_TOTAL  (96u << 20)
#define MAX_BACK         256 /* ranges that begin later and end before */

struct range {
	uint64_t low, high;
	Dwarf_Off die;
	uint32_t unit; /* index */
};

struct ranges {
	struct range *list;
	size_t n, capacity;
};

enum lines_state { LINES_UNKNOWN, LINES_GOOD, LINES_NONE };

struct unit {
	Dwarf_Off die;
	struct ranges functions;
	bool indexed;
	uint8_t lines; /* enum lines_state */
};

struct native_dwarf {
	Dwarf *dwarf, *alt;
	Elf_Data *line_section;
	struct ranges code; /* of all units */
	struct unit *units;
	size_t nunits, unit_capacity;
	uint64_t line_bytes;   /* of line programs that were read */
	uint32_t entries_left; /* that may still be looked at for units */
};

/* --- ranges --- */

static bool range_add(struct ranges *ranges, const struct range *range)
{
	if (ranges->n == ranges->capacity) {
		size_t capacity = ranges->capacity ? ranges->capacity * 2 : 64;
		struct range *bigger = realloc(ranges->list, capacity * sizeof(*bigger));

		if (!bigger)
			return false;
		ranges->list = bigger;
		ranges->capacity = capacity;
	}
	ranges->list[ranges->n++] = *range;
	return true;
}

/* The outer before the inner, so that the last one that holds an address is the innermost. */
static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->high == y->high ? 0 : x->high > y->high ? -1 : 1;
}

static void ranges_sort(struct ranges *ranges)
{
	if (ranges->n)
		qsort(ranges->list, ranges->n, sizeof(*ranges->list), compare);
}

static const struct range *ranges_find(const struct ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->list[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < MAX_BACK; i--) {
		if (address < ranges->list[i - 1].high)
			return &ranges->list[i - 1];
	}
	return NULL;
}

static bool add_ranges_of(struct ranges *ranges, Dwarf_Die *die, uint32_t unit)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	for (unsigned i = 0; i < MAX_RANGES; i++) {
		struct range range;

		offset = dwarf_ranges(die, offset, &base, &low, &high);
		if (offset <= 0)
			break;
		/* What the linker has thrown away stands at 0. */
		range = (struct range){low, high, dwarf_dieoffset(die), unit};
		if (low && low < high && !range_add(ranges, &range))
			return false;
	}
	return true;
}

/* --- units --- */

static bool add_unit(struct native_dwarf *dwarf, Dwarf_Die *die)
{
	if (dwarf->nunits == dwarf->unit_capacity) {
		size_t capacity = dwarf->unit_capacity ? dwarf->unit_capacity * 2 : 64;
		struct unit *bigger = realloc(dwarf->units, capacity * sizeof(*bigger));

		if (!bigger)
			return false;
		dwarf->units = bigger;
		dwarf->unit_capacity = capacity;
	}
	dwarf->units[dwarf->nunits] = (struct unit){.die = dwarf_dieoffset(die)};
	return add_ranges_of(&dwarf->code, die, (uint32_t)dwarf->nunits++);
}

/* Not by dwarf_addrdie: clang writes no .debug_aranges. */
static bool find_units(struct native_dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	/* No split units are asked for: libdw would open files that the debug information names. */
	while (dwarf_get_units(dwarf->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
		if ((type == DW_UT_compile || type == DW_UT_skeleton) && !add_unit(dwarf, &die))
			return false;
	}
	ranges_sort(&dwarf->code);
	return true;
}

static bool has_alt_link(Dwarf *dwarf)
{
	const char *name;
	const void *id;

	return dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) > 0;
}

/* Without its other part such a file is no use, and libdw would look for that part by itself. */
static bool join_alt(struct native_dwarf *dwarf, const struct native_elf *alt)
{
	if (!has_alt_link(dwarf->dwarf))
		return true;
	dwarf->alt = alt ? dwarf_begin_elf(alt->elf, DWARF_C_READ, NULL) : NULL;
	if (!dwarf->alt || has_alt_link(dwarf->alt))
		return false;
	dwarf_setalt(dwarf->dwarf, dwarf->alt);
	return true;
}

struct native_dwarf *native_dwarf_new(const struct native_elf *file, const struct native_elf *alt)
{
	struct native_dwarf *dwarf = calloc(1, sizeof(*dwarf));
	GElf_Shdr header;
	Elf_Scn *section;

	if (!dwarf)
		return NULL;
	dwarf->entries_left = MAX_FILE_ENTRIES;
	dwarf->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!dwarf->dwarf || !join_alt(dwarf, alt) || !find_units(dwarf) || dwarf->code.n == 0) {
		native_dwarf_free(dwarf);
		return NULL;
	}
	section = native_elf_section(file, ".debug_line", &header);
	if (!section)
		section = native_elf_section(file, ".zdebug_line", &header);
	/* libdw has decompressed it in place. */
	dwarf->line_section = section ? elf_rawdata(section, NULL) : NULL;
	return dwarf;
}

void native_dwarf_free(struct native_dwarf *dwarf)
{
	if (!dwarf)
		return;
	for (size_t i = 0; i < dwarf->nunits; i++)
		free(dwarf->units[i].functions.list);
	free(dwarf->units);
	free(dwarf->code.list);
	dwarf_end(dwarf->dwarf);
	dwarf_end(dwarf->alt);
	free(dwarf);
}

/* --- functions of a unit --- */

struct walk {
	struct unit *unit;
	uint32_t left; /* entries that may still be looked at */
};

static void index_children(struct walk *walk, Dwarf_Die *parent, unsigned depth);

/* Functions stand in namespaces, and a lambda's in the class that is in the function around it, which may
 * have no code of its own. */
static void index_entry(struct walk *walk, Dwarf_Die *die, unsigned depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		add_ranges_of(&walk->unit->functions, die, 0);
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_lexical_block:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		break;
	default:
		return;
	}
	index_children(walk, die, depth + 1);
}

static void index_children(struct walk *walk, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth > MAX_NESTING || !dwarf_haschildren(parent) || dwarf_child(parent, &die))
		return;
	do {
		if (walk->left == 0)
			return;
		walk->left--;
		index_entry(walk, &die, depth);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static const struct range *find_function(struct native_dwarf *dwarf, struct unit *unit, Dwarf_Die *cu,
					 uint64_t address)
{
	if (!unit->indexed) {
		uint32_t most =
			dwarf->entries_left < MAX_UNIT_ENTRIES ? dwarf->entries_left : MAX_UNIT_ENTRIES;
		struct walk walk = {.unit = unit, .left = most};

		unit->indexed = true;
		index_children(&walk, cu, 0);
		dwarf->entries_left -= most - walk.left;
		ranges_sort(&unit->functions);
	}
	return ranges_find(&unit->functions, address);
}

/* --- inlined calls --- */

struct chain {
	Dwarf_Die dies[SYMBOL_DEPTH]; /* the function, then what is inlined, each into the one before */
	unsigned n;
	uint32_t left; /* entries that may still be looked at */
};

static bool descend(struct chain *chain, Dwarf_Die *parent, uint64_t address, unsigned depth);

/* Whether the address is in it; then what is inlined there is in the chain. */
static bool enter(struct chain *chain, Dwarf_Die *die, uint64_t address, unsigned depth)
{
	int tag = dwarf_tag(die);

	if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block &&
	    tag != DW_TAG_catch_block)
		return false;
	if (dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges)) {
		if (dwarf_haspc(die, address) != 1)
			return false;
		if (tag == DW_TAG_inlined_subroutine && chain->n < SYMBOL_DEPTH)
			chain->dies[chain->n++] = *die;
		descend(chain, die, address, depth + 1);
		return true;
	}
	/* A block without code of its own may have some in it. */
	return tag != DW_TAG_inlined_subroutine && descend(chain, die, address, depth + 1);
}

static bool descend(struct chain *chain, Dwarf_Die *parent, uint64_t address, unsigned depth)
{
	Dwarf_Die die;

	if (depth > MAX_NESTING || !dwarf_haschildren(parent) || dwarf_child(parent, &die))
		return false;
	do {
		if (chain->left == 0)
			return false;
		chain->left--;
		if (enter(chain, &die, address, depth))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

/* --- names and lines --- */

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

/* C++'s tells the class, too. A C function may have one that its author did not mean for us:
 * __GI___nanosleep. */
static const char *mangled_name(Dwarf_Die *die)
{
	const char *name = text_of(die, DW_AT_linkage_name);

	if (!name)
		name = text_of(die, DW_AT_MIPS_linkage_name);
	return name && name[0] == '_' && name[1] == 'Z' ? name : NULL;
}

static const char *function_name(Dwarf_Die *die)
{
	const char *name = mangled_name(die);

	if (!name)
		name = text_of(die, DW_AT_name);
	return name && name[0] ? name : "?";
}

/* The function itself may be known by better names: its mangled one, or in libc nanosleep for
 * __nanosleep.
 */
static const char *outermost_name(Dwarf_Die *die, const struct native_symbol *symbol)
{
	const char *name = function_name(die);
	Dwarf_Addr low;

	if (!symbol || mangled_name(die))
		return name;
	if (name[0] == '?' || (symbol->name[0] == '_' && symbol->name[1] == 'Z'))
		return symbol->name;
	return name[0] == '_' && symbol->name[0] != '_' && dwarf_lowpc(die, &low) == 0 &&
			       low == symbol->address
		       ? symbol->name
		       : name;
}

/* Whether the unit's line program is of a size that may be read into memory. */
static bool is_line_program_sane(struct native_dwarf *dwarf, Dwarf_Die *cu)
{
	const Elf_Data *data = dwarf->line_section;
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	uint32_t length;

	if (!data || !data->d_buf || !dwarf_attr(cu, DW_AT_stmt_list, &attr) ||
	    dwarf_formudata(&attr, &offset) || data->d_size < sizeof(length) ||
	    offset > data->d_size - sizeof(length))
		return false;
	/* The 64-bit form of DWARF, 0xffffffff, is refused with what is too long. */
	memcpy(&length, (const uint8_t *)data->d_buf + offset, sizeof(length));
	if (length > MAX_LINE_PROGRAM || dwarf->line_bytes + length > MAX_LINES_TOTAL)
		return false;
	dwarf->line_bytes += length;
	return true;
}

static bool has_lines(struct native_dwarf *dwarf, struct unit *unit, Dwarf_Die *cu)
{
	if (unit->lines == LINES_UNKNOWN)
		unit->lines = is_line_program_sane(dwarf, cu) ? LINES_GOOD : LINES_NONE;
	return unit->lines == LINES_GOOD;
}

struct place {
	const char *file;
	uint32_t line;
};

static struct place place_of_address(Dwarf_Die *cu, uint64_t address)
{
	Dwarf_Line *line = dwarf_getsrc_die(cu, address);
	struct place place = {.file = line ? dwarf_linesrc(line, NULL, NULL) : NULL};
	int number;

	if (place.file && dwarf_lineno(line, &number) == 0 && number > 0)
		place.line = (uint32_t)number;
	return place;
}

/* Where an inlined call stands in its caller. */
static struct place place_of_call(Dwarf_Die *cu, Dwarf_Die *die, bool lines)
{
	struct place place = {.line = 0};
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word value;
	size_t n;

	if (dwarf_attr(die, DW_AT_call_line, &attr) && dwarf_formudata(&attr, &value) == 0 &&
	    value <= INT32_MAX)
		place.line = (uint32_t)value;
	if (lines && dwarf_attr(die, DW_AT_call_file, &attr) && dwarf_formudata(&attr, &value) == 0 &&
	    dwarf_getsrcfiles(cu, &files, &n) == 0 && value < n)
		place.file = dwarf_filesrc(files, value, NULL, NULL);
	return place;
}

/* A path may be relative to where the compiler ran. */
static void add_frame(struct symbol_draft *draft, const char *function, Dwarf_Die *cu, struct place place)
{
	char path[2 * NATIVE_FILE_MAX];
	const char *dir = place.file && place.file[0] != '/' ? text_of(cu, DW_AT_comp_dir) : NULL;

	if (dir && dir[0] == '/' &&
	    snprintf(path, sizeof(path), "%s/%s", dir, place.file) < (int)sizeof(path))
		place.file = path;
	draft_add(draft, function, place.file, place.line);
}

static void add_chain(struct chain *chain, Dwarf_Die *cu, struct place place, bool lines,
		      const struct native_symbol *symbol, struct symbol_draft *draft)
{
	for (unsigned i = chain->n; i > 0; i--) {
		Dwarf_Die *die = &chain->dies[i - 1];

		add_frame(draft, i == 1 ? outermost_name(die, symbol) : function_name(die), cu, place);
		place = place_of_call(cu, die, lines);
	}
}

bool native_dwarf_frames(struct native_dwarf *dwarf, uint64_t address, const struct native_symbol *symbol,
			 struct symbol_draft *draft)
{
	const struct range *code = ranges_find(&dwarf->code, address), *function;
	struct chain chain = {.left = MAX_LOOKUP_ENTRIES};
	struct place place = {.line = 0};
	struct unit *unit;
	Dwarf_Die cu;
	bool lines;

	if (!code)
		return false;
	unit = &dwarf->units[code->unit];
	if (!dwarf_offdie(dwarf->dwarf, unit->die, &cu))
		return false;
	lines = has_lines(dwarf, unit, &cu);
	if (lines)
		place = place_of_address(&cu, address);
	function = find_function(dwarf, unit, &cu, address);
	if (function && dwarf_offdie(dwarf->dwarf, function->die, &chain.dies[0])) {
		chain.n = 1;
		descend(&chain, &chain.dies[0], address, 0);
		add_chain(&chain, &cu, place, lines, symbol, draft);
		return true;
	}
	/* Code of an assembler has lines and no functions. */
	if (symbol)
		add_frame(draft, symbol->name, &cu, place);
	return symbol != NULL;
}
