/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The checker of ops must reject each broken rule, because other tests rely on it. */
#include "unit.h"
#include <errno.h>
#include <string.h>

#include "op_rules.h"

enum { M1 = 11, M2 = 12, MAX_OPS = 6, START = 1000 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define P0_RUNS                                                                                              \
	{                                                                                                    \
		.kind = OP_PROC_STATUS, .status = P_RUNNING, .m = M1                                         \
	}
#define G1_RUNS                                                                                              \
	{                                                                                                    \
		.kind = OP_GO_STATUS, .status = G_RUNNING, .m = M1, .g = 1, .p = NO_P                        \
	}
#define G2_IS(status_, m_)                                                                                   \
	{                                                                                                    \
		.kind = OP_GO_STATUS, .status = status_, .m = m_, .g = 2, .p = NO_P                          \
	}
#define ON_M1(kind_, ...)                                                                                    \
	{                                                                                                    \
		.kind = kind_, .m = M1, .g = 1, __VA_ARGS__                                                  \
	}

/* One generation: P 0 and goroutine 1 run on M1, then these ops. */
static const struct {
	struct op ops[MAX_OPS];
	const char *error; /* NULL: no rule is broken */
} cases[] = {
	{{ON_M1(OP_HEAP_ALLOC, .arg = 1)}, NULL},
	{{G2_IS(G_SYSCALL, M2), {.kind = OP_SYSCALL_END_BLOCKED, .m = M2, .g = 2, .p = NO_P}}, NULL},
	{{G2_IS(G_RUNNING, M1)}, "has 1"},
	{{G2_IS(G_RUNNING, NO_M)}, "must be held"},
	{{G2_IS(G_WAITING, M2)}, "must not be held"},
	{{G2_IS(0, NO_M)}, "status 0"},
	{{G2_IS(G_WAITING, NO_M), G2_IS(G_WAITING, NO_M)}, "twice"},
	{{ON_M1(OP_HEAP_ALLOC, .arg = 1),
	  {.kind = OP_GO_STATUS, .status = G_WAITING, .g = 2, .time = START + 9 * OP_UNIT_NS}},
	 "middle of a generation"},
	{{ON_M1(OP_GO_CREATE, .g2 = 1)}, "already lives"},
	{{ON_M1(OP_GO_CREATE, .g2 = 99)}, "not in the table"},
	{{{.kind = OP_GO_START, .m = M1, .g = 2}}, "already has goroutine"},
	{{{.kind = OP_GO_BLOCK, .m = M2, .g = 1}}, "has no P"},
	{{{.kind = OP_GO_BLOCK, .m = NO_M, .g = 1}}, "no thread"},
	{{{.kind = OP_GO_BLOCK, .m = M1, .g = 2}}, "has 1"},
	{{{.kind = OP_GO_BLOCK, .m = M1, .g = 1, .p = 3}}, "has P 0"},
	{{ON_M1(OP_GO_UNBLOCK, .g2 = 2)}, "does not live"},
	{{G2_IS(G_RUNNABLE, NO_M), ON_M1(OP_GO_UNBLOCK, .g2 = 2)}, "must be 4"},
	{{G2_IS(G_RUNNABLE, NO_M), ON_M1(OP_GO_SWITCH, .g2 = 2)}, "must be 4"},
	{{ON_M1(OP_SYSCALL_END, .arg = 0)}, "not in a system call"},
	{{ON_M1(OP_SYSCALL_BEGIN, .arg = 0), ON_M1(OP_SYSCALL_END_BLOCKED, .arg = 0)}, "still has P 0"},
	{{ON_M1(OP_SYSCALL_BEGIN, .arg = 0), ON_M1(OP_GO_BLOCK, .arg = 0)}, "not running"},
	{{ON_M1(OP_SYSCALL_BEGIN, .arg = 0), {.kind = OP_PROC_STEAL, .m = M2, .m2 = M2}}, "thread 11 has it"},
	{{{.kind = OP_PROC_STEAL, .m = M2, .m2 = M1}}, "not in a system call"},
	{{{.kind = OP_PROC_START, .m = M2, .p = 0}}, "not idle"},
	{{{.kind = OP_PROC_START, .m = M2, .p = 7}}, "before it was given a status"},
	{{{.kind = OP_PROC_START, .m = M1, .p = 0}}, "already has P"},
	{{ON_M1(OP_STW_BEGIN, .arg = 0)}, "ends in a stop-the-world"},
	{{ON_M1(OP_STW_END, .arg = 0)}, "no stop-the-world"},
	{{ON_M1(OP_GC_END, .arg = 0)}, "not on"},
	{{ON_M1(OP_GC_BEGIN, .arg = 0), ON_M1(OP_GC_BEGIN, .arg = 0)}, "is on"},
	{{ON_M1(OP_GC_SWEEP_END, .arg = 0)}, "not open"},
	{{ON_M1(OP_TASK_BEGIN, .arg = 5), ON_M1(OP_TASK_BEGIN, .arg = 5)}, "open"},
	{{ON_M1(OP_REGION_BEGIN, .arg = 5), ON_M1(OP_REGION_END, .arg = 6)}, "innermost"},
	{{ON_M1(OP_GO_LABEL, .string = 99)}, "string id 99"},
	{{ON_M1(OP_GO_BLOCK, .stack = 99)}, "stack id 99"},
	{{ON_M1(OP_HEAP_ALLOC, .time = START)}, "is not after"},
	{{ON_M1(OP_HEAP_ALLOC, .time = START - 1)}, "outside of the generation"},
	{{{.kind = OP_KIND_COUNT}}, "no such kind"},
};

static const uint64_t goids[] = {0, 101, 102};

static struct tables tables_new(void)
{
	struct tables tables = {
		.strings = strtab_new(), .goids = goids, .ngoroutines = COUNT(goids), .nstacks = 1};

