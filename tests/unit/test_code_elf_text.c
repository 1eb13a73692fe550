/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names of native code: demangling, bounds, and hints about waiting threads. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "code/elf/rust.h"
#include "code/elf/text.h"

static const char *readable(const char *name)
{
	static char text[NATIVE_FUNCTION_MAX + 1];

	text[native_readable(name, text)] = '\0';
	return text;
}

static void test_names_are_demangled(void **state)
{
	(void)state;
	assert_string_equal(readable("main"), "main");
	assert_string_equal(readable("_ZN3app6Worker3runEi"), "app::Worker::run(int)");
	assert_string_equal(readable("_ZN3app6Worker3runEi.part.0"), "app::Worker::run(int) [clone .part.0]");
	assert_string_equal(readable("pthread_cond_wait@@GLIBC_2.3.2"), "pthread_cond_wait");
	assert_string_equal(readable("memcpy@GLIBC_2.2.5"), "memcpy");
	assert_string_equal(readable("_Znothing"), "_Znothing");
	assert_string_equal(readable("@"), "@");
}

static void test_names_of_rust(void **state)
{
	(void)state;
	assert_string_equal(readable("_ZN4pool4main28_$u7b$$u7b$closure$u7d$$u7d$17hfedde1dd27684605E"),
			    "pool::main::{{closure}}");
	assert_string_equal(readable("_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_"
				     "contended"),
			    "<std::sys::sync::mutex::futex::Mutex>::lock_contended");
	assert_string_equal(readable("_Rnothing"), "_Rnothing");
}

static enum log_symbol_hint hint_of_rust(const char *name, const char *file)
{
	return rust_hint(name, strlen(name), file, strlen(file));
}

static void test_hints_of_rust(void **state)
{
	const char *std = "/rustc/59807616e/library/std/src/sys/sync/mutex/futex.rs";

	(void)state;
	assert_int_equal(hint_of_rust("<std::sys::sync::mutex::futex::Mutex>::lock_contended", ""),
			 HINT_MUTEX);
	assert_int_equal(hint_of_rust("std::sys::unix::locks::futex::RwLock::read_contended", ""),
			 HINT_RWLOCK);
	assert_int_equal(hint_of_rust("std::sys::unix::locks::futex::Condvar::wait_timeout", ""), HINT_COND);
	assert_int_equal(hint_of_rust("parking_lot::raw_mutex::RawMutex::lock_slow", ""), HINT_MUTEX);
	assert_int_equal(hint_of_rust("std::thread::park", ""), HINT_COND);
	assert_int_equal(hint_of_rust("<std::sys::thread::unix::Thread>::new::thread_start", ""), HINT_START);
	assert_int_equal(hint_of_rust("lock_contended", std), HINT_MUTEX);
	assert_int_equal(hint_of_rust("park", std), HINT_COND);
	/* A program's own. */
	assert_int_equal(hint_of_rust("park", "/src/garage.rs"), HINT_NONE);
	assert_int_equal(hint_of_rust("garage::park", ""), HINT_NONE);
	assert_int_equal(hint_of_rust("std::unpark", ""), HINT_NONE);
	assert_int_equal(hint_of_rust("", ""), HINT_NONE);
}

static void test_long_names_are_cut(void **state)
{
	char name[2000];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[NATIVE_FUNCTION_MAX] = '\0';
	assert_int_equal(strlen(readable(name)), NATIVE_FUNCTION_MAX);
	assert_string_equal(readable(name) + NATIVE_FUNCTION_MAX - 3, "xxx");
	name[NATIVE_FUNCTION_MAX] = 'x';
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(strlen(readable(name)), NATIVE_FUNCTION_MAX);
	assert_string_equal(readable(name) + NATIVE_FUNCTION_MAX - 4, "x...");
}

