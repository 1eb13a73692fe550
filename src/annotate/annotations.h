/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The annotators' states. Each is private to its annotator, except where its own header says otherwise. */
#ifndef GOTRACE_ANNOTATE_ANNOTATIONS_H
#define GOTRACE_ANNOTATE_ANNOTATIONS_H

#include "annotate/annotate.h"
#include "model/annotator.h"

enum { ANNOTATORS_MAX = 16 };

struct annotations {
	const struct annotator *table[ANNOTATORS_MAX + 1]; /* those that are used, and NULL */
	struct model_view *view;
	struct annotate_options options;
	struct regions *regions; /* of user, calls and requests */
	struct user *user;
	struct calls *calls;
	struct requests *requests;
	struct label_sets *labels;
	struct locks *locks;
	struct notes *notes;
	struct off_cpu *off_cpu;
	struct samples *samples;
};

/* For the generation_watch: see annotate_log(). */
void notes_add(struct notes *notes, long place, uint32_t stack, const char *text);

extern const struct annotator requests_annotator;
extern const struct annotator regions_annotator;
extern const struct annotator user_annotator;
extern const struct annotator calls_annotator;
extern const struct annotator labels_annotator;
extern const struct annotator locks_annotator;
extern const struct annotator notes_annotator;
extern const struct annotator cpu_annotator;
extern const struct annotator samples_annotator;

#endif
