/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Exports arbitrary bytes to another tool's format that the bytes select, and cuts them: a piece of a valid
 * trace must be a valid trace.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/convert/convert.h"
#include "trace/cut/anonymize.h"
#include "trace/cut/cut.h"
#include "export/export.h"
#include "trace/wire/buffer.h"
#include "trace/wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
	const uint8_t *data;
	size_t size;
	uint32_t hash;
	struct census_pass *pass;
	struct exporter *exporter;
	struct cutter *cutter;
	struct anonymizer *anonymizer;
	struct wire *wire;
	struct buffer bytes;
	unsigned format;
	uint64_t start, end;
	struct error error;
};

static uint32_t hash_of(const uint8_t *data, size_t size)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 16777619u;
	return hash;
}

static int drop_bytes(void *ctx, const void *bytes, size_t n)
{
	(void)ctx, (void)bytes, (void)n;
	return 0;
}

static int drop_table(void *ctx, enum lake_table table, const void *bytes, size_t n)
{
	(void)table;
	return drop_bytes(ctx, bytes, n);
}

static int keep_bytes(void *ctx, const void *bytes, size_t n)
{
	return buffer_append(&((struct run *)ctx)->bytes, bytes, n);
}

/* Returns the number of generations converted. */
static uint64_t pass(struct run *run, int (*generation)(void *, const struct generation *), bool source_times)
{
	const struct convert_sink sink = {.generation = generation, .ctx = run, .source_times = source_times};
	struct convert_result result;
	struct error err;

	(void)convert_trace(run->data, run->size, NULL, &sink, &result, &err);
	run->format = result.version;
	return result.generations;
}

static int take_census(void *ctx, const struct generation *gen)
{
	return census_generation(((struct run *)ctx)->pass, gen);
}

static int take_export(void *ctx, const struct generation *gen)
{
	struct run *run = ctx;

	return exporter_generation(run->exporter, gen, &run->error);
}

static void export_it(struct run *run)
{
	const struct lake_options lake = {
		.write = drop_table,
		.raw = run->hash / 6 % 2,
		.attributes = {[RESOURCE_SERVICE_NAME] = "fuzz"},
		.trace_id = "0123456789abcdef0123456789abcdef",
	};
	const struct export_options options = {
		.format = EXPORT_PERFETTO + run->hash % 6,
		.lake = &lake,
		.profile = run->hash / 6 % PROFILE_KINDS,
		.title = "fuzz",
		.out = {.write = drop_bytes},
	};
	struct census census;

	if (census_init(&census))
		abort();
	run->pass = census_begin(&census);
	if (!run->pass)
		abort();
	pass(run, take_census, true);
	if (census_end(run->pass))
		abort();
	census_pass_free(run->pass);
	run->exporter = exporter_new(&options, &census, &run->error);
	if (!run->exporter)
		abort();
	pass(run, take_export, true);
	if (exporter_finish(run->exporter, &run->error)) {
		fprintf(stderr, "export: %s\n", run->error.text);
		abort();
	}
	exporter_free(run->exporter);
	census_free(&census);
}

static int take_scope(void *ctx, const struct generation *gen)
{
	struct run *run = ctx;

	run->start = run->start ? run->start : gen->start;
	run->end = gen->end;
	return 0;
}

static void judge(struct run *run)
{
	struct wire_report report;

	if (wire_check(run->bytes.bytes, run->bytes.len, &report)) {
		fprintf(stderr, "piece of format %s, byte %llu: %s\n", wire_format_name(run->format),
			(unsigned long long)report.error_offset, report.error.text);
		abort();
	}
	wire_free(run->wire);
	run->wire = NULL;
	run->bytes.len = 0;
}

static int take_piece(void *ctx, const struct generation *gen)
{
	struct run *run = ctx;
	const struct wire_options options = {.format = run->format, .out = {.write = keep_bytes, .ctx = run}};
	struct generation other = *gen;
	int rc;

	if (!run->wire)
		run->wire = wire_new(&options, &run->error);
	if (!run->wire || (run->anonymizer && anonymizer_generation(run->anonymizer, gen, &other)))
		abort();
	rc = wire_generation(run->wire, &other, &run->error);
	if (!rc && gen->last)
		judge(run);
	return rc;
}

static bool ends_here(void *ctx, size_t nops)
{
	const struct run *run = ctx;

	return (nops + run->hash) % 3 == 0;
}

static int take_cut(void *ctx, const struct generation *gen)
{
	return cutter_generation(((struct run *)ctx)->cutter, gen);
}

static void cut_it(struct run *run)
{
	uint64_t length, goid = run->hash % 20 + 1;
	struct cut_options options = {
		.generation = take_piece,
		.ends = ends_here,
		.ctx = run,
		.most_ops = run->hash % 7 * 3,
	};

	if (!pass(run, take_scope, false))
		return;
	length = run->end - run->start;
	options.from = run->start + (length ? run->hash % (length + 1) : 0);
	options.to = options.from + (length ? run->hash / 3 % (length + 1) : 0);
	if (run->hash % 4 == 0) {
		options.goids = &goid;
		options.ngoids = 1;
	}
	run->cutter = cutter_new(&options);
	run->anonymizer = run->hash % 5 ? NULL : anonymizer_new();
	if (!run->cutter)
		abort();
	pass(run, take_cut, false);
	wire_free(run->wire);
	cutter_free(run->cutter);
	anonymizer_free(run->anonymizer);
	buffer_free(&run->bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run run = {.data = data, .size = size, .hash = hash_of(data, size), .error = {""}};

	export_it(&run);
	cut_it(&run);
	return 0;
}
