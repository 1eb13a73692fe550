/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "code/symbol/library.h"

static void go_packages(void **state)
{
	(void)state;
	assert_true(library_has("runtime.chanrecv1"));
	assert_true(library_has("internal/poll.(*FD).Read"));
	assert_true(library_has("net.(*conn).Read"));
	assert_false(library_has("net/http.(*conn).serve"));
	assert_false(library_has("main.read"));
	assert_false(library_has("runtimex.f"));
	assert_true(library_is_lock("sync.(*Mutex).Lock"));
	assert_false(library_is_lock("os.(*File).Read"));
}

static void c_library(void **state)
{
	(void)state;
	assert_true(library_has("pthread_mutex_lock"));
	assert_true(library_has("__lll_lock_wait"));
	assert_true(library_has("std::this_thread::sleep_for"));
	assert_true(library_has("read"));
	assert_true(library_has("pread64"));
	assert_true(library_has("epoll_wait"));
	assert_true(library_has("[page fault]"));
	assert_true(library_has("read(7: /data/x)"));
	assert_true(library_has(""));
}

/* The program's own functions may begin like those of the C library. */
static void c_program(void **state)
{
	(void)state;
	assert_false(library_has("read_config"));
	assert_false(library_has("open_database"));
	assert_false(library_has("send_request"));
	assert_false(library_has("poll_loop"));
	assert_false(library_has("write_log"));
	assert_false(library_has("sleepy"));
	assert_false(library_has("sync_all(int)"));
}

/* Compiler-made copies of functions have a dot in their names, as Go's functions do. */
static void compiler_copies(void **state)
{
	(void)state;
	assert_true(library_has("__lll_lock_wait.part.0"));
	assert_true(library_has("read.constprop.0"));
	assert_false(library_has("handle.isra.0"));
	assert_false(library_has("runtime_init.part.0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(go_packages),
		cmocka_unit_test(c_library),
		cmocka_unit_test(c_program),
		cmocka_unit_test(compiler_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
