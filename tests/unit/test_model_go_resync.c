/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* After time that was not watched, a goroutine that waits may wait for something else than before. */
#include <string.h>

#include "unit.h"

#include "checked_model.h"
#include "trace/ops/gap_log.h"

enum { G1 = 0xc000001000, G2 = 0xc000002000, P0 = 0xc000050000, M0 = 0xc000060000, TID = 100 };
enum { BEFORE = 3, AFTER = 9, SKIP = 1 }; /* wait reasons; frames to skip of the latter */

struct story {
	struct checked_model checked;
	uint64_t now;
	unsigned blocks; /* of the first goroutine */
	char reason[32]; /* of the last of them */
	uint32_t skip;
	unsigned gap_logs;      /* that say that a gap begins */
	bool gap_known_in_next; /* the generation that begins in the gap has one, too */
};

static bool begins_gap(const struct generation *gen, const struct op *op)
{
	size_t category_len, len;
	const char *category, *text;

	if (op->kind != OP_LOG)
		return false;
	category = tables_string(gen->tables, op->string, &category_len);
	text = tables_string(gen->tables, op->string2, &len);
	return gap_log_kind(category, category_len, text, len) == GAP_LOG_BEGINS;
}

static int take(void *ctx, const struct generation *gen)
{
	struct story *story = ctx;

	checked_model_check(&story->checked, gen);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		story->gap_logs += begins_gap(gen, op);
		story->gap_known_in_next |= gen->number == 2 && begins_gap(gen, op);
		if (op->kind != OP_GO_BLOCK || op->g >= gen->tables->ngoroutines ||
		    gen->tables->goids[op->g] != 1)
			continue;
		story->blocks++;
		story->skip = gen->tables->stacks[op->stack].skip;
		strncpy(story->reason, strtab_get(gen->tables->strings, op->string, NULL),
			sizeof(story->reason) - 1);
	}
	return 0;
}

static void feed(struct story *story, uint32_t type, const void *data, size_t size)
{
	checked_model_feed(&story->checked, type, data, size);
}

static void hit(struct story *story, struct raw_record rec)
{
	rec.tid = TID;
	rec.time = story->now += 1000;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
}

/* The first goroutine's status is given, and the other one runs if it does not. */
static void snapshot(struct story *story, uint32_t number, struct log_g first)
{
	struct log_snapshot info = {.marker_before = number, .marker_after = number + 1, .gomaxprocs = 1};
	struct log_g gs[] = {first, {.g = G2, .goid = 2, .status = 4}};
	struct log_p p = {.p = P0, .m = M0, .status = 1, .tid = TID};
	struct log_m m = {.m = M0, .p = P0, .tid = TID, .status = 2, .p_status = 1};
	struct log_g *runs = &gs[first.status == 4];

	runs->status = 2;
	runs->m = M0;
	runs->tid = TID;
	m.curg = runs->g;
	hit(story, (struct raw_record){.site = SITE_MARKER, .arg = number});
	hit(story, (struct raw_record){.site = SITE_MARKER, .arg = number + 1});
	info.time_before = info.time_after = story->now;
	feed(story, LOG_SNAPSHOT, &info, sizeof(info));
	feed(story, LOG_GS, gs, sizeof(gs));
	feed(story, LOG_PS, &p, sizeof(p));
	feed(story, LOG_MS, &m, sizeof(m));
	feed(story, LOG_SNAPSHOT_END, NULL, 0);
}

static void put_reason(struct story *story, uint32_t table, uint32_t index, const char *text)
{
	_Alignas(8) char bytes[sizeof(struct log_reason) + 32];
	struct log_reason reason = {.table = table, .index = index, .len = (uint32_t)strlen(text)};

	memcpy(bytes, &reason, sizeof(reason));
	memcpy(bytes + sizeof(reason), text, reason.len);
	feed(story, LOG_REASON, bytes, sizeof(reason) + reason.len);
}

