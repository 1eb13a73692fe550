/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Compares instances of tasks, regions and goroutines by their medians, and waits and functions by their time
 * per task, or per second if there are no tasks. Neighbouring instances are alike, which makes a test of all
 * of them overconfident: the medians of twenty time slices must differ, too.
 */
#include "analysis/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/order.h"
#include "analysis/top.h"
#include "analysis/words.h"
#include "util/array.h"
#include "util/json.h"
#include "util/text.h"

enum { SLICES = 20, MIN_N = 5, ROWS_SHOWN = 12, GROWN_SHOWN = 3 };
#define MIN_CHANGE      0.05
#define MIN_CHANGE_NS   10000.0
#define FALSE_DISCOVERY 0.05

enum verdict { SAME, CHANGED, TOO_FEW, NOT_TESTED };

struct change {
	uint8_t kind;     /* enum section */
	uint8_t activity; /* of waits */
	uint8_t verdict;  /* enum verdict */
	char name[160];
	double before, after; /* ns: median, or time per task or second */
	bool is_idle;         /* waits for the next request, or for work */
	double cut_before; /* ns: the same of waits that are not in `before`: the trace has not all of them */
	uint64_t n_before, n_after;
	double p, low, high; /* low, high: of the ratio; 0 = unknown */
	double weight;
};

enum section {
	DIFF_TASKS,
	DIFF_REGIONS,
	DIFF_LABELS,
	DIFF_LIVES,
	DIFF_WAITS,
	DIFF_FUNCTIONS,
	DIFF_TRACE,
	SECTIONS
};

struct diff {
	const struct analysis *before, *after;
	double per_before, per_after; /* tasks, or seconds */
	bool per_task;
	struct change *all;
	size_t n, capacity;
	bool oom;
};

static struct change *diff_add(struct diff *diff, enum section kind, const char *name)
{
	struct change *change;

	if (array_grow(&diff->all, &diff->capacity, diff->n + 1, sizeof(*diff->all))) {
		diff->oom = true;
		return NULL;
	}
	change = &diff->all[diff->n++];
	*change = (struct change){.kind = (uint8_t)kind, .p = -1, .verdict = NOT_TESTED};
	snprintf(change->name, sizeof(change->name), "%.*s", text_fit(name, sizeof(change->name) - 1), name);
	return change;
}

/* --- instances --- */

static const struct instances *same_instances(const struct analysis *a, const char *name, unsigned kind)
{
	for (size_t i = 1; i < a->ninstances; i++) {
		if (a->instances[i].kind == kind && strcmp(name_text(a, a->instances[i].name), name) == 0)
			return &a->instances[i];
	}
	return NULL;
}

/* Computes the medians of the sample's time slices, without empty slices. Returns their number. */
static size_t slice_medians(const struct analysis *a, const struct instances *all, float medians[SLICES])
{
	double width = (double)(a->end - a->begin) / 1e6 / SLICES;
	float values[RESERVOIR];
	size_t n = 0;

	for (unsigned slice = 0; slice < SLICES; slice++) {
		size_t m = 0;

		for (unsigned i = 0; i < all->nsample; i++) {
			if (width > 0 && (unsigned)((double)all->sample_when[i] / width) == slice)
				values[m++] = all->sample[i];
		}
		if (m)
			medians[n++] = (float)median(values, m);
	}
	return n;
}

static void test(const struct diff *diff, struct change *change, const struct instances *before,
		 const struct instances *after)
{
	float one[SLICES], other[SLICES];
	size_t n_one = slice_medians(diff->before, before, one),
	       n_other = slice_medians(diff->after, after, other);
	double by_slice = mann_whitney(one, n_one, other, n_other);

	change->p = mann_whitney(before->sample, before->nsample, after->sample, after->nsample);
	/* With too few slices, only the test of all instances counts. */
	if (n_one >= MIN_N && n_other >= MIN_N && by_slice > change->p)
		change->p = by_slice;
	change->verdict = SAME;
	if (before->hist.n < MIN_N || after->hist.n < MIN_N) {
		change->verdict = TOO_FEW;
		change->p = -1;
	}
	ratio_interval(before->sample, before->nsample, after->sample, after->nsample, &change->low,
		       &change->high);
}

