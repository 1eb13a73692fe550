/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reader of v1 and v0: small files that the Go releases' own readers accept, the order of events, and
 * each rule with a file that breaks only that rule.
 */
#include "unit.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/wire/event.h"
#include "trace/wire/read_v1.h"
#include "trace/wire/wire.h"

enum { MAX_FILE = 1 << 14 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define END          0xfeedfacefeedfaceull

/* --- the small files of each format, byte for byte --- */

#define HEADER_V0  0x67, 0x6f, 0x74, 0x72, 0x61, 0x63, 0x65, 0x00
#define HEADER_15  0x67, 0x6f, 0x20, 0x31, 0x2e, 0x35, 0x20, 0x74, 0x72, 0x61, 0x63, 0x65, 0, 0, 0, 0
#define HEADER_111 0x67, 0x6f, 0x20, 0x31, 0x2e, 0x31, 0x31, 0x20, 0x74, 0x72, 0x61, 0x63, 0x65, 0, 0, 0

/* Goroutine 1 starts 3, which wakes it and ends; 2 waits. */
static const uint8_t small_v0[] = {
	HEADER_V0, 0x41, 0x00, 0xe8, 0x07,                         /* Batch */
	0xcd,      0x07, 0x00, 0x01, 0x80, 0xa0, 0x80, 0x02, 0x00, /* GoCreate 1 */
	0xcd,      0x07, 0x01, 0x02, 0x80, 0xc0, 0x80, 0x02, 0x00, /* GoCreate 2 */
	0x5f,      0x01, 0x02, 0x05, 0x01, 0x4e, 0x01, 0x01,       /* GoWaiting 2, ProcStart, GoStart 1 */
	0x84,      0x01, 0x01, 0x00,                               /* Gomaxprocs */
	0xcd,      0x07, 0x0a, 0x03, 0x80, 0xc0, 0x80, 0x02, 0x01, /* GoCreate 3 */
	0x57,      0x0a, 0x01, 0x4e, 0x05, 0x03, 0x95, 0x05, 0x01,
	0x01,                                                /* GoBlockRecv, GoStart 3, GoUnblock 1 */
	0x0f,      0x05, 0x4e, 0x05, 0x01, 0x51, 0x05, 0x01, /* GoEnd, GoStart 1, GoSched */
	0xc3,      0x06, 0x01, 0x01, 0x80, 0xa0, 0x80, 0x02, /* Stack 1 */
	0x02,      0x80, 0x94, 0xeb, 0xdc, 0x03,             /* Frequency */
};

/* The same, with a system call that moves to P 1. */
static const uint8_t small_15[] = {
	HEADER_15, 0x41, 0x00, 0x64, 0xe8, 0x07,                         /* Batch */
	0xcd,      0x08, 0x00, 0x01, 0x01, 0x80, 0xa0, 0x80, 0x02, 0x00, /* GoCreate 1 */
	0xcd,      0x08, 0x01, 0x01, 0x02, 0x80, 0xc0, 0x80, 0x02, 0x00, /* GoCreate 2 */
	0x5f,      0x01, 0x01, 0x02, 0x45, 0x01, 0x01, 0x07,             /* GoWaiting 2, ProcStart */
	0x4e,      0x01, 0x01, 0x01, 0x84, 0x01, 0x01, 0x01, 0x00,       /* GoStart 1, Gomaxprocs */
	0xcd,      0x08, 0x01, 0x0a, 0x03, 0x80, 0xc0, 0x80, 0x02, 0x01, /* GoCreate 3 */
	0x57,      0x01, 0x0a, 0x01, 0x4e, 0x01, 0x05, 0x03,             /* GoBlockRecv, GoStart 3 */
	0x95,      0x01, 0x05, 0x01, 0x01, 0x0f, 0x01, 0x05,             /* GoUnblock 1, GoEnd */
	0x4e,      0x01, 0x05, 0x01, 0x5c, 0x01, 0x01, 0x01,             /* GoStart 1, GoSysCall */
	0x1e,      0x01, 0x01, 0x06, 0x01, 0x01,                         /* GoSysBlock, ProcStop */
	0x41,      0x01, 0x78, 0xb0, 0x09, 0x45, 0x00, 0x01, 0x08,       /* Batch, ProcStart */
	0xdd,      0x06, 0x01, 0x01, 0x01, 0x77, 0xa6, 0x09, /* GoSysExit: its number is 119, at 1190 */
	0x4e,      0x01, 0x01, 0x01, 0x51, 0x01, 0x01, 0x01, /* GoStart 1, GoSched */
	0x02,      0x80, 0x94, 0xeb, 0xdc, 0x03, 0x00,       /* Frequency */
	0xc3,      0x06, 0x01, 0x01, 0x80, 0xa0, 0x80, 0x02, /* Stack 1 */
};

static const uint8_t small_111[] = {
	HEADER_111, 0x41, 0x00, 0xe8, 0x07,                                           /* Batch */
	0xcd,       0x04, 0x01, 0x01, 0x03, 0x00, 0xcd, 0x04, 0x01, 0x02, 0x02, 0x00, /* GoCreate 1, 2 */
	0x5f,       0x01, 0x02, 0x45, 0x01, 0x07, 0x66, 0x01, 0x01, /* GoWaiting, ProcStart, GoStartLocal */
	0x84,       0x01, 0x01, 0x00, 0xcd, 0x04, 0x0a, 0x03, 0x02, 0x01, /* Gomaxprocs, GoCreate 3 */
	0x57,       0x0a, 0x01, 0x8e, 0x05, 0x03, 0x01,                   /* GoBlockRecv, GoStart 3 */
	0xd5,       0x04, 0x05, 0x01, 0x02, 0x01, 0x0f, 0x05,             /* GoUnblock 1, GoEnd */
	0x8e,       0x05, 0x01, 0x03, 0x51, 0x05, 0x01,                   /* GoStart 1, GoSched */
	0x02,       0x80, 0x94, 0xeb, 0xdc, 0x03,                         /* Frequency */
	0x25,       0x01, 0x09, 'm',  'a',  'i',  'n',  '.',  'm',  'a',  'i',  'n',  0x25,
	0x02,       0x0a, '/',  'x',  '/',  'm',  'a',  'i',  'n',  '.',  'g',  'o',  0x25,
	0x03,       0x0b, 'm',  'a',  'i',  'n',  '.',  'w',  'o',  'r',  'k',  'e',  'r',
	0xc3,       0x09, 0x01, 0x01, 0x80, 0xa0, 0x80, 0x02, 0x01, 0x02, 0x0a, /* Stack 1 */
	0xc3,       0x09, 0x02, 0x01, 0x80, 0xc0, 0x80, 0x02, 0x03, 0x02, 0x14, /* Stack 2 */
	0xc3,       0x09, 0x03, 0x01, 0x90, 0xa0, 0x80, 0x02, 0x01, 0x02, 0x0c, /* Stack 3 */
};

/* --- files made here --- */

struct file {
	uint8_t bytes[MAX_FILE];
	size_t n;
	unsigned format;
	size_t at; /* of the last record */
};

static void put(struct file *f, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		f->bytes[f->n++] = (uint8_t)(v | 0x80);
	f->bytes[f->n++] = (uint8_t)v;
}

static void set_header(struct file *f, unsigned format)
{
	memset(f->bytes, 0, 16);
	f->format = format;
	if (format == WIRE_V0)
		memcpy(f->bytes, "gotrace", 8);
	else
		snprintf((char *)f->bytes, 16, "go 1.%u trace", format);
}

static void begin(struct file *f, unsigned format)
{
	set_header(f, format);
	f->n = format == WIRE_V0 ? 8 : 16;
}

/* A record: its values up to END, in the encoding of the format. */
static void record(struct file *f, unsigned type, ...)
{
	uint64_t values[64], v;
	unsigned n = 0, lead = f->format == WIRE_GO15 ? 2 : 1;
	struct file body = {.n = 0};
	va_list list;

	va_start(list, type);
	for (v = va_arg(list, uint64_t); v != END; v = va_arg(list, uint64_t))
		values[n++] = v;
	va_end(list);
	for (unsigned i = 0; i < n; i++)
		put(&body, values[i]);
	f->at = f->n;
	if (n >= lead && n - lead < 3 && type != V1_STACK) {
		f->bytes[f->n++] = (uint8_t)(type | (n - lead) << 6);
	} else {
		f->bytes[f->n++] = (uint8_t)(type | 3 << 6);
		put(f, body.n);
	}
	memcpy(f->bytes + f->n, body.bytes, body.n);
	f->n += body.n;
}

#define U(x)             ((uint64_t)(x))
#define EV(f, type, ...) record(f, type, __VA_ARGS__, END)

static void put_string(struct file *f, uint64_t id, const char *text)
{
	f->at = f->n;
	f->bytes[f->n++] = V1_STRING;
	put(f, id);
	put(f, strlen(text));
	memcpy(f->bytes + f->n, text, strlen(text));
	f->n += strlen(text);
}

/* A valid start for go 1.7 and later: goroutine 1 runs on P 0 at ticks 1004, 2 waits; stack 1 and string 1
 * exist. */
static void start(struct file *f, unsigned format)
{
	begin(f, format);
	EV(f, V1_BATCH, U(0), U(1000));
	EV(f, V1_FREQUENCY, U(1000000000));
	put_string(f, 1, "main.main");
	EV(f, V1_STACK, U(1), U(1), U(0x401000), U(1), U(1), U(10));
	EV(f, V1_GO_CREATE, U(1), U(1), U(1), U(0));
	EV(f, V1_GO_CREATE, U(0), U(2), U(1), U(0));
	EV(f, V1_GO_WAITING, U(1), U(2));
	EV(f, V1_PROC_START, U(1), U(7));
	EV(f, V1_GO_START, U(1), U(1), U(1));
	EV(f, V1_GOMAXPROCS, U(0), U(2), U(0));
}

/* Event i of the order. */
static void event_at(struct v1_trace *trace, uint64_t i, struct v1_event *event)
{
	v1_rewind(trace);
	do
		assert_true(v1_next(trace, event));
	while (i-- > 0);
}

static void expect_valid(const struct file *f)
{
	struct wire_report report;
	int ret = wire_check(f->bytes, f->n, &report);

	if (ret)
		fail_msg("refused at byte %llu: %s", (unsigned long long)report.error_offset,
			 report.error.text);
	assert_int_equal(report.generations, 1);
	assert_int_equal(report.valid_bytes, f->n);
}

/* Rejected at that byte for that reason, and valid up to it. */
static void expect_fault(const struct file *f, size_t offset, const char *text)
{
	struct wire_report report, cut;

	assert_int_equal(wire_check(f->bytes, f->n, &report), -EBADMSG);
	if (!strstr(report.error.text, text))
		fail_msg("'%s' does not say '%s'", report.error.text, text);
	assert_int_equal(report.error_offset, offset);
	if (!report.generations)
		return;
	assert_in_range(report.valid_bytes, 1, offset);
	assert_int_equal(wire_check(f->bytes, report.valid_bytes, &cut), 0);
}

/* The last record is the faulty one. */
static void expect_bad(const struct file *f, const char *text)
{
	expect_fault(f, f->at, text);
}

static void expect_cut_at(const struct file *f, size_t valid)
{
	struct wire_report report;

	assert_int_equal(wire_check(f->bytes, f->n, &report), -EBADMSG);
	assert_int_equal(report.valid_bytes, valid);
}

static void copy(struct file *f, const uint8_t *bytes, size_t n)
{
	memcpy(f->bytes, bytes, n);
	f->n = n;
}

/* --- formats --- */

static void small_files_are_valid(void **state)
{
	static struct file f;
	static const unsigned formats[] = {WIRE_GO17,  WIRE_GO18,  WIRE_GO19, WIRE_GO110,
					   WIRE_GO111, WIRE_GO119, WIRE_GO121};

	(void)state;
	copy(&f, small_v0, sizeof(small_v0));
	assert_int_equal(f.n, 83);
	expect_valid(&f);
	copy(&f, small_15, sizeof(small_15));
	expect_valid(&f);
	copy(&f, small_111, sizeof(small_111));
	assert_int_equal(f.n, 151);
	for (size_t i = 0; i < COUNT(formats); i++) {
		set_header(&f, formats[i]);
		assert_int_equal(v1_format(f.bytes, f.n), formats[i]);
		expect_valid(&f);
		start(&f, formats[i]);
		expect_valid(&f);
	}
}

static void headers(void **state)
{
	static const char *const bad[] = {"go 1.6 trace", "go 1.12 trace", "go 1.55trace", "go 1.5 trade",
					  "gotracf"};
	uint8_t bytes[16];

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, bad[i], strlen(bad[i]));
		assert_int_equal(v1_format(bytes, sizeof(bytes)), WIRE_NONE);
	}
	memcpy(bytes, "go 1.5 trace\0\0\0x", sizeof(bytes));
	assert_int_equal(v1_format(bytes, sizeof(bytes)), WIRE_NONE);
	assert_int_equal(v1_format(small_15, 15), WIRE_NONE);
	assert_int_equal(v1_format(small_v0, 8), WIRE_V0);
	assert_int_equal(v1_format(small_v0, 7), WIRE_NONE);
}

