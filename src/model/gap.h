/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Time that was not watched is no running time: a goroutine that runs when it begins is shown as blocked
 * ("not watched") and its P as idle, until the snapshot at the end shows what they do.
 */
#ifndef GOTRACE_MODEL_GAP_H
#define GOTRACE_MODEL_GAP_H

#include "model/state.h"

/* Nothing is recorded since then, ns. */
void gap_begin(struct model *md, uint64_t since);
/* It is recorded again, ns. */
void gap_end(struct model *md, uint64_t now);
/* The trace ends, ns: a log event makes it as long as the recording. */
void gap_end_of_trace(struct model *md, uint64_t now);

#endif
