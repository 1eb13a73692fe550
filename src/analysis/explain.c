/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which finding another one explains: causes stand above their symptoms. */
#include "analysis/finding.h"

#include <string.h>

#include "analysis/figures.h"
#include "analysis/names.h"
#include "analysis/tables.h"

/* A finding of the first rule explains one of the second, wholly or largely. */
struct explanation {
	const char *cause, *effect;
};

/* Where a table of explanations holds. */
enum scope {
	EVERYWHERE,   /* causes that slow the whole program down */
	BY_CPU,       /* where what is waited for may want a CPU */
	BY_COLLECTOR, /* where the holder of a lock waits for the collector */
	AT_PLACE,     /* causes explain only effects at their own place */
};

static const struct explanation by_cpu[] = {
	{"neighbour", "outlier"},      {"throttled", "lock-io"},     {"throttled", "lock-long"},
	{"throttled", "lock-syscall"}, {"throttled", "lock-convoy"}, {"throttled", "slow-consumer"},
	{"throttled", "pool-small"},   {"neighbour", "procs-low"},
};

static const struct explanation by_collector[] = {
	{"gc-limit", "lock-long"},
	{"gc-often", "lock-long"},
	{"assist", "lock-long"},
};

static const struct explanation everywhere[] = {
	{"stopped", "kernel-sleep"},
	{"stopped", "gc-often"},
	{"stopped", "idle-p"},
	{"stopped", "stw-stop"},
	{"stopped", "outlier"},
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
	{"neighbour", "slow-consumer"},
	{"neighbour", "pool-small"},
	{"neighbour", "mmap-lock"},
	{"neighbour", "gil"},
	{"neighbour", "burst"},
	{"neighbour", "netpoll"},
	{"neighbour", "timer-late"},
	{"hog", "stw-stop"},
	{"stw-stop", "hog"},
	{"gc-limit", "assist"},
	{"gc-limit", "gc-often"},
	{"gc-often", "assist"},
	{"assist", "gc-often"},
	{"procs-low", "burst"},
	{"procs-low", "outlier"},
	{"hog", "procs-low"},
	{"procs-low", "netpoll"},
	{"procs-low", "retake"},
	{"stw-stop", "netpoll"},
	{"hog", "netpoll"},
	{"gc-often", "outlier"},
	{"assist", "outlier"},
	{"gc-often", "procs-low"},
	{"assist", "procs-low"},
	{"leak", "outlier"},
	{"gc-limit", "procs-low"},
	{"locked-thread", "slow-consumer"},
	{"locked-thread", "pool-small"},
	{"locked-thread", "idle-p"},
	{"spin", "hog"},
	{"spin", "procs-low"},
	{"spin", "timer-late"},
	{"hog", "timer-late"},
	{"spin", "stw-stop"},
	{"procs-low", "timer-late"},
	{"yield-spin", "procs-low"},
	{"yield-spin", "hog"},
	{"yield-spin", "netpoll"},
	{"leak-awake", "timer-storm"},
	{"herd", "burst"},
	{"neighbour", "vm-gc"},
	{"herd", "procs-low"},
};

