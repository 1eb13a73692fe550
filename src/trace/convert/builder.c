/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The builder's objects, and the opening and closing of generations. Steps are in steps.c. */
#include "trace/convert/builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/wire/buffer.h"

/*
 * The first invented thread id, above every Linux thread id (PID_MAX_LIMIT in the kernel's threads.h). Thread
 * ids in a file that exceed this limit are replaced, too.
 */
#define FIRST_MADE_TID (1u << 22)

/* Minimum distances in ns between a generation's start, its open ranges, and all other ops (OP_UNIT_NS). */
enum { GAP = OP_UNIT_NS, LEAD = 3 * GAP };

struct op *array_push(struct op_array *array)
{
	struct op *op;

	if (array->n == array->capacity &&
	    array_grow((void **)&array->ops, &array->capacity, array->n + 1, sizeof(*array->ops)))
		return NULL;
	op = &array->ops[array->n++];
	*op = (struct op){.p = NO_P};
	return op;
}

static int grow_lives(struct builder *b, size_t want)
{
	if (sched_fit_gs(&b->sched, want) ||
	    array_grow((void **)&b->lives, &b->life_capacity, want, sizeof(*b->lives)) ||
	    array_grow((void **)&b->goids, &b->goid_capacity, want, sizeof(*b->goids)))
		return -ENOMEM;
	return 0;
}

static int fit_threads(struct builder *b, size_t want)
{
	if (sched_fit_ms(&b->sched, want))
		return -ENOMEM;
	return array_grow((void **)&b->threads, &b->thread_capacity, want, sizeof(*b->threads));
}

int builder_init(struct builder *b, const struct convert_sink *sink, struct convert_result *result,
		 struct error *err)
{
	*b = (struct builder){.sink = *sink,
			      .result = result,
			      .err = err,
			      .last = 1,
			      .sched.exact = true,
			      .last_thread_id = UINT64_MAX};
	b->strings = strtab_new();
	b->texts = strtab_new();
	if (!b->strings || !b->texts || stacks_init(&b->stacks) || grow_lives(b, 1) || fit_threads(b, 1))
		return error_set(err, ENOMEM, "out of memory");
	b->nlives = b->nthreads = 1;
	return 0;
}

void builder_free(struct builder *b)
{
	if (b->strings)
		strtab_free(b->strings);
	if (b->texts)
		strtab_free(b->texts);
	stacks_free(&b->stacks);
	sched_free(&b->sched);
	map64_free(&b->life_by_goid);
	map64_free(&b->thread_by_id);
	map64_free(&b->task_ends);
	free(b->lives);
	free(b->goids);
	free(b->ended);
	free(b->unused);
	free(b->threads);
	free(b->p_statuses.ops);
	free(b->g_statuses.ops);
	free(b->actives.ops);
	free(b->ops.ops);
}

/* --- threads, goroutines, Ps --- */

static int add_thread(struct builder *b, uint32_t tid, uint32_t *thread)
{
	if (fit_threads(b, b->nthreads + 1))
		return -ENOMEM;
	if (!tid)
		tid = FIRST_MADE_TID + b->made_threads++;
	*thread = (uint32_t)b->nthreads++;
	b->threads[*thread] = (struct built_thread){.tid = tid};
	return 0;
}

int builder_new_thread(struct builder *b, uint32_t *thread)
{
	return add_thread(b, 0, thread);
}

int builder_thread(struct builder *b, uint64_t id, uint32_t *thread)
{
	*thread = b->last_thread;
	if (id == b->last_thread_id)
		return 0;
	*thread = 0;
	if (id == UINT64_MAX)
		return 0;
	*thread = map64_find(&b->thread_by_id, id);
	if (*thread == MAP64_NONE && (add_thread(b, id < FIRST_MADE_TID ? (uint32_t)id : 0, thread) ||
				      map64_set(&b->thread_by_id, id, *thread)))
		return -ENOMEM;
	b->last_thread = *thread;
	b->last_thread_id = id;
	return 0;
}

uint32_t builder_goroutine(const struct builder *b, uint64_t goid)
{
	uint32_t g = map64_find(&b->life_by_goid, goid);

	return g != MAP64_NONE && b->sched.gs[g].status && b->goids[g] == goid ? g : 0;
}

