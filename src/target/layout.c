/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/layout.h"

#include <string.h>

#include "target/layouts.inc"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define GO(field, type, path)                                                                                \
	{                                                                                                    \
		"go." #field, offsetof(struct layout, go.field), type, path, false                           \
	}
#define GO_MAYBE(field, type, path)                                                                          \
	{                                                                                                    \
		"go." #field, offsetof(struct layout, go.field), type, path, true                            \
	}
#define RT(field, type, path)                                                                                \
	{                                                                                                    \
		"runtime." #field, offsetof(struct layout, runtime.field), type, path, false                 \
	}

/* Names: Go 1.26 runtime/runtime2.go, coro.go, mheap.go, mgcpacer.go, symtab.go. */
const struct layout_field layout_fields[] = {
	GO(g_stack_lo, "runtime.g", "stack.lo"),
	GO(g_stack_hi, "runtime.g", "stack.hi"),
	GO(g_m, "runtime.g", "m"),
	GO(g_sched_sp, "runtime.g", "sched.sp"),
	GO(g_sched_pc, "runtime.g", "sched.pc"),
	GO(g_sched_bp, "runtime.g", "sched.bp"),
	GO(g_syscallsp, "runtime.g", "syscallsp"),
	GO(g_syscallpc, "runtime.g", "syscallpc"),
	GO_MAYBE(g_syscallbp, "runtime.g", "syscallbp"), /* 1.23 and later */
	GO(g_status, "runtime.g", "atomicstatus"),
	GO(g_goid, "runtime.g", "goid"),
	GO(g_waitreason, "runtime.g", "waitreason"),
	GO(g_preempt, "runtime.g", "preempt"),
	GO(g_startpc, "runtime.g", "startpc"),
	GO(g_gopc, "runtime.g", "gopc"),
	GO(g_parent_goid, "runtime.g", "parentGoid"),
	GO_MAYBE(g_coroarg, "runtime.g", "coroarg"),
	GO_MAYBE(g_coroexit, "runtime.g", "coroexit"),
	GO_MAYBE(g_sync_safe_point, "runtime.g", "syncSafePoint"), /* 1.23 and later */
	GO(m_g0, "runtime.m", "g0"),
	GO(m_gsignal, "runtime.m", "gsignal"),
	GO(m_curg, "runtime.m", "curg"),
	GO(m_p, "runtime.m", "p"),
	GO(m_oldp, "runtime.m", "oldp"),
	GO(m_procid, "runtime.m", "procid"),
	GO(m_syscalltick, "runtime.m", "syscalltick"),
	GO(m_block_reason, "runtime.m", "waitTraceBlockReason"),
	GO(m_trace_skip, "runtime.m", "waitTraceSkip"),
	GO(m_alllink, "runtime.m", "alllink"),
	GO(p_id, "runtime.p", "id"),
	GO(p_status, "runtime.p", "status"),
	GO(p_m, "runtime.p", "m"),
	GO(p_syscalltick, "runtime.p", "syscalltick"),
	GO(p_goidcache, "runtime.p", "goidcache"),
	GO(p_goidcacheend, "runtime.p", "goidcacheend"),
	GO(p_gc_mark_worker_mode, "runtime.p", "gcMarkWorkerMode"),
	GO_MAYBE(coro_gp, "runtime.coro", "gp"), /* only in programs with iter.Pull */
	GO(g_in_mark_assist, "runtime.g", "inMarkAssist"),
	GO(span_npages, "runtime.mspan", "npages"),
	GO(span_alloc_count, "runtime.mspan", "allocCount"),
	GO(span_elemsize, "runtime.mspan", "elemsize"),
	GO(gc_percent, "runtime.gcControllerState", "gcPercent"),
	GO(gc_heap_live, "runtime.gcControllerState", "heapLive"),
	RT(module_text, "runtime.moduledata", "text"),
	RT(module_etext, "runtime.moduledata", "etext"),
	RT(module_gofunc, "runtime.moduledata", "gofunc"),
	RT(module_pclntable, "runtime.moduledata", "pclntable"),
	RT(sched_lock, "runtime.schedt", "lock"),
	RT(gc_percent_goal, "runtime.gcControllerState", "gcPercentHeapGoal"),
	RT(gc_min_trigger, "runtime.gcControllerState", "sweepDistMinTrigger"),
	RT(gc_triggered, "runtime.gcControllerState", "triggered"),
	RT(gc_heap_marked, "runtime.gcControllerState", "heapMarked"),
	RT(gc_memory_limit, "runtime.gcControllerState", "memoryLimit"),
	RT(gc_heap_free, "runtime.gcControllerState", "heapFree"),
	RT(gc_total_alloc, "runtime.gcControllerState", "totalAlloc"),
	RT(gc_total_free, "runtime.gcControllerState", "totalFree"),
	RT(gc_mapped_ready, "runtime.gcControllerState", "mappedReady"),
	RT(span_base, "runtime.mspan", "startAddr"),
	RT(span_npages, "runtime.mspan", "npages"),
	RT(span_class, "runtime.mspan", "spanclass"),
	RT(span_state, "runtime.mspan", "state"),
	RT(heap_allspans, "runtime.mheap", "allspans"),
};

const unsigned layout_field_count = COUNT(layout_fields);

uint32_t layout_get(const struct layout *layout, const struct layout_field *field)
{
	uint32_t value;

	memcpy(&value, (const char *)layout + field->offset, sizeof(value));
	return value;
}

void layout_set(struct layout *layout, const struct layout_field *field, uint32_t value)
{
	memcpy((char *)layout + field->offset, &value, sizeof(value));
}

const char *reason_variable(enum log_reason_table table)
{
	/* Go 1.26 runtime/runtime2.go, traceruntime.go, proc.go. */
	switch (table) {
	case REASON_BLOCK:
		return "runtime.traceBlockReasonStrings";
	case REASON_WAIT:
		return "runtime.waitReasonStrings";
	case REASON_STW:
		return "runtime.stwReasonStrings";
	case REASON_STOP:
		return "runtime.traceGoStopReasonStrings";
	case REASON_PARK: /* ours: park.c */
		break;
	}
	return NULL;
}

const struct release *release_find(unsigned minor)
{
	for (size_t i = 0; i < COUNT(releases); i++) {
		if (releases[i].minor == minor)
			return &releases[i];
	}
	return NULL;
}

unsigned release_first(void)
{
	return releases[0].minor;
}

unsigned release_last(void)
{
	return releases[COUNT(releases) - 1].minor;
}
