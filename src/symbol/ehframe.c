/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "symbol/ehframe.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

#define MAX_STATES 16u /* nesting of remember_state; compilers need one level */
#define MAX_OFFSET ((int64_t)1 << 40)
#define MAX_FDES   (2u << 20) /* 96 MB; Chromium has half as many */
#define CIES       256u       /* cache of parsed CIEs, including those that cannot be parsed */
/*
 * A CIE that was evicted from the cache is parsed again when it is needed. This limits the bytes parsed in
 * total: a multiple of the section's size, plus a constant.
 */
#define CIE_BYTES_A_BYTE 8u
#define CIE_BYTES_MORE   (64u << 10)
#define NO_REGISTER      UINT32_MAX

/*
 * DWARF register numbers: System V ABI for x86-64, figure 3.36; DWARF for the Arm 64-bit Architecture, 4.1.
 */
struct registers {
	uint32_t fp, sp, ra;
	uint32_t link; /* where a leaf may keep its return address; on arm64 that is ra itself */
};

static const struct registers amd64 = {.fp = 6, .sp = 7, .ra = 16, .link = 5};
static const struct registers arm64 = {.fp = 29, .sp = 31, .ra = 30, .link = 30};

struct cfi_reader {
	const uint8_t *at, *end;
	bool bad; /* an access past the end was attempted */
};

/* Where a register of the caller is saved. */
enum register_place { SAME, AT_CFA, AT_RBP, IN_LINK, UNDEFINED, ODD };

struct saved {
	enum register_place place;
	int64_t offset; /* AT_CFA */
};

enum cfa_kind { CFA_REGISTER, CFA_RBP_DEREF, CFA_RSP_DEREF, CFA_PLT, CFA_UCONTEXT, CFA_ODD };

struct cfi_state {
	enum cfa_kind kind;
	uint32_t reg;
	int64_t offset;
	struct saved rbp, rip;
};

struct cie {
	size_t offset; /* in its section; SIZE_MAX: empty slot */
	bool bad;      /* cannot be parsed */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint8_t encoding; /* DW_EH_PE_* of addresses in FDEs */
	bool has_sizes;   /* augmentation z */
	bool is_signal;   /* S */
	struct cfi_reader program;
	struct cfi_state initial;
};

/* An FDE: describes one function. */
struct fde {
	uint64_t start, end;
	size_t cie; /* offset of its CIE */
	struct cfi_reader program;
};

struct cfi_section {
	const struct ehframe_section *bytes;
	const struct registers *registers;
	bool is_debug;         /* .debug_frame */
	struct budget *budget; /* NULL: no limit */
	struct cie cies[CIES];
	size_t cie_bytes_left; /* bytes that may still be parsed as CIEs */
	struct fde *fdes;
	size_t n, capacity;
	size_t damaged;
};

static const uint8_t *take(struct cfi_reader *reader, size_t size)
{
	const uint8_t *at = reader->at;

	if (reader->bad || size > (size_t)(reader->end - at)) {
		reader->bad = true;
		return NULL;
	}
	reader->at += size;
	return at;
}

static uint64_t unsigned_of(struct cfi_reader *reader, size_t size)
{
	const uint8_t *bytes = take(reader, size);
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, size);
	return value;
}

static int64_t signed_of(struct cfi_reader *reader, size_t size)
{
	unsigned unused = 64 - 8 * (unsigned)size;

	return (int64_t)(unsigned_of(reader, size) << unused) >> unused;
}

/* LEB128. Bits above the 64th are discarded. */
static uint64_t leb(struct cfi_reader *reader, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (;;) {
		const uint8_t *byte = take(reader, 1);

		if (!byte)
			return 0;
		if (shift < 64)
			value |= (uint64_t)(*byte & 0x7f) << shift;
		shift += 7;
		if (*byte & 0x80)
			continue;
		if (is_signed && *byte & 0x40 && shift < 64)
			value |= UINT64_MAX << shift;
		return value;
	}
}

static uint64_t uleb(struct cfi_reader *reader)
{
	return leb(reader, false);
}

static int64_t sleb(struct cfi_reader *reader)
{
	return (int64_t)leb(reader, true);
}

/* Clamps an offset, so that later arithmetic cannot overflow. No real frame is this large. */
static int64_t bounded(int64_t offset)
{
	return offset > MAX_OFFSET || offset < -MAX_OFFSET ? MAX_OFFSET : offset;
}

static int64_t scaled(int64_t factor, int64_t align)
{
	int64_t offset;

	return __builtin_mul_overflow(factor, align, &offset) ? MAX_OFFSET : bounded(offset);
}

