/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The heap is at its limit: the collector runs most of the time and frees little. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

void rule_gc_limit(struct analysis *a)
{
	const struct gc_figures *gc = &a->gc;
	double live = gc_live_share(gc);
	double share = (double)gc->cycles_ns / ((double)watched_ns(a) + 1);
	struct finding *finding;

	if (gc->cycles < 5 || share < 0.5 || live < 0.9)
		return;
	finding = finding_add(a, "gc-limit", share);
	finding_text(finding,
		     "The heap is at its limit of %.0f MB: the collector runs %.0f %% of the time, and %.0f "
		     "%% stay in use.",
		     (double)gc->goal_max / 1e6, 100 * share, 100 * live);
	finding->n = gc->cycles;
	finding->total_ns = gc->cycles_ns;
	finding_next(finding, "raise GOMEMLIMIT, or retain less memory");
}
