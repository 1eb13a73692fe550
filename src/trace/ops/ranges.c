/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/ops/ranges.h"

#include <errno.h>

#include "util/array.h"

/*
 * A range's identity beyond its kind: a goroutine may have two stop-the-worlds with different reasons open.
 */
static uint64_t op_range_reason(const struct op *op)
{
	return op->kind == OP_STW_BEGIN ? op->arg << 32 | op->string : 0;
}

static bool violation_set(struct violation *violation, enum violation_kind kind, uint32_t g, int32_t p)
{
	*violation = (struct violation){.kind = kind, .g = g, .p = p};
	return false;
}

/* --- ranges of goroutines --- */

static bool sched_range_is_open(const struct sched_g *g, unsigned kind, uint64_t reason)
{
	for (unsigned i = 0; i < g->nranges; i++)
		if (g->ranges[i].kind == kind && g->ranges[i].reason == reason)
			return true;
	return false;
}

/* Index of the first range of that kind with any reason; g->nranges if there is none. */
static unsigned sched_range_find(const struct sched_g *g, unsigned kind)
{
	unsigned i = 0;

	while (i < g->nranges && g->ranges[i].kind != kind)
		i++;
	return i;
}

static bool check_begin(const struct sched *sched, uint32_t g, unsigned kind, uint64_t reason,
			struct violation *violation)
{
	if (sched_range_is_open(&sched->gs[g], kind, reason))
		return violation_set(violation, VIOLATION_RANGE_OPEN, g, NO_P);
	if (sched->gs[g].nranges == SCHED_MAX_RANGES)
		return violation_set(violation, VIOLATION_RANGE_LIMIT, g, NO_P);
	return true;
}

static bool sched_range_check_end(const struct sched *sched, uint32_t g, unsigned kind,
				  struct violation *violation)
{
	return sched_range_find(&sched->gs[g], kind) < sched->gs[g].nranges ||
	       violation_set(violation, VIOLATION_RANGE_CLOSED, g, NO_P);
}

static bool check_assist_active(const struct sched *sched, const struct op *op, struct violation *violation)
{
	if (op->g >= sched->ngs || sched->gs[op->g].status == G_DEAD)
		return violation_set(violation, VIOLATION_OTHER_STATUS, op->g, NO_P);
	if (sched->first_generation)
		return check_begin(sched, op->g, OP_GC_ASSIST_BEGIN, 0, violation);
	return sched_range_check_end(sched, op->g, OP_GC_ASSIST_BEGIN, violation);
}

static int sched_range_begin(struct sched *sched, uint32_t g, unsigned kind, uint64_t reason)
{
	struct sched_g *on = &sched->gs[g];

	if (array_grow(&on->ranges, &on->range_capacity, on->nranges + 1u, sizeof(*on->ranges)))
		return -ENOMEM;
	on->ranges[on->nranges++] = (struct open_range){.kind = (uint8_t)kind, .reason = reason};
	sched->nstw += kind == OP_STW_BEGIN;
	return 0;
}

static void sched_range_end(struct sched *sched, uint32_t g, unsigned kind)
{
	struct sched_g *on = &sched->gs[g];
	unsigned i = sched_range_find(on, kind);

	on->ranges[i] = on->ranges[--on->nranges];
	sched->nstw -= kind == OP_STW_BEGIN;
}

bool sched_assists(const struct sched *sched, uint32_t g)
{
	return sched_range_find(&sched->gs[g], OP_GC_ASSIST_BEGIN) < sched->gs[g].nranges;
}

unsigned sched_stw_count(const struct sched *sched, uint32_t g)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sched->gs[g].nranges; i++)
		n += sched->gs[g].ranges[i].kind == OP_STW_BEGIN;
	return n;
}

int sched_begin_assist(struct sched *sched, uint32_t g)
{
	return sched_range_begin(sched, g, OP_GC_ASSIST_BEGIN, 0);
}

/* --- ranges of Ps --- */

/* Checks whether a sweep of the P is open or closed, as the op requires. */
static bool check_sweep(const struct sched *sched, int32_t p, bool open, struct violation *violation)
{
	if (p < 0 || (size_t)p >= sched->nps || sched->ps[p].status == P_UNKNOWN)
		return violation_set(violation, VIOLATION_P_STATUS, NO_G, p);
	if (sched->ps[p].sweeps == open)
		return true;
	return violation_set(violation, open ? VIOLATION_RANGE_CLOSED : VIOLATION_RANGE_OPEN, NO_G, p);
}

/* --- by op --- */

bool ranges_check(const struct sched *sched, const struct op *op, struct violation *violation)
{
	const struct sched_m *m = &sched->ms[op->m];

	switch (op->kind) {
	case OP_STW_BEGIN:
	case OP_GC_ASSIST_BEGIN:
		return check_begin(sched, m->g, op->kind, op_range_reason(op), violation);
	case OP_STW_END:
		return sched_range_check_end(sched, m->g, OP_STW_BEGIN, violation);
	case OP_GC_ASSIST_END:
		return sched_range_check_end(sched, m->g, OP_GC_ASSIST_BEGIN, violation);
	case OP_GC_ASSIST_ACTIVE:
		return check_assist_active(sched, op, violation);
	case OP_GC_SWEEP_BEGIN:
	case OP_GC_SWEEP_END:
		return check_sweep(sched, m->p, op->kind == OP_GC_SWEEP_END, violation);
	case OP_GC_SWEEP_ACTIVE:
		return check_sweep(sched, op->p, !sched->first_generation, violation);
	default:
		return true;
	}
}

int ranges_apply(struct sched *sched, const struct op *op)
{
	const struct sched_m *m = &sched->ms[op->m];

	switch (op->kind) {
	case OP_STW_BEGIN:
	case OP_GC_ASSIST_BEGIN:
		return sched_range_begin(sched, m->g, op->kind, op_range_reason(op));
	case OP_STW_END:
		sched_range_end(sched, m->g, OP_STW_BEGIN);
		return 0;
	case OP_GC_ASSIST_END:
		sched_range_end(sched, m->g, OP_GC_ASSIST_BEGIN);
		return 0;
	case OP_GC_ASSIST_ACTIVE:
		return sched->first_generation ? sched_begin_assist(sched, op->g) : 0;
	case OP_GC_SWEEP_BEGIN:
	case OP_GC_SWEEP_END:
		sched->ps[m->p].sweeps = op->kind == OP_GC_SWEEP_BEGIN;
		return 0;
	case OP_GC_SWEEP_ACTIVE:
		sched->ps[op->p].sweeps = true;
		return 0;
	default:
		return 0;
	}
}
