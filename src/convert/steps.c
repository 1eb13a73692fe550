/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What each op needs, and what it changes: the rules of Go 1.26
 * src/internal/trace/order.go, and those of a real machine beyond them (a
 * thread runs one goroutine).
 */
#include <errno.h>

#include "convert/builder.h"
#include "wire/buffer.h"

#define BROKEN(b, ...) error_set((b)->err, EBADMSG, __VA_ARGS__)
#define GOID(b, g)     ((unsigned long long)(b)->goids[g])

static const char *const g_names[] = {"dead", "runnable", "running", "in a system call", "waiting"};
static const char *const p_names[] = {"not known", "running", "idle", "in a system call", "abandoned"};

enum need {
	NEED_M = 1,
	NEED_P = 2,       /* the thread has one */
	NEED_G = 4,       /* the thread has one */
	NEED_RUNNING = 8, /* it runs */
	NEED_NO_G = 16,
	NEED_NO_P = 32,
	NEED_SYSCALL = 64, /* it is in a system call */
	NEED_USER = NEED_M | NEED_P | NEED_G | NEED_RUNNING,
};

static const uint8_t needs[OP_KIND_COUNT] = {
	[OP_PROCS_CHANGE] = NEED_USER,
	[OP_PROC_START] = NEED_M | NEED_NO_P,
	[OP_PROC_STOP] = NEED_M | NEED_P,
	[OP_PROC_STEAL] = NEED_M,
	[OP_GO_CREATE] = NEED_M | NEED_P,
	[OP_GO_CREATE_BLOCKED] = NEED_M | NEED_P,
	[OP_GO_CREATE_SYSCALL] = NEED_M | NEED_NO_G,
	[OP_GO_START] = NEED_M | NEED_P | NEED_NO_G,
	[OP_GO_DESTROY] = NEED_USER,
	[OP_GO_DESTROY_SYSCALL] = NEED_M | NEED_G | NEED_SYSCALL,
	[OP_GO_STOP] = NEED_USER,
	[OP_GO_BLOCK] = NEED_USER,
	[OP_GO_SWITCH] = NEED_USER,
	[OP_GO_SWITCH_DESTROY] = NEED_USER,
	[OP_SYSCALL_BEGIN] = NEED_USER,
	[OP_SYSCALL_END] = NEED_M | NEED_P | NEED_G | NEED_SYSCALL,
	[OP_SYSCALL_END_BLOCKED] = NEED_M | NEED_G | NEED_SYSCALL,
	[OP_STW_BEGIN] = NEED_USER,
	[OP_STW_END] = NEED_USER,
	[OP_GC_BEGIN] = NEED_USER,
	[OP_GC_END] = NEED_USER,
	[OP_GC_SWEEP_BEGIN] = NEED_M | NEED_P,
	[OP_GC_SWEEP_END] = NEED_M | NEED_P,
	[OP_GC_ASSIST_BEGIN] = NEED_USER,
	[OP_GC_ASSIST_END] = NEED_USER,
	[OP_HEAP_ALLOC] = NEED_M | NEED_P,
	[OP_HEAP_GOAL] = NEED_M | NEED_P,
	[OP_GO_LABEL] = NEED_USER,
	[OP_TASK_BEGIN] = NEED_USER,
	[OP_TASK_END] = NEED_USER,
	[OP_REGION_BEGIN] = NEED_USER,
	[OP_REGION_END] = NEED_USER,
	[OP_LOG] = NEED_USER,
	[OP_SPAN] = NEED_M,
	[OP_SPAN_ALLOC] = NEED_M,
	[OP_SPAN_FREE] = NEED_M,
	[OP_GO_STACK] = NEED_M,
	[OP_GO_STACK_ALLOC] = NEED_M,
	[OP_GO_STACK_FREE] = NEED_M,
};

/* --- needs --- */

