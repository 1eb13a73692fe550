/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A few workers, or a few connections, are all taken, and others wait for one. */
#include <math.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/handlers.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/tables.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"
#include "code/symbol/library.h"

enum { MAX_MEMBERS = 64, MIN_N = 10 };

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

/* The share of their watched lives in which goroutines of the group wait neither for work nor to pass it on.
 */
static double busy_share(const struct analysis *a, const struct group *group)
{
	struct group_waits waits = group_waits_of(a, group);
	double all = (double)activities_watched_ns(group->spent),
	       idle = (double)(group->spent[ACT_SEND] + group->spent[ACT_RECEIVE] + group->spent[ACT_SELECT] +
			       group->spent[ACT_COND] + group->spent[ACT_SEMAPHORE] + waits.events) -
		      (double)waits.answers;

	return all > 0 ? 1 - idle / all : 0;
}

/* A reader of a connection, of net/http or of a driver, is as busy as the other end. */
static bool is_reader(const struct analysis *a, const struct group *group)
{
	return (group->spent[ACT_NETWORK] + group->spent[ACT_PIPE]) * 2 >=
		       activities_watched_ns(group->spent) &&
	       library_owner(name_text(a, group->func), name_text(a, group->file)) != CODE_OF_PROGRAM;
}

/* On average, more goroutines wait here than there are workers: some are not being served. */
static bool is_queue(struct analysis *a, const struct row *row, const struct group *group)
{
	uint32_t index = a->stacks[row->stack].resource;
	const struct resource *res = index ? resource_root(a, index) : NULL;

	if (row->activity == ACT_SEND)
		return true;
	if (row->activity == ACT_COND)
		return row_is_for_answers(a, row) != ANSWERS_UNLIKELY &&
		       (double)row->hist.sum > 1.1 * (double)group->peak * (double)watched_ns(a);
	return res && res->contended_ns &&
	       (double)res->waits.sum > 1.1 * (double)group->peak * (double)res->contended_ns;
}

/* Another wait for the same item, in the same code by another way, takes longer: one finding is enough. */
static bool is_heavier_elsewhere(struct analysis *a, const struct row *row, const struct resource *res)
{
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *other = &a->rows[i];
		uint32_t index = a->stacks[other->stack].resource;

		if (other != row && other->activity == row->activity && other->hist.n >= MIN_N && index &&
		    resource_root(a, index) == res && stacks_share_site(a, other->stack, row->stack) &&
		    (other->hist.sum > row->hist.sum || (other->hist.sum == row->hist.sum && other < row)))
			return true;
	}
	return false;
}

/* The same, of all rows at the place together. */
static uint64_t waited_at_place(struct analysis *a, const struct row *row, const struct resource *res)
{
	uint64_t all = 0;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *other = &a->rows[i];
		uint32_t index = a->stacks[other->stack].resource;

		if (other->activity == row->activity && index && resource_root(a, index) == res &&
		    stacks_share_site(a, other->stack, row->stack))
			all += other->hist.sum;
	}
	return all;
}

/*
 * Requests that wait for one of `workers`, which are busy with each for most of the time until they answer
 * it: how long they waited while none was free, ns. 0 if they are not known to be requests, if others wait
 * for the same, or if it is less than a quarter of their time.
 */
static uint64_t queued_ns(struct analysis *a, const struct row *row, const struct pair *pair,
			  uint64_t workers)
{
	uint32_t index = a->stacks[row->stack].resource;
	const struct resource *res = index ? resource_root(a, index) : NULL;
	uint64_t queued = res ? resource_queued_ns(res, workers) : 0;

	if (!queued || row_is_for_answers(a, row) != ANSWERS_CERTAIN || pair_busy_share(pair) < 0.8 ||
	    queued * 4 < res->waits.sum || is_heavier_elsewhere(a, row, res) ||
	    waited_at_place(a, row, res) < res->waits.sum / 10 * 9)
		return 0;
	return queued;
}

/* Workers of one function end the waits, and may be too few. */
static bool is_pool(const struct analysis *a, const struct row *row, const struct group *group)
{
	const struct top *waker = top_first(row->waker_groups);

	return (double)waker->weight >= 0.8 * (double)row->hist.sum && !group->system && group->peak >= 2 &&
	       group->peak <= MAX_MEMBERS && group->ended * 4 <= group->created + group->at_start &&
	       top_first(row->functions)->key != waker->key && !is_reader(a, group) && utilisation(a) <= 0.95;
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
			      const struct pair *pair, uint64_t queued)
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
		     (unsigned long long)group->peak, label_function(a, group->func).text,
		     label_time(queued).text);
	workers_evidence(a, finding, &all, pair);
}

