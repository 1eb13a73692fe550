/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Threads are started again and again, and do little each. Servers that have a thread for each connection are
 * made so, so it is information.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

enum { LEAST = 50, LEAST_RATE = 20 };

#define SHORT_LIFE_NS 50000000ull

/* Threads that one place starts may have several names, by what was seen of them first. */
struct births {
	const struct group *most;
	uint64_t created, ended;
};

static struct births thread_churn_gather(const struct analysis *a)
{
	struct births all = {&a->groups[0], 0, 0};

	for (size_t i = 1; i < a->ngroups; i++) {
		if (a->groups[i].creator && a->groups[i].created > all.most->created)
			all.most = &a->groups[i];
	}
	for (size_t i = 1; i < a->ngroups; i++) {
		if (!all.most->creator || a->groups[i].creator != all.most->creator)
			continue;
		all.created += a->groups[i].created;
		all.ended += a->groups[i].ended;
	}
	return all;
}

/* How long the place that starts them has waited for them, one after the other; 0: it has not. */
static uint64_t joined_ns(const struct analysis *a, const struct births *all, uint64_t life)
{
	uint64_t n = 0, ns = 0;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (row->activity != ACT_JOIN || !stacks_share_site(a, row->stack, all->most->creator))
			continue;
		n += row->hist.n;
		ns += row->hist.sum;
	}
	return n * 10 >= all->created * 8 && ns * 10 >= n * life * 8 ? ns : 0;
}

void rule_thread_churn(struct analysis *a)
{
	struct births all = thread_churn_gather(a);
	double seconds = (double)watched_ns(a) / 1e9;
	uint64_t life = histogram_quantile(&all.most->lifetimes, 0.5), joined;
	struct finding *finding;

	if (!is_of_threads(a) || all.created < LEAST || (double)all.created < LEAST_RATE * seconds ||
	    all.ended * 10 < all.created * 9 || life > SHORT_LIFE_NS)
		return;
	finding = finding_add(a, "thread-churn", 0);
	finding_text(finding, "%s starts %.0f threads a second (%llu in all), which live for %s (p50).",
		     label_stack(a, all.most->creator).text, (double)all.created / seconds,
		     (unsigned long long)all.created, label_time(life).text);
	finding->n = all.created;
	finding->p50_ns = life;
	finding->p99_ns = histogram_quantile(&all.most->lifetimes, 0.99);
	finding->max_ns = all.most->lifetimes.max;
	finding->stack = all.most->creator;
	joined = joined_ns(a, &all, life);
	finding_evidence(finding, "p99 %s, max %s%s", label_time(finding->p99_ns).text,
			 label_time(finding->max_ns).text,
			 joined ? "" : "; a pool of threads would start them once");
	if (joined)
		finding_evidence(finding,
				 "it waits for each before it goes on, %s in all: the threads save nothing",
				 label_time(joined).text);
	finding_next(finding, "gotrace report %s --all", a->options.file);
}