static int check_thread(struct builder *b, const struct thread *thread, unsigned need, const char *what)
{
	if ((need & NEED_P) && thread->p == NO_P)
		return BROKEN(b, "%s on thread %u, which has no P", what, thread->tid);
	if ((need & NEED_NO_P) && thread->p != NO_P)
		return BROKEN(b, "%s on thread %u, which has P %d", what, thread->tid, thread->p);
	if ((need & NEED_G) && !thread->g)
		return BROKEN(b, "%s on thread %u, which has no goroutine", what, thread->tid);
	if ((need & NEED_NO_G) && thread->g)
		return BROKEN(b, "%s on thread %u, which has goroutine %llu", what, thread->tid,
			      GOID(b, thread->g));
	return 0;
}

/* Goroutine and P of a thread agree on what they do. */
static int check_status(struct builder *b, const struct thread *thread, unsigned need, const char *what)
{
	const struct life *life = &b->lives[thread->g];

	if ((need & NEED_RUNNING) && life->status != G_RUNNING)
		return BROKEN(b, "%s of goroutine %llu, which is %s", what, GOID(b, thread->g),
			      g_names[life->status]);
	if ((need & NEED_RUNNING) && b->places[thread->p].status != P_RUNNING)
		return BROKEN(b, "%s of goroutine %llu, whose P %d is %s", what, GOID(b, thread->g),
			      thread->p, p_names[b->places[thread->p].status]);
	if ((need & NEED_SYSCALL) && life->status != G_SYSCALL)
		return BROKEN(b, "%s of goroutine %llu, which is %s", what, GOID(b, thread->g),
			      g_names[life->status]);
	return 0;
}

static int check_needs(struct builder *b, const struct op *op)
{
	const struct thread *thread = &b->threads[op->m];
	unsigned need = needs[op->kind];
	const char *what = op_name(op->kind);
	int ret;

	if (!need)
		return 0;
	if (!op->m)
		return BROKEN(b, "%s without a thread", what);
	ret = check_thread(b, thread, need, what);
	return ret ? ret : check_status(b, thread, need, what);
}

/* --- bindings --- */

static void bind_g(struct builder *b, uint32_t g, uint32_t thread)
{
	struct life *life = &b->lives[g];

	if (life->thread)
		b->threads[life->thread].g = 0;
	life->thread = thread;
	if (thread) {
		b->threads[thread].g = g;
		b->threads[thread].had_g = true;
	}
}

static void bind_p(struct builder *b, int32_t p, uint32_t thread)
{
	struct place *place = &b->places[p];

	if (place->thread)
		b->threads[place->thread].p = NO_P;
	place->thread = thread;
	if (thread) {
		b->threads[thread].p = p;
		b->threads[thread].had_p = true;
	}
}

static int set_status(struct builder *b, uint32_t g, unsigned from, unsigned to, uint32_t thread,
		      const char *what)
{
	struct life *life = &b->lives[g];

	if (life->status != from)
		return BROKEN(b, "%s of goroutine %llu, which is %s", what, GOID(b, g),
			      g_names[life->status]);
	life->status = (uint8_t)to;
	life->birth_at = 0;
	bind_g(b, g, thread);
	return 0;
}

static int end_life(struct builder *b, uint32_t g)
{
	struct life *life = &b->lives[g];

	if (array_grow((void **)&b->ended, &b->ended_capacity, b->nended + 1, sizeof(*b->ended)))
		return error_set(b->err, ENOMEM, "out of memory");
	b->ended[b->nended++] = g;
	bind_g(b, g, 0);
	b->nstw -= life->nstw;
	*life = (struct life){.goid = life->goid};
	return 0;
}

/* --- effects --- */

static int known_place(struct builder *b, int32_t p, const char *what)
{
	if (p < 0 || (size_t)p >= b->nplaces || !b->places[p].known)
		return BROKEN(b, "%s of P %d, which is not known", what, p);
	return 0;
}

static int proc_step(struct builder *b, const struct op *op)
{
	const char *what = op_name(op->kind);
	struct place *place;
	int ret = known_place(b, op->p, what);

	if (ret)
		return ret;
	place = &b->places[op->p];
	switch (op->kind) {
	case OP_PROC_START:
		if (place->status != P_IDLE)
			return BROKEN(b, "P %d starts and is %s", op->p, p_names[place->status]);
		place->status = P_RUNNING;
		bind_p(b, op->p, op->m);
		return 0;
	case OP_PROC_STOP:
		place->status = P_IDLE;
		bind_p(b, op->p, 0);
		return 0;
	default: /* OP_PROC_STEAL */
		if (place->status != P_ABANDONED && (place->status != P_SYSCALL || place->thread != op->m2))
			return BROKEN(b, "P %d is stolen from thread %u and is %s there", op->p,
				      b->threads[op->m2].tid, p_names[place->status]);
		place->status = P_IDLE;
		bind_p(b, op->p, 0);
		return 0;
	}
}

