/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Most of the tasks' time is one state at one place. A healthy server spends it waiting for its back ends,
 * too, so it is no more than information.
 */
#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/instances.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"

enum { MIN_N = 10, MIN_SAMPLES = 20, MOST = 3, MANY_TIMES = 5 };

/* Returns false if the place of running time is not known. */
static bool name_place(const struct analysis *a, const struct instances *all, struct label *place)
{
	const struct top *most = top_first(all->where);
	uint32_t stack = (uint32_t)(most->key >> 8), row = cpu_first(all->cpu);

	if ((most->key & 0xff) == ACT_RUNNABLE)
		return false;
	if ((most->key & 0xff) == ACT_CODE) {
		*place = cpu_place(a, row);
		return row && all->samples >= MIN_SAMPLES && top_first(all->cpu)->weight * 2 >= all->samples;
	}
	*place = label_stack(a, stack);
	return stack != 0;
}

/* "", or how often a task waits there: queries that are made one by one each take little. */
static struct label times_each(const struct instances *all, const struct top *most)
{
	unsigned activity = (unsigned)(most->key & 0xff);
	double times = (double)most->n / (double)all->hist.n;
	struct label label = {""};

	if (activity_is_wait(activity) && times >= MANY_TIMES)
		snprintf(label.text, sizeof(label.text), ", about %.0f times in each", times);
	return label;
}

/* Returns the tasks that make up most of these, many in each; NULL if there are none. */
static const struct instances *repeated_in(const struct analysis *a, const struct instances *all)
{
	for (size_t i = 1; i < a->ninstances; i++) {
		const struct instances *one = &a->instances[i];
		const struct top *outer = top_first(one->outer);

		if (one->kind == INSTANCE_TASK && outer->n && outer->key == all->name &&
		    outer->n >= MANY_TIMES * all->hist.n && top_sure(outer) * 2 >= all->hist.sum)
			return one;
	}
	return NULL;
}

/* A query for each row of another one's answer. */
static void describe_repeated(struct analysis *a, const struct instances *all, const struct instances *one)
{
	const struct top *outer = top_first(one->outer);
	double ns = (double)top_sure(outer), of = (double)all->hist.sum;
	struct finding *finding = finding_add(a, "task-place", share_of_tasks(a, ns));

	finding_at_most(finding, LEVEL_INFO);
	finding_text(finding, "Task %s spends %.0f %% of its time in %.0f tasks %s, one after the other.",
		     label_function(a, all->name).text, ns > of ? 100 : 100 * ns / of,
		     (double)outer->n / (double)all->hist.n, label_function(a, one->name).text);
	finding->n = all->hist.n;
	finding->total_ns = top_sure(outer);
	finding->p50_ns = histogram_quantile(&all->hist, 0.5);
	finding->p99_ns = histogram_quantile(&all->hist, 0.99);
	finding->max_ns = all->hist.max;
	finding->worst_ns = all->slowest[0].begin - a->begin;
	finding->worst_goid = all->slowest[0].goid;
	finding->stack = (uint32_t)(top_first(one->where)->key >> 8);
	finding_evidence(finding, "n %llu, p50 %s, p99 %s; each of %llu within takes %s (p50), in %s",
			 (unsigned long long)all->hist.n, label_time(finding->p50_ns).text,
			 label_time(finding->p99_ns).text, (unsigned long long)outer->n,
			 label_time(histogram_quantile(&one->hist, 0.5)).text,
			 label_stack(a, finding->stack).text);
	known_wait_evidence(a, finding, (unsigned)(top_first(one->where)->key & 0xff));
	instances_suggest_why(a, finding, all);
}

static void task_place_look_at(struct analysis *a, const struct instances *all)
{
	const struct top *most = top_first(all->where);
	unsigned activity = (unsigned)(most->key & 0xff);
	double ns = (double)top_sure(most), of = (double)activities_watched_ns(all->spent);
	struct finding *finding;
	struct label place;
	uint64_t slow = 0, slow_there = 0;
	const struct instances *repeated = repeated_in(a, all);

	if (repeated && all->hist.n >= MIN_N) {
		describe_repeated(a, all, repeated);
		return;
	}
	if (all->hist.n < MIN_N || of <= 0 || ns < 0.5 * of || !name_place(a, all, &place))
		return;
	finding = finding_add(a, "task-place", share_of_tasks(a, ns));
	finding_at_most(finding, LEVEL_INFO);
	finding_text(finding, "Task %s spends %.0f %% of its time in %s: %s%s.",
		     label_function(a, all->name).text, ns > of ? 100 : 100 * ns / of, place.text,
		     activity_name((enum activity)activity), times_each(all, most).text);
	finding->n = all->hist.n;
	finding->total_ns = top_sure(most);
	finding->p50_ns = histogram_quantile(&all->hist, 0.5);
	finding->p99_ns = histogram_quantile(&all->hist, 0.99);
	finding->max_ns = all->hist.max;
	finding->worst_ns = all->slowest[0].begin - a->begin;
	finding->worst_goid = all->slowest[0].goid;
	finding->stack = activity == ACT_CODE
				 ? (uint32_t)top_first(a->cpu.rows[cpu_first(all->cpu)].stacks)->key
				 : (uint32_t)(most->key >> 8);
	for (unsigned i = 0; i < all->nslowest; i++) {
		slow += all->slowest[i].ns / all->nslowest;
		slow_there += all->slowest[i].spent[activity] / all->nslowest;
	}
	finding_evidence(finding, "n %llu, total %s, p50 %s, p99 %s; of the slowest %u (%s each), %s is %s",
			 (unsigned long long)all->hist.n, label_time(all->hist.sum).text,
			 label_time(finding->p50_ns).text, label_time(finding->p99_ns).text, all->nslowest,
			 label_time(slow).text, label_time(slow_there).text,
			 activity_name((enum activity)activity));
	known_wait_evidence(a, finding, activity);
	instances_suggest_why(a, finding, all);
}

/* A server may have a task for each of its paths: only the tasks that took longest are named. */
void rule_task_place(struct analysis *a)
{
	uint64_t before = UINT64_MAX;

	for (unsigned rank = 0; rank < MOST; rank++) {
		const struct instances *most = NULL;

		for (size_t i = 1; i < a->ninstances; i++) {
			const struct instances *all = &a->instances[i];

			if (all->kind == INSTANCE_TASK && all->hist.sum < before &&
			    (!most || all->hist.sum > most->hist.sum))
				most = all;
		}
		if (!most)
			return;
		before = most->hist.sum;
		task_place_look_at(a, most);
	}
}
