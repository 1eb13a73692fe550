/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sessions of a database wait for its own locks. Who has them is not seen: another process, or a transaction
 * that waits for its client. Two clients that change one row wait for each other, and are well, so it is no
 * more than information.
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

enum { MIN_N = 5 };

void rule_database_lock(struct analysis *a)
{
	const struct row *most = NULL;
	uint64_t n = 0, ns = 0;
	struct finding *finding;
	bool sqlite;

	for (size_t i = 1; i < a->nrows && is_of_threads(a); i++) {
		const struct row *row = &a->rows[i];

		if (row->activity != ACT_LOCK || !stack_any(a, row->stack, func_waits_for_database))
			continue;
		n += row->hist.n;
		ns += row->hist.sum;
		if (!most || row->hist.sum > most->hist.sum)
			most = row;
	}
	if (n < MIN_N || ns * 20 < watched_ns(a))
		return;
	sqlite = stack_calls(a, most->stack, "sqlite3InvokeBusyHandler");
	finding = finding_add(a, "database-lock", share_of_tasks(a, (double)ns));
	finding_at_most(finding, LEVEL_INFO);
	finding_text(finding, "Sessions waited %s for locks of %s, %s of it in one stack: %s.",
		     label_time(ns).text, sqlite ? "SQLite" : "PostgreSQL", label_time(most->hist.sum).text,
		     label_stack(a, most->stack).text);
	row_evidence(a, finding, most);
	callers_evidence(a, finding, "called by", most->stack);
	finding->total_ns = ns;
	/* pg_blocking_pids() knows locks on tables, rows and transactions only. */
	finding_next(finding, sqlite ? "shorter transactions, one for many rows; PRAGMA journal_mode=WAL"
			      : stack_mentions(a, most->stack, "LWLock")
				      ? "which one: wait_event of pg_stat_activity"
				      : "who has them: pg_blocking_pids(PID) and pg_stat_activity");
}