static uint64_t address_of(const struct cfi_section *section, const uint8_t *at)
{
	return section->bytes->address + (uint64_t)(at - section->bytes->data);
}

/* Reads a value in the format of the low half of DW_EH_PE_*. */
static uint64_t formatted(struct cfi_reader *reader, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case 0x00: /* absptr */
	case 0x04:
	case 0x0c:
		return unsigned_of(reader, 8);
	case 0x01:
		return uleb(reader);
	case 0x02:
		return unsigned_of(reader, 2);
	case 0x03:
		return unsigned_of(reader, 4);
	case 0x09:
		return (uint64_t)sleb(reader);
	case 0x0a:
		return (uint64_t)signed_of(reader, 2);
	case 0x0b:
		return (uint64_t)signed_of(reader, 4);
	default:
		reader->bad = true;
		return 0;
	}
}

/* Reads an address, absolute or PC-relative. Linkers produce no other kinds in executables. */
static uint64_t pointer(const struct cfi_section *section, struct cfi_reader *reader, uint8_t encoding)
{
	uint64_t from = address_of(section, reader->at), value = formatted(reader, encoding);

	switch (encoding & 0xf0) {
	case 0x00:
		return value;
	case 0x10: /* pcrel */
		return from + value;
	default:
		reader->bad = true;
		return 0;
	}
}

/* A CIE or FDE: its id, and the bytes after it. */
struct cfi_entry {
	size_t offset;
	uint64_t id;
	const uint8_t *id_at;
	bool wide; /* 64-bit DWARF */
	struct cfi_reader rest;
};

/* Returns false at the end of the section, or at its terminator. */
static bool next_entry(const struct cfi_section *section, struct cfi_reader *reader, struct cfi_entry *entry)
{
	uint64_t size;

	entry->offset = (size_t)(reader->at - section->bytes->data);
	entry->wide = false;
	if (reader->at == reader->end)
		return false;
	size = unsigned_of(reader, 4);
	if (size == UINT32_MAX) {
		entry->wide = true;
		size = unsigned_of(reader, 8);
	}
	entry->rest.bad = false;
	entry->rest.at = size ? take(reader, size) : NULL;
	if (!entry->rest.at)
		return false;
	entry->rest.end = reader->at;
	entry->id_at = entry->rest.at;
	entry->id = unsigned_of(&entry->rest, entry->wide && section->is_debug ? 8 : 4);
	return true;
}

static bool is_cie(const struct cfi_section *section, const struct cfi_entry *entry)
{
	if (!section->is_debug)
		return entry->id == 0;
	return entry->id == (entry->wide ? UINT64_MAX : UINT32_MAX);
}

/* Offset of the CIE of an FDE. */
static size_t cie_offset(const struct cfi_section *section, const struct cfi_entry *entry)
{
	uint64_t from = (uint64_t)(entry->id_at - section->bytes->data);

	if (section->is_debug)
		return entry->id;
	return entry->id <= from ? from - entry->id : SIZE_MAX;
}

/* Reads the augmentation data that the letters announce. */
static bool read_augmentation(const struct cfi_section *section, struct cie *cie, struct cfi_reader *reader,
			      const char *letters)
{
	struct cfi_reader data = {0};
	uint64_t size;

	if (!*letters)
		return true;
	if (*letters != 'z')
		return false; /* gcc 2's "eh", or unknown */
	size = uleb(reader);
	data.at = take(reader, size);
	if (!data.at)
		return false;
	data.end = reader->at;
	cie->has_sizes = true;
	while (*++letters) {
		if (*letters == 'L')
			take(&data, 1);
		else if (*letters == 'R')
			cie->encoding = (uint8_t)unsigned_of(&data, 1);
		else if (*letters == 'P')
			pointer(section, &data, (uint8_t)unsigned_of(&data, 1) & 0x7f);
		else if (*letters == 'S')
			cie->is_signal = true;
		else if (*letters == 'B' || *letters == 'G')
			continue; /* pointer authentication key; tagged stack: arm64 */
		else
			break; /* unknown letter: the rest is skipped by size */
	}
	return !data.bad;
}

