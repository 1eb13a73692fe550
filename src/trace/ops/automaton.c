/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/ops/automaton.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/ops/ranges.h"
#include "util/array.h"

/* --- storage --- */

int sched_fit_gs(struct sched *sched, size_t n)
{
	return array_grow(&sched->gs, &sched->ngs, n, sizeof(*sched->gs));
}

int sched_fit_ps(struct sched *sched, size_t n)
{
	return array_grow(&sched->ps, &sched->nps, n, sizeof(*sched->ps));
}

int sched_fit_ms(struct sched *sched, size_t n)
{
	size_t before = sched->nms;

	if (array_grow(&sched->ms, &sched->nms, n, sizeof(*sched->ms)))
		return -ENOMEM;
	for (size_t m = before; m < sched->nms; m++)
		sched->ms[m].p = NO_P;
	return 0;
}

void sched_free(struct sched *sched)
{
	for (size_t g = 0; g < sched->ngs; g++)
		free(sched->gs[g].ranges);
	free(sched->gs);
	free(sched->ps);
	free(sched->ms);
	*sched = (struct sched){0};
}

static const struct sched_g *sched_find_g(const struct sched *sched, uint32_t g)
{
	static const struct sched_g dead;

	return g < sched->ngs ? &sched->gs[g] : &dead;
}

static const struct sched_p *find_p(const struct sched *sched, int32_t p)
{
	static const struct sched_p unknown;

	return p >= 0 && (size_t)p < sched->nps ? &sched->ps[p] : &unknown;
}

static struct sched_m sched_find_m(const struct sched *sched, uint32_t m)
{
	return m && m < sched->nms ? sched->ms[m] : (struct sched_m){.p = NO_P};
}

/* --- checks --- */

static bool set_violation(struct violation *violation, struct violation what)
{
	*violation = what;
	return false;
}

#define VIOLATION(what, ...) set_violation(violation, (struct violation){.kind = what, __VA_ARGS__})

static bool check_exact_needs(const struct sched *sched, uint32_t m, unsigned needs,
			      struct violation *violation)
{
	struct sched_m held = sched_find_m(sched, m);
	unsigned g_status = sched_find_g(sched, held.g)->status, p_status = find_p(sched, held.p)->status;

	if ((needs & NEED_G_RUNS) && g_status != G_RUNNING)
		return VIOLATION(VIOLATION_G_NOT_RUNNING, .m = m, .g = held.g, .status = (uint8_t)g_status);
	if ((needs & NEED_P_RUNS) && p_status != P_RUNNING)
		return VIOLATION(VIOLATION_P_NOT_RUNNING, .m = m, .g = held.g, .p = held.p,
				 .status = (uint8_t)p_status);
	return true;
}

bool sched_check_needs(const struct sched *sched, uint32_t m, unsigned needs, struct violation *violation)
{
	struct sched_m held = sched_find_m(sched, m);

	if ((needs & NEED_M) && !m)
		return VIOLATION(VIOLATION_NO_THREAD, .m = 0);
	if ((needs & NEED_P) && held.p == NO_P)
		return VIOLATION(VIOLATION_NO_P, .m = m);
	if ((needs & NEED_NO_P) && held.p != NO_P)
		return VIOLATION(VIOLATION_HAS_P, .m = m, .p = held.p);
	if ((needs & NEED_G) && !held.g)
		return VIOLATION(VIOLATION_NO_G, .m = m);
	if ((needs & NEED_NO_G) && held.g)
		return VIOLATION(VIOLATION_HAS_G, .m = m, .g = held.g);
	return !sched->exact || check_exact_needs(sched, m, needs, violation);
}

/*
 * Go's reader checks nothing about the thread that begins the first collection. It requires a goroutine if a
 * generation after the first states that a collection is running.
 */
static unsigned needs_of(const struct sched *sched, const struct op *op)
{
	if (sched->exact)
		return transitions[op->kind].needs;
	if (op->kind == OP_GC_BEGIN && sched->gc == GC_UNKNOWN)
		return 0;
	if (op->kind == OP_GC_ACTIVE && !sched->first_generation)
		return NEED_USER;
	return transitions[op->kind].needs;
}

static bool check_self(const struct sched *sched, const struct op *op, struct violation *violation)
{
	const struct status_change *change = &transitions[op->kind].self;
	uint32_t g = sched_find_m(sched, op->m).g;
	unsigned status = sched_find_g(sched, g)->status;

	if (!change->from || change->from >> status & 1)
		return true;
	return VIOLATION(VIOLATION_SELF_STATUS, .m = op->m, .g = g, .status = (uint8_t)status);
}

static bool check_other(const struct sched *sched, const struct op *op, struct violation *violation)
{
	const struct status_change *change = &transitions[op->kind].other;
	uint32_t g = op_other(op);
	unsigned status = sched_find_g(sched, g)->status;

	if (!change->from || change->from >> status & 1)
		return true;
	return VIOLATION(VIOLATION_OTHER_STATUS, .m = op->m, .g = g, .status = (uint8_t)status);
}

/* The P that the op is about, or NO_P. */
static int32_t subject_p(const struct sched *sched, const struct op *op)
{
	return transitions[op->kind].p_role == P_NAMED ? op->p : sched_find_m(sched, op->m).p;
}

