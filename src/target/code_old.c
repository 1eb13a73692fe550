/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Go up to 1.16: arguments are on the stack, and frames are made by sub, not by a push. */
#include "target/code_x86.h"

#include <errno.h>

enum {
	OP_STORE = 0x89,
	OP_MOV_IMM = 0xb8, /* + register */
	OP_MOV_IMM_RM = 0xc7,
	REGISTERS = 16,
	/* mov fs:g, reg; cmp guard, rsp; jbe; with lea in between for a big frame, and more for a huge one.
	 */
	MAX_STACK_CHECK = 10,
};

static bool is_one(const struct x86_insn *insn, uint8_t opcode)
{
	return insn->map == X86_ONE && !insn->vex && insn->opcode == opcode;
}

/* cmp of registers or memory, cmp and sub with an immediate, lea, mov from memory. */
static bool may_precede_check(const struct x86_insn *insn)
{
	return is_one(insn, 0x39) || is_one(insn, 0x3b) || is_one(insn, 0x81) || is_one(insn, 0x83) ||
	       is_one(insn, 0x29) || is_one(insn, 0x2b) || is_one(insn, 0x8d) || is_one(insn, 0x8b) ||
	       is_one(insn, OP_MOV_IMM_RM);
}

/* jbe; 1.4 jumps over the call of morestack by ja. */
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

	for (int i = 0; i < MAX_STACK_CHECK && code_next(code, &at, &insn) > 0; i++) {
		if (is_stack_jump(&insn) && compared) {
			*offset = before;
			return 0;
		}
		if (i == 0 && !insn.fs && !is_one(&insn, OP_MOV_IMM_RM) && !is_one(&insn, 0x3b))
			break; /* g is the first thing a check needs */
		/* A huge frame has a jump of its own before: if the guard is being poisoned (stackPreempt).
		 */
		if (!may_precede_check(&insn) && !x86_is_jcc(&insn))
			break;
		compared = is_one(&insn, 0x39) || is_one(&insn, 0x3b);
		before = at;
	}
	return -ENOENT;
}

/* What is known of the words of arguments: two statuses of 32 bits in the second. */
struct known {
	int64_t registers[REGISTERS];
	int64_t old, new;
};

static void know_nothing(struct known *known)
{
	for (int i = 0; i < REGISTERS; i++)
		known->registers[i] = CONSTANT_UNKNOWN;
	known->old = known->new = CONSTANT_UNKNOWN;
}

/* To memory at a distance from the stack pointer. */
static bool is_slot(const struct x86_insn *insn)
{
	return insn->has_modrm && insn->mod != 3 && insn->mod != 0 && (insn->rm & 7) == X86_RSP &&
	       insn->sib == 0x24;
}

/* No status is negative, so that what is unknown stays so in both halves. */
static void store(struct known *known, int32_t slot, bool word, int64_t value)
{
	if (slot == 8)
		known->old = (int32_t)value;
	if (slot == 8 && word)
		known->new = value >> 32;
	else if (slot == 12)
		known->new = (int32_t)value;
}

static void follow(struct known *known, const struct x86_insn *insn)
{
	bool wide = insn->rex & 8;

	if (insn->relative) {
		know_nothing(known);
	} else if (is_one(insn, OP_STORE) && is_slot(insn)) {
		store(known, insn->disp, wide, known->registers[insn->reg]);
	} else if (is_one(insn, OP_MOV_IMM_RM) && is_slot(insn)) {
		store(known, insn->disp, wide, insn->imm);
	} else if (insn->map == X86_ONE && insn->opcode >= OP_MOV_IMM && insn->opcode < OP_MOV_IMM + 8) {
		known->registers[(insn->opcode & 7) | (insn->rex & 1 ? 8 : 0)] = insn->imm;
	} else if (is_one(insn, OP_MOV_IMM_RM) && insn->mod == 3) {
		known->registers[insn->rm] = insn->imm;
	} else if (insn->has_modrm && insn->mod == 3) {
		known->registers[insn->rm] = known->registers[insn->reg] = CONSTANT_UNKNOWN;
	} else if (insn->has_modrm && !is_one(insn, OP_STORE)) {
		known->registers[insn->reg] = CONSTANT_UNKNOWN;
	}
}