static bool parse_cie(const struct cfi_section *section, struct cfi_entry *entry, struct cie *cie)
{
	struct cfi_reader *reader = &entry->rest;
	uint64_t version = unsigned_of(reader, 1);
	const char *letters = (const char *)reader->at;

	*cie = (struct cie){.offset = entry->offset};
	while (unsigned_of(reader, 1))
		;
	if (version == 4 && (unsigned_of(reader, 1) != 8 || unsigned_of(reader, 1) != 0))
		return false; /* address size and segment selector size of .debug_frame */
	if (version != 1 && version != 3 && version != 4)
		return false;
	cie->code_align = uleb(reader);
	cie->data_align = sleb(reader);
	cie->return_register = version == 1 ? unsigned_of(reader, 1) : uleb(reader);
	if (reader->bad || cie->return_register != section->registers->ra ||
	    !read_augmentation(section, cie, reader, letters))
		return false;
	cie->program = *reader;
	return !reader->bad;
}

/*
 * The expressions used by compilers, linkers and libc's assembly, compared byte by byte. All others are ODD.
 */
enum { OP_DEREF = 0x06, OP_PLUS_UCONST = 0x23, OP_BREG6 = 0x76, OP_BREG7 = 0x77 };

/* A PLT entry as described by binutils' ld (elfxx-x86.c): rsp + 8 + ((rip & 15) >= limit) << 3. */
static bool is_plt(const uint8_t *bytes, size_t size, int64_t *limit)
{
	static const uint8_t before[] = {OP_BREG7, 8, 0x80, 0, 0x3f, 0x1a};
	static const uint8_t behind[] = {0x2a, 0x33, 0x24, 0x22};

	if (size != sizeof(before) + 1 + sizeof(behind) || memcmp(bytes, before, sizeof(before)) ||
	    memcmp(bytes + sizeof(before) + 1, behind, sizeof(behind)))
		return false;
	*limit = bytes[sizeof(before)] - 0x30; /* DW_OP_lit0 */
	return *limit >= 0 && *limit < 16;
}

static struct cfi_reader take_block(struct cfi_reader *reader)
{
	struct cfi_reader block = {.bad = false};
	uint64_t size = uleb(reader);

	block.at = take(reader, size);
	block.end = reader->at;
	block.bad = !block.at;
	return block;
}

static void cfa_expression(struct cfi_state *state, struct cfi_reader *reader)
{
	struct cfi_reader block = take_block(reader);
	uint64_t op;

	state->kind = CFA_ODD;
	if (block.bad)
		return;
	if (is_plt(block.at, (size_t)(block.end - block.at), &state->offset)) {
		state->kind = CFA_PLT;
		return;
	}
	op = unsigned_of(&block, 1);
	state->offset = bounded(sleb(&block));
	if (block.bad || unsigned_of(&block, 1) != OP_DEREF)
		return;
	if (op == OP_BREG6 && block.at == block.end)
		state->kind = CFA_RBP_DEREF;
	else if (op == OP_BREG7 && block.at == block.end && state->offset == UNWIND_UCONTEXT_RSP)
		state->kind = CFA_UCONTEXT;
	else if (op == OP_BREG7 && unsigned_of(&block, 1) == OP_PLUS_UCONST && uleb(&block) == 8 &&
		 !block.bad && block.at == block.end)
		state->kind = CFA_RSP_DEREF;
}

/* A register saved at the address that an expression gives. */
static struct saved saved_by_expression(struct cfi_reader *reader)
{
	static const uint8_t at_rbp[] = {OP_BREG6, 0};
	struct cfi_reader block = take_block(reader);

	if (!block.bad && (size_t)(block.end - block.at) == sizeof(at_rbp) &&
	    !memcmp(block.at, at_rbp, sizeof(at_rbp)))
		return (struct saved){AT_RBP, 0};
	return (struct saved){ODD, 0};
}

/* State while a program of call frame instructions runs. */
struct cfi_run {
	const struct cfi_section *section;
	const struct cie *cie;
	struct cfi_reader program;
	struct cfi_state state;
	struct cfi_state remembered[MAX_STATES];
	unsigned n;
	uint64_t location; /* address of the next row */
};

/* Sets the rule of a register; ignores registers that are not needed. */
static void save(struct cfi_run *run, uint64_t reg, struct saved saved)
{
	if (reg == run->section->registers->fp)
		run->state.rbp = saved;
	else if (reg == run->section->registers->ra)
		run->state.rip = saved;
}

static void restore(struct cfi_run *run, uint64_t reg)
{
	if (reg == run->section->registers->fp)
		run->state.rbp = run->cie->initial.rbp;
	else if (reg == run->section->registers->ra)
		run->state.rip = run->cie->initial.rip;
}

static void set_cfa(struct cfi_state *state, uint64_t reg, int64_t offset)
{
	state->kind = CFA_REGISTER;
	state->reg = reg < NO_REGISTER ? (uint32_t)reg : NO_REGISTER;
	state->offset = bounded(offset);
}

