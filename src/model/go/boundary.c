/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/go/front_end.h"

#include "model/go/runtime.h"
#include "model/repair.h"
#include "model/step.h"

/*
 * A goroutine whose start has no record has been running since before the boundary if neither it nor its
 * thread has a record since then. But if the thread's last record is the one at which the goroutine left, its
 * status in memory may just not have changed yet.
 */
static void boundary_find_running(struct model *md, struct m *m, const struct log_m *seen,
				  uint64_t time_before)
{
	struct g *g = g_find(&md->entities, seen->curg);

	if (seen->status == GO_G_RUNNING && g && g->status == G_RUNNABLE && !m->g &&
	    m->last_hit < time_before && g->last_hit < time_before && m->last_hit != g->last_hit && m->p &&
	    m->p->ptr == seen->p)
		force_running(md, m, g, m->p);
}

/* The thread's system call may have ended with its P kept, which so far only the target's memory shows. */
static void settle_call(struct model *md, struct m *m, const struct log_m *seen, uint64_t time_before)
{
	if (!m->end.reserved || m->end.time >= time_before)
		return;
	if (seen->status == GO_G_RUNNING && seen->p && m->p && m->p->ptr == seen->p)
		step_syscall_end(md, m);
	else if (seen->status == GO_G_SYSCALL) /* between two kernel calls of one Go call */
		release_reserved_end(m);
}

void go_settle(struct model *md, const struct log_boundary *boundary, const struct log_m *ms)
{
	for (uint32_t i = 0; i < boundary->nm; i++) {
		struct m *m = m_find(&md->entities, ms[i].tid);

		if (m && m->g && m->g->ptr == ms[i].curg)
			settle_call(md, m, &ms[i], boundary->time_before);
		else if (m && ms[i].curg)
			boundary_find_running(md, m, &ms[i], boundary->time_before);
	}
}
