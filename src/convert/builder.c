/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Who there is, and generations: how they open and close. The steps are in steps.c. */
#include "convert/builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/buffer.h"

/*
 * Made-up thread ids begin here: above every id of Linux (PID_MAX_LIMIT of the
 * kernel's threads.h). Ids of a file that are none of Linux get one, too.
 */
#define FIRST_MADE_TID (1u << 22)

/* In ns: what is between a generation's start, its open ranges, and all else (OP_UNIT_NS). */
enum { GAP = OP_UNIT_NS, LEAD = 3 * GAP };

struct op *array_push(struct op_array *array)
{
	struct op *op;

	if (array_grow((void **)&array->ops, &array->capacity, array->n + 1, sizeof(*array->ops)))
		return NULL;
	op = &array->ops[array->n++];
	*op = (struct op){.p = NO_P};
	return op;
}

static int grow_lives(struct builder *b, size_t want)
{
	if (array_grow((void **)&b->lives, &b->life_capacity, want, sizeof(*b->lives)) ||
	    array_grow((void **)&b->goids, &b->goid_capacity, want, sizeof(*b->goids)))
		return -ENOMEM;
	return 0;
}

int builder_init(struct builder *b, const struct convert_sink *sink, struct convert_result *result,
		 struct error *err)
{
	*b = (struct builder){.sink = *sink, .result = result, .err = err, .last = 1};
	b->strings = strtab_new();
	b->texts = strtab_new();
	if (!b->strings || !b->texts || stacks_init(&b->stacks) || grow_lives(b, 1) ||
	    array_grow((void **)&b->threads, &b->thread_capacity, 1, sizeof(*b->threads)))
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
	idmap_free(&b->life_by_goid);
	idmap_free(&b->thread_by_id);
	idmap_free(&b->task_ends);
	free(b->lives);
	free(b->goids);
	free(b->ended);
	free(b->unused);
	free(b->places);
	free(b->threads);
	free(b->p_statuses.ops);
	free(b->g_statuses.ops);
	free(b->actives.ops);
	free(b->ops.ops);
}

/* --- threads, goroutines, Ps --- */

static int add_thread(struct builder *b, uint32_t tid, uint32_t *thread)
{
	if (array_grow((void **)&b->threads, &b->thread_capacity, b->nthreads + 1, sizeof(*b->threads)))
		return -ENOMEM;
	if (!tid)
		tid = FIRST_MADE_TID + b->made_threads++;
	*thread = (uint32_t)b->nthreads++;
	b->threads[*thread] = (struct thread){.tid = tid, .p = NO_P};
	return 0;
}

int builder_new_thread(struct builder *b, uint32_t *thread)
{
	return add_thread(b, 0, thread);
}

int builder_thread(struct builder *b, uint64_t id, uint32_t *thread)
{
	*thread = 0;
	if (id == UINT64_MAX)
		return 0;
	*thread = idmap_get(&b->thread_by_id, id);
	if (*thread != IDMAP_NONE)
		return 0;
	if (add_thread(b, id < FIRST_MADE_TID ? (uint32_t)id : 0, thread))
		return -ENOMEM;
	return idmap_set(&b->thread_by_id, id, *thread);
}

uint32_t builder_goroutine(const struct builder *b, uint64_t goid)
{
	uint32_t g = idmap_get(&b->life_by_goid, goid);

	return g != IDMAP_NONE && b->lives[g].status && b->goids[g] == goid ? g : 0;
}

int builder_new_life(struct builder *b, uint64_t goid, uint32_t *g)
{
	uint32_t before = idmap_get(&b->life_by_goid, goid);
	bool reborn = before != IDMAP_NONE && b->goids[before] == goid;

	if (b->nunused) {
		*g = b->unused[--b->nunused];
	} else {
		if (b->nlives >= IDMAP_NONE || grow_lives(b, b->nlives + 1))
			return -ENOMEM;
		*g = (uint32_t)b->nlives++;
	}
	b->lives[*g] = (struct life){.goid = goid, .reborn = reborn};
	b->goids[*g] = goid;
	return idmap_set(&b->life_by_goid, goid, *g);
}

int builder_any_goroutine(struct builder *b, uint64_t goid, uint32_t *g)
{
	*g = idmap_get(&b->life_by_goid, goid);
	if (*g != IDMAP_NONE && b->goids[*g] == goid)
		return 0;
	if (builder_new_life(b, goid, g) ||
	    array_grow((void **)&b->ended, &b->ended_capacity, b->nended + 1, sizeof(*b->ended)))
		return -ENOMEM;
	b->ended[b->nended++] = *g; /* it never lives: the index is free after the generation */
	return 0;
}

enum { MOST_PLACES = 1 << 16 }; /* the encoders take no more; GOMAXPROCS is at most 1024 */

