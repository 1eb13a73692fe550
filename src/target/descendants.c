/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/process.h"
#include "util/map64.h"

struct kin {
	pid_t pid, parent;
};

struct kin_list {
	struct kin *all;
	size_t n, capacity;
};

/* The fields of /proc/PID/stat that are asked for: proc(5), 3, 4 and 20. */
struct stat_line {
	char state;
	int parent, threads;
};

static bool read_stat(const char *proc, pid_t pid, struct stat_line *line)
{
	char path[4096], text[1024];
	const char *at;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%d/stat", proc, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')'); /* the name may hold anything */
	return at && sscanf(at + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d",
			    &line->state, &line->parent, &line->threads) == 3;
}

bool process_lives(const char *proc, pid_t pid)
{
	struct stat_line line;

	if (!read_stat(proc, pid, &line))
		return false;
	return (line.state != 'Z' && line.state != 'X') || line.threads > 1;
}

static int add(struct kin_list *list, struct kin kin)
{
	if (list->n == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 256;
		struct kin *bigger = realloc(list->all, capacity * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		list->all = bigger;
		list->capacity = capacity;
	}
	list->all[list->n++] = kin;
	return 0;
}

static int list_all(const char *proc, struct kin_list *list, struct error *err)
{
	DIR *dir = opendir(proc);
	const struct dirent *entry;
	int rc = 0;

	if (!dir)
		return error_set(err, errno, "cannot read %s: %s", proc, strerror(errno));
	while (rc == 0 && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct stat_line line;

		if (pid > 0 && read_stat(proc, pid, &line))
			rc = add(list, (struct kin){pid, line.parent});
	}
	closedir(dir);
	return rc ? error_set(err, ENOMEM, "out of memory") : 0;
}

/* Parents may stand behind their children, for pids recur: again, until nobody is added. */
static int find_kin(const struct kin_list *list, pid_t root, struct map64 *found)
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

static int choose(const char *proc, const struct kin_list *list, pid_t root, const struct map64 *found,
		  pid_t *pids)
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
	struct kin_list list = {0};
	struct map64 found = {0};
	int n = list_all(proc, &list, err);

	*pids = NULL;
	if (n == 0 && find_kin(&list, root, &found) == 0)
		*pids = calloc(found.count, sizeof(**pids));
	if (n == 0)
		n = *pids ? choose(proc, &list, root, &found, *pids)
			  : error_set(err, ENOMEM, "out of memory");
	map64_free(&found);
	free(list.all);
	return n;
}
