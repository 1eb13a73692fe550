/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/repair.h"

#include "model/step.h"
#include "model/synthetic.h"

static enum provenance with_provenance(struct model *md, enum provenance cause)
{
	enum provenance before = md->ops.provenance;

	/* Ops that a repair needs are repairs, too. */
	if (before != REPAIRED)
		md->ops.provenance = cause;
	return before;
}

/* If only starts are probed, goroutines normally leave unobserved. */
static enum provenance unseen(const struct model *md)
{
	return md->starts_only ? INFERRED : REPAIRED;
}

void force_m_free(struct model *md, struct m *m)
{
	enum provenance before = with_provenance(md, unseen(md));

	if (md->starts_only && m->g && m->g->status == G_SYSCALL && m->end.reserved)
		step_syscall_end(md, m); /* it returned from the call and has left since */
	if (m->g && m->g->status == G_SYSCALL) {
		release_reserved_end(m);
		if (m->p && m->p->status == P_SYSCALL)
			step_proc_steal(md, m, m->p);
		step_syscall_end_blocked(md, m);
	} else if (m->g && md->starts_only && m != md->synthetic.m) {
		annotators_op(&md->annotators, OP_GO_BLOCK, m);
		step_go_leave_unseen(md, m);
	} else if (m->g) {
		step_go_stop_unseen(md, m);
	}
	md->ops.provenance = before;
}

/*
 * A P may be taken as soon as its goroutine's status is _Gsyscall, before the thread enters the kernel. So
 * the taker's record can precede that of the thread which has just entered the call.
 */
static void begin_unseen_syscall(struct model *md, struct m *holder)
{
	step_syscall_begin(md, holder, 0);
	holder->end.unseen_begin = md->ops.n; /* its stack may still arrive */
}

void force_p_idle(struct model *md, struct m *by, struct p *p)
{
	enum provenance before = md->ops.provenance;
	struct m *holder = p->m;

	with_provenance(md, REPAIRED);
	if (p->status == P_RUNNING && holder != by && holder->g && holder->g->status == G_RUNNING) {
		md->ops.provenance = before == OBSERVED ? INFERRED : before;
		begin_unseen_syscall(md, holder);
	}
	if (p->status == P_SYSCALL || p->status == P_ABANDONED) {
		md->ops.provenance = before == OBSERVED ? INFERRED : before;
		step_proc_steal(md, by, p);
	} else if (p->status == P_RUNNING) {
		force_m_free(md, holder);
		step_proc_stop(md, holder);
	}
	md->ops.provenance = before;
}

bool force_m_hold(struct model *md, struct m *m, struct p *p)
{
	enum provenance before;

	if (m->p && (!p || m->p == p)) {
		if (m->p->status == P_RUNNING)
			return true;
		force_m_free(md, m); /* the goroutine in the system call leaves, and the P with it */
		if (m->p)
			step_proc_steal(md, m, m->p);
	}
	if (!p)
		return m->p != NULL;
	before = with_provenance(md, unseen(md));
	if (m->p || (m->g && m->g->status == G_SYSCALL))
		force_m_free(md, m);
	if (m->p)
		step_proc_stop(md, m);
	force_p_idle(md, m, p);
	step_proc_start(md, m, p);
	md->ops.provenance = before;
	return true;
}

void force_runnable(struct model *md, struct g *g)
{
	enum provenance before = with_provenance(md, unseen(md));
	struct m *m;

	if (g->status == G_RUNNING || g->status == G_SYSCALL)
		force_m_free(md, g->m);
	if (g->status == G_WAITING && md->starts_only) {
		step_go_unblock(md, NULL, g, 0);
	} else if (g->status == G_WAITING) {
		m = synthetic_begin(md);
		step_go_unblock(md, m, g, md->synthetic.stack);
		synthetic_end(md);
	}
	md->ops.provenance = before;
}

/*
 * Whether the goroutine left its thread unobserved and has not run since: then it blocked. The probe of
 * gopark is hit before the status changes, so a goroutine that was preempted in between while the probes were
 * attached is running in the snapshot.
 */
static bool has_blocked(const struct model *md, const struct g *g)
{
	return g->status == G_RUNNABLE && g->left && g->left_generation == md->generation.number;
}

static void turn_into_block(struct model *md, struct g *g)
{
	md->ops.ops[g->left - 1].kind = OP_GO_BLOCK;
	g->status = G_WAITING;
	g->left = 0;
}

