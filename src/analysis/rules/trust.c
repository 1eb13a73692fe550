/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What was lost or not watched, and what the tracing itself cost. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"

/* One event in this many that was repaired or lost, and less than so many that were repaired, say nothing
 * about the program or the figures; the summary has their number. */
enum { FEW = 200, LEAST_REPAIRED = 10 };

/* By the kernel's count, if it is there: a goroutine that has a P may have no CPU. */
static double ran_ns(const struct analysis *a)
{
	double busy = busy_ns(a), cpu = (double)a->options.host.cpu_ns;

	return cpu > 0 && cpu < busy ? cpu : busy;
}

static double traced_share(const struct analysis *a)
{
	double running = ran_ns(a);

	return running > 0 ? (double)a->options.host.tracing_ns / running : 0;
}

static void rule_unwatched(struct analysis *a)
{
	uint64_t all = watched_ns(a) + a->unwatched_ns;
	double share = all ? (double)a->unwatched_ns / (double)all : 0;
	struct finding *finding;

	if (share < 0.1)
		return;
	/* What the limit leaves out is what the user asked for. */
	if ((a->unwatched_ns - a->over_limit_ns) * 10 < all)
		share = 0;
	finding = finding_add(a, "trust", share);
	finding->part = "not watched";
	finding_text(finding, "%s of %s were not watched: the figures below cover the rest.",
		     label_time(a->unwatched_ns).text, label_time(all).text);
	finding_next(finding, "gotrace -p %s %s", label_pid(a).text, words_of(a)->cheaper);
}

static void rule_cost(struct analysis *a)
{
	double share = traced_share(a), of_ps = (double)a->options.host.tracing_ns / p_time(a);
	struct finding *finding;

	if (share < 0.1 || a->options.host.tracing_ns < 1000000)
		return;
	/* If half of the measured time is tracing, do not trust shares, unless the program hardly runs. */
	finding = finding_add(a, "trust", share >= 0.5 && of_ps >= 0.05 ? 0.05 : 0);
	finding->part = "cost";
	finding_text(finding,
		     "Tracing took %s, %.0f %% of the %s that the program ran: short times look longer.",
		     label_time(a->options.host.tracing_ns).text, 100 * share,
		     label_time((uint64_t)ran_ns(a)).text);
	finding_next(finding, "gotrace -p %s %s", label_pid(a).text, words_of(a)->cheaper);
}

static void rule_repaired(struct analysis *a)
{
	uint64_t all = watched_ns(a) + a->unwatched_ns;
	struct finding *finding;

	if (a->repaired * FEW < a->ops || a->repaired < LEAST_REPAIRED)
		return;
	/* A handful in a short trace is no share, and a gap hides how each thread came to be where it is
	 * found: long gaps, or many, explain the repairs. */
	finding = finding_add(a, "trust",
			      a->repaired < 100 || a->unwatched_ns * 10 > all
				      ? 0
				      : (double)a->repaired / ((double)a->ops + 1));
	finding->part = "repaired";
	finding_text(finding,
		     "%llu of %llu events were repaired: they were not seen, but later ones imply them.",
		     (unsigned long long)a->repaired, (unsigned long long)a->ops);
}

void rule_trust(struct analysis *a)
{
	struct finding *finding;

	rule_unwatched(a);
	rule_cost(a);
	rule_repaired(a);
	if (!a->lost)
		return;
	finding = finding_add(a, "trust", a->lost * FEW < a->ops ? 0 : 0.05);
	finding->part = "lost";
	finding_text(finding, "%llu records were lost: counts are too small.", (unsigned long long)a->lost);
	finding_next(finding, "gotrace -p %s --ring-size 64M", label_pid(a).text);
}
