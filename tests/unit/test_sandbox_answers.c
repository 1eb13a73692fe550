/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Malformed answers from a sandbox. */

#include "unit.h"

#include <string.h>

#include "sandbox/answers.h"
#include "sandbox/inspection.h"

static void facts(void **state)
{
	struct target_facts good = {.go_minor = 26, .go_version = "go1.26.8"}, bad = good;

	(void)state;
	assert_true(answer_facts_are_good(&good));
	memset(bad.go_version, 'x', sizeof(bad.go_version));
	assert_false(answer_facts_are_good(&bad));
	bad = good;
	strcpy(bad.go_version, "go1.26\033[2J");
	assert_false(answer_facts_are_good(&bad));
	bad = good;
	bad.go_minor = 1000;
	assert_false(answer_facts_are_good(&bad));
	bad = good;
	bad.alloc = 2;
	assert_false(answer_facts_are_good(&bad));
	/* A table is used for unknown releases only. */
	bad = good;
	bad.given = 1;
	assert_false(answer_facts_are_good(&bad));
	bad.nearest = 26;
	assert_true(answer_facts_are_good(&bad));
	bad.given = 2;
	assert_false(answer_facts_are_good(&bad));
}

static void plans(void **state)
{
	static struct probe_plan plan;

	(void)state;
	plan = (struct probe_plan){.n = 1, .probes[0] = {.file_offset = 99, .name = "runtime.park_m"}};
	assert_true(answer_plan_is_good(&plan, 100));
	assert_false(answer_plan_is_good(&plan, 99));
	plan.n = MAX_PROBES + 1;
	assert_false(answer_plan_is_good(&plan, 100));
	plan.n = 1;
	memset(plan.probes[0].name, 'x', sizeof(plan.probes[0].name));
	assert_false(answer_plan_is_good(&plan, 100));
	plan.n = 0;
	memset(plan.left_out, 'x', sizeof(plan.left_out));
	assert_false(answer_plan_is_good(&plan, 100));
}

static void modules(void **state)
{
	const struct module_facts good = {
		.n = 1, .segments[0] = {0, 4096, 4096}, .base = 4096, .size = 4096, .rows = 2};
	struct module_facts bad = good;

	(void)state;
	assert_true(answer_module_is_good(&good));
	bad.n = MODULE_SEGMENTS + 1;
	assert_false(answer_module_is_good(&bad));
	bad = good;
	bad.rows = (uint64_t)MAX_ANSWER_ROWS + 1;
	assert_false(answer_module_is_good(&bad));
	bad = good;
	bad.base = 4097;
	assert_false(answer_module_is_good(&bad));
	bad = good;
	bad.base = ~0xffull;
	assert_false(answer_module_is_good(&bad));
	bad = good;
	bad.size = 1ull << 40;
	assert_false(answer_module_is_good(&bad));
	bad = good;
	bad.segments[0].address = 1ull << 63;
	assert_false(answer_module_is_good(&bad));
}

static void rows(void **state)
{
	const struct module_facts module = {.size = 4096, .rows = 3};
	struct unwind_row list[3] = {{0, 0}, {16, 0}, {4000, 0}};

	(void)state;
	assert_true(answer_rows_are_good(&module, list));
	list[1].start = 4001;
	assert_false(answer_rows_are_good(&module, list));
	list[1].start = 16;
	list[2].start = 5000;
	assert_false(answer_rows_are_good(&module, list));
}

