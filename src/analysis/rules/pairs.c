/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared by the rules about waits. */
#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/order.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"
#include "analysis/words.h"
#include "util/utf8.h"

enum { MIN_SAMPLES = 10 };
#define BUSY 0.9 /* utilisation; tracing itself takes a part of the rest */

const struct pair *pair_heaviest(const struct analysis *a, uint32_t row)
{
	const struct pair *most = row_ended_by(a, row);

	return most ? most : &a->pairs[0];
}

double pair_busy_share(const struct pair *pair)
{
	uint64_t all = activities_ns(pair->meanwhile),
		 idle = pair->meanwhile[ACT_RECEIVE] + pair->meanwhile[ACT_SELECT] +
			pair->meanwhile[ACT_COND] + pair->meanwhile[ACT_SEMAPHORE];

	/* Before it was created, it was not busy. */
	return all ? (double)(all - idle) / (double)(all > pair->ns ? all : pair->ns) : 0;
}

double pair_own_share(const struct pair *pair)
{
	const uint64_t *ns = pair->meanwhile;
	uint64_t all = activities_ns(ns), own = ns[ACT_CODE] + ns[ACT_ASSIST] + ns[ACT_SYSCALL] +
						ns[ACT_LOCK] + ns[ACT_MMAP] + ns[ACT_GIL] + ns[ACT_DISK] +
						ns[ACT_FILE] + ns[ACT_SLEEP];

	return all ? (double)own / (double)all : 0;
}

struct label pair_did(const struct analysis *a, const struct pair *pair)
{
	const struct top *did = top_first(pair->did);
	uint32_t stack = (uint32_t)(did->key >> 8);
	const struct group *waker = &a->groups[top_first(a->rows[pair->row].waker_groups)->key];
	const struct top *sampled = NULL;
	struct label label, place = label_stack(a, stack ? stack : pair->stack);

	/* Where code ran is known from samples, if they are of this goroutine alone. */
	if ((did->key & 0xff) == ACT_CODE && waker->peak == 1)
		sampled = top_first(waker->cpu);
	if (sampled && sampled->weight >= MIN_SAMPLES)
		place = cpu_place(a, (uint32_t)sampled->key);
	/* One that wants a CPU does so anywhere. */
	if ((did->key & 0xff) == ACT_RUNNABLE && !stack) {
		snprintf(label.text, sizeof(label.text), "%s", activity_name(ACT_RUNNABLE));
		return label;
	}
	snprintf(label.text, sizeof(label.text), "%.20s in %.*s",
		 activity_name((enum activity)(did->key & 0xff)), text_fit(place.text, 120), place.text);
	return label;
}

void short_of_cpu_evidence(const struct analysis *a, struct finding *finding,
			   const uint64_t meanwhile[ACT_COUNT])
{
	uint64_t all = activities_ns(meanwhile), cpu = meanwhile[ACT_CODE] + meanwhile[ACT_RUNNABLE] +
						       meanwhile[ACT_ASSIST] + meanwhile[ACT_GC];

	if (cpu * 2 < all || utilisation(a) < BUSY)
		return;
	finding_at_most(finding, LEVEL_INFO);
	finding_evidence(finding,
			 "they mostly compute, and the %ss are %.0f %% busy: more of them would not help",
			 words_of(a)->place, 100 * utilisation(a));
}

uint32_t did_wait(const struct top did[TOPS], const uint64_t meanwhile[ACT_COUNT])
{
	const struct top *most = top_first(did);
	unsigned activity = (unsigned)(most->key & 0xff);
	uint64_t all = activities_ns(meanwhile);

	if (!activity_is_for_others(activity) || most->weight * 2 < all)
		return 0;
	return (uint32_t)(most->key >> 8);
}

void row_evidence(const struct analysis *a, struct finding *finding, const struct row *row)
{
	const struct histogram *waits = row_waits(row);

	finding_of_row(a, finding, row);
	if (!waits->n) {
		finding_evidence(finding, "%llu %s there, the longest for %s, and none has ended",
				 (unsigned long long)row->cut_n, row->cut_n == 1 ? "waits" : "wait",
				 label_time(row->cut_max).text);
		return;
	}
	finding_evidence(finding, "n %llu%s, total %s, p50 %s, p99 %s, max %s at %s (%s)",
			 (unsigned long long)waits->n, row->answers.n ? " (answers)" : "",
			 label_time(waits->sum).text, label_time(finding->p50_ns).text,
			 label_time(finding->p99_ns).text, label_time(waits->max).text,
			 label_time(finding->worst_ns).text, label_who(a, row->max_g).text);
	finding_next_why(a, finding, row->max_g, finding->worst_ns + row->hist.max / 2);
}

void callers_evidence(const struct analysis *a, struct finding *finding, const char *called, uint32_t stack)
{
	enum { CALLERS = 3 };
	uint32_t frame = a->stacks[stack].site;
	char text[240] = "";
	size_t n = 0;

	for (unsigned i = 0; i < CALLERS && n < sizeof(text); i++) {
		frame = stack_own_caller(a, stack, frame);
		if (frame >= a->stacks[stack].n)
			break;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? ", by " : "",
				      label_place(a, &a->frames[a->stacks[stack].first + frame]).text);
	}
	if (n)
		finding_evidence(finding, "%s %s", called, text);
}
