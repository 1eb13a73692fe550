/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/go/hit.h"

#include <string.h>

#include "model/go/leave.h"
#include "model/go/runtime.h"
#include "model/repair.h"
#include "model/step.h"
#include "model/synthetic.h"

/* Returns the length of a string if it begins with these bytes (at most eight, no zeros), else SIZE_MAX. */
static size_t length_if(const struct model *md, uint32_t string, uint64_t bytes)
{
	size_t len, n = 0;
	const char *text = strtab_get(md->options.strings, string, &len);

	while (n < sizeof(bytes) && bytes >> 8 * n)
		n++;
	return string && len >= n && memcmp(text, &bytes, n) == 0 ? len : SIZE_MAX;
}

/*
 * Go 1.4 has no numbers for reasons: the record has the beginning of the text of g.waitreason. The shortest
 * reason that begins with it is the usual one ("chan receive", not "chan receive (nil chan)").
 */
static uint32_t reason_by_text(const struct model *md, const struct raw_record *rec)
{
	uint32_t reason = reason_id(&md->reasons, REASON_BLOCK, 0);
	size_t shortest = SIZE_MAX;

	for (unsigned i = 0; i < MAX_REASONS && rec->arg2; i++) {
		size_t len = length_if(md, reason_id(&md->reasons, REASON_WAIT, i), rec->arg2);

		if (len >= shortest)
			continue;
		shortest = len;
		reason = reason_id(&md->reasons, REASON_PARK, i);
	}
	return reason;
}

static uint32_t block_reason(const struct model *md, const struct raw_record *rec)
{
	if (md->target.go_minor == 4)
		return reason_by_text(md, rec);
	return reason_id(&md->reasons, REASON_BLOCK, rec->arg & ~(uint64_t)PARK_FUTILE);
}

void on_park(struct model *md, const struct probe_hit *hit)
{
	if (!force_hit_running(md, hit))
		return;
	annotators_observe(&md->annotators, hit);
	step_go_block(md, hit->m, block_reason(md, hit->rec), hit->stack)->arg =
		hit->rec->arg & PARK_FUTILE ? 1 : 0;
}

void on_preemptpark(struct model *md, const struct probe_hit *hit)
{
	if (force_hit_running(md, hit))
		step_go_block(md, hit->m, string_id(md, "preempted"), hit->stack);
}

void on_gosched(struct model *md, const struct probe_hit *hit)
{
	bool preempted = hit->rec->site == SITE_GOYIELD || hit->rec->arg;

	if (force_hit_running(md, hit))
		step_go_stop(
			md, hit->m,
			reason_id(&md->reasons, REASON_STOP, preempted ? GO_STOP_PREEMPTED : GO_STOP_SCHED),
			hit->stack);
}

/*
 * Whether curg has left the thread that wakes another goroutine. casgstatus() wakes the waiter of a bubble of
 * testing/synctest when its change has left the bubble idle (changegstatus(), Go 1.24 to 1.27
 * runtime/synctest.go). m.curg is then still the goroutine that has just blocked or ended; the runtime's own
 * tracer reports a wake-up by a thread without a goroutine.
 */
static bool has_left(struct model *md, const struct probe_hit *hit, uint64_t curg)
{
	const struct g *g;

	if (hit->rec->site == SITE_READY && hit->rec->status == GO_G_DEAD)
		return true; /* also if its end was before the first record */
	if (!curg || hit->m->g || hit->m->left_by != curg)
		return false;
	g = g_find(&md->entities, curg);
	return !g || g->status == G_WAITING;
}

void on_unblock(struct model *md, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	bool on_thread = force_thread_of_hit(md, hit, has_left(md, hit, rec->arg) ? 0 : rec->arg);
	struct g *g = g_of_record(md, rec->g, rec->goid, G_WAITING);

	if (!g)
		return;
	g->last_hit = rec->time;
	force_waiting(md, g, 0, 0);
	step_go_unblock(md, on_thread ? hit->m : NULL, g, hit->stack);
	g->worker = rec->site == SITE_UNBLOCK ? (uint8_t)rec->arg2 : 0;
}

void on_execute(struct model *md, const struct probe_hit *hit)
{
	struct g *g = g_of_record(md, hit->rec->g, hit->rec->goid, G_RUNNABLE);

	if (!g)
		return;
	g->last_hit = hit->rec->time;
	if (hit->rec->site == SITE_RESUME)
		settle_leaving(md, g, (enum leaving)hit->rec->arg, hit->rec->arg2, hit->stack);
	force_m_free(md, hit->m);
	if (!force_m_hold(md, hit->m, hit->p))
		return;
	force_runnable(md, g);
	step_go_start(md, hit->m, g);
}

void on_destroy(struct model *md, const struct probe_hit *hit)
{
	/* gdestroy also runs at the end of a coroutine, after the switch that has already ended it. */
	if (hit->m->ended_by_switch == hit->rec->g) {
		hit->m->ended_by_switch = 0;
		return;
	}
	if (force_hit_running(md, hit))
		step_go_destroy(md, hit->m);
}

/*
 * Up to Go 1.23 a P takes ids in batches of 16, and the probe does not see the first id of a batch. The P's
 * next creation reveals it.
 */
static void name_last(struct model *md, struct p *p, const struct g *created, uint64_t goid)
{
	const uint64_t batch = 16; /* _GoidCacheBatch, Go 1.4 to 1.26 runtime/proc.go */
	struct g *last = p->unnumbered ? md->entities.gs.all[p->unnumbered] : NULL;

	if (last && last->status != G_DEAD && goid % batch == 2)
		g_set_goid(&md->entities, last, goid - 1);
	p->unnumbered = goid ? 0 : created->index;
}

void on_newproc(struct model *md, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	struct g *old = g_find(&md->entities, rec->g);
	struct g *g;
	bool on_thread = force_thread_of_hit(md, hit, rec->arg) && hit->m->p;
	struct m *m = hit->m;

	if (old)
		force_dead(md, old);
	g = rec->g ? g_new(&md->entities, rec->g, rec->goid) : NULL;
	if (!g)
		return;
	if (hit->p && md->target.go_minor <= 23)
		name_last(md, hit->p, g, rec->goid);
	g->startpc = rec->arg2;
	g->last_hit = rec->time;
	annotators_observe(&md->annotators, &(struct probe_hit){.rec = rec, .m = m, .created = g});
	if (!on_thread)
		m = synthetic_begin(md);
	step_go_create(md, m, g, rec->status == GO_G_WAITING /* a coroutine */, hit->stack);
	if (!on_thread)
		synthetic_end(md);
}

void on_coro(struct model *md, const struct probe_hit *hit)
{
	const struct raw_record *rec = hit->rec;
	struct g *self = force_hit_running(md, hit);
	struct g *next = g_of_record(md, rec->arg, 0, G_WAITING);

	if (!self || !next || next == self)
		return;
	force_waiting(md, next, 0, 0);
	next->last_hit = rec->time;
	if (rec->arg2)
		hit->m->ended_by_switch = rec->g;
	step_go_switch(md, hit->m, next, rec->arg2 != 0);
}
