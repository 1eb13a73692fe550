/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Go up to 1.16: arguments are on the stack, and frames are made by sub without a push. */
#include "code/isa/code_ops.h"
#include "code/isa/scan_x86.h"

#include <errno.h>

enum {
	OP_STORE = 0x89,
	OP_MOV_IMM = 0xb8, /* + register */
	OP_MOV_IMM_RM = 0xc7,
	REGISTERS = 16,
	/* mov fs:g, reg; cmp guard, rsp; jbe. A big frame adds lea, a huge one more. */
	MAX_STACK_CHECK = 10,
};

/* A comparison of registers or memory, or with an immediate: a huge frame's size. */
static bool is_compare(const struct x86_insn *insn)
{
	bool immediate = x86_is_one(insn, 0x81) || x86_is_one(insn, 0x83);

	return x86_is_one(insn, 0x39) || x86_is_one(insn, 0x3b) || x86_is_one(insn, 0x3d) ||
	       (immediate && (insn->reg & 7) == 7);
}

/* cmp; sub of registers or with an immediate; lea; mov from memory. */
static bool may_precede_check(const struct x86_insn *insn)
{
	return is_compare(insn) || x86_is_one(insn, 0x81) || x86_is_one(insn, 0x83) ||
	       x86_is_one(insn, 0x29) || x86_is_one(insn, 0x2b) || x86_is_one(insn, 0x8d) ||
	       x86_is_one(insn, 0x8b) || x86_is_one(insn, OP_MOV_IMM_RM);
}

/* jbe, or in 1.4 a ja around the call of morestack. */
static bool is_stack_jump(const struct x86_insn *insn)
{
	uint8_t condition = insn->opcode & 0x0f;

	return x86_is_jcc(insn) && (condition == 6 || condition == 7);
}

int code_stack_check(const struct code *code, size_t *offset)
{
	struct x86_insn insn;
	size_t at = 0, before = 0;
	bool compared = false;

	for (int i = 0; i < MAX_STACK_CHECK && x86_next(code, &at, &insn) > 0; i++) {
		if (is_stack_jump(&insn) && compared) {
			*offset = before;
			return 0;
		}
		if (i == 0 && !insn.fs && !x86_is_one(&insn, OP_MOV_IMM_RM) && !x86_is_one(&insn, 0x3b))
			break; /* a check first loads g */
		/* For a huge frame, another jump comes first: it tests for stackPreempt. */
		if (!may_precede_check(&insn) && !x86_is_jcc(&insn))
			break;
		compared = is_compare(&insn);
		before = at;
	}
	return -ENOENT;
}

/* Known argument words. The second word holds two statuses of 32 bits. */
struct abi0_args {
	int64_t registers[REGISTERS];
	int64_t old, new;
};

static void forget_all(struct abi0_args *known)
{
	for (int i = 0; i < REGISTERS; i++)
		known->registers[i] = CONSTANT_UNKNOWN;
	known->old = known->new = CONSTANT_UNKNOWN;
}

/* Whether the operand is memory at a fixed distance from the stack pointer. */
static bool abi0_is_slot(const struct x86_insn *insn)
{
	return insn->has_modrm && insn->mod != 3 && insn->mod != 0 && (insn->rm & 7) == X86_RSP &&
	       insn->sib == 0x24;
}

/* Statuses are never negative, so CONSTANT_UNKNOWN stays unknown in both halves. */
static void store(struct abi0_args *known, int32_t slot, bool word, int64_t value)
{
	if (slot == 8)
		known->old = (int32_t)value;
	if (slot == 8 && word)
		known->new = value >> 32;
	else if (slot == 12)
		known->new = (int32_t)value;
}

static void abi0_follow(struct abi0_args *known, const struct x86_insn *insn)
{
	bool wide = insn->rex & 8;

	if (insn->relative) {
		forget_all(known);
	} else if (x86_is_one(insn, OP_STORE) && abi0_is_slot(insn)) {
		store(known, insn->disp, wide, known->registers[insn->reg]);
	} else if (x86_is_one(insn, OP_MOV_IMM_RM) && abi0_is_slot(insn)) {
		store(known, insn->disp, wide, insn->imm);
	} else if (insn->map == X86_ONE && insn->opcode >= OP_MOV_IMM && insn->opcode < OP_MOV_IMM + 8) {
		known->registers[(insn->opcode & 7) | (insn->rex & 1 ? 8 : 0)] = insn->imm;
	} else if (x86_is_one(insn, OP_MOV_IMM_RM) && insn->mod == 3) {
		known->registers[insn->rm] = insn->imm;
	} else if (insn->has_modrm && insn->mod == 3) {
		known->registers[insn->rm] = known->registers[insn->reg] = CONSTANT_UNKNOWN;
	} else if (insn->has_modrm && !x86_is_one(insn, OP_STORE)) {
		known->registers[insn->reg] = CONSTANT_UNKNOWN;
	}
}

