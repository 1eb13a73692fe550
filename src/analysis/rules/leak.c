/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Goroutines are created all the time, wait, and do not end. */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"
#include "code/symbol/library.h"

enum { LEAST = 20, SLICES = 10, MOST_LEAKS = 16 };

/* A wait that something may yet end weighs less. */
static double weight(unsigned activity)
{
	switch (activity) {
	case ACT_SELECT:
		return 0.7;
	case ACT_COND:
		return 0.5;
	case ACT_NETWORK:
	case ACT_PIPE:
		return 0.3;
	case ACT_SLEEP:
		return 0.1;
	default:
		return 1;
	}
}

/* Goroutines alive at the end of each slice of the trace, relative to the trace's start. */
static void alive_by_slice(const struct analysis *a, const struct group *group, double alive[SLICES])
{
	double points = (double)(a->end - a->begin) / (double)a->series_width, sum = 0;
	unsigned slice = 0;

	for (unsigned i = 0; i < SERIES && slice < SLICES; i++) {
		sum += group->growth[i];
		while (slice < SLICES && (double)(i + 1) >= points * (slice + 1) / SLICES - 1e-9)
			alive[slice++] = sum;
	}
	while (slice < SLICES)
		alive[slice++] = sum;
}

static bool grows(const struct analysis *a, const struct group *group)
{
	double alive[SLICES];
	unsigned falls = 0;

	alive_by_slice(a, group, alive);
	for (unsigned i = 1; i < SLICES; i++)
		falls += alive[i] < alive[i - 1];
	return falls <= 1 && alive[SLICES - 1] - alive[SLICES / 2 - 1] >= 0.3 * alive[SLICES - 1];
}

bool group_grows_throughout(const struct analysis *a, const struct group *group)
{
	double alive[SLICES];
	unsigned rises = 0;

	alive_by_slice(a, group, alive);
	for (unsigned i = 0; i < SLICES; i++)
		rises += alive[i] > (i ? alive[i - 1] : 0);
	return rises >= SLICES - 2 && alive[SLICES - 1] - alive[SLICES / 2 - 1] >= 0.4 * alive[SLICES - 1];
}

/* A server's goroutine for a connection, in its library, lives as long as the client keeps that. */
static bool is_of_connection(const struct analysis *a, const struct group *group, unsigned activity)
{
	return activity == ACT_NETWORK &&
	       library_owner(name_text(a, group->func), name_text(a, group->file)) != CODE_OF_PROGRAM;
}

/* Their creator accepts connections. */
static bool is_accepted(const struct analysis *a, const struct group *group)
{
	uint32_t func = group->creator ? stack_site(a, group->creator)->func : 0;

	for (size_t i = 1; i < a->nrows && func; i++) {
		const char *by = stack_takes_by(a, a->rows[i].stack);

		if (by && strstr(by, "ccept") && stack_calls(a, a->rows[i].stack, name_text(a, func)))
			return true;
	}
	return false;
}

/* Grown by about as many. */
static bool grew_alike(const struct group *one, const struct group *other)
{
	uint64_t more = one->created - one->ended, others = other->created - other->ended;

	return more * 10 >= others * 9 && others * 10 >= more * 9;
}

bool group_is_of_connections(const struct analysis *a, const struct group *group)
{
	uint32_t root = group->creator ? stack_root(a, group->creator)->func : 0;

	if (is_accepted(a, group))
		return true;
	for (size_t i = 1; i < a->ngroups && root; i++) {
		const struct group *creator = &a->groups[i];

		if (creator->func == root && grew_alike(group, creator) && is_accepted(a, creator))
			return true;
	}
	return false;
}

/* Returns the first of the groups that leak that has grown by as many: what holds the one holds the other.
 * NULL if there is none. */
static const struct group *as_many_of(const struct group *const *leaks, unsigned n, const struct group *group)
{
	for (unsigned i = 0; i < n; i++) {
		if (grew_alike(group, leaks[i]))
			return leaks[i];
	}
	return NULL;
}

static void leak_describe(struct analysis *a, const struct group *group, double rate,
			  const struct group *first)
{
	const struct top *where = top_first(group->suspect_stacks);
	double impact = 0.05 + rate * weight((unsigned)(where->key & 0xff)) / 500;
	struct finding *finding = finding_add(a, "leak", impact > 0.5 ? 0.5 : impact);
	unsigned activity = (unsigned)(where->key & 0xff);

	if (weight(activity) < 0.2 || is_of_connection(a, group, activity) || first ||
	    (activity == ACT_NETWORK && group_is_of_connections(a, group)))
		finding_at_most(finding, LEVEL_INFO);
	finding_text(finding,
		     "%s: %llu were created and %llu ended, so their number grows by %s a second. Many wait "
		     "(%s) at %s.",
		     label_function(a, group->func).text, (unsigned long long)group->created,
		     (unsigned long long)group->ended, label_number(rate).text,
		     activity_name((enum activity)(where->key & 0xff)),
		     label_stack(a, (uint32_t)(where->key >> 8)).text);
	finding->n = group->suspects;
	finding->total_ns = group->suspect_ns;
	finding->stack = (uint32_t)(where->key >> 8);
	finding->waker_stack = group->creator;
	finding_evidence(finding, "%llu alive at the start, %llu at the end; %llu have waited for long",
			 (unsigned long long)group->at_start, (unsigned long long)group->alive,
			 (unsigned long long)group->suspects);
	if (first)
		finding_evidence(finding, "as many more as of %s: each may have one of the other",
				 label_function(a, first->func).text);
	if (group->creator)
		finding_evidence(finding, "created in %s", label_stack(a, group->creator).text);
	finding_next(finding, "gotrace report %s --all", a->options.file);
}

void rule_leak(struct analysis *a)
{
	const struct group *leaks[MOST_LEAKS];
	unsigned n = 0;

	for (size_t i = 1; i < a->ngroups; i++) {
		const struct group *group = &a->groups[i];
		double seconds = (double)watched_ns(a) / 1e9;

		if (group->system || group->suspects < LEAST || group->created <= group->ended ||
		    !grows(a, group))
			continue;
		leak_describe(a, group, (double)(group->created - group->ended) / seconds,
			      as_many_of(leaks, n, group));
		if (n < MOST_LEAKS)
			leaks[n++] = group;
	}
}
