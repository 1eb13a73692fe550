/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Ops made by hand, encoded in each format and read back by wire_check. If WIRE_TRACE_DIR is set, the files
 * are left there for Go's own readers.
 */
#include "unit.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/wire/event.h"
#include "wire_trace.h"

static const enum wire_format formats[] = {WIRE_GO122, WIRE_GO123, WIRE_GO125, WIRE_GO126};
static const enum wire_format flat_formats[] = {WIRE_V0,    WIRE_GO15,  WIRE_GO17,  WIRE_GO18, WIRE_GO19,
						WIRE_GO110, WIRE_GO111, WIRE_GO119, WIRE_GO121};

#define COUNT(array)       (sizeof(array) / sizeof((array)[0]))
#define GENERATION(t, ops) wire_trace_generation(t, ops, COUNT(ops))

/* Names for threads and Ps, to make lists of ops readable. */
enum { M1 = 5001, M2 = 5002, M3 = 5003 };

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

static void leave_file(const char *name, enum wire_format format, const struct bytes *bytes)
{
	const char *dir = getenv("WIRE_TRACE_DIR");
	char path[512];
	FILE *file;

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/%s.%d.trace", dir, name, format);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes->data, 1, bytes->len, file), bytes->len);
	assert_int_equal(fclose(file), 0);
}

/* However the bytes arrive, each generation is found as soon as it is whole. */
static void find_generations(const struct bytes *bytes, const struct wire_report *report)
{
	size_t pos = WIRE_HEADER_BYTES, found = 0;

	for (size_t n = WIRE_HEADER_BYTES; n <= bytes->len; n++) {
		size_t end = wire_generation_end(bytes->data, n, &pos);

		if (!end)
			continue;
		assert_int_equal(end, n);
		found++;
	}
	assert_int_equal(found, report->generations);
	assert_int_equal(pos, bytes->len);
}

/* Encodes in one format; the result must be valid. */
static struct wire_report encode(struct wire_trace *trace, const char *name, enum wire_format format)
{
	struct bytes bytes = wire_trace_encode(trace, format);
	struct wire_report report;

	leave_file(name, format, &bytes);
	wire_check(bytes.data, bytes.len, &report);
	assert_string_equal(report.error.text, "");
	assert_int_equal(report.version, format);
	assert_int_equal(report.valid_bytes, bytes.len);
	if (format == WIRE_GO126)
		find_generations(&bytes, &report);
	free(bytes.data);
	return report;
}

static void encode_all(struct wire_trace *trace, const char *name, uint64_t generations)
{
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct wire_report report = encode(trace, name, formats[i]);

		assert_int_equal(report.generations, generations);
	}
	for (size_t i = 0; i < COUNT(flat_formats); i++)
		encode(trace, name, flat_formats[i]);
}

/* One P; goroutine 1 creates 7 and blocks, 7 runs, wakes 1 and ends. */
static void test_minimal(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g7 = wire_trace_goroutine(t, 7);
	uint32_t main_stack = wire_trace_stack(t, "main.main", NULL);
	uint32_t worker = wire_trace_stack(t, "main.worker", NULL);
	uint32_t receive = wire_trace_string(t, "chan receive");
	const struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		OP(OP_PROCS_CHANGE, M1, 0, g1, .arg = 1),
		OP(OP_GO_CREATE, M1, 0, g1, .g2 = g7, .stack2 = worker, .stack = main_stack),
		OP(OP_GO_BLOCK, M1, 0, g1, .string = receive, .stack = main_stack),
		OP(OP_GO_START, M1, 0, g7),
		OP(OP_GO_UNBLOCK, M1, 0, g7, .g2 = g1),
		OP(OP_GO_DESTROY, M1, 0, g7),
		OP(OP_GO_START, M1, 0, g1),
	};
	struct wire_report report;

	(void)state;
	GENERATION(t, ops);
	encode_all(t, "minimal", 1);
	report = encode(t, "minimal", WIRE_GO126);
	assert_int_equal(report.events[EV_GO_START], 2);
	assert_int_equal(report.events[EV_GO_UNBLOCK], 1);
	assert_int_equal(report.events[EV_STACK], 2);
	assert_int_equal(report.events[EV_STRING], 3);
	assert_int_equal(report.events[EV_EVENT_BATCH], 4);
	assert_int_equal(report.events[EV_STACKS], 1);
	assert_int_equal(report.events[EV_STRINGS], 1);
	assert_int_equal(report.goroutines, 2);
	assert_int_equal(report.procs, 1);
	assert_int_equal(report.threads, 1);
	/* From the sync event, up to 64 ns before the start, to the last op. A float64 adds two more. */
	assert_in_range(report.last_ns - report.first_ns, 7 * 1001, 7 * 1001 + 66);
	wire_trace_free(t);
}

