/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The process was stopped by a signal or a debugger. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

/* For how long the thread that was stopped longest was stopped, by what the trace records of it, ns. */
static uint64_t longest_stop(const struct analysis *a)
{
	uint64_t most = 0;

	for (size_t i = 1; i < a->ngs; i++)
		most = a->gs[i].spent[ACT_STOPPED] > most ? a->gs[i].spent[ACT_STOPPED] : most;
	return most;
}

void rule_stopped(struct analysis *a)
{
	uint64_t seen = longest_stop(a), ns = a->stopped.ns > seen ? a->stopped.ns : seen;
	double share = (double)ns / (double)(watched_ns(a) + 1);
	struct finding *finding;

	if (share < 0.05)
		return;
	finding = finding_add(a, "stopped", share);
	finding->total_ns = ns;
	finding_text(finding,
		     "%s was stopped, by a signal (SIGSTOP) or a debugger, for at least %s%s: it did nothing "
		     "then.",
		     a->stopped.ns * 2 >= ns ? "The program" : "A thread", label_time(ns).text,
		     a->stopped.still ? ", and still is" : "");
	if (a->stopped.still)
		finding_next(finding, "kill -CONT %s", label_pid(a).text);
}
