/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "unit.h"

#include <string.h>

#include "model/threads/syscalls.h"

static const struct log_target x86 = {0}, arm64 = {.flags = LOG_TARGET_ARM64};

/* The names are those of the log's architecture, whatever the reader's is. */
static void names(void **state)
{
	static const struct {
		const struct log_target *target;
		unsigned number;
		const char *name;
	} calls[] = {
		{&x86, 0, "read"},
		{&x86, 59, "execve"},
		{&x86, 202, "futex"},
		{&x86, 334, "rseq"},
		{&x86, 424, "pidfd_send_signal"},
		{&x86, 456, "futex_requeue"},
		{&x86, 457, "statmount"},
		{&x86, 462, "mseal"},
		{&x86, 469, "file_setattr"},
		{&arm64, 0, "io_setup"},
		{&arm64, 63, "read"},
		{&arm64, 98, "futex"},
		{&arm64, 221, "execve"},
		{&arm64, 449, "futex_waitv"},
		{&arm64, 457, "statmount"},
		{&arm64, 469, "file_setattr"},
	};
	struct syscalls of_x86 = {0}, of_arm64 = {0};

	(void)state;
	for (unsigned again = 0; again < 2; again++) {
		for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
			struct syscalls *known = calls[i].target == &x86 ? &of_x86 : &of_arm64;

			assert_string_equal(syscall_name(known, calls[i].target, calls[i].number + 1),
					    calls[i].name);
		}
	}
	assert_null(syscall_name(&of_x86, &x86, 0));
	assert_null(syscall_name(&of_x86, &x86, 400 + 1)); /* x86-64 has none between 337 and 423 */
	assert_null(syscall_name(&of_arm64, &arm64, 250 + 1));
	assert_null(syscall_name(&of_x86, &x86, SYSCALLS_KNOWN + 1));
	assert_null(syscall_name(&of_x86, &x86, UINT64_MAX));
	syscalls_free(&of_x86);
	syscalls_free(&of_arm64);
}

/* Every number up to the last one, but for the hole of each architecture, has a name. */
static void no_other_hole(void **state)
{
	struct syscalls of_x86 = {0}, of_arm64 = {0};

	(void)state;
	for (unsigned i = 0; i < SYSCALLS_KNOWN; i++) {
		/* 335 and 336 are uretprobe and uprobe in newer kernels, and in newer libraries. */
		if (i != 335 && i != 336)
			assert_int_equal(!syscall_name(&of_x86, &x86, i + 1), i >= 337 && i < 424);
		assert_int_equal(!syscall_name(&of_arm64, &arm64, i + 1),
				 (i >= 244 && i < 260) || (i >= 295 && i < 424));
	}
	syscalls_free(&of_x86);
	syscalls_free(&of_arm64);
}

static void reason_is(const struct log_target *target, struct wait wait, const char *reason)
{
	struct syscalls known = {0};
	const char *found = wait_reason(&known, target, &wait);

	if (reason)
		assert_string_equal(found, reason);
	else
		assert_null(found);
	syscalls_free(&known);
}

static void reasons(void **state)
{
	struct syscalls known = {0};

	(void)state;
	reason_is(&x86, (struct wait){.call = 1 + 202}, "sync (futex)");
	reason_is(&x86, (struct wait){.call = 1 + 202, .hint = HINT_MUTEX}, "sync (mutex)");
	reason_is(&arm64, (struct wait){.call = 1 + 98}, "sync (futex)");
	reason_is(&x86, (struct wait){.call = 1 + 98}, NULL); /* getrusage */
	reason_is(&x86, (struct wait){.call = 1 + 35}, "sleep");
	reason_is(&x86, (struct wait){.call = 1 + 7}, "sleep");
	reason_is(&x86, (struct wait){.call = 1 + 232}, "network");
	reason_is(&x86, (struct wait){.call = 1 + 45}, "network");
	reason_is(&x86, (struct wait){.call = 1 + 130}, "signal");
	reason_is(&x86, (struct wait){.call = 1 + 65}, "sync (semaphore)");
	reason_is(&x86, (struct wait){.call = 1 + 73}, "sync (file lock)");
	reason_is(&x86, (struct wait){.call = 1 + 0, .left = LEFT_DISK}, "disk");
	reason_is(&x86, (struct wait){.call = 1 + 328, .left = LEFT_DISK},
		  "disk"); /* pwritev2: the class's last */
	reason_is(&arm64, (struct wait){.call = 1 + 66, .left = LEFT_DISK}, "disk"); /* writev */
	reason_is(&x86, (struct wait){.call = 1 + 9, .left = LEFT_DISK}, "disk");    /* mmap */
	reason_is(&x86, (struct wait){.call = 1 + 9, .left = LEFT_IN_KERNEL}, "sync (mmap_lock)");
	reason_is(&x86, (struct wait){.left = LEFT_IN_KERNEL}, "sync (mmap_lock)");
	reason_is(&x86, (struct wait){.left = LEFT_DISK}, "page fault");
	reason_is(&x86, (struct wait){.call = 1 + 75, .left = LEFT_IN_KERNEL}, "disk"); /* fdatasync */
	assert_true(syscall_yields(&known, &x86, 1 + 24));
	assert_false(syscall_yields(&known, &x86, 1 + 124));
	syscalls_free(&known);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(names),
	cmocka_unit_test(no_other_hole),
	cmocka_unit_test(reasons),
};

UNIT_TESTS(tests, NULL, NULL);
