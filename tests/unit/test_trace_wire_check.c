/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * wire_check on small files, each with one fault: its message must be that of Go 1.26.8's strict reader for
 * the same fault.
 */
#include "unit.h"
#include <errno.h>
#include <string.h>

#include "trace/wire/event.h"
#include "trace/wire/wire.h"

enum { MAX_FILE = 1 << 18 };

#define NO_THREAD    UINT64_MAX
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A file, and its open batch. */
struct file {
	uint8_t bytes[MAX_FILE];
	size_t n;
	uint8_t data[MAX_FILE];
	size_t ndata;
	uint64_t gen, m;
	unsigned version;
};

static void put(struct file *f, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		f->bytes[f->n++] = (uint8_t)(v | 0x80);
	f->bytes[f->n++] = (uint8_t)v;
}

static void begin(struct file *f, unsigned version)
{
	f->n = HEADER_SIZE;
	f->version = version;
	memcpy(f->bytes, "go 1.00 trace\0\0", HEADER_SIZE);
	f->bytes[5] = (uint8_t)('0' + version / 10);
	f->bytes[6] = (uint8_t)('0' + version % 10);
	f->ndata = 0;
}

static void open_batch(struct file *f, uint64_t gen, uint64_t m)
{
	f->gen = gen;
	f->m = m;
	f->ndata = 0;
}

static void close_batch(struct file *f)
{
	f->bytes[f->n++] = EV_EVENT_BATCH;
	put(f, f->gen);
	put(f, f->m);
	put(f, 100);
	put(f, f->ndata);
	memcpy(f->bytes + f->n, f->data, f->ndata);
	f->n += f->ndata;
}

static void byte(struct file *f, unsigned b)
{
	f->data[f->ndata++] = (uint8_t)b;
}

static void number(struct file *f, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		byte(f, (unsigned)(v & 0x7f) | 0x80);
	byte(f, (unsigned)v);
}

#define END_OF_ARGS 0xfeedfacefeedfaceull

/* An event or table entry: its type, then numbers up to END_OF_ARGS. */
static void put_event(struct file *f, unsigned type, ...)
{
	va_list args;
	uint64_t v;

	byte(f, type);
	va_start(args, type);
	while ((v = va_arg(args, uint64_t)) != END_OF_ARGS)
		number(f, v);
	va_end(args);
}

#define U(v)                     ((uint64_t)(v))
#define EV0(f, type)             put_event(f, type, U(1), END_OF_ARGS)
#define EV1(f, type, a)          put_event(f, type, U(1), U(a), END_OF_ARGS)
#define EV2(f, type, a, b)       put_event(f, type, U(1), U(a), U(b), END_OF_ARGS)
#define EV3(f, type, a, b, c)    put_event(f, type, U(1), U(a), U(b), U(c), END_OF_ARGS)
#define EV4(f, type, a, b, c, d) put_event(f, type, U(1), U(a), U(b), U(c), U(d), END_OF_ARGS)

static void sync_batch(struct file *f, uint64_t gen)
{
	open_batch(f, gen, NO_THREAD);
	if (f->version >= WIRE_GO125)
		byte(f, EV_SYNC);
	put_event(f, EV_FREQUENCY, U(15625000), END_OF_ARGS);
	if (f->version >= WIRE_GO125)
		put_event(f, EV_CLOCK_SNAPSHOT, U(1), U(1000), U(1700000000), U(0), END_OF_ARGS);
	close_batch(f);
}

static void text(struct file *f, uint64_t id, const char *s)
{
	put_event(f, EV_STRING, id, U(strlen(s)), END_OF_ARGS);
	memcpy(f->data + f->ndata, s, strlen(s));
	f->ndata += strlen(s);
}

static void tables(struct file *f, uint64_t gen)
{
	open_batch(f, gen, NO_THREAD);
	byte(f, EV_STACKS);
	put_event(f, EV_STACK, U(1), U(1), U(0x401000), U(1), U(2), U(10), END_OF_ARGS);
	put_event(f, EV_STACK, U(2), U(1), U(0x402000), U(4), U(2), U(20), END_OF_ARGS);
	close_batch(f);
	open_batch(f, gen, NO_THREAD);
	byte(f, EV_STRINGS);
	text(f, 1, "main.main");
	text(f, 2, "/x/main.go");
	text(f, 3, "chan receive");
	text(f, 4, "main.worker");
	close_batch(f);
}