static void compare_instances(struct diff *diff)
{
	static const uint8_t sections[] = {[INSTANCE_TASK] = DIFF_TASKS,
					   [INSTANCE_REGION] = DIFF_REGIONS,
					   [INSTANCE_LIFE] = DIFF_LIVES,
					   [INSTANCE_LABEL] = DIFF_LABELS};

	for (size_t i = 1; i < diff->after->ninstances; i++) {
		const struct instances *after = &diff->after->instances[i], *before;
		const char *name = name_text(diff->after, after->name);
		struct change *change;

		if (diff->after->options.label && after->kind == INSTANCE_LIFE)
			continue;
		before = same_instances(diff->before, name, after->kind);
		change = before && after->hist.n ? diff_add(diff, sections[after->kind], name) : NULL;
		if (!change)
			continue;
		change->before = (double)histogram_quantile(&before->hist, 0.5);
		change->after = (double)histogram_quantile(&after->hist, 0.5);
		change->n_before = before->hist.n;
		change->n_after = after->hist.n;
		change->weight = fabs((double)after->hist.sum / diff->per_after -
				      (double)before->hist.sum / diff->per_before);
		test(diff, change, before, after);
	}
}

/* --- waits and functions: sums --- */

/* A site in both traces, by name: line numbers change with the code. */
struct sum {
	char name[160];
	uint8_t section, activity;
	bool is_idle;
	double before, after, cut_before;
	uint64_t n_before, n_after;
};

struct sums {
	struct sum *all;
	size_t n, capacity;
};

static struct sum *sum_get(struct diff *diff, struct sums *sums, unsigned section, unsigned activity,
			   const char *name)
{
	int len = text_fit(name, sizeof(((struct sum *)0)->name) - 1);
	struct sum *sum;

	for (size_t i = 0; i < sums->n; i++) {
		sum = &sums->all[i];
		if (sum->section == section && sum->activity == activity &&
		    strncmp(sum->name, name, (size_t)len) == 0 && !sum->name[len])
			return sum;
	}
	if (array_grow(&sums->all, &sums->capacity, sums->n + 1, sizeof(*sums->all))) {
		diff->oom = true;
		return NULL;
	}
	sum = &sums->all[sums->n++];
	sum->section = (uint8_t)section;
	sum->activity = (uint8_t)activity;
	snprintf(sum->name, sizeof(sum->name), "%.*s", len, name);
	return sum;
}

static void diff_count(struct diff *diff, struct sum *sum, const struct analysis *a, double ns, uint64_t n)
{
	if (!sum)
		return;
	if (a == diff->before) {
		sum->before += ns;
		sum->n_before += n;
	} else {
		sum->after += ns;
		sum->n_after += n;
	}
}

static void sum_up(struct diff *diff, const struct analysis *a, struct sums *sums)
{
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		struct sum *sum;

		if ((!row->hist.n && !row->cut_ns) || a->groups[top_first(row->functions)->key].system)
			continue;
		sum = sum_get(diff, sums, DIFF_WAITS, row->activity,
			      name_text(a, stack_site(a, row->stack)->func));
		diff_count(diff, sum, a, (double)row->hist.sum, row->hist.n);
		if (sum)
			sum->is_idle |= row_is_idle(a, row);
		if (sum && a == diff->before)
			sum->cut_before += (double)row->cut_ns;
	}
	/* The times of a function's goroutines are not known by label. */
	for (size_t i = 1; i < a->ngroups && !a->options.label; i++) {
		const struct group *group = &a->groups[i];

		if (!group->system)
			diff_count(diff,
				   sum_get(diff, sums, DIFF_FUNCTIONS, ACT_CODE, name_text(a, group->func)),
				   a, (double)(group->spent[ACT_CODE] + group->spent[ACT_ASSIST]),
				   group->created + group->at_start);
	}
}

