/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Stopping the world takes long: a goroutine may be in code that cannot be preempted (golang/go#20792,
 * #59902). */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"

enum { LEAST = 3 };

/* A thread that is ready gets a CPU sooner, on a machine with a few others for each CPU. */
#define MOST_DELAY_NS 100000000

/* Other programs have the CPUs, as the rule before says: the thread that stops last may have none. */
static bool may_have_no_cpu(const struct analysis *a)
{
	for (unsigned i = 0; i < a->nfindings; i++) {
		if (finding_is_of_others(&a->findings[i]) && a->findings[i].level >= LEVEL_LOW)
			return a->gc.worst_stop < MOST_DELAY_NS;
	}
	return false;
}

void rule_stw_stop(struct analysis *a)
{
	const struct gc_figures *gc = &a->gc;
	double share = (double)gc->slow_stops_ns / ((double)watched_ns(a) + 1);
	/* A few stops are slow wherever threads lose their CPU for a moment. */
	bool rare = gc->slow_stops * 3 < gc->stops.n;
	bool last = rare || may_have_no_cpu(a);
	struct finding *finding;

	if (gc->slow_stops < LEAST)
		return;
	if (rare)
		share = 0;
	else if (gc->slow_stops_ns / gc->slow_stops >= 5000000 && share < 0.05)
		share = 0.05;
	finding = finding_add(a, "stw-stop", share);
	finding_text(finding, "Stopping the world took up to %s. The last to stop was %s in %s.",
		     label_time(gc->worst_stop).text, label_who(a, gc->worst_stop_g).text,
		     label_function(a, gc->worst_stop_func).text);
	if (last)
		finding_at_most(finding, LEVEL_INFO);
	finding->n = gc->slow_stops;
	finding->total_ns = gc->slow_stops_ns;
	finding->max_ns = gc->worst_stop;
	finding->worst_ns = gc->worst_stop_at - a->begin;
	finding->worst_goid = gc->worst_stop_g;
	finding->stack = gc->worst_stop_stack;
	finding_evidence(finding, "%llu of %llu stops took 1 ms or more, %s in all; last stopped at %s",
			 (unsigned long long)gc->slow_stops, (unsigned long long)gc->stops.n,
			 label_time(gc->slow_stops_ns).text, label_stack(a, gc->worst_stop_stack).text);
	if (!last)
		finding_evidence(finding, "it may have been in code that cannot be preempted");
	finding_next_why(a, finding, gc->worst_stop_g, finding->worst_ns + gc->worst_stop / 2);
}