/* Causes that act at one place of the code: they explain effects at that place only. */
static const struct explanation at_place[] = {
	{"lock-io", "outlier"},
	{"lock-long", "outlier"},
	{"lock-syscall", "outlier"},
	{"mmap-lock", "outlier"},
	{"pool-small", "outlier"},
	{"rw-writer", "lock-io"},
	{"rw-writer", "lock-long"},
	{"lock-io", "pool-small"},
	{"lock-long", "pool-small"},
	{"slow-consumer", "pool-small"},
	{"lock-io", "leak"},
	{"stuck", "leak"},
	{"stw-often", "lock-long"},
	{"herd", "lock-convoy"},
	{"straggler", "outlier"},
	{"stampede", "outlier"},
	{"single-flight", "outlier"},
	{"dns", "outlier"},
	{"lock-io", "single-flight"},
	{"lock-long", "single-flight"},
	{"slow-consumer", "single-flight"},
	{"pool-small", "single-flight"},
	{"lock-io", "straggler"},
	{"lock-long", "straggler"},
	{"busy-owner", "outlier"},
	{"busy-owner", "pool-small"},
	{"busy-owner", "single-flight"},
	{"lock-io", "request-place"},
	{"lock-long", "request-place"},
	{"slow-consumer", "call-place"},
	{"lock-syscall", "request-place"},
	{"lock-convoy", "request-place"},
	{"lock-timeout", "request-place"},
	{"rw-writer", "request-place"},
	{"pool-small", "request-place"},
	{"busy-owner", "request-place"},
	{"slow-consumer", "request-place"},
	{"straggler", "request-place"},
	{"single-flight", "request-place"},
	{"stampede", "request-place"},
	{"dns", "request-place"},
	{"delayed-ack", "request-place"},
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
	{"delayed-ack", "task-place"},
	{"lock-io", "call-place"},
	{"poll-spin", "cpu-place"},
	{"long-turn", "cpu-place"},
	{"busy-owner", "call-place"},
	{"busy-owner", "timer-bound"},
	{"finalizer", "busy-owner"},
	{"finalizer", "pool-small"},
	{"finalizer", "request-place"},
	{"finalizer", "call-place"},
	{"pool-small", "timer-bound"},
};

/* True if the effect explains the cause, too. Only `everywhere` has such pairs. */
static bool is_mutual(const struct explanation *one)
{
	for (size_t i = 0; i < sizeof(everywhere) / sizeof(everywhere[0]); i++) {
		if (strcmp(everywhere[i].cause, one->effect) == 0 &&
		    strcmp(everywhere[i].effect, one->cause) == 0)
			return true;
	}
	return false;
}

/* True if the function that one stack is named after is also in the other one, or if both stacks wait for one
 * resource. */
static bool stacks_meet(struct analysis *a, uint32_t one, uint32_t other)
{
	uint32_t resource = a->stacks[one].resource, also = a->stacks[other].resource;

	if (!one || !other)
		return false;
	if (one == other)
		return true;
	if (resource && also && resource_root(a, resource) == resource_root(a, also))
		return true;
	return stack_has_function(a, one, stack_site(a, other)->func) ||
	       stack_has_function(a, other, stack_site(a, one)->func);
}

/* True if both are about one place. A finding without a stack may be about any place. */
static bool findings_meet(struct analysis *a, const struct finding *one, const struct finding *other)
{
	return !(one->stack || one->waker_stack) || !(other->stack || other->waker_stack) ||
	       stacks_meet(a, one->stack, other->stack) || stacks_meet(a, one->stack, other->waker_stack) ||
	       stacks_meet(a, one->waker_stack, other->stack) ||
	       stacks_meet(a, one->waker_stack, other->waker_stack);
}

/*
 * A cause explains an effect of at most twice its own impact; of two that explain each other, the heavier one
 * is the cause. If the holder of a lock had no CPU, or waited for the collector, the factor is 4: all that
 * waited for the lock have lost the time that the holder lost once.
 */
static bool is_weighty(const struct finding *cause, const struct finding *effect, bool mutual)
{
	double most = mutual ? 1 : effect->held_up >= WAITED_FOR_CPU ? 4 : 2;

	/* An outlier has no impact of its own. */
	if (effect->held_up == WAITED_FOR_CPU && strcmp(effect->id, "outlier") == 0)
		return true;
	return cause->impact * most >= effect->impact;
}

/* Whether the cause can be why others wait here. */
static bool is_in_scope(struct analysis *a, const struct finding *cause, const struct finding *effect,
			enum scope scope)
{
	switch (scope) {
	case EVERYWHERE:
		return effect->held_up != WAITED_FOR_OTHERS;
	case BY_CPU:
		return effect->held_up == WAITED_FOR_CPU;
	case BY_COLLECTOR:
		return effect->held_up == WAITED_FOR_GC;
	default:
		return findings_meet(a, cause, effect);
	}
}

