/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Threads of Python or Ruby wait for each other: only the one that has the interpreter's lock runs bytecode.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"
#include "analysis/words.h"

/*
 * After 5 ms a waiter asks Python for the lock; before that, its holder gives it up for input and output. A
 * bit less, for the histogram.
 */
#define SWITCH_INTERVAL_NS 4900000

/* Each has it now and then. One that has it for most of what the others wait keeps them from running. Where a
 * waiter's time-out ends just then, it takes the lock without being woken, and counts as who had it before.
 */
static void holder_evidence(const struct analysis *a, struct finding *finding, const struct resource *res)
{
	const struct top *holder = top_first(res->holders), *group = top_first(res->holder_groups);
	double had = 100 * (double)top_sure(holder) / (double)(res->charged_ns + 1);

	if (had > 50 && group->key < a->ngroups)
		finding_evidence(finding, "%s had it for %.0f %% of that time%s: %s",
				 label_who(a, holder->key).text, had, had < 95 ? " or more" : "",
				 label_function(a, a->groups[group->key].func).text);
}

void rule_gil(struct analysis *a)
{
	const struct resource *res = &a->resources[a->gil];
	struct finding *finding;
	double impact;

	if (!lock_is_contended(a, res, &impact))
		return;
	finding = finding_add(a, "gil", impact);
	finding_text(
		finding,
		"Threads waited %s for the lock of their interpreter (Python's GIL, Ruby's GVL), which one "
		"thread holds at a time.",
		label_time(res->waits.sum).text);
	lock_evidence(a, finding, res);
	holder_evidence(a, finding, res);
	if (finding->p99_ns >= SWITCH_INTERVAL_NS && !stack_mentions(a, finding->stack, "rb_"))
		finding_evidence(finding,
				 "Python waits for it 5 ms at a time: who waits longer counts several times");
	/* A server that answers many requests at once, which each take little time, is well; so is one where
	 * hardly ever somebody waits. */
	if (histogram_sum_from(&res->waits, SWITCH_INTERVAL_NS) * 2 < res->waits.sum ||
	    res->contended_ns * 10 < watched_ns(a))
		finding_at_most(finding, LEVEL_INFO);
}
