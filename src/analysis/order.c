/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/intervals.h"
#include "analysis/names.h"
#include "code/symbol/library.h"

struct weighed {
	uint64_t weight;
	uint32_t index;
};

const char *table_name(enum table table)
{
	static const char *const names[TABLE_COUNT] = {
		[TABLE_GOROUTINES] = "goroutines",
		[TABLE_WAITS] = "waits",
		[TABLE_LOCKS] = "locks",
		[TABLE_SYSCALLS] = "syscalls",
		[TABLE_TASKS] = "tasks",
		[TABLE_REGIONS] = "regions",
		[TABLE_LEAKS] = "leaks",
		[TABLE_ASSISTS] = "assists",
		[TABLE_ADDRESSES] = "locks_by_address",
		[TABLE_LABELS] = "labels",
		[TABLE_CPU] = "cpu",
	};

	return names[table];
}

/* Groups that run weigh more than groups that only wait. */
static uint64_t weigh_group(const struct group *group)
{
	uint64_t busy = group->spent[ACT_CODE] + group->spent[ACT_ASSIST] + group->spent[ACT_RUNNABLE] +
			group->spent[ACT_SYSCALL];

	return 1 + busy * 64 + activities_ns(group->spent) / 64;
}

bool row_is_idle(const struct analysis *a, const struct row *row)
{
	const struct stack_info *info = &a->stacks[row->stack];
	bool found = false;

	/* So wait the threads of Java's virtual machine itself, for their periodic work. */
	if (row->activity == ACT_COND)
		return stack_calls(a, row->stack, "os::PlatformMonitor::wait(long)");
	if (row->activity != ACT_NETWORK && row->activity != ACT_SELECT)
		return false;
	for (uint32_t i = 0; i < info->n; i++) {
		const char *func = name_text(a, a->frames[info->first + i].func);

		/* The handler itself waits. */
		if (strcmp(func, LIBRARY_HTTP_HANDLER) == 0)
			return false;
		found = found || library_is_idle_loop(func);
	}
	return found;
}

/* Leaves out waits of the runtime and the collector: they are mostly idle workers that wait for work. */
static uint64_t weigh_wait(const struct analysis *a, const struct row *row)
{
	const struct top *function = top_first(row->functions);

	if (row->activity < ACT_NETWORK || (function->n && a->groups[function->key].system))
		return 0;
	/* The runtime's own goroutines, none of whose waits has ended. */
	if (!row->hist.n && library_in_package(name_text(a, stack_site(a, row->stack)->func), "runtime"))
		return 0;
	/* Idle connections come last. */
	if (row_is_idle(a, row))
		return row->hist.sum / 1000000 + 1;
	return row->hist.sum + row->cut_ns / 1000000 + row->hist.n;
}

static bool is_of_runtime(const struct analysis *a, const struct lock *lock)
{
	uint32_t stack = (uint32_t)top_first(lock->waited)->key;

	return library_in_package(name_text(a, stack_site(a, stack)->func), "runtime");
}

static uint64_t order_weigh(const struct analysis *a, enum table table, size_t i)
{
	switch (table) {
	case TABLE_GOROUTINES:
		return a->groups[i].created + a->groups[i].at_start && !a->groups[i].own
			       ? weigh_group(&a->groups[i])
			       : 0;
	case TABLE_WAITS:
		return weigh_wait(a, &a->rows[i]);
	case TABLE_LOCKS:
		return a->resources[i].parent == i && a->resources[i].lock ? a->resources[i].waits.sum : 0;
	case TABLE_SYSCALLS:
		return a->rows[i].activity == ACT_SYSCALL ? a->rows[i].hist.sum + a->rows[i].hist.n +
								    a->rows[i].cut_n - a->rows[i].endless
							  : 0;
	case TABLE_ASSISTS:
		return a->rows[i].activity == ACT_ASSIST ? a->rows[i].hist.sum : 0;
	case TABLE_TASKS:
		return a->instances[i].kind == INSTANCE_TASK ? a->instances[i].hist.sum : 0;
	case TABLE_REGIONS:
		return a->instances[i].kind == INSTANCE_REGION ? a->instances[i].hist.sum : 0;
	case TABLE_ADDRESSES: /* but those of the runtime's own goroutines */
		return is_of_runtime(a, &a->locks[i]) ? 0 : a->locks[i].waits.sum + a->locks[i].waits.n;
	case TABLE_LABELS:
		return a->instances[i].kind == INSTANCE_LABEL ? activities_ns(a->instances[i].spent) : 0;
	case TABLE_CPU:
		return a->cpu.rows[i].self;
	case TABLE_LEAKS:
		return a->groups[i].system ? 0 : a->groups[i].suspects;
	default:
		return 0;
	}
}

static const struct histogram *histogram_of(const struct analysis *a, enum table table, size_t i)
{
	switch (table) {
	case TABLE_WAITS:
	case TABLE_SYSCALLS:
	case TABLE_ASSISTS:
		return &a->rows[i].hist;
	case TABLE_LOCKS:
		return &a->resources[i].waits;
	case TABLE_ADDRESSES:
		return &a->locks[i].waits;
	case TABLE_TASKS:
	case TABLE_REGIONS:
	case TABLE_LABELS:
		return &a->instances[i].hist;
	default:
		return NULL;
	}
}