static void end(struct file *f)
{
	if (f->version >= WIRE_GO126)
		f->bytes[f->n++] = EV_END_OF_GENERATION;
}

/* P 0 and goroutine 1 run on thread 5001. The batch stays open. */
static void statuses(struct file *f, uint64_t gen)
{
	open_batch(f, gen, 5001);
	EV2(f, EV_PROC_STATUS, 0, 1);
	EV3(f, EV_GO_STATUS, 1, 5001, 2);
}

/* A generation that consists of the statuses and what `story` adds. */
static void generation(struct file *f, uint64_t gen, void (*story)(struct file *f))
{
	sync_batch(f, gen);
	statuses(f, gen);
	story(f);
	close_batch(f);
	tables(f, gen);
	end(f);
}

static void nothing(struct file *f)
{
	(void)f;
}

/* --- one generation: a valid story, and faulty ones --- */

static void good(struct file *f)
{
	EV2(f, EV_PROCS_CHANGE, 1, 0);
	EV3(f, EV_GO_CREATE, 7, 2, 1);
	EV2(f, EV_GO_BLOCK, 3, 1);
	EV2(f, EV_GO_START, 7, 1);
	EV3(f, EV_GO_UNBLOCK, 1, 1, 0);
	EV0(f, EV_GO_DESTROY);
	EV2(f, EV_GO_START, 1, 2);
}

static void wrong_seq(struct file *f)
{
	EV3(f, EV_GO_CREATE, 7, 2, 1);
	EV2(f, EV_GO_BLOCK, 3, 1);
	EV2(f, EV_GO_START, 7, 2);
}

static void start_on_busy_thread(struct file *f)
{
	EV3(f, EV_GO_CREATE, 7, 2, 1);
	EV2(f, EV_GO_START, 7, 1);
}

static void create_known(struct file *f)
{
	EV3(f, EV_GO_CREATE, 1, 2, 1);
}

static void create_in_syscall(struct file *f)
{
	EV2(f, EV_GO_SYSCALL_BEGIN, 1, 1);
	EV3(f, EV_GO_CREATE, 7, 2, 1);
}

static void syscall_seq(struct file *f)
{
	EV2(f, EV_GO_SYSCALL_BEGIN, 2, 1);
}

static void steal_from_unknown(struct file *f)
{
	EV2(f, EV_GO_SYSCALL_BEGIN, 1, 1);
	EV3(f, EV_PROC_STEAL, 0, 2, 5003);
}

static void end_blocked_with_p(struct file *f)
{
	EV2(f, EV_GO_SYSCALL_BEGIN, 1, 1);
	EV0(f, EV_GO_SYSCALL_END_BLOCKED);
}

static void stop_twice(struct file *f)
{
	EV0(f, EV_PROC_STOP);
	EV0(f, EV_PROC_STOP);
}

static void stop_then_block(struct file *f)
{
	EV0(f, EV_PROC_STOP);
	EV2(f, EV_GO_BLOCK, 3, 1);
}

static void gc_end_first(struct file *f)
{
	EV1(f, EV_GC_END, 1);
}

static void gc_begin_twice(struct file *f)
{
	EV2(f, EV_GC_BEGIN, 1, 1);
	EV2(f, EV_GC_BEGIN, 2, 1);
}

static void stw_end_first(struct file *f)
{
	EV0(f, EV_STW_END);
}

static void stw_twice(struct file *f)
{
	EV2(f, EV_STW_BEGIN, 3, 1);
	EV2(f, EV_STW_BEGIN, 3, 1);
}

static void task_twice(struct file *f)
{
	EV4(f, EV_USER_TASK_BEGIN, 5, 0, 3, 1);
	EV4(f, EV_USER_TASK_BEGIN, 5, 0, 3, 1);
}

static void region_nesting(struct file *f)
{
	EV3(f, EV_USER_REGION_BEGIN, 0, 1, 1);
	EV3(f, EV_USER_REGION_END, 0, 2, 1);
}

static void region_end_alone(struct file *f)
{
	EV3(f, EV_USER_REGION_END, 0, 2, 1);
	EV2(f, EV_USER_TASK_END, 77, 1);
}

static void bad_string(struct file *f)
{
	EV2(f, EV_GO_BLOCK, 99, 1);
}

