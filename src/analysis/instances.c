/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tasks, regions and lives of goroutines: how long each took, and what its goroutine did in that time. */
#include "analysis/instances.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/kinds.h"
#include "analysis/top.h"
#include "analysis/names.h"
#include "util/array.h"
#include "trace/ops/own_names.h"

enum { MAX_TASKS = 1 << 20, MAX_REGIONS = 256 };

struct instances *instances_get(struct analysis *a, enum instance_kind kind, uint32_t name)
{
	uint64_t key = (uint64_t)(kind + 1) << 32 | name;
	const uint32_t *known = map64_get(&a->instances_of, key);
	struct instances *all;

	if (known)
		return &a->instances[*known];
	if (a->ninstances >= MAX_ROWS)
		return &a->instances[0];
	if (array_grow(&a->instances, &a->instance_capacity, a->ninstances + 1, sizeof(*a->instances)) ||
	    map64_set(&a->instances_of, key, (uint32_t)a->ninstances)) {
		a->oom = true;
		return &a->instances[0];
	}
	all = &a->instances[a->ninstances++];
	all->kind = (uint8_t)kind;
	all->name = name;
	return all;
}

static void keep_slowest(struct instances *all, const struct instance *one)
{
	unsigned i = all->nslowest;

	if (i == SLOWEST && all->slowest[i - 1].ns >= one->ns)
		return;
	if (i < SLOWEST)
		all->nslowest++;
	else
		i--;
	for (; i && all->slowest[i - 1].ns < one->ns; i--)
		all->slowest[i] = all->slowest[i - 1];
	all->slowest[i] = *one;
}

/* Algorithm R (Vitter 1985). A hash of the count replaces the random number, so that a trace always gives the
 * same sample. */
static void keep_sample(const struct analysis *a, struct instances *all, const struct instance *one)
{
	uint64_t n = all->hist.n, at = all->nsample;

	if (at == RESERVOIR)
		at = (n * 0x9e3779b97f4a7c15ull >> 20) % n;
	else
		all->nsample++;
	if (at >= RESERVOIR)
		return;
	all->sample[at] = (float)one->ns;
	all->sample_when[at] = (uint32_t)((one->begin - a->begin) / 1000000);
}

void instance_add(struct analysis *a, struct instances *all, const struct instance *one)
{
	if (a->observer.instance)
		a->observer.instance(a->observer.ctx, a, all, one);
	if (histogram_add(&all->hist, one->ns))
		a->oom = true;
	for (unsigned i = 0; i < ACT_COUNT; i++)
		all->spent[i] += one->spent[i];
	keep_slowest(all, one);
	keep_sample(a, all, one);
}

void spent_now(const struct analysis *a, const struct goroutine *g, uint64_t spent[ACT_COUNT])
{
	memcpy(spent, g->spent, sizeof(g->spent));
	spent[g->activity] += a->now - g->since;
}

void spent_since(const struct analysis *a, const struct goroutine *g, const uint64_t then[ACT_COUNT],
		 uint64_t spent[ACT_COUNT])
{
	spent_now(a, g, spent);
	for (unsigned i = 0; i < ACT_COUNT; i++)
		spent[i] = spent[i] > then[i] ? spent[i] - then[i] : 0;
}

void instance_longest_wait(const struct analysis *a, const struct goroutine *g, struct instance *one)
{
	uint32_t n = g->npast < PAST ? g->npast : PAST;
	uint64_t end = a->now, longest = 0;

	for (uint32_t i = 1; i <= n && end > one->begin; i++) {
		const struct past_activity *past = &g->past[(g->npast - i) % PAST];
		uint64_t start = past->start > one->begin ? past->start : one->begin;

		if (activity_is_blocked(past->activity) && end - start > longest) {
			longest = end - start;
			one->stack = past->stack;
			one->activity = past->activity;
		}
		end = past->start;
	}
}

/* --- tasks --- */

void task_begin(struct analysis *a, const struct op *op)
{
	uint32_t index = a->free_task;
	struct open_task *task;

	if (!op->arg || op->arg == UINT64_MAX)
		return;
	if (index) {
		a->free_task = a->tasks[index].next;
	} else {
		if (a->task_count >= MAX_TASKS)
			return;
		index = (uint32_t)a->task_count;
		if (array_grow(&a->tasks, &a->ntasks, index + 1, sizeof(*a->tasks))) {
			a->oom = true;
			return;
		}
		a->task_count++;
	}
	if (map64_set(&a->task_of, op->arg, index)) {
		a->oom = true;
		return;
	}
	task = &a->tasks[index];
	*task = (struct open_task){
		.id = op->arg, .begin = a->now, .g = op->g, .name = name_string(a, op->string)};
	spent_now(a, &a->gs[op->g], task->spent);
	task->goid = a->gs[op->g].goid;
	task->outer = a->gs[op->g].task;
	a->gs[op->g].task = index;
}

/* Returns to the task that the goroutine was in before. */
static void leave_task(struct analysis *a, uint32_t index)
{
	struct open_task *task = &a->tasks[index], *outer = &a->tasks[task->outer];
	struct goroutine *g = &a->gs[task->g];

	if (g->task == index && g->goid == task->goid)
		g->task = outer->id && outer->goid == g->goid ? task->outer : 0;
	task->id = 0;
}

