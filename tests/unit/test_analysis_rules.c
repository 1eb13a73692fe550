/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Rules, each on a program with its fault and on the same one without it. */
#include "script.h"

/* --- locks --- */

/*
 * Four goroutines in turn take a lock, make a call of 100 us under it, and give it to the next one that
 * waits. With "clean" each has its own lock.
 */
static struct analysis *calling(struct script *s, const char *leaf, bool clean)
{
	uint32_t entry = stack(s, "main.save", NULL, 1, NULL);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.save", 7, "main.main");
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.save", 9, "main.main");
	uint32_t where = stack(s, leaf, "main.save", 8, "main.main");

	procs(s, 4);
	for (uint32_t g = 1; g <= 4; g++)
		create(s, g, entry);
	for (uint32_t g = 1; g <= 4; g++) {
		start(s, g, (int32_t)g - 1);
		if (g > 1 && !clean)
			block(s, g, (int32_t)g - 1, "sync", wait);
	}
	for (unsigned i = 0; i < 1000; i++) {
		uint32_t g = 1 + i % 4, next = 1 + (i + 1) % 4;

		call(s, g, (int32_t)g - 1, 100000, where);
		if (clean)
			continue;
		wake(s, g, (int32_t)g - 1, next, release);
		block(s, g, (int32_t)g - 1, "sync", wait);
		start(s, next, (int32_t)next - 1);
	}
	s->end = s->now > s->end ? s->now : s->end;
	return analyse(s, NULL);
}

static void check_call(const char *leaf, const char *id, const char *other, const char *text)
{
	struct script *s = script_new(600 * MS), *clean = script_new(600 * MS);
	struct analysis *a = calling(s, leaf, false);
	const struct finding *finding = found(a, id);

	assert_non_null(finding);
	assert_null(found(a, other));
	assert_true(finding->level >= LEVEL_MEDIUM);
	assert_non_null(strstr(finding->text, "main.save"));
	assert_non_null(strstr(finding->text, text));
	analysis_free(a);
	a = calling(clean, leaf, true);
	assert_null(found(a, id));
	assert_null(found(a, other));
	analysis_free(a);
	script_free(s);
	script_free(clean);
}

/* I/O on a fast disk is I/O, too. */
static void test_lock_short_calls(void **state)
{
	(void)state;
	check_call("syscall.write", "lock-io", "lock-syscall", "(write)");
	check_call("internal/poll.(*FD).Fsync", "lock-io", "lock-syscall", "(fsync)");
	check_call("pwrite64(3: /tmp/a.b)", "lock-io", "lock-syscall", "(pwrite64)");
	check_call("syscall.Getrusage", "lock-syscall", "lock-io", "system call");
	check_call("getrandom", "lock-syscall", "lock-io", "system call");
}

static void test_io_calls(void **state)
{
	(void)state;
	assert_string_equal(io_call_name(io_call_of("fsync")), "fsync");
	assert_string_equal(io_call_name(io_call_of("syscall.Pread")), "pread");
	assert_int_equal(io_call_of("reader"), 0);
	assert_int_equal(io_call_of("futex(read)"), 0);
	assert_int_equal(io_call_of("main.f(x.read"), 0);
	assert_int_equal(io_call_of(""), 0);
	assert_int_equal(io_call_of("("), 0);
	assert_int_equal(io_call_of("syscall."), 0);
	assert_null(io_call_name(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock_short_calls),
		cmocka_unit_test(test_io_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
