/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "wire_trace.h"

#include "unit.h"
#include <stdlib.h>
#include <string.h>

#include "op_rules.h"

enum { MAX_GENERATIONS = 32, MAX_IDS = 1024, MAX_DEPTH = 8 };

#define FIRST_TIME 10000000000000000ull /* 115 days: a float64 cannot represent this to the nanosecond */
#define OP_STEP    1001u

struct wire_trace {
	struct tables tables;
	uint64_t goids[MAX_IDS];
	struct stack stacks[MAX_IDS];
	uint64_t pcs[MAX_IDS][MAX_DEPTH];
	struct generation generations[MAX_GENERATIONS];
	struct op *ops[MAX_GENERATIONS];
	unsigned ngenerations;
	uint64_t clock;
};

struct wire_trace *wire_trace_new(void)
{
	struct wire_trace *trace = calloc(1, sizeof(*trace));

	assert_non_null(trace);
	trace->tables = (struct tables){
		.strings = strtab_new(),
		.goids = trace->goids,
		.ngoroutines = 1,
		.stacks = trace->stacks,
		.nstacks = 1,
		.heap_base = 0xc000000000,
	};
	assert_non_null(trace->tables.strings);
	trace->clock = FIRST_TIME;
	return trace;
}

void wire_trace_free(struct wire_trace *trace)
{
	for (unsigned i = 0; i < trace->ngenerations; i++)
		free(trace->ops[i]);
	strtab_free(trace->tables.strings);
	free(trace);
}

uint32_t wire_trace_string(struct wire_trace *trace, const char *text)
{
	return strtab_add_str(trace->tables.strings, text);
}

uint32_t wire_trace_stack(struct wire_trace *trace, ...)
{
	uint32_t id = trace->tables.nstacks++;
	struct stack *stack = &trace->stacks[id];
	const char *name;
	va_list args;

	assert_true(id < MAX_IDS);
	*stack = (struct stack){.pcs = trace->pcs[id], .literal = true};
	va_start(args, trace);
	while ((name = va_arg(args, const char *))) {
		assert_true(stack->n < MAX_DEPTH);
		trace->pcs[id][stack->n++] = wire_trace_string(trace, name);
	}
	va_end(args);
	return id;
}

uint32_t wire_trace_frames(struct wire_trace *trace, const struct frame *frames, uint32_t n)
{
	uint32_t id = trace->tables.nstacks++;

	assert_true(id < MAX_IDS);
	trace->stacks[id] = (struct stack){.frames = frames, .n = n};
	return id;
}

void wire_trace_skip(struct wire_trace *trace, uint64_t ns)
{
	trace->clock += ns;
}

void wire_trace_idle(struct wire_trace *trace, uint64_t ns)
{
	trace->clock += ns;
	trace->generations[trace->ngenerations - 1].end = trace->clock;
}

void wire_trace_last(struct wire_trace *trace)
{
	trace->generations[trace->ngenerations - 1].last = true;
}

size_t wire_trace_end(struct wire_trace *trace, enum wire_format format, unsigned n)
{
	unsigned all = trace->ngenerations;
	struct bytes bytes;

	assert_true(n <= all);
	trace->ngenerations = n;
	bytes = wire_trace_encode(trace, format);
	trace->ngenerations = all;
	free(bytes.data);
	return bytes.len;
}

uint32_t wire_trace_goroutine(struct wire_trace *trace, uint64_t goid)
{
	uint32_t index = trace->tables.ngoroutines++;

	assert_true(index < MAX_IDS);
	trace->goids[index] = goid;
	return index;
}

void wire_trace_generation(struct wire_trace *trace, const struct op *ops, size_t n)
{
	unsigned index = trace->ngenerations++;
	struct generation *gen = &trace->generations[index];
	struct op *own = malloc((n + 1) * sizeof(*own));
	uint64_t start = trace->clock + OP_STEP;

	assert_true(index < MAX_GENERATIONS);
	assert_non_null(own);
	memcpy(own, ops, n * sizeof(*own));
	trace->clock = start;
	for (size_t i = 0; i < n; i++) {
		bool status = own[i].kind == OP_PROC_STATUS || own[i].kind == OP_GO_STATUS;

		if (!own[i].time && !(status && trace->clock == start))
			trace->clock += OP_STEP;
		if (!own[i].time)
			own[i].time = trace->clock;
	}
	if (n && own[n - 1].time > trace->clock)
		trace->clock = own[n - 1].time;
	trace->clock += OP_STEP;
	trace->ops[index] = own;
	*gen = (struct generation){
		.number = index + 1,
		.start = start,
		.end = trace->clock,
		.mono_ns = start + 1,
		.wall_sec = 1700000000 + index,
		.ops = own,
		.nops = n,
		.tables = &trace->tables,
	};
}

int bytes_write(void *ctx, const void *bytes, size_t n)
{
	struct bytes *out = ctx;

	if (out->len + n > out->capacity) {
		out->capacity = (out->len + n) * 2;
		out->data = realloc(out->data, out->capacity);
		assert_non_null(out->data);
	}
	memcpy(out->data + out->len, bytes, n);
	out->len += n;
	return 0;
}

int wire_trace_encode_to(struct wire_trace *trace, const struct wire_options *options, struct error *err)
{
	struct wire *wire = wire_new(options, err);
	int ret = 0;

	assert_non_null(wire);
	for (unsigned i = 0; i < trace->ngenerations && !ret; i++)
		ret = wire_generation(wire, &trace->generations[i], err);
	wire_free(wire);
	return ret;
}

static void assert_rules(const struct wire_trace *trace)
{
	struct op_rules *rules = op_rules_new();
	struct error err = {""};

	assert_non_null(rules);
	for (unsigned i = 0; i < trace->ngenerations; i++)
		op_rules_generation(rules, &trace->generations[i], &err);
	op_rules_free(rules);
	assert_string_equal(err.text, "");
}

struct bytes wire_trace_encode(struct wire_trace *trace, enum wire_format format)
{
	struct bytes out = {0};
	struct wire_options options = {.format = format, .out = {bytes_write, &out}};
	struct error err = {""};
	int ret;

	assert_rules(trace);
	ret = wire_trace_encode_to(trace, &options, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(ret, 0);
	return out;
}
