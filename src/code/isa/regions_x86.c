/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Regions in x86-64 code. */
#include "code/isa/code_ops.h"
#include "code/isa/scan_x86.h"

#include <errno.h>
#include <string.h>

enum { OP_CMP_TO = 0x39, OP_CMP = 0x3b, OP_STORE = 0x89, OP_LOAD = 0x8b, OP_LEA = 0x8d, OP_TEST = 0x85 };

/* Limit on instructions between a comparison and its jump. */
#define MAX_BETWEEN 6

/* Arguments of StartRegion: AX, BX, CX, DI. */
static bool is_argument(uint8_t reg)
{
	return reg == X86_RAX || reg == X86_RBX || reg == X86_RCX || reg == 7;
}

/* `lea N(%rsp), %rbp` sets the frame pointer without a push (up to Go 1.20). */
static bool is_lea_rbp(const struct x86_insn *insn)
{
	return x86_is_one(insn, OP_LEA) && insn->reg == X86_RBP && (insn->rm & 7) == X86_RSP;
}

/*
 * Instructions before the check that do not change the arguments: the stack check, the frame, stores of
 * arguments.
 */
static bool leaves_arguments(const struct x86_insn *insn)
{
	if (x86_is_nop(insn) || x86_is_push_rbp(insn) || x86_is_jcc(insn) || is_lea_rbp(insn))
		return true;
	if (x86_is_one(insn, OP_STORE))
		return insn->mod != 3 || insn->rm == X86_RBP;
	if (x86_is_one(insn, OP_LOAD))
		return !is_argument(insn->reg);
	return x86_is_one(insn, OP_CMP_TO) || x86_is_one(insn, OP_CMP) || x86_is_one(insn, OP_TEST) ||
	       x86_is_one(insn, 0x83) || x86_is_one(insn, 0x81);
}

/* `test reg, reg`, or up to Go 1.18 `cmp $1, reg`. */
static bool is_test_of(const struct x86_insn *insn, uint8_t reg, bool *one)
{
	*one = x86_is_one(insn, 0x83) && insn->reg == 7 && insn->imm == 1;
	return insn->mod == 3 && insn->rm == reg && (*one || (x86_is_one(insn, OP_TEST) && insn->reg == reg));
}

/* Finds `mov flag, reg; test reg, reg; jcc`, where flag is a variable. */
static int x86_region_find_jump(const struct code *code, struct start_region *start)
{
	struct x86_insn insn, before = {0};
	size_t at = 0, offset = 0;
	bool tested = false;

	while (x86_next(code, &at, &insn) > 0 && leaves_arguments(&insn)) {
		if (tested && x86_is_jcc(&insn)) {
			start->jump = offset;
			/* je or jne */
			return (insn.opcode & 0xe) == 4 ? 0 : -ENOENT;
		}
		tested = x86_is_one(&before, OP_LOAD) && before.rip_relative &&
			 is_test_of(&insn, before.reg, &start->equal_is_on);
		before = insn;
		offset = at;
	}
	return -ENOENT;
}

/* Decodes the next instruction that is not a nop. */
static bool next_real(const struct code *code, size_t *at, struct x86_insn *insn)
{
	while (x86_next(code, at, insn) > 0) {
		if (!x86_is_nop(insn))
			return true;
	}
	return false;
}

/*
 * `mov noopRegion, %rax; add $N, %rsp; pop %rbp; ret`; up to Go 1.20 `mov M(%rsp), %rbp; add $N, %rsp; ret`
 */
