/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Makes the state what a record says it was before the record, with the fewest
 * ops. When nothing was missed these functions write nothing.
 *
 * Readers take no new status after the first generation, so a difference can
 * only be written as transitions. Where no thread of the target is known to
 * have made them, a stand-in goroutine named "gotrace" does.
 */
#include "state.h"

static enum cause because(struct model *md, enum cause cause)
{
	enum cause before = md->cause;

	/* What a repair needs is a repair, too. */
	if (before != REPAIRED)
		md->cause = cause;
	return before;
}

/* That nothing told how a goroutine left is normal where only starts are probed. */
static enum cause unseen(const struct model *md)
{
	return md->spans ? INFERRED : REPAIRED;
}

void make_m_free(struct model *md, struct m *m)
{
	enum cause before = because(md, unseen(md));

	if (md->spans && m->g && m->g->status == G_SYSCALL && m->end.held)
		step_syscall_end(md, m); /* it came back, and has left since */
	if (m->g && m->g->status == G_SYSCALL) {
		drop_held_end(m);
		if (m->p && m->p->status == P_SYSCALL)
			step_proc_steal(md, m, m->p);
		step_syscall_end_blocked(md, m);
	} else if (m->g && md->spans && m != md->stand_in.m) {
		leave_unseen(md, m);
	} else if (m->g) {
		step_go_stop(md, m, tables_string(md, "unspecified"), 0);
	}
	md->cause = before;
}

/*
 * A P may be taken as soon as its goroutine's status says system call, which is
 * before the kernel's entry: the taker's record can come before the one of the
 * thread that has just entered the call.
 */
static void begin_unseen_syscall(struct model *md, struct m *holder)
{
	step_syscall_begin(md, holder, 0);
	holder->end.unseen_begin = md->ops.n; /* its stack may still come */
}

void make_p_idle(struct model *md, struct m *by, struct p *p)
{
	enum cause before = md->cause;
	struct m *holder = p->m;

	because(md, REPAIRED);
	if (p->status == P_RUNNING && holder != by && holder->g && holder->g->status == G_RUNNING) {
		md->cause = before == SEEN ? INFERRED : before;
		begin_unseen_syscall(md, holder);
	}
	if (p->status == P_SYSCALL || p->status == P_ABANDONED) {
		md->cause = before == SEEN ? INFERRED : before;
		step_proc_steal(md, by, p);
	} else if (p->status == P_RUNNING) {
		make_m_free(md, holder);
		step_proc_stop(md, holder);
	}
	md->cause = before;
}

bool make_m_hold(struct model *md, struct m *m, struct p *p)
{
	enum cause before;

	if (m->p && (!p || m->p == p)) {
		if (m->p->status == P_RUNNING)
			return true;
		make_m_free(md, m); /* the goroutine in the system call goes, and the P with it */
		if (m->p)
			step_proc_steal(md, m, m->p);
	}
	if (!p)
		return m->p != NULL;
	before = because(md, unseen(md));
	if (m->p || (m->g && m->g->status == G_SYSCALL))
		make_m_free(md, m);
	if (m->p)
		step_proc_stop(md, m);
	make_p_idle(md, m, p);
	step_proc_start(md, m, p);
	md->cause = before;
	return true;
}

void make_runnable(struct model *md, struct g *g)
{
	enum cause before = because(md, unseen(md));
	struct m *m;

	if (g->status == G_RUNNING || g->status == G_SYSCALL)
		make_m_free(md, g->m);
	if (g->status == G_WAITING && md->spans) {
		step_go_unblock(md, NULL, g, 0);
	} else if (g->status == G_WAITING) {
		m = stand_in_begin(md);
		step_go_unblock(md, m, g, md->stand_in.stack);
		stand_in_end(md);
	}
	md->cause = before;
}

/* The stand-in's thread with its P and no goroutine, to run somebody else's last steps. */
static struct m *stand_in_lend(struct model *md)
{
	struct m *m = stand_in_begin(md);

	if (m)
		step_go_stop(md, m, tables_string(md, "unspecified"), md->stand_in.stack);
	return m;
}

void make_waiting(struct model *md, struct g *g)
{
	enum cause before = because(md, REPAIRED);
	uint32_t reason = tables_string(md, "unspecified");
	struct m *m;

	if (g->status == G_SYSCALL)
		make_m_free(md, g->m);
	if (g->status == G_RUNNING) {
		step_go_block(md, g->m, reason, 0);
	} else if (g->status == G_RUNNABLE) {
		m = stand_in_lend(md);
		if (m) {
			step_go_start(md, m, g);
			step_go_block(md, m, reason, 0);
			step_proc_stop(md, m);
		}
	}
	md->cause = before;
}

