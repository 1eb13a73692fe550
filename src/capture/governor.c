/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/governor.h"

/*
 * Starts per second. A hit at a start takes about 1 us, so 10,000 take 1 % of a CPU. By then the machine is
 * so busy that the error of an inferred start is smaller than the delay of the hit.
 */
#define MANY_STARTS 10000.0
#define FEW_STARTS  4000.0

/* Hits per second of sweeps and heap growth: up to three per span (8 KiB of small objects) that is filled. */
#define MANY_HEAP 10000.0

#define SECOND_NS       1000000000ull
#define HOLD_NS         (2 * SECOND_NS)
#define MAX_HOLD_NS     (64 * SECOND_NS)
#define SETTLE_NS       (SECOND_NS / 5) /* until dropped probes no longer cost anything */
#define MIN_RECORDED_NS (SECOND_NS / 5) /* minimum length of a recorded interval: less would be of no use */
#define RECORDED_NS     SECOND_NS /* what is recorded in one piece, so that waits have both of their ends, */
#define LONGEST_OFF_NS  (10 * SECOND_NS) /* unless more time than this would have to pass without a record */
#define MIN_OFF_NS      (SECOND_NS / 4)
#define MAX_OFF_NS      (30 * SECOND_NS)

/* Windows that are compared: shorter ones say little, and a load that changes is not to mislead for long. */
#define MIN_WINDOW_NS   (SECOND_NS / 20)
#define MIN_WINDOW_WORK (64 << 10)
#define WINDOW_KEPT     0.8
#define LEAST_TRUE_COST 0.5
#define MOST_TRUE_COST  2.0

#define INTERVAL_KEPT 0.7 /* of an interval's figures, in those that decide in the next one */

/* A cost of this many times the limit is more than the levels in between can save. */
#define FAR_OVER_LIMIT 3

/* Fill levels of the space for records: above the first, less is probed; below the second, more again. */
#define FILL_TOO_MUCH 0.5
#define FILL_LITTLE   0.25

void governor_init(struct governor *governor, const struct governor_options *options)
{
	*governor = (struct governor){.options = *options,
				      .level = options->first,
				      .hold_ns = HOLD_NS,
				      .heap = true,
				      .true_cost = 1,
				      .heap_hold_ns = HOLD_NS};
}

/* If the CPU time is not known, it is at least this. */
static double own_cpu_ns(double cpu, double cost)
{
	return cpu - cost < cost / 10 ? cost / 10 : cpu - cost;
}

/*
 * Where CPUs are short, the target may run in one interval, and its hits be counted in the next one: several
 * count. Overspending must be compensated by time under the limit.
 */
static void governor_weigh(struct governor *governor, const struct governor_figures *figures)
{
	double cost = (double)figures->cost_ns * governor->true_cost, own;

	governor->recent_cost_ns = governor->recent_cost_ns * INTERVAL_KEPT + cost;
	governor->recent_cpu_ns = governor->recent_cpu_ns * INTERVAL_KEPT + (double)figures->cpu_ns;
	governor->recent_ns = governor->recent_ns * INTERVAL_KEPT + (double)figures->ns;
	own = own_cpu_ns(governor->recent_cpu_ns, governor->recent_cost_ns);
	governor->percent = own > 0 ? 100 * governor->recent_cost_ns / own : 0;
	governor->share = governor->recent_ns > 0 ? governor->recent_cost_ns / governor->recent_ns : 0;
	own = own_cpu_ns((double)figures->cpu_ns, cost);
	governor->excess_ns += cost - own * governor->options.max_percent / 100;
	governor->excess_ns -= governor->options.free_share * (double)figures->ns;
	if (governor->excess_ns < 0)
		governor->excess_ns = 0;
}

static void add_window(struct governor_effort *effort, const struct governor_window *begin,
		       const struct governor_window *end)
{
	effort->cpu_ns = effort->cpu_ns * WINDOW_KEPT + (double)(end->cpu_ns - begin->cpu_ns);
	effort->cost_ns = effort->cost_ns * WINDOW_KEPT + (double)(end->cost_ns - begin->cost_ns);
	effort->work = effort->work * WINDOW_KEPT + (double)(end->work - begin->work);
}

static bool is_too_short(const struct governor_window *begin, const struct governor_window *end)
{
	return !begin->cpu_ns || !begin->work || end->cpu_ns < begin->cpu_ns + MIN_WINDOW_NS ||
	       end->cost_ns < begin->cost_ns || end->work < begin->work + MIN_WINDOW_WORK;
}

void governor_learn(struct governor *governor, const struct governor_window *end)
{
	const struct governor_effort *plain = &governor->plain, *watched = &governor->watched;
	struct governor_window begin = governor->last;
	double cost;

	governor->last = *end;
	if (is_too_short(&begin, end))
		return;
	add_window(end->watched ? &governor->watched : &governor->plain, &begin, end);
	if (plain->work == 0 || watched->cost_ns == 0)
		return;
	cost = (watched->cpu_ns - plain->cpu_ns / plain->work * watched->work) / watched->cost_ns;
	governor->true_cost = cost < LEAST_TRUE_COST  ? LEAST_TRUE_COST
			      : cost > MOST_TRUE_COST ? MOST_TRUE_COST
						      : cost;
}