static int syscall_step(struct builder *b, const struct op *op)
{
	struct life *life = &b->lives[op->g];
	struct place *place = op->p == NO_P ? NULL : &b->places[op->p];

	life->birth_at = 0;
	if (op->kind == OP_SYSCALL_BEGIN) {
		life->status = G_SYSCALL;
		place->status = P_SYSCALL;
		return 0;
	}
	if (op->kind == OP_SYSCALL_END) {
		if (place->status != P_SYSCALL)
			return BROKEN(b, "a system call of goroutine %llu ends and its P %d is %s",
				      GOID(b, op->g), op->p, p_names[place->status]);
		life->status = G_RUNNING;
		place->status = P_RUNNING;
		return 0;
	}
	if (place && place->status == P_SYSCALL)
		return BROKEN(b, "a system call of goroutine %llu ends blocked and P %d is still in it",
			      GOID(b, op->g), op->p);
	if (!place)
		b->threads[op->m].lacked_p = true;
	return set_status(b, op->g, G_SYSCALL, G_RUNNABLE, 0, "GoSyscallEndBlocked");
}

static int birth(struct builder *b, const struct op *op)
{
	uint32_t g = op->kind == OP_GO_CREATE_SYSCALL ? op->g : op->g2;
	struct life *life = &b->lives[g];

	if (life->status)
		return BROKEN(b, "goroutine %llu is born and is %s", GOID(b, g), g_names[life->status]);
	if (op->kind != OP_GO_CREATE_SYSCALL && b->threads[op->m].g &&
	    b->lives[b->threads[op->m].g].status != G_RUNNING)
		return BROKEN(b, "goroutine %llu is born by one that is %s", GOID(b, g),
			      g_names[b->lives[b->threads[op->m].g].status]);
	if (!b->threads[op->m].g)
		b->threads[op->m].lacked_g = true;
	if (op->kind == OP_GO_CREATE_SYSCALL)
		bind_g(b, g, op->m);
	life->status = op->kind == OP_GO_CREATE           ? G_RUNNABLE
		       : op->kind == OP_GO_CREATE_SYSCALL ? G_SYSCALL
							  : G_WAITING;
	return 0;
}

static int destroy_in_syscall(struct builder *b, const struct op *op)
{
	int32_t p = b->threads[op->m].p;

	if (p != NO_P && b->places[p].status != P_SYSCALL)
		return BROKEN(b, "goroutine %llu ends in a system call and its P %d is %s", GOID(b, op->g), p,
			      p_names[b->places[p].status]);
	if (p != NO_P) {
		b->places[p].status = P_ABANDONED;
		bind_p(b, p, 0);
	} else {
		b->threads[op->m].lacked_p = true;
	}
	return end_life(b, op->g);
}

static int switch_step(struct builder *b, const struct op *op)
{
	const char *what = op_name(op->kind);
	int ret;

	if (b->lives[op->g2].status != G_WAITING)
		return BROKEN(b, "%s to goroutine %llu, which is %s", what, GOID(b, op->g2),
			      g_names[b->lives[op->g2].status]);
	ret = op->kind == OP_GO_SWITCH ? set_status(b, op->g, G_RUNNING, G_WAITING, 0, what)
				       : end_life(b, op->g);
	return ret ? ret : set_status(b, op->g2, G_WAITING, G_RUNNING, op->m, what);
}

