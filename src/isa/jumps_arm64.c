/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>

#include "isa/code_ops.h"
#include "isa/scan_arm64.h"

enum { FAR = 12 }; /* instructions behind a call that are looked at */

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
