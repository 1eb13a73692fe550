/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The path as lines, one for each place. Lines that are further indented explain the line above them. */
#include <stdlib.h>
#include <string.h>

#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/kinds.h"
#include "analysis/tables.h"
#include "analysis/names.h"
#include "analysis/path.h"
#include "analysis/top.h"
#include "analysis/words.h"
#include "util/array.h"
#include "util/json.h"
#include "util/text.h"
#include "trace/ops/own_names.h"

/* With head, typical instance, lock and sum, 20 lines of a terminal. */
enum { LINES = 11, MOST_NODES = 1 << 16 };

/*
 * Segments of one parent that are the same activity at the same place, of whatever goroutine. In a queue,
 * each waits for the one before it, at the same place: all of these are one node, for what they do in between
 * adds up.
 */
struct path_node {
	struct path_segment first;
	uint64_t ns, n;
	uint64_t longest_ns;
	uint32_t longest;                 /* 1 + index of the longest segment */
	uint32_t child, last_child, next; /* nodes; 0 = none. The first one is the whole. */
	uint32_t parent;
	uint8_t depth;
	uint32_t behind; /* longest such queue, without the first one's own wait */
	bool many;       /* goroutines */
	bool shown;
	struct top sampled[TOPS];    /* of running: samples by row of cpu_profile */
	struct top sampled_at[TOPS]; /* the same, by stack */
	uint64_t samples;
};

struct path_tree {
	struct path_node *nodes;
	size_t n, capacity;
};

static const char *what(const struct path_segment *segment)
{
	static const char *const notes[] = {
		[NOTE_BEFORE] = "since before",
		[NOTE_NO_WAKER] = NULL,
		[NOTE_UNKNOWN] = "not recorded",
		[NOTE_DEEP] = NULL,
	};

	if (segment->off_cpu)
		return "off CPU";
	if (segment->activity == ACT_NONE)
		return notes[segment->note] ? notes[segment->note] : "not recorded";
	return activity_name((enum activity)segment->activity);
}

/* Why it had no CPU. region: the name, as path_segment.off_cpu. */
static struct label off_cpu_reason(const struct analysis *a, uint32_t region)
{
	const char *reason = off_cpu_region_reason(name_text(a, region));
	struct label label = {""};

	if (reason)
		snprintf(label.text, sizeof(label.text), "%.*s", text_fit(reason, 60), reason);
	label.text[strcspn(label.text, "]")] = 0;
	return label;
}

/* It is not known what will end the wait. */
static bool is_unfinished(const struct analysis *a, const struct path_segment *segment)
{
	return segment->note == NOTE_NO_WAKER && segment->end >= a->end;
}

static struct label where(const struct analysis *a, const struct path_segment *segment)
{
	struct label label = {""}, place;

	if (segment->off_cpu)
		return off_cpu_reason(a, segment->off_cpu);
	if (segment->activity == ACT_RUNNABLE) {
		snprintf(label.text, sizeof(label.text), "%s",
			 delay_name(is_of_threads(a), (enum delay)segment->delay));
		return label;
	}
	if (segment->stack) {
		place = label_stack(a, segment->stack);
		snprintf(label.text, sizeof(label.text), "%s", place.text);
	}
	if (is_unfinished(a, segment))
		snprintf(label.text + strlen(label.text), sizeof(label.text) - strlen(label.text),
			 " [not over]");
	else if (segment->note == NOTE_NO_WAKER && segment->activity != ACT_OTHER)
		snprintf(label.text + strlen(label.text), sizeof(label.text) - strlen(label.text),
			 " [woken by no %s]", words_of(a)->one);
	return label;
}

static bool is_at(const struct analysis *a, uint32_t one, uint32_t other)
{
	const struct code_place *at = stack_site(a, one), *there = stack_site(a, other);
	const struct code_place *leaf = stack_leaf(a, one), *inner = stack_leaf(a, other);

	return one == other ||
	       (at->func == there->func && at->line == there->line && leaf->func == inner->func);
}

