/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A worker of an asynchronous runtime is blocked by a task that it runs, which should have given the worker
 * back: all other tasks of this worker wait.
 */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/intervals.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

enum { MIN_N = 5 };

static const char TASK[] = "tokio::runtime::task::", SCHEDULER[] = "tokio::runtime::scheduler::";

/* Only locks that are held for long are blocking; rules about locks name these. */
static bool is_blocking(const struct row *row)
{
	switch (row->activity) {
	case ACT_SLEEP:
	case ACT_NETWORK:
	case ACT_DISK:
	case ACT_FILE:
	case ACT_PIPE:
	case ACT_CHILD:
		return row->hist.n > 0;
	default:
		return false;
	}
}

bool stack_is_in_task(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack];
	bool polls = false;

	for (uint32_t i = 0; i < info->n; i++) {
		const char *func = name_text(a, a->frames[info->first + i].func);

		if (strstr(func, "BlockingTask<") || strstr(func, "block_in_place"))
			return false;
		if (strncmp(func, TASK, sizeof(TASK) - 1) == 0)
			polls = true;
		if (strncmp(func, SCHEDULER, sizeof(SCHEDULER) - 1) == 0)
			return polls;
	}
	return false;
}

void rule_executor(struct analysis *a)
{
	const struct row *most = NULL;
	struct finding *finding;
	uint64_t n = 0, ns = 0, threads;

	for (size_t i = 1; i < a->nrows && is_of_threads(a); i++) {
		const struct row *row = &a->rows[i];

		if (!is_blocking(row) || !stack_is_in_task(a, row->stack))
			continue;
		n += row->hist.n;
		ns += row->hist.sum;
		if (!most || row->hist.sum > most->hist.sum)
			most = row;
	}
	if (n < MIN_N)
		return;
	threads = a->groups[top_first(most->functions)->key].peak;
	finding = finding_add(a, "executor-blocked",
			      (double)ns / ((double)watched_ns(a) * (threads ? (double)threads : 1)));
	finding_text(
		finding,
		"Tasks block the workers of their runtime (Tokio) for %s, most of all %s in %s: meanwhile "
		"a worker runs no other task.",
		label_time(ns).text, activity_name((enum activity)most->activity),
		label_stack(a, most->stack).text);
	row_evidence(a, finding, most);
	callers_evidence(a, finding, "called by", most->stack);
	finding->total_ns = ns;
	finding_next(finding, "the asynchronous call of the library, or tokio::task::spawn_blocking");
}
