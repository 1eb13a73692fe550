/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One finding: its sentence, its evidence, and the command that shows more. */
#include "analysis/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/names.h"
#include "analysis/rules/rules.h"

void finding_weigh(struct finding *finding, double impact)
{
	finding->impact = impact > 1 ? 1 : impact;
	finding->level = impact >= 0.20   ? LEVEL_HIGH
			 : impact >= 0.05 ? LEVEL_MEDIUM
			 : impact >= 0.01 ? LEVEL_LOW
					  : LEVEL_INFO;
	finding_at_most(finding, (enum level)finding->most);
}

void finding_at_most(struct finding *finding, enum level level)
{
	if (finding->most > level)
		finding->most = (uint8_t)level;
	if (finding->level > level)
		finding->level = (uint8_t)level;
}

struct finding *finding_add(struct analysis *a, const char *id, double impact)
{
	static struct finding scratch; /* for findings beyond the limit; never read */
	struct finding *finding = a->nfindings < MAX_FINDINGS ? &a->findings[a->nfindings++] : &scratch;

	*finding = (struct finding){.id = id, .most = LEVEL_HIGH};
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

static const char *const levels[] = {"info", "low", "medium", "high"};

const char *finding_level(const struct finding *finding)
{
	return levels[finding->level];
}

int analysis_level(const char *level)
{
	for (int i = 0; i < (int)(sizeof(levels) / sizeof(levels[0])); i++) {
		if (strcmp(levels[i], level) == 0)
			return i;
	}
	return -1;
}

bool analysis_finding(const struct analysis *a, unsigned i, struct analysis_finding *out)
{
	const struct finding *finding = &a->findings[i < a->nfindings ? i : 0];

	if (i >= a->nfindings)
		return false;
	*out = (struct analysis_finding){
		.rule = finding->id,
		.level = finding_level(finding),
		.text = finding->text,
		.next = finding->next[0] ? finding->next : NULL,
		.explained_by = finding->explained_by,
		.impact = finding->impact,
		.n = finding->n,
		.total_ns = finding->total_ns,
		.p99_ns = finding->p99_ns,
		.max_ns = finding->max_ns,
		.worst_ns = finding->worst_ns,
		.nstack = a->stacks[finding->stack < a->nstacks ? finding->stack : 0].n,
		.nwaker_stack = a->stacks[finding->waker_stack < a->nstacks ? finding->waker_stack : 0].n,
	};
	return true;
}

struct analysis_frame analysis_finding_frame(const struct analysis *a, unsigned i, bool waker, uint32_t frame)
{
	uint32_t stack = waker ? a->findings[i].waker_stack : a->findings[i].stack;
	const struct code_place *place = &a->frames[a->stacks[stack].first + frame];

	return (struct analysis_frame){name_text(a, place->func), name_text(a, place->file), place->line};
}

void finding_not_applicable(struct analysis *a, const char *id, const char *why)
{
	if (a->nnot_applicable < MAX_FINDINGS)
		a->not_applicable[a->nnot_applicable++] = (struct not_applicable){id, why};
}

bool finding_is_of_others(const struct finding *finding)
{
	return strcmp(finding->id, "neighbour") == 0;
}
