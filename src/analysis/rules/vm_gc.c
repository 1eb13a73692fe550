/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Threads wait for the collector of their virtual machine: to stop the world, or for memory that it is to
 * free. That Java's threads wait for it is known by the functions of HotSpot on their stacks (kinds.c).
 */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

enum { MIN_N = 5 };

/* The CPU time of the collector's own threads, by their names: "GC Thread#0", "G1 Conc#0". */
static uint64_t collector_ns(const struct analysis *a)
{
	uint64_t ns = 0;

	for (size_t i = 1; i < a->ngroups; i++) {
		const char *func = name_text(a, a->groups[i].func);

		if (strstr(func, "[GC Thread") || strstr(func, "[G1 ") || strstr(func, "[VM Thread"))
			ns += a->groups[i].spent[ACT_CODE] + a->groups[i].spent[ACT_SYSCALL];
	}
	return ns;
}

/* Whether another row says more of why there is a collection: one of a thread that allocates. */
static bool says_more(const struct analysis *a, const struct row *row, const struct row *most)
{
	bool allocates = stack_calls(a, row->stack, "MemAllocator::allocate() const"),
	     already = most && stack_calls(a, most->stack, "MemAllocator::allocate() const");

	return !most || (allocates && !already) || (allocates == already && row->hist.sum > most->hist.sum);
}

void rule_vm_gc(struct analysis *a)
{
	const struct row *most = NULL;
	uint64_t n = 0, ns = 0, own = collector_ns(a);
	struct finding *finding;

	for (size_t i = 1; i < a->nrows && is_of_threads(a); i++) {
		const struct row *row = &a->rows[i];

		if (row->activity != ACT_GC || !row->hist.n)
			continue;
		n += row->hist.n;
		ns += row->hist.sum;
		if (says_more(a, row, most))
			most = row;
	}
	if (n < MIN_N || !own)
		return;
	finding = finding_add(a, "vm-gc", share_of_tasks(a, (double)own));
	finding_text(finding, "The collector takes %s of CPU time, and threads waited %s for it, as in %s.",
		     label_time(own).text, label_time(ns).text, label_stack(a, most->stack).text);
	/* All programs of such a machine have a collector that works. */
	if ((double)own < 0.2 * user_running_ns(a))
		finding_at_most(finding, LEVEL_INFO);
	row_evidence(a, finding, most);
	finding->total_ns = ns;
	finding_next(finding, "jstat -gcutil %s 1s; fewer allocations, or a larger heap (-Xmx)",
		     label_pid(a).text);
}
