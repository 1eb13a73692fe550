/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The threads of libuv's pool. */
#include "analysis/rules/pools.h"

#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"

static bool has_uv_loop(const struct analysis *a)
{
	for (size_t i = 1; i < a->nrows; i++) {
		if (stack_calls(a, a->rows[i].stack, "uv__io_poll") ||
		    stack_calls(a, a->rows[i].stack, "uv_run"))
			return true;
	}
	return false;
}

/* Its threads run worker() of src/threadpool.c, of which a stripped library says no name. */
static bool is_uv_worker(const struct analysis *a, const struct group *group)
{
	const char *func = name_text(a, group->func);

	if (strncmp(func, "libuv.so", strlen("libuv.so")) == 0)
		return true;
	return strncmp(func, "worker", 6) == 0 && (!func[6] || func[6] == ' ') && has_uv_loop(a);
}

/* The heaviest wait of the group's that is not for work: also one that began before the trace, and hangs. */
static const struct row *heaviest_wait(const struct analysis *a, size_t group)
{
	const struct row *most = NULL;
	uint64_t longest = 0;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		bool blocked = activity_is_blocked(row->activity) ||
			       (row->activity == ACT_OTHER && a->stacks[row->stack].io_call);

		if (row->activity == ACT_COND || !blocked || top_first(row->functions)->key != group ||
		    row->hist.sum + row->cut_ns <= longest)
			continue;
		most = row;
		longest = row->hist.sum + row->cut_ns;
	}
	return most;
}

/* From then on something is nearly always queued. Where they are less busy, it may not be for long. */
#define SURELY_BUSY 0.95
#define OFTEN_BUSY  0.8

/*
 * Its queue is memory that nobody waits for with a stack: the loop goes on. But threads that never wait for
 * work and are blocked by what they do have more of it than they can do. More threads do not help those that
 * compute.
 */
void pool_of_uv(struct analysis *a, size_t i)
{
	const struct group *group = &a->groups[i];
	uint64_t all = activities_watched_ns(group->spent),
		 runs = group->spent[ACT_CODE] + group->spent[ACT_ASSIST] + group->spent[ACT_RUNNABLE];
	const struct row *row;
	struct finding *finding;
	double busy;

	if (group->peak < 2 || group->peak > 1024 || !is_uv_worker(a, group) || runs * 2 > all ||
	    all < group->peak * watched_ns(a) / 2)
		return;
	/* Nothing is queued while one of them is free. */
	if (pool_members(a, group, &busy) < group->peak || busy < OFTEN_BUSY)
		return;
	row = heaviest_wait(a, i);
	if (!row)
		return;
	finding = finding_add(a, "pool-small", 0.1);
	if (busy < SURELY_BUSY)
		finding_at_most(finding, LEVEL_INFO);
	finding_text(
		finding,
		"All %llu threads of libuv's pool are busy %.0f %% of the time, mostly %s in %s, and what "
		"is queued for them waits.",
		(unsigned long long)group->peak, 100 * busy, activity_name((enum activity)row->activity),
		label_stack(a, row->stack).text);
	finding->held_up = WAITED_FOR_OTHERS;
	row_evidence(a, finding, row);
	finding_next(finding, "UV_THREADPOOL_SIZE=%llu", 4 * (unsigned long long)group->peak);
}
