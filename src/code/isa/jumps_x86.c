/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>

#include "code/isa/code_ops.h"
#include "code/isa/written_x86.h"
#include "code/isa/x86.h"

enum { FAR = 24 }; /* instructions to inspect after a call */

static bool decode_at(const struct code *code, size_t at, struct x86_insn *insn)
{
	return at < code->size && x86_decode(code->bytes + at, code->size - at, insn);
}

static bool is_group5(const struct x86_insn *insn, unsigned which)
{
	return x86_is_one(insn, 0xff) && (insn->reg & 7) == which;
}

static bool is_any_call(const struct x86_insn *insn)
{
	return x86_is_call(insn) || is_group5(insn, 2);
}

/* An instruction after which the results are not in registers any more, or that another one follows. */
static bool x86_jump_ends_block(const struct x86_insn *insn)
{
	return is_any_call(insn) || is_group5(insn, 4) || x86_is_one(insn, 0xe9) || x86_is_one(insn, 0xeb) ||
	       x86_is_one(insn, 0xc3);
}

/* Registers of the words of results (Go's src/cmd/compile/abi-internal.md). */
static const uint8_t result_registers[] = {X86_RAX, X86_RBX, X86_RCX, X86_RDI, X86_RSI, 8, 9, 10, 11};

static uint32_t registers_of(uint32_t words)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < sizeof(result_registers); i++)
		mask |= words >> i & 1 ? 1u << result_registers[i] : 0;
	return mask;
}

/* Whether a jump of the function leads to an instruction after `from`, up to `to`. */
static bool is_entered(const struct code *code, size_t from, size_t to)
{
	struct x86_insn insn;

	for (size_t at = 0; decode_at(code, at, &insn); at += insn.length) {
		int64_t target = (int64_t)(at + insn.length) + insn.imm;

		if (insn.relative && !x86_is_call(&insn) && target > (int64_t)from && target <= (int64_t)to)
			return true;
	}
	return false;
}

int x86_jump_after(const struct code *code, size_t call, uint32_t words, size_t *offset)
{
	uint32_t needed = registers_of(words);
	struct x86_insn insn;
	size_t at, next;

	if (!decode_at(code, call, &insn))
		return -ENOENT;
	next = at = call + insn.length;
	if (!decode_at(code, at, &insn))
		return -ENOENT;
	*offset = next; /* single-stepped */
	for (unsigned i = 0; i < FAR && decode_at(code, at, &insn); i++, at += insn.length) {
		if (x86_is_emulated(&insn)) {
			*offset = is_entered(code, next, at) ? next : at;
			break;
		}
		if (x86_jump_ends_block(&insn) || x86_written_mask(&insn) & needed)
			break;
	}
	return 0;
}
