/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/isa/memory_jumps.h"

#include <errno.h>

#include "code/isa/scan_x86.h"

/* Opcodes of the 0f map, and `test` of the one-byte map. */
enum { OP_SETE = 0x94, OP_CMPXCHG = 0xb1, OP_XADD = 0xc1, OP_TEST8 = 0x84, OP_TEST = 0x85 };

/* The outcome is in the zero flag, in a register, or back in the zero flag, inverted. */
enum outcome { OUTCOME_LOST, OUTCOME_FLAG, OUTCOME_REGISTER, OUTCOME_TESTED };

static bool is_0f(const struct x86_insn *insn, uint8_t opcode)
{
	return insn->map == X86_0F && !insn->vex && insn->opcode == opcode;
}

static bool tests_register(const struct x86_insn *insn, uint8_t reg)
{
	return (x86_is_one(insn, OP_TEST) || x86_is_one(insn, OP_TEST8)) && insn->mod == 3 &&
	       insn->reg == reg && insn->rm == reg;
}

/* Finds the jump that depends on the outcome of the exchange before `at`. */
static size_t jump_on_outcome(const struct code *code, size_t at, uint8_t base)
{
	enum outcome outcome = OUTCOME_FLAG;
	struct x86_insn insn;
	uint8_t reg = 0;
	size_t before = at;

	for (; outcome != OUTCOME_LOST && x86_next(code, &at, &insn) > 0; before = at) {
		if (x86_is_nop(&insn))
			continue;
		if (outcome == OUTCOME_TESTED)
			return x86_is_jcc(&insn) ? before : 0;
		if (outcome == OUTCOME_FLAG && is_0f(&insn, OP_SETE) && insn.mod == 3 && insn.rm != base) {
			outcome = OUTCOME_REGISTER;
			reg = insn.rm;
		} else {
			outcome = outcome == OUTCOME_REGISTER && tests_register(&insn, reg) ? OUTCOME_TESTED
											    : OUTCOME_LOST;
		}
	}
	return 0;
}

/* lock cmpxchg of 32 bits, relative to a register without an index. */
static bool is_exchange(const struct x86_insn *insn, int32_t displacement)
{
	return is_0f(insn, OP_CMPXCHG) && insn->mod != 3 && !(insn->rex & 8) && !insn->rip_relative &&
	       insn->disp == displacement && ((insn->rm & 7) != X86_RSP || insn->sib == 0x24);
}

int code_exchanges(const struct code *code, int32_t displacement, struct exchange *found, int max)
{
	int64_t constants[X86_REGISTERS];
	struct x86_insn insn;
	size_t at = 0, before = 0;
	int n = 0, rc;

	if (code->arm64)
		return -ENOTSUP;
	x86_forget_constants(constants);
	for (; (rc = x86_next(code, &at, &insn)) > 0; before = at) {
		if (is_exchange(&insn, displacement)) {
			if (n < max)
				found[n] = (struct exchange){
					.offset = before,
					.jump = jump_on_outcome(code, at, insn.rm),
					.base = insn.rm,
					.old = constants[X86_RAX],
					.new = constants[insn.reg],
				};
			n++;
		}
		x86_follow_constants(constants, &insn);
	}
	return rc < 0 ? rc : n;
}

static size_t next_jump(const struct code *code, size_t at)
{
	struct x86_insn insn;

	for (size_t before = at; x86_next(code, &at, &insn) > 0; before = at) {
		if (x86_is_jcc(&insn))
			return before;
		if (x86_leaves_line(&insn))
			break;
	}
	return 0;
}

int code_atomic_adds(const struct code *code, struct atomic_add *found, int max)
{
	struct x86_insn insn;
	size_t at = 0, before = 0;
	int n = 0, rc;

	if (code->arm64)
		return -ENOTSUP;
	for (; (rc = x86_next(code, &at, &insn)) > 0; before = at) {
		if (!is_0f(&insn, OP_XADD) || insn.mod == 3 || !(insn.rex & 8))
			continue;
		if (n < max)
			found[n] = (struct atomic_add){.offset = before, .jump = next_jump(code, at)};
		n++;
	}
	return rc < 0 ? rc : n;
}

/* cmp $imm, displacement(%base), of 32 bits, and back: cmp with a register. */
static bool x86_memory_compares_word(const struct x86_insn *insn, int32_t displacement)
{
	bool compares = ((x86_is_one(insn, 0x83) || x86_is_one(insn, 0x81)) && insn->reg == 7) ||
			x86_is_one(insn, 0x39) || x86_is_one(insn, 0x3b);

	return compares && insn->mod != 3 && !(insn->rex & 8) && !insn->rip_relative &&
	       insn->disp == displacement && (insn->rm & 7) != X86_RSP;
}

/* cmp $imm, %reg */
static bool compares_constant(const struct x86_insn *insn, uint8_t reg)
{
	return (x86_is_one(insn, 0x83) || x86_is_one(insn, 0x81)) && insn->reg == 7 && insn->mod == 3 &&
	       insn->rm == reg;
}

/* mov displacement(%base), %r, of 32 bits */
static bool x86_memory_loads_word(const struct x86_insn *insn, int32_t displacement)
{
	return x86_is_one(insn, 0x8b) && insn->mod != 3 && !(insn->rex & 8) && !insn->rip_relative &&
	       insn->disp == displacement && (insn->rm & 7) != X86_RSP && insn->reg != insn->rm;
}

int code_comparisons(const struct code *code, int32_t displacement, struct comparison *found, int max)
{
	struct x86_insn insn, load = {.length = 0};
	size_t at = 0, before = 0;
	int n = 0, rc, base = -1;

	if (code->arm64)
		return -ENOTSUP;
	for (; (rc = x86_next(code, &at, &insn)) > 0; before = at) {
		if (x86_is_nop(&insn))
			continue;
		if (base >= 0 && x86_is_jcc(&insn)) {
			if (n < max)
				found[n] = (struct comparison){.jump = before, .base = (uint8_t)base};
			n++;
		}
		if (x86_memory_compares_word(&insn, displacement))
			base = insn.rm;
		else if (load.length &&
			 (tests_register(&insn, load.reg) || compares_constant(&insn, load.reg)))
			base = load.rm;
		else
			base = -1;
		load.length = 0;
		if (x86_memory_loads_word(&insn, displacement))
			load = insn;
	}
	return rc < 0 ? rc : n;
}
