/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Regions of goroutines: the user's, and calls of functions as regions. Readers want them to nest (Go 1.26
 * internal/trace/order.go, endRegion). m is a thread whose goroutine runs.
 */
#ifndef GOTRACE_MODEL_REGIONS_H
#define GOTRACE_MODEL_REGIONS_H

#include "model/state.h"

/* Opens one more, and its task if it has one of its own. */
void regions_begin(struct model *md, struct m *m, const struct user_region *region, uint32_t stack);
/* Ends those that lie deeper than `depth`. */
void regions_end_deeper(struct model *md, struct m *m, unsigned depth, enum provenance provenance);
/* The op alone: the region is not in the list, or has been taken out. */
void regions_write_end(struct model *md, struct m *m, const struct user_region *region, uint32_t stack);
/*
 * The depth of the outermost call whose caller's stack pointer is below sp, or at it (at_sp); the list's
 * length if there is none.
 */
unsigned regions_call_depth(const struct region_list *regions, uint64_t sp, bool at_sp);
/* Ends that call and all that lie deeper. */
void regions_end_calls(struct model *md, struct m *m, uint64_t sp, bool at_sp, enum provenance provenance);

#endif
