/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/elf/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/elf/abbreviations.h"
#include "code/elf/pc_ranges.h"
#include "util/array.h"
#include "util/safe_elf.h"

/* Limits on the entries read. A reference to an earlier entry could otherwise cause an endless loop. */
#define MAX_UNIT_ENTRIES   (8u << 20)  /* when a unit is first needed */
#define MAX_FILE_ENTRIES   (64u << 20) /* in all of its units */
#define MAX_LOOKUP_ENTRIES (1u << 18)  /* in one function, for one address */
#define MAX_NESTING        64
#define MAX_LINE_PROGRAM   (4u << 20) /* per unit */
#define MAX_UNIT           (64u << 20)
#define MAX_ABBREVIATIONS  (64u << 20) /* per file */
/* Memory that libdw takes for a row of a line table (each byte of the program may produce one), for a unit,
 * and for an abbreviation of a unit. */
#define LINE_BYTES         40u
#define UNIT_BYTES         512u
#define ABBREVIATION_BYTES 96u

enum lines_state { LINES_UNKNOWN, LINES_GOOD, LINES_NONE };

struct dwarf_unit {
	Dwarf_Off die, end;
	uint32_t abbreviations; /* number in its table */
	struct pc_ranges functions;
	bool indexed;
	uint8_t lines; /* enum lines_state */
};

struct native_dwarf {
	Dwarf *dwarf, *alt;
	struct native_cost *cost;
	Elf_Data *line_section;
	struct pc_ranges code; /* of all units */
	struct dwarf_unit *units;
	size_t nunits, unit_capacity;
	uint32_t entries_left; /* entries that may still be read for units */
	bool broken;           /* libdw was interrupted by a longjmp */
};

/* --- memory --- */

/*
 * libdw calls this handler if malloc fails, and it must not return. libdw's memory is then leaked, and the
 * file's debug information is no longer used.
 */
static _Thread_local jmp_buf out_of_memory;

static __attribute__((noreturn)) void on_no_memory(void)
{
	longjmp(out_of_memory, 1);
}

/* --- units --- */

/* The unit header, read before libdw parses the unit. */
struct unit_header {
	Dwarf_Off start, die, end, table;
};

static bool add_unit(struct native_dwarf *dwarf, const struct unit_header *header, uint32_t abbreviations,
		     Dwarf_Die *die)
{
	if (array_grow(&dwarf->units, &dwarf->unit_capacity, dwarf->nunits + 1, sizeof(*dwarf->units)))
		return false;
	dwarf->units[dwarf->nunits] =
		(struct dwarf_unit){.die = header->die, .end = header->end, .abbreviations = abbreviations};
	return pc_ranges_add(&dwarf->code, die, (uint32_t)dwarf->nunits++, dwarf->cost);
}

static bool unit_header_next(Dwarf *dwarf, struct unit_header *header)
{
	Dwarf_Off start = header->end;
	size_t size;

	if (dwarf_next_unit(dwarf, start, &header->end, &size, NULL, &header->table, NULL, NULL, NULL, NULL))
		return false;
	header->start = start;
	header->die = start + size;
	return header->end > start && header->end - start <= MAX_UNIT;
}

/* If a section of debug information has several possible names, libdw takes the first one in the file. */
static Elf_Data *debug_section(const struct native_elf *file, const char *name, const char *older)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names))
		return NULL;
	while ((section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;
		const char *found =
			gelf_getshdr(section, &header) ? safe_elf_name(file->elf, names, &header) : NULL;

		/* Sections for link-time optimization occur in object files, which are not executed. */
		if (found && strncmp(found, ".gnu.debuglto_", 14) == 0)
			return NULL;
		if (found && header.sh_type != SHT_NOBITS && (!strcmp(found, name) || !strcmp(found, older)))
			return elf_rawdata(section, NULL); /* libdw decompresses it in place */
	}
	return NULL;
}

/* The sections needed to parse units. */
struct unit_source {
	const Elf_Data *info, *tables;
};

