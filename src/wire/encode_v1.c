/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Ops to wire v1 and v0: one flat stream of events, whose readers keep a state
 * machine of Ps and goroutines. So does this file: an op becomes what brings
 * their machine from the state it has to the one that the op leaves. Statuses
 * are told once, by creating what they name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/map64.h"
#include "wire/dict_v1.h"
#include "wire/encode.h"
#include "wire/idset.h"
#include "wire/stream_v1.h"

/* What the readers believe of a goroutine. */
enum g_state { UNKNOWN, RUNNABLE, RUNNING, WAITING, STOPPED /* for ever, so they think */, DEAD };

struct g_v1 {
	uint64_t id;
	uint64_t born; /* when it was created, in the file's time */
	uint32_t seq;  /* of its last event that is ordered */
	int32_t p;     /* where it runs */
	uint8_t state;
	bool in_call; /* runs, but is in a system call with its P */
	bool woken;   /* and has done nothing since but to start and be preempted */
	bool assists;
};

struct p_v1 {
	uint32_t g; /* that runs here, or NO_G */
	bool running, sweeps;
};

/*
 * A goroutine that a C thread uses for its calls into Go is born and ends with
 * each in the ops, under the same id; in these formats it waits in between.
 */
struct parked {
	uint64_t goid; /* in the ops */
	uint64_t id;   /* in the file */
	uint32_t seq;
};

struct encoder_v1 {
	struct file_v1 file;
	struct dict_v1 dict;
	const struct generation *gen;
	uint64_t now;         /* of the op, ns */
	uint64_t first_ticks; /* of the trace */
	struct g_v1 *gs;
	size_t ngs;
	struct p_v1 *ps; /* by P + 1 */
	size_t nps;
	struct parked *parked;
	size_t nparked, parked_capacity;
	struct map64 parked_by_goid;
	struct idset used; /* ids of all goroutines that were told of */
	uint64_t aliases;  /* ids given to goroutines whose own was used up */
	uint64_t gc_seq, procs;
	uint32_t procs_gen; /* the last generation that has told procs: each does, but a file only once */
	int32_t gc_p;       /* where the collection began */
	bool gc, stw;
	bool labels; /* this generation has some */
	uint32_t last_gen;
};

#define NS_PER_SEC 1000000000

/* No goroutine has so high an id; and a float64 still has it exactly. */
#define ALIAS_ID (3ull << 50)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* Appends an event with these arguments in P's stream. */
#define EVENT(wire, p, type, ...)                                                                            \
	file_v1_event(&(wire)->file, p, (wire)->now, type, (const uint64_t[]){__VA_ARGS__},                  \
		      COUNT(((const uint64_t[]){__VA_ARGS__})))
#define BARE_EVENT(wire, p, type) file_v1_event(&(wire)->file, p, (wire)->now, type, NULL, 0)

static struct p_v1 *proc(struct encoder_v1 *wire, int32_t p)
{
	return &wire->ps[p + 1];
}

static struct g_v1 *goroutine(struct encoder_v1 *wire, uint32_t g)
{
	return &wire->gs[g];
}

/* go 1.7 and later order a goroutine's starts and wake-ups by numbers of its own. */
static bool has_seq(const struct encoder_v1 *wire)
{
	return wire->file.format >= WIRE_GO17;
}

static bool is_v0(const struct encoder_v1 *wire)
{
	return wire->file.format == WIRE_V0;
}

static uint32_t stack_of(struct encoder_v1 *wire, const struct op *op)
{
	return op->stack ? dict_v1_stack(&wire->dict, op->stack) : 0;
}

/* Where an op about the world is written: with its P, or with none. */
static int32_t stream_of(struct encoder_v1 *wire, const struct op *op)
{
	return op->p >= 0 && proc(wire, op->p)->running ? op->p : NO_P;
}

/*
 * Readers take the doer of an event from the P that it stands on. With its own
 * P if the op's goroutine is what they think runs there, else with none,
 * where nobody runs.
 */
static int32_t stream_by(struct encoder_v1 *wire, const struct op *op)
{
	int32_t p = stream_of(wire, op);

	return proc(wire, p)->g == op->g ? p : NO_P;
}

/* --- Ps and goroutines, as the readers see them --- */

static void proc_start(struct encoder_v1 *wire, int32_t p, uint32_t m)
{
	if (proc(wire, p)->running)
		return;
	if (is_v0(wire))
		BARE_EVENT(wire, p, V1_PROC_START);
	else
		EVENT(wire, p, V1_PROC_START, m);
	proc(wire, p)->running = true;
}

/* The goroutine in a system call loses its P. */
static void sys_block(struct encoder_v1 *wire, int32_t p)
{
	struct g_v1 *g = goroutine(wire, proc(wire, p)->g);

	if (is_v0(wire))
		EVENT(wire, p, V1_GO_SYS_BLOCK, 0);
	else
		BARE_EVENT(wire, p, V1_GO_SYS_BLOCK);
	g->state = WAITING;
	g->in_call = false;
	proc(wire, p)->g = NO_G;
}

