/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Replaces the names in a trace: functions, files, tasks, regions and messages become numbers, equal names
 * the same number. Names of the runtime and the kernel, and block reasons, are kept: they are the same in
 * every program.
 */
#ifndef GOTRACE_TRACE_CUT_ANONYMIZE_H
#define GOTRACE_TRACE_CUT_ANONYMIZE_H

#include "trace/ops/op.h"

struct anonymizer;

struct anonymizer *anonymizer_new(void); /* NULL when out of memory */
void anonymizer_free(struct anonymizer *anonymizer);
/*
 * Sets *out to gen with anonymized tables. The anonymizer owns the tables; they are valid until the next
 * call. Returns 0 or -ENOMEM.
 */
int anonymizer_generation(struct anonymizer *anonymizer, const struct generation *gen,
			  struct generation *out);

#endif
