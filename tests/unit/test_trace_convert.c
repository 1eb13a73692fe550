/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Converts files to ops and back. Checks the ops, their rules, and that the result is valid and complete. */
#include "unit.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/convert/convert.h"
#include "op_rules.h"
#include "trace/wire/event.h"
#include "trace/wire/event_v1.h"
#include "wire_trace.h"

static const enum wire_format formats[] = {
	WIRE_V0,    WIRE_GO15,  WIRE_GO17,  WIRE_GO18,  WIRE_GO19,  WIRE_GO110, WIRE_GO111,
	WIRE_GO119, WIRE_GO121, WIRE_GO122, WIRE_GO123, WIRE_GO125, WIRE_GO126,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { M1 = 5001, M2 = 5002, MAX_OPS = 64 };

/* --- a sink that checks, stores and encodes --- */

struct story {
	struct op_rules *rules;
	struct wire *wire;
	struct bytes bytes;
	struct op ops[MAX_OPS]; /* the first ones */
	size_t nops;
	uint64_t goids[MAX_OPS]; /* of ops[].g2 if set, else of ops[].g */
	char strings[MAX_OPS][48];
	unsigned generations, last;
	uint64_t start, end, before; /* ns: bounds of the last generation, end of the previous one */
	int refuse;                  /* result of the sink */
};

static void remember(struct story *story, const struct op *op, const struct tables *tables)
{
	size_t len, i = story->nops++;
	const char *text = strtab_get(tables->strings, op->string, &len);

	if (i >= MAX_OPS)
		return;
	story->ops[i] = *op;
	story->goids[i] = tables->goids[op->g2 ? op->g2 : op->g];
	if (len >= sizeof(story->strings[i]))
		len = sizeof(story->strings[i]) - 1;
	memcpy(story->strings[i], text, len);
}

static int take(void *ctx, const struct generation *gen)
{
	struct story *story = ctx;
	struct error err = {""};

	if (story->refuse)
		return story->refuse;
	op_rules_generation(story->rules, gen, &err);
	assert_string_equal(err.text, "");
	assert_false(story->last);
	story->generations++;
	story->last = gen->last;
	story->before = story->end;
	story->start = gen->start;
	story->end = gen->end;
	for (size_t i = 0; i < gen->nops; i++)
		remember(story, &gen->ops[i], gen->tables);
	return wire_generation(story->wire, gen, &err);
}

static struct story *story_new(enum wire_format format)
{
	struct story *story = calloc(1, sizeof(*story));
	struct wire_options options = {.format = format};
	struct error err;

	assert_non_null(story);
	options.out = (struct byte_sink){bytes_write, &story->bytes};
	story->rules = op_rules_new();
	story->wire = wire_new(&options, &err);
	assert_non_null(story->wire);
	return story;
}

static void story_free(struct story *story)
{
	op_rules_free(story->rules);
	wire_free(story->wire);
	free(story->bytes.data);
	free(story);
}

static int convert(struct story *story, const uint8_t *bytes, size_t n, struct convert_result *result,
		   struct error *err)
{
	const struct convert_sink sink = {.generation = take, .ctx = story};

	return convert_trace(bytes, n, NULL, &sink, result, err);
}

/* Converts a valid file to a valid file. The result is in the story. */
static struct story *good(const uint8_t *bytes, size_t n, enum wire_format format, struct wire_report *report)
{
	struct story *story = story_new(format);
	struct convert_result result;
	struct error err;
	int ret = convert(story, bytes, n, &result, &err);

	assert_string_equal(err.text, "");
	assert_string_equal(result.fault.text, "");
	assert_int_equal(ret, 0);
	assert_true(story->last);
	assert_int_equal(result.generations, story->generations);
	wire_check(story->bytes.data, story->bytes.len, report);
	assert_string_equal(report->error.text, "");
	assert_int_equal(report->version, format);
	return story;
}

/* --- a trace with one event of each kind --- */

#define P_IS(p_, status_, m_)                                                                                \
	{                                                                                                    \
		.kind = OP_PROC_STATUS, .p = p_, .status = status_, .m = m_                                  \
	}
#define G_IS(g_, status_, m_)                                                                                \
	{                                                                                                    \
		.kind = OP_GO_STATUS, .g = g_, .status = status_, .m = m_, .p = NO_P                         \
	}
#define OP(kind_, m_, p_, g_, ...)                                                                           \
	{                                                                                                    \
		.kind = kind_, .m = m_, .p = p_, .g = g_, __VA_ARGS__                                        \
	}

static struct wire_trace *of_all_kinds(void)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2),
		 g3 = wire_trace_goroutine(t, 3), g7 = wire_trace_goroutine(t, 7);
	uint32_t here = wire_trace_stack(t, "main.main", NULL),
		 worker = wire_trace_stack(t, "main.worker", NULL);
	uint32_t receive = wire_trace_string(t, "chan receive"),
		 yields = wire_trace_string(t, "runtime.Gosched"),
		 mark = wire_trace_string(t, "GC mark termination"), name = wire_trace_string(t, "name"),
		 label = wire_trace_string(t, "GC (idle)");
	const struct op first[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_IDLE, NO_M),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_WAITING, NO_M),
		G_IS(g3, G_SYSCALL, M2),
		OP(OP_PROCS_CHANGE, M1, 0, g1, .arg = 2, .stack = here),
		OP(OP_GO_CREATE, M1, 0, g1, .g2 = g7, .stack2 = worker, .stack = here),
		OP(OP_GO_UNBLOCK, M1, 0, g1, .g2 = g2, .stack = here),
		OP(OP_SYSCALL_BEGIN, M1, 0, g1, .stack = here),
		OP(OP_SYSCALL_END, M1, 0, g1),
		OP(OP_STW_BEGIN, M1, 0, g1, .string = mark, .stack = here),
		OP(OP_STW_END, M1, 0, g1),
		OP(OP_GC_BEGIN, M1, 0, g1, .stack = here),
		OP(OP_GC_ASSIST_BEGIN, M1, 0, g1, .stack = here),
		OP(OP_GC_ASSIST_END, M1, 0, g1),
		OP(OP_HEAP_ALLOC, M1, 0, g1, .arg = 4096),
		OP(OP_HEAP_GOAL, M1, 0, g1, .arg = 1 << 20),
		OP(OP_GC_END, M1, 0, g1),
		OP(OP_GC_SWEEP_BEGIN, M1, 0, g1, .stack = here),
		OP(OP_GC_SWEEP_END, M1, 0, g1, .arg = 8192, .arg2 = 100),
		OP(OP_GO_BLOCK, M1, 0, g1, .string = receive, .stack = here),
		OP(OP_GO_START, M1, 0, g7),
		OP(OP_GO_LABEL, M1, 0, g7, .string = label),
		OP(OP_TASK_BEGIN, M1, 0, g7, .arg = 5, .string = name, .stack = worker),
		OP(OP_REGION_BEGIN, M1, 0, g7, .arg = 5, .string = name, .stack = worker),
		OP(OP_LOG, M1, 0, g7, .arg = 5, .string = name, .string2 = name, .stack = worker),
		OP(OP_REGION_END, M1, 0, g7, .arg = 5, .string = name, .stack = worker),
		OP(OP_TASK_END, M1, 0, g7, .arg = 5, .stack = worker),
		OP(OP_SYSCALL_BEGIN, M1, 0, g7, .stack = worker),
		OP(OP_PROC_STEAL, M2, 0, g3, .m2 = M1),
		OP(OP_PROC_START, M2, 1, g3),
		OP(OP_SYSCALL_END_BLOCKED, M2, 1, g3),
		OP(OP_GO_START, M2, 1, g3),
		OP(OP_GO_STOP, M2, 1, g3, .string = yields, .stack = worker),
		OP(OP_PROC_STOP, M2, 1, NO_G),
		OP(OP_CPU_SAMPLE, M2, 1, g3, .stack = worker),
	};
	const struct op second[] = {
		P_IS(0, P_IDLE, NO_M),
		P_IS(1, P_IDLE, NO_M),
		G_IS(g1, G_WAITING, NO_M),
		G_IS(g2, G_RUNNABLE, NO_M),
		G_IS(g3, G_RUNNABLE, NO_M),
		G_IS(g7, G_SYSCALL, M1),
		OP(OP_SYSCALL_END_BLOCKED, M1, NO_P, g7),
		OP(OP_PROC_START, M1, 0, NO_G),
		OP(OP_GO_START, M1, 0, g7),
		OP(OP_GO_DESTROY, M1, 0, g7),
		OP(OP_GO_START, M1, 0, g2),
		OP(OP_GO_BLOCK, M1, 0, g2, .string = receive, .stack = here),
	};

	wire_trace_generation(t, first, COUNT(first));
	wire_trace_generation(t, second, COUNT(second));
	return t;
}

