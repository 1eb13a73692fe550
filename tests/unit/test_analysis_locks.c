/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Locks by address: who held them, and where. */
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "analysis/figures.h"
#include "analysis/intervals.h"
#include "analysis/names.h"
#include "analysis/order.h"
#include "script.h"

/* The goroutine logs which lock it is about to wait for. */
static void log_lock(struct script *s, uint32_t g, int32_t p, const char *text)
{
	struct op *op = add(s, OP_LOG, g, p);

	op->string = str(s, "lock");
	op->string2 = strtab_add_str(s->texts, text) | TEXT_ID;
}

static const struct lock *lock_at(const struct analysis *a, uint64_t address)
{
	for (size_t i = 1; i < a->nlocks; i++) {
		if (a->locks[i].address == address)
			return &a->locks[i];
	}
	return NULL;
}

/* Goroutine 1 holds a mutex; 2 waits for it 10 ms, and then holds it 5 ms while 3 waits for it. */
static struct script *handed_on_as(const char *message, const char *reason)
{
	struct script *s = script_new(100 * MS);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.take", 7, "main.main");
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.give", 9, "main.main");
	uint32_t nap = stack(s, "time.Sleep", "main.take", 3, "main.main");

	procs(s, 3);
	for (uint32_t g = 1; g <= 3; g++)
		create(s, g, nap);
	start(s, 1, 0);
	at(s, 10 * MS);
	start(s, 2, 1);
	log_lock(s, 2, 1, message);
	block(s, 2, 1, reason, wait);
	at(s, 20 * MS);
	wake(s, 1, 0, 2, release);
	start(s, 2, 1);
	start(s, 3, 2);
	log_lock(s, 3, 2, message);
	block(s, 3, 2, reason, wait);
	at(s, 25 * MS);
	wake(s, 2, 1, 3, release);
	start(s, 3, 2);
	block(s, 3, 2, "sleep", nap); /* no lock */
	return s;
}

static struct script *handed_on(const char *message)
{
	return handed_on_as(message, "sync");
}

/* Threads wait for a condition at a futex, too: nobody holds it. */
static void test_futex_of_a_condition(void **state)
{
	struct script *s = handed_on_as("futex 0x7f12345678ac", "sync (condition)");
	struct analysis *a = analyse(s, NULL);
	const struct lock *lock = lock_at(a, 0x7f12345678ac);

	(void)state;
	assert_non_null(lock);
	assert_string_equal(label_lock(lock).text, "cond 0x7f12345678ac");
	assert_int_equal(lock->waits.n, 2);
	assert_int_equal(top_first(lock->holders)->n, 0);
	analysis_free(a);
	script_free(s);
}

/* glibc's conditions have two words, for which threads wait in turn: one row, by the condition's address. */
static void test_words_of_a_condition(void **state)
{
	struct script *s = script_new(100 * MS);
	uint32_t wait = stack(s, "___pthread_cond_wait", "take", 7, "main [app]");
	uint32_t signal = stack(s, "___pthread_cond_signal", "give", 9, "main [app]");
	const char *words[] = {"futex 0x7f12345678c8", "futex 0x7f12345678cc"};
	struct analysis *a;

	(void)state;
	procs(s, 2);
	create(s, 1, wait);
	create(s, 2, wait);
	start(s, 1, 0);
	for (unsigned i = 0; i < 4; i++) {
		at(s, (20 * i + 5) * MS);
		start(s, 2, 1);
		log_lock(s, 2, 1, words[i % 2]);
		block(s, 2, 1, "sync (condition)", wait);
		at(s, (20 * i + 15) * MS);
		wake(s, 1, 0, 2, signal);
	}
	a = analyse(s, NULL);
	assert_non_null(lock_at(a, 0x7f12345678a0));
	assert_string_equal(label_lock(lock_at(a, 0x7f12345678a0)).text, "cond 0x7f12345678a0");
	assert_int_equal(lock_at(a, 0x7f12345678a0)->waits.n, 4);
	analysis_free(a);
	script_free(s);
}

static void test_locks_by_address(void **state)
{
	struct script *s = handed_on("mutex 0xc000012340");
	struct analysis *a = analyse(s, NULL);
	const struct lock *lock = lock_at(a, 0xc000012340);

	(void)state;
	assert_int_equal(a->nlocks, 2);
	assert_non_null(lock);
	assert_string_equal(label_lock(lock).text, "mutex 0xc000012340");
	assert_int_equal(lock->waits.n, 2);
	assert_true(lock->waits.sum > 14 * MS && lock->waits.sum < 16 * MS);
	assert_int_equal(lock->waiting, 0);
	assert_int_equal(lock->most_waiting, 1);
	assert_int_equal(lock->releases, 2);
	/* Goroutine 1 had taken it before anybody waited; goroutine 2 where it had waited. */
	assert_int_equal(lock->known, 1);
	assert_true(lock->known_ns > 4 * MS && lock->known_ns < 6 * MS);
	assert_int_equal(top_first(lock->holders)->key, 1);
	assert_string_equal(name_text(a, stack_site(a, (uint32_t)top_first(lock->taken)->key)->func),
			    "main.take");
	assert_string_equal(name_text(a, stack_site(a, (uint32_t)top_first(lock->released)->key)->func),
			    "main.give");
	analysis_free(a);
	script_free(s);
}