void make_dead(struct model *md, struct g *g)
{
	enum cause before = because(md, REPAIRED);
	struct m *m;

	if (g->status == G_RUNNING) {
		step_go_destroy(md, g->m);
	} else if (g->status != G_DEAD) {
		make_runnable(md, g);
		m = stand_in_lend(md);
		if (m) {
			step_go_start(md, m, g);
			step_go_destroy(md, m);
			step_proc_stop(md, m);
		}
	}
	md->cause = before;
}

/* The goroutine of m has come back from its system call and runs on p. */
static bool end_syscall(struct model *md, struct m *m, struct p *p)
{
	enum cause before = because(md, INFERRED);
	struct g *g = m->g;
	bool runs = true;

	if (m->p && m->p->status == P_SYSCALL && (!p || p == m->p)) {
		step_syscall_end(md, m);
		md->cause = before;
		return true;
	}
	if (m->p && m->p->status == P_SYSCALL)
		step_proc_steal(md, m, m->p);
	else if (m->p && p && m->p != p)
		step_proc_stop(md, m);
	if (!m->p && p) {
		make_p_idle(md, m, p);
		step_proc_start(md, m, p);
	}
	runs = m->p != NULL;
	step_syscall_end_blocked(md, m);
	if (runs)
		step_go_start(md, m, g);
	md->cause = before;
	return runs;
}

/* Only the start was not seen: no repair, starts may be left to inference. */
static bool start_unseen(struct model *md, struct m *m, struct g *g, const struct p *p)
{
	enum cause before = md->cause;

	if (g->status != G_RUNNABLE || m->g || !m->p || m->p->status != P_RUNNING || (p && m->p != p))
		return false;
	because(md, INFERRED);
	step_go_start_unseen(md, m, g);
	md->cause = before;
	return true;
}

bool make_running(struct model *md, struct m *m, struct g *g, struct p *p)
{
	enum cause before;

	if (m->g == g && g->status == G_SYSCALL)
		return end_syscall(md, m, p);
	if ((m->g == g && (!p || m->p == p)) || start_unseen(md, m, g, p))
		return true;
	before = because(md, REPAIRED);
	make_m_free(md, m);
	if (make_m_hold(md, m, p)) {
		make_runnable(md, g);
		step_go_start(md, m, g);
	}
	md->cause = before;
	return m->g == g;
}

/* The struct has a new goroutine in it. Ids that were made up (number_the_nameless) prove nothing. */
static bool is_another(const struct model *md, const struct g *g, uint64_t goid)
{
	uint64_t known = md->gs.goids[g->index];

	return goid && known && known < STAND_IN_GOID && known != goid;
}

struct g *g_of_record(struct model *md, uint64_t ptr, uint64_t goid, uint8_t status)
{
	struct g *g = g_find(md, ptr);
	enum cause before;

	if (!ptr)
		return NULL;
	if (g && is_another(md, g, goid)) {
		make_dead(md, g); /* its end was not seen, and the struct is another's now */
		g = NULL;
	}
	if (g) {
		g_set_goid(md, g, goid);
		return g;
	}
	g = g_new(md, ptr, goid);
	if (!g)
		return NULL;
	before = because(md, REPAIRED);
	step_go_create(md, stand_in_begin(md), g, status == G_WAITING, md->stand_in.stack);
	stand_in_end(md);
	md->cause = before;
	return g;
}

static int32_t free_p_id(const struct model *md)
{
	int32_t id = 0;

	for (unsigned i = 0; i < md->nps; i++) {
		if (md->ps[i]->id >= id)
			id = md->ps[i]->id + 1;
	}
	return id;
}

/* Born the first time it is needed; GoCreateSyscall needs no creator and is legal in every generation. */
static bool stand_in_exists(struct model *md)
{
	struct stand_in *si = &md->stand_in;
	static const char *const frames[] = {"[lost]", "gotrace"};

	if (!si->m) {
		si->m = m_get(md, STAND_IN_TID);
		si->stack = tables_literal_stack(md, frames, 2);
	}
	if (si->m && !si->g) {
		si->g = g_new(md, 0, STAND_IN_GOID); /* no record can name it */
		if (si->g) {
			si->g->stack = si->stack;
			step_go_create_syscall(md, si->m, si->g);
		}
		md->totals.goroutines--; /* it is none of the target's */
	}
	if (!si->p)
		si->p = p_get(md, 0, free_p_id(md));
	return si->m && si->g && si->p;
}

struct m *stand_in_begin(struct model *md)
{
	struct stand_in *si = &md->stand_in;

	if (!stand_in_exists(md))
		return NULL;
	step_proc_start(md, si->m, si->p);
	if (si->g->status == G_SYSCALL)
		step_syscall_end_blocked(md, si->m);
	step_go_start(md, si->m, si->g);
	return si->m;
}

void stand_in_end(struct model *md)
{
	struct m *m = md->stand_in.m;

	if (!m || !m->g)
		return;
	step_go_stop(md, m, tables_string(md, "unspecified"), md->stand_in.stack);
	step_proc_stop(md, m);
}
