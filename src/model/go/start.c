/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The initial state. The snapshot was read while the target ran, between two markers in the ring. If an
 * object was hit between the markers, its first hit shows its state at the first marker; otherwise the
 * snapshot does.
 */
#include "model/go/front_end.h"

#include "model/go/hit.h"
#include "model/go/memory.h"
#include "model/go/runtime.h"
#include "model/go/snapshot.h"
#include "model/step.h"

/* The state that a record implies for the moment before it. */
struct implied {
	uint64_t self, other;              /* goroutines; 0 = none */
	uint8_t self_status, other_status; /* enum g_status; other: G_DEAD = not created yet */
	uint8_t p_status;                  /* 0 = unknown */
	uint32_t holder;                   /* tid of the thread that had the P; 0 = unknown */
};

static struct implied implied_by_hit(const struct raw_record *rec)
{
	struct implied im = {
		.self = rec->g, .self_status = G_RUNNING, .p_status = P_RUNNING, .holder = rec->tid};

	switch (rec->site) {
	case SITE_READY:
	case SITE_UNBLOCK:
	case SITE_NEWPROC:
		/* If curg has ended, no goroutine does it (has_left() in go/sched.c). */
		im.self = rec->site == SITE_READY && rec->status == GO_G_DEAD ? 0 : rec->arg;
		im.other = rec->g;
		im.other_status = rec->site == SITE_NEWPROC ? G_DEAD : G_WAITING;
		break;
	case SITE_CORO:
		im.other = rec->arg;
		im.other_status = G_WAITING;
		break;
	case SITE_EXECUTE:
	case SITE_RESUME:
	case SITE_NEEDM:
		im.self = 0;
		im.other = rec->g;
		im.other_status = rec->site == SITE_NEEDM ? G_DEAD : G_RUNNABLE;
		im.p_status = rec->site == SITE_NEEDM ? 0 : P_RUNNING;
		break;
	case SITE_SYS_EXIT:
	case SITE_CGO_EXIT:
	case SITE_EXIT_NO_P:
	case SITE_DROPM:
		im.self_status = G_SYSCALL;
		im.p_status = rec->site == SITE_SYS_EXIT || rec->site == SITE_CGO_EXIT ? P_SYSCALL : 0;
		break;
	case SITE_ACQUIREP:
		im.self = 0;
		im.p_status = P_IDLE;
		break;
	case SITE_RELEASEP:
		im.self = 0;
		break;
	case SITE_STEALP:
		im.self = 0;
		im.holder = rec->arg < SYNTHETIC_TID ? (uint32_t)rec->arg : 0;
		break;
	case SITE_HANDOFFP:
	case SITE_GCWAIT:
	case SITE_PROCRESIZE:
	case SITE_SWEEP_END:
		return (struct implied){0};
	}
	return im;
}

/* Values of the map of goroutines that were hit between the markers. */
enum { HIT = 1, REUSED = 2 };

/* A thread's P is in a system call if its goroutine is, even if the records and the snapshot disagree. */
static uint8_t p_status_with(uint8_t g_status)
{
	return g_status == G_SYSCALL ? P_SYSCALL : P_RUNNING;
}

static void bind_p(struct m *m, struct p *p, uint8_t status)
{
	p->status = status;
	if (status == P_IDLE)
		return;
	if (m->g)
		p->status = p_status_with(m->g->status);
	p->m = m;
	m->p = p;
}

static void bind_g(struct m *m, struct g *g, uint8_t status)
{
	g->status = status;
	g->m = m;
	m->g = g;
	if (m->p)
		m->p->status = p_status_with(status);
}

/*
 * Adds the goroutine at ptr if this record is its first hit. Returns NULL if it was hit before, or created
 * after the first marker.
 */
static struct g *first_of_g(struct model *md, struct map64 *hit, const struct raw_record *rec, uint64_t ptr,
			    uint8_t status)
{
	if (!ptr || map64_get(hit, ptr))
		return NULL;
	if (map64_set(hit, ptr, HIT))
		md->oom = true;
	return status == G_DEAD ? NULL : g_new(&md->entities, ptr, ptr == rec->g ? rec->goid : 0);
}

/*
 * From Go 1.26 on most hits name no P. One that does shows the P that the thread has had all along, if no P
 * has changed hands since.
 */
static void take_first_hit_of_p(struct model *md, struct p *p, const struct implied *im)
{
	struct m *holder = m_get(&md->entities, im->holder);

	if (im->p_status == P_IDLE || (holder && !holder->last_p_hit && !holder->p))
		bind_p(holder, p, im->p_status);
}

/* 0 would mean "not hit". */
static uint64_t hit_time(const struct raw_record *rec)
{
	return rec->time ? rec->time : 1;
}

static void take_first_hit(struct model *md, struct map64 *hit, const struct raw_record *rec)
{
	struct implied im = implied_by_hit(rec);
	struct m *m = m_get(&md->entities, rec->tid);
	struct p *p = p_find(&md->entities, rec->p);
	struct g *self = first_of_g(md, hit, rec, im.self, im.self_status);
	struct g *other = first_of_g(md, hit, rec, im.other, im.other_status);

	if (other)
		other->status = im.other_status;
	if (self)
		self->status = G_RUNNABLE; /* unless it has a thread, below */
	if (!m)
		return;
	if (p && im.p_status && !p->last_hit)
		take_first_hit_of_p(md, p, &im);
	if (self && !m->last_hit)
		bind_g(m, self, im.self_status);
	if (im.self || im.other || (im.p_status && im.holder == rec->tid))
		m->last_hit = hit_time(rec);
	if (moves_own_p(rec->site))
		m->last_p_hit = hit_time(rec);
	if (p && (im.p_status || names_a_p(rec->site)))
		p->last_hit = hit_time(rec);
}

