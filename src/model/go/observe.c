/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Translates raw records of the runtime's sites to ops. */
#include "model/go/front_end.h"

#include "model/announce.h"
#include "model/go/memory.h"
#include "model/go/hit.h"
#include "model/step.h"

/* What the program says of its goroutine, which runs: for annotators. */
static void on_annotation(struct model *md, const struct probe_hit *hit)
{
	if (force_hit_running(md, hit))
		annotators_observe(&md->annotators, hit);
}

static const probe_hit_handler handlers[UINT8_MAX + 1] = {
#define SITE(name, number, program, go_handler, threads_handler) [SITE_##name] = go_handler,
#include "bpf/site_list.h"
#undef SITE
};

/* Returns the record's P, usually the one that the thread already holds. */
static struct p *p_of_record(struct model *md, const struct m *m, const struct raw_record *rec)
{
	if (m->p && rec->p && m->p->ptr == rec->p)
		return m->p;
	return names_a_p(rec->site) && rec->p ? step_proc_get(md, rec->p, (int32_t)rec->arg2)
					      : p_find(&md->entities, rec->p);
}

/*
 * Returns NULL if the goroutine is unknown, or if its runtime.g has been reused. A goroutine without a goid
 * (up to Go 1.23 newproc1 assigns it late) has the record's from here on; a made-up goid proves nothing.
 */
static struct g *sampled_g(struct model *md, const struct raw_record *rec)
{
	struct g *g = g_find(&md->entities, rec->g);
	uint64_t goid;

	if (!g)
		return NULL;
	g_set_goid(&md->entities, g, rec->goid);
	goid = md->entities.gs.goids[g->index];
	return goid < OWN_GOID && rec->goid && goid != rec->goid ? NULL : g;
}

/* A record that shows no state of goroutines and Ps: only for annotators. */
static void observe_aside(struct model *md, const struct raw_record *rec)
{
	struct probe_hit hit = {.rec = rec};

	/* A damaged log may have any site, also those whose annotators need a goroutine. */
	if (rec->site != SITE_CPU_SAMPLE && rec->site != SITE_OFF_CPU && rec->site != SITE_CPU)
		return;
	if (rec->site == SITE_CPU_SAMPLE) {
		if (!rec->tid || rec->tid >= SYNTHETIC_TID)
			return;
		hit.p = p_find(&md->entities, rec->p);
		hit.sampled = sampled_g(md, rec);
		hit.stack = stack_table_find(&md->stacks, rec->stack);
	}
	annotators_observe(&md->annotators, &hit);
}

bool go_is_hit(const struct raw_record *rec)
{
	return handlers[rec->site] && rec->tid && rec->tid < SYNTHETIC_TID;
}

void go_observe(struct model *md, const struct raw_record *rec)
{
	struct probe_hit hit = {.rec = rec, .text = md->text};

	if (!handlers[rec->site])
		observe_aside(md, rec);
	if (!go_is_hit(rec))
		return;
	hit.m = m_get(&md->entities, rec->tid);
	if (!hit.m)
		return;
	hit.p = p_of_record(md, hit.m, rec);
	hit.stack = stack_table_find(&md->stacks, rec->stack);
	md->ops.now = rec->time;
	md->ops.provenance = OBSERVED;
	hit.m->last_hit = rec->time;
	if (moves_own_p(rec->site))
		hit.m->last_p_hit = rec->time;
	if (hit.p)
		hit.p->last_hit = rec->time;
	handlers[rec->site](md, &hit);
	if (md->gc.live_due)
		announce_heap_live(md, hit.m);
	md->ops.provenance = OBSERVED;
}
