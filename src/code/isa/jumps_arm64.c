/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>

#include "code/isa/code_ops.h"
#include "code/isa/scan_arm64.h"

enum { FAR = 12 }; /* instructions to inspect after a call */

int arm64_jump_after(const struct code *code, size_t call, uint32_t words, size_t *offset)
{
	struct arm64_insn insn;
	size_t next = call + ARM64_LENGTH;

	if (!arm64_at(code, next, &insn))
		return -ENOENT;
	*offset = next; /* a second exception, if the kernel does not simulate it (code_arm64.c) */
	for (size_t at = next; at < next + FAR * ARM64_LENGTH && arm64_at(code, at, &insn);
	     at += ARM64_LENGTH) {
		if (arm64_is_conditional(&insn)) {
			*offset = at;
			break;
		}
		if (insn.op >= ARM64_B || arm64_changes(&insn) & words) /* word i is in register i */
			break;
	}
	return 0;
}
