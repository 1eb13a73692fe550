/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "rawlog/demux.h"
#include "rawlog/attribute_cache.h"

/* The log of a process, a word or two per record. */
struct stream {
	uint32_t pid, parent;
	char comm[16];
	uint32_t flags;
	char text[2048];
	struct log_end end;
	bool ended;
};

enum { STREAMS = 8, ROOT = 100 };

struct family {
	struct demux *demux;
	struct stream streams[STREAMS];
	unsigned n;
	uint32_t refused; /* a pid */
	uint64_t now;
};

static void note(struct stream *stream, const char *format, ...)
{
	size_t at = strlen(stream->text);
	va_list args;

	va_start(args, format);
	vsnprintf(stream->text + at, sizeof(stream->text) - at, format, args);
	va_end(args);
}

static void *begin(void *ctx, struct log_target *target, void *parent)
{
	struct family *family = ctx;
	struct stream *stream = &family->streams[family->n];

	if (target->pid == family->refused || family->n == STREAMS)
		return NULL;
	family->n++;
	stream->pid = target->pid;
	stream->parent = parent ? ((struct stream *)parent)->pid : 0;
	stream->flags = target->flags;
	memcpy(stream->comm, target->comm, sizeof(stream->comm));
	return stream;
}

static void note_records(struct stream *stream, const struct log_record *record)
{
	const struct raw_record *records = record->data;

	for (size_t i = 0; i < record->size / sizeof(*records); i++)
		note(stream, "%u:%u>%llu ", records[i].site, records[i].tid,
		     (unsigned long long)records[i].g);
}

static int put(void *ctx, const struct log_record *record)
{
	struct stream *stream = ctx;

	assert_false(stream->ended);
	assert_int_equal(rawlog_check_record(record, NULL), 0);
	if (record->type == LOG_RECORDS)
		note_records(stream, record);
	else if (record->type == LOG_STACK)
		note(stream, "stack%llu ",
		     (unsigned long long)((const struct raw_stack *)record->data)->hash);
	else if (record->type == LOG_FILE)
		note(stream, "file ");
	else if (record->type == LOG_TEXT)
		note(stream, "name%u ", ((const struct raw_text *)record->data)->record.tid);
	else if (record->type == LOG_THREADS)
		note(stream, "thread%u ", ((const struct log_thread *)record->data)->tid);
	else if (record->type != LOG_END)
		note(stream, "type%u ", record->type);
	else
		stream->end = *(const struct log_end *)record->data;
	if (record->type == LOG_END)
		note(stream, "end");
	return 0;
}

static void end(void *ctx)
{
	struct stream *stream = ctx;

	assert_false(stream->ended);
	stream->ended = true;
}

static void put_log(struct family *family, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	assert_int_equal(demux_put(family->demux, &record), 0);
}

static void put_target(struct family *family, uint32_t pid, const char *comm)
{
	struct log_target target = {.pid = pid, .flags = LOG_TARGET_THREADS};

	target.clock = (struct log_clock){.mono_ns = 1000, .wall_sec = 5, .wall_nsec = 999999990};
	strcpy(target.comm, comm);
	put_log(family, LOG_TARGET, &target, sizeof(target));
}

static void put_record(struct family *family, struct raw_record rec)
{
	family->now += 100;
	rec.time = family->now;
	put_log(family, LOG_RECORDS, &rec, sizeof(rec));
}

static void put_name(struct family *family, uint32_t pid, uint32_t tid, const char *name)
{
	uint64_t words[sizeof(struct raw_text) / 8 + 2] = {0};
	struct raw_text *text = (struct raw_text *)words;

	text->record = (struct raw_record){.site = SITE_COMM, .tid = tid, .goid = pid};
	text->len = (uint16_t)strlen(name);
	memcpy(text->text, name, text->len);
	put_log(family, LOG_TEXT, text, sizeof(*text) + text->len);
}

