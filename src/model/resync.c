/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * After a loss: compares the state with a new snapshot and writes the
 * differences as transitions. What was hit since the first marker is left
 * alone: its records are newer than the snapshot.
 */
#include "snapshot.h"

static bool older(const struct model *md, uint64_t last_hit)
{
	return last_hit < md->snapshot.info.time_before;
}

static void to_syscall(struct model *md, struct m *m, struct g *g, struct p *p)
{
	if (g->status == G_SYSCALL && g->m == m)
		return;
	if (make_running(md, m, g, p) && m->p)
		step_syscall_begin(md, m, 0);
}

static void set_status(struct model *md, struct g *g, const struct log_m *lm, uint8_t status)
{
	struct m *m = lm ? m_get(md, lm->tid) : NULL;
	struct p *p = lm ? p_find(md, snapshot_p_of(lm)) : NULL;

	if (status == G_WAITING) {
		make_waiting(md, g);
	} else if (status == G_RUNNABLE) {
		make_runnable(md, g);
	} else if (m && older(md, m->last_hit) && p && older(md, p->last_hit)) {
		if (status == G_RUNNING)
			make_running(md, m, g, p);
		else
			to_syscall(md, m, g, p);
	}
}

/* Structs of goroutines that ended after the snapshot was begun: the snapshot may still show them. */
static void list_ended(struct model *md, struct map64 *ended)
{
	for (uint32_t i = 0; i < md->gs.nended; i++) {
		const struct g *g = md->gs.all[md->gs.ended[i]];

		if (!older(md, g->last_hit) && map64_set(ended, g->ptr, 1))
			md->oom = true;
	}
}

static void resync_g(struct model *md, const struct map64 *ended, const struct log_g *lg)
{
	const struct log_m *lm = snapshot_m_of(&md->snapshot, lg);
	uint8_t status = snapshot_g_status(lg, lm);
	struct g *g = g_find(md, lg->g);

	if (status == G_DEAD || !lg->g || (!g && map64_get(ended, lg->g)))
		return;
	if (g && !older(md, g->last_hit)) {
		g->listed = true;
		return;
	}
	g = g_of_record(md, lg->g, lg->goid, status);
	if (!g)
		return;
	g->listed = true;
	if (!g->startpc)
		g->startpc = lg->startpc;
	if (g->status != status || g->status == G_RUNNING)
		set_status(md, g, lm, status);
	if (g->status == G_WAITING && lg->stack)
		settle_leaving(md, g, PARKED, lg->waitreason, tables_stack(md, lg->stack));
}

static void end_unlisted(struct model *md)
{
	for (uint32_t i = 1; i < md->gs.n; i++) {
		struct g *g = md->gs.all[i];

		if (g->status != G_DEAD && !g->listed && g != md->stand_in.g && older(md, g->last_hit))
			make_dead(md, g);
		g->listed = false;
	}
}

/* Who holds which P: a thread can run for long without a record that says so. */
static void resync_p(struct model *md, const struct log_m *lm)
{
	struct m *m = lm->tid && lm->tid < STAND_IN_TID ? m_get(md, lm->tid) : NULL;
	struct p *p = p_find(md, lm->p);
	bool in_syscall = lm->curg && lm->status == 3 /* _Gsyscall */;

	if (!m || !p || in_syscall || m->p == p || !older(md, m->last_p_hit) || !older(md, p->last_hit))
		return;
	make_m_hold(md, m, p);
}

/* Threads without a goroutine. */
static void resync_m(struct model *md, const struct log_m *lm)
{
	struct m *m = lm->tid && lm->tid < STAND_IN_TID ? m_get(md, lm->tid) : NULL;

	if (!m || !older(md, m->last_hit) || lm->curg)
		return;
	make_m_free(md, m);
	if (m->p && m->p != p_find(md, lm->p) && older(md, m->p->last_hit))
		step_proc_stop(md, m);
}

void resync_to_snapshot(struct model *md)
{
	const struct snapshot *snap = &md->snapshot;
	struct map64 ended = {0};

	md->cause = md->spans ? INFERRED : REPAIRED;
	md->gomaxprocs = snap->info.gomaxprocs;
	for (size_t i = 0; i < snap->nps; i++) {
		if (snap->ps[i].status != 4 /* _Pdead */)
			p_get(md, snap->ps[i].p, (int32_t)snap->ps[i].id);
	}
	for (size_t i = 0; i < snap->nms; i++)
		resync_m(md, &snap->ms[i]);
	for (size_t i = 0; i < snap->nms; i++)
		resync_p(md, &snap->ms[i]);
	list_ended(md, &ended);
	for (size_t i = 0; i < snap->ngs; i++)
		resync_g(md, &ended, &snap->gs[i]);
	end_unlisted(md);
	snapshot_resync_gc(md, find_marker(&md->early, snap->info.marker_before, md->early.n));
	map64_free(&ended);
	memory_resync(md);
	md->cause = SEEN;
}