static void check_cuts(const uint8_t *bytes, size_t n, size_t header)
{
	for (size_t cut = header; cut < n; cut++) {
		struct wire_report report, again;
		int ret = wire_check(bytes, cut, &report);

		if (ret == 0) {
			assert_int_equal(report.valid_bytes, cut);
			continue;
		}
		assert_true(report.error.text[0]);
		assert_true(report.error_offset <= cut);
		if (report.generations)
			assert_int_equal(wire_check(bytes, report.valid_bytes, &again), 0);
	}
}

static void every_cut_is_noticed(void **state)
{
	static struct file f;

	(void)state;
	check_cuts(small_v0, sizeof(small_v0), 8);
	check_cuts(small_15, sizeof(small_15), 16);
	check_cuts(small_111, sizeof(small_111), 16);
	start(&f, WIRE_GO121);
	EV(&f, V1_GO_BLOCK, U(1), U(1));
	f.n--; /* as a kill leaves it */
	expect_fault(&f, f.at, "ends in the middle");
	expect_cut_at(&f, f.at);
}

/* --- output --- */

struct seen {
	unsigned type;
	int64_t time, p;
	uint64_t g;
};

static void expect_events(const uint8_t *bytes, size_t n, const struct seen *want, size_t count)
{
	struct fault fault = {0};
	struct v1_trace *trace;

	assert_int_equal(v1_read(bytes, n, &trace, &fault), 0);
	assert_int_equal(v1_count(trace), count);
	for (size_t i = 0; i < count; i++) {
		struct v1_event event;

		assert_true(v1_next(trace, &event));
		assert_int_equal(event.type, want[i].type);
		assert_int_equal(event.time, want[i].time);
		assert_int_equal(event.p, want[i].p);
		assert_int_equal(event.g, want[i].g);
		assert_int_equal(bytes[event.offset] & V1_TYPE_MASK,
				 event.type == V1_GO_START && bytes[event.offset] == 0x66 ? V1_GO_START_LOCAL
											  : event.type);
	}
	v1_free(trace);
}