/* Converts from every format to every format. The result is valid; the same format keeps the same events. */
static void test_all_to_all(void **state)
{
	struct wire_trace *t = of_all_kinds();

	(void)state;
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct bytes from = wire_trace_encode(t, formats[i]);

		for (size_t j = 0; j < COUNT(formats); j++) {
			struct wire_report report;

			story_free(good(from.data, from.len, formats[j], &report));
		}
		free(from.data);
	}
	wire_trace_free(t);
}

/* Fails unless both reports have the same events, except those of tables. */
static void assert_same_events(const struct wire_report *a, const struct wire_report *b, bool generations)
{
	for (unsigned type = 0; type < 256; type++) {
		bool table = generations ? type == EV_EVENT_BATCH || type == EV_STRING
					 : type == V1_BATCH || type == V1_STRING;

		if (!table && a->events[type] != b->events[type])
			fail_msg("event %s: %d against %d", wire_report_event(a, type), (int)a->events[type],
				 (int)b->events[type]);
	}
}

static void test_to_its_own(void **state)
{
	struct wire_trace *t = of_all_kinds();

	(void)state;
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct bytes from = wire_trace_encode(t, formats[i]);
		struct wire_report before, after;

		wire_check(from.data, from.len, &before);
		story_free(good(from.data, from.len, formats[i], &after));
		assert_same_events(&before, &after, formats[i] >= WIRE_GO122);
		free(from.data);
	}
	wire_trace_free(t);
}

