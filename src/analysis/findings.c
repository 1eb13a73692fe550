/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Applies the rules, and ranks what they find. */
#include "analysis/findings.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

/* All rules but trust need at least this much watched time. */
#define MIN_NS 500000000ull

static const struct rule rules[] = {
	{"trust", rule_trust, 0, NULL},
	{"throttled", rule_throttled, 0, NULL},
	{"procs-high", rule_procs_high, 0, NULL},
	{"procs-low", rule_procs_low, 0, "threads need no P"},
	{"neighbour", rule_neighbour, 0, NULL},
	{"idle-p", rule_idle_p, 0, "threads need no P"},
	{"assist", rule_assist, 0, "only Go programs collect garbage"},
	{"gc-often", rule_gc_often, 0, "only Go programs collect garbage"},
	{"gc-limit", rule_gc_limit, 0, "only Go programs collect garbage"},
	{"stw-stop", rule_stw_stop, 0, "only Go stops its world"},
	{"spin", rule_spin, 0, "the stack of a preempted thread is not in the trace"},
	{"hog", rule_hog, 0, "the kernel preempts threads"},
	{"rw-writer", rule_rw_writer, 0, NULL},
	{"lock-io", rule_lock_io, 0, NULL},
	{"lock-syscall", rule_lock_syscall, DETAIL_CALLS, NULL},
	{"lock-long", rule_lock_long, 0, NULL},
	{"lock-convoy", rule_lock_convoy, 0, NULL},
	{"leak", rule_leak, 0, NULL},
	{"burst", rule_burst, 0, NULL},
	{"slow-consumer", rule_slow_consumer, 0, NULL},
	{"pool-small", rule_pool_small, 0, NULL},
	{"outlier", rule_outlier, 0, NULL},
	{"netpoll", rule_netpoll, DETAIL_WAKERS | DETAIL_CALLS, "the kernel wakes threads"},
	{"timer-late", rule_timer_late, DETAIL_WAKERS, "the kernel runs the timers of threads"},
	{"timer-storm", rule_timer_storm, DETAIL_WAKERS, NULL},
	{"herd", rule_herd, 0, NULL},
	{"straggler", rule_straggler, 0, NULL},
	{"single-flight", rule_single_flight, 0, NULL},
	{"retake", rule_retake, DETAIL_CALLS, "threads need no P"},
	{"locked-thread", rule_locked_thread, 0, "each is a thread"},
	{"dns", rule_dns, 0, NULL},
	{"busy-owner", rule_busy_owner, DETAIL_WAKERS, NULL},
	{"yield-spin", rule_yield_spin, 0, NULL},
	{"leak-awake", rule_leak_awake, 0, NULL},
	{"conn-churn", rule_conn_churn, DETAIL_CALLS, NULL},
	{"long-runs", rule_long_runs, 0, "threads need no P"},
	{"stuck", rule_stuck, 0, NULL},
	{"finalizer", rule_finalizer, 0, "only Go has a goroutine for finalizers"},
	{"timer-bound", rule_timer_bound, DETAIL_WAKERS, NULL},
	{"hand-off", rule_hand_off, 0, NULL},
	{"task-place", rule_task_place, 0, NULL},
	{"request-place", rule_request_place, 0, "handlers are known by functions of Go"},
	{"call-place", rule_call_place, DETAIL_CALLS, NULL},
	{"cpu-place", rule_cpu_place, 0, NULL},
};

