/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which lock a goroutine waits for, by the functions of its stack. */

#include "unit.h"

#include "code/symbol/lock_kind.h"

enum { MAX = 8 };

static enum lock_kind kind_of(const char *const *functions)
{
	struct strtab *strings = strtab_new();
	struct frame frames[MAX] = {{0}};
	enum lock_kind kind;
	int n = 0;

	for (; n < MAX && functions[n]; n++)
		frames[n].func = strtab_add_str(strings, functions[n]);
	kind = lock_kind_of(strings, frames, n);
	strtab_free(strings);
	return kind;
}

static void test_kinds(void **state)
{
	static const struct {
		enum lock_kind kind;
		const char *functions[MAX];
	} table[] = {
		{LOCK_SEMAPHORE, {NULL}},
		{LOCK_SEMAPHORE, {"runtime.gopark", "runtime.semacquire1", NULL}},
		{LOCK_SEMAPHORE, {"internal/poll.(*fdMutex).rwlock", "internal/poll.(*FD).Read", NULL}},
		{LOCK_SEMAPHORE, {"main.(*Mutex).Lock", "sync.(*Mutex).Lock", NULL}},
		{LOCK_MUTEX, {"sync.(*Mutex).Lock", "main.main", NULL}},
		{LOCK_MUTEX, {"sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", "main.main", NULL}},
		{LOCK_MUTEX,
		 {"runtime.gopark", "runtime.semacquire1", "internal/sync.runtime_SemacquireMutex",
		  "internal/sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).Lock", "sync.(*Mutex).Lock",
		  "main.main", NULL}},
		{LOCK_READER, {"sync.(*RWMutex).RLock", "main.main", NULL}},
		{LOCK_WRITER, {"sync.runtime_SemacquireRWMutex", "sync.(*RWMutex).Lock", "main.main", NULL}},
		{LOCK_WRITER_QUEUE, {"sync.(*Mutex).Lock", "sync.(*RWMutex).Lock", "main.main", NULL}},
		{LOCK_WAIT_GROUP, {"sync.runtime_Semacquire", "sync.(*WaitGroup).Wait", NULL}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_int_equal(kind_of(table[i].functions), table[i].kind);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds)};

UNIT_TESTS(tests, NULL, NULL);
