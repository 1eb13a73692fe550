/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * pprof labels of goroutines, as user logs (trace/ops/labels.h). A goroutine whose labels change logs them.
 * One that already has labels, from its creation or from before the trace, logs them when it first runs in a
 * generation, so that every part of a trace has them. Goroutines that do not run are listed at the
 * generation's end if readers may not know their labels (labels_others.c).
 */
#ifndef GOTRACE_ANNOTATE_LABELS_H
#define GOTRACE_ANNOTATE_LABELS_H

#include "annotate/slots.h"

/* Of a goroutine. */
struct g_labels {
	uint64_t life;
	uint32_t set;       /* id in label_sets.sets, 0 = none */
	uint32_t logged_in; /* the last generation that logged them */
	bool due;           /* they are new or have changed, and are not logged yet */
};

struct label_sets {
	struct model_view *view;
	struct g_slots slots; /* struct g_labels */
	struct strtab *sets;  /* as text, of live goroutines; unused ones are dropped at a generation's end */
	bool any;             /* a goroutine has had labels */
	bool unsure;          /* they may have changed unobserved; a snapshot follows */
	bool initial_labels_logged; /* including those of goroutines that did not run */
	/* Of the snapshot that is being read. */
	bool reading;
	uint32_t *numbers; /* set ids, by LOG_LABELS number */
	size_t nnumbers, number_capacity;
	struct log_g_labels *listed;
	size_t nlisted, listed_capacity;
};

/* Whether this generation has yet to log g's labels. */
static inline bool labels_are_due(const struct label_sets *labels, const struct g_labels *of)
{
	return of->due || (of->set && of->logged_in != labels->view->generation->number);
}

/* The text is valid until the next set is made. */
static inline const char *labels_text(const struct label_sets *labels, uint32_t set)
{
	return set ? strtab_get(labels->sets, set, NULL) : "{}";
}

/* At the end of a generation: lists goroutines with labels that readers may not know yet. */
void labels_list_others(struct label_sets *labels);

#endif
