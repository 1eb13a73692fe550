/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The heaviest keys of a stream of weighted keys. */
#ifndef GOTRACE_ANALYSIS_TOP_H
#define GOTRACE_ANALYSIS_TOP_H

#include "analysis/state.h"

struct top *top_add(struct top tops[TOPS], uint64_t key, uint64_t weight); /* returns the key's place */
void top_merge(struct top to[TOPS], const struct top from[TOPS]);
/* The weight that is the key's own for sure: what a report may say of it. */
uint64_t top_sure(const struct top *top);
const struct top *top_first(const struct top tops[TOPS]); /* its n is 0 if there is none */

#endif