/*
 * Goroutine 2 ends while, as far as is known, it holds the lock. Its index becomes that of goroutine 77,
 * which has never waited for the lock.
 */
static void test_a_holder_ends(void **state)
{
	const struct analysis_options options = {.name = "t", .file = "t"};
	struct script *s = script_new(100 * MS);
	uint32_t wait = stack(s, "sync.(*Mutex).Lock", "main.take", 7, "main.main");
	uint32_t release = stack(s, "sync.(*Mutex).Unlock", "main.give", 9, "main.main");
	struct analysis *a = analysis_new(&options);
	size_t first;

	(void)state;
	procs(s, 3);
	for (uint32_t g = 1; g <= 3; g++)
		create(s, g, wait);
	start(s, 1, 0);
	start(s, 2, 1);
	log_lock(s, 2, 1, "mutex 0xc000012340");
	block(s, 2, 1, "sync", wait);
	wake(s, 1, 0, 2, release);
	start(s, 2, 1);
	add(s, OP_GO_DESTROY, 2, 1);
	pass_on(a, s, 0, false);
	first = s->n;
	s->goids[2] = 77;
	create(s, 2, wait);
	add(s, OP_GO_START, 2, 1);
	start(s, 3, 2);
	log_lock(s, 3, 2, "mutex 0xc000012340");
	block(s, 3, 2, "sync", wait);
	wake(s, 2, 1, 3, release);
	pass_on(a, s, first, true);
	assert_int_equal(analysis_end(a), 0);
	assert_int_equal(lock_at(a, 0xc000012340)->releases, 2);
	assert_int_equal(lock_at(a, 0xc000012340)->known, 0);
	analysis_free(a);
	script_free(s);
}

/*
 * A goroutine that ends a wait for a channel does not hold it; a message that is not gotrace's names no lock.
 */
static void test_logs_of_no_lock(void **state)
{
	static const char *const texts[] = {"",
					    " ",
					    "mutex",
					    "mutex ",
					    "mutex c000012340",
					    "mutex 0x",
					    "mutex 0x0",
					    "mutex 0xc0 ",
					    "mutex 0xc0 (read) x",
					    "mutexes 0xc0",
					    "MUTEX 0xc0",
					    "futex 0xc0(read)",
					    "0xc000012340"};
	struct script *s = handed_on("chan 0xc000012340");
	struct analysis *a = analyse(s, NULL);

	(void)state;
	assert_int_equal(lock_at(a, 0xc000012340)->waits.n, 2);
	assert_int_equal(lock_at(a, 0xc000012340)->releases, 0);
	analysis_free(a);
	script_free(s);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		s = handed_on(texts[i]);
		a = analyse(s, NULL);
		assert_int_equal(a->nlocks, 1);
		analysis_free(a);
		script_free(s);
	}
}

/* One Unlock of an RWMutex wakes both readers that it kept waiting; the last reader admits a writer. */
static void test_rwmutex_holders(void **state)
{
	struct script *s = script_new(100 * MS);
	uint32_t read = stack(s, "sync.(*RWMutex).RLock", "main.read", 7, "main.main");
	uint32_t write = stack(s, "sync.(*RWMutex).Lock", "main.write", 8, "main.main");
	uint32_t unlock = stack(s, "sync.(*RWMutex).Unlock", "main.write", 9, "main.main");
	uint32_t runlock = stack(s, "sync.(*RWMutex).RUnlock", "main.read", 10, "main.main");
	struct analysis *a;
	const struct lock *lock;

	(void)state;
	procs(s, 4);
	for (uint32_t g = 1; g <= 4; g++) {
		create(s, g, read);
		start(s, g, (int32_t)g - 1);
	}
	for (uint32_t g = 2; g <= 3; g++) {
		log_lock(s, g, (int32_t)g - 1, "rwmutex 0xc000012340 (read)");
		block(s, g, (int32_t)g - 1, "sync", read);
	}
	at(s, 10 * MS);
	wake(s, 1, 0, 2, unlock);
	wake(s, 1, 0, 3, unlock);
	start(s, 2, 1);
	start(s, 3, 2);
	log_lock(s, 4, 3, "rwmutex 0xc000012340 (write)");
	block(s, 4, 3, "sync", write);
	at(s, 20 * MS);
	wake(s, 2, 1, 4, runlock);
	start(s, 4, 3);
	a = analyse(s, NULL);
	lock = lock_at(a, 0xc000012340);
	assert_non_null(lock);
	assert_int_equal(lock->waits.n, 3);
	assert_int_equal(lock->readers, 2);
	assert_int_equal(lock->releases, 3);
	assert_int_equal(lock->known, 1);
	assert_true(lock->readers_ns > 19 * MS && lock->readers_ns < 21 * MS);
	assert_string_equal(name_text(a, stack_site(a, (uint32_t)top_first(lock->taken)->key)->func),
			    "main.read");
	analysis_free(a);
	script_free(s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_locks_by_address),     cmocka_unit_test(test_futex_of_a_condition),
	cmocka_unit_test(test_words_of_a_condition), cmocka_unit_test(test_a_holder_ends),
	cmocka_unit_test(test_logs_of_no_lock),      cmocka_unit_test(test_rwmutex_holders),
};

UNIT_TESTS(tests, NULL, NULL);
