/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/process.h"
#include "util/array.h"
#include "util/map64.h"
#include "util/proc_stat.h"

struct process_link {
	pid_t pid, parent;
};

struct process_links {
	struct process_link *all;
	size_t n, capacity;
};

static bool read_stat(const char *proc, pid_t pid, struct proc_stat *stat)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%d/stat", proc, (int)pid);
	return proc_stat_read(path, stat);
}

bool process_is_alive(const char *proc, pid_t pid)
{
	struct proc_stat stat;

	if (!read_stat(proc, pid, &stat))
		return false;
	return (stat.state != 'Z' && stat.state != 'X') || stat.threads > 1;
}

static int process_links_add(struct process_links *list, struct process_link link)
{
	if (array_grow(&list->all, &list->capacity, list->n + 1, sizeof(*list->all)))
		return -ENOMEM;
	list->all[list->n++] = link;
	return 0;
}

static int process_links_list(const char *proc, struct process_links *list, struct error *err)
{
	DIR *dir = opendir(proc);
	const struct dirent *entry;
	int rc = 0;

	if (!dir)
		return error_set(err, errno, "cannot read %s: %s", proc, strerror(errno));
	while (rc == 0 && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct proc_stat stat;

		if (pid > 0 && read_stat(proc, pid, &stat))
			rc = process_links_add(list, (struct process_link){pid, stat.parent});
	}
	closedir(dir);
	return rc ? error_set(err, ENOMEM, "out of memory") : 0;
}

/*
 * A parent may follow its children in the list, because pids are reused: repeats until no process is added.
 */
static int find_descendants(const struct process_links *list, pid_t root, struct map64 *found)
{
	size_t before;

	if (map64_set(found, (uint64_t)root, 1))
		return -ENOMEM;
	do {
		before = found->count;
		for (size_t i = 0; i < list->n; i++) {
			if (map64_get(found, (uint64_t)list->all[i].parent) &&
			    map64_set(found, (uint64_t)list->all[i].pid, 1))
				return -ENOMEM;
		}
	} while (found->count > before);
	return 0;
}

static int process_links_choose(const char *proc, const struct process_links *list, pid_t root,
				const struct map64 *found, pid_t *pids)
{
	int n = 0;

	for (size_t i = 0; i < list->n; i++) {
		pid_t pid = list->all[i].pid;
		struct error why;

		if (pid != root && map64_get(found, (uint64_t)pid) && !process_check(proc, pid, &why))
			pids[n++] = pid;
	}
	return n;
}

int descendants(const char *proc, pid_t root, pid_t **pids, struct error *err)
{
	struct process_links list = {0};
	struct map64 found = {0};
	int n = process_links_list(proc, &list, err);

	*pids = NULL;
	if (n == 0 && find_descendants(&list, root, &found) == 0)
		*pids = calloc(found.count, sizeof(**pids));
	if (n == 0)
		n = *pids ? process_links_choose(proc, &list, root, &found, *pids)
			  : error_set(err, ENOMEM, "out of memory");
	map64_free(&found);
	free(list.all);
	return n;
}