struct place *builder_place(struct builder *b, uint64_t id)
{
	if (id >= MOST_PLACES) {
		error_set(b->err, EBADMSG, "there is a P with the number %llu, and Go has at most 1024",
			  (unsigned long long)id);
		return NULL;
	}
	if (array_grow((void **)&b->places, &b->place_capacity, (size_t)id + 1, sizeof(*b->places))) {
		error_set(b->err, ENOMEM, "out of memory");
		return NULL;
	}
	if (id >= b->nplaces)
		b->nplaces = (size_t)id + 1;
	return &b->places[id];
}

void builder_g_stack(struct builder *b, uint32_t g, uint32_t stack)
{
	uint32_t at = b->lives[g].status_at;

	if (at && stack)
		b->g_statuses.ops[at - 1].stack = stack;
}

/* --- generations --- */

static int tell_places(struct builder *b)
{
	for (size_t i = 0; i < b->nplaces; i++) {
		const struct place *place = &b->places[i];
		struct op *op = place->known ? array_push(&b->p_statuses) : NULL;

		if (!place->known)
			continue;
		if (!op)
			return -ENOMEM;
		op->kind = OP_PROC_STATUS;
		op->p = (int32_t)i;
		op->status = place->status;
		op->m = b->threads[place->thread].tid;
	}
	return 0;
}

static int tell_lives(struct builder *b)
{
	for (size_t i = 1; i < b->nlives; i++) {
		struct life *life = &b->lives[i];
		struct op *op = life->status ? array_push(&b->g_statuses) : NULL;

		life->birth_at = life->status_at = 0;
		if (!life->status)
			continue;
		if (!op)
			return -ENOMEM;
		op->kind = OP_GO_STATUS;
		op->g = (uint32_t)i;
		op->status = life->status;
		op->m = b->threads[life->thread].tid;
		life->status_at = (uint32_t)b->g_statuses.n;
	}
	return 0;
}

int builder_open(struct builder *b, uint64_t start)
{
	b->generation++;
	b->hint = start;
	b->floor = b->last + 1;
	b->last = b->floor + LEAD + (b->generation == 1 ? MOST_ACTIVES : 0);
	b->p_statuses.n = b->g_statuses.n = b->actives.n = b->ops.n = 0;
	if (tell_places(b) || tell_lives(b))
		return error_set(b->err, ENOMEM, "out of memory");
	return 0;
}

/* Statuses stand first, those of Ps before those of goroutines; then what had begun; then what happened. */
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

/* Where the file says that it begins, but before all that happens in it. */
static uint64_t start_time(const struct builder *b)
{
	uint64_t latest = b->floor, lead = 2 * GAP + b->actives.n, start = b->hint, first = b->last;
	size_t i = 0;

	while (i < b->ops.n && b->ops.ops[i].kind == OP_CPU_SAMPLE)
		i++;
	if (i < b->ops.n)
		first = b->ops.ops[i].time;
	if (first > b->floor + lead)
		latest = first - lead;
	if (start > latest)
		start = latest;
	return start < b->floor ? b->floor : start;
}

static void date_head(struct builder *b, uint64_t start)
{
	size_t nstatuses = b->p_statuses.n + b->g_statuses.n;

	for (size_t i = 0; i < nstatuses + b->actives.n; i++)
		b->ops.ops[i].time = i < nstatuses ? start : start + GAP + (i - nstatuses);
}

/*
 * The wall clock at the start. A file that has none says what its own clock
 * says, which makes a day in January 1970 of it, or the time since the machine
 * was started: order and distances are right.
 */
static void set_clock(const struct builder *b, struct generation *gen)
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

/* Indices of the dead are free from here on; nobody may be found by their ids any more. */
static int bury(struct builder *b)
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

/* Samples stand beside the order, but in their generation; the last one lasts as long as they do. */
static void date_samples(struct builder *b, struct generation *gen)
{
	for (size_t i = 0; i < b->ops.n; i++) {
		struct op *op = &b->ops.ops[i];

		if (op->kind != OP_CPU_SAMPLE)
			continue;
		if (op->time < gen->start)
			op->time = gen->start;
		if (op->time > gen->end && gen->last)
			gen->end = op->time;
		if (op->time > gen->end)
			op->time = gen->end;
	}
}

static void count(struct builder *b)
{
	b->result->generations++;
	b->result->ops += b->ops.n;
	for (size_t i = 0; i < b->ops.n; i++)
		b->result->kinds[b->ops.ops[i].kind]++;
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
	gen.end = b->last > gen.start ? b->last : gen.start;
	date_samples(b, &gen);
	set_clock(b, &gen);
	gen.ops = b->ops.ops;
	gen.nops = b->ops.n;
	tables.goids = b->goids;
	tables.ngoroutines = (uint32_t)b->nlives;
	tables.stacks = b->stacks.all;
	tables.nstacks = (uint32_t)b->stacks.n;
	count(b);
	ret = b->sink.generation(b->sink.ctx, &gen);
	strtab_clear(b->texts);
	if (!ret && bury(b))
		ret = error_set(b->err, ENOMEM, "out of memory");
	return ret;
}
