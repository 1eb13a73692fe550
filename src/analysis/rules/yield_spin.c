/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A loop that yields until something happens, instead of waiting for it: runtime.Gosched, sched_yield. */
#include <string.h>

#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"
#include "code/symbol/library.h"

/*
 * A loop that does work between yields runs longer. The probes of a yield take 2 or 3 us of it. Libraries
 * yield a few times before they wait: four times in Rust's channels (library/std/src/sync/mpmc/utils.rs,
 * Backoff).
 */
enum { LEAST_RATE = 5000, SHORT_RUN_NS = 6000, BEFORE_WAIT = 8 };

/* Threads of LLVM's OpenMP that have done their share yield until the last one has, if there are fewer CPUs
 * than threads (KMP_BLOCKTIME in openmp/docs of LLVM 14). */
static bool func_is_of_team(const char *func)
{
	return primitive_of(func) == PRIM_TEAM;
}

/* Threads of GHC's parallel collector yield until the others have done their share (rts/sm/GC.c of GHC 9). */
static bool is_ghc_collector(const struct analysis *a, uint32_t stack)
{
	return stack_calls(a, stack, "scavenge_until_all_done") || stack_calls(a, stack, "waitForGcThreads");
}

static void yield_spin_describe(struct analysis *a, const struct group *group, uint64_t n, uint32_t stack,
				uint64_t ns)
{
	struct finding *finding = finding_add(a, "yield-spin", (double)ns / p_time(a));
	/* A thread that the trace knows only by its name has its group at the end. */
	uint32_t func = group->func ? group->func : stack_root(a, stack)->func;
	double seconds = (double)watched_ns(a) / 1e9;
	/* What runs on a P may have had no CPU. */
	uint64_t most = a->options.host.cpu_ns, cpu = most && most < ns ? most : ns;
	bool team = stack_any(a, stack, func_is_of_team), ghc = is_ghc_collector(a, stack);

	if (ghc)
		finding_text(
			finding,
			"Threads of GHC's collector yield %.0f times a second until the others have done "
			"their share: %s of CPU time.",
			(double)n / seconds, label_time(cpu).text);
	else if (team)
		finding_text(finding,
			     "Threads of OpenMP yield %.0f times a second until the rest of their team has "
			     "done its share: %s of CPU time.",
			     (double)n / seconds, label_time(cpu).text);
	else
		finding_text(finding,
			     "%s yields %.0f times a second in %s, instead of waiting: %s of CPU time.",
			     label_function(a, func).text, (double)n / seconds, label_stack(a, stack).text,
			     label_time(cpu).text);
	finding->n = n;
	finding->total_ns = cpu;
	finding->stack = stack;
	finding_evidence(finding, "%llu yields, %s of running before each; it blocked %llu times",
			 (unsigned long long)n, label_time(ns / n).text, (unsigned long long)group->blocks);
	if (ghc)
		finding_at_most(finding, LEVEL_INFO);
	finding_next(finding, "%s",
		     ghc    ? "+RTS -A64m for fewer collections, or -qg for one thread"
		     : team ? "equal shares, as by schedule(dynamic); OMP_WAIT_POLICY=passive"
			    : "a Mutex, a channel or a condition in place of the loop");
}

/* runtime.GC and others of the runtime yield while they wait for the collector (src/runtime/mgc.go). Go's own
 * tracer leaves Gosched itself out of the stack. */
static bool is_programs(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack];
	uint32_t caller = 0;

	for (uint32_t i = 0; i < info->n; i++) {
		if (strcmp(name_text(a, a->frames[info->first + i].func), "runtime.Gosched") == 0)
			caller = i + 1;
	}
	return caller >= info->n || !library_is_system(name_text(a, a->frames[info->first + caller].func));
}

static void of_goroutines(struct analysis *a, double seconds)
{
	for (size_t i = 1; i < a->ngroups; i++) {
		const struct group *group = &a->groups[i];

		if (group->system || (double)group->yields < LEAST_RATE * seconds ||
		    group->yields < 2 * (group->blocks + group->preempted) ||
		    group->yields_ns > group->yields * SHORT_RUN_NS ||
		    !is_programs(a, (uint32_t)top_first(group->yield_stacks)->key))
			continue;
		yield_spin_describe(a, group, group->yields, (uint32_t)top_first(group->yield_stacks)->key,
				    group->yields_ns);
	}
}

/* Whether the row is of calls of sched_yield. */
static bool is_of_yields(const struct analysis *a, const struct row *row)
{
	const struct stack_info *info = &a->stacks[row->stack];

	return row->activity == ACT_SYSCALL && info->n &&
	       strncmp(name_text(a, a->frames[info->first].func), "sched_yield", 11) == 0;
}

/* The loops of one group at one place, which is reached in several ways. */
struct yields {
	uint64_t n, ns; /* ns: in the calls */
	bool first;     /* the row is the first of them */
};

static struct yields yields_at(const struct analysis *a, const struct row *row, bool any_place)
{
	uint64_t group = top_first(row->functions)->key;
	struct yields sum = {.first = true};

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *other = &a->rows[i];

		if (!is_of_yields(a, other) || top_first(other->functions)->key != group ||
		    (!any_place && !stacks_share_site(a, other->stack, row->stack)))
			continue;
		sum.n += other->hist.n;
		sum.ns += other->hist.sum;
		sum.first = sum.first && other >= row;
	}
	return sum;
}

/* The CPU time of the function alone, by its samples, as its threads may do other work between yields. */
static uint64_t sampled_ns(const struct analysis *a, uint32_t stack, uint64_t ns)
{
	uint32_t func = stack_site(a, stack)->func;
	double self = 0;

	for (size_t i = 1; i < a->cpu.nrows; i++)
		self += a->cpu.rows[i].func == func ? (double)a->cpu.rows[i].self : 0;
	self *= cpu_sample_ns(a);
	return self > 0 && self < (double)ns ? (uint64_t)self : ns;
}

/* What the group's threads run otherwise is shared out by the number of yields. */
static void yield_spin_of_threads(struct analysis *a, double seconds)
{
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		const struct group *group = &a->groups[top_first(row->functions)->key];
		struct yields here, all;
		uint64_t ns;

		if (!is_of_yields(a, row))
			continue;
		here = yields_at(a, row, false);
		if (!here.first || (double)here.n < LEAST_RATE * seconds ||
		    here.n < BEFORE_WAIT * group->blocks)
			continue;
		all = yields_at(a, row, true);
		ns = here.ns + (uint64_t)((double)group->spent[ACT_CODE] * (double)here.n / (double)all.n);
		if (ns <= here.n * SHORT_RUN_NS)
			yield_spin_describe(a, group, here.n, row->stack, sampled_ns(a, row->stack, ns));
	}
}

void rule_yield_spin(struct analysis *a)
{
	double seconds = (double)watched_ns(a) / 1e9;

	if (is_of_threads(a))
		yield_spin_of_threads(a, seconds);
	else
		of_goroutines(a, seconds);
}