static void proc_stop(struct encoder_v1 *wire, int32_t p)
{
	if (!proc(wire, p)->running)
		return;
	if (proc(wire, p)->g != NO_G)
		sys_block(wire, p);
	BARE_EVENT(wire, p, V1_PROC_STOP);
	proc(wire, p)->running = false;
}

enum { MOST_BETWEEN = 64 };

/*
 * A call's end that takes a P out of another one's call and goes on with it is
 * told without a stop and a start of the P (exitsyscallfast_reacquired, Go 1.21
 * runtime/proc.go).
 */
static bool goes_on(struct encoder_v1 *wire, const struct op *steal)
{
	const struct op *end = wire->gen->ops + wire->gen->nops, *next = steal + 1;

	if (steal->m == steal->m2 || !proc(wire, steal->p)->running || proc(wire, steal->p)->g == NO_G)
		return false;
	/* Others may do something in between, but not much: it is one function. */
	for (int i = 0; i < MOST_BETWEEN && next < end; i++, next++)
		if (next->kind == OP_PROC_START && next->p == steal->p)
			return next->m == steal->m && next->g != NO_G;
	return false;
}

static void go_create(struct encoder_v1 *wire, int32_t p, uint32_t index, uint64_t id, const struct op *op)
{
	struct g_v1 *g = goroutine(wire, index);
	bool timer;
	uint64_t start =
		dict_v1_start(&wire->dict, op->stack2, op->kind == OP_GO_STATUS ? op->stack : 0, &timer);
	uint32_t stack = op->kind == OP_GO_STATUS ? 0 : stack_of(wire, op);

	*g = (struct g_v1){.id = id, .state = RUNNABLE, .p = NO_P};
	if (timer)
		file_v1_record(&wire->file, V1_TIMER_GOROUTINE, id);
	EVENT(wire, p, V1_GO_CREATE, id, start, stack);
	g->born = wire->file.ticks;
}

/* What a goroutine does that was created and does not run: both count for its order. */
static void go_waits(struct encoder_v1 *wire, int32_t p, uint32_t index, bool in_call)
{
	struct g_v1 *g = goroutine(wire, index);

	EVENT(wire, p, in_call ? V1_GO_IN_SYSCALL : V1_GO_WAITING, g->id);
	g->state = WAITING;
	g->seq = 1;
}

/* Returns from a system call without a P: a moment of its own, which stands for itself. */
static void sys_exit(struct encoder_v1 *wire, uint32_t index)
{
	struct g_v1 *g = goroutine(wire, index);

	if (is_v0(wire)) {
		EVENT(wire, NO_P, V1_GO_SYS_EXIT, g->id);
	} else {
		uint64_t seq = has_seq(wire) ? ++g->seq : wire->file.seq + 1;
		uint64_t ticks = file_v1_ticks(&wire->file, wire->now);

		if (ticks < wire->file.ticks)
			ticks = wire->file.ticks;
		EVENT(wire, NO_P, V1_GO_SYS_EXIT, g->id, seq, ticks);
	}
	g->state = RUNNABLE;
}

static void go_unblock(struct encoder_v1 *wire, int32_t p, uint32_t index, uint32_t stack)
{
	struct g_v1 *g = goroutine(wire, index);

	if (g->state != WAITING)
		return;
	if (has_seq(wire))
		EVENT(wire, p, V1_GO_UNBLOCK, g->id, ++g->seq, stack);
	else
		EVENT(wire, p, V1_GO_UNBLOCK, g->id, stack);
	g->state = RUNNABLE;
	g->woken = true;
}

static void go_start(struct encoder_v1 *wire, int32_t p, uint32_t index, uint32_t label)
{
	struct g_v1 *g = goroutine(wire, index);

	if (label)
		EVENT(wire, p, V1_GO_START_LABEL, g->id, ++g->seq, label);
	else if (has_seq(wire))
		EVENT(wire, p, V1_GO_START, g->id, ++g->seq);
	else
		EVENT(wire, p, V1_GO_START, g->id);
	g->state = RUNNING;
	g->in_call = false;
	g->p = p;
	proc(wire, p)->g = index;
}

/* Whoever runs on P leaves it by this event. */
static void go_leaves(struct encoder_v1 *wire, int32_t p, enum event_v1_type type, uint32_t stack)
{
	struct g_v1 *g = goroutine(wire, proc(wire, p)->g);

	if (type == V1_GO_END)
		BARE_EVENT(wire, p, type);
	else
		EVENT(wire, p, type, stack);
	if (type == V1_GO_SCHED || type == V1_GO_PREEMPT)
		g->state = RUNNABLE;
	else
		g->state = type == V1_GO_END ? DEAD : type == V1_GO_STOP ? STOPPED : WAITING;
	g->woken = g->woken && type == V1_GO_PREEMPT;
	proc(wire, p)->g = NO_G;
}

