/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The program touches memory that it does not have yet so often that the kernel is busy with that: it gives
 * memory back, and takes it again.
 */
#include <math.h>

#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

/* What a page fault costs, with the page that the kernel clears: on bare metal, and on a virtual machine. */
#define LEAST_FAULT_NS 500
#define MOST_FAULT_NS  2500

void rule_page_faults(struct analysis *a)
{
	const struct host_log *host = &a->host_log;
	const struct kernel_log *log = &a->kernel_log;
	double cost = fmin((double)log->faults * MOST_FAULT_NS, (double)log->kernel_ns), seconds;
	struct finding *finding;
	uint32_t most = 0;

	if (!host->used_ns || !host->length_ns ||
	    (double)log->faults * LEAST_FAULT_NS < 0.15 * (double)host->used_ns)
		return;
	seconds = (double)host->length_ns / 1e9;
	finding = finding_add(a, "page-faults", cost / (double)host->length_ns / fmax(host->cpus, 1));
	/* A program that starts, or reads a file by its map, has them, too. */
	finding_at_most(finding, LEVEL_MEDIUM);
	finding_text(finding,
		     "The program causes %.0f page faults a second. The kernel takes %.0f %% of its CPU "
		     "time: %s of "
		     "%s.",
		     (double)log->faults / seconds, 100 * (double)log->kernel_ns / (double)host->used_ns,
		     label_time(log->kernel_ns).text, label_time(host->used_ns).text);
	finding->n = log->faults;
	for (uint32_t i = 1; i < a->cpu.nrows; i++) {
		if (!most || a->cpu.rows[i].self > a->cpu.rows[most].self)
			most = i;
	}
	if (most)
		finding_evidence(finding, "of the CPU samples, %.0f %% are in %s",
				 100 * (double)a->cpu.rows[most].self / (double)cpu_counted(a),
				 cpu_place(a, most).text);
	finding_evidence(finding,
			 "memory that is given back (free, madvise, munmap) and taken again is cleared "
			 "each time; a file that is mapped is read by them");
	finding_next(finding, "perf record -e page-faults -g -p %s", label_pid(a).text);
}