static void events_of_the_small_files(void **state)
{
	static const struct seen v111[] = {
		{V1_GO_CREATE, 0, 0, 0},   {V1_GO_CREATE, 1, 0, 0},      {V1_GO_WAITING, 2, 0, 2},
		{V1_PROC_START, 3, 0, 0},  {V1_GO_START, 4, 0, 1},       {V1_GOMAXPROCS, 5, 0, 1},
		{V1_GO_CREATE, 15, 0, 1},  {V1_GO_BLOCK_RECV, 25, 0, 1}, {V1_GO_START, 30, 0, 3},
		{V1_GO_UNBLOCK, 35, 0, 3}, {V1_GO_END, 40, 0, 3},        {V1_GO_START, 45, 0, 1},
		{V1_GO_SCHED, 50, 0, 1},
	};
	/* The end of the system call is moved to its true place, before P 1 was started. */
	static const struct seen v15[] = {
		{V1_GO_CREATE, 0, 0, 0},     {V1_GO_CREATE, 1, 0, 0},      {V1_GO_WAITING, 2, 0, 2},
		{V1_PROC_START, 3, 0, 0},    {V1_GO_START, 4, 0, 1},       {V1_GOMAXPROCS, 5, 0, 1},
		{V1_GO_CREATE, 15, 0, 1},    {V1_GO_BLOCK_RECV, 25, 0, 1}, {V1_GO_START, 30, 0, 3},
		{V1_GO_UNBLOCK, 35, 0, 3},   {V1_GO_END, 40, 0, 3},        {V1_GO_START, 45, 0, 1},
		{V1_GO_SYSCALL, 46, 0, 1},   {V1_GO_SYS_BLOCK, 47, 0, 1},  {V1_PROC_STOP, 48, 0, 0},
		{V1_GO_SYS_EXIT, 189, 1, 1}, {V1_PROC_START, 200, 1, 0},   {V1_GO_START, 202, 1, 1},
		{V1_GO_SCHED, 203, 1, 1},
	};

	(void)state;
	expect_events(small_111, sizeof(small_111), v111, COUNT(v111));
	expect_events(small_v0, sizeof(small_v0), v111, COUNT(v111));
	expect_events(small_15, sizeof(small_15), v15, COUNT(v15));
}

