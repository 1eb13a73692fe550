/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The initial state of threads, and the state after a loss. The snapshot was read while they ran, between two
 * markers among the records. The first record about a thread shows its state at the first marker; for threads
 * without a record, the snapshot does.
 */
#include "model/threads/front_end.h"

#include <stdlib.h>

#include "model/threads/life.h"
#include "model/threads/names.h"
#include "model/threads/step.h"
#include "model/threads/wake.h"

/* The state that a thread's first records imply for the moment before them. */
enum before {
	NOT_NOTED,
	WAS_RUNNING, /* on the CPU in the rest of the value */
	WAS_RUNNABLE,
	WAS_WAITING,
	WAS_WOKEN, /* it waited, or was about to and still on its CPU */
	WAS_UNBORN,
};

enum { BEFORE_BITS = 3 };

struct marker_window {
	struct map64 threads;  /* tid -> enum before, and the CPU above BEFORE_BITS */
	struct map64 switched; /* CPUs (+ 1) that have switched threads */
};

static enum before before_of(const struct marker_window *window, uint64_t tid)
{
	uint32_t *value = map64_get(&window->threads, tid);

	return value ? *value & ((1u << BEFORE_BITS) - 1) : NOT_NOTED;
}

static void note(struct model *md, struct marker_window *window, uint64_t tid, enum before what, uint64_t cpu)
{
	if (is_tid(tid) && map64_set(&window->threads, tid, (uint32_t)cpu << BEFORE_BITS | what))
		md->oom = true;
}

/* The acting thread runs on this CPU, and has done so since the first marker, unless records are missing. */
static void note_acting(struct model *md, struct marker_window *window, const struct raw_record *rec)
{
	enum before now = is_tid(rec->tid) ? before_of(window, rec->tid) : NOT_NOTED;

	if (now != NOT_NOTED && now != WAS_WOKEN)
		return;
	note(md, window, rec->tid, map64_get(&window->switched, rec->p + 1) ? WAS_RUNNABLE : WAS_RUNNING,
	     rec->p & 0xffff);
}

static void note_switched_in(struct model *md, struct marker_window *window, const struct raw_record *rec)
{
	enum before now = is_tid(rec->g) ? before_of(window, rec->g) : WAS_RUNNING;

	if (now == NOT_NOTED || now == WAS_WOKEN)
		note(md, window, rec->g, now == NOT_NOTED ? WAS_RUNNABLE : WAS_WAITING, 0);
	if (map64_set(&window->switched, rec->p + 1, 1))
		md->oom = true;
}

static void note_record(struct model *md, struct marker_window *window, const struct raw_record *rec)
{
	if (rec->p >= UINT32_MAX)
		return;
	switch (rec->site) {
	case SITE_SWITCH:
		note_acting(md, window, rec);
		note_switched_in(md, window, rec);
		break;
	case SITE_WAKING:
		if (rec->status == WAKER_THREAD)
			note_acting(md, window, rec);
		if (is_tid(rec->g) && before_of(window, rec->g) == NOT_NOTED)
			note(md, window, rec->g, WAS_WOKEN, 0);
		break;
	case SITE_FORK:
		if (rec->goid == md->target.pid)
			note_acting(md, window, rec);
		if (rec->arg == md->target.pid && is_tid(rec->g) && before_of(window, rec->g) == NOT_NOTED)
			note(md, window, rec->g, WAS_UNBORN, 0);
		break;
	case SITE_THREAD_EXIT:
	case SITE_SYSCALL:
	case SITE_SYSCALL_DONE:
	case SITE_FUNCTION_BEGIN:
	case SITE_FUNCTION_END:
	case SITE_CPU_SAMPLE:
		note_acting(md, window, rec);
		break;
	}
}

static void place(struct model *md, struct thread_life *t, uint8_t status, uint64_t cpu)
{
	struct p *p = status == G_RUNNING ? cpu_get(md, cpu) : NULL;
	struct m *m = p ? m_get(&md->entities, (uint32_t)t->g->ptr) : NULL;

	t->g->status = status == G_RUNNING ? G_RUNNABLE : status;
	if (!m || p->m || m->g || m->p)
		return;
	t->g->status = G_RUNNING;
	t->g->m = m;
	m->g = t->g;
	m->p = p;
	p->m = m;
	p->status = P_RUNNING;
}

