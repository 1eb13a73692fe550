/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Pieces of real traces in every format: each keeps the rules of ops and of the format's strictest reader,
 * and has the transitions of its part of the source. Together, the pieces of a split have all of them.
 */
#include "unit.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/convert/convert.h"
#include "trace/cut/anonymize.h"
#include "trace/cut/cut.h"
#include "trace/cut/wall_clock.h"
#include "op_rules.h"
#include "wire_trace.h"

static const enum wire_format formats[] = {
	WIRE_V0,    WIRE_GO15,  WIRE_GO17,  WIRE_GO18,  WIRE_GO19,  WIRE_GO110, WIRE_GO111,
	WIRE_GO119, WIRE_GO121, WIRE_GO122, WIRE_GO123, WIRE_GO125, WIRE_GO126,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { CUTS_OF_A_FORMAT = 20, MAX_GOROUTINES = 1 << 16 };

static uint64_t seed = 88172645463325252ull;

static uint64_t chance(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return below ? seed % below : 0;
}

static struct bytes read_fixture(const char *path)
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

/* --- contents of a trace --- */

struct facts {
	uint64_t start, end;
	uint64_t steps; /* transitions of goroutines */
	uint64_t hash;  /* of these transitions: kind, goroutine, time */
	uint64_t samples;
	uint64_t from, to; /* count only these times */
	uint64_t goid;     /* count only this one; 0 = all */
	uint64_t goids[MAX_GOROUTINES];
	size_t ngoids;
};

static bool is_step(unsigned kind)
{
	return kind >= OP_GO_CREATE && kind <= OP_SYSCALL_END_BLOCKED;
}

static void take_step(struct facts *facts, const struct tables *tables, const struct op *op)
{
	uint32_t g = op->g2 ? op->g2 : op->g;

	if ((!is_step(op->kind) && op->kind != OP_CPU_SAMPLE) || op->time < facts->from ||
	    op->time > facts->to)
		return;
	if (facts->goid && tables->goids[g] != facts->goid)
		return;
	if (op->kind == OP_CPU_SAMPLE) {
		facts->samples++;
		return;
	}
	facts->steps++;
	/* A sum, so that the hashes of pieces can be added. */
	facts->hash += (op->time ^ (uint64_t)op->kind << 56 ^ tables->goids[g] << 20) * 0x9e3779b97f4a7c15ull;
}

static int take_facts(void *ctx, const struct generation *gen)
{
	struct facts *facts = ctx;

	if (!facts->start)
		facts->start = gen->start;
	facts->end = gen->end;
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		take_step(facts, gen->tables, op);
		if (op->kind == OP_GO_STATUS && gen->number == 1 && facts->ngoids < MAX_GOROUTINES)
			facts->goids[facts->ngoids++] = gen->tables->goids[op->g];
	}
	return 0;
}

static void read_facts(const struct bytes *trace, struct facts *facts)
{
	const struct convert_sink sink = {.generation = take_facts, .ctx = facts};
	struct convert_result result;
	struct error err;

	assert_int_equal(convert_trace(trace->data, trace->len, NULL, &sink, &result, &err), 0);
}

/* --- a cut --- */

struct piece {
	enum wire_format format;
	struct wire *wire;
	struct bytes bytes;
	struct op_rules *rules;
	struct anonymizer *anonymizer;
	struct cutter *cutter;
	struct facts *all; /* of all pieces together */
	unsigned pieces;
	bool splits;
	struct error err;
};

static void begin_piece(struct piece *piece)
{
	const struct wire_options options = {.format = piece->format, .out = {bytes_write, &piece->bytes}};

	piece->wire = wire_new(&options, &piece->err);
	assert_non_null(piece->wire);
	piece->rules = op_rules_new();
	piece->pieces++;
}

static void end_piece(struct piece *piece)
{
	struct wire_report report;

	wire_check(piece->bytes.data, piece->bytes.len, &report);
	assert_string_equal(report.error.text, "");
	assert_int_equal(report.version, piece->format);
	wire_free(piece->wire);
	op_rules_free(piece->rules);
	piece->wire = NULL;
	piece->bytes.len = 0;
}

