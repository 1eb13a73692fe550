/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Places in the code that the BPF programs need of Go up to 1.16 (bpf/old.bpf.h). */
#include "target/private.h"

#include <string.h>

/* Where in the function the tracer is told by `own`, and where `own` does if it is not inlined; 0 if not
 * known. */
static void find_stack_telling(const struct target *target, const char *function, const char *own, int event,
			       uint64_t *tells, uint64_t *says)
{
	struct teller teller = {.event = event};
	struct code code, callee, any;
	size_t offset;

	if (target_code(target, "runtime.traceEvent", &any) || target_code(target, function, &code))
		return;
	teller.any = any.address;
	if (target_code(target, own, &callee) == 0 && code_telling_call(&callee, &teller, &offset) == 0) {
		*says = callee.address + offset + 1 + target->bias;
		teller.own = callee.address;
	}
	if (code_telling_call(&code, &teller, &offset))
		return;
	*tells = code.address + offset + 1 + target->bias;
	if (code.bytes[offset] == 0xe8 && teller.own) {
		int32_t to;

		memcpy(&to, code.bytes + offset + 1, sizeof(to));
		if (code.address + offset + 5 + (uint64_t)(int64_t)to == teller.own)
			return;
	}
	*says = 0;
}

void target_find_old_places(struct target *target)
{
	enum { EV_SWEEP_START = 11, EV_ASSIST_START = 43 }; /* Go 1.9 … 1.16 runtime/trace.go */
	struct go_places *places = &target->places;
	uint64_t end;

	find_stack_telling(target, target->go_minor <= 5 ? "runtime.mSpan_Sweep" : "runtime.(*mspan).sweep",
			   target->go_minor <= 8 ? "runtime.traceGCSweepStart" : "runtime.traceGCSweepSpan",
			   EV_SWEEP_START, &places->sweep_tells, &places->sweep_teller);
	find_stack_telling(target, "runtime.gcAssistAlloc", "runtime.traceGCMarkAssistStart", EV_ASSIST_START,
			   &places->assist_tells, &places->assist_teller);
	if (target->go_minor == 4)
		functab_find(target->functab, "runtime.newstack", &places->newstack, &places->newstack_end);
	if (target->go_minor <= 11)
		functab_find(target->functab, "runtime.(*mheap).reclaim", &places->reclaim,
			     &places->reclaim_end);
	functab_find(target->functab, "runtime.gcBgMarkWorker", &places->gc_worker, &end);
	if (places->gc_controller)
		places->next_gc = places->gc_controller + target->image->release->layout.runtime.gc_heap_goal;
}
