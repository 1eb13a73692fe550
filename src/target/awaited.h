/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a goroutine waits for, from a copy of its stack. bpf/awaited.bpf.h says how and why. */
#ifndef GOTRACE_TARGET_AWAITED_H
#define GOTRACE_TARGET_AWAITED_H

#include "target/memory.h"
#include "target/stack.h"
#include "target/target.h"

/* AWAITED (bpf/record.h); 0 = it waits for nothing that has an address, or this is not known. */
uint64_t awaited_read(const struct target *target, const struct g_view *view,
		      const struct memory_piece *stack);

#endif
