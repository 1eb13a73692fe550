/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Converts each v1 event to steps of ops. A v1 file describes Ps and what runs on them; it names a thread
 * only when a P starts. The rest is inferred: a P starts on the named thread and keeps it until it stops, and
 * a goroutine in a system call stays on its thread. The result agrees with golang.org/x/exp/trace
 * (tracev1.go) as far as v1 files allow: a system call that did not lose its P lasts one nanosecond.
 */
#include <errno.h>

#include "trace/convert/v1.h"
#include "trace/wire/buffer.h"
#include "trace/wire/wire.h"

#define STEP(r, ...)          STEP_P(r, NO_P, __VA_ARGS__)
#define STEP_P(r, the_p, ...) builder_step((r)->b, (r)->time, &(struct op){.p = the_p, __VA_ARGS__})

static int skip_event(struct reader_v1 *r)
{
	r->b->result->skipped++;
	return 0;
}

static uint32_t act_v1_string(struct reader_v1 *r, const char *text)
{
	return strtab_add_str(r->b->strings, text);
}

/* --- the acting thread --- */

static bool has_p(const struct reader_v1 *r)
{
	return r->ev.p >= 0;
}

/* The thread of the event's P; 0 if the P is not running. */
static uint32_t p_thread(const struct reader_v1 *r)
{
	return builder_p_status(r->b, r->ev.p) == P_RUNNING ? r->b->sched.ps[r->ev.p].m : 0;
}

/* Returns the thread of the event's goroutine if that runs on the event's P; 0 otherwise. */
static uint32_t acting_thread(struct reader_v1 *r)
{
	const struct sched *sched = &r->b->sched;
	uint32_t g = r->ev.g ? builder_goroutine(r->b, r->ev.g) : 0, thread = p_thread(r);

	return g && thread && sched->ms[thread].g == g && sched->gs[g].status == G_RUNNING ? thread : 0;
}

/* --- Ps --- */

static int fit_p(struct reader_v1 *r)
{
	int ret = builder_fit_p(r->b, (uint64_t)r->ev.p);

	if (!ret && array_grow((void **)&r->ps, &r->nps, (size_t)r->ev.p + 1, sizeof(*r->ps)))
		ret = v1_no_memory(r);
	return ret;
}

/* Introduces the event's P as idle. At the start of a trace, all Ps are idle except the tracer's. */
static int introduce_p(struct reader_v1 *r)
{
	const struct op op = {.p = (int32_t)r->ev.p, .status = P_IDLE};
	int ret = fit_p(r);

	if (ret || builder_p_status(r->b, r->ev.p) != P_UNKNOWN)
		return ret;
	return builder_add_p_status(r->b, r->time, &op);
}

/* Takes a P from its thread. */
static int release(struct reader_v1 *r, int32_t p)
{
	unsigned status = builder_p_status(r->b, p);
	uint32_t thread = r->b->sched.ps[p].m;

	if (status == P_RUNNING)
		return STEP(r, .kind = OP_PROC_STOP, .m = thread, .inferred = true);
	if (status == P_SYSCALL || status == P_ABANDONED)
		return STEP_P(r, p, .kind = OP_PROC_STEAL, .m = thread, .m2 = thread, .inferred = true);
	return 0;
}

/* Sets *thread to the thread that has the event's P or had it last; a new one if there is none. */
static int act_v1_thread_of(struct reader_v1 *r, uint32_t *thread)
{
	int ret = 0;

	if (!r->ps[r->ev.p].thread)
		ret = builder_new_thread(r->b, &r->ps[r->ev.p].thread);
	*thread = r->ps[r->ev.p].thread;
	return ret ? v1_no_memory(r) : 0;
}

