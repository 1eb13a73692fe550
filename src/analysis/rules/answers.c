/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether goroutines that wait have asked for something. Workers that wait for work look the same: another
 * goroutine ends their waits, and what it does meanwhile delays nobody.
 */
#include <string.h>

#include "analysis/intervals.h"
#include "analysis/locks.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "code/symbol/library.h"

enum { MIN_CHANNELS = 20, WAITS_PER_CHANNEL = 4, MIN_OBJECTS = 3 };

uint32_t stack_handler(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack];
	uint32_t handler = UINT32_MAX;

	for (uint32_t i = info->site; i < info->n; i++) {
		const struct code_place *place = &a->frames[info->first + i];
		const char *func = name_text(a, place->func);

		if (strcmp(func, "net/http.serverHandler.ServeHTTP") == 0 ||
		    strcmp(func, "google.golang.org/grpc.(*Server).handleStream") == 0)
			return handler;
		if (library_owner(func, name_text(a, place->file)) == CODE_OF_PROGRAM)
			handler = i;
	}
	return UINT32_MAX;
}

/* Each wait is on a channel or condition of its own: a new one each time, made for the answer, or one of each
 * goroutine's own. */
static enum answers by_address(const struct analysis *a, const struct row *row)
{
	uint64_t waits = 0, objects = 0;

	for (size_t i = 1; i < a->nlocks; i++) {
		const struct lock *lock = &a->locks[i];

		if ((lock_is_held(lock) && row->activity != ACT_COND) || !lock->waits.n ||
		    top_first(lock->waited)->key != row->stack)
			continue;
		if (lock->most_waiting > 1)
			return ANSWERS_UNLIKELY;
		waits += lock->waits.n;
		objects++;
	}
	if (objects >= MIN_CHANNELS && waits <= objects * WAITS_PER_CHANNEL)
		return ANSWERS_CERTAIN;
	return row->activity == ACT_COND && objects >= MIN_OBJECTS ? ANSWERS_LIKELY : ANSWERS_UNLIKELY;
}

/* Those that wait wake the others, too: they ask. */
static bool asks_back(const struct analysis *a, const struct row *row)
{
	uint64_t waiters = top_first(row->functions)->key, wakers = top_first(row->waker_groups)->key;

	for (size_t i = 1; i < a->nrows; i++) {
		const struct row *other = &a->rows[i];

		if (other->activity >= ACT_COND && other->activity <= ACT_SELECT && other != row &&
		    other->hist.n * 20 >= row->hist.n && top_first(other->functions)->key == wakers &&
		    top_first(other->waker_groups)->n && top_first(other->waker_groups)->key == waiters)
			return true;
	}
	return false;
}

enum answers row_is_for_answers(const struct analysis *a, const struct row *row)
{
	if (row->task_ns * 2 >= row->hist.sum || stack_handler(a, row->stack) != UINT32_MAX)
		return ANSWERS_CERTAIN;
	if (top_first(row->functions)->key == top_first(row->waker_groups)->key)
		return ANSWERS_UNLIKELY;
	return asks_back(a, row) ? ANSWERS_CERTAIN : by_address(a, row);
}
