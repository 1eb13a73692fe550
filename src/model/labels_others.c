/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/labels_others.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/labels.h"
#include "model/notes.h"
#include "util/array.h"
#include "trace/ops/labels.h"

enum { MAX_LOGS = 1 << 14 }; /* in a generation */

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

/* Outside a flight recorder, readers know the sets that earlier generations have logged. */
static bool is_left(const struct model *md, const struct g *g)
{
	if (md->generation.number == 1 || md->options.any_first)
		return labels_are_due(md, g);
	return g->labels && !g->labels_logged_in;
}

static size_t list_left(struct model *md, struct labelled **all)
{
	size_t n = 0, capacity = 0;

	*all = NULL;
	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		struct g *g = md->entities.gs.all[i];

		if (g->status == G_DEAD || !md->entities.gs.goids[i] || !is_left(md, g))
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

/* Writes a log event that lists as many goroutines with the first set as fit. Returns their number. */
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

	if (md->labels.unsure || (md->labels.initial_labels_logged && !md->options.any_first))
		return;
	md->labels.initial_labels_logged = true;
	if (!md->labels.any)
		return;
	n = list_left(md, &all);
	md->ops.provenance = INFERRED;
	for (unsigned logs = 0; at < n && logs < MAX_LOGS; logs++)
		at += write_others(md, all + at, n - at);
	md->ops.provenance = before;
	free(all);
}
