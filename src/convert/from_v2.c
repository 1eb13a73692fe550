/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From a v2 file to ops: nearly one op an event, since both are about the
 * same things. Statuses, which a file tells as late as it can, go to the
 * start of their generation.
 */
#include <errno.h>
#include <stdlib.h>

#include "convert/from.h"
#include "wire/buffer.h"
#include "wire/visit.h"

/* The latest time of a file, ns: 146 years. Beyond, sums could overflow. */
#define MOST_NS (INT64_MAX / 2)

struct reader {
	struct builder *b;
	struct wire_view view;
	struct idmap strings, stacks; /* ids of the file's generation -> ours */
};

/* Which argument of an event is what: 1 + its number; 0 = the op has none. */
struct mapping {
	uint8_t kind;
	uint8_t g2;              /* a living goroutine */
	uint8_t birth;           /* the goroutine that is born */
	uint8_t p;               /* a P */
	uint8_t m2;              /* a thread */
	uint8_t arg, arg2;       /* numbers as they are */
	uint8_t string, string2; /* strings */
	uint8_t stack, stack2;   /* stacks */
	bool self;               /* g2 is the op's g: it starts */
};

static const struct mapping mappings[EV_COUNT] = {
	[EV_PROCS_CHANGE] = {OP_PROCS_CHANGE, .arg = 1, .stack = 2},
	[EV_PROC_START] = {OP_PROC_START, .p = 1},
	[EV_PROC_STOP] = {OP_PROC_STOP},
	[EV_PROC_STEAL] = {OP_PROC_STEAL, .p = 1, .m2 = 3},
	[EV_GO_CREATE] = {OP_GO_CREATE, .birth = 1, .stack2 = 2, .stack = 3},
	[EV_GO_CREATE_BLOCKED] = {OP_GO_CREATE_BLOCKED, .birth = 1, .stack2 = 2, .stack = 3},
	[EV_GO_CREATE_SYSCALL] = {OP_GO_CREATE_SYSCALL, .birth = 1, .self = true},
	[EV_GO_START] = {OP_GO_START, .g2 = 1, .self = true},
	[EV_GO_DESTROY] = {OP_GO_DESTROY},
	[EV_GO_DESTROY_SYSCALL] = {OP_GO_DESTROY_SYSCALL},
	[EV_GO_STOP] = {OP_GO_STOP, .string = 1, .stack = 2},
	[EV_GO_BLOCK] = {OP_GO_BLOCK, .string = 1, .stack = 2},
	[EV_GO_UNBLOCK] = {OP_GO_UNBLOCK, .g2 = 1, .stack = 3},
	[EV_GO_SWITCH] = {OP_GO_SWITCH, .g2 = 1},
	[EV_GO_SWITCH_DESTROY] = {OP_GO_SWITCH_DESTROY, .g2 = 1},
	[EV_GO_SYSCALL_BEGIN] = {OP_SYSCALL_BEGIN, .stack = 2},
	[EV_GO_SYSCALL_END] = {OP_SYSCALL_END},
	[EV_GO_SYSCALL_END_BLOCKED] = {OP_SYSCALL_END_BLOCKED},
	[EV_STW_BEGIN] = {OP_STW_BEGIN, .string = 1, .stack = 2},
	[EV_STW_END] = {OP_STW_END},
	[EV_GC_ACTIVE] = {OP_GC_ACTIVE},
	[EV_GC_BEGIN] = {OP_GC_BEGIN, .stack = 2},
	[EV_GC_END] = {OP_GC_END},
	[EV_GC_SWEEP_ACTIVE] = {OP_GC_SWEEP_ACTIVE, .p = 1},
	[EV_GC_SWEEP_BEGIN] = {OP_GC_SWEEP_BEGIN, .stack = 1},
	[EV_GC_SWEEP_END] = {OP_GC_SWEEP_END, .arg = 1, .arg2 = 2},
	[EV_GC_MARK_ASSIST_ACTIVE] = {OP_GC_ASSIST_ACTIVE, .g2 = 1, .self = true},
	[EV_GC_MARK_ASSIST_BEGIN] = {OP_GC_ASSIST_BEGIN, .stack = 1},
	[EV_GC_MARK_ASSIST_END] = {OP_GC_ASSIST_END},
	[EV_HEAP_ALLOC] = {OP_HEAP_ALLOC, .arg = 1},
	[EV_HEAP_GOAL] = {OP_HEAP_GOAL, .arg = 1},
	[EV_GO_LABEL] = {OP_GO_LABEL, .string = 1},
	[EV_USER_TASK_BEGIN] = {OP_TASK_BEGIN, .arg = 1, .arg2 = 2, .string = 3, .stack = 4},
	[EV_USER_TASK_END] = {OP_TASK_END, .arg = 1, .stack = 2},
	[EV_USER_REGION_BEGIN] = {OP_REGION_BEGIN, .arg = 1, .string = 2, .stack = 3},
	[EV_USER_REGION_END] = {OP_REGION_END, .arg = 1, .string = 2, .stack = 3},
	[EV_USER_LOG] = {OP_LOG, .arg = 1, .string = 2, .string2 = 3, .stack = 4},
	[EV_SPAN] = {OP_SPAN},
	[EV_SPAN_ALLOC] = {OP_SPAN_ALLOC},
	[EV_SPAN_FREE] = {OP_SPAN_FREE},
	[EV_GO_STACK] = {OP_GO_STACK},
	[EV_GO_STACK_ALLOC] = {OP_GO_STACK_ALLOC},
	[EV_STACK_FREE] = {OP_GO_STACK_FREE},
};

