/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/goroutines/locks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rawlog/awaited.h"
#include "util/array.h"

static void count_in_group(struct goroutine_group *group, uint32_t name)
{
	unsigned i = 0;

	while (i < group->nlocks && group->locks[i].name != name)
		i++;
	if (i == GROUP_LOCKS) {
		group->other_locks++;
		return;
	}
	if (i == group->nlocks)
		group->locks[group->nlocks++] = (struct lock_waiters){.name = name};
	group->locks[i].n++;
}

static int count_in_all(struct groups *groups, uint32_t name)
{
	const uint32_t *known = map64_get(&groups->lock_by_name, name);

	if (known) {
		groups->locks[*known].n++;
		return 0;
	}
	if (array_grow(&groups->locks, &groups->locks_capacity, groups->nlocks + 1, sizeof(*groups->locks)) ||
	    map64_set(&groups->lock_by_name, name, (uint32_t)groups->nlocks))
		return -ENOMEM;
	groups->locks[groups->nlocks++] = (struct lock_waiters){.name = name, .n = 1};
	return 0;
}

int locks_count(struct groups *groups, struct goroutine_group *group, uint64_t awaited)
{
	char text[AWAITED_TEXT];
	char *suffix;
	uint32_t name;

	awaited_text(awaited, groups->now->target.go_minor, (enum lock_kind)(group->lock_kind - 1), text);
	name = strtab_add_str(groups->strings, text);
	if (!name)
		return -ENOMEM;
	count_in_group(group, name);
	suffix = strstr(text, " (");
	if (suffix) {
		*suffix = '\0';
		name = strtab_add_str(groups->strings, text);
	}
	return name ? count_in_all(groups, name) : -ENOMEM;
}

/* Of equal ones, the first one found. */
static int by_waiters(const void *a, const void *b)
{
	const struct lock_waiters *one = a, *two = b;

	if (one->n != two->n)
		return one->n > two->n ? -1 : 1;
	return one->name < two->name ? -1 : one->name > two->name;
}

void locks_sort(struct groups *groups)
{
	if (groups->nlocks)
		qsort(groups->locks, groups->nlocks, sizeof(*groups->locks), by_waiters);
}
