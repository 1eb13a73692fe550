/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* pprof labels of goroutines: what records and snapshots say of them. */
#ifndef GOTRACE_MODEL_GO_LABELS_H
#define GOTRACE_MODEL_GO_LABELS_H

#include "model/go_hit.h"

void on_labels(struct model *md, const struct probe_hit *hit);
/* The labels of md->snapshot, for goroutines that no early record between its markers, [from, to), is about.
 */
void labels_start(struct model *md, size_t from, size_t to);
void labels_resync(struct model *md, size_t from, size_t to);

#endif
