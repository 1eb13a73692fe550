/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/cfi_program.h"

#include <string.h>

#include "code/symbol/cfi_reader.h"

#define MAX_OFFSET  ((int64_t)1 << 40)
#define NO_REGISTER UINT32_MAX

const struct cfi_registers cfi_amd64 = {.fp = 6, .sp = 7, .ra = 16, .link = 5};
const struct cfi_registers cfi_arm64 = {.fp = 29, .sp = 31, .ra = 30, .link = 30};

/* Clamps an offset, so that later arithmetic cannot overflow. No real frame is this large. */
static int64_t bounded(int64_t offset)
{
	return offset > MAX_OFFSET || offset < -MAX_OFFSET ? MAX_OFFSET : offset;
}

static int64_t cfi_scaled(int64_t factor, int64_t align)
{
	int64_t offset;

	return __builtin_mul_overflow(factor, align, &offset) ? MAX_OFFSET : bounded(offset);
}

/*
 * The expressions used by compilers, linkers and libc's assembly, compared byte by byte. All others are
 * CFI_UNSUPPORTED or CFA_UNSUPPORTED.
 */
enum { OP_DEREF = 0x06, OP_PLUS_UCONST = 0x23, OP_BREG6 = 0x76, OP_BREG7 = 0x77 };

/* A PLT entry as described by binutils' ld (elfxx-x86.c): rsp + 8 + ((rip & 15) >= limit) << 3. */
static bool cfi_is_plt(const uint8_t *bytes, size_t size, int64_t *limit)
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
	uint64_t size = cfi_uleb(reader);

	block.at = cfi_take(reader, size);
	block.end = reader->at;
	block.bad = !block.at;
	return block;
}

static void cfa_expression(struct cfi_state *state, struct cfi_reader *reader)
{
	struct cfi_reader block = take_block(reader);
	uint64_t op;

	state->kind = CFA_UNSUPPORTED;
	if (block.bad)
		return;
	if (cfi_is_plt(block.at, (size_t)(block.end - block.at), &state->offset)) {
		state->kind = CFA_PLT;
		return;
	}
	op = cfi_unsigned(&block, 1);
	state->offset = bounded(cfi_sleb(&block));
	if (block.bad || cfi_unsigned(&block, 1) != OP_DEREF)
		return;
	if (op == OP_BREG6 && block.at == block.end)
		state->kind = CFA_RBP_DEREF;
	else if (op == OP_BREG7 && block.at == block.end && state->offset == UNWIND_UCONTEXT_RSP)
		state->kind = CFA_UCONTEXT;
	else if (op == OP_BREG7 && cfi_unsigned(&block, 1) == OP_PLUS_UCONST && cfi_uleb(&block) == 8 &&
		 !block.bad && block.at == block.end)
		state->kind = CFA_RSP_DEREF;
}

/* A register saved at the address that an expression gives. */
static struct cfi_saved saved_by_expression(struct cfi_reader *reader)
{
	static const uint8_t at_rbp[] = {OP_BREG6, 0};
	struct cfi_reader block = take_block(reader);

	if (!block.bad && (size_t)(block.end - block.at) == sizeof(at_rbp) &&
	    !memcmp(block.at, at_rbp, sizeof(at_rbp)))
		return (struct cfi_saved){CFI_AT_RBP, 0};
	return (struct cfi_saved){CFI_UNSUPPORTED, 0};
}

/* Sets the rule of a register; ignores registers that are not needed. */
static void save(struct cfi_run *run, uint64_t reg, struct cfi_saved saved)
{
	if (reg == run->section->registers->fp)
		run->state.fp = saved;
	else if (reg == run->section->registers->ra)
		run->state.ra = saved;
}

static void restore(struct cfi_run *run, uint64_t reg)
{
	if (reg == run->section->registers->fp)
		run->state.fp = run->cie->initial.fp;
	else if (reg == run->section->registers->ra)
		run->state.ra = run->cie->initial.ra;
}

static void set_cfa(struct cfi_state *state, uint64_t reg, int64_t offset)
{
	state->kind = CFA_REGISTER;
	state->reg = reg < NO_REGISTER ? (uint32_t)reg : NO_REGISTER;
	state->offset = bounded(offset);
}

static void run_offset(struct cfi_run *run, uint64_t reg, int64_t factor)
{
	save(run, reg, (struct cfi_saved){CFI_AT_CFA, cfi_scaled(factor, run->cie->data_align)});
}

