/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/stack.h"

#include <string.h>

#include "target/layout.h"

#define WORD sizeof(uint64_t)

size_t g_view_size(const struct go_layout *layout)
{
	const uint32_t offsets[] = {
		layout->g_stack_lo,
		layout->g_stack_hi,
		layout->g_m,
		layout->g_sched_sp,
		layout->g_sched_pc,
		layout->g_sched_bp,
		layout->g_syscallsp,
		layout->g_syscallpc,
		layout->g_syscallbp,
		layout->g_status,
		layout->g_goid,
		layout->g_waitreason + WORD,
		layout->g_startpc,
		layout->g_sync_safe_point,
		layout->g_in_mark_assist,
	};

	return layout_extent(offsets, sizeof(offsets) / sizeof(offsets[0]));
}

void g_view_read(const struct go_layout *layout, const uint8_t *bytes, struct g_view *view)
{
	*view = (struct g_view){
		.goid = layout_word(bytes, layout->g_goid),
		.m = layout_word(bytes, layout->g_m),
		.startpc = layout_word(bytes, layout->g_startpc),
		.stack_lo = layout_word(bytes, layout->g_stack_lo),
		.stack_hi = layout_word(bytes, layout->g_stack_hi),
		.sp = layout_word(bytes, layout->g_syscallsp),
		.status = (uint32_t)layout_word(bytes, layout->g_status) & ~(uint32_t)G_STATUS_SCAN,
		.waitreason = bytes[layout->g_waitreason],
		.wait_text = layout_word(bytes, layout->g_waitreason),
		.wait_len = layout_word(bytes, layout->g_waitreason + WORD),
	};
	if (view->status == G_STATUS_ENQUEUE)
		view->status = G_STATUS_WAITING;
	if (layout->g_in_mark_assist != LAYOUT_ABSENT)
		view->assists = bytes[layout->g_in_mark_assist] & 1;
	if (view->sp) {
		view->pc = layout_word(bytes, layout->g_syscallpc);
		/* Up to 1.22 entersyscall saves the frame pointer only in g.sched. */
		view->bp = layout_word(bytes, layout->g_syscallbp != LAYOUT_ABSENT ? layout->g_syscallbp
										   : layout->g_sched_bp);
		return;
	}
	view->sp = layout_word(bytes, layout->g_sched_sp);
	view->pc = layout_word(bytes, layout->g_sched_pc);
	view->bp = layout_word(bytes, layout->g_sched_bp);
	/* gobuf: ... lr, bp (Go 1.22 to 1.26 runtime/runtime2.go); lr is always 0 on amd64 */
	if (layout->g_sched_bp != LAYOUT_ABSENT && layout->g_sched_bp >= WORD)
		view->lr = layout_word(bytes, layout->g_sched_bp - (uint32_t)WORD);
	if (layout->g_sync_safe_point != LAYOUT_ABSENT)
		view->sync_safe_point = bytes[layout->g_sync_safe_point] & 1;
}

static bool stack_holds(const struct g_view *view, uint64_t address, size_t size)
{
	return address >= view->stack_lo && address < view->stack_hi && view->stack_hi - address >= size;
}

bool g_view_has_stack(const struct g_view *view)
{
	if (!view->pc || !stack_holds(view, view->sp, WORD) || view->sp % WORD)
		return false;
	switch (view->status) {
	case G_STATUS_RUNNABLE:
	case G_STATUS_SYSCALL:
	case G_STATUS_PREEMPTED:
	case G_STATUS_LEAKED:
		return true;
	case G_STATUS_WAITING:
		/*
		 * If it has an M, it is stopping the world or being scanned: it is running, and g.sched is
		 * stale.
		 */
		return !view->m;
	default:
		return false;
	}
}

bool g_view_same(const struct g_view *one, const struct g_view *two)
{
	return one->goid == two->goid && one->status == two->status && one->m == two->m &&
	       one->pc == two->pc && one->sp == two->sp && one->bp == two->bp &&
	       one->stack_hi == two->stack_hi && one->sync_safe_point == two->sync_safe_point;
}

/* Loads words of the stack, from the chunk or by reading memory. */
static bool stack_load(const struct stack_memory *memory, uint64_t address, uint64_t *words, size_t n)
{
	size_t size = n * WORD;

	if (address >= memory->address && size <= memory->size &&
	    address - memory->address <= memory->size - size) {
		memcpy(words, memory->bytes + (address - memory->address), size);
		return true;
	}
	return memory->read && memory->read(memory->ctx, address, words, size) == 0;
}

unsigned stack_walk(const struct g_view *view, const struct stack_memory *memory, uint64_t pcs[STACK_DEPTH],
		    uint16_t *flags)
{
	uint64_t bp = view->bp, frame[2] = {0, 0};
	unsigned n = 0;

	*flags = 0;
	pcs[n++] = view->pc;
	/*
	 * In morestack, the caller's frame does not exist yet: its PC is in the link register or at the stack
	 * pointer.
	 */
	if (view->sync_safe_point && view->lr)
		pcs[n++] = view->lr;
	else if (view->sync_safe_point && stack_load(memory, view->sp, frame, 1))
		pcs[n++] = frame[0];
	while (bp) {
		if (n == STACK_DEPTH) {
			*flags = RAW_STACK_CUT;
			break;
		}
		if (bp % WORD || !stack_holds(view, bp, sizeof(frame)) || !stack_load(memory, bp, frame, 2) ||
		    (frame[0] && frame[0] <= bp)) {
			*flags = RAW_STACK_BROKEN;
			break;
		}
		/* A frame without a return address is the root. */
		if (frame[1])
			pcs[n++] = frame[1];
		bp = frame[0];
	}
	return n;
}