static bool is_alike(const struct analysis *a, const struct path_segment *one,
		     const struct path_segment *other)
{
	return one->activity == other->activity && one->delay == other->delay && one->note == other->note &&
	       one->off_cpu == other->off_cpu &&
	       (one->activity == ACT_RUNNABLE || is_at(a, one->stack, other->stack));
}

/* Returns the index of the parent's node for this segment, 0 when out of memory or of nodes. */
static uint32_t node_get(struct path_tree *tree, const struct analysis *a, uint32_t parent,
			 const struct path_segment *segment)
{
	uint32_t i = tree->nodes[parent].child, last = tree->nodes[parent].last_child;
	uint32_t made = (uint32_t)tree->n;

	while (i && !is_alike(a, &tree->nodes[i].first, segment))
		i = tree->nodes[i].next;
	if (i || tree->n >= MOST_NODES ||
	    array_grow(&tree->nodes, &tree->capacity, tree->n + 1, sizeof(*tree->nodes)))
		return i;
	tree->n++;
	tree->nodes[made] =
		(struct path_node){.first = *segment,
				   .parent = parent,
				   .depth = (uint8_t)(parent ? tree->nodes[parent].depth + 1 : 0)};
	*(last ? &tree->nodes[last].next : &tree->nodes[parent].child) = made;
	tree->nodes[parent].last_child = made;
	return made;
}

/* Counts the samples that were taken in a running segment. */
static void count_samples(const struct why *why, struct path_node *node, const struct path_segment *segment)
{
	size_t low = 0, high = why->nsamples;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (why->samples[middle].time < segment->start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < why->nsamples && why->samples[low].time < segment->end; low++) {
		if (why->samples[low].goid != segment->goid)
			continue;
		node->samples++;
		top_add(node->sampled, why->samples[low].row, 1);
		top_add(node->sampled_at, why->samples[low].stack, 1);
	}
}

/* Where in a queue a segment is, if its parent waits at the same place, too; else 0. */
static uint32_t place_in_queue(const struct path_tree *tree, const struct analysis *a, uint32_t parent,
			       const struct path_segment *segment, uint32_t above)
{
	return parent && activity_is_wait(segment->activity) &&
			       is_alike(a, &tree->nodes[parent].first, segment)
		       ? above + 1
		       : 0;
}

struct in_tree {
	uint32_t node, behind;
	bool is_explained; /* it has parts */
};

/* Returns false when out of memory. */
static bool tree_fill(struct path_tree *tree, const struct why *why, const struct analysis *a)
{
	struct in_tree *in_tree = calloc(why->nsegments + 1, sizeof(*in_tree));

	if (!in_tree || array_grow(&tree->nodes, &tree->capacity, 1, sizeof(*tree->nodes))) {
		free(in_tree);
		return false;
	}
	tree->nodes[0] = (struct path_node){.shown = true};
	tree->n = 1;
	for (size_t i = 0; i < why->nsegments; i++) {
		if (why->segments[i].parent)
			in_tree[why->segments[i].parent - 1].is_explained = true;
	}
	for (size_t i = 0; i < why->nsegments; i++) {
		const struct path_segment *segment = &why->segments[i];
		uint64_t ns = segment->end - segment->start;
		const struct in_tree *above = segment->parent ? &in_tree[segment->parent - 1] : NULL;
		uint32_t parent = above ? above->node : 0, index = 0;
		struct path_node *node;

		if (in_tree[i].is_explained)
			in_tree[i].behind =
				place_in_queue(tree, a, parent, segment, above ? above->behind : 0);
		if (in_tree[i].behind) {
			in_tree[i].node = parent;
			node = &tree->nodes[parent];
			node->behind = in_tree[i].behind > node->behind ? in_tree[i].behind : node->behind;
			continue;
		}
		/* Below a segment without a node there are none. */
		if (!segment->parent || parent)
			index = node_get(tree, a, parent, segment);
		in_tree[i].node = index;
		if (!index)
			continue;
		node = &tree->nodes[index];
		node->ns += ns;
		node->n++;
		node->many = node->many || node->first.goid != segment->goid;
		if (ns > node->longest_ns) {
			node->longest_ns = ns;
			node->longest = (uint32_t)i + 1;
		}
		if (segment->activity == ACT_CODE && !segment->off_cpu)
			count_samples(why, node, segment);
	}
	free(in_tree);
	return true;
}

