/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The one table of annotators. */
#include "annotate/annotate.h"

#include <stdlib.h>

#include "annotate/annotations.h"
#include "annotate/cpu/off_cpu.h"

/* In the order in which they are called: samples come last in a generation. */
static const struct annotator *const annotators[] = {
	&cpu_annotator,
	&samples_annotator,
	NULL,
};

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
	if (!model_annotate(md, annotators, all)) {
		model_free(md);
		return NULL;
	}
	return md;
}

void annotate_cpu_figures(struct model *md, struct cpu_figures *figures)
{
	off_cpu_figures(model_annotations(md)->off_cpu, figures);
}