/* The memory that libdw uses for a unit once its first entry has been read. */
static uint64_t unit_bytes(const struct unit_source *source, const struct unit_header *header,
			   uint32_t abbreviations)
{
	bool first = abbreviations_first(source->tables->d_buf, source->tables->d_size, header->table,
					 source->info->d_buf, source->info->d_size, header->die);

	return UNIT_BYTES + (uint64_t)(first ? 1 : abbreviations) * ABBREVIATION_BYTES;
}

/*
 * Lists all units and checks all abbreviation tables. dwarf_addrdie is not an option, because clang writes no
 * .debug_aranges. Split units are not requested: libdw would open files named by the debug information.
 */
static bool find_units(struct native_dwarf *dwarf, const struct unit_source *source)
{
	struct unit_header header = {.end = 0};
	Dwarf_Off table = UINT64_MAX;
	uint32_t n = 0;

	while (unit_header_next(dwarf->dwarf, &header)) {
		Dwarf_Die die;

		if (header.table != table &&
		    !abbreviations_count(source->tables->d_buf, source->tables->d_size, header.table,
					 &dwarf->cost->own, &n))
			return false;
		table = header.table;
		if (!native_cost_take(dwarf->cost, unit_bytes(source, &header, n)) ||
		    !budget_step(&dwarf->cost->own) || !dwarf_offdie(dwarf->dwarf, header.die, &die))
			break;
		if ((dwarf_tag(&die) == DW_TAG_compile_unit || dwarf_tag(&die) == DW_TAG_skeleton_unit) &&
		    !add_unit(dwarf, &header, n, &die))
			break;
	}
	pc_ranges_sort(&dwarf->code);
	return true;
}

/* Checks the abbreviation tables of the dwz file, whose units are the targets of references. */
static bool check_tables(Dwarf *dwarf, const Elf_Data *tables, struct native_cost *cost)
{
	struct unit_header header = {.end = 0};
	Dwarf_Off table = UINT64_MAX;
	uint32_t n;

	while (unit_header_next(dwarf, &header)) {
		if (header.table != table &&
		    (!abbreviations_count(tables->d_buf, tables->d_size, header.table, &cost->own, &n) ||
		     !native_cost_take(cost, UNIT_BYTES + n * ABBREVIATION_BYTES)))
			return false;
		table = header.table;
	}
	return true;
}

static const Elf_Data *tables_of(const struct native_elf *file)
{
	const Elf_Data *tables = debug_section(file, ".debug_abbrev", ".zdebug_abbrev");

	return tables && tables->d_buf && tables->d_size <= MAX_ABBREVIATIONS ? tables : NULL;
}

static bool has_alt_link(Dwarf *dwarf)
{
	const char *name;
	const void *id;

	return dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) > 0;
}

/* Joins the dwz file. Without it the debug file is useless, and libdw would search for it on its own. */
static bool join_alt(struct native_dwarf *dwarf, const struct native_elf *alt)
{
	const Elf_Data *tables;

	if (!has_alt_link(dwarf->dwarf))
		return true;
	dwarf->alt = alt ? dwarf_begin_elf(alt->elf, DWARF_C_READ, NULL) : NULL;
	if (!dwarf->alt || has_alt_link(dwarf->alt))
		return false;
	dwarf_new_oom_handler(dwarf->alt, on_no_memory);
	tables = tables_of(alt);
	if (!tables || !check_tables(dwarf->alt, tables, dwarf->cost))
		return false;
	dwarf_setalt(dwarf->dwarf, dwarf->alt);
	return true;
}

static bool read_units(struct native_dwarf *dwarf, const struct native_elf *file,
		       const struct native_elf *alt)
{
	struct unit_source source;

	if (setjmp(out_of_memory)) {
		dwarf->broken = dwarf->cost->refused = true;
		return false;
	}
	dwarf->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!dwarf->dwarf)
		return false;
	dwarf_new_oom_handler(dwarf->dwarf, on_no_memory);
	source.tables = tables_of(file);
	source.info = debug_section(file, ".debug_info", ".zdebug_info");
	return source.tables && source.info && source.info->d_buf && join_alt(dwarf, alt) &&
	       find_units(dwarf, &source) && dwarf->code.n > 0;
}

struct native_dwarf *native_dwarf_new(const struct native_elf *file, const struct native_elf *alt,
				      struct native_cost *cost)
{
	struct native_dwarf *dwarf = calloc(1, sizeof(*dwarf));

