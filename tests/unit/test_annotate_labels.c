/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* pprof labels: the log events made from records of goroutines, and from snapshots. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "checked_model.h"

/* "7 labels {...}; " for each log event, "| " at a generation's end. */
struct story {
	struct checked_model checked;
	uint64_t now;
	char text[4096];
};

#define G(goid) (0xc000001000 + (goid)*0x1000)

static const char *string_of(const struct tables *tables, uint32_t id)
{
	return strtab_get(id & TEXT_ID ? tables->texts : tables->strings, id & ~TEXT_ID, NULL);
}

static int take(void *ctx, const struct generation *gen)
{
	struct story *story = ctx;

	checked_model_check(&story->checked, gen);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];
		const char *category = op->kind == OP_LOG ? string_of(gen->tables, op->string) : "";
		size_t at = strlen(story->text);

		if (strncmp(category, "labels", 6) != 0 || at > sizeof(story->text) / 2)
			continue;
		snprintf(story->text + at, sizeof(story->text) - at, "%llu %s %s; ",
			 (unsigned long long)gen->tables->goids[op->g], category,
			 string_of(gen->tables, op->string2));
	}
	strcat(story->text, "| ");
	return 0;
}

static void feed(struct story *story, uint32_t type, const void *data, size_t size)
{
	checked_model_feed(&story->checked, type, data, size);
}

static struct raw_record record(struct story *story, uint8_t site, uint64_t goid)
{
	return (struct raw_record){
		.tid = 100, .site = site, .time = ++story->now, .g = G(goid), .goid = goid, .status = 2};
}

static void hit(struct story *story, uint8_t site, uint64_t goid)
{
	struct raw_record rec = record(story, site, goid);

	feed(story, LOG_RECORDS, &rec, sizeof(rec));
}

static size_t put_label(char *to, const char *key, const char *value)
{
	struct raw_label label = {.key_len = (uint16_t)strlen(key), .value_len = (uint16_t)strlen(value)};

	memcpy(to, &label, sizeof(label));
	memcpy(to + sizeof(label), key, label.key_len);
	memcpy(to + sizeof(label) + label.key_len, value, label.value_len);
	return sizeof(label) + label.key_len + label.value_len;
}

/* key NULL = no labels. */
static void labels(struct story *story, uint64_t goid, const char *key, const char *value, uint16_t flags)
{
	_Alignas(8) char bytes[sizeof(struct raw_text) + 600];
	struct raw_text *text = (struct raw_text *)bytes;

	*text = (struct raw_text){.record = record(story, SITE_LABELS, goid)};
	text->record.flags = flags;
	if (key)
		text->len = (uint16_t)put_label(text->text, key, value);
	feed(story, LOG_TEXT, bytes, sizeof(*text) + text->len);
}

static void create(struct story *story, uint64_t goid, uint64_t by, uint16_t flags)
{
	struct raw_record rec = record(story, SITE_NEWPROC, goid);

	rec.arg = by ? G(by) : 0;
	rec.status = 1;
	rec.flags = flags;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
}

static void boundary(struct story *story)
{
	struct log_boundary boundary = {.time_before = ++story->now, .time_after = ++story->now};

	boundary.clock.mono_ns = story->now;
	feed(story, LOG_BOUNDARY, &boundary, sizeof(boundary));
}

static void begin_as(struct story *story, unsigned flags, bool any_first)
{
	struct model_options options = {.sink = take, .ctx = story, .any_first = any_first};
	struct log_target target = {.flags = LOG_TARGET_GO | flags, .go_minor = 26};

	*story = (struct story){.now = 1000};
	checked_model_new(&story->checked, options);
	feed(story, LOG_TARGET, &target, sizeof(target));
}

/* Goroutine 7 runs on a thread with a P. */
static void begin(struct story *story, bool any_first)
{
	struct raw_record rec;

	begin_as(story, LOG_TARGET_SPAWNED, any_first);
	rec = record(story, SITE_ACQUIREP, 0);
	rec.g = rec.goid = 0;
	rec.p = 0xc000050000;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
	create(story, 7, 0, 0);
	hit(story, SITE_EXECUTE, 7);
}