static int no_memory(struct reader *r)
{
	return error_set(r->b->err, ENOMEM, "out of memory");
}

/* --- tables --- */

static int take_string(struct reader *r, uint64_t id, uint32_t *string)
{
	const char *text;
	size_t len;

	*string = 0;
	if (id == 0)
		return 0;
	*string = idmap_get(&r->strings, id);
	if (*string != IDMAP_NONE)
		return 0;
	text = wire_view_string(&r->view, id, &len);
	*string = strtab_add(r->b->strings, text, len);
	if (len && !*string)
		return no_memory(r);
	return idmap_set(&r->strings, id, *string) ? no_memory(r) : 0;
}

/* Messages are hardly ever the same twice: they live as long as the generation. */
static int take_text(struct reader *r, uint64_t id, uint32_t *string)
{
	const char *text;
	size_t len;

	text = wire_view_string(&r->view, id, &len);
	*string = 0;
	if (!len)
		return 0;
	*string = strtab_add(r->b->texts, text, len) | TEXT_ID;
	return *string == TEXT_ID ? no_memory(r) : 0;
}

static int take_stack(struct reader *r, uint64_t id, uint32_t *stack)
{
	struct wire_frame from[MAX_FRAMES];
	struct frame to[MAX_FRAMES];
	size_t n;

	*stack = 0;
	if (id == 0)
		return 0;
	*stack = idmap_get(&r->stacks, id);
	if (*stack != IDMAP_NONE)
		return 0;
	n = wire_view_stack(&r->view, id, from);
	for (size_t i = 0; i < n; i++) {
		to[i] = (struct frame){.pc = from[i].pc, .line = (uint32_t)from[i].line};
		if (take_string(r, from[i].func, &to[i].func) || take_string(r, from[i].file, &to[i].file))
			return -ENOMEM;
	}
	if (stacks_add(&r->b->stacks, to, n, stack) || idmap_set(&r->stacks, id, *stack))
		return no_memory(r);
	return 0;
}

/* --- statuses --- */

static bool has_status(const struct builder *b, uint32_t g)
{
	return b->lives[g].status_at;
}

static int go_status(struct reader *r, const struct wire_event *ev)
{
	struct builder *b = r->b;
	uint32_t g = builder_goroutine(b, ev->args[0]), stack = 0;
	struct op op = {.kind = OP_GO_STATUS, .p = NO_P, .status = (uint8_t)ev->args[2]};

	if (ev->type == EV_GO_STATUS_STACK && take_stack(r, ev->args[3], &stack))
		return -ENOMEM;
	if (g && has_status(b, g))
		builder_g_stack(b, g, stack);
	if (g)
		return 0; /* it was told at the start, or born since */
	if (!ev->args[0])
		return error_set(b->err, EBADMSG, "a goroutine has the number 0");
	if (builder_new_life(b, ev->args[0], &op.g))
		return no_memory(r);
	op.stack = stack;
	/* One that runs does so where it is told, whatever thread is named. */
	if (builder_thread(b, op.status == G_RUNNING ? ev->m : ev->args[1], &op.m))
		return no_memory(r);
	return builder_g_status(b, &op);
}