/* Instructions that define the CFA. Returns false for others. */
static bool run_cfa(struct cfi_run *run, uint8_t op)
{
	struct cfi_reader *program = &run->program;
	struct cfi_state *state = &run->state;
	uint64_t reg;

	switch (op) {
	case 0x0c: /* def_cfa */
		reg = cfi_uleb(program);
		set_cfa(state, reg, bounded((int64_t)cfi_uleb(program)));
		return true;
	case 0x0d: /* def_cfa_register */
		set_cfa(state, cfi_uleb(program), state->kind == CFA_REGISTER ? state->offset : MAX_OFFSET);
		return true;
	case 0x0e: /* def_cfa_offset */
		state->offset = bounded((int64_t)cfi_uleb(program));
		return true;
	case 0x0f: /* def_cfa_expression */
		cfa_expression(state, program);
		return true;
	case 0x12: /* def_cfa_sf */
		reg = cfi_uleb(program);
		set_cfa(state, reg, cfi_scaled(cfi_sleb(program), run->cie->data_align));
		return true;
	case 0x13: /* def_cfa_offset_sf */
		state->offset = cfi_scaled(cfi_sleb(program), run->cie->data_align);
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
	reg = cfi_uleb(program);
	switch (op) {
	case 0x05: /* offset_extended */
		run_offset(run, reg, bounded((int64_t)cfi_uleb(program)));
		return true;
	case 0x06: /* restore_extended */
		restore(run, reg);
		return true;
	case 0x07: /* undefined */
		save(run, reg, (struct cfi_saved){CFI_UNDEFINED, 0});
		return true;
	case 0x08: /* same_value */
		save(run, reg, (struct cfi_saved){CFI_SAME, 0});
		return true;
	case 0x10: /* expression */
		save(run, reg, saved_by_expression(program));
		return true;
	case 0x11: /* offset_extended_sf */
		run_offset(run, reg, cfi_sleb(program));
		return true;
	case 0x2f: /* GNU_negative_offset_extended */
		run_offset(run, reg, -bounded((int64_t)cfi_uleb(program)));
		return true;
	case 0x15: /* val_offset_sf */
		cfi_sleb(program);
		break;
	case 0x16: /* val_expression */
		take_block(program);
		break;
	case 0x09: /* register */
		if (cfi_uleb(program) == run->section->registers->link) {
			save(run, reg, (struct cfi_saved){CFI_IN_LINK, 0});
			return true;
		}
		break;
	case 0x14: /* val_offset */
		cfi_uleb(program);
		break;
	default:
		return false;
	}
	save(run, reg, (struct cfi_saved){CFI_UNSUPPORTED, 0});
	return true;
}

/* All other instructions except advances. Returns false if unknown or invalid here. */
static bool run_other(struct cfi_run *run, uint8_t op)
{
	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x0a: /* remember_state */
		if (run->n == CFI_STATES)
			return false;
		run->remembered[run->n++] = run->state;
		return true;
	case 0x0b: /* restore_state */
		if (!run->n)
			return false;
		run->state = run->remembered[--run->n];
		return true;
	case 0x2d: /* AARCH64_negate_ra_state: whether the return address is signed does not matter here */
		return run->section->registers == &cfi_arm64;
	case 0x2e: /* GNU_args_size */
		cfi_uleb(&run->program);
		return true;
	default:
		return run_cfa(run, op) || run_register(run, op);
	}
}

/* Advances the location to the next row. */
static enum cfi_run_result cfi_run_advance(struct cfi_run *run, uint64_t by)
{
	uint64_t to;

	if (__builtin_mul_overflow(by, run->cie->code_align, &by) ||
	    __builtin_add_overflow(run->location, by, &to))
		return CFI_RUN_BAD;
	run->location = to;
	return by ? CFI_RUN_NEXT_ROW : CFI_RUN_SAME_ROW;
}

static enum cfi_run_result run_one(struct cfi_run *run)
{
	struct cfi_reader *program = &run->program;
	uint8_t op = (uint8_t)cfi_unsigned(program, 1), low = op & 0x3f;
	uint64_t to;

	switch (op >> 6) {
	case 1: /* advance_loc */
		return cfi_run_advance(run, low);
	case 2: /* offset */
		run_offset(run, low, bounded((int64_t)cfi_uleb(program)));
		break;
	case 3: /* restore */
		restore(run, low);
		break;
	default:
		if (op == 0x01) { /* set_loc */
			to = cfi_pointer(run->section, program, run->cie->encoding);
			if (program->bad || to < run->location)
				return CFI_RUN_BAD;
			run->location = to;
			return CFI_RUN_NEXT_ROW;
		}
		if (op >= 0x02 && op <= 0x04) /* advance_loc1, 2, 4 */
			return cfi_run_advance(run, cfi_unsigned(program, (size_t)1 << (op - 2)));
		if (!run_other(run, op))
			return CFI_RUN_BAD;
	}
	return program->bad ? CFI_RUN_BAD : CFI_RUN_SAME_ROW;
}

enum cfi_run_result cfi_run_row(struct cfi_run *run)
{
	while (run->program.at < run->program.end) {
		enum cfi_run_result result = run_one(run);

		if (result != CFI_RUN_SAME_ROW)
			return run->program.bad ? CFI_RUN_BAD : result;
	}
	return CFI_RUN_END;
}

/* Registers that the instructions do not mention keep the caller's value. */
bool cfi_run_initial(const struct cfi_section *section, struct cfi_cie *cie)
{
	struct cfi_run run = {.section = section, .cie = cie, .program = cie->program};

	run.state = (struct cfi_state){.kind = CFA_UNSUPPORTED, .ra = {CFI_UNSUPPORTED, 0}};
	if (section->registers == &cfi_arm64)
		run.state.ra.place = CFI_IN_LINK;
	cie->initial = run.state;
	if (cfi_run_row(&run) != CFI_RUN_END)
		return false;
	cie->initial = run.state;
	return true;
}
