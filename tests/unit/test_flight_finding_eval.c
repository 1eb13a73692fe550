/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Triggers on findings: which one fires, window by window. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#include "flight/finding_eval.h"

static struct flight_plan plan;
static struct finding_eval eval;
static struct match_notice notices[MAX_TRIGGERS];

static void plan_for(const char *const *texts)
{
	plan = (struct flight_plan){0};
	eval = (struct finding_eval){.plan = &plan};
	for (; texts[plan.ntriggers]; plan.ntriggers++)
		assert_int_equal(trigger_parse(texts[plan.ntriggers], &plan.triggers[plan.ntriggers], NULL),
				 0);
}

#define PLAN(...) plan_for((const char *const[]){__VA_ARGS__, NULL})

static unsigned window_of(const char *rule, const char *level, const char *explained_by)
{
	const struct analysis_finding finding = {
		.rule = rule, .level = level, .text = "main.f at f.go:1", .explained_by = explained_by};

	return finding_eval_window(&eval, &finding, 1, 7, notices);
}

static void a_finding_that_becomes_worse_fires(void **state)
{
	(void)state;
	PLAN("blocked>5ms", "finding>=medium", "finding>=low");
	assert_int_equal(window_of("lock-long", "info", NULL), 0);
	assert_int_equal(window_of("lock-long", "low", NULL), 1);
	assert_int_equal(notices[0].trigger, 2);
	assert_int_equal(notices[0].time, 7);
	assert_int_equal(window_of("lock-long", "medium", NULL), 1);
	assert_int_equal(notices[0].trigger, 1);
	assert_string_equal(notices[0].text, "finding>=medium: lock-long (medium): main.f at f.go:1");
	assert_int_equal(window_of("lock-long", "high", NULL), 0);
	assert_int_equal(finding_eval_window(&eval, NULL, 0, 8, notices), 0);
	assert_int_equal(window_of("lock-long", "high", NULL), 2);
}

static void what_another_finding_explains_fires_once_it_is_alone(void **state)
{
	(void)state;
	PLAN("finding>=low");
	assert_int_equal(window_of("burst", "high", "lock-long"), 0);
	assert_int_equal(window_of("burst", "high", NULL), 1);
	assert_int_equal(window_of("burst", "high", NULL), 0);
}

static void a_trigger_fires_once_in_a_window(void **state)
{
	const struct analysis_finding findings[] = {{.rule = "leak", .level = "low", .text = "a"},
						    {.rule = "spin", .level = "medium", .text = "b"},
						    {.rule = "hog", .level = "medium", .text = "c"}};

	(void)state;
	PLAN("finding>=low", "finding>=medium", "finding>=high");
	assert_int_equal(finding_eval_window(&eval, findings, 3, 1, notices), 2);
	assert_string_equal(notices[0].text, "finding>=low: leak (low): a");
	assert_string_equal(notices[1].text, "finding>=medium: spin (medium): b");
	assert_int_equal(finding_eval_window(&eval, findings, 3, 2, notices), 0);
}

/* Evaluates the ring's generations as one window. text: what is printed on standard error meanwhile. */
static void evaluate_printing(const struct generation_ring *ring, char *text, size_t size)
{
	FILE *file = tmpfile();
	int before = dup(STDERR_FILENO);
	size_t n;

	assert_non_null(file);
	assert_true(before >= 0);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	assert_int_equal(finding_eval_generation(&eval, ring, 1, 10, notices), 0);
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	close(before);
	rewind(file);
	n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
}

static void a_window_that_cannot_be_analysed_says_why_once(void **state)
{
	const struct generation_ring_options options = {.window_ns = 100, .max_bytes = 1000};
	struct generation_ring *ring = generation_ring_new(&options);
	char text[1024];

	(void)state;
	PLAN("finding>=low");
	assert_non_null(ring);
	assert_int_equal(generation_ring_write(ring, "go 1.26 trace\0\0\0", 16), 0);
	assert_int_equal(generation_ring_header(ring), 0);
	assert_int_equal(generation_ring_write(ring, "\xff", 1), 0);
	assert_int_equal(generation_ring_generation(ring, 1), 0);
	evaluate_printing(ring, text, sizeof(text));
	assert_string_equal(text, "gotrace: finding: cannot analyse a window, so no trigger fires for it: "
				  "expected batch event, got event 255\n");
	evaluate_printing(ring, text, sizeof(text));
	assert_string_equal(text, "");
	generation_ring_free(ring);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(a_window_that_cannot_be_analysed_says_why_once),
	cmocka_unit_test(a_finding_that_becomes_worse_fires),
	cmocka_unit_test(what_another_finding_explains_fires_once_it_is_alone),
	cmocka_unit_test(a_trigger_fires_once_in_a_window),
};

UNIT_TESTS(tests, NULL, NULL);
