/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The garbage collector's state when a snapshot was begun. The snapshot was read between two markers; the
 * first record after the first marker overrides it.
 */
#include "model/go/snapshot.h"

#include "model/go/hit.h"
#include "model/repair.h"
#include "model/step.h"
#include "model/synthetic.h"

/* Returns whether a cycle ran at the first marker. */
static enum gc_phase phase_at(const struct model *md, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (md->early.records[i].site == SITE_GC_BEGIN)
			return GC_OFF;
		if (md->early.records[i].site == SITE_GC_END)
			return GC_ON;
	}
	if (!md->snapshot.heap.gc)
		return GC_UNKNOWN;
	return md->snapshot.heap.gc == LOG_GC_RUNS ? GC_ON : GC_OFF;
}

static bool has_goal(const struct model *md, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (md->early.records[i].site == SITE_HEAP_GOAL)
			return true;
	}
	return false;
}

void snapshot_start_gc(struct model *md, size_t from, size_t to)
{
	const struct model_snapshot *snap = &md->snapshot;

	for (size_t i = 0; i < snap->ngs; i++) {
		struct g *g = g_find(&md->entities, snap->gs[i].g);

		if (g)
			g->assists = snap->gs[i].assist == LOG_ASSIST_OPEN;
	}
	/* Backwards, so that a goroutine's first record takes effect last. */
	for (size_t i = to; i-- > from;) {
		const struct raw_record *rec = &md->early.records[i];
		struct g *g = g_find(&md->entities, rec->g);

		if (g && (rec->site == SITE_ASSIST_BEGIN || rec->site == SITE_ASSIST_END))
			g->assists = rec->site == SITE_ASSIST_END && !repeats_assists(md);
	}
	md->gc.phase = phase_at(md, from, to);
	md->gc.heap_goal = snap->heap.goal;
	md->gc.goal_due = snap->heap.gc && !has_goal(md, from, to);
}

/* Writes that a cycle began or ended unobserved. */
static void resync_phase(struct model *md, enum gc_phase phase)
{
	struct m *m;

	if (phase == GC_UNKNOWN || (phase == GC_ON) == (md->gc.phase == GC_ON))
		return;
	if (phase == GC_OFF && !md->gc.in_file) {
		md->gc.phase = GC_OFF; /* no event of the trace says that it was on */
		return;
	}
	m = synthetic_begin(md);
	if (!m)
		return;
	/* No goroutine has run in this generation to announce the cycle. */
	if (phase == GC_OFF && !md->generation.gc_announced)
		emit(&md->ops, OP_GC_ACTIVE, m);
	emit(&md->ops, phase == GC_ON ? OP_GC_BEGIN : OP_GC_END, m)->stack =
		phase == GC_ON ? md->synthetic.stack : 0;
	synthetic_end(md);
	md->gc.phase = phase;
	md->generation.gc_announced = md->gc.in_file = true;
}

/* Whether the target has ended an assist that is open in the ops. */
static bool ended_unseen(const struct model *md, const struct g *g, const struct log_g *lg)
{
	return g && g->assists && lg->assist == LOG_ASSIST_NONE &&
	       g->last_assist < md->snapshot.info.time_before;
}

void snapshot_resync_assists(struct model *md)
{
	const struct model_snapshot *snap = &md->snapshot;

	for (size_t i = 0; i < snap->ngs; i++) {
		struct g *g = g_find(&md->entities, snap->gs[i].g);

		if (!ended_unseen(md, g, &snap->gs[i]))
			continue;
		/* The end can be written only while the goroutine runs; else at its next start. */
		if (g->status == G_RUNNING)
			step_assist_end(md, g->m);
		else
			g->assist_over = true;
	}
}

/*
 * A goroutine that ended its assist has run since the loss, even if its status is the same as before. Its
 * next start may be far off, and the assist did not last that long.
 */
static void show_run(struct model *md, struct g *g, const struct log_g *lg)
{
	uint32_t reason = reason_id(&md->reasons, REASON_PARK, lg->waitreason);
	bool waits = g->status == G_WAITING;
	struct m *m;

	force_runnable(md, g);
	m = synthetic_thread(md);
	if (!m)
		return;
	step_go_start(md, m, g); /* ends the assist */
	if (waits)
		step_go_block(md, m, reason ? reason : reason_unspecified(&md->reasons),
			      stack_table_find(&md->stacks, lg->stack));
	else
		step_go_stop(md, m, reason_unspecified(&md->reasons), 0);
	synthetic_return(md);
}

static void end_assists_left(struct model *md)
{
	const struct model_snapshot *snap = &md->snapshot;

	for (size_t i = 0; i < snap->ngs; i++) {
		struct g *g = g_find(&md->entities, snap->gs[i].g);

		if (g && g->assist_over && g->last_hit < snap->info.time_before &&
		    (g->status == G_RUNNABLE || g->status == G_WAITING))
			show_run(md, g, &snap->gs[i]);
	}
}

void snapshot_resync_gc(struct model *md, size_t from)
{
	if (md->gc.last < md->snapshot.info.time_before)
		resync_phase(md, phase_at(md, from, md->early.n));
	end_assists_left(md);
}