	assert_non_null(tables.strings);
	return tables;
}

static int run(struct op_rules *rules, uint32_t number, const struct op *story, size_t n, struct error *err)
{
	struct op ops[MAX_OPS + 2] = {P0_RUNS, G1_RUNS};
	struct tables tables = tables_new();
	uint64_t start = START + (number - 1) * 100 * OP_UNIT_NS;
	struct generation gen = {.number = number,
				 .start = start,
				 .end = start + 50 * OP_UNIT_NS,
				 .mono_ns = start,
				 .ops = ops,
				 .nops = n + 2,
				 .tables = &tables};
	int ret;

	memcpy(ops + 2, story, n * sizeof(*ops));
	for (size_t i = 0; i < n + 2; i++)
		if (!ops[i].time)
			ops[i].time = start +
				      (ops[i].kind == OP_GO_STATUS || ops[i].kind == OP_PROC_STATUS ? 0 : i) *
					      OP_UNIT_NS;
	ret = op_rules_generation(rules, &gen, err);
	strtab_free(tables.strings);
	return ret;
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct op_rules *rules = op_rules_new();
		struct error err = {""};
		int ret = run(rules, 1, cases[i].ops, MAX_OPS, &err);

		op_rules_free(rules);
		if (!cases[i].error)
			assert_string_equal(err.text, "");
		assert_int_equal(ret, cases[i].error ? -EBADMSG : 0);
		if (cases[i].error && !strstr(err.text, cases[i].error))
			fail_msg("case %zu said \"%s\", expected \"%s\"", i, err.text, cases[i].error);
	}
}

/* The second generation must begin with the state in which the first ended. */
static void test_generations(void **state)
{
	static const struct op waiting[] = {G2_IS(G_WAITING, NO_M)};
	static const struct op runnable[] = {G2_IS(G_RUNNABLE, NO_M)};
	struct op_rules *rules = op_rules_new();
	struct error err = {""};

	(void)state;
	assert_int_equal(run(rules, 1, waiting, 1, &err), 0);
	assert_int_equal(run(rules, 2, waiting, 1, &err), 0);
	assert_int_equal(run(rules, 3, runnable, 1, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "was 4"));
	assert_int_equal(run(rules, 3, waiting, 0, &err), -EBADMSG);
	op_rules_free(rules);

	rules = op_rules_new();
	assert_int_equal(run(rules, 1, waiting, 0, &err), 0);
	assert_int_equal(run(rules, 2, waiting, 1, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "first seen by status after the first generation"));
	op_rules_free(rules);

	rules = op_rules_new();
	assert_int_equal(run(rules, 1, waiting, 1, &err), 0);
	assert_int_equal(run(rules, 2, waiting, 0, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "has no status in generation 2"));
	op_rules_free(rules);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_cases),
	cmocka_unit_test(test_generations),
};

UNIT_TESTS(tests, NULL, NULL);
