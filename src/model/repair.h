/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Brings the state to what a record implies for the moment before it, with the fewest ops. If no record is
 * missing, these functions write nothing.
 *
 * Readers accept no new status after the first generation, so a difference can only be written as
 * transitions. If no thread of the target is known to have made them, the synthetic goroutine makes them.
 */
#ifndef GOTRACE_MODEL_REPAIR_H
#define GOTRACE_MODEL_REPAIR_H

#include "model/state.h"

/* Leaves m without a goroutine; its P, if any, is running. */
void force_m_free(struct model *md, struct m *m);
/* Makes m hold p (NULL: any), running, with any goroutine or none. Returns false if m has no P. */
bool force_m_hold(struct model *md, struct m *m, struct p *p);
/* by: the thread that is about to take p. */
void force_p_idle(struct model *md, struct m *by, struct p *p);
void force_runnable(struct model *md, struct g *g);
/* reason: string id; 0 = not known. stack: 0 = not known. Nothing is written if it waits already. */
void force_waiting(struct model *md, struct g *g, uint32_t reason, uint32_t stack);
/* Makes g run on m, with p (NULL: any). Returns false if m has no P to run on. */
bool force_running(struct model *md, struct m *m, struct g *g, struct p *p);
void force_dead(struct model *md, struct g *g);
/*
 * Returns the goroutine of a record. If its creation was not seen, the synthetic one creates it: waiting if
 * status is G_WAITING, else runnable. Returns NULL if ptr is 0, or when out of memory.
 */
struct g *g_of_record(struct model *md, uint64_t ptr, uint64_t goid, uint8_t status);

#endif