void force_waiting(struct model *md, struct g *g, uint32_t reason, uint32_t stack)
{
	enum provenance before = with_provenance(md, REPAIRED);
	struct m *m;

	reason = reason ? reason : reason_unspecified(&md->reasons);
	if (g->status == G_SYSCALL)
		force_m_free(md, g->m);
	if (g->status == G_RUNNING) {
		step_go_block(md, g->m, reason, stack);
	} else if (has_blocked(md, g)) {
		turn_into_block(md, g);
	} else if (g->status == G_RUNNABLE) {
		m = synthetic_thread(md);
		if (m) {
			step_go_start(md, m, g);
			step_go_block(md, m, reason, stack);
			synthetic_return(md);
		}
	}
	md->ops.provenance = before;
}

void force_dead(struct model *md, struct g *g)
{
	enum provenance before = with_provenance(md, REPAIRED);
	struct m *m;

	if (g->status == G_RUNNING) {
		step_go_destroy(md, g->m);
	} else if (g->status != G_DEAD) {
		force_runnable(md, g);
		m = synthetic_thread(md);
		if (m) {
			step_go_start(md, m, g);
			step_go_destroy(md, m);
			synthetic_return(md);
		}
	}
	md->ops.provenance = before;
}

/* m's goroutine has returned from its system call and runs on p. */
static bool end_syscall(struct model *md, struct m *m, struct p *p)
{
	enum provenance before = with_provenance(md, INFERRED);
	struct g *g = m->g;
	bool runs = true;

	if (m->p && m->p->status == P_SYSCALL && (!p || p == m->p)) {
		step_syscall_end(md, m);
		md->ops.provenance = before;
		return true;
	}
	if (m->p && m->p->status == P_SYSCALL)
		step_proc_steal(md, m, m->p);
	else if (m->p && p && m->p != p)
		step_proc_stop(md, m);
	if (!m->p && p) {
		force_p_idle(md, m, p);
		step_proc_start(md, m, p);
	}
	runs = m->p != NULL;
	step_syscall_end_blocked(md, m);
	if (runs)
		step_go_start(md, m, g);
	md->ops.provenance = before;
	return runs;
}

/* Only the start was not seen. That is no repair: starts may be inferred. */
static bool start_unseen(struct model *md, struct m *m, struct g *g, const struct p *p)
{
	enum provenance before = md->ops.provenance;

	if (g->status != G_RUNNABLE || m->g || !m->p || m->p->status != P_RUNNING || (p && m->p != p))
		return false;
	with_provenance(md, INFERRED);
	step_go_start_unseen(md, m, g);
	md->ops.provenance = before;
	return true;
}

bool force_running(struct model *md, struct m *m, struct g *g, struct p *p)
{
	enum provenance before;

	if (m->g == g && g->status == G_SYSCALL)
		return end_syscall(md, m, p);
	if ((m->g == g && (!p || m->p == p)) || start_unseen(md, m, g, p))
		return true;
	before = with_provenance(md, REPAIRED);
	force_m_free(md, m);
	if (force_m_hold(md, m, p)) {
		force_runnable(md, g);
		step_go_start(md, m, g);
	}
	md->ops.provenance = before;
	return m->g == g;
}

/* Whether the runtime.g now holds another goroutine. Made-up ids (assign_missing_goids) prove nothing. */
static bool is_another(const struct model *md, const struct g *g, uint64_t goid)
{
	uint64_t known = md->entities.gs.goids[g->index];

	return goid && known && known < OWN_GOID && known != goid;
}

struct g *g_of_record(struct model *md, uint64_t ptr, uint64_t goid, uint8_t status)
{
	struct g *g = g_find(&md->entities, ptr);
	enum provenance before;
	struct m *by;

	if (g && (!goid || md->entities.gs.goids[g->index] == goid))
		return g;
	if (!ptr)
		return NULL;
	if (g && is_another(md, g, goid)) {
		force_dead(md, g); /* its end was not seen, and its runtime.g has been reused */
		g = NULL;
	}
	if (g) {
		g_set_goid(&md->entities, g, goid);
		return g;
	}
	g = g_new(&md->entities, ptr, goid);
	if (!g)
		return NULL;
	before = with_provenance(md, REPAIRED);
	by = synthetic_begin(md);
	step_go_create(md, by, g, status == G_WAITING, md->synthetic.stack);
	synthetic_end(md);
	md->ops.provenance = before;
	return g;
}
