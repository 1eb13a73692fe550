/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Answers take 40 ms because a request is sent in two small writes: the second waits for the acknowledgement
 * of the first (Nagle's algorithm), which the other end delays (TCP_DELACK_MIN, Linux include/net/tcp.h).
 * Another end that takes as long for some of its answers looks the same: that is information. One that takes
 * as long for nearly all of them is not likely, unless it is far away; Go sets TCP_NODELAY (net/tcpsock.go).
 */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/order.h"
#include "analysis/rules/rules.h"

enum { MIN_N = 10, SURE_N = 50 };

/* By how much longer the late requests took than those after answers in one write; they begin as these do. */
static uint64_t delay_of(const struct replies *two, const struct replies *one)
{
	uint64_t late = two->late_ns / two->late,
		 soon = one->n > one->late ? one->soon_ns / (one->n - one->late) : 0;

	return late > soon ? late - soon : 0;
}

/*
 * A server that waits for many connections at a time: the next request comes late after an answer in two
 * writes, and not after one write.
 */
static void of_server(struct analysis *a, const struct row *row)
{
	const struct replies *two = &row->in_two, *one = &a->connections.in_one;
	struct finding *finding;
	uint64_t delay;

	if (two->late < MIN_N || two->late * 2 < two->n || !one->n || one->late * 4 > one->n)
		return;
	delay = delay_of(two, one);
	if (delay < LEAST_ACK_NS || delay > MOST_ACK_NS)
		return;
	finding = finding_add(a, "delayed-ack", share_of_tasks(a, (double)(two->late * delay)));
	finding_at_most(finding, LEVEL_INFO);
	finding_text(
		finding,
		"%s is the second write of an answer. After %llu of %llu the next request of the connection "
		"comes %s later than after one write. That is as long as TCP's delayed acknowledgement, for "
		"which the second of two small writes waits.",
		label_stack(a, row->stack).text, (unsigned long long)two->late, (unsigned long long)two->n,
		label_time(delay).text);
	row_evidence(a, finding, row);
	finding_next(finding, "one write for each answer, or TCP_NODELAY");
}

void rule_delayed_ack(struct analysis *a)
{
	bool clients = false;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		struct finding *finding;

		/* One that serves waits for the next request, not for an answer. */
		if (row->delayed_acks < MIN_N || row->delayed_acks_ns * 2 < row->hist.sum ||
		    row_is_idle(a, row))
			continue;
		finding = finding_add(a, "delayed-ack", share_of_tasks(a, (double)row->delayed_acks_ns));
		if (!is_of_threads(a) || row->delayed_acks < SURE_N ||
		    row->delayed_acks * 10 < row->hist.n * 9)
			finding_at_most(finding, LEVEL_INFO);
		else
			finding_at_most(finding, LEVEL_MEDIUM);
		finding_text(finding,
			     "%s waited about 40 ms for an answer in %llu of %llu cases, after two writes. "
			     "That is as "
			     "long as TCP's delayed acknowledgement, for which the second of two small "
			     "writes waits.",
			     label_stack(a, row->stack).text, (unsigned long long)row->delayed_acks,
			     (unsigned long long)row->hist.n);
		row_evidence(a, finding, row);
		finding_next(finding, "one write for each request, or TCP_NODELAY");
		clients = true;
	}
	/* The reads that follow a client's writes are its answers, and no requests. */
	for (size_t i = 1; i < a->nrows && !clients; i++)
		of_server(a, &a->rows[i]);
}