/* --- what an op may find otherwise than the readers have it --- */

static bool is_known(const struct g_v1 *g)
{
	return g->state == RUNNABLE || g->state == RUNNING || g->state == WAITING;
}

/* Ids are never used again: a life whose id was somebody's gets another. */
static uint64_t fresh_id(struct encoder_v1 *wire, uint32_t index)
{
	uint64_t id = wire->dict.tables->goids[index];
	int known = idset_add(&wire->used, id);

	if (known < 0)
		wire->file.failed = known;
	return known ? ALIAS_ID + wire->aliases++ : id;
}

/* A goroutine that the op wakes or starts, but that they do not know, or think to be stopped for ever. */
static void make_known(struct encoder_v1 *wire, uint32_t index, bool waiting)
{
	static const struct op none = {.kind = OP_GO_STATUS};

	if (is_known(goroutine(wire, index)))
		return;
	go_create(wire, NO_P, index, fresh_id(wire, index), &none);
	if (waiting)
		go_waits(wire, NO_P, index, false);
}

static void start_here(struct encoder_v1 *wire, int32_t p, uint32_t index, uint32_t label)
{
	make_known(wire, index, false);
	if (goroutine(wire, index)->state == WAITING)
		go_unblock(wire, NO_P, index, 0);
	if (goroutine(wire, index)->state == RUNNABLE && proc(wire, p)->g == NO_G)
		go_start(wire, p, index, label);
}

/*
 * The op's goroutine runs on the op's P: do they think so? They do not if it
 * was in a system call when the trace began, and came back with its P.
 */
static bool runs_here(struct encoder_v1 *wire, const struct op *op)
{
	if (op->p < 0 || op->g == NO_G)
		return false;
	if (proc(wire, op->p)->g == op->g)
		return true;
	if (proc(wire, op->p)->g != NO_G || goroutine(wire, op->g)->state == RUNNING)
		return false;
	proc_start(wire, op->p, op->m);
	if (goroutine(wire, op->g)->state == WAITING)
		sys_exit(wire, op->g);
	start_here(wire, op->p, op->g, 0);
	return proc(wire, op->p)->g == op->g;
}

/* --- the scheduler's ops --- */

struct block_reason {
	const char *text; /* Go 1.26 src/runtime/traceruntime.go, traceBlockReasonStrings */
	enum event_v1_type type;
};

static const struct block_reason block_reasons[] = {
	{"forever", V1_GO_STOP},
	{"network", V1_GO_BLOCK_NET},
	{"select", V1_GO_BLOCK_SELECT},
	{"sync.(*Cond).Wait", V1_GO_BLOCK_COND},
	{"sync", V1_GO_BLOCK_SYNC},
	{"chan send", V1_GO_BLOCK_SEND},
	{"chan receive", V1_GO_BLOCK_RECV},
	{"GC mark assist wait for work", V1_GO_BLOCK_GC},
	{"sleep", V1_GO_SLEEP},
	{"sync (condition)", V1_GO_BLOCK_COND}, /* of threads, as those below: the nearest type */
};
static const char thread_sync[] = "sync ("; /* any lock of threads */

static const char *string_of(const struct encoder_v1 *wire, uint32_t id, size_t *len)
{
	const struct strtab *strings = wire->dict.tables->strings;

	*len = 0;
	return id && id < strtab_count(strings) ? strtab_get(strings, id, len) : "";
}

static bool string_begins(const struct encoder_v1 *wire, uint32_t id, const char *begin)
{
	size_t len;
	const char *text = string_of(wire, id, &len);

	return len >= strlen(begin) && memcmp(text, begin, strlen(begin)) == 0;
}

static bool string_is(const struct encoder_v1 *wire, uint32_t id, const char *name)
{
	size_t len;

	string_of(wire, id, &len);
	return id && len == strlen(name) && string_begins(wire, id, name);
}

/* Reasons without an event of their own, in this format or in all, are the general one. */
static enum event_v1_type block_type(const struct encoder_v1 *wire, uint32_t reason)
{
	for (size_t i = 0; i < COUNT(block_reasons); i++)
		if (string_is(wire, reason, block_reasons[i].text) &&
		    event_v1_spec(block_reasons[i].type, wire->file.format))
			return block_reasons[i].type;
	if (string_begins(wire, reason, thread_sync))
		return V1_GO_BLOCK_SYNC;
	return V1_GO_BLOCK;
}