static void run_offset(struct cfi_run *run, uint64_t reg, int64_t factor)
{
	save(run, reg, (struct saved){AT_CFA, scaled(factor, run->cie->data_align)});
}

/* Instructions that define the CFA. Returns false for others. */
static bool run_cfa(struct cfi_run *run, uint8_t op)
{
	struct cfi_reader *program = &run->program;
	struct cfi_state *state = &run->state;
	uint64_t reg;

	switch (op) {
	case 0x0c: /* def_cfa */
		reg = uleb(program);
		set_cfa(state, reg, bounded((int64_t)uleb(program)));
		return true;
	case 0x0d: /* def_cfa_register */
		set_cfa(state, uleb(program), state->kind == CFA_REGISTER ? state->offset : MAX_OFFSET);
		return true;
	case 0x0e: /* def_cfa_offset */
		state->offset = bounded((int64_t)uleb(program));
		return true;
	case 0x0f: /* def_cfa_expression */
		cfa_expression(state, program);
		return true;
	case 0x12: /* def_cfa_sf */
		reg = uleb(program);
		set_cfa(state, reg, scaled(sleb(program), run->cie->data_align));
		return true;
	case 0x13: /* def_cfa_offset_sf */
		state->offset = scaled(sleb(program), run->cie->data_align);
		return true;
	default:
		return false;
	}
}

/* Instructions that define a register's rule. Returns false for others. */
static bool run_register(struct cfi_run *run, uint8_t op)
{
	struct cfi_reader *program = &run->program;
	uint64_t reg;

	if (op < 0x05 || (op > 0x09 && op < 0x10) || (op > 0x16 && op != 0x2f))
		return false;
	reg = uleb(program);
	switch (op) {
	case 0x05: /* offset_extended */
		run_offset(run, reg, bounded((int64_t)uleb(program)));
		return true;
	case 0x06: /* restore_extended */
		restore(run, reg);
		return true;
	case 0x07: /* undefined */
		save(run, reg, (struct saved){UNDEFINED, 0});
		return true;
	case 0x08: /* same_value */
		save(run, reg, (struct saved){SAME, 0});
		return true;
	case 0x10: /* expression */
		save(run, reg, saved_by_expression(program));
		return true;
	case 0x11: /* offset_extended_sf */
		run_offset(run, reg, sleb(program));
		return true;
	case 0x2f: /* GNU_negative_offset_extended */
		run_offset(run, reg, -bounded((int64_t)uleb(program)));
		return true;
	case 0x15: /* val_offset_sf */
		sleb(program);
		break;
	case 0x16: /* val_expression */
		take_block(program);
		break;
	case 0x09: /* register */
		if (uleb(program) == run->section->registers->link) {
			save(run, reg, (struct saved){IN_LINK, 0});
			return true;
		}
		break;
	case 0x14: /* val_offset */
		uleb(program);
		break;
	default:
		return false;
	}
	save(run, reg, (struct saved){ODD, 0});
	return true;
}

/* All other instructions except advances. Returns false if unknown or invalid here. */
static bool run_other(struct cfi_run *run, uint8_t op)
{
	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x0a: /* remember_state */
		if (run->n == MAX_STATES)
			return false;
		run->remembered[run->n++] = run->state;
		return true;
	case 0x0b: /* restore_state */
		if (!run->n)
			return false;
		run->state = run->remembered[--run->n];
		return true;
	case 0x2d: /* AARCH64_negate_ra_state: toggles whether the return address is signed, which does not
		      matter here */
		return run->section->registers == &arm64;
	case 0x2e: /* GNU_args_size */
		uleb(&run->program);
		return true;
	default:
		return run_cfa(run, op) || run_register(run, op);
	}
}

enum ran { RAN_ON, RAN_TO_NEXT, RAN_TO_END, RAN_BAD };

/* Advances the location to the next row. */
static enum ran advance(struct cfi_run *run, uint64_t by)
{
	uint64_t to;

	if (__builtin_mul_overflow(by, run->cie->code_align, &by) ||
	    __builtin_add_overflow(run->location, by, &to))
		return RAN_BAD;
	run->location = to;
	return by ? RAN_TO_NEXT : RAN_ON;
}

static enum ran run_one(struct cfi_run *run)
{
	struct cfi_reader *program = &run->program;
	uint8_t op = (uint8_t)unsigned_of(program, 1), low = op & 0x3f;
	uint64_t to;

