/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The tables of a lake, as a visitor of the trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/format.h"
#include "export/parquet/raw.h"
#include "export/parquet/requests.h"
#include "export/parquet/sums.h"
#include "trace/ops/own_logs.h"
#include "trace/ops/own_names.h"
#include "trace/wire/buffer.h"

struct lake {
	struct lake_rows rows;
	struct lake_lives lives;
	struct lake_requests requests;
	struct lake_sums sums;
	struct raw_tables raw;
	const char *file;
	uint64_t repaired;
	uint32_t procs; /* the most seen; 0 = unknown */
};

/* --- intervals --- */

/* Reasons of Go's waits, and of threads' (model/threads/syscalls.c). */
static enum spent spent_on(const struct lake *lake, uint8_t state, uint32_t reason)
{
	size_t len;
	const char *text = strtab_get(lake->rows.stacks.st.strings, reason, &len);

	switch (state) {
	case G_RUNNING:
		return SPENT_RUNNING;
	case G_RUNNABLE:
		return SPENT_RUNNABLE;
	case G_SYSCALL:
		return SPENT_SYSCALL;
	case G_WAITING:
		if (strncmp(text, "network", 7) == 0)
			return SPENT_NETWORK;
		return strncmp(text, "sync", 4) == 0 ? SPENT_LOCK : SPENT_OTHER;
	default:
		return SPENT_UNWATCHED;
	}
}

/* What borders on unwatched time is not known to begin or end there. */
static int end_interval(struct lake *lake, struct lake_life *life, const struct tl_change *change)
{
	const struct ledger_interval *now = &change->g->now;
	uint64_t since = now->since < change->time ? now->since : change->time;
	const struct long_wait interval = {.since = since,
					   .until = change->time,
					   .reason = life->reason,
					   .stack = life->stack,
					   .state = now->state};
	const struct raw_state state = {
		.since = since,
		.until = change->time,
		.serial = change->g->serial,
		.reason = life->reason,
		.stack = life->stack,
		.lock = now->state == G_WAITING ? life->lock : 0,
		.m = now->m,
		.p = now->p,
		.state = now->state,
		.begins = change->begins,
		.ends = change->ends,
	};
	int rc;

	life->before = lives_spent(life, change->time);
	rc = sums_interval(&lake->sums, &interval, state.begins && state.ends);
	if (!rc)
		rc = lake_requests_interval(life, &interval);
	return rc ? rc : raw_state(&lake->raw, &state);
}

static int begin_interval(struct lake *lake, struct lake_life *life, const struct tl_change *change)
{
	const struct ledger_interval *to = change->to;

	if (rows_take_string(&lake->rows, to->reason, &life->reason) ||
	    rows_take_stack(&lake->rows, to->stack, &life->stack))
		return -ENOMEM;
	life->state = to->state;
	life->since = to->since;
	life->kind = (uint8_t)spent_on(lake, to->state, life->reason);
	if (to->state != G_WAITING)
		life->lock = 0;
	return change->wakes ? raw_wakeup(&lake->raw, change, life->stack) : 0;
}

static int tables_end_life(struct lake *lake, struct lake_life *life, const struct tl_change *change)
{
	uint32_t entry;
	int rc;

	if (rows_take_stack(&lake->rows, change->g->entry, &entry))
		return -ENOMEM;
	life->gone = true;
	rc = sums_end_labels(&lake->sums, life, change->time);
	lives_release(&lake->lives, life);
	return rc ? rc : raw_goroutine(&lake->raw, change, entry);
}

static int tables_on_change(void *ctx, const struct tl_change *change)
{
	struct lake *lake = ctx;
	struct lake_life *life;
	uint32_t taken;
	int rc = 0;

	if (change->g->serial >= lake->rows.census->n)
		return -EINVAL;
	life = lives_at(&lake->lives, change->g->serial);
	/* What ends with the trace comes when the tables are gone: copy it now. */
	if (!life || rows_take_stack(&lake->rows, change->g->entry, &taken))
		return -ENOMEM;
	if (change->g->now.state != LEDGER_NONE)
		rc = end_interval(lake, life, change);
	if (!rc && change->to->state == LEDGER_NONE)
		return tables_end_life(lake, life, change);
	return rc ? rc : begin_interval(lake, life, change);
}

