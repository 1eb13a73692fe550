/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Spans and stacks in the model: initial ones, allocations and frees. A log with losses still gives
 * consistent ops that end in the true state.
 */
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "checked_model.h"
#include "util/map64.h"

#define HEAP    0xc000000000ull
#define PAGE    8192u
#define TID     100u
#define TARGETS 24u /* spans, and as many stacks */

struct run {
	struct checked_model checked;
	struct map64 now[2]; /* according to the ops: spans, stacks in use */
	uint64_t kinds[OP_KIND_COUNT];
	struct op last; /* last op about memory */
	uint64_t base, time;
};

static int take(void *ctx, const struct generation *gen)
{
	struct run *run = ctx;

	checked_model_check(&run->checked, gen);
	for (size_t i = 0; i < gen->nops; i++) {
		const struct op *op = &gen->ops[i];

		run->kinds[op->kind]++;
		if (op->kind < OP_MSPAN || op->kind > OP_GO_STACK_FREE)
			continue;
		run->last = *op;
		assert_int_equal(map64_set(&run->now[op->kind >= OP_GO_STACK], op->arg,
					   op->kind != OP_MSPAN_FREE && op->kind != OP_GO_STACK_FREE),
				 0);
	}
	run->base = gen->tables->heap_base;
	return 0;
}

static void feed(struct run *run, uint32_t type, const void *data, size_t size)
{
	checked_model_feed(&run->checked, type, data, size);
}

static void begin(struct run *run)
{
	struct model_options options = {.sink = take, .ctx = run};
	struct log_target target = {.flags = LOG_TARGET_GO, .go_minor = 26};

	*run = (struct run){.time = 5000000000};
	checked_model_new(&run->checked, options);
	feed(run, LOG_TARGET, &target, sizeof(target));
}

static void finish(struct run *run)
{
	checked_model_finish(&run->checked);
}

static void end(struct run *run)
{
	checked_model_free(&run->checked);
	map64_free(&run->now[0]);
	map64_free(&run->now[1]);
}

static void hit(struct run *run, uint8_t site, uint64_t arg, uint64_t arg2)
{
	struct raw_record rec = {.tid = TID,
				 .site = site,
				 .status = 2,
				 .time = run->time += 1000,
				 .g = site == SITE_MARKER ? 0 : 0x7000,
				 .goid = 1,
				 .p = 0x8000,
				 .arg = arg,
				 .arg2 = arg2};

	feed(run, LOG_RECORDS, &rec, sizeof(rec));
}

/* Goroutine 1 runs on P 0, and the memory is as given. */
static void snapshot(struct run *run, const struct log_area *areas, size_t n)
{
	struct log_snapshot head = {.marker_before = 1,
				    .marker_after = 2,
				    .time_before = run->time - 500,
				    .time_after = run->time,
				    .gomaxprocs = 1};
	struct log_g g = {.g = 0x7000, .goid = 1, .m = 0x9000, .status = 2, .tid = TID};
	struct log_p p = {.p = 0x8000, .m = 0x9000, .status = 1, .tid = TID};
	struct log_m m = {.m = 0x9000, .curg = 0x7000, .p = 0x8000, .tid = TID, .status = 2};

	feed(run, LOG_SNAPSHOT, &head, sizeof(head));
	feed(run, LOG_GS, &g, sizeof(g));
	feed(run, LOG_PS, &p, sizeof(p));
	feed(run, LOG_MS, &m, sizeof(m));
	if (n)
		feed(run, LOG_AREAS, areas, n * sizeof(*areas));
	feed(run, LOG_SNAPSHOT_END, NULL, 0);
}

static bool in_use(const struct run *run, bool is_stack, uint64_t address)
{
	const uint32_t *value = map64_get(&run->now[is_stack], address);

	return value && *value;
}

/* The snapshot is read while the target runs: the first record about an address shows its state before. */
static void what_was_there(void **state)
{
	const struct log_area areas[] = {
		{.address = HEAP + 3 * PAGE, .bytes = PAGE, .kind = AREA_SPAN, .class = 20},
		{.address = HEAP + 4 * PAGE, .bytes = PAGE, .kind = AREA_SPAN, .class = 1}, /* younger */
		{.address = HEAP + 4 * PAGE, .bytes = 8192, .kind = AREA_STACK},
		{.address = HEAP + 3 * PAGE, .bytes = 0, .kind = AREA_SPAN}, /* no area */
	};
	struct run run;

	(void)state;
	begin(&run);
	/* Before the marker: in the snapshot, or gone. */
	hit(&run, SITE_ALLOC_SPAN, HEAP + 9 * PAGE, 1 << 16);
	hit(&run, SITE_MARKER, 1, 0);
	hit(&run, SITE_ALLOC_SPAN, HEAP + 4 * PAGE, 2ull << 16 | 1 << 8);
	hit(&run, SITE_ALLOC_SPAN_FREE, HEAP + 3 * PAGE, 0);
	hit(&run, SITE_ALLOC_SPAN_FREE, HEAP + 5 * PAGE, 0); /* unknown address */
	hit(&run, SITE_MARKER, 2, 0);
	snapshot(&run, areas, 4);
	hit(&run, SITE_ALLOC_STACK, HEAP + 7 * PAGE, 2048);
	hit(&run, SITE_ALLOC_SPAN, HEAP + 8 * PAGE, 3ull << 16 | SPAN_FOR_HEAP << 8 | 33);
	finish(&run);
	assert_int_equal(run.base, HEAP);
	assert_int_equal(run.kinds[OP_MSPAN], 1);
	assert_int_equal(run.kinds[OP_MSPAN_ALLOC], 2);
	assert_int_equal(run.kinds[OP_MSPAN_FREE], 1);
	assert_int_equal(run.kinds[OP_GO_STACK], 1);
	assert_int_equal(run.kinds[OP_GO_STACK_ALLOC], 1);
	assert_int_equal(run.last.kind, OP_MSPAN_ALLOC);
	assert_int_equal(run.last.arg2, 3ull << 16 | 66);
	assert_int_equal(run.last.m, TID);
	assert_true(run.last.g != NO_G && run.last.p == 0);
	assert_false(in_use(&run, false, HEAP + 3 * PAGE));
	assert_true(in_use(&run, false, HEAP + 4 * PAGE) && in_use(&run, true, HEAP + 4 * PAGE));
	assert_int_equal(model_stats(run.checked.model)->repaired, 0);
	end(&run);
}

