/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The one table of annotators. */
#include "annotate/annotate.h"

#include <stdlib.h>

#include "annotate/annotations.h"
#include "annotate/cpu/off_cpu.h"

/*
 * In the order in which they are called: labels are listed before requests are named, requests end before the
 * calls that they are in, and samples come last in a generation. The three after regions use them.
 */
static const struct annotator *const annotators[] = {
	&labels_annotator, &regions_annotator, &requests_annotator, &user_annotator,    &calls_annotator,
	&locks_annotator,  &notes_annotator,   &cpu_annotator,      &samples_annotator,
};

_Static_assert(sizeof(annotators) / sizeof(annotators[0]) <= ANNOTATORS_MAX, "the table is large enough");

/* Leaves out those that are not wanted. */
static void choose_annotators(struct annotations *all)
{
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(annotators) / sizeof(annotators[0]); i++) {
		if (annotators[i] != &locks_annotator || all->options.locks)
			all->table[n++] = annotators[i];
	}
}

struct model *annotate_model_new(const struct model_options *model, const struct annotate_options *options)
{
	struct annotations *all = calloc(1, sizeof(*all));
	struct model *md = all ? model_new(model) : NULL;

	if (!md) {
		free(all);
		return NULL;
	}
	all->view = model_view(md);
	if (options)
		all->options = *options;
	choose_annotators(all);
	if (!model_annotate(md, all->table, all)) {
		model_free(md);
		return NULL;
	}
	return md;
}

void annotate_cpu_figures(struct model *md, struct cpu_figures *figures)
{
	off_cpu_figures(model_annotations(md)->off_cpu, figures);
}

void annotate_log(struct model *md, long place, uint32_t stack, const char *text)
{
	notes_add(model_annotations(md)->notes, place, stack, text);
}
