/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/goroutines/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/goroutines/locks.h"
#include "code/symbol/functab_record.h"
#include "code/symbol/library.h"
#include "code/symbol/lock_kind.h"
#include "util/array.h"
#include "util/hash.h"
#include "util/text.h"

/* g.atomicstatus, Go 1.26 runtime/runtime2.go. */
enum { RUNNABLE = 1, RUNNING = 2, SYSCALL = 3, WAITING = 4, PREEMPTED = 9, LEAKED = 10 };

/* --- runtime or program --- */

static bool groups_is_system(struct groups *groups, uint64_t startpc)
{
	const uint32_t *known = map64_get(&groups->systems, startpc);
	uint64_t entry, end;
	const char *name;
	size_t index;
	bool system;

	if (known)
		return *known;
	system = groups->functab && functab_lookup(groups->functab, startpc, &index) == 0 &&
		 functab_entry(groups->functab, index, &entry, &end, &name) == 0 && library_is_system(name);
	map64_set(&groups->systems, startpc, system);
	return system;
}

/* True for waits that only another goroutine can end. */
static bool is_block(const char *reason)
{
	static const char *const blocks[] = {"chan ", "select", "sync.", "semacquire", "semarelease"};

	return reason && text_begins_with_one_of(reason, blocks, sizeof(blocks) / sizeof(blocks[0]));
}

/* --- the two listings --- */

static int by_goid(const void *a, const void *b)
{
	uint64_t one = (*(const struct listing_goroutine *const *)a)->g.goid;
	uint64_t two = (*(const struct listing_goroutine *const *)b)->g.goid;

	return one < two ? -1 : one > two;
}

static const struct listing_goroutine **groups_sort(const struct g_listing *listing)
{
	const struct listing_goroutine **sorted = malloc(listing->n * sizeof(*sorted) + 1);

	for (size_t i = 0; sorted && i < listing->n; i++)
		sorted[i] = &listing->all[i];
	if (sorted)
		qsort(sorted, listing->n, sizeof(*sorted), by_goid);
	return sorted;
}

/*
 * True if it did not run in between. The runtime clears g.waitsince when a goroutine runs (execute, Go 1.26
 * runtime/proc.go). Since Go 1.17, g.trackingSeq counts, modulo 256, how often it stopped running. Before
 * that, a goroutine that no garbage collection has seen waiting may have run and come back.
 */
static bool did_not_run(const struct log_g_details *one, const struct log_g_details *two)
{
	if (one->waitsince)
		return one->waitsince == two->waitsince && one->seq == two->seq;
	return two->flags & LOG_G_SEQ && one->seq == two->seq;
}

/* LEAKED (since Go 1.26): it waits, and the leak profile has found that nothing can wake it. */
static bool waits(uint32_t status)
{
	return status == WAITING || status == LEAKED;
}

static bool is_still(const struct listing_goroutine *one, const struct listing_goroutine *two)
{
	return waits(one->g.status) && waits(two->g.status) && one->g.g == two->g.g &&
	       one->g.waitreason == two->g.waitreason && one->g.stack == two->g.stack &&
	       one->details.sp == two->details.sp && did_not_run(&one->details, &two->details);
}

/* --- groups --- */

static struct group_key groups_key_of(struct groups *groups, const struct listing_goroutine *one)
{
	const struct groups_options *options = &groups->options;
	struct group_key key = {
		.stack = one->g.stack,
		.gopc = one->details.gopc,
		.startpc = one->g.stack ? 0 : one->g.startpc,
		.status = one->g.status,
		.reason = waits(one->g.status) ? one->g.waitreason : 0,
	};

	if (options->by == BY_LABELS)
		key.labels = one->details.labels;
	if (options->by == BY_LABEL) {
		struct listing_text value = listing_label(groups->now, one->details.labels, options->label);

		/* The leading '=' distinguishes an empty value from none. */
		if (value.bytes) {
			char text[LABEL_TEXT_MAX + 1] = "=";

			memcpy(text + 1, value.bytes, value.len);
			key.labels = strtab_add(groups->strings, text, value.len + 1);
		}
	}
	return key;
}

static struct goroutine_group *find_group(struct groups *groups, const struct group_key *key)
{
	uint64_t hash = hash_bytes(groups->seed, key, sizeof(*key));
	const uint32_t *known = map64_get(&groups->by_key, hash);