static void place_noted(struct model *md, struct thread_life *t, const struct marker_window *window)
{
	uint32_t cpu = *map64_get(&window->threads, t->g->ptr) >> BEFORE_BITS;

	switch (before_of(window, t->g->ptr)) {
	case WAS_RUNNING:
		place(md, t, G_RUNNING, cpu);
		break;
	case WAS_RUNNABLE:
		place(md, t, G_RUNNABLE, 0);
		break;
	default:
		place(md, t, G_WAITING, 0);
	}
}

static uint8_t start_status_of(const struct log_thread *lt)
{
	return lt->status == LOG_THREAD_RUNNING   ? G_RUNNING
	       : lt->status == LOG_THREAD_WAITING ? G_WAITING
						  : G_RUNNABLE;
}

static void place_listed(struct model *md, struct thread_life *t, const struct log_thread *lt,
			 const struct marker_window *window)
{
	bool free_cpu = lt->cpu >= 0 && !map64_get(&window->switched, (uint64_t)lt->cpu + 1);
	uint8_t status = start_status_of(lt);

	if (status == G_RUNNING && !free_cpu)
		status = G_RUNNABLE;
	place(md, t, status, (uint64_t)lt->cpu);
}

/* Takes where the thread waits, and its start routine if its stack shows it. */
static void start_take_stack(struct model *md, struct thread_life *t, const struct log_thread *lt)
{
	struct wait wait = {.call = lt->arg,
			    .file = wait_file(lt->arg2),
			    .lock = WAIT_KIND(lt->arg2) == FILE_LOCK,
			    .left = lt->left,
			    .hint = thread_stack_hint(md, lt->stack),
			    .worker = thread_is_worker(md, t)};
	uint32_t leaf = thread_leaf(md, wait.call, wait.file);
	uint32_t stack = thread_stack(md, t, lt->stack, leaf);

	if (t->g->status != G_WAITING || lt->status != LOG_THREAD_WAITING)
		return;
	t->call = t->last_call = lt->arg;
	t->file = t->last_file = wait.file;
	t->g->stack = stack;
	t->call_stack = thread_call_stack(md, t, lt->stack, leaf);
	t->reason = thread_reason(md, &wait);
}

static void take_names(struct model *md, struct thread_life *t, const struct log_thread *lt)
{
	if (lt->comm[0] && !map64_get(&md->threads->comms, t->g->ptr))
		t->comm = comm_id(md, lt->comm);
	t->start_ns = lt->start_ns;
}

static void start_take_listed(struct model *md, const struct log_thread *lt,
			      const struct marker_window *window)
{
	enum before before = is_tid(lt->tid) ? before_of(window, lt->tid) : WAS_UNBORN;
	struct thread_life *t;

	if (before == WAS_UNBORN || thread_find(md, lt->tid))
		return;
	t = thread_new(md, lt->tid);
	if (!t)
		return;
	take_names(md, t, lt);
	if (before == NOT_NOTED || (before == WAS_WOKEN && lt->status == LOG_THREAD_RUNNING))
		place_listed(md, t, lt, window);
	else
		place_noted(md, t, window);
	start_take_stack(md, t, lt);
}

/* Adds threads that ended before they could be listed. */
static void take_unlisted(struct model *md, const struct marker_window *window)
{
	uint64_t *tids = map64_sorted_keys(&window->threads);

	md->oom |= !tids;
	for (size_t i = 0; tids && i < window->threads.count; i++) {
		uint64_t tid = tids[i];
		struct thread_life *t;

		if (before_of(window, tid) == WAS_UNBORN || thread_find(md, tid))
			continue;
		t = thread_new(md, (uint32_t)tid);
		if (t)
			place_noted(md, t, window);
	}
	free(tids);
}

static void make_cpus(struct model *md, uint32_t n)
{
	for (uint32_t i = 0; i < n && cpu_get(md, i); i++)
		;
}

