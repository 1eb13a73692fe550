/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What many rules say of a finding in the same way: the figures of a row, and the command that shows more. */
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/rules/rules.h"
#include "analysis/words.h"

const struct histogram *row_waits(const struct row *row)
{
	return row->answers.n ? &row->answers : &row->hist;
}

void finding_of_row(const struct analysis *a, struct finding *finding, const struct row *row)
{
	const struct histogram *waits = row_waits(row);

	finding->n = waits->n;
	finding->total_ns = waits->sum;
	finding->p50_ns = histogram_quantile(waits, 0.5);
	finding->p99_ns = histogram_quantile(waits, 0.99);
	finding->max_ns = waits->max;
	finding->first_ns = row->first ? row->first - a->begin : 0;
	finding->worst_ns = row->max_at ? row->max_at - a->begin : 0;
	finding->worst_goid = row->max_g;
	finding->stack = row->stack;
}

void finding_next_why(const struct analysis *a, struct finding *finding, uint64_t goid, uint64_t at_ns)
{
	finding_next(finding, "gotrace why %s %s %llu --at %.6fs", a->options.file, words_of(a)->option,
		     (unsigned long long)goid, (double)at_ns / 1e9);
}
