/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The capabilities kept after attaching. */

#include "unit.h"

#include <linux/capability.h>

#include "capture/retained_capabilities.h"

#define BIT(cap)            (1ull << (cap))
#define LINUX(major, minor) ((major) << 8 | (minor))
#define PERFMON_BIT         BIT(38)
#define BPF_BIT             BIT(39)
#define RESTORE_BIT         BIT(40)
#define LOOKS               (BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH))

static void on_a_new_kernel(void **state)
{
	struct tracing_mode mode = {
		.kernel = LINUX(6, 18), .probes = true, .multi = true, .memory_open = true, .go_minor = 26};

	(void)state;
	assert_int_equal(retained_capabilities(&mode), 0);
	mode.reattaches = true;
	assert_int_equal(retained_capabilities(&mode), 0);
	mode.memory_open = false;
	assert_int_equal(retained_capabilities(&mode), BIT(CAP_SYS_PTRACE));
	mode.memory_open = true;
	mode.go_minor = 4;
	assert_int_equal(retained_capabilities(&mode), LOOKS);
	mode = (struct tracing_mode){.kernel = LINUX(6, 18), .plugins = true, .memory_open = true};
	assert_int_equal(retained_capabilities(&mode), LOOKS | RESTORE_BIT);
	mode = (struct tracing_mode){.kernel = LINUX(6, 18), .threads = true};
	assert_int_equal(retained_capabilities(&mode), LOOKS | RESTORE_BIT);
}

static void with_perf_events(void **state)
{
	struct tracing_mode mode = {
		.kernel = LINUX(6, 1), .probes = true, .memory_open = true, .go_minor = 26};

	(void)state;
	assert_int_equal(retained_capabilities(&mode), 0);
	mode.reattaches = true;
	assert_int_equal(retained_capabilities(&mode), BIT(CAP_SYS_ADMIN) | PERFMON_BIT);
	mode.threads = true; /* with --region */
	assert_int_equal(retained_capabilities(&mode),
			 BIT(CAP_SYS_ADMIN) | PERFMON_BIT | LOOKS | RESTORE_BIT);
	mode.probes = false;
	assert_int_equal(retained_capabilities(&mode), LOOKS | RESTORE_BIT);
}

static void on_an_old_kernel(void **state)
{
	struct tracing_mode mode = {.kernel = LINUX(5, 10), .memory_open = true, .go_minor = 26};

	(void)state;
	assert_int_equal(retained_capabilities(&mode), BPF_BIT);
	mode.bpf_for_all = true;
	assert_int_equal(retained_capabilities(&mode), 0);
	mode = (struct tracing_mode){.kernel = LINUX(5, 7), .threads = true, .bpf_for_all = true};
	assert_int_equal(retained_capabilities(&mode), LOOKS | BIT(CAP_SYS_ADMIN));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(on_a_new_kernel),
	cmocka_unit_test(with_perf_events),
	cmocka_unit_test(on_an_old_kernel),
};

UNIT_TESTS(tests, NULL, NULL);
