/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/layout.h"

#include <stdlib.h>
#include <string.h>

#include "target/layouts.inc"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define GO(field, since, type, path)                                                                         \
	{                                                                                                    \
		"go." #field, offsetof(struct layout, go.field), type, path, since                           \
	}
#define RT(field, since, type, path)                                                                         \
	{                                                                                                    \
		"runtime." #field, offsetof(struct layout, runtime.field), type, path, since                 \
	}
#define OPTIONAL LAYOUT_OPTIONAL

/* Names: runtime/runtime2.go (runtime.h in Go 1.4), coro.go, mheap.go, mgcpacer.go, mstats.go, symtab.go. */
const struct layout_field layout_fields[] = {
	GO(g_stack_lo, 4, "runtime.g", "stack.lo"),
	GO(g_stack_hi, 4, "runtime.g", "stack.hi"),
	GO(g_m, 4, "runtime.g", "m"),
	GO(g_sched_sp, 4, "runtime.g", "sched.sp"),
	GO(g_sched_pc, 4, "runtime.g", "sched.pc"),
	GO(g_sched_bp, 5, "runtime.g", "sched.bp"),
	GO(g_syscallsp, 4, "runtime.g", "syscallsp"),
	GO(g_syscallpc, 4, "runtime.g", "syscallpc"),
	GO(g_syscallbp, OPTIONAL, "runtime.g", "syscallbp"),
	GO(g_status, 4, "runtime.g", "atomicstatus"),
	GO(g_goid, 4, "runtime.g", "goid"),
	GO(g_waitreason, 4, "runtime.g", "waitreason"),
	GO(g_preempt, 4, "runtime.g", "preempt"),
	GO(g_startpc, 5, "runtime.g", "startpc"),
	GO(g_gopc, 4, "runtime.g", "gopc"),
	GO(g_parent_goid, 21, "runtime.g", "parentGoid"),
	GO(g_coroarg, OPTIONAL, "runtime.g", "coroarg"),
	GO(g_coroexit, OPTIONAL, "runtime.g", "coroexit"),
	GO(g_sync_safe_point, OPTIONAL, "runtime.g", "syncSafePoint"),
	GO(m_g0, 4, "runtime.m", "g0"),
	GO(m_gsignal, 4, "runtime.m", "gsignal"),
	GO(m_curg, 4, "runtime.m", "curg"),
	GO(m_p, 4, "runtime.m", "p"),
	GO(m_oldp, 12, "runtime.m", "oldp"),
	GO(m_procid, 4, "runtime.m", "procid"),
	GO(m_syscalltick, 5, "runtime.m", "syscalltick"),
	GO(m_block_reason, 5, "runtime.m", "waitTraceBlockReason"),
	GO(m_block_reason, 5, "runtime.m", "waittraceev"), /* up to 1.20 */
	GO(m_trace_skip, 5, "runtime.m", "waitTraceSkip"),
	GO(m_trace_skip, 5, "runtime.m", "waittraceskip"),
	GO(m_alllink, 4, "runtime.m", "alllink"),
	GO(p_id, 4, "runtime.p", "id"),
	GO(p_status, 4, "runtime.p", "status"),
	GO(p_m, 4, "runtime.p", "m"),
	GO(p_syscalltick, 4, "runtime.p", "syscalltick"),
	GO(p_goidcache, 4, "runtime.p", "goidcache"),
	GO(p_goidcacheend, 4, "runtime.p", "goidcacheend"),
	GO(p_gc_mark_worker_mode, 5, "runtime.p", "gcMarkWorkerMode"),
	GO(coro_gp, OPTIONAL, "runtime.coro", "gp"), /* only in programs with iter.Pull */
	GO(g_in_mark_assist, 22, "runtime.g", "inMarkAssist"),
	GO(span_npages, 4, "runtime.mspan", "npages"),
	GO(span_alloc_count, 7, "runtime.mspan", "allocCount"),
	GO(span_elemsize, 4, "runtime.mspan", "elemsize"),
	GO(gc_percent, 17, "runtime.gcControllerState", "gcPercent"),
	GO(gc_heap_live, 5, "runtime.gcControllerState", "heapLive"),
	GO(gc_heap_live, 5, "runtime.mstats", "heap_live"), /* up to 1.16 */
	GO(g_bubble, OPTIONAL, "runtime.g", "bubble"),      /* since 1.25 */
	GO(bubble_root, OPTIONAL, "runtime.synctestBubble", "root"),
	RT(module_text, 5, "runtime.moduledata", "text"),
	RT(module_etext, 5, "runtime.moduledata", "etext"),
	RT(module_gofunc, 18, "runtime.moduledata", "gofunc"),
	RT(module_pclntable, 5, "runtime.moduledata", "pclntable"),
	/* Needed only by --requests. */
	RT(module_types, OPTIONAL, "runtime.moduledata", "types"), /* since 1.7 */
	RT(module_etypes, OPTIONAL, "runtime.moduledata", "etypes"),
	RT(module_typelinks, OPTIONAL, "runtime.moduledata", "typelinks"),     /* up to 1.26 */
	RT(module_typedesclen, OPTIONAL, "runtime.moduledata", "typedesclen"), /* since 1.27 */
	RT(module_next, OPTIONAL, "runtime.moduledata", "next"),               /* needed only for plugins */
	RT(sched_lock, 4, "runtime.schedt", "lock"),
	RT(g_barriers, OPTIONAL, "runtime.g", "stkbar"), /* 1.5 to 1.8 */
	/* Needed only by gotrace ps: a release without them can be traced. */
	RT(g_waitsince, OPTIONAL, "runtime.g", "waitsince"),
	RT(g_tracking_seq, OPTIONAL, "runtime.g", "trackingSeq"),            /* since 1.17 */
	RT(g_labels, OPTIONAL, "runtime.g", "labels"),                       /* since 1.9 */
	RT(gc_heap_goal, OPTIONAL, "runtime.mstats", "next_gc"),             /* up to 1.16 */
	RT(gc_heap_goal, OPTIONAL, "runtime.gcControllerState", "heapGoal"), /* 1.17 and 1.18 */
	RT(gc_percent_goal, 19, "runtime.gcControllerState", "gcPercentHeapGoal"),
	RT(gc_min_trigger, 19, "runtime.gcControllerState", "sweepDistMinTrigger"),
	RT(gc_triggered, 19, "runtime.gcControllerState", "triggered"),
	RT(gc_heap_marked, 17, "runtime.gcControllerState", "heapMarked"),
	RT(gc_memory_limit, 19, "runtime.gcControllerState", "memoryLimit"),
	RT(gc_heap_free, 19, "runtime.gcControllerState", "heapFree"),
	RT(gc_total_alloc, 19, "runtime.gcControllerState", "totalAlloc"),
	RT(gc_total_free, 19, "runtime.gcControllerState", "totalFree"),
	RT(gc_mapped_ready, 19, "runtime.gcControllerState", "mappedReady"),
	RT(span_base, 7, "runtime.mspan", "startAddr"),
	RT(span_npages, 4, "runtime.mspan", "npages"),
	RT(span_class, 9, "runtime.mspan", "spanclass"),
	RT(span_state, 4, "runtime.mspan", "state"),
	RT(heap_allspans, 4, "runtime.mheap", "allspans"),
};

