/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/parquet/raw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SORTED = 1 << 18 /* states that are sorted at a time */ };

int raw_init(struct raw_tables *raw, struct lake_rows *rows)
{
	*raw = (struct raw_tables){.rows = rows};
	if (!rows)
		return 0;
	raw->states = malloc(SORTED * sizeof(*raw->states));
	raw->order = malloc(SORTED * sizeof(*raw->order));
	raw->first = calloc(rows->census->n + 1, sizeof(*raw->first));
	return raw->states && raw->order && raw->first ? 0 : -ENOMEM;
}

void raw_free(struct raw_tables *raw)
{
	free(raw->states);
	free(raw->order);
	free(raw->first);
}

/* --- intervals --- */

static int raw_put_state(struct raw_tables *raw, const struct raw_state *state)
{
	struct lake_rows *rows = raw->rows;
	struct pq_file *file = rows->files[LAKE_STATE];

	pq_set_int(file, STATE_TS, rows_wall(rows, state->since));
	pq_set_int(file, STATE_DUR, (int64_t)(state->until - state->since));
	pq_set_int(file, STATE_G, state->serial);
	rows_put_state(rows, LAKE_STATE, STATE_STATE, state->state);
	rows_put_string(rows, LAKE_STATE, STATE_REASON, state->reason);
	rows_put_hash(rows, LAKE_STATE, STATE_STACK, state->stack);
	rows_put_id(rows, LAKE_STATE, STATE_THREAD, state->m);
	if (state->p >= 0)
		pq_set_int(file, STATE_P, state->p);
	pq_set_int(file, STATE_BEGINS, state->begins);
	pq_set_int(file, STATE_ENDS, state->ends);
	rows_put_string(rows, LAKE_STATE, STATE_LOCK, state->lock);
	return pq_row_end(file);
}

/* Writes the states by goroutine, which halves the file. Those of one goroutine already are in order. */
static int put_states(struct raw_tables *raw)
{
	uint32_t total = 0;
	int rc = 0;

	for (size_t i = 0; i < raw->nstates; i++)
		raw->first[raw->states[i].serial]++;
	for (size_t i = 0; i < raw->rows->census->n; i++) {
		uint32_t n = raw->first[i];

		raw->first[i] = total;
		total += n;
	}
	for (size_t i = 0; i < raw->nstates; i++)
		raw->order[raw->first[raw->states[i].serial]++] = (uint32_t)i;
	for (size_t i = 0; i < raw->nstates && !rc; i++)
		rc = raw_put_state(raw, &raw->states[raw->order[i]]);
	memset(raw->first, 0, raw->rows->census->n * sizeof(*raw->first));
	raw->nstates = 0;
	return rc;
}

int raw_state(struct raw_tables *raw, const struct raw_state *state)
{
	if (!raw->rows)
		return 0;
	raw->states[raw->nstates++] = *state;
	return raw->nstates == SORTED ? put_states(raw) : 0;
}

int raw_wakeup(struct raw_tables *raw, const struct tl_change *change, uint32_t stack)
{
	struct lake_rows *rows = raw->rows;

	if (!rows)
		return 0;
	pq_set_int(rows->files[LAKE_WAKEUP], WAKEUP_TS, rows_wall(rows, change->time));
	rows_put_id(rows, LAKE_WAKEUP, WAKEUP_WAKER, change->by ? change->by->serial : 0);
	pq_set_int(rows->files[LAKE_WAKEUP], WAKEUP_G, change->g->serial);
	rows_put_hash(rows, LAKE_WAKEUP, WAKEUP_STACK, stack);
	rows_put_id(rows, LAKE_WAKEUP, WAKEUP_THREAD, change->m);
	if (change->p >= 0)
		pq_set_int(rows->files[LAKE_WAKEUP], WAKEUP_P, change->p);
	return pq_row_end(rows->files[LAKE_WAKEUP]);
}

int raw_goroutine(struct raw_tables *raw, const struct tl_change *change, uint32_t entry)
{
	struct lake_rows *rows = raw->rows;
	const struct tl_goroutine *g = change->g;
	struct pq_file *file = rows ? rows->files[LAKE_GOROUTINE] : NULL;
	size_t len;
	const char *name;
	uint32_t ours;

	if (!rows)
		return 0;
	name = census_name(rows->census, g->serial, &len);
	if (stacktab_text(&rows->stacks.st, name, len, &ours))
		return -ENOMEM;
	pq_set_int(file, GOROUTINE_G, g->serial);
	pq_set_int(file, GOROUTINE_GOID, (int64_t)g->goid);
	rows_put_string(rows, LAKE_GOROUTINE, GOROUTINE_NAME, ours);
	rows_put_id(rows, LAKE_GOROUTINE, GOROUTINE_PARENT, g->parent);
	if (g->born)
		pq_set_int(file, GOROUTINE_CREATED, rows_wall(rows, g->born));
	if (!change->final)
		pq_set_int(file, GOROUTINE_ENDED, rows_wall(rows, change->time));
	rows_put_hash(rows, LAKE_GOROUTINE, GOROUTINE_ENTRY, entry);
	rows_put_id(rows, LAKE_GOROUTINE, GOROUTINE_THREAD, rows->census->goroutines[g->serial].m);
	return pq_row_end(file);
}

/* --- ranges --- */