static int take_piece(void *ctx, const struct generation *gen)
{
	struct piece *piece = ctx;
	struct generation other = *gen;

	if (!piece->wire)
		begin_piece(piece);
	if (piece->anonymizer)
		assert_int_equal(anonymizer_generation(piece->anonymizer, gen, &other), 0);
	op_rules_generation(piece->rules, &other, &piece->err);
	assert_string_equal(piece->err.text, "");
	for (size_t i = 0; i < gen->nops; i++)
		take_step(piece->all, gen->tables, &gen->ops[i]);
	assert_int_equal(wire_generation(piece->wire, &other, &piece->err), 0);
	if (gen->last)
		end_piece(piece);
	return 0;
}

static bool splits_here(void *ctx, size_t nops)
{
	(void)nops;
	return ((struct piece *)ctx)->splits && chance(3) == 0;
}

static int feed(void *ctx, const struct generation *gen)
{
	return cutter_generation(((struct piece *)ctx)->cutter, gen);
}

/* Returns the number of pieces. */
static unsigned cut(const struct bytes *trace, enum wire_format format, struct cut_options options,
		    bool splits, bool anonymous, struct facts *all)
{
	struct piece piece = {.format = format, .all = all, .splits = splits, .err = {""}};
	const struct convert_sink sink = {.generation = feed, .ctx = &piece};
	struct convert_result result;
	struct error err;

	options.generation = take_piece;
	options.ends = splits_here;
	options.ctx = &piece;
	piece.cutter = cutter_new(&options);
	piece.anonymizer = anonymous ? anonymizer_new() : NULL;
	assert_non_null(piece.cutter);
	assert_int_equal(convert_trace(trace->data, trace->len, NULL, &sink, &result, &err), 0);
	assert_null(piece.wire); /* the last one is complete */
	cutter_free(piece.cutter);
	anonymizer_free(piece.anonymizer);
	free(piece.bytes.data);
	return piece.pieces;
}

/* --- tests --- */

static int take_generation(void *ctx, const struct generation *gen)
{
	struct error err;

	return wire_generation(ctx, gen, &err);
}

static struct bytes in_format(const struct bytes *from, enum wire_format format)
{
	struct bytes bytes = {0};
	const struct wire_options options = {.format = format, .out = {bytes_write, &bytes}};
	struct error err;
	struct wire *wire = wire_new(&options, &err);
	const struct convert_sink sink = {.generation = take_generation, .ctx = wire};
	struct convert_result result;

	assert_non_null(wire);
	assert_int_equal(convert_trace(from->data, from->len, NULL, &sink, &result, &err), 0);
	wire_free(wire);
	return bytes;
}

/* The piece has everything that the source has in that time, and nothing else. */
static void cut_at_random(const struct bytes *trace, enum wire_format format, const struct facts *whole)
{
	uint64_t length = whole->end - whole->start, goid = whole->goids[chance(whole->ngoids)];
	struct facts *source = calloc(1, sizeof(*source)), *pieces = calloc(1, sizeof(*pieces));
	struct cut_options options = {.from = whole->start + chance(length)};

	assert_true(source && pieces);
	options.to = options.from + chance(whole->end - options.from + 1);
	if (chance(4) == 0) {
		options.goids = &goid;
		options.ngoids = 1;
		source->goid = goid;
	}
	options.most_ops = chance(2) ? 50 + chance(500) : 0;
	source->from = pieces->from = options.from;
	source->to = pieces->to = options.to;
	read_facts(trace, source);
	cut(trace, format, options, chance(2), chance(3) == 0, pieces);
	assert_int_equal(pieces->steps, source->steps);
	assert_int_equal(pieces->samples, source->samples);
	assert_true(pieces->hash == source->hash);
	free(source);
	free(pieces);
}

static void test_random_cuts(void **state)
{
	struct bytes fixture = read_fixture("tests/fixtures/rawlog/go1.26.8.trace");

	(void)state;
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct bytes trace = in_format(&fixture, formats[i]);
		struct facts *whole = calloc(1, sizeof(*whole));

		assert_non_null(whole);
		whole->to = UINT64_MAX;
		read_facts(&trace, whole);
		for (unsigned n = 0; n < CUTS_OF_A_FORMAT; n++)
			cut_at_random(&trace, formats[i], whole);
		free(whole);
		free(trace.data);
	}
	free(fixture.data);
}

