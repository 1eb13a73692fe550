/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests wait for something in the program itself, and none of them is woken: they hang, as after a Signal
 * that woke the wrong goroutine. Streams, and requests by which clients wait for news, use select, and do not
 * count.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/handlers.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/lasting.h"
#include "analysis/rules/rules.h"

enum { MOST_PLACES = 16 };

static bool is_of_request(struct analysis *a, const struct row *row)
{
	return (row->activity == ACT_COND || row->activity == ACT_SEND || row->activity == ACT_RECEIVE ||
		row->activity == ACT_JOIN) &&
	       stack_is_in_program(a, row->stack) && handler_look_up(a, row->stack);
}

static unsigned hung_gather(struct analysis *a, struct lasting found[MOST_PLACES])
{
	unsigned places = 0;

	for (size_t i = 1; i < a->nrows; i++) {
		struct lasting one = {0};

		if (is_of_request(a, &a->rows[i]))
			one = lasting_of_row(a, &a->rows[i]);
		if (one.n && !lasting_add(a, found, places, &one) && places < MOST_PLACES)
			found[places++] = one;
	}
	return places;
}

void rule_hung(struct analysis *a)
{
	struct lasting found[MOST_PLACES];
	unsigned places = hung_gather(a, found);

	for (unsigned i = 0; i < places; i++) {
		struct finding *finding = finding_add(a, "hung", 0.05);

		finding_text(finding, "%llu request%s waited %s (%s%s) in %s, and %s woken.",
			     (unsigned long long)found[i].n, found[i].n == 1 ? "" : "s",
			     lasting_throughout(a, found[i].least) ? "throughout the trace"
								   : "until the end of the trace",
			     found[i].n == 1 ? "" : "for at least ", label_time(found[i].least).text,
			     label_stack(a, found[i].stack).text, found[i].n == 1 ? "was not" : "none was");
		finding_at_most(finding, LEVEL_INFO);
		finding->n = found[i].n;
		finding->total_ns = found[i].sum;
		finding->max_ns = found[i].most;
		finding->stack = found[i].stack;
		finding_evidence(finding, "%s: they hang, or wait for something rare",
				 activity_name((enum activity)found[i].activity));
		finding_next(finding, "gotrace ps -p %s", label_pid(a).text);
	}
}
