/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/cut/state.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

void cut_state_free(struct cut_state *state)
{
	free(state->goroutines);
	free(state->procs);
	free(state->threads);
	map64_free(&state->thread_by_id);
}

struct cut_goroutine *cut_goroutine(struct cut_state *state, uint32_t g)
{
	if (array_grow(&state->goroutines, &state->goroutine_capacity, (size_t)g + 1,
		       sizeof(*state->goroutines)))
		return NULL;
	return &state->goroutines[g];
}

struct cut_proc *cut_proc(struct cut_state *state, int32_t p)
{
	if (p < 0 || array_grow(&state->procs, &state->proc_capacity, (size_t)p + 1, sizeof(*state->procs)))
		return NULL;
	return &state->procs[p];
}

struct cut_thread *cut_thread(struct cut_state *state, uint32_t m)
{
	const uint32_t *at = map64_get(&state->thread_by_id, m);

	if (at)
		return &state->threads[*at];
	if (array_grow(&state->threads, &state->thread_capacity, state->nthreads + 1,
		       sizeof(*state->threads)) ||
	    (m && map64_set(&state->thread_by_id, m, (uint32_t)state->nthreads)))
		return NULL;
	state->threads[state->nthreads] = (struct cut_thread){.p = NO_P};
	return &state->threads[state->nthreads++];
}

/* --- Ps --- */

static int set_proc(struct cut_state *state, int32_t p, unsigned status, uint32_t m)
{
	struct cut_proc *proc = cut_proc(state, p);
	struct cut_thread *thread;

	if (!proc)
		return -ENOMEM;
	thread = proc->m ? cut_thread(state, proc->m) : NULL;
	if (thread && thread->p == p)
		thread->p = NO_P;
	proc->known = true;
	proc->status = (uint8_t)status;
	proc->m = m;
	thread = m ? cut_thread(state, m) : NULL;
	if (m && !thread)
		return -ENOMEM;
	if (thread)
		thread->p = p;
	return 0;
}

static int proc_step(struct cut_state *state, const struct op *op)
{
	switch (op->kind) {
	case OP_PROC_STATUS:
		return set_proc(state, op->p, op->status, op->m);
	case OP_PROC_START:
		return set_proc(state, op->p, P_RUNNING, op->m);
	default: /* stop or steal */
		return set_proc(state, op->p, P_IDLE, NO_M);
	}
}

/* --- goroutines --- */

static int bind(struct cut_state *state, uint32_t index, unsigned status, uint32_t m)
{
	struct cut_goroutine *g = cut_goroutine(state, index);
	struct cut_thread *thread;

	if (!g)
		return -ENOMEM;
	thread = g->m ? cut_thread(state, g->m) : NULL;
	if (thread && thread->g == index)
		thread->g = NO_G;
	g->status = (uint8_t)status;
	g->m = m;
	thread = m ? cut_thread(state, m) : NULL;
	if (m && !thread)
		return -ENOMEM;
	if (thread)
		thread->g = index;
	return 0;
}

static int appear(struct cut_state *state, uint32_t index, unsigned status, uint32_t m, uint32_t entry,
		  uint32_t stack)
{
	struct cut_goroutine *g = cut_goroutine(state, index);

	if (!g)
		return -ENOMEM;
	/* An assist noted before the goroutine's status is one that a native trace states later (cut.c). */
	*g = (struct cut_goroutine){.entry = entry, .stack = stack, .assists = !g->status && g->assists};
	return bind(state, index, status, m);
}

static int leave(struct cut_state *state, const struct op *op, unsigned status)
{
	struct cut_goroutine *g = cut_goroutine(state, op->g);

	if (!g)
		return -ENOMEM;
	if (op->stack)
		g->stack = op->stack;
	return bind(state, op->g, status, NO_M);
}