static void explain_by(struct analysis *a, const struct finding *cause, const struct explanation *one,
		       bool mutual, enum scope scope)
{
	for (unsigned i = 0; i < a->nfindings; i++) {
		struct finding *effect = &a->findings[i];

		if (strcmp(effect->id, one->effect) || effect->explained_by)
			continue;
		if (!is_weighty(cause, effect, mutual) || !is_in_scope(a, cause, effect, scope))
			continue;
		effect->explained_by = cause->id;
		/* Who has the lock, or answers, had no CPU: nothing is wrong with them. */
		if (scope != AT_PLACE && effect->held_up == WAITED_FOR_CPU)
			effect->level = LEVEL_INFO;
	}
}

static void explain_all(struct analysis *a, const struct explanation *table, size_t n, enum scope scope)
{
	for (size_t i = 0; i < n; i++) {
		bool mutual = is_mutual(&table[i]);

		for (unsigned j = 0; j < a->nfindings; j++) {
			const struct finding *cause = &a->findings[j];

			if (strcmp(cause->id, table[i].cause) == 0 && !cause->explained_by &&
			    cause->level >= LEVEL_LOW)
				explain_by(a, cause, &table[i], mutual, scope);
		}
	}
}

/* True if a finding is about waits at a place, and so can be why those wait in turn that others wait for. */
static bool is_cause_of_waits(const struct finding *finding)
{
	static const char *const ids[] = {"lock-io",       "lock-long",  "lock-syscall", "rw-writer",
					  "slow-consumer", "pool-small", "busy-owner",   "mmap-lock"};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		if (strcmp(finding->id, ids[i]) == 0)
			return true;
	}
	return false;
}

/* Returns the finding about the place where the one that all wait for waits itself; NULL if there is none. */
static struct finding *next_cause(struct analysis *a, const struct finding *effect)
{
	for (unsigned i = 0; i < a->nfindings && effect->next_stack; i++) {
		struct finding *cause = &a->findings[i];

		/* What is information at most does not explain away an alarm. */
		if (cause != effect && is_cause_of_waits(cause) && cause->most >= effect->level &&
		    cause->stack && stacks_share_site(a, cause->stack, effect->next_stack))
			return cause;
	}
	return NULL;
}

/*
 * In a chain, each waits for the next one: only the last finding is a cause, and it costs as much as the
 * heaviest before it, even if a single goroutine waits there. In a ring there is no last one.
 */
static void explain_chain(struct analysis *a, struct finding *effect)
{
	struct finding *next, *last = effect;

	for (unsigned i = 0; i <= a->nfindings; i++) {
		next = next_cause(a, last);
		if (!next)
			break;
		last = next;
		if (i == a->nfindings)
			return;
	}
	if (last == effect)
		return;
	effect->explained_by = last->id;
	finding_evidence(last, "behind it, %s waited %s", label_stack(a, effect->stack).text,
			 label_time(effect->total_ns).text);
	if (last->impact < effect->impact)
		finding_weigh(last, effect->impact);
}

static void explain_chains(struct analysis *a)
{
	for (unsigned i = 0; i < a->nfindings; i++)
		explain_chain(a, &a->findings[i]);
}

void findings_explain(struct analysis *a)
{
	explain_chains(a);
	explain_all(a, by_cpu, sizeof(by_cpu) / sizeof(by_cpu[0]), BY_CPU);
	explain_all(a, by_collector, sizeof(by_collector) / sizeof(by_collector[0]), BY_COLLECTOR);
	explain_all(a, at_place, sizeof(at_place) / sizeof(at_place[0]), AT_PLACE);
	explain_all(a, everywhere, sizeof(everywhere) / sizeof(everywhere[0]), EVERYWHERE);
}