/* A split leaves nothing out. */
static void test_split(void **state)
{
	struct bytes fixture = read_fixture("tests/fixtures/rawlog/go1.25.1.trace");
	struct facts *whole = calloc(1, sizeof(*whole)), *pieces = calloc(1, sizeof(*pieces));
	const struct cut_options options = {.to = UINT64_MAX, .most_ops = 100};

	(void)state;
	assert_true(whole && pieces);
	whole->to = pieces->to = UINT64_MAX;
	read_facts(&fixture, whole);
	assert_true(whole->steps > 500);
	assert_true(cut(&fixture, WIRE_GO125, options, true, false, pieces) > 2);
	assert_int_equal(pieces->steps, whole->steps);
	assert_int_equal(pieces->samples, whole->samples);
	assert_true(pieces->hash == whole->hash);
	free(whole);
	free(pieces);
	free(fixture.data);
}

/* A goroutine that runs without another event has samples to the end of the piece. */
static void test_samples(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g = wire_trace_goroutine(t, 1), other = wire_trace_goroutine(t, 2),
		 wait = wire_trace_string(t, "chan receive"), here = wire_trace_stack(t, "main.spin", NULL);
	const uint64_t t0 = 10000000001000000ull, goid = 1;
	const struct cut_options options = {.to = UINT64_MAX, .goids = &goid, .ngoids = 1};
	struct op ops[] = {
		{.kind = OP_PROC_STATUS, .p = 0, .status = P_RUNNING, .m = 5},
		{.kind = OP_PROC_STATUS, .p = 1, .status = P_RUNNING, .m = 6},
		{.kind = OP_GO_STATUS, .g = g, .status = G_RUNNING, .m = 5, .p = NO_P},
		{.kind = OP_GO_STATUS, .g = other, .status = G_RUNNING, .m = 6, .p = NO_P},
		{.kind = OP_LOG, .time = t0 + 1000000, .g = g, .m = 5, .string = wait, .string2 = wait},
		{.kind = OP_CPU_SAMPLE, .time = t0 + 10000000, .g = g, .m = 5, .p = 0, .stack = here},
		{.kind = OP_CPU_SAMPLE, .time = t0 + 50000000, .g = g, .m = 5, .p = 0, .stack = here},
		{.kind = OP_CPU_SAMPLE, .time = t0 + 60000000, .g = other, .m = 6, .p = 1, .stack = here},
		{.kind = OP_CPU_SAMPLE, .time = t0 + 80000000, .g = g, .m = 5, .p = 0, .stack = here},
		{.kind = OP_GO_BLOCK, .time = t0 + 90000000, .g = other, .m = 6, .p = 1, .string = wait},
	};
	struct facts *pieces = calloc(1, sizeof(*pieces));
	struct bytes trace;

	(void)state;
	assert_non_null(pieces);
	pieces->to = UINT64_MAX;
	wire_trace_generation(t, ops, COUNT(ops));
	wire_trace_last(t);
	trace = wire_trace_encode(t, WIRE_GO126);
	read_facts(&trace, pieces);
	assert_int_equal(pieces->samples, 4);
	pieces->samples = 0;
	cut(&trace, WIRE_GO126, options, false, false, pieces);
	assert_int_equal(pieces->samples, 3);
	wire_trace_free(t);
	free(pieces);
	free(trace.data);
}

static bool has(const struct bytes *bytes, const char *text)
{
	return memmem(bytes->data, bytes->len, text, strlen(text)) != NULL;
}

struct anonymous {
	struct anonymizer *anonymizer;
	struct wire *wire;
};

static int take_anonymous(void *ctx, const struct generation *gen)
{
	struct anonymous *to = ctx;
	struct generation other;
	struct error err;

	assert_int_equal(anonymizer_generation(to->anonymizer, gen, &other), 0);
	return wire_generation(to->wire, &other, &err);
}

/*
 * Gaps, the times a goroutine had no CPU, and which goroutines are threads survive anonymization; their
 * details do not.
 */