static int proc_status(struct reader *r, const struct wire_event *ev)
{
	const struct place *place = builder_place(r->b, ev->args[0]);
	struct op op = {.kind = OP_PROC_STATUS, .p = (int32_t)ev->args[0], .status = (uint8_t)ev->args[1]};

	if (!place)
		return -EBADMSG;
	if (place->known)
		return 0;
	if (builder_thread(r->b, ev->m, &op.m))
		return no_memory(r);
	return builder_p_status(r->b, (uint64_t)ev->time, &op);
}

/* --- memory --- */

/* Addresses are in units from where the heap begins (wire/encode.c). */
static bool take_memory(const struct reader *r, const struct wire_event *ev, struct op *op)
{
	bool stack = ev->type >= EV_GO_STACK;
	uint64_t unit = stack ? r->view.stack_bytes : r->view.page_bytes;

	if (!r->b->heap_base)
		return false;
	op->arg = r->b->heap_base + ev->args[0] * unit;
	if (ev->type == EV_SPAN_FREE || ev->type == EV_STACK_FREE)
		return true;
	if (stack) {
		op->arg2 = ev->args[1] >= 1 && ev->args[1] <= 48 ? 1ull << (ev->args[1] - 1) : 0;
		return op->arg2;
	}
	op->arg2 = ev->args[1] << 16 | (ev->args[2] & 0xffff);
	return ev->args[1] >> 40 == 0 && ev->args[2] <= 0xffff;
}

/* --- events --- */

static int take_goroutines(struct reader *r, const struct mapping *map, const struct wire_event *ev,
			   struct op *op)
{
	uint64_t goid = map->birth ? ev->args[map->birth - 1] : map->g2 ? ev->args[map->g2 - 1] : 0;
	uint32_t g;

	if (!map->birth && !map->g2)
		return 0;
	if (!goid)
		return error_set(r->b->err, EBADMSG, "a goroutine has the number 0");
	g = builder_goroutine(r->b, goid);
	if (map->birth && !g && builder_new_life(r->b, goid, &g))
		return no_memory(r);
	if (!g)
		return error_set(r->b->err, EBADMSG, "goroutine %llu is not there", (unsigned long long)goid);
	*(map->self ? &op->g : &op->g2) = g;
	return 0;
}

static int take_places(struct reader *r, const struct mapping *map, const struct wire_event *ev,
		       struct op *op)
{
	if (map->p && !builder_place(r->b, ev->args[map->p - 1]))
		return -EBADMSG;
	if (map->p)
		op->p = (int32_t)ev->args[map->p - 1];
	if (builder_thread(r->b, ev->m, &op->m) ||
	    (map->m2 && builder_thread(r->b, ev->args[map->m2 - 1], &op->m2)))
		return no_memory(r);
	return 0;
}

static int take_tables(struct reader *r, const struct mapping *map, const struct wire_event *ev,
		       struct op *op)
{
	const uint64_t *args = ev->args;
	int ret = 0;

	if (map->string)
		ret = take_string(r, args[map->string - 1], &op->string);
	if (!ret && map->string2)
		ret = take_text(r, args[map->string2 - 1], &op->string2);
	if (!ret && map->stack)
		ret = take_stack(r, args[map->stack - 1], &op->stack);
	if (!ret && map->stack2)
		ret = take_stack(r, args[map->stack2 - 1], &op->stack2);
	return ret;
}

static int step(struct reader *r, const struct wire_event *ev)
{
	const struct mapping *map = &mappings[ev->type];
	struct op op = {.kind = map->kind, .p = NO_P};
	int ret;

	if (!map->kind) {
		r->b->result->no_ops++;
		return 0;
	}
	ret = take_places(r, map, ev, &op);
	if (!ret)
		ret = take_goroutines(r, map, ev, &op);
	if (!ret)
		ret = take_tables(r, map, ev, &op);
	if (ret)
		return ret;
	if (map->arg)
		op.arg = ev->args[map->arg - 1];
	if (map->arg2)
		op.arg2 = ev->args[map->arg2 - 1];
	if (ev->type >= EV_SPAN && !take_memory(r, ev, &op)) {
		r->b->result->no_ops++;
		return 0;
	}
	return builder_step(r->b, (uint64_t)ev->time, &op);
}