static enum event_v1_type leaving_type(const struct encoder_v1 *wire, const struct op *op)
{
	switch (op->kind) {
	case OP_GO_DESTROY:
	case OP_GO_SWITCH_DESTROY:
		return V1_GO_END;
	case OP_GO_STOP:
		return string_is(wire, op->string, "preempted") ? V1_GO_PREEMPT : V1_GO_SCHED;
	case OP_GO_BLOCK:
		return block_type(wire, op->string);
	default:
		return V1_GO_BLOCK;
	}
}

/*
 * That the goroutine had woken in vain: readers take its wake-up and its starts out. v0 has no such event,
 * and what reads go 1.11 today refuses it.
 */
static bool tells_futile(const struct encoder_v1 *wire)
{
	return wire->file.format >= WIRE_GO15 && wire->file.format < WIRE_GO111;
}

/* A switch of coroutines is what it is for the scheduler: a wake-up, a block or an end, a start. */
static void put_leaving(struct encoder_v1 *wire, const struct op *op)
{
	bool to_other = op->kind == OP_GO_SWITCH || op->kind == OP_GO_SWITCH_DESTROY;

	if (!runs_here(wire, op))
		return;
	if (to_other) {
		make_known(wire, op->g2, true);
		go_unblock(wire, op->p, op->g2, 0);
	}
	if (op->kind == OP_GO_BLOCK && op->arg && goroutine(wire, op->g)->woken && tells_futile(wire))
		BARE_EVENT(wire, op->p, V1_FUTILE_WAKEUP);
	go_leaves(wire, op->p, leaving_type(wire, op), stack_of(wire, op));
	if (to_other)
		start_here(wire, op->p, op->g2, 0);
}

/* The mark workers' label comes behind their start, and is part of it in these formats. */
static uint32_t label_of(struct encoder_v1 *wire, const struct op *start)
{
	const struct op *end = wire->gen->ops + wire->gen->nops;

	if (!wire->labels || !event_v1_spec(V1_GO_START_LABEL, wire->file.format))
		return 0;
	for (const struct op *op = start + 1; op < end; op++)
		if (op->m == start->m && op->kind != OP_CPU_SAMPLE && op->kind != OP_NONE)
			return op->kind == OP_GO_LABEL && op->g == start->g
				       ? dict_v1_string(&wire->dict, op->string)
				       : 0;
	return 0;
}

static void put_create(struct encoder_v1 *wire, const struct op *op)
{
	go_create(wire, stream_by(wire, op), op->g2, fresh_id(wire, op->g2), op);
}

/* Takes it out of the list; false if it is not there. */
static bool unpark(struct encoder_v1 *wire, uint64_t goid, struct parked *parked)
{
	const uint32_t *found = goid ? map64_get(&wire->parked_by_goid, goid) : NULL;
	uint32_t index;

	if (!found)
		return false;
	index = *found;
	*parked = wire->parked[index];
	map64_del(&wire->parked_by_goid, goid);
	wire->parked[index] = wire->parked[--wire->nparked];
	if (index < wire->nparked && map64_set(&wire->parked_by_goid, wire->parked[index].goid, index))
		wire->file.failed = -ENOMEM;
	return true;
}

static void park(struct encoder_v1 *wire, uint64_t goid, const struct g_v1 *g)
{
	if (!goid || map64_get(&wire->parked_by_goid, goid))
		return;
	if (array_grow((void **)&wire->parked, &wire->parked_capacity, wire->nparked + 1,
		       sizeof(*wire->parked)) ||
	    map64_set(&wire->parked_by_goid, goid, (uint32_t)wire->nparked)) {
		wire->file.failed = -ENOMEM;
		return;
	}
	wire->parked[wire->nparked++] = (struct parked){goid, g->id, g->seq};
}

/* Born in a system call: a C thread calls into Go, maybe not for the first time. */
static void put_create_syscall(struct encoder_v1 *wire, const struct op *op)
{
	struct parked parked;

	if (unpark(wire, wire->dict.tables->goids[op->g], &parked)) {
		*goroutine(wire, op->g) =
			(struct g_v1){.id = parked.id, .state = WAITING, .seq = parked.seq, .p = NO_P};
		return;
	}
	go_create(wire, NO_P, op->g, fresh_id(wire, op->g), op);
	go_waits(wire, NO_P, op->g, true);
}

static void put_destroy_syscall(struct encoder_v1 *wire, const struct op *op)
{
	struct g_v1 *g = goroutine(wire, op->g);

	if (g->state == RUNNING)
		sys_block(wire, g->p);
	if (g->state == WAITING)
		park(wire, wire->dict.tables->goids[op->g], g);
	g->state = DEAD;
}