static void test_anonymize_own(void **state)
{
	struct wire_trace *t = wire_trace_new();
	struct bytes trace, bytes = {0};
	const struct wire_options options = {.format = WIRE_GO126, .out = {bytes_write, &bytes}};
	struct error err;
	struct anonymous to = {anonymizer_new(), wire_new(&options, &err)};
	const struct convert_sink sink = {.generation = take_anonymous, .ctx = &to};
	struct convert_result result;
	uint32_t g = wire_trace_goroutine(t, 1), none = wire_trace_string(t, "[off CPU: throttled]"),
		 own = wire_trace_string(t, "gotrace"), user = wire_trace_string(t, "secret category"),
		 lock = wire_trace_string(t, "lock"), cpu = wire_trace_string(t, "[CPU]"),
		 here = wire_trace_stack(t, "secret_main [secret_comm]", NULL);
	const uint64_t t0 = 10000000001000000ull;
	const struct op ops[] = {
		{.kind = OP_PROC_STATUS, .p = 0, .status = P_RUNNING, .m = 5},
		{.kind = OP_GO_STATUS, .g = g, .status = G_RUNNING, .m = 5, .p = NO_P, .stack = here},
		{.kind = OP_REGION_BEGIN,
		 .time = t0 + 1000000,
		 .g = g,
		 .m = 5,
		 .string = none,
		 .stack = here},
		{.kind = OP_REGION_END, .time = t0 + 2000000, .g = g, .m = 5, .string = none, .stack = here},
		{.kind = OP_LOG,
		 .time = t0 + 3000000,
		 .g = g,
		 .m = 5,
		 .string = own,
		 .string2 = wire_trace_string(t, "not watched from here on: over --max-overhead")},
		{.kind = OP_LOG,
		 .time = t0 + 4000000,
		 .g = g,
		 .m = 5,
		 .string = own,
		 .string2 = wire_trace_string(t, "watched again from here on")},
		{.kind = OP_LOG,
		 .time = t0 + 5000000,
		 .g = g,
		 .m = 5,
		 .string = user,
		 .string2 = wire_trace_string(t, "not watched from here on: secret")},
		{.kind = OP_LOG,
		 .time = t0 + 5000001,
		 .g = g,
		 .m = 5,
		 .string = lock,
		 .string2 = wire_trace_string(t, "mutex 0xc000012345")},
		{.kind = OP_LOG,
		 .time = t0 + 5000002,
		 .g = g,
		 .m = 5,
		 .string = lock,
		 .string2 = wire_trace_string(t, "secret mutex 0xc000012345")},
		{.kind = OP_LOG,
		 .time = t0 + 5000003,
		 .g = g,
		 .m = 5,
		 .string = cpu,
		 .string2 = wire_trace_string(t, "4711")},
		{.kind = OP_LOG,
		 .time = t0 + 5000004,
		 .g = g,
		 .m = 5,
		 .string = user,
		 .string2 = wire_trace_string(t, "8150")},
		{.kind = OP_LOG,
		 .time = t0 + 5000010,
		 .g = g,
		 .m = 5,
		 .string = lock,
		 .string2 = wire_trace_string(t, "rwmutex 0xc000054321 (read)")},
	};

	(void)state;
	wire_trace_generation(t, ops, COUNT(ops));
	wire_trace_last(t);
	trace = wire_trace_encode(t, WIRE_GO126);
	assert_true(to.anonymizer && to.wire);
	assert_int_equal(convert_trace(trace.data, trace.len, NULL, &sink, &result, &err), 0);
	assert_true(has(&trace, "secret"));
	assert_false(has(&bytes, "secret"));
	assert_true(has(&bytes, "not watched from here on: over --max-overhead"));
	assert_true(has(&bytes, "not watched from here on") && has(&bytes, "watched again from here on"));
	assert_true(has(&bytes, "[off CPU: throttled]") && has(&bytes, "gotrace"));
	assert_true(has(&bytes, "mutex 0xc000012345") && has(&bytes, "rwmutex 0xc000054321 (read)"));
	assert_true(has(&bytes, "[CPU]") && has(&bytes, "4711"));
	assert_true(has(&trace, "8150") && !has(&bytes, "8150"));
	assert_true(has(&bytes, " [thread"));
	anonymizer_free(to.anonymizer);
	wire_free(to.wire);
	wire_trace_free(t);
	free(trace.data);
	free(bytes.data);
}

struct span {
	uint64_t log_in_gap, block;
	unsigned logs;
};

static int take_span(void *ctx, const struct generation *gen)
{
	struct span *span = ctx;

	for (size_t i = 0; i < gen->nops; i++) {
		span->logs += gen->ops[i].kind == OP_LOG;
		if (gen->ops[i].kind == OP_LOG && span->logs == 3)
			span->log_in_gap = gen->ops[i].time;
		if (gen->ops[i].kind == OP_GO_BLOCK)
			span->block = gen->ops[i].time;
	}
	return 0;
}

