/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Heap spans and goroutine stacks, probed where the runtime's tracer traces them when
 * GODEBUG=traceallocfree=1 (Go 1.23 to 1.26 runtime/traceallocfree.go). All of this code runs on g0.
 */
#ifndef GOTRACE_ALLOC_BPF_H
#define GOTRACE_ALLOC_BPF_H

#include "bpf/proc.bpf.h"

const volatile struct alloc_layout alloc_layout;

static __always_inline void about_memory(struct pt_regs *ctx, uint8_t site, uint64_t address, uint64_t what)
{
	struct raw_record rec = {.site = site, .arg = address, .arg2 = what};

	by_curg(&rec, this_m(ctx), NO_STACK);
}

/* allocSpan calls initSpan(h AX, s BX, typ CX, spanclass DI, base SI, npages R8) before the span is
 * published. */
HIT(alloc_span)
{
	about_memory(ctx, SITE_ALLOC_SPAN, GO_ARG(ctx, 4),
		     GO_ARG(ctx, 5) << 16 | (uint64_t)(uint8_t)GO_ARG(ctx, 2) << 8 | (uint8_t)GO_ARG(ctx, 3));
}

/* freeSpanLocked(h AX, s BX, typ CX), called by freeSpan and freeManual before the span can be reused. */
HIT(alloc_span_free)
{
	about_memory(ctx, SITE_ALLOC_SPAN_FREE, read_word(GO_ARG(ctx, 1) + alloc_layout.span_base), 0);
}

static __always_inline uint64_t value_at(const struct pt_regs *ctx, const volatile struct value_place *place)
{
	return place->on_stack ? read_word(REG_SP(ctx) + place->slot) : reg_value(ctx, place->reg);
}

/* stackalloc(n uint32), at its check whether a trace is on: it has chosen the stack by then. */
HIT(alloc_stack)
{
	about_memory(ctx, SITE_ALLOC_STACK, value_at(ctx, &alloc_layout.stack_base),
		     (uint32_t)value_at(ctx, &alloc_layout.stack_size));
}

/* stackfree(lo AX, hi BX) */
HIT(alloc_stack_free)
{
	about_memory(ctx, SITE_ALLOC_STACK_FREE, GO_ARG(ctx, 0), 0);
}

#endif
