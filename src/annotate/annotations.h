/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The annotators' states. Each is private to its annotator, except where its own header says otherwise. */
#ifndef GOTRACE_ANNOTATE_ANNOTATIONS_H
#define GOTRACE_ANNOTATE_ANNOTATIONS_H

#include "annotate/annotate.h"
#include "model/annotator.h"

struct annotations {
	struct model_view *view;
	struct annotate_options options;
	struct off_cpu *off_cpu;
	struct samples *samples;
};

extern const struct annotator cpu_annotator;
extern const struct annotator samples_annotator;

#endif
