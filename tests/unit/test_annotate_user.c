/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tasks, regions and logs: the ops made from the records of one goroutine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "annotate/annotate.h"
#include "op_rules.h"
#include "values_record.h"

/* The annotations of the trace as text: "begin name 3", "end name 3", "task 3 1 name", "done 3", "log 3 k
 * v". */
struct story {
	struct op_rules *rules;
	struct strtab *strings;
	struct model *model;
	uint64_t now;
	char text[4096];
	size_t repaired;
};

static const char *string_of(const struct tables *tables, uint32_t id)
{
	if (id & TEXT_ID)
		return strtab_get(tables->texts, id & ~TEXT_ID, NULL);
	return strtab_get(tables->strings, id, NULL);
}

static void report(struct story *story, const struct op *op, const struct tables *tables)
{
	size_t at = strlen(story->text), space = sizeof(story->text) - at;
	const char *string = string_of(tables, op->string);
	unsigned long long task = op->arg;

	if (op->kind == OP_TASK_BEGIN)
		snprintf(story->text + at, space, "task %llu %llu %s; ", task, (unsigned long long)op->arg2,
			 string);
	else if (op->kind == OP_TASK_END)
		snprintf(story->text + at, space, "done %llu; ", task);
	else if (op->kind == OP_REGION_BEGIN || op->kind == OP_REGION_END)
		snprintf(story->text + at, space, "%s %s %llu; ",
			 op->kind == OP_REGION_BEGIN ? "begin" : "end", string, task);
	else if (op->kind == OP_LOG && strcmp(string, "gotrace") != 0)
		snprintf(story->text + at, space, "log %llu %s %s; ", task, string,
			 string_of(tables, op->string2));
}

