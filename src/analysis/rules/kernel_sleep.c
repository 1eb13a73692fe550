/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Goroutines keep their Ps while the kernel lets their threads sleep: in fork, for a page, or in a call that
 * the runtime does not know of.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"

void rule_kernel_sleep(struct analysis *a)
{
	double slept = (double)a->slept_ns, on = (double)(a->used_ns[P_CODE] + a->used_ns[P_GC]);
	const struct top *most = top_first(a->slept_groups);
	struct finding *finding;

	if (slept < 0.05 * p_time(a) || slept < 0.2 * on)
		return;
	finding = finding_add(a, "kernel-sleep", slept / p_time(a));
	finding_at_most(finding, LEVEL_INFO);
	finding->total_ns = a->slept_ns;
	if (a->stopped_ns * 2 > a->slept_ns) {
		finding_text(finding,
			     "Goroutines kept a P for at least %s while their threads were stopped, by a "
			     "signal (SIGSTOP) or a debugger.",
			     label_time(a->stopped_ns).text);
		return;
	}
	finding_text(finding,
		     "Goroutines kept a P for at least %s while their threads slept in the kernel, as in "
		     "fork or for a page: %.0f %% of it in %s.",
		     label_time(a->slept_ns).text, 100 * (double)top_sure(most) / slept,
		     label_function(a, a->groups[most->key < a->ngroups ? most->key : 0].func).text);
	finding_next(finding, "gotrace -p %s --as c", label_pid(a).text);
}
