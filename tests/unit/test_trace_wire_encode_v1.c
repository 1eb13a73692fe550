/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ops in the v1 formats, as text: the events that the reader finds, in its order. */
#include "unit.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/wire/idset.h"
#include "trace/wire/read_v1.h"
#include "wire_trace.h"

#define COUNT(array)       (sizeof(array) / sizeof((array)[0]))
#define GENERATION(t, ops) wire_trace_generation(t, ops, COUNT(ops))

static const enum wire_format formats[] = {WIRE_V0,    WIRE_GO15,  WIRE_GO17,  WIRE_GO18, WIRE_GO19,
					   WIRE_GO110, WIRE_GO111, WIRE_GO119, WIRE_GO121};

enum { M1 = 5001, M2 = 5002, STORY = 4096 };

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

/* Appends "name" with the P and the goroutine, and what else distinguishes events. */
static void report(char story[STORY], const struct v1_event *event, unsigned format)
{
	size_t at = strlen(story);
	const char *name = event_v1_name(event->type, format);
	uint64_t g = event->g;

	if (event->type == V1_GO_CREATE || event->type == V1_GO_UNBLOCK)
		g = event->args[0];
	at += (size_t)snprintf(story + at, STORY - at, "%s%s", at ? "; " : "", name);
	assert_true(at < STORY);
	if (g)
		at += (size_t)snprintf(story + at, STORY - at, " %" PRIu64, g);
	if (event->p != V1_NO_P)
		at += (size_t)snprintf(story + at, STORY - at, "@%" PRId64, event->p);
	if (event->text.len)
		at += (size_t)snprintf(story + at, STORY - at, " '%.*s'", (int)event->text.len,
				       (const char *)event->text.bytes);
	if (event->type == V1_STW_START && event->nargs)
		at += (size_t)snprintf(story + at, STORY - at, " %" PRIu64, event->args[0]);
	if (event->message.len)
		at += (size_t)snprintf(story + at, STORY - at, " \"%.*s\"", (int)event->message.len,
				       (const char *)event->message.bytes);
	assert_true(at < STORY);
}

/* The text without the start block, whose Ps start at the same time. */
static const char *after_start(const char *story)
{
	const char *end = strstr(story, "Gomaxprocs 1@0; ");

	assert_non_null(end);
	return end + strlen("Gomaxprocs 1@0; ");
}

/* The whole trace in one format; it must be valid. */
static const char *story_of(struct wire_trace *t, enum wire_format format, char story[STORY])
{
	struct bytes bytes = wire_trace_encode(t, format);
	struct fault fault = {0};
	struct v1_trace *trace;
	struct v1_event event;

	story[0] = '\0';
	v1_read(bytes.data, bytes.len, &trace, &fault);
	assert_string_equal(fault.error.text, "");
	assert_int_equal(v1_trace_format(trace), format);
	while (v1_next(trace, &event))
		report(story, &event, format);
	v1_free(trace);
	free(bytes.data);
	return story;
}

static void test_start_and_end(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2);
	uint32_t g3 = wire_trace_goroutine(t, 3), g4 = wire_trace_goroutine(t, 4);
	uint32_t worker = wire_trace_stack(t, "main.worker", NULL);
	const struct op first[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_IDLE, NO_M),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_WAITING, NO_M),
		G_IS(g3, G_SYSCALL, M2),
		OP(OP_PROCS_CHANGE, M1, 0, g1, .arg = 2),
		OP(OP_GO_CREATE, M1, 0, g1, .g2 = g4, .stack2 = worker),
		OP(OP_GO_UNBLOCK, NO_M, NO_P, NO_G, .g2 = g2),
	};
	const struct op second[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_IDLE, NO_M),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_RUNNABLE, NO_M),
		G_IS(g3, G_SYSCALL, M2),
		G_IS(g4, G_RUNNABLE, NO_M),
		OP(OP_PROCS_CHANGE, M1, 0, g1, .arg = 2), /* nothing changes */
		OP(OP_SYSCALL_BEGIN, M1, 0, g1, .arg = 0),
	};
	char story[STORY];

	(void)state;
	GENERATION(t, first);
	GENERATION(t, second);
	wire_trace_last(t);
	assert_string_equal(
		story_of(t, WIRE_GO111, story),
		"GoCreate 1@0; GoCreate 2@0; GoWaiting 2@0; GoCreate 3@0; GoInSyscall 3@0; ProcStart@0; "
		"GoStart 1@0; Gomaxprocs 1@0; GoCreate 4@0; GoUnblock 2; GoSysCall 1@0; GoSysBlock 1@0");
	for (size_t i = 0; i < COUNT(formats); i++) {
		char other[STORY];

		assert_string_equal(story_of(t, formats[i], other), story);
	}
	wire_trace_free(t);
}