/* Makes the event's P run, on its thread. */
static int run_p(struct reader_v1 *r)
{
	uint32_t thread;
	int ret = introduce_p(r);

	if (!ret)
		ret = act_v1_thread_of(r, &thread);
	if (ret)
		return ret;
	if (p_thread(r) == thread)
		return 0;
	ret = release(r, (int32_t)r->ev.p);
	if (!ret && r->b->sched.ms[thread].p != NO_P)
		ret = release(r, r->b->sched.ms[thread].p);
	return ret ? ret : STEP_P(r, (int32_t)r->ev.p, .kind = OP_PROC_START, .m = thread);
}

/* Returns true if the thread runs a goroutine on another P: then it cannot start the event's P. */
static bool is_busy(const struct reader_v1 *r, uint32_t thread)
{
	const struct sched_m *held = &r->b->sched.ms[thread];

	return r->b->sched.gs[held->g].status == G_RUNNING && held->p != (int32_t)r->ev.p;
}

static int act_v1_proc_start(struct reader_v1 *r)
{
	bool first = r->starting && builder_p_status(r->b, r->ev.p) == P_UNKNOWN;
	uint64_t id = r->format == WIRE_V0 ? (uint64_t)r->ev.p : r->ev.args[0];
	uint32_t thread;
	int ret;

	if (!has_p(r))
		return skip_event(r);
	ret = fit_p(r);
	if (ret)
		return ret;
	/* M 0 is the process's first thread; in ops, no thread has the number 0. */
	ret = builder_thread(r->b, id, &thread);
	if (!ret && (!thread || is_busy(r, thread)))
		ret = builder_new_thread(r->b, &thread);
	if (ret)
		return v1_no_memory(r);
	r->ps[r->ev.p].thread = thread;
	if (first && !r->b->threads[thread].had_p) {
		const struct op op = {.p = (int32_t)r->ev.p, .status = P_RUNNING, .m = thread};

		return builder_add_p_status(r->b, r->time, &op);
	}
	return run_p(r);
}

static int act_v1_proc_stop(struct reader_v1 *r)
{
	int ret;

	if (!has_p(r))
		return skip_event(r);
	ret = introduce_p(r);
	/* After GoSysBlock the P is idle already. */
	return ret ? ret : release(r, (int32_t)r->ev.p);
}

static int gomaxprocs(struct reader_v1 *r)
{
	uint32_t stack;
	int64_t p = r->ev.p;

	for (uint64_t i = 0; r->starting && i < r->ev.args[0] && i < 1024; i++) {
		r->ev.p = (int64_t)i;
		if (introduce_p(r))
			return -EBADMSG;
	}
	r->ev.p = p;
	r->starting = false;
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	r->procs = r->ev.args[0];
	if (!acting_thread(r))
		return skip_event(r);
	return STEP(r, .kind = OP_PROCS_CHANGE, .m = acting_thread(r), .arg = r->procs, .stack = stack);
}

int v1_emit_procs(struct reader_v1 *r)
{
	uint32_t thread = acting_thread(r);

	if (!thread)
		return 0;
	r->procs_due = false;
	return STEP(r, .kind = OP_PROCS_CHANGE, .m = thread, .arg = r->procs, .inferred = true);
}

/* --- goroutines --- */

/* Makes a goroutine that waits or is in a system call runnable. */
static int make_runnable(struct reader_v1 *r, uint32_t g, bool inferred)
{
	const struct sched_g *life = &r->b->sched.gs[g];
	uint32_t thread = life->m;
	int32_t p = r->b->sched.ms[thread].p;
	int ret = 0;

	if (life->status == G_WAITING)
		return STEP(r, .kind = OP_GO_UNBLOCK, .g2 = g, .inferred = inferred);
	if (life->status != G_SYSCALL)
		return 0;
	if (builder_p_status(r->b, p) == P_SYSCALL)
		ret = release(r, p);
	return ret ? ret : STEP(r, .kind = OP_SYSCALL_END_BLOCKED, .m = thread, .inferred = inferred);
}