/* Returns false if the waits are not for workers, or are no longer than the work. */
static bool of_workers(struct analysis *a, const struct row *row, double impact)
{
	uint64_t waker = top_first(row->waker_groups)->key, queued;
	const struct group *group = &a->groups[waker < a->ngroups ? waker : 0];
	const struct pair *pair = pair_heaviest(a, (uint32_t)(row - a->rows));
	struct finding *finding;

	if (!is_pool(a, row, group))
		return false;
	if (busy_share(a, group) < 0.9 || !is_queue(a, row, group)) {
		queued = queued_ns(a, row, pair, group->peak);
		if (queued)
			workers_are_taken(a, row, group, pair, queued);
		return queued;
	}
	finding = finding_add(a, "pool-small", impact);
	finding_text(finding, "%s waited %s for %llu workers of %s, which are busy %.0f %% of the time.",
		     label_stack(a, row->stack).text, label_time(row->hist.sum).text,
		     (unsigned long long)group->peak, label_function(a, group->func).text,
		     100 * busy_share(a, group));
	if (row->activity == ACT_COND && group->spent[ACT_SLEEP] * 2 > activities_watched_ns(group->spent) &&
	    row_is_for_answers(a, row) == ANSWERS_LIKELY)
		finding_at_most(finding, LEVEL_INFO);
	workers_evidence(a, finding, row, pair);
	return true;
}

/* What the items are held for: one connection of a pool may be kept while something else is asked. */
static void use_evidence(const struct analysis *a, struct finding *finding, const struct resource *res)
{
	const struct top *did = top_first(res->did);
	uint64_t all = activities_ns(res->meanwhile);

	if (!did->n || !(did->key >> 8) || top_sure(did) * 5 < all)
		return;
	finding_evidence(finding, "of the time that they are held, %.0f %% is %s in %s",
			 100 * (double)top_sure(did) / (double)all,
			 activity_name((enum activity)(did->key & 0xff)),
			 label_stack(a, (uint32_t)(did->key >> 8)).text);
}

/* All locks of a Python program look like one, also those with which a thread waits for work. */
static bool is_python_lock(const struct analysis *a, uint32_t stack)
{
	return strncmp(name_text(a, stack_site(a, stack)->func), "PyThread_", strlen("PyThread_")) == 0;
}

/* The most goroutines that there can have been at a time: more items are not all in use. */
static uint64_t most_members(const struct analysis *a)
{
	uint64_t all = 0;

	for (size_t i = 1; i < a->ngroups; i++)
		all += a->groups[i].peak;
	return all;
}

/*
 * How many items are in use while any goroutine waits: all of a pool. An item is taken from the moment when a
 * goroutine is woken for it. A result that is passed up a tree of futures waits for work, which nobody holds.
 */
static double items_held(const struct resource *res)
{
	return (double)(res->holds.sum + res->given_ns) / (double)res->holds.n * (double)res->releases /
	       ((double)res->contended_ns + 1);
}

/* The same by what was done with them: who gets one at once holds it, too, but leaves no event. At least
 * these. */
static double items_used(const struct resource *res)
{
	return (double)activities_ns(res->meanwhile) / ((double)res->contended_ns + 1);
}

/* What those that give it back did with it: wait for others, or only run and want a CPU. */
static enum waited_for use_held_up(const struct resource *res)
{
	uint64_t waits = 0, all = activities_ns(res->meanwhile);

	for (unsigned i = ACT_RUNNABLE + 1; i < ACT_COUNT; i++)
		waits += i == ACT_ASSIST ? 0 : res->meanwhile[i];
	if (!all)
		return WAITED_FOR_UNKNOWN;
	return waits * 2 > all ? WAITED_FOR_OTHERS : WAITED_FOR_CPU;
}

/* How long each is held: the median, or where some are held for far longer, the mean. */
static struct label usual_hold(const struct resource *res)
{
	uint64_t p50 = histogram_quantile(&res->holds, 0.5), mean = res->holds.sum / res->holds.n;
	struct label label;

	snprintf(label.text, sizeof(label.text), "%.24s (%s)", label_time(mean > 2 * p50 ? mean : p50).text,
		 mean > 2 * p50 ? "mean" : "p50");
	return label;
}