static void test_system_calls(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2);
	const struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_SYSCALL, M2),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_SYSCALL, M2),
		OP(OP_SYSCALL_BEGIN, M1, 0, g1, .arg = 0),
		OP(OP_SYSCALL_END, M1, 0, g1, .arg = 0),
		OP(OP_SYSCALL_END, M2, 1, g2, .arg = 0), /* with its P, which the start did not name */
		OP(OP_SYSCALL_BEGIN, M1, 0, g1, .arg = 0),
		OP(OP_PROC_STEAL, M2, 0, g2, .m2 = M1),
		OP(OP_SYSCALL_END_BLOCKED, M1, NO_P, g1, .arg = 0),
		OP(OP_GO_STOP, M2, 1, g2, .arg = 0),
		OP(OP_GO_START, M2, 1, g1, .arg = 0),
	};
	char story[STORY];

	(void)state;
	GENERATION(t, ops);
	for (size_t i = 0; i < COUNT(formats); i++)
		assert_string_equal(after_start(story_of(t, formats[i], story)),
				    "GoSysCall 1@0; GoSysExit 2; GoStart 2@1; GoSysCall 1@0; GoSysBlock "
				    "1@0; "
				    "ProcStop@0; GoSysExit 1; GoSched 2@1; GoStart 1@1");
	wire_trace_free(t);
}

static void test_reasons(void **state)
{
	static const struct {
		const char *reason;
		enum event_v1_type type, before_18;
	} rows[] = {
		{"chan send", V1_GO_BLOCK_SEND, V1_GO_BLOCK_SEND},
		{"chan receive", V1_GO_BLOCK_RECV, V1_GO_BLOCK_RECV},
		{"select", V1_GO_BLOCK_SELECT, V1_GO_BLOCK_SELECT},
		{"sync", V1_GO_BLOCK_SYNC, V1_GO_BLOCK_SYNC},
		{"sync.(*Cond).Wait", V1_GO_BLOCK_COND, V1_GO_BLOCK_COND},
		{"network", V1_GO_BLOCK_NET, V1_GO_BLOCK_NET},
		{"sleep", V1_GO_SLEEP, V1_GO_SLEEP},
		{"GC mark assist wait for work", V1_GO_BLOCK_GC, V1_GO_BLOCK},
		{"system goroutine wait", V1_GO_BLOCK, V1_GO_BLOCK},
		{"", V1_GO_BLOCK, V1_GO_BLOCK},
		{"forever", V1_GO_STOP, V1_GO_STOP},
		{"sync (condition)", V1_GO_BLOCK_COND, V1_GO_BLOCK_COND}, /* of threads */
		{"sync (mutex)", V1_GO_BLOCK_SYNC, V1_GO_BLOCK_SYNC},
		{"sync (futex)", V1_GO_BLOCK_SYNC, V1_GO_BLOCK_SYNC},
		{"pipe", V1_GO_BLOCK, V1_GO_BLOCK},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct wire_trace *t = wire_trace_new();
		uint32_t g1 = wire_trace_goroutine(t, 1);
		const struct op ops[] = {
			P_IS(0, P_RUNNING, M1),
			G_IS(g1, G_RUNNING, M1),
			OP(OP_GO_BLOCK, M1, 0, g1, .string = wire_trace_string(t, rows[i].reason)),
		};

		GENERATION(t, ops);
		for (size_t j = 0; j < COUNT(formats); j++) {
			char story[STORY], end[64];
			enum event_v1_type type = formats[j] < WIRE_GO18 ? rows[i].before_18 : rows[i].type;

			story_of(t, formats[j], story);
			snprintf(end, sizeof(end), "; %s 1@0", event_v1_name(type, formats[j]));
			assert_string_equal(story + strlen(story) - strlen(end), end);
		}
		wire_trace_free(t);
	}
}