static void put_scheduler(struct encoder_v1 *wire, const struct op *op)
{
	switch (op->kind) {
	case OP_GO_CREATE:
	case OP_GO_CREATE_BLOCKED: /* runnable in the file: it is not woken before it first runs */
		put_create(wire, op);
		break;
	case OP_GO_CREATE_SYSCALL:
		put_create_syscall(wire, op);
		break;
	case OP_GO_START:
		proc_start(wire, op->p, op->m);
		start_here(wire, op->p, op->g, label_of(wire, op));
		break;
	case OP_GO_DESTROY_SYSCALL:
		put_destroy_syscall(wire, op);
		break;
	case OP_GO_UNBLOCK:
		if (goroutine(wire, op->g2)->state == STOPPED)
			make_known(wire, op->g2, true);
		go_unblock(wire, stream_by(wire, op), op->g2, stack_of(wire, op));
		break;
	default:
		put_leaving(wire, op);
	}
}

static void put_syscall(struct encoder_v1 *wire, const struct op *op)
{
	struct g_v1 *g = goroutine(wire, op->g);

	switch (op->kind) {
	case OP_SYSCALL_BEGIN:
		if (!runs_here(wire, op))
			break;
		EVENT(wire, op->p, V1_GO_SYSCALL, stack_of(wire, op));
		g->in_call = true;
		break;
	case OP_SYSCALL_END:
		if (runs_here(wire, op))
			g->in_call = false;
		break;
	default:
		if (g->state == RUNNING)
			sys_block(wire, g->p);
		if (g->state == WAITING)
			sys_exit(wire, op->g);
	}
}

static void put_proc(struct encoder_v1 *wire, const struct op *op)
{
	switch (op->kind) {
	case OP_PROC_STATUS:
		if (op->status != P_IDLE)
			proc_start(wire, op->p, op->m);
		break;
	case OP_PROC_START:
		proc_start(wire, op->p, op->m);
		break;
	case OP_PROC_STEAL:
		if (goes_on(wire, op)) {
			sys_block(wire, op->p);
			break;
		}
		proc_stop(wire, op->p);
		break;
	case OP_PROC_STOP:
		proc_stop(wire, op->p);
		break;
	default:
		/* The start has told of the first one; what tells no stack says the same again. */
		if (op->arg != wire->procs || (op->stack && wire->procs_gen) ||
		    wire->procs_gen == wire->gen->number)
			EVENT(wire, stream_by(wire, op), V1_GOMAXPROCS, op->arg, stack_of(wire, op));
		wire->procs = op->arg;
		wire->procs_gen = wire->gen->number;
	}
}

/* --- the world's ops --- */

static void gc_begin(struct encoder_v1 *wire, const struct op *op)
{
	if (wire->gc)
		return;
	wire->gc_p = stream_of(wire, op);
	if (has_seq(wire))
		EVENT(wire, wire->gc_p, V1_GC_START, wire->gc_seq++, stack_of(wire, op));
	else
		EVENT(wire, wire->gc_p, V1_GC_START, stack_of(wire, op));
	wire->gc = true;
}

/* The readers of v0 pair beginning and end a P. */
static void gc_end(struct encoder_v1 *wire, const struct op *op)
{
	if (wire->gc)
		BARE_EVENT(wire, is_v0(wire) ? wire->gc_p : stream_of(wire, op), V1_GC_DONE);
	wire->gc = false;
}

enum { STW_MARK_TERMINATION = 1, STW_SWEEP_TERMINATION = 2 };

/* go 1.10 has two kinds, 0 and 1, and its readers refuse others; before that there is no such event. */
static void stw_begin(struct encoder_v1 *wire, const struct op *op)
{
	uint64_t kind = 0;

	if (wire->stw || wire->file.format < WIRE_GO110)
		return;
	for (size_t i = 0; i < V1_STW_KINDS; i++)
		if (string_is(wire, op->string, event_v1_stw(i)))
			kind = i;
	if (wire->file.format < WIRE_GO121) {
		if (kind != STW_MARK_TERMINATION && kind != STW_SWEEP_TERMINATION)
			return;
		kind--;
	}
	EVENT(wire, stream_of(wire, op), V1_STW_START, kind);
	wire->stw = true;
}

static void stw_end(struct encoder_v1 *wire, const struct op *op)
{
	if (wire->stw)
		BARE_EVENT(wire, stream_of(wire, op), V1_STW_DONE);
	wire->stw = false;
}

static void put_sweep(struct encoder_v1 *wire, const struct op *op)
{
	bool begin = op->kind != OP_GC_SWEEP_END;

	if (op->p < 0 || proc(wire, op->p)->sweeps == begin)
		return;
	proc(wire, op->p)->sweeps = begin;
	if (begin)
		EVENT(wire, op->p, V1_GC_SWEEP_START, stack_of(wire, op));
	else if (wire->file.format >= WIRE_GO19)
		EVENT(wire, op->p, V1_GC_SWEEP_DONE, op->arg, op->arg2);
	else
		BARE_EVENT(wire, op->p, V1_GC_SWEEP_DONE);
}