/* A goroutine that ends a wait gives back an item for which it had waited itself. */
static void of_holders(struct analysis *a, const struct row *row)
{
	uint32_t index = a->stacks[row->stack].resource;
	const struct resource *res = index ? resource_root(a, index) : NULL;
	const char *near = name_text(a, stack_near(a, row->stack)->func);
	uint64_t waited;
	double many;
	struct finding *finding;

	/* Threads of a virtual machine or a library pass it on among themselves. */
	if (is_of_threads(a) && (!stack_is_in_program(a, row->stack) || is_python_lock(a, row->stack)))
		return;
	/* Who posts a semaphore may take it at once, without a wait; no waiter posts one that is a signal. */
	if (!res || res->lock || res->holds.n < 5 ||
	    res->by_waiters * (row->activity == ACT_SEMAPHORE ? 4 : 2) < res->releases)
		return;
	if (histogram_quantile(&row->hist, 0.99) < histogram_quantile(&res->holds, 0.5) ||
	    row->hist.max < 1000000)
		return;
	many = items_held(res);
	if ((many < 0.6 && items_used(res) < 0.6) || many > MAX_MEMBERS || many > (double)most_members(a) ||
	    is_heavier_elsewhere(a, row, res))
		return;
	/* What is mostly waited for is a CPU, by those that were woken. */
	if (res->given_ns > 2 * res->holds.sum)
		return;
	waited = waited_at_place(a, row, res);
	finding = finding_add(
		a, "pool-small",
		fmin(share_of_tasks(a, (double)waited), handler_share(a, row->stack, row->hist.sum)));
	if (many < 0.6)
		finding_text(finding, "%s waited %s for an item of a pool, all of which are in use.",
			     label_stack(a, row->stack).text, label_time(waited).text);
	else if (many < 1.5 && res->overlaps * 20 < res->holds.n)
		finding_text(finding, "%s waited %s for a pool of one, held for %s each time.",
			     label_stack(a, row->stack).text, label_time(waited).text, usual_hold(res).text);
	else
		finding_text(finding, "%s waited %s for one of about %.0f, all in use, each held for %s.",
			     label_stack(a, row->stack).text, label_time(waited).text, many < 2 ? 2 : many,
			     usual_hold(res).text);
	/* go test -parallel is a choice, and what go build takes from its channel is work that it finds. */
	if (library_in_package(near, "testing") || library_in_package(near, "cmd/go/internal/work"))
		finding_at_most(finding, LEVEL_INFO);
	row_evidence(a, finding, row);
	if (waited > row->hist.sum)
		finding_evidence(finding, "in other stacks that end there: %s",
				 label_time(waited - row->hist.sum).text);
	finding->total_ns = waited;
	if (many < 0.6)
		finding_evidence(finding, "given back at %s",
				 label_stack(a, (uint32_t)top_first(res->released)->key).text);
	else
		finding_evidence(finding, "given back at %s; held up to %s",
				 label_stack(a, (uint32_t)top_first(res->released)->key).text,
				 label_time(res->holds.max).text);
	use_evidence(a, finding, res);
	known_wait_evidence(a, finding);
	finding->held_up = use_held_up(res);
	short_of_cpu_evidence(a, finding, res->meanwhile);
}

/* --- libuv's pool --- */

static bool has_uv_loop(const struct analysis *a)
{
	for (size_t i = 1; i < a->nrows; i++) {
		if (stack_calls(a, a->rows[i].stack, "uv__io_poll") ||
		    stack_calls(a, a->rows[i].stack, "uv_run"))
			return true;
	}
	return false;
}

/* Its threads run worker() of src/threadpool.c, of which a stripped library says no name. */
static bool is_uv_worker(const struct analysis *a, const struct group *group)
{
	const char *func = name_text(a, group->func);

	if (strncmp(func, "libuv.so", strlen("libuv.so")) == 0)
		return true;
	return strncmp(func, "worker", 6) == 0 && (!func[6] || func[6] == ' ') && has_uv_loop(a);
}

/* The heaviest wait of the group's that is not for work. */
static const struct row *heaviest_wait(const struct analysis *a, size_t group)
{
	const struct row *most = NULL;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (row->activity != ACT_COND && activity_is_blocked(row->activity) &&
		    top_first(row->functions)->key == group && (!most || row->hist.sum > most->hist.sum))
			most = row;
	}
	return most;
}

/*
 * Its queue is memory that nobody waits for with a stack: the loop goes on. But threads that never wait for
 * work and are blocked by what they do have more of it than they can do. More threads do not help those that
 * compute.
 */
static void of_uv(struct analysis *a, size_t i)
{
	const struct group *group = &a->groups[i];
	uint64_t all = activities_watched_ns(group->spent),
		 runs = group->spent[ACT_CODE] + group->spent[ACT_ASSIST] + group->spent[ACT_RUNNABLE];
	const struct row *row;
	struct finding *finding;

	if (group->peak < 2 || group->peak > 1024 || !is_uv_worker(a, group) || busy_share(a, group) < 0.95 ||
	    runs * 2 > all || all < group->peak * watched_ns(a) / 2)
		return;
	row = heaviest_wait(a, i);
	if (!row)
		return;
	finding = finding_add(a, "pool-small", 0.1);
	finding_text(finding,
		     "All %llu threads of libuv's pool are busy %.0f %% of the time, and what is queued for "
		     "them waits: mostly %s in %s.",
		     (unsigned long long)group->peak, 100 * busy_share(a, group),
		     activity_name((enum activity)row->activity), label_stack(a, row->stack).text);
	row_evidence(a, finding, row);
	finding_next(finding, "UV_THREADPOOL_SIZE=%llu", 4 * (unsigned long long)group->peak);
}

void rule_pool_small(struct analysis *a)
{
	for (size_t i = 1; i < a->ngroups && is_of_threads(a); i++)
		of_uv(a, i);
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		double impact = share_of_tasks(a, (double)row->hist.sum);

		if (row->activity < ACT_COND || row->activity > ACT_SELECT || row->hist.n < MIN_N ||
		    impact < 0.02)
			continue;
		if (!of_workers(a, row, impact))
			of_holders(a, row);
	}
}