	switch (op >> 6) {
	case 1: /* advance_loc */
		return advance(run, low);
	case 2: /* offset */
		run_offset(run, low, bounded((int64_t)uleb(program)));
		break;
	case 3: /* restore */
		restore(run, low);
		break;
	default:
		if (op == 0x01) { /* set_loc */
			to = pointer(run->section, program, run->cie->encoding);
			if (program->bad || to < run->location)
				return RAN_BAD;
			run->location = to;
			return RAN_TO_NEXT;
		}
		if (op >= 0x02 && op <= 0x04) /* advance_loc1, 2, 4 */
			return advance(run, unsigned_of(program, (size_t)1 << (op - 2)));
		if (!run_other(run, op))
			return RAN_BAD;
	}
	return program->bad ? RAN_BAD : RAN_ON;
}

/* Runs up to the next row, or to the program's end. */
static enum ran run_row(struct cfi_run *run)
{
	while (run->program.at < run->program.end) {
		enum ran ran = run_one(run);

		if (ran != RAN_ON)
			return run->program.bad ? RAN_BAD : ran;
	}
	return RAN_TO_END;
}

/* Runs the CIE's initial instructions. Registers that they do not mention keep the caller's value. */
static bool run_initial(const struct cfi_section *section, struct cie *cie)
{
	struct cfi_run run = {.section = section, .cie = cie, .program = cie->program};

	run.state = (struct cfi_state){.kind = CFA_ODD, .rip = {ODD, 0}};
	if (section->registers == &arm64)
		run.state.rip.place = IN_LINK;
	cie->initial = run.state;
	if (run_row(&run) != RAN_TO_END)
		return false;
	cie->initial = run.state;
	return true;
}

static bool read_cie(struct cfi_section *section, size_t offset, struct cie *cie)
{
	struct cfi_reader reader = {.at = section->bytes->data + offset,
				    .end = section->bytes->data + section->bytes->size};
	struct cfi_entry entry;
	size_t size;

	if (!next_entry(section, &reader, &entry) || !is_cie(section, &entry))
		return false;
	size = (size_t)(entry.rest.end - entry.rest.at) + 1;
	if (size > section->cie_bytes_left)
		return false;
	section->cie_bytes_left -= size;
	return parse_cie(section, &entry, cie) && run_initial(section, cie);
}

/*
 * The CIE at the offset; NULL if it is invalid. Invalid CIEs are cached as well, because each FDE may refer
 * to one.
 */
static struct cie *cie_at(struct cfi_section *section, size_t offset)
{
	struct cie *cie = &section->cies[(offset / 4) % CIES], made;

	if (offset >= section->bytes->size)
		return NULL;
	if (cie->offset != offset) {
		if (!read_cie(section, offset, &made))
			made = (struct cie){.bad = true};
		*cie = made;
		cie->offset = offset;
	}
	return cie->bad ? NULL : cie;
}

static bool may_go_on(const struct cfi_section *section)
{
	return !section->budget || budget_step(section->budget);
}

/* Parses an FDE and the code range it covers; false if it is damaged. */
static bool parse_fde(struct cfi_section *section, struct cfi_entry *entry, struct fde *fde)
{
	struct cfi_reader *reader = &entry->rest;
	struct cie *cie;
	uint64_t size;

	fde->cie = cie_offset(section, entry);
	cie = cie_at(section, fde->cie);
	if (!cie)
		return false;
	fde->start = pointer(section, reader, cie->encoding & 0x7f);
	size = formatted(reader, cie->encoding);
	if (cie->has_sizes)
		take(reader, uleb(reader));
	fde->program = *reader;
	return !reader->bad && !(cie->encoding & 0x80) &&
	       !__builtin_add_overflow(fde->start, size, &fde->end);
}

static int add_fde(struct cfi_section *section, const struct fde *fde)
{
	if (section->n >= MAX_FDES)
		return -EFBIG;
	if (array_grow(&section->fdes, &section->capacity, section->n + 1, sizeof(*section->fdes)))
		return -ENOMEM;
	section->fdes[section->n++] = *fde;
	return 0;
}