static void end(struct story *story, const char *expected)
{
	checked_model_finish(&story->checked);
	assert_string_equal(story->text, expected);
	checked_model_free(&story->checked);
}

static void test_changes_are_logged(void **state)
{
	struct story story;

	(void)state;
	begin(&story, false);
	labels(&story, 7, NULL, NULL, 0); /* it has none anyway */
	labels(&story, 7, "k", "v", 0);
	labels(&story, 7, "k", "v", 0); /* the same again */
	labels(&story, 7, "k", "w", 0);
	labels(&story, 7, NULL, NULL, 0);
	labels(&story, 7, NULL, NULL, 0);
	end(&story, "7 labels {\"k\":\"v\"}; 7 labels {\"k\":\"w\"}; 7 labels {}; | ");
}

static void test_sets_that_were_cut_say_so(void **state)
{
	struct story story;

	(void)state;
	begin(&story, false);
	labels(&story, 7, "k", "v", RAW_LABELS_CUT);
	labels(&story, 7, NULL, NULL, RAW_UNREADABLE);
	end(&story, "7 labels {\"k\":\"v\"}...; 7 labels {}...; | ");
}

/* Incomplete records, as a raw log may contain them. */
static void test_damaged_records(void **state)
{
	_Alignas(8) char bytes[sizeof(struct raw_text) + 64];
	struct raw_text *text = (struct raw_text *)bytes;
	struct raw_label bad = {.key_len = 0xffff, .value_len = 0xffff};
	struct story story;

	(void)state;
	begin(&story, false);
	*text = (struct raw_text){.record = record(&story, SITE_LABELS, 7)};
	text->len = (uint16_t)put_label(text->text, "k", "v");
	memcpy(text->text + text->len, &bad, sizeof(bad));
	text->len = (uint16_t)(text->len + sizeof(bad));
	feed(&story, LOG_TEXT, bytes, sizeof(*text) + text->len);
	hit(&story, SITE_LABELS, 7); /* without its text */
	end(&story, "7 labels {\"k\":\"v\"}; | ");
}

static void test_children_inherit(void **state)
{
	struct story story;

	(void)state;
	begin(&story, false);
	labels(&story, 7, "k", "v", 0);
	create(&story, 8, 7, RAW_HAS_LABELS);
	create(&story, 9, 7, 0); /* a goroutine of the runtime */
	labels(&story, 7, NULL, NULL, 0);
	create(&story, 10, 7, 0);
	hit(&story, SITE_PARK, 7);
	hit(&story, SITE_EXECUTE, 8);
	hit(&story, SITE_PARK, 8);
	hit(&story, SITE_EXECUTE, 9);
	hit(&story, SITE_PARK, 9);
	hit(&story, SITE_EXECUTE, 10);
	end(&story, "7 labels {\"k\":\"v\"}; 7 labels {}; 8 labels held {\"k\":\"v\"}; | ");
}

/* The next goroutine in the same struct has none of them. */
static void test_labels_end_with_their_goroutine(void **state)
{
	struct story story;
	struct raw_record rec;

	(void)state;
	begin(&story, false);
	labels(&story, 7, "k", "v", 0);
	hit(&story, SITE_DESTROY, 7);
	rec = record(&story, SITE_NEWPROC, 11);
	rec.g = G(7);
	rec.status = 1;
	feed(&story, LOG_RECORDS, &rec, sizeof(rec));
	rec = record(&story, SITE_EXECUTE, 11);
	rec.g = G(7);
	feed(&story, LOG_RECORDS, &rec, sizeof(rec));
	boundary(&story);
	end(&story, "7 labels {\"k\":\"v\"}; | | ");
}

/*
 * Each generation repeats a goroutine's labels where it first runs; only the first names goroutines that do
 * not run.
 */
static void test_each_generation_says_them_again(void **state)
{
	struct story story;

	(void)state;
	begin(&story, false);
	labels(&story, 7, "k", "v", 0);
	create(&story, 8, 7, RAW_HAS_LABELS);
	boundary(&story);
	boundary(&story);
	hit(&story, SITE_PARK, 7);
	hit(&story, SITE_EXECUTE, 8);
	end(&story,
	    "7 labels {\"k\":\"v\"}; 7 labels of goroutines {\"k\":\"v\"} 8; | "
	    "7 labels held {\"k\":\"v\"}; | 7 labels held {\"k\":\"v\"}; 8 labels held {\"k\":\"v\"}; | ");
}

