/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The program itself stops the world again and again: runtime.ReadMemStats, a profile of all goroutines. */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"

enum { LEAST = 20, LEAST_RATE = 10 };

#define LEAST_SHARE 0.01

void rule_stw_often(struct analysis *a)
{
	const struct gc_figures *gc = &a->gc;
	const struct top *most = top_first(gc->asked_by);
	double seconds = (double)watched_ns(a) / 1e9, share = (double)top_sure(most) / (seconds * 1e9 + 1);
	uint32_t stack = (uint32_t)(most->key >> 32);
	struct finding *finding;

	if (most->n < LEAST || (double)most->n < LEAST_RATE * seconds || share < LEAST_SHARE || !stack)
		return;
	finding = finding_add(a, "stw-often", share);
	finding_text(finding, "%s stops the world %.0f times a second (%s): %s in all, %.0f %% of the time.",
		     label_stack(a, stack).text, (double)most->n / seconds, name_text(a, (uint32_t)most->key),
		     label_time(top_sure(most)).text, 100 * share);
	finding->n = gc->asked.n;
	finding->total_ns = gc->asked.sum;
	finding->p50_ns = histogram_quantile(&gc->asked, 0.5);
	finding->p99_ns = histogram_quantile(&gc->asked, 0.99);
	finding->max_ns = gc->asked.max;
	finding->worst_ns = gc->asked_max_at - a->begin;
	finding->stack = stack;
	finding_evidence(finding, "all that the program asked for: n %llu, p50 %s, p99 %s, max %s at %s",
			 (unsigned long long)gc->asked.n, label_time(finding->p50_ns).text,
			 label_time(finding->p99_ns).text, label_time(gc->asked.max).text,
			 label_time(finding->worst_ns).text);
	if (strstr(name_text(a, (uint32_t)most->key), "read mem stats"))
		finding_evidence(finding,
				 "runtime/metrics reads most of what ReadMemStats does, without a stop");
	finding_next(finding, "gotrace report %s --all", a->options.file);
}