/* Shows the heaviest nodes. None is heavier than the one that it explains, which comes first if they are
 * equal. */
static void tree_choose(struct path_tree *tree)
{
	for (unsigned lines = 0; lines < LINES; lines++) {
		size_t most = 0;

		for (size_t i = 1; i < tree->n; i++) {
			if (!tree->nodes[i].shown && (!most || tree->nodes[i].ns > tree->nodes[most].ns))
				most = i;
		}
		if (!most)
			return;
		tree->nodes[most].shown = true;
	}
}

struct printer {
	const struct why *why;
	const struct analysis *a;
	struct path_tree tree;
	FILE *out;
	unsigned width;
	bool lock_shown;
};

/* Where running ended by a wake-up is known without samples, too. */
static struct label ran_until(const struct printer *printer, const struct path_segment *segment)
{
	const struct why *why = printer->why;
	const struct path_segment *above = segment->parent ? &why->segments[segment->parent - 1] : NULL;
	struct label label = {""}, place;

	if (!above || above->waker != segment->goid || !above->waker_stack)
		return label;
	place = label_stack(printer->a, above->waker_stack);
	snprintf(label.text, sizeof(label.text), "until %.*s", text_fit(place.text, 140), place.text);
	return label;
}

/* The most sampled line of the most sampled function: it may be another one than in the whole trace. */
static struct label sampled_place(const struct analysis *a, const struct path_node *node)
{
	uint32_t row = cpu_first(node->sampled), stack = 0;
	uint64_t most = 0;

	for (unsigned i = 0; i < TOPS; i++) {
		const struct top *one = &node->sampled_at[i];

		if (one->weight <= most || stack_site(a, (uint32_t)one->key)->func != a->cpu.rows[row].func)
			continue;
		most = one->weight;
		stack = (uint32_t)one->key;
	}
	return stack ? label_in(a, stack_site(a, stack), cpu_leaf(a, row)) : cpu_place(a, row);
}

static struct label node_place(const struct printer *printer, const struct path_node *node)
{
	struct label place = where(printer->a, &node->first), sampled;

	if (node->first.activity == ACT_CODE && !node->samples && !node->first.off_cpu)
		return ran_until(printer, &node->first);
	if (node->samples) {
		sampled = sampled_place(printer->a, node);
		snprintf(place.text, sizeof(place.text), "%.*s, %llu of %llu samples",
			 text_fit(sampled.text, 120), sampled.text,
			 (unsigned long long)top_first(node->sampled)->weight,
			 (unsigned long long)node->samples);
	}
	return place;
}