int builder_new_life(struct builder *b, uint64_t goid, uint32_t *g)
{
	uint32_t before = map64_find(&b->life_by_goid, goid);
	bool reborn = before != MAP64_NONE && b->goids[before] == goid;

	if (b->nunused) {
		*g = b->unused[--b->nunused];
	} else {
		if (b->nlives >= MAP64_NONE || grow_lives(b, b->nlives + 1))
			return -ENOMEM;
		*g = (uint32_t)b->nlives++;
	}
	b->lives[*g] = (struct g_life){.goid = goid, .reborn = reborn};
	b->goids[*g] = goid;
	return map64_set(&b->life_by_goid, goid, *g);
}

int builder_any_goroutine(struct builder *b, uint64_t goid, uint32_t *g)
{
	*g = map64_find(&b->life_by_goid, goid);
	if (*g != MAP64_NONE && b->goids[*g] == goid)
		return 0;
	if (builder_new_life(b, goid, g) ||
	    array_grow((void **)&b->ended, &b->ended_capacity, b->nended + 1, sizeof(*b->ended)))
		return -ENOMEM;
	/* No goroutine uses this index yet; it becomes free when the generation ends. */
	b->ended[b->nended++] = *g;
	return 0;
}

enum { MAX_PS = 1 << 16 }; /* limit of the encoders; GOMAXPROCS is at most 1024 */

int builder_fit_p(struct builder *b, uint64_t id)
{
	if (id >= MAX_PS)
		return error_set(b->err, EBADMSG, "P %llu is out of range: Go has at most 1024 Ps",
				 (unsigned long long)id);
	if (sched_fit_ps(&b->sched, (size_t)id + 1))
		return error_set(b->err, ENOMEM, "out of memory");
	return 0;
}

void builder_g_stack(struct builder *b, uint32_t g, uint32_t stack)
{
	uint32_t at = b->lives[g].status_at;

	if (at && stack)
		b->g_statuses.ops[at - 1].stack = stack;
}

/* --- generations --- */

static int state_ps(struct builder *b)
{
	for (size_t i = 0; i < b->sched.nps; i++) {
		const struct sched_p *p = &b->sched.ps[i];
		struct op *op = p->status != P_UNKNOWN ? array_push(&b->p_statuses) : NULL;

		if (p->status == P_UNKNOWN)
			continue;
		if (!op)
			return -ENOMEM;
		op->kind = OP_PROC_STATUS;
		op->p = (int32_t)i;
		op->status = p->status;
		op->m = b->threads[p->m].tid;
	}
	return 0;
}

static int state_goroutines(struct builder *b)
{
	for (size_t i = 1; i < b->nlives; i++) {
		const struct sched_g *g = &b->sched.gs[i];
		struct g_life *life = &b->lives[i];
		struct op *op = g->status != G_DEAD ? array_push(&b->g_statuses) : NULL;

		life->birth_at = life->status_at = 0;
		if (g->status == G_DEAD)
			continue;
		if (!op)
			return -ENOMEM;
		op->kind = OP_GO_STATUS;
		op->g = (uint32_t)i;
		op->status = g->status;
		op->m = b->threads[g->m].tid;
		life->status_at = (uint32_t)b->g_statuses.n;
	}
	return 0;
}

int builder_open(struct builder *b, uint64_t start)
{
	b->sched.first_generation = b->generation++ == 0;
	b->hint = start;
	b->floor = b->last + 1;
	b->last = b->floor;
	if (!b->sink.source_times)
		b->last += LEAD + (b->generation == 1 ? MAX_ACTIVES : 0);
	b->p_statuses.n = b->g_statuses.n = b->actives.n = b->ops.n = 0;
	if (state_ps(b) || state_goroutines(b))
		return error_set(b->err, ENOMEM, "out of memory");
	return 0;
}

/* Order of ops: statuses of Ps, statuses of goroutines, open ranges, all others. */
static int compose(struct builder *b)
{
	struct op_array *all = &b->ops;
	const struct op_array *parts[] = {&b->p_statuses, &b->g_statuses, &b->actives};
	size_t head = b->p_statuses.n + b->g_statuses.n + b->actives.n, at = 0;

	if (array_grow((void **)&all->ops, &all->capacity, all->n + head, sizeof(*all->ops)))
		return -ENOMEM;
	if (all->n)
		memmove(all->ops + head, all->ops, all->n * sizeof(*all->ops));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i]->n)
			memcpy(all->ops + at, parts[i]->ops, parts[i]->n * sizeof(*all->ops));
		at += parts[i]->n;
	}
	all->n += head;
	return 0;
}

