/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/go/leave.h"

#include "model/go/runtime.h"
#include "model/repair.h"

/* preemptPark, which stops a goroutine for a scan, clears the preempt request but leaves the wait reason. */
static bool is_blocked(struct model *md, enum leaving how, uint32_t reason)
{
	return how == PARKED || (how == YIELDED && reason == string_id(md, "preempted"));
}

void settle_leaving(struct model *md, struct g *g, enum leaving how, uint64_t arg2, uint32_t stack)
{
	uint32_t reason = reason_id(&md->reasons, REASON_PARK, AWAITED_REASON(arg2));
	struct op *op;

	if (g->m)
		force_m_free(md, g->m);
	if (stack)
		g->stack = stack;
	if (!g->left || g->left_generation != md->generation.number)
		return;
	op = &md->ops.ops[g->left - 1];
	op->stack = stack;
	if (is_blocked(md, how, reason)) {
		op->string = reason ? reason : op->string;
		annotators_awaits(&md->annotators, g->left - 1, arg2, stack);
	} else if (g->status == G_WAITING) {
		op->kind = OP_GO_STOP;
		op->string = reason_id(&md->reasons, REASON_STOP,
				       how == PREEMPTED ? GO_STOP_PREEMPTED : GO_STOP_SCHED);
		g->status = G_RUNNABLE;
	}
	g->left = 0;
}
