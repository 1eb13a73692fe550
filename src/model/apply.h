/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Applies the transition table of sched to the model's goroutines, Ps and Ms. */
#ifndef GOTRACE_MODEL_APPLY_H
#define GOTRACE_MODEL_APPLY_H

#include "model/entities.h"
#include "trace/ops/transition.h"

static inline void change_g(struct g *g, const struct status_change *change, struct m *m)
{
	if (!g || !change->from || change->to == STATUS_KEPT)
		return;
	g->status = change->to;
	if (g->status == G_RUNNING || g->status == G_SYSCALL) {
		g->m = m;
		m->g = g;
	} else if (g->m) {
		g->m->g = NULL;
		g->m = NULL;
	}
}

static inline void change_p(struct p *p, const struct status_change *change, struct m *m)
{
	if (!p || !change->from || change->to == STATUS_KEPT)
		return;
	p->status = change->to;
	if (p->status == P_RUNNING || p->status == P_SYSCALL) {
		p->m = m;
		m->p = p;
	} else if (p->m) {
		p->m->p = NULL;
		p->m = NULL;
	}
}

/*
 * Applies an op of m (NULL: of no thread) to the state. other: the goroutine that the op names besides m's
 * own; p: the P that it names (P_NAMED); NULL = none. Nothing is checked. The links follow from the statuses:
 * a goroutine or a P has a thread while it is running or in a system call. Inline because every op of the
 * model goes through here.
 */
static inline void apply_op(enum op_kind kind, struct m *m, struct g *other, struct p *p)
{
	const struct transition *transition = &transitions[kind];

	if (transition->p_role == P_OF_THREAD)
		p = m ? m->p : NULL;
	change_g(m ? m->g : NULL, &transition->self, m);
	change_g(other, &transition->other, m);
	change_p(p, &transition->p, m);
}

#endif
