/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU samples. They hold what was found in memory and change no state. They are collected apart from the ops;
 * readers sort them by time.
 */
#include <stdlib.h>

#include "annotate/annotations.h"
#include "util/array.h"

struct samples {
	struct op *ops; /* of the open generation */
	size_t n, capacity;
	uint64_t last; /* ns: time of the latest */
};

static bool samples_open(struct annotations *all)
{
	all->samples = calloc(1, sizeof(*all->samples));
	return all->samples;
}

static void samples_free(struct annotations *all)
{
	if (all->samples)
		free(all->samples->ops);
	free(all->samples);
}

static void samples_take_sample(struct annotations *all, const struct probe_hit *hit)
{
	struct samples *samples = all->samples;
	const struct raw_record *rec = hit->rec;
	uint64_t start = all->view->generation->start;
	struct op op = {
		.kind = OP_CPU_SAMPLE,
		.time = rec->time > start ? rec->time : start,
		.m = rec->tid,
		.p = hit->p ? hit->p->id : NO_P,
		.g = hit->sampled ? hit->sampled->index : NO_G,
		.stack = hit->stack,
	};

	if (array_grow(&samples->ops, &samples->capacity, samples->n + 1, sizeof(*samples->ops))) {
		all->view->oom = true;
		return;
	}
	samples->ops[samples->n++] = op;
	all->view->pending++;
	if (op.time > samples->last)
		samples->last = op.time;
}

/* Appends them to the generation's ops. */
static void append_samples(struct annotations *all)
{
	struct samples *samples = all->samples;
	struct op_list *ops = all->view->ops;

	for (size_t i = 0; i < samples->n; i++)
		*op_list_append(ops) = samples->ops[i];
	if (samples->n && samples->last > ops->last_time)
		ops->last_time = samples->last;
	samples->n = 0;
	samples->last = 0;
}

const struct annotator samples_annotator = {
	.open = samples_open,
	.free = samples_free,
	.sites = {SITE_CPU_SAMPLE},
	.observe = samples_take_sample,
	.close = append_samples,
};