/* f(A, B<A, A>, ...), each type twice as long as the one before: 25 levels would be a gigabyte. */
static void make_bomb(char *name, unsigned levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	unsigned seq = 1;

	name += sprintf(name, "_Z1f1A1BIS_S_E");
	for (unsigned i = 0; i < levels; i++, seq += 2) {
		char ref[8];

		if (seq < 36)
			snprintf(ref, sizeof(ref), "S%c_", digits[seq]);
		else
			snprintf(ref, sizeof(ref), "S%c%c_", digits[seq / 36], digits[seq % 36]);
		name += sprintf(name, "1%cI%s%sE", 'a' + (int)i % 26, ref, ref);
	}
}

/* c::f::<(u8,), (a, a), (b, b), ...>: each type is twice the one before, whose place is written in base 62.
 */
static void make_rust_bomb(char *name, unsigned levels)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t n = (size_t)sprintf(name, "_RINvC1c1fThE"), before = n - 3;

	for (unsigned i = 0; i < levels; i++) {
		size_t at = before - 2 - 1; /* from behind "_R"; B_ is 0, B0_ is 1 */
		char ref[8];

		snprintf(ref, sizeof(ref), at < 62 ? "B%c_" : "B%c%c_", digits[at < 62 ? at : at / 62],
			 digits[at % 62]);
		before = n;
		n += (size_t)sprintf(name + n, "T%s%sE", ref, ref);
	}
	strcpy(name + n, "E");
}

static void test_names_of_rust_that_explode_are_cut(void **state)
{
	char name[1024];
	clock_t begin = clock();

	(void)state;
	make_rust_bomb(name, 3);
	assert_string_equal(readable(name),
			    "c::f::<(u8,), ((u8,), (u8,)), (((u8,), (u8,)), ((u8,), (u8,))), "
			    "((((u8,), (u8,)), ((u8,), (u8,))), (((u8,), (u8,)), ((u8,), (u8,))))>");
	make_rust_bomb(name, 60);
	assert_int_equal(strlen(readable(name)), NATIVE_FUNCTION_MAX);
	assert_string_equal(readable(name) + NATIVE_FUNCTION_MAX - 3, "...");
	assert_true(clock() - begin < CLOCKS_PER_SEC / 2);
}

static void test_names_that_explode_stay_as_they_are(void **state)
{
	char name[1024];

	(void)state;
	make_bomb(name, 3);
	assert_true(strncmp(readable(name), "f(A, B<A, A>, a<", 16) == 0);
	for (unsigned levels = 20; levels < 40; levels++) {
		clock_t begin = clock();

		make_bomb(name, levels);
		assert_string_equal(readable(name), name);
		assert_true(clock() - begin < CLOCKS_PER_SEC / 2);
	}
}

static enum log_symbol_hint hint(const char *name, bool libc)
{
	return native_hint(name, strlen(name), libc);
}

static void test_hints(void **state)
{
	(void)state;
	assert_int_equal(hint("___pthread_mutex_lock", true), HINT_MUTEX);
	assert_int_equal(hint("pthread_mutex_lock", false), HINT_MUTEX);
	assert_int_equal(hint("__lll_lock_wait_private", true), HINT_MUTEX);
	assert_int_equal(hint("__pthread_cond_timedwait64", true), HINT_COND);
	assert_int_equal(hint("pthread_cond_clockwait", true), HINT_COND);
	assert_int_equal(hint("__pthread_rwlock_wrlock_full64", true), HINT_RWLOCK);
	assert_int_equal(hint("__pthread_clockjoin_ex", true), HINT_JOIN);
	assert_int_equal(hint("__new_sem_wait_slow64.constprop.0", true), HINT_NONE);
	assert_int_equal(hint("__new_sem_wait_slow64", true), HINT_SEM);
	assert_int_equal(hint("pthread_barrier_wait", true), HINT_BARRIER);
	assert_int_equal(hint("__clock_nanosleep_time64", true), HINT_SLEEP);
	assert_int_equal(hint("_start", false), HINT_START);
	assert_int_equal(hint("__libc_start_main_impl", true), HINT_START);
	assert_int_equal(hint("__libc_start_call_main", true), HINT_START);
	assert_int_equal(hint("__clone3", true), HINT_START);
	assert_int_equal(hint("start_thread", true), HINT_START);
	/* Programs may have functions of this name. */
	assert_int_equal(hint("start_thread", false), HINT_NONE);
	assert_int_equal(hint("start", false), HINT_NONE);
	assert_int_equal(hint("__", true), HINT_NONE);
	assert_int_equal(hint("", true), HINT_NONE);
	assert_int_equal(hint("my_pthread_mutex_lock", true), HINT_NONE);
}

