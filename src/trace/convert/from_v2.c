/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Converts a v2 file to ops. Nearly every event becomes one op. A file states statuses as late as possible;
 * in the ops, they are at the start of their generation.
 */
#include <errno.h>
#include <stdlib.h>

#include "trace/convert/from.h"
#include "trace/wire/buffer.h"
#include "trace/wire/visit.h"

/* Latest accepted time, ns: 146 years. Later times could overflow sums. */
#define MAX_NS (INT64_MAX / 2)

struct reader_v2 {
	struct builder *b;
	struct wire_view view;
	struct map64 strings, stacks; /* ids of the file's generation -> ids of the builder */
};

static int from_v2_no_memory(struct reader_v2 *r)
{
	return error_set(r->b->err, ENOMEM, "out of memory");
}

/* --- tables --- */

static int from_v2_take_string(struct reader_v2 *r, uint64_t id, uint32_t *string)
{
	const char *text;
	size_t len;

	*string = 0;
	if (id == 0)
		return 0;
	*string = map64_find(&r->strings, id);
	if (*string != MAP64_NONE)
		return 0;
	text = wire_view_string(&r->view, id, &len);
	*string = strtab_add(r->b->strings, text, len);
	if (len && !*string)
		return from_v2_no_memory(r);
	return map64_set(&r->strings, id, *string) ? from_v2_no_memory(r) : 0;
}

/* Messages rarely repeat, so they are stored for one generation only. */
static int from_v2_take_text(struct reader_v2 *r, uint64_t id, uint32_t *string)
{
	const char *text;
	size_t len;

	text = wire_view_string(&r->view, id, &len);
	*string = 0;
	if (!len)
		return 0;
	*string = strtab_add(r->b->texts, text, len) | TEXT_ID;
	return *string == TEXT_ID ? from_v2_no_memory(r) : 0;
}

static int from_v2_take_stack(struct reader_v2 *r, uint64_t id, uint32_t *stack)
{
	struct wire_frame from[MAX_FRAMES];
	struct frame to[MAX_FRAMES];
	size_t n;

	*stack = 0;
	if (id == 0)
		return 0;
	*stack = map64_find(&r->stacks, id);
	if (*stack != MAP64_NONE)
		return 0;
	n = wire_view_stack(&r->view, id, from);
	for (size_t i = 0; i < n; i++) {
		to[i] = (struct frame){.pc = from[i].pc, .line = (uint32_t)from[i].line};
		if (from_v2_take_string(r, from[i].func, &to[i].func) ||
		    from_v2_take_string(r, from[i].file, &to[i].file))
			return -ENOMEM;
	}
	if (stacks_add(&r->b->stacks, to, n, stack) || map64_set(&r->stacks, id, *stack))
		return from_v2_no_memory(r);
	return 0;
}

/* --- statuses --- */

static bool has_status(const struct builder *b, uint32_t g)
{
	return b->lives[g].status_at;
}

static int from_v2_go_status(struct reader_v2 *r, const struct wire_event *ev)
{
	struct builder *b = r->b;
	uint32_t g = builder_goroutine(b, ev->args[0]), stack = 0;
	struct op op = {
		.kind = OP_GO_STATUS, .p = NO_P, .status = (uint8_t)ev->args[2], .time = (uint64_t)ev->time};

	if (ev->type == EV_GO_STATUS_STACK && from_v2_take_stack(r, ev->args[3], &stack))
		return -ENOMEM;
	if (g && has_status(b, g))
		builder_g_stack(b, g, stack);
	if (g)
		return 0; /* stated at the start, or created since then */
	if (!ev->args[0])
		return error_set(b->err, EBADMSG, "a goroutine has the ID 0");
	if (builder_new_life(b, ev->args[0], &op.g))
		return from_v2_no_memory(r);
	op.stack = stack;
	/* A running goroutine is on the event's thread; the status may name another one. */
	if (builder_thread(b, op.status == G_RUNNING ? ev->m : ev->args[1], &op.m))
		return from_v2_no_memory(r);
	return builder_add_g_status(b, &op);
}

static int from_v2_proc_status(struct reader_v2 *r, const struct wire_event *ev)
{
	struct op op = {.kind = OP_PROC_STATUS, .p = (int32_t)ev->args[0], .status = (uint8_t)ev->args[1]};

	if (builder_fit_p(r->b, ev->args[0]))
		return -EBADMSG;
	if (builder_p_status(r->b, op.p) != P_UNKNOWN)
		return 0;
	if (builder_thread(r->b, ev->m, &op.m))
		return from_v2_no_memory(r);
	return builder_add_p_status(r->b, (uint64_t)ev->time, &op);
}

/* --- memory --- */

/* Addresses count units from the start of the heap (trace/wire/events_v2.c). */
static bool take_memory(const struct reader_v2 *r, const struct wire_event *ev, struct op *op)
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

static int take_goroutine(struct reader_v2 *r, uint64_t goid, bool is_new, struct op *op)
{
	uint32_t g;

	if (!goid)
		return error_set(r->b->err, EBADMSG, "a goroutine has the ID 0");
	g = builder_goroutine(r->b, goid);
	if (is_new && !g && builder_new_life(r->b, goid, &g))
		return from_v2_no_memory(r);
	if (!g)
		return error_set(r->b->err, EBADMSG, "goroutine %llu does not exist",
				 (unsigned long long)goid);
	op_set_other(op, g);
	return 0;
}

static int from_v2_take_p(struct reader_v2 *r, uint64_t id, struct op *op)
{
	int ret = builder_fit_p(r->b, id);

	if (!ret)
		op->p = (int32_t)id;
	return ret;
}

