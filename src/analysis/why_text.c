/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The path as lines. Lines that are further indented explain the line above them, and sum to it. */
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/kinds.h"
#include "analysis/locks.h"
#include "analysis/path.h"
#include "util/json.h"
#include "util/text.h"

enum { LINES = 12, MAX_SHOWN_DEPTH = 8 };

/* Segments of one parent that look the same, as one line. */
struct chain_line {
	struct path_segment first;
	uint32_t parent; /* of the first one */
	uint64_t ns, n;
	uint32_t longest; /* 1 + index of the longest segment, whose children are shown */
	uint64_t longest_ns;
};

static const char *what(const struct path_segment *segment)
{
	static const char *const notes[] = {
		[NOTE_BEFORE] = "since before",
		[NOTE_NO_WAKER] = NULL,
		[NOTE_UNKNOWN] = "not recorded",
		[NOTE_DEEP] = NULL,
	};

	if (segment->activity == ACT_NONE)
		return notes[segment->note] ? notes[segment->note] : "not recorded";
	return activity_name((enum activity)segment->activity);
}

static struct label where(const struct analysis *a, const struct path_segment *segment)
{
	struct label label = {""}, place;

	if (segment->activity == ACT_RUNNABLE) {
		snprintf(label.text, sizeof(label.text), "%s", delay_name((enum delay)segment->delay));
		return label;
	}
	if (segment->stack) {
		place = label_stack(a, segment->stack);
		snprintf(label.text, sizeof(label.text), "%s", place.text);
	}
	if (segment->note == NOTE_NO_WAKER && segment->activity != ACT_OTHER)
		snprintf(label.text + strlen(label.text), sizeof(label.text) - strlen(label.text),
			 " [woken by no goroutine]");
	return label;
}

static bool alike(const struct path_segment *one, const struct path_segment *other)
{
	return one->goid == other->goid && one->activity == other->activity && one->stack == other->stack &&
	       one->delay == other->delay && one->note == other->note;
}

/* Returns the lines of all children of a parent, by first occurrence. NULL when out of memory. */
static struct chain_line *gather(const struct why *why, uint32_t parent, size_t from, size_t *n,
				 size_t *until)
{
	uint64_t end = parent ? why->segments[parent - 1].end : why->end;
	struct chain_line *lines = calloc(why->nsegments + 1 - from, sizeof(*lines));
	size_t i;

	*n = 0;
	for (i = from; lines && i < why->nsegments && why->segments[i].start < end; i++) {
		const struct path_segment *segment = &why->segments[i];
		uint64_t ns = segment->end - segment->start;
		size_t j = 0;

		if (segment->parent != parent)
			continue;
		while (j < *n && !alike(&lines[j].first, segment))
			j++;
		if (j == *n)
			lines[(*n)++] = (struct chain_line){.first = *segment};
		lines[j].ns += ns;
		lines[j].n++;
		if (ns > lines[j].longest_ns) {
			lines[j].longest_ns = ns;
			lines[j].longest = (uint32_t)i + 1;
		}
	}
	*until = i;
	return lines;
}

static int by_time(const void *one, const void *other)
{
	const struct chain_line *a = one, *b = other;

	return a->first.start < b->first.start ? -1 : a->first.start > b->first.start;
}

