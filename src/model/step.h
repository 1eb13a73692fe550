/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Legal ops. Each function writes one op and changes the state as a reader of the trace will. The caller must
 * ensure that the op is legal here (repair.c); nothing is checked. m is the acting thread; g and p are the
 * objects acted on.
 */
#ifndef GOTRACE_MODEL_STEP_H
#define GOTRACE_MODEL_STEP_H

#include "model/state.h"

void step_proc_status(struct model *md, struct p *p);
/*
 * Finds the P, or adds it as idle and writes its status. Returns NULL when out of memory, or if id is out of
 * range.
 */
struct p *step_proc_get(struct model *md, uint64_t ptr, int32_t id);
void step_proc_start(struct model *md, struct m *m, struct p *p);
void step_proc_stop(struct model *md, struct m *m);
void step_proc_steal(struct model *md, struct m *thief, struct p *p);

/* stack: the creator's; m may be NULL when out of memory. */
void step_go_create(struct model *md, struct m *m, struct g *g, bool blocked, uint32_t stack);
void step_go_create_syscall(struct model *md, struct m *m, struct g *g);
void step_go_start(struct model *md, struct m *m, struct g *g);
/* The same for a start without a record: dated as early as possible. */
void step_go_start_unseen(struct model *md, struct m *m, struct g *g);
/* reason: a string id. */
void step_go_stop(struct model *md, struct m *m, uint32_t reason, uint32_t stack);
/* Returns the op, which the caller may complete until the next one is written. */
struct op *step_go_block(struct model *md, struct m *m, uint32_t reason, uint32_t stack);
/* m's running goroutine has left: taken as blocked until go/leave.c corrects it. */
void step_go_leave_unseen(struct model *md, struct m *m);
/* The same where every wait is probed: taken as runnable until force_waiting() corrects it. */
void step_go_stop_unseen(struct model *md, struct m *m);
/* m: the waker's thread; NULL = unknown. */
void step_go_unblock(struct model *md, struct m *m, struct g *g, uint32_t stack);
void step_go_switch(struct model *md, struct m *m, struct g *next, bool destroy);
void step_go_destroy(struct model *md, struct m *m);
void step_go_destroy_syscall(struct model *md, struct m *m);

void step_syscall_begin(struct model *md, struct m *m, uint32_t stack);
void step_syscall_end(struct model *md, struct m *m);
void step_syscall_end_blocked(struct model *md, struct m *m);
/* Gives up the place reserved for the end of m's system call. */
void release_reserved_end(struct m *m);

void step_stw_end(struct model *md, enum provenance provenance);
void step_sweep_end(struct model *md, struct m *m, uint64_t swept, uint64_t reclaimed);
void step_end_sweeps(struct model *md); /* all open ones: their ends will not be seen */
void step_assist_end(struct model *md, struct m *m);

#endif
