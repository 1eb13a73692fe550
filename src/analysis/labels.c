/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * pprof labels. Each period in which a goroutine has a label without a break is an instance of that label. In
 * a server that labels its work by request, the instance is the request.
 */
#include "analysis/tables.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/instances.h"
#include "analysis/top.h"
#include "util/array.h"
#include "util/hash.h"
#include "trace/ops/labels.h"

/* Limits of rows. Beyond the first, new values of a key share a row; beyond the second, new labels do. */
enum { MOST_LABELS = 1024, MOST_WITH_REST = MOST_LABELS + 256 };

struct label_open {
	uint64_t begin;
	uint64_t spent[ACT_COUNT]; /* the goroutine's times at begin */
	uint64_t text;             /* hash of the label: identifies a value in a row of several */
	uint32_t row;              /* index in instances */
	bool cut;                  /* it began before the trace, or a gap was open in it */
	bool kept;                 /* scratch */
};

/* --- rows --- */

/* "key=value" */
struct label_name {
	char text[LABELS_TEXT_MAX + 64];
	size_t len;
};

static void name_label(struct label_name *name, const struct pprof_label *label, const char *value,
		       size_t len)
{
	memcpy(name->text, label->key, label->key_len);
	name->text[label->key_len] = '=';
	memcpy(name->text + label->key_len + 1, value, len);
	name->len = (size_t)label->key_len + 1 + len;
}

/* Returns 0 if there is none. */
static uint32_t find_row(const struct analysis *a, const struct label_name *name)
{
	uint32_t string = strtab_find(a->strings, name->text, name->len);
	uint64_t key = (uint64_t)(INSTANCE_LABEL + 1) << 32 | string;
	const uint32_t *known = string ? map64_get(&a->instances_of, key) : NULL;

	return known ? *known : 0;
}

static uint32_t add_row(struct analysis *a, const struct label_name *name)
{
	uint32_t string = strtab_add(a->strings, name->text, name->len);

	a->nlabels++;
	a->oom = a->oom || !string;
	return (uint32_t)(instances_get(a, INSTANCE_LABEL, string) - a->instances);
}

static uint32_t labels_row_of(struct analysis *a, const struct pprof_label *label, uint64_t *text)
{
	static const char values[] = "(other values)", labels[] = "(other labels)";
	static const struct pprof_label none = {.key = "", .value = ""};
	struct label_name name;
	uint32_t row;

	name_label(&name, label, label->value, label->value_len);
	*text = hash_bytes(0, name.text, name.len);
	row = find_row(a, &name);
	if (!row && a->nlabels >= MOST_LABELS) {
		name_label(&name, label, values, sizeof(values) - 1);
		row = find_row(a, &name);
	}
	if (!row && a->nlabels >= MOST_WITH_REST) {
		name_label(&name, &none, labels, sizeof(labels) - 1);
		row = find_row(a, &name);
	}
	return row ? row : add_row(a, &name);
}

static bool is_text(const char *text, size_t len, const char *wanted)
{
	return strlen(wanted) == len && memcmp(text, wanted, len) == 0;
}

static bool labels_is_wanted(const struct analysis *a, const struct goroutine *g,
			     const struct pprof_label *label)
{
	if (a->options.label && !g->matches)
		return false;
	return !a->options.by_label || is_text(label->key, label->key_len, a->options.by_label);
}

/* wanted: "key=value" */
static bool labels_match(const char *wanted, const struct labels_read *set)
{
	struct label_name name;

	for (unsigned i = 0; i < set->n; i++) {
		name_label(&name, &set->labels[i], set->labels[i].value, set->labels[i].value_len);
		if (is_text(name.text, name.len, wanted))
			return true;
	}
	return false;
}

/* --- instances --- */

/* The goroutine's times since `then`. open: includes its current interval. */
static void spend(const struct analysis *a, const struct goroutine *g, const uint64_t then[ACT_COUNT],
		  bool open, uint64_t spent[ACT_COUNT])
{
	for (unsigned i = 0; i < ACT_COUNT; i++)
		spent[i] = g->spent[i] > then[i] ? g->spent[i] - then[i] : 0;
	if (open && g->activity != ACT_NONE)
		spent[g->activity] += a->now - g->since;
}

static void end_label(struct analysis *a, const struct goroutine *g, const struct label_open *label, bool cut)
{
	struct instances *all = &a->instances[label->row];
	struct instance one = {.begin = label->begin, .ns = a->now - label->begin, .goid = g->goid};

	spend(a, g, label->spent, !cut, one.spent);
	if (cut || label->cut) {
		all->cut++;
		for (unsigned i = 0; i < ACT_COUNT; i++)
			all->spent[i] += one.spent[i];
		return;
	}
	instance_longest_wait(a, g, &one);
	instance_add(a, all, &one);
}

