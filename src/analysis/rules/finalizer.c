/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One goroutine runs all finalizers, and waits in one: the others' objects stay. Cleanups have several. */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "code/symbol/library.h"

/* src/runtime/mfinal.go; the first is the name before Go 1.25. */
static bool is_run_as_finalizer(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack];

	for (uint32_t i = info->site + 1; i < info->n; i++) {
		const char *func = name_text(a, a->frames[info->first + i].func);

		if (strcmp(func, "runtime.runfinq") == 0 || strcmp(func, "runtime.runFinalizers") == 0)
			return !library_is_system(name_text(a, stack_site(a, stack)->func));
	}
	return false;
}

/* Those that wait for what a finalizer gives back. */
static void add_waiters(struct analysis *a, struct finding *finding)
{
	const struct row *most = NULL;
	uint64_t ns = 0;
	double impact;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		const struct pair *pair = row->activity > ACT_SYSCALL ? pair_heaviest(a, (uint32_t)i) : NULL;

		if (!pair || !pair->stack || !is_run_as_finalizer(a, pair->stack))
			continue;
		ns += pair->ns;
		if (!most || row->hist.sum > most->hist.sum)
			most = row;
	}
	impact = share_of_tasks(a, (double)ns);
	if (impact <= finding->impact)
		return;
	finding_weigh(finding, impact);
	finding_evidence(finding, "%s waited %s for what finalizers give back",
			 label_stack(a, most->stack).text, label_time(ns).text);
	finding->waker_stack = most->stack;
}

void rule_finalizer(struct analysis *a)
{
	const struct row *most = NULL;
	uint64_t ns = 0;
	struct finding *finding;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (row->activity < ACT_SYSCALL || !is_run_as_finalizer(a, row->stack))
			continue;
		ns += row->hist.sum + row->cut_ns;
		if (!most || row->hist.sum + row->cut_ns > most->hist.sum + most->cut_ns)
			most = row;
	}
	if (!most || ns * 2 < watched_ns(a))
		return;
	finding = finding_add(a, "finalizer", 0.1);
	finding_text(finding,
		     "The goroutine of all finalizers spends %.0f %% of the time waiting in one: %s in %s.",
		     100 * (double)ns / (double)watched_ns(a), activity_name((enum activity)most->activity),
		     label_stack(a, most->stack).text);
	row_evidence(a, finding, most);
	finding->total_ns = ns;
	add_waiters(a, finding);
	finding_evidence(finding, "memory and descriptors of the objects behind it are not released");
}