static bool x86_returns(const struct code *code, size_t at)
{
	struct x86_insn insn;
	bool popped = false;

	if (!next_real(code, &at, &insn))
		return false;
	if (x86_is_one(&insn, OP_LOAD) && insn.reg == X86_RBP && insn.mod != 3 && (insn.rm & 7) == X86_RSP) {
		popped = true;
		if (!next_real(code, &at, &insn))
			return false;
	}
	if ((!x86_is_one(&insn, 0x83) && !x86_is_one(&insn, 0x81)) || insn.mod != 3 || insn.rm != X86_RSP ||
	    !next_real(code, &at, &insn))
		return false;
	if (!popped && (!x86_is_one(&insn, 0x5d) || !next_real(code, &at, &insn)))
		return false;
	return x86_is_one(&insn, 0xc3);
}

/* `lea type, reg; cmp`: a type assertion compares with the type. */
static bool x86_is_compared(const struct code *code, size_t at, uint8_t reg)
{
	struct x86_insn insn;

	return next_real(code, &at, &insn) && (x86_is_one(&insn, OP_CMP_TO) || x86_is_one(&insn, OP_CMP)) &&
	       insn.mod == 3 && (insn.reg == reg || insn.rm == reg);
}

static void x86_region_take_type(const struct code *code, size_t at, const struct x86_insn *insn,
				 struct start_region *start)
{
	uint64_t type = x86_named(code, at, insn->disp);

	/* The first type is that of the key, which ctx.Value takes in BX. */
	if (!start->task_key_type && insn->reg == X86_RBX)
		start->task_key_type = type;
	else if (start->task_key_type && !start->task_type && x86_is_compared(code, at, insn->reg))
		start->task_type = type;
}

int x86_region_start(const struct code *code, struct start_region *start)
{
	struct x86_insn insn;
	size_t at = 0;

	*start = (struct start_region){0};
	if (x86_region_find_jump(code, start))
		return -ENOENT;
	while (x86_next(code, &at, &insn) > 0) {
		if (!insn.rip_relative)
			continue;
		if (x86_is_one(&insn, OP_LEA))
			x86_region_take_type(code, at, &insn, start);
		else if (x86_is_one(&insn, OP_LOAD) && insn.rex & 8 && insn.reg == X86_RAX &&
			 x86_returns(code, at))
			start->noop = x86_named(code, at, insn.disp);
	}
	return start->noop && start->task_key_type && start->task_type ? 0 : -ENOENT;
}

/* REX.W, opcode, ModRM (memory at the next instruction + displacement), displacement. */
enum { USE_LENGTH = 7 };

static bool leaves_flags(const struct x86_insn *insn)
{
	return x86_is_nop(insn) || x86_is_one(insn, OP_LOAD) || x86_is_one(insn, OP_STORE) ||
	       x86_is_one(insn, OP_LEA);
}

static bool x86_region_jump_behind(const struct code *text, size_t at, size_t *jump)
{
	struct x86_insn insn;

	for (int i = 0; i < MAX_BETWEEN; i++) {
		*jump = at;
		if (x86_next(text, &at, &insn) <= 0)
			return false;
		if (x86_is_jcc(&insn))
			return (insn.opcode & 0xe) == 4;
		if (!leaves_flags(&insn))
			return false;
	}
	return false;
}

static bool x86_uses_variable(const uint8_t *insn)
{
	return (insn[0] & 0xf8) == 0x48 && (insn[2] & 0xc7) == 0x05;
}

enum region_use x86_region_next_use(const struct code *text, uint64_t noop, size_t *at, size_t *use,
				    size_t *jump)
{
	for (size_t i = *at; i + USE_LENGTH <= text->size; i++) {
		const uint8_t *insn = text->bytes + i;
		uint32_t disp;

		memcpy(&disp, insn + 3, sizeof(disp));
		if (disp != (uint32_t)(noop - (text->address + i + USE_LENGTH)) || !x86_uses_variable(insn))
			continue;
		*use = i;
		*at = i + USE_LENGTH;
		if ((insn[1] == OP_CMP_TO || insn[1] == OP_CMP) && x86_region_jump_behind(text, *at, jump))
			return REGION_USE_END;
		return REGION_USE_OTHER;
	}
	*at = text->size;
	return REGION_USE_NONE;
}
