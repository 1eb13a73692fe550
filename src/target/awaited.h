/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads what a goroutine waits for from a copy of its stack. bpf/awaited.bpf.h explains how. */
#ifndef GOTRACE_TARGET_AWAITED_H
#define GOTRACE_TARGET_AWAITED_H

#include "target/memory.h"
#include "target/stack.h"
#include "target/target.h"

/* Returns AWAITED() (bpf/record.h), or 0 if this is unknown or what is awaited has no address. */
uint64_t awaited_read(const struct target *target, const struct g_view *view,
		      const struct memory_piece *stack);

#endif
