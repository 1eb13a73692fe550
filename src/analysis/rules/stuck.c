/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goroutines wait for locks for most of the trace, up to its end, and get none: a deadlock, of which the rest
 * of the program need not take notice, or a lock that was never released.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/lasting.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"

enum { MOST = 4 };

static int by_count(const void *one, const void *other)
{
	const struct lasting *a = one, *b = other;

	return a->n != b->n ? (a->n > b->n ? 1 : -1) : a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* Threads also rest on futexes and semaphores. */
static bool is_of_lock(const struct analysis *a, const struct row *row)
{
	return row->activity == ACT_LOCK && (!is_of_threads(a) || stack_waits_for_lock(a, row->stack));
}

/* By a channel of Rust: it waits for the next job. */
static bool receives(const char *func)
{
	return primitive_of_channel(func) == PRIM_RECEIVE;
}

/*
 * Whether one waits for the next connection, event or job in the function that asks for the lock: it holds
 * it, and the others have no work, either.
 */
static bool is_turn(const struct analysis *a, uint32_t stack)
{
	const char *func = name_text(a, stack_site(a, stack)->func);

	for (size_t i = 1; i < a->ngs; i++) {
		const struct goroutine *g = &a->gs[i];

		if (g->stack && a->now - g->since >= lasting_needed(a) && stack_calls(a, g->stack, func) &&
		    (stack_takes_work(a, g->stack) || stack_any(a, g->stack, receives)))
			return true;
	}
	return false;
}

/* Few goroutines in one place are more likely to hold a lock that the many in another want. */
static unsigned stuck_gather(const struct analysis *a, struct lasting found[MOST], struct lasting *all)
{
	unsigned places = 0;

	*all = (struct lasting){.least = UINT64_MAX};
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		struct lasting one = {0};

		if (is_of_lock(a, row))
			one = lasting_of_row(a, row);
		if (!one.n || is_turn(a, one.stack))
			continue;
		all->n += one.n;
		all->least = one.least < all->least ? one.least : all->least;
		all->most = one.most > all->most ? one.most : all->most;
		if (!lasting_add(a, found, places, &one)) {
			if (places < MOST)
				found[places++] = one;
			else if (one.n < found[MOST - 1].n)
				found[MOST - 1] = one;
		}
		qsort(found, places, sizeof(found[0]), by_count);
	}
	return places;
}

/* The wait that it is in, or the last one before it ran; stack 0: there is none. */
static struct past_activity last_wait(const struct goroutine *g)
{
	uint32_t n = g->npast < PAST ? g->npast : PAST;

	for (uint32_t i = 1; i <= n; i++) {
		struct past_activity past = g->past[(g->npast - i) % PAST];

		if (past.activity >= ACT_SYSCALL && past.activity < ACT_UNWATCHED)
			return past;
		if (past.activity != ACT_RUNNABLE && past.activity != ACT_CODE)
			break;
	}
	return (struct past_activity){0};
}

/*
 * Who holds the lock has not released it, and so is not known. One that is further down in the function that
 * asks for it, and waits for something else, is the first to look at. Returns NULL if there is none.
 */
static const struct goroutine *find_further(const struct analysis *a, uint32_t stack)
{
	const struct code_place *site = stack_site(a, stack);
	const struct goroutine *longest = NULL;

	for (size_t i = 1; i < a->ngs; i++) {
		const struct goroutine *g = &a->gs[i];
		struct past_activity wait = last_wait(g);

		if (!wait.stack || activity_is_lock(wait.activity) ||
		    stack_site(a, wait.stack)->func != site->func ||
		    stack_site(a, wait.stack)->line <= site->line)
			continue;
		if (!longest || g->since < longest->since)
			longest = g;
	}
	return longest;
}

/* It has worked in this trace, several times, and waits for its next turn. */
static bool gets_on(const struct analysis *a, const struct goroutine *g)
{
	return a->now - g->since < lasting_needed(a) && g->npast >= PAST;
}

static void further_evidence(const struct analysis *a, struct finding *finding, const struct goroutine *g)
{
	struct past_activity wait;

	if (!g)
		return;
	wait = last_wait(g);
	finding_evidence(finding, "%s is further down in it, and may hold the lock: %s in %s",
			 label_who(a, g->goid).text, activity_name((enum activity)wait.activity),
			 label_stack(a, wait.stack).text);
}

/* Where a rwlock of the C library is wanted for writing: readers that come in time can keep it for ever. */
static bool is_of_writer(const struct analysis *a, uint32_t stack)
{
	return stack_mentions(a, stack, "pthread_rwlock_wrlock");
}

void rule_stuck(struct analysis *a)
{
	struct lasting found[MOST], all;
	const struct goroutine *further;
	struct finding *finding;
	unsigned places = stuck_gather(a, found, &all);

	if (!places)
		return;
	finding = finding_add(a, "stuck", 0.2);
	finding_text(finding, "%llu %s waited for a lock %s (%s%s), and did not get it: %s%s%s.",
		     (unsigned long long)all.n, all.n == 1 ? words_of(a)->one : words_of(a)->many,
		     lasting_throughout(a, all.least) ? "throughout the trace" : "until the end of the trace",
		     all.n == 1 ? "" : "for at least ", label_time(all.least).text,
		     label_stack(a, found[0].stack).text, places > 1 ? ", " : "",
		     places > 1 ? label_stack(a, found[1].stack).text : "");
	further = find_further(a, found[0].stack);
	/* Those that wait throughout may stand by, to take over from one that leads. */
	if (lasting_throughout(a, all.least) && places == 1 &&
	    (all.n == 1 || (further && gets_on(a, further))))
		finding_at_most(finding, LEVEL_INFO);
	else if (all.n == 1)
		finding_at_most(finding, LEVEL_MEDIUM);
	/* Processes of Apache or uWSGI take turns to accept, by a lock that they share. */
	if (is_of_threads(a) && places == 1 && all.n == a->alive) {
		finding_at_most(finding, LEVEL_INFO);
		finding_evidence(finding, "no thread of the process does anything else: another process may "
					  "hold the lock");
	}
	finding->n = all.n;
	finding->total_ns = all.most;
	finding->max_ns = all.most;
	finding->stack = found[0].stack;
	further_evidence(a, finding, further);
	if (is_of_writer(a, found[0].stack))
		finding_evidence(finding,
				 "in glibc, readers pass a writer that waits, unless the lock is of the kind "
				 "PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP");
	for (unsigned i = 0; i < places; i++)
		finding_evidence(finding, "%llu in %s", (unsigned long long)found[i].n,
				 label_stack(a, found[i].stack).text);
	finding_next(finding,
		     is_of_threads(a) ? "gdb -p %s -batch -ex 'thread apply all bt'" : "gotrace ps -p %s",
		     label_pid(a).text);
}
