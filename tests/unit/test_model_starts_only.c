/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* If only starts are probed, a snapshot shows how a goroutine left its thread unseen. */
#include <string.h>

#include "unit.h"

#include "checked_model.h"

#define G1    0xc000001000ull
#define G2    0xc000002000ull
#define P0    0xc000050000ull
#define M0    0xc000060000ull
#define STACK 88

enum { REASON = 9, SKIP = 2 };

struct story {
	struct checked_model checked;
	uint64_t now;
	char reason[32];     /* of the block */
	struct stack at;     /* of the block */
	struct stack status; /* of the first goroutine's status after the block */
	uint64_t pcs[3];
};

static int take(void *ctx, const struct generation *gen)
{
	struct story *story = ctx;

	checked_model_check(&story->checked, gen);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];
		const struct stack *stack = &gen->tables->stacks[op->stack];

		if (op->kind == OP_GO_BLOCK) {
			const char *reason = strtab_get(gen->tables->strings, op->string, NULL);

			strncpy(story->reason, reason, sizeof(story->reason) - 1);
			story->at = *stack;
			memcpy(story->pcs, stack->pcs, sizeof(story->pcs));
		}
		if (op->kind == OP_GO_STATUS && story->reason[0] && gen->tables->goids[op->g] == 1)
			story->status = *stack;
	}
	return 0;
}

static void feed(struct story *story, uint32_t type, const void *data, size_t size)
{
	checked_model_feed(&story->checked, type, data, size);
}

static void hit(struct story *story, struct raw_record rec)
{
	rec.tid = 100;
	rec.time = story->now += 1000;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
}

/* One of the two goroutines runs, and the other one waits. */
static void snapshot(struct story *story, uint32_t number, uint64_t running, uint64_t stack)
{
	struct log_snapshot info = {.marker_before = number, .marker_after = number + 1, .gomaxprocs = 1};
	struct log_g gs[] = {{.g = G1, .goid = 1, .status = 4, .waitreason = REASON, .stack = stack},
			     {.g = G2, .goid = 2, .status = 4, .waitreason = REASON}};
	struct log_g *runs = &gs[running == G2];
	struct log_p p = {.p = P0, .m = M0, .status = 1, .tid = 100};
	struct log_m m = {.m = M0, .curg = running, .p = P0, .tid = 100, .status = 2, .p_status = 1};

	*runs = (struct log_g){.g = runs->g, .goid = runs->goid, .status = 2, .m = M0, .tid = 100};
	hit(story, (struct raw_record){.site = SITE_MARKER, .arg = number});
	hit(story, (struct raw_record){.site = SITE_MARKER, .arg = number + 1});
	info.time_before = info.time_after = story->now;
	feed(story, LOG_SNAPSHOT, &info, sizeof(info));
	feed(story, LOG_GS, gs, sizeof(gs));
	feed(story, LOG_PS, &p, sizeof(p));
	feed(story, LOG_MS, &m, sizeof(m));
	feed(story, LOG_SNAPSHOT_END, NULL, 0);
}

static void put_reason(struct story *story, const char *text)
{
	_Alignas(8) char bytes[sizeof(struct log_reason) + 32];
	struct log_reason reason = {.table = REASON_PARK, .index = REASON, .len = (uint32_t)strlen(text)};

	memcpy(bytes, &reason, sizeof(reason));
	memcpy(bytes + sizeof(reason), text, reason.len);
	feed(story, LOG_REASON, bytes, sizeof(reason) + reason.len);
}

static void begin(struct story *story, bool with_skips)
{
	struct log_target target = {.pid = 7, .flags = LOG_TARGET_GO, .go_minor = 26};
	_Alignas(8) uint8_t skips[PARK_SKIPS] = {[REASON] = SKIP};
	struct log_note note = {.flags = LOG_NOTE_SPANS};
	struct {
		struct raw_stack head;
		uint64_t pcs[3];
	} stack = {.head = {.n = 3, .site = SITE_STACK, .hash = STACK},
		   .pcs = {0x401000, 0x402000, 0x403000}};

	*story = (struct story){.now = 1000};
	checked_model_new(&story->checked, (struct model_options){.sink = take, .ctx = story});
	feed(story, LOG_TARGET, &target, sizeof(target));
	put_reason(story, "chan receive");
	if (with_skips)
		feed(story, LOG_PARK_SKIPS, skips, sizeof(skips));
	feed(story, LOG_STACK, &stack, sizeof(stack));
	snapshot(story, 1, G1, 0);
	note.time = story->now += 1000;
	feed(story, LOG_NOTE, &note, sizeof(note));
	hit(story, (struct raw_record){.site = SITE_RESUME, .g = G2, .goid = 2, .status = 1, .p = P0});
	snapshot(story, 3, G2, STACK);
}

static void boundary(struct story *story)
{
	struct log_boundary line = {.time_before = story->now + 100, .clock = {.mono_ns = story->now + 100}};

	story->now += 1000;
	feed(story, LOG_BOUNDARY, &line, sizeof(line));
}

static void end(struct story *story)
{
	checked_model_finish(&story->checked);
	checked_model_free(&story->checked);
}

/* As the runtime's tracer does for a block. A status shows all frames. */
static void test_runtime_frames_are_left_out(void **state)
{
	static const uint64_t pcs[] = {0x401000, 0x402000, 0x403000};
	struct story story;

	(void)state;
	begin(&story, true);
	boundary(&story);
	end(&story);
	assert_string_equal(story.reason, "chan receive");
	assert_int_equal(story.at.skip, SKIP);
	assert_int_equal(story.at.n, 3);
	assert_memory_equal(story.pcs, pcs, sizeof(pcs));
	assert_int_equal(story.status.n, 3);
	assert_int_equal(story.status.skip, 0);
}

/* A log of an older gotrace does not have the number of frames to skip. */
static void test_without_skips(void **state)
{
	struct story story;

	(void)state;
	begin(&story, false);
	end(&story);
	assert_string_equal(story.reason, "chan receive");
	assert_int_equal(story.at.skip, 0);
	assert_int_equal(story.at.n, 3);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_runtime_frames_are_left_out),
	cmocka_unit_test(test_without_skips),
};

UNIT_TESTS(tests, NULL, NULL);