/* Returns the generation's start: that of the file, or earlier if needed to precede all ops. */
static uint64_t start_time(const struct builder *b)
{
	uint64_t latest = b->floor, lead = b->sink.source_times ? 0 : 2 * GAP + b->actives.n, start = b->hint;
	size_t i = 0;

	while (i < b->ops.n && b->ops.ops[i].kind == OP_CPU_SAMPLE)
		i++;
	if (i == b->ops.n) /* no ops but samples */
		latest = start;
	else if (b->ops.ops[i].time > b->floor + lead)
		latest = b->ops.ops[i].time - lead;
	if (start > latest)
		start = latest;
	return start < b->floor ? b->floor : start;
}

static void date_head(struct builder *b, uint64_t start)
{
	size_t nstatuses = b->p_statuses.n + b->g_statuses.n;

	for (size_t i = 0; i < nstatuses + b->actives.n; i++)
		b->ops.ops[i].time =
			i < nstatuses || b->sink.source_times ? start : start + GAP + (i - nstatuses);
}

/*
 * Sets the wall clock at the start. A file without one uses its own clock, which gives a day in January 1970
 * or the time since boot; order and durations are still right.
 */
static void builder_set_clock(const struct builder *b, struct generation *gen)
{
	int64_t ns = (int64_t)(gen->start - b->clock_ns) + (int64_t)b->wall_nsec;
	int64_t sec = (int64_t)b->wall_sec + ns / 1000000000;

	ns %= 1000000000;
	if (ns < 0) {
		ns += 1000000000;
		sec--;
	}
	gen->mono_ns = gen->start;
	gen->wall_sec = (uint64_t)(sec < 0 ? 0 : sec);
	gen->wall_nsec = (uint32_t)ns;
}

/* Frees the indices of dead goroutines. Their ids can no longer be looked up. */
static int free_dead_indices(struct builder *b)
{
	if (array_grow((void **)&b->unused, &b->unused_capacity, b->nunused + b->nended, sizeof(*b->unused)))
		return -ENOMEM;
	for (size_t i = 0; i < b->nended; i++) {
		b->goids[b->ended[i]] = 0;
		b->unused[b->nunused++] = b->ended[i];
	}
	b->nended = 0;
	return 0;
}

/* CPU samples are not ordered but must be within their generation. The last generation is extended to fit. */
static void date_sample(struct op *op, struct generation *gen)
{
	if (op->time < gen->start)
		op->time = gen->start;
	if (op->time > gen->end && gen->last)
		gen->end = op->time;
	if (op->time > gen->end)
		op->time = gen->end;
}

/* Counts and dates in one pass, because a generation may be larger than the CPU caches. */
static void builder_count(struct builder *b, struct generation *gen)
{
	b->result->generations++;
	b->result->ops += b->ops.n;
	for (size_t i = 0; i < b->ops.n; i++) {
		struct op *op = &b->ops.ops[i];

		b->result->kinds[op->kind]++;
		if (op->kind == OP_CPU_SAMPLE)
			date_sample(op, gen);
	}
}

static uint64_t last_time(const struct builder *b, uint64_t start)
{
	size_t nhead = b->p_statuses.n + b->g_statuses.n + b->actives.n;
	uint64_t head = nhead ? b->ops.ops[nhead - 1].time : start;

	return b->last > head ? b->last : head;
}

int builder_close(struct builder *b, bool last)
{
	struct tables tables = {.strings = b->strings, .texts = b->texts, .heap_base = b->heap_base};
	struct generation gen = {.number = b->generation, .last = last, .tables = &tables};
	int ret;

	gen.start = start_time(b);
	if (compose(b))
		return error_set(b->err, ENOMEM, "out of memory");
	date_head(b, gen.start);
	b->last = last_time(b, gen.start);
	gen.end = b->last;
	/* Ranges that are open after the last op last until the end of the file. */
	if (last && b->until > gen.end)
		gen.end = b->until;
	builder_count(b, &gen);
	builder_set_clock(b, &gen);
	gen.ops = b->ops.ops;
	gen.nops = b->ops.n;
	tables.goids = b->goids;
	tables.ngoroutines = (uint32_t)b->nlives;
	tables.stacks = b->stacks.all;
	tables.nstacks = (uint32_t)b->stacks.n;
	ret = b->sink.generation(b->sink.ctx, &gen);
	strtab_clear(b->texts);
	if (!ret && free_dead_indices(b))
		ret = error_set(b->err, ENOMEM, "out of memory");
	return ret;
}
