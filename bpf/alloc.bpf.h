/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Spans of the heap and stacks of goroutines: where the runtime's tracer tells
 * of them when GODEBUG=traceallocfree=1 (Go 1.23 to 1.26
 * runtime/traceallocfree.go). All of it runs on g0.
 */
#ifndef GOTRACE_ALLOC_BPF_H
#define GOTRACE_ALLOC_BPF_H

#include "bpf/proc.bpf.h"

const volatile struct alloc_layout alloc_layout;

static __always_inline void about_memory(struct pt_regs *ctx, uint8_t site, uint64_t address, uint64_t what)
{
	struct raw_record rec = {.site = site, .arg = address, .arg2 = what};

	by_curg(&rec, m_of_g(REG_G(ctx)), 0, false);
}

/* allocSpan calls initSpan(h AX, s BX, typ CX, spanclass DI, base SI, npages R8): nobody else has it yet. */
SEC("?uprobe")
int alloc_span(struct pt_regs *ctx)
{
	about_memory(ctx, SITE_ALLOC_SPAN, GO_ARG(ctx, 4),
		     GO_ARG(ctx, 5) << 16 | (uint64_t)(uint8_t)GO_ARG(ctx, 2) << 8 | (uint8_t)GO_ARG(ctx, 3));
	return 0;
}

/* freeSpanLocked(h AX, s BX, typ CX), from freeSpan and freeManual: nobody can have it again yet. */
SEC("?uprobe")
int alloc_span_free(struct pt_regs *ctx)
{
	about_memory(ctx, SITE_ALLOC_SPAN_FREE, read_word(GO_ARG(ctx, 1) + alloc_layout.span_base), 0);
	return 0;
}

static __always_inline uint64_t value_at(const struct pt_regs *ctx, const volatile struct value_place *place)
{
	return place->on_stack ? read_word(REG_SP(ctx) + place->slot) : reg_value(ctx, place->reg);
}

/* stackalloc(n) at its check whether a trace is on: the stack is chosen. n is a uint32. */
SEC("?uprobe")
int alloc_stack(struct pt_regs *ctx)
{
	about_memory(ctx, SITE_ALLOC_STACK, value_at(ctx, &alloc_layout.stack_base),
		     (uint32_t)value_at(ctx, &alloc_layout.stack_size));
	return 0;
}

/* stackfree(lo AX, hi BX) */
SEC("?uprobe")
int alloc_stack_free(struct pt_regs *ctx)
{
	about_memory(ctx, SITE_ALLOC_STACK_FREE, GO_ARG(ctx, 0), 0);
	return 0;
}

#endif
