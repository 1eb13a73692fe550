/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Integrates what the Ps do over time. The delay of a runnable goroutine is the difference of two readings of
 * the integrals.
 */
#include "analysis/tables.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { POINTS = sizeof(((struct timeline *)0)->used) / sizeof(((struct timeline *)0)->used[0]) };
enum { MAX_PROCS = 1 << 16 };

struct proc *proc_at(struct analysis *a, int32_t p)
{
	if (p < 0 || p >= MAX_PROCS)
		return NULL;
	if (array_grow(&a->ps, &a->nps, (size_t)p + 1, sizeof(*a->ps))) {
		a->oom = true;
		return NULL;
	}
	if ((uint32_t)p >= a->seen_procs)
		a->seen_procs = (uint32_t)p + 1;
	return &a->ps[p];
}

static void halve(struct timeline *line)
{
	for (unsigned i = 0; i < POINTS; i++) {
		for (unsigned use = 0; use < P_USE_COUNT; use++)
			line->used[i][use] =
				i < POINTS / 2 ? line->used[2 * i][use] + line->used[2 * i + 1][use] : 0;
	}
	line->width *= 2;
}

/* Selects the point that contains `time`, and widens the points until there is one. */
static void seek(struct analysis *a, uint64_t time)
{
	struct timeline *line = a->timeline;

	while ((time - a->begin) / line->width >= POINTS)
		halve(line);
	line->point = (time - a->begin) / line->width;
	line->from = a->begin + line->point * line->width;
	line->until = line->from + line->width;
}

static void procs_draw(struct analysis *a, uint64_t from, uint64_t to)
{
	struct timeline *line = a->timeline;

	while (from < to) {
		uint64_t next;

		if (from < line->from || from >= line->until)
			seek(a, from);
		next = line->until < to ? line->until : to;
		for (unsigned use = 0; use < P_USE_COUNT; use++)
			line->used[line->point][use] += a->uses[use] * (next - from);
		from = next;
	}
}

/* Distributes ns over the current causes of delay. */
static void procs_weigh(const struct analysis *a, double ns, double delays[DELAY_COUNT])
{
	double all = a->uses[P_CODE] + a->uses[P_GC] + a->uses[P_IN_SYSCALL];

	if (a->gc.stws) {
		delays[DELAY_STW] += ns;
	} else if (a->uses[P_UNUSED] || a->uses[P_SEARCHING] || all <= 0) {
		delays[DELAY_WAKEUP] += ns;
	} else {
		delays[DELAY_GC] += ns * a->uses[P_GC] / all;
		delays[DELAY_NO_P] += ns * (all - a->uses[P_GC]) / all;
	}
}

void integrate(struct analysis *a, uint64_t now)
{
	uint64_t ns = now - a->integrated;

	if (now <= a->integrated)
		return;
	if (!a->ledger.unwatched) {
		for (unsigned use = 0; use < P_USE_COUNT; use++)
			a->used_ns[use] += a->uses[use] * ns;
		a->procs_ns += a->procs * ns;
		procs_weigh(a, (double)ns, a->delays);
		if (a->runnable && a->uses[P_UNUSED] && !a->gc.stws)
			a->queued_idle_ns += ns;
		procs_draw(a, a->integrated, now);
	}
	a->integrated = now;
}

void proc_use(struct analysis *a, int32_t p, enum p_use use)
{
	struct proc *proc = proc_at(a, p);

	/* It is beyond GOMAXPROCS now. */
	if (use == P_UNUSED && a->procs && (uint32_t)p >= a->procs)
		use = P_NONE;
	if (!proc || proc->use == use)
		return;
	integrate(a, a->now);
	a->uses[proc->use]--;
	a->uses[use]++;
	proc->use = (uint8_t)use;
}