static int from_v2_take_arg(struct reader_v2 *r, enum arg_role role, uint64_t value, struct op *op)
{
	switch (role) {
	case ARG_VALUE:
		op->arg = value;
		return 0;
	case ARG_VALUE2:
		op->arg2 = value;
		return 0;
	case ARG_G:
	case ARG_NEW_G:
		return take_goroutine(r, value, role == ARG_NEW_G, op);
	case ARG_P:
		return from_v2_take_p(r, value, op);
	case ARG_M:
		return builder_thread(r->b, value, &op->m2) ? from_v2_no_memory(r) : 0;
	case ARG_STRING:
		return from_v2_take_string(r, value, &op->string);
	case ARG_TEXT:
		return from_v2_take_text(r, value, &op->string2);
	case ARG_STACK:
		return from_v2_take_stack(r, value, &op->stack);
	case ARG_ENTRY:
		return from_v2_take_stack(r, value, &op->stack2);
	default:
		return 0;
	}
}

static int from_v2_step(struct reader_v2 *r, const struct wire_event *ev)
{
	const struct event_spec *spec = event_spec(ev->type);
	struct op op = {.kind = spec->op, .p = NO_P};

	if (builder_thread(r->b, ev->m, &op.m))
		return from_v2_no_memory(r);
	if (op.kind == OP_NONE || (ev->type >= EV_SPAN && !take_memory(r, ev, &op))) {
		r->b->result->no_ops++;
		return 0;
	}
	for (unsigned i = 0; i < spec->nargs; i++) {
		int ret = from_v2_take_arg(r, spec->args[i].role, ev->args[i], &op);

		if (ret)
			return ret;
	}
	return builder_step(r->b, (uint64_t)ev->time, &op);
}

static int from_v2_on_event(void *ctx, const struct wire_event *ev)
{
	struct reader_v2 *r = ctx;
	uint64_t before = r->b->last;
	int ret;

	r->b->result->error_offset = ev->offset;
	if (ev->time <= 0 || ev->time > MAX_NS)
		return error_set(r->b->err, EBADMSG, "the times are implausible");
	switch (ev->type) {
	case EV_PROC_STATUS:
		ret = from_v2_proc_status(r, ev);
		break;
	case EV_GO_STATUS:
	case EV_GO_STATUS_STACK:
		ret = from_v2_go_status(r, ev);
		break;
	default:
		ret = from_v2_step(r, ev);
	}
	if (r->b->last == before)
		builder_no_op(r->b, (uint64_t)ev->time);
	return ret;
}

/* --- generations --- */

static int add_sample(struct reader_v2 *r, const struct wire_sample *sample)
{
	struct op op = {.kind = OP_CPU_SAMPLE, .p = NO_P, .time = (uint64_t)sample->time}, *new;
	uint32_t thread;

	if (sample->time <= 0 || sample->time > MAX_NS)
		return error_set(r->b->err, EBADMSG, "the time of a CPU sample is implausible");
	if (sample->p != WIRE_NO_ID && sample->p <= INT16_MAX)
		op.p = (int32_t)sample->p;
	if ((sample->g && builder_any_goroutine(r->b, sample->g, &op.g)) ||
	    builder_thread(r->b, sample->m, &thread) || from_v2_take_stack(r, sample->stack, &op.stack))
		return from_v2_no_memory(r);
	op.m = r->b->threads[thread].tid;
	new = array_push(&r->b->ops);
	if (!new)
		return from_v2_no_memory(r);
	*new = op;
	return 0;
}

static int from_v2_on_end(void *ctx)
{
	struct reader_v2 *r = ctx;

	for (size_t i = 0; i < r->view.nsamples; i++) {
		int ret = add_sample(r, &r->view.samples[i]);

		if (ret)
			return ret;
	}
	map64_free(&r->strings);
	map64_free(&r->stacks);
	return builder_close(r->b, r->view.last);
}

/* Discards ids of a generation that had no end. */
static void forget_ids(struct reader_v2 *r)
{
	map64_free(&r->strings);
	map64_free(&r->stacks);
}

static int from_v2_on_begin(void *ctx, const struct wire_view *view)
{
	struct reader_v2 *r = ctx;
	struct builder *b = r->b;

	r->view = *view;
	b->result->error_offset = view->offset;
	b->until = view->until > 0 && view->until <= MAX_NS ? (uint64_t)view->until : 0;
	if (view->start < 0 || view->start > MAX_NS)
		return error_set(b->err, EBADMSG, "the times are implausible");
	/* Stop-the-worlds are identified by string id, which is valid for one generation only. */
	if (b->sched.nstw)
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
	struct reader_v2 r = {.b = b};
	const struct wire_visitor visitor = {
		.ctx = &r, .begin = from_v2_on_begin, .event = from_v2_on_event, .end = from_v2_on_end};
	struct wire_report *report = calloc(1, sizeof(*report));
	struct error fault = {""};
	uint64_t fault_offset = 0;
	int ret;

	if (!report)
		return from_v2_no_memory(&r);
	/* Find the end of the valid part first, so that the last valid generation can be marked as last. */
	ret = b->sink.restart ? 0 : wire_check(bytes, n, report);
	if (ret) {
		n = report->valid_bytes;
		fault = report->error;
		fault_offset = report->error_offset;
	}
	if (!ret || report->generations)
		ret = wire_visit(bytes, n, &visitor, report);
	b->result->version = report->version;
	if (fault.text[0] && (!ret || !report->generations)) {
		b->result->fault = fault;
		b->result->error_offset = fault_offset;
		ret = -EBADMSG;
	}
	forget_ids(&r);
	free(report);
	return ret;
}
