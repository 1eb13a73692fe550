/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Groups goroutines by function and creation site, and finds those that never end. */
#include "analysis/tables.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/instances.h"
#include "analysis/names.h"
#include "analysis/top.h"
#include "code/symbol/library.h"
#include "util/array.h"
#include "trace/ops/own_names.h"

/*
 * Who created the goroutines of before the trace is not known. They are counted with those of their function
 * that the trace shows first: most functions have one creation site. Returns 0 if the function has no group,
 * or only some with other creators.
 */
static uint32_t group_without_creator(struct analysis *a, uint64_t key, uint32_t func, uint32_t creator)
{
	const uint32_t *first = map64_get(&a->first_group_of, func + 1ull);

	if (!first || (creator && a->groups[*first].creator))
		return 0;
	if (creator && map64_set(&a->group_of, key, *first))
		a->oom = true;
	if (creator)
		a->groups[*first].creator = creator;
	return *first;
}

static uint32_t group_get(struct analysis *a, uint32_t func, uint32_t file, uint32_t line, uint32_t creator)
{
	uint32_t site = creator ? stack_near(a, creator)->func ^ stack_near(a, creator)->line << 20 : 0;
	uint64_t key = ((uint64_t)func << 32 | site) + 1;
	const uint32_t *known = map64_get(&a->group_of, key);
	uint32_t first = known ? *known : group_without_creator(a, key, func, creator);
	struct group *group;

	if (first)
		return first;
	if (a->ngroups >= MAX_ROWS)
		return 0;
	if (array_grow(&a->groups, &a->group_capacity, a->ngroups + 1, sizeof(*a->groups)) ||
	    map64_set(&a->group_of, key, (uint32_t)a->ngroups) ||
	    (!map64_get(&a->first_group_of, func + 1ull) &&
	     map64_set(&a->first_group_of, func + 1ull, (uint32_t)a->ngroups))) {
		a->oom = true;
		return 0;
	}
	group = &a->groups[a->ngroups];
	group->func = func;
	group->file = file;
	group->line = line;
	group->creator = creator;
	group->system = !a->of_threads && library_is_system(name_text(a, func));
	group->worker = strcmp(name_text(a, func), "runtime.gcBgMarkWorker") == 0;
	return (uint32_t)a->ngroups++;
}

static void groups_fold(struct analysis *a)
{
	for (size_t i = 0; i < a->ngroups; i++) {
		int32_t *growth = a->groups[i].growth;

		for (unsigned j = 0; j < SERIES; j++)
			growth[j] = j < SERIES / 2 ? growth[2 * j] + growth[2 * j + 1] : 0;
	}
	a->series_width *= 2;
}

static void groups_count(struct analysis *a, struct group *group, int change)
{
	uint64_t at = a->now > a->begin ? a->now - a->begin : 0;

	while (at / a->series_width >= SERIES)
		groups_fold(a);
	group->growth[at / a->series_width] += change;
	group->alive += (uint64_t)(int64_t)change;
	if (group->alive > group->peak)
		group->peak = group->alive;
	if (!group->system)
		a->alive += (uint64_t)(int64_t)change;
}

static void join(struct analysis *a, struct goroutine *g, uint32_t index, bool before)
{
	struct group *group = &a->groups[index];
	bool own = goid_is_own(g->goid);

	group->system |= own;
	group->own |= own;
	g->group = index;
	g->worker = group->worker;
	if (before) {
		/* It existed from the start, so the peak is one higher, too. */
		group->at_start++;
		group->alive++;
		group->peak++;
		if (!group->system) {
			a->alive++;
			a->alive_start++;
		}
		return;
	}
	group->created++;
	a->created += !group->system;
	groups_count(a, group, 1);
}

/* A stack that does not reach the thread's first function ends with the thread's name. */
static bool is_thread_name(const struct code_place *root)
{
	return root->func && root->func == root->file;
}

