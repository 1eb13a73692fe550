/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Goroutines with the same function and creator. */
#ifndef GOTRACE_ANALYSIS_GROUPS_H
#define GOTRACE_ANALYSIS_GROUPS_H

#include "analysis/state.h"

uint32_t group_get(struct analysis *a, uint32_t func, uint32_t file, uint32_t line, uint32_t creator);
void group_from_stack(struct analysis *a, struct goroutine *g, uint32_t stack);
void group_born(struct analysis *a, struct goroutine *g, uint32_t entry, uint32_t creator, bool before);
void group_ended(struct analysis *a, struct goroutine *g);
void groups_end(struct analysis *a);

#endif
