/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each v1 event as the steps of ops that say the same. A v1 file tells of Ps
 * and what runs on them; of threads it has the number at a P's start. What
 * ops need beyond that is inferred: a P starts on the thread that is named,
 * keeps it until it stops, and a goroutine in a system call stays on its
 * thread. As far as it goes the same as golang.org/x/exp/trace makes of v1
 * files (tracev1.go): a call that did not lose its P lasts a nanosecond.
 */
#include <errno.h>

#include "convert/v1.h"
#include "wire/buffer.h"
#include "wire/wire.h"

#define STEP(r, ...)          STEP_P(r, NO_P, __VA_ARGS__)
#define STEP_P(r, the_p, ...) builder_step((r)->b, (r)->time, &(struct op){.p = the_p, __VA_ARGS__})

static int no_place(struct reader_v1 *r)
{
	r->b->result->no_place++;
	return 0;
}

static uint32_t string(struct reader_v1 *r, const char *text)
{
	return strtab_add_str(r->b->strings, text);
}

/* --- who does it --- */

static bool has_p(const struct reader_v1 *r)
{
	return r->ev.p >= 0;
}

/* The thread whose goroutine does what the event says; 0 if it is not there. */
static uint32_t doer(struct reader_v1 *r)
{
	const struct builder *b = r->b;
	uint32_t g = r->ev.g ? builder_goroutine(b, r->ev.g) : 0;
	const struct place *place = has_p(r) && (uint64_t)r->ev.p < b->nplaces ? &b->places[r->ev.p] : NULL;

	if (!g || !place || place->status != P_RUNNING || b->threads[place->thread].g != g ||
	    b->lives[g].status != G_RUNNING)
		return 0;
	return place->thread;
}

/* The thread of the event's P; 0 if the P does not run. */
static uint32_t place_thread(const struct reader_v1 *r)
{
	const struct builder *b = r->b;
	const struct place *place = has_p(r) && (uint64_t)r->ev.p < b->nplaces ? &b->places[r->ev.p] : NULL;

	return place && place->status == P_RUNNING ? place->thread : 0;
}

/* --- Ps --- */

/* The P of the event, made known: idle, as all are at the start but that of the tracer. NULL: see
 * builder_place. */
static struct place *place_of(struct reader_v1 *r)
{
	struct place *place = builder_place(r->b, (uint64_t)r->ev.p);

	if (!place || array_grow((void **)&r->ps, &r->nps, (size_t)r->ev.p + 1, sizeof(*r->ps)))
		return NULL;
	if (!place->known) {
		const struct op op = {.p = (int32_t)r->ev.p, .status = P_IDLE};

		if (builder_p_status(r->b, r->time, &op))
			return NULL;
	}
	return place;
}

/* Takes a P from its thread. */
static int release(struct reader_v1 *r, int32_t p)
{
	const struct place *place = &r->b->places[p];

	if (place->status == P_RUNNING)
		return STEP(r, .kind = OP_PROC_STOP, .m = place->thread, .inferred = true);
	if (place->status == P_SYSCALL || place->status == P_ABANDONED)
		return STEP_P(r, p, .kind = OP_PROC_STEAL, .m = place->thread, .m2 = place->thread,
			      .inferred = true);
	return 0;
}

/* The thread that the P is on, or was last. */
static int thread_of(struct reader_v1 *r, uint32_t *thread)
{
	int ret = 0;

	if (!r->ps[r->ev.p].thread)
		ret = builder_new_thread(r->b, &r->ps[r->ev.p].thread);
	*thread = r->ps[r->ev.p].thread;
	return ret ? v1_no_memory(r) : 0;
}

/* The event's P runs afterwards, on its thread. */
static int run_p(struct reader_v1 *r)
{
	struct place *place = place_of(r);
	uint32_t thread;
	int ret;

	if (!place)
		return -EBADMSG;
	if (thread_of(r, &thread))
		return -ENOMEM;
	if (place->status == P_RUNNING && place->thread == thread)
		return 0;
	ret = release(r, (int32_t)r->ev.p);
	if (!ret && r->b->threads[thread].p != NO_P)
		ret = release(r, r->b->threads[thread].p);
	return ret ? ret : STEP_P(r, (int32_t)r->ev.p, .kind = OP_PROC_START, .m = thread);
}

/* A thread that runs a goroutine on another P is not the one that is meant, whatever its number. */
static bool is_busy(const struct reader_v1 *r, uint32_t thread)
{
	const struct thread *t = &r->b->threads[thread];

	return t->g && r->b->lives[t->g].status == G_RUNNING && t->p != (int32_t)r->ev.p;
}