	if (!dwarf)
		return NULL;
	dwarf->cost = cost;
	dwarf->entries_left = MAX_FILE_ENTRIES;
	if (!read_units(dwarf, file, alt)) {
		native_dwarf_free(dwarf);
		return NULL;
	}
	dwarf->line_section = debug_section(file, ".debug_line", ".zdebug_line");
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
	if (!dwarf->broken) {
		dwarf_end(dwarf->dwarf);
		dwarf_end(dwarf->alt);
	}
	free(dwarf);
}

/* --- functions of a unit --- */

struct die_walk {
	struct dwarf_unit *unit;
	struct native_cost *cost;
	uint32_t left; /* entries that may still be read */
	/* Skipping an entry reads all of it, and descending into it reads it again. */
	uint64_t bytes_left;
};

/* Moves to the next sibling. Returns false at the end, or when a limit is reached. */
static bool die_walk_next(struct die_walk *walk, Dwarf_Die *die)
{
	Dwarf_Off from = dwarf_dieoffset(die), to;

	if (!budget_step(&walk->cost->own) || walk->left == 0 || dwarf_siblingof(die, die))
		return false;
	walk->left--;
	to = dwarf_dieoffset(die);
	if (to <= from || to - from > walk->bytes_left)
		return false;
	walk->bytes_left -= to - from;
	return true;
}

static void index_children(struct die_walk *walk, Dwarf_Die *parent, unsigned depth);

/*
 * Functions occur in namespaces. A lambda's function is in a class inside the enclosing function, which may
 * have no code of its own.
 */
static void index_entry(struct die_walk *walk, Dwarf_Die *die, unsigned depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		pc_ranges_add(&walk->unit->functions, die, 0, walk->cost);
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

static void index_children(struct die_walk *walk, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth > MAX_NESTING || !dwarf_haschildren(parent) || dwarf_child(parent, &die))
		return;
	do {
		index_entry(walk, &die, depth);
	} while (die_walk_next(walk, &die));
}

/* Nested functions are skipped once per level; compilers emit few levels. */
#define MAX_PASSES 8u

static void index_unit(struct native_dwarf *dwarf, struct dwarf_unit *unit, Dwarf_Die *cu)
{
	uint32_t most = dwarf->entries_left < MAX_UNIT_ENTRIES ? dwarf->entries_left : MAX_UNIT_ENTRIES;
	struct die_walk walk = {.unit = unit,
				.cost = dwarf->cost,
				.left = most,
				.bytes_left = (unit->end - unit->die) * MAX_PASSES};

	unit->indexed = true;
	if (!native_cost_take(dwarf->cost, (uint64_t)unit->abbreviations * ABBREVIATION_BYTES))
		return;
	index_children(&walk, cu, 0);
	dwarf->entries_left -= most - walk.left;
	pc_ranges_sort(&unit->functions);
}

static const struct pc_range *dwarf_find_function(struct native_dwarf *dwarf, struct dwarf_unit *unit,
						  Dwarf_Die *cu, uint64_t address)
{
	if (!unit->indexed)
		index_unit(dwarf, unit, cu);
	return pc_ranges_find(&unit->functions, address);
}

/* --- inlined calls --- */

struct chain {
	Dwarf_Die dies[SYMBOL_DEPTH]; /* the function, then inlined functions, each inside the previous one */
	unsigned n;
	struct die_walk walk;
};

/* Like dwarf_haspc(), but bounded: range lists may be arbitrarily long. */
static bool die_has_address(struct die_walk *walk, Dwarf_Die *die, uint64_t address)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0 && walk->left > 0 &&
	       budget_step(&walk->cost->own)) {
		if (address >= low && address < high)
			return true;
		walk->left--;
	}
	return false;
}

static bool descend(struct chain *chain, Dwarf_Die *parent, uint64_t address, unsigned depth);

