/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Log events with the labels of goroutines that did not run in a generation. */
#ifndef GOTRACE_MODEL_LABELS_OTHERS_H
#define GOTRACE_MODEL_LABELS_OTHERS_H

#include "model/state.h"

/* At the end of a generation: lists goroutines with labels that readers may not know yet. */
void labels_announce_left(struct model *md);

#endif