static void print_line(struct printer *printer, const struct path_node *node)
{
	const struct path_segment *first = &node->first;
	struct label place = node_place(printer, node);
	struct label who = label_id(printer->a, first->goid);
	char times[64] = "";
	unsigned used = 24 + 2 * node->depth;

	if (node->n > 1)
		snprintf(times, sizeof(times), " x%llu", (unsigned long long)node->n);
	if (node->behind > 1)
		snprintf(times + strlen(times), sizeof(times) - strlen(times), ", behind %u others there",
			 node->behind);
	used += (unsigned)strlen(times);
	fprintf(printer->out, "%*s%8s  %-12s %s", (int)(2 * node->depth), "", label_time(node->ns).text,
		what(first), node->many ? "(many)" : who.text);
	if (place.text[0])
		fprintf(printer->out, "%*s%s",
			(int)(strlen(who.text) < 7 && !node->many ? 7 - strlen(who.text) : 1), "",
			text_name(place.text, strlen(place.text),
				  printer->width > used + 20 ? printer->width - used : 20)
				.bytes);
	fprintf(printer->out, "%s\n", times);
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
static void why_text_print_lock(const struct printer *printer, const struct path_segment *segment,
				unsigned depth)
{
	const struct lock *lock = &printer->a->locks[segment->lock];
	struct label label = label_lock(lock), taken = label_stack(printer->a, segment->lock_taken);
	struct label released = label_stack(printer->a, segment->waker_stack);
	struct text taken_in = text_name(taken.text, strlen(taken.text), 120);
	struct text released_in = text_name(released.text, strlen(released.text), 120);
	struct label waker = label_who(printer->a, segment->waker);
	char text[800];

	if (!segment->lock)
		return;
	if (!segment->waker || !segment->waker_stack)
		snprintf(text, sizeof(text), "%s", label.text);
	else if (!lock_is_held(lock))
		snprintf(text, sizeof(text), "%s, ended by %s in %s", label.text, waker.text,
			 released_in.bytes);
	else if (!segment->lock_taken)
		snprintf(text, sizeof(text), "%s, held by %s, which released it in %s", label.text,
			 waker.text, released_in.bytes);
	else
		snprintf(text, sizeof(text), "%s, held by %s, which took it in %s and released it in %s",
			 label.text, waker.text, taken_in.bytes, released_in.bytes);
	print_wrapped(printer, text, 2 * depth + 10);
}

static void print_nodes(struct printer *printer, uint32_t parent)
{
	for (uint32_t i = printer->tree.nodes[parent].child; i; i = printer->tree.nodes[i].next) {
		const struct path_node *node = &printer->tree.nodes[i];
		const struct path_segment *longest = &printer->why->segments[node->longest - 1];

		if (!node->shown)
			continue;
		print_line(printer, node);
		/* The one that the longest wait was for, half of the whole or more. */
		if (!printer->lock_shown && longest->lock &&
		    node->ns * 2 >= printer->why->end - printer->why->begin) {
			why_text_print_lock(printer, longest, node->depth);
			printer->lock_shown = true;
		}
		print_nodes(printer, i);
	}
}

/* Says what the lines leave out: the nodes of a shown one, or of the whole, that are not shown. */
static void print_rest(const struct printer *printer)
{
	const struct path_tree *tree = &printer->tree;
	uint64_t ns = 0, n = 0;

	for (size_t i = 1; i < tree->n; i++) {
		bool outermost = !tree->nodes[i].shown && tree->nodes[tree->nodes[i].parent].shown;

		n += !tree->nodes[i].shown;
		ns += outermost ? tree->nodes[i].ns : 0;
	}
	if (n)
		fprintf(printer->out, "%8s  in %llu lighter places\n", label_time(ns).text,
			(unsigned long long)n);
}

static const struct path_node *heaviest_leaf(const struct path_tree *tree)
{
	const struct path_node *most = NULL;

	for (size_t i = 1; i < tree->n; i++) {
		const struct path_node *node = &tree->nodes[i];

		if (!node->child && node->first.activity != ACT_NONE &&
		    node->first.activity != ACT_UNWATCHED && (!most || node->ns > most->ns))
			most = node;
	}
	return most;
}

/* For which place of the program's own code a leaf is in a library: that of the nearest node above it, if
 * there is one. */
static struct label asked_by(const struct printer *printer, const struct path_node *leaf)
{
	const struct path_tree *tree = &printer->tree;
	struct label label = {""};

	if (!leaf->first.stack || stack_is_in_program(printer->a, leaf->first.stack))
		return label;
	for (uint32_t i = leaf->parent; i; i = tree->nodes[i].parent) {
		uint32_t stack = tree->nodes[i].first.stack;

		if (stack && stack_is_in_program(printer->a, stack))
			return label_stack(printer->a, stack);
	}
	return label;
}

/* The last line: what a repair would save. */
static void print_sum(const struct printer *printer)
{
	const struct path_node *leaf = heaviest_leaf(&printer->tree);
	struct label place = {""}, sum = label_time(printer->why->end - printer->why->begin), by;

	if (!leaf) {
		fprintf(printer->out, "%8s  = sum\n", sum.text);
		return;
	}
	if (is_unfinished(printer->a, &leaf->first)) {
		fprintf(printer->out, "%8s  = sum, so far\n", sum.text);
		return;
	}
	place = node_place(printer, leaf);
	fprintf(printer->out, "%8s  = sum; without %s", sum.text, what(&leaf->first));
	if (!leaf->many)
		fprintf(printer->out, " in %s", label_who(printer->a, leaf->first.goid).text);
	by = asked_by(printer, leaf);
	fprintf(printer->out, "%s%.*s%s%.*s: saves at most %s\n", place.text[0] ? ", " : "",
		text_fit(place.text, 110), place.text, by.text[0] ? ", for " : "", text_fit(by.text, 110),
		by.text, label_time(leaf->ns).text);
}

static void print_typical(const struct printer *printer)
{
	const struct why *why = printer->why;
	char text[600];

	if (!why->ntypical)
		return;
	snprintf(text, sizeof(text), "typical (p40 to p60): %s",
		 label_time(why->typical_ns / why->ntypical).text);
	for (unsigned i = 1; i < ACT_COUNT; i++) {
		uint64_t mean = why->typical[i] / why->ntypical;
		size_t n = strlen(text);

		if (mean)
			snprintf(text + n, sizeof(text) - n, ", %s %s", activity_name((enum activity)i),
				 label_time(mean).text);
	}
	print_wrapped(printer, text, 10);
}

static void why_text_print_head(const struct why *why, const struct analysis *a, FILE *out)
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
		fprintf(out, "%s %llu", words_of(a)->one, (unsigned long long)question->goroutine);
	else if (question->at_ns != UINT64_MAX)
		fprintf(out, "%s %s, one of %llu", kind,
			text_name(question->name, strlen(question->name), 60).bytes,
			(unsigned long long)why->n);
	else
		fprintf(out, "%s %s, %s of %llu", kind,
			text_name(question->name, strlen(question->name), 60).bytes, order,
			(unsigned long long)why->n);
	fprintf(out, ": %s at %s", label_time(why->end - why->begin).text,
		label_time(why->begin - a->begin).text);
	if (question->kind != WHY_GOROUTINE || !is_of_threads(a))
		fprintf(out, ", %s", label_who(a, why->goid).text);
	fputc('\n', out);
}

