/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Items of a pool, such as connections: all are in use, and others wait for one. */
#include "analysis/rules/pools.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/handlers.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/tables.h"
#include "analysis/top.h"
#include "code/symbol/library.h"

bool pool_is_heavier_elsewhere(struct analysis *a, const struct row *row, const struct resource *res)
{
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *other = &a->rows[i];
		uint32_t index = a->stacks[other->stack].resource;

		if (other != row && other->activity == row->activity && other->hist.n >= POOL_MIN_WAITS &&
		    index && resource_root(a, index) == res &&
		    stacks_share_site(a, other->stack, row->stack) &&
		    (other->hist.sum > row->hist.sum || (other->hist.sum == row->hist.sum && other < row)))
			return true;
	}
	return false;
}

uint64_t pool_waited_at_place(struct analysis *a, const struct row *row, const struct resource *res)
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

/* Whether what the row waits for goes round among those that wait, and is all in use. */
static bool is_pool_of_items(struct analysis *a, const struct row *row, const struct resource *res)
{
	double many;

	/* Threads of a virtual machine or a library pass it on among themselves. */
	if (is_of_threads(a) && (!stack_is_in_program(a, row->stack) || is_python_lock(a, row->stack)))
		return false;
	/* Who posts a semaphore may take it at once, without a wait; no waiter posts one that is a signal.
	 * Where others end many waits, items were lost, or one waits for many at once. */
	if (!res || res->lock || res->holds.n < 5 ||
	    res->by_waiters * 20 < res->releases * (row->activity == ACT_SEMAPHORE ? 5 : 12))
		return false;
	/* Workers that ask each other: who has had an answer gives the next one. */
	if (row->to_asker >= 5 && row->to_asker * 2 >= row->after_wait)
		return false;
	if (histogram_quantile(&row->hist, 0.99) < histogram_quantile(&res->holds, 0.5) ||
	    row->hist.max < 1000000)
		return false;
	many = items_held(res);
	if ((many < 0.6 && items_used(res) < 0.6) || many > POOL_MAX_MEMBERS ||
	    many > (double)most_members(a) || pool_is_heavier_elsewhere(a, row, res))
		return false;
	/* What is mostly waited for is a CPU, by those that were woken. */
	return res->given_ns <= 2 * res->holds.sum;
}

/*
 * Rows and transactions that the program does not close keep their connection until their context ends, when
 * another goroutine gives it back (Go 1.8 to 1.27 database/sql/sql.go). How long they were held, and so how
 * many there are, is not known.
 */
static bool are_left_open(const struct analysis *a, const struct resource *res)
{
	for (unsigned i = 0; i < TOPS; i++) {
		uint32_t stack = (uint32_t)res->released[i].key;

		if (stack && (stack_mentions(a, stack, "database/sql.(*Rows).awaitDone") ||
			      stack_mentions(a, stack, "database/sql.(*Tx).awaitDone")))
			return true;
	}
	return false;
}

void pool_of_items(struct analysis *a, const struct row *row)
{
	uint32_t index = a->stacks[row->stack].resource;
	const struct resource *res = index ? resource_root(a, index) : NULL;
	const char *near = name_text(a, stack_near(a, row->stack)->func);
	uint64_t waited;
	double many;
	bool counted, left_open;
	struct finding *finding;

	if (!is_pool_of_items(a, row, res))
		return;
	many = items_held(res);
	left_open = are_left_open(a, res);
	/* If far more are in use, most are held by those that did not wait for them. */
	counted = many >= 0.6 && items_used(res) <= 2 * many && !left_open;
	waited = pool_waited_at_place(a, row, res);
	finding = finding_add(
		a, "pool-small",
		fmin(share_of_tasks(a, (double)waited), handler_share(a, row->stack, row->hist.sum)));
	if (!counted)
		finding_text(finding, "%s waited %s for an item of a pool, all of which are in use.",
			     label_stack(a, row->stack).text, label_time(waited).text);
	else if (many < 1.5 && res->overlaps * 20 < res->holds.n)
		finding_text(finding, "%s waited %s for a pool of one, held for %s each time.",
			     label_stack(a, row->stack).text, label_time(waited).text,
			     label_usual(&res->holds).text);
	else
		finding_text(finding, "%s waited %s for one of about %.0f, all in use, each held for %s.",
			     label_stack(a, row->stack).text, label_time(waited).text, many < 2 ? 2 : many,
			     label_usual(&res->holds).text);
	/* go test -parallel is a choice, and what go build takes from its channel is work that it finds. */
	if (library_in_package(near, "testing") || library_in_package(near, "cmd/go/internal/work"))
		finding_at_most(finding, LEVEL_INFO);
	row_evidence(a, finding, row);
	if (waited > row->hist.sum)
		finding_evidence(finding, "in other stacks that end there: %s",
				 label_time(waited - row->hist.sum).text);
	finding->total_ns = waited;
	if (!counted)
		finding_evidence(finding, "given back at %s",
				 label_stack(a, (uint32_t)top_first(res->released)->key).text);
	else
		finding_evidence(finding, "given back at %s; held up to %s",
				 label_stack(a, (uint32_t)top_first(res->released)->key).text,
				 label_time(res->holds.max).text);
	use_evidence(a, finding, res);
	known_wait_evidence(a, finding, row->activity);
	if (left_open)
		finding_evidence(finding,
				 "some are kept until a context ends: Rows or a Tx that were not closed");
	finding->held_up = use_held_up(res);
	short_of_cpu_evidence(a, finding, res->meanwhile);
}