static void tables_of_the_small_file(void **state)
{
	struct v1_frame frames[4];
	struct fault fault = {0};
	struct v1_trace *trace;
	struct v1_summary summary;

	(void)state;
	assert_int_equal(v1_read(small_111, sizeof(small_111), &trace, &fault), 0);
	assert_int_equal(v1_trace_frequency(trace), 1000000000);
	assert_int_equal(v1_stack(trace, 2, frames, COUNT(frames)), 1);
	assert_int_equal(frames[0].pc, 0x402000);
	assert_int_equal(frames[0].line, 20);
	assert_memory_equal(frames[0].func.bytes, "main.worker", 11);
	assert_memory_equal(frames[0].file.bytes, "/x/main.go", 10);
	assert_int_equal(v1_stack(trace, 2, frames, 0), 0);
	assert_int_equal(v1_stack(trace, 0, frames, 4), 0);
	assert_int_equal(v1_stack(trace, 9, frames, 4), 0);
	assert_int_equal(v1_string(trace, 9).len, 0);
	v1_summarize(trace, &summary);
	assert_int_equal(summary.goroutines, 3);
	assert_int_equal(summary.procs, 1);
	assert_int_equal(summary.threads, 1);
	assert_int_equal(summary.events[V1_GO_CREATE], 3);
	assert_int_equal(summary.events[V1_STRING], 3);
	assert_int_equal(summary.last_time, 50);
	v1_free(trace);
	assert_int_equal(v1_read(small_15, sizeof(small_15), &trace, &fault), 0);
	assert_int_equal(v1_stack(trace, 1, frames, COUNT(frames)), 1);
	assert_int_equal(frames[0].pc, 0x401000);
	assert_int_equal(frames[0].func.len, 0);
	v1_free(trace);
}

/* P 1's batch is first in the file; its events have to wait for P 0's. */
static void ps_are_merged_by_state(void **state)
{
	static struct file f;
	static const struct seen want[] = {
		{V1_GO_CREATE, 0, 0, 0}, {V1_PROC_START, 0, 0, 0}, {V1_PROC_START, 4, 1, 0},
		{V1_GO_START, 5, 0, 1},  {V1_GO_SCHED, 10, 0, 1},  {V1_GO_START, 10, 1, 1},
		{V1_GO_END, 20, 1, 1},
	};

	(void)state;
	begin(&f, WIRE_GO17);
	EV(&f, V1_FREQUENCY, U(1000000000));
	EV(&f, V1_STACK, U(1), U(1), U(5), U(0), U(0), U(0));
	EV(&f, V1_BATCH, U(1), U(1000));
	EV(&f, V1_PROC_START, U(4), U(8));
	EV(&f, V1_GO_START, U(6), U(1), U(2));
	EV(&f, V1_GO_END, U(10));
	EV(&f, V1_BATCH, U(0), U(1000));
	EV(&f, V1_GO_CREATE, U(0), U(1), U(1), U(0));
	EV(&f, V1_PROC_START, U(0), U(7));
	EV(&f, V1_GO_START, U(5), U(1), U(1));
	EV(&f, V1_GO_SCHED, U(5), U(1));
	expect_valid(&f);
	expect_events(f.bytes, f.n, want, COUNT(want));
}

static void syscall_ends_move(void **state)
{
	static struct file f;
	struct fault fault = {0};
	struct v1_trace *trace;
	struct v1_event event;

	(void)state;
	start(&f, WIRE_GO111);
	EV(&f, V1_GO_SYSCALL, U(1), U(1));
	EV(&f, V1_GO_SYS_BLOCK, U(1));      /* at 1006 */
	EV(&f, V1_PROC_STOP, U(10));        /* at 1016 */
	EV(&f, V1_PROC_START, U(10), U(9)); /* at 1026 */
	EV(&f, V1_GO_SYS_EXIT, U(0), U(1), U(2), U(1010));
	EV(&f, V1_GO_START, U(0), U(1), U(3));
	expect_valid(&f);
	assert_int_equal(v1_read(f.bytes, f.n, &trace, &fault), 0);
	event_at(trace, 8, &event);
	assert_int_equal(event.type, V1_GO_SYS_EXIT);
	assert_int_equal(event.ticks, 1010);
	assert_int_equal(event.time, 9);
	assert_int_equal(event.g, 1);
	v1_free(trace);
}