/* Returns whether the entry contains the address. Adds the inlined functions found there to the chain. */
static bool die_chain_enter(struct chain *chain, Dwarf_Die *die, uint64_t address, unsigned depth)
{
	int tag = dwarf_tag(die);

	if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block &&
	    tag != DW_TAG_catch_block)
		return false;
	if (dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges)) {
		if (!die_has_address(&chain->walk, die, address))
			return false;
		if (tag == DW_TAG_inlined_subroutine && chain->n < SYMBOL_DEPTH)
			chain->dies[chain->n++] = *die;
		descend(chain, die, address, depth + 1);
		return true;
	}
	/* A block without addresses may contain blocks with code. */
	return tag != DW_TAG_inlined_subroutine && descend(chain, die, address, depth + 1);
}

static bool descend(struct chain *chain, Dwarf_Die *parent, uint64_t address, unsigned depth)
{
	Dwarf_Die die;

	if (depth > MAX_NESTING || !dwarf_haschildren(parent) || dwarf_child(parent, &die))
		return false;
	do {
		if (die_chain_enter(chain, &die, address, depth))
			return true;
	} while (die_walk_next(&chain->walk, &die));
	return false;
}

/* --- names and lines --- */

static const char *die_text(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

/* A mangled C++ name includes the class. C functions may have a linkage name that is not meant for users:
 * __GI___nanosleep. */
static const char *mangled_name(Dwarf_Die *die)
{
	const char *name = die_text(die, DW_AT_linkage_name);

	if (!name)
		name = die_text(die, DW_AT_MIPS_linkage_name);
	return name && name[0] == '_' && name[1] == 'Z' ? name : NULL;
}

static const char *die_function_name(Dwarf_Die *die)
{
	const char *name = mangled_name(die);

	if (!name)
		name = die_text(die, DW_AT_name);
	return name && name[0] ? name : "?";
}

/* The symbol table may have a better name: the mangled one, or nanosleep for libc's __nanosleep. */
static const char *outermost_name(Dwarf_Die *die, const struct native_symbol *symbol)
{
	const char *name = die_function_name(die);
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

/* Returns the size of the unit's line program, or 0 if there is none or it is too long. */
static uint32_t line_program(const struct native_dwarf *dwarf, Dwarf_Die *cu)
{
	const Elf_Data *data = dwarf->line_section;
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	uint32_t length;

	if (!data || !data->d_buf || !dwarf_attr(cu, DW_AT_stmt_list, &attr) ||
	    dwarf_formudata(&attr, &offset) || data->d_size < sizeof(length) ||
	    offset > data->d_size - sizeof(length))
		return 0;
	/* The marker of 64-bit DWARF, 0xffffffff, is rejected as too long. */
	memcpy(&length, (const uint8_t *)data->d_buf + offset, sizeof(length));
	if (length <= MAX_LINE_PROGRAM)
		return length;
	dwarf->cost->refused = true;
	return 0;
}

/* Reserves memory for the maximum number of rows, and releases what is not used. */
static bool read_lines(const struct native_dwarf *dwarf, Dwarf_Die *cu)
{
	uint64_t most = (uint64_t)line_program(dwarf, cu) * LINE_BYTES;
	Dwarf_Lines *lines;
	size_t n = 0;

	if (!most || !native_cost_take(dwarf->cost, most))
		return false;
	if (dwarf_getsrclines(cu, &lines, &n))
		n = 0;
	native_cost_give(dwarf->cost, most - (n * LINE_BYTES < most ? n * LINE_BYTES : most));
	return n > 0;
}

static bool has_lines(const struct native_dwarf *dwarf, struct dwarf_unit *unit, Dwarf_Die *cu)
{
	if (unit->lines == LINES_UNKNOWN)
		unit->lines = read_lines(dwarf, cu) ? LINES_GOOD : LINES_NONE;
	return unit->lines == LINES_GOOD;
}

struct die_place {
	const char *file;
	uint32_t line;
};

static struct die_place place_of_address(Dwarf_Die *cu, uint64_t address)
{
	Dwarf_Line *line = dwarf_getsrc_die(cu, address);
	struct die_place place = {.file = line ? dwarf_linesrc(line, NULL, NULL) : NULL};
	int number;

	if (place.file && dwarf_lineno(line, &number) == 0 && number > 0)
		place.line = (uint32_t)number;
	return place;
}

/* The place of an inlined call in its caller. */
static struct die_place place_of_call(Dwarf_Die *cu, Dwarf_Die *die, bool lines)
{
	struct die_place place = {.line = 0};
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

/* A path may be relative to the compilation directory. */
static void dwarf_add_frame(struct symbol_draft *draft, const char *function, Dwarf_Die *cu,
			    struct die_place place)
{
	char path[2 * NATIVE_FILE_MAX];
	const char *dir = place.file && place.file[0] != '/' ? die_text(cu, DW_AT_comp_dir) : NULL;

	if (dir && dir[0] == '/' &&
	    snprintf(path, sizeof(path), "%s/%s", dir, place.file) < (int)sizeof(path))
		place.file = path;
	draft_add(draft, function, place.file, place.line);
}

static void add_chain(struct chain *chain, Dwarf_Die *cu, struct die_place place, bool lines,
		      const struct native_symbol *symbol, struct symbol_draft *draft)
{
	for (unsigned i = chain->n; i > 0; i--) {
		Dwarf_Die *die = &chain->dies[i - 1];

		dwarf_add_frame(draft, i == 1 ? outermost_name(die, symbol) : die_function_name(die), cu,
				place);
		place = place_of_call(cu, die, lines);
	}
}

static bool dwarf_find_frames(struct native_dwarf *dwarf, uint64_t address,
			      const struct native_symbol *symbol, struct symbol_draft *draft)
{
	const struct pc_range *code = pc_ranges_find(&dwarf->code, address), *function;
	struct chain chain = {.walk = {.cost = dwarf->cost, .left = MAX_LOOKUP_ENTRIES}};
	struct die_place place = {.line = 0};
	struct dwarf_unit *unit;
	Dwarf_Die cu;
	bool lines;

	if (!code)
		return false;
	unit = &dwarf->units[code->unit];
	if (!dwarf_offdie(dwarf->dwarf, unit->die, &cu))
		return false;
	chain.walk.bytes_left = (unit->end - unit->die) * MAX_PASSES;
	lines = has_lines(dwarf, unit, &cu);
	if (lines)
		place = place_of_address(&cu, address);
	function = dwarf_find_function(dwarf, unit, &cu, address);
	if (function && dwarf_offdie(dwarf->dwarf, function->die, &chain.dies[0])) {
		chain.n = 1;
		descend(&chain, &chain.dies[0], address, 0);
		add_chain(&chain, &cu, place, lines, symbol, draft);
		return true;
	}
	/* Assembly code has lines, but no functions. */
	if (symbol)
		dwarf_add_frame(draft, symbol->name, &cu, place);
	return symbol != NULL;
}

/* If libdw runs out of memory, frames added so far stay in the draft. */
bool native_dwarf_frames(struct native_dwarf *dwarf, uint64_t address, const struct native_symbol *symbol,
			 struct symbol_draft *draft)
{
	if (dwarf->broken)
		return false;
	if (setjmp(out_of_memory)) {
		dwarf->broken = dwarf->cost->refused = true;
		return draft->head.nframes > 0;
	}
	return dwarf_find_frames(dwarf, address, symbol, draft);
}

static int with_function(struct native_dwarf *dwarf, uint64_t address,
			 int (*visit)(void *ctx, Dwarf_Die *function), void *ctx)
{
	const struct pc_range *code = pc_ranges_find(&dwarf->code, address), *function;
	Dwarf_Die cu, die;

	if (!code || !dwarf_offdie(dwarf->dwarf, dwarf->units[code->unit].die, &cu))
		return -ENODATA;
	function = dwarf_find_function(dwarf, &dwarf->units[code->unit], &cu, address);
	return function && dwarf_offdie(dwarf->dwarf, function->die, &die) ? visit(ctx, &die) : -ENODATA;
}

int native_dwarf_with_function(struct native_dwarf *dwarf, uint64_t address,
			       int (*visit)(void *ctx, Dwarf_Die *function), void *ctx)
{
	if (dwarf->broken)
		return -ENODATA;
	if (setjmp(out_of_memory)) {
		dwarf->broken = dwarf->cost->refused = true;
		return -ENODATA;
	}
	return with_function(dwarf, address, visit, ctx);
}