/* If nothing happens at the end, the end is the time of the tables, also in the converted file. */
static void test_idle_end(void **state)
{
	const uint64_t second = 1000000000, unit = 64;
	struct wire_trace *t = of_all_kinds();
	struct bytes eventful = wire_trace_encode(t, WIRE_GO126);

	(void)state;
	wire_trace_idle(t, second);
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct bytes from = wire_trace_encode(t, formats[i]);
		struct wire_report report;
		struct story *story, *again;

		if (formats[i] < WIRE_GO122) {
			free(from.data);
			continue;
		}
		story = good(from.data, from.len, formats[i], &report);
		assert_in_range(story->end - story->start, second, second + second / 1000);
		again = good(story->bytes.data, story->bytes.len, WIRE_GO126, &report);
		assert_in_range(again->end, story->end - unit, story->end);
		if (formats[i] == WIRE_GO126)
			assert_int_equal(from.len, eventful.len);
		story_free(again);
		story_free(story);
		free(from.data);
	}
	free(eventful.data);
	wire_trace_free(t);
}

/* An idle last generation begins where the file says, not where the previous one ends. */
static void test_idle_generation(void **state)
{
	const uint64_t second = 1000000000;
	struct wire_trace *t = of_all_kinds();
	/* The state that of_all_kinds leaves. Goroutine 3, which is index 3, is runnable. */
	const struct op still[] = {
		P_IS(0, P_RUNNING, M1),   P_IS(1, P_IDLE, NO_M),     G_IS(1, G_WAITING, NO_M),
		G_IS(2, G_WAITING, NO_M), G_IS(3, G_RUNNABLE, NO_M),
	};

	(void)state;
	wire_trace_skip(t, 2 * second);
	wire_trace_generation(t, still, COUNT(still));
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct bytes from = wire_trace_encode(t, formats[i]);
		struct wire_report report;
		struct story *story;

		if (formats[i] < WIRE_GO122) {
			free(from.data);
			continue;
		}
		story = good(from.data, from.len, formats[i], &report);
		assert_int_equal(story->generations, 3);
		assert_in_range(story->start - story->before, 2 * second - 1000, 2 * second + 1000000);
		assert_in_range(report.last_ns - report.first_ns, 2 * second, 2 * second + 1000000);
		story_free(story);
		free(from.data);
	}
	wire_trace_free(t);
}