static void test_any_generation_may_be_the_first(void **state)
{
	struct story story;

	(void)state;
	begin(&story, true);
	labels(&story, 7, "k", "v", 0);
	create(&story, 8, 7, RAW_HAS_LABELS);
	boundary(&story);
	end(&story, "7 labels {\"k\":\"v\"}; 7 labels of goroutines {\"k\":\"v\"} 8; | "
		    "7 labels held {\"k\":\"v\"}; 7 labels of goroutines {\"k\":\"v\"} 8; | ");
}

/* --- snapshots --- */

static void put_set(struct story *story, uint32_t number, const char *value)
{
	_Alignas(8) char bytes[sizeof(struct log_labels) + 64];
	struct log_labels head = {.number = number, .n = 1};

	memcpy(bytes, &head, sizeof(head));
	feed(story, LOG_LABELS, bytes, sizeof(head) + put_label(bytes + sizeof(head), "k", value));
}

/* Goroutine 7 runs, 8 and 9 wait; n of these have labels. */
static void snapshot(struct story *story, const struct log_g_labels *with, size_t n, uint32_t markers)
{
	struct log_g gs[] = {{.g = G(7), .goid = 7, .m = 0x9000, .status = 2, .tid = 100},
			     {.g = G(8), .goid = 8, .status = 4},
			     {.g = G(9), .goid = 9, .status = 4}};
	struct log_p ps[1] = {{.p = 0xc000050000, .m = 0x9000, .status = 1, .tid = 100}};
	struct log_m ms[1] = {{.m = 0x9000, .curg = G(7), .p = 0xc000050000, .tid = 100, .status = 2}};
	struct log_snapshot info = {.marker_before = markers, .marker_after = markers + 1, .gomaxprocs = 1};

	info.time_before = info.time_after = story->now;
	feed(story, LOG_SNAPSHOT, &info, sizeof(info));
	feed(story, LOG_GS, gs, sizeof(gs));
	if (n)
		feed(story, LOG_G_LABELS, with, n * sizeof(*with));
	feed(story, LOG_PS, ps, sizeof(ps));
	feed(story, LOG_MS, ms, sizeof(ms));
	feed(story, LOG_SNAPSHOT_END, NULL, 0);
}

static void mark(struct story *story, uint64_t number)
{
	struct raw_record rec = record(story, SITE_MARKER, 0);

	rec.arg = number;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
}

static void test_labels_from_before_the_trace(void **state)
{
	const struct log_g_labels with[] = {{.g = G(7), .goid = 7, .labels = 2},
					    {.g = G(8), .goid = 8, .labels = 1},
					    {.g = G(9), .goid = 9, .flags = LOG_G_LABELS_LOST},
					    {.g = G(55), .goid = 55, .labels = 77}};
	struct story story;

	(void)state;
	begin_as(&story, 0, false);
	mark(&story, 1);
	put_set(&story, 1, "one");
	put_set(&story, 2, "two");
	put_set(&story, 9, "not the next number");
	mark(&story, 2);
	snapshot(&story, with, 4, 1);
	labels(&story, 7, "k", "new", 0);
	end(&story, "7 labels held {\"k\":\"two\"}; 7 labels {\"k\":\"new\"}; "
		    "7 labels of goroutines {\"k\":\"one\"} 8; 7 labels of goroutines {}... 9; | ");
}

/* Records show what changed, or was created, while the snapshot was read. */
static void test_records_are_newer_than_the_snapshot(void **state)
{
	const struct log_g_labels with[] = {{.g = G(7), .goid = 7, .labels = 1}};
	struct story story;

	(void)state;
	begin_as(&story, 0, false);
	mark(&story, 1);
	labels(&story, 7, "k", "changed", 0);
	labels(&story, 7, NULL, NULL, 0);
	put_set(&story, 1, "read in between");
	mark(&story, 2);
	snapshot(&story, with, 1, 1);
	end(&story, "7 labels {\"k\":\"changed\"}; 7 labels {}; | ");
}

