/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The collector runs all the time for a small heap. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

#define SMALL_HEAP (256ull << 20)

/* The goal is just above the live heap: GOGC was set low. */
static bool is_tight(const struct gc_figures *gc)
{
	return gc_live_share(gc) > 0.65;
}

static double gc_mean_goal(const struct gc_figures *gc)
{
	return gc->live_cycles ? gc->goals / (double)gc->live_cycles : (double)gc->goal_max;
}

/* If GOGC is not low, the GC workers may only use idle time of the Ps. What calls runtime.GC waits for them.
 */
static bool costs(const struct analysis *a, double busy, bool forced)
{
	if (forced)
		return busy >= 0.15;
	if (is_tight(&a->gc))
		return busy >= 0.15 || assist_share(a) >= 0.1;
	return busy >= 0.15 && (assist_share(a) >= 0.1 || utilisation(a) >= 0.5);
}

/* Returns the calls of runtime.GC, or of what calls it, that had to wait for most cycles; NULL if none did.
 */
static const struct row *forced_by(const struct analysis *a)
{
	const struct row *most = NULL;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (row->activity == ACT_GC && stack_calls(a, row->stack, "runtime.GC") &&
		    (!most || row->hist.n > most->hist.n))
			most = row;
	}
	return most && most->hist.n * 2 >= a->gc.cycles ? most : NULL;
}

static void describe_forced(struct analysis *a, struct finding *finding, const struct row *calls, double busy)
{
	finding_text(finding,
		     "%s calls runtime.GC %.0f times a second, and waited %s for these collections, which "
		     "take %.0f %% of the Ps' time.",
		     label_stack(a, calls->stack).text, (double)calls->hist.n / ((double)watched_ns(a) / 1e9),
		     label_time(calls->hist.sum).text, 100 * busy);
	row_evidence(a, finding, calls);
	finding_next(finding, "no call of runtime.GC: the collector runs when it has to");
}

static void describe_often(struct analysis *a, struct finding *finding, double often, double busy)
{
	const struct gc_figures *gc = &a->gc;
	const char *limit = gc_may_be_limited(gc) ? "GOMEMLIMIT or GOGC" : "GOGC";
	double share;
	uint32_t place = assist_place(a, &share);
	bool in_one = place && share >= 0.5;

	finding_text(finding,
		     "%.0f collections a second for a heap of %.1f MB take %.0f %% of the Ps' time: raise "
		     "%s%s%s.",
		     often, gc_mean_goal(gc) / 1e6, 100 * busy, limit, in_one ? ", or allocate less in " : "",
		     in_one ? label_stack(a, place).text : "");
	if (place && share >= 0.25)
		finding_evidence(finding, "%.0f %% of the GC assists are %s%s", 100 * share,
				 in_one ? "there" : "in ", in_one ? "" : label_stack(a, place).text);
}

void rule_gc_often(struct analysis *a)
{
	const struct gc_figures *gc = &a->gc;
	double seconds = (double)watched_ns(a) / 1e9, often = (double)gc->cycles / seconds;
	double busy = ((double)a->used_ns[P_GC] + (double)a->total_spent[ACT_ASSIST]) / p_time(a);
	const struct row *forced = forced_by(a);
	struct finding *finding;

	if (often < 5 || !gc->goal_max || gc->goal_max >= SMALL_HEAP || !costs(a, busy, forced))
		return;
	finding = finding_add(a, "gc-often", busy);
	/* If GOGC is not low, the rule assist reports what allocates so much. */
	if (is_tight(gc))
		finding_weigh(finding, busy + assist_share(a));
	else
		finding_weigh(finding, (double)a->used_ns[P_GC] / p_time(a));
	if (forced) {
		describe_forced(a, finding, forced, busy);
		return;
	}
	describe_often(a, finding, often, busy);
	finding->n = gc->cycles;
	finding->total_ns = gc->cycles_ns;
	finding_evidence(
		finding,
		"%llu cycles, which last %s in all; goal %.1f MB (mean), up to %.1f MB; after a cycle "
		"%.0f %% of it are in use",
		(unsigned long long)gc->cycles, label_time(gc->cycles_ns).text, gc_mean_goal(gc) / 1e6,
		(double)gc->goal_max / 1e6, 100 * gc_live_share(gc));
	finding_next(finding, gc_may_be_limited(gc) ? "raise GOMEMLIMIT if it is set, else GOGC"
						    : "GOGC=400, or GOMEMLIMIT with GOGC=off");
}
