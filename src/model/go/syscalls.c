/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/go/hit.h"

#include "model/repair.h"
#include "model/step.h"

static void begin_syscall(struct model *md, const struct probe_hit *hit)
{
	if (force_hit_running(md, hit) && hit->m->p)
		step_syscall_begin(md, hit->m, hit->stack);
}

static bool in_syscall(struct model *md, const struct probe_hit *hit)
{
	const struct g *g = g_find(&md->entities, hit->rec->g);

	return g && hit->m->g == g && g->status == G_SYSCALL;
}

/*
 * System calls that exitsyscall itself makes (Go 1.5 … 1.21 runtime/proc.go) do not belong to the goroutine:
 * it wakes sysmon (exitsyscallfast_pidle), and while the runtime's own tracer is on, it yields until the
 * tracer has written that the P was taken (exitsyscallfast). The numbers are those of amd64
 * (asm/unistd_64.h), the only architecture on which these releases are traced.
 */
#define NR_SCHED_YIELD 24
#define NR_FUTEX       202

static bool is_part_of_end(const struct model *md, const struct probe_hit *hit)
{
	const struct call_end *end = &hit->m->end;
	uint64_t number = hit->rec->arg2;

	return end->exited && end->explicit_end && md->target.go_minor <= 21 &&
	       (number == NR_SCHED_YIELD || number == NR_FUTEX);
}

void on_sys_enter(struct model *md, const struct probe_hit *hit)
{
	struct call_end *end = &hit->m->end;

	if (is_part_of_end(md, hit))
		return;
	hit->m->tick = (uint32_t)hit->rec->arg;
	if (!in_syscall(md, hit)) {
		begin_syscall(md, hit);
	} else if (end->exited && (end->explicit_end || end->tick != (uint32_t)hit->rec->arg)) {
		/* exitsyscall increments p.syscalltick, so a different tick means a different call. */
		begin_syscall(md, hit);
	} else {
		if (end->unseen_begin)
			md->ops.ops[end->unseen_begin - 1].stack = hit->stack;
		*end = (struct call_end){0}; /* one Go call that enters the kernel more than once */
	}
}

void on_call_enter(struct model *md, const struct probe_hit *hit)
{
	if (!in_syscall(md, hit) || hit->m->end.exited)
		begin_syscall(md, hit);
}

void on_syscall_exit(struct model *md, const struct probe_hit *hit)
{
	struct m *m = hit->m;

	if (!in_syscall(md, hit) || is_part_of_end(md, hit))
		return;
	m->end = (struct call_end){
		.exited = true,
		.explicit_end = hit->rec->site == SITE_CGO_EXIT,
		.tick = m->tick,
		.reserved = m->p && m->p->status == P_SYSCALL,
	};
	if (!m->end.reserved)
		return;
	m->end.op = reserve_op(&md->ops, m);
	m->end.time = md->ops.last_time;
}

void on_exit_no_p(struct model *md, const struct probe_hit *hit)
{
	struct m *m = hit->m;
	struct g *g = g_of_record(md, hit->rec->g, hit->rec->goid, G_RUNNABLE);

	if (!g)
		return;
	g->last_hit = hit->rec->time;
	if (m->g != g || g->status != G_SYSCALL) {
		force_runnable(md, g);
		return;
	}
	md->ops.provenance = INFERRED;
	if (m->p && m->p->status == P_SYSCALL)
		step_proc_steal(md, m, m->p); /* the thief's record, if any, is still to come */
	md->ops.provenance = OBSERVED;
	step_syscall_end_blocked(md, m);
}

/* A mark assist whose end was not seen can be ended only while the goroutine runs. */
static void end_in_call(struct model *md, struct m *m)
{
	if (m->g->assists)
		force_dead(md, m->g);
	else
		step_go_destroy_syscall(md, m);
}

/*
 * Up to Go 1.20 a C thread has a goroutine for each of its calls into Go, mostly the same one. Between calls
 * it is shown as being in C, as the tracers of those releases do.
 */
static bool keeps_callback(const struct model *md)
{
	return md->target.go_minor <= 20;
}

void on_needm(struct model *md, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	struct g *old = g_find(&md->entities, rec->g);
	struct g *g;

	if (keeps_callback(md)) {
		if (in_syscall(md, hit))
			return;
		if (hit->m->g && hit->m->g->status == G_SYSCALL)
			end_in_call(md, hit->m);
		if (old && old->m && old->status == G_SYSCALL) {
			end_in_call(md, old->m);
			old = NULL;
		}
	}
	if (old)
		force_dead(md, old);
	force_m_free(md, hit->m);
	if (hit->m->p)
		step_proc_stop(md, hit->m); /* a thread new to Go has none */
	g = rec->g ? g_new(&md->entities, rec->g, rec->goid) : NULL;
	if (!g)
		return;
	g->last_hit = rec->time;
	step_go_create_syscall(md, hit->m, g);
}

void on_dropm(struct model *md, const struct probe_hit *hit)
{
	struct g *g = g_find(&md->entities, hit->rec->g);

	if (!g || (keeps_callback(md) && in_syscall(md, hit)))
		return;
	if (in_syscall(md, hit)) {
		end_in_call(md, hit->m);
		return;
	}
	force_dead(md, g);
}

void on_gcwait(struct model *md, const struct probe_hit *hit)
{
	struct m *m = hit->m;

	if (!m->g)
		force_hit_running(md, hit); /* its start was not probed */
	if (!m->g || !m->p)
		return;
	if (m->end.exited || m->g->status == G_RUNNING)
		begin_syscall(md, hit);
	if (!m->p || m->p->status != P_SYSCALL)
		return;
	if (md->target.go_minor >= 26)
		step_proc_stop(md, m); /* ProcStop, as entersyscallHandleGCWait traces since 1.26 */
	else
		step_proc_steal(md, m, m->p); /* ProcSteal from itself, as entersyscall_gcwait did */
}