static bool check_p(const struct sched *sched, const struct op *op, struct violation *violation)
{
	const struct transition *t = &transitions[op->kind];
	int32_t p = subject_p(sched, op);
	unsigned status = find_p(sched, p)->status;

	if (!t->p.from || (p == NO_P && t->p_role != P_NAMED) || t->p.from >> status & 1)
		return true;
	return VIOLATION(VIOLATION_P_STATUS, .m = op->m, .p = p, .status = (uint8_t)status);
}

/* A P stolen from a system call must be the P of the thread that the op names. */
static bool check_victim(const struct sched *sched, const struct op *op, struct violation *violation)
{
	if (op->kind != OP_PROC_STEAL || find_p(sched, op->p)->status == P_ABANDONED ||
	    sched_find_m(sched, op->m2).p == op->p)
		return true;
	return VIOLATION(VIOLATION_NOT_HELD, .m = op->m2, .p = sched_find_m(sched, op->m2).p);
}

static bool check_gc(const struct sched *sched, const struct op *op, struct violation *violation)
{
	bool good = true;

	if (op->kind == OP_GC_ACTIVE)
		good = sched->gc == (sched->first_generation ? GC_UNKNOWN : GC_ON);
	else if (op->kind == OP_GC_BEGIN)
		good = sched->gc != GC_ON;
	else if (op->kind == OP_GC_END)
		good = sched->gc == GC_ON;
	return good || VIOLATION(VIOLATION_GC_PHASE, .m = op->m, .status = (uint8_t)sched->gc);
}

static bool check_thread(const struct sched *sched, const struct op *op, struct violation *violation)
{
	return sched_check_needs(sched, op->m, needs_of(sched, op), violation) &&
	       check_self(sched, op, violation);
}

bool sched_check(const struct sched *sched, const struct op *op, struct violation *violation)
{
	if (op_waits_first(op->kind))
		return check_other(sched, op, violation) && check_p(sched, op, violation) &&
		       check_thread(sched, op, violation) && check_victim(sched, op, violation);
	return check_gc(sched, op, violation) && check_thread(sched, op, violation) &&
	       check_other(sched, op, violation) && check_p(sched, op, violation) &&
	       ranges_check(sched, op, violation);
}

/* --- effects --- */

void sched_bind_g(struct sched *sched, uint32_t m, uint32_t g)
{
	uint32_t before = sched->ms[m].g;

	if (before && sched->gs[before].m == m)
		sched->gs[before].m = 0;
	sched->ms[m].g = g;
	if (g)
		sched->gs[g].m = m;
}

void sched_bind_p(struct sched *sched, uint32_t m, int32_t p)
{
	int32_t before = sched->ms[m].p;

	if (before == p)
		return;
	if (before != NO_P) {
		sched->ps[before].holders--;
		if (sched->ps[before].m == m)
			sched->ps[before].m = 0;
	}
	sched->ms[m].p = p;
	if (p != NO_P) {
		sched->ps[p].holders++;
		sched->ps[p].m = m;
	}
}

static void end_g(struct sched *sched, uint32_t g)
{
	struct sched_g *ended = &sched->gs[g];

	sched->nstw -= sched_stw_count(sched, g);
	free(ended->ranges);
	*ended = (struct sched_g){0};
}

static bool is_held(unsigned g_status)
{
	return g_status == G_RUNNING || g_status == G_SYSCALL;
}

static void change_self(struct sched *sched, const struct op *op)
{
	uint8_t to = transitions[op->kind].self.to;
	uint32_t g = sched->ms[op->m].g;

	if (!transitions[op->kind].self.from || to == STATUS_KEPT)
		return;
	if (!is_held(to))
		sched_bind_g(sched, op->m, 0);
	if (to == G_DEAD)
		end_g(sched, g);
	else
		sched->gs[g].status = to;
}

static void change_other(struct sched *sched, const struct op *op)
{
	uint8_t to = transitions[op->kind].other.to;

	if (!transitions[op->kind].other.from)
		return;
	sched->gs[op_other(op)].status = to;
	if (is_held(to))
		sched_bind_g(sched, op->m, op_other(op));
}

static void change_p(struct sched *sched, const struct op *op)
{
	const struct transition *t = &transitions[op->kind];
	int32_t p = subject_p(sched, op);
	unsigned from;

	if (!t->p.from || t->p.to == STATUS_KEPT || p == NO_P)
		return;
	from = sched->ps[p].status;
	sched->ps[p].status = t->p.to;
	if (op->kind == OP_PROC_START)
		sched_bind_p(sched, op->m, p);
	else if (op->kind == OP_PROC_STEAL && from != P_ABANDONED)
		sched_bind_p(sched, op->m2, NO_P);
	else if (op->kind == OP_PROC_STOP || op->kind == OP_GO_DESTROY_SYSCALL)
		sched_bind_p(sched, op->m, NO_P);
}

int sched_apply(struct sched *sched, const struct op *op)
{
	change_p(sched, op);
	change_self(sched, op);
	change_other(sched, op);
	if (op->kind == OP_GC_ACTIVE || op->kind == OP_GC_BEGIN)
		sched->gc = GC_ON;
	else if (op->kind == OP_GC_END)
		sched->gc = GC_OFF;
	return ranges_apply(sched, op);
}
