/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/host_eval.h"

#include <stdio.h>

#include "util/text.h"

bool host_eval_needed(const struct flight_plan *plan)
{
	return triggers_have(plan->triggers, plan->ntriggers, HOST_TRIGGERS);
}

/* A figure that went back has begun again. */
static uint64_t figure_grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

/* The value of the time between two readings, in the trigger's unit. */
static uint64_t figure_value(const struct trigger *trigger, const struct host_figures *before,
			     const struct host_figures *now)
{
	double seconds = (double)(now->time_ns - before->time_ns) / 1e9;

	switch (trigger->kind) {
	case TRIGGER_CPU:
		return (uint64_t)((double)figure_grown(before->cpu_ns, now->cpu_ns) / 1e7 / seconds);
	case TRIGGER_CGROUP_CPU: /* 0 before: unknown, then */
		return before->group_cpu_ns && before->group_id == now->group_id
			       ? (uint64_t)((double)figure_grown(before->group_cpu_ns, now->group_cpu_ns) /
					    1e7 / seconds)
			       : 0;
	case TRIGGER_THROTTLED:
		return before->quota_id == now->quota_id
			       ? (uint64_t)((double)figure_grown(before->throttled_ns, now->throttled_ns) /
					    seconds)
			       : 0;
	case TRIGGER_RSS:
		return now->rss_bytes;
	default:
		return 0;
	}
}

static void describe_value(const struct trigger *trigger, uint64_t value, char *text, size_t size)
{
	switch (trigger->kind) {
	case TRIGGER_CPU:
		snprintf(text, size, "%s: the process used %llu%% of a CPU in a second", trigger->text,
			 (unsigned long long)value);
		break;
	case TRIGGER_CGROUP_CPU:
		snprintf(text, size, "%s: the cgroup used %llu%% of a CPU in a second", trigger->text,
			 (unsigned long long)value);
		break;
	case TRIGGER_THROTTLED:
		snprintf(text, size, "%s: the cgroup was throttled for %s in a second (all CPUs together)",
			 trigger->text, text_time(value).bytes);
		break;
	default:
		snprintf(text, size, "%s: the process has %s of memory", trigger->text,
			 text_bytes(value).bytes);
		break;
	}
}

unsigned host_eval_step(struct host_eval *eval, const struct host_figures *now,
			struct match_notice notices[MAX_TRIGGERS])
{
	const struct host_figures before = eval->before;
	unsigned n = 0;

	eval->before = *now;
	if (!before.time_ns || now->time_ns <= before.time_ns || now->unwatched || before.unwatched ||
	    now->unwatched_ns != before.unwatched_ns)
		return 0;
	for (unsigned i = 0; i < eval->plan->ntriggers; i++) {
		const struct trigger *trigger = &eval->plan->triggers[i];
		uint64_t value = trigger_is_of_host(trigger) ? figure_value(trigger, &before, now) : 0;

		if (!trigger_is_of_host(trigger) || !trigger_rises(trigger, i, value, &eval->above))
			continue;
		notices[n] = (struct match_notice){.time = now->time_ns, .trigger = i};
		describe_value(trigger, value, notices[n].text, sizeof(notices[n].text));
		n++;
	}
	return n;
}
