/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A goroutine keeps its P far longer than a time slice while others wait. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"

/* Only the process's CPU time shows whether the thread had a CPU all the time. */
static double hog_weigh(const struct analysis *a, const struct group *group)
{
	double share = (double)group->long_slices_ns / p_time(a);
	double off = 1 - (double)a->options.host.cpu_ns / (double)(a->used_ns[P_CODE] + a->used_ns[P_GC] + 1);

	if (group->long_slices < 3 || (a->options.host.cpu_ns && off > 0.3))
		return 0;
	return a->options.host.cpu_ns || share < 0.1 ? share : 0.1;
}

void rule_hog(struct analysis *a)
{
	for (size_t i = 1; i < a->ngroups; i++) {
		const struct group *group = &a->groups[i];
		struct finding *finding;

		/* Nearly every slice of a loop that cannot be preempted is long. In other code a slice is
		 * long now and then, when its thread lost its CPU. */
		if (group->system || !group->long_slices ||
		    group->long_slices_ns * 2 < group->spent[ACT_CODE] + group->spent[ACT_ASSIST])
			continue;
		finding = finding_add(a, "hog", hog_weigh(a, group));
		finding_text(finding,
			     "%s in %s ran for %s without a break while %u goroutine%s waited for a P.",
			     label_who(a, group->longest_slice_g).text, label_function(a, group->func).text,
			     label_time(group->longest_slice).text, group->longest_slice_delayed,
			     group->longest_slice_delayed == 1 ? "" : "s");
		finding->n = group->long_slices;
		finding->total_ns = group->long_slices_ns;
		finding->max_ns = group->longest_slice;
		finding->worst_ns = group->longest_slice_at - a->begin;
		finding->worst_goid = group->longest_slice_g;
		finding->stack = group->longest_slice_stack;
		finding_evidence(finding, "%llu slices of 30 ms and more, %s in all; ended at %s",
				 (unsigned long long)group->long_slices,
				 label_time(group->long_slices_ns).text,
				 label_stack(a, group->longest_slice_stack).text);
		finding_next_why(a, finding, group->longest_slice_g,
				 finding->worst_ns + group->longest_slice / 2);
	}
}