void task_spend(struct analysis *a, const struct goroutine *g, uint64_t ns)
{
	const struct open_task *task = &a->tasks[g->task];
	struct instances *all;

	if (task->goid != g->goid || !task->id || ns > a->now - task->begin ||
	    (a->options.label && !g->matches))
		return;
	all = instances_get(a, INSTANCE_TASK, task->name);
	top_add(all->where, (uint64_t)g->stack << 8 | g->activity, ns);
}

/* What a gap was open in has no known length. */
static bool has_gap(const struct analysis *a, uint64_t begin)
{
	return a->ledger.unwatched || begin < a->ledger.watched_since;
}

static void add_or_cut(struct analysis *a, enum instance_kind kind, uint32_t name, const struct instance *one)
{
	struct instances *all = instances_get(a, kind, name);

	if (has_gap(a, one->begin))
		all->cut++;
	else
		instance_add(a, all, one);
}

/* Tasks of one goroutine, within another one, are one after the other. */
static void note_outer(struct analysis *a, const struct open_task *task, uint64_t ns)
{
	const struct open_task *outer = &a->tasks[task->outer];

	if (outer->id && outer->goid == task->goid && !has_gap(a, task->begin))
		top_add(instances_get(a, INSTANCE_TASK, task->name)->outer, outer->name, ns);
}

void task_end(struct analysis *a, const struct op *op)
{
	const uint32_t *index = op->arg ? map64_get(&a->task_of, op->arg) : NULL;
	struct open_task *task = index ? &a->tasks[*index] : NULL;
	struct instance one = {0};
	const struct goroutine *g;
	uint32_t free_index;

	if (!task)
		return;
	free_index = *index;
	g = &a->gs[task->g];
	one.begin = task->begin;
	one.ns = a->now - task->begin;
	one.goid = task->goid;
	if (g->goid == task->goid && g->activity != ACT_NONE) {
		spent_since(a, g, task->spent, one.spent);
		instance_longest_wait(a, g, &one);
	}
	if (!a->options.label || (g->goid == task->goid && g->matches)) {
		add_or_cut(a, INSTANCE_TASK, task->name, &one);
		note_outer(a, task, one.ns);
	}
	leave_task(a, free_index);
	map64_del(&a->task_of, op->arg);
	task->next = a->free_task;
	a->free_task = free_index;
}

/* --- regions --- */

/* Whether a region is time for which the goroutine had no CPU, and others had it. */
static bool is_without_cpu(const struct analysis *a, uint32_t name)
{
	const char *reason = off_cpu_region_reason(name_text(a, name));

	return reason && (strcmp(reason, "preempted]") == 0 || strcmp(reason, "throttled]") == 0);
}

bool region_begin(struct analysis *a, const struct op *op)
{
	struct goroutine *g = &a->gs[op->g];
	struct region_in_progress *region;

	if (g->nregions >= MAX_REGIONS ||
	    array_grow(&g->regions, &g->region_capacity, g->nregions + 1, sizeof(*g->regions)))
		return false;
	region = &g->regions[g->nregions++];
	*region = (struct region_in_progress){
		.begin = a->now, .task = op->arg, .name = name_string(a, op->string)};
	spent_now(a, g, region->spent);
	return is_without_cpu(a, region->name);
}

/* Nobody else took the CPU of a thread that sleeps. */
static void count_off_cpu(struct analysis *a, const struct goroutine *g,
			  const struct region_in_progress *region)
{
	const char *reason = off_cpu_region_reason(name_text(a, region->name));

	if (is_without_cpu(a, region->name)) {
		a->preempted_ns += a->now - region->begin;
		return;
	}
	a->slept_ns += a->now - region->begin;
	a->stopped_ns += strcmp(reason, "stopped]") == 0 ? a->now - region->begin : 0;
	top_add(a->slept_groups, g->group, a->now - region->begin);
}

bool region_end(struct analysis *a, const struct op *op)
{
	struct goroutine *g = &a->gs[op->g];
	struct instance one = {.goid = g->goid};
	const struct region_in_progress *region;

	if (!g->nregions)
		return false;
	region = &g->regions[--g->nregions];
	/* A region of gotrace's own, for time without a CPU: no work of the program. */
	if (off_cpu_region_reason(name_text(a, region->name))) {
		count_off_cpu(a, g, region);
		if (a->observer.off_cpu)
			a->observer.off_cpu(a->observer.ctx, a, g->goid, region->begin, region->name);
		return is_without_cpu(a, region->name);
	}
	if (a->options.label && !g->matches)
		return false;
	one.begin = region->begin;
	one.ns = a->now - region->begin;
	spent_since(a, g, region->spent, one.spent);
	instance_longest_wait(a, g, &one);
	add_or_cut(a, INSTANCE_REGION, region->name, &one);
	return false;
}

void instances_end(struct analysis *a)
{
	a->now = a->end > a->now ? a->end : a->now;
	for (uint32_t g = 1; g < a->ngs; g++) {
		while (a->gs[g].nregions)
			region_end(a, &(struct op){.g = g});
	}
	for (size_t i = 1; i < a->task_count; i++) {
		if (a->tasks[i].id)
			task_end(a, &(struct op){.arg = a->tasks[i].id});
	}
}

void open_regions_drop(struct goroutine *g)
{
	free(g->regions);
	g->regions = NULL;
	g->nregions = g->region_capacity = 0;
}
