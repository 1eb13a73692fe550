/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Encodes ops as wire v1 and v0: flat streams of events whose readers run a state machine of Ps and
 * goroutines. The encoder tracks that state (state_v1.h). For each op, it writes the events that move the
 * readers to the state after the op. A status is expressed by creating the object, once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/wire/encode.h"
#include "trace/wire/state_v1.h"

#define NS_PER_SEC 1000000000

/* Records that the goroutine running on the op's P did something, so its wake-up was not futile. */
static void note_action(struct encoder_v1 *wire, const struct op *op)
{
	switch (op->kind) {
	case OP_GO_START:
	case OP_GO_STOP:
	case OP_GO_BLOCK:
	case OP_CPU_SAMPLE:
		break;
	default:
		if (op->p >= 0)
			g_v1_at(wire, p_v1_at(wire, op->p)->g)->woken = false;
	}
}

static void put_op(struct encoder_v1 *wire, const struct op *op)
{
	note_action(wire, op);
	switch (op->kind) {
	case OP_GO_CREATE ... OP_GO_SWITCH_DESTROY:
		put_v1_scheduler(wire, op);
		break;
	case OP_SYSCALL_BEGIN ... OP_SYSCALL_END_BLOCKED:
		put_v1_syscall(wire, op);
		break;
	case OP_PROC_STATUS:
	case OP_PROCS_CHANGE ... OP_PROC_STEAL:
		put_v1_proc(wire, op);
		break;
	case OP_STW_BEGIN ... OP_HEAP_GOAL:
		put_v1_world(wire, op);
		break;
	case OP_CPU_SAMPLE:
		put_v1_sample(wire, op);
		break;
	default:
		put_v1_annotation(wire, op);
	}
}

static bool encoder_v1_is_status(const struct op *op)
{
	return op->kind == OP_PROC_STATUS || op->kind == OP_GO_STATUS || op->kind == OP_MSPAN ||
	       op->kind == OP_GO_STACK || op->kind == OP_NONE;
}

/* Returns the P of thread m according to the statuses, or NO_P. */
static int32_t proc_of(const struct generation *gen, size_t nstatuses, uint32_t m)
{
	for (size_t i = 0; i < nstatuses; i++)
		if (gen->ops[i].kind == OP_PROC_STATUS && gen->ops[i].m == m && m != NO_M)
			return gen->ops[i].p;
	return NO_P;
}

static void introduce_goroutine(struct encoder_v1 *wire, int32_t p, const struct op *op)
{
	const struct g_v1 *g = g_v1_at(wire, op->g);

	if (g_v1_is_known(g) || g->state == STOPPED)
		return;
	g_v1_create(wire, p, op->g, g_v1_fresh_id(wire, op->g), op);
	if (op->status == G_WAITING || op->status == G_SYSCALL)
		g_v1_waits(wire, p, op->g, op->status == G_SYSCALL);
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
 * Writes the statuses. New goroutines are created first, all on one P before it starts; then the running
 * goroutines start. In the first generation, Gomaxprocs ends the statuses: readers of Go 1.23 and later do
 * not count goroutines created before it as newly created. In later generations, new objects are written to
 * the stream without a P, where no goroutine runs.
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
			introduce_goroutine(wire, where, &gen->ops[i]);
	for (size_t i = 0; i < n; i++)
		if (gen->ops[i].kind == OP_PROC_STATUS)
			put_v1_proc(wire, &gen->ops[i]);
	for (size_t i = 0; i < n; i++) {
		const struct op *op = &gen->ops[i];
		int32_t p =
			op->kind == OP_GO_STATUS && op->status == G_RUNNING ? proc_of(gen, n, op->m) : NO_P;

		if (p != NO_P && g_v1_at(wire, op->g)->state == RUNNABLE && p_v1_at(wire, p)->g == NO_G)
			g_v1_start(wire, p, op->g, 0);
	}
	if (first) {
		wire->now++;
		wire->procs = count_procs(gen, n);
		EVENT(wire, where, V1_GOMAXPROCS, wire->procs, 0);
	}
}

/*
 * Ends all open ranges: viewers up to Go 1.22 crash if a collection, a stop-the-world, a sweep or a
 * goroutine's time on a P has no end.
 */
static void close_all(struct encoder_v1 *wire)
{
	static const struct op nobody = {.p = NO_P};

	wire->now = wire->gen->end + 1; /* after all events, on every P */
	put_v1_stw_end(wire, &nobody);
	put_v1_gc_end(wire, &nobody);
	for (size_t i = 0; i < wire->nps; i++) {
		const struct p_v1 *p = &wire->ps[i];
		const struct op end = {.kind = OP_GC_SWEEP_END, .p = (int32_t)i - 1};

		put_v1_sweep(wire, &end);
		if (p->g != NO_G && g_v1_at(wire, p->g)->in_call)
			proc_v1_block(wire, end.p);
		else if (p->g != NO_G)
			g_v1_leave(wire, end.p, V1_GO_PREEMPT, 0);
	}
}

/* Refuses values that would be out of an array's bounds. The model ensures the rules of the trace. */
static int encoder_v1_check_op(struct encoder_v1 *wire, const struct op *op, const char **why)
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

/* Set of op kinds that use P op.p; one bit per enum op_kind. */
#define BIT(kind) (1ull << (kind))
#define USES_P                                                                                               \
	(BIT(OP_PROC_STATUS) | BIT(OP_PROC_START) | BIT(OP_PROC_STOP) | BIT(OP_PROC_STEAL) | BIT(OP_GO_START))

/* Checks all ops of a generation before writing the first one. */
static int check_ops(struct encoder_v1 *wire, const struct generation *gen, struct error *err)
{
	wire->labels = false;
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];
		const char *why = "P out of range";
		int ret = encoder_v1_check_op(wire, op, &why);

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

/* Readers of the oldest formats multiply the whole span of a trace by 1e9. */
static bool is_too_long(const struct encoder_v1 *wire, const struct generation *gen)
{
	uint64_t first = wire->last_gen ? wire->first_ticks : file_v1_ticks(&wire->file, gen->start);
	uint64_t last = file_v1_ticks(&wire->file, gen->end);

	if (last < wire->file.ticks)
		last = wire->file.ticks;
	/* In v0, each event is at least one tick later than the previous one. */
	return wire->file.format <= WIRE_GO15 && last - first + gen->nops > INT64_MAX / NS_PER_SEC;
}

static int encoder_v1_begin(struct encoder_v1 *wire, const struct generation *gen, struct error *err)
{
	if (wire->file.failed)
		return error_set(err, -wire->file.failed, "the trace was closed by an earlier error: %s",
				 strerror(-wire->file.failed));
	if (gen->number == 0 || (wire->last_gen && gen->number != wire->last_gen + 1))
		return error_set(err, EINVAL, "generation %u cannot follow generation %u", gen->number,
				 wire->last_gen);
	if (is_too_long(wire, gen))
		return error_set(err, EFBIG,
				 "format %s is limited to ten minutes; use --format 1.7 or later, "
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
	int ret = encoder_v1_begin(wire, gen, err);

	if (ret) {
		wire->file.failed = ret;
		return ret;
	}
	if (!wire->last_gen)
		wire->first_ticks = wire->file.ticks = file_v1_ticks(&wire->file, gen->start);
	while (i < gen->nops && encoder_v1_is_status(&gen->ops[i]))
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