/* Returns the times of the ops, in the trace's own time. */
static struct span span_of(const struct bytes *trace)
{
	struct span span = {0};
	const struct convert_sink sink = {.generation = take_span, .ctx = &span, .source_times = true};
	struct convert_result result;
	struct error err;

	assert_int_equal(convert_trace(trace->data, trace->len, NULL, &sink, &result, &err), 0);
	assert_int_equal(span.logs, 4);
	return span;
}

static int drop(void *ctx, const struct generation *gen)
{
	uint64_t *start = ctx;

	if (gen->number == 1)
		*start = gen->start;
	return 0;
}

static int to_cutter(void *ctx, const struct generation *gen)
{
	return cutter_generation(ctx, gen);
}

/* start: of the last piece */
static uint64_t unmarked_gaps(const struct bytes *trace, struct cut_options options, uint64_t *start)
{
	struct cutter *cutter;
	const struct convert_sink sink = {.generation = to_cutter, .source_times = true};
	struct convert_sink to = sink;
	struct convert_result result;
	struct error err;
	uint64_t n;

	options.generation = drop;
	options.ctx = start;
	cutter = cutter_new(&options);
	assert_non_null(cutter);
	to.ctx = cutter;
	assert_int_equal(convert_trace(trace->data, trace->len, NULL, &to, &result, &err), 0);
	assert_true(cutter_ops(cutter) > 0);
	n = cutter_unmarked_gaps(cutter);
	cutter_free(cutter);
	return n;
}

/*
 * A piece that would begin in a gap begins after it. It cannot report one whose note is on a goroutine that
 * the piece excludes.
 */
static void test_unmarked_gaps(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g = wire_trace_goroutine(t, 1), other = wire_trace_goroutine(t, 2),
		 own = wire_trace_string(t, "gotrace"), text = wire_trace_string(t, "hello"),
		 wait = wire_trace_string(t, "chan receive");
	const uint64_t t0 = 10000000001000000ull, first = 1, second = 2;
	const struct op ops[] = {
		{.kind = OP_PROC_STATUS, .p = 0, .status = P_RUNNING, .m = 5},
		{.kind = OP_GO_STATUS, .g = g, .status = G_RUNNING, .m = 5, .p = NO_P},
		{.kind = OP_GO_STATUS, .g = other, .status = G_RUNNABLE, .p = NO_P},
		{.kind = OP_HEAP_ALLOC, .time = t0 + 500000, .g = g, .m = 5, .p = 0, .arg = 4096},
		{.kind = OP_LOG, .time = t0 + 1000000, .g = g, .m = 5, .string = own, .string2 = text},
		{.kind = OP_LOG,
		 .time = t0 + 2000000,
		 .g = g,
		 .m = 5,
		 .string = own,
		 .string2 = wire_trace_string(t, "not watched from here on: over --max-overhead")},
		{.kind = OP_LOG, .time = t0 + 3000000, .g = g, .m = 5, .string = own, .string2 = text},
		{.kind = OP_LOG,
		 .time = t0 + 4000000,
		 .g = g,
		 .m = 5,
		 .string = own,
		 .string2 = wire_trace_string(t, "watched again from here on")},
		{.kind = OP_GO_BLOCK, .time = t0 + 5000000, .g = g, .m = 5, .p = 0, .string = wait},
		{.kind = OP_GO_START, .time = t0 + 6000000, .g = other, .m = 5, .p = 0},
		{.kind = OP_PROC_STOP, .time = t0 + 9000000, .m = 5, .p = 0},
	};
	struct bytes trace;
	struct span span;
	uint64_t start;

	(void)state;
	wire_trace_generation(t, ops, COUNT(ops));
	wire_trace_last(t);
	trace = wire_trace_encode(t, WIRE_GO126);
	span = span_of(&trace);
	assert_int_equal(unmarked_gaps(&trace, (struct cut_options){.to = UINT64_MAX}, &start), 0);
	assert_int_equal(unmarked_gaps(&trace,
				       (struct cut_options){.from = span.log_in_gap, .to = UINT64_MAX},
				       &start),
			 0);
	assert_true(start > span.log_in_gap + 500000 && start < span.block);
	assert_int_equal(
		unmarked_gaps(&trace, (struct cut_options){.from = span.block, .to = UINT64_MAX}, &start), 0);
	assert_int_equal(unmarked_gaps(&trace,
				       (struct cut_options){.to = UINT64_MAX, .goids = &first, .ngoids = 1},
				       &start),
			 0);
	assert_int_equal(unmarked_gaps(&trace,
				       (struct cut_options){.to = UINT64_MAX, .goids = &second, .ngoids = 1},
				       &start),
			 1);
	wire_trace_free(t);
	free(trace.data);
}