/* Whose assist it is, is told by the P alone. */
static void put_assist(struct encoder_v1 *wire, const struct op *op)
{
	struct g_v1 *g = goroutine(wire, op->g);
	bool begin = op->kind != OP_GC_ASSIST_END;

	if (g->state != RUNNING || g->assists == begin)
		return;
	g->assists = begin;
	if (begin)
		EVENT(wire, g->p, V1_GC_MARK_ASSIST_START, stack_of(wire, op));
	else
		BARE_EVENT(wire, g->p, V1_GC_MARK_ASSIST_DONE);
}

static void put_world(struct encoder_v1 *wire, const struct op *op)
{
	switch (op->kind) {
	case OP_STW_BEGIN:
		stw_begin(wire, op);
		break;
	case OP_STW_END:
		stw_end(wire, op);
		break;
	case OP_GC_ACTIVE:
	case OP_GC_BEGIN:
		gc_begin(wire, op);
		break;
	case OP_GC_END:
		gc_end(wire, op);
		break;
	case OP_GC_SWEEP_ACTIVE ... OP_GC_SWEEP_END:
		put_sweep(wire, op);
		break;
	case OP_GC_ASSIST_ACTIVE ... OP_GC_ASSIST_END:
		put_assist(wire, op);
		break;
	default:
		EVENT(wire, stream_of(wire, op), op->kind == OP_HEAP_ALLOC ? V1_HEAP_ALLOC : V1_HEAP_GOAL,
		      op->arg);
	}
}

/* --- annotations and samples --- */

static void put_log(struct encoder_v1 *wire, const struct op *op)
{
	uint64_t args[] = {op->arg, dict_v1_string(&wire->dict, op->string), stack_of(wire, op)};
	size_t len = 0;
	const char *text = dict_v1_text(&wire->dict, op->string2, &len);

	file_v1_message(&wire->file, stream_by(wire, op), wire->now, V1_USER_LOG, args, COUNT(args),
			text ? text : "", len);
}

enum { REGION_BEGINS = 0, REGION_ENDS = 1 };

static void put_annotation(struct encoder_v1 *wire, const struct op *op)
{
	struct dict_v1 *dict = &wire->dict;
	int32_t p = stream_by(wire, op);

	if (!event_v1_spec(V1_USER_LOG, wire->file.format))
		return;
	switch (op->kind) {
	case OP_TASK_BEGIN:
		EVENT(wire, p, V1_USER_TASK_CREATE, op->arg, op->arg2, dict_v1_string(dict, op->string),
		      stack_of(wire, op));
		break;
	case OP_TASK_END:
		EVENT(wire, p, V1_USER_TASK_END, op->arg, stack_of(wire, op));
		break;
	case OP_REGION_BEGIN:
	case OP_REGION_END:
		/* They nest, a goroutine: nobody else may get it. */
		if (proc(wire, p)->g == op->g)
			EVENT(wire, p, V1_USER_REGION, op->arg,
			      op->kind == OP_REGION_BEGIN ? REGION_BEGINS : REGION_ENDS,
			      dict_v1_string(dict, op->string), stack_of(wire, op));
		break;
	case OP_LOG:
		put_log(wire, op);
		break;
	default:
		break;
	}
}

/*
 * Not part of the order: its own moment is among its values. Readers up to Go
 * 1.22 refuse the creation of a goroutine that a sample was of before.
 */
static void put_sample(struct encoder_v1 *wire, const struct op *op)
{
	const struct g_v1 *g = goroutine(wire, op->g);
	uint64_t ticks = file_v1_ticks(&wire->file, op->time);
	uint64_t id = op->g != NO_G && g->state != UNKNOWN && g->born < ticks ? g->id : 0;

	wire->now = V1_SAME_TIME;
	if (event_v1_spec(V1_CPU_SAMPLE, wire->file.format))
		EVENT(wire, NO_P, V1_CPU_SAMPLE, ticks, (uint64_t)(int64_t)op->p, id, stack_of(wire, op));
}

/* --- generations --- */

/* Whoever runs on the op's P does something. */
static void note_deed(struct encoder_v1 *wire, const struct op *op)
{
	switch (op->kind) {
	case OP_GO_START:
	case OP_GO_STOP:
	case OP_GO_BLOCK:
	case OP_CPU_SAMPLE:
		break;
	default:
		if (op->p >= 0)
			goroutine(wire, proc(wire, op->p)->g)->woken = false;
	}
}

static void put_op(struct encoder_v1 *wire, const struct op *op)
{
	note_deed(wire, op);
	switch (op->kind) {
	case OP_GO_CREATE ... OP_GO_SWITCH_DESTROY:
		put_scheduler(wire, op);
		break;
	case OP_SYSCALL_BEGIN ... OP_SYSCALL_END_BLOCKED:
		put_syscall(wire, op);
		break;
	case OP_PROC_STATUS:
	case OP_PROCS_CHANGE ... OP_PROC_STEAL:
		put_proc(wire, op);
		break;
	case OP_STW_BEGIN ... OP_HEAP_GOAL:
		put_world(wire, op);
		break;
	case OP_CPU_SAMPLE:
		put_sample(wire, op);
		break;
	default:
		put_annotation(wire, op);
	}
}

