/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Dispatches the functions of code.h, jumps.h and regions.h to the code's processor. */
#include <errno.h>

#include "code/isa/code_ops.h"

static const struct code_ops *ops_of(const struct code *code)
{
	return code->arm64 ? &code_ops_arm64 : &code_ops_x86;
}

int code_prologue(const struct code *code, size_t *offset)
{
	return ops_of(code)->prologue(code, offset);
}

int code_probe_insn(const struct code *code, size_t offset, struct probe_insn *insn)
{
	return ops_of(code)->probe_insn(code, offset, insn);
}

bool code_is_breakpoint(const struct code *code, const uint8_t *live)
{
	return ops_of(code)->is_breakpoint(live);
}

int code_calls(const struct code *code, uint64_t callee, struct call_site *sites, int max)
{
	return ops_of(code)->calls(code, callee, sites, max);
}

int code_flag(const struct code *code, uint64_t *flag)
{
	return ops_of(code)->flag(code, flag);
}

int code_flag_checks(const struct code *code, uint64_t flag, size_t *offsets, int max)
{
	return ops_of(code)->flag_checks(code, flag, offsets, max);
}

int code_references(const struct code *code, struct reference *references, int max)
{
	return ops_of(code)->references(code, references, max);
}

int code_slice_result(const struct code *code, size_t jump, struct value_place *base,
		      struct value_place *added)
{
	return ops_of(code)->slice_result(code, jump, base, added);
}

int code_receiver(const struct code *code, uint64_t callee, uint64_t *variable)
{
	return ops_of(code)->receiver(code, callee, variable);
}

int code_jump_after_call(const struct code *code, const struct call_results *results, size_t *offset)
{
	struct call_site site;
	int n = code_calls(code, results->callee, &site, 1);

	if (n < 1 || (n > 1 && !results->first))
		return -ENOENT;
	return ops_of(code)->jump_after(code, site.offset, results->words, offset);
}

int region_start_code(const struct code *code, struct start_region *start)
{
	return ops_of(code)->region_start(code, start);
}

enum region_use region_next_use(const struct code *text, uint64_t noop, size_t *at, size_t *use, size_t *jump)
{
	return ops_of(text)->region_next_use(text, noop, at, use, jump);
}