void group_born(struct analysis *a, struct goroutine *g, uint32_t entry, uint32_t creator, bool before)
{
	const struct code_place *at = stack_root(a, entry);

	if (is_thread_name(at))
		g->named_by = entry;
	/* A goroutine of unknown function has no group until it has a stack. */
	if (a->ledger.gs[goroutine_index(a, g)].known.before && (!at->func || is_thread_name(at)))
		return;
	join(a, g, group_get(a, at->func, at->file, at->line, creator), before);
}

void group_from_stack(struct analysis *a, struct goroutine *g, uint32_t stack)
{
	const struct code_place *root = stack_root(a, stack);

	if (is_thread_name(root))
		g->named_by = stack;
	if (!root->func || is_thread_name(root) || a->ngroups >= MAX_ROWS)
		return;
	join(a, g, group_get(a, root->func, root->file, 0, 0), !g->born);
}

/* No better stack will come: uses the thread's name, or the group of unknown functions. */
static void join_at_last(struct analysis *a, struct goroutine *g)
{
	const struct code_place *root = stack_root(a, g->named_by);

	join(a, g, is_thread_name(root) ? group_get(a, root->func, root->file, 0, 0) : 0, !g->born);
}

static void add_life(struct analysis *a, struct goroutine *g, struct group *group)
{
	struct instance one = {.begin = g->born, .ns = a->now - g->born, .goid = g->goid};

	if (histogram_add(&group->lifetimes, one.ns))
		a->oom = true;
	if (group->system)
		return;
	memcpy(one.spent, g->spent, sizeof(one.spent));
	instance_longest_wait(a, g, &one);
	instance_add(a, instances_get(a, INSTANCE_LIFE, group->func), &one);
}

void group_ended(struct analysis *a, struct goroutine *g)
{
	struct group *group;

	/* The runtime's goroutines do not end, so this one is the program's. */
	if (!g->group)
		join_at_last(a, g);
	group = &a->groups[g->group];
	for (unsigned i = 0; i < ACT_COUNT; i++)
		group->spent[i] += g->spent[i];
	group->ended++;
	a->ended += !group->system;
	groups_count(a, group, -1);
	if (g->born)
		add_life(a, g, group);
}

/* Returns the least wait of a suspect, ns: the longest of 1 s, a quarter of the trace, 10 p99 lifetimes. */
static uint64_t suspect_after(const struct analysis *a, const struct group *group)
{
	uint64_t least = 1000000000ull, quarter = (a->end - a->begin) / 4;
	uint64_t lives = 10 * histogram_quantile(&group->lifetimes, 0.99);

	if (quarter > least)
		least = quarter;
	return lives > least ? lives : least;
}

static bool may_be_stuck(const struct goroutine *g)
{
	return g->activity >= ACT_NETWORK && g->activity <= ACT_FOREVER && g->activity != ACT_GC;
}

void groups_end(struct analysis *a)
{
	bool of_threads = is_of_threads(a);
	uint64_t after[MAX_ROWS];

	for (size_t i = 1; i < a->ngs; i++) {
		struct goroutine *g = &a->gs[i];

		/* A thread that runs all the time has no stack. A goroutine of which no more is known may be
		 * the runtime's. */
		if (g->activity == ACT_NONE || g->group)
			continue;
		if (of_threads || g->named_by)
			join_at_last(a, g);
		else
			a->nameless += !goid_is_own(g->goid);
	}
	for (size_t i = 0; i < a->ngroups; i++)
		after[i] = suspect_after(a, &a->groups[i]);
	for (size_t i = 1; i < a->ngs; i++) {
		const struct goroutine *g = &a->gs[i];
		struct group *group = &a->groups[g->group];

		if (g->activity == ACT_NONE)
			continue;
		for (unsigned j = 0; j < ACT_COUNT; j++)
			group->spent[j] += g->spent[j];
		if (!g->born || group->system || !may_be_stuck(g) || a->end - g->since < after[g->group])
			continue;
		group->suspects++;
		group->suspect_ns += a->end - g->since;
		top_add(group->suspect_stacks, (uint64_t)g->stack << 8 | g->activity, 1);
	}
	for (size_t i = 0; i < a->ngroups; i++) {
		for (unsigned j = 0; !a->groups[i].system && j < ACT_COUNT; j++)
			a->total_spent[j] += a->groups[i].spent[j];
	}
}
