/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/go_labels.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/go_runtime.h"
#include "model/labels.h"
#include "model/notes.h"
#include "util/array.h"
#include "util/labels.h"

enum { MAX_OTHERS = 1 << 14 }; /* log events of a generation about goroutines that did not run */

void on_labels(struct model *md, const struct probe_hit *hit)
{
	struct g *g = running(md, hit);
	uint32_t set = md->annotations.ids.string;

	if (!g || g->labels == set)
		return;
	g->labels = set;
	md->labels.any = true;
	labels_write_log(md, hit->m, LABELS_SET);
}

/* --- snapshots --- */

/* Goroutines that such a record is about: what the snapshot has of them may be older or newer. */
static void list_newer(struct model *md, size_t from, size_t to, struct map64 *newer)
{
	for (size_t i = from; i < to; i++) {
		const struct raw_record *rec = &md->early.records[i];

		if ((rec->site == SITE_LABELS || rec->site == SITE_NEWPROC) && rec->g &&
		    map64_set(newer, rec->g, 1))
			md->oom = true;
	}
}

static void take(struct model *md, const struct map64 *newer, const struct log_g_labels *one)
{
	struct g *g = g_find(&md->entities, one->g);
	uint32_t set;

	if (!g || map64_get(newer, one->g))
		return;
	set = labels_of_number(md, one->labels);
	if (set == g->labels)
		return;
	g->labels = set;
	g->labels_due = true;
	md->labels.any = true;
}

void labels_start(struct model *md, size_t from, size_t to)
{
	struct map64 newer = {0};

	if (md->snapshot.nlabels)
		list_newer(md, from, to, &newer);
	for (size_t i = 0; i < md->snapshot.nlabels; i++)
		take(md, &newer, &md->snapshot.labels[i]);
	map64_free(&newer);
	md->labels.nnumbers = 0;
	md->labels.unsure = false;
}

/* A snapshot has all goroutines that have labels: others have lost theirs unseen. */
void labels_resync(struct model *md, size_t from, size_t to)
{
	struct map64 known = {0}; /* by records or by the snapshot */

	md->labels.unsure = false;
	if (!md->labels.any && !md->snapshot.nlabels)
		return;
	list_newer(md, from, to, &known);
	for (size_t i = 0; i < md->snapshot.nlabels; i++) {
		take(md, &known, &md->snapshot.labels[i]);
		if (map64_set(&known, md->snapshot.labels[i].g, 1))
			md->oom = true;
	}
	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		struct g *g = md->entities.gs.all[i];

		if (g->status != G_DEAD && g->labels && !map64_get(&known, g->ptr)) {
			g->labels = 0;
			g->labels_due = true;
		}
	}
	map64_free(&known);
	md->labels.nnumbers = 0;
	md->labels.unsure = false;
}

/* --- goroutines that do not run --- */

struct labelled {
	uint32_t set, g;
};

static int by_set(const void *a, const void *b)
{
	const struct labelled *one = a, *two = b;

	if (one->set != two->set)
		return one->set < two->set ? -1 : 1;
	return one->g < two->g ? -1 : one->g > two->g;
}

static size_t list_left(struct model *md, struct labelled **all)
{
	size_t n = 0, capacity = 0;

	*all = NULL;
	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		struct g *g = md->entities.gs.all[i];

		if (g->status == G_DEAD || !md->entities.gs.goids[i] || !labels_are_due(md, g))
			continue;
		if (array_grow(all, &capacity, n + 1, sizeof(**all))) {
			md->oom = true;
			break;
		}
		(*all)[n++] = (struct labelled){g->labels, i};
		g->labels_logged_in = md->generation.number;
	}
	if (n)
		qsort(*all, n, sizeof(**all), by_set);
	return n;
}

/* As many as one log event can name, with the same set. Returns how many. */
static size_t write_others(struct model *md, const struct labelled *all, size_t n)
{
	char text[TEXT_MAX];
	int len = snprintf(text, sizeof(text), "%s", labels_text(md, all[0].set));
	size_t done = 0;

	for (; done < n && all[done].set == all[0].set; done++) {
		int more = snprintf(text + len, sizeof(text) - (size_t)len, " %llu",
				    (unsigned long long)md->entities.gs.goids[all[done].g]);

		if (len + more >= (int)sizeof(text))
			break;
		len += more;
	}
	text[len] = '\0';
	note_write_as(md, LABELS_OTHERS, note_text(md, text));
	return done;
}

void labels_announce_left(struct model *md)
{
	enum provenance before = md->ops.provenance;
	struct labelled *all;
	size_t n, at = 0;

	if (!md->labels.any || md->labels.unsure || (md->generation.number != 1 && !md->options.any_first))
		return;
	n = list_left(md, &all);
	md->ops.provenance = INFERRED;
	for (unsigned logs = 0; at < n && logs < MAX_OTHERS; logs++)
		at += write_others(md, all + at, n - at);
	md->ops.provenance = before;
	free(all);
}
