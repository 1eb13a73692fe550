/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * pprof labels of goroutines, as user logs (util/labels.h). A goroutine whose labels change logs them. One
 * that has had them before, from its creator or from before the trace, logs them when it first runs in a
 * generation, so that every piece of a trace has them. Those that do not run are named at the generation's
 * end, if readers may not know them (labels_others.h).
 */
#ifndef GOTRACE_MODEL_LABELS_H
#define GOTRACE_MODEL_LABELS_H

#include "model/state.h"

/* False when out of memory. */
bool labels_init(struct model *md);
void labels_free_all(struct model *md);

/* Sets are ids in md->labels.sets; 0 = no labels. That of a SITE_LABELS: */
uint32_t labels_of_text(struct model *md, const struct raw_text *text);
/* A LOG_LABELS of the snapshot that is being read. */
void labels_learn(struct model *md, const struct log_record *record);
/* The set of such a record; of another number one that could not be read. */
uint32_t labels_of_number(struct model *md, uint32_t number);
/* Valid until the next set is made. */
const char *labels_text(const struct model *md, uint32_t set);

/* A goroutine has been created, by this one; NULL: by nobody that is known. */
void labels_inherit(struct g *g, const struct g *creator, bool has_labels);
/* Whether this generation does not say yet which labels it has. */
bool labels_are_due(const struct model *md, const struct g *g);
/* m's goroutine runs: says which labels it has, if that is due. */
void labels_announce(struct model *md, struct m *m);
void labels_write_log(struct model *md, struct m *m, const char *category);
/* Nothing was recorded for a time: nothing is said of labels until labels_resync. */
void labels_lost(struct model *md);
/* The generation is over: forgets sets that no goroutine has. */
void labels_recycle(struct model *md);

#endif
