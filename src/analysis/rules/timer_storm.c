/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Timers wake goroutines that have next to nothing to do. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"

static const struct group *timer_storm_heaviest(const struct analysis *a)
{
	const struct group *most = &a->groups[0];

	for (size_t i = 1; i < a->ngroups; i++) {
		if (a->groups[i].timer_short_runs > most->timer_short_runs)
			most = &a->groups[i];
	}
	return most;
}

void rule_timer_storm(struct analysis *a)
{
	double rate = (double)a->timer_short_runs / ((double)watched_ns(a) / 1e9);
	const struct group *most;
	struct finding *finding;

	if (rate < 10000)
		return;
	finding = finding_add(a, "timer-storm", rate * 3000 / 1e9 / (a->procs ? a->procs : 1));
	most = timer_storm_heaviest(a);
	finding_text(
		finding,
		"Timers wake %s %.0f times a second, and each runs for less than 10 us. %.0f %% of these "
		"wake-ups are of %s.",
		words_of(a)->many, rate, 100 * (double)most->timer_short_runs / (double)a->timer_short_runs,
		label_function(a, most->func).text);
	finding->n = a->timer_short_runs;
	finding_next(finding, "gotrace report %s --all", a->options.file);
}
