/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections are dialled again and again. A trace does not say whether to the same peer, nor whether they
 * come about, so it is information; but handshakes of TLS that take much of the CPU time are a cost.
 */
#include <string.h>

#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"

enum { LEAST = 50, LEAST_RATE = 20, LEAST_SAMPLES = 20 };

/* The call itself: (*netFD).connect makes others, too. */
static bool is_connect(const struct analysis *a, const struct row *row)
{
	const struct stack_info *info = &a->stacks[row->stack];

	if (!info->n || info->lookup)
		return false;
	if (row->activity == ACT_SYSCALL)
		return stack_calls(a, row->stack, "syscall.connect") ||
		       strcmp(name_text(a, a->frames[info->first].func), "connect") == 0;
	return row->activity == ACT_NETWORK && stack_calls(a, row->stack, "net.(*netFD).connect");
}

struct dials {
	const struct row *most;
	uint64_t calls, waits, ns;
	uint64_t there; /* calls or waits at the site of most */
};

static struct dials conn_churn_gather(const struct analysis *a)
{
	struct dials all = {.most = &a->rows[0]};
	bool by_calls;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (!is_connect(a, row))
			continue;
		*(row->activity == ACT_SYSCALL ? &all.calls : &all.waits) += row->hist.n;
		all.ns += row->hist.sum;
	}
	by_calls = all.calls >= all.waits;
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (is_connect(a, row) && (row->activity == ACT_SYSCALL) == by_calls &&
		    (row->hist.n > all.most->hist.n || all.most == &a->rows[0]))
			all.most = row;
	}
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];

		if (is_connect(a, row) && row->activity == all.most->activity &&
		    stacks_share_site(a, row->stack, all.most->stack))
			all.there += row->hist.n;
	}
	return all;
}

/* How many waits ended because time was up. A request over HTTP/1 that is cancelled closes its connection. */
static uint64_t count_deadlines(const struct analysis *a)
{
	uint64_t n = 0;

	for (size_t i = 1; i < a->npairs; i++)
		n += stack_is_deadline(a, a->pairs[i].stack) ? a->pairs[i].n : 0;
	return n;
}

/* Which share of the CPU time the handshakes take, 0 to 1. */
static double handshake_share(const struct analysis *a)
{
	return a->cpu.handshakes >= LEAST_SAMPLES ? (double)a->cpu.handshakes / (double)cpu_counted(a) : 0;
}

static void weigh_handshakes(struct analysis *a, struct finding *finding, const struct dials *all)
{
	uint64_t ns = 0;

	for (size_t i = 1; i < a->nrows; i++)
		ns += a->stacks[a->rows[i].stack].handshake && a->rows[i].activity >= ACT_SYSCALL
			      ? a->rows[i].hist.sum
			      : 0;
	if (handshake_share(a) >= 0.2 &&
	    all->there * 2 >= (all->calls > all->waits ? all->calls : all->waits))
		finding_weigh(finding, (double)a->cpu.handshakes * cpu_sample_ns(a) / p_time(a));
	if (handshake_share(a) >= 0.05)
		finding_evidence(finding, "handshakes of TLS take %.0f %% of the CPU time, and wait %s",
				 100 * handshake_share(a), label_time(ns).text);
	else if (!ns)
		finding_evidence(finding, "whether they succeed is not recorded");
}

void rule_conn_churn(struct analysis *a)
{
	struct dials all = conn_churn_gather(a);
	double seconds = (double)watched_ns(a) / 1e9;
	uint64_t n = all.calls > all.waits ? all.calls : all.waits;
	const struct group *group = &a->groups[top_first(all.most->functions)->key];
	bool http = stack_calls(a, all.most->stack, "net/http.(*Transport).dialConn");
	/* The client dials in a goroutine of its own: the program's code is where that was created. */
	uint32_t stack = http && group->creator ? group->creator : all.most->stack;
	struct finding *finding;

	if (n < LEAST || (double)n < LEAST_RATE * seconds)
		return;
	finding = finding_add(a, "conn-churn", share_of_tasks(a, (double)all.ns));
	finding->level = LEVEL_INFO; /* unless handshakes weigh */
	finding_text(finding, "The program %s %.0f times a second: %llu of %llu times in %s.",
		     is_of_threads(a) ? "calls connect" : "dials", (double)n / seconds,
		     (unsigned long long)all.there, (unsigned long long)n, label_stack(a, stack).text);
	weigh_handshakes(a, finding, &all);
	finding->n = n;
	finding->total_ns = all.ns;
	finding->stack = stack;
	if (http && count_deadlines(a) * 2 >= n)
		finding_evidence(finding, "requests that reach their deadline close their connections");
	else if (http)
		finding_next(finding,
			     "read bodies to the end and close them; MaxIdleConnsPerHost; keep-alive");
}
