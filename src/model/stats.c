/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "model/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/program_stats.h"
#include "trace/ledger/ledger.h"
#include "trace/ops/gap_log.h"
#include "util/array.h"

/* One life of a goroutine. */
struct life {
	uint64_t assist_since; /* ns; 0 = it does not run in a mark assist */
	uint32_t row;          /* index in stats.rows */
	uint32_t reason;       /* string id: why it waits */
	bool counts;           /* it exists, and is not gotrace's own */
	bool assists;
};

struct stats {
	struct model *md;
	struct ledger ledger;
	struct life *lives; /* by goroutine index */
	size_t nlives;
	struct goroutine_stats *rows;
	size_t nrows, capacity;
	struct map64 row_by_key; /* startpc + 1, so that 0 is a key too; or a name's id | NAMED */
	uint32_t unwatched_reason, other_reasons; /* string ids */
	struct program_state program;
};

static int stats_on_change(void *ctx, const struct ledger_change *change);
static int on_proc(void *ctx, int32_t p, const struct ledger_p *was, uint64_t time);

struct stats *stats_new(void)
{
	struct stats *stats = calloc(1, sizeof(*stats));

	if (stats)
		ledger_init(
			&stats->ledger,
			&(struct ledger_observer){.ctx = stats, .change = stats_on_change, .proc = on_proc});
	return stats;
}

void stats_free(struct stats *stats)
{
	if (!stats)
		return;
	ledger_free(&stats->ledger);
	free(stats->lives);
	free(stats->rows);
	map64_free(&stats->row_by_key);
	histogram_free(&stats->program.latency);
	free(stats);
}

#define NAMED ((uint64_t)1 << 63)

uint32_t stats_row_name(struct model *md, const struct g *g)
{
	if (g == md->synthetic.g)
		return string_id(md, "[gotrace]"); /* repairs, and its log events */
	return md->front->row_name(md, g);
}

/* Gets the index of the row of a goroutine. Returns 0 or -ENOMEM. */
static int stats_row_of(struct stats *stats, struct model *md, const struct g *g, uint32_t *row)
{
	struct goroutine_stats new = {.startpc = g->startpc, .name = stats_row_name(md, g)};
	uint64_t key = new.name ? NAMED | new.name : new.startpc + 1;
	uint32_t *known = map64_get(&stats->row_by_key, key);

	if (known) {
		*row = *known;
		return 0;
	}
	if (array_grow(&stats->rows, &stats->capacity, stats->nrows + 1, sizeof(*stats->rows)))
		return -ENOMEM;
	if (md->options.is_system)
		new.system = md->options.is_system(md->options.ctx, &new);
	*row = (uint32_t)stats->nrows;
	stats->rows[stats->nrows++] = new;
	return map64_set(&stats->row_by_key, key, *row);
}

/* --- time --- */

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

static void stats_charge(struct stats *stats, const struct life *life, uint8_t state, uint64_t ns)
{
	struct goroutine_stats *row = &stats->rows[life->row];

	switch (state) {
	case G_RUNNING:
		row->running_ns += ns;
		break;
	case G_RUNNABLE:
		row->runnable_ns += ns;
		break;
	case G_SYSCALL:
		row->syscall_ns += ns;
		row->running_ns += stats->md->threads ? ns : 0;
		break;
	case G_WAITING:
		/* It was running before a gap, and what it did since then is not known. */
		if (life->reason == stats->unwatched_reason)
			row->not_watched_ns += ns;
		else if (ns)
			add_waiting(stats, row, life->reason, ns);
		break;
	case LEDGER_UNWATCHED:
		row->not_watched_ns += ns;
		break;
	}
}

/* Counts the time from runnable to running, if all of it was watched. */
static int stats_add_latency(struct stats *stats, const struct ledger_change *change)
{
	const struct ledger_interval *from = change->from;

	if (from->state != G_RUNNABLE || change->to->state != G_RUNNING || from->before ||
	    change->time - from->since <= LEDGER_UNSEEN_WAKE_NS || from->since != change->was.since ||
	    stats->rows[stats->lives[change->g].row].system)
		return 0;
	return histogram_add(&stats->program.latency, change->time - from->since);
}

static void end_assist(struct stats *stats, struct life *life, uint64_t now)
{
	if (life->assist_since && !stats->rows[life->row].system)
		stats->program.stats.assists_ns += now - life->assist_since;
	life->assist_since = 0;
}

static void step_assist(struct stats *stats, const struct op *op)
{
	struct life *life = op->g < stats->nlives ? &stats->lives[op->g] : NULL;
	const struct ledger_g *g = ledger_alive(&stats->ledger, op->g);

	if (!life || !life->counts || !g)
		return;
	end_assist(stats, life, op->time);
	life->assists = op->kind != OP_GC_ASSIST_END;
	if (life->assists && g->known.state == G_RUNNING)
		life->assist_since = op->time;
}

/* --- lives --- */

