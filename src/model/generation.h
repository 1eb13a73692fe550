/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Generations: self-contained parts of the file, about a second each. Each begins with the status of every
 * live object, as the previous one left it.
 */
#ifndef GOTRACE_MODEL_GENERATION_H
#define GOTRACE_MODEL_GENERATION_H

#include "model/state.h"

void generation_open(struct model *md);
/* Completes the open generation, if there is one, and hands it to the sink. */
void generation_close(struct model *md, bool last);
/*
 * Closes the open generation and opens the next; if the world is stopped, postpones this once. ms: the Ms as
 * read at the boundary.
 */
void generation_boundary(struct model *md, const struct log_boundary *boundary, const struct log_m *ms);

#endif