/* The thread is about to run another goroutine: ends its current one or its system call without an event. */
static int free_thread(struct reader_v1 *r, uint32_t thread)
{
	uint32_t g = r->b->sched.ms[thread].g;

	if (g && r->b->sched.gs[g].status == G_RUNNING)
		return STEP(r, .kind = OP_GO_STOP, .m = thread, .string = act_v1_string(r, "unspecified"),
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

static int act_v1_go_create(struct reader_v1 *r)
{
	uint32_t g = builder_goroutine(r->b, r->ev.args[0]), entry, stack, thread;

	if (g)
		return error_set(r->b->err, EBADMSG, "goroutine %llu is created but already exists",
				 (unsigned long long)r->ev.args[0]);
	if (builder_new_life(r->b, r->ev.args[0], &g))
		return v1_no_memory(r);
	if (v1_take_entry(r, r->ev.args[1], &entry) || v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	if (r->starting) {
		const struct op op = {.g = g, .p = NO_P, .status = G_RUNNABLE, .stack = entry};

		return builder_add_g_status(r->b, &op);
	}
	if (has_p(r) && run_p(r))
		return -EBADMSG;
	thread = p_thread(r);
	if (!thread)
		return create_on_no_p(r, g);
	/* The creating goroutine is not in a system call; the event that ends the call may be missing. */
	if (r->b->sched.gs[r->b->sched.ms[thread].g].status == G_SYSCALL && free_thread(r, thread))
		return -EBADMSG;
	return STEP(r, .kind = OP_GO_CREATE, .m = thread, .g2 = g, .stack = stack, .stack2 = entry);
}

/* The previous event created the goroutine, but it is not runnable: it waits or is in a system call. */
static int act_v1_go_status(struct reader_v1 *r, unsigned status)
{
	uint32_t g = builder_goroutine(r->b, r->ev.args[0]), thread = 0;

	if (!g || r->b->sched.gs[g].status != G_RUNNABLE)
		return skip_event(r);
	if (status == G_SYSCALL && builder_new_thread(r->b, &thread))
		return v1_no_memory(r);
	if (r->starting && builder_began_as(r->b, g, G_RUNNABLE))
		return builder_amend_status(r->b, g, status, thread);
	return builder_amend_birth(r->b, r->time, g, status, thread);
}

static int act_v1_go_start(struct reader_v1 *r)
{
	uint32_t g = builder_goroutine(r->b, r->ev.g), label, thread;
	int ret;

	if (!g || !has_p(r))
		return skip_event(r);
	ret = run_p(r);
	thread = ret ? 0 : r->b->sched.ps[r->ev.p].m;
	if (!ret && r->starting && builder_began_as(r->b, g, G_RUNNABLE) && !r->b->threads[thread].had_g &&
	    builder_p_status(r->b, r->ev.p) == P_RUNNING)
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

static int act_v1_go_leave(struct reader_v1 *r)
{
	uint32_t thread = acting_thread(r), stack;

	if (!thread)
		return skip_event(r);
	if (r->spec->op == OP_GO_DESTROY)
		return STEP(r, .kind = OP_GO_DESTROY, .m = thread);
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	return STEP(r, .kind = r->spec->op, .m = thread, .string = act_v1_string(r, r->spec->reason),
		    .stack = stack);
}

static int act_v1_go_unblock(struct reader_v1 *r)
{
	uint32_t g = builder_goroutine(r->b, r->ev.args[0]), stack;

	if (!g)
		return skip_event(r);
	if (r->b->sched.gs[g].status != G_WAITING)
		return make_runnable(r, g, true);
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	return STEP(r, .kind = OP_GO_UNBLOCK, .m = p_thread(r), .g2 = g, .stack = stack);
}

/* --- system calls --- */

static int sys_call(struct reader_v1 *r, bool blocks)
{
	uint32_t thread = acting_thread(r), stack;
	int ret;

	if (!thread)
		return skip_event(r);
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	ret = STEP(r, .kind = OP_SYSCALL_BEGIN, .m = thread, .stack = stack);
	return ret || blocks ? ret : STEP(r, .kind = OP_SYSCALL_END, .m = thread, .inferred = true);
}

/* The P was taken from a goroutine in a system call. The file does not record which thread took it. */
static int sys_block(struct reader_v1 *r)
{
	uint32_t thread = acting_thread(r), g = builder_goroutine(r->b, r->ev.g);
	int ret = 0;

	if (thread)
		ret = STEP(r, .kind = OP_SYSCALL_BEGIN, .m = thread, .inferred = true);
	if (ret)
		return ret;
	if (!g || r->b->sched.gs[g].status != G_SYSCALL || builder_p_status(r->b, r->ev.p) != P_SYSCALL)
		return skip_event(r);
	thread = r->b->sched.ps[r->ev.p].m;
	ret = STEP_P(r, (int32_t)r->ev.p, .kind = OP_PROC_STEAL, .m = thread, .m2 = thread);
	r->ps[r->ev.p].steal = (uint32_t)r->b->ops.n;
	r->ps[r->ev.p].generation = r->b->generation;
	return ret;
}

/*
 * If a thread returning from a system call takes the P of another call, the file has no ProcStop and
 * ProcStart of the P (exitsyscallfast_reacquired, Go 1.21 runtime/proc.go). The P continues on that thread.
 */
static int sys_exit(struct reader_v1 *r)
{
	uint32_t g = builder_goroutine(r->b, r->ev.g);
	uint32_t thread = r->b->sched.gs[g].m;

	if (!g)
		return skip_event(r);
	if (has_p(r) && introduce_p(r))
		return -EBADMSG;
	if (builder_p_status(r->b, r->ev.p) == P_IDLE && thread && r->b->sched.ms[thread].p == NO_P) {
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

	if (r->format < WIRE_GO110) /* gcMark scans during mark termination */
		return event_v1_stw(1);
	if (r->format < WIRE_GO121)
		return event_v1_stw(kind < 2 ? kind + 1 : 0);
	return event_v1_stw(kind < V1_STW_KINDS ? kind : 0);
}

static int stw(struct reader_v1 *r)
{
	uint32_t thread = acting_thread(r);
	bool stopped = sched_stw_count(&r->b->sched, r->b->sched.ms[thread].g);

	if (!thread || (r->ev.type == V1_STW_DONE) == !stopped)
		return skip_event(r);
	if (r->ev.type == V1_STW_DONE)
		return STEP(r, .kind = OP_STW_END, .m = thread);
	return STEP(r, .kind = OP_STW_BEGIN, .m = thread, .string = act_v1_string(r, stw_kind(r)));
}

static int gc(struct reader_v1 *r)
{
	bool on = r->b->sched.gc == GC_ON, begins = r->ev.type == V1_GC_START;
	uint32_t thread = acting_thread(r), stack;

	/* The first GCStart may have no goroutine. Without a P, too, the cycle began before the trace. */
	if (!thread && begins && r->b->sched.gc == GC_UNKNOWN)
		thread = p_thread(r);
	if (!thread && begins && r->b->sched.gc == GC_UNKNOWN)
		return STEP(r, .kind = OP_GC_ACTIVE);
	if (on == begins || (!acting_thread(r) && r->b->sched.gc != GC_UNKNOWN))
		return skip_event(r);
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	return STEP(r, .kind = begins ? OP_GC_BEGIN : OP_GC_END, .m = thread, .stack = stack);
}

static int sweep(struct reader_v1 *r)
{
	bool begins = r->ev.type == V1_GC_SWEEP_START;
	uint32_t thread = p_thread(r), stack;

	if (!thread || r->b->sched.ps[r->ev.p].sweeps == begins)
		return skip_event(r);
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	return STEP(r, .kind = begins ? OP_GC_SWEEP_BEGIN : OP_GC_SWEEP_END, .m = thread, .stack = stack,
		    .arg = begins ? 0 : r->ev.args[0], .arg2 = begins ? 0 : r->ev.args[1]);
}

static int act_v1_assist(struct reader_v1 *r)
{
	bool begins = r->ev.type == V1_GC_MARK_ASSIST_START;
	uint32_t thread = acting_thread(r), g = r->b->sched.ms[thread].g, stack;
	int ret = 0;

	if (thread && !begins && !sched_assists(&r->b->sched, g))
		ret = builder_assisted(r->b, g);
	if (ret)
		return ret;
	if (!thread || sched_assists(&r->b->sched, g) == begins)
		return skip_event(r);
	if (v1_take_stack(r, r->ev.stack, &stack))
		return -ENOMEM;
	return STEP(r, .kind = begins ? OP_GC_ASSIST_BEGIN : OP_GC_ASSIST_END, .m = thread, .stack = stack);
}

static int heap(struct reader_v1 *r)
{
	uint32_t thread = p_thread(r);

	if (!thread)
		return skip_event(r);
	return STEP(r, .kind = r->ev.type == V1_HEAP_ALLOC ? OP_HEAP_ALLOC : OP_HEAP_GOAL, .m = thread,
		    .arg = r->ev.args[0]);
}

/* --- annotations, samples --- */

static int annotation(struct reader_v1 *r)
{
	const struct v1_event *ev = &r->ev;
	uint32_t thread = acting_thread(r), name, stack, message;

	if (!thread)
		return skip_event(r);
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

static int act_on_world(struct reader_v1 *r)
{
	switch (r->spec->op) {
	case OP_PROCS_CHANGE:
		return gomaxprocs(r);
	case OP_GC_BEGIN:
	case OP_GC_END:
		return gc(r);
	case OP_STW_BEGIN:
	case OP_STW_END:
		return stw(r);
	case OP_GC_SWEEP_BEGIN:
	case OP_GC_SWEEP_END:
		return sweep(r);
	case OP_GC_ASSIST_BEGIN:
	case OP_GC_ASSIST_END:
		return act_v1_assist(r);
	case OP_HEAP_ALLOC:
	case OP_HEAP_GOAL:
		return heap(r);
	case OP_TASK_BEGIN ... OP_LOG:
		return annotation(r);
	case OP_CPU_SAMPLE:
		return sample(r);
	default:
		return 0;
	}
}

static int act_v1_event(struct reader_v1 *r, size_t i)
{
	switch (r->spec->op) {
	case OP_PROC_START:
		return act_v1_proc_start(r);
	case OP_PROC_STOP:
		return act_v1_proc_stop(r);
	case OP_PROC_STEAL:
		return sys_block(r);
	case OP_GO_CREATE:
		return act_v1_go_create(r);
	case OP_GO_STATUS:
		return act_v1_go_status(r, event_v1_after(r->spec));
	case OP_GO_START:
		return act_v1_go_start(r);
	case OP_GO_UNBLOCK:
		return act_v1_go_unblock(r);
	case OP_GO_DESTROY:
	case OP_GO_STOP:
	case OP_GO_BLOCK:
		return act_v1_go_leave(r);
	case OP_SYSCALL_BEGIN:
		return sys_call(r, r->blocks[i / 8] >> i % 8 & 1);
	case OP_SYSCALL_END_BLOCKED:
		return sys_exit(r);
	default:
		return act_on_world(r);
	}
}

int v1_act(struct reader_v1 *r, size_t i)
{
	int ret;

	r->spec = event_v1_spec(r->ev.type, r->format);
	ret = act_v1_event(r, i);

	/* `steal` matters only for the P's next event. */
	if (r->ev.type != V1_GO_SYS_BLOCK && has_p(r) && (uint64_t)r->ev.p < r->nps)
		r->ps[r->ev.p].steal = 0;
	return ret;
}
