/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Places in the code of Go up to 1.16 that the BPF programs need (bpf/abi0.bpf.h). */
#include "target/private.h"

#include <string.h>

/*
 * Finds the function's call of the tracer function `own`, and the call in `own` if that is not inlined; 0 if
 * unknown.
 */
static void find_abi0_trace_call(const struct target *target, const char *function, const char *own,
				 int event, uint64_t *trace_call, uint64_t *in_callee)
{
	struct trace_callee callee_of_trace = {.event = event};
	struct code code, callee, any;
	size_t offset;

	if (target_code(target, "runtime.traceEvent", &any) || target_code(target, function, &code))
		return;
	callee_of_trace.any = any.address;
	if (target_code(target, own, &callee) == 0 &&
	    code_trace_call(&callee, &callee_of_trace, &offset) == 0) {
		*in_callee = callee.address + offset + 1 + target->bias;
		callee_of_trace.own = callee.address;
	}
	if (code_trace_call(&code, &callee_of_trace, &offset))
		return;
	*trace_call = code.address + offset + 1 + target->bias;
	if (code.bytes[offset] == 0xe8 && callee_of_trace.own) {
		int32_t to;

		memcpy(&to, code.bytes + offset + 1, sizeof(to));
		if (code.address + offset + 5 + (uint64_t)(int64_t)to == callee_of_trace.own)
			return;
	}
	*in_callee = 0;
}

void target_find_abi0_places(struct target *target)
{
	enum { EV_SWEEP_START = 11, EV_ASSIST_START = 43 }; /* Go 1.9 to 1.16 runtime/trace.go */
	struct go_places *places = &target->places;
	uint64_t end;

	find_abi0_trace_call(target, target->go_minor <= 5 ? "runtime.mSpan_Sweep" : "runtime.(*mspan).sweep",
			     target->go_minor <= 8 ? "runtime.traceGCSweepStart" : "runtime.traceGCSweepSpan",
			     EV_SWEEP_START, &places->sweep_trace_call, &places->sweep_trace_callee);
	find_abi0_trace_call(target, "runtime.gcAssistAlloc", "runtime.traceGCMarkAssistStart",
			     EV_ASSIST_START, &places->assist_trace_call, &places->assist_trace_callee);
	if (target->go_minor == 4)
		functab_find(target->functab, "runtime.newstack", &places->newstack, &places->newstack_end);
	if (target->go_minor <= 11)
		functab_find(target->functab, "runtime.(*mheap).reclaim", &places->reclaim,
			     &places->reclaim_end);
	functab_find(target->functab, "runtime.gcBgMarkWorker", &places->gc_worker, &end);
	if (places->gc_controller)
		places->next_gc = places->gc_controller + target->image->release->layout.runtime.gc_heap_goal;
}