static void futile_wakeups_are_dropped(void **state)
{
	static struct file f;
	struct fault fault = {0};
	struct v1_summary summary;
	struct v1_trace *trace;

	(void)state;
	begin(&f, WIRE_GO15);
	EV(&f, V1_BATCH, U(0), U(1), U(1000));
	EV(&f, V1_FREQUENCY, U(1000), U(0));
	EV(&f, V1_GO_CREATE, U(0), U(0), U(1), U(0x401000), U(0));
	EV(&f, V1_GO_CREATE, U(1), U(0), U(2), U(0x401000), U(0));
	EV(&f, V1_GO_WAITING, U(1), U(0), U(2));
	EV(&f, V1_PROC_START, U(1), U(0), U(7));
	EV(&f, V1_GO_START, U(1), U(0), U(1));
	EV(&f, V1_GO_UNBLOCK, U(1), U(1), U(2), U(0));
	EV(&f, V1_GO_SCHED, U(1), U(1), U(0));
	EV(&f, V1_GO_START, U(1), U(1), U(2));
	EV(&f, V1_GO_PREEMPT, U(1), U(1), U(0));
	EV(&f, V1_GO_START, U(1), U(1), U(2));
	EV(&f, V1_FUTILE_WAKEUP, U(1), U(1));
	EV(&f, V1_GO_BLOCK_SYNC, U(1), U(1), U(0));
	EV(&f, V1_GO_START, U(1), U(1), U(1));
	expect_valid(&f);
	assert_int_equal(v1_read(f.bytes, f.n, &trace, &fault), 0);
	v1_summarize(trace, &summary);
	assert_int_equal(summary.dropped, 6);
	assert_int_equal(v1_count(trace), 7);
	assert_int_equal(summary.events[V1_GO_START], 2);
	assert_int_equal(summary.events[V1_GO_UNBLOCK], 0);
	v1_free(trace);
	start(&f, WIRE_GO111);
	EV(&f, V1_FUTILE_WAKEUP, U(1));
	expect_bad(&f, "Go 1.23");
}

/* --- records --- */

static void records_are_checked(void **state)
{
	static struct file f;

	(void)state;
	start(&f, WIRE_GO111);
	EV(&f, V1_CPU_SAMPLE, U(1), U(2), U(3), U(4), U(0));
	expect_bad(&f, "unknown event type 49");
	start(&f, WIRE_GO111);
	EV(&f, 50, U(1));
	expect_bad(&f, "unknown event type 50");
	start(&f, WIRE_GO111);
	EV(&f, V1_GO_END, U(1), U(2));
	expect_bad(&f, "GoEnd has 2 values, expected 1");
	start(&f, WIRE_GO111);
	EV(&f, V1_BATCH, U(0x80000000), U(1));
	expect_bad(&f, "larger than the maximum");
	start(&f, WIRE_GO110);
	EV(&f, V1_BATCH, U(0x80000000), U(1));
	expect_valid(&f);
	start(&f, WIRE_GO111);
	EV(&f, V1_FREQUENCY, U(0));
	expect_bad(&f, "frequency is 0");
	start(&f, WIRE_GO111);
	put_string(&f, 1, "twice");
	expect_bad(&f, "duplicate string id 1");
	start(&f, WIRE_GO111);
	put_string(&f, 0, "zero");
	expect_bad(&f, "id 0");
	start(&f, WIRE_GO111);
	put_string(&f, UINT64_MAX, "last");
	expect_bad(&f, "leaves no ids");
	start(&f, WIRE_GO111);
	put_string(&f, 5, "");
	expect_bad(&f, "empty");
	start(&f, WIRE_GO111);
	EV(&f, V1_STACK, U(2), U(1), U(5), U(0), U(0));
	expect_bad(&f, "Stack has 5 values, expected 6");
	start(&f, WIRE_GO111);
	EV(&f, V1_STACK, U(2), U(1001), U(5));
	expect_bad(&f, "1001 frames");
	start(&f, WIRE_GO111);
	EV(&f, V1_STACK, U(2), U(1), U(5), U(9), U(0), U(1));
	expect_bad(&f, "string 9 of a frame of stack 2");
	start(&f, WIRE_GO110);
	EV(&f, V1_STACK, U(2), U(1), U(5), U(9), U(0), U(1));
	expect_valid(&f);
}

static void lengths_are_checked(void **state)
{
	static struct file f;

	(void)state;
	start(&f, WIRE_GO111);
	f.at = f.n;
	f.bytes[f.n++] = V1_STRING;
	put(&f, 5);
	put(&f, UINT64_MAX);
	expect_bad(&f, "at most 1000000");
	start(&f, WIRE_GO111);
	f.at = f.n;
	f.bytes[f.n++] = V1_STACK | 3 << 6;
	put(&f, 2049);
	expect_bad(&f, "at most 2048");
	start(&f, WIRE_GO110);
	f.at = f.n;
	f.bytes[f.n++] = V1_STACK | 3 << 6;
	put(&f, UINT64_MAX);
	expect_bad(&f, "allowed");
	start(&f, WIRE_GO111);
	f.at = f.n;
	f.bytes[f.n++] = V1_GO_CREATE | 3 << 6; /* the last number extends beyond the record's end */
	put(&f, 4);
	memcpy(f.bytes + f.n, "\1\5\1\x80\1", 5);
	f.n += 5;
	expect_bad(&f, "in the middle of a record");
	start(&f, WIRE_GO111);
	f.at = f.n;
	f.bytes[f.n++] = V1_GO_END;
	memset(f.bytes + f.n, 0xff, 11);
	f.n += 11;
	expect_bad(&f, "more than 64 bits");
	start(&f, WIRE_GO111);
	EV(&f, V1_USER_LOG, U(1), U(0), U(1), U(0));
	put(&f, 5);
	f.n += 3;
	expect_bad(&f, "in the middle of a record");
}

static void a_file_needs_events_and_its_frequency(void **state)
{
	static struct file f;

	(void)state;
	begin(&f, WIRE_GO111);
	expect_fault(&f, 16, "no events");
	EV(&f, V1_FREQUENCY, U(1));
	expect_bad(&f, "precedes the first Batch");
	begin(&f, WIRE_GO110);
	EV(&f, V1_FREQUENCY, U(1));
	EV(&f, V1_PROC_START, U(0), U(1)); /* P 0, as readers of that time do */
	expect_valid(&f);
	begin(&f, WIRE_GO111);
	EV(&f, V1_BATCH, U(0), U(1));
	EV(&f, V1_PROC_START, U(0), U(1));
	expect_fault(&f, f.n, "Frequency");
}