static int on_event(void *ctx, const struct wire_event *ev)
{
	struct reader *r = ctx;
	int ret;

	r->b->result->error_offset = ev->offset;
	if (ev->time <= 0 || ev->time > MOST_NS)
		return error_set(r->b->err, EBADMSG, "the times are out of all proportion");
	switch (ev->type) {
	case EV_PROC_STATUS:
		ret = proc_status(r, ev);
		break;
	case EV_GO_STATUS:
	case EV_GO_STATUS_STACK:
		ret = go_status(r, ev);
		break;
	default:
		ret = step(r, ev);
	}
	return ret;
}

/* --- generations --- */

static int add_sample(struct reader *r, const struct wire_sample *sample)
{
	struct op op = {.kind = OP_CPU_SAMPLE, .p = NO_P, .time = (uint64_t)sample->time}, *new;
	uint32_t thread;

	if (sample->time <= 0 || sample->time > MOST_NS)
		return error_set(r->b->err, EBADMSG, "the time of a CPU sample is out of all proportion");
	if (sample->p != WIRE_NO_ID && sample->p <= INT16_MAX)
		op.p = (int32_t)sample->p;
	if ((sample->g && builder_any_goroutine(r->b, sample->g, &op.g)) ||
	    builder_thread(r->b, sample->m, &thread) || take_stack(r, sample->stack, &op.stack))
		return no_memory(r);
	op.m = r->b->threads[thread].tid;
	new = array_push(&r->b->ops);
	if (!new)
		return no_memory(r);
	*new = op;
	return 0;
}

static int on_end(void *ctx)
{
	struct reader *r = ctx;

	for (size_t i = 0; i < r->view.nsamples; i++) {
		int ret = add_sample(r, &r->view.samples[i]);

		if (ret)
			return ret;
	}
	idmap_free(&r->strings);
	idmap_free(&r->stacks);
	return builder_close(r->b, r->view.last);
}

/* Ids of the last generation, if it had no end. */
static void forget_ids(struct reader *r)
{
	idmap_free(&r->strings);
	idmap_free(&r->stacks);
}

static int on_begin(void *ctx, const struct wire_view *view)
{
	struct reader *r = ctx;
	struct builder *b = r->b;

	r->view = *view;
	b->result->error_offset = view->offset;
	if (view->start < 0 || view->start > MOST_NS)
		return error_set(b->err, EBADMSG, "the times are out of all proportion");
	/* Kinds of stop-the-world are told apart by string id, and those die here. */
	if (b->nstw)
		return error_set(b->err, EBADMSG, "a generation begins while the world is stopped");
	if (view->has_heap && !b->heap_base) {
		b->heap_base = view->heap_base;
	}
	b->has_clock = view->has_clock;
	if (view->has_clock) {
		b->clock_ns = (uint64_t)view->clock_time;
		b->wall_sec = view->wall_sec;
		b->wall_nsec = (uint32_t)view->wall_nsec;
	}
	return builder_open(b, (uint64_t)view->start);
}

int from_v2(struct builder *b, const uint8_t *bytes, size_t n)
{
	struct reader r = {.b = b};
	const struct wire_visitor visitor = {.ctx = &r, .begin = on_begin, .event = on_event, .end = on_end};
	struct wire_report *report = calloc(1, sizeof(*report));
	struct error fault = {""};
	uint64_t fault_offset = 0;
	int ret;

	if (!report)
		return no_memory(&r);
	/* First of all, where the good part ends: the last generation must know that it is the last. */
	ret = wire_check(bytes, n, report);
	if (ret) {
		n = report->valid_bytes;
		fault = report->error;
		fault_offset = report->error_offset;
	}
	if (!ret || report->generations)
		ret = wire_visit(bytes, n, &visitor, report);
	if (fault.text[0] && (!ret || !report->generations)) {
		b->result->fault = fault;
		b->result->error_offset = fault_offset;
		ret = -EBADMSG;
	}
	forget_ids(&r);
	free(report);
	return ret;
}