/* The second generation begins with the state at the end of the first. */
static void test_two_generations(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2);
	uint32_t stack = wire_trace_stack(t, "main.main", NULL), own = wire_trace_stack(t, "main.idle", NULL);
	uint32_t sleep = wire_trace_string(t, "sleep");
	const struct op first[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_IDLE, NO_M),
		G_IS(g1, G_RUNNING, M1),
		{.kind = OP_GO_STATUS, .g = g2, .status = G_WAITING, .p = NO_P, .stack = own},
		OP(OP_GO_UNBLOCK, M1, 0, g1, .g2 = g2, .stack = stack),
		OP(OP_PROC_START, M2, 1, NO_G),
		OP(OP_GO_START, M2, 1, g2),
	};
	const struct op second[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_RUNNING, M2),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_RUNNING, M2),
		OP(OP_GO_BLOCK, M1, 0, g1, .string = sleep, .stack = stack),
		OP(OP_GO_UNBLOCK, NO_M, NO_P, NO_G, .g2 = g1),
		OP(OP_GO_START, M1, 0, g1),
		OP(OP_GO_STOP, M2, 1, g2, .string = sleep, .stack = stack),
		OP(OP_PROC_STOP, M2, 1, NO_G),
	};
	const struct op third[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_IDLE, NO_M),
		G_IS(g1, G_RUNNING, M1),
		/* GOMAXPROCS grew: a P may appear in any generation. */
		G_IS(g2, G_RUNNABLE, NO_M),
		P_IS(2, P_RUNNING, M3),
		OP(OP_GO_START, M3, 2, g2),
	};

	(void)state;
	GENERATION(t, first);
	GENERATION(t, second);
	GENERATION(t, third);
	encode_all(t, "generations", 3);
	assert_int_equal(encode(t, "generations", WIRE_GO123).events[EV_GO_STATUS_STACK], 1);
	assert_int_equal(encode(t, "generations", WIRE_GO122).events[EV_GO_STATUS_STACK], 0);
	assert_int_equal(encode(t, "generations", WIRE_GO125).events[EV_CLOCK_SNAPSHOT], 3);
	assert_int_equal(encode(t, "generations", WIRE_GO125).events[EV_SYNC], 3);
	assert_int_equal(encode(t, "generations", WIRE_GO125).events[EV_END_OF_GENERATION], 0);
	assert_int_equal(encode(t, "generations", WIRE_GO126).events[EV_END_OF_GENERATION], 3);
	wire_trace_free(t);
}

/* System calls that keep the P, lose it to another thread, take it back themselves, or give it up; and one
 * that is open at the boundary. */
static void test_syscalls(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2);
	uint32_t read = wire_trace_stack(t, "syscall.Read", "main.main", NULL);
	const struct op first[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_RUNNING, M2),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_SYSCALL, M3),
		OP(OP_SYSCALL_BEGIN, M1, 0, g1, .stack = read),
		OP(OP_SYSCALL_END, M1, 0, g1),
		OP(OP_SYSCALL_BEGIN, M1, 0, g1, .stack = read),
		OP(OP_PROC_STEAL, M2, 0, NO_G, .m2 = M1),
		OP(OP_SYSCALL_END_BLOCKED, M1, NO_P, g1),
		OP(OP_PROC_START, M1, 0, NO_G),
		OP(OP_GO_START, M1, 0, g1),
		OP(OP_SYSCALL_BEGIN, M1, 0, g1, .stack = read),
		OP(OP_PROC_STEAL, M1, 0, g1, .m2 = M1),
		OP(OP_PROC_START, M1, 0, g1),
		OP(OP_SYSCALL_END_BLOCKED, M1, 0, g1),
		OP(OP_GO_START, M1, 0, g1),
		OP(OP_SYSCALL_BEGIN, M1, 0, g1, .stack = read),
		OP(OP_PROC_STOP, M1, 0, g1),
		OP(OP_SYSCALL_END_BLOCKED, M1, NO_P, g1),
		OP(OP_GO_START, M2, 1, g1),
		OP(OP_SYSCALL_BEGIN, M2, 1, g1, .stack = read),
		OP(OP_SYSCALL_END_BLOCKED, M3, NO_P, g2),
	};
	const struct op second[] = {
		P_IS(0, P_IDLE, NO_M),      P_IS(1, P_SYSCALL, M2),        G_IS(g1, G_SYSCALL, M2),
		G_IS(g2, G_RUNNABLE, NO_M), OP(OP_SYSCALL_END, M2, 1, g1), OP(OP_PROC_START, M3, 0, NO_G),
		OP(OP_GO_START, M3, 0, g2),
	};

	(void)state;
	GENERATION(t, first);
	GENERATION(t, second);
	encode_all(t, "syscalls", 2);
	wire_trace_free(t);
}

