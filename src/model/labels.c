/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/labels.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "trace/ops/labels.h"

enum { MAX_SETS = 1 << 16 }; /* distinct sets in a generation: at most 64 MB */

/* Represents a set that could not be read. */
#define NO_SET "{}..."

bool labels_init(struct model *md)
{
	md->labels.sets = strtab_new();
	return md->labels.sets;
}

void labels_free_all(struct model *md)
{
	strtab_free(md->labels.sets);
	free(md->labels.numbers);
}

/* --- sets --- */

static uint32_t intern(struct model *md, const char *text, size_t len)
{
	struct strtab *sets = md->labels.sets;
	uint32_t id = strtab_find(sets, text, len);

	if (!id)
		id = strtab_loose(sets) < MAX_SETS ? strtab_add_loose(sets, text, len)
						   : strtab_add_str(sets, NO_SET);
	md->oom = md->oom || !id;
	return id;
}

/* Returns the set of n labels; 0 if there are none, unless some are missing (cut). */
static uint32_t make_set(struct model *md, struct pprof_label *labels, unsigned n, bool cut)
{
	char text[LABELS_TEXT_MAX + 1];

	if (!n && !cut)
		return 0;
	return intern(md, text, labels_write(labels, n, cut, text));
}

/* Splits a list of struct log_label or raw_label, which are the same, into labels. Returns their number. */
static unsigned split(const char *bytes, size_t size, struct pprof_label labels[LABELS_MAX])
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

uint32_t labels_of_text(struct model *md, const struct raw_text *text)
{
	struct pprof_label labels[LABELS_MAX];
	bool cut = text->record.flags & (RAW_LABELS_CUT | RAW_UNREADABLE);

	return make_set(md, labels, split(text->text, text->len, labels), cut);
}

/* Numbers start at 1 in each snapshot. */
void labels_learn(struct model *md, const struct log_record *record)
{
	const struct log_labels *head = record->data;
	struct pprof_label labels[LABELS_MAX];
	struct label_sets *sets = &md->labels;
	unsigned n = split((const char *)(head + 1), record->size - sizeof(*head), labels);

	if (head->number == 1)
		sets->nnumbers = 0;
	if (head->number != sets->nnumbers + 1)
		return;
	if (array_grow(&sets->numbers, &sets->number_capacity, sets->nnumbers + 1, sizeof(*sets->numbers))) {
		md->oom = true;
		return;
	}
	sets->numbers[sets->nnumbers++] = make_set(md, labels, n, head->flags & LOG_LABELS_CUT);
}

uint32_t labels_of_number(struct model *md, uint32_t number)
{
	const struct label_sets *sets = &md->labels;

	if (number && number <= sets->nnumbers)
		return sets->numbers[number - 1];
	return make_set(md, NULL, 0, true);
}

/* --- labels of goroutines --- */

bool labels_are_due(const struct model *md, const struct g *g)
{
	return g->labels_due || (g->labels && g->labels_logged_in != md->generation.number);
}

const char *labels_text(const struct model *md, uint32_t set)
{
	return set ? strtab_get(md->labels.sets, set, NULL) : "{}";
}

/* Returns the id of the set's text in this generation. */
static uint32_t text_of(struct model *md, uint32_t set)
{
	uint32_t id = strtab_add_str(md->annotations.texts, labels_text(md, set));

	md->oom = md->oom || !id;
	return id | TEXT_ID;
}

void labels_write_log(struct model *md, struct m *m, const char *category)
{
	uint32_t text = text_of(md, m->g->labels);
	struct op *op = emit(&md->ops, OP_LOG, m);

	op->string = string_id(md, category);
	op->string2 = text;
	m->g->labels_due = false;
	m->g->labels_logged_in = md->generation.number;
}

void labels_announce(struct model *md, struct m *m)
{
	if (m != md->synthetic.m && !md->labels.unsure && labels_are_due(md, m->g))
		labels_write_log(md, m, LABELS_HELD);
}

void labels_inherit(struct g *g, const struct g *creator, bool has_labels)
{
	if (creator && has_labels)
		g->labels = creator->labels;
}

void labels_lost(struct model *md)
{
	md->labels.unsure = true;
}

void labels_recycle(struct model *md)
{
	struct label_sets *sets = &md->labels;

	/* Records waiting for a snapshot refer to sets, too. */
	if (!sets->any || md->early.ntexts || sets->nnumbers)
		return;
	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		if (md->entities.gs.all[i]->status != G_DEAD)
			strtab_keep(sets->sets, md->entities.gs.all[i]->labels);
	}
	strtab_sweep(sets->sets);
}