static void bad_stack(struct file *f)
{
	EV2(f, EV_GO_BLOCK, 3, 88);
}

static void bad_type(struct file *f)
{
	byte(f, 200);
}

static void structural_type(struct file *f)
{
	EV1(f, EV_FREQUENCY, 1);
}

static void snapshot_in_batch(struct file *f)
{
	EV3(f, EV_CLOCK_SNAPSHOT, 1, 1, 1);
}

static void bad_status(struct file *f)
{
	EV3(f, EV_GO_STATUS, 9, 5009, 5);
}

static void wide_status(struct file *f)
{
	EV2(f, EV_PROC_STATUS, 3, 256 + 2);
}

static void cut_event(struct file *f)
{
	byte(f, EV_GO_BLOCK);
	byte(f, 1);
	byte(f, 0x80);
}

static void syscall_status_without_m(struct file *f)
{
	EV3(f, EV_GO_STATUS, 9, NO_THREAD, 3);
}

static void end_with_running_p(struct file *f)
{
	EV3(f, EV_GO_CREATE, 7, 2, 1);
	EV2(f, EV_GO_BLOCK, 3, 1);
	EV3(f, EV_GO_STATUS, 9, 5001, 3);
	EV0(f, EV_GO_SYSCALL_END);
}

static void switch_to_itself(struct file *f)
{
	EV2(f, EV_GO_SWITCH, 1, 1);
}

static const struct {
	void (*story)(struct file *f);
	const char *error; /* NULL: accepted */
} stories[] = {
	{nothing, NULL},
	{good, NULL},
	{region_end_alone, NULL},
	{wrong_seq, "broken trace: failed to advance: frontier: M 5001 [GoStart 7 2]"},
	{start_on_busy_thread, "expected no goroutine but had one"},
	{create_known, "tried to create goroutine (1) that already exists"},
	{create_in_syscall, "GoCreate event for goroutine that's not Running"},
	{syscall_seq, "failed to advance GoSyscallBegin: can't make sequence: 0 (gen=1) -> 2 (gen=1)"},
	{steal_from_unknown, "stole proc from non-existent thread 5003"},
	{end_blocked_with_p, "broken trace: failed to advance"},
	{stop_twice, "event ProcStop for proc (-1) that doesn't exist"},
	{stop_then_block, "expected a proc but didn't have one"},
	{gc_end_first, "encountered GCEnd when GC was in an undetermined state"},
	{gc_begin_twice, "encountered GCBegin while GC was already in progress"},
	{stw_end_first, "tried to end event STWBegin, but not in-flight"},
	{stw_twice, "discovered event already in-flight for when starting event STWBegin"},
	{task_twice, "task ID conflict: 5"},
	{region_nesting, "misuse of region in goroutine 1"},
	{bad_string, "found invalid string ID 99 for event GoBlock"},
	{bad_stack, "found invalid stack ID 88 for event GoBlock"},
	{bad_type, "found invalid event type: 200"},
	{structural_type, "found event without a timestamp: type=8"},
	{snapshot_in_batch, "bad event type found while ordering: 51"},
	{bad_status, "invalid status for goroutine 9: 5"},
	{wide_status, "invalid status for proc 3: 258"},
	{cut_event, "found invalid uvarint"},
	{syscall_status_without_m, "found goroutine 9 in syscall without a thread"},
	{end_with_running_p, "expected proc 0 in state Syscall, but got Running instead"},
	{switch_to_itself, "broken trace: failed to advance"},
};

static struct file file;

static void assert_verdict(const char *error)
{
	struct wire_report report;
	int ret = wire_check(file.bytes, file.n, &report);

	assert_int_equal(ret, error ? -EBADMSG : 0);
	if (!error) {
		assert_string_equal(report.error.text, "");
		assert_int_equal(report.valid_bytes, file.n);
		return;
	}
	if (!strstr(report.error.text, error))
		fail_msg("said \"%s\", expected \"%s\"", report.error.text, error);
	assert_true(report.error_offset <= file.n);
	assert_true(report.valid_bytes <= report.error_offset || report.valid_bytes < file.n);
}

static void test_stories(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(stories); i++) {
		begin(&file, WIRE_GO126);
		generation(&file, 1, stories[i].story);
		assert_verdict(stories[i].error);
	}
}

