/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/census.h"
#include "export/ranges.h"
#include "util/array.h"
#include "trace/ops/labels.h"
#include "util/map64.h"
#include "trace/wire/buffer.h"

struct op_timeline {
	struct tl_visitor visitor;
	struct ledger ledger;
	const struct tables *tables; /* of the open generation */
	struct tl_goroutine *lives;  /* by index of ops */
	size_t capacity;
	uint32_t serials;
	struct tl_ranges ranges;
	const struct census *census;
	struct strtab *sets;        /* of labels, as text */
	struct map64 index_of_goid; /* living goroutines, at generation goids_of */
	uint64_t generations, goids_of;
	const struct op **samples; /* of the open generation, by time */
	size_t sample_capacity;
};

static int timeline_on_change(void *ctx, const struct ledger_change *from);
static int timeline_on_gap(void *ctx, uint64_t time, bool begins);

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
	ledger_init(&tl->ledger, &(struct ledger_observer){
					 .ctx = tl, .change = timeline_on_change, .gap = timeline_on_gap});
	return tl;
}

void timeline_free(struct op_timeline *tl)
{
	if (!tl)
		return;
	ranges_free(&tl->ranges);
	ledger_free(&tl->ledger);
	map64_free(&tl->index_of_goid);
	strtab_free(tl->sets);
	free(tl->lives);
	free(tl->samples);
	free(tl);
}

const struct ledger *timeline_ledger(const struct op_timeline *tl)
{
	return &tl->ledger;
}

uint64_t timeline_start(const struct op_timeline *tl)
{
	return tl->ledger.start;
}

uint64_t timeline_end(const struct op_timeline *tl)
{
	return tl->ledger.now;
}

/* --- goroutines --- */

static bool is_alive(const struct tl_goroutine *g)
{
	return g->now.state != LEDGER_NONE;
}

/* Returns the slot of an index; NULL for index 0 and when out of memory. */
static struct tl_goroutine *life_at(struct op_timeline *tl, uint32_t index)
{
	if (!index || array_grow(&tl->lives, &tl->capacity, (size_t)index + 1, sizeof(*tl->lives)))
		return NULL;
	return &tl->lives[index];
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

/* --- states --- */

/* A goroutine appears. */
static int timeline_begin_life(struct op_timeline *tl, struct tl_goroutine *g,
			       const struct ledger_change *from, const struct tl_goroutine *creator)
{
	const struct ledger_g *entry = &tl->ledger.gs[from->g];

	*g = (struct tl_goroutine){
		.serial = ++tl->serials,
		.goid = entry->goid,
		.entry = entry->entry,
		.parent = creator ? creator->serial : 0,
		.born = entry->known.before ? 0 : from->time,
	};
	return first_labels(tl, g, from->time);
}

static int timeline_on_change(void *ctx, const struct ledger_change *from)
{
	struct op_timeline *tl = ctx;
	struct tl_goroutine *g, *by;
	struct tl_change change = {
		.time = from->time,
		.to = from->to,
		.wakes = from->wakes,
		.final = from->final,
		.m = from->op ? from->op->m : NO_M,
		.p = from->op ? from->op->p : NO_P,
	};
	int rc = 0;

	if (from->hidden)
		return 0;
	if (array_grow(&tl->lives, &tl->capacity, tl->ledger.ngs, sizeof(*tl->lives)))
		return -ENOMEM;
	g = &tl->lives[from->g];
	by = from->by ? &tl->lives[from->by] : NULL;
	if (from->from->state == LEDGER_NONE)
		rc = timeline_begin_life(tl, g, from, by);
	change.g = g;
	change.by = by;
	change.begins = !g->now.before && !g->resumed;
	change.ends = !from->final && from->to->state != LEDGER_UNWATCHED;
	if (!rc && tl->visitor.change)
		rc = tl->visitor.change(tl->visitor.ctx, &change);
	g->resumed =
		g->now.state == LEDGER_UNWATCHED || ledger_call_resumes(&tl->ledger, &tl->ledger.gs[from->g]);
	g->now = *from->to;
	g->ran = g->ran || from->to->state == G_RUNNING;
	return rc;
}

/* --- gaps --- */

static int timeline_on_gap(void *ctx, uint64_t time, bool begins)
{
	struct op_timeline *tl = ctx;

	return begins ? ranges_gap_begin(&tl->ranges, time) : ranges_gap_end(&tl->ranges, time);
}

/* --- all together --- */

static int emit_event(struct op_timeline *tl, const struct op *op)
{
	struct tl_goroutine *g = op->g ? life_of(tl, op->g) : NULL;

	if (op->g && !g)
		return -ENOMEM;
	return tl->visitor.event ? tl->visitor.event(tl->visitor.ctx, op, g) : 0;
}

static int timeline_step(struct op_timeline *tl, const struct op *op)
{
	int rc = ledger_step(&tl->ledger, op);

	if (rc)
		return rc;
	switch (op->kind) {
	case OP_NONE ... OP_GO_STATUS:
	case OP_PROC_START ... OP_SYSCALL_END_BLOCKED:
		return 0; /* for the ledger alone */
	case OP_STW_BEGIN ... OP_GC_ASSIST_END:
	case OP_TASK_BEGIN ... OP_REGION_END: {
		const struct tl_goroutine *g = op->g ? life_of(tl, op->g) : NULL;

		return op->g && !g ? -ENOMEM : ranges_step(&tl->ranges, op, g ? g->serial : 0);
	}
	case OP_LOG:
		rc = labels_step(tl, op);
		return rc ? rc : emit_event(tl, op);
	default:
		return emit_event(tl, op);
	}
}

static int timeline_by_time(const void *a, const void *b)
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
		qsort(tl->samples, *n, sizeof(*tl->samples), timeline_by_time);
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

	tl->generations++;
	ledger_begin(&tl->ledger, gen);
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
			rc = timeline_step(tl, op);
	}
	return rc ? rc : samples_until(tl, UINT64_MAX, &next, nsamples);
}

int timeline_finish(struct op_timeline *tl)
{
	int rc = tl->visitor.tables ? tl->visitor.tables(tl->visitor.ctx, NULL) : 0;

	if (!rc)
		rc = ranges_finish(&tl->ranges, tl->ledger.now);
	return rc ? rc : ledger_finish(&tl->ledger);
}