static void compare_sums(struct diff *diff)
{
	struct sums sums = {0};

	sum_up(diff, diff->before, &sums);
	sum_up(diff, diff->after, &sums);
	for (size_t i = 0; i < sums.n; i++) {
		const struct sum *sum = &sums.all[i];
		bool counts = sum->name[0] && (sum->n_before || sum->n_after || sum->section != DIFF_WAITS);
		struct change *change = counts ? diff_add(diff, sum->section, sum->name) : NULL;

		if (!change)
			continue;
		change->activity = sum->activity;
		change->before = sum->before / diff->per_before;
		change->after = sum->after / diff->per_after;
		change->is_idle = sum->is_idle;
		change->cut_before = sum->cut_before / diff->per_before;
		change->n_before = sum->n_before;
		change->n_after = sum->n_after;
		change->weight = fabs(change->after - change->before);
	}
	free(sums.all);
}

/* --- the whole --- */

static void count_per(struct diff *diff)
{
	double tasks[2] = {0};
	const struct analysis *both[] = {diff->before, diff->after};

	for (unsigned side = 0; side < 2; side++) {
		for (size_t i = 1; i < both[side]->ninstances; i++)
			tasks[side] += both[side]->instances[i].kind == INSTANCE_TASK
					       ? (double)both[side]->instances[i].hist.n
					       : 0;
	}
	diff->per_task = tasks[0] > 0 && tasks[1] > 0;
	diff->per_before = diff->per_task ? tasks[0] : (double)watched_ns(diff->before) / 1e9;
	diff->per_after = diff->per_task ? tasks[1] : (double)watched_ns(diff->after) / 1e9;
	if (diff->per_before <= 0 || diff->per_after <= 0)
		diff->per_before = diff->per_after = 1;
}

static void compare_traces(struct diff *diff)
{
	const struct analysis *both[] = {diff->before, diff->after};
	double seconds[2], gc[2], p99[2];
	struct change *change;

	for (unsigned i = 0; i < 2; i++) {
		seconds[i] = (double)watched_ns(both[i]) / 1e9;
		gc[i] = seconds[i] > 0 ? (double)both[i]->gc.cycles_ns / seconds[i] : 0;
		p99[i] = (double)histogram_quantile(&both[i]->latency, 0.99);
	}
	change =
		both[0]->gc.cycles || both[1]->gc.cycles ? diff_add(diff, DIFF_TRACE, "GC per second") : NULL;
	if (change) {
		change->before = gc[0];
		change->after = gc[1];
		change->n_before = both[0]->gc.cycles;
		change->n_after = both[1]->gc.cycles;
	}
	change = diff_add(diff, DIFF_TRACE, "scheduling latency, p99");
	if (change) {
		change->before = p99[0];
		change->after = p99[1];
		change->n_before = both[0]->latency.n;
		change->n_after = both[1]->latency.n;
	}
}

static bool is_large(const struct change *change)
{
	double by = fabs(change->after - change->before), of = fmax(change->before, change->after);

	return by >= MIN_CHANGE * of && by >= MIN_CHANGE_NS;
}

static void judge(struct diff *diff)
{
	double *p = calloc(diff->n + 1, sizeof(*p));
	unsigned char *keep = calloc(diff->n + 1, 1);

	if (!p || !keep) {
		diff->oom = true;
	} else {
		for (size_t i = 0; i < diff->n; i++)
			p[i] = diff->all[i].p;
		false_discovery(p, diff->n, FALSE_DISCOVERY, keep);
		for (size_t i = 0; i < diff->n; i++) {
			if (keep[i] && is_large(&diff->all[i]))
				diff->all[i].verdict = CHANGED;
		}
	}
	free(p);
	free(keep);
}

