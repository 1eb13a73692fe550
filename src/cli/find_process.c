/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/find_process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/files.h"
#include "util/proc_stat.h"

enum {
	COMM_LEN = 15,
	MAX_DEPTH = 16, /* of cgroups */
};

uint64_t process_start(pid_t pid)
{
	struct proc_stat stat;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return proc_stat_read(path, &stat) ? stat.start_ticks : 0;
}

bool process_users(pid_t pid, uid_t *real, uid_t *effective)
{
	char line[256];
	bool found = false;
	FILE *file;

	snprintf(line, sizeof(line), "/proc/%d/status", (int)pid);
	file = fopen(line, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "Uid: %u %u", real, effective) == 2;
	if (file)
		fclose(file);
	return found;
}

static bool has_user(pid_t pid, uid_t uid)
{
	uid_t real, effective;

	return process_users(pid, &real, &effective) && real == uid && effective == uid;
}

static bool is_same_file(const char *one, const char *other)
{
	struct stat a, b;

	return file_stat_at(AT_FDCWD, one, 0, &a) == 0 && file_stat_at(AT_FDCWD, other, 0, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The link also names a file that has been replaced since the process started (d_path(), Linux fs/d_path.c).
 */
static bool has_path(const char *link, const char *exe)
{
	char path[PATH_MAX];
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	size_t len = strlen(exe);

	path[n > 0 ? n : 0] = '\0';
	return strncmp(path, exe, len) == 0 && (!path[len] || strcmp(path + len, " (deleted)") == 0);
}

static bool executes(pid_t pid, const char *exe)
{
	char link[64], users[64];

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	if (is_same_file(link, exe))
		return true;
	snprintf(users, sizeof(users), "/proc/%d/ns/user", (int)pid);
	return has_path(link, exe) && is_same_file(users, "/proc/self/ns/user");
}

static bool find_process_has_name(pid_t pid, const char *comm)
{
	size_t len = strnlen(comm, COMM_LEN);
	char path[64], text[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text));
	close(fd);
	return n > 0 && (size_t)n == len + 1 && memcmp(text, comm, len) == 0;
}

/* Keeps the newest processes, newest first. */
static void find_process_add(struct found_process *found, int *n, pid_t pid)
{
	struct found_process process = {.pid = pid, .start = process_start(pid)};
	int at;

	if (!process.start || pid == getpid())
		return;
	if (*n == MAX_FOUND && found[MAX_FOUND - 1].start >= process.start)
		return;
	at = *n < MAX_FOUND ? (*n)++ : MAX_FOUND - 1;
	while (at > 0 && found[at - 1].start < process.start) {
		found[at] = found[at - 1];
		at--;
	}
	found[at] = process;
}

bool process_matches(const struct process_filter *filter, pid_t pid)
{
	return (!filter->comm || find_process_has_name(pid, filter->comm)) &&
	       (!filter->exe || executes(pid, filter->exe)) && (!filter->user || has_user(pid, filter->uid));
}

static int visit_all(const struct process_filter *filter, process_visitor *visit, void *ctx,
		     struct error *err)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool more = true;

	if (!proc)
		return error_set(err, errno, "cannot read /proc: %s", strerror(errno));
	while (more && (entry = readdir(proc))) {
		pid_t pid =
			isdigit((unsigned char)entry->d_name[0]) ? (pid_t)strtol(entry->d_name, NULL, 10) : 0;

		if (pid > 0 && process_matches(filter, pid))
			more = visit(ctx, pid);
	}
	closedir(proc);
	return 0;
}

/* Returns false when the visitor has had enough. */
static bool visit_procs(const struct process_filter *filter, FILE *procs, process_visitor *visit, void *ctx)
{
	char line[32];
	bool more = true;

	while (more && fgets(line, sizeof(line), procs)) {
		pid_t pid = (pid_t)strtol(line, NULL, 10);

		if (pid > 0 && process_matches(filter, pid))
			more = visit(ctx, pid);
	}
	return more;
}

/* Visits the processes of the cgroup at `path`, with filter->below also those of the cgroups below it. */
static int visit_cgroup(const struct process_filter *filter, char path[PATH_MAX], unsigned depth,
			process_visitor *visit, void *ctx, bool *more)
{
	static const char name[] = "/cgroup.procs";
	size_t len = strlen(path);
	struct dirent *entry;
	FILE *procs;
	DIR *below;

	if (len + sizeof(name) > PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(path + len, name, sizeof(name));
	procs = fopen(path, "re");
	path[len] = '\0';
	if (!procs)
		return -errno;
	*more = visit_procs(filter, procs, visit, ctx);
	fclose(procs);
	below = filter->below && *more && depth < MAX_DEPTH ? opendir(path) : NULL;
	while (below && *more && (entry = readdir(below))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    len + 1 + strlen(entry->d_name) >= PATH_MAX)
			continue;
		path[len] = '/';
		memcpy(path + len + 1, entry->d_name, strlen(entry->d_name) + 1);
		visit_cgroup(filter, path, depth + 1, visit, ctx, more); /* it may be gone */
		path[len] = '\0';
	}
	if (below)
		closedir(below);
	return 0;
}

static int visit_in_cgroup(const struct process_filter *filter, process_visitor *visit, void *ctx,
			   struct error *err)
{
	static const char root[] = "/sys/fs/cgroup/";
	bool whole = strncmp(filter->cgroup, root, sizeof(root) - 1) == 0, more = true;
	char path[PATH_MAX];
	int rc;

	if (snprintf(path, sizeof(path), "%s%s", whole ? "" : root, filter->cgroup) >= (int)sizeof(path))
		return error_set(err, ENAMETOOLONG, "--cgroup: the path is too long");
	rc = visit_cgroup(filter, path, 0, visit, ctx, &more);
	return rc ? error_set(err, -rc, "cannot read %s/cgroup.procs: %s", text_path(path).bytes,
			      strerror(-rc))
		  : 0;
}

int processes_visit(const struct process_filter *filter, process_visitor *visit, void *ctx, struct error *err)
{
	return filter->cgroup ? visit_in_cgroup(filter, visit, ctx, err) : visit_all(filter, visit, ctx, err);
}

struct newest {
	struct found_process *found;
	int n;
};

static bool add_newest(void *ctx, pid_t pid)
{
	struct newest *newest = ctx;

	find_process_add(newest->found, &newest->n, pid);
	return true;
}

int find_processes(const struct process_filter *filter, struct found_process found[MAX_FOUND],
		   struct error *err)
{
	struct newest newest = {.found = found};
	int rc = processes_visit(filter, add_newest, &newest, err);

	return rc ? rc : newest.n;
}

struct text_path process_filter_text(const struct process_filter *filter)
{
	const struct {
		const char *what, *value;
	} parts[] = {{"the name", filter->comm},
		     {"the cgroup", filter->cgroup},
		     {"the executable", filter->exe},
		     {"the user", filter->user}};
	char text[PATH_MAX] = "";
	size_t n = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].value && n < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %s", n ? ", " : "",
					      parts[i].what, parts[i].value);
	}
	return text_path(text);
}
