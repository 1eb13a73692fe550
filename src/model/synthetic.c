/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/synthetic.h"

#include "model/step.h"

static int32_t free_p_id(const struct model *md)
{
	int32_t id = 0;

	for (unsigned i = 0; i < md->entities.nps; i++) {
		if (md->entities.ps[i]->id >= id)
			id = md->entities.ps[i]->id + 1;
	}
	return id;
}

static bool may_borrow(const struct model *md, const struct p *p)
{
	bool exists = md->threads || !md->gomaxprocs || (uint32_t)p->id < md->gomaxprocs;

	return p->status == P_IDLE && !p->sweeps && exists && p != md->synthetic.p;
}

static struct p *idle_p(const struct model *md)
{
	for (unsigned i = 0; i < md->entities.nps; i++) {
		if (may_borrow(md, md->entities.ps[i]))
			return md->entities.ps[i];
	}
	return NULL;
}

/*
 * Returns a thread that has a P and looks for a goroutine. Not one of a target traced as threads, whose steps
 * may still be moved up.
 */
static struct m *idle_m(const struct model *md)
{
	for (unsigned i = 0; i < md->entities.nms && !md->threads; i++) {
		struct m *m = md->entities.ms[i];

		if (m && !m->g && m->p && m->p->status == P_RUNNING && !m->p->sweeps)
			return m;
	}
	return NULL;
}

bool synthetic_has_place(const struct model *md)
{
	return idle_p(md) || idle_m(md);
}

static struct p *own_p(struct model *md)
{
	struct synthetic *synthetic = &md->synthetic;

	if (!synthetic->p)
		synthetic->p = step_proc_get(md, 0, free_p_id(md));
	return synthetic->p;
}

static void make_thread(struct model *md)
{
	struct synthetic *synthetic = &md->synthetic;
	uint64_t frames[] = {string_id(md, "[lost]"), string_id(md, "gotrace")};

	synthetic->m = m_get(&md->entities, SYNTHETIC_TID);
	synthetic->stack = stack_table_literal(&md->stacks, frames, 2);
	synthetic->wait_stack = stack_table_literal(&md->stacks, frames + 1, 1);
}

/*
 * Uses a P that the target leaves idle, or else a thread that runs no goroutine. Only if every P runs a
 * goroutine, uses a P that the target does not have.
 */
struct m *synthetic_thread(struct model *md)
{
	struct synthetic *synthetic = &md->synthetic;
	struct p *p;

	if (!synthetic->m)
		make_thread(md);
	if (!synthetic->m)
		return NULL;
	p = idle_p(md);
	synthetic->host = p ? NULL : idle_m(md);
	if (synthetic->host)
		return synthetic->host;
	p = p ? p : own_p(md);
	if (!p)
		return NULL;
	step_proc_start(md, synthetic->m, p);
	return synthetic->host = synthetic->m;
}

void synthetic_return(struct model *md)
{
	if (md->synthetic.host == md->synthetic.m)
		step_proc_stop(md, md->synthetic.m);
	md->synthetic.host = NULL;
}

/* GoCreate needs no creator, and is legal in every generation. */
static bool synthetic_create(struct model *md)
{
	struct synthetic *synthetic = &md->synthetic;

	synthetic->g = g_new(&md->entities, 0, OWN_GOID); /* no record can name it */
	if (!synthetic->g)
		return false;
	md->entities.created--; /* it is not one of the target's */
	step_go_create(md, synthetic->host, synthetic->g, false, 0);
	md->ops.ops[md->ops.n - 1].stack2 = synthetic->wait_stack;
	synthetic->g->stack = synthetic->wait_stack;
	return true;
}

struct m *synthetic_begin(struct model *md)
{
	struct synthetic *synthetic = &md->synthetic;

	if (!synthetic_thread(md))
		return NULL;
	if (synthetic->g)
		step_go_unblock(md, synthetic->host, synthetic->g, 0);
	else if (!synthetic_create(md))
		return NULL;
	step_go_start(md, synthetic->host, synthetic->g);
	return synthetic->host;
}

void synthetic_end(struct model *md)
{
	struct m *host = md->synthetic.host;

	if (!host || !host->g)
		return;
	step_go_block(md, host, reason_unspecified(&md->reasons), md->synthetic.wait_stack);
	synthetic_return(md);
}
