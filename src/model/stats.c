/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/program_stats.h"
#include "trace/ops/transition.h"
#include "util/array.h"

/* What a goroutine is doing, and since when. */
struct g_interval {
	uint64_t since, unwatched; /* ns; total unwatched time before `since` */
	uint64_t assists_since;    /* 0 = no mark assist is open */
	uint32_t row;              /* index in stats.rows */
	uint32_t reason;           /* string id, while waiting */
	uint8_t status;            /* enum g_status, or G_DEAD */
	bool is_whole;             /* the status began within the trace */
};

/* The latest interval that was not watched; empty before the first. */
struct unwatched {
	uint64_t since, until;
};

struct stats {
	struct g_interval *intervals; /* by goroutine index */
	uint32_t nintervals;
	struct goroutine_stats *rows;
	size_t nrows, capacity;
	struct map64 row_by_key; /* startpc + 1, so that 0 is a key too; or a name's id | NAMED */
	struct unwatched gap;
	uint64_t unwatched_ns; /* in earlier gaps */
	/* String id of the wait reason of goroutines that were running when a gap began. */
	uint32_t unwatched_reason;
	uint32_t other_reasons; /* string id */
	bool threads;           /* of a target traced as threads */
	struct program_state program;
};

struct stats *stats_new(void)
{
	return calloc(1, sizeof(struct stats));
}

void stats_free(struct stats *stats)
{
	if (!stats)
		return;
	free(stats->intervals);
	free(stats->rows);
	map64_free(&stats->row_by_key);
	program_stats_free(&stats->program);
	free(stats);
}

#define NAMED ((uint64_t)1 << 63)

static int row_of(struct stats *stats, uint64_t startpc, uint32_t name, uint32_t *row)
{
	uint64_t key = name ? NAMED | name : startpc + 1;
	uint32_t *known = map64_get(&stats->row_by_key, key);

	if (known) {
		*row = *known;
		return 0;
	}
	if (array_grow(&stats->rows, &stats->capacity, stats->nrows + 1, sizeof(*stats->rows)))
		return -ENOMEM;
	*row = (uint32_t)stats->nrows;
	stats->rows[stats->nrows++] = (struct goroutine_stats){.startpc = startpc, .name = name};
	return map64_set(&stats->row_by_key, key, *row);
}

static int fit_intervals(struct stats *stats, uint32_t n)
{
	struct g_interval *intervals;

	if (n <= stats->nintervals)
		return 0;
	intervals = realloc(stats->intervals, n * sizeof(*intervals));
	if (!intervals)
		return -ENOMEM;
	memset(intervals + stats->nintervals, 0, (n - stats->nintervals) * sizeof(*intervals));
	stats->intervals = intervals;
	stats->nintervals = n;
	return 0;
}

/* Returns how much of the time before t was not watched, ns. */
static uint64_t unwatched_before(const struct stats *stats, uint64_t t)
{
	const struct unwatched *gap = &stats->gap;
	uint64_t end = t < gap->until ? t : gap->until;

	return stats->unwatched_ns + (end > gap->since ? end - gap->since : 0);
}

void stats_gap_begin(struct stats *stats, uint64_t since, uint32_t reason)
{
	if (stats->gap.since < stats->gap.until)
		stats->unwatched_ns = unwatched_before(stats, stats->gap.until);
	stats->gap = (struct unwatched){.since = since, .until = UINT64_MAX};
	stats->unwatched_reason = reason;
}

void stats_gap_end(struct stats *stats, uint64_t until)
{
	if (stats->gap.until == UINT64_MAX)
		stats->gap.until = until;
}

/* The last slot takes all reasons that do not fit. */
static void add_waiting(struct stats *stats, struct goroutine_stats *row, uint32_t reason, uint64_t ns)
{
	unsigned i = 0;

	while (i < STAT_REASONS - 1 && row->waiting[i].reason && row->waiting[i].reason != reason)
		i++;
	row->waiting_ns += ns;
	row->waiting[i].reason = i < STAT_REASONS - 1 ? reason : stats->other_reasons;
	row->waiting[i].ns += ns;
}

