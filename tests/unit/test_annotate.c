/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A model without annotators: its trace is valid, and has the same states of goroutines as with them. */
#include <fcntl.h>
#include <unistd.h>

#include "unit.h"

#include "annotate/annotate.h"
#include "op_rules.h"
#include "trace/ops/own_names.h"

static const char *const logs[] = {"tests/fixtures/rawlog/go1.22.12.raw",
				   "tests/fixtures/rawlog/go1.25.1.raw",
				   "tests/fixtures/rawlog/go1.26.8.raw"};

struct seen {
	struct op_rules *rules;
	uint64_t steps, hash; /* of the target's goroutines: kinds and goids, in order */
	uint64_t annotations;
};

static bool is_step(uint8_t kind)
{
	return kind >= OP_GO_CREATE && kind <= OP_SYSCALL_END_BLOCKED;
}

static void add_step(struct seen *seen, const struct op *op, const uint64_t *goids)
{
	const uint64_t words[] = {op->kind, op->g ? goids[op->g] : 0, op->g2 ? goids[op->g2] : 0};

	if (words[1] == OWN_GOID || words[2] == OWN_GOID)
		return;
	for (unsigned i = 0; i < 3; i++)
		seen->hash = (seen->hash ^ words[i]) * 0x100000001b3u;
	seen->steps++;
}

static int take(void *ctx, const struct generation *gen)
{
	struct error err = {""};
	struct seen *seen = ctx;

	if (op_rules_generation(seen->rules, gen, &err))
		fail_msg("generation %u: %s", gen->number, err.text);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		if (is_step(op->kind))
			add_step(seen, op, gen->tables->goids);
		seen->annotations += op->kind >= OP_TASK_BEGIN && op->kind <= OP_LOG;
	}
	return 0;
}

/* The fixtures have no annotations: this is one, which a model without annotators must leave out. */
static void feed_note(struct model *model)
{
	struct {
		struct log_note head;
		char text[8];
	} note = {.head = {.len = 4}, .text = "note"};
	struct log_record record = {
		.type = LOG_NOTE, .size = sizeof(note.head) + note.head.len, .data = &note};
	struct error err = {""};

	if (model_feed(model, &record, &err))
		fail_msg("%s", err.text);
}

static void feed_log(const char *path, struct model *model)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct error err = {""};
	struct rawlog_reader *reader = fd >= 0 ? rawlog_reader_new(fd, &err) : NULL;
	struct log_record record;

	assert_non_null(reader);
	while (rawlog_reader_next(reader, &record, &err) == 1) {
		if (model_feed(model, &record, &err))
			fail_msg("%s", err.text);
	}
	rawlog_reader_free(reader);
	close(fd);
	feed_note(model);
	if (model_finish(model, &err))
		fail_msg("%s", err.text);
}

static struct seen play(const char *path, bool annotated)
{
	struct seen seen = {.rules = op_rules_new()};
	struct model_options options = {.sink = take, .ctx = &seen, .strings = strtab_new()};
	struct model *model = annotated ? annotate_model_new(&options, NULL) : model_new(&options);

	assert_non_null(model);
	feed_log(path, model);
	assert_true(model_stats(model)->generations > 1);
	model_free(model);
	op_rules_free(seen.rules);
	strtab_free(options.strings);
	return seen;
}

static void test_without_annotators(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		struct seen with = play(logs[i], true), without = play(logs[i], false);

		assert_true(without.steps > 1000);
		assert_int_equal(without.steps, with.steps);
		assert_int_equal(without.hash, with.hash);
		assert_int_equal(without.annotations, 0);
		assert_int_equal(with.annotations, 1);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_without_annotators),
};

UNIT_TESTS(tests, NULL, NULL);
