/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An event loop, which serves several connections one after the other, computes for long for one of them. One
 * that is blocked in a system call is serial-loop's.
 */
#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"
#include "analysis/turns.h"
#include "analysis/words.h"

enum { MIN_N = 3 };
/* Shorter ones may be those of a collector, or of many events that came at once. */
#define BLOCKING_NS 50000000

static void long_turn_describe(struct analysis *a, const struct group *group)
{
	const struct long_turns *turns = &group->turns;
	double threads = group->peak ? (double)group->peak : 1;
	struct finding *finding =
		finding_add(a, "long-turn", (double)turns->ns / ((double)watched_ns(a) * threads));
	uint32_t row = cpu_first(turns->cpu);

	if (turns->most < BLOCKING_NS)
		finding_at_most(finding, LEVEL_INFO);
	finding_text(
		finding,
		"%s serves connections one after the other. It computed %llu times for %u ms or more, %s on "
		"average%s%s, and served none meanwhile.",
		label_function(a, group->func).text, (unsigned long long)turns->n, LONG_TURN_NS / 1000000,
		label_time(turns->ns / turns->n).text, row ? ", most of all in " : "",
		row ? cpu_place(a, row).text : "");
	finding->n = turns->n;
	finding->total_ns = turns->ns;
	finding->max_ns = turns->most;
	finding->worst_ns = turns->at - a->begin;
	finding->worst_goid = turns->g;
	finding->stack = row ? cpu_first(a->cpu.rows[row].stacks) : 0;
	finding_evidence(finding, "total %s of CPU time, max %s at %s (%s); each without input or output",
			 label_time(turns->ns).text, label_time(turns->most).text,
			 label_time(finding->worst_ns).text, label_who(a, turns->g).text);
	if (row)
		callers_evidence(a, finding, "called by", finding->stack);
	finding_next_why(a, finding, turns->g, finding->worst_ns + turns->most / 2);
}

void rule_long_turn(struct analysis *a)
{
	for (size_t i = 1; i < a->ngroups && is_of_threads(a); i++) {
		if (a->groups[i].turns.n >= MIN_N)
			long_turn_describe(a, &a->groups[i]);
	}
}