/* Returns why a goroutine waits after the op: string id. */
static uint32_t reason_of(struct model *md, const struct ledger_interval *known, const struct op *op)
{
	bool has_reason = op->kind == OP_GO_BLOCK || op->kind == OP_GO_STATUS;

	if (has_reason && op->string)
		return op->string;
	if (op->kind == OP_GO_STATUS)
		return string_id(md, "since before the trace");
	if (op->kind == OP_GO_BLOCK || md->threads || known->before)
		return reason_unspecified(&md->reasons);
	return string_id(md, "coroutine"); /* as the runtime calls it: created, or left by a switch */
}

static int appear(struct stats *stats, const struct ledger_change *change)
{
	const struct ledger_g *g = &stats->ledger.gs[change->g];
	struct life *life;
	int rc;

	if (array_grow(&stats->lives, &stats->nlives, (size_t)change->g + 1, sizeof(*stats->lives)))
		return -ENOMEM;
	life = &stats->lives[change->g];
	*life = (struct life){.counts = !ledger_is_own(g)};
	if (!life->counts)
		return 0;
	rc = stats_row_of(stats, stats->md, stats->md->entities.gs.all[change->g], &life->row);
	if (rc)
		return rc;
	stats->rows[life->row].count++;
	if (!stats->rows[life->row].system)
		program_g_appears(&stats->program, !op_is_creation(change->op->kind));
	return 0;
}

static int stats_on_change(void *ctx, const struct ledger_change *change)
{
	struct stats *stats = ctx;
	const struct ledger_interval *known = &stats->ledger.gs[change->g].known;
	struct life *life;
	int rc = change->from->state == LEDGER_NONE ? appear(stats, change) : 0;

	if (rc || !stats->lives[change->g].counts)
		return rc;
	life = &stats->lives[change->g];
	if (!change->hidden) {
		stats_charge(stats, life, change->from->state, change->time - change->from->since);
		rc = stats_add_latency(stats, change);
	}
	end_assist(stats, life, change->time);
	if (!change->op)
		return rc; /* a gap begins or ends, or the trace ends: it is in the same state still */
	if (known->state == G_RUNNING && life->assists)
		life->assist_since = change->time;
	if (known->state == G_WAITING)
		life->reason = reason_of(stats->md, known, change->op);
	if (known->state == LEDGER_NONE && !stats->rows[life->row].system)
		program_g_ends(&stats->program);
	return rc;
}

/* --- the program --- */

/* The synthetic goroutine's P is not one of the target's. */
static int on_proc(void *ctx, int32_t p, const struct ledger_p *was, uint64_t time)
{
	struct stats *stats = ctx;
	const struct p *own = stats->md->synthetic.p;
	uint64_t unwatched = ledger_unwatched_before(&stats->ledger, time) - was->unwatched;

	if (!own || own->id != p)
		program_charge_p(&stats->program, was->status, time - was->since, unwatched);
	return 0;
}

static int step_op(struct stats *stats, const struct op *op)
{
	const struct ledger *ledger = &stats->ledger;

	if (op->kind == OP_CPU_SAMPLE)
		return 0;
	program_step(&stats->program, op,
		     op->time - ledger->start - ledger_unwatched_before(ledger, op->time));
	if (op->kind >= OP_GC_ASSIST_ACTIVE && op->kind <= OP_GC_ASSIST_END)
		step_assist(stats, op);
	return ledger_step(&stats->ledger, op);
}

int stats_end(struct stats *stats)
{
	int rc = ledger_finish(&stats->ledger);

	program_end(&stats->program, &stats->ledger);
	if (stats->md) {
		stats->md->totals.no_calls_ns = stats->ledger.no_calls_ns;
		stats->md->totals.few_frames_ns = stats->ledger.few_frames_ns;
	}
	return rc;
}

int stats_add(struct stats *stats, struct model *md, const struct generation *gen)
{
	int rc = 0;

	stats->md = md;
	if (!stats->other_reasons) {
		stats->other_reasons = string_id(md, "other reasons");
		stats->unwatched_reason = string_id(md, GAP_REASON);
	}
	ledger_begin(&stats->ledger, gen);
	for (size_t i = 0; i < gen->nops && !rc; i++) {
		md->totals.by_kind[gen->ops[i].kind]++;
		md->totals.ops += gen->ops[i].kind != OP_NONE; /* a place that was not needed */
		rc = step_op(stats, &gen->ops[i]);
	}
	return gen->last && !rc ? stats_end(stats) : rc;
}

int stats_off_cpu(struct stats *stats, struct model *md, uint32_t g, uint64_t ns)
{
	uint32_t row;

	if (!g || (md->synthetic.g && md->synthetic.g->index == g))
		return 0;
	if (stats_row_of(stats, md, md->entities.gs.all[g], &row))
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

static int stats_compare(const void *a, const void *b, void *order)
{
	uint64_t x = sort_key(a, *(enum stat_order *)order), y = sort_key(b, *(enum stat_order *)order);

	return (x < y) - (x > y);
}

const struct goroutine_stats *stats_rows(struct stats *stats, enum stat_order order, size_t *count)
{
	if (stats->nrows)
		qsort_r(stats->rows, stats->nrows, sizeof(*stats->rows), stats_compare, &order);
	map64_clear(&stats->row_by_key); /* the rows have moved: to be called at the end only */
	*count = stats->nrows;
	return stats->rows;
}

const struct program_stats *stats_program(const struct stats *stats)
{
	return &stats->program.stats;
}