static int take(void *ctx, const struct generation *gen)
{
	struct story *story = ctx;
	struct error err = {""};

	if (story->rules && op_rules_generation(story->rules, gen, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < gen->nops; i++)
		report(story, &gen->ops[i], gen->tables);
	return 0;
}

static void feed(struct story *story, uint32_t type, const void *data, size_t size)
{
	struct log_record record = {.type = type, .size = (uint32_t)size, .data = data};

	assert_int_equal(model_feed(story->model, &record, NULL), 0);
}

static struct raw_record record(struct story *story, uint8_t site)
{
	return (struct raw_record){
		.tid = 100, .site = site, .time = ++story->now, .g = 0xc000001000, .goid = 7, .status = 2};
}

static void hit(struct story *story, uint8_t site, uint64_t arg)
{
	struct raw_record rec = record(story, site);

	rec.arg = arg;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
}

static void texts_of(struct story *story, struct raw_record rec, const char *one, const char *other)
{
	_Alignas(8) char bytes[sizeof(struct raw_text) + 64];
	struct raw_text *text = (struct raw_text *)bytes;

	*text = (struct raw_text){.record = rec};
	text->len = (uint16_t)strlen(one);
	text->len2 = (uint16_t)strlen(other);
	memcpy(text->text, one, text->len);
	memcpy(text->text + text->len, other, text->len2);
	feed(story, LOG_TEXT, bytes, sizeof(*text) + text->len + text->len2);
}

static void named(struct story *story, uint8_t site, uint64_t task, const char *name)
{
	struct raw_record rec = record(story, site);

	rec.arg = task;
	texts_of(story, rec, name, "");
}

/* A goroutine runs on a thread with a P. */
static void begin(struct story *story)
{
	struct model_options options = {.sink = take, .ctx = story};
	struct log_target target = {.flags = LOG_TARGET_GO | LOG_TARGET_SPAWNED, .go_minor = 26};
	struct raw_record rec;

	*story = (struct story){.rules = op_rules_new(), .strings = strtab_new(), .now = 1000};
	options.strings = story->strings;
	story->model = annotate_model_new(&options, NULL);
	assert_non_null(story->model);
	feed(story, LOG_TARGET, &target, sizeof(target));
	rec = record(story, SITE_ACQUIREP);
	rec.g = rec.goid = 0;
	rec.p = 0xc000050000;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
	rec = record(story, SITE_NEWPROC);
	rec.status = 1;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
	hit(story, SITE_EXECUTE, 0);
	story->repaired = model_stats(story->model)->repaired;
}

/* Ends the trace and compares the text. Returns how many of its ops were repairs. */
static uint64_t end(struct story *story, const char *expected)
{
	uint64_t repaired;

	assert_int_equal(model_finish(story->model, NULL), 0);
	assert_string_equal(story->text, expected);
	repaired = model_stats(story->model)->repaired - story->repaired;
	model_free(story->model);
	op_rules_free(story->rules);
	strtab_free(story->strings);
	return repaired;
}

/* --- calls of functions --- */

static void learn(struct story *story, uint32_t number, uint16_t kind, const char *name)
{
	_Alignas(8) char bytes[sizeof(struct log_function) + 64];
	struct log_function function = {.number = number, .kind = kind, .len = (uint16_t)strlen(name)};

	memcpy(bytes, &function, sizeof(function));
	memcpy(bytes + sizeof(function), name, function.len);
	feed(story, LOG_FUNCTION, bytes, sizeof(function) + function.len);
}

/* `below`: distance of the caller's stack pointer from the end of the goroutine's stack. */
static void call(struct story *story, uint8_t site, uint64_t number, uint64_t below)
{
	struct raw_record rec = record(story, site);

	rec.arg = number;
	rec.arg2 = 0 - below;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
}

static void begin_calls(struct story *story)
{
	begin(story);
	learn(story, 1, FUNCTION_REGION, "f");
	learn(story, 2, FUNCTION_REGION, "g");
	learn(story, 3, FUNCTION_TASK, "t");
}

static void test_calls_nest(void **state)
{
	struct story story;

	(void)state;
	begin_calls(&story);
	call(&story, SITE_FUNCTION_END, 1, 0x40); /* it began before the trace */
	call(&story, SITE_FUNCTION_BEGIN, 1, 0x40);
	call(&story, SITE_FUNCTION_BEGIN, 2, 0x80);
	call(&story, SITE_FUNCTION_BEGIN, 2, 0xc0); /* it calls itself */
	call(&story, SITE_FUNCTION_END, 2, 0xc0);
	call(&story, SITE_FUNCTION_END, 2, 0x80);
	call(&story, SITE_FUNCTION_BEGIN, 9, 0x80); /* unknown */
	call(&story, SITE_FUNCTION_END, 9, 0x80);
	call(&story, SITE_FUNCTION_END, 1, 0x40);
	assert_int_equal(end(&story, "begin f 0; begin g 0; begin g 0; end g 0; end g 0; end f 0; "), 0);
}

static void call_with(struct story *story, uint64_t number, uint64_t below, uint64_t value, const char *name)
{
	struct values_record made;

	values_begin(&made, SITE_FUNCTION_BEGIN);
	values_add(&made, (struct raw_value){.kind = VALUE_SIGNED, .size = 8, .bits = value});
	values_add(&made,
		   (struct raw_value){.kind = VALUE_GO_STRING, .size = 8, .len = (uint16_t)strlen(name)});
	values_add_text(&made, name, strlen(name));
	values_text(&made)->record = record(story, SITE_FUNCTION_BEGIN);
	values_text(&made)->record.flags = RAW_VALUES;
	values_text(&made)->record.arg = number;
	values_text(&made)->record.arg2 = 0 - below;
	feed(story, LOG_TEXT, made.bytes, made.size);
}

static void learn_values(struct story *story, uint32_t number)
{
	_Alignas(8) char bytes[sizeof(struct log_values) + 8];
	struct log_values head = {.number = number, .n = 2, .site = SITE_FUNCTION_BEGIN};

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), "\2id\4name", 8);
	feed(story, LOG_VALUES, bytes, sizeof(bytes));
}

/* The log follows the region's begin, and has the region's task. */
static void test_calls_with_values(void **state)
{
	struct story story;

	(void)state;
	begin_calls(&story);
	learn_values(&story, 1);
	learn_values(&story, 3);
	learn_values(&story, 77); /* no such function */
	call_with(&story, 1, 0x40, 17, "foo");
	call_with(&story, 3, 0x80, UINT64_MAX, "");
	call(&story, SITE_FUNCTION_END, 3, 0x80);
	call(&story, SITE_FUNCTION_END, 1, 0x40);
	call_with(&story, 2, 0x40, 1, "no names"); /* none are known */
	call(&story, SITE_FUNCTION_BEGIN, 2, 0x40);
	assert_int_equal(end(&story, "begin f 0; log 0 f id=17 name=\"foo\"; task 281474976710657 0 t; "
				     "begin t 281474976710657; log 281474976710657 t id=-1 name=\"\"; "
				     "end t 281474976710657; done 281474976710657; end f 0; "
				     "begin g 0; log 0 g =1 =\"no names\"; end g 0; begin g 0; "),
			 0);
}

