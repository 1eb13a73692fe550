/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Goroutines, Ps and Ms by their keys: runtime.g pointer, runtime.p pointer, thread id. */
#include <stdlib.h>

#include "state.h"

static bool push_index(uint32_t **list, uint32_t *n, uint32_t *capacity, uint32_t index)
{
	if (*n == *capacity) {
		uint32_t more = *capacity ? *capacity * 2 : 64;
		uint32_t *bigger = realloc(*list, more * sizeof(*bigger));

		if (!bigger)
			return false;
		*list = bigger;
		*capacity = more;
	}
	(*list)[(*n)++] = index;
	return true;
}

static bool grow_goroutines(struct goroutine_table *gs)
{
	uint32_t more = gs->capacity ? gs->capacity * 2 : 1024;
	struct g **all;
	uint64_t *goids;

	if (gs->n < gs->capacity)
		return true;
	all = realloc(gs->all, more * sizeof(*all));
	if (!all)
		return false;
	gs->all = all;
	goids = realloc(gs->goids, more * sizeof(*goids));
	if (!goids)
		return false;
	gs->goids = goids;
	gs->capacity = more;
	if (gs->n == 0) {
		gs->all[0] = NULL; /* index 0 = NO_G */
		gs->goids[0] = 0;
		gs->n = 1;
	}
	return true;
}

int entities_init(struct model *md)
{
	return grow_goroutines(&md->gs) ? 0 : -1;
}

struct g *g_find(const struct model *md, uint64_t ptr)
{
	uint32_t *index = ptr ? map64_get(&md->gs.by_ptr, ptr) : NULL;

	return index ? md->gs.all[*index] : NULL;
}

static struct g *new_slot(struct goroutine_table *gs)
{
	struct g *g;

	if (gs->nfree) {
		g = gs->all[gs->free[--gs->nfree]];
		*g = (struct g){.index = g->index};
		return g;
	}
	if (!grow_goroutines(gs))
		return NULL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->index = gs->n;
	gs->all[gs->n++] = g;
	return g;
}

/* Readers refuse two goroutines of one id at a time: the second keeps none, and gets a made-up one. */
static void take_goid(struct model *md, struct g *g, uint64_t goid)
{
	if (!goid || map64_get(&md->gs.by_goid, goid))
		return;
	md->gs.goids[g->index] = goid;
	if (map64_set(&md->gs.by_goid, goid, g->index))
		md->oom = true;
}

void g_set_goid(struct model *md, struct g *g, uint64_t goid)
{
	/* The id counts from the goroutine's birth on, so nobody else may have had it meanwhile. */
	if (!md->gs.goids[g->index] && goid && !map64_get(&md->gs.ended_goids, goid))
		take_goid(md, g, goid);
}

struct g *g_new(struct model *md, uint64_t ptr, uint64_t goid)
{
	struct g *g = new_slot(&md->gs);

	if (!g || (ptr && map64_set(&md->gs.by_ptr, ptr, g->index))) {
		md->oom = true;
		return NULL;
	}
	g->ptr = ptr;
	md->gs.goids[g->index] = 0;
	take_goid(md, g, goid);
	md->totals.goroutines++;
	return g;
}

void g_ended(struct model *md, struct g *g)
{
	struct goroutine_table *gs = &md->gs;
	uint32_t *index = map64_get(&gs->by_ptr, g->ptr);

	if (index && *index == g->index)
		map64_del(&gs->by_ptr, g->ptr);
	if (gs->goids[g->index]) {
		map64_del(&gs->by_goid, gs->goids[g->index]);
		if (map64_set(&gs->ended_goids, gs->goids[g->index], 1))
			md->oom = true;
	}
	g->status = G_DEAD;
	g->m = NULL;
	regions_forget(g);
	threads_forget(md, g);
	if (!push_index(&gs->ended, &gs->nended, &gs->ended_capacity, g->index))
		md->oom = true;
}

void g_recycle(struct model *md)
{
	struct goroutine_table *gs = &md->gs;

	for (uint32_t i = 0; i < gs->nended; i++) {
		if (!push_index(&gs->free, &gs->nfree, &gs->free_capacity, gs->ended[i]))
			md->oom = true;
	}
	gs->nended = 0;
	map64_clear(&gs->ended_goids);
}

struct p *p_find(const struct model *md, uint64_t ptr)
{
	uint32_t *index = ptr ? map64_get(&md->p_by_ptr, ptr) : NULL;

	return index ? md->ps[*index] : NULL;
}

/* Linux runs on 8,192 CPUs at most; a log that says more lies. */
enum { MAX_PS = 1 << 14 };

static struct p *p_by_id(const struct model *md, int32_t id)
{
	for (unsigned i = 0; i < md->nps; i++) {
		if (md->ps[i]->id == id)
			return md->ps[i];
	}
	return NULL;
}

static struct p *p_add(struct model *md, int32_t id)
{
	struct p **ps = realloc(md->ps, (md->nps + 1) * sizeof(*ps));
	struct p *p = ps ? calloc(1, sizeof(*p)) : NULL;

	if (ps)
		md->ps = ps;
	if (!p) {
		md->oom = true;
		return NULL;
	}
	p->id = id;
	p->status = P_IDLE;
	md->ps[md->nps++] = p;
	if (md->generation)
		step_proc_status(md, p);
	return p;
}

struct p *p_get(struct model *md, uint64_t ptr, int32_t id)
{
	struct p *p = p_find(md, ptr);

	if (p || id < 0 || id >= MAX_PS)
		return p;
	p = p_by_id(md, id);
	if (p && p == md->stand_in.p)
		md->stand_in.p = NULL; /* it takes another when it needs one */
	if (!p)
		p = p_add(md, id);
	if (!p || !ptr)
		return p;
	p->ptr = ptr;
	for (unsigned i = 0; i < md->nps; i++) {
		if (md->ps[i] == p && map64_set(&md->p_by_ptr, ptr, i))
			md->oom = true;
	}
	return p;
}

struct m *m_get(struct model *md, uint32_t tid)
{
	uint32_t *index = tid ? map64_get(&md->m_by_tid, tid) : NULL;
	struct m **ms;
	struct m *m;

	if (index || !tid)
		return index ? md->ms[*index] : NULL;
	ms = realloc(md->ms, (md->nms + 1) * sizeof(*ms));
	if (ms)
		md->ms = ms;
	m = ms ? calloc(1, sizeof(*m)) : NULL;
	if (!m || map64_set(&md->m_by_tid, tid, md->nms)) {
		free(m);
		md->oom = true;
		return NULL;
	}
	m->tid = tid;
	md->ms[md->nms++] = m;
	return m;
}

/* So many may do nothing before any is forgotten: Go's own limit on threads is 10,000. */
enum { MANY_MS = 1 << 14 };
#define IDLE_NS (10 * 1000000000ull)

/* Nothing of it is pending, and nobody points to it: it is as one that was never seen. */
static bool is_forgettable(const struct model *md, const struct m *m)
{
	return !m->g && !m->p && !m->end.held && !m->ended_by_switch && m != md->stand_in.m &&
	       m->last_hit + IDLE_NS < md->last_time;
}

void forget_threads(struct model *md)
{
	unsigned kept = 0;

	if (md->nms < MANY_MS)
		return;
	map64_clear(&md->m_by_tid);
	for (unsigned i = 0; i < md->nms; i++) {
		struct m *m = md->ms[i];

		if (is_forgettable(md, m)) {
			free(m);
			continue;
		}
		md->ms[kept] = m;
		if (map64_set(&md->m_by_tid, m->tid, kept++))
			md->oom = true;
	}
	md->nms = kept;
}
