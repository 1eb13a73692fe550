/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A trace without its names: functions, files, tasks, regions and messages
 * become numbers, equal ones the same number. What the runtime and the kernel
 * are called stays, and so do reasons: they are the same in every program.
 */
#ifndef GOTRACE_CUT_ANONYMIZE_H
#define GOTRACE_CUT_ANONYMIZE_H

#include "sched/op.h"

struct anonymizer;

struct anonymizer *anonymizer_new(void); /* NULL when out of memory */
void anonymizer_free(struct anonymizer *anonymizer);
/*
 * Makes `out` the same generation with other tables, which are the
 * anonymizer's and last until the next call. 0 or -ENOMEM.
 */
int anonymizer_generation(struct anonymizer *anonymizer, const struct generation *gen,
			  struct generation *out);

#endif
