/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Statuses of goroutines and Ps. A file states each once per generation, where it first names the object. In
 * the first generation a status introduces its object; later, it must match the state.
 */
#include <errno.h>
#include <inttypes.h>

#include "trace/wire/order_state.h"

/* --- Ps --- */

static int restate_p(const struct order_step *step, struct sched_p *p, unsigned status)
{
	if (status == P_ABANDONED && p->status == P_SYSCALL) {
		if (p->holders)
			return ADVANCE;
		return BROKEN(step,
			      "failed to find sched context for proc %" PRIu64 " that's about to be stolen",
			      step->ev->args[0]);
	}
	if (p->status == status)
		return ADVANCE;
	return BROKEN(step, "inconsistent status for proc %" PRIu64 ": old %s vs. new %s", step->ev->args[0],
		      order_p_status_name(p->status), order_p_status_name(status));
}

int order_p_status(struct order_step *step)
{
	struct sched_p *p = &step->order->sched.ps[step->op.p];
	unsigned status = step->status ? (unsigned)step->status : STATUS_BAD;

	/* Go's reader uses only the low byte. Its users panic when they read the state. */
	if (step->status >= P_STATUS_COUNT)
		return BROKEN(step, "invalid status for proc %" PRIu64 ": %" PRIu64, step->ev->args[0],
			      step->status);
	if (p->status == P_UNKNOWN)
		p->status = (uint8_t)status;
	else if (restate_p(step, p, status) != ADVANCE)
		return -EBADMSG;
	step->order->ps[step->op.p].seq = (struct sequence_number){step->chunk->number, 0};
	if (step->op.m && (status == P_RUNNING || status == P_SYSCALL))
		sched_bind_p(&step->order->sched, step->op.m, step->op.p);
	return ADVANCE;
}

/* --- goroutines --- */

/* Binds a goroutine in a system call to its thread, which need not be the event's thread. */
static int bind_syscall(struct order_step *step, uint64_t m)
{
	struct sched *sched = &step->order->sched;
	uint64_t gid = step->ev->args[0];
	bool known = step->op.m2;
	uint32_t holder;

	if (m == NO_ID)
		return BROKEN(step, "found goroutine %" PRIu64 " in syscall without a thread", gid);
	if (order_thread(step->order, m, &holder))
		return -ENOMEM;
	if (known && sched->ms[holder].g != step->op.g && (holder != step->op.m || !sched->first_generation))
		return BROKEN(step,
			      "inconsistent thread for syscalling goroutine %" PRIu64
			      ": thread has goroutine %" PRId64,
			      gid, (int64_t)order_g_id(step->order, sched->ms[holder].g));
	sched_bind_g(sched, holder, step->op.g);
	return ADVANCE;
}

void order_g_appears(struct order_step *step, uint32_t g)
{
	step->order->gs[g].seq = (struct sequence_number){step->chunk->number, 0};
	step->order->gs[g].nregions = 0;
	step->order->lives++;
}

/* Introduces the goroutine. */
static int order_step_appear(struct order_step *step, unsigned status)
{
	if (!step->order->sched.first_generation)
		return BROKEN(
			step,
			"found goroutine status for new goroutine after the first generation: id=%" PRIu64
			" status=%s",
			step->ev->args[0], order_g_status_name(status));
	step->order->sched.gs[step->op.g].status = (uint8_t)status;
	order_g_appears(step, step->op.g);
	return ADVANCE;
}

int order_g_status(struct order_step *step)
{
	unsigned written = (uint8_t)step->status; /* truncated as in Go's reader */
	unsigned status = written ? written : STATUS_BAD;
	struct sched_g *g = &step->order->sched.gs[step->op.g];

	if (written >= G_STATUS_COUNT)
		return BROKEN(step, "invalid status for goroutine %" PRIu64 ": %u", step->ev->args[0],
			      written);
	if (g->status != G_DEAD && g->status != status)
		return BROKEN(step, "inconsistent status for goroutine %" PRIu64 ": old %s vs. new %s",
			      step->ev->args[0], order_g_status_name(g->status), order_g_status_name(status));
	if (g->status == G_DEAD && order_step_appear(step, status) != ADVANCE)
		return -EBADMSG;
	step->order->gs[step->op.g].seq = (struct sequence_number){step->chunk->number, 0};
	if (status == G_RUNNING && step->op.m)
		sched_bind_g(&step->order->sched, step->op.m, step->op.g);
	return status == G_SYSCALL ? bind_syscall(step, step->ev->args[1]) : ADVANCE;
}
