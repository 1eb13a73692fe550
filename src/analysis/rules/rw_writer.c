/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Readers wait behind a writer, and that writer behind one slow reader (golang/go#76808). Or a writer waits
 * for readers that come and go: unless it is asked not to, glibc lets readers in while a writer waits
 * (pthread_rwlock_common.c, PTHREAD_RWLOCK_PREFER_READER_NP), as std::shared_mutex does.
 */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"
#include "analysis/top.h"

enum { MIN_WAIT_NS = 1000000, MIN_READERS = 10, MIN_STARVED_NS = 50000000, MIN_STARVED = 2 };

static bool rw_writer_applies(const struct resource *res)
{
	return res->readers >= MIN_READERS && res->readers_ns * 2 >= res->waits.sum && res->writers &&
	       res->writers_ns / res->writers >= MIN_WAIT_NS &&
	       (res->writers_ns * 2 >= res->readers_ns / res->most_waiting);
}

/* pthread_rwlock_unlock is for both: below it is a function of glibc, if that has debug information, above it
 * one of C++. */
static bool unlocks_for_reader(const char *func)
{
	return strstr(func, "rwlock_rdunlock") || strncmp(func, "std::shared_lock<", 17) == 0 ||
	       strstr(func, "::unlock_shared");
}

static bool is_read_unlock(const struct analysis *a, uint32_t stack)
{
	return a->stacks[stack].primitive == PRIM_READ_UNLOCK || stack_any(a, stack, unlocks_for_reader);
}

static void of_starved(struct analysis *a, const struct resource *res)
{
	uint32_t released = (uint32_t)top_first(res->released)->key;
	struct finding *finding;

	if (!res->lock || res->waits.n < MIN_STARVED || res->readers_ns * 10 > res->waits.sum ||
	    res->waits.sum / res->waits.n < MIN_STARVED_NS || res->waits.sum * 5 < watched_ns(a) ||
	    !is_read_unlock(a, released))
		return;
	finding = finding_add(a, "rw-writer", share_of_tasks(a, (double)res->waits.sum));
	finding_text(finding,
		     "%s waited %s to write, up to %s at a time: readers come and go, as in %s, so the lock "
		     "is hardly ever free of readers.",
		     lock_waiter(a, res).text, label_time(res->waits.sum).text,
		     label_time(res->waits.max).text, lock_holder(a, res).text);
	lock_evidence(a, finding, res);
	if (is_of_threads(a))
		finding_evidence(finding,
				 "glibc prefers readers: PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP");
}

void rule_rw_writer(struct analysis *a)
{
	for (size_t i = 1; i < a->nresources; i++) {
		const struct resource *res = &a->resources[i];
		struct finding *finding;
		double impact;

		if (res->parent == i)
			of_starved(a, res);
		if (res->parent != i || !lock_matters(a, res, &impact) || !rw_writer_applies(res))
			continue;
		finding = finding_add(a, "rw-writer", impact);
		finding_text(finding,
			     "Up to %u wait, the readers behind a writer that waits for a reader: %s is held "
			     "up by %s.",
			     res->most_waiting, lock_waiter(a, res).text, lock_holder(a, res).text);
		lock_evidence(a, finding, res);
	}
}
