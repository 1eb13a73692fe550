/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/tables.h"
#include "analysis/instances.h"
#include "analysis/state.h"
#include "analysis/step.h"
#include "code/symbol/frame.h"
#include "trace/ops/own_names.h"
#include "util/array.h"

/* Row 0 of each table stands for what is unknown, or beyond the table's limit. */
static bool make_tables(struct analysis *a)
{
	a->strings = strtab_new();
	a->timeline = calloc(1, sizeof(*a->timeline));
	return a->strings && a->timeline && !array_grow(&a->rows, &a->row_capacity, 1, sizeof(*a->rows)) &&
	       !array_grow(&a->cpu.rows, &a->cpu.row_capacity, 1, sizeof(*a->cpu.rows)) &&
	       !array_grow(&a->pairs, &a->pair_capacity, 1, sizeof(*a->pairs)) &&
	       !array_grow(&a->resources, &a->resource_capacity, 1, sizeof(*a->resources)) &&
	       !array_grow(&a->locks, &a->lock_capacity, 1, sizeof(*a->locks)) &&
	       !array_grow(&a->groups, &a->group_capacity, 1, sizeof(*a->groups)) &&
	       !array_grow(&a->instances, &a->instance_capacity, 1, sizeof(*a->instances)) &&
	       !array_grow(&a->stacks, &a->stack_capacity, 1, sizeof(*a->stacks)) &&
	       !array_grow(&a->gs, &a->ngs, 1, sizeof(*a->gs));
}

struct analysis *analysis_new(const struct analysis_options *options)
{
	struct analysis *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->options = *options;
	if (!make_tables(a)) {
		analysis_free(a);
		return NULL;
	}
	a->nstacks = a->cpu.nrows = a->nrows = a->npairs = a->nresources = a->nlocks = a->ngroups =
		a->ninstances = a->task_count = 1;
	a->timeline->width = 1000000;
	a->series_width = 1000000;
	states_begin(a);
	return a;
}

static void free_tables(struct analysis *a)
{
	for (size_t i = 0; a->rows && i < a->nrows; i++) {
		histogram_free(&a->rows[i].hist);
		histogram_free(&a->rows[i].answers);
	}
	for (size_t i = 0; i < a->nresources; i++) {
		histogram_free(&a->resources[i].waits);
		histogram_free(&a->resources[i].holds);
		histogram_free(&a->resources[i].min_holds);
	}
	for (size_t i = 0; i < a->nlocks; i++)
		histogram_free(&a->locks[i].waits);
	for (size_t i = 0; i < a->ngroups; i++) {
		histogram_free(&a->groups[i].lifetimes);
		histogram_free(&a->groups[i].latency);
	}
	for (size_t i = 0; i < a->ninstances; i++)
		histogram_free(&a->instances[i].hist);
	for (size_t i = 0; a->gs && i < a->ngs; i++) {
		open_regions_drop(&a->gs[i]);
		labels_drop(&a->gs[i]);
	}
	for (unsigned i = 0; i < ORIGIN_COUNT; i++)
		histogram_free(&a->latency_from[i]);
	histogram_free(&a->latency);
	histogram_free(&a->gc.pauses);
	histogram_free(&a->gc.stops);
	histogram_free(&a->gc.asked);
}

void analysis_free(struct analysis *a)
{
	if (!a)
		return;
	free_tables(a);
	if (a->strings)
		strtab_free(a->strings);
	map64_free(&a->stack_of_frames);
	map64_free(&a->places);
	ledger_free(&a->ledger);
	map64_free(&a->row_of);
	map64_free(&a->pair_of);
	map64_free(&a->lock_of);
	map64_free(&a->group_of);
	map64_free(&a->first_group_of);
	map64_free(&a->instances_of);
	map64_free(&a->index_of_goid);
	map64_free(&a->task_of);
	free(a->activity_of);
	free(a->stack_of);
	connections_free(&a->connections);
	free(a->frames);
	free(a->stacks);
	free(a->gs);
	free(a->ps);
	free(a->timeline);
	free(a->rows);
	free(a->pairs);
	free(a->resources);
	free(a->locks);
	free(a->groups);
	free(a->instances);
	free(a->tasks);
	free(a->cpu.rows);
	free(a->cpu.pending);
	map64_free(&a->cpu.row_of);
	map64_free(&a->cpu.in_leaf);
	free(a);
}

/* Where nothing runs: whether a stack ends with a thread's name. */
static bool has_names_of_threads(const struct tables *tables)
{
	for (size_t i = 1; i < tables->nstacks; i++) {
		const struct stack *stack = &tables->stacks[i];
		size_t len;
		const char *name =
			stack->n ? strtab_get(tables->strings, stack->frames[stack->n - 1].func, &len) : NULL;

		if (name && has_thread_name(name, len))
			return true;
	}
	return false;
}

/* Looks ahead for the ids of what runs: a thread's is that of its goroutine. */
static bool starts_with_threads(const struct generation *gen)
{
	const struct tables *tables = gen->tables;
	uint64_t runs = 0, as_thread = 0;

	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		if ((op->kind != OP_GO_START && (op->kind != OP_GO_STATUS || op->status != G_RUNNING)) ||
		    op->g >= tables->ngoroutines || goid_is_own(tables->goids[op->g]))
			continue;
		runs++;
		as_thread += tables->goids[op->g] == op->m;
	}
	return runs ? as_thread * 2 > runs : has_names_of_threads(tables);
}

int analysis_generation(struct analysis *a, const struct generation *gen)
{
	a->gen = gen;
	if (!a->generations++) {
		a->begin = a->now = a->integrated = gen->start;
		a->of_threads = starts_with_threads(gen);
	}
	ledger_begin(&a->ledger, gen);
	cpu_gather(a, gen);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		if (op->kind == OP_NONE || op->kind == OP_CPU_SAMPLE)
			continue;
		cpu_count(a, op->time);
		analysis_step(a, op);
	}
	cpu_count(a, UINT64_MAX);
	a->end = gen->end;
	a->gen = NULL;
	return a->oom ? -ENOMEM : 0;
}

int analysis_end(struct analysis *a)
{
	if (a->options.goes_on)
		instances_end(a);
	states_end(a);
	resources_end(a);
	locks_end(a);
	gc_end(a);
	if (!a->procs)
		a->procs = a->most_procs = a->seen_procs;
	groups_end(a);
	notes_take_host(a);
	findings_make(a);
	return a->oom ? -ENOMEM : 0;
}
