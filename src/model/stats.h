/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where goroutines spend their time, by start function: observes the ledger. */
#ifndef GOTRACE_MODEL_STATS_H
#define GOTRACE_MODEL_STATS_H

#include "model/state.h"

/* NULL when out of memory. */
struct stats *stats_new(void);
void stats_free(struct stats *stats);
/* Returns 0 or -ENOMEM. */
int stats_add(struct stats *stats, struct model *md, const struct generation *gen);
/* Ends the trace with the last added generation; one that is marked as the last does so. 0 or -ENOMEM. */
int stats_end(struct stats *stats);
/* Returns the name of a goroutine's row: string id, 0 = its start function. */
uint32_t stats_row_name(struct model *md, const struct g *g);
/*
 * Adds time, ns, during which goroutine g was running but its thread had no CPU. To be called before the
 * generation that contains it is added. Returns 0 or -ENOMEM.
 */
int stats_off_cpu(struct stats *stats, struct model *md, uint32_t g, uint64_t ns);
/* Returns the rows, greatest first, owned by stats. Call only at the end of the trace. */
const struct goroutine_stats *stats_rows(struct stats *stats, enum stat_order order, size_t *count);
const struct program_stats *stats_program(const struct stats *stats); /* complete at the end of the trace */

#endif
