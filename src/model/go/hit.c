/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/go/hit.h"

#include "model/go/runtime.h"
#include "model/repair.h"

struct g *force_hit_running(struct model *md, const struct probe_hit *hit)
{
	struct g *g = g_of_record(md, hit->rec->g, hit->rec->goid, G_RUNNABLE);

	if (!g || !force_running(md, hit->m, g, hit->p))
		return NULL;
	g->last_hit = hit->rec->time;
	return g;
}

bool force_thread_of_hit(struct model *md, const struct probe_hit *hit, uint64_t curg)
{
	struct g *g = g_of_record(md, curg, 0, G_RUNNABLE);

	if (!g) {
		force_m_free(md, hit->m);
		return !hit->p || force_m_hold(md, hit->m, hit->p);
	}
	g->last_hit = hit->rec->time;
	return force_running(md, hit->m, g, hit->p);
}

bool is_borrowing(const struct m *m)
{
	return m->g && m->g->status == G_SYSCALL && m->p && m->p->status == P_RUNNING;
}

/* A goroutine with a thread also runs if its status is _Gwaiting or _Gcopystack. */
void on_behalf(struct model *md, const struct probe_hit *hit)
{
	const uint8_t status = hit->rec->status;

	if (is_borrowing(hit->m))
		return;
	if (hit->rec->g && (status == GO_G_RUNNING || status == GO_G_WAITING || status == GO_G_COPYSTACK))
		force_hit_running(md, hit);
}

bool names_a_p(uint8_t site)
{
	return site >= SITE_ACQUIREP && site <= SITE_GCWAIT;
}

bool moves_own_p(uint8_t site)
{
	return site == SITE_ACQUIREP || site == SITE_RELEASEP || site == SITE_GCWAIT;
}