/* v1 to v2 and back: everything that both can represent is kept. */
static void test_there_and_back(void **state)
{
	struct wire_trace *t = of_all_kinds();

	(void)state;
	for (size_t i = 0; i < COUNT(formats) && formats[i] < WIRE_GO122; i++) {
		struct bytes from = wire_trace_encode(t, formats[i]);
		struct wire_report before, between, after;
		struct story *there = good(from.data, from.len, WIRE_GO126, &between);

		wire_check(from.data, from.len, &before);
		story_free(good(there->bytes.data, there->bytes.len, formats[i], &after));
		assert_same_events(&before, &after, false);
		story_free(there);
		free(from.data);
	}
	wire_trace_free(t);
}

/* --- the ops --- */

struct step {
	uint8_t kind;
	uint64_t goid;
	uint8_t status;
	int32_t p;
};

static void assert_story(const struct story *story, const struct step *steps, size_t n)
{
	for (size_t i = 0; i < n && i < story->nops; i++) {
		const struct op *op = &story->ops[i];

		if (op->kind != steps[i].kind || story->goids[i] != steps[i].goid ||
		    op->status != steps[i].status || op->p != steps[i].p)
			fail_msg("op %d: %s goroutine %d status %d P %d, expected %s %d %d %d", (int)i,
				 op_name(op->kind), (int)story->goids[i], op->status, op->p,
				 op_name(steps[i].kind), (int)steps[i].goid, steps[i].status, steps[i].p);
	}
	assert_int_equal(story->nops, n);
}

/*
 * Made by hand, with a system call that loses its P: goroutine 1 creates 3 and waits, 2 waits all the time, 3
 * wakes 1 and ends. The first call of 1 is short, the second loses its P, which thread 8 takes.
 */
static const uint8_t go111[] = "go 1.11 trace\0\0\0"
			       "\x41\x00\xe8\x07"         /* Batch p=0 ticks=1000 */
			       "\xcd\x04\x01\x01\x03\x00" /* GoCreate 1 */
			       "\xcd\x04\x01\x02\x02\x00" /* GoCreate 2 */
			       "\x5f\x01\x02"             /* GoWaiting 2 */
			       "\x45\x01\x07"             /* ProcStart, thread 7 */
			       "\x66\x01\x01"             /* GoStartLocal 1 */
			       "\x84\x01\x02\x00"         /* Gomaxprocs 2 */
			       "\xcd\x04\x0a\x03\x02\x01" /* GoCreate 3 */
			       "\x5c\x01\x01"             /* GoSysCall */
			       "\x57\x0a\x01"             /* GoBlockRecv */
			       "\x8e\x05\x03\x01"         /* GoStart 3 */
			       "\xd5\x04\x05\x01\x02\x01" /* GoUnblock 1 */
			       "\x0f\x05"                 /* GoEnd */
			       "\x8e\x05\x01\x03"         /* GoStart 1 */
			       "\x5c\x05\x01"             /* GoSysCall */
			       "\x1e\x05"                 /* GoSysBlock */
			       "\x06\x01"                 /* ProcStop */
			       "\x41\x01\x80\x09"         /* Batch p=1 ticks=1152 */
			       "\x45\x00\x08"             /* ProcStart, thread 8 */
			       "\x9d\x01\x01\x04"         /* GoSysExit 1 seq=4 ... */
			       "\x00";
/* GoSysExit's three values are preceded by their length; see make_go111(). The rest of the file: */
static const uint8_t go111_end[] = "\x8e\x05\x01\x05"         /* GoStart 1 */
				   "\x51\x05\x01"             /* GoSched */
				   "\x02\x80\x94\xeb\xdc\x03" /* Frequency 1e9 */
				   "\x25\x01\x09main.main"    /* String */
				   "\x25\x02\x0a/x/main.go"
				   "\x25\x03\x0bmain.worker"
				   "\xc3\x09\x01\x01\x80\xa0\x80\x02\x01\x02\x0a"
				   "\xc3\x09\x02\x01\x80\xc0\x80\x02\x03\x02\x14"
				   "\xc3\x09\x03\x01\x90\xa0\x80\x02\x01\x02\x0c";

static size_t make_go111(uint8_t *file)
{
	static const uint8_t exit[] = "\xdd\x05\x01\x01\x04\xff\x08"; /* GoSysExit 1 seq=4 at tick 1151 */
	size_t head = sizeof(go111) - 1 - 5, n = 0;

	memcpy(file, go111, head);
	n += head;
	memcpy(file + n, exit, sizeof(exit) - 1);
	n += sizeof(exit) - 1;
	memcpy(file + n, go111_end, sizeof(go111_end) - 1);
	return n + sizeof(go111_end) - 1;
}

