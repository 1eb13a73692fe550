/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Many senders wait for one busy goroutine that receives from their channel. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"
#include "analysis/words.h"

bool row_is_pipe_write(const struct analysis *a, const struct row *row)
{
	return row->activity == ACT_PIPE && io_call_writes(a->stacks[row->stack].io_call);
}

/*
 * Whether several consumers, of one function, sleep while others wait to send to them: a pause after an
 * error, or a rate that is too low. Those that do something else are a pool (pool_small.c), and who waits for
 * one of its own kind waits for a semaphore.
 */
static bool consumers_sleep(const struct analysis *a, const struct row *row, const struct pair *pair)
{
	const struct top *group = top_first(row->waker_groups), *did = top_first(pair->did);
	uint64_t all = activities_ns(pair->meanwhile);

	return group->key < a->ngroups && group->key != top_first(row->functions)->key &&
	       a->groups[group->key].peak > 1 && (double)group->weight >= 0.8 * (double)row->hist.sum &&
	       (did->key & 0xff) == ACT_SLEEP && did->weight * 2 >= all;
}

/* If the one that all wait for mostly waits itself, and for one alone: names that one. */
static void next_waker_evidence(const struct analysis *a, struct finding *finding, const struct pair *pair)
{
	const struct top *did = top_first(pair->did);
	const uint32_t *index = map64_get(&a->row_of, did->key);
	const struct row *row = index ? &a->rows[*index] : NULL;
	const struct top *waker = row ? top_first(row->wakers) : NULL;

	if (row && activity_is_for_others(row->activity) && waker->n && row->hist.n >= 5 &&
	    top_sure(waker) * 10 >= row->hist.sum * 8)
		finding_evidence(finding, "of its own waits there, %.0f %% are for %s in %s",
				 100 * (double)top_sure(waker) / (double)row->hist.sum,
				 label_id(a, waker->key).text,
				 label_function(a, a->groups[top_first(row->waker_groups)->key].func).text);
}

/*
 * It waits, too, but for something else, as senders wait: most often for a timer. A limit is made this way,
 * and a batch that is not sent although it is full.
 */
static void receiver_waits(struct analysis *a, const struct row *row, const struct pair *pair, double impact)
{
	uint32_t stack = (uint32_t)(top_first(pair->did)->key >> 8);
	unsigned activity = (unsigned)(top_first(pair->did)->key & 0xff);
	const uint32_t *index = map64_get(&a->row_of, (uint64_t)stack << 8 | activity);
	const struct row *own = index ? &a->rows[*index] : NULL;
	struct finding *finding;

	if (row->activity != ACT_SEND || is_of_threads(a) || !own || !stack ||
	    (activity != ACT_SELECT && activity != ACT_RECEIVE) ||
	    pair->meanwhile[activity] * 2 < row->hist.sum)
		return;
	finding = finding_add(a, "slow-consumer", impact);
	/* A limit may be meant. */
	finding_at_most(finding, LEVEL_MEDIUM);
	finding_text(finding,
		     "%s waited %s to send to one %s, %s in %s, which waits meanwhile, too: %s in %s.",
		     label_stack(a, row->stack).text, label_time(row->hist.sum).text, words_of(a)->one,
		     label_id(a, top_first(row->wakers)->key).text, label_stack(a, pair->stack).text,
		     activity_name((enum activity)activity), label_stack(a, stack).text);
	row_evidence(a, finding, row);
	finding->waker_stack = pair->stack;
	if (own->no_waker * 2 >= own->hist.n)
		finding_evidence(finding, "timers end %llu of its %llu waits there",
				 (unsigned long long)own->no_waker, (unsigned long long)own->hist.n);
}

static bool waits_for_others(const struct pair *pair)
{
	return activity_is_for_others((unsigned)(top_first(pair->did)->key & 0xff));
}

static void slow_consumer_look_at(struct analysis *a, uint32_t index)
{
	const struct row *row = &a->rows[index];
	const struct top *waker = top_first(row->wakers);
	const struct pair *pair = pair_heaviest(a, index);
	double impact = share_of_tasks(a, (double)row->hist.sum);
	unsigned did = (unsigned)(top_first(pair->did)->key & 0xff);
	bool one = (double)top_sure(waker) >= 0.8 * (double)row->hist.sum;
	struct finding *finding;

	/* It is not known to be busy: the runtime's goroutine for finalizers waits for a collection. */
	if (did == ACT_OTHER && !is_of_threads(a))
		return;
	if ((row->activity != ACT_SEND && !row_is_pipe_write(a, row)) || impact < 0.05 || row->hist.n < 5 ||
	    (!one && !consumers_sleep(a, row, pair)))
		return;
	if (pair_busy_share(pair) < 0.8) {
		if (one)
			receiver_waits(a, row, pair, impact);
		return;
	}
	finding = finding_add(a, "slow-consumer", impact);
	if (one)
		finding_text(finding, "%s waited %s to send to one %s, %s in %s; meanwhile mostly %s.",
			     label_stack(a, row->stack).text, label_time(row->hist.sum).text,
			     words_of(a)->one, label_id(a, waker->key).text, label_stack(a, pair->stack).text,
			     pair_did(a, pair).text);
	else
		finding_text(finding, "%s waited %s to send to %llu %s in %s; meanwhile mostly %s.",
			     label_stack(a, row->stack).text, label_time(row->hist.sum).text,
			     (unsigned long long)a->groups[top_first(row->waker_groups)->key].peak,
			     words_of(a)->many, label_stack(a, pair->stack).text, pair_did(a, pair).text);
	if (did == ACT_RUNNABLE || (did == ACT_CODE && runs_without_cpu(a)))
		finding->held_up = WAITED_FOR_CPU;
	else if (did != ACT_CODE)
		finding->held_up = WAITED_FOR_OTHERS;
	/* Where the program uses most of its CPUs, one that waits for a limit, or for those that compute, is
	 * not slow. */
	if (waits_for_others(pair) && utilisation(a) >= 0.7)
		finding_at_most(finding, LEVEL_INFO);
	finding_of_row(a, finding, row);
	finding->waker_stack = pair->stack;
	finding->next_stack = did_wait(pair->did, pair->meanwhile);
	finding_evidence(finding, "n %llu, p50 %s, p99 %s, max %s; the receiver%s %.0f %% busy meanwhile",
			 (unsigned long long)row->hist.n, label_time(finding->p50_ns).text,
			 label_time(finding->p99_ns).text, label_time(row->hist.max).text,
			 one ? " is" : "s are", 100 * pair_busy_share(pair));
	if (one)
		next_waker_evidence(a, finding, pair);
	short_of_cpu_evidence(a, finding, pair->meanwhile);
	finding_next_why(a, finding, row->max_g, finding->worst_ns + row->hist.max / 2);
}

void rule_slow_consumer(struct analysis *a)
{
	for (size_t i = 1; i < a->nrows; i++)
		slow_consumer_look_at(a, (uint32_t)i);
}