const unsigned layout_field_count = COUNT(layout_fields);

bool layout_field_has_next_row(unsigned i)
{
	return i + 1 < COUNT(layout_fields) && layout_fields[i + 1].offset == layout_fields[i].offset;
}

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

size_t layout_extent(const uint32_t *offsets, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n; i++) {
		if (offsets[i] != LAYOUT_ABSENT && offsets[i] + sizeof(uint64_t) > size)
			size = offsets[i] + sizeof(uint64_t);
	}
	return size;
}

uint64_t layout_word(const uint8_t *bytes, uint32_t offset)
{
	uint64_t value = 0;

	if (offset != LAYOUT_ABSENT)
		memcpy(&value, bytes + offset, sizeof(value));
	return value;
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
	case REASON_PARK: /* gotrace's own table: park.c */
		break;
	}
	return NULL;
}

const struct release *release_patch(unsigned minor, unsigned n)
{
	for (size_t i = COUNT(releases); i-- > 0;) {
		if (releases[i].minor == minor && n-- == 0)
			return &releases[i];
	}
	return NULL;
}

const struct release *release_find(unsigned minor)
{
	return release_patch(minor, 0);
}

void release_free(struct release *release)
{
	for (int table = 0; table < REASON_TABLES; table++) {
		struct reasons *reasons = &release->reasons[table];

		for (unsigned i = 0; i < reasons->n; i++)
			free((char *)reasons->texts[i]);
		free((void *)reasons->texts);
		*reasons = (struct reasons){.n = 0};
	}
}

unsigned release_first(void)
{
	return releases[0].minor;
}

unsigned release_last(void)
{
	return releases[COUNT(releases) - 1].minor;
}
