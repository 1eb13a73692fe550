/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A few of many instances are far slower than the rest, for one cause. */
#include <math.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"
#include "util/text.h"

/* Characters that a shell leaves alone. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-"

enum { MIN_N = 100, MIN_EXCESS_NS = 10000000, MIN_SINGLE_NS = 50000000, MAX_LATE_NS = 100000000 };

static const char *const kinds[] = {"task", "region"};

/* Returns the activity in which *one exceeds the mean instance most. */
static unsigned cause_of(const struct instances *all, const struct instance *one, double *excess)
{
	unsigned most = ACT_NONE;

	*excess = 0;
	for (unsigned i = 1; i < ACT_COUNT; i++) {
		double more = (double)one->spent[i] - (double)all->spent[i] / (double)all->hist.n;

		if (more > *excess) {
			*excess = more;
			most = i;
		}
	}
	return most;
}

/* Running and runnable time is no cause: a thread without a CPU makes anything slow once in a while. */
static bool is_cause(unsigned activity)
{
	return activity >= ACT_SYSCALL && activity < ACT_OTHER && activity != ACT_GC;
}

/* True if there are slow instances at different times: not one stall of the machine. */
static bool happens_again(const struct instances *all)
{
	uint64_t most = 0, least = UINT64_MAX;

	for (unsigned i = 0; i < all->nslowest && all->slowest[i].ns * 2 >= all->slowest[0].ns; i++) {
		most = all->slowest[i].begin > most ? all->slowest[i].begin : most;
		least = all->slowest[i].begin < least ? all->slowest[i].begin : least;
	}
	return most > least + all->slowest[0].ns;
}

/* The name as one word of a shell. A name that would need more than quotes is left out. */
void instances_suggest_why(const struct analysis *a, struct finding *finding, const struct instances *all)
{
	const char *name = name_text(a, all->name);
	size_t len = strlen(name);
	const char *quote = strspn(name, PLAIN) == len ? "" : "'";

	if (strchr(name, '\'') || strcmp(text_name(name, len, 100).bytes, name) != 0)
		finding_next(finding, "gotrace report %s --all", a->options.file);
	else
		finding_next(finding, "gotrace why %s --%s %s%s%s", a->options.file, kinds[all->kind], quote,
			     name, quote);
}

/* Who answers may be on this machine, and want a CPU. And a timer is late where its P has none. */
static bool may_want_cpu(const struct instances *all, const struct instance *one, unsigned cause)
{
	if (cause == ACT_SLEEP && all->kind == INSTANCE_LIFE)
		return true;
	return one->ns <= MAX_LATE_NS && (cause == ACT_SLEEP || cause == ACT_NETWORK || cause == ACT_SELECT);
}

static void outlier_describe(struct analysis *a, const struct instances *all, unsigned cause, double excess)
{
	const struct instance *one = &all->slowest[0];
	uint64_t p50 = histogram_quantile(&all->hist, 0.5);
	/* Nobody has called goroutines alike, and a disk takes tens of ms once in a while. */
	struct finding *finding = finding_add(a, "outlier",
					      all->kind != INSTANCE_LIFE ? 0.06
					      : one->ns >= MIN_SINGLE_NS ? 0.02
									 : 0);
	unsigned like = 0;

	while (like < all->nslowest && all->slowest[like].ns * 2 >= one->ns)
		like++;
	if (may_want_cpu(all, one, cause)) {
		finding->held_up = WAITED_FOR_CPU;
		/* Any server is that late once in a while. */
		if (like * 1000ull < all->hist.n)
			finding_at_most(finding, LEVEL_INFO);
	}
	if ((cause == ACT_SYSCALL || cause == ACT_DISK) && one->ns < MIN_SINGLE_NS)
		finding_at_most(finding, LEVEL_INFO);
	finding_text(
		finding,
		"%u%s of %llu %ss %s took %s%s; the median is %s. %.0f %% of the difference is time in %s.",
		like, like == SLOWEST ? " or more" : "", (unsigned long long)all->hist.n,
		all->kind == INSTANCE_LIFE ? words_of(a)->one : kinds[all->kind],
		label_function(a, all->name).text, like > 1 ? "up to " : "", label_time(one->ns).text,
		label_time(p50).text, fmin(100, 100 * excess / (double)(one->ns - p50)),
		activity_name((enum activity)cause));
	finding->n = all->hist.n;
	finding->total_ns = all->hist.sum;
	finding->p50_ns = p50;
	finding->p99_ns = histogram_quantile(&all->hist, 0.99);
	finding->max_ns = all->hist.max;
	finding->worst_ns = one->begin - a->begin;
	finding->worst_goid = one->goid;
	if (one->stack) {
		finding->stack = one->stack;
		finding_evidence(finding, "it waited longest in %s", label_stack(a, one->stack).text);
	}
	finding_evidence(finding, "%s at %s; p90 %s, p99 %s", label_who(a, one->goid).text,
			 label_time(finding->worst_ns).text,
			 label_time(histogram_quantile(&all->hist, 0.9)).text,
			 label_time(finding->p99_ns).text);
	if (all->kind == INSTANCE_LIFE)
		finding_next(finding, "gotrace why %s %s %llu", a->options.file, words_of(a)->option,
			     (unsigned long long)one->goid);
	else
		instances_suggest_why(a, finding, all);
}

static void outlier_look_at(struct analysis *a, const struct instances *all)
{
	const struct instance *one = &all->slowest[0];
	uint64_t p50 = histogram_quantile(&all->hist, 0.5), p90 = histogram_quantile(&all->hist, 0.9);
	double excess;
	unsigned cause;

	if (all->hist.n < MIN_N || one->ns < 10 * p50 || p90 > 3 * p50 || one->ns - p50 < MIN_EXCESS_NS)
		return;
	if (!happens_again(all) && (all->kind == INSTANCE_LIFE || one->ns < MIN_SINGLE_NS))
		return;
	cause = cause_of(all, one, &excess);
	/* How long a connection lives is up to its other end. */
	if (all->kind == INSTANCE_LIFE && (cause == ACT_NETWORK || cause == ACT_PIPE))
		return;
	/* Those of a library that wait for work live as long as what they serve. */
	if (all->kind == INSTANCE_LIFE && one->stack && !stack_is_in_program(a, one->stack))
		return;
	/* A wait for a goroutine that did not get a CPU is only bad luck. */
	if (is_cause(cause) && one->ns - p50 >= 2 * a->latency.max && excess >= 0.5 * (double)(one->ns - p50))
		outlier_describe(a, all, cause, excess);
}

/* Regions that requests=auto makes of the tasks. */
static bool are_tasks(const struct analysis *a, const struct instances *all)
{
	for (size_t i = 1; i < a->ninstances && all->kind == INSTANCE_REGION; i++) {
		const struct instances *tasks = &a->instances[i];

		if (tasks->kind == INSTANCE_TASK && tasks->name == all->name && tasks->hist.n == all->hist.n)
			return true;
	}
	return false;
}

void rule_outlier(struct analysis *a)
{
	/* Instances of a label may be anything; tasks, regions and goroutines are expected to be alike. */
	for (size_t i = 1; i < a->ninstances; i++) {
		if (a->instances[i].kind == INSTANCE_LABEL || are_tasks(a, &a->instances[i]))
			continue;
		outlier_look_at(a, &a->instances[i]);
	}
}
