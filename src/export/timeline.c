/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/census.h"
#include "export/ranges.h"
#include "util/array.h"
#include "trace/ops/gap_log.h"
#include "trace/ops/labels.h"
#include "util/map64.h"
#include "trace/wire/buffer.h"

struct op_timeline {
	struct tl_visitor visitor;
	const struct tables *tables; /* of the open generation */
	struct tl_goroutine *lives;  /* by index of ops */
	size_t capacity;
	uint32_t serials;
	struct map64 p_of_thread; /* thread -> P + 1 */
	struct tl_ranges ranges;
	const struct census *census;
	struct strtab *sets;        /* of labels, as text */
	struct map64 index_of_goid; /* living goroutines, at generation goids_of */
	uint64_t generations, goids_of;
	const struct op **samples; /* of the open generation, by time */
	size_t sample_capacity;
	uint64_t start, now;
	bool began, unwatched;
};

struct op_timeline *timeline_new(const struct tl_visitor *visitor, const struct census *census)
{
	struct op_timeline *tl = calloc(1, sizeof(*tl));

	if (!tl)
		return NULL;
	tl->sets = strtab_new();
	if (!tl->sets) {
		free(tl);
		return NULL;
	}
	tl->visitor = *visitor;
	tl->census = census;
	ranges_init(&tl->ranges, visitor);
	return tl;
}

void timeline_free(struct op_timeline *tl)
{
	if (!tl)
		return;
	ranges_free(&tl->ranges);
	map64_free(&tl->p_of_thread);
	map64_free(&tl->index_of_goid);
	strtab_free(tl->sets);
	free(tl->lives);
	free(tl->samples);
	free(tl);
}

uint64_t timeline_start(const struct op_timeline *tl)
{
	return tl->start;
}

uint64_t timeline_end(const struct op_timeline *tl)
{
	return tl->now;
}

/* --- goroutines --- */

static bool is_alive(const struct tl_goroutine *g)
{
	return g->known.state != TL_NONE;
}

/* Returns the slot of an index; NULL for index 0 and when out of memory. */
static struct tl_goroutine *life_at(struct op_timeline *tl, uint32_t index)
{
	if (!index || array_grow(&tl->lives, &tl->capacity, (size_t)index + 1, sizeof(*tl->lives)))
		return NULL;
	return &tl->lives[index];
}

/* The same; the result stays valid while the slot of `other` is asked for. */
static struct tl_goroutine *life_beside(struct op_timeline *tl, uint32_t index, uint32_t other)
{
	life_at(tl, other);
	return life_at(tl, index);
}

/* Returns the goroutine of an op. One known only from samples gets a life without a state. */
static struct tl_goroutine *life_of(struct op_timeline *tl, uint32_t index)
{
	struct tl_goroutine *g = life_at(tl, index);
	uint64_t goid = index < tl->tables->ngoroutines ? tl->tables->goids[index] : 0;

	if (g && (!g->serial || (g->goid != goid && goid)))
		*g = (struct tl_goroutine){.serial = ++tl->serials, .goid = goid};
	return g;
}

static struct tl_goroutine *new_life(struct op_timeline *tl, uint32_t index)
{
	struct tl_goroutine *g = life_at(tl, index);

	if (g)
		*g = (struct tl_goroutine){
			.serial = ++tl->serials,
			.goid = index < tl->tables->ngoroutines ? tl->tables->goids[index] : 0,
		};
	return g;
}

/* --- labels --- */

static int set_labels(struct op_timeline *tl, struct tl_goroutine *g, const struct tl_labels *labels)
{
	bool empty = labels->len == 2; /* {} */
	uint32_t set = empty ? 0 : strtab_add(tl->sets, labels->text, labels->len);

	if (!set && !empty)
		return -ENOMEM;
	if (set == g->labels && !labels->first)
		return 0;
	g->labels = set;
	return tl->visitor.labels ? tl->visitor.labels(tl->visitor.ctx, g, labels) : 0;
}

/* A goroutine appears: sets the labels that the trace records only later. */
static int first_labels(struct op_timeline *tl, struct tl_goroutine *g, uint64_t time)
{
	const struct census *census = tl->census;
	struct tl_labels labels = {.time = time, .held = true};

	if (!census || g->serial >= census->n || !census->goroutines[g->serial].labels)
		return 0;
	labels.text = strtab_get(census->strings, census->goroutines[g->serial].labels, &labels.len);
	return set_labels(tl, g, &labels);
}

static int say_labels(struct op_timeline *tl, struct tl_goroutine *g, struct tl_labels *labels)
{
	labels->first = !g->labels_said;
	g->labels_said = true;
	return set_labels(tl, g, labels);
}