/* before: as far as is known, the goroutine has had the label from its start. */
static void begin_label(struct analysis *a, struct goroutine *g, uint32_t row, uint64_t text, bool before)
{
	struct label_open *label;

	if (array_grow(&g->labels, &g->label_capacity, g->nlabels + 1, sizeof(*g->labels))) {
		a->oom = true;
		return;
	}
	label = &g->labels[g->nlabels++];
	*label = (struct label_open){.begin = a->now, .row = row, .text = text, .kept = true};
	if (before) {
		label->begin = g->born ? g->born : a->begin;
		label->cut = !g->born || a->ledger.unwatched || g->born < a->ledger.watched_since;
	} else {
		const uint64_t nothing[ACT_COUNT] = {0};

		spend(a, g, nothing, true, label->spent);
	}
}

static void keep_or_begin(struct analysis *a, struct goroutine *g, const struct pprof_label *label,
			  bool before)
{
	uint64_t text;
	uint32_t row = labels_row_of(a, label, &text);

	for (size_t i = 0; i < g->nlabels; i++) {
		if (g->labels[i].row == row && g->labels[i].text == text) {
			g->labels[i].kept = true;
			return;
		}
	}
	begin_label(a, g, row, text, before);
}

static void take_set(struct analysis *a, struct goroutine *g, const struct labels_read *set, bool held)
{
	bool before = held && !g->labels_known;
	size_t kept = 0;

	g->labels_known = true;
	g->matches = a->options.label && labels_match(a->options.label, set);
	for (size_t i = 0; i < g->nlabels; i++)
		g->labels[i].kept = false;
	for (unsigned i = 0; i < set->n; i++) {
		if (labels_is_wanted(a, g, &set->labels[i]))
			keep_or_begin(a, g, &set->labels[i], before);
	}
	for (size_t i = 0; i < g->nlabels; i++) {
		if (g->labels[i].kept)
			g->labels[kept++] = g->labels[i];
		else
			end_label(a, g, &g->labels[i], false);
	}
	g->nlabels = kept;
}

void labels_end(struct analysis *a, struct goroutine *g, bool cut)
{
	for (size_t i = 0; i < g->nlabels; i++)
		end_label(a, g, &g->labels[i], cut);
	g->nlabels = 0;
}

void labels_cut(struct goroutine *g)
{
	for (size_t i = 0; i < g->nlabels; i++)
		g->labels[i].cut = true;
}

void labels_drop(struct goroutine *g)
{
	free(g->labels);
	g->labels = NULL;
	g->nlabels = g->label_capacity = 0;
}

/* --- log events --- */

/* Returns NULL if it does not exist. */
static struct goroutine *find_goroutine(struct analysis *a, uint64_t goid)
{
	const struct tables *tables = a->gen->tables;
	const uint32_t *index;

	if (a->goids_of != a->generations) {
		map64_clear(&a->index_of_goid);
		for (uint32_t i = 1; i < tables->ngoroutines; i++) {
			if (tables->goids[i] && i < a->ngs && a->gs[i].activity != ACT_NONE &&
			    map64_set(&a->index_of_goid, tables->goids[i], i))
				a->oom = true;
		}
		a->goids_of = a->generations;
	}
	index = map64_get(&a->index_of_goid, goid);
	return index && a->gs[*index].goid == goid && a->gs[*index].activity != ACT_NONE ? &a->gs[*index]
											 : NULL;
}

void labels_log(struct analysis *a, const struct op *op)
{
	size_t category_len, len, at;
	const char *category = tables_string(a->gen->tables, op->string, &category_len), *text;
	enum labels_log kind = labels_log_kind(category, category_len);
	struct goroutine *g = op->g && op->g < a->ngs ? &a->gs[op->g] : NULL;
	struct labels_read set;
	uint64_t goid;
	int size;

	if (kind == LABELS_LOG_NONE)
		return;
	text = tables_string(a->gen->tables, op->string2, &len);
	size = labels_parse(text, len, &set);
	if (size < 0)
		return;
	at = (size_t)size;
	if (kind != LABELS_LOG_OTHERS) {
		if (g && g->activity != ACT_NONE)
			take_set(a, g, &set, kind == LABELS_LOG_HELD);
		return;
	}
	while ((goid = labels_next_goid(text, len, &at))) {
		g = find_goroutine(a, goid);
		if (g)
			take_set(a, g, &set, true);
	}
}
