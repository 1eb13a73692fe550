/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/lock_kind.h"

#include <stdbool.h>
#include <string.h>

/* From 1.24 on sync.Mutex is a wrapper of internal/sync.Mutex. */
static const struct {
	const char *function;
	enum lock_kind kind;
} functions[] = {
	{"sync.(*Mutex).Lock", LOCK_MUTEX},          {"sync.(*Mutex).lockSlow", LOCK_MUTEX},
	{"internal/sync.(*Mutex).Lock", LOCK_MUTEX}, {"internal/sync.(*Mutex).lockSlow", LOCK_MUTEX},
	{"sync.(*RWMutex).RLock", LOCK_READER},      {"sync.(*RWMutex).Lock", LOCK_WRITER},
	{"sync.(*WaitGroup).Wait", LOCK_WAIT_GROUP},
};

static enum lock_kind lock_kind_of_function(const char *function)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strcmp(function, functions[i].function) == 0)
			return functions[i].kind;
	}
	return LOCK_SEMAPHORE;
}

/* True for the runtime's own frames and those that it provides to sync: "sync.runtime_SemacquireMutex". */
static bool is_runtime(const char *function)
{
	return strncmp(function, "runtime.", 8) == 0 || strstr(function, "sync.runtime_");
}

/* A writer first locks the Mutex in the RWMutex. That Mutex has the address of the RWMutex. */
enum lock_kind lock_kind_of(const struct strtab *strings, const struct frame *frames, int n)
{
	enum lock_kind kind;
	int i = 0;

	while (i < n && is_runtime(strtab_get(strings, frames[i].func, NULL)))
		i++;
	kind = i < n ? lock_kind_of_function(strtab_get(strings, frames[i].func, NULL)) : LOCK_SEMAPHORE;
	for (i++; i < n && kind == LOCK_MUTEX; i++) {
		enum lock_kind caller = lock_kind_of_function(strtab_get(strings, frames[i].func, NULL));

		if (caller == LOCK_WRITER)
			return LOCK_WRITER_QUEUE;
		if (caller != LOCK_MUTEX)
			break;
	}
	return kind;
}
