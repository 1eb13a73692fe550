/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Threads' lives, and how they stand at the borders of generations. */
#include "threads.h"

#include <stdlib.h>

/* PID_MAX_LIMIT, Linux 6.18 include/linux/threads.h; and a round number above it. */
enum { MAX_TIDS = 1 << 22, REBORN = 10000000 };

struct threads *model_threads_new(void)
{
	struct threads *threads = calloc(1, sizeof(*threads));

	if (!threads)
		return NULL;
	threads->used_tids = calloc(MAX_TIDS / 32, sizeof(*threads->used_tids));
	if (!threads->used_tids) {
		free(threads);
		return NULL;
	}
	return threads;
}

void model_threads_free(struct threads *threads)
{
	if (!threads)
		return;
	free(threads->used_tids);
	free(threads->hints);
	free(threads->natives);
	map64_free(&threads->comms);
	map64_free(&threads->symbols);
	map64_free(&threads->files);
	map64_free(&threads->roots);
	map64_free(&threads->named);
	free(threads);
}

bool is_tid(uint64_t tid)
{
	return tid && tid < STAND_IN_TID;
}

struct thread *thread_find(const struct model *md, uint64_t tid)
{
	struct g *g = g_find(md, tid);

	return g ? g->thread : NULL;
}

/* The tid, but that no two lives of a trace may share an id: then it is at the end of a greater one. */
static uint64_t goid_of(struct threads *threads, uint32_t tid)
{
	if (tid < MAX_TIDS && !(threads->used_tids[tid / 32] & 1u << tid % 32)) {
		threads->used_tids[tid / 32] |= 1u << tid % 32;
		return tid;
	}
	return ++threads->reborn * REBORN + tid % REBORN;
}

struct thread *thread_new(struct model *md, uint32_t tid)
{
	uint32_t *comm = map64_get(&md->threads->comms, tid);
	struct thread *t = calloc(1, sizeof(*t));
	struct g *g = t ? g_new(md, tid, goid_of(md->threads, tid)) : NULL;

	if (!g) {
		free(t);
		md->oom = true;
		return NULL;
	}
	t->g = g;
	t->comm = comm ? *comm : tables_string(md, md->target.comm);
	g->thread = t;
	return t;
}

void thread_told(struct model *md, struct thread *t)
{
	t->birth = md->ops.n;
	t->birth_generation = md->generation;
}

struct thread *thread_get(struct model *md, uint64_t tid, bool waiting)
{
	struct thread *t = thread_find(md, tid);
	enum cause before = md->cause;

	if (t || !is_tid(tid))
		return t;
	t = thread_new(md, (uint32_t)tid);
	if (!t)
		return NULL;
	md->cause = REPAIRED;
	step_go_create(md, stand_in_begin(md), t->g, waiting, md->stand_in.stack);
	thread_told(md, t);
	stand_in_end(md);
	md->cause = before;
	return t;
}

/* Nothing but a name: it is not known where the thread was. */
static bool is_name(const struct model *md, uint32_t stack)
{
	const struct stack *known = &md->stacks.stacks[stack];

	return !stack || (!known->n && !known->leaf);
}

/* Viewers name a goroutine by the first stack that they see: by now its name may be known better. */
static void name_birth(struct model *md, const struct thread *t)
{
	struct op *op;
	uint32_t entry;

	if (!t->birth || t->birth_generation != md->generation || t->birth > md->ops.n)
		return;
	entry = thread_entry(md, t);
	op = &md->ops.ops[t->birth - 1];
	if (op->kind != OP_GO_STATUS || md->generation == 1)
		op->stack2 = entry;
	if (op->kind == OP_GO_STATUS &&
	    (op->status == G_RUNNING || op->status == G_RUNNABLE || is_name(md, op->stack)))
		op->stack = entry;
}

void threads_forget(struct model *md, struct g *g)
{
	struct thread *t = g->thread;

	if (!t)
		return;
	if (md) {
		name_birth(md, t);
		g->name = thread_name(md, t);
	}
	g->thread = NULL;
	free(t->calls.open);
	free(t);
}

uint32_t threads_entry_stack(struct model *md, const struct g *g)
{
	return thread_entry(md, g->thread);
}

uint32_t threads_row_name(struct model *md, const struct g *g)
{
	if (g == md->stand_in.g)
		return tables_string(md, "[gotrace]"); /* repairs, and what its log events say */
	return g->thread ? thread_name(md, g->thread) : g->name;
}

/* Only of one that waits or is in a system call it is known where it is. */
void threads_tell_status(struct model *md, struct g *g, struct op *op)
{
	if (g->status == G_RUNNING || g->status == G_RUNNABLE || !g->stack)
		op->stack = thread_entry(md, g->thread);
	if (md->generation == 1)
		op->stack2 = thread_entry(md, g->thread);
	if (g->status == G_WAITING)
		op->string = g->thread->reason;
	thread_told(md, g->thread);
}

static void close_thread(struct model *md, struct thread *t, bool last)
{
	thread_settle_resume(md, t, true);
	thread_doubt_waking(md, t);
	if (last && t->exiting && t->losses == md->annotations.losses && t->g->m) {
		md->cause = INFERRED; /* it was said to end: this is what its CPU did next */
		thread_die(md, t);
		return;
	}
	name_birth(md, t);
}

void threads_close(struct model *md, bool last)
{
	enum cause before = md->cause;

	md->now = md->last_time;
	for (uint32_t i = 1; i < md->gs.n; i++) {
		if (md->gs.all[i]->thread)
			close_thread(md, md->gs.all[i]->thread, last);
	}
	md->cause = before;
}

void threads_record(struct model *md, const struct log_record *record)
{
	switch (record->type) {
	case LOG_STACK:
		threads_stack(md, record->data);
		break;
	case LOG_TEXT:
		threads_comm(md, record->data);
		break;
	case LOG_SYMBOL:
		threads_symbol(md, record->data);
		break;
	case LOG_FILE:
		threads_file(md, record->data);
		break;
	}
}
