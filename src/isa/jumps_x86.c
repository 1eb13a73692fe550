/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>

#include "isa/code_ops.h"
#include "isa/x86.h"

enum { FAR = 12, NEAR = 4 }; /* instructions behind a call that are looked at */

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

/* The end of a basic block that is not a conditional jump, or a call, which changes the registers. */
static bool ends_block(const struct x86_insn *insn)
{
	return is_any_call(insn) || is_group5(insn, 4) || x86_is_one(insn, 0xe9) || x86_is_one(insn, 0xeb) ||
	       x86_is_one(insn, 0xc3);
}

int x86_jump_behind_call(const struct code *code, uint64_t callee, size_t *offset)
{
	struct call_site site;
	struct x86_insn insn;
	size_t at;

	if (code_calls(code, callee, &site, 1) != 1 || !decode_at(code, site.offset, &insn))
		return -ENOENT;
	at = site.offset + insn.length;
	if (!decode_at(code, at, &insn))
		return -ENOENT;
	*offset = at; /* single-stepped */
	for (unsigned i = 0; i < FAR && decode_at(code, at, &insn) && !ends_block(&insn); i++) {
		if (x86_is_jcc(&insn)) {
			*offset = at;
			break;
		}
		at += insn.length;
	}
	return 0;
}

/* `mov reg, N(%rsp)`: a result is stored. */
static bool is_store(const struct x86_insn *insn)
{
	return x86_is_one(insn, 0x89) && insn->mod != 3 && (insn->rm & 7) == X86_RSP;
}

static bool is_test_of_error(const struct x86_insn *insn)
{
	return x86_is_one(insn, 0x85) && insn->mod == 3 && insn->reg == X86_RBX && insn->rm == X86_RBX;
}

/* The jump if `at` is behind a call whose error is checked at once. */
static bool find_check(const struct code *code, size_t at, size_t *offset)
{
	struct x86_insn insn;
	bool tested = false;

	for (unsigned i = 0; i < 2 * NEAR && decode_at(code, at, &insn); i++) {
		if (tested && x86_is_jcc(&insn)) {
			*offset = at;
			return true;
		}
		if (is_test_of_error(&insn))
			tested = true;
		else if (!is_store(&insn) && !x86_is_nop(&insn))
			return false;
		at += insn.length;
	}
	return false;
}

int x86_jump_on_error(const struct code *code, size_t *offset)
{
	struct x86_insn insn;
	unsigned found = 0;

	for (size_t at = 0; decode_at(code, at, &insn); at += insn.length) {
		if (is_group5(&insn, 2) && insn.mod == 3 && find_check(code, at + insn.length, offset))
			found++;
	}
	return found == 1 ? 0 : -ENOENT;
}