/* The snapshot after a gap shows changes that were not recorded. */
static void test_a_snapshot_after_a_gap(void **state)
{
	const struct log_g_labels with[] = {{.g = G(8), .goid = 8, .labels = 1}};
	struct log_note gap = {.flags = LOG_NOTE_GAP}, resumed = {.flags = LOG_NOTE_RESUMED};
	struct story story;

	(void)state;
	begin_as(&story, 0, false);
	mark(&story, 1);
	mark(&story, 2);
	snapshot(&story, NULL, 0, 1);
	labels(&story, 7, "k", "v", 0);
	gap.time = ++story.now;
	feed(&story, LOG_NOTE, &gap, sizeof(gap));
	resumed.time = ++story.now;
	feed(&story, LOG_NOTE, &resumed, sizeof(resumed));
	mark(&story, 3);
	put_set(&story, 1, "other");
	mark(&story, 4);
	snapshot(&story, with, 1, 3);
	hit(&story, SITE_PARK, 7);
	hit(&story, SITE_EXECUTE, 7);
	hit(&story, SITE_PARK, 7);
	hit(&story, SITE_EXECUTE, 8);
	end(&story, "7 labels {\"k\":\"v\"}; | | 7 labels held {}; 8 labels held {\"k\":\"other\"}; | ");
}

/* Labels from before the trace that were lost in the first gap. */
static void test_the_first_gap_takes_labels(void **state)
{
	const struct log_g_labels with[] = {{.g = G(7), .goid = 7, .labels = 1},
					    {.g = G(8), .goid = 8, .labels = 1}};
	struct log_note gap = {.flags = LOG_NOTE_GAP}, resumed = {.flags = LOG_NOTE_RESUMED};
	struct story story;

	(void)state;
	begin_as(&story, 0, false);
	mark(&story, 1);
	put_set(&story, 1, "v");
	mark(&story, 2);
	snapshot(&story, with, 2, 1);
	gap.time = ++story.now;
	feed(&story, LOG_NOTE, &gap, sizeof(gap));
	resumed.time = ++story.now;
	feed(&story, LOG_NOTE, &resumed, sizeof(resumed));
	mark(&story, 3);
	put_set(&story, 1, "v");
	mark(&story, 4);
	snapshot(&story, with + 1, 1, 3);
	hit(&story, SITE_PARK, 7);
	hit(&story, SITE_EXECUTE, 7);
	end(&story, "7 labels held {\"k\":\"v\"}; | | 7 labels held {}; "
		    "7 labels of goroutines {\"k\":\"v\"} 8; | ");
}

/* Many sets in one generation, and their end. */
static void test_sets_are_bounded(void **state)
{
	struct story story;
	char value[32];

	(void)state;
	begin(&story, false);
	for (unsigned i = 0; i < 70000; i++) {
		snprintf(value, sizeof(value), "%u", i);
		labels(&story, 7, "k", value, 0);
		story.text[0] = '\0';
	}
	labels(&story, 7, "k", "one more", 0);
	boundary(&story);
	story.text[0] = '\0';
	labels(&story, 7, "k", "again", 0);
	end(&story, "7 labels held {}...; 7 labels {\"k\":\"again\"}; | ");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_changes_are_logged),
	cmocka_unit_test(test_sets_that_were_cut_say_so),
	cmocka_unit_test(test_damaged_records),
	cmocka_unit_test(test_children_inherit),
	cmocka_unit_test(test_labels_end_with_their_goroutine),
	cmocka_unit_test(test_each_generation_says_them_again),
	cmocka_unit_test(test_any_generation_may_be_the_first),
	cmocka_unit_test(test_labels_from_before_the_trace),
	cmocka_unit_test(test_records_are_newer_than_the_snapshot),
	cmocka_unit_test(test_a_snapshot_after_a_gap),
	cmocka_unit_test(test_the_first_gap_takes_labels),
	cmocka_unit_test(test_sets_are_bounded),
};

UNIT_TESTS(tests, NULL, NULL);