/* A goroutine that stays in a call through whole generations, and returns in the third. */
static void test_long_syscall(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g9 = wire_trace_goroutine(t, 9);
	const struct op quiet[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g9, G_SYSCALL, M2),
		OP(OP_HEAP_ALLOC, M1, 0, g1, .arg = 4 << 20),
	};
	const struct op back[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g9, G_SYSCALL, M2),
		OP(OP_GO_STOP, M1, 0, g1),
		OP(OP_PROC_STOP, M1, 0, NO_G),
		OP(OP_PROC_START, M2, 0, g9),
		OP(OP_SYSCALL_END_BLOCKED, M2, 0, g9),
		OP(OP_GO_START, M2, 0, g9),
	};

	(void)state;
	GENERATION(t, quiet);
	GENERATION(t, quiet);
	GENERATION(t, back);
	encode_all(t, "long_syscall", 3);
	wire_trace_free(t);
}

static void test_world(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2);
	uint32_t kind = wire_trace_string(t, "GC sweep termination");
	uint32_t mark = wire_trace_string(t, "GC mark termination"),
		 label = wire_trace_string(t, "GC (idle)");
	uint32_t name = wire_trace_string(t, "a name"), value = wire_trace_string(t, "a value");
	uint32_t stack = wire_trace_stack(t, "runtime.gcStart", "main.main", NULL);
	const struct op first[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_WAITING, NO_M),
		OP(OP_GC_ASSIST_ACTIVE, NO_M, NO_P, g2),
		OP(OP_STW_BEGIN, M1, 0, g1, .string = kind, .stack = stack),
		OP(OP_GC_BEGIN, M1, 0, g1, .stack = stack),
		OP(OP_STW_END, M1, 0, g1),
		OP(OP_HEAP_GOAL, M1, 0, g1, .arg = 8 << 20),
		OP(OP_GO_LABEL, M1, 0, g1, .string = label),
		OP(OP_TASK_BEGIN, M1, 0, g1, .arg = 5, .string = name, .stack = stack),
		OP(OP_REGION_BEGIN, M1, 0, g1, .arg = 5, .string = name, .stack = stack),
		OP(OP_CPU_SAMPLE, M1, 0, g1, .stack = stack),
		OP(OP_CPU_SAMPLE, M2, NO_P, NO_G, .stack = stack),
		OP(OP_LOG, M1, 0, g1, .arg = 5, .string = name, .string2 = value, .stack = stack),
	};
	const struct op second[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_WAITING, NO_M),
		OP(OP_GC_ACTIVE, M1, 0, g1),
		OP(OP_GC_ASSIST_ACTIVE, NO_M, NO_P, g2),
		OP(OP_REGION_END, M1, 0, g1, .arg = 5, .string = name, .stack = stack),
		OP(OP_TASK_END, M1, 0, g1, .arg = 5, .stack = stack),
		OP(OP_STW_BEGIN, M1, 0, g1, .string = mark, .stack = stack),
		OP(OP_GC_END, M1, 0, g1),
		OP(OP_STW_END, M1, 0, g1),
		OP(OP_GC_SWEEP_BEGIN, M1, 0, g1, .stack = stack),
		OP(OP_GC_SWEEP_END, M1, 0, g1, .arg = 8192, .arg2 = 4096),
		OP(OP_GC_ASSIST_BEGIN, M1, 0, g1, .stack = stack),
		OP(OP_GC_ASSIST_END, M1, 0, g1),
		OP(OP_GC_BEGIN, M1, 0, g1, .stack = stack),
		OP(OP_NONE, 0, NO_P, NO_G, .arg = 0),
	};
	struct wire_report report;

	(void)state;
	GENERATION(t, first);
	GENERATION(t, second);
	encode_all(t, "world", 2);
	report = encode(t, "world", WIRE_GO126);
	assert_int_equal(report.events[EV_CPU_SAMPLE], 2);
	assert_int_equal(report.events[EV_GC_ACTIVE], 1);
	wire_trace_free(t);
}

