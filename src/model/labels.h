/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * pprof labels of goroutines, as user logs (trace/ops/labels.h). A goroutine whose labels change logs them.
 * One that already has labels, from its creator or from before the trace, logs them when it first runs in a
 * generation, so that every part of a trace has them. Goroutines that do not run are listed at the
 * generation's end if readers may not know their labels (labels_others.h).
 */
#ifndef GOTRACE_MODEL_LABELS_H
#define GOTRACE_MODEL_LABELS_H

#include "model/state.h"

/* Returns false when out of memory. */
bool labels_init(struct model *md);
void labels_free_all(struct model *md);

/* Returns the set of a SITE_LABELS record. Sets are ids in md->labels.sets; 0 = no labels. */
uint32_t labels_of_text(struct model *md, const struct raw_text *text);
/* Takes a LOG_LABELS of the snapshot that is being read. */
void labels_learn(struct model *md, const struct log_record *record);
/* Returns the set of the LOG_LABELS with this number; if there is none, that of unreadable labels. */
uint32_t labels_of_number(struct model *md, uint32_t number);
/* The text is valid until the next set is made. */
const char *labels_text(const struct model *md, uint32_t set);

/* g has been created, by `creator`; NULL: the creator is unknown. */
void labels_inherit(struct g *g, const struct g *creator, bool has_labels);
/* Whether this generation has yet to log g's labels. */
bool labels_are_due(const struct model *md, const struct g *g);
/* Logs the labels of m's goroutine, which runs, if that is due. */
void labels_announce(struct model *md, struct m *m);
void labels_write_log(struct model *md, struct m *m, const char *category);
/* Recording was interrupted: no labels are logged until labels_resync(). */
void labels_lost(struct model *md);
/* The generation has ended: drops sets that no goroutine has. */
void labels_recycle(struct model *md);

#endif