static void functions(void **state)
{
	struct function_list_facts list = {.site = SITE_FUNCTION_BEGIN, .n = 1};
	struct function_probe probe = {.offset = 99, .cookie = FUNCTION_COOKIE(1, 0, 0)};

	(void)state;
	assert_true(answer_list_is_good(&list));
	list.site = SITE_PARK;
	assert_false(answer_list_is_good(&list));
	list = (struct function_list_facts){.site = SITE_FUNCTION_END, .n = 0};
	assert_false(answer_list_is_good(&list));
	list.n = UINT32_MAX;
	assert_false(answer_list_is_good(&list));
	assert_true(answer_function_probes_are_good(&probe, 1, 1, 0, 100));
	assert_false(answer_function_probes_are_good(&probe, 1, 1, 0, 99));
	assert_false(answer_function_probes_are_good(&probe, 1, 0, 0, 100));
	probe.cookie = FUNCTION_COOKIE(2, 0, 0);
	assert_false(answer_function_probes_are_good(&probe, 1, 1, 0, 100));
	probe.cookie = 0;
	assert_false(answer_function_probes_are_good(&probe, 1, 1, 0, 100));
	probe.cookie = FUNCTION_COOKIE(1, 0, 0) | FUNCTION_READS(2);
	assert_true(answer_function_probes_are_good(&probe, 1, 1, 2, 100));
	assert_false(answer_function_probes_are_good(&probe, 1, 1, 1, 100));
}

static struct function_values good_values(void)
{
	struct function_values values = {.number = 1, .site = SITE_FUNCTION_BEGIN, .rules = {.n = 1}};

	values.rules.rules[0] =
		(struct value_rule){.kind = VALUE_SIGNED, .size = 8, .place = VALUE_STACK, .nsteps = 1};
	memcpy(values.labels[0], "id", 3);
	return values;
}

static bool is_refused(const struct function_values *values)
{
	return !answer_values_are_good(values, 1, 1);
}

static void values(void **state)
{
	struct function_values good = good_values(), bad;

	(void)state;
	assert_true(answer_values_are_good(&good, 1, 1));
	assert_false(answer_values_are_good(&good, 1, 0));
	bad = good, bad.number = 0, assert_true(is_refused(&bad));
	bad = good, bad.site = SITE_PARK, assert_true(is_refused(&bad));
	bad = good, bad.rules.n = 0, assert_true(is_refused(&bad));
	bad = good, bad.rules.n = VALUES_MAX + 1, assert_true(is_refused(&bad));
	bad = good, bad.rules.rules[0].kind = 0, assert_true(is_refused(&bad));
	bad = good, bad.rules.rules[0].kind = VALUE_CHARS + 1, assert_true(is_refused(&bad));
	bad = good, bad.rules.rules[0].size = 3, assert_true(is_refused(&bad));
	bad = good, bad.rules.rules[0].place = VALUE_REGS, assert_true(is_refused(&bad));
	bad = good, bad.rules.rules[0].place2 = VALUE_STACK, assert_true(is_refused(&bad));
	bad = good, bad.rules.rules[0].nsteps = VALUE_STEPS + 1, assert_true(is_refused(&bad));
	bad = good, bad.rules.rules[0].max = VALUE_TEXTS_MAX + 1, assert_true(is_refused(&bad));
	bad = good, bad.labels[0][0] = '\x1b', assert_true(is_refused(&bad));
	bad = good, memset(bad.labels[0], 'x', sizeof(bad.labels[0])), assert_true(is_refused(&bad));
}

static void records(void **state)
{
	_Alignas(8) char bytes[256] = {0};
	struct log_record record = {.type = LOG_SNAPSHOT_END, .size = 0, .data = bytes};

	(void)state;
	assert_true(inspection_record_is_good(&record));
	record = (struct log_record){.type = LOG_GS, .size = sizeof(struct log_g) + 1, .data = bytes};
	assert_false(inspection_record_is_good(&record));
	/* Well formed, but not a record that inspecting a target gives. */
	record = (struct log_record){.type = LOG_RECORDS, .size = sizeof(struct raw_record), .data = bytes};
	assert_false(inspection_record_is_good(&record));
	record = (struct log_record){.type = LOG_END, .size = sizeof(struct log_end), .data = bytes};
	assert_false(inspection_record_is_good(&record));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(facts),   cmocka_unit_test(plans),     cmocka_unit_test(modules),
	cmocka_unit_test(rows),    cmocka_unit_test(functions), cmocka_unit_test(values),
	cmocka_unit_test(records),
};

UNIT_TESTS(tests, NULL, NULL);
