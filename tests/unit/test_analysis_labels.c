/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Times by pprof label. */
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "analysis/names.h"
#include "analysis/order.h"
#include "script.h"

static void say(struct script *s, uint32_t g, const char *category, const char *text)
{
	struct op *op = add(s, OP_LOG, g, 0);

	op->string = str(s, category);
	op->string2 = str(s, text);
}

/*
 * Goroutine 1 has h=a three times for 10 ms, the last time still open at the end, and each time waits for 4
 * ms. Goroutine 2 waits, and has had h=b since its creation.
 */
static struct script *labelled(void)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.f", NULL, 1, NULL), wait = stack(s, "main.wait", "main.f", 7, NULL);

	procs(s, 1);
	create(s, 1, entry);
	create(s, 2, entry);
	start(s, 2, 0);
	say(s, 2, "labels held", "{\"h\":\"b\"}");
	block(s, 2, 0, "chan receive", wait);
	for (uint64_t i = 0; i < 3; i++) {
		at(s, (100 * i + 1) * MS);
		if (i)
			wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		say(s, 1, "labels", "{\"h\":\"a\"}");
		say(s, 1, "labels", "{\"h\":\"a\", \"n\":\"1\"}");
		block(s, 1, 0, "sleep", wait);
		at(s, (100 * i + 5) * MS);
		wake(s, 0, NO_P, 1, 0);
		start(s, 1, 0);
		at(s, (100 * i + 11) * MS);
		if (i < 2)
			say(s, 1, "labels", i ? "{\"x\":\"y\"}" : "{}");
		block(s, 1, 0, "chan receive", wait);
	}
	return s;
}

static const struct instances *label_row(const struct analysis *a, const char *name)
{
	for (size_t i = 1; i < a->ninstances; i++) {
		if (a->instances[i].kind == INSTANCE_LABEL &&
		    strcmp(name_text(a, a->instances[i].name), name) == 0)
			return &a->instances[i];
	}
	return NULL;
}

static void test_labels(void **state)
{
	struct script *s = labelled();
	struct analysis *a = analyse(s, NULL);
	const struct instances *row = label_row(a, "h=a");
	uint64_t all = 0;

	(void)state;
	assert_non_null(row);
	assert_int_equal(row->hist.n, 2);
	assert_int_equal(row->cut, 1);
	assert_true(row->hist.max > 9 * MS && row->hist.max < 11 * MS);
	assert_true(row->spent[ACT_SLEEP] > 11 * MS && row->spent[ACT_SLEEP] < 13 * MS);
	row = label_row(a, "h=b"); /* since it was created, until the end */
	assert_non_null(row);
	assert_int_equal(row->cut, 1);
	for (unsigned i = 0; i < ACT_COUNT; i++)
		all += row->spent[i];
	assert_true(all > 999 * MS && all <= 1000 * MS);
	assert_non_null(label_row(a, "x=y"));
	assert_int_equal(label_row(a, "n=1")->hist.n, 2);
	analysis_free(a);
	script_free(s);
}

static void test_labels_filter(void **state)
{
	const struct analysis_options options = {.name = "t", .file = "t", .label = "h=a"};
	struct script *s = labelled();
	const struct tables tables = {.strings = s->strings,
				      .goids = s->goids,
				      .ngoroutines = MAX_GS,
				      .stacks = s->stacks,
				      .nstacks = s->nstacks};
	const struct generation gen = {.number = 1,
				       .last = true,
				       .start = 1000,
				       .end = s->end,
				       .ops = s->ops,
				       .nops = s->n,
				       .tables = &tables};
	struct analysis *a = analysis_new(&options);

	(void)state;
	assert_non_null(a);
	assert_int_equal(analysis_generation(a, &gen), 0);
	assert_int_equal(analysis_end(a), 0);
	for (size_t i = 1; i < a->nrows; i++) {
		if (a->rows[i].activity == ACT_SLEEP)
			assert_int_equal(a->rows[i].hist.n, 3);
		if (a->rows[i].activity == ACT_RECEIVE) /* its own last one, and none of the others' */
			assert_int_equal(a->rows[i].hist.n + a->rows[i].cut_n, 1);
	}
	assert_null(label_row(a, "h=b"));
	assert_non_null(label_row(a, "n=1"));
	analysis_free(a);
	script_free(s);
}

/* The number of rows is bounded: all further values share one row. */
static void test_labels_are_bounded(void **state)
{
	struct script *s = script_new(1000 * MS);
	uint32_t entry = stack(s, "main.f", NULL, 1, NULL);
	char text[64];
	struct analysis *a;

	(void)state;
	procs(s, 1);
	create(s, 1, entry);
	start(s, 1, 0);
	for (unsigned i = 0; i < 6000; i++) {
		snprintf(text, sizeof(text), i < 5000 ? "{\"id\":\"%u\"}" : "{\"id%u\":\"\"}", i);
		say(s, 1, "labels", text);
	}
	a = analyse(s, NULL);
	assert_int_equal(label_row(a, "id=1000")->hist.n, 1);
	assert_int_equal(label_row(a, "id=(other values)")->hist.n, 5000 - 1024);
	assert_int_equal(label_row(a, "=(other labels)")->hist.n + label_row(a, "=(other labels)")->cut,
			 1000 - 255);
	analysis_free(a);
	script_free(s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_labels),
	cmocka_unit_test(test_labels_filter),
	cmocka_unit_test(test_labels_are_bounded),
};

UNIT_TESTS(tests, NULL, NULL);