static void add_time(struct stats *stats, struct goroutine_stats *row, const struct g_interval *interval,
		     uint64_t ns)
{
	switch (interval->status) {
	case G_RUNNING:
		row->running_ns += ns;
		break;
	case G_RUNNABLE:
		row->runnable_ns += ns;
		break;
	case G_SYSCALL:
		row->syscall_ns += ns;
		row->running_ns += stats->threads ? ns : 0;
		break;
	case G_WAITING:
		if (interval->reason == stats->unwatched_reason)
			row->not_watched_ns += ns;
		else if (ns)
			add_waiting(stats, row, interval->reason, ns);
		break;
	}
}

static void charge(struct stats *stats, const struct g_interval *interval, uint64_t now)
{
	struct goroutine_stats *row = &stats->rows[interval->row];
	uint64_t all = now > interval->since ? now - interval->since : 0;
	uint64_t unwatched_part = unwatched_before(stats, now) - interval->unwatched;

	if (unwatched_part > all)
		unwatched_part = all;
	row->not_watched_ns += unwatched_part;
	add_time(stats, row, interval, all - unwatched_part);
}

/* Counts the time from runnable to running, if all of it was watched. */
static void add_latency(struct stats *stats, const struct g_interval *interval, uint8_t status, uint64_t now)
{
	if (interval->status == G_RUNNABLE && status == G_RUNNING && interval->is_whole &&
	    now > interval->since && unwatched_before(stats, now) == interval->unwatched)
		latencies_add(&stats->program.latencies, now - interval->since);
}

static void enter(struct stats *stats, uint32_t g, uint8_t status, uint32_t reason, uint64_t time)
{
	struct g_interval *interval = &stats->intervals[g];

	if (!g || interval->status == G_DEAD)
		return;
	charge(stats, interval, time);
	add_latency(stats, interval, status, time);
	if (status == G_DEAD)
		program_g_ended(&stats->program);
	if (status == G_DEAD && interval->assists_since)
		stats->program.stats.assists_ns += time - interval->assists_since;
	interval->since = time;
	interval->unwatched = unwatched_before(stats, time);
	interval->status = status;
	interval->reason = reason;
	interval->is_whole = true;
}

static void add_assist(struct stats *stats, const struct op *op)
{
	struct g_interval *interval = op->g < stats->nintervals ? &stats->intervals[op->g] : NULL;

	if (!interval || interval->status == G_DEAD)
		return;
	switch (op->kind) {
	case OP_GC_ASSIST_BEGIN:
	case OP_GC_ASSIST_ACTIVE:
		interval->assists_since = interval->assists_since ? interval->assists_since : op->time;
		break;
	case OP_GC_ASSIST_END:
		if (interval->assists_since)
			stats->program.stats.assists_ns += op->time - interval->assists_since;
		interval->assists_since = 0;
		break;
	}
}

uint32_t stats_row_name(struct model *md, const struct g *g)
{
	if (g == md->synthetic.g)
		return string_id(md, "[gotrace]"); /* repairs, and its log events */
	return md->front->row_name(md, g);
}

static bool is_synthetic(const struct model *md, uint32_t g)
{
	return md->synthetic.g && md->synthetic.g->index == g;
}

static int count_created(struct stats *stats, struct model *md, uint32_t g, uint8_t status, uint32_t reason,
			 const struct op *op)
{
	struct g_interval *interval = &stats->intervals[g];
	uint32_t row;

	if (!g || interval->status != G_DEAD || is_synthetic(md, g))
		return 0;
	if (row_of(stats, md->entities.gs.all[g]->startpc, stats_row_name(md, md->entities.gs.all[g]), &row))
		return -ENOMEM;
	stats->rows[row].count++;
	program_g_created(&stats->program);
	*interval = (struct g_interval){.since = op->time,
					.unwatched = unwatched_before(stats, op->time),
					.row = row,
					.status = status,
					.reason = reason,
					.is_whole = op->kind != OP_GO_STATUS};
	return 0;
}

