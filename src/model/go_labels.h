/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* pprof labels of goroutines, from records and snapshots. */
#ifndef GOTRACE_MODEL_GO_LABELS_H
#define GOTRACE_MODEL_GO_LABELS_H

#include "model/go_hit.h"

void on_labels(struct model *md, const struct probe_hit *hit);
/*
 * Takes labels from md->snapshot, except for goroutines with an early record about them between its markers,
 * [from, to).
 */
void labels_start(struct model *md, size_t from, size_t to);
void labels_resync(struct model *md, size_t from, size_t to);

#endif