/*
 * For readers up to go 1.10, a goroutine that woke in vain never woke: the wake-up, the start and the block
 * are dropped, unless it did something in between, or woke before the trace began.
 */
static void test_in_vain(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2);
	uint32_t send = wire_trace_string(t, "chan send"), other = wire_trace_string(t, "sleep");
	const struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_WAITING, NO_M),
		OP(OP_GO_BLOCK, M1, 0, g1, .string = send, .arg = 1), /* woke before the trace */
		OP(OP_GO_UNBLOCK, M1, 0, NO_G, .g2 = g2),
		OP(OP_GO_START, M1, 0, g2, .arg = 0),
		OP(OP_GO_BLOCK, M1, 0, g2, .string = send, .arg = 1), /* in vain */
		OP(OP_GO_UNBLOCK, M1, 0, NO_G, .g2 = g2),
		OP(OP_GO_START, M1, 0, g2, .arg = 0),
		OP(OP_GO_UNBLOCK, M1, 0, g2, .g2 = g1), /* does something */
		OP(OP_GO_BLOCK, M1, 0, g2, .string = other, .arg = 1),
	};

	(void)state;
	GENERATION(t, ops);
	for (size_t i = 0; i < COUNT(formats); i++) {
		bool marks = formats[i] >= WIRE_GO15 && formats[i] < WIRE_GO111;
		char story[STORY];

		story_of(t, formats[i], story);
		assert_int_equal(strstr(story, "GoBlockSend 2@0") != NULL, !marks);
		assert_non_null(strstr(story, "GoBlockSend 1@0"));
		assert_non_null(strstr(story, "GoSleep 2@0"));
	}
	wire_trace_free(t);
}

/* A goroutine that was stopped forever does not come back under its id. A coroutine switch is three steps. */
static void test_second_life(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2);
	uint32_t stack = wire_trace_stack(t, "main.next", NULL);
	const struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_RUNNING, M2),
		G_IS(g1, G_RUNNING, M1),
		OP(OP_GO_CREATE_BLOCKED, M1, 0, g1, .g2 = g2, .stack2 = stack),
		OP(OP_GO_SWITCH, M1, 0, g1, .g2 = g2),
		OP(OP_GO_BLOCK, M1, 0, g2, .string = wire_trace_string(t, "forever")),
		OP(OP_GO_UNBLOCK, M2, 1, NO_G, .g2 = g2),
		OP(OP_GO_UNBLOCK, M2, 1, NO_G, .g2 = g1),
		OP(OP_GO_START, M2, 1, g1, .arg = 0),
		OP(OP_GO_STOP, M2, 1, g1, .string = wire_trace_string(t, "preempted")),
		OP(OP_GO_START, M2, 1, g2, .arg = 0),
		OP(OP_GO_DESTROY, M2, 1, g2, .arg = 0),
	};
	char story[STORY];

	(void)state;
	GENERATION(t, ops);
	for (size_t i = 0; i < COUNT(formats); i++)
		assert_string_equal(
			after_start(story_of(t, formats[i], story)),
			"GoCreate 2@0; "
			"GoBlock 1@0; GoStart 2@0; GoStop 2@0; GoCreate 3377699720527872; GoWaiting "
			"3377699720527872; GoUnblock 3377699720527872@1; GoUnblock 1@1; GoStart 1@1; "
			"GoPreempt "
			"1@1; GoStart 3377699720527872@1; GoEnd 3377699720527872@1");
	wire_trace_free(t);
}