/* A coroutine switch is one event since 1.23. In 1.22 three events give the same states. */
static void test_coroutines(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), coro = wire_trace_goroutine(t, 2);
	uint32_t idle = wire_trace_goroutine(t, 3);
	uint32_t stack = wire_trace_stack(t, "iter.Pull", "main.main", NULL);
	const struct op first[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		OP(OP_GO_CREATE_BLOCKED, M1, 0, g1, .g2 = coro, .stack2 = stack, .stack = stack),
		OP(OP_GO_CREATE_BLOCKED, M1, 0, g1, .g2 = idle, .stack2 = stack, .stack = stack),
		OP(OP_GO_SWITCH, M1, 0, g1, .g2 = coro),
		OP(OP_GO_SWITCH, M1, 0, coro, .g2 = g1),
	};
	const struct op second[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		G_IS(coro, G_WAITING, NO_M),
		G_IS(idle, G_WAITING, NO_M),
		OP(OP_GO_SWITCH, M1, 0, g1, .g2 = coro),
		OP(OP_GO_SWITCH_DESTROY, M1, 0, coro, .g2 = g1),
		OP(OP_GO_UNBLOCK, M1, 0, g1, .g2 = idle),
		OP(OP_GO_DESTROY, M1, 0, g1),
		OP(OP_GO_START, M1, 0, idle),
	};
	struct wire_report report;

	(void)state;
	GENERATION(t, first);
	GENERATION(t, second);
	encode_all(t, "coroutines", 2);
	report = encode(t, "coroutines", WIRE_GO123);
	assert_int_equal(report.events[EV_GO_SWITCH], 3);
	assert_int_equal(report.events[EV_GO_SWITCH_DESTROY], 1);
	assert_int_equal(report.events[EV_GO_CREATE_BLOCKED], 2);
	report = encode(t, "coroutines", WIRE_GO122);
	assert_int_equal(report.events[EV_GO_SWITCH], 0);
	assert_int_equal(report.events[EV_GO_START], 5);
	wire_trace_free(t);
}

/* A C thread calls Go and leaves again. Its P is taken by another thread. Then the thread id is reused. */
static void test_callbacks(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g5 = wire_trace_goroutine(t, 5),
		 g6 = wire_trace_goroutine(t, 6);
	uint32_t stack = wire_trace_stack(t, "main.exported", NULL);
	const struct op first[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_IDLE, NO_M),
		G_IS(g1, G_RUNNING, M1),
		OP(OP_GO_CREATE_SYSCALL, M2, NO_P, g5),
		OP(OP_PROC_START, M2, 1, g5),
		OP(OP_SYSCALL_END_BLOCKED, M2, 1, g5),
		OP(OP_GO_START, M2, 1, g5),
		OP(OP_SYSCALL_BEGIN, M2, 1, g5, .stack = stack),
		OP(OP_GO_DESTROY_SYSCALL, M2, 1, g5),
		OP(OP_GO_CREATE_SYSCALL, M2, NO_P, g6),
		OP(OP_PROC_STEAL, M1, 1, g1, .m2 = M2),
		OP(OP_GO_DESTROY_SYSCALL, M2, NO_P, g6),
	};
	const struct op second[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_IDLE, NO_M),
		G_IS(g1, G_RUNNING, M1),
		OP(OP_PROC_START, M2, 1, NO_G),
	};

	(void)state;
	GENERATION(t, first);
	GENERATION(t, second);
	encode_all(t, "callbacks", 2);
	wire_trace_free(t);
}