static struct tl_goroutine *find_life(struct op_timeline *tl, uint64_t goid)
{
	const uint32_t *index;

	for (size_t i = 1; tl->goids_of != tl->generations && i < tl->capacity; i++) {
		if (is_alive(&tl->lives[i]) && map64_set(&tl->index_of_goid, tl->lives[i].goid, (uint32_t)i))
			return NULL;
	}
	tl->goids_of = tl->generations;
	index = map64_get(&tl->index_of_goid, goid);
	return index && tl->lives[*index].goid == goid && is_alive(&tl->lives[*index]) ? &tl->lives[*index]
										       : NULL;
}

static int labels_step(struct op_timeline *tl, const struct op *op)
{
	size_t len, at;
	const char *text = tables_string(tl->tables, op->string, &len);
	enum labels_log kind = labels_log_kind(text, len);
	struct tl_labels labels = {.time = op->time, .held = kind != LABELS_LOG_SET};
	struct tl_goroutine *g = op->g && op->g < tl->capacity ? &tl->lives[op->g] : NULL;
	struct labels_read set;
	uint64_t goid;
	int rc = 0, size;

	if (kind == LABELS_LOG_NONE)
		return 0;
	labels.text = text = tables_string(tl->tables, op->string2, &len);
	size = labels_parse(text, len, &set);
	if (size < 0)
		return 0;
	labels.len = at = (size_t)size;
	if (kind != LABELS_LOG_OTHERS)
		return g && is_alive(g) ? say_labels(tl, g, &labels) : 0;
	while (!rc && (goid = labels_next_goid(text, len, &at))) {
		g = find_life(tl, goid);
		rc = g ? say_labels(tl, g, &labels) : 0;
	}
	return rc;
}

static int show(struct op_timeline *tl, struct tl_change *change, struct tl_goroutine *g,
		const struct tl_interval *to)
{
	int rc = 0;

	change->g = g;
	change->to = to;
	if (tl->visitor.change)
		rc = tl->visitor.change(tl->visitor.ctx, change);
	g->now = *to;
	g->ran = g->ran || to->state == TL_RUNNING;
	return rc;
}

/* In a gap, a state is remembered, if known at all, but not shown. */
static int go_to(struct op_timeline *tl, struct tl_change *change, struct tl_goroutine *g,
		 const struct tl_interval *to)
{
	const struct tl_interval unwatched = {
		.state = TL_UNWATCHED, .since = change->time, .named = change->time, .p = NO_P};

	g->known = *to;
	if (!tl->unwatched || to->state == TL_NONE)
		return show(tl, change, g, to);
	return g->now.state == TL_NONE ? show(tl, change, g, &unwatched) : 0;
}

static int32_t p_of(const struct op_timeline *tl, uint32_t m)
{
	const uint32_t *p = map64_get(&tl->p_of_thread, m);

	return p && *p ? (int32_t)*p - 1 : NO_P;
}

static int hold_p(struct op_timeline *tl, uint32_t m, int32_t p)
{
	return m ? map64_set(&tl->p_of_thread, m, (uint32_t)(p + 1)) : 0;
}

static int go_status(struct op_timeline *tl, const struct op *op)
{
	struct tl_goroutine *g = life_at(tl, op->g);
	struct tl_change change = {.time = op->time, .m = op->m, .p = NO_P};
	struct tl_interval to = {
		.state = op->status,
		.before = true,
		.since = op->time,
		.named = op->arg > op->time ? op->arg : op->time,
		.reason = op->string,
		.m = op->m,
		.p = NO_P,
	};

	if (g && is_alive(g))
		return 0;
	g = new_life(tl, op->g);
	if (!g)
		return -ENOMEM;
	if (op->status == G_RUNNING || op->status == G_SYSCALL)
		to.p = p_of(tl, op->m);
	to.stack = op->stack;
	g->entry = op->stack2;
	return first_labels(tl, g, op->time) ? -ENOMEM : go_to(tl, &change, g, &to);
}

/* The state of a goroutine after a scheduler op. */
static const uint8_t states_after[OP_KIND_COUNT] = {
	[OP_GO_CREATE] = TL_RUNNABLE,
	[OP_GO_CREATE_BLOCKED] = TL_WAITING,
	[OP_GO_CREATE_SYSCALL] = TL_SYSCALL,
	[OP_GO_START] = TL_RUNNING,
	[OP_GO_STOP] = TL_RUNNABLE,
	[OP_GO_BLOCK] = TL_WAITING,
	[OP_GO_UNBLOCK] = TL_RUNNABLE,
	[OP_GO_SWITCH] = TL_WAITING,
	[OP_SYSCALL_BEGIN] = TL_SYSCALL,
	[OP_SYSCALL_END] = TL_RUNNING,
	[OP_SYSCALL_END_BLOCKED] = TL_RUNNABLE,
};