	if (known)
		return &groups->all[*known];
	if (array_grow(&groups->all, &groups->capacity, groups->n + 1, sizeof(*groups->all)) ||
	    map64_set(&groups->by_key, hash, (uint32_t)groups->n))
		return NULL;
	groups->all[groups->n] = (struct goroutine_group){.key = *key};
	return &groups->all[groups->n++];
}

static void add_labels(struct goroutine_group *group, uint32_t labels)
{
	unsigned i = 0;

	if (!labels)
		return;
	group->labelled++;
	while (i < group->nlabels && group->labels[i].labels != labels)
		i++;
	if (i == GROUP_LABELS) {
		group->other_labels++;
		return;
	}
	group->labels[i].labels = labels;
	group->labels[i].n++;
	if (i == group->nlabels)
		group->nlabels++;
}

static void add_goid(struct goroutine_group *group, const struct listing_goroutine *one)
{
	if (group->n == 0)
		group->parent = one->details.parent;
	if (group->n < GROUP_GOIDS)
		group->goids[group->n] = one->g.goid;
}

static void add_since(struct goroutine_group *group, uint64_t since)
{
	if (since && (!group->oldest || since < group->oldest))
		group->oldest = since;
}

/* All goroutines of a group wait in the same functions. */
static int count_lock(struct groups *groups, struct goroutine_group *group, uint64_t awaited)
{
	struct frame frames[MAX_FRAMES];

	if (!awaited)
		return 0;
	if (!group->lock_kind) {
		int n = group_frames(groups, group, frames);

		group->lock_kind = (uint8_t)(1 + lock_kind_of(groups->strings, frames, n > 0 ? n : 0));
	}
	return locks_count(groups, group, awaited);
}

/* Called in the order of the goids. */
static int groups_add(struct groups *groups, const struct listing_goroutine *before,
		      const struct listing_goroutine *one)
{
	struct group_key key;
	struct goroutine_group *group;

	if (!groups->options.all && groups_is_system(groups, one->g.startpc)) {
		groups->hidden++;
		return 0;
	}
	key = groups_key_of(groups, one);
	group = find_group(groups, &key);
	if (!group)
		return -ENOMEM;
	add_goid(group, one);
	group->n++;
	groups->total++;
	groups->labels_lost += (one->details.flags & LOG_G_LABELS_LOST) != 0;
	if (waits(one->g.status))
		add_since(group, one->details.waitsince);
	if (before && is_still(before, one))
		group->still++;
	group->blocked = one->g.status == LEAKED ||
			 (one->g.status == WAITING && !groups_is_system(groups, one->g.startpc) &&
			  is_block(groups->now->reasons[one->g.waitreason]));
	add_labels(group, one->details.labels);
	return count_lock(groups, group, log_g_awaited(&one->g));
}

static int add_all(struct groups *groups, const struct g_listing *before)
{
	const struct listing_goroutine **first = before ? groups_sort(before) : NULL,
				       **second = groups_sort(groups->now);
	size_t at = 0, nfirst = before ? before->n : 0;
	int rc = second && (first || !before) ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < groups->now->n; i++) {
		uint64_t goid = second[i]->g.goid;

		while (at < nfirst && first[at]->g.goid < goid)
			at++;
		rc = groups_add(groups, at < nfirst && first[at]->g.goid == goid ? first[at] : NULL,
				second[i]);
	}
	free(first);
	free(second);
	return rc;
}

static int count_labels(struct groups *groups)
{
	struct map64 totals = {.keys = NULL};
	int rc = 0;

	for (size_t i = 0; rc == 0 && groups->options.by == BY_LABEL && i < groups->n; i++) {
		const struct goroutine_group *group = &groups->all[i];
		const uint32_t *known = map64_get(&totals, group->key.labels);

		rc = map64_set(&totals, group->key.labels, (known ? *known : 0) + (uint32_t)group->n);
	}
	for (size_t i = 0; rc == 0 && groups->options.by == BY_LABEL && i < groups->n; i++)
		groups->all[i].label_total = *map64_get(&totals, groups->all[i].key.labels);
	map64_free(&totals);
	return rc;
}

/* Largest first. Groups of one label value stay together. */
static int by_size(const void *a, const void *b)
{
	const struct goroutine_group *one = a, *two = b;

	if (one->label_total != two->label_total)
		return one->label_total > two->label_total ? -1 : 1;
	if (one->label_total && one->key.labels != two->key.labels)
		return one->key.labels < two->key.labels ? -1 : 1;
	if (one->n != two->n)
		return one->n > two->n ? -1 : 1;
	return one->goids[0] < two->goids[0] ? -1 : one->goids[0] > two->goids[0];
}