/* A record that claims to have values, but was sent without them, makes no op. */
static void test_values_without_texts(void **state)
{
	struct raw_record rec;
	struct story story;

	(void)state;
	begin_calls(&story);
	rec = record(&story, SITE_FUNCTION_BEGIN);
	rec.flags = RAW_VALUES;
	rec.arg = 1;
	rec.arg2 = 0 - 0x40ull;
	feed(&story, LOG_RECORDS, &rec, sizeof(rec));
	assert_int_equal(end(&story, ""), 0);
}

static void test_calls_that_are_unwound_end_with_the_next(void **state)
{
	struct story story;

	(void)state;
	begin_calls(&story);
	call(&story, SITE_FUNCTION_BEGIN, 1, 0x40);
	call(&story, SITE_FUNCTION_BEGIN, 2, 0x80); /* panics, and f recovers */
	call(&story, SITE_FUNCTION_END, 1, 0x40);
	call(&story, SITE_FUNCTION_BEGIN, 2, 0x80); /* panics out of all calls */
	call(&story, SITE_FUNCTION_BEGIN, 2, 0x80);
	call(&story, SITE_FUNCTION_END, 2, 0x80);
	assert_int_equal(end(&story, "begin f 0; begin g 0; end g 0; end f 0; begin g 0; end g 0; begin g 0; "
				     "end g 0; "),
			 0);
}

static void test_calls_end_with_their_goroutine(void **state)
{
	const uint64_t first_task = (1ull << 48) + 1;
	struct story story;
	char expected[128];

	(void)state;
	begin_calls(&story);
	call(&story, SITE_FUNCTION_BEGIN, 3, 0x40);
	call(&story, SITE_FUNCTION_BEGIN, 1, 0x80);
	hit(&story, SITE_DESTROY, 0);
	snprintf(expected, sizeof(expected),
		 "task %llu 0 t; begin t %llu; begin f 0; end f 0; end t %llu; "
		 "done %llu; ",
		 (unsigned long long)first_task, (unsigned long long)first_task,
		 (unsigned long long)first_task, (unsigned long long)first_task);
	assert_int_equal(end(&story, expected), 0);
}

/* The program's own regions nest with calls. Their ends never end a call, whatever their names. */
static void test_calls_among_regions(void **state)
{
	struct story story;

	(void)state;
	begin_calls(&story);
	named(&story, SITE_REGION_BEGIN, 0, "r");
	call(&story, SITE_FUNCTION_BEGIN, 1, 0x40);
	named(&story, SITE_REGION_BEGIN, 0, "left open");
	named(&story, SITE_REGION_END, 0, "f");
	call(&story, SITE_FUNCTION_END, 1, 0x40);
	named(&story, SITE_REGION_END, 0, "r");
	assert_int_equal(end(&story, "begin r 0; begin f 0; begin left open 0; end left open 0; end f 0; "
				     "end r 0; "),
			 0);
}

static void test_tasks_and_logs(void **state)
{
	struct story story;
	struct raw_record rec;

	(void)state;
	begin(&story);
	named(&story, SITE_TASK_BEGIN, 1, "outer");
	rec = record(&story, SITE_TASK_BEGIN);
	rec.arg = 2;
	rec.arg2 = 1;
	texts_of(&story, rec, "inner", "");
	rec = record(&story, SITE_LOG);
	rec.arg = 2;
	texts_of(&story, rec, "key", "value");
	texts_of(&story, rec, "", "value");
	texts_of(&story, rec, "key", "");
	hit(&story, SITE_TASK_END, 2);
	hit(&story, SITE_TASK_END, 99); /* began before the trace */
	assert_int_equal(end(&story, "task 1 0 outer; task 2 1 inner; log 2 key value; log 2  value; "
				     "log 2 key ; done 2; done 99; "),
			 0);
}

static void test_a_task_begins_once(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	named(&story, SITE_TASK_BEGIN, 1, "a");
	named(&story, SITE_TASK_BEGIN, 1, "b");
	named(&story, SITE_TASK_BEGIN, 0, "c");
	hit(&story, SITE_TASK_END, 1);
	assert_int_equal(end(&story, "task 1 0 a; done 1; "), 0);
}