/* The minimal file in each format, and events that a format does not have. */
static void new_event(struct file *f)
{
	EV3(f, EV_GO_CREATE_BLOCKED, 7, 2, 1);
}

static void test_versions(void **state)
{
	static const unsigned versions[] = {22, 23, 25, 26};

	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++) {
		begin(&file, versions[i]);
		generation(&file, 1, good);
		assert_verdict(NULL);
		begin(&file, versions[i]);
		generation(&file, 1, new_event);
		assert_verdict(versions[i] == 22 ? "event GoCreateBlocked is not known to readers of go 1.22"
						 : NULL);
	}
	begin(&file, 27);
	generation(&file, 1, good);
	assert_verdict("unknown or unsupported trace version go 1.27");
	begin(&file, 26);
	file.bytes[0] = 'G';
	assert_verdict("bad file format");
}

/* --- second generations --- */

static void test_second_generation(void **state)
{
	struct wire_report report;

	(void)state;
	begin(&file, WIRE_GO126);
	generation(&file, 1, nothing);
	sync_batch(&file, 2);
	open_batch(&file, 2, 5001);
	EV3(&file, EV_GO_STATUS, 1, 5001, 4);
	close_batch(&file);
	end(&file);
	assert_verdict("inconsistent status for goroutine 1: old Running vs. new Waiting");

	begin(&file, WIRE_GO126);
	generation(&file, 1, nothing);
	sync_batch(&file, 2);
	open_batch(&file, 2, NO_THREAD);
	EV3(&file, EV_GO_STATUS, 9, NO_THREAD, 4);
	close_batch(&file);
	end(&file);
	assert_verdict(
		"found goroutine status for new goroutine after the first generation: id=9 status=Waiting");
	wire_check(file.bytes, file.n, &report);
	assert_int_equal(report.generations, 1);
	assert_int_equal(report.goroutines, 1);

	begin(&file, WIRE_GO126);
	generation(&file, 1, nothing);
	sync_batch(&file, 2);
	open_batch(&file, 2, 5001);
	EV2(&file, EV_GO_SYSCALL_BEGIN, 1, 0);
	close_batch(&file);
	end(&file);
	assert_verdict("can't make sequence: 0 (gen=1) -> 1 (gen=2)");

	begin(&file, WIRE_GO126);
	generation(&file, 1, nothing);
	sync_batch(&file, 2);
	open_batch(&file, 2, 5001);
	EV3(&file, EV_GO_STATUS, 1, 5001, 2);
	EV1(&file, EV_GC_MARK_ASSIST_ACTIVE, 1);
	close_batch(&file);
	end(&file);
	assert_verdict("resource is missing active range: GCMarkAssistBegin");
}

static void test_generation_numbers(void **state)
{
	struct wire_report report;
	size_t first;

	(void)state;
	for (unsigned version = 25; version <= 26; version++) {
		begin(&file, version);
		generation(&file, 7, nothing);
		first = file.n;
		generation(&file, 9, nothing);
		assert_verdict(version == 26 ? NULL : "generations out of order");
		wire_check(file.bytes, file.n, &report);
		assert_int_equal(report.valid_bytes, version == 26 ? file.n : first);
		begin(&file, version);
		generation(&file, 0, nothing);
		assert_verdict("invalid generation number 0");
	}
	begin(&file, WIRE_GO126);
	sync_batch(&file, 1);
	tables(&file, 2);
	end(&file);
	assert_verdict("generations are interleaved");
}

/* --- batches and tables --- */

static void test_needed_batches(void **state)
{
	(void)state;
	begin(&file, WIRE_GO126);
	tables(&file, 1);
	end(&file);
	assert_verdict("no frequency event found");
	begin(&file, WIRE_GO123);
	assert_verdict("no frequency event found");
	begin(&file, WIRE_GO126);
	assert_verdict(NULL);
	begin(&file, WIRE_GO126);
	sync_batch(&file, 1);
	sync_batch(&file, 1);
	end(&file);
	assert_verdict("found multiple frequency events");
	begin(&file, WIRE_GO126);
	open_batch(&file, 1, NO_THREAD);
	byte(&file, EV_SYNC);
	put_event(&file, EV_FREQUENCY, U(1000), END_OF_ARGS);
	close_batch(&file);
	end(&file);
	assert_verdict("no clock snapshot event found");
	begin(&file, WIRE_GO126);
	sync_batch(&file, 1);
	statuses(&file, 1);
	close_batch(&file);
	assert_verdict("incomplete generation found; trace likely truncated");
	begin(&file, WIRE_GO126);
	generation(&file, 1, nothing);
	file.bytes[file.n++] = 7;
	assert_verdict("expected batch event, got event 7");
}