/* Counts in *n the logs which say that system calls are left out. */
static int count_left_out(void *n, const struct generation *gen)
{
	for (size_t i = 0; i < gen->nops; i++) {
		size_t len;

		*(unsigned *)n += gen->ops[i].kind == OP_LOG &&
				  strcmp(tables_string(gen->tables, gen->ops[i].string2, &len),
					 "system calls are left out") == 0;
	}
	return 0;
}

/* A piece says what was left out before it, also in an earlier generation of the trace. */
static void test_left_out(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g = wire_trace_goroutine(t, 1), own = wire_trace_string(t, "gotrace"),
		 wait = wire_trace_string(t, "chan receive");
	const uint64_t t0 = 10000000001000000ull;
	const struct op first[] =
		{
			{.kind = OP_PROC_STATUS, .p = 0, .status = P_RUNNING, .m = 5},
			{.kind = OP_GO_STATUS, .g = g, .status = G_RUNNING, .m = 5, .p = NO_P},
			{.kind = OP_LOG,
			 .time = t0 + 1000000,
			 .g = g,
			 .m = 5,
			 .string = own,
			 .string2 = wire_trace_string(t, "system calls are left out")},
			{.kind = OP_GO_BLOCK, .time = t0 + 2000000, .g = g, .m = 5, .p = 0, .string = wait},
		},
			second[] = {
				{.kind = OP_PROC_STATUS, .p = 0, .status = P_RUNNING, .m = 5},
				{.kind = OP_GO_STATUS, .g = g, .status = G_WAITING, .p = NO_P},
				{.kind = OP_GO_UNBLOCK, .time = t0 + 4000000, .g2 = g, .m = 5, .p = 0},
				{.kind = OP_GO_START, .time = t0 + 5000000, .g = g, .m = 5, .p = 0},
				{.kind = OP_GO_BLOCK,
				 .time = t0 + 6000000,
				 .g = g,
				 .m = 5,
				 .p = 0,
				 .string = wait},
			};
	struct convert_sink sink = {.generation = to_cutter, .source_times = true};
	struct convert_result result;
	struct error err;
	struct bytes trace;
	struct cutter *cutter;
	struct span span = {0};
	unsigned n = 0;

	(void)state;
	wire_trace_generation(t, first, COUNT(first));
	wire_trace_generation(t, second, COUNT(second));
	wire_trace_last(t);
	trace = wire_trace_encode(t, WIRE_GO126);
	sink.generation = take_span;
	sink.ctx = &span;
	assert_int_equal(convert_trace(trace.data, trace.len, NULL, &sink, &result, &err), 0);
	cutter = cutter_new(&(struct cut_options){
		.from = span.block - 3500000, .to = UINT64_MAX, .generation = count_left_out, .ctx = &n});
	sink.generation = to_cutter;
	sink.ctx = cutter;
	assert_int_equal(convert_trace(trace.data, trace.len, NULL, &sink, &result, &err), 0);
	assert_int_equal(n, 1);
	cutter_free(cutter);
	wire_trace_free(t);
	free(trace.data);
}

static void test_anonymize(void **state)
{
	struct bytes fixture = read_fixture("tests/fixtures/rawlog/go1.26.8.trace"), bytes = {0};
	const struct wire_options options = {.format = WIRE_GO126, .out = {bytes_write, &bytes}};
	struct error err;
	struct anonymous to = {anonymizer_new(), wire_new(&options, &err)};
	const struct convert_sink sink = {.generation = take_anonymous, .ctx = &to};
	struct convert_result result;
	struct wire_report before, after;

	(void)state;
	assert_true(to.anonymizer && to.wire);
	assert_int_equal(convert_trace(fixture.data, fixture.len, NULL, &sink, &result, &err), 0);
	assert_int_equal(wire_check(fixture.data, fixture.len, &before), 0);
	assert_int_equal(wire_check(bytes.data, bytes.len, &after), 0);
	assert_true(has(&fixture, "main.pingPong") && has(&fixture, ".go"));
	assert_false(has(&bytes, "main."));
	assert_false(has(&bytes, "/src/"));
	assert_true(has(&bytes, "runtime.") && has(&bytes, "chan send"));
	assert_int_equal(before.goroutines, after.goroutines);
	anonymizer_free(to.anonymizer);
	wire_free(to.wire);
	free(bytes.data);
	free(fixture.data);
}

