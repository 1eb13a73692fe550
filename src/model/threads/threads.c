/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The front end of a target traced as threads, and the threads' state at generation boundaries. */
#include <stdlib.h>

#include "model/front_end.h"
#include "model/threads/life.h"
#include "model/threads/names.h"
#include "model/threads/front_end.h"
#include "model/threads/step.h"
#include "model/threads/wake.h"

static bool threads_open_threads(struct model *md)
{
	struct threads_state *threads = calloc(1, sizeof(*threads));

	md->threads = threads;
	return threads && threads_init_tids(threads);
}

static void forget_thread(struct g *g)
{
	free(g->thread);
	g->thread = NULL;
}

static void close_threads(struct model *md)
{
	struct threads_state *threads = md->threads;

	for (uint32_t i = 1; i < md->entities.gs.n; i++)
		forget_thread(md->entities.gs.all[i]);
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
	syscalls_free(&threads->calls);
	free(threads);
}

static void learn_name(struct model *md, const struct log_record *record)
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

static void settle_nothing(struct model *md, const struct log_boundary *boundary, const struct log_m *ms)
{
	(void)md, (void)boundary, (void)ms;
}

static void threads_end_call(struct model *md, struct g *g)
{
	if (g->thread)
		thread_end_call(md, g->thread);
}

static void write_nothing(struct model *md)
{
	(void)md;
}

/* A thread's location is known only if it waits or is in a system call. */
static void threads_describe_status(struct model *md, struct g *g, struct op *op)
{
	if (!g->thread)
		return;
	if (g->status == G_RUNNING || g->status == G_RUNNABLE || !g->stack)
		op->stack = thread_entry(md, g->thread);
	if (md->generation.number == 1)
		op->stack2 = thread_entry(md, g->thread);
	if (g->status == G_WAITING)
		op->string = g->thread->reason;
	thread_first_op(md, g->thread);
}

/* Whether the stack has no address, only a name: the thread's location is unknown. */
static bool is_name(const struct model *md, uint32_t stack)
{
	const struct stack *known = &md->stacks.stacks[stack];

	return !stack || (!known->n && !known->leaf);
}

/* Viewers name a goroutine by the first stack that they see. By now a better name may be known. */
static void name_birth(struct model *md, const struct thread_life *t)
{
	struct op *op;
	uint32_t entry;

	if (!t->birth || t->birth_generation != md->generation.number || t->birth > md->ops.n)
		return;
	entry = thread_entry(md, t);
	op = &md->ops.ops[t->birth - 1];
	if (op->kind != OP_GO_STATUS || md->generation.number == 1)
		op->stack2 = entry;
	if (op->kind == OP_GO_STATUS &&
	    (op->status == G_RUNNING || op->status == G_RUNNABLE || is_name(md, op->stack)))
		op->stack = entry;
}

static void end_thread(struct model *md, struct thread_life *t, bool last)
{
	thread_settle_resume(md, t, true);
	thread_expire_early_unblock(md, t);
	if (last && t->exiting && t->losses == md->view.losses && t->g->m) {
		md->ops.provenance = INFERRED; /* this follows from its exit, which was seen */
		thread_die(md, t);
		return;
	}
	name_birth(md, t);
}

static void end_generation(struct model *md, bool last)
{
	enum provenance before = md->ops.provenance;

	md->ops.now = md->ops.last_time;
	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		if (md->entities.gs.all[i]->thread)
			end_thread(md, md->entities.gs.all[i]->thread, last);
	}
	md->ops.provenance = before;
}

static uint32_t threads_entry_stack(struct model *md, const struct g *g)
{
	return g->thread ? thread_entry(md, g->thread) : 0;
}

static uint32_t row_name(struct model *md, const struct g *g)
{
	return g->thread ? thread_name(md, g->thread) : g->name;
}

static void threads_end_life(struct model *md, struct g *g)
{
	if (!g->thread)
		return;
	name_birth(md, g->thread);
	g->name = thread_name(md, g->thread);
	forget_thread(g);
}

const struct front_end threads_front_end = {
	.annotates = false,
	.open = threads_open_threads,
	.close = close_threads,
	.observe = threads_observe,
	.learn_name = learn_name,
	.set_calls = threads_set_calls,
	.settle = settle_nothing,
	.end_call = threads_end_call,
	.start = threads_start,
	.start_spawned = threads_start_spawned,
	.resync = threads_resync,
	.write_first = write_nothing,
	.describe_status = threads_describe_status,
	.end_generation = end_generation,
	.entry_stack = threads_entry_stack,
	.row_name = row_name,
	.end_life = threads_end_life,
	.use_stacks = threads_use_stacks,
	.forget_stack = threads_forget_stack,
	.stacks_renewed = threads_forget_named,
	.files_renewed = threads_forget_files,
	.keep_names = threads_keep_names,
};
