/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Items pass from goroutine to goroutine one by one, and each costs two switches, which take longer than the
 * work. Some programs must do that, so it is information.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"

/* A park, a wake-up and a start, with their probes. */
enum { LEAST_RATE = 5000, SHORT_NS = 5000 };

static bool is_hand_off(const struct analysis *a, const struct row *row)
{
	const struct group *group = &a->groups[top_first(row->functions)->key];
	uint64_t ran = group->spent[ACT_CODE] + group->spent[ACT_ASSIST];

	return (row->activity == ACT_SEND || row->activity == ACT_RECEIVE) && !group->system &&
	       group->blocks &&
	       (row->no_waker * 2 < row->hist.n || (a->ledger.ever_missing & DETAIL_WAKERS)) &&
	       ran / group->blocks < SHORT_NS && histogram_quantile(&row->hist, 0.5) < 20 * SHORT_NS;
}

void rule_hand_off(struct analysis *a)
{
	double seconds = (double)watched_ns(a) / 1e9;
	const struct row *most = NULL;
	const struct group *group;
	struct finding *finding;
	uint32_t peer;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (is_hand_off(a, row) && (!most || row->hist.n > most->hist.n))
			most = row;
	}
	if (!most || (double)most->hist.n < LEAST_RATE * seconds)
		return;
	group = &a->groups[top_first(most->functions)->key];
	finding = finding_add(a, "hand-off", share_of_tasks(a, (double)most->hist.sum));
	finding_at_most(finding, LEVEL_INFO);
	peer = pair_heaviest(a, (uint32_t)(most - a->rows))->stack;
	finding_text(
		finding,
		"%s waits %.0f times a second to %s one item%s%s, and runs %s for each: no longer than the "
		"switches take.",
		label_stack(a, most->stack).text, (double)most->hist.n / seconds,
		most->activity == ACT_SEND ? "hand over" : "get",
		!peer                        ? ""
		: most->activity == ACT_SEND ? ", taken in "
					     : ", sent in ",
		peer ? label_stack(a, peer).text : "",
		label_time((group->spent[ACT_CODE] + group->spent[ACT_ASSIST]) / group->blocks).text);
	row_evidence(a, finding, most);
	finding_next(finding, "several items in one message, or a buffered channel");
}