/* A goroutine ended between the markers: the snapshot may show its successor at that address. */
static void take_end(struct model *md, struct map64 *hit, const struct raw_record *rec)
{
	if ((rec->site == SITE_DESTROY || rec->site == SITE_DROPM) && rec->g &&
	    map64_set(hit, rec->g, REUSED))
		md->oom = true;
}

/* Returns the block reason for the wait reason, or the wait reason itself if the log has none. */
static uint32_t start_wait_reason(const struct model *md, const struct log_g *lg)
{
	uint32_t reason = reason_id(&md->reasons, REASON_PARK, lg->waitreason);

	return reason ? reason : reason_id(&md->reasons, REASON_WAIT, lg->waitreason);
}

/* A goroutine that records name only as a thread's curg gets its id from the snapshot. */
static void name_from_snapshot(struct model *md, const struct map64 *hit)
{
	const struct model_snapshot *snap = &md->snapshot;

	for (size_t i = 0; i < snap->ngs; i++) {
		struct g *g = g_find(&md->entities, snap->gs[i].g);
		uint32_t *how = g ? map64_get(hit, g->ptr) : NULL;

		if (!how || *how == REUSED)
			continue;
		g_set_goid(&md->entities, g, snap->gs[i].goid);
		if (g->startpc == 0)
			g->startpc = snap->gs[i].startpc;
		if (g->status != G_WAITING)
			continue;
		g->stack = stack_table_find(&md->stacks, snap->gs[i].stack);
		g->wait_reason = start_wait_reason(md, &snap->gs[i]);
	}
}

static void place_from_snapshot(struct model *md, struct g *g, const struct log_m *lm, uint8_t status)
{
	struct m *m = lm ? m_get(&md->entities, lm->tid) : NULL;
	struct p *p = lm ? p_find(&md->entities, snapshot_p_of(lm)) : NULL;
	bool p_free = p && !p->last_hit && !p->m;

	g->status = status == G_RUNNING || status == G_SYSCALL ? G_RUNNABLE : status;
	if (!m || m->last_hit || m->g || g->status == status)
		return;
	if (status == G_RUNNING && !p_free)
		return;
	if (p_free && !m->p)
		bind_p(m, p, status == G_RUNNING ? P_RUNNING : P_SYSCALL);
	bind_g(m, g, status);
}

static void take_snapshot_g(struct model *md, const struct map64 *hit, const struct log_g *lg)
{
	const struct log_m *lm = snapshot_m_of(&md->snapshot, lg);
	uint8_t status = snapshot_g_status(lg, lm);
	struct g *g;

	if (status == G_DEAD || !lg->g || map64_get(hit, lg->g) || g_find(&md->entities, lg->g))
		return;
	g = g_new(&md->entities, lg->g, lg->goid);
	if (!g)
		return;
	g->startpc = lg->startpc;
	g->stack = stack_table_find(&md->stacks, lg->stack);
	g->wait_reason = start_wait_reason(md, lg);
	place_from_snapshot(md, g, lm, status);
}

/*
 * Takes the Ps of threads that look for work, and of threads that were hit: most hits do not name the P (from
 * Go 1.26 on, only those at which one changes hands do).
 */
static void take_snapshot_m(struct model *md, const struct log_m *lm)
{
	struct m *m = snapshot_has_thread(lm) ? m_get(&md->entities, lm->tid) : NULL;
	struct p *p = p_find(&md->entities, lm->p);

	if (m && p && !m->last_p_hit && !m->p && !p->last_hit && !p->m)
		bind_p(m, p, P_RUNNING);
}

static void take_snapshot_ps(struct model *md)
{
	for (size_t i = 0; i < md->snapshot.nps; i++) {
		const struct log_p *lp = &md->snapshot.ps[i];

		if (lp->status != GO_P_DEAD)
			step_proc_get(md, lp->p, (int32_t)lp->id);
	}
}

/*
 * A running goroutine has a P. If that of its thread is still unknown, the P changed hands between the
 * markers, and the goroutine is shown as runnable.
 */
static void unbind_without_p(struct model *md)
{
	for (unsigned i = 0; i < md->entities.nms; i++) {
		struct m *m = md->entities.ms[i];

		if (!m->g || m->p || m->g->status != G_RUNNING)
			continue;
		m->g->status = G_RUNNABLE;
		m->g->m = NULL;
		m->g = NULL;
	}
}

void go_start(struct model *md, size_t from, size_t to)
{
	const struct early_records *early = &md->early;
	const struct model_snapshot *snap = &md->snapshot;
	struct map64 hit = {0};

	md->gomaxprocs = snap->info.gomaxprocs;
	take_snapshot_ps(md);
	for (size_t i = from; i < to; i++) {
		if (go_is_hit(&early->records[i]))
			take_first_hit(md, &hit, &early->records[i]);
		take_end(md, &hit, &early->records[i]);
	}
	name_from_snapshot(md, &hit);
	for (size_t i = 0; i < snap->ngs; i++)
		take_snapshot_g(md, &hit, &snap->gs[i]);
	for (size_t i = 0; i < snap->nms; i++)
		take_snapshot_m(md, &snap->ms[i]);
	unbind_without_p(md);
	map64_free(&hit);
	annotators_snapshot(&md->annotators, early, from, to);
	snapshot_start_gc(md, from, to);
	memory_start(md, from);
}
