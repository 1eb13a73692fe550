/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "annotate/labels.h"

#include <stdlib.h>
#include <string.h>

#include "annotate/annotations.h"
#include "trace/ops/labels.h"
#include "util/array.h"

enum { MAX_SETS = 1 << 16 }; /* distinct sets in a generation: at most 64 MB */

/* Represents a set that could not be read. */
#define NO_SET "{}..."

/* --- sets --- */

static uint32_t set_intern(struct label_sets *labels, const char *text, size_t len)
{
	struct strtab *sets = labels->sets;
	uint32_t id = strtab_find(sets, text, len);

	if (!id)
		id = strtab_loose(sets) < MAX_SETS ? strtab_add_loose(sets, text, len)
						   : strtab_add_str(sets, NO_SET);
	labels->view->oom = labels->view->oom || !id;
	return id;
}

/* Returns the set of n labels; 0 if there are none, unless some are missing (cut). */
static uint32_t make_set(struct label_sets *labels, struct pprof_label *all, unsigned n, bool cut)
{
	char text[LABELS_TEXT_MAX + 1];

	if (!n && !cut)
		return 0;
	return set_intern(labels, text, labels_write(all, n, cut, text));
}

/* Splits a list of struct log_label or raw_label, which are the same, into labels. Returns their number. */
static unsigned split_labels(const char *bytes, size_t size, struct pprof_label labels[LABELS_MAX])
{
	unsigned n = 0;

	_Static_assert(sizeof(struct raw_label) == sizeof(struct log_label), "the same");
	for (size_t at = 0; n < LABELS_MAX && size - at >= sizeof(struct log_label);) {
		struct log_label label;

		memcpy(&label, bytes + at, sizeof(label));
		at += sizeof(label);
		if (size - at < (size_t)label.key_len + label.value_len)
			break;
		labels[n++] = (struct pprof_label){.key = bytes + at,
						   .key_len = label.key_len,
						   .value = bytes + at + label.key_len,
						   .value_len = label.value_len};
		at += (size_t)label.key_len + label.value_len;
	}
	return n;
}

static uint32_t set_of_text(struct label_sets *labels, const struct raw_text *text)
{
	struct pprof_label all[LABELS_MAX];
	bool cut = text->record.flags & (RAW_LABELS_CUT | RAW_UNREADABLE);

	return make_set(labels, all, split_labels(text->text, text->len, all), cut);
}

/* Takes a LOG_LABELS. Numbers start at 1 in each snapshot. */
static void learn_set(struct label_sets *labels, const struct log_record *record)
{
	const struct log_labels *head = record->data;
	struct pprof_label all[LABELS_MAX];
	unsigned n = split_labels((const char *)(head + 1), record->size - sizeof(*head), all);

	if (head->number == 1)
		labels->nnumbers = 0;
	if (head->number != labels->nnumbers + 1)
		return;
	if (array_grow(&labels->numbers, &labels->number_capacity, labels->nnumbers + 1,
		       sizeof(*labels->numbers))) {
		labels->view->oom = true;
		return;
	}
	labels->numbers[labels->nnumbers++] = make_set(labels, all, n, head->flags & LOG_LABELS_CUT);
}

static uint32_t set_of_number(struct label_sets *labels, uint32_t number)
{
	if (number && number <= labels->nnumbers)
		return labels->numbers[number - 1];
	return make_set(labels, NULL, 0, true);
}

/* --- labels of goroutines --- */

/* Returns NULL when out of memory. */
static struct g_labels *g_labels_of(struct label_sets *labels, const struct g *g)
{
	struct g_labels *of = slots_get(&labels->slots, g);

	if (!of)
		labels->view->oom = true;
	return of;
}

static void labels_write_log(struct label_sets *labels, struct m *m, struct g_labels *of,
			     const char *category)
{
	const char *text = labels_text(labels, of->set);
	uint32_t id = model_text_id(labels->view->model, text, strlen(text));
	struct op *op = emit(labels->view->ops, OP_LOG, m);

	op->string = strtab_add_str(labels->view->strings, category);
	op->string2 = id;
	of->due = false;
	of->logged_in = labels->view->generation->number;
}

static void labels_on_labels(struct label_sets *labels, const struct probe_hit *hit)
{
	uint32_t set = hit->text ? set_of_text(labels, hit->text) : 0;
	struct g_labels *of = g_labels_of(labels, hit->m->g);

	if (!of || of->set == set)
		return;
	of->set = set;
	labels->any = true;
	labels_write_log(labels, hit->m, of, LABELS_SET);
}

/* A goroutine has those of its creator. */
static void labels_inherit(struct label_sets *labels, const struct probe_hit *hit)
{
	const struct g *creator = g_find(labels->view->entities, hit->rec->arg);
	const struct g_labels *from = creator ? slots_find(&labels->slots, creator) : NULL;
	uint32_t set = from ? from->set : 0;
	struct g_labels *of =
		set && hit->rec->flags & RAW_HAS_LABELS ? g_labels_of(labels, hit->created) : NULL;

	if (of)
		of->set = set;
}

/* --- snapshots --- */

static void list_labels(struct label_sets *labels, const struct log_record *record)
{
	size_t more = record->size / sizeof(*labels->listed);

	if (!labels->reading)
		return;
	if (array_grow(&labels->listed, &labels->listed_capacity, labels->nlisted + more,
		       sizeof(*labels->listed))) {
		labels->view->oom = true;
		return;
	}
	memcpy(labels->listed + labels->nlisted, record->data, more * sizeof(*labels->listed));
	labels->nlisted += more;
}