int groups_make(struct groups *groups, const struct g_listing *before, const struct g_listing *now,
		const struct log_record *tables, unsigned n, const struct groups_options *options)
{
	int rc;

	*groups = (struct groups){.now = now, .options = *options, .strings = strtab_new()};
	if (!groups->strings)
		return -ENOMEM;
	if (before && now->head.time_before > before->head.time_after)
		groups->between_ns = now->head.time_before - before->head.time_after;
	groups->seed = hash_seed(groups);
	groups->functab = n ? functab_of_record(&tables[0]) : NULL;
	for (unsigned i = 1; groups->functab && i < n; i++) {
		struct functab *plugin = functab_of_record(&tables[i]);

		if (plugin)
			functab_add(groups->functab, plugin);
	}
	groups->symbol = symbol_new(groups->functab, groups->strings);
	rc = groups->symbol ? add_all(groups, before) : -ENOMEM;
	if (rc == 0)
		rc = count_labels(groups);
	if (rc == 0 && groups->n)
		qsort(groups->all, groups->n, sizeof(*groups->all), by_size);
	locks_sort(groups);
	return rc;
}

void groups_free(struct groups *groups)
{
	if (groups->symbol)
		symbol_free(groups->symbol);
	if (groups->functab)
		functab_free(groups->functab);
	if (groups->strings)
		strtab_free(groups->strings);
	map64_free(&groups->by_key);
	map64_free(&groups->systems);
	map64_free(&groups->lock_by_name);
	free(groups->locks);
	free(groups->all);
	*groups = (struct groups){.now = NULL};
}

/* --- of one group --- */

/* The string table stores it with a leading '='. */
const char *group_label(const struct groups *groups, const struct goroutine_group *group, size_t *len)
{
	const char *text;

	if (groups->options.by != BY_LABEL || !group->key.labels)
		return NULL;
	text = strtab_get(groups->strings, group->key.labels, len);
	(*len)--;
	return text + 1;
}

const char *group_state(const struct groups *groups, const struct goroutine_group *group)
{
	const char *reason;

	switch (group->key.status) {
	case RUNNABLE:
		return "runnable";
	case RUNNING:
		return "running";
	case SYSCALL:
		return "system call";
	case WAITING:
	case LEAKED:
		reason = group->key.reason < LISTING_REASONS ? groups->now->reasons[group->key.reason] : NULL;
		return reason && *reason ? reason : "waiting";
	case PREEMPTED:
		return "preempted";
	default:
		return "changing";
	}
}

bool group_is_leaked(const struct goroutine_group *group)
{
	return group->key.status == LEAKED;
}

/* Excludes the main goroutine, which waits in many programs. */
bool group_is_suspect(const struct goroutine_group *group)
{
	return group_is_leaked(group) ||
	       (group->blocked && group->still && !(group->n == 1 && group->goids[0] == 1));
}

int group_frames(struct groups *groups, const struct goroutine_group *group, struct frame frames[MAX_FRAMES])
{
	const struct listing_stack *stack = listing_stack(groups->now, group->key.stack);

	if (!stack || !stack->n)
		return 0;
	return symbol_frames(groups->symbol, groups->now->pcs + stack->first, stack->n, 0, 0, frames);
}

bool group_creator(struct groups *groups, const struct goroutine_group *group, struct frame *frame)
{
	struct frame frames[MAX_FRAMES];

	if (!group->key.gopc ||
	    symbol_frames(groups->symbol, &group->key.gopc, 1, 0, SYMBOL_RUNTIME_FRAMES, frames) < 1)
		return false;
	*frame = frames[0];
	return true;
}

bool group_start(struct groups *groups, const struct goroutine_group *group, struct frame *frame)
{
	struct frame frames[MAX_FRAMES];
	uint64_t pc = group->key.startpc + 1;

	if (!group->key.startpc ||
	    symbol_frames(groups->symbol, &pc, 1, 0, SYMBOL_RUNTIME_FRAMES | SYMBOL_ENTRY, frames) < 1)
		return false;
	*frame = frames[0];
	return true;
}

/* Goroutines that no garbage collection has seen waiting have waited for a shorter time. */
uint64_t group_most_ns(const struct groups *groups, const struct goroutine_group *group)
{
	uint64_t now = groups->now->head.time_before;

	return group->oldest && group->oldest < now ? now - group->oldest : 0;
}