/* A table batch with one entry, in an otherwise valid generation. */
static void with_table(unsigned type, void (*entry)(struct file *f), const char *error)
{
	begin(&file, WIRE_GO126);
	sync_batch(&file, 1);
	tables(&file, 1);
	open_batch(&file, 1, NO_THREAD);
	byte(&file, type);
	entry(&file);
	close_batch(&file);
	end(&file);
	assert_verdict(error);
}

static void string_again(struct file *f)
{
	text(f, 1, "main.main");
}

static void string_zero(struct file *f)
{
	text(f, 0, "x");
}

static void long_string(struct file *f)
{
	static char s[1026];

	memset(s, 'x', 1025);
	text(f, 9, s);
}

static void longest_string(struct file *f)
{
	static char s[1025];

	memset(s, 'x', 1024);
	text(f, 9, s);
}

static void cut_string(struct file *f)
{
	put_event(f, EV_STRING, U(9), U(5), END_OF_ARGS);
	byte(f, 'x');
}

static void stack_again(struct file *f)
{
	put_event(f, EV_STACK, U(1), U(0), END_OF_ARGS);
}

static void deep_stack(struct file *f)
{
	put_event(f, EV_STACK, U(9), U(129), END_OF_ARGS);
	for (unsigned i = 0; i < 4 * 129; i++)
		number(f, 1);
}

static void stack_without_function(struct file *f)
{
	put_event(f, EV_STACK, U(9), U(1), U(0x500000), U(77), U(2), U(1), END_OF_ARGS);
}

/* A known PC keeps its first function, so this name is never looked up. */
static void stack_of_known_pc(struct file *f)
{
	put_event(f, EV_STACK, U(9), U(1), U(0x401000), U(77), U(2), U(1), END_OF_ARGS);
}

static void sample(struct file *f)
{
	put_event(f, EV_CPU_SAMPLE, U(100), U(5001), U(0), U(1), U(1), END_OF_ARGS);
}

static void dangling_sample(struct file *f)
{
	put_event(f, EV_CPU_SAMPLE, U(100), U(5001), U(0), U(1), U(88), END_OF_ARGS);
}

static void wrong_entry(struct file *f)
{
	byte(f, EV_GO_START);
}

static void test_tables(void **state)
{
	(void)state;
	with_table(EV_STRINGS, string_again, "multiple strings with the same ID: id=1");
	with_table(EV_STRINGS, string_zero, "multiple strings with the same ID: id=0");
	with_table(EV_STRINGS, long_string, "invalid string size 1025, maximum is 1024");
	with_table(EV_STRINGS, longest_string, NULL);
	with_table(EV_STRINGS, cut_string, "failed to read full string: read 1 but wanted 5");
	with_table(EV_STRINGS, wrong_entry, "expected string event, got 16");
	with_table(EV_STACKS, stack_again, "multiple stacks with the same ID: id=1");
	with_table(EV_STACKS, deep_stack, "invalid stack size 129, maximum is 128");
	with_table(EV_STACKS, stack_without_function, "found invalid func string ID 77 for stack 9");
	with_table(EV_STACKS, stack_of_known_pc, NULL);
	with_table(EV_STACKS, wrong_entry, "expected stack event, got 16");
	with_table(EV_CPU_SAMPLES, sample, NULL);
	with_table(EV_CPU_SAMPLES, dangling_sample, "found invalid stack ID 88 for a CPU sample");
	with_table(EV_CPU_SAMPLES, wrong_entry, "expected CPU sample event, got 16");
}

static void test_batch_limits(void **state)
{
	(void)state;
	begin(&file, WIRE_GO126);
	sync_batch(&file, 1);
	open_batch(&file, 1, 5001);
	file.ndata = 65545;
	close_batch(&file);
	assert_verdict("invalid batch size 65545, maximum is 65536");
	begin(&file, WIRE_GO126);
	sync_batch(&file, 1);
	open_batch(&file, 1, 5001);
	close_batch(&file); /* an empty batch */
	end(&file);
	assert_verdict(NULL);
	begin(&file, WIRE_GO126);
	file.bytes[file.n++] = EV_EVENT_BATCH;
	memset(file.bytes + file.n, 0xff, 11);
	file.n += 11;
	assert_verdict("error reading batch gen: varint overflows a 64-bit integer");
	begin(&file, WIRE_GO126);
	memcpy(file.bytes + file.n, "\x31\x02\x01\x01\x01\x00", 6);
	file.n += 6;
	assert_verdict("unknown experiment 2");
}