static void test_unnamed_ends_close_the_innermost(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	hit(&story, SITE_REGION_STOP, 0); /* began before the trace: its name is unknown */
	named(&story, SITE_REGION_START, 4, "a");
	named(&story, SITE_REGION_START, 5, "b");
	hit(&story, SITE_REGION_STOP, 0);
	named(&story, SITE_REGION_BEGIN, 6, "c");
	named(&story, SITE_REGION_END, 6, "c");
	named(&story, SITE_REGION_START, 0, "d");
	hit(&story, SITE_REGION_STOP, 0);
	hit(&story, SITE_REGION_STOP, 0);
	hit(&story, SITE_REGION_STOP, 0);
	assert_int_equal(end(&story, "begin a 4; begin b 5; end b 5; begin c 6; end c 6; begin d 0; end d 0; "
				     "end a 4; "),
			 0);
}

static void test_ends_without_begin(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	named(&story, SITE_REGION_END, 3, "early");
	named(&story, SITE_REGION_BEGIN, 4, "a");
	named(&story, SITE_REGION_END, 3, "unknown"); /* readers would reject it */
	named(&story, SITE_REGION_END, 4, "a");
	assert_int_equal(end(&story, "end early 3; begin a 4; end a 4; "), 0);
}

static void test_what_is_not_nested_is_made_so(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	named(&story, SITE_REGION_BEGIN, 1, "a");
	named(&story, SITE_REGION_START, 1, "b");
	named(&story, SITE_REGION_BEGIN, 1, "c");
	named(&story, SITE_REGION_END, 1, "a");
	assert_int_equal(end(&story, "begin a 1; begin b 1; begin c 1; end c 1; end b 1; end a 1; "), 2);
}

/* After a loss it is unknown which region an unnamed end refers to. */
static void test_a_loss_cuts_unnamed_regions(void **state)
{
	struct log_loss loss = {.ring_full = 1};
	struct story story;

	(void)state;
	begin(&story);
	named(&story, SITE_REGION_BEGIN, 1, "a");
	named(&story, SITE_REGION_START, 1, "b");
	named(&story, SITE_REGION_BEGIN, 1, "c");
	feed(&story, LOG_LOSS, &loss, sizeof(loss));
	story.now += 1000;
	hit(&story, SITE_REGION_STOP, 0);
	named(&story, SITE_REGION_START, 1, "d");
	hit(&story, SITE_REGION_STOP, 0);
	named(&story, SITE_REGION_END, 1, "a");
	assert_true(end(&story, "begin a 1; begin b 1; begin c 1; end c 1; end b 1; begin d 1; end d 1; "
				"end a 1; ") >= 2);
}

/* Names persist, messages do not: an open region keeps its name from one generation to the next. */
static void test_generations(void **state)
{
	struct story story;
	struct raw_record rec;

	(void)state;
	begin(&story);
	named(&story, SITE_REGION_START, 1, "long");
	for (unsigned i = 0; i < 3; i++) {
		struct log_boundary boundary = {.time_before = story.now + 1};
		char message[16];

		rec = record(&story, SITE_LOG);
		snprintf(message, sizeof(message), "m%u", i);
		texts_of(&story, rec, "k", message);
		boundary.clock.mono_ns = ++story.now;
		feed(&story, LOG_BOUNDARY, &boundary, sizeof(boundary));
	}
	hit(&story, SITE_REGION_STOP, 0);
	assert_int_equal(model_stats(story.model)->generations, 3);
	assert_int_equal(end(&story, "begin long 1; log 0 k m0; log 0 k m1; log 0 k m2; end long 1; "), 0);
}

/* The next goroutine in the same struct has no open regions. */
static void test_regions_end_with_their_goroutine(void **state)
{
	struct story story;
	struct raw_record rec;

	(void)state;
	begin(&story);
	named(&story, SITE_REGION_START, 1, "a");
	hit(&story, SITE_DESTROY, 0);
	rec = record(&story, SITE_NEWPROC);
	rec.status = 1;
	rec.goid = 8;
	feed(&story, LOG_RECORDS, &rec, sizeof(rec));
	rec = record(&story, SITE_EXECUTE);
	rec.goid = 8;
	feed(&story, LOG_RECORDS, &rec, sizeof(rec));
	rec = record(&story, SITE_REGION_STOP);
	rec.goid = 8;
	feed(&story, LOG_RECORDS, &rec, sizeof(rec));
	assert_int_equal(end(&story, "begin a 1; "), 0);
}

