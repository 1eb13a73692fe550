/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Translates raw records of the runtime's sites to ops. */
#include "model/go_observe.h"

#include "model/announce.h"
#include "model/go_annotations.h"
#include "model/go_functions.h"
#include "model/go_gc.h"
#include "model/go_memory.h"
#include "model/go_procs.h"
#include "model/go_requests.h"
#include "model/go_sched.h"
#include "model/go_syscalls.h"
#include "model/go_labels.h"
#include "model/off_cpu.h"
#include "model/sample.h"
#include "model/step.h"

static const probe_hit_handler handlers[256] = {
	[SITE_PARK] = on_park,
	[SITE_READY] = on_unblock,
	[SITE_UNBLOCK] = on_unblock,
	[SITE_EXECUTE] = on_execute,
	[SITE_RESUME] = on_execute,
	[SITE_GOSCHED] = on_gosched,
	[SITE_GOYIELD] = on_gosched,
	[SITE_PREEMPTPARK] = on_preemptpark,
	[SITE_DESTROY] = on_destroy,
	[SITE_NEWPROC] = on_newproc,
	[SITE_CORO] = on_coro,
	[SITE_SYS_ENTER] = on_sys_enter,
	[SITE_SYS_EXIT] = on_syscall_exit,
	[SITE_SYSCALL_BLOCK] = on_call_enter,
	[SITE_CGO_ENTER] = on_call_enter,
	[SITE_CGO_RETURN] = on_call_enter,
	[SITE_CGO_EXIT] = on_syscall_exit,
	[SITE_EXIT_NO_P] = on_exit_no_p,
	[SITE_NEEDM] = on_needm,
	[SITE_DROPM] = on_dropm,
	[SITE_ACQUIREP] = on_acquirep,
	[SITE_RELEASEP] = on_releasep,
	[SITE_STEALP] = on_take,
	[SITE_HANDOFFP] = on_take,
	[SITE_GCWAIT] = on_gcwait,
	[SITE_PROCRESIZE] = on_procresize,
	[SITE_STW_BEGIN] = on_stw_begin,
	[SITE_STW_END] = on_stw_end,
	[SITE_GC_BEGIN] = on_gc_begin,
	[SITE_GC_END] = on_gc_end,
	[SITE_TASK_BEGIN] = on_annotation,
	[SITE_TASK_END] = on_annotation,
	[SITE_REGION_BEGIN] = on_annotation,
	[SITE_REGION_END] = on_annotation,
	[SITE_LOG] = on_annotation,
	[SITE_LABELS] = on_labels,
	[SITE_REGION_START] = on_annotation,
	[SITE_REGION_STOP] = on_annotation,
	[SITE_FUNCTION_BEGIN] = on_function,
	[SITE_FUNCTION_END] = on_function,
	[SITE_REQUEST_BEGIN] = on_request,
	[SITE_REQUEST_END] = on_request,
	[SITE_HEAP_ALLOC] = on_heap_alloc,
	[SITE_HEAP_GOAL] = on_heap_goal,
	[SITE_SWEEP_BEGIN] = on_sweep_begin,
	[SITE_SWEEP_END] = on_sweep_end,
	[SITE_ASSIST_BEGIN] = on_assist_begin,
	[SITE_ASSIST_END] = on_assist_end,
	[SITE_ALLOC_SPAN] = on_memory,
	[SITE_ALLOC_SPAN_FREE] = on_memory,
	[SITE_ALLOC_STACK] = on_memory,
	[SITE_ALLOC_STACK_FREE] = on_memory,
};

/* Returns the record's P, usually the one that the thread already holds. */
static struct p *p_of_record(struct model *md, const struct m *m, const struct raw_record *rec)
{
	if (m->p && rec->p && m->p->ptr == rec->p)
		return m->p;
	return names_a_p(rec->site) && rec->p ? step_proc_get(md, rec->p, (int32_t)rec->arg2)
					      : p_find(&md->entities, rec->p);
}

bool go_is_hit(const struct raw_record *rec)
{
	return handlers[rec->site] && rec->tid && rec->tid < SYNTHETIC_TID;
}

void go_observe(struct model *md, const struct raw_record *rec)
{
	struct probe_hit hit = {.rec = rec};

	if (rec->site == SITE_CPU_SAMPLE)
		sample_take(md, rec);
	if (rec->site == SITE_OFF_CPU)
		off_cpu_take(md, rec);
	if (rec->site == SITE_CPU)
		off_cpu_take_move(md, rec);
	if (!go_is_hit(rec))
		return;
	hit.m = m_get(&md->entities, rec->tid);
	if (!hit.m)
		return;
	hit.p = p_of_record(md, hit.m, rec);
	hit.stack = stack_table_find(&md->stacks, rec->stack);
	md->ops.now = rec->time;
	md->ops.provenance = OBSERVED;
	hit.m->last_hit = rec->time;
	if (moves_own_p(rec->site))
		hit.m->last_p_hit = rec->time;
	if (hit.p)
		hit.p->last_hit = rec->time;
	handlers[rec->site](md, &hit);
	if (md->gc.live_due)
		announce_heap_live(md, hit.m);
	md->ops.provenance = OBSERVED;
}
