/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/rules/lasting.h"

#include "analysis/figures.h"
#include "analysis/names.h"

#define LEAST_NS 1000000000ull

uint64_t lasting_needed(const struct analysis *a)
{
	if (watched_ns(a) < LEAST_NS)
		return UINT64_MAX;
	return watched_ns(a) / 2 > LEAST_NS / 10 * 9 ? watched_ns(a) / 2 : LEAST_NS / 10 * 9;
}

bool lasting_throughout(const struct analysis *a, uint64_t ns)
{
	return ns >= watched_ns(a) / 10 * 9;
}

struct lasting lasting_of_row(const struct analysis *a, const struct row *row)
{
	struct lasting all = {.stack = row->stack, .activity = row->activity, .least = UINT64_MAX};

	if (!row->stack || row->hist.n || row->cut_ended || row->cut_max < lasting_needed(a))
		return all;
	for (size_t i = 1; i < a->ngs; i++) {
		const struct goroutine *g = &a->gs[i];
		uint64_t ns = a->now - g->since;

		if (g->activity != row->activity || g->stack != row->stack || ns < lasting_needed(a))
			continue;
		all.n++;
		all.sum += ns;
		all.least = ns < all.least ? ns : all.least;
		all.most = ns > all.most ? ns : all.most;
	}
	return all;
}

bool lasting_add(const struct analysis *a, struct lasting *found, unsigned places, const struct lasting *one)
{
	for (unsigned i = 0; i < places; i++) {
		if (stacks_share_site(a, found[i].stack, one->stack)) {
			found[i].n += one->n;
			found[i].sum += one->sum;
			found[i].least = one->least < found[i].least ? one->least : found[i].least;
			found[i].most = one->most > found[i].most ? one->most : found[i].most;
			return true;
		}
	}
	return false;
}
