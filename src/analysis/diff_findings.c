/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/diff.h"

#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "util/text.h"

enum { COUNTS = 6 };

#define MUCH 0.2 /* impact */
#define FAR  4.0 /* times as much */

/* --- findings --- */

static bool part_is_same(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

/* By rule and function: lines change with the code. */
static const struct finding *same_finding(const struct analysis *a, const struct analysis *other,
					  const struct finding *finding)
{
	const char *func = name_text(other, stack_site(other, finding->stack)->func);

	for (unsigned i = 0; i < a->nfindings; i++) {
		if (strcmp(a->findings[i].id, finding->id) == 0 &&
		    part_is_same(a->findings[i].part, finding->part) &&
		    strcmp(name_text(a, stack_site(a, a->findings[i].stack)->func), func) == 0)
			return &a->findings[i];
	}
	return NULL;
}

/* By how much more is lost in a second; 0 if one does not say how much. */
static double finding_growth(const struct analysis *a, const struct finding *before, const struct analysis *b,
			     const struct finding *after)
{
	if (!before || !after || !before->total_ns || !after->total_ns)
		return 0;
	return (double)after->total_ns / (double)before->total_ns * (double)watched_ns(a) /
	       ((double)watched_ns(b) + 1);
}

static void print_finding_change(const char *verdict, const struct finding *before,
				 const struct finding *after, double growth, FILE *out)
{
	const struct finding *one = after ? after : before;
	int fits = text_fit(one->text, 150);
	char levels[40];

	if (before && after && before->level != after->level)
		snprintf(levels, sizeof(levels), "%s > %s", finding_level(before), finding_level(after));
	else if (growth)
		snprintf(levels, sizeof(levels), "%s x%.20s", finding_level(one), label_number(growth).text);
	else
		snprintf(levels, sizeof(levels), "%s", finding_level(one));
	fprintf(out, "%-8s %-14s %s\n  %.*s%s\n", verdict, levels, one->id, fits, one->text,
		one->text[fits] ? "..." : "");
}

/* Information that is much of one trace, and nothing or far less of the other, is a change, too. */
static bool is_worth_it(const struct finding *before, const struct finding *after, double growth)
{
	bool much = (before && before->impact >= MUCH) || (after && after->impact >= MUCH);

	return (before && before->level > LEVEL_INFO) || (after && after->level > LEVEL_INFO) ||
	       (much && (!before || !after || growth >= FAR || (growth && growth * FAR <= 1)));
}

static void print_finding_changes(const struct analysis *before, const struct analysis *after, FILE *out,
				  const struct report_style *style)
{
	bool any = false;

	fprintf(out, "\n%sFINDINGS%s\n", style->color ? "\033[1m" : "", style->color ? "\033[0m" : "");
	for (unsigned i = 0; i < after->nfindings; i++) {
		const struct finding *now = &after->findings[i], *then = same_finding(before, after, now);
		double growth = finding_growth(before, then, after, now);

		if (!style->all && !is_worth_it(then, now, growth))
			continue;
		print_finding_change(then ? "in both" : "new", then, now, growth, out);
		any = true;
	}
	for (unsigned i = 0; i < before->nfindings; i++) {
		const struct finding *then = &before->findings[i];

		if (same_finding(after, before, then) || (!style->all && !is_worth_it(then, NULL, 0)))
			continue;
		print_finding_change("gone", then, NULL, 0, out);
		any = true;
	}
	if (!any)
		fprintf(out, "none above info in either\n");
}

/* --- counts --- */

struct count {
	const char *what, *key;
	double n;
};

static void counts_of(const struct analysis *a, struct count counts[COUNTS])
{
	double seconds = (double)watched_ns(a) / 1e9, tasks = 0;

	for (size_t i = 1; i < a->ninstances; i++)
		tasks += a->instances[i].kind == INSTANCE_TASK ? (double)a->instances[i].hist.n : 0;
	seconds = seconds > 0 ? seconds : 1;
	counts[0] = (struct count){"goroutines at the start", "alive_at_start", (double)a->alive_start};
	counts[1] = (struct count){"goroutines at the end", "alive_at_end", (double)a->alive};
	counts[2] = (struct count){"goroutines created a second", "created_per_second",
				   (double)a->created / seconds};
	counts[3] = (struct count){"tasks a second", "tasks_per_second", tasks / seconds};
	counts[4] = (struct count){"GC cycles a second", "gc_per_second", (double)a->gc.cycles / seconds};
	counts[5] =
		(struct count){"CPU samples a second", "samples_per_second", (double)a->samples / seconds};
}

static void print_counts(const struct analysis *before, const struct analysis *after, FILE *out,
			 const struct report_style *style)
{
	struct count then[COUNTS], now[COUNTS];

	counts_of(before, then);
	counts_of(after, now);
	fprintf(out, "\n%sCOUNTS%s\n", style->color ? "\033[1m" : "", style->color ? "\033[0m" : "");
	for (unsigned i = 0; i < COUNTS; i++) {
		const char *what = now[i].what;

		if (then[i].n <= 0 && now[i].n <= 0)
			continue;
		if (is_of_threads(after) && strncmp(what, "goroutines", 10) == 0)
			fprintf(out, "%9.4g >%9.4g  threads%s\n", then[i].n, now[i].n, what + 10);
		else
			fprintf(out, "%9.4g >%9.4g  %s\n", then[i].n, now[i].n, what);
	}
}

void diff_findings_text(const struct analysis *before, const struct analysis *after, FILE *out,
			const struct report_style *style)
{
	print_finding_changes(before, after, out, style);
	print_counts(before, after, out, style);
}

static void put_finding_change(struct json *json, const char *verdict, const struct finding *before,
			       const struct finding *after)
{
	json_open(json, NULL, '{');
	json_text(json, "verdict", verdict);
	json_text(json, "id", after ? after->id : before->id);
	if (before) {
		json_text(json, "level_before", finding_level(before));
		json_real(json, "impact_before", before->impact);
	}
	if (after) {
		json_text(json, "level_after", finding_level(after));
		json_real(json, "impact_after", after->impact);
	}
	json_text(json, "text", after ? after->text : before->text);
	json_close(json, '}');
}

void diff_findings_json(const struct analysis *before, const struct analysis *after, struct json *json)
{
	struct count then[COUNTS], now[COUNTS];

	json_open(json, "findings", '[');
	for (unsigned i = 0; i < after->nfindings; i++) {
		const struct finding *known = same_finding(before, after, &after->findings[i]);

		put_finding_change(json, known ? "both" : "new", known, &after->findings[i]);
	}
	for (unsigned i = 0; i < before->nfindings; i++) {
		if (!same_finding(after, before, &before->findings[i]))
			put_finding_change(json, "gone", &before->findings[i], NULL);
	}
	json_close(json, ']');
	counts_of(before, then);
	counts_of(after, now);
	json_open(json, "counts", '{');
	for (unsigned i = 0; i < COUNTS; i++) {
		json_open(json, now[i].key, '{');
		json_real(json, "before", then[i].n);
		json_real(json, "after", now[i].n);
		json_close(json, '}');
	}
	json_close(json, '}');
}