void threads_start(struct model *md, size_t from, size_t to)
{
	const struct model_snapshot *snap = &md->snapshot;
	struct marker_window window = {0};

	make_cpus(md, snap->info.gomaxprocs);
	for (size_t i = from; i < to; i++)
		note_record(md, &window, &md->early.records[i]);
	for (size_t i = 0; i < snap->nthreads; i++)
		start_take_listed(md, &snap->threads[i], &window);
	take_unlisted(md, &window);
	map64_free(&window.threads);
	map64_free(&window.switched);
}

/* The first thread has the process's id, and the first record is usually about it. */
void threads_start_spawned(struct model *md, const struct raw_record *first)
{
	struct thread_life *t = is_tid(md->target.pid) ? thread_new(md, md->target.pid) : NULL;
	bool runs = first->tid == md->target.pid && first->site != SITE_COMM;

	if (t)
		place(md, t, runs ? G_RUNNING : G_RUNNABLE, first->p);
}

/* --- after a loss --- */

static bool start_older(const struct model *md, const struct thread_life *t)
{
	return t->g->last_hit < md->snapshot.info.time_before;
}

static void start_set_status(struct model *md, struct thread_life *t, const struct log_thread *lt)
{
	uint8_t status = start_status_of(lt);
	struct p *p = lt->cpu >= 0 ? cpu_get(md, (uint64_t)lt->cpu) : NULL;
	const struct g *holder = p && p->m ? p->m->g : NULL;
	bool cpu_known = holder && holder->thread && holder != t->g && !start_older(md, holder->thread);

	if (status == G_RUNNING && p && !cpu_known) {
		thread_on_cpu(md, t, p);
		return;
	}
	if (status == G_WAITING) {
		thread_fell_asleep_unseen(md, t);
		return;
	}
	thread_make_runnable(md, t);
}

static void resync_thread(struct model *md, const struct log_thread *lt)
{
	struct thread_life *t = is_tid(lt->tid) ? thread_find(md, lt->tid) : NULL;

	if (!is_tid(lt->tid))
		return;
	if (t && !start_older(md, t)) {
		t->g->listed = true;
		return;
	}
	if (t && t->start_ns && lt->start_ns && t->start_ns != lt->start_ns) {
		thread_die(md, t); /* the tid has been reused */
		t = NULL;
	}
	if (!t)
		t = thread_get(md, lt->tid, start_status_of(lt) == G_WAITING);
	if (!t)
		return;
	t->g->listed = true;
	take_names(md, t, lt);
	start_set_status(md, t, lt);
	start_take_stack(md, t, lt);
}

/* Lists threads that ended after the snapshot was begun: it may still show them. */
static void start_list_ended(struct model *md, struct map64 *ended)
{
	for (uint32_t i = 0; i < md->entities.gs.nended; i++) {
		const struct g *g = md->entities.gs.all[md->entities.gs.ended[i]];

		if (g->ptr && g->last_hit >= md->snapshot.info.time_before && map64_set(ended, g->ptr, 1))
			md->oom = true;
	}
}

static void start_end_unlisted(struct model *md)
{
	for (uint32_t i = 1; i < md->entities.gs.n; i++) {
		struct g *g = md->entities.gs.all[i];

		if (g->status != G_DEAD && g->thread && !g->listed && start_older(md, g->thread))
			thread_die(md, g->thread);
		g->listed = false;
	}
}

void threads_resync(struct model *md)
{
	const struct model_snapshot *snap = &md->snapshot;
	struct map64 ended = {0};

	md->ops.provenance = INFERRED; /* a CPU that nothing has run on is idle */
	md->ops.now = md->ops.last_time;
	make_cpus(md, snap->info.gomaxprocs);
	md->ops.provenance = REPAIRED;
	start_list_ended(md, &ended);
	for (size_t i = 0; i < snap->nthreads; i++) {
		uint32_t tid = snap->threads[i].tid;

		if (!tid || thread_find(md, tid) || !map64_get(&ended, tid))
			resync_thread(md, &snap->threads[i]);
	}
	start_end_unlisted(md);
	map64_free(&ended);
	md->ops.provenance = OBSERVED;
}
