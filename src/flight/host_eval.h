/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Evaluates the triggers on figures of the process and its cgroup, which the privileged process reads from
 * /proc and /sys/fs/cgroup about once a second. Nothing fires for a second that was not wholly watched: its
 * trace would not show the cause.
 */
#ifndef GOTRACE_FLIGHT_HOST_EVAL_H
#define GOTRACE_FLIGHT_HOST_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flight/flight.h"
#include "flight/status_page.h"

/* Cumulative, but for the ids and rss_bytes. */
struct host_figures {
	uint64_t time_ns;      /* CLOCK_MONOTONIC; 0 = none have been read */
	uint64_t cpu_ns;       /* of the process */
	uint64_t group_cpu_ns; /* of its cgroup; 0 = unknown */
	uint64_t throttled_ns; /* of its cgroup, or the ancestor with the lowest quota; all CPUs together */
	/* Of the cgroups that the two figures above are of, as in struct cpu_limit. A second in which one
	 * changes does not count for the figure. */
	uint64_t group_id, quota_id;
	uint64_t rss_bytes;
	uint64_t unwatched_ns; /* time without recording so far */
	bool unwatched;        /* nothing is recorded at present */
};

struct host_eval {
	const struct flight_plan *plan; /* not owned */
	struct host_figures before;
	uint16_t above; /* one bit per trigger: trigger_rises() */
};

/* Whether the plan has such a trigger; without one nothing needs to be read. */
bool host_eval_needed(const struct flight_plan *plan);
/*
 * Evaluates the time since the last call, which should be a second. Fills notices[] for triggers that fire,
 * and returns their number.
 */
unsigned host_eval_step(struct host_eval *eval, const struct host_figures *now,
			struct match_notice notices[MAX_TRIGGERS]);

#endif