static int goroutine_step(struct builder *b, const struct op *op)
{
	const char *what = op_name(op->kind);

	switch (op->kind) {
	case OP_GO_CREATE:
	case OP_GO_CREATE_BLOCKED:
	case OP_GO_CREATE_SYSCALL:
		return birth(b, op);
	case OP_GO_START:
		if (b->places[b->threads[op->m].p].status != P_RUNNING)
			return BROKEN(b, "goroutine %llu starts on P %d, which is %s", GOID(b, op->g),
				      b->threads[op->m].p, p_names[b->places[b->threads[op->m].p].status]);
		return set_status(b, op->g, G_RUNNABLE, G_RUNNING, op->m, what);
	case OP_GO_DESTROY:
		return end_life(b, op->g);
	case OP_GO_DESTROY_SYSCALL:
		return destroy_in_syscall(b, op);
	case OP_GO_STOP:
		return set_status(b, op->g, G_RUNNING, G_RUNNABLE, 0, what);
	case OP_GO_BLOCK:
		return set_status(b, op->g, G_RUNNING, G_WAITING, 0, what);
	case OP_GO_UNBLOCK:
		return set_status(b, op->g2, G_WAITING, G_RUNNABLE, 0, what);
	default:
		return switch_step(b, op);
	}
}

/* --- ranges --- */

static int stw_step(struct builder *b, const struct op *op)
{
	struct life *life = &b->lives[op->g];

	if (op->kind == OP_STW_END) {
		if (!life->nstw)
			return BROKEN(b, "goroutine %llu starts the world and has not stopped it",
				      GOID(b, op->g));
		life->nstw--;
		b->nstw--;
		return 0;
	}
	for (unsigned i = 0; i < life->nstw; i++)
		if (life->stw[i] == op->string)
			return BROKEN(b, "goroutine %llu stops the world twice", GOID(b, op->g));
	if (life->nstw == sizeof(life->stw) / sizeof(life->stw[0]))
		return BROKEN(b, "goroutine %llu stops the world again and again", GOID(b, op->g));
	life->stw[life->nstw++] = op->string;
	b->nstw++;
	return 0;
}

static int set_range(struct builder *b, bool *open, bool want, const char *what)
{
	if (*open == want)
		return BROKEN(b, "%s, and it %s", what, want ? "has begun already" : "has not begun");
	*open = want;
	return 0;
}

static int active_step(struct builder *b, bool *open, const char *what)
{
	if (b->generation == 1)
		return set_range(b, open, true, what);
	return *open ? 0 : BROKEN(b, "%s, and it has not begun", what);
}

static int gc_step(struct builder *b, const struct op *op)
{
	if (op->kind == OP_GC_END ? b->gc != GC_ON : op->kind == OP_GC_BEGIN && b->gc == GC_ON)
		return BROKEN(b, "%s out of place", op_name(op->kind));
	if (op->kind == OP_GC_ACTIVE && (b->generation == 1 ? b->gc != GC_UNKNOWN : b->gc != GC_ON))
		return BROKEN(b, "GCActive out of place");
	b->gc = op->kind == OP_GC_END ? GC_OFF : GC_ON;
	return 0;
}

static int range_step(struct builder *b, const struct op *op)
{
	const char *what = op_name(op->kind);

	switch (op->kind) {
	case OP_STW_BEGIN:
	case OP_STW_END:
		return stw_step(b, op);
	case OP_GC_SWEEP_BEGIN:
	case OP_GC_SWEEP_END:
		return set_range(b, &b->places[op->p].sweeps, op->kind == OP_GC_SWEEP_BEGIN, what);
	case OP_GC_SWEEP_ACTIVE:
		return known_place(b, op->p, what) ? -EBADMSG
						   : active_step(b, &b->places[op->p].sweeps, what);
	case OP_GC_ASSIST_BEGIN:
	case OP_GC_ASSIST_END:
		b->lives[op->g].assisted = true;
		return set_range(b, &b->lives[op->g].assists, op->kind == OP_GC_ASSIST_BEGIN, what);
	case OP_GC_ASSIST_ACTIVE:
		return active_step(b, &b->lives[op->g].assists, what);
	default:
		return gc_step(b, op);
	}
}

/* --- all together --- */

static int apply(struct builder *b, const struct op *op)
{
	switch (op->kind) {
	case OP_PROC_START ... OP_PROC_STEAL:
		return proc_step(b, op);
	case OP_GO_CREATE ... OP_GO_SWITCH_DESTROY:
		return goroutine_step(b, op);
	case OP_SYSCALL_BEGIN ... OP_SYSCALL_END_BLOCKED:
		return syscall_step(b, op);
	case OP_STW_BEGIN ... OP_GC_ASSIST_END:
		return range_step(b, op);
	default:
		return 0;
	}
}

