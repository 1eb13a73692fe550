/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A lock is held across reads, writes or sleeps, so all others wait for those, too. */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/kinds.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

static const char *lock_io_kind_of(const struct resource *res)
{
	const uint64_t *did = res->meanwhile;

	if (did[ACT_NETWORK] >= did[ACT_SYSCALL] && did[ACT_NETWORK] >= did[ACT_SLEEP] &&
	    did[ACT_NETWORK] >= did[ACT_DISK])
		return "network I/O";
	if (did[ACT_DISK] >= did[ACT_SYSCALL] && did[ACT_DISK] >= did[ACT_SLEEP])
		return "disk I/O";
	return did[ACT_SLEEP] >= did[ACT_SYSCALL] ? "a sleep" : "system calls";
}

/* As gotrace names what a thread calls: "clone3". */
static const char *call_of_thread(const struct analysis *a, const struct stack_info *info)
{
	const struct code_place *leaf = &a->frames[info->first];

	return info->n && leaf->func == leaf->file && is_of_threads(a) ? name_text(a, leaf->func) : NULL;
}

/* Returns the I/O call that takes the holders longest; NULL if there is none. */
static const char *heaviest_call(const struct analysis *a, const struct resource *res)
{
	const struct top *most = NULL, *other = NULL;

	for (unsigned i = 0; i < TOPS; i++) {
		const struct top *did = &res->did[i];
		const struct stack_info *info = &a->stacks[did->key >> 8];

		if (did->n && info->io_call && (!most || did->weight > most->weight))
			most = did;
		if (did->n && (did->key & 0xff) == ACT_SYSCALL && !info->futex &&
		    (!other || did->weight > other->weight))
			other = did;
	}
	if (most)
		return io_call_name(a->stacks[most->key >> 8].io_call);
	return other ? call_of_thread(a, &a->stacks[other->key >> 8]) : NULL;
}

static struct label across(const struct analysis *a, const struct resource *res)
{
	const char *kind = lock_io_kind_of(res), *call = heaviest_call(a, res);
	struct label label;

	/* A sleep is no call of these. */
	if (strcmp(kind, "a sleep") == 0)
		call = NULL;
	snprintf(label.text, sizeof(label.text), call ? "%s (%s)" : "%s", kind, call);
	return label;
}

/* Of a lock that is held for both, one finding is enough. */
static bool mostly_computes(const struct resource *res)
{
	return lock_share_io(res) < 0.25;
}

void rule_lock_io(struct analysis *a)
{
	for (size_t i = 1; i < a->nresources; i++) {
		const struct resource *res = &a->resources[i];
		struct finding *finding;
		double impact;

		if (res->parent != i || !lock_matters(a, res, &impact) || !lock_is_across_io(res, impact) ||
		    (mostly_computes(res) && lock_is_long(a, res)))
			continue;
		finding = finding_add(a, "lock-io", impact);
		finding_text(finding, "%s waited %s for %s, which %s %s across %s.",
			     lock_waiters(a, res).text, label_time(res->waits.sum).text,
			     lock_holder(a, res).text,
			     lock_is_of_unnamed_code(a, res) ? "seems to hold" : "holds",
			     lock_called(a, res, "the lock"), across(a, res).text);
		lock_evidence(a, finding, res);
	}
}
