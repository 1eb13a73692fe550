/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Logs of what a goroutine or thread waits for: only on request, and immediately before the block. */
#include <stdio.h>
#include <string.h>

#include "unit.h"

#include "checked_model.h"

#define G1   0xc000001000ull
#define P0   0xc000050000ull
#define SEMA 0xc000012344ull

struct story {
	struct checked_model checked;
	uint64_t now;
	enum op_kind before; /* the op before the current block */
	uint32_t logged_g;   /* of that op */
	char text[256];      /* what blocks, and what was logged right before: "block (mutex 0x1); " */
	enum lock_kind kind; /* the answer to a request for the kind of a stack */
	unsigned asked;
};

static enum lock_kind say_kind(void *ctx, const struct stack *stack)
{
	struct story *story = ctx;

	assert_int_equal(stack->n, 1);
	story->asked++;
	return story->kind;
}

static int take(void *ctx, const struct generation *gen)
{
	struct story *story = ctx;
	const char *message = "";

	checked_model_check(&story->checked, gen);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];
		const char *category = strtab_get(gen->tables->strings, op->string, NULL);
		size_t at = strlen(story->text);

		if (op->kind == OP_LOG && strcmp(category, "lock") == 0) {
			assert_true(op->string2 & TEXT_ID);
			assert_int_equal(op->arg2, 0);
			assert_int_equal(op->stack2, 0);
			message = strtab_get(gen->tables->texts, op->string2 & ~TEXT_ID, NULL);
			story->logged_g = op->g;
			continue;
		}
		if (op->kind == OP_GO_BLOCK && strcmp(category, "unspecified") != 0) {
			snprintf(story->text + at, sizeof(story->text) - at, "block (%s); ", message);
			assert_true(!*message || story->logged_g == op->g);
		}
		if (op->kind != OP_NONE)
			message = "";
	}
	return 0;
}

static void feed(struct story *story, uint32_t type, const void *data, size_t size)
{
	checked_model_feed(&story->checked, type, data, size);
}

static void hit(struct story *story, struct raw_record rec)
{
	rec.tid = rec.tid ? rec.tid : 100;
	rec.time = story->now += 1000;
	feed(story, LOG_RECORDS, &rec, sizeof(rec));
}

static void put_reason(struct story *story, uint16_t table, uint16_t index, const char *text)
{
	_Alignas(8) char bytes[sizeof(struct log_reason) + 32];
	struct log_reason reason = {.table = table, .index = index, .len = (uint32_t)strlen(text)};

	memcpy(bytes, &reason, sizeof(reason));
	memcpy(bytes + sizeof(reason), text, reason.len);
	feed(story, LOG_REASON, bytes, sizeof(reason) + reason.len);
}

static void begin(struct story *story, bool locks, uint32_t go_minor, uint32_t flags)
{
	struct model_options options = {
		.sink = take,
		.ctx = story,
	};
	const struct annotate_options annotate = {.locks = locks, .lock_kind = say_kind, .lock_ctx = story};
	struct log_target target = {.flags = flags | LOG_TARGET_SPAWNED, .go_minor = go_minor, .pid = 100};
	uint64_t stack[sizeof(struct raw_stack) / 8 + 1] = {0};
	struct raw_stack head = {.n = 1, .site = SITE_STACK, .hash = 77};

	*story = (struct story){.now = 1000};
	checked_model_annotated(&story->checked, options, &annotate);
	feed(story, LOG_TARGET, &target, sizeof(target));
	put_reason(story, REASON_BLOCK, 3, "sync");
	put_reason(story, REASON_PARK, 9, "sync");
	memcpy(stack, &head, sizeof(head));
	stack[sizeof(head) / 8] = 0x401000;
	feed(story, LOG_STACK, stack, sizeof(stack));
}

static void begin_go(struct story *story, bool locks, uint32_t go_minor)
{
	begin(story, locks, go_minor, LOG_TARGET_GO);
	hit(story, (struct raw_record){.site = SITE_ACQUIREP, .p = P0});
	hit(story, (struct raw_record){.site = SITE_NEWPROC, .status = 1, .g = G1, .goid = 7});
	hit(story, (struct raw_record){.site = SITE_EXECUTE, .g = G1, .goid = 7});
}

