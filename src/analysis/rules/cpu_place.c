/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One function takes most of the CPU time. A trace cannot say whether that is what the program is for, so it
 * is no more than information.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/top.h"
#include "analysis/words.h"
#include "code/symbol/library.h"
#include "analysis/rules/rules.h"

enum { LEAST_SAMPLES = 50, MANY_CALLS = 5000 /* a second */ };

/* The function makes many system calls: small writes, or questions that are asked again and again. */
static void calls_evidence(const struct analysis *a, struct finding *finding, uint32_t func)
{
	const struct row *most = NULL;
	uint64_t n = 0, ns = 0;
	char called[20] = "", where[64] = "all";
	double recorded;
	const char *call;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (row->activity != ACT_SYSCALL || stack_site(a, row->stack)->func != func)
			continue;
		n += row->hist.n;
		ns += row->hist.sum;
		if (!most || row->hist.n > most->hist.n)
			most = row;
	}
	recorded = (double)watched_ns(a) - (double)a->ledger.no_calls_ns;
	if (!most || recorded <= 0 || (double)n * 1e9 < MANY_CALLS * recorded)
		return;
	call = io_call_name(a->stacks[most->stack].io_call);
	if (call)
		snprintf(called, sizeof(called), ", %s ", how_much(most->hist.n, n));
	if (a->ledger.no_calls_ns)
		snprintf(where, sizeof(where), "the %.20s in which they are recorded",
			 label_time((uint64_t)recorded).text);
	finding_evidence(finding, "it makes %.0f system calls a second%s%s, which take %s in %s",
			 (double)n * 1e9 / recorded, called, call ? call : "", label_time(ns).text, where);
}

/* Several have nothing to do for all of the trace: they wait for work, and not for the one that has some. */
static bool is_idle_pool(const struct analysis *a, const struct row *row)
{
	return row->hist.sum * 2 > 3 * watched_ns(a) && row_is_for_answers(a, row) == ANSWERS_UNLIKELY;
}

/* One thread or goroutine alone runs it, all the time, and others wait for that one: a stage that sets their
 * pace. */
static void stage_evidence(const struct analysis *a, struct finding *finding, const struct group *group)
{
	double ran = (double)(group->spent[ACT_CODE] + group->spent[ACT_SYSCALL] + group->spent[ACT_ASSIST]);
	uint64_t ns = 0;

	if (group->peak != 1 || ran < 0.9 * (double)watched_ns(a))
		return;
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (activity_is_for_others(row->activity) && row->activity != ACT_LOCK &&
		    !is_idle_pool(a, row) && top_first(row->waker_groups)->n &&
		    &a->groups[top_first(row->waker_groups)->key] == group)
			ns += row->hist.sum;
	}
	if (ns * 2 > watched_ns(a))
		finding_evidence(
			finding,
			"one %s alone runs it, %.0f %% of the time, and others waited %s for that one",
			words_of(a)->one, 100 * ran / (double)watched_ns(a), label_time(ns).text);
}

void rule_cpu_place(struct analysis *a)
{
	double each = cpu_sample_ns(a), all = (double)cpu_counted(a);
	uint32_t most = 0;
	const struct cpu_row *row;
	struct finding *finding;

	if (!a->samples) {
		finding_not_applicable(a, "cpu-place", "there are no CPU samples");
		return;
	}
	for (uint32_t i = 1; i < a->cpu.nrows; i++) {
		if (a->cpu.rows[i].self > a->cpu.rows[most].self || !most)
			most = i;
	}
	if (!most || all < LEAST_SAMPLES || all * each < 0.1 * (double)watched_ns(a))
		return;
	row = &a->cpu.rows[most];
	if ((double)row->self < 0.5 * all || library_is_system(name_text(a, row->func)))
		return;
	finding = finding_add(a, "cpu-place", (double)row->self * each / p_time(a));
	finding_at_most(finding, LEVEL_INFO);
	finding_text(finding, "%s takes %.0f %% of the CPU time%s: %s of %s.", cpu_place(a, most).text,
		     100 * (double)row->self / all,
		     a->cpu.scheduler * 10 > a->samples ? " outside the scheduler" : "",
		     label_time((uint64_t)((double)row->self * each)).text,
		     label_time((uint64_t)(all * each)).text);
	finding->n = row->self;
	finding->total_ns = (uint64_t)((double)row->self * each);
	finding->stack = (uint32_t)top_first(row->stacks)->key;
	if (top_first(row->groups)->n && a->groups[top_first(row->groups)->key].func)
		finding_evidence(finding, "%llu of %.0f samples; run by %s%s%s",
				 (unsigned long long)row->self, all,
				 label_function(a, a->groups[top_first(row->groups)->key].func).text,
				 top_first(row->tasks)->n ? ", for " : "",
				 top_first(row->tasks)->n
					 ? label_function(a, (uint32_t)top_first(row->tasks)->key).text
					 : "");
	if (top_first(row->groups)->n)
		stage_evidence(a, finding, &a->groups[top_first(row->groups)->key]);
	cpu_leaves_evidence(a, finding, most);
	calls_evidence(a, finding, row->func);
	callers_evidence(a, finding, "called mostly by", finding->stack);
	if (strcmp(name_text(a, row->func), UNNAMED_CODE) == 0)
		finding_evidence(
			finding,
			"a compiler made it at run time, and /tmp/perf-PID.map would name it: of Java, "
			"jcmd PID Compiler.perfmap; node --perf-basic-prof; qemu -perfmap");
	finding_next(finding, "gotrace flame %s -o cpu.html", a->options.file);
}