/* An address that is allocated twice was freed in between without a record. */
static void lost_frees(void **state)
{
	struct run run;

	(void)state;
	begin(&run);
	snapshot(&run, NULL, 0);
	for (int i = 0; i < 3; i++)
		hit(&run, SITE_ALLOC_STACK, HEAP + PAGE, 4096);
	hit(&run, SITE_ALLOC_STACK_FREE, HEAP + PAGE, 0);
	hit(&run, SITE_ALLOC_STACK_FREE, HEAP + PAGE, 0);
	hit(&run, SITE_ALLOC_STACK, 0, 4096); /* could not be read */
	hit(&run, SITE_ALLOC_STACK, HEAP + 2 * PAGE, 0);
	finish(&run);
	assert_int_equal(run.kinds[OP_GO_STACK_ALLOC], 3);
	assert_int_equal(run.kinds[OP_GO_STACK_FREE], 3);
	assert_int_equal(model_stats(run.checked.model)->repaired, 2);
	end(&run);
}

struct truth {
	bool used[2][TARGETS];
};

static uint64_t address_of(unsigned which)
{
	return HEAP + (which + 1) * 4ull * PAGE;
}

/* One event happens; its record may be lost. */
static void happen(struct run *run, struct truth *truth, bool lost)
{
	bool is_stack = rand() % 2;
	unsigned which = (unsigned)rand() % TARGETS;
	bool *used = &truth->used[is_stack][which];
	uint8_t site = is_stack ? (*used ? SITE_ALLOC_STACK_FREE : SITE_ALLOC_STACK)
				: (*used ? SITE_ALLOC_SPAN_FREE : SITE_ALLOC_SPAN);

	*used = !*used;
	if (!lost)
		hit(run, site, address_of(which), is_stack ? 8192 : 1 << 16);
}

static size_t areas_of(const struct truth *truth, struct log_area areas[2 * TARGETS])
{
	size_t n = 0;

	for (unsigned i = 0; i < 2 * TARGETS; i++) {
		if (truth->used[i / TARGETS][i % TARGETS])
			areas[n++] = (struct log_area){.address = address_of(i % TARGETS),
						       .bytes = PAGE,
						       .kind = i / TARGETS ? AREA_STACK : AREA_SPAN,
						       .class = 1};
	}
	return n;
}

/* After a loss and a snapshot, the ops end in the true state, whatever happened while it was read. */
static void losses_heal(void **state)
{
	static const struct log_loss loss = {.ring_full = 1};
	uint64_t repaired = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 50; seed++) {
		struct truth truth = {0};
		struct log_area areas[2 * TARGETS];
		struct run run;
		size_t n;

		srand(seed);
		begin(&run);
		for (int i = 0; i < 30; i++)
			happen(&run, &truth, true);
		snapshot(&run, areas, areas_of(&truth, areas));
		for (int i = 0; i < 300; i++)
			happen(&run, &truth, i > 100 && i < 200 && rand() % 2);
		run.time += 10000000;
		feed(&run, LOG_LOSS, &loss, sizeof(loss));
		n = areas_of(&truth, areas);
		/* The reading began before these events, and saw the effects of some of them. */
		run.time += 2000000;
		for (int i = 0; i < 10; i++)
			happen(&run, &truth, false);
		if (seed % 2)
			n = areas_of(&truth, areas);
		run.time -= 10000;
		snapshot(&run, areas, n);
		run.time += 20000000;
		finish(&run);
		repaired += model_stats(run.checked.model)->repaired;
		for (unsigned i = 0; i < 2 * TARGETS; i++)
			assert_int_equal(in_use(&run, i / TARGETS, address_of(i % TARGETS)),
					 truth.used[i / TARGETS][i % TARGETS]);
		end(&run);
	}
	assert_true(repaired > 50);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(what_was_there),
	cmocka_unit_test(lost_frees),
	cmocka_unit_test(losses_heal),
};

UNIT_TESTS(tests, NULL, NULL);