/* The synthetic goroutine's P is not one of the target's. */
static int program_add_op(struct stats *stats, const struct model *md, const struct op *op)
{
	const struct p *own = md->synthetic.p;

	if (op->kind == OP_CPU_SAMPLE || (own && op->p == own->id))
		return 0;
	return program_stats_add(&stats->program, op, unwatched_before(stats, op->time));
}

/* Returns why a goroutine waits after the op: string id. */
static uint32_t reason_of(struct model *md, const struct op *op)
{
	bool has_reason = op->kind == OP_GO_BLOCK || op->kind == OP_GO_STATUS;

	if (has_reason && op->string)
		return op->string;
	if (op->kind == OP_GO_STATUS)
		return string_id(md, "since before the trace");
	if (op->kind == OP_GO_BLOCK || md->threads || is_synthetic(md, op->g))
		return reason_unspecified(&md->reasons);
	return string_id(md, "coroutine"); /* as the runtime calls it: created, or left by a switch */
}

static int add_op(struct stats *stats, struct model *md, const struct op *op)
{
	struct g_change changes[2];
	unsigned n = op_changes(op, changes);
	int ret = program_add_op(stats, md, op);

	for (unsigned i = 0; i < n && !ret; i++) {
		uint32_t reason = changes[i].status == G_WAITING ? reason_of(md, op) : 0;

		if (changes[i].appears)
			ret = count_created(stats, md, changes[i].g, changes[i].status, reason, op);
		else
			enter(stats, changes[i].g, changes[i].status, reason, op->time);
	}
	add_assist(stats, op);
	return ret;
}

static void end(struct stats *stats, uint64_t now)
{
	program_stats_end(&stats->program, now, unwatched_before(stats, now));
	for (uint32_t g = 1; g < stats->nintervals; g++)
		enter(stats, g, G_DEAD, 0, now);
}

int stats_add(struct stats *stats, struct model *md, const struct generation *gen)
{
	int err = fit_intervals(stats, md->entities.gs.n);

	stats->threads = md->threads;
	if (!stats->other_reasons)
		stats->other_reasons = string_id(md, "other reasons");
	for (size_t i = 0; i < gen->nops && !err; i++) {
		const struct op *op = &gen->ops[i];

		md->totals.by_kind[op->kind]++;
		err = add_op(stats, md, op);
	}
	md->totals.ops += gen->nops;
	if (gen->last)
		end(stats, gen->end);
	return err;
}

int stats_off_cpu(struct stats *stats, struct model *md, uint32_t g, uint64_t ns)
{
	const struct g *of = md->entities.gs.all[g];
	uint32_t row;

	if (!g || is_synthetic(md, g))
		return 0;
	if (row_of(stats, of->startpc, stats_row_name(md, of), &row))
		return -ENOMEM;
	stats->rows[row].off_cpu_ns += ns;
	return 0;
}

static uint64_t sort_key(const struct goroutine_stats *row, enum stat_order order)
{
	switch (order) {
	case BY_RUNNABLE:
		return row->runnable_ns;
	case BY_BLOCKED:
		return row->waiting_ns;
	case BY_COUNT:
		return row->count;
	default:
		return row->running_ns;
	}
}

static int compare(const void *a, const void *b, void *order)
{
	uint64_t x = sort_key(a, *(enum stat_order *)order), y = sort_key(b, *(enum stat_order *)order);

	return (x < y) - (x > y);
}

const struct goroutine_stats *stats_rows(struct stats *stats, enum stat_order order, size_t *count)
{
	if (stats->nrows)
		qsort_r(stats->rows, stats->nrows, sizeof(*stats->rows), compare, &order);
	map64_clear(&stats->row_by_key); /* the rows have moved: to be called at the end only */
	*count = stats->nrows;
	return stats->rows;
}

const struct program_stats *stats_program(const struct stats *stats)
{
	return &stats->program.stats;
}