/* The goroutine of a C thread's calls comes and goes; in the file it stays. */
static void test_calls_from_c(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g5 = wire_trace_goroutine(t, 5), again;
	struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_IDLE, NO_M),
		G_IS(g1, G_RUNNING, M1),
		OP(OP_GO_CREATE_SYSCALL, M2, NO_P, g5, .arg = 0),
		OP(OP_PROC_START, M2, 1, g5, .arg = 0),
		OP(OP_SYSCALL_END_BLOCKED, M2, 1, g5, .arg = 0),
		OP(OP_GO_START, M2, 1, g5, .arg = 0),
		OP(OP_SYSCALL_BEGIN, M2, 1, g5, .arg = 0),
		OP(OP_GO_DESTROY_SYSCALL, M2, 1, g5, .arg = 0),
		OP(OP_PROC_STEAL, M1, 1, g1, .m2 = M2),
		OP(OP_GO_CREATE_SYSCALL, M2, NO_P, g5, .arg = 0),
		OP(OP_SYSCALL_END_BLOCKED, M2, NO_P, g5, .arg = 0),
	};
	char story[STORY];

	(void)state;
	again = wire_trace_goroutine(t, 5);
	ops[10].g = ops[11].g = again;
	GENERATION(t, ops);
	for (size_t i = 0; i < COUNT(formats); i++)
		assert_string_equal(story_of(t, formats[i], story),
				    "GoCreate 1@0; ProcStart@0; GoStart 1@0; Gomaxprocs 1@0; GoCreate 5; "
				    "GoInSyscall 5; ProcStart@1; GoSysExit 5; GoStart 5@1; GoSysCall 5@1; "
				    "GoSysBlock 5@1; ProcStop@1; GoSysExit 5");
	wire_trace_free(t);
}

/* Stop-the-world in each format: what the format does not have is left out. */
static void test_world(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2);
	uint32_t name = wire_trace_string(t, "a name"), value = wire_trace_string(t, "a value");
	const struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_RUNNABLE, NO_M),
		OP(OP_STW_BEGIN, M1, 0, g1, .string = wire_trace_string(t, "GC sweep termination")),
		OP(OP_STW_END, M1, 0, g1, .arg = 0),
		OP(OP_STW_BEGIN, M1, 0, g1, .string = wire_trace_string(t, "read mem stats")),
		OP(OP_STW_END, M1, 0, g1, .arg = 0),
		OP(OP_GC_ASSIST_BEGIN, M1, 0, g1, .arg = 0),
		OP(OP_GC_ASSIST_END, M1, 0, g1, .arg = 0),
		OP(OP_TASK_BEGIN, M1, 0, g1, .arg = 5, .string = name),
		OP(OP_LOG, M1, 0, g1, .arg = 5, .string = name, .string2 = value),
		OP(OP_CPU_SAMPLE, M1, 0, g1, .arg = 0),
		OP(OP_GO_STOP, M1, 0, g1, .arg = 0),
		OP(OP_GO_START, M1, 0, g2, .arg = 0),
		OP(OP_GO_LABEL, M1, 0, g2, .string = wire_trace_string(t, "GC (idle)")),
		OP(OP_GC_BEGIN, M1, 0, g2, .arg = 0),
	};
	static const struct {
		enum wire_format from;
		const char *middle;
	} rows[] = {
		{WIRE_V0, "GoSched 1@0; GoStart 2@0; GCStart 2@0"},
		{WIRE_GO18, "GoSched 1@0; GoStartLabel 2@0 'GC (idle)'; GCStart 2@0"},
		{WIRE_GO19,
		 "GCMarkAssistStart 1@0; GCMarkAssistDone 1@0; GoSched 1@0; GoStartLabel 2@0 'GC (idle)'; "
		 "GCStart 2@0"},
		{WIRE_GO110,
		 "STWStart 1@0 1; STWDone 1@0; GCMarkAssistStart 1@0; GCMarkAssistDone 1@0; GoSched 1@0; "
		 "GoStartLabel 2@0 'GC (idle)'; GCStart 2@0"},
		{WIRE_GO111,
		 "STWStart 1@0 1; STWDone 1@0; GCMarkAssistStart 1@0; GCMarkAssistDone 1@0; UserTaskCreate "
		 "1@0 "
		 "'a name'; UserLog 1@0 'a name' \"a value\"; GoSched 1@0; GoStartLabel 2@0 'GC (idle)'; "
		 "GCStart 2@0"},
		{WIRE_GO119,
		 "STWStart 1@0 1; STWDone 1@0; GCMarkAssistStart 1@0; GCMarkAssistDone 1@0; UserTaskCreate "
		 "1@0 "
		 "'a name'; UserLog 1@0 'a name' \"a value\"; CPUSample 1@0; GoSched 1@0; GoStartLabel 2@0 "
		 "'GC (idle)'; GCStart 2@0"},
		{WIRE_GO121,
		 "STWStart 1@0 2; STWDone 1@0; STWStart 1@0 7; STWDone 1@0; GCMarkAssistStart 1@0; "
		 "GCMarkAssistDone 1@0; UserTaskCreate 1@0 'a name'; UserLog 1@0 'a name' \"a value\"; "
		 "CPUSample 1@0; GoSched 1@0; GoStartLabel 2@0 'GC (idle)'; GCStart 2@0"},
	};

	(void)state;
	GENERATION(t, ops);
	for (size_t i = 0; i < COUNT(formats); i++) {
		char story[STORY];
		const char *middle;
		size_t row = 0;

		while (row + 1 < COUNT(rows) && rows[row + 1].from <= formats[i])
			row++;
		middle = after_start(story_of(t, formats[i], story));
		assert_string_equal(middle, rows[row].middle);
	}
	wire_trace_free(t);
}

