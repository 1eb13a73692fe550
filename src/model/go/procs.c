/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/go/hit.h"

#include "model/announce.h"
#include "model/go/runtime.h"
#include "model/repair.h"
#include "model/step.h"

/*
 * procresize: the P is gone, and its goroutine, which has stopped the world, continues on P 0 (Go 1.22 and
 * later trace GoSched there).
 */
static void change_p_of(struct model *md, struct m *m, struct p *p)
{
	struct g *g = m->g, *stw = md->gc.stw;

	if (stw == g)
		md->gc.stw = NULL; /* the world stays stopped */
	step_go_stop(md, m, reason_id(&md->reasons, REASON_STOP, GO_STOP_SCHED), 0);
	if (m->p)
		step_proc_stop(md, m);
	force_p_idle(md, m, p);
	step_proc_start(md, m, p);
	step_go_start(md, m, g);
	if (stw == g)
		md->gc.stw = stw;
}

void on_acquirep(struct model *md, const struct probe_hit *hit)
{
	struct m *m = hit->m;
	struct p *p = hit->p;
	struct g *g = m->g;

	if (!p || (m->p == p && p->status == P_RUNNING))
		return;
	if (g && g->status == G_SYSCALL && hit->rec->arg) {
		/* In entersyscallblock the thread borrows the P that it has given up, to start another
		 * thread. */
		if (!m->p) {
			force_p_idle(md, m, p);
			step_proc_start(md, m, p);
		}
		return;
	}
	if (g && g->status == G_SYSCALL) {
		/* The P was lost in the call; exitsyscall has found one again. */
		if (m->p == p)
			release_reserved_end(m);
		if (m->p && m->p->status == P_SYSCALL)
			step_proc_steal(md, m, m->p);
		force_running(md, m, g, p);
		return;
	}
	if (g) {
		change_p_of(md, m, p);
		return;
	}
	if (m->p)
		step_proc_stop(md, m);
	force_p_idle(md, m, p);
	step_proc_start(md, m, p);
}

void on_releasep(struct model *md, const struct probe_hit *hit)
{
	struct m *m = hit->m;

	if (!m->p)
		return;
	if (m->g && (m->g->status == G_RUNNING || (md->starts_only && m->end.reserved)))
		force_m_free(md, m);
	step_proc_stop(md, m);
}

/* A P is taken from a thread in a system call. */
static void take_p(struct model *md, const struct probe_hit *hit, struct p *p)
{
	struct m *victim = p->m;

	if (p->status == P_RUNNING && victim && victim != hit->m && victim->g &&
	    victim->g->status == G_RUNNING) {
		/* System calls are not traced, or the beginning of this one was lost. */
		md->ops.provenance = INFERRED;
		step_syscall_begin(md, victim, 0);
		md->ops.provenance = OBSERVED;
	}
	if (p->status == P_SYSCALL || p->status == P_ABANDONED)
		step_proc_steal(md, hit->m, p);
	else if (p->status == P_RUNNING && victim && victim != hit->m)
		step_proc_stop(md, victim);
}

void on_take(struct model *md, const struct probe_hit *hit)
{
	/* handoffp also gets Ps that are already idle; nothing happens then. */
	if (hit->p)
		take_p(md, hit, hit->p);
}

void on_procresize(struct model *md, const struct probe_hit *hit)
{
	on_behalf(md, hit);
	md->gomaxprocs = (uint32_t)hit->rec->arg;
	md->generation.procs_announced = false;
	if (hit->m->g && hit->m->p && hit->m->g->status == G_RUNNING)
		announce_procs(md, hit->m, hit->stack);
}