/* Lists the section's FDEs for code in the range. */
static int list_fdes(struct cfi_section *section, uint64_t base, uint64_t end)
{
	struct cfi_reader reader = {.at = section->bytes->data, .bad = false};
	struct cfi_entry entry;
	struct fde fde;
	int rc = 0;

	for (size_t i = 0; i < CIES; i++)
		section->cies[i].offset = SIZE_MAX;
	if (!section->bytes->data)
		return 0;
	section->cie_bytes_left = section->bytes->size * CIE_BYTES_A_BYTE + CIE_BYTES_MORE;
	reader.end = reader.at + section->bytes->size;
	while (rc == 0 && next_entry(section, &reader, &entry)) {
		if (!may_go_on(section))
			return -ETIME;
		if (is_cie(section, &entry))
			continue;
		if (entry.rest.bad || !parse_fde(section, &entry, &fde))
			section->damaged++;
		/* Ignores FDEs of code that the linker discarded. They have addresses at or near 0. */
		else if (fde.start >= base && fde.start < fde.end && fde.end <= end)
			rc = add_fde(section, &fde);
	}
	section->damaged += reader.bad;
	return rc;
}

static int by_start(const void *a, const void *b)
{
	const struct fde *one = a, *two = b;

	if (one->start != two->start)
		return one->start < two->start ? -1 : 1;
	return one->end < two->end ? -1 : one->end > two->end;
}

static void sort_fdes(struct cfi_section *section)
{
	bool sorted = true;

	for (size_t i = 1; i < section->n && sorted; i++)
		sorted = by_start(&section->fdes[i - 1], &section->fdes[i]) <= 0;
	if (!sorted)
		qsort(section->fdes, section->n, sizeof(*section->fdes), by_start);
}

/* Rows being written. */
struct row_output {
	const struct ehframe_input *input;
	struct ehframe_rows *rows;
	size_t capacity;
	uint64_t at;   /* rows are complete up to this address */
	uint32_t rule; /* the rule at that address */
	size_t span;   /* index: earlier spans end at or before that address */
};

/* Reallocations are rare, so they do not count against the budget. */
static int reserve(struct row_output *output)
{
	if (output->rows->n >= EHFRAME_ROWS_MAX)
		return -EFBIG;
	return array_grow(&output->rows->rows, &output->capacity, output->rows->n + 1,
			  sizeof(*output->rows->rows));
}

/* Applies the rule from output->at to `end`. */
static int put(struct row_output *output, uint64_t end, uint32_t rule)
{
	struct ehframe_rows *rows = output->rows;
	int rc;

	if (end <= output->at)
		return 0;
	if (!rows->n || rows->rows[rows->n - 1].rule != rule) {
		rc = reserve(output);
		if (rc)
			return rc;
		rows->rows[rows->n++] =
			(struct unwind_row){(uint32_t)(output->at - output->input->base), rule};
	}
	if (rule != UNWIND_NONE && rule != UNWIND_CHAIN)
		rows->known += end - output->at;
	output->at = end;
	return 0;
}

/* Fills code without an FDE up to `end`: spans first, `rule` elsewhere. */
static int put_gap(struct row_output *output, uint64_t end, uint32_t rule)
{
	const struct ehframe_input *input = output->input;
	int rc = 0;

	while (rc == 0 && output->at < end && output->span < input->nspans) {
		const struct ehframe_span *span = &input->spans[output->span];

		if (span->start >= end)
			break;
		if (span->end <= output->at) {
			output->span++;
			continue;
		}
		rc = put(output, span->start, rule);
		if (rc == 0)
			rc = put(output, span->end < end ? span->end : end, span->rule);
	}
	return rc ? rc : put(output, end, rule);
}

/* The rule's part for rbp; false if no rule expresses it. */
static bool rbp_part(const struct saved *rbp, uint32_t *part)
{
	switch (rbp->place) {
	case SAME:
	case UNDEFINED: /* no caller needs it */
		*part = UNWIND_RBP_SAME;
		return true;
	case AT_RBP:
		*part = UNWIND_RBP_AT_RBP;
		return true;
	case AT_CFA:
		if (rbp->offset >= 0 || rbp->offset % 8 || rbp->offset < -8 * (int64_t)UNWIND_RBP_LAST)
			return false;
		*part = (uint32_t)(-rbp->offset / 8);
		return true;
	default:
		return false;
	}
}

static enum unwind_kind kind_of(const struct cfi_state *state)
{
	switch (state->kind) {
	case CFA_REGISTER:
		return state->reg == amd64.sp ? UNWIND_SP : state->reg == amd64.fp ? UNWIND_BP : UNWIND_NONE;
	case CFA_RBP_DEREF:
		return UNWIND_BP_DEREF;
	case CFA_RSP_DEREF:
		return UNWIND_SP_DEREF;
	case CFA_PLT:
		return UNWIND_PLT;
	default:
		return UNWIND_NONE;
	}
}