static void check_valid(const struct symbol_draft *draft)
{
	struct log_record record = {.type = LOG_SYMBOL, .size = draft->size, .data = &draft->head};

	assert_int_equal(rawlog_check_record(&record, NULL), 0);
}

/* Frames that std::thread puts around the program's function do not identify a thread. */
static void test_thread_plumbing(void **state)
{
	static struct symbol_draft draft;

	(void)state;
	draft_begin(&draft, 1);
	draft_add(&draft, "_Z4workv", "t.cc", 3);
	draft_add(&draft, "_ZSt13__invoke_implIvPFvvEJEET_St14__invoke_otherOT0_DpOT1_", "invoke.h", 61);
	draft_add(&draft, "_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJPFvvEEEEEE6_M_runEv", NULL, 0);
	draft_finish(&draft, false);
	assert_int_equal(draft.head.nframes, 1);
	assert_int_equal(draft.head.hint, HINT_NONE);
	check_valid(&draft);

	draft_begin(&draft, 1);
	draft_add(&draft, "_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJPFvvEEEEEE6_M_runEv", NULL, 0);
	draft_finish(&draft, false);
	assert_int_equal(draft.head.nframes, 1);
	assert_int_equal(draft.head.hint, HINT_START);
	check_valid(&draft);
}

/* A lambda has no linkage, so functions inlined around it have short names. */
static void test_thread_plumbing_around_a_lambda(void **state)
{
	static struct symbol_draft draft;

	(void)state;
	draft_begin(&draft, 1);
	draft_add(&draft, "operator()", "/src/t.cc", 9);
	draft_add(&draft, "__invoke_impl<void, main()::<lambda()> >", "/usr/include/c++/12/bits/invoke.h",
		  61);
	draft_add(&draft, "_M_invoke<0>", "/usr/include/c++/12/bits/std_thread.h", 252);
	draft_add(&draft, "operator()", "/usr/include/c++/12/bits/std_thread.h", 259);
	draft_finish(&draft, false);
	assert_int_equal(draft.head.nframes, 1);
	assert_int_equal(draft.head.hint, HINT_NONE);
	check_valid(&draft);
	/* Other functions around it stay, whatever they pass through. */
	draft_begin(&draft, 1);
	draft_add(&draft, "__invoke_impl<void, main()::<lambda()> >", "/usr/include/c++/12/bits/invoke.h",
		  61);
	draft_add(&draft, "user", "/src/t.cc", 259);
	draft_finish(&draft, false);
	assert_int_equal(draft.head.nframes, 2);
}

static void test_draft_is_bounded(void **state)
{
	static struct symbol_draft draft;
	char name[3000];

	(void)state;
	memset(name, 'y', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	draft_begin(&draft, 77);
	check_valid(&draft);
	for (unsigned i = 0; i < SYMBOL_DEPTH + 5; i++)
		draft_add(&draft, name, name, i);
	draft_finish(&draft, true);
	assert_int_equal(draft.head.nframes, SYMBOL_DEPTH);
	assert_int_equal(draft.size, sizeof(draft.head) + sizeof(draft.frames));
	check_valid(&draft);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_names_are_demangled),
	cmocka_unit_test(test_names_of_rust),
	cmocka_unit_test(test_hints_of_rust),
	cmocka_unit_test(test_names_of_rust_that_explode_are_cut),
	cmocka_unit_test(test_long_names_are_cut),
	cmocka_unit_test(test_names_that_explode_stay_as_they_are),
	cmocka_unit_test(test_hints),
	cmocka_unit_test(test_thread_plumbing),
	cmocka_unit_test(test_thread_plumbing_around_a_lambda),
	cmocka_unit_test(test_draft_is_bounded),
};

UNIT_TESTS(tests, NULL, NULL);
