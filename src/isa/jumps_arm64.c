/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>

#include "isa/code_ops.h"
#include "isa/scan_arm64.h"

enum { FAR = 12, NEAR = 6 }; /* instructions behind a call that are looked at */

/* x0 to x3: the results that callers read. */
#define RESULTS 0xfu

int arm64_jump_behind_call(const struct code *code, uint64_t callee, size_t *offset)
{
	struct call_site site;
	struct arm64_insn insn;
	size_t next;

	if (code_calls(code, callee, &site, 1) != 1)
		return -ENOENT;
	next = site.offset + ARM64_LENGTH;
	if (!arm64_at(code, next, &insn))
		return -ENOENT;
	*offset = next; /* a second exception, if the kernel does not simulate it (code_arm64.c) */
	for (size_t at = next; at < next + FAR * ARM64_LENGTH && arm64_at(code, at, &insn);
	     at += ARM64_LENGTH) {
		if (arm64_is_conditional(&insn)) {
			*offset = at;
			break;
		}
		if (insn.op >= ARM64_B || arm64_changes(&insn) & RESULTS)
			break;
	}
	return 0;
}

/* A result is stored in the frame. */
static bool is_store(const struct arm64_insn *insn)
{
	return (insn->op == ARM64_STORE || insn->op == ARM64_STORE_PAIR) && insn->rn == ARM64_SP &&
	       !insn->before && !insn->after;
}

static bool is_check_of_error(const struct arm64_insn *insn)
{
	return (insn->op == ARM64_CBZ || insn->op == ARM64_CBNZ) && insn->rd == 1 && insn->wide;
}

/* The jump if the call at `call` is one whose error is checked at once. */
static bool find_check(const struct code *code, size_t call, size_t *offset)
{
	struct arm64_insn insn;

	for (size_t i = 1; i <= NEAR && arm64_at(code, call + i * ARM64_LENGTH, &insn); i++) {
		if (is_check_of_error(&insn)) {
			*offset = call + i * ARM64_LENGTH;
			return true;
		}
		if (!is_store(&insn) && insn.op != ARM64_NOP)
			return false;
	}
	return false;
}

int arm64_jump_on_error(const struct code *code, size_t *offset)
{
	struct arm64_insn insn;
	unsigned found = 0;

	for (size_t at = 0; arm64_at(code, at, &insn); at += ARM64_LENGTH)
		found += insn.op == ARM64_BLR && find_check(code, at, offset);
	return found == 1 ? 0 : -ENOENT;
}
