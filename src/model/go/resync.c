/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * After a loss: compares the state with a new snapshot and writes the differences as transitions. Objects
 * with a record since the first marker are left alone: the record is newer than the snapshot.
 */
#include <string.h>

#include "model/go/front_end.h"

#include "model/go/leave.h"
#include "model/go/memory.h"
#include "model/go/snapshot.h"
#include "model/go/runtime.h"
#include "model/repair.h"
#include "model/step.h"

static bool resync_older(const struct model *md, uint64_t last_hit)
{
	return last_hit < md->snapshot.info.time_before;
}

static void to_syscall(struct model *md, struct m *m, struct g *g, struct p *p)
{
	if (g->status == G_SYSCALL && g->m == m)
		return;
	if (force_running(md, m, g, p) && m->p)
		step_syscall_begin(md, m, 0);
}

/* Whether the stacks surely differ. Either may be cut, and the words of a scan are not its frames. */
static bool stacks_differ(const struct stack_table *table, uint32_t one, uint32_t other)
{
	const struct stack *a = &table->stacks[one], *b = &table->stacks[other];
	uint32_t n = a->n < b->n ? a->n : b->n;

	/* The last PC may be the start that was added to a cut one. */
	n -= n && (a->starts || b->starts);
	return one && other && n && a->pcs && b->pcs && !a->frames && !b->frames && !a->literal &&
	       !b->literal && !a->scan && !b->scan && memcmp(a->pcs, b->pcs, n * sizeof(*a->pcs)) != 0;
}

/*
 * The goroutine waits now, as it did when it was last seen. If it is elsewhere, it was woken and has run
 * meanwhile: else it would seem to wait for what has long come.
 */
static void set_waiting(struct model *md, struct g *g, const struct log_g *lg)
{
	uint32_t reason = reason_id(&md->reasons, REASON_PARK, lg->waitreason);
	uint32_t stack = stack_table_find(&md->stacks, lg->stack);

	stack = stack_table_skip(&md->stacks, stack, reason_skip(&md->reasons, lg->waitreason));
	if (g->status == G_WAITING && !g->left && stacks_differ(&md->stacks, g->stack, stack))
		force_runnable(md, g);
	if (g->status != G_WAITING)
		force_waiting(md, g, reason, stack);
}

static void resync_set_status(struct model *md, struct g *g, const struct log_m *lm, uint8_t status)
{
	struct m *m = lm ? m_get(&md->entities, lm->tid) : NULL;
	struct p *p = lm ? p_find(&md->entities, snapshot_p_of(lm)) : NULL;

	if (status == G_RUNNABLE) {
		force_runnable(md, g);
	} else if (m && resync_older(md, m->last_hit) && p && resync_older(md, p->last_hit)) {
		if (status == G_RUNNING)
			force_running(md, m, g, p);
		else
			to_syscall(md, m, g, p);
	}
}

/* Lists goroutines that ended after the snapshot was begun: it may still show them. */
static void resync_list_ended(struct model *md, struct map64 *ended)
{
	for (uint32_t i = 0; i < md->entities.gs.nended; i++) {
		const struct g *g = md->entities.gs.all[md->entities.gs.ended[i]];

		if (!resync_older(md, g->last_hit) && map64_set(ended, g->ptr, 1))
			md->oom = true;
	}
}

/* The stack in the snapshot has all frames; at a block, the runtime's tracer omits the runtime's own. */
static void settle_parked(struct model *md, struct g *g, const struct log_g *lg)
{
	uint32_t stack = stack_table_find(&md->stacks, lg->stack);
	uint8_t skip = g->left ? reason_skip(&md->reasons, AWAITED_REASON(lg->waitreason)) : 0;

	settle_leaving(md, g, PARKED, lg->waitreason, stack_table_skip(&md->stacks, stack, skip));
	if (stack)
		g->stack = stack;
}

static void resync_g(struct model *md, const struct map64 *ended, const struct log_g *lg)
{
	const struct log_m *lm = snapshot_m_of(&md->snapshot, lg);
	uint8_t status = snapshot_g_status(lg, lm);
	struct g *g = g_find(&md->entities, lg->g);

	if (status == G_DEAD || !lg->g || (!g && map64_get(ended, lg->g)))
		return;
	if (g && !resync_older(md, g->last_hit)) {
		g->listed = true;
		return;
	}
	g = g_of_record(md, lg->g, lg->goid, status);
	if (!g)
		return;
	g->listed = true;
	if (!g->startpc)
		g->startpc = lg->startpc;
	if (status == G_WAITING)
		set_waiting(md, g, lg);
	else if (g->status != status || g->status == G_RUNNING)
		resync_set_status(md, g, lm, status);
	if (g->status == G_WAITING && lg->stack)
		settle_parked(md, g, lg);
}

static void resync_end_unlisted(struct model *md)
{
	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		struct g *g = md->entities.gs.all[i];

		if (g->status != G_DEAD && !g->listed && g != md->synthetic.g &&
		    resync_older(md, g->last_hit))
			force_dead(md, g);
		g->listed = false;
	}
}

/* Sets which thread holds which P: a thread can run for long without a record that shows it. */
static void resync_p(struct model *md, const struct log_m *lm)
{
	struct m *m = snapshot_has_thread(lm) ? m_get(&md->entities, lm->tid) : NULL;
	struct p *p = p_find(&md->entities, lm->p);
	bool in_syscall = lm->curg && lm->status == GO_G_SYSCALL;

	if (!m || !p || in_syscall || m->p == p || !resync_older(md, m->last_p_hit) ||
	    !resync_older(md, p->last_hit))
		return;
	force_m_hold(md, m, p);
}

/* Threads without a goroutine. */
static void resync_m(struct model *md, const struct log_m *lm)
{
	struct m *m = snapshot_has_thread(lm) ? m_get(&md->entities, lm->tid) : NULL;

	if (!m || !resync_older(md, m->last_hit) || lm->curg)
		return;
	force_m_free(md, m);
	if (m->p && m->p != p_find(&md->entities, lm->p) && resync_older(md, m->p->last_hit))
		step_proc_stop(md, m);
}

void go_resync(struct model *md)
{
	const struct model_snapshot *snap = &md->snapshot;
	size_t from = early_find_marker(&md->early, snap->info.marker_before, md->early.n);
	size_t to = early_find_marker(&md->early, snap->info.marker_after, md->early.n);
	struct map64 ended = {0};

	md->ops.provenance = md->starts_only ? INFERRED : REPAIRED;
	md->gomaxprocs = snap->info.gomaxprocs;
	for (size_t i = 0; i < snap->nps; i++) {
		if (snap->ps[i].status != GO_P_DEAD)
			step_proc_get(md, snap->ps[i].p, (int32_t)snap->ps[i].id);
	}
	snapshot_resync_assists(md);
	for (size_t i = 0; i < snap->nms; i++)
		resync_m(md, &snap->ms[i]);
	for (size_t i = 0; i < snap->nms; i++)
		resync_p(md, &snap->ms[i]);
	resync_list_ended(md, &ended);
	for (size_t i = 0; i < snap->ngs; i++)
		resync_g(md, &ended, &snap->gs[i]);
	resync_end_unlisted(md);
	annotators_snapshot(&md->annotators, &md->early, from, to);
	snapshot_resync_gc(md, from);
	map64_free(&ended);
	memory_resync(md);
	md->ops.provenance = OBSERVED;
}