static void put_stack(struct family *family, uint64_t hash)
{
	uint64_t words[3] = {0};
	struct raw_stack *stack = (struct raw_stack *)words;

	*stack = (struct raw_stack){.n = 1, .site = SITE_STACK, .flags = RAW_STACK_NATIVE, .hash = hash};
	put_log(family, LOG_STACK, stack, sizeof(words));
}

static void put_boundary(struct family *family)
{
	struct log_boundary boundary = {.time_before = family->now, .time_after = family->now};

	boundary.clock = (struct log_clock){.mono_ns = family->now, .wall_sec = 7};
	put_log(family, LOG_BOUNDARY, &boundary, sizeof(boundary));
}

static void put_fork(struct family *family, uint32_t parent, uint32_t child, uint8_t status)
{
	put_record(family, (struct raw_record){.site = SITE_FORK,
					       .tid = parent,
					       .goid = parent,
					       .g = child,
					       .arg = child,
					       .status = status});
}

static void put_exit(struct family *family, uint32_t pid)
{
	put_record(family,
		   (struct raw_record){
			   .site = SITE_THREAD_EXIT, .tid = pid, .goid = pid, .status = EXIT_OF_LAST});
}

static void put_last_switch(struct family *family, uint32_t pid)
{
	put_record(family,
		   (struct raw_record){.site = SITE_SWITCH, .tid = pid, .goid = pid, .status = LEFT_DEAD});
}

static int setup(void **state)
{
	struct family *family = calloc(1, sizeof(*family));
	struct demux_options options = {.begin = begin, .put = put, .end = end, .ctx = family};

	assert_non_null(family);
	family->now = 1000;
	family->demux = demux_new(&options);
	assert_non_null(family->demux);
	put_target(family, ROOT, "root");
	*state = family;
	return 0;
}

static int teardown(void **state)
{
	struct family *family = *state;

	demux_free(family->demux);
	for (unsigned i = 0; i < family->n; i++)
		assert_true(family->streams[i].ended);
	free(family);
	return 0;
}

static void test_each_has_its_records(void **state)
{
	struct family *family = *state;

	put_target(family, 200, "other");
	put_record(family, (struct raw_record){.site = SITE_SWITCH, .tid = 100, .goid = ROOT});
	put_record(family, (struct raw_record){.site = SITE_SWITCH, .g = 200, .goid = 200});
	put_record(family, (struct raw_record){.site = SITE_SWITCH, .g = 300, .goid = 300}); /* not traced */
	put_record(family, (struct raw_record){.site = SITE_MARKER, .tid = 1, .arg = 1});
	assert_string_equal(family->streams[0].text, "type1 110:100>0 2:1>0 ");
	assert_string_equal(family->streams[1].text, "type1 110:0>200 2:1>0 ");
}

static void test_fork_and_exit(void **state)
{
	struct family *family = *state;
	struct stream *child = &family->streams[1];

	put_name(family, 200, 200, "kid");
	put_fork(family, ROOT, 200, FORK_FOLLOWED);
	assert_int_equal(family->n, 2);
	assert_int_equal(child->parent, ROOT);
	assert_string_equal(child->comm, "kid");
	assert_int_equal(child->flags, LOG_TARGET_THREADS | LOG_TARGET_SPAWNED);
	put_record(family, (struct raw_record){.site = SITE_SWITCH, .g = 200, .goid = 200});
	put_exit(family, 200);
	assert_false(child->ended);
	put_last_switch(family, 200);
	assert_true(child->ended);
	assert_string_equal(child->text, "type1 name200 112:100>200 110:0>200 113:200>0 110:200>0 end");
	assert_int_equal(child->end.reason, LOG_END_EXITED);
	assert_int_equal(child->end.hits, 4);
	/* 1,400 ns, on a clock that showed 5.99999999 s at 1,000 ns. */
	assert_int_equal(child->end.clock.mono_ns, 1400);
	assert_int_equal(child->end.clock.wall_sec, 6);
	assert_int_equal(child->end.clock.wall_nsec, 390);
	/* In the parent's log it is just a system call. */
	assert_string_equal(family->streams[0].text, "type1 ");
}

