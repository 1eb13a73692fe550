/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Threads wait for the memory map of their process, which mmap, munmap, mprotect and madvise keep locked. */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

void rule_mmap_lock(struct analysis *a)
{
	const struct resource *res = &a->resources[a->mmap_lock];
	struct label waiter, holder;
	struct finding *finding;
	double impact;

	if (!lock_is_contended(a, res, &impact))
		return;
	finding = finding_add(a, "mmap-lock", impact);
	waiter = lock_waiter(a, res);
	holder = lock_holder(a, res);
	if (strcmp(waiter.text, holder.text) == 0)
		finding_text(
			finding,
			"Threads waited %s for each other in %s: only one at a time can change their memory "
			"map (mmap_lock).",
			label_time(res->waits.sum).text, waiter.text);
	else
		finding_text(finding,
			     "Threads waited %s in %s for the kernel's lock on their memory map (mmap_lock), "
			     "which %s holds.",
			     label_time(res->waits.sum).text, waiter.text, holder.text);
	lock_evidence(a, finding, res);
}
