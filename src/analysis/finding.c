/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One finding: its sentence, its evidence, and the command that shows more. */
#include "analysis/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/rules/rules.h"

void finding_weigh(struct finding *finding, double impact)
{
	finding->impact = impact > 1 ? 1 : impact;
	finding->level = impact >= 0.20   ? LEVEL_HIGH
			 : impact >= 0.05 ? LEVEL_MEDIUM
			 : impact >= 0.01 ? LEVEL_LOW
					  : LEVEL_INFO;
}

struct finding *finding_add(struct analysis *a, const char *id, double impact)
{
	static struct finding scratch; /* for findings beyond the limit; never read */
	struct finding *finding = a->nfindings < MAX_FINDINGS ? &a->findings[a->nfindings++] : &scratch;

	*finding = (struct finding){.id = id};
	finding_weigh(finding, impact);
	return finding;
}

void finding_text(struct finding *finding, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(finding->text, sizeof(finding->text), fmt, args);
	va_end(args);
}

void finding_evidence(struct finding *finding, const char *fmt, ...)
{
	va_list args;

	if (finding->nevidence >= sizeof(finding->evidence) / sizeof(finding->evidence[0]))
		return;
	va_start(args, fmt);
	vsnprintf(finding->evidence[finding->nevidence++], sizeof(finding->evidence[0]), fmt, args);
	va_end(args);
}

void finding_next(struct finding *finding, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(finding->next, sizeof(finding->next), fmt, args);
	va_end(args);
}

void finding_not_applicable(struct analysis *a, const char *id, const char *why)
{
	if (a->nnot_applicable < MAX_FINDINGS)
		a->not_applicable[a->nnot_applicable++] = (struct not_applicable){id, why};
}
