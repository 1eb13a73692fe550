/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Workers of a pool: all are taken, and others wait for one. */
#include "analysis/rules/pools.h"

#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/tables.h"
#include "analysis/top.h"
#include "code/symbol/library.h"

/*
 * How long the group's members waited for events, of which each is work: what poll waits for may be an
 * answer. And how long they waited for answers, by a select or on a channel.
 */
struct group_waits {
	uint64_t events, answers;
};

static struct group_waits group_waits_of(const struct analysis *a, const struct group *group)
{
	struct group_waits waits = {0, 0};

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		const char *by = row->activity == ACT_NETWORK ? stack_takes_by(a, row->stack) : NULL;
		uint64_t ns = row->hist.sum + row->cut_ns;

		if (&a->groups[top_first(row->functions)->key] != group)
			continue;
		if (by && strstr(by, "epoll"))
			waits.events += ns;
		if (row->activity == ACT_SELECT && a->stacks[row->stack].for_peer)
			waits.answers += ns;
	}
	return waits;
}

static bool waits_for_items(unsigned activity)
{
	return activity == ACT_SEND || activity == ACT_RECEIVE || activity == ACT_SELECT ||
	       activity == ACT_COND || activity == ACT_SEMAPHORE;
}

/*
 * Goroutines of the group that wait for nearly the whole trace, while others wait for workers: they have a
 * queue of their own, that of another shard. Up to Go 1.21 a trace does not say for what one waits that began
 * before it. Returns their number, and adds their time.
 */
static uint64_t idle_members(const struct analysis *a, const struct group *group, bool selects_answers,
			     double *idle, double *all)
{
	uint64_t n = 0;

	for (size_t i = 1; i < a->ngs; i++) {
		const struct goroutine *g = &a->gs[i];
		double waits = 0, unknown, lived;

		if (&a->groups[g->group] != group)
			continue;
		for (unsigned j = 0; j < ACT_COUNT; j++)
			waits += waits_for_items(j) && !(selects_answers && j == ACT_SELECT)
					 ? (double)g->spent[j]
					 : 0;
		unknown = is_of_threads(a) ? 0 : (double)g->spent[ACT_OTHER];
		lived = (double)activities_watched_ns(g->spent);
		if (waits + unknown < 0.8 * lived)
			continue;
		n++;
		*all += lived;
		*idle += waits;
	}
	return n;
}

uint64_t pool_members(const struct analysis *a, const struct group *group, double *busy)
{
	struct group_waits waits = group_waits_of(a, group);
	double all, idle = 0, others_all = 0, others_idle = 0;
	uint64_t others = idle_members(a, group, waits.answers > 0, &others_idle, &others_all);

	for (unsigned i = 0; i < ACT_COUNT; i++)
		idle += waits_for_items(i) ? (double)group->spent[i] : 0;
	idle += (double)waits.events - (double)waits.answers - others_idle;
	all = (double)activities_watched_ns(group->spent) - others_all;
	*busy = all > 0 ? 1 - idle / all : 0;
	return group->peak > others ? group->peak - others : 0;
}

/* A reader of a connection, of net/http or of a driver, is as busy as the other end. */
static bool is_reader(const struct analysis *a, const struct group *group)
{
	return (group->spent[ACT_NETWORK] + group->spent[ACT_PIPE]) * 2 >=
		       activities_watched_ns(group->spent) &&
	       library_owner(name_text(a, group->func), name_text(a, group->file)) != CODE_OF_PROGRAM;
}

/* A loop of a library that waits for work itself: net/http's writeLoop, for the next request, or that of
 * gRPC, for the next frame. */
static bool waits_for_work(const struct analysis *a, const struct row *row)
{
	const struct group *group = &a->groups[top_first(row->functions)->key];

	return (stack_site(a, row->stack)->func == group->func || !stack_is_in_program(a, row->stack)) &&
	       library_owner(name_text(a, group->func), name_text(a, group->file)) != CODE_OF_PROGRAM;
}

/* On average, more goroutines wait here than there are workers: some are not being served. */
static bool is_queue(struct analysis *a, const struct row *row, uint64_t workers)
{
	uint32_t index = a->stacks[row->stack].resource;
	const struct resource *res = index ? resource_root(a, index) : NULL;

	if (row->activity == ACT_SEND)
		return true;
	if (row->activity == ACT_COND)
		return row_is_for_answers(a, row) != ANSWERS_UNLIKELY &&
		       (double)row->hist.sum > 1.1 * (double)workers * (double)watched_ns(a);
	return res && res->contended_ns &&
	       (double)res->waits.sum > 1.1 * (double)workers * (double)res->contended_ns;
}

