/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tasks, regions and logs of runtime/trace. */
#ifndef GOTRACE_MODEL_GO_ANNOTATIONS_H
#define GOTRACE_MODEL_GO_ANNOTATIONS_H

#include "model/go_hit.h"

/* Handles an annotation; its strings are in md->annotations.ids. */
void on_annotation(struct model *md, const struct probe_hit *hit);
/* To be called before a region of m's goroutine begins or ends: open regions may have ended in a loss. */
void regions_settle(struct model *md, struct m *m);

#endif