/* Who and where, if the thread knows it better than the caller. */
static void complete(const struct builder *b, struct op *op)
{
	const struct thread *thread = &b->threads[op->m];

	if (!op->g && op->kind != OP_GO_CREATE_SYSCALL)
		op->g = thread->g;
	if (op->p == NO_P)
		op->p = thread->p;
}

/* The first unit of time behind t. */
static uint64_t next_unit(uint64_t t)
{
	return (t / OP_UNIT_NS + 1) * OP_UNIT_NS;
}

static bool is_birth(unsigned kind)
{
	return kind >= OP_GO_CREATE && kind <= OP_GO_CREATE_SYSCALL;
}

static uint32_t born(const struct op *op)
{
	return op->kind == OP_GO_CREATE_SYSCALL ? op->g : op->g2;
}

/* Whether the op begins what has the name of something that ended: nothing orders the two but time. */
static bool begins_anew(const struct builder *b, const struct op *op)
{
	if (is_birth(op->kind))
		return b->lives[born(op)].reborn;
	return op->kind == OP_TASK_BEGIN && idmap_get(&b->task_ends, op->arg) == b->generation;
}

/* m: the thread's id. */
static uint64_t date(struct builder *b, uint64_t time, const struct op *op, uint32_t m)
{
	uint64_t least;

	b->spacing.last = b->last;
	least = op_earliest(&b->spacing, op->kind, m);
	if (time < least)
		time = least;
	if (begins_anew(b, op) && time < next_unit(b->last_end))
		time = next_unit(b->last_end);
	op_dated(&b->spacing, m, time);
	return time;
}

/* What ended, and when. */
static int note_end(struct builder *b, const struct op *op)
{
	if (op->kind != OP_GO_DESTROY && op->kind != OP_GO_DESTROY_SYSCALL &&
	    op->kind != OP_GO_SWITCH_DESTROY && op->kind != OP_TASK_END)
		return 0;
	b->last_end = b->last;
	return op->kind == OP_TASK_END ? idmap_set(&b->task_ends, op->arg, b->generation) : 0;
}

static bool is_active(unsigned kind)
{
	return kind == OP_GC_ACTIVE || kind == OP_GC_SWEEP_ACTIVE || kind == OP_GC_ASSIST_ACTIVE;
}

static int append(struct builder *b, uint64_t time, const struct op *op)
{
	struct op *new = array_push(&b->ops);

	if (!new)
		return error_set(b->err, ENOMEM, "out of memory");
	*new = *op;
	new->m = b->threads[op->m].tid;
	new->m2 = b->threads[op->m2].tid;
	new->time = date(b, time, op, new->m);
	b->last = new->time;
	if (is_active(op->kind)) /* nothing else orders it before the range's end */
		b->last = next_unit(new->time) - 1;
	if (is_birth(op->kind))
		b->lives[born(op)].birth_at = (uint32_t)b->ops.n;
	return note_end(b, op) ? error_set(b->err, ENOMEM, "out of memory") : 0;
}

int builder_step(struct builder *b, uint64_t time, const struct op *op)
{
	struct op full = *op;
	int ret;

	ret = check_needs(b, op);
	if (ret)
		return ret;
	complete(b, &full);
	ret = apply(b, &full);
	return ret ? ret : append(b, time, &full);
}

/* --- what was there before --- */

/*
 * A file says in the course of its first generation who was there, where each
 * comes to be named. All of it stands at the generation's start here, so
 * nothing of the thread's may have happened that another one did, or that
 * somebody who has nothing did.
 */