/* --- order --- */

static void sequence_numbers_are_checked(void **state)
{
	static struct file f;

	(void)state;
	start(&f, WIRE_GO17);
	EV(&f, V1_GO_UNBLOCK, U(1), U(2), U(3), U(0));
	expect_bad(&f, "expects goroutine 2 waiting at number 3, and it is waiting at number 2");
	start(&f, WIRE_GO17);
	EV(&f, V1_GO_SCHED, U(1), U(0));
	EV(&f, V1_GO_START, U(1), U(1), U(1));
	expect_bad(&f, "no consistent ordering");
	start(&f, WIRE_GO17);
	EV(&f, V1_GO_START_LOCAL, U(1), U(9));
	expect_bad(&f, "expects goroutine 9 runnable");
	start(&f, WIRE_GO17);
	EV(&f, V1_GC_START, U(1), U(1), U(0));
	expect_bad(&f, "GCStart has the number 1, expected 0");
	start(&f, WIRE_GO17);
	EV(&f, V1_GO_CREATE, U(1), U(2), U(1), U(0));
	expect_bad(&f, "expects goroutine 2 unknown or dead at number 0");
}

static void times_are_checked(void **state)
{
	static struct file f;
	size_t start_at;

	(void)state;
	start(&f, WIRE_GO17);
	EV(&f, V1_GO_CREATE, U(100), U(3), U(1), U(0));
	EV(&f, V1_BATCH, U(1), U(1050));
	EV(&f, V1_PROC_START, U(0), U(8));
	EV(&f, V1_GO_START, U(1), U(3), U(1)); /* the effect before its cause */
	expect_bad(&f, "time stamps out of order");
	start(&f, WIRE_GO17);
	EV(&f, V1_GO_SYSCALL, U(1), U(1));
	EV(&f, V1_GO_SYS_BLOCK, U(1));
	EV(&f, V1_GO_SYS_EXIT, U(1), U(1), U(2), U(1001));
	expect_bad(&f, "ended at 1001 ticks, before it blocked at 1006");
	start(&f, WIRE_GO17);
	EV(&f, V1_GO_SYS_EXIT, U(1), U(2), U(2), U(1001));
	expect_bad(&f, "stray syscall exit");
	/* The end is moved to an impossible place: not before the start block's own GoInSyscall, but after a
	 * start. */
	start(&f, WIRE_GO17);
	start_at = f.n;
	EV(&f, V1_GO_SYSCALL, U(1), U(1));
	EV(&f, V1_GO_SYS_BLOCK, U(1));
	EV(&f, V1_GO_SYS_EXIT, U(1), U(1), U(2), U(5000));
	EV(&f, V1_GO_START, U(1), U(1), U(3));
	assert_true(start_at < f.at);
	expect_bad(&f, "goroutine 1 is waiting, expected runnable");
}

static void numbers_of_go_1_5_are_checked(void **state)
{
	static struct file f;
	size_t create;

	(void)state;
	begin(&f, WIRE_GO15);
	EV(&f, V1_FREQUENCY, U(1000), U(0));
	EV(&f, V1_BATCH, U(0), U(10), U(1000));
	EV(&f, V1_PROC_START, U(0), U(0), U(7));
	EV(&f, V1_BATCH, U(1), U(5), U(1001));
	EV(&f, V1_PROC_START, U(0), U(0), U(8)); /* number 5, later than number 10 */
	create = 16 + 4 + 5;
	expect_fault(&f, create, "time stamps out of order");
	begin(&f, WIRE_GO15);
	EV(&f, V1_FREQUENCY, U(1000), U(0));
	EV(&f, V1_BATCH, U(0), U(10), U(1000));
	EV(&f, V1_PROC_START, U(0), U(0), U(7));
	record(&f, V1_PROC_STOP, U(0), U(1), END);
	expect_bad(&f, "same number 10");
	begin(&f, WIRE_GO15);
	EV(&f, V1_FREQUENCY, U(1000));
	expect_bad(&f, "expected 2");
	begin(&f, WIRE_GO15);
	EV(&f, V1_BATCH, U(0), U(10));
	expect_bad(&f, "Batch has 2 values, expected 3");
}

static void v0_has_time_alone(void **state)
{
	static struct file f;

	(void)state;
	begin(&f, WIRE_V0);
	EV(&f, V1_FREQUENCY, U(1000));
	EV(&f, V1_BATCH, U(0), U(1000));
	record(&f, V1_PROC_START, U(0), END);
	EV(&f, V1_BATCH, U(1), U(1000));
	record(&f, V1_PROC_START, U(0), END);
	expect_bad(&f, "have the same time");
	begin(&f, WIRE_V0);
	EV(&f, V1_FREQUENCY, U(1000));
	EV(&f, V1_BATCH, U(0), U(1000));
	record(&f, V1_PROC_START, U(0), END);
	record(&f, V1_PROC_STOP, U(9223372037), END);
	expect_bad(&f, "overflow");
	begin(&f, WIRE_V0);
	EV(&f, V1_FREQUENCY, U(1000));
	EV(&f, V1_BATCH, U(0), U(1000));
	record(&f, V1_FUTILE_WAKEUP, U(0), END);
	expect_bad(&f, "unknown event type 36");
	/* In v0, a goroutine whose P was taken is runnable, and the collector is per P. */
	copy(&f, small_v0, sizeof(small_v0));
	f.format = WIRE_V0;
	EV(&f, V1_GC_START, U(1), U(0));
	EV(&f, V1_GO_START, U(1), U(1));
	EV(&f, V1_GO_SYSCALL, U(1), U(0));
	EV(&f, V1_GO_SYS_BLOCK, U(1), U(0));
	EV(&f, V1_GO_SYS_EXIT, U(1), U(1));
	EV(&f, V1_BATCH, U(1), U(5000));
	EV(&f, V1_GC_START, U(1), U(0));
	EV(&f, V1_GO_START, U(1), U(1));
	expect_valid(&f);
	EV(&f, V1_GO_WAITING, U(1), U(1));
	expect_bad(&f, "goroutine 1 is running, expected runnable");
}