/* A finding of the first rule explains one of the second, wholly or largely. */
static const struct explanation {
	const char *cause, *effect;
} explanations[] = {
	{"procs-high", "throttled"},
	{"throttled", "neighbour"},
	{"throttled", "idle-p"},
	{"throttled", "hog"},
	{"throttled", "stw-stop"},
	{"throttled", "procs-low"},
	{"throttled", "outlier"},
	{"neighbour", "idle-p"},
	{"neighbour", "stw-stop"},
	{"neighbour", "hog"},
	{"neighbour", "lock-io"},
	{"neighbour", "lock-long"},
	{"neighbour", "lock-syscall"},
	{"neighbour", "lock-convoy"},
	{"neighbour", "burst"},
	{"neighbour", "netpoll"},
	{"neighbour", "timer-late"},
	{"hog", "stw-stop"},
	{"stw-stop", "hog"},
	{"gc-limit", "assist"},
	{"gc-limit", "gc-often"},
	{"gc-often", "assist"},
	{"assist", "gc-often"},
	{"lock-io", "outlier"},
	{"lock-long", "outlier"},
	{"lock-syscall", "outlier"},
	{"pool-small", "outlier"},
	{"procs-low", "burst"},
	{"rw-writer", "lock-io"},
	{"rw-writer", "lock-long"},
	{"procs-low", "outlier"},
	{"lock-io", "pool-small"},
	{"lock-long", "pool-small"},
	{"slow-consumer", "pool-small"},
	{"hog", "procs-low"},
	{"procs-low", "netpoll"},
	{"procs-low", "retake"},
	{"stw-stop", "netpoll"},
	{"hog", "netpoll"},
	{"gc-often", "outlier"},
	{"lock-io", "leak"},
	{"assist", "outlier"},
	{"gc-often", "procs-low"},
	{"assist", "procs-low"},
	{"leak", "outlier"},
	{"gc-limit", "procs-low"},
	{"herd", "burst"},
	{"herd", "lock-convoy"},
	{"herd", "procs-low"},
	{"straggler", "outlier"},
	{"single-flight", "outlier"},
	{"dns", "outlier"},
	{"locked-thread", "slow-consumer"},
	{"locked-thread", "pool-small"},
	{"locked-thread", "idle-p"},
	{"lock-io", "single-flight"},
	{"lock-long", "single-flight"},
	{"slow-consumer", "single-flight"},
	{"pool-small", "single-flight"},
	{"lock-io", "straggler"},
	{"lock-long", "straggler"},
	{"spin", "hog"},
	{"spin", "procs-low"},
	{"spin", "timer-late"},
	{"hog", "timer-late"},
	{"spin", "stw-stop"},
	{"procs-low", "timer-late"},
	{"busy-owner", "outlier"},
	{"busy-owner", "pool-small"},
	{"busy-owner", "single-flight"},
	{"yield-spin", "procs-low"},
	{"yield-spin", "hog"},
	{"yield-spin", "netpoll"},
	{"leak-awake", "timer-storm"},
	{"lock-io", "request-place"},
	{"lock-long", "request-place"},
	{"lock-syscall", "request-place"},
	{"lock-convoy", "request-place"},
	{"rw-writer", "request-place"},
	{"pool-small", "request-place"},
	{"busy-owner", "request-place"},
	{"slow-consumer", "request-place"},
	{"straggler", "request-place"},
	{"single-flight", "request-place"},
	{"dns", "request-place"},
	{"lock-io", "task-place"},
	{"lock-long", "task-place"},
	{"lock-syscall", "task-place"},
	{"lock-convoy", "task-place"},
	{"rw-writer", "task-place"},
	{"pool-small", "task-place"},
	{"busy-owner", "task-place"},
	{"slow-consumer", "task-place"},
	{"straggler", "task-place"},
	{"single-flight", "task-place"},
	{"dns", "task-place"},
	{"lock-io", "call-place"},
	{"busy-owner", "call-place"},
	{"busy-owner", "timer-bound"},
	{"pool-small", "timer-bound"},
};

static const struct finding *find(const struct analysis *a, const char *id)
{
	for (unsigned i = 0; i < a->nfindings; i++) {
		if (strcmp(a->findings[i].id, id) == 0)
			return &a->findings[i];
	}
	return NULL;
}

static bool is_mutual(const struct explanation *one)
{
	for (size_t i = 0; i < sizeof(explanations) / sizeof(explanations[0]); i++) {
		if (strcmp(explanations[i].cause, one->effect) == 0 &&
		    strcmp(explanations[i].effect, one->cause) == 0)
			return true;
	}
	return false;
}

/* A cause explains an effect of at most twice its impact. Of two that explain each other, the heavier one is
 * the cause. */
static void explain(struct analysis *a)
{
	for (size_t i = 0; i < sizeof(explanations) / sizeof(explanations[0]); i++) {
		const struct finding *cause = find(a, explanations[i].cause);

		for (unsigned j = 0; cause && j < a->nfindings; j++) {
			struct finding *effect = &a->findings[j];

			if (strcmp(effect->id, explanations[i].effect) || effect->explained_by ||
			    cause->explained_by || cause->level < LEVEL_LOW ||
			    cause->impact * (is_mutual(&explanations[i]) ? 1 : 2) < effect->impact)
				continue;
			effect->explained_by = cause->id;
		}
	}
}

/* Of information: why goroutines wait comes before where, and what is about the recording, or about single
 * delays by the scheduler, is last. */
static int info_rank(const struct finding *finding)
{
	if (finding->level != LEVEL_INFO)
		return 0;
	if (strcmp(finding->id, "trust") == 0 || strcmp(finding->id, "idle-p") == 0)
		return 2;
	return strcmp(finding->id, "timer-bound") != 0;
}

static int by_weight(const void *one, const void *other)
{
	const struct finding *a = one, *b = other;

	if (!a->explained_by != !b->explained_by)
		return a->explained_by ? 1 : -1;
	if (a->level != b->level)
		return a->level > b->level ? -1 : 1;
	if (info_rank(a) != info_rank(b))
		return info_rank(a) - info_rank(b);
	if (a->impact < b->impact || a->impact > b->impact)
		return a->impact > b->impact ? -1 : 1;
	return strcmp(a->text, b->text);
}

bool findings_need_more(const struct analysis *a)
{
	return watched_ns(a) < MIN_NS;
}

void findings_make(struct analysis *a)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (findings_need_more(a) && i)
			finding_not_applicable(a, rules[i].id, "less than 0.5 s was watched");
		else if (!is_of_threads(a) && (rules[i].needs & a->left_out & DETAIL_WAKERS))
			finding_not_applicable(a, rules[i].id, "wakers were not recorded");
		else if (rules[i].needs & a->left_out & DETAIL_CALLS)
			finding_not_applicable(a, rules[i].id, "system calls were left out");
		else if (rules[i].not_of_threads && is_of_threads(a))
			finding_not_applicable(a, rules[i].id, rules[i].not_of_threads);
		else
			rules[i].apply(a);
	}
	explain(a);
	qsort(a->findings, a->nfindings, sizeof(a->findings[0]), by_weight);
}