static void test_v1_ops(void **state)
{
	static const struct step steps[] = {
		{OP_PROC_STATUS, 0, P_RUNNING, 0},
		{OP_PROC_STATUS, 0, P_IDLE, 1},
		{OP_GO_STATUS, 1, G_RUNNING, NO_P},
		{OP_GO_STATUS, 2, G_WAITING, NO_P},
		{OP_PROCS_CHANGE, 1, 0, 0},
		{OP_GO_CREATE, 3, 0, 0},
		{OP_SYSCALL_BEGIN, 1, 0, 0},
		{OP_SYSCALL_END, 1, 0, 0},
		{OP_GO_BLOCK, 1, 0, 0},
		{OP_GO_START, 3, 0, 0},
		{OP_GO_UNBLOCK, 1, 0, 0},
		{OP_GO_DESTROY, 3, 0, 0},
		{OP_GO_START, 1, 0, 0},
		{OP_SYSCALL_BEGIN, 1, 0, 0},
		{OP_PROC_STEAL, 1, 0, 0},
		{OP_SYSCALL_END_BLOCKED, 1, 0, NO_P},
		{OP_PROC_START, 0, 0, 1},
		{OP_GO_START, 1, 0, 1},
		{OP_GO_STOP, 1, 0, 1},
	};
	uint8_t file[512];
	size_t n = make_go111(file);
	struct wire_report report;
	struct story *story = good(file, n, WIRE_GO126, &report);

	(void)state;
	assert_story(story, steps, COUNT(steps));
	assert_string_equal(story->strings[8], "chan receive");
	assert_string_equal(story->strings[18], "runtime.Gosched");
	assert_int_equal(story->ops[0].m, 7);
	assert_int_equal(story->ops[17].m, 8);
	/* A short call lasts a nanosecond. The interval between two other ops is as in the file. */
	assert_int_equal(story->ops[7].time - story->ops[6].time, 1);
	assert_int_equal(story->ops[9].time - story->ops[8].time, 5);
	assert_int_equal(story->goids[2], 1);
	story_free(story);
}

/* A truncated v1 file has no frequency or no names, and cannot be converted. A damaged one is converted up to
 * the damage. */
static void test_v1_faults(void **state)
{
	uint8_t file[512];
	size_t n = make_go111(file);

	(void)state;
	for (size_t cut = 0; cut < n; cut++) {
		struct story *story = story_new(WIRE_GO126);
		struct convert_result result;
		struct error err;
		int ret = convert(story, file, cut, &result, &err);

		/* Stacks come last, and are not needed for reading. */
		assert_true(ret == -EBADMSG || cut > 150);
		assert_true(ret == 0 || result.fault.text[0]);
		assert_string_equal(err.text, "");
		story_free(story);
	}
}

/* The complete generations of a truncated v2 file are converted, and the last one is marked as the last. */
static void test_v2_torn(void **state)
{
	struct wire_trace *t = of_all_kinds();
	struct bytes from = wire_trace_encode(t, WIRE_GO126);

	(void)state;
	for (size_t cut = 0; cut < from.len; cut += 7) {
		struct story *story = story_new(WIRE_GO111);
		struct convert_result result;
		struct wire_report before, after;
		struct error err;
		int ret = convert(story, from.data, cut, &result, &err);

		wire_check(from.data, cut, &before);
		assert_int_equal(ret == 0, before.error.text[0] == '\0');
		assert_string_equal(result.fault.text, before.error.text);
		assert_int_equal(result.generations, before.generations);
		assert_int_equal(story->last, result.generations > 0);
		if (result.generations && wire_check(story->bytes.data, story->bytes.len, &after))
			fail_msg("cut at %d: %s", (int)cut, after.error.text);
		story_free(story);
	}
	free(from.data);
	wire_trace_free(t);
}

/* What a sink has received since it began or was restarted. */
struct taken {
	uint64_t generations, nops, ends;
	bool last;
	unsigned restarts;
};

static int count_taken(void *ctx, const struct generation *gen)
{
	struct taken *taken = ctx;

	taken->generations++;
	taken->nops += gen->nops;
	taken->ends += gen->end;
	taken->last = gen->last;
	return 0;
}

static int restart_taking(void *ctx)
{
	struct taken *taken = ctx;

	*taken = (struct taken){.restarts = taken->restarts + 1};
	return 0;
}