static void test_end_of_a_thread_is_waited_for(void **state)
{
	struct family *family = *state;
	struct stream *child = &family->streams[1];

	put_fork(family, ROOT, 200, FORK_FOLLOWED);
	put_record(family,
		   (struct raw_record){.site = SITE_FORK, .tid = 200, .goid = 200, .g = 201, .arg = 200});
	put_exit(family, 200);
	put_last_switch(family, 200);
	assert_false(child->ended);
	put_boundary(family);
	assert_false(child->ended);
	put_record(family,
		   (struct raw_record){.site = SITE_SWITCH, .tid = 201, .goid = 200, .status = LEFT_DEAD});
	assert_true(child->ended);
}

static void test_end_is_not_waited_for_ever(void **state)
{
	struct family *family = *state;

	put_fork(family, ROOT, 200, FORK_FOLLOWED);
	put_exit(family, 200);
	put_boundary(family);
	assert_false(family->streams[1].ended);
	put_boundary(family);
	assert_true(family->streams[1].ended);
	assert_false(family->streams[0].ended);
}

static void test_a_pid_that_comes_again(void **state)
{
	struct family *family = *state;

	put_fork(family, ROOT, 200, FORK_FOLLOWED);
	put_exit(family, 200);
	put_fork(family, ROOT, 200, FORK_FOLLOWED);
	assert_int_equal(family->n, 3);
	assert_true(family->streams[1].ended);
	assert_false(family->streams[2].ended);
	/* A fork record of a process that is already known: it was found in /proc before. */
	put_fork(family, ROOT, 200, FORK_FOLLOWED);
	assert_int_equal(family->n, 3);
}

static void test_left_out(void **state)
{
	struct family *family = *state;

	put_fork(family, ROOT, 200, FORK_ALONE);
	family->refused = 201;
	put_fork(family, ROOT, 201, FORK_FOLLOWED);
	put_record(family, (struct raw_record){.site = SITE_SWITCH, .g = 201, .goid = 201});
	assert_int_equal(family->n, 1);
	assert_int_equal(demux_left_out(family->demux), 2);
}

static void test_stacks_go_to_who_needs_them(void **state)
{
	struct family *family = *state;
	struct raw_record call = {.site = SITE_SYSCALL, .tid = 200, .goid = 200, .stack = 7};

	put_stack(family, 7);
	put_fork(family, ROOT, 200, FORK_FOLLOWED);
	put_record(family, call);
	put_record(family, call);
	assert_string_equal(family->streams[0].text, "type1 ");
	assert_string_equal(family->streams[1].text, "type1 112:100>200 stack7 115:200>0 115:200>0 ");
	/* After an exec, the same addresses have other names. */
	put_record(family, (struct raw_record){.site = SITE_EXEC, .tid = 200, .goid = 200, .g = 200});
	put_record(family, call);
	assert_non_null(strstr(family->streams[1].text, "114:200>200 stack7 115:200>0 "));
}

static void test_files_and_wakers(void **state)
{
	struct family *family = *state;
	struct log_file file = {.key = WAIT_MAKE(FILE_PIPE, 3, 5)};
	struct raw_record wakes = {
		.site = SITE_WAKING, .status = WAKER_OTHER, .tid = 100, .g = 200, .goid = 200};

	put_target(family, 200, "other");
	put_name(family, ROOT, 100, "root");
	put_log(family, LOG_FILE, &file, sizeof(file));
	put_record(family,
		   (struct raw_record){.site = SITE_SYSCALL, .tid = 200, .goid = 200, .arg2 = file.key});
	put_record(family, wakes);
	put_record(family, wakes);
	assert_string_equal(family->streams[1].text, "type1 file 115:200>0 name100 111:100>200 111:100>200 ");
	put_name(family, ROOT, 100, "renamed");
	put_record(family, wakes);
	assert_string_equal(family->streams[1].text,
			    "type1 file 115:200>0 name100 111:100>200 111:100>200 name100 111:100>200 ");
	assert_string_equal(family->streams[0].text, "type1 name100 name100 ");
}

