/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Log events with the labels of goroutines that did not run in a generation. */
#ifndef GOTRACE_MODEL_LABELS_OTHERS_H
#define GOTRACE_MODEL_LABELS_OTHERS_H

#include "model/state.h"

/* The generation ends: names goroutines with labels that readers may not know of yet. */
void labels_announce_left(struct model *md);

#endif
