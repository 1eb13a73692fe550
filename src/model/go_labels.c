/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/go_labels.h"

#include "model/go_runtime.h"
#include "model/labels.h"
#include "trace/ops/labels.h"

void on_labels(struct model *md, const struct probe_hit *hit)
{
	struct g *g = make_running(md, hit);
	uint32_t set = md->annotations.ids.string;

	if (!g || g->labels == set)
		return;
	g->labels = set;
	md->labels.any = true;
	labels_write_log(md, hit->m, LABELS_SET);
}

/* --- snapshots --- */

/* Lists goroutines with a record about their labels: the snapshot may be older or newer than it. */
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

/* A snapshot lists every goroutine with labels; others have lost theirs unobserved. */
void labels_resync(struct model *md, size_t from, size_t to)
{
	struct map64 known = {0}; /* from records or the snapshot */

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
