/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Log events with the labels of goroutines that did not run in a generation. */
#include <stdio.h>
#include <stdlib.h>

#include "annotate/labels.h"
#include "trace/ops/labels.h"
#include "util/array.h"

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
static bool is_left(const struct label_sets *labels, const struct g_labels *of)
{
	if (labels->view->generation->number == 1 || labels->view->any_first)
		return labels_are_due(labels, of);
	return of->set && !of->logged_in;
}

static size_t list_left(struct label_sets *labels, struct labelled **all)
{
	const struct goroutine_table *gs = &labels->view->entities->gs;
	size_t n = 0, capacity = 0;

	*all = NULL;
	for (uint32_t i = 1; i < gs->n; i++) {
		struct g_labels *of = slots_find(&labels->slots, gs->all[i]);

		if (!of || gs->all[i]->status == G_DEAD || !gs->goids[i] || !is_left(labels, of))
			continue;
		if (array_grow(all, &capacity, n + 1, sizeof(**all))) {
			labels->view->oom = true;
			break;
		}
		(*all)[n++] = (struct labelled){of->set, i};
		of->logged_in = labels->view->generation->number;
	}
	if (n)
		qsort(*all, n, sizeof(**all), by_set);
	return n;
}

/* Writes a log event that lists as many goroutines with the first set as fit. Returns their number. */
static size_t write_others(struct label_sets *labels, const struct labelled *all, size_t n)
{
	const uint64_t *goids = labels->view->entities->gs.goids;
	char text[TEXT_MAX];
	int len = snprintf(text, sizeof(text), "%s", labels_text(labels, all[0].set));
	size_t done = 0;

	for (; done < n && all[done].set == all[0].set; done++) {
		int more = snprintf(text + len, sizeof(text) - (size_t)len, " %llu",
				    (unsigned long long)goids[all[done].g]);

		if (len + more >= (int)sizeof(text))
			break;
		len += more;
	}
	model_write_log(labels->view->model, LABELS_OTHERS,
			model_text_id(labels->view->model, text, (size_t)len));
	return done;
}

void labels_list_others(struct label_sets *labels)
{
	struct labelled *all;
	enum provenance before;
	size_t n, at = 0;

	if (labels->unsure || (labels->initial_labels_logged && !labels->view->any_first))
		return;
	labels->initial_labels_logged = true;
	if (!labels->any)
		return;
	n = list_left(labels, &all);
	before = set_provenance(labels->view->ops, INFERRED);
	for (unsigned logs = 0; at < n && logs < MAX_LOGS; logs++)
		at += write_others(labels, all + at, n - at);
	labels->view->ops->provenance = before;
	free(all);
}