static uint32_t rule_of_amd64(const struct cfi_state *state, bool is_signal)
{
	enum unwind_kind kind = kind_of(state);
	int64_t offset = state->offset;
	uint32_t rbp;

	if (state->rip.place == UNDEFINED)
		return UNWIND_END;
	if (is_signal)
		return state->kind == CFA_UCONTEXT ? UNWIND_SIGNAL : UNWIND_NONE;
	if (kind == UNWIND_SP && state->rip.place == IN_LINK)
		kind = UNWIND_SP_LINK;
	else if (state->rip.place != AT_CFA || state->rip.offset != -8)
		return UNWIND_NONE;
	if (kind == UNWIND_NONE || !rbp_part(&state->rbp, &rbp))
		return UNWIND_NONE;
	if (kind != UNWIND_PLT) {
		if (offset % 8 || offset / 8 > UNWIND_OFFSET_MAX || offset / 8 < -UNWIND_OFFSET_MAX)
			return UNWIND_NONE;
		offset /= 8;
	}
	return UNWIND_RULE(kind, rbp, offset);
}

/* Converts bytes to words; false if the rule's field cannot hold the number. */
static bool in_words(int64_t bytes, int64_t most, uint32_t *words)
{
	*words = (uint32_t)(bytes / 8);
	return bytes >= 0 && bytes % 8 == 0 && bytes / 8 <= most;
}

#define MAX_WORDS 1023

/*
 * Return address and frame pointer are saved at these distances below the CFA. fp = 0: the frame pointer is
 * not saved.
 */
static uint32_t rule_of_saved(const struct cfi_state *state, int64_t ra, int64_t fp)
{
	bool pair = fp == ra + 8, by_sp = state->reg == arm64.sp;
	int64_t offset = state->offset / 8;
	uint32_t n, m;

	if (pair && by_sp && in_words(fp, MAX_WORDS, &n))
		return UNWIND_RULE(UNWIND_SP_PAIR, n, offset);
	if (pair && in_words(state->offset - fp, MAX_WORDS, &n))
		return UNWIND_RULE(by_sp ? UNWIND_SP_FRAME : UNWIND_FP_FRAME, n, offset);
	if (!fp && by_sp && in_words(ra, MAX_WORDS, &n))
		return UNWIND_RULE(UNWIND_SP_ALONE, n, offset);
	if (fp && by_sp && in_words(ra, 31, &n) && in_words(fp, 31, &m))
		return UNWIND_RULE(UNWIND_SP_APART, UNWIND_APART(n, m), offset);
	return UNWIND_NONE;
}

/*
 * Rule for arm64. The kernel's vDSO describes the interrupted frame of a signal by x29
 * (arch/arm64/kernel/vdso/sigreturn.S).
 */
static uint32_t rule_of_arm64(const struct cfi_state *state, bool is_signal)
{
	bool by_sp = state->reg == arm64.sp, by_fp = state->reg == arm64.fp;
	int64_t offset = state->offset;

	if (state->rip.place == UNDEFINED)
		return UNWIND_END;
	if (state->kind != CFA_REGISTER || (!by_sp && !by_fp) || offset < 0 || offset % 8 ||
	    offset / 8 > UNWIND_OFFSET_MAX)
		return UNWIND_NONE;
	if (is_signal)
		return by_fp && !offset ? UNWIND_SIGNAL : UNWIND_NONE;
	if (state->rip.place == IN_LINK || state->rip.place == SAME)
		return by_sp && state->rbp.place == SAME ? UNWIND_RULE(UNWIND_SP_LINK, 0, offset / 8)
							 : UNWIND_NONE;
	if (state->rip.place != AT_CFA || state->rip.offset >= 0)
		return UNWIND_NONE;
	if (state->rbp.place == AT_CFA && state->rbp.offset < 0)
		return rule_of_saved(state, -state->rip.offset, -state->rbp.offset);
	return state->rbp.place == SAME ? rule_of_saved(state, -state->rip.offset, 0) : UNWIND_NONE;
}

/*
 * Rule for code without an FDE that precedes a function. In clone and clone3, the code after the system call
 * has none, because it would be wrong in the child (glibc 2.36 sysdeps/unix/sysv/linux/x86_64/clone.S). In
 * the parent, the rule from before the system call still applies.
 */
#define MAX_CLONE_GAP 16u

static uint32_t rule_before(const struct row_output *output, const struct fde *fde, uint32_t first)
{
	if (first == UNWIND_END && output->rows->n && fde->start - output->at <= MAX_CLONE_GAP)
		return output->rows->rows[output->rows->n - 1].rule;
	return output->input->between;
}