static void put_stack(struct story *story, uint64_t hash, uint64_t leaf, uint32_t n)
{
	struct {
		struct raw_stack head;
		uint64_t pcs[3];
	} stack = {.head = {.n = (uint16_t)n, .site = SITE_STACK, .hash = hash},
		   .pcs = {leaf, 0x402000, 0x403000}};

	feed(story, LOG_STACK, &stack, sizeof(stack.head) + n * sizeof(stack.pcs[0]));
}

static void note(struct story *story, uint8_t flags, const char *text)
{
	struct {
		struct log_note head;
		char text[64];
	} note = {.head = {.time = story->now += 1000, .len = (uint32_t)strlen(text), .flags = flags}};

	memcpy(note.text, text, strlen(text));
	feed(story, LOG_NOTE, &note, sizeof(note.head) + strlen(text));
}

/* The first goroutine blocks, with stack 1; after a gap it waits with the given stack, of n frames.
 * any_first: a reader may begin with any generation. */
static void run_story(struct story *story, uint64_t leaf, uint32_t n, bool any_first)
{
	struct log_target target = {.pid = 7, .flags = LOG_TARGET_GO, .go_minor = 26};
	_Alignas(8) uint8_t skips[PARK_SKIPS] = {[AFTER] = SKIP};

	*story = (struct story){.now = 1000};
	checked_model_new(&story->checked,
			  (struct model_options){.sink = take, .ctx = story, .any_first = any_first});
	feed(story, LOG_TARGET, &target, sizeof(target));
	put_reason(story, REASON_BLOCK, BEFORE, "sync");
	put_reason(story, REASON_PARK, AFTER, "select");
	feed(story, LOG_PARK_SKIPS, skips, sizeof(skips));
	put_stack(story, 1, 0x401000, 3);
	put_stack(story, 2, leaf, n);
	snapshot(story, 1, (struct log_g){.g = G1, .goid = 1, .status = 2});
	hit(story,
	    (struct raw_record){
		    .site = SITE_PARK, .g = G1, .goid = 1, .status = 2, .p = P0, .arg = BEFORE, .stack = 1});
	hit(story, (struct raw_record){.site = SITE_RESUME, .g = G2, .goid = 2, .status = 1, .p = P0});
	note(story, LOG_NOTE_GAP, GAP_LOG_BEGIN GAP_LOG_LIMIT);
	story->now += 1000000;
	note(story, LOG_NOTE_RESUMED, GAP_LOG_END);
	snapshot(story, 3, (struct log_g){.g = G1, .goid = 1, .status = 4, .waitreason = AFTER, .stack = 2});
	checked_model_finish(&story->checked);
	checked_model_free(&story->checked);
}

static void test_another_wait(void **state)
{
	struct story story;

	(void)state;
	run_story(&story, 0x409000, 3, false);
	assert_int_equal(story.blocks, 2);
	assert_string_equal(story.reason, "select");
	assert_int_equal(story.skip, SKIP);
}

/* At the same place, with all frames or the first ones, it may be the same wait. */
static void test_the_same_place(void **state)
{
	struct story story;

	(void)state;
	for (uint32_t n = 2; n <= 3; n++) {
		run_story(&story, 0x401000, n, false);
		assert_int_equal(story.blocks, 1);
		assert_string_equal(story.reason, "sync");
	}
}

/* One that begins in the gap must know that nothing is watched. */
static void test_the_gap_is_known_in_each_generation(void **state)
{
	struct story story;

	(void)state;
	run_story(&story, 0x401000, 3, false);
	assert_int_equal(story.gap_logs, 1);
	assert_false(story.gap_known_in_next);
	run_story(&story, 0x401000, 3, true);
	assert_int_equal(story.gap_logs, 2);
	assert_true(story.gap_known_in_next);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_the_gap_is_known_in_each_generation),
	cmocka_unit_test(test_another_wait),
	cmocka_unit_test(test_the_same_place),
};

UNIT_TESTS(tests, NULL, NULL);