static int proc_start(struct reader_v1 *r)
{
	struct place *place = has_p(r) ? builder_place(r->b, (uint64_t)r->ev.p) : NULL;
	bool first = place && !place->known && r->starting;
	uint64_t id = r->format == WIRE_V0 ? (uint64_t)r->ev.p : r->ev.args[0];
	uint32_t thread;
	int ret;

	if (!has_p(r))
		return no_place(r);
	if (!place || array_grow((void **)&r->ps, &r->nps, (size_t)r->ev.p + 1, sizeof(*r->ps)))
		return -EBADMSG;
	/* M 0 is the first thread of all; threads of ops have other numbers than 0. */
	ret = builder_thread(r->b, id, &thread);
	if (!ret && (!thread || is_busy(r, thread)))
		ret = builder_new_thread(r->b, &thread);
	if (ret)
		return v1_no_memory(r);
	r->ps[r->ev.p].thread = thread;
	if (first && !r->b->threads[thread].had_p) {
		const struct op op = {.p = (int32_t)r->ev.p, .status = P_RUNNING, .m = thread};

		return builder_p_status(r->b, r->time, &op);
	}
	return run_p(r);
}

static int proc_stop(struct reader_v1 *r)
{
	const struct place *place = has_p(r) ? place_of(r) : NULL;

	if (!has_p(r))
		return no_place(r);
	if (!place)
		return -EBADMSG;
	/* Behind GoSysBlock it is idle already. */
	return release(r, (int32_t)r->ev.p);
}

static int gomaxprocs(struct reader_v1 *r)
{
	uint32_t stack;
	int64_t p = r->ev.p;

	for (uint64_t i = 0; r->starting && i < r->ev.args[0] && i < 1024; i++) {
		r->ev.p = (int64_t)i;
		if (!place_of(r))
			return -EBADMSG;
	}
	r->ev.p = p;
	r->starting = false;
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	r->procs = r->ev.args[0];
	if (!doer(r))
		return no_place(r);
	return STEP(r, .kind = OP_PROCS_CHANGE, .m = doer(r), .arg = r->procs, .stack = stack);
}

int v1_tell_procs(struct reader_v1 *r)
{
	uint32_t thread = doer(r);

	if (!thread)
		return 0;
	r->procs_due = false;
	return STEP(r, .kind = OP_PROCS_CHANGE, .m = thread, .arg = r->procs, .inferred = true);
}

/* --- goroutines --- */

/* A goroutine that waits, or is in a system call, can run afterwards. */
static int make_runnable(struct reader_v1 *r, uint32_t g, bool inferred)
{
	const struct life *life = &r->b->lives[g];
	const struct thread *thread = &r->b->threads[life->thread];
	int ret = 0;

	if (life->status == G_WAITING)
		return STEP(r, .kind = OP_GO_UNBLOCK, .g2 = g, .inferred = inferred);
	if (life->status != G_SYSCALL)
		return 0;
	if (thread->p != NO_P && r->b->places[thread->p].status == P_SYSCALL)
		ret = release(r, thread->p);
	return ret ? ret : STEP(r, .kind = OP_SYSCALL_END_BLOCKED, .m = life->thread, .inferred = inferred);
}

/* The thread is about to run another one: its system call is over, though nothing told so. */
static int free_thread(struct reader_v1 *r, uint32_t thread)
{
	uint32_t g = r->b->threads[thread].g;

	if (g && r->b->lives[g].status == G_RUNNING)
		return STEP(r, .kind = OP_GO_STOP, .m = thread, .string = string(r, "unspecified"),
			    .inferred = true);
	return g ? make_runnable(r, g, true) : 0;
}

static int create_on_no_p(struct reader_v1 *r, uint32_t g)
{
	uint32_t thread;
	int ret = builder_new_thread(r->b, &thread);

	if (ret)
		return v1_no_memory(r);
	ret = STEP(r, .kind = OP_GO_CREATE_SYSCALL, .m = thread, .g = g, .inferred = true);
	return ret ? ret : make_runnable(r, g, true);
}

