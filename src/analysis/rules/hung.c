/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests wait for something of the program itself, and nothing has ended such a wait: they hang, as after a
 * Signal that woke the wrong one. Requests by which clients wait for news, and streams, select.
 */
#include <stdlib.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/handlers.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/lasting.h"
#include "analysis/rules/rules.h"

enum { MOST_PLACES = 16 };

static int by_requests(const void *one, const void *other)
{
	const struct lasting *a = one, *b = other;

	return a->n != b->n ? (a->n < b->n ? 1 : -1) : a->stack < b->stack ? -1 : a->stack > b->stack;
}

static bool is_of_request(struct analysis *a, const struct row *row)
{
	return (row->activity == ACT_COND || row->activity == ACT_SEND || row->activity == ACT_RECEIVE ||
		row->activity == ACT_JOIN) &&
	       stack_is_in_program(a, row->stack) && handler_look_up(a, row->stack);
}

/* The places with most of them come first. */
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
	qsort(found, places, sizeof(found[0]), by_requests);
	return places;
}

void rule_hung(struct analysis *a)
{
	struct lasting found[MOST_PLACES];
	unsigned places = hung_gather(a, found);

	for (unsigned i = 0; i < places; i++) {
		struct finding *finding = finding_add(a, "hung", 0.05);

		finding_text(finding, "%llu request%s waited %s (%s%s) in %s, and nothing woke %s.",
			     (unsigned long long)found[i].n, found[i].n == 1 ? "" : "s",
			     lasting_throughout(a, found[i].least) ? "throughout the trace"
								   : "until the end of the trace",
			     found[i].n == 1 ? "" : "for at least ", label_time(found[i].least).text,
			     label_stack(a, found[i].stack).text, found[i].n == 1 ? "it" : "one of them");
		finding_at_most(finding, LEVEL_INFO);
		finding->n = found[i].n;
		finding->total_ns = finding->max_ns = found[i].most;
		finding->stack = found[i].stack;
		finding_evidence(finding, "%s: they hang, or wait for what comes seldom",
				 activity_name((enum activity)found[i].activity));
		finding_next(finding, "gotrace ps -p %s", label_pid(a).text);
	}
}