/* Writes the rows of one function, up to `end`. */
static int put_fde(struct row_output *output, struct cfi_section *section, const struct fde *fde,
		   uint64_t end)
{
	struct cie *cie = cie_at(section, fde->cie);
	struct cfi_run run = {
		.section = section, .cie = cie, .program = fde->program, .location = fde->start};
	enum ran ran = RAN_TO_NEXT;
	bool first = true;
	int rc = 0;

	if (!cie)
		return 0;
	output->rows->functions++;
	run.state = cie->initial;
	while (rc == 0 && ran == RAN_TO_NEXT && output->at < end) {
		uint64_t next, from;
		uint32_t rule;

		if (!may_go_on(section))
			return -ETIME;
		ran = run_row(&run);
		next = ran == RAN_TO_NEXT && run.location < end ? run.location : end;
		rule = ran == RAN_BAD ? UNWIND_NONE
				      : (section->registers == &arm64 ? rule_of_arm64 : rule_of_amd64)(
						&run.state, cie->is_signal);
		if (first && fde->start > output->at)
			rc = put_gap(output, fde->start, rule_before(output, fde, rule));
		first = false;
		from = output->at;
		if (rc == 0)
			rc = put(output, next, rule);
		if (rule == UNWIND_NONE)
			output->rows->odd += output->at - from;
	}
	output->rows->damaged += ran == RAN_BAD;
	return rc;
}

/*
 * Merges both sorted lists. Where functions overlap, the later one replaces the rest of the earlier one, but
 * .eh_frame takes precedence over .debug_frame.
 */
static int put_all(struct row_output *output, struct cfi_section *eh, struct cfi_section *debug)
{
	size_t i = 0, j = 0;
	int rc = 0;

	while (rc == 0 && (i < eh->n || j < debug->n)) {
		uint64_t next = i < eh->n ? eh->fdes[i].start : output->input->end;
		const struct fde *fde = j < debug->n ? &debug->fdes[j] : NULL;

		if (fde && fde->start < next) {
			j++;
			if (fde->start >= output->at)
				rc = put_fde(output, debug, fde, fde->end < next ? fde->end : next);
			continue;
		}
		fde = &eh->fdes[i++];
		next = i < eh->n && eh->fdes[i].start > fde->start ? eh->fdes[i].start : fde->end;
		rc = put_fde(output, eh, fde, fde->end < next ? fde->end : next);
	}
	return rc ? rc : put_gap(output, output->input->end, output->input->between);
}

int ehframe_parse(const struct ehframe_input *input, struct ehframe_rows *rows)
{
	const struct registers *registers = input->arm64 ? &arm64 : &amd64;
	struct cfi_section eh = {.bytes = &input->eh_frame, .registers = registers, .budget = input->budget};
	struct cfi_section debug = {.bytes = &input->debug_frame,
				    .is_debug = true,
				    .registers = registers,
				    .budget = input->budget};
	struct row_output output = {.input = input, .rows = rows, .at = input->base};
	int rc;

	*rows = (struct ehframe_rows){.n = 0};
	if (input->base >= input->end || input->end - input->base > UINT32_MAX)
		return -EINVAL;
	rc = list_fdes(&eh, input->base, input->end);
	if (rc == 0)
		rc = list_fdes(&debug, input->base, input->end);
	sort_fdes(&eh);
	sort_fdes(&debug);
	if (rc == 0)
		rc = put_all(&output, &eh, &debug);
	rows->damaged += eh.damaged + debug.damaged;
	free(eh.fdes);
	free(debug.fdes);
	if (rc)
		ehframe_free(rows);
	return rc;
}

void ehframe_free(struct ehframe_rows *rows)
{
	free(rows->rows);
	*rows = (struct ehframe_rows){.n = 0};
}

uint32_t ehframe_page_count(uint64_t size)
{
	return (uint32_t)((size + UNWIND_PAGE - 1) >> UNWIND_PAGE_SHIFT);
}

void ehframe_pages(const struct unwind_row *rows, size_t n, uint32_t first, struct unwind_page *pages,
		   uint32_t count)
{
	size_t row = 0; /* the last row that begins at or before the page */

	for (uint32_t i = 0; i < count; i++) {
		uint64_t start = (uint64_t)i << UNWIND_PAGE_SHIFT;
		size_t end;

		while (row + 1 < n && rows[row + 1].start <= start)
			row++;
		end = row;
		while (end < n && rows[end].start < start + UNWIND_PAGE)
			end++;
		pages[i] = (struct unwind_page){first + (uint32_t)row, (uint32_t)(end - row)};
	}
}