/* Current readers accept no record over 2 KiB: a deep stack loses its outermost frames. */
static void test_deep_stack(void **state)
{
	enum { DEPTH = 128 };
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1);
	struct frame frames[DEPTH];
	uint32_t stack = wire_trace_frames(t, frames, DEPTH);
	const struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		OP(OP_GO_BLOCK, M1, 0, g1, .stack = stack),
	};

	(void)state;
	for (uint32_t i = 0; i < DEPTH; i++)
		frames[i] = (struct frame){.pc = 0x7f0000000000 + i * 0x100000,
					   .func = wire_trace_string(t, "main.f"),
					   .line = 1000000 + i};
	GENERATION(t, ops);
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct bytes bytes = wire_trace_encode(t, formats[i]);
		struct v1_frame read[DEPTH];
		struct fault fault = {0};
		struct v1_trace *trace;
		struct v1_event event;
		uint64_t blocked_at = 0;
		size_t n;

		assert_int_equal(v1_read(bytes.data, bytes.len, &trace, &fault), 0);
		while (v1_next(trace, &event))
			if (event.type == V1_GO_BLOCK)
				blocked_at = event.stack;
		n = v1_stack(trace, blocked_at, read, DEPTH);
		assert_in_range(n, 100, DEPTH);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(read[k].pc, frames[k].pc);
		if (formats[i] >= WIRE_GO17)
			assert_int_equal(read[0].line, 1000000);
		v1_free(trace);
		free(bytes.data);
	}
	wire_trace_free(t);
}

/* The readers of the oldest formats overflow: this is reported before writing, and the file so far stays
 * valid. */
static void test_too_long(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1);
	const struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		G_IS(g1, G_RUNNING, M1),
		OP(OP_HEAP_ALLOC, M1, 0, g1, .arg = 1),
	};
	struct wire_report report;

	(void)state;
	GENERATION(t, ops);
	wire_trace_skip(t, 700 * 1000000000ull);
	GENERATION(t, ops);
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct bytes out = {0};
		struct wire_options options = {.format = formats[i], .out = {bytes_write, &out}};
		struct error err = {""};
		int rc = wire_trace_encode_to(t, &options, &err);

		assert_int_equal(rc, formats[i] <= WIRE_GO15 ? -EFBIG : 0);
		if (rc)
			assert_non_null(strstr(err.text, "ten minutes"));
		assert_int_equal(wire_check(out.data, out.len, &report), 0);
		assert_int_equal(report.valid_bytes, out.len);
		free(out.data);
	}
	wire_trace_free(t);
}

