/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>

#include "isa/code_ops.h"
#include "isa/x86.h"

enum { FAR = 12 }; /* instructions behind a call that are looked at */

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
