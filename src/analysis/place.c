/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where to look at a finding. */
#include "analysis/state.h"

enum { WINDOW_MS = 200, MARGIN = 10, MOST_MS = 2000 };

#define MS 1000000ull

/* The window has the instance and a tenth of it on both sides. What ended a long one is at its end. */
static void set_window(struct analysis_place *place, uint64_t length)
{
	uint64_t ns = place->end - place->begin, margin;

	if (ns > MOST_MS * MS)
		ns = MOST_MS * MS;
	margin = ns / MARGIN;
	if (ns + 2 * margin < WINDOW_MS * MS)
		margin = (WINDOW_MS * MS - ns) / 2;
	place->to = place->end + margin < length ? place->end + margin : length;
	place->from = place->end - ns > margin ? place->end - ns - margin : 0;
}

bool analysis_finding_place(const struct analysis *a, unsigned i, struct analysis_place *place)
{
	const struct finding *finding = i < a->nfindings ? &a->findings[i] : NULL;
	uint64_t length = a->end - a->begin;

	*place = (struct analysis_place){.trace_ns = a->begin, .to = length};
	if (!finding || finding->worst_ns > length || (!finding->worst_goid && !finding->worst_ns))
		return false;
	place->goroutine = finding->worst_goid;
	place->begin = finding->worst_ns;
	place->end = finding->max_ns < length - place->begin ? place->begin + finding->max_ns : length;
	set_window(place, length);
	return true;
}
