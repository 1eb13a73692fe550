/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU samples. They hold what was found in memory and change no state. They are gathered beside the ops:
 * readers sort them in by time.
 */
#ifndef GOTRACE_MODEL_SAMPLE_H
#define GOTRACE_MODEL_SAMPLE_H

#include "model/state.h"

/* NULL if nothing was taken; the op is valid until the next call. */
struct op *sample_take(struct model *md, const struct raw_record *rec);
/* At the end of a generation: puts the samples behind its ops. */
void sample_flush(struct model *md);

#endif