/* Many events and threads: batches are filled and split. */
static void test_large(void **state)
{
	enum { NOPS = 60000, SWITCH = 100 };
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1);
	uint32_t reason = wire_trace_string(t, "sleep"), stack = wire_trace_stack(t, "main.main", NULL);
	struct op *ops = calloc(NOPS + 4, sizeof(*ops));
	size_t n = 0;
	struct wire_report report;

	(void)state;
	assert_non_null(ops);
	ops[n++] = (struct op)P_IS(0, P_RUNNING, M1);
	ops[n++] = (struct op)G_IS(g1, G_RUNNING, M1);
	while (n < NOPS) {
		uint32_t m = M1 + (uint32_t)(n / SWITCH);

		ops[n++] = (struct op)OP(OP_GO_BLOCK, m, 0, g1, .string = reason, .stack = stack);
		ops[n++] = (struct op)OP(OP_GO_UNBLOCK, m, 0, NO_G, .g2 = g1);
		if (m != M1 + (uint32_t)((n + 4) / SWITCH)) {
			ops[n++] = (struct op)OP(OP_PROC_STOP, m, 0, NO_G);
			m = M1 + (uint32_t)((n + 3) / SWITCH);
			ops[n++] = (struct op)OP(OP_PROC_START, m, 0, NO_G);
			while (n / SWITCH + M1 < m)
				ops[n++] = (struct op)OP(OP_HEAP_ALLOC, m, 0, NO_G, .arg = n);
		}
		ops[n++] = (struct op)OP(OP_GO_START, m, 0, g1);
	}
	wire_trace_generation(t, ops, n);
	free(ops);
	encode_all(t, "large", 1);
	report = encode(t, "large", WIRE_GO126);
	assert_true(report.threads > NOPS / SWITCH / 2);
	wire_trace_free(t);
}

/* One thread's events need several batches. */
static void test_long_stream(void **state)
{
	enum { NOPS = 50000 };
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1);
	struct op *ops = calloc(NOPS + 2, sizeof(*ops));

	(void)state;
	assert_non_null(ops);
	ops[0] = (struct op)P_IS(0, P_RUNNING, M1);
	ops[1] = (struct op)G_IS(g1, G_RUNNING, M1);
	for (size_t i = 0; i < NOPS; i++)
		ops[2 + i] = (struct op)OP(OP_HEAP_ALLOC, M1, 0, g1, .arg = UINT64_MAX - i);
	wire_trace_generation(t, ops, NOPS + 2);
	free(ops);
	encode_all(t, "long_stream", 1);
	assert_int_equal(encode(t, "long_stream", WIRE_GO123).events[EV_HEAP_ALLOC], NOPS);
	wire_trace_free(t);
}

/* The tables also need several batches. Long strings are cut. */
static void test_large_tables(void **state)
{
	enum { NSTRINGS = 300, LEN = 2000 };
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1);
	struct op ops[2 + NSTRINGS] = {P_IS(0, P_RUNNING, M1), G_IS(g1, G_RUNNING, M1)};
	char text[LEN + 1];

	(void)state;
	for (size_t i = 0; i < NSTRINGS; i++) {
		memset(text, 'x', LEN);
		text[LEN] = '\0';
		memcpy(text,
		       &(char[3]){(char)('a' + i / 100), (char)('a' + i / 10 % 10), (char)('a' + i % 10)}, 3);
		ops[2 + i] = (struct op)OP(OP_GO_LABEL, M1, 0, g1, .string = wire_trace_string(t, text));
	}
	GENERATION(t, ops);
	GENERATION(t, ops);
	encode_all(t, "tables", 2);
	assert_int_equal(encode(t, "tables", WIRE_GO125).events[EV_STRING], 2 * NSTRINGS);
	wire_trace_free(t);
}

/* A file of go 1.22 to 1.25 truncated anywhere in its last generation's events keeps its complete part. */
static void test_torn(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1);
	uint32_t stack = wire_trace_stack(t, "main.main", NULL), label = wire_trace_string(t, "text");
	const struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		OP(OP_GO_LABEL, M1, 0, g1, .string = label),
		OP(OP_PROCS_CHANGE, M1, 0, g1, .arg = 1, .stack = stack),
	};

	(void)state;
	GENERATION(t, ops);
	GENERATION(t, ops);
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct bytes bytes = wire_trace_encode(t, formats[i]);
		struct wire_report whole, report, repaired;

		wire_check(bytes.data, bytes.len, &whole);
		for (size_t n = HEADER_SIZE; n < bytes.len; n++) {
			wire_check(bytes.data, n, &report);
			assert_true(report.valid_bytes <= n);
			if (report.generations == 0)
				continue;
			assert_int_equal(wire_check(bytes.data, report.valid_bytes, &repaired), 0);
			assert_int_equal(repaired.generations, report.generations);
		}
		assert_int_equal(report.generations, formats[i] == WIRE_GO126 ? 1 : 2);
		free(bytes.data);
	}
	wire_trace_free(t);
}