/* After each generation the file is complete, and later ones do not change it. */
static void test_each_flush_is_whole(void **state)
{
	struct wire_trace *t = wire_trace_new();
	uint32_t g1 = wire_trace_goroutine(t, 1), g2 = wire_trace_goroutine(t, 2);
	uint32_t stack = wire_trace_stack(t, "main.main", NULL);
	const struct op ops[] = {
		P_IS(0, P_RUNNING, M1),
		P_IS(1, P_RUNNING, M2),
		G_IS(g1, G_RUNNING, M1),
		G_IS(g2, G_RUNNABLE, NO_M),
		OP(OP_GO_START, M2, 1, g2, .arg = 0),
		OP(OP_GO_BLOCK, M1, 0, g1, .string = wire_trace_string(t, "sync"), .stack = stack),
		OP(OP_GO_UNBLOCK, M2, 1, g2, .g2 = g1, .stack = stack),
		OP(OP_GO_STOP, M2, 1, g2, .stack = stack),
		OP(OP_GO_START, M1, 0, g1, .arg = 0),
	};

	(void)state;
	for (int i = 0; i < 5; i++)
		GENERATION(t, ops);
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct bytes bytes = wire_trace_encode(t, formats[i]);
		struct wire_report report;

		for (unsigned k = 1; k <= 5; k++) {
			size_t end = wire_trace_end(t, formats[i], k);

			assert_true(end <= bytes.len && (end == bytes.len) == (k == 5));
			assert_int_equal(wire_check(bytes.data, end, &report), 0);
			assert_int_equal(report.events[V1_GO_UNBLOCK], k);
		}
		free(bytes.data);
	}
	wire_trace_free(t);
}

static int full_disk(void *ctx, const void *bytes, size_t n)
{
	(void)ctx;
	(void)bytes;
	return n > 40 ? -ENOSPC : 0;
}

static void test_refusals(void **state)
{
	static const struct op wrong[] = {
		OP(OP_GO_START, M1, NO_P, 1, .arg = 0),        OP(OP_GO_START, M1, 1 << 16, 1, .arg = 0),
		OP(OP_GO_START, M1, 0, 99, .arg = 0),          OP(OP_GO_UNBLOCK, M1, 0, 1, .g2 = 99),
		OP(OP_PROC_STEAL, M1, NO_P, 1, .arg = 0),      OP(OP_KIND_COUNT, M1, 0, 1, .arg = 0),
		OP(OP_PROC_START, M1, INT32_MIN, 1, .arg = 0),
	};
	struct error err;

	(void)state;
	for (size_t i = 0; i <= COUNT(wrong); i++) {
		struct wire_trace *t = wire_trace_new();
		struct bytes out = {0};
		struct wire_options options = {.format = WIRE_GO111, .out = {bytes_write, &out}};
		struct op ops[] = {P_IS(0, P_RUNNING, M1), G_IS(1, G_RUNNING, M1),
				   OP(OP_HEAP_ALLOC, M1, 0, 1, .arg = 1)};

		wire_trace_goroutine(t, 1);
		if (i < COUNT(wrong))
			ops[2] = wrong[i];
		else
			options.out.write = full_disk;
		GENERATION(t, ops);
		GENERATION(t, ops); /* nothing follows, either */
		assert_int_equal(wire_trace_encode_to(t, &options, &err),
				 i < COUNT(wrong) ? -EINVAL : -ENOSPC);
		assert_int_equal(out.len, 0);
		free(out.data);
		wire_trace_free(t);
	}
}

static void test_id_set(void **state)
{
	struct idset set = {0};

	(void)state;
	for (uint64_t id = 0; id < 3000; id++)
		assert_int_equal(idset_add(&set, id), 0);
	for (uint64_t id = 0; id < 3000; id++)
		assert_int_equal(idset_add(&set, id), 1);
	assert_int_equal(set.npages, 6);
	assert_int_equal(idset_add(&set, UINT64_MAX), 0);
	assert_int_equal(idset_add(&set, UINT64_MAX), 1);
	assert_int_equal(idset_add(&set, UINT64_MAX - 1), 0);
	idset_free(&set);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_start_and_end), cmocka_unit_test(test_system_calls),
	cmocka_unit_test(test_reasons),       cmocka_unit_test(test_in_vain),
	cmocka_unit_test(test_second_life),   cmocka_unit_test(test_calls_from_c),
	cmocka_unit_test(test_world),         cmocka_unit_test(test_deep_stack),
	cmocka_unit_test(test_too_long),      cmocka_unit_test(test_each_flush_is_whole),
	cmocka_unit_test(test_refusals),      cmocka_unit_test(test_id_set),
};

UNIT_TESTS(tests, NULL, NULL);