static int raw_put_gc(struct lake_rows *rows, const struct tl_range *range, uint32_t name, uint32_t stack)
{
	static const char *const kinds[TL_RANGE_KINDS] = {
		[TL_GC] = "gc",         [TL_STW] = "stop-the-world", [TL_SWEEP] = "sweep",
		[TL_ASSIST] = "assist", [TL_GAP] = "not watched",
	};
	struct pq_file *file = rows->files[LAKE_GC];

	pq_set_int(file, GC_TS, rows_wall(rows, range->since));
	pq_set_int(file, GC_DUR, (int64_t)(range->until - range->since));
	rows_put_text(rows, LAKE_GC, GC_KIND, kinds[range->kind]);
	rows_put_string(rows, LAKE_GC, GC_NAME, name);
	rows_put_id(rows, LAKE_GC, GC_G, range->g);
	if (range->p >= 0)
		pq_set_int(file, GC_P, range->p);
	rows_put_hash(rows, LAKE_GC, GC_STACK, stack);
	rows_put_id(rows, LAKE_GC, GC_SWEPT, range->arg);
	rows_put_id(rows, LAKE_GC, GC_RECLAIMED, range->arg2);
	pq_set_int(file, GC_ENDS, !range->open);
	return pq_row_end(file);
}

static int raw_put_region(struct lake_rows *rows, const struct tl_range *range, uint32_t name, uint32_t stack)
{
	struct pq_file *file = rows->files[LAKE_REGION];

	pq_set_int(file, REGION_TS, rows_wall(rows, range->since));
	pq_set_int(file, REGION_DUR, (int64_t)(range->until - range->since));
	rows_put_string(rows, LAKE_REGION, REGION_NAME, name);
	rows_put_id(rows, LAKE_REGION, REGION_G, range->g);
	rows_put_id(rows, LAKE_REGION, REGION_TASK, range->task);
	rows_put_hash(rows, LAKE_REGION, REGION_STACK, stack);
	pq_set_int(file, REGION_ENDS, !range->open);
	return pq_row_end(file);
}

/* Tasks are rows of `request`. */
int raw_range(struct raw_tables *raw, const struct tl_range *range)
{
	uint32_t name, stack;

	if (!raw->rows || range->kind == TL_TASK)
		return 0;
	if (rows_take_string(raw->rows, range->name, &name) ||
	    rows_take_stack(raw->rows, range->stack, &stack))
		return -ENOMEM;
	return range->kind == TL_REGION ? raw_put_region(raw->rows, range, name, stack)
					: raw_put_gc(raw->rows, range, name, stack);
}

/* --- single events --- */

static int raw_put_log(struct lake_rows *rows, const struct op *op, uint32_t serial)
{
	uint32_t category, message, stack;

	if (rows_take_string(rows, op->string, &category) || rows_take_string(rows, op->string2, &message) ||
	    rows_take_stack(rows, op->stack, &stack))
		return -ENOMEM;
	pq_set_int(rows->files[LAKE_LOG], LOG_TS, rows_wall(rows, op->time));
	rows_put_id(rows, LAKE_LOG, LOG_G, serial);
	rows_put_id(rows, LAKE_LOG, LOG_TASK, op->arg);
	rows_put_string(rows, LAKE_LOG, LOG_CATEGORY, category);
	rows_put_string(rows, LAKE_LOG, LOG_MESSAGE, message);
	rows_put_hash(rows, LAKE_LOG, LOG_STACK, stack);
	return pq_row_end(rows->files[LAKE_LOG]);
}

static int raw_put_sample(struct lake_rows *rows, const struct op *op, uint32_t serial)
{
	uint32_t stack;

	if (rows_take_stack(rows, op->stack, &stack))
		return -ENOMEM;
	pq_set_int(rows->files[LAKE_SAMPLE], SAMPLE_TS, rows_wall(rows, op->time));
	rows_put_id(rows, LAKE_SAMPLE, SAMPLE_G, serial);
	rows_put_id(rows, LAKE_SAMPLE, SAMPLE_THREAD, op->m);
	if (op->p >= 0)
		pq_set_int(rows->files[LAKE_SAMPLE], SAMPLE_P, op->p);
	rows_put_hash(rows, LAKE_SAMPLE, SAMPLE_STACK, stack);
	return pq_row_end(rows->files[LAKE_SAMPLE]);
}

static int raw_put_metric(struct lake_rows *rows, const struct op *op, const char *name)
{
	pq_set_int(rows->files[LAKE_METRIC], METRIC_TS, rows_wall(rows, op->time));
	rows_put_text(rows, LAKE_METRIC, METRIC_NAME, name);
	pq_set_int(rows->files[LAKE_METRIC], METRIC_VALUE, (int64_t)op->arg);
	return pq_row_end(rows->files[LAKE_METRIC]);
}

int raw_event(struct raw_tables *raw, const struct op *op, const struct tl_goroutine *g)
{
	uint32_t serial = g ? g->serial : 0;

	if (!raw->rows)
		return 0;
	switch (op->kind) {
	case OP_LOG:
		return raw_put_log(raw->rows, op, serial);
	case OP_CPU_SAMPLE:
		return raw_put_sample(raw->rows, op, serial);
	case OP_HEAP_ALLOC:
		return raw_put_metric(raw->rows, op, "/memory/classes/heap/objects:bytes");
	case OP_HEAP_GOAL:
		return raw_put_metric(raw->rows, op, "/gc/heap/goal:bytes");
	case OP_PROCS_CHANGE:
		return raw_put_metric(raw->rows, op, "/sched/gomaxprocs:threads");
	default:
		return 0;
	}
}

int raw_finish(struct raw_tables *raw)
{
	return raw->rows ? put_states(raw) : 0;
}