static int failing_write(void *ctx, const void *bytes, size_t n)
{
	size_t *left = ctx;

	(void)bytes;
	if (n > *left)
		return -ENOSPC;
	*left -= n;
	return 0;
}

static void test_failing_sink(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1);
	const struct op ops[] = {P_IS(0, P_RUNNING, M1), G_IS(g1, G_RUNNING, M1)};
	size_t left = 60;
	struct wire_options options = {.format = WIRE_GO126, .out = {failing_write, &left}};
	struct error err = {""};

	(void)state;
	GENERATION(t, ops);
	GENERATION(t, ops);
	assert_int_equal(wire_trace_encode_to(t, &options, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "No space left"));
	wire_trace_free(t);
}

/* Ops with invalid references are rejected, and nothing of their generation is written. */
static void test_refused_ops(void **state)
{
	static const struct op bad[] = {
		{.kind = OP_GO_START, .m = M1, .g = 1000},
		{.kind = OP_GO_UNBLOCK, .m = M1, .g2 = 1000},
		{.kind = OP_PROC_START, .m = M1, .p = NO_P},
		{.kind = OP_PROC_START, .m = M1, .p = 1 << 20},
		{.kind = OP_KIND_COUNT, .m = M1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct wire_trace *t = wire_trace_new();
		struct bytes out = {0};
		struct wire_options options = {.format = WIRE_GO126, .out = {bytes_write, &out}};
		struct error err = {""};

		wire_trace_generation(t, &bad[i], 1);
		assert_int_equal(wire_trace_encode_to(t, &options, &err), -EINVAL);
		assert_int_equal(out.len, HEADER_SIZE);
		free(out.data);
		wire_trace_free(t);
	}
}

/* Counts an event in the file: its type, any time of one byte, and the arguments' bytes. */
static unsigned count_events(const struct bytes *bytes, uint8_t type, const char *args, size_t n)
{
	unsigned count = 0;

	for (size_t i = 0; i + 2 + n <= bytes->len; i++)
		count += bytes->data[i] == type && memcmp(bytes->data + i + 2, args, n) == 0;
	return count;
}

/* Spans and stacks: ids are relative to the start of the heap, which is written once, in the file's first
 * generation that has any. */
static void test_memory(void **state)
{
	/* Size of the batch, its kind, then the start of the heap, and the sizes of a page, an object and a
	 * stack unit. */
	static const char info[] = "\x80\x80\x80\x80\x80\x18\x80\x40\x08\x80\x10";
	static const char below[] = "\xf0\xff\xff\xff\xff\xff\xff\x03\x01\x01"; /* 2^51 - 16 */
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1);
	const struct op first[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		OP(OP_MSPAN, M2, NO_P, NO_G, .arg = 0xc000002000, .arg2 = 1 << 16 | 1),
		OP(OP_GO_STACK, M2, NO_P, NO_G, .arg = 0xc000002000, .arg2 = 2048),
		OP(OP_PROCS_CHANGE, M1, 0, g1, .arg = 1),
	};
	const struct op second[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		OP(OP_MSPAN_ALLOC, M1, 0, g1, .arg = 0xc000006000, .arg2 = 2 << 16 | 20),
		OP(OP_GO_STACK_ALLOC, M1, 0, g1, .arg = 0xc000004800, .arg2 = 8192),
		OP(OP_GO_STACK_FREE, M1, 0, g1, .arg = 0xc000004800),
		OP(OP_MSPAN_FREE, M1, 0, g1, .arg = 0xc000006000),
		/* Below the start of the heap: the id wraps, and readers wrap it back. */
		OP(OP_MSPAN_ALLOC, M1, 0, g1, .arg = 0xbffffe0000, .arg2 = 1 << 16 | 1),
	};
	struct wire_report report;
	struct bytes bytes;

	(void)state;
	GENERATION(t, first);
	GENERATION(t, second);
	encode_all(t, "memory", 2);
	report = encode(t, "memory", WIRE_GO122);
	assert_int_equal(report.events[EV_SPAN] + report.events[EV_SPAN_ALLOC], 0);
	report = encode(t, "memory", WIRE_GO123);
	assert_int_equal(report.events[EV_SPAN], 1);
	assert_int_equal(report.events[EV_SPAN_ALLOC], 2);
	assert_int_equal(report.events[EV_STACK_FREE], 1);
	bytes = wire_trace_encode(t, WIRE_GO126);
	assert_int_equal(count_events(&bytes, 12, info, sizeof(info) - 1), 1);
	assert_int_equal(count_events(&bytes, EV_SPAN, "\x01\x01\x01", 3), 1);
	assert_int_equal(count_events(&bytes, EV_GO_STACK, "\x04\x0c", 2), 1);
	assert_int_equal(count_events(&bytes, EV_SPAN_ALLOC, "\x03\x02\x14", 3), 1);
	assert_int_equal(count_events(&bytes, EV_GO_STACK_ALLOC, "\x09\x0e", 2), 1);
	assert_int_equal(count_events(&bytes, EV_STACK_FREE, "\x09", 1), 1);
	assert_int_equal(count_events(&bytes, EV_SPAN_FREE, "\x03", 1), 1);
	assert_int_equal(count_events(&bytes, EV_SPAN_ALLOC, below, sizeof(below) - 1), 1);
	free(bytes.data);
	wire_trace_free(t);
}

