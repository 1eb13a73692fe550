/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Prints groups of goroutines as text, 80 columns wide, and as JSON (docs/ps.schema.json). */
#ifndef GOTRACE_ANALYSIS_GOROUTINES_PRINT_H
#define GOTRACE_ANALYSIS_GOROUTINES_PRINT_H

#include <stdio.h>

#include "analysis/goroutines/groups.h"

/* all: prints every group and frame, otherwise the largest groups and the frames nearest to the leaf. */
void groups_print_text(struct groups *groups, FILE *out, bool all);
void groups_print_json(struct groups *groups, FILE *out);

#endif