static double starts_a_second(const struct governor_figures *figures)
{
	return figures->ns ? (double)figures->stops * 1e9 / (double)figures->ns : 0;
}

static void governor_go_to(struct governor *governor, enum detail_level level)
{
	governor->level = level;
	governor->at_ns = 0;
	governor->recent_cost_ns = governor->recent_cpu_ns = governor->recent_ns = 0;
}

static bool over_limit(const struct governor *governor)
{
	return governor->options.max_percent && governor->percent > governor->options.max_percent &&
	       governor->share > governor->options.free_share && governor->at_ns >= SETTLE_NS;
}

/* How long is recorded between two pauses. The pause makes up for what the record cost over the limit. */
static uint64_t recorded_ns(const struct governor *governor)
{
	double most = (double)LONGEST_OFF_NS * (double)governor->options.max_percent;

	if (governor->percent * (double)RECORDED_NS <= most)
		return RECORDED_NS;
	if (governor->percent * (double)MIN_RECORDED_NS >= most)
		return MIN_RECORDED_NS;
	return (uint64_t)(most / governor->percent);
}

/* At this cost, it would take too long to try one level after another. */
static bool far_over_limit(const struct governor *governor)
{
	return governor->options.last == LEVEL_OFF && governor->options.max_percent &&
	       governor->percent > FAR_OVER_LIMIT * (double)governor->options.max_percent &&
	       governor->share > FAR_OVER_LIMIT * governor->options.free_share &&
	       (governor->level != LEVEL_OFF - 1 || governor->at_ns >= recorded_ns(governor));
}

static bool too_full(const struct governor *governor, const struct governor_figures *figures)
{
	return figures->fill > FILL_TOO_MUCH && governor->level < LEVEL_OFF - 1 &&
	       governor->at_ns >= SETTLE_NS;
}

/* Returns whether there is a margin for the level above, which costs up to half more in the usual mix. */
static bool has_slack(const struct governor *governor, const struct governor_figures *figures)
{
	if (governor->at_ns < governor->hold_ns || figures->fill > FILL_LITTLE)
		return false;
	if (governor->level == LEVEL_LIGHT && starts_a_second(figures) > FEW_STARTS)
		return false;
	return governor->options.max_percent == 0 ||
	       governor->percent < 0.5 * governor->options.max_percent ||
	       governor->share < 0.5 * governor->options.free_share;
}

static bool step_down(struct governor *governor)
{
	if (governor->level >= governor->options.last)
		return false;
	/* If a level was tried again too early, waits longer the next time. */
	if (governor->tried && governor->at_ns < HOLD_NS && governor->hold_ns < MAX_HOLD_NS)
		governor->hold_ns *= 2;
	governor->tried = false;
	governor_go_to(governor, governor->level + 1);
	return true;
}

bool governor_lower(struct governor *governor)
{
	return governor->level < LEVEL_OFF - 1 && step_down(governor);
}

static bool step_up(struct governor *governor)
{
	governor->tried = true;
	governor_go_to(governor, governor->level - 1);
	return true;
}

static bool switch_heap(struct governor *governor, bool on)
{
	governor->heap = on;
	governor->heap_at_ns = 0;
	return true;
}

/* Only probing shows whether the hits have become few again, so it is tried at growing intervals. */
static bool update_heap(struct governor *governor, const struct governor_figures *figures)
{
	if (governor->options.last == LEVEL_EXACT)
		return false;
	governor->heap_at_ns += figures->ns;
	if (!governor->heap)
		return governor->heap_at_ns >= governor->heap_hold_ns && switch_heap(governor, true);
	if ((double)figures->heap * 1e9 <= MANY_HEAP * (double)figures->ns)
		return false;
	if (governor->heap_at_ns < HOLD_NS && governor->heap_hold_ns < MAX_HOLD_NS)
		governor->heap_hold_ns *= 2;
	return switch_heap(governor, false);
}

static bool update_level(struct governor *governor, const struct governor_figures *figures)
{
	governor->at_ns += figures->ns;
	if (governor->level == LEVEL_OFF &&
	    (governor->at_ns < MIN_OFF_NS || (governor->excess_ns > 0 && governor->at_ns < MAX_OFF_NS)))
		return false;
	if (governor->level == LEVEL_OFF) {
		governor_go_to(governor,
			       LEVEL_OFF - 1); /* alternating between these two levels is not a trial */
		return true;
	}
	if (far_over_limit(governor)) {
		governor_go_to(governor, LEVEL_OFF);
		return true;
	}
	if (over_limit(governor) &&
	    (governor->level != LEVEL_OFF - 1 || governor->at_ns >= recorded_ns(governor)))
		return step_down(governor);
	if (too_full(governor, figures))
		return step_down(governor);
	if (governor->level == LEVEL_EXACT && starts_a_second(figures) > MANY_STARTS)
		return step_down(governor);
	return governor->level > governor->options.first && has_slack(governor, figures) && step_up(governor);
}

bool governor_update(struct governor *governor, const struct governor_figures *figures)
{
	bool heap, level;

	governor_weigh(governor, figures);
	heap = update_heap(governor, figures);
	level = update_level(governor, figures);
	return heap || level;
}