int builder_g_status(struct builder *b, const struct op *op)
{
	struct life *life = &b->lives[op->g];
	struct thread *thread = &b->threads[op->m];
	bool held = op->status == G_RUNNING || op->status == G_SYSCALL;
	struct op *new;

	if (op->status < G_RUNNABLE || op->status > G_WAITING)
		return BROKEN(b, "goroutine %llu has the status %u", GOID(b, op->g), op->status);
	if (held && !op->m)
		return BROKEN(b, "goroutine %llu is %s without a thread", GOID(b, op->g),
			      g_names[op->status]);
	if (held && (thread->had_g || (thread->lacked_g && op->status == G_SYSCALL)))
		return BROKEN(b, "goroutine %llu was %s on thread %u, where another one was", GOID(b, op->g),
			      g_names[op->status], thread->tid);
	new = array_push(&b->g_statuses);
	if (!new)
		return error_set(b->err, ENOMEM, "out of memory");
	*new = *op;
	new->kind = OP_GO_STATUS;
	new->m = held ? thread->tid : NO_M;
	life->status = op->status;
	life->status_at = (uint32_t)b->g_statuses.n;
	bind_g(b, op->g, held ? op->m : 0);
	return 0;
}

int builder_p_status(struct builder *b, uint64_t time, const struct op *op)
{
	struct place *place = &b->places[op->p];
	struct thread *thread = &b->threads[op->m];
	bool held = op->status == P_RUNNING || op->status == P_SYSCALL;
	struct op *new;

	if (op->status < P_RUNNING || op->status > P_ABANDONED)
		return BROKEN(b, "P %d has the status %u", op->p, op->status);
	if (held && !op->m)
		return BROKEN(b, "P %d is %s without a thread", op->p, p_names[op->status]);
	if (held && (b->generation == 1 ? thread->had_p || thread->lacked_p : thread->p != NO_P))
		return BROKEN(b, "P %d was %s on thread %u, which had none, or another one", op->p,
			      p_names[op->status], thread->tid);
	new = array_push(b->generation == 1 ? &b->p_statuses : &b->ops);
	if (!new)
		return error_set(b->err, ENOMEM, "out of memory");
	*new = *op;
	new->kind = OP_PROC_STATUS;
	new->m = held ? thread->tid : NO_M;
	if (b->generation > 1)
		b->last = new->time = date(b, time, new, new->m);
	place->known = true;
	place->status = op->status;
	bind_p(b, op->p, held ? op->m : 0);
	return 0;
}

int builder_assisted(struct builder *b, uint32_t g)
{
	struct life *life = &b->lives[g];
	struct op *new;

	if (b->generation != 1 || !life->status_at || life->assisted || b->actives.n == MOST_ACTIVES)
		return 0;
	new = array_push(&b->actives);
	if (!new)
		return error_set(b->err, ENOMEM, "out of memory");
	new->kind = OP_GC_ASSIST_ACTIVE;
	new->g = g;
	new->m = b->g_statuses.ops[life->status_at - 1].m;
	life->assists = life->assisted = true;
	return 0;
}

bool builder_began_as(const struct builder *b, uint32_t g, unsigned status)
{
	const struct life *life = &b->lives[g];

	return life->status_at && life->status == status &&
	       b->g_statuses.ops[life->status_at - 1].status == status;
}

int builder_amend_status(struct builder *b, uint32_t g, unsigned status, uint32_t thread)
{
	struct op *op = &b->g_statuses.ops[b->lives[g].status_at - 1];

	op->status = b->lives[g].status = (uint8_t)status;
	op->m = b->threads[thread].tid;
	bind_g(b, g, thread);
	return 0;
}

int builder_amend_birth(struct builder *b, uint64_t time, uint32_t g, unsigned status, uint32_t thread)
{
	struct life *life = &b->lives[g];
	struct op *birth = life->birth_at ? &b->ops.ops[life->birth_at - 1] : NULL;

	if (!birth || birth->kind != OP_GO_CREATE)
		return 0;
	if (status == G_WAITING) {
		birth->kind = OP_GO_CREATE_BLOCKED;
		life->status = G_WAITING;
		return 0;
	}
	birth->kind = OP_NONE;
	life->status = 0;
	return builder_step(b, time,
			    &(struct op){.kind = OP_GO_CREATE_SYSCALL, .p = NO_P, .m = thread, .g = g});
}

void builder_amend_thief(struct builder *b, size_t at, uint32_t thread)
{
	struct op *op = at < b->ops.n ? &b->ops.ops[at] : NULL;

	if (!op || op->kind != OP_PROC_STEAL)
		return;
	op->m = b->threads[thread].tid;
	op->g = b->threads[thread].g;
}
