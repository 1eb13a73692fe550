/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Most of the time of a handler of HTTP or gRPC is one wait at one place: of requests that are no tasks, by
 * their stacks. A healthy server waits for its back ends, too, so it is no more than information.
 */
#include <stdlib.h>

#include "analysis/cpu.h"
#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/intervals.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

enum { MIN_N = 20, MOST_HANDLERS = 64, MOST_PLACES = 16, MOST = 3 };

struct wait_place {
	const struct row *most; /* of those at this place */
	uint64_t n, ns;
};

struct handler {
	uint32_t func; /* string */
	uint64_t ns;   /* of all its waits and calls */
	struct wait_place places[MOST_PLACES];
	unsigned nplaces;
};

struct handlers {
	struct handler all[MOST_HANDLERS];
	unsigned n;
};

static struct handler *handler_get(struct handlers *handlers, uint32_t func)
{
	for (unsigned i = 0; i < handlers->n; i++) {
		if (handlers->all[i].func == func)
			return &handlers->all[i];
	}
	if (handlers->n == MOST_HANDLERS)
		return NULL;
	handlers->all[handlers->n].func = func;
	return &handlers->all[handlers->n++];
}

static bool is_same_place(const struct analysis *a, const struct row *one, const struct row *other)
{
	const struct code_place *at = stack_site(a, one->stack), *there = stack_site(a, other->stack);

	return one->activity == other->activity && at->func == there->func && at->line == there->line;
}

static void count(const struct analysis *a, struct handler *handler, const struct row *row)
{
	unsigned i = 0;

	handler->ns += row->hist.sum;
	while (i < handler->nplaces && !is_same_place(a, handler->places[i].most, row))
		i++;
	if (i == MOST_PLACES)
		return;
	if (i == handler->nplaces)
		handler->places[handler->nplaces++] = (struct wait_place){row, 0, 0};
	handler->places[i].n += row->hist.n;
	handler->places[i].ns += row->hist.sum;
	if (row->hist.sum > handler->places[i].most->hist.sum)
		handler->places[i].most = row;
}

static void gather(const struct analysis *a, struct handlers *handlers)
{
	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *row = &a->rows[i];
		uint32_t frame = row->activity >= ACT_SYSCALL && row->activity < ACT_UNWATCHED && row->hist.n
					 ? stack_handler(a, row->stack)
					 : UINT32_MAX;
		struct handler *handler = NULL;

		if (frame != UINT32_MAX)
			handler = handler_get(handlers, a->frames[a->stacks[row->stack].first + frame].func);
		if (handler)
			count(a, handler, row);
	}
	/* Its code, and the library's for it. */
	for (uint32_t i = 1; i < a->cpu.nrows; i++) {
		for (unsigned j = 0; j < handlers->n; j++) {
			if (handlers->all[j].func == a->cpu.rows[i].func)
				handlers->all[j].ns +=
					(uint64_t)((double)a->cpu.rows[i].total * cpu_sample_ns(a));
		}
	}
}

static void describe(struct analysis *a, const struct handler *handler)
{
	const struct wait_place *most = &handler->places[0];
	struct finding *finding;

	for (unsigned i = 1; i < handler->nplaces; i++)
		most = handler->places[i].ns > most->ns ? &handler->places[i] : most;
	if (!handler->nplaces || most->n < MIN_N || most->ns * 2 < handler->ns)
		return;
	finding = finding_add(a, "request-place", share_of_tasks(a, (double)most->ns));
	finding->level = LEVEL_INFO;
	finding_text(finding, "%.0f %% of the time of requests in %s is %s in %s: %s.",
		     100 * (double)most->ns / (double)handler->ns, label_function(a, handler->func).text,
		     activity_name((enum activity)most->most->activity),
		     label_stack(a, most->most->stack).text, label_time(most->ns).text);
	row_evidence(a, finding, most->most);
	finding->n = most->n;
	finding->total_ns = most->ns;
}

static int by_time(const void *one, const void *other)
{
	const struct handler *a = one, *b = other;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

void rule_request_place(struct analysis *a)
{
	struct handlers *handlers = calloc(1, sizeof(*handlers));

	if (!handlers) {
		a->oom = true;
		return;
	}
	gather(a, handlers);
	qsort(handlers->all, handlers->n, sizeof(handlers->all[0]), by_time);
	for (unsigned i = 0; i < handlers->n && i < MOST; i++)
		describe(a, &handlers->all[i]);
	free(handlers);
}
