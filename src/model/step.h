/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lawful ops. Each function writes one op and changes the state as a reader of
 * the trace will. The caller has made sure that the op is legal here (repair.c);
 * nothing is checked. m is the thread that does it, g and p are what it is done to.
 */
#ifndef GOTRACE_MODEL_STEP_H
#define GOTRACE_MODEL_STEP_H

#include "model/state.h"

void step_proc_status(struct model *md, struct p *p);
/* Finds the P, or adds it: idle, and with its status. NULL when out of memory, or if no machine has that
 * many. */
struct p *step_proc_get(struct model *md, uint64_t ptr, int32_t id);
void step_proc_start(struct model *md, struct m *m, struct p *p);
void step_proc_stop(struct model *md, struct m *m);
void step_proc_steal(struct model *md, struct m *thief, struct p *p);

/* stack: the creator's; m may be NULL when out of memory. */
void step_go_create(struct model *md, struct m *m, struct g *g, bool blocked, uint32_t stack);
void step_go_create_syscall(struct model *md, struct m *m, struct g *g);
void step_go_start(struct model *md, struct m *m, struct g *g);
/* The same without a record of its own: as early as it can have been. */
void step_go_start_unseen(struct model *md, struct m *m, struct g *g);
/* reason: a string id. */
void step_go_stop(struct model *md, struct m *m, uint32_t reason, uint32_t stack);
/* The op may be completed until the next one is written. */
struct op *step_go_block(struct model *md, struct m *m, uint32_t reason, uint32_t stack);
/* m's running goroutine is not there any more: it blocked, until go_leave.c knows better. */
void step_go_leave_unseen(struct model *md, struct m *m);
/* The same where every wait is probed: it is runnable, until force_waiting() knows better. */
void step_go_stop_unseen(struct model *md, struct m *m);
/* m: the waker's thread; NULL = not known. */
void step_go_unblock(struct model *md, struct m *m, struct g *g, uint32_t stack);
void step_go_switch(struct model *md, struct m *m, struct g *next, bool destroy);
void step_go_destroy(struct model *md, struct m *m);
void step_go_destroy_syscall(struct model *md, struct m *m);

void step_syscall_begin(struct model *md, struct m *m, uint32_t stack);
void step_syscall_end(struct model *md, struct m *m);
void step_syscall_end_blocked(struct model *md, struct m *m);
/* The call's end, if it comes, has no place in the list any more. */
void drop_held_end(struct m *m);

void step_stw_end(struct model *md, enum provenance provenance);
void step_sweep_end(struct model *md, struct m *m, uint64_t swept, uint64_t reclaimed);
void step_end_sweeps(struct model *md); /* all that are open: their ends will not be seen */
void step_assist_end(struct model *md, struct m *m);

#endif