static bool is_status(const struct op *op)
{
	return op->kind == OP_PROC_STATUS || op->kind == OP_GO_STATUS || op->kind == OP_SPAN ||
	       op->kind == OP_GO_STACK || op->kind == OP_NONE;
}

/* The P that a running goroutine's thread holds, by the statuses. */
static int32_t proc_of(const struct generation *gen, size_t nstatuses, uint32_t m)
{
	for (size_t i = 0; i < nstatuses; i++)
		if (gen->ops[i].kind == OP_PROC_STATUS && gen->ops[i].m == m && m != NO_M)
			return gen->ops[i].p;
	return NO_P;
}

static void tell_goroutine(struct encoder_v1 *wire, int32_t p, const struct op *op)
{
	const struct g_v1 *g = goroutine(wire, op->g);

	if (is_known(g) || g->state == STOPPED)
		return;
	go_create(wire, p, op->g, fresh_id(wire, op->g), op);
	if (op->status == G_WAITING || op->status == G_SYSCALL)
		go_waits(wire, p, op->g, op->status == G_SYSCALL);
}

static uint64_t count_procs(const struct generation *gen, size_t nstatuses)
{
	uint64_t n = 0;

	for (size_t i = 0; i < gen->nops; i++) {
		if (gen->ops[i].kind == OP_PROCS_CHANGE)
			return gen->ops[i].arg;
		if (i < nstatuses && gen->ops[i].kind == OP_PROC_STATUS)
			n++;
	}
	return n;
}

/*
 * Statuses: first the goroutines that were not there, all on one P before it
 * starts, then who runs. In the first generation a Gomaxprocs ends this;
 * goroutines that are created before it are no births for readers of Go 1.23
 * and later. In later ones whatever is new is told where nobody runs.
 */
static void put_statuses(struct encoder_v1 *wire, const struct generation *gen, size_t n)
{
	bool first = !wire->last_gen;
	int32_t where = NO_P;

	wire->now = gen->start;
	for (size_t i = 0; i < n && first && where == NO_P; i++)
		if (gen->ops[i].kind == OP_PROC_STATUS)
			where = gen->ops[i].p;
	for (size_t i = 0; i < n; i++)
		if (gen->ops[i].kind == OP_GO_STATUS)
			tell_goroutine(wire, where, &gen->ops[i]);
	for (size_t i = 0; i < n; i++)
		if (gen->ops[i].kind == OP_PROC_STATUS)
			put_proc(wire, &gen->ops[i]);
	for (size_t i = 0; i < n; i++) {
		const struct op *op = &gen->ops[i];
		int32_t p =
			op->kind == OP_GO_STATUS && op->status == G_RUNNING ? proc_of(gen, n, op->m) : NO_P;

		if (p != NO_P && goroutine(wire, op->g)->state == RUNNABLE && proc(wire, p)->g == NO_G)
			go_start(wire, p, op->g, 0);
	}
	if (first) {
		wire->now++;
		wire->procs = count_procs(gen, n);
		EVENT(wire, where, V1_GOMAXPROCS, wire->procs, 0);
	}
}

/*
 * Nothing is left open: viewers up to Go 1.22 want an end of each collection,
 * stop-the-world and sweep, and of each goroutine's stretch, and crash without.
 */
static void close_all(struct encoder_v1 *wire)
{
	static const struct op nobody = {.p = NO_P};

	wire->now = wire->gen->end + 1; /* behind everything on other Ps, too */
	stw_end(wire, &nobody);
	gc_end(wire, &nobody);
	for (size_t i = 0; i < wire->nps; i++) {
		const struct p_v1 *p = &wire->ps[i];
		const struct op end = {.kind = OP_GC_SWEEP_END, .p = (int32_t)i - 1};

		put_sweep(wire, &end);
		if (p->g != NO_G && goroutine(wire, p->g)->in_call)
			sys_block(wire, end.p);
		else if (p->g != NO_G)
			go_leaves(wire, end.p, V1_GO_PREEMPT, 0);
	}
}

/* What would read or write beyond an array. The rules of the trace are the model's business. */
static int check_op(struct encoder_v1 *wire, const struct op *op, const char **why)
{
	const struct tables *tables = wire->dict.tables;

	if (op->kind >= OP_KIND_COUNT)
		*why = "unknown kind";
	else if (op->g >= tables->ngoroutines || op->g2 >= tables->ngoroutines)
		*why = "goroutine index out of the table";
	else if (op->p < NO_P || op->p >= V1_MAX_P)
		*why = "P out of range";
	else
		return 0;
	return -EINVAL;
}

