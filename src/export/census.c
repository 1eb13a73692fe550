/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/timeline.h"
#include "code/symbol/symbol.h"
#include "util/array.h"
#include "trace/ops/own_names.h"
#include "trace/wire/buffer.h"

struct census_pass {
	struct census *census;
	struct op_timeline *timeline;
	const struct tables *tables;
};

/* Earlier wall times are not real: traces without a clock count from January 1970, or from boot. */
#define EARLIEST_WALL_SEC 1000000000u

int census_init(struct census *census)
{
	*census = (struct census){.strings = strtab_new(), .n = 1};
	if (!census->strings ||
	    array_grow(&census->goroutines, &census->capacity, 1, sizeof(*census->goroutines)))
		return -ENOMEM;
	return 0;
}

void census_free(struct census *census)
{
	if (census->strings)
		strtab_free(census->strings);
	free(census->goroutines);
	*census = (struct census){0};
}

static struct census_goroutine *census_at(struct census *census, uint32_t serial)
{
	if (array_grow(&census->goroutines, &census->capacity, (size_t)serial + 1,
		       sizeof(*census->goroutines)))
		return NULL;
	if (serial >= census->n)
		census->n = (size_t)serial + 1;
	return &census->goroutines[serial];
}

/* Sets *name to the function of the stack's outermost frame if root, else of the innermost one. */
static int census_take_name(const struct census_pass *pass, uint32_t stack, bool root, uint32_t *name)
{
	const struct tables *tables = pass->tables;
	const struct stack *s = tables && stack < tables->nstacks ? &tables->stacks[stack] : NULL;
	const char *text;
	size_t len;

	if (!stack || !s || !s->frames || !s->n)
		return 0;
	text = strtab_get(tables->strings, s->frames[root ? s->n - 1 : 0].func, &len);
	*name = strtab_add(pass->census->strings, text, len);
	return len && !*name ? -ENOMEM : 0;
}

/* Names a goroutine after the function that it began with, or else the root of its first stack (as Go's
 * viewer does). */
static int name_it(const struct census_pass *pass, struct census_goroutine *seen,
		   const struct tl_change *change)
{
	int rc = 0;

	if (!seen->name && change->g->entry)
		rc = census_take_name(pass, change->g->entry, false, &seen->name);
	if (!rc && !seen->name && !change->wakes && change->g->born != change->time)
		rc = census_take_name(pass, change->to->stack, true, &seen->name);
	return rc;
}

static int census_on_change(void *ctx, const struct tl_change *change)
{
	const struct census_pass *pass = ctx;
	struct census_goroutine *seen = census_at(pass->census, change->g->serial);

	if (!seen)
		return -ENOMEM;
	seen->goid = change->g->goid;
	seen->changes += change->g->now.state != LEDGER_NONE && !change->final;
	if (change->to->m)
		seen->m = change->to->m;
	return name_it(pass, seen, change);
}

static int census_on_begin(void *ctx, const struct tl_range *range)
{
	const struct census_pass *pass = ctx;
	size_t len;

	if (range->kind == TL_REGION && off_cpu_region_reason(tables_string(pass->tables, range->name, &len)))
		pass->census->off_cpu = true;
	return 0;
}

static int census_on_end(void *ctx, const struct tl_range *range)
{
	const struct census_pass *pass = ctx;

	if (range->kind == TL_GAP)
		pass->census->not_watched_ns += range->until - range->since;
	return 0;
}

static void census_take_log(const struct census_pass *pass, const struct op *op)
{
	size_t len;
	const char *category = tables_string(pass->tables, op->string, &len);
	struct host_log host;

	if (strcmp(category, CPU_LOG_CATEGORY) == 0)
		pass->census->cpus = true;
	if (strcmp(category, OWN_LOG_CATEGORY) == 0 &&
	    host_log_parse(category, tables_string(pass->tables, op->string2, &len), &host))
		pass->census->host = host;
}

