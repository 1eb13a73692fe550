/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requests wait for the resolution of a host name. */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

enum { LEAST = 5, MIN_MEAN_NS = 1000000 };

/* Goroutines that Go's resolver starts do the work; only those that wait for them are counted. */
static bool is_resolvers(const struct analysis *a, uint32_t stack)
{
	const char *root = name_text(a, stack_root(a, stack)->func);

	return strncmp(root, "net.", 4) == 0 || strncmp(root, "internal/singleflight.", 22) == 0;
}

static bool dns_is_lookup(const struct analysis *a, const struct row *row)
{
	return row->stack && a->stacks[row->stack].lookup && row->activity >= ACT_SYSCALL &&
	       row->activity < ACT_GC;
}

struct lookups {
	const struct row *most;     /* of the goroutines that wait */
	const struct row *working;  /* of what the resolver does */
	uint64_t n, answers_ns, ns; /* in C a lookup also opens files, and asks by several calls */
	unsigned places;            /* rows of those */
};

static struct lookups dns_gather(const struct analysis *a)
{
	struct lookups all = {.most = &a->rows[0], .working = &a->rows[0]};

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		bool works = row->activity == ACT_NETWORK || row->activity == ACT_SYSCALL;

		if (!dns_is_lookup(a, row))
			continue;
		if (works && row->hist.sum > all.working->hist.sum)
			all.working = row;
		if (is_resolvers(a, row->stack))
			continue;
		if (!is_of_threads(a) || row->activity == ACT_NETWORK) {
			all.n += row->hist.n;
			all.answers_ns += row->hist.sum;
		}
		all.ns += row->hist.sum;
		all.places += row->hist.n > 0;
		if (row->hist.sum > all.most->hist.sum || all.most == &a->rows[0])
			all.most = row;
	}
	return all;
}

/* cgo is in a call into C. Go's resolver waits for the server's answer on the network. */
static const char *resolver(const struct analysis *a, const struct row *working)
{
	if (is_of_threads(a))
		return "the C library";
	return working->activity == ACT_SYSCALL ? "the C library (cgo)" : "Go's resolver";
}

void rule_dns(struct analysis *a)
{
	struct lookups all = dns_gather(a);
	double impact = share_of_tasks(a, (double)all.ns);
	struct finding *finding;

	if (all.n < LEAST || all.answers_ns / all.n < MIN_MEAN_NS || impact < 0.05)
		return;
	finding = finding_add(a, "dns", impact);
	finding_text(finding, "%s%s waited %s for %s to resolve host names.",
		     label_stack(a, all.most->stack).text, all.places > 1 ? " and others" : "",
		     label_time(all.ns).text, resolver(a, all.working));
	row_evidence(a, finding, all.most);
	finding->n = all.n;
	finding->total_ns = all.ns;
	if (all.working->hist.n)
		finding_evidence(finding, "%llu %s, %s each (mean); the resolver waits %s (p50) in %s",
				 (unsigned long long)all.n,
				 all.working->activity == ACT_SYSCALL ? "lookups" : "waits for an answer",
				 label_time(all.answers_ns / all.n).text,
				 label_time(histogram_quantile(&all.working->hist, 0.5)).text,
				 label_near(a, all.working->stack).text);
}
