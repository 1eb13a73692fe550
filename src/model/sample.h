/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CPU samples. They hold what was found in memory and change no state. They are collected apart from the ops;
 * readers sort them by time.
 */
#ifndef GOTRACE_MODEL_SAMPLE_H
#define GOTRACE_MODEL_SAMPLE_H

#include "model/state.h"

/* Returns the op, which is valid until the next call, or NULL if no sample was taken. */
struct op *sample_take(struct model *md, const struct raw_record *rec);
/* At the end of a generation: appends the samples to its ops. */
void sample_flush(struct model *md);

#endif