static void test_exec_ends_a_generation(void **state)
{
	struct family *family = *state;
	struct raw_record exec = {.site = SITE_EXEC, .tid = 100, .goid = ROOT, .g = 100};

	put_record(family, exec); /* it has just begun */
	put_boundary(family);
	put_record(family, exec);
	assert_string_equal(family->streams[0].text, "type1 114:100>100 type12 type12 114:100>100 ");
}

static void test_snapshot(void **state)
{
	struct family *family = *state;
	struct log_snapshot snapshot = {.time_before = 5000, .time_after = 5001};
	struct log_thread threads[3] = {{.tid = 100, .tgid = ROOT, .stack = 7},
					{.tid = 300, .tgid = 300, .comm = "found"},
					{.tid = 101, .tgid = ROOT}};

	put_target(family, 200, "gone");
	put_stack(family, 7);
	put_log(family, LOG_SNAPSHOT, &snapshot, sizeof(snapshot));
	put_log(family, LOG_THREADS, threads, sizeof(threads));
	put_log(family, LOG_SNAPSHOT_END, NULL, 0);
	assert_string_equal(family->streams[0].text, "type1 type7 stack7 thread100 thread101 type11 ");
	assert_string_equal(family->streams[1].text, "type1 type7 type11 ");
	assert_string_equal(family->streams[2].text, "type1 type7 thread300 type11 ");
	assert_string_equal(family->streams[2].comm, "found");
	assert_int_equal(family->streams[2].flags, LOG_TARGET_THREADS);
	/* Processes that are not in the list have exited. */
	put_boundary(family);
	put_boundary(family);
	assert_true(family->streams[1].ended);
	assert_false(family->streams[2].ended);
}

/* The process's exit was recorded after the threads were listed, and before the list arrived. */
static void test_ended_since_the_snapshot(void **state)
{
	struct family *family = *state;
	struct log_snapshot snapshot = {.time_before = 5ull << 20, .time_after = 6ull << 20};
	struct log_thread thread = {.tid = 200, .tgid = 200};

	put_target(family, 200, "short");
	family->now = 7ull << 20;
	put_exit(family, 200);
	put_last_switch(family, 200);
	assert_true(family->streams[1].ended);
	put_log(family, LOG_SNAPSHOT, &snapshot, sizeof(snapshot));
	put_log(family, LOG_THREADS, &thread, sizeof(thread));
	put_log(family, LOG_SNAPSHOT_END, NULL, 0);
	assert_int_equal(family->n, 2);
	/* Another process with the same id, whose start record was lost. */
	snapshot.time_before = 9ull << 20;
	put_log(family, LOG_SNAPSHOT, &snapshot, sizeof(snapshot));
	put_log(family, LOG_THREADS, &thread, sizeof(thread));
	put_log(family, LOG_SNAPSHOT_END, NULL, 0);
	assert_int_equal(family->n, 3);
}

static void test_for_all(void **state)
{
	struct family *family = *state;
	struct log_loss loss = {.ring_full = 3};
	struct log_function function = {.number = 1, .kind = FUNCTION_REGION};
	struct log_end last = {.reason = LOG_END_STOPPED, .probe_hit_ns = 9, .hits = 1000};
	struct log_symbol kernel = {.pc = LOG_KERNEL_PC | 1};

	put_log(family, LOG_FUNCTION, &function, sizeof(function));
	put_log(family, LOG_SYMBOL, &kernel, sizeof(kernel));
	put_log(family, LOG_LOSS, &loss, sizeof(loss));
	put_fork(family, ROOT, 200, FORK_FOLLOWED);
	put_log(family, LOG_LOSS, &loss, sizeof(loss));
	put_log(family, LOG_END, &last, sizeof(last));
	assert_string_equal(family->streams[0].text, "type1 type24 type22 type13 type13 end");
	assert_string_equal(family->streams[1].text, "type1 type24 type22 112:100>200 type13 end");
	assert_int_equal(family->streams[0].end.total.ring_full, 6);
	assert_int_equal(family->streams[1].end.total.ring_full, 3);
	assert_int_equal(family->streams[1].end.hits, 1);
	assert_int_equal(family->streams[1].end.probe_hit_ns, 9);
}