static int census_on_event(void *ctx, const struct op *op, const struct tl_goroutine *g)
{
	const struct census_pass *pass = ctx;
	struct census_goroutine *seen = g ? census_at(pass->census, g->serial) : NULL;

	if (op->kind == OP_LOG)
		census_take_log(pass, op);
	pass->census->samples += op->kind == OP_CPU_SAMPLE;
	if (!g)
		return 0;
	if (!seen)
		return -ENOMEM;
	seen->goid = g->goid;
	return seen->name ? 0 : census_take_name(pass, op->stack, true, &seen->name);
}

/* Labels that the first record says it had before, it has had from its beginning. */
static int census_on_labels(void *ctx, const struct tl_goroutine *g, const struct tl_labels *labels)
{
	const struct census_pass *pass = ctx;
	struct census_goroutine *seen = census_at(pass->census, g->serial);

	if (!seen)
		return -ENOMEM;
	if (!labels->first || !labels->held)
		return 0;
	seen->labels = strtab_add(pass->census->strings, labels->text, labels->len);
	return seen->labels ? 0 : -ENOMEM;
}

static int census_on_tables(void *ctx, const struct generation *gen)
{
	struct census_pass *pass = ctx;

	pass->tables = gen ? gen->tables : NULL;
	if (!gen)
		return 0;
	pass->census->nops += gen->nops;
	if (!pass->census->wall_ns && gen->wall_sec >= EARLIEST_WALL_SEC && gen->wall_sec < UINT32_MAX) {
		pass->census->clock_ns = gen->mono_ns;
		pass->census->wall_ns = gen->wall_sec * 1000000000 + gen->wall_nsec;
	}
	return 0;
}

struct census_pass *census_begin(struct census *census)
{
	struct census_pass *pass = calloc(1, sizeof(*pass));
	const struct tl_visitor visitor = {
		.ctx = pass,
		.change = census_on_change,
		.begin = census_on_begin,
		.end = census_on_end,
		.event = census_on_event,
		.labels = census_on_labels,
		.tables = census_on_tables,
	};

	if (!pass)
		return NULL;
	pass->census = census;
	pass->timeline = timeline_new(&visitor, NULL);
	if (!pass->timeline) {
		free(pass);
		return NULL;
	}
	return pass;
}

int census_generation(struct census_pass *pass, const struct generation *gen)
{
	return timeline_generation(pass->timeline, gen);
}

static bool are_named_as_threads(const struct census *census)
{
	struct name_votes votes = {0};

	for (size_t i = 1; i < census->n; i++) {
		size_t len;
		const char *name = census_name(census, (uint32_t)i, &len);

		name_vote(&votes, name, len);
	}
	return votes_for_threads(&votes);
}

int census_end(struct census_pass *pass)
{
	const struct ledger *ledger = timeline_ledger(pass->timeline);
	int rc = timeline_finish(pass->timeline);

	pass->census->start = timeline_start(pass->timeline);
	pass->census->end = timeline_end(pass->timeline);
	pass->census->threads =
		ledger->runs ? ledger_is_of_threads(ledger) : are_named_as_threads(pass->census);
	return rc;
}

void census_pass_free(struct census_pass *pass)
{
	if (!pass)
		return;
	timeline_free(pass->timeline);
	free(pass);
}

uint64_t census_sample_ns(const struct census *census)
{
	uint64_t watched = census->end - census->start - census->not_watched_ns;
	double used = (double)census->host.used_ns * host_log_part(&census->host, watched);

	return census->samples && used > 0 ? (uint64_t)(used / (double)census->samples) + 1 : USUAL_SAMPLE_NS;
}

const char *census_name(const struct census *census, uint32_t serial, size_t *len)
{
	*len = 0;
	if (!serial || serial >= census->n)
		return "";
	return strtab_get(census->strings, census->goroutines[serial].name, len);
}