int code_stack_calls(const struct code *code, uint64_t callee, struct call_site *sites, int max)
{
	struct abi0_args known;
	struct x86_insn insn;
	size_t at = 0, before = 0;
	int n = 0, rc;

	forget_all(&known);
	while ((rc = x86_next(code, &at, &insn)) > 0) {
		if (x86_is_call(&insn) && code->address + at + (uint64_t)insn.imm == callee) {
			if (n < max)
				sites[n] = (struct call_site){
					.offset = before,
					.end = at,
					.args = {CONSTANT_UNKNOWN, known.old, known.new},
				};
			n++;
		}
		abi0_follow(&known, &insn);
		before = at;
	}
	return rc < 0 ? rc : n;
}

/* A range of code without jumps that ends with a relevant call. */
struct trace_call {
	size_t begin, call; /* offsets */
	bool guarded;       /* a conditional jump is directly before the range */
	size_t guard;
};

enum { MAX_TRACE_CALLS = 8, OP_MOV8_IMM_RM = 0xc6, OP_RET = 0xc3, OP_JMP8 = 0xeb, OP_JMP = 0xe9 };

/* ud2 follows calls that do not return (panicdivide). */
static bool abi0_ends_block(const struct x86_insn *insn)
{
	return x86_is_jcc(insn) || (insn->map == X86_0F && insn->opcode == 0x0b) ||
	       x86_is_one(insn, OP_RET) || x86_is_one(insn, OP_JMP8) || x86_is_one(insn, OP_JMP);
}

/* movb $event, (%rsp) */
static bool sets_event(const struct x86_insn *insn, int event)
{
	return x86_is_one(insn, OP_MOV8_IMM_RM) && insn->mod == 0 && (insn->rm & 7) == X86_RSP &&
	       insn->sib == 0x24 && (uint8_t)insn->imm == event;
}

static int find_trace_calls(const struct code *code, const struct trace_callee *callee_of_trace,
			    struct trace_call calls[MAX_TRACE_CALLS])
{
	struct trace_call now = {0};
	struct x86_insn insn;
	size_t at = 0, before = 0;
	bool event = false;
	int n = 0, rc;

	while ((rc = x86_next(code, &at, &insn)) > 0 && n < MAX_TRACE_CALLS) {
		uint64_t to = code->address + at + (uint64_t)insn.imm;

		event = event || sets_event(&insn, callee_of_trace->event);
		now.call = before;
		if (x86_is_call(&insn) &&
		    (to == callee_of_trace->own || (to == callee_of_trace->any && event)))
			calls[n++] = now;
		if (x86_is_call(&insn))
			event = false;
		if (abi0_ends_block(&insn)) {
			now = (struct trace_call){.begin = at, .guarded = x86_is_jcc(&insn), .guard = before};
			event = false;
		}
		before = at;
	}
	return rc < 0 ? rc : n;
}

/* Finds the conditional jumps to that range. */
static int find_jumps(const struct code *code, const struct trace_call *call, size_t *offsets, int n, int max)
{
	struct x86_insn insn;
	size_t at = 0, before = 0;

	while (x86_next(code, &at, &insn) > 0) {
		size_t to = at + (size_t)insn.imm;

		if (x86_is_jcc(&insn) && to == call->begin) {
			if (n < max)
				offsets[n] = before;
			n++;
		}
		before = at;
	}
	return n;
}

int code_trace_guards(const struct code *code, const struct trace_callee *callee_of_trace, size_t *offsets,
		      int max)
{
	struct trace_call calls[MAX_TRACE_CALLS];
	int count = find_trace_calls(code, callee_of_trace, calls), n = 0;

	for (int i = 0; i < count; i++) {
		if (!calls[i].guarded) {
			n = find_jumps(code, &calls[i], offsets, n, max);
			continue;
		}
		if (n < max)
			offsets[n] = calls[i].guard;
		n++;
	}
	return count < 0 ? count : n;
}

int code_trace_call(const struct code *code, const struct trace_callee *callee_of_trace, size_t *offset)
{
	struct trace_call calls[MAX_TRACE_CALLS];
	int count = find_trace_calls(code, callee_of_trace, calls);

	if (count != 1)
		return -ENOENT;
	*offset = calls[0].call;
	return 0;
}