/* Which ops are about P op.p, whatever else they say; bits by enum op_kind. */
#define BIT(kind) (1ull << (kind))
#define USES_P                                                                                               \
	(BIT(OP_PROC_STATUS) | BIT(OP_PROC_START) | BIT(OP_PROC_STOP) | BIT(OP_PROC_STEAL) | BIT(OP_GO_START))

/* Checks all ops of a generation before the first is written. */
static int check_ops(struct encoder_v1 *wire, const struct generation *gen, struct error *err)
{
	wire->labels = false;
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];
		const char *why = "P out of range";
		int ret = check_op(wire, op, &why);

		if (!ret && (USES_P & BIT(op->kind)) && op->p < 0)
			ret = -EINVAL;
		if (!ret &&
		    array_grow((void **)&wire->ps, &wire->nps, (size_t)op->p + 2, sizeof(*wire->ps))) {
			ret = -ENOMEM;
			why = "no memory";
		}
		if (ret)
			return error_set(err, -ret, "cannot encode op %zu (%s) of generation %u: %s", i,
					 op_name(op->kind), gen->number, why);
		wire->labels |= op->kind == OP_GO_LABEL;
	}
	return 0;
}

/* The readers of the oldest formats multiply a trace's whole span by 1e9. */
static bool is_too_long(const struct encoder_v1 *wire, const struct generation *gen)
{
	uint64_t first = wire->last_gen ? wire->first_ticks : file_v1_ticks(&wire->file, gen->start);
	uint64_t last = file_v1_ticks(&wire->file, gen->end);

	if (last < wire->file.ticks)
		last = wire->file.ticks;
	/* v0 moves each event away from the one before it. */
	return wire->file.format <= WIRE_GO15 && last - first + gen->nops > INT64_MAX / NS_PER_SEC;
}

static int begin(struct encoder_v1 *wire, const struct generation *gen, struct error *err)
{
	if (wire->file.failed)
		return error_set(err, -wire->file.failed, "the trace was closed by an earlier error: %s",
				 strerror(-wire->file.failed));
	if (gen->number == 0 || (wire->last_gen && gen->number != wire->last_gen + 1))
		return error_set(err, EINVAL, "generation %u cannot follow generation %u", gen->number,
				 wire->last_gen);
	if (is_too_long(wire, gen))
		return error_set(
			err, EFBIG,
			"the format %s holds no more than ten minutes; choose --format 1.7 or later, "
			"or end the trace earlier (-d)",
			wire_format_name(wire->file.format));
	wire->gen = gen;
	wire->dict.tables = gen->tables;
	if (array_grow((void **)&wire->gs, &wire->ngs, gen->tables->ngoroutines, sizeof(*wire->gs)))
		return error_set(err, ENOMEM, "no memory for generation %u", gen->number);
	return check_ops(wire, gen, err);
}

int encode_v1_generation(struct encoder_v1 *wire, const struct generation *gen, struct error *err)
{
	size_t i = 0;
	int ret = begin(wire, gen, err);

	if (ret) {
		wire->file.failed = ret;
		return ret;
	}
	if (!wire->last_gen)
		wire->first_ticks = wire->file.ticks = file_v1_ticks(&wire->file, gen->start);
	while (i < gen->nops && is_status(&gen->ops[i]))
		i++;
	put_statuses(wire, gen, i);
	for (; i < gen->nops; i++) {
		wire->now = gen->ops[i].time;
		put_op(wire, &gen->ops[i]);
	}
	if (gen->last)
		close_all(wire);
	wire->last_gen = gen->number;
	if (file_v1_flush(&wire->file))
		return error_set(err, -wire->file.failed, "cannot write generation %u of the trace: %s",
				 gen->number, strerror(-wire->file.failed));
	return 0;
}

uint64_t encode_v1_bytes(const struct encoder_v1 *wire)
{
	return wire->file.bytes;
}

struct encoder_v1 *encode_v1_new(const struct wire_options *options, struct error *err)
{
	struct encoder_v1 *wire = calloc(1, sizeof(*wire));

	if (!wire || array_grow((void **)&wire->ps, &wire->nps, 1, sizeof(*wire->ps))) {
		encode_v1_free(wire);
		error_set(err, ENOMEM, "no memory for the trace encoder");
		return NULL;
	}
	wire->file = (struct file_v1){.format = options->format, .out = options->out};
	dict_v1_init(&wire->dict, &wire->file, options);
	return wire;
}

void encode_v1_free(struct encoder_v1 *wire)
{
	if (!wire)
		return;
	file_v1_free(&wire->file);
	dict_v1_free(&wire->dict);
	map64_free(&wire->parked_by_goid);
	idset_free(&wire->used);
	free(wire->gs);
	free(wire->ps);
	free(wire->parked);
	free(wire);
}
