/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What two traces show as a whole: findings that are gone, new or in both, and counts. */
#ifndef GOTRACE_ANALYSIS_DIFF_FINDINGS_H
#define GOTRACE_ANALYSIS_DIFF_FINDINGS_H

#include "analysis/analysis.h"
#include "util/json.h"

void diff_findings_text(const struct analysis *before, const struct analysis *after, FILE *out,
			const struct report_style *style);
/* Puts the members "findings" and "counts". */
void diff_findings_json(const struct analysis *before, const struct analysis *after, struct json *json);

#endif