static int count_assists(void *ctx, const struct generation *gen)
{
	unsigned *active = ctx;

	for (size_t i = 0; i < gen->nops; i++) {
		*active += gen->ops[i].kind == OP_GC_ASSIST_ACTIVE && gen->ops[i].g == 1;
		if (gen->ops[i].kind == OP_GC_ASSIST_END)
			assert_int_equal(*active, 1);
	}
	return 0;
}

/* A native trace reports an assist only where the goroutine first runs: each piece reports it too, once. */
static void test_assist_mentioned_late(void **state)
{
	static const uint64_t goids[] = {0, 51, 52};
	const struct tables tables = {.goids = (uint64_t *)goids, .ngoroutines = 3};
	struct op ops[] = {
		{.kind = OP_PROC_STATUS, .time = 1000, .status = P_RUNNING, .p = 0, .m = 7},
		{.kind = OP_GO_STATUS, .time = 1000, .status = G_RUNNABLE, .g = 1, .p = NO_P},
		{.kind = OP_GO_STATUS, .time = 1000, .status = G_RUNNING, .g = 2, .m = 7, .p = NO_P},
		{.kind = OP_GO_BLOCK, .time = 2000, .g = 2, .m = 7, .p = 0},
		{.kind = OP_GC_ASSIST_ACTIVE, .time = 3000, .g = 1, .m = 7, .p = 0},
		{.kind = OP_GO_START, .time = 3064, .g = 1, .m = 7, .p = 0},
		{.kind = OP_GC_ASSIST_END, .time = 4000, .g = 1, .m = 7, .p = 0},
	};
	const struct generation gen = {.number = 1,
				       .last = true,
				       .start = 900,
				       .end = 4000,
				       .tables = &tables,
				       .ops = ops,
				       .nops = COUNT(ops)};

	(void)state;
	for (uint64_t from = 0; from <= 3500; from += 500) {
		unsigned active = 0;
		const struct cut_options options = {
			.from = from, .to = UINT64_MAX, .generation = count_assists, .ctx = &active};
		struct cutter *cutter = cutter_new(&options);

		assert_non_null(cutter);
		assert_int_equal(cutter_generation(cutter, &gen), 0);
		assert_int_equal(active, 1);
		cutter_free(cutter);
	}
}

/* The wall clock is set back in the second generation; the third is not reached by the moments asked for. */
static void test_wall_clock(void **state)
{
	static const struct generation gens[] = {
		{.mono_ns = 5000, .wall_sec = 1795727100, .wall_nsec = 500},
		{.mono_ns = 2000005000, .wall_sec = 1795727101},
		{.mono_ns = 9000005000, .wall_sec = 1795727108},
	};
	static const struct {
		uint64_t wall_ns, trace_ns;
	} cases[] = {
		{1795727100000000500, 5000},       {1795727100000000700, 5200},
		{1795727099999999000, 3500},       {1, 0}, /* before the clock's beginning */
		{1795727101000000300, 2000005300}, {1795727200000000000, 101000005000},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct wall_moment moment = {.wall_ns = cases[i].wall_ns};

		for (size_t k = 0; k < COUNT(gens); k++)
			wall_moment_take(&moment, &gens[k]);
		assert_true(moment.is_known);
		assert_int_equal(moment.trace_ns, cases[i].trace_ns);
	}
	for (size_t i = 0; i < 3; i++) { /* none, its own clock, and one that no ns can hold */
		static const uint64_t secs[] = {0, 8385, UINT64_MAX / 2};
		struct wall_moment moment = {.wall_ns = 1795727100000000000};

		wall_moment_take(&moment, &(struct generation){.mono_ns = 5, .wall_sec = secs[i]});
		assert_false(moment.is_known);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_samples),       cmocka_unit_test(test_random_cuts),
	cmocka_unit_test(test_split),         cmocka_unit_test(test_anonymize),
	cmocka_unit_test(test_anonymize_own), cmocka_unit_test(test_unmarked_gaps),
	cmocka_unit_test(test_left_out),      cmocka_unit_test(test_assist_mentioned_late),
	cmocka_unit_test(test_wall_clock),
};

UNIT_TESTS(tests, NULL, NULL);
