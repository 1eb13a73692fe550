/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The transition table of sched, on the model's goroutines, Ps and Ms. */
#ifndef GOTRACE_MODEL_APPLY_H
#define GOTRACE_MODEL_APPLY_H

#include "model/entities.h"
#include "sched/transition.h"

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
 * Makes the state what it is behind an op of m (NULL: of no thread). other: the goroutine that the op names
 * beside m's own; p: the P that it names (P_NAMED); NULL = none. Nothing is checked. Inline: each op of the
 * model goes through here. What the statuses imply follows: a goroutine has a thread while it runs or is in a
 * system call, a P while it is running or in one.
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