/* --- states --- */

static void ps_are_checked(void **state)
{
	static struct file f;

	(void)state;
	start(&f, WIRE_GO17);
	EV(&f, V1_PROC_START, U(1), U(7));
	expect_bad(&f, "P 0 is already running");
	start(&f, WIRE_GO17);
	EV(&f, V1_PROC_STOP, U(1));
	expect_bad(&f, "P 0 still runs goroutine 1");
	start(&f, WIRE_GO17);
	EV(&f, V1_BATCH, U(1), U(2000));
	record(&f, V1_PROC_STOP, U(1), END);
	expect_bad(&f, "P 1 is not running");
	start(&f, WIRE_GO17);
	EV(&f, V1_GO_CREATE, U(1), U(3), U(1), U(0));
	EV(&f, V1_GO_START, U(1), U(3), U(1));
	expect_bad(&f, "P 0 still runs goroutine 1");
}

static void goroutines_are_checked(void **state)
{
	static struct file f;

	(void)state;
	start(&f, WIRE_GO17);
	EV(&f, V1_GO_SCHED, U(1), U(0));
	EV(&f, V1_GO_END, U(1));
	expect_bad(&f, "no goroutine runs on P 0");
	start(&f, WIRE_GO17);
	EV(&f, V1_GO_CREATE, U(1), U(3), U(9), U(0));
	expect_bad(&f, "start stack 9, which is not in the trace");
	start(&f, WIRE_GO17);
	EV(&f, V1_BATCH, UINT64_MAX, U(2000));
	EV(&f, V1_GO_UNBLOCK, U(1), U(2), U(2), U(0)); /* without a P */
	expect_valid(&f);
	start(&f, WIRE_GO17);
	EV(&f, V1_GO_CREATE, U(1), U(3), U(1), U(0));
	EV(&f, V1_GO_SYS_EXIT_LOCAL, U(1), U(3), U(0));
	expect_bad(&f, "no consistent ordering");
	start(&f, WIRE_GO17);
	EV(&f, V1_GO_SYS_EXIT_LOCAL, U(1), U(2), U(0));
	expect_bad(&f, "goroutine 1 is running, expected waiting");
	start(&f, WIRE_GO119);
	EV(&f, V1_CPU_SAMPLE, U(0), U(1004), U(0), U(77), U(1));
	EV(&f, V1_GO_CREATE, U(1), U(77), U(1), U(0)); /* readers know it */
	expect_bad(&f, "goroutine 77 already exists");
}

static void samples_are_sorted(void **state)
{
	static struct file f;
	struct fault fault = {0};
	struct v1_trace *trace;
	struct v1_event event;

	(void)state;
	start(&f, WIRE_GO119);
	EV(&f, V1_BATCH, UINT64_MAX, U(1500));
	EV(&f, V1_CPU_SAMPLE, U(5), U(1200), U(1), U(1), U(1));
	EV(&f, V1_CPU_SAMPLE, U(5), U(1100), UINT64_MAX, U(0), U(1));
	expect_valid(&f);
	assert_int_equal(v1_read(f.bytes, f.n, &trace, &fault), 0);
	event_at(trace, v1_count(trace) - 1, &event);
	assert_int_equal(event.ticks, 1200);
	assert_int_equal(event.p, 1);
	assert_int_equal(event.g, 1);
	assert_int_equal(event.stack, 1);
	event_at(trace, v1_count(trace) - 2, &event);
	assert_int_equal(event.ticks, 1100);
	assert_int_equal(event.p, -1);
	v1_free(trace);
	EV(&f, V1_HEAP_ALLOC, U(1), U(1));
	expect_bad(&f, "readers disagree on its time");
}

static void the_collector_is_checked(void **state)
{
	static struct file f;

	(void)state;
	start(&f, WIRE_GO17);
	EV(&f, V1_GC_START, U(1), U(0), U(0));
	EV(&f, V1_GC_START, U(1), U(1), U(0));
	expect_bad(&f, "the previous one has not ended");
	start(&f, WIRE_GO17);
	record(&f, V1_GC_DONE, U(1), END);
	expect_bad(&f, "it has not begun");
	start(&f, WIRE_GO17);
	record(&f, V1_GC_SWEEP_DONE, U(1), END);
	expect_bad(&f, "it has not begun");
	start(&f, WIRE_GO19);
	record(&f, V1_STW_START, U(1), END);
	EV(&f, V1_BATCH, U(1), U(2000));
	record(&f, V1_STW_START, U(1), END); /* per P */
	expect_valid(&f);
	start(&f, WIRE_GO110);
	EV(&f, V1_STW_START, U(1), U(0));
	EV(&f, V1_BATCH, U(1), U(2000));
	EV(&f, V1_STW_START, U(1), U(0));
	expect_bad(&f, "the previous one has not ended");
	start(&f, WIRE_GO119);
	EV(&f, V1_STW_START, U(1), U(2));
	expect_bad(&f, "kind 2, expected 0 or 1");
	start(&f, WIRE_GO121);
	EV(&f, V1_STW_START, U(1), U(99));
	expect_valid(&f);
	start(&f, WIRE_GO19);
	record(&f, V1_GC_MARK_ASSIST_DONE, U(1), END); /* begun before the trace */
	EV(&f, V1_GC_MARK_ASSIST_START, U(1), U(0));
	expect_valid(&f);
	EV(&f, V1_GC_MARK_ASSIST_START, U(1), U(0));
	expect_bad(&f, "the previous one has not ended");
}

