/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/shed.h"

/*
 * Starts a second. A start's hit takes about 1 us: from 10,000 on that is 1 % of a CPU, and by then
 * the machine is so busy that an inferred start is off by less than the hit delays it.
 */
#define MANY_STARTS 10000.0
#define FEW_STARTS  4000.0

/* Hits a second by sweeps and the heap's growing: up to three for each span (8 KiB of small objects) that a
 * program fills. */
#define MANY_HEAP 10000.0

#define SECOND_NS   1000000000ull
#define HOLD_NS     (2 * SECOND_NS)
#define MAX_HOLD_NS (64 * SECOND_NS)
#define SETTLE_NS   (SECOND_NS / 5) /* until what was dropped costs nothing any more */
#define LOOK_NS                                                                                              \
	(SECOND_NS / 2) /* seen at a stretch before all is switched off: less tells nobody anything          \
			 */
#define MAX_OFF_NS (30 * SECOND_NS)

/* A tracepoint costs about a fifth of a uprobe (a trap and its emulation are spared). */
#define HITS_A_SYSCALL 0.2

void shed_init(struct shed *shed, const struct shed_options *options, uint64_t hit_ns)
{
	*shed = (struct shed){.options = *options,
			      .hit_ns = hit_ns,
			      .level = options->first,
			      .hold_ns = HOLD_NS,
			      .heap = true,
			      .heap_hold_ns = HOLD_NS};
}

static double cost_ns(const struct shed *shed, const struct shed_figures *figures)
{
	double hits = (double)figures->hits + HITS_A_SYSCALL * (double)figures->syscalls;

	return hits * (double)shed->hit_ns;
}

/* What was spent over the limit must be made good by as much time under it. */
static void weigh(struct shed *shed, const struct shed_figures *figures)
{
	double cost = cost_ns(shed, figures), own = (double)figures->cpu_ns - cost;

	if (own < cost / 10)
		own = cost / 10; /* no reading of the CPU time, or not of the same stretch */
	shed->percent = own > 0 ? 100 * cost / own : 0;
	shed->share = figures->ns ? cost / (double)figures->ns : 0;
	shed->debt_ns += cost - own * shed->options.max_percent / 100;
	shed->debt_ns -= shed->options.free_share * (double)figures->ns;
	if (shed->debt_ns < 0)
		shed->debt_ns = 0;
}

static double starts_a_second(const struct shed_figures *figures)
{
	return figures->ns ? (double)figures->stops * 1e9 / (double)figures->ns : 0;
}

static void go_to(struct shed *shed, enum level level)
{
	shed->level = level;
	shed->at_ns = 0;
}

static bool too_dear(const struct shed *shed)
{
	return shed->options.max_percent && shed->percent > shed->options.max_percent &&
	       shed->share > shed->options.free_share && shed->at_ns >= SETTLE_NS;
}

/* The level above costs more than this one, by up to half in the usual mix: there must be room for that. */
static bool has_room(const struct shed *shed, const struct shed_figures *figures)
{
	if (shed->at_ns < shed->hold_ns)
		return false;
	if (shed->level == LEVEL_LIGHT && starts_a_second(figures) > FEW_STARTS)
		return false;
	return shed->options.max_percent == 0 || shed->percent < 0.5 * shed->options.max_percent ||
	       shed->share < 0.5 * shed->options.free_share;
}

static bool step_down(struct shed *shed)
{
	if (shed->level >= shed->options.last)
		return false;
	/* What was tried again too early is held for longer the next time. */
	if (shed->tried && shed->at_ns < HOLD_NS && shed->hold_ns < MAX_HOLD_NS)
		shed->hold_ns *= 2;
	shed->tried = false;
	go_to(shed, shed->level + 1);
	return true;
}

static bool step_up(struct shed *shed)
{
	shed->tried = true;
	go_to(shed, shed->level - 1);
	return true;
}

static bool switch_heap(struct shed *shed, bool on)
{
	shed->heap = on;
	shed->heap_at_ns = 0;
	return true;
}

/* Whether they would be few again shows only when they are probed: that is tried, ever more seldom. */
static bool update_heap(struct shed *shed, const struct shed_figures *figures)
{
	if (shed->options.last == LEVEL_EXACT)
		return false;
	shed->heap_at_ns += figures->ns;
	if (!shed->heap)
		return shed->heap_at_ns >= shed->heap_hold_ns && switch_heap(shed, true);
	if ((double)figures->heap * 1e9 <= MANY_HEAP * (double)figures->ns)
		return false;
	if (shed->heap_at_ns < HOLD_NS && shed->heap_hold_ns < MAX_HOLD_NS)
		shed->heap_hold_ns *= 2;
	return switch_heap(shed, false);
}

static bool update_level(struct shed *shed, const struct shed_figures *figures)
{
	shed->at_ns += figures->ns;
	if (shed->level == LEVEL_OFF && shed->debt_ns > 0 && shed->at_ns < MAX_OFF_NS)
		return false;
	if (shed->level == LEVEL_OFF) {
		go_to(shed, LEVEL_OFF - 1); /* to and fro between these two is no trial */
		return true;
	}
	if (too_dear(shed) && (shed->level != LEVEL_OFF - 1 || shed->at_ns >= LOOK_NS))
		return step_down(shed);
	if (shed->level == LEVEL_EXACT && starts_a_second(figures) > MANY_STARTS)
		return step_down(shed);
	return shed->level > shed->options.first && has_room(shed, figures) && step_up(shed);
}

bool shed_update(struct shed *shed, const struct shed_figures *figures)
{
	bool heap, level;

	weigh(shed, figures);
	heap = update_heap(shed, figures);
	level = update_level(shed, figures);
	return heap || level;
}