static void park(struct story *story, uint64_t arg2)
{
	hit(story,
	    (struct raw_record){
		    .site = SITE_PARK, .g = G1, .goid = 7, .status = 2, .arg = 3, .arg2 = arg2, .stack = 77});
	hit(story, (struct raw_record){.site = SITE_READY, .g = G1, .goid = 7});
	hit(story, (struct raw_record){.site = SITE_EXECUTE, .g = G1, .goid = 7});
}

static void end(struct story *story, const char *expected)
{
	checked_model_finish(&story->checked);
	assert_string_equal(story->text, expected);
	checked_model_free(&story->checked);
}

static void test_parks(void **state)
{
	struct story story;

	(void)state;
	begin_go(&story, true, 26);
	story.kind = LOCK_MUTEX;
	park(&story, 25 | AWAITED(AWAITED_SEMAPHORE, SEMA));
	park(&story, 14 | AWAITED(AWAITED_CHANNEL, 0xc000100000));
	park(&story, 19); /* sleep */
	park(&story, AWAITED(AWAITED_SEMAPHORE, 0));
	park(&story, 0xc000012340 << 8); /* no kind */
	end(&story, "block (mutex 0xc000012340); block (chan 0xc000100000); block (); block (); block (); ");
	assert_int_equal(story.asked, 1); /* only a semaphore's kind depends on the stack */
}

static void test_nothing_unless_asked(void **state)
{
	struct story story;

	(void)state;
	begin_go(&story, false, 26);
	park(&story, 25 | AWAITED(AWAITED_SEMAPHORE, SEMA));
	end(&story, "block (); ");
	assert_int_equal(story.asked, 0);
}

/* In Go 1.4 arg2 is a text. */
static void test_go_1_4(void **state)
{
	struct story story;
	uint64_t text;

	(void)state;
	memcpy(&text, "chan rec", sizeof(text));
	begin_go(&story, true, 4);
	put_reason(&story, REASON_WAIT, 9, "chan receive");
	park(&story, text);
	end(&story, "block (); ");
}

/* Only starts are probed: a start shows what the goroutine has waited for. */
static void test_starts_only(void **state)
{
	struct log_note note = {.flags = LOG_NOTE_SPANS};
	struct story story;

	(void)state;
	begin_go(&story, true, 26);
	feed(&story, LOG_NOTE, &note, sizeof(note));
	story.kind = LOCK_READER;
	hit(&story,
	    (struct raw_record){.site = SITE_NEWPROC, .status = 1, .g = G1 + 512, .goid = 8, .arg = G1});
	hit(&story, (struct raw_record){.site = SITE_RESUME, .g = G1 + 512, .goid = 8, .status = 1});
	hit(&story, (struct raw_record){.site = SITE_RESUME,
					.g = G1,
					.goid = 7,
					.status = 1,
					.arg = 1,
					.arg2 = 9 | AWAITED(AWAITED_SEMAPHORE, SEMA + 8),
					.stack = 77});
	end(&story, "block (rwmutex 0xc000012340 (read)); ");
}

static void test_threads(void **state)
{
	struct story story;
	struct raw_record away = {.site = SITE_SWITCH, .goid = 100, .status = LEFT_ASLEEP, .arg = 203};
	struct raw_record back = {.site = SITE_SWITCH, .goid = 100, .g = 100, .tid = UINT32_MAX};

	(void)state;
	begin(&story, true, 0, LOG_TARGET_THREADS);
	hit(&story, (struct raw_record){.site = SITE_SYSCALL, .goid = 100, .arg = 203});
	away.arg2 = WAIT_FUTEX(FILE_FUTEX, 0x7f0012345678);
	hit(&story, away);
	back.tid = 0;
	story.now += 1000;
	back.time = story.now;
	feed(&story, LOG_RECORDS, &back, sizeof(back));
	away.arg2 = WAIT_MAKE(FILE_PIPE, 3, 1);
	hit(&story, away);
	end(&story, "block (futex 0x7f0012345678); block (); ");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_parks),   cmocka_unit_test(test_nothing_unless_asked),
	cmocka_unit_test(test_go_1_4),  cmocka_unit_test(test_starts_only),
	cmocka_unit_test(test_threads),
};

UNIT_TESTS(tests, NULL, NULL);
