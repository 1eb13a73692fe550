/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Many ask one goroutine for something and wait for its answer, and it answers one at a time: a log writer,
 * an event loop, a cache with an owner. Where they wait to send, it is slow-consumer.
 *
 * Workers that wait for work look the same: one goroutine ends their waits. So the waits must be those of
 * tasks or of HTTP handlers, or on channels that hardly any other wait was on.
 */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/intervals.h"
#include "analysis/locks.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"

enum { MIN_N = 20, WAITS_PER_CHANNEL = 4 };

/* The stack is inside a handler of net/http or grpc. */
static bool is_in_handler(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack];

	for (uint32_t i = info->site + 1; i < info->n; i++) {
		const char *func = name_text(a, a->frames[info->first + i].func);

		if (strcmp(func, "net/http.serverHandler.ServeHTTP") == 0 ||
		    strcmp(func, "google.golang.org/grpc.(*Server).handleStream") == 0)
			return true;
	}
	return false;
}

/* Each wait is on a channel of its own, made for the answer. */
static bool has_own_channels(const struct analysis *a, const struct row *row)
{
	uint64_t waits = 0, channels = 0;

	for (size_t i = 1; i < a->nlocks; i++) {
		const struct lock *lock = &a->locks[i];

		if (lock_is_held(lock) || !lock->waits.n || top_first(lock->waited)->key != row->stack)
			continue;
		if (lock->most_waiting > 1)
			return false;
		waits += lock->waits.n;
		channels++;
	}
	return channels >= MIN_N && waits <= channels * WAITS_PER_CHANNEL;
}

static bool is_for_answers(const struct analysis *a, const struct row *row)
{
	return row->task_ns * 2 >= row->hist.sum || is_in_handler(a, row->stack) || has_own_channels(a, row);
}

static bool applies(const struct analysis *a, const struct row *row, const struct pair *pair, double impact)
{
	const struct top *waker = top_first(row->wakers), *group = top_first(row->waker_groups);

	if (row->activity != ACT_RECEIVE && row->activity != ACT_SELECT && row->activity != ACT_COND &&
	    row->activity != ACT_JOIN)
		return false;
	/* One at a time, and others wait meanwhile. A broadcast ends many waits in one time slice. */
	return impact >= 0.05 && row->hist.n >= MIN_N && waker->n &&
	       waker->weight * 10 >= row->hist.sum * 8 && group->key != top_first(row->functions)->key &&
	       row->waker_slices * 10 >= row->hist.n * 7 &&
	       (double)row->hist.sum >= 1.5 * (double)watched_ns(a) && pair_busy_share(pair) >= 0.8 &&
	       is_for_answers(a, row);
}

void rule_busy_owner(struct analysis *a)
{
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		double impact = share_of_tasks(a, (double)row->hist.sum);
		const struct pair *pair;
		struct finding *finding;

		if (impact < 0.05 || row->hist.n < MIN_N)
			continue;
		pair = pair_heaviest(a, (uint32_t)i);
		if (!applies(a, row, pair, impact))
			continue;
		finding = finding_add(a, "busy-owner", impact);
		finding_text(finding, "%s waited %s for the answers of one %s, g%llu in %s: mostly %s.",
			     label_stack(a, row->stack).text, label_time(row->hist.sum).text,
			     words_of(a)->one, (unsigned long long)top_first(row->wakers)->key,
			     label_stack(a, pair->stack).text, pair_did(a, pair).text);
		/* A reader of a shared connection passes on the answers of another machine. */
		if (pair_own_share(pair) < 0.5)
			finding->level = LEVEL_INFO;
		row_evidence(a, finding, row);
		finding->waker_stack = pair->stack;
		finding_evidence(finding,
				 "it answers one at a time, busy %.0f %% of these waits; %.1f wait at a time",
				 100 * pair_busy_share(pair), (double)row->hist.sum / (double)watched_ns(a));
	}
}