static int by_weight(const void *one, const void *other)
{
	const struct chain_line *a = one, *b = other;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

struct printer {
	const struct why *why;
	const struct analysis *a;
	FILE *out;
	unsigned width;
	uint64_t leaf_ns; /* the heaviest leaf */
	struct label leaf;
};

static void print_lines(struct printer *printer, uint32_t parent, size_t from, unsigned depth);

static void print_line(struct printer *printer, const struct chain_line *line, unsigned depth)
{
	const struct path_segment *first = &line->first;
	struct label place = where(printer->a, first);
	char times[32] = "";
	unsigned used = 24 + 2 * depth;

	if (line->n > 1)
		snprintf(times, sizeof(times), " x%llu", (unsigned long long)line->n);
	fprintf(printer->out, "%*s%8s  %-12s g%-5llu %s%s\n", (int)(2 * depth), "", label_time(line->ns).text,
		what(first), (unsigned long long)first->goid,
		text_name(place.text, strlen(place.text),
			  printer->width > used + 20 ? printer->width - used : 20)
			.bytes,
		times);
}

/* Prints words, wrapped at the width and indented by `indent` columns. */
static void print_wrapped(const struct printer *printer, const char *text, unsigned indent)
{
	unsigned at = indent;

	fprintf(printer->out, "%*s", (int)indent, "");
	while (*text) {
		unsigned n = (unsigned)strcspn(text, " ");

		if (at > indent && at + 1 + n > printer->width) {
			fprintf(printer->out, "\n%*s", (int)indent + 2, "");
			at = indent + 2;
		} else if (at > indent) {
			fputc(' ', printer->out);
			at++;
		}
		fwrite(text, 1, n, printer->out);
		at += n;
		text += n + (text[n] == ' ');
	}
	fputc('\n', printer->out);
}

/* Prints the lock that a segment waited for, and its holder. */
static void print_lock(const struct printer *printer, const struct path_segment *segment, unsigned depth)
{
	const struct lock *lock = &printer->a->locks[segment->lock];
	struct label label = label_lock(lock), taken = label_stack(printer->a, segment->lock_taken);
	struct label released = label_stack(printer->a, segment->waker_stack);
	struct text taken_in = text_name(taken.text, strlen(taken.text), 120);
	struct text released_in = text_name(released.text, strlen(released.text), 120);
	unsigned long long waker = segment->waker;
	char text[600];

	if (!segment->lock)
		return;
	if (!waker || !segment->waker_stack)
		snprintf(text, sizeof(text), "%s", label.text);
	else if (!lock_is_held(lock))
		snprintf(text, sizeof(text), "%s, ended by g%llu in %s", label.text, waker,
			 released_in.bytes);
	else if (!segment->lock_taken)
		snprintf(text, sizeof(text), "%s, held by g%llu, which released it in %s", label.text, waker,
			 released_in.bytes);
	else
		snprintf(text, sizeof(text), "%s, held by g%llu, which took it in %s and released it in %s",
			 label.text, waker, taken_in.bytes, released_in.bytes);
	print_wrapped(printer, text, 2 * depth + 10);
}

static bool has_children(const struct why *why, uint32_t index)
{
	return index < why->nsegments && why->segments[index].parent == index;
}

static void note_leaf(struct printer *printer, const struct chain_line *line)
{
	struct label place = where(printer->a, &line->first);

	if (line->ns <= printer->leaf_ns || line->first.activity == ACT_NONE ||
	    line->first.activity == ACT_UNWATCHED)
		return;
	printer->leaf_ns = line->ns;
	snprintf(printer->leaf.text, sizeof(printer->leaf.text), "%s in g%llu%s%.*s", what(&line->first),
		 (unsigned long long)line->first.goid, place.text[0] ? ", " : "", text_fit(place.text, 110),
		 place.text);
}

static void print_lines(struct printer *printer, uint32_t parent, size_t from, unsigned depth)
{
	size_t n, until, shown;
	uint64_t rest = 0;
	struct chain_line *lines = gather(printer->why, parent, from, &n, &until);

	if (!lines)
		return;
	shown = n < LINES ? n : LINES;
	qsort(lines, n, sizeof(*lines), by_weight);
	for (size_t i = shown; i < n; i++)
		rest += lines[i].ns;
	qsort(lines, shown, sizeof(*lines), by_time);
	for (size_t i = 0; i < shown; i++) {
		print_line(printer, &lines[i], depth);
		print_lock(printer, &printer->why->segments[lines[i].longest - 1], depth);
		if (depth < MAX_SHOWN_DEPTH && has_children(printer->why, lines[i].longest))
			print_lines(printer, lines[i].longest, lines[i].longest, depth + 1);
		else
			note_leaf(printer, &lines[i]);
	}
	if (n > shown)
		fprintf(printer->out, "%*s%8s  ... %zu more\n", (int)(2 * depth), "", label_time(rest).text,
			n - shown);
	free(lines);
}

static void print_typical(const struct why *why, FILE *out)
{
	if (!why->ntypical)
		return;
	fprintf(out, "\n%-14s %10s %10s\n", "its goroutine", "this one", "p40-p60");
	for (unsigned i = 1; i < ACT_COUNT; i++) {
		uint64_t mean = why->typical[i] / why->ntypical;

		if (why->spent[i] || mean)
			fprintf(out, "%-14s %10s %10s\n", activity_name((enum activity)i),
				label_time(why->spent[i]).text, label_time(mean).text);
	}
	fprintf(out, "%-14s %10s %10s\n", "sum", label_time(why->end - why->begin).text,
		label_time(why->typical_ns / why->ntypical).text);
}

static void print_head(const struct why *why, const struct analysis *a, FILE *out)
{
	const struct why_question *question = &why->question;
	const char *kind = why_kind_name(question->kind);
	char order[48] = "slowest";

	if (question->slowest > 1)
		snprintf(order, sizeof(order), "%u%s slowest", question->slowest,
			 question->slowest == 2   ? "nd"
			 : question->slowest == 3 ? "rd"
						  : "th");
	if (question->kind == WHY_GOROUTINE)
		fprintf(out, "goroutine %llu", (unsigned long long)question->goroutine);
	else if (question->at_ns != UINT64_MAX)
		fprintf(out, "%s %s, one of %llu", kind,
			text_name(question->name, strlen(question->name), 60).bytes,
			(unsigned long long)why->n);
	else
		fprintf(out, "%s %s, %s of %llu", kind,
			text_name(question->name, strlen(question->name), 60).bytes, order,
			(unsigned long long)why->n);
	fprintf(out, ": %s at %s, g%llu\n", label_time(why->end - why->begin).text,
		label_time(why->begin - a->begin).text, (unsigned long long)why->goid);
}

void why_text(const struct why *why, const struct analysis *a, FILE *out, const struct report_style *style)
{
	struct printer printer = {.why = why, .a = a, .out = out, .width = style->width ? style->width : 80};

	print_head(why, a, out);
	print_lines(&printer, 0, 0, 0);
	fprintf(out, "%8s  = sum", label_time(why->end - why->begin).text);
	if (printer.leaf_ns)
		fprintf(out, "; without %s: saves at most %s", printer.leaf.text,
			label_time(printer.leaf_ns).text);
	fputc('\n', out);
	print_typical(why, out);
}

/* The waker held the lock. */
static void put_lock(struct json *json, const struct analysis *a, const struct path_segment *segment)
{
	const struct lock *lock = &a->locks[segment->lock];

	if (!segment->lock)
		return;
	json_text(json, "lock", label_lock(lock).text);
	if (!segment->waker || !lock_is_held(lock))
		return;
	json_number(json, "holder", segment->waker);
	if (segment->lock_taken)
		json_text(json, "taken_at", label_stack(a, segment->lock_taken).text);
	if (segment->waker_stack)
		json_text(json, "released_at", label_stack(a, segment->waker_stack).text);
}

static void put_segment(struct json *json, const struct why *why, const struct analysis *a,
			const struct path_segment *segment)
{
	struct label place = label_stack(a, segment->stack), waker = label_stack(a, segment->waker_stack);

	json_open(json, NULL, '{');
	json_number(json, "depth", segment->depth);
	if (segment->parent)
		json_number(json, "explains", segment->parent - 1);
	json_number(json, "start_ns", segment->start - a->begin);
	json_number(json, "duration_ns", segment->end - segment->start);
	json_number(json, "goroutine", segment->goid);
	json_text(json, "for", what(segment));
	if (segment->activity == ACT_RUNNABLE)
		json_text(json, "cause", delay_name((enum delay)segment->delay));
	if (segment->stack)
		json_text(json, "where", place.text);
	if (segment->waker) {
		json_number(json, "waker", segment->waker);
		if (segment->waker_stack)
			json_text(json, "woken_at", waker.text);
	}
	put_lock(json, a, segment);
	json_close(json, '}');
	(void)why;
}

void why_json(const struct why *why, const struct analysis *a, FILE *out)
{
	struct json json = {.out = out};

	json_open(&json, NULL, '{');
	json_number(&json, "schema", 1);
	json_number(&json, "begin_ns", why->begin - a->begin);
	json_number(&json, "duration_ns", why->end - why->begin);
	json_number(&json, "goroutine", why->goid);
	json_number(&json, "instances", why->n);
	json_open(&json, "path", '[');
	for (size_t i = 0; i < why->nsegments; i++)
		put_segment(&json, why, a, &why->segments[i]);
	json_close(&json, ']');
	json_open(&json, "typical_ns", '{');
	for (unsigned i = 1; i < ACT_COUNT; i++) {
		if (why->typical[i])
			json_number(&json, activity_name((enum activity)i), why->typical[i] / why->ntypical);
	}
	json_close(&json, '}');
	json_close(&json, '}');
	fputc('\n', out);
}
