/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Regions of goroutines: the user's, and function calls as regions. Readers require them to nest (Go 1.26
 * internal/trace/order.go, endRegion). m must be a thread whose goroutine runs.
 */
#ifndef GOTRACE_MODEL_REGIONS_H
#define GOTRACE_MODEL_REGIONS_H

#include "model/state.h"

/* Opens a region, and its task if it has one of its own. */
void regions_begin(struct model *md, struct m *m, const struct user_region *region, uint32_t stack);
/* Ends all regions except the outermost `depth`. */
void regions_end_deeper(struct model *md, struct m *m, unsigned depth, enum provenance provenance);
/* Writes only the op: the region is not, or no longer, in the list. */
void regions_write_end(struct model *md, struct m *m, const struct user_region *region, uint32_t stack);
/*
 * Returns the index of the outermost call whose caller's stack pointer is below sp (at_sp: or equal to it),
 * or the list's length if there is none.
 */
unsigned regions_call_depth(const struct region_list *regions, uint64_t sp, bool at_sp);
/* Ends that call and all deeper regions. */
void regions_end_calls(struct model *md, struct m *m, uint64_t sp, bool at_sp, enum provenance provenance);

#endif