static int diff_by_place(const void *one, const void *other)
{
	const struct change *a = one, *b = other;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->weight < b->weight || a->weight > b->weight)
		return a->weight > b->weight ? -1 : 1;
	return strcmp(a->name, b->name);
}

struct diff *diff_new(struct analysis *before, struct analysis *after)
{
	struct diff *diff = calloc(1, sizeof(*diff));

	if (!diff)
		return NULL;
	diff->before = before;
	diff->after = after;
	count_per(diff);
	compare_instances(diff);
	compare_sums(diff);
	compare_traces(diff);
	judge(diff);
	if (diff->oom) {
		diff_free(diff);
		return NULL;
	}
	if (diff->n)
		qsort(diff->all, diff->n, sizeof(*diff->all), diff_by_place);
	return diff;
}

void diff_free(struct diff *diff)
{
	if (diff)
		free(diff->all);
	free(diff);
}

/* --- output --- */

static const char *const verdicts[] = {"not changed", "changed", "too few", ""};

static void print_change(const struct change *change, bool of_threads, FILE *out)
{
	struct label label = label_text(change->name, of_threads);
	const char *name = change->kind == DIFF_LABELS ? change->name : label.text;
	char ratio[80] = "";

	if (change->before > 0)
		snprintf(ratio, sizeof(ratio), "x%.20s", label_number(change->after / change->before).text);
	if (change->low > 0)
		snprintf(ratio + strlen(ratio), sizeof(ratio) - strlen(ratio), " [%.20s,%.20s]",
			 label_number(change->low).text, label_number(change->high).text);
	fprintf(out, "%9s >%9s  %-22s %-12s %s%s%s\n", label_time((uint64_t)change->before).text,
		label_time((uint64_t)change->after).text, ratio, verdicts[change->verdict],
		change->kind == DIFF_WAITS ? activity_name((enum activity)change->activity) : "",
		change->kind == DIFF_WAITS ? " " : "", text_name(name, strlen(name), 50).bytes);
	if (change->verdict == CHANGED)
		fprintf(out, "%22s n %llu > %llu, p %s%.2g\n", "", (unsigned long long)change->n_before,
			(unsigned long long)change->n_after, change->p < 0.001 ? "<" : "",
			change->p < 0.001 ? 0.001 : change->p);
}

/* Sums are shown if their change is large. */
static bool diff_is_shown(const struct change *change, const struct report_style *style)
{
	return style->all || change->kind <= DIFF_LABELS || change->kind == DIFF_TRACE ||
	       change->verdict == CHANGED || (change->verdict == NOT_TESTED && is_large(change));
}

static void print_warnings(const struct diff *diff, FILE *out)
{
	if (diff->before->most_procs != diff->after->most_procs)
		fprintf(out, "%s: %u in A, %u in B: times are not comparable\n",
			words_of(diff->after)->most_places, diff->before->most_procs,
			diff->after->most_procs);
	if (diff->before->unwatched_ns || diff->after->unwatched_ns)
		fprintf(out, "not watched: %s of A, %s of B\n", label_time(diff->before->unwatched_ns).text,
			label_time(diff->after->unwatched_ns).text);
}

#define MIN_GROWN 0.25 /* of a second, in each second or for each task */

/* By how much a wait has grown, ns, counting what the first trace has only in part; 0 = not twice as much, or
 * not worth a look. */
static double grown_by(const struct change *change)
{
	double before = change->before + change->cut_before;

	if (change->kind != DIFF_WAITS || change->is_idle || change->activity == ACT_RUNNABLE ||
	    change->after < 2 * before || change->after - before < MIN_GROWN * 1e9)
		return 0;
	return change->after - before;
}

