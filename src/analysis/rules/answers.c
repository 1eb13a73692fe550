/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether goroutines that wait have asked for something. Workers that wait for work look the same: another
 * goroutine ends their waits, and what it does meanwhile delays nobody.
 */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/handlers.h"
#include "analysis/tables.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"
#include "code/symbol/library.h"
#include "util/text.h"

/* Fewer questions than MIN_ASKED may be of another kind: a thread that gives out work waits for its end now
 * and then. */
enum { MIN_CHANNELS = 20, WAITS_PER_CHANNEL = 4, MIN_OBJECTS = 3, MIN_ASKED = 5 };

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

/* Whether the other row has waits of the row's wakers, which those that wait in the row end: with questions.
 */
static bool is_for_questions(const struct row *row, const struct row *other)
{
	return other->activity >= ACT_COND && other->activity <= ACT_SELECT && other != row &&
	       other->hist.n >= MIN_ASKED && other->hist.n * 20 >= row->hist.n &&
	       top_first(other->functions)->key == top_first(row->waker_groups)->key &&
	       top_first(other->waker_groups)->n &&
	       top_first(other->waker_groups)->key == top_first(row->functions)->key;
}

struct questions {
	uint64_t n, ns; /* waits for them */
};

static struct questions questions_of(const struct analysis *a, const struct row *row)
{
	struct questions all = {0, 0};

	for (size_t i = 1; i < a->nrows; i++) {
		if (!is_for_questions(row, &a->rows[i]))
			continue;
		all.n += a->rows[i].hist.n;
		all.ns += a->rows[i].hist.sum;
	}
	return all;
}

/*
 * Whether the wakers wait for questions, and not for the end of work that they have given out. One that has
 * nothing to answer waits about as long as there is between two answers, and then answers the one that asked.
 * A collector that gives out work to many threads (V8) waits for the last of them, and not for long.
 */
static bool answers_questions(const struct analysis *a, const struct row *row)
{
	struct questions all = questions_of(a, row);

	return all.n && row->to_asker >= MIN_ASKED && row->to_asker * 2 >= row->after_wait &&
	       (double)all.ns * (double)row->hist.n * 10 >= (double)watched_ns(a) * (double)all.n;
}

/* A result that was asked for: of C++, Java and Rust. */
static bool is_future(const char *func)
{
	static const char *const waits[] = {
		"std::__future_base::",
		"java.util.concurrent.FutureTask.get",
		"java.util.concurrent.CompletableFuture.",
		"tokio::sync::oneshot::Receiver",
		"folly::Future<",
		"boost::unique_future<",
	};

	return text_begins_with_one_of(func, waits, sizeof(waits) / sizeof(waits[0]));
}

static bool answers_are_certain(const struct analysis *a, const struct row *row)
{
	return row->task_ns * 2 >= row->hist.sum || stack_handler(a, row->stack) ||
	       stack_any(a, row->stack, is_future);
}

enum answers row_is_for_answers(const struct analysis *a, const struct row *row)
{
	if (answers_are_certain(a, row))
		return ANSWERS_CERTAIN;
	if (top_first(row->functions)->key == top_first(row->waker_groups)->key)
		return ANSWERS_UNLIKELY;
	return answers_questions(a, row) ? ANSWERS_CERTAIN : by_address(a, row);
}

bool row_is_for_work(const struct analysis *a, const struct row *row, const struct pair *pair)
{
	const uint64_t *did = pair->meanwhile, asked = questions_of(a, row).ns;

	return !answers_are_certain(a, row) && asked &&
	       (did[ACT_RECEIVE] + did[ACT_SELECT] + did[ACT_COND]) * 2 >= asked;
}