/* Lists goroutines with a record about their labels: the snapshot may be older or newer than it. */
static void list_newer(struct label_sets *labels, const struct raw_record *records, size_t n,
		       struct map64 *newer)
{
	for (size_t i = 0; i < n; i++) {
		const struct raw_record *rec = &records[i];

		if ((rec->site == SITE_LABELS || rec->site == SITE_NEWPROC) && rec->g &&
		    map64_set(newer, rec->g, 1))
			labels->view->oom = true;
	}
}

static void set_unlogged(struct label_sets *labels, const struct g *g, uint32_t set)
{
	struct g_labels *of = g_labels_of(labels, g);

	if (!of || set == of->set)
		return;
	of->set = set;
	of->due = true;
	labels->any = true;
}

/* The snapshot lists every goroutine with labels; others have lost theirs unobserved. */
static void labels_take_listed(struct label_sets *labels, const struct raw_record *records, size_t n)
{
	const struct goroutine_table *gs = &labels->view->entities->gs;
	struct map64 known = {0}; /* from records or the snapshot */

	list_newer(labels, records, n, &known);
	for (size_t i = 0; i < labels->nlisted; i++) {
		const struct log_g_labels *one = &labels->listed[i];
		const struct g *g = g_find(labels->view->entities, one->g);

		if (g && !map64_get(&known, one->g))
			set_unlogged(labels, g, set_of_number(labels, one->labels));
		if (map64_set(&known, one->g, 1))
			labels->view->oom = true;
	}
	for (uint32_t i = 1; i < gs->n; i++) {
		const struct g *g = gs->all[i];

		if (g->status != G_DEAD && slots_find(&labels->slots, g) && !map64_get(&known, g->ptr))
			set_unlogged(labels, g, 0);
	}
	map64_free(&known);
	labels->nnumbers = 0;
}

/* --- as an annotator --- */

static bool labels_open(struct annotations *all)
{
	all->labels = calloc(1, sizeof(*all->labels));
	if (!all->labels)
		return false;
	all->labels->view = all->view;
	all->labels->slots.size = sizeof(struct g_labels);
	all->labels->sets = strtab_new();
	return all->labels->sets;
}

static void labels_annotator_free(struct annotations *all)
{
	struct label_sets *labels = all->labels;

	if (!labels)
		return;
	strtab_free(labels->sets);
	free(labels->slots.all);
	free(labels->numbers);
	free(labels->listed);
	free(labels);
}

static void labels_observe(struct annotations *all, const struct probe_hit *hit)
{
	if (hit->rec->site == SITE_LABELS)
		labels_on_labels(all->labels, hit);
	else if (all->labels->any)
		labels_inherit(all->labels, hit);
}

static void labels_learn(struct annotations *all, const struct log_record *record)
{
	struct label_sets *labels = all->labels;

	switch (record->type) {
	case LOG_SNAPSHOT:
		labels->reading = true;
		labels->nlisted = 0;
		break;
	case LOG_LABELS:
		learn_set(labels, record);
		break;
	case LOG_G_LABELS:
		list_labels(labels, record);
		break;
	case LOG_NOTE:
		/* Recording was interrupted: no labels are logged until the next snapshot. */
		if (((const struct log_note *)record->data)->flags & (LOG_NOTE_GAP | LOG_NOTE_RESUMED))
			labels->unsure = true;
		break;
	}
}

/* The goroutine starts: logs its labels if that is due. */
static void labels_op(struct annotations *all, enum op_kind kind, struct m *m)
{
	struct label_sets *labels = all->labels;
	struct g_labels *of;

	(void)kind;
	if (!labels->any || labels->unsure || m->tid == SYNTHETIC_TID)
		return;
	of = slots_find(&labels->slots, m->g);
	if (of && labels_are_due(labels, of))
		labels_write_log(labels, m, of, LABELS_HELD);
}

static void labels_snapshot(struct annotations *all, const struct raw_record *records, size_t n)
{
	struct label_sets *labels = all->labels;

	if (labels->any || labels->nlisted)
		labels_take_listed(labels, records, n);
	labels->unsure = labels->reading = false;
	labels->nlisted = 0;
}

static void labels_settle(struct annotations *all)
{
	labels_list_others(all->labels);
}

/* Drops sets that no goroutine has. */
static void labels_prune(struct annotations *all)
{
	const struct goroutine_table *gs = &all->view->entities->gs;
	struct label_sets *labels = all->labels;

	if (!labels->any || labels->nnumbers)
		return;
	for (uint32_t i = 1; i < gs->n; i++) {
		const struct g_labels *of = slots_find(&labels->slots, gs->all[i]);

		if (of && gs->all[i]->status != G_DEAD)
			strtab_keep(labels->sets, of->set);
	}
	strtab_sweep(labels->sets);
}

const struct annotator labels_annotator = {
	.open = labels_open,
	.free = labels_annotator_free,
	.sites = {SITE_LABELS, SITE_NEWPROC},
	.observe = labels_observe,
	.records = {LOG_SNAPSHOT, LOG_LABELS, LOG_G_LABELS, LOG_NOTE},
	.learn = labels_learn,
	.ops = 1ull << OP_GO_START,
	.op = labels_op,
	.snapshot = labels_snapshot,
	.settle = labels_settle,
	.prune = labels_prune,
};
