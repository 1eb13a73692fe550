/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/entities.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

static bool push_index(uint32_t **list, uint32_t *n, size_t *capacity, uint32_t index)
{
	if (array_grow(list, capacity, (size_t)*n + 1, sizeof(**list)))
		return false;
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

bool entities_init(struct entities *all)
{
	return grow_goroutines(&all->gs);
}

static void free_goroutines(struct goroutine_table *gs)
{
	for (uint32_t i = 1; i < gs->n; i++)
		free(gs->all[i]);
	free(gs->all);
	free(gs->goids);
	free(gs->ended);
	free(gs->free);
	map64_free(&gs->by_ptr);
	map64_free(&gs->by_goid);
	map64_free(&gs->ended_goids);
}

void entities_free(struct entities *all)
{
	free_goroutines(&all->gs);
	for (unsigned i = 0; i < all->nps; i++)
		free(all->ps[i]);
	for (unsigned i = 0; i < all->nms; i++)
		free(all->ms[i]);
	free(all->ps);
	free(all->ms);
	map64_free(&all->p_by_ptr);
	map64_free(&all->m_by_tid);
}

/* Fibonacci hashing, because runtime.g structs are at multiples of their size. */
static struct g **recent_g(struct entities *all, uint64_t ptr)
{
	return &all->gs.recent[ptr * 0x9e3779b97f4a7c15ull >> (64 - RECENT_BITS)];
}

struct g *g_find(struct entities *all, uint64_t ptr)
{
	struct g **recent = recent_g(all, ptr);
	uint32_t *index;

	if (!ptr)
		return NULL;
	if (*recent && (*recent)->ptr == ptr && (*recent)->status != G_DEAD)
		return *recent;
	index = map64_get(&all->gs.by_ptr, ptr);
	if (index)
		*recent = all->gs.all[*index];
	return index ? *recent : NULL;
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

/*
 * goids count up, and no program runs long enough to create 2^52 goroutines: a larger id is corrupt. Readers
 * reject 2^64-1, and two live goroutines with the same id. In these cases the goroutine gets a made-up id
 * later.
 */
static void take_goid(struct entities *all, struct g *g, uint64_t goid)
{
	if (!goid || goid > OWN_GOID || map64_get(&all->gs.by_goid, goid))
		return;
	all->gs.goids[g->index] = goid;
	if (map64_set(&all->gs.by_goid, goid, g->index))
		all->oom = true;
}

void g_set_goid(struct entities *all, struct g *g, uint64_t goid)
{
	/* The id applies from the goroutine's creation on: no goroutine that ended since may have had it. */
	if (!all->gs.goids[g->index] && goid && !map64_get(&all->gs.ended_goids, goid))
		take_goid(all, g, goid);
}

struct g *g_new(struct entities *all, uint64_t ptr, uint64_t goid)
{
	struct g *g = new_slot(&all->gs);

	if (!g || (ptr && map64_set(&all->gs.by_ptr, ptr, g->index))) {
		all->oom = true;
		return NULL;
	}
	g->life = ++all->lives;
	g->ptr = ptr;
	all->gs.goids[g->index] = 0;
	take_goid(all, g, goid);
	all->created++;
	return g;
}

void g_end(struct entities *all, struct g *g)
{
	struct goroutine_table *gs = &all->gs;
	uint32_t *index = map64_get(&gs->by_ptr, g->ptr);

	if (index && *index == g->index)
		map64_del(&gs->by_ptr, g->ptr);
	if (gs->goids[g->index]) {
		map64_del(&gs->by_goid, gs->goids[g->index]);
		if (map64_set(&gs->ended_goids, gs->goids[g->index], 1))
			all->oom = true;
	}
	g->status = G_DEAD;
	g->m = NULL;
	if (!push_index(&gs->ended, &gs->nended, &gs->ended_capacity, g->index))
		all->oom = true;
}

void g_recycle(struct entities *all)
{
	struct goroutine_table *gs = &all->gs;

	for (uint32_t i = 0; i < gs->nended; i++) {
		if (!push_index(&gs->free, &gs->nfree, &gs->free_capacity, gs->ended[i]))
			all->oom = true;
	}
	gs->nended = 0;
	map64_clear(&gs->ended_goids);
}

struct p *p_find(const struct entities *all, uint64_t ptr)
{
	uint32_t *index = ptr ? map64_get(&all->p_by_ptr, ptr) : NULL;

	return index ? all->ps[*index] : NULL;
}

/* Linux supports at most 8,192 CPUs; a log with more is corrupt. */
enum { MAX_PS = 1 << 14 };

struct p *p_by_id(const struct entities *all, int32_t id)
{
	for (unsigned i = 0; i < all->nps; i++) {
		if (all->ps[i]->id == id)
			return all->ps[i];
	}
	return NULL;
}

struct p *p_add(struct entities *all, int32_t id)
{
	struct p **ps, *p;

	if (id < 0 || id >= MAX_PS)
		return NULL;
	ps = realloc(all->ps, (all->nps + 1) * sizeof(*ps));
	if (ps)
		all->ps = ps;
	p = ps ? calloc(1, sizeof(*p)) : NULL;
	if (!p) {
		all->oom = true;
		return NULL;
	}
	p->id = id;
	p->status = P_IDLE;
	all->ps[all->nps++] = p;
	return p;
}

void p_set_ptr(struct entities *all, struct p *p, uint64_t ptr)
{
	p->ptr = ptr;
	for (unsigned i = 0; i < all->nps; i++) {
		if (all->ps[i] == p && map64_set(&all->p_by_ptr, ptr, i))
			all->oom = true;
	}
}

static struct m *m_add(struct entities *all, uint32_t tid)
{
	struct m **ms = realloc(all->ms, (all->nms + 1) * sizeof(*ms));
	struct m *m = ms ? calloc(1, sizeof(*m)) : NULL;

	if (ms)
		all->ms = ms;
	if (!m || map64_set(&all->m_by_tid, tid, all->nms)) {
		free(m);
		all->oom = true;
		return NULL;
	}
	m->tid = tid;
	all->ms[all->nms++] = m;
	return m;
}

struct m *m_find(const struct entities *all, uint32_t tid)
{
	const uint32_t *index = map64_get(&all->m_by_tid, tid);

	return index ? all->ms[*index] : NULL;
}

struct m *m_get(struct entities *all, uint32_t tid)
{
	struct m **recent = &all->recent_ms[tid % RECENT_MS];

	if (!tid)
		return NULL;
	if (*recent && (*recent)->tid == tid)
		return *recent;
	*recent = m_find(all, tid);
	if (!*recent)
		*recent = m_add(all, tid);
	return *recent;
}

/* The number of Ms at which idle ones are dropped. Go's own limit is 10,000 threads. */
enum { MANY_MS = 1 << 14 };

/* Whether nothing is pending on m and nothing points to it, so that it can be dropped. */
static bool is_idle(const struct m *m, uint64_t since)
{
	return !m->g && !m->p && !m->end.reserved && !m->ended_by_switch && m->last_hit < since;
}

void m_forget_idle(struct entities *all, uint64_t since, const struct m *but)
{
	unsigned kept = 0;

	if (all->nms < MANY_MS)
		return;
	map64_clear(&all->m_by_tid);
	memset(all->recent_ms, 0, sizeof(all->recent_ms));
	for (unsigned i = 0; i < all->nms; i++) {
		struct m *m = all->ms[i];

		if (m != but && is_idle(m, since)) {
			free(m);
			continue;
		}
		all->ms[kept] = m;
		if (map64_set(&all->m_by_tid, m->tid, kept++))
			all->oom = true;
	}
	all->nms = kept;
}
