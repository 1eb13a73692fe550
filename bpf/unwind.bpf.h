/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Stacks of native code. */
#ifndef GOTRACE_UNWIND_BPF_H
#define GOTRACE_UNWIND_BPF_H

#include "bpf/scratch.bpf.h"

/*
 * The stack of the current thread, from its own registers: ip is a return
 * address (in a system call the instruction behind it), or where it was
 * interrupted plus 1. Returns its hash, 0 if there is none.
 */
static __always_inline uint64_t native_stack(uint64_t ip, uint64_t sp, uint64_t bp, uint32_t tgid)
{
	struct scratch *s = begin_walk(0, NATIVE_STACK);
	uint64_t hash;

	(void)sp;
	(void)bp;
	(void)tgid;
	if (!s)
		return 0;
	s->flags = RAW_STACK_NATIVE;
	push_pc(s, ip);
	hash = name_stack(s, 0);
	give_back(s);
	return hash;
}

#endif