/* --- several threads --- */

static void without_statuses(struct file *f, uint64_t m, void (*story)(struct file *f))
{
	begin(f, WIRE_GO126);
	sync_batch(f, 1);
	open_batch(f, 1, m);
	story(f);
	close_batch(f);
	tables(f, 1);
	end(f);
}

static void block(struct file *f)
{
	EV2(f, EV_GO_BLOCK, 3, 1);
}

static void block_with_p(struct file *f)
{
	EV2(f, EV_PROC_STATUS, 0, 1);
	EV2(f, EV_GO_BLOCK, 3, 1);
}

static void heap(struct file *f)
{
	EV1(f, EV_HEAP_ALLOC, 1);
}

static void create(struct file *f)
{
	EV3(f, EV_GO_CREATE, 7, 0, 0);
}

static void procs_change(struct file *f)
{
	EV2(f, EV_PROC_STATUS, 0, 1);
	EV2(f, EV_PROCS_CHANGE, 1, 0);
}

static void test_contexts(void **state)
{
	(void)state;
	without_statuses(&file, 5001, block);
	assert_verdict("expected a proc but didn't have one");
	without_statuses(&file, 5001, block_with_p);
	assert_verdict("expected a goroutine but didn't have one");
	without_statuses(&file, 5001, heap);
	assert_verdict("expected a proc but didn't have one");
	without_statuses(&file, 5001, procs_change);
	assert_verdict("expected a goroutine but didn't have one");
	without_statuses(&file, NO_THREAD, create);
	assert_verdict("expected a thread but didn't have one");
}

/* The thief's event has an earlier time than the call that it ends: sequence numbers take precedence. */
static void test_steal_across_threads(void **state)
{
	struct wire_report report;

	(void)state;
	begin(&file, WIRE_GO126);
	sync_batch(&file, 1);
	open_batch(&file, 1, 5002);
	EV2(&file, EV_PROC_STATUS, 1, 1);
	EV3(&file, EV_PROC_STEAL, 0, 2, 5001);
	EV2(&file, EV_PROC_START, 0, 3); /* waits forever: 5002 has P 1 */
	close_batch(&file);
	statuses(&file, 1);
	put_event(&file, EV_GO_SYSCALL_BEGIN, U(100000), U(1), U(0), END_OF_ARGS);
	EV0(&file, EV_GO_SYSCALL_END_BLOCKED);
	close_batch(&file);
	tables(&file, 1);
	end(&file);
	assert_verdict("broken trace: failed to advance: frontier: M 5002 [ProcStart 0 3]");
	wire_check(file.bytes, file.n, &report);
	assert_int_equal(report.generations, 0);

	begin(&file, WIRE_GO126);
	sync_batch(&file, 1);
	open_batch(&file, 1, 5002);
	EV3(&file, EV_PROC_STEAL, 0, 2, 5001);
	EV2(&file, EV_PROC_START, 0, 3);
	close_batch(&file);
	statuses(&file, 1);
	put_event(&file, EV_GO_SYSCALL_BEGIN, U(100000), U(1), U(0), END_OF_ARGS);
	EV0(&file, EV_GO_SYSCALL_END_BLOCKED);
	close_batch(&file);
	tables(&file, 1);
	end(&file);
	assert_verdict(NULL);
	wire_check(file.bytes, file.n, &report);
	assert_int_equal(report.events[EV_PROC_STEAL], 1);
	assert_int_equal(report.threads, 2);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_stories),
	cmocka_unit_test(test_versions),
	cmocka_unit_test(test_second_generation),
	cmocka_unit_test(test_generation_numbers),
	cmocka_unit_test(test_needed_batches),
	cmocka_unit_test(test_tables),
	cmocka_unit_test(test_batch_limits),
	cmocka_unit_test(test_contexts),
	cmocka_unit_test(test_steal_across_threads),
};

UNIT_TESTS(tests, NULL, NULL);