/*
 * Requests that wait for one of `workers`, which are busy with each for most of the time until they answer
 * it: how long they waited while none was free, ns. 0 if they are not known to be requests, if others wait
 * for the same, or if it is less than a quarter of their time.
 */
static uint64_t queued_ns(struct analysis *a, const struct row *row, const struct pair *pair,
			  uint64_t workers, double busy)
{
	uint32_t index = a->stacks[row->stack].resource;
	const struct resource *res = index ? resource_root(a, index) : NULL;
	uint64_t queued = res ? resource_queued_ns(res, workers) : 0;

	/* While none is free, all work: each may have a queue of its own. */
	if (!queued ||
	    busy * (double)watched_ns(a) < 0.8 * (double)resource_crowded_ns(res, (unsigned)workers + 1))
		return 0;
	if (row_is_for_answers(a, row) != ANSWERS_CERTAIN || pair_busy_share(pair) < 0.8 ||
	    queued * 4 < res->waits.sum || pool_is_heavier_elsewhere(a, row, res) ||
	    pool_waited_at_place(a, row, res) < res->waits.sum / 10 * 9)
		return 0;
	return queued;
}

/* Workers of one function end the waits, and may be too few. */
static bool is_pool(const struct analysis *a, const struct row *row, const struct group *group)
{
	const struct top *waker = top_first(row->waker_groups);

	return (double)waker->weight >= 0.8 * (double)row->hist.sum && !group->system && group->peak >= 2 &&
	       group->peak <= POOL_MAX_MEMBERS && group->ended * 4 <= group->created + group->at_start &&
	       top_first(row->functions)->key != waker->key && !waits_for_work(a, row) &&
	       !is_reader(a, group) && utilisation(a) <= 0.95;
}

static void workers_evidence(const struct analysis *a, struct finding *finding, const struct row *row,
			     const struct pair *pair)
{
	row_evidence(a, finding, row);
	if (top_first(pair->did)->n)
		finding_evidence(finding, "meanwhile mostly %s", pair_did(a, pair).text);
}

/* At times, none of them is free. */
static void workers_are_taken(struct analysis *a, const struct row *row, const struct group *group,
			      uint64_t workers, const struct pair *pair, uint64_t queued)
{
	const struct resource *res = resource_root(a, a->stacks[row->stack].resource);
	struct finding *finding = finding_add(a, "pool-small", share_of_tasks(a, (double)queued));
	struct row all = *row;

	all.hist = res->waits;
	all.first = res->first;
	all.max_at = res->max_at;
	all.max_g = res->max_g;
	finding_text(finding, "%s waited %s for %llu workers of %s: for %s of that, none of them was free.",
		     label_stack(a, row->stack).text, label_time(res->waits.sum).text,
		     (unsigned long long)workers, label_function(a, group->func).text,
		     label_time(queued).text);
	workers_evidence(a, finding, &all, pair);
}

bool pool_of_workers(struct analysis *a, const struct row *row, double impact)
{
	uint64_t waker = top_first(row->waker_groups)->key, queued, workers;
	const struct group *group = &a->groups[waker < a->ngroups ? waker : 0];
	const struct pair *pair = pair_heaviest(a, (uint32_t)(row - a->rows));
	struct finding *finding;
	double busy;

	if (!is_pool(a, row, group))
		return false;
	workers = pool_members(a, group, &busy);
	if (workers < 2)
		return false;
	if (busy < 0.9 || !is_queue(a, row, workers)) {
		queued = queued_ns(a, row, pair, workers, busy);
		if (queued)
			workers_are_taken(a, row, group, workers, pair, queued);
		return queued;
	}
	finding = finding_add(a, "pool-small", impact);
	finding_text(finding, "%s waited %s for %llu workers of %s, which are busy %.0f %% of the time.",
		     label_stack(a, row->stack).text, label_time(row->hist.sum).text,
		     (unsigned long long)workers, label_function(a, group->func).text, 100 * busy);
	if (row->activity == ACT_COND && group->spent[ACT_SLEEP] * 2 > activities_watched_ns(group->spent) &&
	    row_is_for_answers(a, row) == ANSWERS_LIKELY)
		finding_at_most(finding, LEVEL_INFO);
	workers_evidence(a, finding, row, pair);
	return true;
}