static void what_users_mark_is_checked(void **state)
{
	static struct file f;

	(void)state;
	start(&f, WIRE_GO111);
	EV(&f, V1_USER_TASK_END, U(1), U(5), U(0)); /* begun before the trace */
	EV(&f, V1_USER_TASK_CREATE, U(1), U(1), U(0), U(1), U(0));
	EV(&f, V1_USER_TASK_END, U(1), U(1), U(0));
	EV(&f, V1_USER_TASK_CREATE, U(1), U(1), U(0), U(1), U(0));
	EV(&f, V1_USER_REGION, U(1), U(1), U(1), U(1), U(0)); /* begun before the trace */
	EV(&f, V1_USER_REGION, U(1), U(1), U(0), U(1), U(0));
	expect_valid(&f);
	EV(&f, V1_USER_REGION, U(1), U(2), U(1), U(1), U(0));
	expect_bad(&f, "misuse of region");
	start(&f, WIRE_GO111);
	EV(&f, V1_USER_REGION, U(1), U(2), U(2), U(1), U(0));
	expect_bad(&f, "mode 2");
	start(&f, WIRE_GO111);
	EV(&f, V1_USER_TASK_CREATE, U(1), U(1), U(0), U(1), U(0));
	EV(&f, V1_USER_TASK_CREATE, U(1), U(1), U(0), U(1), U(0));
	expect_bad(&f, "task id conflicts");
	start(&f, WIRE_GO111);
	EV(&f, V1_USER_TASK_CREATE, U(1), U(1), U(0), U(8), U(0));
	expect_bad(&f, "string 8 is not in the trace");
	start(&f, WIRE_GO111);
	EV(&f, V1_GO_SCHED, U(1), U(0));
	EV(&f, V1_GO_START_LABEL, U(1), U(1), U(2), U(8));
	expect_bad(&f, "string 8 is not in the trace");
	set_header(&f, WIRE_GO110);
	expect_valid(&f);
}

/* Every argument has a name, which printing relies on. */
static void arguments_have_names(void **state)
{
	(void)state;
	for (unsigned type = 0; type < V1_EVENT_COUNT; type++) {
		const struct event_v1_spec *spec = event_v1_spec(type, WIRE_GO121);

		if (!spec || !spec->timed || type == V1_GO_START_LOCAL || type == V1_GO_UNBLOCK_LOCAL ||
		    type == V1_GO_SYS_EXIT_LOCAL)
			continue;
		for (unsigned i = 0; i < spec->nargs; i++)
			assert_non_null(spec->args[i].name);
	}
	for (unsigned type = 0; type < EV_COUNT; type++) {
		const struct event_spec *spec = event_spec(type);

		for (unsigned i = 0; spec && spec->timed && i < spec->nargs; i++)
			assert_non_null(spec->args[i].name);
	}
}

/* A cursor for each P costs memory: a file of batches must not demand any number of them. */
static void ps_have_a_limit(void **state)
{
	enum { MOST = 0xffff };
	struct wire_report report;
	static uint8_t bytes[V1_HEADER_SIZE + 8 * (MOST + 1)];
	struct file head, batch = {.format = WIRE_GO111};
	size_t n = V1_HEADER_SIZE, last = 0;

	(void)state;
	begin(&head, WIRE_GO111);
	memcpy(bytes, head.bytes, V1_HEADER_SIZE);
	for (uint64_t p = 0; p <= MOST; p++) {
		batch.n = 0;
		EV(&batch, V1_BATCH, p, U(1000));
		memcpy(bytes + n, batch.bytes, batch.n);
		last = n;
		n += batch.n;
	}
	assert_int_equal(wire_check(bytes, n, &report), -EBADMSG);
	assert_non_null(strstr(report.error.text, "more than 65535 Ps"));
	assert_int_equal(report.error_offset, last);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(ps_have_a_limit),
	cmocka_unit_test(small_files_are_valid),
	cmocka_unit_test(headers),
	cmocka_unit_test(every_cut_is_noticed),
	cmocka_unit_test(events_of_the_small_files),
	cmocka_unit_test(tables_of_the_small_file),
	cmocka_unit_test(ps_are_merged_by_state),
	cmocka_unit_test(syscall_ends_move),
	cmocka_unit_test(futile_wakeups_are_dropped),
	cmocka_unit_test(records_are_checked),
	cmocka_unit_test(lengths_are_checked),
	cmocka_unit_test(a_file_needs_events_and_its_frequency),
	cmocka_unit_test(sequence_numbers_are_checked),
	cmocka_unit_test(times_are_checked),
	cmocka_unit_test(numbers_of_go_1_5_are_checked),
	cmocka_unit_test(v0_has_time_alone),
	cmocka_unit_test(ps_are_checked),
	cmocka_unit_test(goroutines_are_checked),
	cmocka_unit_test(samples_are_sorted),
	cmocka_unit_test(the_collector_is_checked),
	cmocka_unit_test(what_users_mark_is_checked),
	cmocka_unit_test(arguments_have_names),
};

UNIT_TESTS(tests, NULL, NULL);
