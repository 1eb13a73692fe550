/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One place makes the calls, or disk reads and writes, that take most time, or blocks a worker thread of an
 * asynchronous runtime: for what, the trace cannot say.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/intervals.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

/* A call that waits so long for each answer is one for input that may never come. */
enum { MIN_N = 20, MIN_WRITES = 3, LONGEST_MEAN_NS = 100000000 };

static bool calls_c(const char *func)
{
	return strcmp(func, "runtime.cgocall") == 0 || strstr(func, "._Cfunc_");
}

static bool is_into_c(const struct analysis *a, uint32_t stack)
{
	return stack_any(a, stack, calls_c);
}

/*
 * All the time, one goroutine after the other waits there, or always the same: for an answer, or for the
 * other end to read. What else it is to do waits with it, in a queue that may have no waits.
 */
static bool is_one_at_a_time(const struct analysis *a, const struct row *row)
{
	double all = (double)(row->hist.sum + row->cut_ns) / (double)(watched_ns(a) + 1);

	if (all < 0.7 || all > 1.05 || row->overlapping * 20 > row->hist.n ||
	    !stack_is_in_program(a, row->stack))
		return false;
	if (row->activity == ACT_NETWORK)
		return row->hist.n >= MIN_WRITES && io_call_writes(a->stacks[row->stack].io_call);
	return row->activity == ACT_SELECT && a->stacks[row->stack].for_peer && row->hist.n >= MIN_N &&
	       row->hist.sum / row->hist.n <= LONGEST_MEAN_NS;
}

static bool counts(const struct analysis *a, const struct row *row)
{
	if (is_one_at_a_time(a, row))
		return true;
	if (row->hist.n < MIN_N || a->groups[top_first(row->functions)->key].system)
		return false;
	if (row_is_pipe_write(a, row))
		return true;
	/* Elsewhere a sleep is a pace that the program has chosen. */
	if (row->activity == ACT_SLEEP)
		return stack_is_in_task(a, row->stack);
	/* A reader waits for input, which may never come. */
	if (row->hist.sum / row->hist.n > LONGEST_MEAN_NS)
		return false;
	return row->activity == ACT_DISK || row->activity == ACT_FILE ||
	       (row->activity == ACT_SYSCALL && (a->stacks[row->stack].io_call || is_into_c(a, row->stack)));
}

/* By a descriptor of the file, or with fcntl of a part of it, by syscall.FcntlFlock. */
static bool is_file_lock(const struct row *row, const char *call)
{
	return row->activity == ACT_FILE ||
	       (call && (strcmp(call, "flock") == 0 || strcmp(call, "fcntlflock") == 0));
}

void rule_call_place(struct analysis *a)
{
	const struct row *most = NULL;
	const struct histogram *times;
	struct finding *finding;
	char others[64] = "";
	const char *call;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (counts(a, row) && (!most || row->hist.sum > most->hist.sum))
			most = row;
	}
	if (!most || most->hist.sum * 2 < watched_ns(a))
		return;
	times = row_waits(most);
	call = io_call_name(a->stacks[most->stack].io_call);
	finding = finding_add(a, "call-place", share_of_tasks(a, (double)most->hist.sum));
	finding_at_most(finding, LEVEL_INFO);
	/* Up to Go 1.21 only calls that lose their P have an end. */
	if (most->endless)
		snprintf(others, sizeof(others), "; %llu more kept their P, and have no time",
			 (unsigned long long)most->endless);
	finding_text(finding, "%s spends %s in %s: %llu %s %s (mean)%s.", label_stack(a, most->stack).text,
		     label_time(most->hist.sum).text,
		     most->activity == ACT_DISK      ? "waits for the disk"
		     : is_file_lock(most, call)      ? "waits for a lock on a file that others use"
		     : most->activity == ACT_SLEEP   ? "sleeps"
		     : most->activity == ACT_PIPE    ? "waits for the reader of a pipe"
		     : most->activity == ACT_SELECT  ? "waits for an answer, one after the other"
		     : most->activity == ACT_NETWORK ? "writes whose reader is slow, one after the other"
		     : is_into_c(a, most->stack)     ? "calls into C"
		     : call                          ? call
						     : "calls",
		     (unsigned long long)times->n, most->activity == ACT_DISK ? "waits of" : "times",
		     label_time(times->sum / times->n).text, others);
	row_evidence(a, finding, most);
	callers_evidence(a, finding, "called by", most->stack);
	if (is_into_c(a, most->stack))
		finding_evidence(finding, "what C waits for there: gotrace report -p %s --as c",
				 label_pid(a).text);
	if (stack_is_in_task(a, most->stack))
		finding_evidence(finding, "a task of tokio: its worker thread is blocked, and the tasks that "
					  "wait for it (tokio::task::spawn_blocking)");
}