int code_stack_calls(const struct code *code, uint64_t callee, struct call_site *sites, int max)
{
	struct known known;
	struct x86_insn insn;
	size_t at = 0, before = 0;
	int n = 0, rc;

	know_nothing(&known);
	while ((rc = code_next(code, &at, &insn)) > 0) {
		if (x86_is_call(&insn) && code->address + at + (uint64_t)insn.imm == callee) {
			if (n < max)
				sites[n] = (struct call_site){
					.offset = before, .args = {CONSTANT_UNKNOWN, known.old, known.new}};
			n++;
		}
		follow(&known, &insn);
		before = at;
	}
	return rc < 0 ? rc : n;
}

/* A stretch of code without jumps that ends by a call of interest. */
struct telling {
	size_t begin, call; /* offsets */
	bool guarded;       /* a conditional jump stands right before it */
	size_t guard;
};

enum { MAX_TELLINGS = 8, OP_MOV8_IMM_RM = 0xc6, OP_RET = 0xc3, OP_JMP8 = 0xeb, OP_JMP = 0xe9 };

/* ud2 stands behind calls that do not come back (panicdivide). */
static bool ends_stretch(const struct x86_insn *insn)
{
	return x86_is_jcc(insn) || (insn->map == X86_0F && insn->opcode == 0x0b) || is_one(insn, OP_RET) ||
	       is_one(insn, OP_JMP8) || is_one(insn, OP_JMP);
}

/* movb $event, (%rsp) */
static bool sets_event(const struct x86_insn *insn, int event)
{
	return is_one(insn, OP_MOV8_IMM_RM) && insn->mod == 0 && (insn->rm & 7) == X86_RSP &&
	       insn->sib == 0x24 && (uint8_t)insn->imm == event;
}

static int find_tellings(const struct code *code, const struct teller *teller,
			 struct telling tellings[MAX_TELLINGS])
{
	struct telling now = {0};
	struct x86_insn insn;
	size_t at = 0, before = 0;
	bool event = false;
	int n = 0, rc;

	while ((rc = code_next(code, &at, &insn)) > 0 && n < MAX_TELLINGS) {
		uint64_t to = code->address + at + (uint64_t)insn.imm;

		event = event || sets_event(&insn, teller->event);
		now.call = before;
		if (x86_is_call(&insn) && (to == teller->own || (to == teller->any && event)))
			tellings[n++] = now;
		if (x86_is_call(&insn))
			event = false;
		if (ends_stretch(&insn)) {
			now = (struct telling){.begin = at, .guarded = x86_is_jcc(&insn), .guard = before};
			event = false;
		}
		before = at;
	}
	return rc < 0 ? rc : n;
}

/* The conditional jumps to the stretch. */
static int find_jumps(const struct code *code, const struct telling *telling, size_t *offsets, int n, int max)
{
	struct x86_insn insn;
	size_t at = 0, before = 0;

	while (code_next(code, &at, &insn) > 0) {
		size_t to = at + (size_t)insn.imm;

		if (x86_is_jcc(&insn) && to == telling->begin) {
			if (n < max)
				offsets[n] = before;
			n++;
		}
		before = at;
	}
	return n;
}

int code_tellings(const struct code *code, const struct teller *teller, size_t *offsets, int max)
{
	struct telling tellings[MAX_TELLINGS];
	int count = find_tellings(code, teller, tellings), n = 0;

	for (int i = 0; i < count; i++) {
		if (!tellings[i].guarded) {
			n = find_jumps(code, &tellings[i], offsets, n, max);
			continue;
		}
		if (n < max)
			offsets[n] = tellings[i].guard;
		n++;
	}
	return count < 0 ? count : n;
}

int code_telling_call(const struct code *code, const struct teller *teller, size_t *offset)
{
	struct telling tellings[MAX_TELLINGS];
	int count = find_tellings(code, teller, tellings);

	if (count != 1)
		return -ENOENT;
	*offset = tellings[0].call;
	return 0;
}
