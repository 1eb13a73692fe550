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

#include "util/proc_stat.h"

enum { COMM_LEN = 15 };

uint64_t process_start(pid_t pid)
{
	struct proc_stat stat;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return proc_stat_read(path, &stat) ? stat.start_ticks : 0;
}

static bool has_name(pid_t pid, const char *comm)
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
static void add(struct found_process *found, int *n, pid_t pid)
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

static int find_by_comm(const char *comm, struct found_process *found, struct error *err)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int n = 0;

	if (!proc)
		return error_set(err, errno, "cannot read /proc: %s", strerror(errno));
	while ((entry = readdir(proc))) {
		pid_t pid =
			isdigit((unsigned char)entry->d_name[0]) ? (pid_t)strtol(entry->d_name, NULL, 10) : 0;

		if (pid > 0 && has_name(pid, comm))
			add(found, &n, pid);
	}
	closedir(proc);
	return n;
}

static int find_in_cgroup(const char *cgroup, struct found_process *found, struct error *err)
{
	static const char root[] = "/sys/fs/cgroup/";
	bool whole = strncmp(cgroup, root, sizeof(root) - 1) == 0;
	char path[PATH_MAX], line[32];
	FILE *file;
	int n = 0;

	if (snprintf(path, sizeof(path), "%s%s/cgroup.procs", whole ? "" : root, cgroup) >= (int)sizeof(path))
		return error_set(err, ENAMETOOLONG, "--cgroup: the path is too long");
	file = fopen(path, "re");
	if (!file)
		return error_set(err, errno, "cannot read %s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		pid_t pid = (pid_t)strtol(line, NULL, 10);

		if (pid > 0)
			add(found, &n, pid);
	}
	fclose(file);
	return n;
}

int find_processes(const char *comm, const char *cgroup, struct found_process found[MAX_FOUND],
		   struct error *err)
{
	return comm ? find_by_comm(comm, found, err) : find_in_cgroup(cgroup, found, err);
}