static int tables_on_labels(void *ctx, const struct tl_goroutine *g, const struct tl_labels *labels)
{
	struct lake *lake = ctx;
	struct lake_life *life = lives_at(&lake->lives, g->serial);

	return life ? sums_labels(&lake->sums, life, labels) : -ENOMEM;
}

/* --- ranges --- */

static int tables_on_begin(void *ctx, const struct tl_range *range)
{
	struct lake *lake = ctx;
	uint32_t taken;

	if (rows_take_stack(&lake->rows, range->stack, &taken) ||
	    rows_take_string(&lake->rows, range->name, &taken))
		return -ENOMEM;
	return range->kind == TL_TASK ? lake_requests_begin(&lake->requests, range) : 0;
}

static int tables_on_end(void *ctx, const struct tl_range *range)
{
	struct lake *lake = ctx;
	const char *off_cpu;
	uint32_t string;
	int rc = 0;

	if (rows_take_string(&lake->rows, range->name, &string))
		return -ENOMEM;
	off_cpu = off_cpu_region_reason(strtab_get(lake->rows.stacks.st.strings, string, NULL));
	if (range->kind == TL_TASK)
		rc = lake_requests_end(&lake->requests, range);
	else if (range->kind == TL_REGION && off_cpu)
		rc = sums_off_cpu(&lake->sums, range, off_cpu);
	return rc ? rc : raw_range(&lake->raw, range);
}

/* --- single events --- */

/* A log may announce what its goroutine is about to wait for (docs/analysis.md). */
static int take_log(struct lake *lake, const struct op *op, struct lake_life *life)
{
	size_t len;
	const char *category = tables_string(lake->rows.tables, op->string, &len);
	const char *message = tables_string(lake->rows.tables, op->string2, &len);
	struct lock_log lock;
	uint64_t events;

	/* Any program can write such a log: as analysis/step.c. */
	if (repair_log_parse(category, message, &events) && events <= UINT32_MAX)
		lake->repaired += events;
	if (life && lake->raw.rows && lock_log_parse(category, message, &lock))
		return rows_take_string(&lake->rows, op->string2, &life->lock);
	return lake_requests_log_event(&lake->requests, op);
}

static int tables_take_sample(struct lake *lake, const struct op *op, struct lake_life *life)
{
	uint32_t stack;

	if (!life || !lake->rows.census->off_cpu)
		return 0;
	if (rows_take_stack(&lake->rows, op->stack, &stack))
		return -ENOMEM;
	life->sampled = stack ? lake->rows.stacks.all[stack].op : life->sampled;
	return 0;
}

static int tables_on_event(void *ctx, const struct op *op, const struct tl_goroutine *g)
{
	struct lake *lake = ctx;
	struct lake_life *life = g ? lives_find(&lake->lives, g->serial) : NULL;
	int rc = 0;

	if (op->kind == OP_LOG)
		rc = take_log(lake, op, life);
	else if (op->kind == OP_CPU_SAMPLE)
		rc = tables_take_sample(lake, op, life);
	else if (op->kind == OP_PROCS_CHANGE && op->arg > lake->procs && op->arg <= 1 << 16)
		lake->procs = (uint32_t)op->arg;
	return rc ? rc : raw_event(&lake->raw, op, g);
}

static int tables_on_tables(void *ctx, const struct generation *gen)
{
	struct lake *lake = ctx;

	lake->rows.tables = gen ? gen->tables : NULL;
	return 0;
}

/* --- rows of the whole --- */

