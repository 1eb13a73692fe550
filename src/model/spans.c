/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When only the starts of goroutines are seen: that one has left its thread
 * shows when the thread runs another or drops its P, or when the goroutine
 * starts elsewhere. That is when it is said to have left; why, and where, is
 * read when it starts again, or from a snapshot, and put into the same op.
 */
#include "state.h"

void leave_unseen(struct model *md, struct m *m)
{
	struct g *g = m->g;

	step_go_block(md, m, tables_string(md, "unspecified"), 0);
	g->left = md->ops.n;
	g->left_generation = md->generation;
}

/* Who stops a goroutine for a scan (preemptPark) takes the request back, but leaves the wait reason. */
static bool is_blocked(struct model *md, enum leaving how, uint32_t reason)
{
	return how == PARKED || (how == YIELDED && reason == tables_string(md, "preempted"));
}

void settle_leaving(struct model *md, struct g *g, enum leaving how, uint64_t wait_reason, uint32_t stack)
{
	uint32_t reason = tables_reason(md, REASON_PARK, wait_reason);
	struct op *op;

	if (g->m)
		make_m_free(md, g->m);
	if (stack)
		g->stack = stack;
	if (!g->left || g->left_generation != md->generation)
		return;
	op = &md->ops.ops[g->left - 1];
	g->left = 0;
	op->stack = stack;
	if (is_blocked(md, how, reason)) {
		op->string = reason ? reason : op->string;
	} else if (g->status == G_WAITING) {
		op->kind = OP_GO_STOP;
		op->string = tables_reason(md, REASON_STOP, how == PREEMPTED ? 2 : 1);
		g->status = G_RUNNABLE;
	}
}