/* The waits that have grown most, first: no finding need be about them. */
static void print_grown(const struct diff *diff, FILE *out, const struct report_style *style)
{
	const struct change *most[GROWN_SHOWN] = {NULL};
	unsigned n = 0;

	for (size_t i = 0; i < diff->n; i++) {
		const struct change *one = grown_by(&diff->all[i]) > 0 ? &diff->all[i] : NULL;

		for (unsigned k = 0; k < GROWN_SHOWN && one; k++) {
			const struct change *other = most[k];

			if (other && grown_by(other) >= grown_by(one))
				continue;
			most[k] = one;
			n += !other;
			one = other;
		}
	}
	if (n)
		fprintf(out, "\n%sGREW MOST, %s%s\n", style->color ? "\033[1m" : "",
			diff->per_task ? "for each task" : "a second", style->color ? "\033[0m" : "");
	for (unsigned i = 0; i < n; i++)
		print_change(most[i], is_of_threads(diff->after), out);
}

void diff_text(const struct diff *diff, FILE *out, const struct report_style *style)
{
	const char *const titles[SECTIONS] = {[DIFF_TASKS] = "TASKS (median)",
					      [DIFF_REGIONS] = "REGIONS (median)",
					      [DIFF_LABELS] = "LABELS (median)",
					      [DIFF_LIVES] = is_of_threads(diff->after)
								     ? "THREAD LIFETIMES (median)"
								     : "GOROUTINE LIFETIMES (median)",
					      [DIFF_WAITS] = "WAITS AND CALLS",
					      [DIFF_FUNCTIONS] = "RUNNING",
					      [DIFF_TRACE] = "WHOLE TRACE"};
	unsigned shown = 0;
	int section = -1;

	fprintf(out, "A %s: %s; B %s: %s\n", text_path(diff->before->options.name).bytes,
		label_time(diff->before->end - diff->before->begin).text,
		text_path(diff->after->options.name).bytes,
		label_time(diff->after->end - diff->after->begin).text);
	print_warnings(diff, out);
	print_grown(diff, out, style);
	diff_findings_text(diff->before, diff->after, out, style);
	for (size_t i = 0; i < diff->n; i++) {
		const struct change *change = &diff->all[i];

		if (!diff_is_shown(change, style))
			continue;
		if (change->kind != section) {
			section = change->kind;
			shown = 0;
			fprintf(out, "\n%s%s%s%s\n", style->color ? "\033[1m" : "", titles[section],
				section == DIFF_WAITS || section == DIFF_FUNCTIONS
					? diff->per_task ? ", for each task" : ", a second"
					: "",
				style->color ? "\033[0m" : "");
		}
		if (style->all || shown++ < ROWS_SHOWN)
			print_change(change, is_of_threads(diff->after), out);
	}
}

void diff_json(const struct diff *diff, FILE *out)
{
	static const char *const kinds[SECTIONS] = {"task", "region",   "label", "goroutine",
						    "wait", "function", "trace"};
	static const char *const words[] = {"same", "changed", "too few", "not tested"};
	struct json json = {.out = out};

	json_open(&json, NULL, '{');
	json_number(&json, "schema", 1);
	json_text(&json, "per", diff->per_task ? "task" : "second");
	json_open(&json, "changes", '[');
	for (size_t i = 0; i < diff->n; i++) {
		const struct change *change = &diff->all[i];

		json_open(&json, NULL, '{');
		json_text(&json, "kind", kinds[change->kind]);
		json_text(&json, "name", change->name);
		if (change->kind == DIFF_WAITS)
			json_text(&json, "for", activity_name((enum activity)change->activity));
		json_text(&json, "verdict", words[change->verdict]);
		json_real(&json, "before_ns", change->before);
		json_real(&json, "after_ns", change->after);
		json_number(&json, "n_before", change->n_before);
		json_number(&json, "n_after", change->n_after);
		if (change->p >= 0) {
			json_real(&json, "p", change->p);
			json_real(&json, "ratio_low", change->low);
			json_real(&json, "ratio_high", change->high);
		}
		json_close(&json, '}');
	}
	json_close(&json, ']');
	diff_findings_json(diff->before, diff->after, &json);
	json_close(&json, '}');
	fputc('\n', out);
}