static struct tl_interval interval_after(const struct op_timeline *tl, const struct op *op, uint8_t state)
{
	struct tl_interval to = {
		.state = state, .since = op->time, .named = op->time, .p = NO_P, .stack = op->stack};

	if (op->kind == OP_GO_BLOCK || op->kind == OP_GO_STOP)
		to.reason = op->string;
	if (state == TL_RUNNING || state == TL_SYSCALL) {
		to.m = op->m;
		to.p = p_of(tl, op->m);
	}
	return to;
}

static int birth(struct op_timeline *tl, const struct op *op)
{
	bool foreign = op->kind == OP_GO_CREATE_SYSCALL;
	struct tl_goroutine *by = foreign ? NULL : life_beside(tl, op->g, op->g2), *g;
	struct tl_change change = {.time = op->time, .m = op->m, .p = op->p};
	struct tl_interval to;

	g = new_life(tl, foreign ? op->g : op->g2);
	if (!g)
		return -ENOMEM;
	change.by = by && is_alive(by) ? by : NULL;
	g->entry = op->stack2;
	g->born = op->time;
	g->parent = change.by ? by->serial : 0;
	to = interval_after(tl, op, states_after[op->kind]);
	return first_labels(tl, g, op->time) ? -ENOMEM : go_to(tl, &change, g, &to);
}

/* Moves a living goroutine to the state. */
static int move(struct op_timeline *tl, const struct op *op, uint32_t index, uint8_t state)
{
	struct tl_goroutine *by = op->kind == OP_GO_UNBLOCK ? life_beside(tl, op->g, index) : NULL;
	struct tl_goroutine *g = life_at(tl, index);
	struct tl_change change = {.time = op->time, .m = op->m, .p = op->p};
	struct tl_interval to = interval_after(tl, op, state);

	if (!g || !is_alive(g))
		return index && !g ? -ENOMEM : 0;
	change.wakes = op->kind == OP_GO_UNBLOCK;
	change.by = by && is_alive(by) ? by : NULL;
	return go_to(tl, &change, g, &to);
}

/* Three steps, 1 ns apart, as in Go's readers: g2 is woken, g waits or ends, g2 runs. */
static int switch_to(struct op_timeline *tl, const struct op *op)
{
	const struct op wake = {.kind = OP_GO_UNBLOCK,
				.time = op->time,
				.m = op->m,
				.p = op->p,
				.g = op->g,
				.stack = op->stack};
	const struct op start = {.kind = OP_GO_START, .time = op->time + 2, .m = op->m, .p = op->p};
	struct op leave = *op;
	int rc = move(tl, &wake, op->g2, TL_RUNNABLE);

	leave.time++;
	leave.stack = 0;
	if (!rc)
		rc = move(tl, &leave, op->g, states_after[op->kind]);
	return rc ? rc : move(tl, &start, op->g2, TL_RUNNING);
}

static int goroutine_step(struct op_timeline *tl, const struct op *op)
{
	switch (op->kind) {
	case OP_GO_STATUS:
		return go_status(tl, op);
	case OP_GO_CREATE:
	case OP_GO_CREATE_BLOCKED:
	case OP_GO_CREATE_SYSCALL:
		return birth(tl, op);
	case OP_GO_SWITCH:
	case OP_GO_SWITCH_DESTROY:
		return switch_to(tl, op);
	default:
		return move(tl, op, op->kind == OP_GO_UNBLOCK ? op->g2 : op->g, states_after[op->kind]);
	}
}

static int place_step(struct op_timeline *tl, const struct op *op)
{
	switch (op->kind) {
	case OP_PROC_STATUS:
	case OP_PROC_START:
		return hold_p(tl, op->m, op->p);
	case OP_PROC_STOP:
		return hold_p(tl, op->m, NO_P);
	default: /* a steal */
		return hold_p(tl, op->m2, NO_P);
	}
}

/* --- gaps --- */

bool tl_begins_with(const struct tables *tables, uint32_t string, const char *text)
{
	size_t len;
	const char *bytes = tables_string(tables, string, &len);

	return len >= strlen(text) && memcmp(bytes, text, strlen(text)) == 0;
}

static int watch(struct op_timeline *tl, uint64_t time, bool unwatched)
{
	tl->unwatched = unwatched;
	for (size_t i = 1; i < tl->capacity; i++) {
		struct tl_goroutine *g = &tl->lives[i];
		struct tl_change change = {.time = time, .p = NO_P};
		struct tl_interval to = g->known;
		int rc;

		if (!is_alive(g))
			continue;
		if (unwatched)
			to = (struct tl_interval){.state = TL_UNWATCHED, .p = NO_P};
		to.since = to.named = time;
		rc = show(tl, &change, g, &to);
		if (rc)
			return rc;
	}
	return unwatched ? ranges_gap_begin(&tl->ranges, time) : ranges_gap_end(&tl->ranges, time);
}