/*
 * A sink that can be restarted ends up with the same result as one that waits until the first fault is found.
 */
static void test_v2_restart(void **state)
{
	struct wire_trace *t = of_all_kinds();
	struct bytes from = wire_trace_encode(t, WIRE_GO126);
	unsigned partial = 0;

	(void)state;
	for (size_t cut = 0; cut <= from.len;
	     cut += cut + 7 > from.len && cut < from.len ? from.len - cut : 7) {
		struct taken taken[2] = {{0}};
		struct convert_result results[2];
		struct error errors[2];

		for (unsigned again = 0; again < 2; again++) {
			const struct convert_sink sink = {.generation = count_taken,
							  .ctx = &taken[again],
							  .restart = again ? restart_taking : NULL};
			int ret = convert_trace(from.data, cut, NULL, &sink, &results[again], &errors[again]);

			assert_int_equal(ret == 0, results[again].fault.text[0] == '\0');
		}
		assert_int_equal(taken[1].restarts, results[1].fault.text[0] != '\0');
		taken[1].restarts = 0;
		assert_memory_equal(&taken[0], &taken[1], sizeof(taken[0]));
		assert_memory_equal(results[0].kinds, results[1].kinds, sizeof(results[0].kinds));
		assert_string_equal(results[0].fault.text, results[1].fault.text);
		assert_int_equal(results[0].error_offset, results[1].error_offset);
		assert_int_equal(results[0].version, results[1].version);
		partial += taken[0].generations && results[0].fault.text[0];
	}
	assert_true(partial > 0);
	free(from.data);
	wire_trace_free(t);
}

/* The sink's error is returned to the caller, and nothing follows. */
static void test_sink_fails(void **state)
{
	struct wire_trace *t = of_all_kinds();
	struct bytes from = wire_trace_encode(t, WIRE_GO123);
	struct story *story = story_new(WIRE_GO123);
	struct convert_result result;
	struct error err;

	(void)state;
	story->refuse = -ENOSPC;
	assert_int_equal(convert(story, from.data, from.len, &result, &err), -ENOSPC);
	assert_string_equal(result.fault.text, "");
	assert_int_equal(story->generations, 0);
	story_free(story);
	free(from.data);
	wire_trace_free(t);
}

/* Two goroutines that run on one thread at the start: Go's reader accepts it, but no machine can do it. */
static void test_contradiction(void **state)
{
	static const uint8_t batch[] = {
		EV_EVENT_BATCH, 1,           50, 100, 15,        EV_PROC_STATUS, 1, 0, P_RUNNING,
		EV_GO_STATUS,   1,           1,  50,  G_RUNNING, EV_GO_STATUS,   1, 2, 50,
		G_RUNNING,      EV_PROC_STOP};
	static const uint8_t sync[] = {EV_EVENT_BATCH, 1, 51, 100, 5, EV_FREQUENCY, 0x80, 0x94, 0xeb, 0x03};
	uint8_t file[16 + sizeof(batch) + sizeof(sync)] = "go 1.22 trace";
	struct story *story = story_new(WIRE_GO122);
	struct convert_result result;
	struct wire_report report;
	struct error err;

	(void)state;
	memcpy(file + 16, sync, sizeof(sync));
	memcpy(file + 16 + sizeof(sync), batch, sizeof(batch) - 1);
	file[16 + sizeof(sync) + 4] = sizeof(batch) - 1 - 5;
	assert_int_equal(wire_check(file, sizeof(file) - 1, &report), 0);
	assert_int_equal(convert(story, file, sizeof(file) - 1, &result, &err), -EBADMSG);
	assert_non_null(strstr(result.fault.text, "goroutine 2 was running on thread 50"));
	assert_int_equal(result.error_offset, 16 + sizeof(sync));
	assert_int_equal(story->generations, 0);
	story_free(story);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_all_to_all),      cmocka_unit_test(test_to_its_own),
	cmocka_unit_test(test_there_and_back),  cmocka_unit_test(test_v1_ops),
	cmocka_unit_test(test_v1_faults),       cmocka_unit_test(test_v2_torn),
	cmocka_unit_test(test_v2_restart),      cmocka_unit_test(test_sink_fails),
	cmocka_unit_test(test_contradiction),   cmocka_unit_test(test_idle_end),
	cmocka_unit_test(test_idle_generation),
};

UNIT_TESTS(tests, NULL, NULL);
