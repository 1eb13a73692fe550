/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export_job.h"

#include "unit.h"
#include <stdio.h>
#include <stdlib.h>

#include "trace/convert/convert.h"

const char *const export_fixtures[3] = {
	"tests/fixtures/rawlog/go1.22.12.trace",
	"tests/fixtures/rawlog/go1.25.1.trace",
	"tests/fixtures/rawlog/go1.26.8.trace",
};

struct bytes export_read_fixture(const char *path)
{
	struct bytes bytes = {0};
	FILE *file = fopen(path, "rb");

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	bytes.len = (size_t)ftell(file);
	rewind(file);
	bytes.data = malloc(bytes.len);
	assert_non_null(bytes.data);
	assert_int_equal(fread(bytes.data, 1, bytes.len, file), bytes.len);
	fclose(file);
	return bytes;
}

struct job {
	struct census census;
	struct census_pass *pass;
	struct exporter *exporter;
};

static int take_census(void *ctx, const struct generation *gen)
{
	return census_generation(((struct job *)ctx)->pass, gen);
}

static int take_generation(void *ctx, const struct generation *gen)
{
	struct error err;

	return exporter_generation(((struct job *)ctx)->exporter, gen, &err);
}

static void run_census(struct job *job, const struct bytes *trace)
{
	const struct convert_sink sink = {.generation = take_census, .ctx = job, .source_times = true};
	struct convert_result result;
	struct error err;

	assert_int_equal(census_init(&job->census), 0);
	job->pass = census_begin(&job->census);
	assert_non_null(job->pass);
	assert_int_equal(convert_trace(trace->data, trace->len, NULL, &sink, &result, &err), 0);
	assert_int_equal(census_end(job->pass), 0);
	census_pass_free(job->pass);
}

struct bytes export_of(const struct bytes *trace, struct export_options options)
{
	struct job job = {0};
	const struct convert_sink sink = {.generation = take_generation, .ctx = &job, .source_times = true};
	struct convert_result result;
	struct bytes out = {0};
	struct error err = {""};

	run_census(&job, trace);
	options.title = "test";
	if (!options.database)
		options.out = (struct byte_sink){bytes_write, &out};
	job.exporter = exporter_new(&options, &job.census, &err);
	assert_string_equal(err.text, "");
	assert_non_null(job.exporter);
	assert_int_equal(convert_trace(trace->data, trace->len, NULL, &sink, &result, &err), 0);
	assert_int_equal(exporter_finish(job.exporter, &err), 0);
	exporter_free(job.exporter);
	census_free(&job.census);
	return out;
}

static int on_change(void *ctx, const struct tl_change *change)
{
	struct export_totals *totals = ctx;
	const struct ledger_interval *now = &change->g->now;
	uint64_t ns = change->time > now->since ? change->time - now->since : 0;

	totals->wakeups += change->wakes;
	if (change->final) {
		totals->open_ns[now->state] += ns;
		return 0;
	}
	totals->count[now->state]++;
	totals->ns[now->state] += ns;
	return 0;
}

static int on_end(void *ctx, const struct tl_range *range)
{
	assert_true(range->until >= range->since);
	((struct export_totals *)ctx)->ranges++;
	return 0;
}

static int on_event(void *ctx, const struct op *op, const struct tl_goroutine *g)
{
	struct export_totals *totals = ctx;

	(void)g;
	totals->samples += op->kind == OP_CPU_SAMPLE;
	totals->logs += op->kind == OP_LOG;
	return 0;
}

static int take_totals(void *ctx, const struct generation *gen)
{
	return timeline_generation(((struct export_totals *)ctx)->timeline, gen);
}

struct export_totals export_totals_of(const struct bytes *trace)
{
	struct export_totals totals = {0};
	const struct tl_visitor visitor = {
		.ctx = &totals, .change = on_change, .end = on_end, .event = on_event};
	const struct convert_sink sink = {.generation = take_totals, .ctx = &totals, .source_times = true};
	struct convert_result result;
	struct error err;

	totals.timeline = timeline_new(&visitor, NULL);
	assert_non_null(totals.timeline);
	assert_int_equal(convert_trace(trace->data, trace->len, NULL, &sink, &result, &err), 0);
	assert_int_equal(timeline_finish(totals.timeline), 0);
	timeline_free(totals.timeline);
	return totals;
}

struct bytes export_by_hand(void)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2),
		 g7 = wire_trace_goroutine(t, 7);
	uint32_t here = wire_trace_stack(t, "main.wait", "main.main", NULL),
		 worker = wire_trace_stack(t, "main.worker", NULL);
	uint32_t receive = wire_trace_string(t, "chan receive"), outer = wire_trace_string(t, "outer"),
		 inner = wire_trace_string(t, "inner");
	const uint64_t t0 = 10000000001000000ull, us = UNIT;
	const struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_WAITING, NO_M),
		AT(t0 + 20 * us, OP_GO_CREATE, g1, .g2 = g7, .stack2 = worker, .stack = here),
		AT(t0 + 50 * us, OP_GO_BLOCK, g1, .string = receive, .stack = here),
		AT(t0 + 51 * us, OP_GO_START, g7),
		AT(t0 + 53 * us, OP_SYSCALL_BEGIN, g7, .stack = worker),
		AT(t0 + 58 * us, OP_SYSCALL_END, g7),
		AT(t0 + 60 * us, OP_GO_UNBLOCK, g7, .g2 = g2, .stack = worker),
		AT(t0 + 61 * us, OP_GO_DESTROY, g7),
		AT(t0 + 70 * us, OP_GO_START, g2),
		AT(t0 + 75 * us, OP_REGION_BEGIN, g2, .string = outer, .stack = here),
		AT(t0 + 80 * us, OP_REGION_BEGIN, g2, .string = inner, .stack = here),
		AT(t0 + 90 * us, OP_REGION_END, g2, .string = inner, .stack = here),
		AT(t0 + 110 * us, OP_GO_BLOCK, g2, .string = receive, .stack = here),
		AT(t0 + 200 * us, OP_PROC_STOP, NO_G),
	};
	struct bytes bytes;

	wire_trace_generation(t, ops, COUNT(ops));
	wire_trace_last(t);
	bytes = wire_trace_encode(t, WIRE_GO126);
	wire_trace_free(t);
	return bytes;
}
