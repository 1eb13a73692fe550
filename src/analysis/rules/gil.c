/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Threads of Python wait for each other: only the one that has the interpreter's lock runs bytecode. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"

/* After so long a waiter asks for the lock; before that, its holder gives it up for its input and output. */
#define SWITCH_INTERVAL_NS 5000000

void rule_gil(struct analysis *a)
{
	const struct resource *res = &a->resources[a->gil];
	struct finding *finding;
	double impact;

	if (!lock_is_contended(a, res, &impact))
		return;
	finding = finding_add(a, "gil", impact);
	finding_text(
		finding,
		"Threads waited %s for Python's interpreter lock (GIL): only one of them runs Python code at "
		"a time.",
		label_time(res->waits.sum).text);
	lock_evidence(a, finding, res);
	/* A server that answers many requests at once, which each take little time, is well. */
	if (finding->p50_ns < SWITCH_INTERVAL_NS)
		finding->level = LEVEL_INFO;
}
