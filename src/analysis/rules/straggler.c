/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goroutines are started together and joined, and most of the wait is for the last one alone; or threads meet
 * at a barrier, and one of them is mostly the last.
 */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"
#include "analysis/words.h"

enum { MIN_N = 5, MIN_SLACK_NS = 1000000, MIN_MEETINGS = 20, MIN_MEETING_NS = 100000 };

static bool straggler_applies(const struct analysis *a, const struct row *row, double impact)
{
	/* Only goroutines created in the trace can be compared: they must account for half of the waits. */
	return row->activity == ACT_JOIN && row->slack_n >= MIN_N && row->slack_n * 2 >= row->hist.n &&
	       row->slack_ns * 2 >= row->hist.sum && row->slack_ns / row->slack_n >= MIN_SLACK_NS &&
	       row->slack_ns / row->slack_n >= 2 * histogram_quantile(&a->latency, 0.99) && impact >= 0.05;
}

static bool is_of_team(const struct analysis *a, const struct row *row)
{
	return a->stacks[row->stack].primitive == PRIM_TEAM;
}

/* GCC's and LLVM's OpenMP begin a parallel region: until then the threads of the team have no work. */
static bool begins_region(const char *func)
{
	return strncmp(func, "GOMP_parallel", 13) == 0 || strncmp(func, "__kmp_fork", 10) == 0;
}

/*
 * Those that wait end each other's waits. One thread is the last in three of five, where each would be in
 * turn. The threads of a team have not all begun with the same function: one of them has begun the team.
 */
static bool is_lopsided(const struct analysis *a, const struct row *row, double impact)
{
	return row->activity == ACT_JOIN && row->hist.n >= MIN_MEETINGS && impact >= 0.05 &&
	       row->hist.sum / row->hist.n >= MIN_MEETING_NS &&
	       (is_of_team(a, row) || top_first(row->functions)->key == top_first(row->waker_groups)->key) &&
	       top_sure(top_first(row->wakers)) * 5 >= row->hist.sum * 3;
}

static void look_at_barrier(struct analysis *a, const struct row *row)
{
	double impact = share_of_tasks(a, (double)row->hist.sum);
	const struct top *last = top_first(row->wakers);
	const struct pair *pair = pair_heaviest(a, (uint32_t)(row - a->rows));
	struct finding *finding;

	/* Those that wait for a call that another one makes already have no last one
	 * (golang.org/x/sync/singleflight). */
	if (!is_lopsided(a, row, impact) || stack_mentions(a, row->stack, "singleflight.") ||
	    stack_any(a, pair->stack, begins_region))
		return;
	finding = finding_add(a, "straggler", impact);
	finding_text(finding, "%s waited %s for %s, %.0f %% of it for %s: mostly %s.",
		     is_of_team(a, row) ? "OpenMP's threads" : label_stack(a, row->stack).text,
		     label_time(row->hist.sum).text,
		     is_of_team(a, row) ? "each other" : "the last one to come",
		     100 * (double)top_sure(last) / (double)row->hist.sum, label_who(a, last->key).text,
		     pair_did(a, pair).text);
	/* One that sleeps, or waits for the network, sets the pace. */
	if (pair_own_share(pair) < 0.5 || (top_first(pair->did)->key & 0xff) == ACT_SLEEP)
		finding_at_most(finding, LEVEL_INFO);
	row_evidence(a, finding, row);
}

void rule_straggler(struct analysis *a)
{
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		double impact = share_of_tasks(a, (double)row->slack_ns);
		const struct pair *pair = pair_heaviest(a, (uint32_t)i);
		struct finding *finding;

		if (!straggler_applies(a, row, impact)) {
			look_at_barrier(a, row);
			continue;
		}
		finding = finding_add(a, "straggler", impact);
		finding_text(finding,
			     "%s waited %s for %s that it had started, %s of it for the last one alone%s"
			     "%s.",
			     label_stack(a, row->stack).text, label_time(row->hist.sum).text,
			     words_of(a)->many, label_time(row->slack_ns).text,
			     top_first(pair->did)->n ? ": mostly " : "",
			     top_first(pair->did)->n ? pair_did(a, pair).text : "");
		finding_of_row(a, finding, row);
		finding_evidence(
			finding,
			"n %llu, p50 %s, max %s; the last one comes %s after the one before it (mean)",
			(unsigned long long)row->hist.n, label_time(finding->p50_ns).text,
			label_time(row->hist.max).text, label_time(row->slack_ns / row->slack_n).text);
		if (top_first(pair->did)->n && top_first(pair->did)->key >> 8)
			callers_evidence(a, finding, "called by", (uint32_t)(top_first(pair->did)->key >> 8));
		finding_next_why(a, finding, row->max_g, finding->worst_ns + row->hist.max / 2);
	}
}