static int note(struct op_timeline *tl, const struct op *op)
{
	size_t category_len, len;
	const char *category = tables_string(tl->tables, op->string, &category_len);
	const char *text = tables_string(tl->tables, op->string2, &len);
	enum gap_log kind = gap_log_kind(category, category_len, text, len);

	if (kind == (tl->unwatched ? GAP_LOG_ENDS : GAP_LOG_BEGINS))
		return watch(tl, op->time, !tl->unwatched);
	return 0;
}

/* --- all together --- */

static int emit_event(struct op_timeline *tl, const struct op *op)
{
	struct tl_goroutine *g = op->g ? life_of(tl, op->g) : NULL;

	if (op->g && !g)
		return -ENOMEM;
	return tl->visitor.event ? tl->visitor.event(tl->visitor.ctx, op, g) : 0;
}

static int step(struct op_timeline *tl, const struct op *op)
{
	int rc;

	switch (op->kind) {
	case OP_PROC_STATUS:
	case OP_PROC_START:
	case OP_PROC_STOP:
	case OP_PROC_STEAL:
		return place_step(tl, op);
	case OP_GO_STATUS:
	case OP_GO_CREATE ... OP_SYSCALL_END_BLOCKED:
		return goroutine_step(tl, op);
	case OP_STW_BEGIN ... OP_GC_ASSIST_END:
	case OP_TASK_BEGIN ... OP_REGION_END: {
		const struct tl_goroutine *g = op->g ? life_of(tl, op->g) : NULL;

		return op->g && !g ? -ENOMEM : ranges_step(&tl->ranges, op, g ? g->serial : 0);
	}
	case OP_LOG:
		rc = note(tl, op);
		if (!rc)
			rc = labels_step(tl, op);
		return rc ? rc : emit_event(tl, op);
	case OP_NONE:
		return 0;
	default:
		return emit_event(tl, op);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct op *one = *(const struct op *const *)a, *other = *(const struct op *const *)b;

	if (one->time != other->time)
		return one->time < other->time ? -1 : 1;
	return one < other ? -1 : one > other;
}

static int gather_samples(struct op_timeline *tl, const struct generation *gen, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < gen->nops; i++) {
		if (gen->ops[i].kind != OP_CPU_SAMPLE)
			continue;
		if (array_grow(&tl->samples, &tl->sample_capacity, *n + 1, sizeof(*tl->samples)))
			return -ENOMEM;
		tl->samples[(*n)++] = &gen->ops[i];
	}
	if (*n)
		qsort(tl->samples, *n, sizeof(*tl->samples), by_time);
	return 0;
}

static int samples_until(struct op_timeline *tl, uint64_t time, size_t *next, size_t n)
{
	for (; *next < n && tl->samples[*next]->time < time; (*next)++) {
		int rc = emit_event(tl, tl->samples[*next]);

		if (rc)
			return rc;
	}
	return 0;
}

int timeline_generation(struct op_timeline *tl, const struct generation *gen)
{
	size_t nsamples, next = 0;
	int rc = 0;

	if (!tl->began)
		tl->start = gen->start;
	tl->began = true;
	tl->generations++;
	map64_clear(&tl->index_of_goid);
	tl->tables = gen->tables;
	if (tl->visitor.tables)
		rc = tl->visitor.tables(tl->visitor.ctx, gen);
	if (!rc)
		rc = gather_samples(tl, gen, &nsamples);
	for (size_t i = 0; i < gen->nops && !rc; i++) {
		const struct op *op = &gen->ops[i];

		if (op->kind == OP_CPU_SAMPLE)
			continue;
		rc = samples_until(tl, op->time, &next, nsamples);
		if (!rc)
			rc = step(tl, op);
	}
	if (!rc)
		rc = samples_until(tl, UINT64_MAX, &next, nsamples);
	if (gen->end > tl->now)
		tl->now = gen->end;
	return rc;
}

int timeline_finish(struct op_timeline *tl)
{
	const struct tl_interval none = {.state = TL_NONE, .since = tl->now, .p = NO_P};
	int rc = tl->visitor.tables ? tl->visitor.tables(tl->visitor.ctx, NULL) : 0;

	if (!rc)
		rc = ranges_finish(&tl->ranges, tl->now);

	for (size_t i = 1; i < tl->capacity && !rc; i++) {
		struct tl_change change = {.time = tl->now, .final = true, .p = NO_P};

		if (is_alive(&tl->lives[i]))
			rc = show(tl, &change, &tl->lives[i], &none);
	}
	return rc;
}