static int tables_put_finding(struct lake *lake, const struct lake_finding *finding)
{
	struct lake_rows *rows = &lake->rows;
	struct pq_file *file = rows->files[LAKE_FINDING];
	uint32_t stack, waker;

	if (lake_stacks_take_frames(&rows->stacks, finding->stack, finding->nstack, finding->most_frames,
				    &stack) ||
	    lake_stacks_take_frames(&rows->stacks, finding->waker_stack, finding->nwaker_stack,
				    finding->most_frames, &waker))
		return -ENOMEM;
	rows_put_text(rows, LAKE_FINDING, FINDING_RULE, finding->rule);
	rows_put_text(rows, LAKE_FINDING, FINDING_LEVEL, finding->level);
	pq_set_double(file, FINDING_IMPACT, finding->impact);
	rows_put_string(rows, LAKE_FINDING, FINDING_SITE, rows->stacks.all[stack].site);
	rows_put_string(rows, LAKE_FINDING, FINDING_BY_SITE, rows->stacks.all[waker].site);
	pq_set_int(file, FINDING_N, (int64_t)finding->n);
	pq_set_int(file, FINDING_TOTAL, (int64_t)finding->total_ns);
	pq_set_int(file, FINDING_P99, (int64_t)finding->p99_ns);
	pq_set_int(file, FINDING_MAX, (int64_t)finding->max_ns);
	if (finding->worst_ns)
		pq_set_int(file, FINDING_WORST, rows_wall(rows, rows->census->start + finding->worst_ns));
	if (rows_put_foreign(rows, LAKE_FINDING, FINDING_TEXT, finding->text) ||
	    rows_put_foreign(rows, LAKE_FINDING, FINDING_NEXT, finding->next))
		return -ENOMEM;
	rows_put_hash(rows, LAKE_FINDING, FINDING_STACK, stack);
	if (stack)
		pq_set_int(file, FINDING_NAMES, rows->stacks.all[stack].names);
	rows_put_hash(rows, LAKE_FINDING, FINDING_WAKER, waker);
	rows_put_text(rows, LAKE_FINDING, FINDING_EXPLAINED, finding->explained_by);
	return pq_row_end(file);
}

static int tables_put_trace(struct lake *lake)
{
	struct lake_rows *rows = &lake->rows;
	const struct lake_options *options = rows->options;
	const struct census *census = rows->census;
	struct pq_file *file = rows->files[LAKE_TRACE];

	pq_set_int(file, TRACE_START, rows_wall(rows, census->start));
	pq_set_int(file, TRACE_END, rows_wall(rows, census->end));
	pq_set_int(file, TRACE_CLOCK_START, (int64_t)census->start);
	rows_put_text(rows, LAKE_TRACE, TRACE_CLOCK, options->wall_recorded ? "trace" : "file");
	if (rows_put_foreign(rows, LAKE_TRACE, TRACE_FILE, lake->file))
		return -ENOMEM;
	pq_set_int(file, TRACE_BYTES, (int64_t)options->file_bytes);
	pq_set_int(file, TRACE_EVENTS, (int64_t)census->nops);
	pq_set_int(file, TRACE_UNWATCHED, (int64_t)census->not_watched_ns);
	pq_set_int(file, TRACE_REPAIRED, (int64_t)lake->repaired);
	if (lake->procs)
		pq_set_int(file, TRACE_PROCS, lake->procs);
	pq_set_int(file, TRACE_THREADS, census->threads);
	if (census->off_cpu)
		pq_set_int(file, TRACE_THROTTLED, (int64_t)lake->sums.throttled_ns);
	for (unsigned i = RESOURCE_PID; i < RESOURCE_ATTRIBUTES; i++) {
		const char *value = options->attributes[i];

		if (value && i == RESOURCE_PID)
			pq_set_int(file, TRACE_ATTRIBUTES, strtoll(value, NULL, 10));
		else if (rows_put_foreign(rows, LAKE_TRACE, TRACE_ATTRIBUTES + i - RESOURCE_PID, value))
			return -ENOMEM;
	}
	rows_put_text(rows, LAKE_TRACE, TRACE_GOTRACE, GOTRACE_VERSION);
	return pq_row_end(file);
}

