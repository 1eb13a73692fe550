/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Objects that existed before the trace. In its first generation, a file states the status of each such
 * goroutine and P where it first names it. The ops state all of them at the generation's start, so the thread
 * of such an object must not have done anything earlier that contradicts the status.
 */
#include <errno.h>

#include "trace/convert/builder.h"

#define BROKEN(b, ...) error_set((b)->err, EBADMSG, __VA_ARGS__)

static int statuses_no_memory(struct builder *b)
{
	return error_set(b->err, ENOMEM, "out of memory");
}

static void statuses_bind_g(struct builder *b, uint32_t thread, uint32_t g)
{
	sched_bind_g(&b->sched, thread, g);
	b->threads[thread].had_g = true;
}

int builder_add_g_status(struct builder *b, const struct op *op)
{
	const struct built_thread *thread = &b->threads[op->m];
	bool held = op->status == G_RUNNING || op->status == G_SYSCALL;
	struct op *new;

	if (op->status < G_RUNNABLE || op->status > G_WAITING)
		return BROKEN(b, "goroutine %llu has the status %u", (unsigned long long)b->goids[op->g],
			      op->status);
	if (held && !op->m)
		return BROKEN(b, "goroutine %llu is %s without a thread", (unsigned long long)b->goids[op->g],
			      g_status_name(op->status));
	if (held && (thread->had_g || (thread->missing_g && op->status == G_SYSCALL)))
		return BROKEN(b, "goroutine %llu was %s on thread %u, which already had another goroutine",
			      (unsigned long long)b->goids[op->g], g_status_name(op->status), thread->tid);
	new = array_push(&b->g_statuses);
	if (!new)
		return statuses_no_memory(b);
	*new = *op;
	new->kind = OP_GO_STATUS;
	new->arg = b->sink.source_times ? op->time : 0;
	new->m = held ? thread->tid : NO_M;
	b->lives[op->g].status_at = (uint32_t)b->g_statuses.n;
	b->sched.gs[op->g].status = op->status;
	if (held)
		statuses_bind_g(b, op->m, op->g);
	return 0;
}

int builder_add_p_status(struct builder *b, uint64_t time, const struct op *op)
{
	struct built_thread *thread = &b->threads[op->m];
	bool held = op->status == P_RUNNING || op->status == P_SYSCALL;
	struct op *new;

	if (op->status < P_RUNNING || op->status > P_ABANDONED)
		return BROKEN(b, "P %d has the status %u", op->p, op->status);
	if (held && !op->m)
		return BROKEN(b, "P %d is %s without a thread", op->p, p_status_name(op->status));
	if (held && (b->generation == 1 ? thread->had_p || thread->missing_p : b->sched.ms[op->m].p != NO_P))
		return BROKEN(b, "P %d was %s on thread %u, which had no P or another P", op->p,
			      p_status_name(op->status), thread->tid);
	new = array_push(b->generation == 1 ? &b->p_statuses : &b->ops);
	if (!new)
		return statuses_no_memory(b);
	*new = *op;
	new->kind = OP_PROC_STATUS;
	new->m = held ? thread->tid : NO_M;
	if (b->generation > 1)
		b->last = new->time = builder_date(b, time, new, new->m);
	b->sched.ps[op->p].status = op->status;
	if (held) {
		sched_bind_p(&b->sched, op->m, op->p);
		thread->had_p = true;
	}
	return 0;
}

int builder_assisted(struct builder *b, uint32_t g)
{
	struct g_life *life = &b->lives[g];
	struct op *new;

	if (b->generation != 1 || !life->status_at || life->assisted || b->actives.n == MAX_ACTIVES)
		return 0;
	new = array_push(&b->actives);
	if (!new)
		return statuses_no_memory(b);
	new->kind = OP_GC_ASSIST_ACTIVE;
	new->g = g;
	new->m = b->g_statuses.ops[life->status_at - 1].m;
	life->assisted = true;
	return sched_begin_assist(&b->sched, g) ? statuses_no_memory(b) : 0;
}

bool builder_began_as(const struct builder *b, uint32_t g, unsigned status)
{
	const struct g_life *life = &b->lives[g];

	return life->status_at && b->sched.gs[g].status == status &&
	       b->g_statuses.ops[life->status_at - 1].status == status;
}

int builder_amend_status(struct builder *b, uint32_t g, unsigned status, uint32_t thread)
{
	struct op *op = &b->g_statuses.ops[b->lives[g].status_at - 1];

	op->status = b->sched.gs[g].status = (uint8_t)status;
	op->m = b->threads[thread].tid;
	if (thread)
		statuses_bind_g(b, thread, g);
	return 0;
}

int builder_amend_birth(struct builder *b, uint64_t time, uint32_t g, unsigned status, uint32_t thread)
{
	struct g_life *life = &b->lives[g];
	struct op *birth = life->birth_at ? &b->ops.ops[life->birth_at - 1] : NULL;

	if (!birth || birth->kind != OP_GO_CREATE)
		return 0;
	if (status == G_WAITING) {
		birth->kind = OP_GO_CREATE_BLOCKED;
		b->sched.gs[g].status = G_WAITING;
		return 0;
	}
	birth->kind = OP_NONE;
	b->sched.gs[g].status = G_DEAD;
	return builder_step(b, time,
			    &(struct op){.kind = OP_GO_CREATE_SYSCALL, .p = NO_P, .m = thread, .g = g});
}

void builder_amend_thief(struct builder *b, size_t at, uint32_t thread)
{
	struct op *op = at < b->ops.n ? &b->ops.ops[at] : NULL;

	if (!op || op->kind != OP_PROC_STEAL)
		return;
	op->m = b->threads[thread].tid;
	op->g = b->sched.ms[thread].g;
}
