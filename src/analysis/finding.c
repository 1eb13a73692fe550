/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One finding: its sentence, its evidence, and the command that shows more. */
#include "analysis/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "util/utf8.h"

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

static bool weighs_less(const struct finding *one, const struct finding *other)
{
	return one->level != other->level ? one->level < other->level : one->impact < other->impact;
}

/* In a full table, a new finding takes the place of the one that weighs least: rules that come late are no
 * less important. If none weighs less than it, and none is information, returns a place that is never read.
 */
static struct finding *finding_place(struct analysis *a, const struct finding *made)
{
	static struct finding scratch;
	struct finding *least = &a->findings[0];

	if (a->nfindings < ANALYSIS_FINDINGS)
		return &a->findings[a->nfindings++];
	for (unsigned i = 1; i < a->nfindings; i++) {
		if (weighs_less(&a->findings[i], least))
			least = &a->findings[i];
	}
	return weighs_less(least, made) || least->level == LEVEL_INFO ? least : &scratch;
}

struct finding *finding_add(struct analysis *a, const char *id, double impact)
{
	struct finding made = {.id = id, .most = LEVEL_HIGH}, *finding;

	finding_weigh(&made, impact);
	finding = finding_place(a, &made);
	*finding = made;
	return finding;
}

/* Names in it may be long, and in any alphabet. */
static void print_whole(char *text, size_t size, const char *fmt, va_list args)
{
	if (vsnprintf(text, size, fmt, args) >= (int)size)
		text[text_whole(text, size - 1)] = '\0';
}

void finding_text(struct finding *finding, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_whole(finding->text, sizeof(finding->text), fmt, args);
	va_end(args);
}

void finding_evidence(struct finding *finding, const char *fmt, ...)
{
	va_list args;

	if (finding->nevidence >= sizeof(finding->evidence) / sizeof(finding->evidence[0]))
		return;
	va_start(args, fmt);
	print_whole(finding->evidence[finding->nevidence++], sizeof(finding->evidence[0]), fmt, args);
	va_end(args);
}

void finding_next(struct finding *finding, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_whole(finding->next, sizeof(finding->next), fmt, args);
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
	const struct stack_info *info = &a->stacks[stack < a->nstacks ? stack : 0];
	const struct code_place none = {0},
				*place = frame < info->n ? &a->frames[info->first + frame] : &none;

	return (struct analysis_frame){name_text(a, place->func), name_text(a, place->file), place->line};
}

void finding_not_applicable(struct analysis *a, const char *id, const char *why)
{
	bool known = a->nnot_applicable && strcmp(a->not_applicable[a->nnot_applicable - 1].id, id) == 0;

	if (!known && a->nnot_applicable < MOST_NOT_APPLICABLE)
		a->not_applicable[a->nnot_applicable++] = (struct not_applicable){id, why};
}

bool finding_is_of_others(const struct finding *finding)
{
	return strcmp(finding->id, "neighbour") == 0;
}
