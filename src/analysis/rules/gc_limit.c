/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The heap is at its limit, or may hardly grow: the collector runs most of the time and frees little. */
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
	/* Only where GOGC is off is it certain that a limit sets the goal. */
	finding_text(finding,
		     "The heap is at its %s of %.0f MB: the collector runs %.0f %% of the time, and frees "
		     "hardly anything.",
		     gc->is_off ? "limit" : "goal, by a memory limit or a low GOGC,",
		     (double)gc->goal_max / 1e6, 100 * share);
	finding->n = gc->cycles;
	finding->total_ns = gc->cycles_ns;
	finding_evidence(finding, "%llu cycles; goals of %.0f to %.0f MB, and a heap of up to %.0f MB",
			 (unsigned long long)gc->cycles, (double)gc->goal_min / 1e6,
			 (double)gc->goal_max / 1e6, (double)gc->heap_max / 1e6);
	finding_next(finding, "%s, or retain less memory",
		     gc->is_off ? "raise GOMEMLIMIT" : "raise GOMEMLIMIT if it is set, else GOGC");
}