static void test_formats(void **state)
{
	(void)state;
	assert_int_equal(wire_format_parse("1.26"), WIRE_GO126);
	assert_int_equal(wire_format_parse("1.27"), WIRE_GO126);
	assert_int_equal(wire_format_parse("go1.25"), WIRE_GO125);
	assert_int_equal(wire_format_parse("go 1.22"), WIRE_GO122);
	/* A release without a format of its own selects the one that it writes. */
	assert_int_equal(wire_format_parse("1.24"), WIRE_GO123);
	assert_int_equal(wire_format_parse("1.20"), WIRE_GO119);
	assert_int_equal(wire_format_parse("1.18"), WIRE_GO111);
	assert_int_equal(wire_format_parse("1.6"), WIRE_GO15);
	assert_int_equal(wire_format_parse("go1.10"), WIRE_GO110);
	assert_int_equal(wire_format_parse("1.9"), WIRE_GO19);
	assert_int_equal(wire_format_parse("1.8"), WIRE_GO18);
	assert_int_equal(wire_format_parse("1.7"), WIRE_GO17);
	assert_int_equal(wire_format_parse("v0"), WIRE_V0);
	assert_int_equal(wire_format_parse("1.4"), WIRE_NONE);
	assert_int_equal(wire_format_parse("1.05"), WIRE_NONE);
	assert_int_equal(wire_format_parse("1.0"), WIRE_NONE);
	assert_int_equal(wire_format_parse("1."), WIRE_NONE);
	assert_int_equal(wire_format_parse("1.2"), WIRE_NONE);
	assert_int_equal(wire_format_parse("1.261"), WIRE_NONE);
	assert_int_equal(wire_format_parse(""), WIRE_NONE);
	assert_int_equal(wire_format_parse("g"), WIRE_NONE);
	assert_int_equal(wire_format_of_release(24), WIRE_GO123);
	assert_int_equal(wire_format_of_release(26), WIRE_GO126);
	assert_int_equal(wire_format_of_release(27), WIRE_GO126);
	assert_int_equal(wire_format_of_release(21), WIRE_GO121);
	assert_int_equal(wire_format_of_release(6), WIRE_GO15);
	assert_int_equal(wire_format_of_release(4), WIRE_GO111);
	assert_int_equal(wire_format_of_release(3), WIRE_NONE);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_minimal),     cmocka_unit_test(test_two_generations),
	cmocka_unit_test(test_syscalls),    cmocka_unit_test(test_long_syscall),
	cmocka_unit_test(test_world),       cmocka_unit_test(test_coroutines),
	cmocka_unit_test(test_callbacks),   cmocka_unit_test(test_large),
	cmocka_unit_test(test_long_stream), cmocka_unit_test(test_large_tables),
	cmocka_unit_test(test_torn),        cmocka_unit_test(test_failing_sink),
	cmocka_unit_test(test_refused_ops), cmocka_unit_test(test_formats),
	cmocka_unit_test(test_memory),
};

UNIT_TESTS(tests, NULL, NULL);