static int go_create(struct reader_v1 *r)
{
	uint32_t g = builder_goroutine(r->b, r->ev.args[0]), entry, stack, thread;

	if (g)
		return error_set(r->b->err, EBADMSG, "goroutine %llu is created and is there already",
				 (unsigned long long)r->ev.args[0]);
	if (builder_new_life(r->b, r->ev.args[0], &g))
		return v1_no_memory(r);
	if (v1_take_entry(r, r->ev.args[1], &entry) || v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	if (r->starting) {
		const struct op op = {.g = g, .p = NO_P, .status = G_RUNNABLE, .stack = entry};

		return builder_g_status(r->b, &op);
	}
	if (has_p(r) && run_p(r))
		return -EBADMSG;
	thread = place_thread(r);
	if (!thread)
		return create_on_no_p(r, g);
	/* Who creates is in no system call, whatever was not told of its end. */
	if (r->b->lives[r->b->threads[thread].g].status == G_SYSCALL && free_thread(r, thread))
		return -EBADMSG;
	return STEP(r, .kind = OP_GO_CREATE, .m = thread, .g2 = g, .stack = stack, .stack2 = entry);
}

/* Created just before, it was not there to run: it waits, or is in a system call. */
static int go_status(struct reader_v1 *r, unsigned status)
{
	uint32_t g = builder_goroutine(r->b, r->ev.args[0]), thread = 0;

	if (!g || r->b->lives[g].status != G_RUNNABLE)
		return no_place(r);
	if (status == G_SYSCALL && builder_new_thread(r->b, &thread))
		return v1_no_memory(r);
	if (r->starting && builder_began_as(r->b, g, G_RUNNABLE))
		return builder_amend_status(r->b, g, status, thread);
	return builder_amend_birth(r->b, r->time, g, status, thread);
}

static int go_start(struct reader_v1 *r)
{
	uint32_t g = builder_goroutine(r->b, r->ev.g), label, thread;
	int ret;

	if (!g || !has_p(r))
		return no_place(r);
	ret = run_p(r);
	thread = ret ? 0 : r->b->places[r->ev.p].thread;
	if (!ret && r->starting && builder_began_as(r->b, g, G_RUNNABLE) && !r->b->threads[thread].had_g &&
	    r->b->places[r->ev.p].status == P_RUNNING)
		return builder_amend_status(r->b, g, G_RUNNING, thread);
	if (!ret)
		ret = free_thread(r, thread);
	if (!ret)
		ret = make_runnable(r, g, true);
	if (!ret)
		ret = STEP(r, .kind = OP_GO_START, .m = thread, .g = g);
	if (ret || r->ev.type != V1_GO_START_LABEL)
		return ret;
	if (v1_take_text(r, r->ev.text, &label))
		return -ENOMEM;
	return STEP(r, .kind = OP_GO_LABEL, .m = thread, .string = label);
}

/* The reasons as the runtime of v2 words them (format-independent strings of ops). */
static const char *const reasons[V1_EVENT_COUNT] = {
	[V1_GO_STOP] = "forever",
	[V1_GO_SCHED] = "runtime.Gosched",
	[V1_GO_PREEMPT] = "preempted",
	[V1_GO_SLEEP] = "sleep",
	[V1_GO_BLOCK] = "",
	[V1_GO_BLOCK_SEND] = "chan send",
	[V1_GO_BLOCK_RECV] = "chan receive",
	[V1_GO_BLOCK_SELECT] = "select",
	[V1_GO_BLOCK_SYNC] = "sync",
	[V1_GO_BLOCK_COND] = "sync.(*Cond).Wait",
	[V1_GO_BLOCK_NET] = "network",
	[V1_GO_BLOCK_GC] = "GC mark assist wait for work",
};

static int go_leave(struct reader_v1 *r)
{
	bool stop = r->ev.type == V1_GO_SCHED || r->ev.type == V1_GO_PREEMPT;
	uint32_t thread = doer(r), stack;

	if (!thread)
		return no_place(r);
	if (r->ev.type == V1_GO_END)
		return STEP(r, .kind = OP_GO_DESTROY, .m = thread);
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	return STEP(r, .kind = stop ? OP_GO_STOP : OP_GO_BLOCK, .m = thread,
		    .string = string(r, reasons[r->ev.type]), .stack = stack);
}

static int go_unblock(struct reader_v1 *r)
{
	uint32_t g = builder_goroutine(r->b, r->ev.args[0]), stack;

	if (!g)
		return no_place(r);
	if (r->b->lives[g].status != G_WAITING)
		return make_runnable(r, g, true);
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	return STEP(r, .kind = OP_GO_UNBLOCK, .m = place_thread(r), .g2 = g, .stack = stack);
}

/* --- system calls --- */

static int sys_call(struct reader_v1 *r, bool blocks)
{
	uint32_t thread = doer(r), stack;
	int ret;

	if (!thread)
		return no_place(r);
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	ret = STEP(r, .kind = OP_SYSCALL_BEGIN, .m = thread, .stack = stack);
	return ret || blocks ? ret : STEP(r, .kind = OP_SYSCALL_END, .m = thread, .inferred = true);
}

/* The P was taken out of the call, by whom is not told. */
static int sys_block(struct reader_v1 *r)
{
	uint32_t thread = doer(r), g = builder_goroutine(r->b, r->ev.g);
	int ret = 0;

	if (thread)
		ret = STEP(r, .kind = OP_SYSCALL_BEGIN, .m = thread, .inferred = true);
	if (ret)
		return ret;
	if (!has_p(r) || !g || r->b->lives[g].status != G_SYSCALL || (uint64_t)r->ev.p >= r->b->nplaces ||
	    r->b->places[r->ev.p].status != P_SYSCALL)
		return no_place(r);
	thread = r->b->places[r->ev.p].thread;
	ret = STEP_P(r, (int32_t)r->ev.p, .kind = OP_PROC_STEAL, .m = thread, .m2 = thread);
	r->ps[r->ev.p].steal = (uint32_t)r->b->ops.n;
	r->ps[r->ev.p].generation = r->b->generation;
	return ret;
}

/*
 * A P that was taken from one call by another's end has no ProcStop and
 * ProcStart between the two (exitsyscallfast_reacquired, Go 1.21
 * runtime/proc.go): it goes on with the thread of the latter.
 */
static int sys_exit(struct reader_v1 *r)
{
	uint32_t g = builder_goroutine(r->b, r->ev.g);
	uint32_t thread = g ? r->b->lives[g].thread : 0;
	const struct place *place;

	if (!g)
		return no_place(r);
	place = has_p(r) ? place_of(r) : NULL;
	if (has_p(r) && !place)
		return -EBADMSG;
	if (place && place->status == P_IDLE && thread && r->b->threads[thread].p == NO_P) {
		r->ps[r->ev.p].thread = thread;
		if (r->ps[r->ev.p].steal && r->ps[r->ev.p].generation == r->b->generation) {
			builder_amend_thief(r->b, r->ps[r->ev.p].steal - 1, thread);
			if (run_p(r))
				return -EBADMSG;
		}
	}
	return make_runnable(r, g, false);
}

/* --- the world --- */

static const char *stw_kind(const struct reader_v1 *r)
{
	uint64_t kind = r->ev.args[0];

	if (r->format < WIRE_GO110) /* gcMark's scan is that of mark termination */
		return event_v1_stw(1);
	if (r->format < WIRE_GO121)
		return event_v1_stw(kind < 2 ? kind + 1 : 0);
	return event_v1_stw(kind < V1_STW_KINDS ? kind : 0);
}

static int stw(struct reader_v1 *r)
{
	uint32_t thread = doer(r);
	const struct life *life = &r->b->lives[r->b->threads[thread].g];

	if (!thread || (r->ev.type == V1_STW_DONE) == (life->nstw == 0))
		return no_place(r);
	if (r->ev.type == V1_STW_DONE)
		return STEP(r, .kind = OP_STW_END, .m = thread);
	return STEP(r, .kind = OP_STW_BEGIN, .m = thread, .string = string(r, stw_kind(r)));
}

static int gc(struct reader_v1 *r)
{
	bool on = r->b->gc == GC_ON, begins = r->ev.type == V1_GC_START;
	uint32_t thread = doer(r), stack;

	/* The first begin of all needs nobody; with no P either, it was under way when the trace began. */
	if (!thread && begins && r->b->gc == GC_UNKNOWN)
		thread = place_thread(r);
	if (!thread && begins && r->b->gc == GC_UNKNOWN)
		return STEP(r, .kind = OP_GC_ACTIVE);
	if (on == begins || (!doer(r) && r->b->gc != GC_UNKNOWN))
		return no_place(r);
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	return STEP(r, .kind = begins ? OP_GC_BEGIN : OP_GC_END, .m = thread, .stack = stack);
}

static int sweep(struct reader_v1 *r)
{
	bool begins = r->ev.type == V1_GC_SWEEP_START;
	uint32_t thread = place_thread(r), stack;

	if (!thread || r->b->places[r->ev.p].sweeps == begins)
		return no_place(r);
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	return STEP(r, .kind = begins ? OP_GC_SWEEP_BEGIN : OP_GC_SWEEP_END, .m = thread, .stack = stack,
		    .arg = begins ? 0 : r->ev.args[0], .arg2 = begins ? 0 : r->ev.args[1]);
}

static int assist(struct reader_v1 *r)
{
	bool begins = r->ev.type == V1_GC_MARK_ASSIST_START;
	uint32_t thread = doer(r), g = r->b->threads[thread].g, stack;
	int ret = 0;

	if (thread && !begins && !r->b->lives[g].assists)
		ret = builder_assisted(r->b, g);
	if (ret)
		return ret;
	if (!thread || r->b->lives[g].assists == begins)
		return no_place(r);
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	return STEP(r, .kind = begins ? OP_GC_ASSIST_BEGIN : OP_GC_ASSIST_END, .m = thread, .stack = stack);
}

static int heap(struct reader_v1 *r)
{
	uint32_t thread = place_thread(r);

	if (!thread)
		return no_place(r);
	return STEP(r, .kind = r->ev.type == V1_HEAP_ALLOC ? OP_HEAP_ALLOC : OP_HEAP_GOAL, .m = thread,
		    .arg = r->ev.args[0]);
}

/* --- annotations, samples --- */

static int annotation(struct reader_v1 *r)
{
	const struct v1_event *ev = &r->ev;
	uint32_t thread = doer(r), name, stack, message;

	if (!thread)
		return no_place(r);
	if (v1_take_stack(r, ev->stack, &stack) || v1_take_text(r, ev->text, &name))
		return -ENOMEM;
	switch (ev->type) {
	case V1_USER_TASK_CREATE:
		return STEP(r, .kind = OP_TASK_BEGIN, .m = thread, .arg = ev->args[0], .arg2 = ev->args[1],
			    .string = name, .stack = stack);
	case V1_USER_TASK_END:
		return STEP(r, .kind = OP_TASK_END, .m = thread, .arg = ev->args[0], .stack = stack);
	case V1_USER_REGION:
		return STEP(r, .kind = ev->args[1] == 0 ? OP_REGION_BEGIN : OP_REGION_END, .m = thread,
			    .arg = ev->args[0], .string = name, .stack = stack);
	default:
		message = strtab_add(r->b->texts, (const char *)ev->message.bytes, ev->message.len);
		return STEP(r, .kind = OP_LOG, .m = thread, .arg = ev->args[0], .string = name,
			    .string2 = message ? message | TEXT_ID : 0, .stack = stack);
	}
}

static int sample(struct reader_v1 *r)
{
	struct op op = {.kind = OP_CPU_SAMPLE, .p = NO_P, .time = r->time}, *new;

	if (r->ev.p >= 0 && r->ev.p <= INT16_MAX)
		op.p = (int32_t)r->ev.p;
	if (r->ev.g && builder_any_goroutine(r->b, r->ev.g, &op.g))
		return v1_no_memory(r);
	if (v1_take_stack(r, r->ev.stack, &op.stack))
		return -ENOMEM;
	new = array_push(&r->b->ops);
	if (!new)
		return v1_no_memory(r);
	*new = op;
	return 0;
}

static int act(struct reader_v1 *r, size_t i)
{
	switch (r->ev.type) {
	case V1_GOMAXPROCS:
		return gomaxprocs(r);
	case V1_PROC_START:
		return proc_start(r);
	case V1_PROC_STOP:
		return proc_stop(r);
	case V1_GC_START:
	case V1_GC_DONE:
		return gc(r);
	case V1_STW_START:
	case V1_STW_DONE:
		return stw(r);
	case V1_GC_SWEEP_START:
	case V1_GC_SWEEP_DONE:
		return sweep(r);
	case V1_GO_CREATE:
		return go_create(r);
	case V1_GO_START:
	case V1_GO_START_LABEL:
		return go_start(r);
	case V1_GO_UNBLOCK:
		return go_unblock(r);
	case V1_GO_SYSCALL:
		return sys_call(r, r->blocks[i / 8] >> i % 8 & 1);
	case V1_GO_SYS_BLOCK:
		return sys_block(r);
	case V1_GO_SYS_EXIT:
		return sys_exit(r);
	case V1_GO_WAITING:
		return go_status(r, G_WAITING);
	case V1_GO_IN_SYSCALL:
		return go_status(r, G_SYSCALL);
	case V1_HEAP_ALLOC:
	case V1_HEAP_GOAL:
		return heap(r);
	case V1_GC_MARK_ASSIST_START:
	case V1_GC_MARK_ASSIST_DONE:
		return assist(r);
	case V1_USER_TASK_CREATE ... V1_USER_LOG:
		return annotation(r);
	case V1_CPU_SAMPLE:
		return sample(r);
	default:
		return reasons[r->ev.type] || r->ev.type == V1_GO_END ? go_leave(r) : 0;
	}
}

int v1_act(struct reader_v1 *r, size_t i)
{
	int ret = act(r, i);

	/* What matters is the P's event right behind it. */
	if (r->ev.type != V1_GO_SYS_BLOCK && has_p(r) && (uint64_t)r->ev.p < r->nps)
		r->ps[r->ev.p].steal = 0;
	return ret;
}