static uint64_t resort(const struct analysis *a, enum table table, enum report_sort sort, size_t i,
		       uint64_t weight)
{
	const struct histogram *hist = histogram_of(a, table, i);

	if (sort == SORT_COUNT && table == TABLE_GOROUTINES)
		return a->groups[i].created + a->groups[i].at_start;
	if (!hist || sort == SORT_TOTAL)
		return weight;
	return sort == SORT_COUNT ? hist->n : sort == SORT_MAX ? hist->max : histogram_quantile(hist, 0.99);
}

static size_t size_of(const struct analysis *a, enum table table)
{
	switch (table) {
	case TABLE_GOROUTINES:
	case TABLE_LEAKS:
		return a->ngroups;
	case TABLE_LOCKS:
		return a->nresources;
	case TABLE_CPU:
		return a->cpu.nrows;
	case TABLE_ADDRESSES:
		return a->nlocks;
	case TABLE_TASKS:
	case TABLE_REGIONS:
	case TABLE_LABELS:
		return a->ninstances;
	default:
		return a->nrows;
	}
}

static int order_by_weight(const void *one, const void *other)
{
	const struct weighed *a = one, *b = other;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

uint32_t *order_table(const struct analysis *a, enum table table, enum report_sort sort, size_t *n)
{
	size_t size = size_of(a, table);
	struct weighed *all = calloc(size + 1, sizeof(*all));
	uint32_t *order = calloc(size + 1, sizeof(*order));

	*n = 0;
	for (size_t i = table == TABLE_GOROUTINES ? 0 : 1; all && i < size; i++) {
		uint64_t weight = order_weigh(a, table, i);

		if (weight)
			all[(*n)++] = (struct weighed){resort(a, table, sort, i, weight), (uint32_t)i};
	}
	if (all)
		qsort(all, *n, sizeof(*all), order_by_weight);
	for (size_t i = 0; order && i < *n; i++)
		order[i] = all[i].index;
	free(all);
	if (!order)
		*n = 0;
	return order;
}

/* --- lines --- */

static int line_begin(struct row_line *line, const struct row *row, uint32_t index)
{
	*line = (struct row_line){.row = *row, .heaviest = index};
	line->row.hist = (struct histogram){0};
	return histogram_merge(&line->row.hist, &row->hist);
}

static int line_add(struct row_line *line, const struct row *row)
{
	struct row *all = &line->row;

	all->cut_n += row->cut_n;
	all->cut_ns += row->cut_ns;
	all->no_waker += row->no_waker;
	all->no_waker_ns += row->no_waker_ns;
	if (row->cut_max > all->cut_max)
		all->cut_max = row->cut_max;
	return histogram_merge(&all->hist, &row->hist);
}

static uint64_t line_sort_key(const struct row_line *line, enum report_sort sort)
{
	const struct histogram *hist = &line->row.hist;

	switch (sort) {
	case SORT_COUNT:
		return hist->n;
	case SORT_MAX:
		return hist->max;
	case SORT_P99:
		return histogram_quantile(hist, 0.99);
	default:
		return line->weight;
	}
}

static int by_line_weight(const void *one, const void *other)
{
	const struct row_line *a = one, *b = other;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->heaviest < b->heaviest ? -1 : a->heaviest > b->heaviest;
}

/* Adds the row to the line that looks like it, of *n. */
static int lines_add(struct row_line *lines, size_t *n, struct map64 *line_of, uint64_t looks,
		     const struct row *row, uint32_t index)
{
	const uint32_t *known = map64_get(line_of, looks);

	if (known)
		return line_add(&lines[*known], row);
	if (map64_set(line_of, looks, (uint32_t)*n))
		return -ENOMEM;
	return line_begin(&lines[(*n)++], row, index);
}

struct row_line *order_row_lines(const struct analysis *a, enum table table, enum report_sort sort,
				 uint64_t (*looks)(const void *ctx, const struct row *row), const void *ctx,
				 size_t *n)
{
	size_t rows;
	uint32_t *order = order_table(a, table, SORT_TOTAL, &rows);
	struct row_line *lines = calloc(rows + 1, sizeof(*lines));
	struct map64 line_of = {0};
	int rc = order && lines ? 0 : -ENOMEM;

	*n = 0;
	for (size_t i = 0; i < rows && !rc; i++) {
		const struct row *row = &a->rows[order[i]];
		uint64_t key = looks(ctx, row);

		rc = lines_add(lines, n, &line_of, key, row, order[i]);
		if (!rc)
			lines[map64_find(&line_of, key)].weight += order_weigh(a, table, order[i]);
	}
	map64_free(&line_of);
	free(order);
	if (rc) {
		row_lines_free(lines, *n);
		*n = 0;
		return NULL;
	}
	for (size_t i = 0; i < *n; i++)
		lines[i].weight = line_sort_key(&lines[i], sort);
	qsort(lines, *n, sizeof(*lines), by_line_weight);
	return lines;
}

void row_lines_free(struct row_line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		histogram_free(&lines[i].row.hist);
	free(lines);
}

const struct pair *row_ended_by(const struct analysis *a, uint32_t row)
{
	return a->rows[row].heaviest ? &a->pairs[a->rows[row].heaviest] : NULL;
}