/* At any depth, the regions written nest. The end of a region that was not written is not written either. */
static void test_depth_is_bounded(void **state)
{
	enum { DEEP = 3000 };
	struct story story;
	uint64_t begins, ends;

	(void)state;
	begin(&story);
	op_rules_free(story.rules); /* the rules support fewer */
	story.rules = NULL;
	for (unsigned i = 0; i < DEEP; i++)
		named(&story, SITE_REGION_START, 1, "r");
	for (unsigned i = 0; i < DEEP; i++)
		hit(&story, SITE_REGION_STOP, 0);
	assert_int_equal(model_finish(story.model, NULL), 0);
	begins = model_stats(story.model)->by_kind[OP_REGION_BEGIN];
	ends = model_stats(story.model)->by_kind[OP_REGION_END];
	assert_int_equal(begins, 1000);
	assert_int_equal(ends, begins);
	model_free(story.model);
	strtab_free(story.strings);
}

static void test_unreadable_texts_say_so(void **state)
{
	struct story story;
	struct raw_record rec;

	(void)state;
	begin(&story);
	rec = record(&story, SITE_LOG);
	rec.flags = RAW_UNREADABLE;
	texts_of(&story, rec, "key", "");
	rec = record(&story, SITE_REGION_BEGIN);
	rec.flags = RAW_UNREADABLE;
	texts_of(&story, rec, "", "");
	assert_int_equal(end(&story, "log 0 key [unreadable]; begin [unreadable] 0; "), 0);
}

/* A record that should have texts is ignored without them. */
static void test_a_record_needs_its_texts(void **state)
{
	struct story story;

	(void)state;
	begin(&story);
	hit(&story, SITE_REGION_BEGIN, 1);
	hit(&story, SITE_TASK_BEGIN, 1);
	hit(&story, SITE_LOG, 1);
	named(&story, SITE_PARK, 1, "no annotation");
	assert_int_equal(end(&story, ""), 0);
}

/* Annotations from before the snapshot are written once it is there, with their original strings. */
static void test_texts_wait_for_the_snapshot(void **state)
{
	struct log_g gs[1] = {{.g = 0xc000001000, .goid = 7, .m = 0x9000, .status = 2, .tid = 100}};
	struct log_p ps[1] = {{.p = 0xc000050000, .m = 0x9000, .status = 1, .tid = 100}};
	struct log_m ms[1] = {
		{.m = 0x9000, .curg = 0xc000001000, .p = 0xc000050000, .tid = 100, .status = 2}};
	struct log_snapshot info = {.marker_before = 1, .marker_after = 2, .gomaxprocs = 1};
	struct log_target target = {.flags = LOG_TARGET_GO, .go_minor = 26};
	struct model_options options;
	struct story story;

	(void)state;
	begin(&story);
	model_free(story.model);
	options = (struct model_options){.sink = take, .ctx = &story, .strings = story.strings};
	story.model = annotate_model_new(&options, NULL);
	feed(&story, LOG_TARGET, &target, sizeof(target));
	named(&story, SITE_REGION_BEGIN, 1, "too early");
	hit(&story, SITE_MARKER, 1);
	named(&story, SITE_REGION_BEGIN, 2, "in time");
	texts_of(&story, record(&story, SITE_LOG), "k", "v");
	hit(&story, SITE_MARKER, 2);
	feed(&story, LOG_SNAPSHOT, &info, sizeof(info));
	feed(&story, LOG_GS, gs, sizeof(gs));
	feed(&story, LOG_PS, ps, sizeof(ps));
	feed(&story, LOG_MS, ms, sizeof(ms));
	feed(&story, LOG_SNAPSHOT_END, NULL, 0);
	story.repaired = 0;
	assert_int_equal(end(&story, "begin in time 2; log 0 k v; "), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_calls_nest),
	cmocka_unit_test(test_calls_with_values),
	cmocka_unit_test(test_values_without_texts),
	cmocka_unit_test(test_calls_that_are_unwound_end_with_the_next),
	cmocka_unit_test(test_calls_end_with_their_goroutine),
	cmocka_unit_test(test_calls_among_regions),
	cmocka_unit_test(test_tasks_and_logs),
	cmocka_unit_test(test_a_task_begins_once),
	cmocka_unit_test(test_unnamed_ends_close_the_innermost),
	cmocka_unit_test(test_ends_without_begin),
	cmocka_unit_test(test_what_is_not_nested_is_made_so),
	cmocka_unit_test(test_a_loss_cuts_unnamed_regions),
	cmocka_unit_test(test_generations),
	cmocka_unit_test(test_regions_end_with_their_goroutine),
	cmocka_unit_test(test_depth_is_bounded),
	cmocka_unit_test(test_unreadable_texts_say_so),
	cmocka_unit_test(test_a_record_needs_its_texts),
	cmocka_unit_test(test_texts_wait_for_the_snapshot),
};

UNIT_TESTS(tests, NULL, NULL);
