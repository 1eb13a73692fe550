/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports on arbitrary bytes as a trace in every form, and explains a goroutine: every impact is between 0
 * and 1, and a path tiles the time that it explains.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/path.h"
#include "analysis/strips.h"
#include "trace/convert/convert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *ctx, const struct generation *gen)
{
	return analysis_generation(ctx, gen);
}

static struct analysis *read_trace(const uint8_t *data, size_t size, struct why *why, struct strips *strips)
{
	const struct analysis_options options = {.name = "fuzzed", .file = "fuzzed"};
	struct analysis *a = analysis_new(&options);
	const struct convert_sink sink = {.generation = take, .ctx = a, .source_times = true};
	struct convert_result result;
	struct error err;

	if (!a)
		abort();
	if (why)
		why_watch(why, a);
	if (strips)
		strips_watch(strips, a);
	convert_trace(data, size, NULL, &sink, &result, &err);
	if (!result.generations) {
		analysis_free(a);
		return NULL;
	}
	analysis_end(a);
	return a;
}

static void check_findings(const struct analysis *a)
{
	for (unsigned i = 0; i < a->nfindings; i++) {
		if (!(a->findings[i].impact >= 0 && a->findings[i].impact <= 1) || !a->findings[i].text[0])
			abort();
	}
}

static void check_path(const struct why *why)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < why->nsegments; i++) {
		if (!why->segments[i].parent)
			sum += why->segments[i].end - why->segments[i].start;
	}
	if (sum != why->end - why->begin)
		abort();
}

/* Asks about a goroutine that the file's size selects. */
static void ask(const uint8_t *data, size_t size, FILE *out)
{
	const struct why_question question = {
		.kind = WHY_GOROUTINE, .goroutine = 1 + size % 24, .at_ns = UINT64_MAX, .slowest = 1};
	const struct report_style style = {0};
	struct why *why = why_new(&question);
	struct analysis *a = why ? read_trace(data, size, why, NULL) : NULL;
	struct error err;

	if (!why)
		abort();
	if (a && !why_choose(why, a, &err)) {
		analysis_free(a);
		a = read_trace(data, size, why, NULL);
		if (a && !why_explain(why, a, &err)) {
			check_path(why);
			why_text(why, a, out, &style);
			why_json(why, a, out);
		}
	}
	analysis_free(a);
	why_free(why);
}

static void write_page(const uint8_t *data, size_t size, const struct analysis *a, FILE *out,
		       const struct report_style *style)
{
	struct strips *strips = strips_new(a);
	struct analysis *again = strips ? read_trace(data, size, NULL, strips) : NULL;

	if (again)
		report_html(again, strips, out, style);
	analysis_free(again);
	strips_free(strips);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct report_style style = {.all = size % 2};
	FILE *out = fopen("/dev/null", "w");
	struct analysis *a = read_trace(data, size, NULL, NULL);

	if (!out)
		abort();
	if (a) {
		check_findings(a);
		report_text(a, out, &style);
		report_json(a, out, &style);
		write_page(data, size, a, out, &style);
		ask(data, size, out);
	}
	analysis_free(a);
	fclose(out);
	return 0;
}
