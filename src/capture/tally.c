/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/tally.h"

#include "util/clock.h"

double tally_fill(const struct capture *capture)
{
	const struct log_outlet *outlet = &capture->options.outlet;
	double fill = outlet->fill(outlet->ctx);

	return fill > capture->drain.fill ? fill : capture->drain.fill;
}

uint64_t tally_cpu_ns(struct capture *capture)
{
	if (!capture->options.governor.max_percent)
		return 0; /* for a tree it takes a system call for each process */
	return capture->options.children ? processes_cpu_ns(&capture->processes, &capture->bpf)
					 : watch_cpu_ns(&capture->watch);
}

static struct tally tally_now(struct capture *capture, uint64_t now)
{
	return (struct tally){.ns = now,
			      .hits = drain_hits(&capture->drain) + capture->silent,
			      .syscalls = capture->drain.syscalls,
			      .stops = capture->drain.stops,
			      .heap = capture->drain.heap + capture->silent,
			      .functions = capture->drain.functions,
			      .cpu_ns = tally_cpu_ns(capture)};
}

/* The cost of the hits since the last tally. */
static uint64_t cost_since(struct capture *capture, const struct tally *last, const struct tally *this)
{
	uint64_t functions = this->functions - last->functions, hits = this->hits - last->hits - functions;
	/* For threads, all other hits are those of tracepoints. */
	uint64_t calls = capture->options.target ? this->syscalls - last->syscalls : hits;
	const struct hit_counts priced = {.probes = hits - calls, .calls = calls, .functions = functions};

	return hit_cost_of(&capture->hit_cost, &priced);
}

bool tally_take(struct capture *capture, uint64_t now, struct governor_figures *figures)
{
	struct tally *last = &capture->tally, this;
	bool first = last->ns == 0;

	if (!first && now - last->ns < TALLY_MS * 1000000ull)
		return false;
	this = tally_now(capture, now);
	*figures = (struct governor_figures){.ns = now - last->ns,
					     .cost_ns = cost_since(capture, last, &this),
					     .stops = this.stops - last->stops,
					     .heap = this.heap - last->heap,
					     .cpu_ns = this.cpu_ns - last->cpu_ns,
					     .fill = tally_fill(capture)};
	capture->cost_ns += figures->cost_ns;
	*last = this;
	if (capture->interrupted)
		first = true; /* the interval contains a gap */
	capture->interrupted = false;
	return !first;
}