/* Values belong to the process that made the call, in the order of its other records. */
static void test_values(void **state)
{
	struct family *family = *state;
	struct raw_text text = {
		.record = {.site = SITE_FUNCTION_BEGIN, .tid = 200, .goid = 200, .flags = RAW_VALUES}};
	struct log_values values = {.number = 1, .site = SITE_FUNCTION_BEGIN};
	struct log_end last = {.reason = LOG_END_STOPPED};

	put_log(family, LOG_VALUES, &values, sizeof(values));
	put_fork(family, ROOT, 200, FORK_FOLLOWED);
	text.record.time = family->now;
	put_log(family, LOG_TEXT, &text, sizeof(text));
	put_record(family, (struct raw_record){.site = SITE_FUNCTION_END, .tid = 200, .goid = 200});
	text.record.goid = 999; /* not one of our processes */
	put_log(family, LOG_TEXT, &text, sizeof(text));
	put_log(family, LOG_END, &last, sizeof(last));
	assert_string_equal(family->streams[0].text, "type1 type30 end");
	assert_string_equal(family->streams[1].text, "type1 type30 112:100>200 name200 119:200>0 end");
	assert_int_equal(family->streams[1].end.hits, 3);
}

static void test_bad_records(void **state)
{
	struct family *family = *state;
	char bytes[8] = {0};
	struct log_record bad = {.type = LOG_STACK, .size = sizeof(bytes), .data = bytes};

	assert_int_equal(demux_put(family->demux, &bad), -EBADMSG);
	bad.type = LOG_RECORDS;
	assert_int_equal(demux_put(family->demux, &bad), -EBADMSG);
}

static void test_store_forgets(void **state)
{
	struct attribute_cache cache = {.limit = 2};
	uint64_t data[5] = {10, 11, 12, 13, 14};
	struct log_record record = {.type = LOG_NOTE, .size = 8};
	uint32_t version;

	(void)state;
	for (unsigned i = 1; i <= 3; i++) {
		record.data = &data[i];
		assert_int_equal(attribute_cache_put(&cache, i, &record), 0);
	}
	version = attribute_cache_get(&cache, 1)->version; /* becomes recent again */
	record.data = &data[1];
	assert_int_equal(attribute_cache_put(&cache, 1, &record), 0); /* the same */
	assert_int_equal(attribute_cache_get(&cache, 1)->version, version);
	record.data = &data[4];
	assert_int_equal(attribute_cache_put(&cache, 1, &record), 0);
	assert_int_not_equal(attribute_cache_get(&cache, 1)->version, version);
	assert_int_equal(attribute_cache_put(&cache, 4, &record), 0);
	assert_null(attribute_cache_get(&cache, 2)); /* not recently used */
	assert_memory_equal(attribute_cache_get(&cache, 3) ? attribute_cache_get(&cache, 3)->record.data
							   : &data[0],
			    &data[3], 8);
	assert_memory_equal(attribute_cache_get(&cache, 1)->record.data, &data[4], 8);
	attribute_cache_free(&cache);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
static const struct CMUnitTest tests[] = {
	CASE(test_each_has_its_records),
	CASE(test_fork_and_exit),
	CASE(test_end_of_a_thread_is_waited_for),
	CASE(test_end_is_not_waited_for_ever),
	CASE(test_a_pid_that_comes_again),
	CASE(test_left_out),
	CASE(test_stacks_go_to_who_needs_them),
	CASE(test_files_and_wakers),
	CASE(test_exec_ends_a_generation),
	CASE(test_snapshot),
	CASE(test_ended_since_the_snapshot),
	CASE(test_for_all),
	CASE(test_values),
	CASE(test_bad_records),
	cmocka_unit_test(test_store_forgets),
};

UNIT_TESTS(tests, NULL, NULL);