static int set_call(struct cut_state *state, const struct op *op, unsigned g_status, unsigned p_status)
{
	struct cut_thread *thread = cut_thread(state, op->m);
	struct cut_goroutine *g = cut_goroutine(state, op->g);
	struct cut_proc *proc = thread ? cut_proc(state, thread->p) : NULL;

	if (!thread || !g)
		return -ENOMEM;
	g->status = (uint8_t)g_status;
	if (op->stack)
		g->stack = op->stack;
	if (proc)
		proc->status = (uint8_t)p_status;
	return 0;
}

/* When a goroutine ends in a system call, its thread's P is abandoned. */
static int destroy_in_call(struct cut_state *state, const struct op *op)
{
	struct cut_thread *thread = cut_thread(state, op->m);

	if (!thread)
		return -ENOMEM;
	if (thread->p != NO_P && set_proc(state, thread->p, P_ABANDONED, NO_M))
		return -ENOMEM;
	return bind(state, op->g, 0, NO_M);
}

static int goroutine_step(struct cut_state *state, const struct op *op)
{
	switch (op->kind) {
	case OP_GO_STATUS:
		return appear(state, op->g, op->status, op->m, op->stack2, op->stack);
	case OP_GO_CREATE:
		return appear(state, op->g2, G_RUNNABLE, NO_M, op->stack2, 0);
	case OP_GO_CREATE_BLOCKED:
		return appear(state, op->g2, G_WAITING, NO_M, op->stack2, 0);
	case OP_GO_CREATE_SYSCALL:
		return appear(state, op->g, G_SYSCALL, op->m, op->stack2, 0);
	case OP_GO_START:
		return bind(state, op->g, G_RUNNING, op->m);
	case OP_GO_STOP:
	case OP_SYSCALL_END_BLOCKED:
		return leave(state, op, G_RUNNABLE);
	case OP_GO_BLOCK:
		return leave(state, op, G_WAITING);
	case OP_GO_UNBLOCK:
		return bind(state, op->g2, G_RUNNABLE, NO_M);
	case OP_GO_SWITCH:
		return leave(state, op, G_WAITING) ? -ENOMEM : bind(state, op->g2, G_RUNNING, op->m);
	case OP_GO_SWITCH_DESTROY:
		return bind(state, op->g, 0, NO_M) ? -ENOMEM : bind(state, op->g2, G_RUNNING, op->m);
	case OP_GO_DESTROY:
		return bind(state, op->g, 0, NO_M);
	case OP_GO_DESTROY_SYSCALL:
		return destroy_in_call(state, op);
	case OP_SYSCALL_BEGIN:
		return set_call(state, op, G_SYSCALL, P_SYSCALL);
	default:
		return set_call(state, op, G_RUNNING, P_RUNNING);
	}
}

/* --- ranges --- */

static int range_step(struct cut_state *state, const struct op *op)
{
	struct cut_goroutine *g = cut_goroutine(state, op->g);
	struct cut_proc *proc = cut_proc(state, op->p);

	if (!g)
		return -ENOMEM;
	switch (op->kind) {
	case OP_STW_BEGIN:
		g->nstw++;
		state->nstw++;
		break;
	case OP_STW_END:
		g->nstw -= g->nstw > 0;
		state->nstw -= state->nstw > 0;
		break;
	case OP_GC_ACTIVE:
	case OP_GC_BEGIN:
		state->gc = true;
		break;
	case OP_GC_END:
		state->gc = false;
		break;
	case OP_GC_ASSIST_ACTIVE:
	case OP_GC_ASSIST_BEGIN:
	case OP_GC_ASSIST_END:
		g->assists = op->kind != OP_GC_ASSIST_END;
		break;
	default:
		if (proc)
			proc->sweeps = op->kind != OP_GC_SWEEP_END;
	}
	return 0;
}

int cut_apply(struct cut_state *state, const struct op *op)
{
	switch (op->kind) {
	case OP_PROC_STATUS:
	case OP_PROC_START ... OP_PROC_STEAL:
		return proc_step(state, op);
	case OP_GO_STATUS:
	case OP_GO_CREATE ... OP_SYSCALL_END_BLOCKED:
		return goroutine_step(state, op);
	case OP_STW_BEGIN ... OP_GC_ASSIST_END:
		return range_step(state, op);
	default:
		return 0;
	}
}
