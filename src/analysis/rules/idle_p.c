/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Goroutines are runnable for a millisecond or more although Ps are idle. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"

enum { LEAST = 10 };

static bool has_free_cpus(const struct analysis *a)
{
	const struct analysis_host *host = &a->options.host;

	return host->known && host->machine_busy + host->machine_stolen < 0.6 && !host->throttled;
}

/* Of tasks, each delay is lost. Without tasks, goroutines that were delayed together count once. */
static double lost_ns(const struct analysis *a)
{
	bool together = a->queued_idle_ns < a->idle_delayed_ns && annotated_ns(a, INSTANCE_TASK) <= 0;

	return (double)(together ? a->queued_idle_ns : a->idle_delayed_ns);
}

void rule_idle_p(struct analysis *a)
{
	struct finding *finding;

	if (a->idle_delayed < LEAST)
		return;
	/* On a busy machine the thread that was woken had no CPU: that is not the program's fault. */
	finding = finding_add(a, "idle-p", has_free_cpus(a) ? share_of_tasks(a, lost_ns(a)) / 2 : 0);
	finding_text(
		finding,
		"A goroutine was runnable for 1 ms or more %llu times while a P was idle. The longest was "
		"%s, for %s.",
		(unsigned long long)a->idle_delayed, label_who(a, a->idle_delayed_g).text,
		label_time(a->idle_delayed_max).text);
	finding->n = a->idle_delayed;
	finding->max_ns = a->idle_delayed_max;
	finding->total_ns = a->idle_delayed_ns;
	finding->worst_ns = a->idle_delayed_at - a->begin;
	finding->worst_goid = a->idle_delayed_g;
	finding_next_why(a, finding, a->idle_delayed_g, finding->worst_ns + a->idle_delayed_max / 2);
}