void why_text(const struct why *why, const struct analysis *a, FILE *out, const struct report_style *style)
{
	struct printer printer = {.why = why, .a = a, .out = out, .width = style->width ? style->width : 80};

	why_text_print_head(why, a, out);
	if (tree_fill(&printer.tree, why, a)) {
		tree_choose(&printer.tree);
		print_nodes(&printer, 0);
		print_rest(&printer);
		print_typical(&printer);
		print_sum(&printer);
	}
	free(printer.tree.nodes);
}

/* The waker held the lock. */
static void why_text_put_lock(struct json *json, const struct analysis *a, const struct path_segment *segment)
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

static void put_segment(struct json *json, const struct analysis *a, const struct path_segment *segment)
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
		json_text(json, "cause", delay_name(is_of_threads(a), (enum delay)segment->delay));
	if (segment->off_cpu)
		json_text(json, "cause", off_cpu_reason(a, segment->off_cpu).text);
	if (segment->stack)
		json_text(json, "where", place.text);
	if (segment->waker) {
		json_number(json, "waker", segment->waker);
		if (segment->waker_stack)
			json_text(json, "woken_at", waker.text);
	}
	why_text_put_lock(json, a, segment);
	json_close(json, '}');
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
		put_segment(&json, a, &why->segments[i]);
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