/* The lines of a stack's frames, as in a report. */
static int frames_text(const struct lake_rows *rows, const struct st_stack *stack, struct buffer *text)
{
	const struct stacktab *st = &rows->stacks.st;

	text->len = 0;
	for (uint32_t i = 0; i < stack->n; i++) {
		const struct st_frame *frame = &st->frames[st->frame_ids[stack->first + i]];
		const struct st_function *function = &st->functions[frame->function];
		size_t func_len, file_len;
		const char *func = strtab_get(st->strings, function->name, &func_len);
		const char *path = strtab_get(st->strings, function->file, &file_len);
		char line[16];
		int n = snprintf(line, sizeof(line), ":%u%s", frame->line, i + 1 < stack->n ? "\n" : "");

		if (buffer_append(text, func, func_len) || buffer_append(text, " ", 1) ||
		    buffer_append(text, path, file_len) || buffer_append(text, line, (size_t)n))
			return -ENOMEM;
	}
	return 0;
}

static int tables_put_stack(struct lake_rows *rows, uint32_t id, struct buffer *text)
{
	const struct stacktab *st = &rows->stacks.st;
	const struct lake_stack *info = &rows->stacks.all[id];
	const struct st_stack *stack = &st->stacks[id];
	const struct st_frame *root = &st->frames[st->frame_ids[stack->first + stack->n - 1]];
	struct pq_file *file = rows->files[LAKE_STACK];

	if (frames_text(rows, stack, text))
		return -ENOMEM;
	pq_set_int(file, STACK_STACK, info->hash);
	pq_set_int(file, STACK_NAMES, info->names);
	rows_put_string(rows, LAKE_STACK, STACK_OP, info->op);
	rows_put_string(rows, LAKE_STACK, STACK_SITE, info->site);
	if (info->site_line)
		pq_set_int(file, STACK_SITE_LINE, info->site_line);
	rows_put_string(rows, LAKE_STACK, STACK_ROOT, st->functions[root->function].name);
	pq_set_int(file, STACK_DEPTH, stack->n);
	pq_set_text(file, STACK_FRAMES, (const char *)text->bytes, text->len);
	return pq_row_end(file);
}

static int put_stacks(struct lake_rows *rows)
{
	struct buffer text = {0};
	int rc = 0;

	for (uint32_t id = 1; id < rows->stacks.n && !rc; id++) {
		if (rows->stacks.all[id].same == id)
			rc = tables_put_stack(rows, id, &text);
	}
	buffer_free(&text);
	return rc;
}

static int lake_finish(void *writer)
{
	struct lake *lake = writer;
	int rc = raw_finish(&lake->raw);

	if (!rc)
		rc = sums_finish(&lake->sums);
	for (size_t i = 0; i < lake->rows.options->nfindings && !rc; i++)
		rc = tables_put_finding(lake, &lake->rows.options->findings[i]);
	if (!rc)
		rc = put_stacks(&lake->rows);
	if (!rc)
		rc = tables_put_trace(lake);
	return rc ? rc : rows_finish(&lake->rows);
}

static void lake_free(void *writer)
{
	struct lake *lake = writer;

	raw_free(&lake->raw);
	lake_requests_free(&lake->requests);
	sums_free(&lake->sums);
	lives_free(&lake->lives);
	rows_free(&lake->rows);
	free(lake);
}

static void *lake_open(const struct export_options *options, const struct census *census,
		       struct tl_visitor *visitor, struct error *err)
{
	struct lake *lake = calloc(1, sizeof(*lake));

	(void)err;
	if (!lake)
		return NULL;
	lake->file = options->title;
	sums_init(&lake->sums, &lake->rows, &lake->lives);
	if (rows_init(&lake->rows, options->lake, census) || lives_init(&lake->lives) ||
	    lake_requests_init(&lake->requests, &lake->rows, &lake->lives) ||
	    raw_init(&lake->raw, options->lake->raw ? &lake->rows : NULL)) {
		lake_free(lake);
		return NULL;
	}
	*visitor = (struct tl_visitor){
		.change = tables_on_change,
		.begin = tables_on_begin,
		.end = tables_on_end,
		.event = tables_on_event,
		.labels = tables_on_labels,
		.tables = tables_on_tables,
	};
	return lake;
}

const struct export_writer export_parquet = {.open = lake_open, .finish = lake_finish, .free = lake_free};
