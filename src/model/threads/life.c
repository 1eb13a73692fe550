/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/threads/life.h"

#include <stdlib.h>

#include "model/step.h"
#include "model/synthetic.h"

/* PID_MAX_LIMIT, Linux 6.18 include/linux/threads.h; and a round number above it. */
enum { MAX_TIDS = 1 << 22, REUSED_ID_STEP = 10000000 };

bool threads_init_tids(struct threads_state *threads)
{
	threads->used_tids = calloc(MAX_TIDS / 32, sizeof(*threads->used_tids));
	return threads->used_tids;
}

bool is_tid(uint64_t tid)
{
	return tid && tid < SYNTHETIC_TID;
}

struct thread_life *thread_find(struct model *md, uint64_t tid)
{
	struct g *g = g_find(&md->entities, tid);

	return g ? g->thread : NULL;
}

/* Returns the tid, or, because no two lives of a trace may share an id, a greater id that ends with it. */
static uint64_t goid_of(struct threads_state *threads, uint32_t tid)
{
	if (tid < MAX_TIDS && !(threads->used_tids[tid / 32] & 1u << tid % 32)) {
		threads->used_tids[tid / 32] |= 1u << tid % 32;
		return tid;
	}
	return ++threads->reused_tids * REUSED_ID_STEP + tid % REUSED_ID_STEP;
}

struct thread_life *thread_new(struct model *md, uint32_t tid)
{
	uint32_t *comm = map64_get(&md->threads->comms, tid);
	struct thread_life *t = calloc(1, sizeof(*t));
	struct g *g = t ? g_new(&md->entities, tid, goid_of(md->threads, tid)) : NULL;

	if (!g) {
		free(t);
		md->oom = true;
		return NULL;
	}
	t->g = g;
	t->comm = comm ? *comm : comm_id(md, md->target.comm);
	g->thread = t;
	return t;
}

void thread_first_op(struct model *md, struct thread_life *t)
{
	t->birth = md->ops.n;
	t->birth_generation = md->generation.number;
}

struct thread_life *thread_get(struct model *md, uint64_t tid, bool waiting)
{
	struct thread_life *t = thread_find(md, tid);
	enum provenance before = md->ops.provenance;
	struct m *by;

	if (t || !is_tid(tid))
		return t;
	t = thread_new(md, (uint32_t)tid);
	if (!t)
		return NULL;
	md->ops.provenance = REPAIRED;
	by = synthetic_begin(md);
	step_go_create(md, by, t->g, waiting, md->synthetic.stack);
	thread_first_op(md, t);
	synthetic_end(md);
	md->ops.provenance = before;
	return t;
}
