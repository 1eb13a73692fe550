/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Where goroutines spend their time, by start function: one pass over the ops of each generation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

/* What a goroutine is doing, and since when. */
struct life {
	uint64_t since;
	uint32_t row;    /* index in stats.rows */
	uint32_t reason; /* string id, while waiting */
	uint8_t status;  /* enum g_status, or G_DEAD */
};

struct stats {
	struct life *lives; /* by goroutine index */
	uint32_t nlives;
	struct goroutine_stats *rows;
	size_t nrows, capacity;
	struct map64 row_by_key; /* startpc + 1, so that 0 is a key too; or a name's id | NAMED */
};

struct stats *stats_new(void)
{
	return calloc(1, sizeof(struct stats));
}

void stats_free(struct stats *stats)
{
	if (!stats)
		return;
	free(stats->lives);
	free(stats->rows);
	map64_free(&stats->row_by_key);
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
	if (stats->nrows == stats->capacity) {
		size_t more = stats->capacity ? stats->capacity * 2 : 64;
		struct goroutine_stats *rows = realloc(stats->rows, more * sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		stats->rows = rows;
		stats->capacity = more;
	}
	*row = (uint32_t)stats->nrows;
	stats->rows[stats->nrows++] = (struct goroutine_stats){.startpc = startpc, .name = name};
	return map64_set(&stats->row_by_key, key, *row);
}

static int fit_lives(struct stats *stats, uint32_t n)
{
	struct life *lives;

	if (n <= stats->nlives)
		return 0;
	lives = realloc(stats->lives, n * sizeof(*lives));
	if (!lives)
		return -ENOMEM;
	memset(lives + stats->nlives, 0, (n - stats->nlives) * sizeof(*lives));
	stats->lives = lives;
	stats->nlives = n;
	return 0;
}

static void add_waiting(struct goroutine_stats *row, uint32_t reason, uint64_t ns)
{
	row->waiting_ns += ns;
	for (unsigned i = 0; i < STAT_REASONS; i++) {
		if (row->waiting[i].reason == reason || !row->waiting[i].ns) {
			row->waiting[i].reason = reason;
			row->waiting[i].ns += ns;
			return;
		}
	}
}

static void charge(struct stats *stats, const struct life *life, uint64_t now)
{
	struct goroutine_stats *row = &stats->rows[life->row];
	uint64_t ns = now > life->since ? now - life->since : 0;

	switch (life->status) {
	case G_RUNNING:
		row->running_ns += ns;
		break;
	case G_RUNNABLE:
		row->runnable_ns += ns;
		break;
	case G_SYSCALL:
		row->syscall_ns += ns;
		break;
	case G_WAITING:
		if (ns)
			add_waiting(row, life->reason, ns);
		break;
	}
}

static void enter(struct stats *stats, uint32_t g, uint8_t status, uint32_t reason, uint64_t time)
{
	struct life *life = &stats->lives[g];

	if (!g || life->status == G_DEAD)
		return;
	charge(stats, life, time);
	life->since = time;
	life->status = status;
	life->reason = reason;
}

static int be_born(struct stats *stats, struct model *md, uint32_t g, uint8_t status, uint32_t reason,
		   uint64_t time)
{
	struct life *life = &stats->lives[g];
	uint32_t row;

	if (!g || life->status != G_DEAD)
		return 0;
	if (row_of(stats, md->gs.all[g]->startpc, threads_row_name(md, md->gs.all[g]), &row))
		return -ENOMEM;
	stats->rows[row].count++;
	*life = (struct life){.since = time, .row = row, .status = status, .reason = reason};
	return 0;
}

static int add_op(struct stats *stats, struct model *md, const struct op *op)
{
	switch (op->kind) {
	case OP_GO_STATUS:
		return be_born(stats, md, op->g, op->status, op->string, op->time);
	case OP_GO_CREATE:
		return be_born(stats, md, op->g2, G_RUNNABLE, 0, op->time);
	case OP_GO_CREATE_BLOCKED:
		return be_born(stats, md, op->g2, G_WAITING, 0, op->time);
	case OP_GO_CREATE_SYSCALL:
		return be_born(stats, md, op->g, G_SYSCALL, 0, op->time);
	case OP_GO_START:
	case OP_SYSCALL_END:
		enter(stats, op->g, G_RUNNING, 0, op->time);
		break;
	case OP_GO_STOP:
	case OP_SYSCALL_END_BLOCKED:
		enter(stats, op->g, G_RUNNABLE, 0, op->time);
		break;
	case OP_GO_BLOCK:
		enter(stats, op->g, G_WAITING, op->string, op->time);
		break;
	case OP_GO_UNBLOCK:
		enter(stats, op->g2, G_RUNNABLE, 0, op->time);
		break;
	case OP_SYSCALL_BEGIN:
		enter(stats, op->g, G_SYSCALL, 0, op->time);
		break;
	case OP_GO_SWITCH:
		enter(stats, op->g, G_WAITING, 0, op->time);
		enter(stats, op->g2, G_RUNNING, 0, op->time);
		break;
	case OP_GO_SWITCH_DESTROY:
		enter(stats, op->g, G_DEAD, 0, op->time);
		enter(stats, op->g2, G_RUNNING, 0, op->time);
		break;
	case OP_GO_DESTROY:
	case OP_GO_DESTROY_SYSCALL:
		enter(stats, op->g, G_DEAD, 0, op->time);
		break;
	}
	return 0;
}

int stats_add(struct stats *stats, struct model *md, const struct generation *gen)
{
	int err = fit_lives(stats, md->gs.n);

	for (size_t i = 0; i < gen->nops && !err; i++) {
		const struct op *op = &gen->ops[i];

		md->totals.by_kind[op->kind]++;
		err = add_op(stats, md, op);
	}
	md->totals.ops += gen->nops;
	for (uint32_t g = 1; gen->last && g < stats->nlives; g++)
		enter(stats, g, G_DEAD, 0, gen->end);
	return err;
}

static int busier(const void *a, const void *b)
{
	const struct goroutine_stats *x = a, *y = b;

	return (x->running_ns < y->running_ns) - (x->running_ns > y->running_ns);
}

const struct goroutine_stats *stats_rows(struct stats *stats, size_t *count)
{
	if (stats->nrows)
		qsort(stats->rows, stats->nrows, sizeof(*stats->rows), busier);
	map64_clear(&stats->row_by_key); /* the rows have moved: only to be asked at the end */
	*count = stats->nrows;
	return stats->rows;
}
